// SPDX-License-Identifier: GPL-2.0-only
#include "policy/ruleset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "util/cleanup.h"

static const struct tcptuned_prefix everywhere; /* ::/0, all zeroes */

static bool is_disabled(const struct tcptuned_policy_source *policy)
{
	return policy->named && policy->record.disabled;
}

/* The default policy has no conditions. */
static const struct tcptuned_named_policy *conditions(const struct tcptuned_policy_source *policy)
{
	static const struct tcptuned_named_policy none;

	return policy->named ? policy->named : &none;
}

/* ---- items: one for each combination of a policy's prefixes and ports -------------------- */

struct item {
	const struct tcptuned_prefix *destination;
	const struct tcptuned_prefix *source;
	struct tcptuned_port_range local, remote;
	const struct tcptuned_policy_source *policy;
	unsigned int place; /* of the policy, in the order of the file; 0: the default policy */
	unsigned int depth; /* of its cgroup, levels below the root; 0: any */
	__u64 ports;	    /* number of pairs of ports for which the policy is */
};

static size_t count_ranges(const struct tcptuned_ports *ports)
{
	return ports->len ? ports->len : 1;
}

static struct tcptuned_port_range range(const struct tcptuned_ports *ports, size_t i)
{
	static const struct tcptuned_port_range any = {TCPTUNED_ANY_PORT_LOW,
						       TCPTUNED_ANY_PORT_HIGH};

	return ports->len ? ports->list[i] : any;
}

/* Ports of two ranges count twice, but no list counts more than all ports. */
static __u64 count_ports(const struct tcptuned_ports *ports)
{
	__u64 n = 0;

	for (size_t i = 0; i < count_ranges(ports); i++)
		n += (__u64)range(ports, i).high - range(ports, i).low + 1;
	return MIN(n, 65536);
}

static unsigned int depth_of(const char *cgroup)
{
	unsigned int depth = 0;

	for (const char *p = cgroup; *p; p++)
		depth += *p == '/' && p[1] && p[1] != '/';
	return cgroup[0] ? depth + 1 : 0;
}

/* The number of items. A destination_file without a prefix matches nothing. */
static size_t count_items(const struct tcptuned_policy_source *policy)
{
	const struct tcptuned_named_policy *named = conditions(policy);
	size_t destinations = named->set.destination.len + named->from_file.len;
	size_t sources = named->set.source.len;

	if (is_disabled(policy) || (!destinations && named->set.destination_file[0]))
		return 0;
	return (destinations ? destinations : 1) * (sources ? sources : 1) *
	       count_ranges(&named->set.local_port) * count_ranges(&named->set.remote_port);
}

/* The destinations of a policy are its own, then those of its file. */
static const struct tcptuned_prefix *destination(const struct tcptuned_named_policy *named,
						 size_t i)
{
	const struct tcptuned_prefixes *own = &named->set.destination;

	if (i < own->len)
		return &own->list[i];
	return named->from_file.len ? &named->from_file.list[i - own->len] : &everywhere;
}

static size_t add_items(struct item *items, const struct tcptuned_policy_source *policy,
			unsigned int place)
{
	const struct tcptuned_named_policy *named = conditions(policy);
	const struct tcptuned_prefixes *sources = &named->set.source;
	size_t n = count_items(policy), len = sources->len ? sources->len : 1;
	size_t locals = count_ranges(&named->set.local_port);
	size_t remotes = count_ranges(&named->set.remote_port);

	for (size_t i = 0; i < n; i++) {
		size_t pair = i / remotes / locals; /* of prefixes */

		items[i] = (struct item){
			.destination = destination(named, pair / len),
			.source = sources->len ? &sources->list[pair % len] : &everywhere,
			.local = range(&named->set.local_port, i / remotes % locals),
			.remote = range(&named->set.remote_port, i % remotes),
			.policy = policy,
			.place = place,
			.depth = depth_of(named->set.cgroup),
			.ports = count_ports(&named->set.local_port) *
				 count_ports(&named->set.remote_port),
		};
	}
	return n;
}

static int compare(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

static int compare_destinations(const struct item *a, const struct item *b)
{
	return memcmp(a->destination->address, b->destination->address, 16)
		       ?: compare(a->destination->length, b->destination->length);
}

/* The order of the trie, and within one destination the most specific item first. */
static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = compare_destinations(a, b);

	order = order ?: compare(b->source->length, a->source->length);
	order = order ?: compare(a->ports, b->ports);
	order = order ?: compare(b->depth, a->depth);
	/* The default policy comes last: 0 - 1 is the largest number. */
	order = order ?: compare(a->place - 1, b->place - 1);
	order = order ?: memcmp(a->source->address, b->source->address, 16);
	order = order ?: memcmp(&a->local, &b->local, sizeof(a->local));
	return order ?: memcmp(&a->remote, &b->remote, sizeof(a->remote));
}

/* A prefix that a policy contains twice makes one rule. The items are sorted. */
static size_t drop_duplicates(struct item *items, size_t len)
{
	size_t kept = 0;

	for (size_t i = 0; i < len; i++)
		if (!kept || compare_items(&items[kept - 1], &items[i]))
			items[kept++] = items[i];
	return kept;
}

/* ---- rules and entries ------------------------------------------------------------------ */

/* A rule that matches every connection, but for the conditions that a listener knows. */
static struct tcptuned_rule make_local_rule(const struct tcptuned_policy_source *policy,
					    __u32 generation, size_t place,
					    struct tcptuned_port_range local)
{
	const struct tcptuned_policy_config *set = &conditions(policy)->set;
	struct tcptuned_rule rule = {
		.policy = TCPTUNED_POLICY_ID(generation, (__u32)place),
		.local_low = local.low,
		.local_high = local.high,
		.remote_high = TCPTUNED_ANY_PORT_HIGH,
	};

	if (set->cgroup[0]) {
		rule.flags |= TCPTUNED_RULE_CGROUP;
		rule.cgroup = policy->cgroup;
	}
	return rule;
}

/* True for ::/0 and other IPv6 prefixes, which cover the mapped addresses of IPv4. */
static bool not_ipv4(const struct tcptuned_prefix *prefix)
{
	return prefix != &everywhere && !prefix->ipv4;
}

static struct tcptuned_rule make_rule(const struct item *item, __u32 generation)
{
	struct tcptuned_rule rule =
		make_local_rule(item->policy, generation, item->place, item->local);

	rule.source_length = item->source->length;
	rule.destination_length = item->destination->length;
	memcpy(rule.source, item->source->address, sizeof(rule.source));
	for (unsigned int bit = 0; bit < rule.source_length; bit++)
		rule.source_mask[bit / 8] |= 0x80 >> bit % 8;
	if (not_ipv4(item->destination))
		rule.flags |= TCPTUNED_RULE_DESTINATION_NOT_IPV4;
	if (not_ipv4(item->source))
		rule.flags |= TCPTUNED_RULE_SOURCE_NOT_IPV4;
	rule.remote_low = item->remote.low;
	rule.remote_high = item->remote.high;
	return rule;
}

/* A prefix that covers those after it. */
struct cover {
	const struct tcptuned_prefix *prefix;
	__u32 first; /* its first rule */
	__u32 chain; /* number of rules from there to the end */
};

static int fail_chain(const struct item *item, struct tcptuned_error *err)
{
	char text[TCPTUNED_PREFIX_TEXT];

	tcptuned_prefix_print(item->destination, text);
	return FAIL(err, E2BIG, CONFIG,
		    "policy %s: for %s there are more than %d rules that have to be tried "
		    "one after the other; name fewer sources or ports, or combine policies that "
		    "differ in ports or cgroup only",
		    item->policy->named ? item->policy->named->name : "default", text,
		    TCPTUNED_CHAIN_MAX);
}

/* Make the rules of the prefix of the first item; returns their number. */
static size_t make_chain(const struct item *items, size_t len, __u32 generation, __u32 first,
			 const struct cover *cover, struct tcptuned_rule *rules)
{
	size_t n;

	for (n = 0; n < len && !compare_destinations(&items[0], &items[n]); n++) {
		rules[n] = make_rule(&items[n], generation);
		rules[n].next = first + (__u32)n + 1;
	}
	rules[n - 1].next = cover ? cover->first : TCPTUNED_RULE_NONE;
	return n;
}

/* A prefix comes before those that it covers: a stack holds those that cover the next one. */
static int make_rules(const struct item *items, size_t len, __u32 array,
		      struct tcptuned_ruleset *ret, struct tcptuned_error *err)
{
	struct cover open[130], *cover;
	size_t depth = 0, n;

	for (size_t i = 0; i < len; i += n) {
		const struct tcptuned_prefix *prefix = items[i].destination;
		struct tcptuned_ruleset_entry *entry = &ret->entries[ret->entries_len++];
		__u32 first = ret->rules_len, chain;

		while (depth &&
		       !tcptuned_prefix_covers(open[depth - 1].prefix->address,
					       open[depth - 1].prefix->length, prefix->address))
			depth--;
		cover = depth ? &open[depth - 1] : NULL;
		n = make_chain(&items[i], len - i, ret->generation, first, cover,
			       &ret->rules[first]);
		ret->rules_len += (__u32)n;
		chain = (cover ? cover->chain : 0) + (__u32)n;
		if (chain > TCPTUNED_CHAIN_MAX)
			return fail_chain(&items[i], err);
		open[depth++] = (struct cover){prefix, first, chain};
		entry->key.length = prefix->length;
		memcpy(entry->key.address, prefix->address, sizeof(entry->key.address));
		entry->match.first = array << 31 | first;
	}
	return 0;
}

/* ---- what is known before the connection is --------------------------------------------- */

/* True if a listener shows which of its connections the policy may have: all, or none. */
static bool is_known_at_listener(const struct tcptuned_policy_source *policy)
{
	const struct tcptuned_policy_config *set = &conditions(policy)->set;

	return !set->destination.len && !set->destination_file[0] && !set->source.len &&
	       !set->remote_port.len;
}

/* True if it leaves SO_RCVBUF to the application. */
static bool honours(const struct tcptuned_policy_source *policy)
{
	return policy->record.mode != TCPTUNED_TUNE || !policy->record.override_rcvbuf;
}

static void add_local_rule(const struct tcptuned_policy_source *policy, size_t place,
			   struct tcptuned_port_range local, struct tcptuned_ruleset *ret)
{
	struct tcptuned_rule *rule = &ret->rules[ret->rules_len];

	*rule = make_local_rule(policy, ret->generation, place, local);
	if (!honours(policy))
		rule->policy = 0;
	rule->next = ++ret->rules_len;
}

/*
 * Add the rules by which the request of a listener is honoured. First those of policies that honour
 * it, and that some of its connections may have; then of those that all others have the first one
 * that matches. The items are sorted. Returns where the first rule is.
 */
static __u32 make_listener_rules(const struct tcptuned_policy_source *policies, size_t len,
				 const struct item *items, size_t items_len,
				 struct tcptuned_ruleset *ret)
{
	__u32 first = ret->rules_len;
	bool any_honours = false;

	for (size_t i = 0; i < len; i++) {
		const struct tcptuned_ports *local = &conditions(&policies[i])->set.local_port;

		if (is_disabled(&policies[i]) || !honours(&policies[i]))
			continue;
		any_honours = true;
		if (is_known_at_listener(&policies[i]))
			continue;
		for (size_t j = 0; j < count_ranges(local); j++)
			add_local_rule(&policies[i], i, range(local, j), ret);
	}
	if (!any_honours)
		return TCPTUNED_RULE_NONE;
	for (size_t i = 0; i < items_len; i++)
		if (is_known_at_listener(items[i].policy))
			add_local_rule(items[i].policy, items[i].place, items[i].local, ret);
	ret->rules[ret->rules_len - 1].next = TCPTUNED_RULE_NONE;
	return first;
}

/* What an application's request may meet if the policy is not known yet. */
static __u32 summarise(const struct tcptuned_policy *policy)
{
	bool tune = policy->mode == TCPTUNED_TUNE;
	__u32 summary = TCPTUNED_ANY_MANAGES;

	if (policy->mode == TCPTUNED_OFF)
		return 0;
	if (policy->override_rcvbuf)
		summary |= tune ? TCPTUNED_RCVBUF_OVERRIDDEN : TCPTUNED_RCVBUF_OBSERVED;
	if (policy->override_sndbuf)
		summary |= tune ? TCPTUNED_SNDBUF_OVERRIDDEN : TCPTUNED_SNDBUF_OBSERVED;
	if (policy->holdback)
		summary |= TCPTUNED_ANY_HOLDS_BACK;
	if (tcptuned_policy_sets_at_once(policy))
		summary |= TCPTUNED_AT_ESTABLISHED;
	return summary;
}

static void make_summary(const struct tcptuned_policy_source *policies, size_t len,
			 const struct item *items, size_t items_len, __u32 array,
			 struct tcptuned_ruleset *ret)
{
	struct tcptuned_match *match = &ret->entries[0].match;

	match->default_policy = TCPTUNED_POLICY_ID(ret->generation, TCPTUNED_POLICY_DEFAULT);
	match->listener_rcvbuf = array << 31 |
				 make_listener_rules(policies, len, items, items_len, ret);
	for (size_t i = 0; i < len; i++)
		match->any_policy |= summarise(&policies[i].record);
}

static int fail_memory(struct tcptuned_error *err)
{
	return FAIL(err, ENOMEM, INTERNAL, "out of memory for the policies; free some");
}

int tcptuned_ruleset_compile(const struct tcptuned_policy_source *policies, size_t len,
			     __u32 generation, __u32 array, struct tcptuned_ruleset *ret,
			     struct tcptuned_error *err)
{
	_cleanup_free_ struct item *items = NULL;
	size_t all = 0, locals = 0, n = 0;
	int error;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < len; i++) {
		all += count_items(&policies[i]);
		locals += count_ranges(&conditions(&policies[i])->set.local_port);
	}
	if (all > TCPTUNED_RULES_MAX)
		return FAIL(
			err, E2BIG, CONFIG,
			"policies: their prefixes and ports make %zu rules, one for each combination "
			"of a policy's destination, source and ports; there may be %u: name "
			"fewer or larger prefixes in destination, destination_file "
			"or source of the policies that have many of both",
			all, TCPTUNED_RULES_MAX);
	items = calloc(all, sizeof(*items));
	ret->rules = calloc(1 + all + locals, sizeof(*ret->rules));
	ret->entries = calloc(all, sizeof(*ret->entries));
	if (!items || !ret->rules || !ret->entries) {
		tcptuned_ruleset_free(ret);
		return fail_memory(err);
	}
	for (size_t i = 0; i < len; i++)
		n += add_items(items + n, &policies[i], (unsigned int)i);
	qsort(items, n, sizeof(*items), compare_items);
	n = drop_duplicates(items, n);
	ret->generation = generation;
	ret->rules_len = 1;
	error = make_rules(items, n, array, ret, err);
	if (error)
		tcptuned_ruleset_free(ret);
	else
		make_summary(policies, len, items, n, array, ret);
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
		return fail_memory(err);
	for (size_t i = 1; i < len; i++)
		sources[i].named = &config->policies[i - 1];
	error = tcptuned_ruleset_compile(sources, len, 1, 0, &rules, err);
	tcptuned_ruleset_free(&rules);
	return error;
}
