// SPDX-License-Identifier: GPL-2.0-only
#include "policy/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

static const struct tcptuned_prefix everywhere; /* ::/0, all zeroes */

static bool is_disabled(const struct tcptuned_policy_source *policy)
{
	return policy->named && policy->record.disabled;
}

/* ---- compile: one item for each pair of a policy's prefixes ----------------------------- */

struct item {
	const struct tcptuned_prefix *destination;
	const struct tcptuned_prefix *source;
	const struct tcptuned_policy_source *policy;
	unsigned int place; /* of the policy; order of the file */
	unsigned int order; /* among equals: the default policy comes last */
	unsigned int depth; /* of its cgroup, levels below the root; 0: any */
	__u64 ports;	    /* pairs of ports that it takes */
};

static __u64 width(const struct tcptuned_ports *ports)
{
	return ports->low ? (__u64)ports->high - ports->low + 1 : 65536;
}

static unsigned int depth_of(const char *cgroup)
{
	unsigned int depth = 0;

	for (const char *p = cgroup; *p; p++)
		depth += *p == '/' && p[1] && p[1] != '/';
	return cgroup[0] ? depth + 1 : 0;
}

/* The destinations of a policy: its own, then those of its file. */
static size_t destinations(const struct tcptuned_named_policy *named)
{
	return named ? named->set.destination.len + named->from_file.len : 0;
}

static const struct tcptuned_prefix *destination(const struct tcptuned_named_policy *named,
						 size_t i)
{
	if (!destinations(named))
		return &everywhere;
	if (i < named->set.destination.len)
		return &named->set.destination.list[i];
	return &named->from_file.list[i - named->set.destination.len];
}

/* How many pairs it makes. A file without a prefix in it is not the same as no file. */
static size_t pairs(const struct tcptuned_policy_source *policy)
{
	const struct tcptuned_named_policy *named = policy->named;
	size_t n = destinations(named);

	if (!named)
		return 1;
	if (is_disabled(policy))
		return 0;
	if (!n && named->set.destination_file[0])
		return 0;
	return (n ? n : 1) * (named->set.source.len ? named->set.source.len : 1);
}

static size_t add_items(struct item *items, const struct tcptuned_policy_source *policy,
			unsigned int place, unsigned int policies)
{
	const struct tcptuned_named_policy *named = policy->named;
	size_t sources = named && named->set.source.len ? named->set.source.len : 1;
	size_t n = pairs(policy);

	for (size_t i = 0; i < n; i++)
		items[i] = (struct item){
			.destination = destination(named, i / sources),
			.source = named && named->set.source.len
					  ? &named->set.source.list[i % sources]
					  : &everywhere,
			.policy = policy,
			.place = place,
			.order = named ? place : policies,
			.depth = named ? depth_of(named->set.cgroup) : 0,
			.ports = named ? width(&named->set.local_port) *
						 width(&named->set.remote_port)
				       : 65536ull * 65536,
		};
	return n;
}

static int compare(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

static int by_destination(const struct item *a, const struct item *b)
{
	int order = memcmp(a->destination->address, b->destination->address, 16);

	return order ? order : compare(a->destination->length, b->destination->length);
}

/* The trie's order, and within one destination the most specific first. */
static int by_rank(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = by_destination(a, b);

	if (!order)
		order = compare(b->source->length, a->source->length);
	if (!order)
		order = compare(a->ports, b->ports);
	if (!order)
		order = compare(b->depth, a->depth);
	if (!order)
		order = compare(a->order, b->order);
	if (!order)
		order = memcmp(a->source->address, b->source->address, 16);
	return order;
}

/* A prefix that a policy has twice makes one rule. The items are in order. */
static size_t drop_doubles(struct item *items, size_t len)
{
	size_t kept = 0;

	for (size_t i = 0; i < len; i++)
		if (!kept || by_rank(&items[kept - 1], &items[i]))
			items[kept++] = items[i];
	return kept;
}

/* ---- compile: rules and entries ---------------------------------------------------------- */

static void set_ports(const struct tcptuned_ports *ports, __u16 *low, __u16 *high)
{
	*low = ports && ports->low ? ports->low : TCPTUNED_ANY_PORT_LOW;
	*high = ports && ports->low ? ports->high : TCPTUNED_ANY_PORT_HIGH;
}

/* Of the default policy (@named NULL) all of it stays open. */
static void set_local_conditions(struct tcptuned_rule *rule,
				 const struct tcptuned_policy_source *policy)
{
	const struct tcptuned_named_policy *named = policy->named;

	set_ports(named ? &named->set.local_port : NULL, &rule->local_low, &rule->local_high);
	if (!named || !named->set.cgroup[0])
		return;
	rule->flags |= TCPTUNED_RULE_CGROUP;
	rule->cgroup = policy->cgroup;
}

/* IPv4's addresses are within ::/0 and a few more prefixes that speak of IPv6. */
static bool not_ipv4(const struct tcptuned_prefix *prefix)
{
	return prefix != &everywhere && !prefix->ipv4;
}

static struct tcptuned_rule make_rule(const struct item *item, __u32 generation)
{
	const struct tcptuned_named_policy *named = item->policy->named;
	struct tcptuned_rule rule = {
		.policy = TCPTUNED_POLICY_ID(generation, item->place),
		.source_length = item->source->length,
		.destination_length = item->destination->length,
	};

	memcpy(rule.source, item->source->address, sizeof(rule.source));
	for (unsigned int bit = 0; bit < rule.source_length; bit++)
		rule.source_mask[bit / 8] |= 0x80 >> bit % 8;
	if (not_ipv4(item->destination))
		rule.flags |= TCPTUNED_RULE_DESTINATION_NOT_IPV4;
	if (not_ipv4(item->source))
		rule.flags |= TCPTUNED_RULE_SOURCE_NOT_IPV4;
	set_ports(named ? &named->set.remote_port : NULL, &rule.remote_low, &rule.remote_high);
	set_local_conditions(&rule, item->policy);
	return rule;
}

/* An open prefix that the ones after it may lie in. */
struct cover {
	const struct tcptuned_prefix *prefix;
	__u32 first; /* its first rule, ... */
	__u32 chain; /* ... and how many there are from that one on */
};

static int fail_chain(const struct item *item, struct tcptuned_error *err)
{
	char text[TCPTUNED_PREFIX_TEXT];

	tcptuned_prefix_print(item->destination, text);
	return tcptuned_fail(err, E2BIG, TCPTUNED_EXIT_CONFIG,
			     "policy %s: for %s there are more than %d rules to be tried one after "
			     "the other; name fewer sources, or put policies that differ in ports or "
			     "cgroup only together",
			     item->policy->named ? item->policy->named->name : "default", text,
			     TCPTUNED_CHAIN_MAX);
}

/* The rules of the prefix that @items begins with; returns how many they are. */
static size_t make_chain(const struct item *items, size_t len, __u32 generation, __u32 first,
			 const struct cover *cover, struct tcptuned_rule *rules)
{
	size_t n;

	for (n = 0; n < len && !by_destination(&items[0], &items[n]); n++) {
		rules[n] = make_rule(&items[n], generation);
		rules[n].next = first + (__u32)n + 1;
	}
	rules[n - 1].next = cover ? cover->first : TCPTUNED_RULE_NONE;
	return n;
}

/*
 * Items in order are prefixes in order, a prefix before those that lie in it: a stack of the
 * prefixes that are open tells what covers the next one.
 */
static int make_rules(const struct item *items, size_t len, __u32 array,
		      struct tcptuned_ruleset *ret, struct tcptuned_error *err)
{
	struct cover open[130];
	size_t depth = 0, n;

	for (size_t i = 0; i < len; i += n) {
		const struct tcptuned_prefix *prefix = items[i].destination;
		struct tcptuned_ruleset_entry *entry = &ret->entries[ret->entries_len++];
		__u32 first = ret->rules_len, above;

		while (depth && !tcptuned_prefix_covers(open[depth - 1].prefix->address,
							open[depth - 1].prefix->length,
							prefix->address))
			depth--;
		n = make_chain(&items[i], len - i, ret->generation, first,
			       depth ? &open[depth - 1] : NULL, &ret->rules[first]);
		ret->rules_len += (__u32)n;
		above = depth ? open[depth - 1].chain : 0;
		if (above + n > TCPTUNED_CHAIN_MAX)
			return fail_chain(&items[i], err);
		open[depth++] = (struct cover){ prefix, first, above + (__u32)n };
		entry->key.length = prefix->length;
		memcpy(entry->key.address, prefix->address, sizeof(entry->key.address));
		entry->match.first = array << 31 | first;
	}
	return 0;
}

/* ---- compile: what can be said before the connection is known ---------------------------- */

static bool stands(const struct tcptuned_policy *policy, bool receive)
{
	return policy->mode != TCPTUNED_TUNE ||
	       !(receive ? policy->override_rcvbuf : policy->override_sndbuf);
}

/* One rule for each policy that lets a request stand, with what a listener knows of itself. */
static __u32 make_stands(const struct tcptuned_policy_source *policies, size_t len, bool receive,
			 struct tcptuned_ruleset *ret)
{
	__u32 first = ret->rules_len, n = 0;
	struct tcptuned_rule *rules = &ret->rules[first];

	for (size_t i = 0; i < len; i++) {
		if (is_disabled(&policies[i]) || !stands(&policies[i].record, receive))
			continue;
		rules[n] = (struct tcptuned_rule){
			.policy = TCPTUNED_POLICY_ID(ret->generation, i),
			.remote_high = TCPTUNED_ANY_PORT_HIGH,
			.next = first + n + 1,
		};
		set_local_conditions(&rules[n++], &policies[i]);
	}
	if (!n)
		return TCPTUNED_RULE_NONE;
	rules[n - 1].next = TCPTUNED_RULE_NONE;
	ret->rules_len += n;
	return first;
}

static __u32 wishes_of(const struct tcptuned_policy *policy)
{
	bool tune = policy->mode == TCPTUNED_TUNE;
	__u32 wishes = TCPTUNED_ANY_CLAIMS;

	if (policy->mode == TCPTUNED_OFF)
		return 0;
	if (policy->override_rcvbuf)
		wishes |= tune ? TCPTUNED_RCVBUF_OVERRIDDEN : TCPTUNED_RCVBUF_OBSERVED;
	if (policy->override_sndbuf)
		wishes |= tune ? TCPTUNED_SNDBUF_OVERRIDDEN : TCPTUNED_SNDBUF_OBSERVED;
	if (tcptuned_policy_sets_at_once(policy))
		wishes |= TCPTUNED_AT_ESTABLISHED;
	return wishes;
}

static void make_summary(const struct tcptuned_policy_source *policies, size_t len, __u32 array,
			 struct tcptuned_ruleset *ret)
{
	struct tcptuned_match *match = &ret->entries[0].match;

	match->default_policy = TCPTUNED_POLICY_ID(ret->generation, TCPTUNED_POLICY_DEFAULT);
	match->stands_rcvbuf = array << 31 | make_stands(policies, len, true, ret);
	match->stands_sndbuf = array << 31 | make_stands(policies, len, false, ret);
	for (size_t i = 0; i < len; i++)
		match->wishes |= wishes_of(&policies[i].record);
}

/* ---- compile ---------------------------------------------------------------------------- */

static int no_memory(struct tcptuned_error *err, const char *what)
{
	return tcptuned_fail(err, ENOMEM, TCPTUNED_EXIT_INTERNAL,
			     "there is no memory to %s the policies; free some", what);
}

int tcptuned_ruleset_compile(const struct tcptuned_policy_source *policies, size_t len,
			     __u32 generation, __u32 array, struct tcptuned_ruleset *ret,
			     struct tcptuned_error *err)
{
	_cleanup_free_ struct item *items = NULL;
	size_t all = 0, n = 0;
	int error;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < len; i++)
		all += pairs(&policies[i]);
	if (all > TCPTUNED_RULES_MAX)
		return tcptuned_fail(err, E2BIG, TCPTUNED_EXIT_CONFIG,
				     "policies: their prefixes make %zu rules, one for each pair "
				     "of a policy's destination and source; there may be %u: name "
				     "fewer or larger prefixes in destination, destination_file "
				     "or source of the policies that have many of both",
				     all, TCPTUNED_RULES_MAX);
	items = calloc(all, sizeof(*items));
	ret->rules = calloc(1 + all + 2 * len, sizeof(*ret->rules));
	ret->entries = calloc(all, sizeof(*ret->entries));
	if (!items || !ret->rules || !ret->entries) {
		tcptuned_ruleset_free(ret);
		return no_memory(err, "compile");
	}
	for (size_t i = 0; i < len; i++)
		n += add_items(items + n, &policies[i], (unsigned int)i, (unsigned int)len);
	qsort(items, n, sizeof(*items), by_rank);
	n = drop_doubles(items, n);
	ret->generation = generation;
	ret->rules_len = 1;
	error = make_rules(items, n, array, ret, err);
	if (error)
		tcptuned_ruleset_free(ret);
	else
		make_summary(policies, len, array, ret);
	return error;
}

void tcptuned_ruleset_free(struct tcptuned_ruleset *rules)
{
	free(rules->rules);
	free(rules->entries);
	memset(rules, 0, sizeof(*rules));
}

int tcptuned_policies_check(const struct tcptuned_config *config, struct tcptuned_error *err)
{
	size_t len = config->policies_len + 1;
	_cleanup_free_ struct tcptuned_policy_source *sources = calloc(len, sizeof(*sources));
	struct tcptuned_ruleset rules;
	int error;

	if (!sources)
		return no_memory(err, "compile");
	for (size_t i = 1; i < len; i++)
		sources[i].named = &config->policies[i - 1];
	error = tcptuned_ruleset_compile(sources, len, 1, 0, &rules, err);
	if (!error)
		tcptuned_ruleset_free(&rules);
	return error;
}
