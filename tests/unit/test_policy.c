// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies compiled into a trie and chains of rules: whoever goes through them gets the policy
 * that a plain comparison of all policies with all of their conditions gives.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <arpa/inet.h>
#include <cmocka.h>

#include "policy/compile.h"
#include "policy/describe.h"
#include "policy/lookup.h"
#include "util/array.h"

#define GENERATION    7

static struct tcptuned_error err;

/* --- policies ----------------------------------------------------------------------------- */

static void add(struct tcptuned_prefixes *prefixes, const char *text)
{
	char problem[200] = "";

	if (tcptuned_prefixes_add(prefixes, text, problem, sizeof(problem)))
		fail_msg("%s: %s", text, problem);
}

/* A policy of a configuration, and its source to compile. The first is the default policy. */
struct set {
	struct tcptuned_named_policy named[64];
	struct tcptuned_policy_source sources[65];
	size_t len;
};

static void begin(struct set *set)
{
	memset(set, 0, sizeof(*set));
	set->len = 1;
	set->sources[0].record.mode = TCPTUNED_TUNE;
	set->sources[0].record.override_rcvbuf = set->sources[0].record.override_sndbuf = 1;
}

static struct tcptuned_policy_config *more(struct set *set, const char *name)
{
	struct tcptuned_named_policy *named = &set->named[set->len - 1];

	assert_true(set->len < ARRAY_SIZE(set->sources));
	snprintf(named->name, sizeof(named->name), "%s", name);
	set->sources[set->len].named = named;
	set->sources[set->len].record = set->sources[0].record;
	set->len++;
	return &named->set;
}

static void end(struct set *set)
{
	for (size_t i = 0; i + 1 < set->len; i++) {
		tcptuned_prefixes_free(&set->named[i].set.destination);
		tcptuned_prefixes_free(&set->named[i].set.source);
		tcptuned_prefixes_free(&set->named[i].from_file);
	}
}

static struct tcptuned_ruleset compile(const struct set *set, __u32 array)
{
	struct tcptuned_ruleset rules;

	if (tcptuned_ruleset_compile(set->sources, set->len, GENERATION, array, &rules, &err))
		fail_msg("%s", err.text);
	return rules;
}

/* --- connections -------------------------------------------------------------------------- */

static void address(__u8 ret[16], const char *text)
{
	memset(ret, 0, 16);
	if (inet_pton(AF_INET, text, ret + 12) == 1)
		ret[10] = ret[11] = 0xff;
	else
		assert_int_equal(inet_pton(AF_INET6, text, ret), 1);
}

static struct tcptuned_tuple tuple(const char *local, unsigned int local_port, const char *remote,
				   unsigned int remote_port)
{
	struct tcptuned_tuple t = {.local_port = (__u16)local_port,
				   .remote_port = (__u16)remote_port};

	address(t.local, local);
	address(t.remote, remote);
	return t;
}

static bool in_cgroup(const struct tcptuned_tuple *tuple, __u64 id)
{
	for (size_t i = 0; i < tuple->cgroups_len; i++)
		if (id && tuple->cgroups[i] == id)
			return true;
	return false;
}

/* The id of the policy that @tuple gets, as the kernel finds it (bpf/policy.h). */
static __u32 find_policy(const struct tcptuned_ruleset *rules, const struct tcptuned_tuple *tuple)
{
	const struct tcptuned_ruleset_entry *best = &rules->entries[0];
	__u32 next;

	for (__u32 i = 1; i < rules->entries_len; i++) {
		const struct tcptuned_ruleset_entry *entry = &rules->entries[i];

		if (entry->key.length >= best->key.length &&
		    tcptuned_prefix_covers(entry->key.address, entry->key.length, tuple->remote))
			best = entry;
	}
	for (next = TCPTUNED_RULE_INDEX(best->match.first); next; next = rules->rules[next].next) {
		const struct tcptuned_rule *rule = &rules->rules[next];

		if (tcptuned_rule_matches(rule, tuple->local, tuple->remote, tuple->local_port,
					  tuple->remote_port) &&
		    (!(rule->flags & TCPTUNED_RULE_CGROUP) || in_cgroup(tuple, rule->cgroup)))
			return rule->policy;
	}
	return rules->entries[0].match.default_policy;
}

static void assert_policy(const struct set *set, const struct tcptuned_ruleset *rules,
			  const struct tcptuned_tuple *t, const char *name)
{
	__u32 id = find_policy(rules, t), place = TCPTUNED_POLICY_PLACE(id);

	assert_int_equal(TCPTUNED_POLICY_GENERATION(id), GENERATION);
	assert_true(place < set->len);
	assert_string_equal(place ? set->sources[place].named->name : "default", name);
}

static void assert_peer(const struct set *set, const struct tcptuned_ruleset *rules,
			const char *remote, const char *name)
{
	struct tcptuned_tuple t =
		tuple(strchr(remote, ':') ? "2001:db8::1" : "192.0.2.1", 40000, remote, 443);

	assert_policy(set, rules, &t, name);
}

/* --- the order of the conditions ---------------------------------------------------------- */

static void test_default_alone(void **state)
{
	struct tcptuned_ruleset rules;
	struct set set;

	begin(&set);
	rules = compile(&set, 1);
	assert_int_equal(rules.entries_len, 1);
	assert_int_equal(rules.entries[0].key.length, 0);
	assert_int_equal(rules.entries[0].match.first, 1u << 31 | 1);
	assert_int_equal(rules.entries[0].match.default_policy,
			 TCPTUNED_POLICY_ID(GENERATION, TCPTUNED_POLICY_DEFAULT));
	assert_peer(&set, &rules, "203.0.113.9", "default");
	assert_peer(&set, &rules, "::1", "default");
	tcptuned_ruleset_free(&rules);
}

static void test_longest_prefix(void **state)
{
	struct tcptuned_ruleset rules;
	struct set set;

	begin(&set);
	add(&more(&set, "eight")->destination, "10.0.0.0/8");
	add(&more(&set, "host")->destination, "10.1.2.3");
	add(&more(&set, "sixteen")->destination, "10.1.0.0/16, 2001:db8::/32");
	add(&more(&set, "all6")->destination, "::/0");
	add(&more(&set, "all4")->destination, "0.0.0.0/0");
	rules = compile(&set, 0);
	assert_peer(&set, &rules, "10.1.2.3", "host");
	assert_peer(&set, &rules, "10.1.2.4", "sixteen");
	assert_peer(&set, &rules, "10.2.0.0", "eight");
	assert_peer(&set, &rules, "11.0.0.0", "all4");
	assert_peer(&set, &rules, "2001:db8:ffff::", "sixteen");
	assert_peer(&set, &rules, "2001:db9::", "all6");
	assert_peer(&set, &rules, "::ffff:10.1.2.3", "host");
	tcptuned_ruleset_free(&rules);
	end(&set);
	/* ::/0 speaks of IPv6. */
	begin(&set);
	add(&more(&set, "all6")->destination, "::/0");
	add(&more(&set, "from6")->source, "::/0");
	rules = compile(&set, 0);
	assert_peer(&set, &rules, "10.0.0.1", "default");
	assert_peer(&set, &rules, "fe80::1", "all6"); /* no bit of a source is no more specific */
	tcptuned_ruleset_free(&rules);
	end(&set);
}

/* A rule that fails on another condition leaves the connection to the next shorter prefix. */
static void test_falls_back(void **state)
{
	const __u64 cgroups[] = {50, 40, 1};
	struct tcptuned_policy_config *p;
	struct tcptuned_ruleset rules;
	struct tcptuned_tuple t;
	struct set set;

	begin(&set);
	p = more(&set, "narrow");
	add(&p->destination, "10.1.0.0/16");
	p->remote_port = (struct tcptuned_ports){80, 80};
	add(&more(&set, "wide")->destination, "10.0.0.0/8");
	p = more(&set, "group");
	strcpy(p->cgroup, "/a/b");
	set.sources[3].cgroup = 40;
	p = more(&set, "gone");
	strcpy(p->cgroup, "/a/b/c");
	add(&p->destination, "10.1.2.0/24");
	rules = compile(&set, 0);
	t = tuple("192.0.2.1", 1, "10.1.2.3", 80);
	assert_policy(&set, &rules, &t, "narrow");
	t.remote_port = 81;
	assert_policy(&set, &rules, &t, "wide");
	t = tuple("192.0.2.1", 1, "11.1.2.3", 80);
	assert_policy(&set, &rules, &t, "default");
	t.cgroups = cgroups;
	t.cgroups_len = ARRAY_SIZE(cgroups);
	assert_policy(&set, &rules, &t, "group");
	tcptuned_ruleset_free(&rules);
	end(&set);
}

static void test_order_among_equals(void **state)
{
	const __u64 cgroups[] = {3, 2, 1};
	struct tcptuned_policy_config *p;
	struct tcptuned_ruleset rules;
	struct tcptuned_tuple t = tuple("192.0.2.1", 443, "10.0.0.1", 5000);
	struct set set;

	t.cgroups = cgroups;
	t.cgroups_len = ARRAY_SIZE(cgroups);
	/* Each one more specific than the ones before it, by the next condition in line. */
	begin(&set);
	more(&set, "first")->local_port = (struct tcptuned_ports){443, 443};
	more(&set, "second")->local_port = (struct tcptuned_ports){443, 443};
	rules = compile(&set, 0);
	assert_policy(&set, &rules, &t, "first");
	tcptuned_ruleset_free(&rules);
	for (int depth = 1; depth <= 3; depth++) {
		static const char *const groups[] = {"/", "/a", "/a/b"};
		static const char *const names[] = {"root", "a", "b"};

		p = more(&set, names[depth - 1]);
		p->local_port = (struct tcptuned_ports){443, 443};
		strcpy(p->cgroup, groups[depth - 1]);
		set.sources[set.len - 1].cgroup = (__u64)depth;
		rules = compile(&set, 0);
		assert_policy(&set, &rules, &t, names[depth - 1]);
		tcptuned_ruleset_free(&rules);
	}
	p = more(&set, "ports");
	p->local_port = (struct tcptuned_ports){443, 443};
	p->remote_port = (struct tcptuned_ports){1, 65534};
	rules = compile(&set, 0);
	assert_policy(&set, &rules, &t, "ports");
	tcptuned_ruleset_free(&rules);
	add(&more(&set, "source")->source, "192.0.0.0/16");
	add(&more(&set, "sources")->source, "192.0.2.0/24, 198.51.100.0/24");
	rules = compile(&set, 0);
	assert_policy(&set, &rules, &t, "sources");
	tcptuned_ruleset_free(&rules);
	add(&more(&set, "destination")->destination, "0.0.0.0/0");
	rules = compile(&set, 0);
	assert_policy(&set, &rules, &t, "destination");
	tcptuned_ruleset_free(&rules);
	end(&set);
}

/* A list from a file may be empty: then there is no destination, not any. */
static void test_empty_file(void **state)
{
	struct tcptuned_ruleset rules;
	struct set set;

	begin(&set);
	strcpy(more(&set, "none")->destination_file, "/dev/null");
	rules = compile(&set, 0);
	assert_peer(&set, &rules, "10.0.0.1", "default");
	tcptuned_ruleset_free(&rules);
	add(&set.named[0].from_file, "10.0.0.0/8 10.0.0.0/8");
	rules = compile(&set, 0);
	assert_peer(&set, &rules, "10.0.0.1", "none");
	assert_int_equal(rules.entries_len, 2);
	assert_int_equal(rules.rules_len, 1 + 2); /* what is there twice makes one */
	tcptuned_ruleset_free(&rules);
	end(&set);
}

/* --- before the connection is known ------------------------------------------------------- */

/* Does a rule of the chain say that a request on a listener stands? */
static bool stands_at(const struct tcptuned_ruleset *rules, __u32 first, unsigned int port,
		      __u64 cgroup)
{
	const __u8 any[16] = {0};

	for (__u32 i = TCPTUNED_RULE_INDEX(first); i; i = rules->rules[i].next) {
		const struct tcptuned_rule *rule = &rules->rules[i];

		if (tcptuned_rule_matches(rule, any, any, port, 0) &&
		    (!(rule->flags & TCPTUNED_RULE_CGROUP) || rule->cgroup == cgroup))
			return true;
	}
	return false;
}

static void test_wishes(void **state)
{
	struct tcptuned_policy_config *p;
	const struct tcptuned_match *m;
	struct tcptuned_ruleset rules;
	struct set set;

	begin(&set);
	rules = compile(&set, 1);
	m = &rules.entries[0].match;
	assert_int_equal(m->any_policy, TCPTUNED_RCVBUF_OVERRIDDEN | TCPTUNED_SNDBUF_OVERRIDDEN |
					    TCPTUNED_ANY_MANAGES);
	assert_int_equal(TCPTUNED_RULE_INDEX(m->honour_rcvbuf), TCPTUNED_RULE_NONE);
	assert_int_equal(TCPTUNED_RULE_INDEX(m->honour_sndbuf), TCPTUNED_RULE_NONE);
	tcptuned_ruleset_free(&rules);

	set.sources[0].record.mode = TCPTUNED_OFF;
	rules = compile(&set, 1);
	assert_int_equal(rules.entries[0].match.any_policy, 0);
	assert_true(stands_at(&rules, rules.entries[0].match.honour_rcvbuf, 80, 0));
	tcptuned_ruleset_free(&rules);

	/* Only who has to do with the listener may speak for its connections. */
	set.sources[0].record.mode = TCPTUNED_TUNE;
	p = more(&set, "off");
	p->local_port = (struct tcptuned_ports){22, 22};
	p->remote_port = (struct tcptuned_ports){5, 6};
	add(&p->destination, "10.0.0.0/8");
	add(&p->source, "192.0.2.1");
	set.sources[1].record.mode = TCPTUNED_OFF;
	p = more(&set, "sender");
	strcpy(p->cgroup, "/x");
	set.sources[2].cgroup = 9;
	set.sources[2].record.override_sndbuf = 0;
	strcpy(set.sources[2].record.congestion_control, "cubic");
	p = more(&set, "watch");
	p->local_port = (struct tcptuned_ports){80, 90};
	set.sources[3].record.mode = TCPTUNED_OBSERVE;
	rules = compile(&set, 0);
	m = &rules.entries[0].match;
	assert_int_equal(m->any_policy, TCPTUNED_RCVBUF_OVERRIDDEN | TCPTUNED_SNDBUF_OVERRIDDEN |
					    TCPTUNED_RCVBUF_OBSERVED | TCPTUNED_SNDBUF_OBSERVED |
					    TCPTUNED_ANY_MANAGES | TCPTUNED_AT_ESTABLISHED);
	assert_true(stands_at(&rules, m->honour_rcvbuf, 22, 0));
	assert_true(stands_at(&rules, m->honour_rcvbuf, 85, 0));
	assert_false(stands_at(&rules, m->honour_rcvbuf, 443, 9));
	assert_true(stands_at(&rules, m->honour_sndbuf, 443, 9));
	assert_false(stands_at(&rules, m->honour_sndbuf, 443, 8));
	tcptuned_ruleset_free(&rules);
	end(&set);
}

/* --- against the plain comparison --------------------------------------------------------- */

static bool covers(const struct tcptuned_prefix *prefix, const __u8 *to)
{
	if (!prefix->ipv4 && tcptuned_address_is_ipv4(to))
		return false;
	for (unsigned int bit = 0; bit < prefix->length; bit++)
		if ((prefix->address[bit / 8] ^ to[bit / 8]) & (0x80 >> bit % 8))
			return false;
	return true;
}

/* Length of the longest that covers; 0: any will do; -1: none. */
static int longest(const struct tcptuned_prefixes *prefixes, const __u8 *to)
{
	int best = prefixes->len ? -1 : 0;

	for (size_t i = 0; i < prefixes->len; i++)
		if (covers(&prefixes->list[i], to) && prefixes->list[i].length > best)
			best = prefixes->list[i].length;
	return best;
}

static bool in_ports(const struct tcptuned_ports *ports, unsigned int port)
{
	return !ports->low || (port >= ports->low && port <= ports->high);
}

static uint64_t count_ports(const struct tcptuned_ports *ports)
{
	return ports->low ? ports->high - ports->low + 1u : 65536;
}

static unsigned int slashes(const char *cgroup)
{
	unsigned int n = 0;

	for (const char *p = cgroup; *p; p++)
		n += *p == '/';
	return n + (n && cgroup[1]); /* "/a" is deeper than "/" */
}

/* How specific the policy is for this connection, largest first; false: it does not match. */
static bool rank(const struct tcptuned_policy_source *source, const struct tcptuned_tuple *t,
		 int64_t ret[4])
{
	const struct tcptuned_policy_config *set = &source->named->set;
	bool inside = !set->cgroup[0];

	ret[0] = longest(&set->destination, t->remote);
	ret[1] = longest(&set->source, t->local);
	ret[2] = -(int64_t)(count_ports(&set->local_port) * count_ports(&set->remote_port));
	ret[3] = slashes(set->cgroup);
	for (size_t i = 0; i < t->cgroups_len; i++)
		inside |= t->cgroups[i] == source->cgroup;
	return ret[0] >= 0 && ret[1] >= 0 && in_ports(&set->local_port, t->local_port) &&
	       in_ports(&set->remote_port, t->remote_port) && inside;
}

static size_t plainly(const struct set *set, const struct tcptuned_tuple *t)
{
	int64_t best[4], now[4];
	size_t found = 0;

	for (size_t i = 1; i < set->len; i++) {
		int better = 0;

		if (set->sources[i].record.disabled || !rank(&set->sources[i], t, now))
			continue;
		for (int k = 0; k < 4 && !better && found; k++)
			better = now[k] > best[k] ? 1 : now[k] < best[k] ? -1 : 0;
		if (found && better <= 0)
			continue;
		memcpy(best, now, sizeof(best));
		found = i;
	}
	return found;
}

/* Addresses out of few bits, so that prefixes nest and meet. */
static void random_address(__u8 ret[16])
{
	memset(ret, 0, 16);
	if (random() % 2)
		ret[10] = ret[11] = 0xff;
	ret[12] = (__u8)(random() % 3 << 6);
	ret[13] = (__u8)(random() % 4);
	ret[15] = (__u8)(random() % 2);
	if (!ret[10])
		ret[0] = (__u8)(random() % 2 << 7);
}

static void random_prefixes(struct tcptuned_prefixes *prefixes, long most)
{
	for (long n = random() % (most + 1); n; n--) {
		static const unsigned int lengths[] = {0, 1, 90, 96, 97, 98, 100, 104, 110, 112, 127, 128};
		struct tcptuned_prefix p = {0};
		char text[TCPTUNED_PREFIX_TEXT];

		random_address(p.address);
		p.length = (uint8_t)lengths[(size_t)random() % ARRAY_SIZE(lengths)];
		if (tcptuned_address_is_ipv4(p.address) && p.length < 96)
			p.length = 96;
		p.ipv4 = tcptuned_address_is_ipv4(p.address);
		for (unsigned int bit = p.length; bit < 128; bit++)
			p.address[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
		tcptuned_prefix_print(&p, text);
		add(prefixes, text);
	}
}

static void random_ports(struct tcptuned_ports *ports)
{
	if (random() % 3)
		return;
	ports->low = (uint16_t)(random() % 4 + 1);
	ports->high = (uint16_t)(ports->low + random() % 3);
}

static void random_set(struct set *set)
{
	static const char *const groups[] = {"/", "/a", "/a/b"}; /* ids 1, 2, 3 */

	begin(set);
	for (long n = random() % 20; n; n--) {
		struct tcptuned_policy_config *p = more(set, "x");
		long group = random() % 9;

		random_prefixes(&p->destination, 4);
		random_prefixes(&p->source, 2);
		random_ports(&p->local_port);
		random_ports(&p->remote_port);
		set->sources[set->len - 1].record.disabled = random() % 6 == 0;
		if (group >= 3)
			continue;
		snprintf(p->cgroup, sizeof(p->cgroup), "%s", groups[group][1] ? groups[group] : "/");
		set->sources[set->len - 1].cgroup = (__u64)group + 1;
	}
}

static void test_random_rules(void **state)
{
	static const __u64 cgroups[] = {3, 2, 1};
	size_t named = 0;

	srandom(3);
	for (int round = 0; round < 400; round++) {
		struct tcptuned_ruleset rules;
		struct set set;

		random_set(&set);
		rules = compile(&set, (__u32)round % 2);
		for (int i = 0; i < 400; i++) {
			struct tcptuned_tuple t = {.local_port = (__u16)(random() % 7),
						   .remote_port = (__u16)(random() % 7)};
			size_t want;

			random_address(t.local);
			random_address(t.remote);
			t.cgroups = cgroups + random() % 3;
			t.cgroups_len = (size_t)(cgroups + 3 - t.cgroups);
			want = plainly(&set, &t);
			named += want > 0;
			assert_int_equal(find_policy(&rules, &t),
					 TCPTUNED_POLICY_ID(GENERATION, want));
		}
		tcptuned_ruleset_free(&rules);
		end(&set);
	}
	assert_in_range(named, 50000, 155000); /* it was about both */
}

/* --- in words ----------------------------------------------------------------------------- */

static void assert_rule(const struct tcptuned_ruleset *rules, __u32 which, const char *remote,
			const char *cgroup, const char *says)
{
	struct tcptuned_tuple t = tuple("::1", 1, remote, 1);
	struct tcptuned_buf text;

	tcptuned_buf_init(&text, 1000);
	tcptuned_rule_format(&text, &rules->rules[which], t.remote, cgroup);
	assert_string_equal(text.data, says);
	tcptuned_buf_free(&text);
}

static void assert_conditions(const struct tcptuned_named_policy *named, const char *says)
{
	struct tcptuned_buf text;

	tcptuned_buf_init(&text, 4000);
	tcptuned_conditions_format(&text, named);
	assert_string_equal(text.data, says);
	tcptuned_buf_free(&text);
}

static void test_words(void **state)
{
	struct tcptuned_policy_config *p;
	struct tcptuned_ruleset rules;
	char many[32];
	struct set set;

	begin(&set);
	p = more(&set, "all");
	add(&p->destination, "10.1.0.0/16");
	add(&p->source, "192.0.2.0/24");
	p->local_port = (struct tcptuned_ports){8000, 8080};
	p->remote_port = (struct tcptuned_ports){443, 443};
	strcpy(p->cgroup, "/a/b");
	set.sources[1].cgroup = 77;
	add(&more(&set, "six")->destination, "2001:db8::/32, ::/0");
	rules = compile(&set, 0);
	/* in the order of the trie: ::/0 of "six", of all, 10.1.0.0/16, 2001:db8::/32 */
	assert_int_equal(rules.rules_len, 5);
	assert_rule(&rules, 1, "2001:db8::1", NULL, "destination ::/0");
	assert_rule(&rules, 2, "10.1.2.3", NULL, "every connection");
	assert_rule(&rules, 3, "10.1.2.3", "/a/b",
		    "destination 10.1.0.0/16, source 192.0.2.0/24, local port 8000-8080, "
		    "remote port 443, cgroup /a/b");
	assert_rule(&rules, 3, "10.1.2.3", NULL,
		    "destination 10.1.0.0/16, source 192.0.2.0/24, local port 8000-8080, "
		    "remote port 443, cgroup of id 77");
	assert_rule(&rules, 4, "2001:db8::1", NULL, "destination 2001:db8::/32");
	tcptuned_ruleset_free(&rules);

	assert_conditions(NULL, "every connection");
	assert_conditions(&set.named[0],
			  "destination 10.1.0.0/16, source 192.0.2.0/24, local port 8000-8080, "
			  "remote port 443, cgroup /a/b");
	assert_conditions(&set.named[1], "destination 2001:db8::/32, ::/0");
	for (int i = 0; i < 100; i++) {
		snprintf(many, sizeof(many), "10.0.%d.0/24", i);
		add(&set.named[1].set.destination, many);
	}
	strcpy(set.named[1].set.destination_file, "/etc/more");
	add(&set.named[1].from_file, "192.0.2.0/24");
	assert_conditions(&set.named[1], "destination 102 prefixes, destination in /etc/more (1 "
					 "prefixes)");
	end(&set);
}

/* One that is disabled has no rule, lets no request stand, and keeps its place. */
static void test_disabled(void **state)
{
	struct tcptuned_ruleset rules;
	struct set set;

	begin(&set);
	add(&more(&set, "off")->destination, "10.0.0.0/8");
	add(&more(&set, "next")->destination, "10.0.0.0/8");
	set.sources[1].record.mode = TCPTUNED_OFF;
	set.sources[1].record.disabled = 1;
	rules = compile(&set, 0);
	assert_peer(&set, &rules, "10.0.0.1", "next");
	assert_int_equal(rules.rules_len, 1 + 2);
	assert_int_equal(TCPTUNED_RULE_INDEX(rules.entries[0].match.honour_rcvbuf),
			 TCPTUNED_RULE_NONE);
	tcptuned_ruleset_free(&rules);
	set.sources[1].record.disabled = 0;
	rules = compile(&set, 0);
	assert_peer(&set, &rules, "10.0.0.1", "off");
	tcptuned_ruleset_free(&rules);
	end(&set);
}

/* --- many --------------------------------------------------------------------------------- */

static void test_ten_thousand_prefixes(void **state)
{
	struct timespec begun, done;
	struct tcptuned_ruleset rules;
	struct set set;
	double ms;

	begin(&set);
	for (int p = 0; p < 10; p++)
		more(&set, "x");
	srandom(4);
	for (int i = 0; i < 10000; i++) {
		char text[64];

		if (i % 2)
			snprintf(text, sizeof(text), "10.%d.%d.0/24", i / 256, i % 256);
		else
			snprintf(text, sizeof(text), "2001:db8:%x::/48", i);
		add(&set.named[i % 10].from_file, text);
	}
	clock_gettime(CLOCK_MONOTONIC, &begun);
	rules = compile(&set, 0);
	clock_gettime(CLOCK_MONOTONIC, &done);
	ms = (double)(done.tv_sec - begun.tv_sec) * 1e3 + (double)(done.tv_nsec - begun.tv_nsec) / 1e6;
	print_message("10,000 prefixes compiled in %.1f ms\n", ms);
	assert_in_range(ms, 0, 1000);
	assert_int_equal(rules.entries_len, 10001);
	assert_int_equal(rules.rules_len, 10002);
	for (int i = 0; i < 300; i++) {
		int which = (int)(random() % 10000);
		struct tcptuned_tuple t;
		char text[64];

		if (which % 2)
			snprintf(text, sizeof(text), "10.%d.%d.%ld", which / 256, which % 256,
				 random() % 256);
		else
			snprintf(text, sizeof(text), "2001:db8:%x::%lx", which, random() % 65536);
		t = tuple("::1", 1, text, 1);
		assert_int_equal(TCPTUNED_POLICY_PLACE(find_policy(&rules, &t)),
				 which % 10 + 1);
	}
	tcptuned_ruleset_free(&rules);
	end(&set);
}

static void test_too_much(void **state)
{
	struct tcptuned_config config = { 0 };
	struct tcptuned_policy_config *p;
	struct tcptuned_ruleset rules;
	char text[64];
	struct set set;

	begin(&set);
	p = more(&set, "wide");
	for (int i = 0; i < TCPTUNED_CHAIN_MAX; i++) {
		snprintf(text, sizeof(text), "10.%d.%d.0/24", i / 256, i % 256);
		add(&p->source, text);
	}
	assert_int_equal(tcptuned_ruleset_compile(set.sources, set.len, 1, 0, &rules, &err), -E2BIG);
	assert_non_null(strstr(err.text, "4096 rules"));
	/* As --check-config, a reload and a start see it, before any of them changes anything. */
	config.policies = set.named;
	config.policies_len = set.len - 1;
	memset(&err, 0, sizeof(err));
	assert_int_equal(tcptuned_policies_check(&config, &err), -E2BIG);
	assert_non_null(strstr(err.text, "policy wide: for ::/0 there are more than 4096 rules"));
	assert_int_equal(err.status, TCPTUNED_EXIT_CONFIG);
	p->source.len--;
	assert_int_equal(tcptuned_policies_check(&config, &err), 0);
	assert_int_equal(tcptuned_ruleset_compile(set.sources, set.len, 1, 0, &rules, &err), 0);
	tcptuned_ruleset_free(&rules);
	for (int i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "10.%d.%d.0/24", i / 256, i % 256);
		add(&p->destination, text);
	}
	assert_int_equal(tcptuned_ruleset_compile(set.sources, set.len, 1, 0, &rules, &err), -E2BIG);
	assert_non_null(strstr(err.text, "1228501 rules, one for each pair"));
	end(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_alone),
		cmocka_unit_test(test_longest_prefix),
		cmocka_unit_test(test_falls_back),
		cmocka_unit_test(test_order_among_equals),
		cmocka_unit_test(test_empty_file),
		cmocka_unit_test(test_wishes),
		cmocka_unit_test(test_random_rules),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_disabled),
		cmocka_unit_test(test_ten_thousand_prefixes),
		cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
