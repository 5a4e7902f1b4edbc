// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies compiled into a trie and chains of rules. A connection finds the same policy in them as
 * a plain comparison of all policies with all of their conditions gives.
 */
#include <arpa/inet.h>
#include <sys/param.h>

#include "test.h"
#include "policy/ruleset.h"
#include "policy/describe.h"
#include "policy/lookup.h"
#include "util/clock.h"

#define GENERATION 7

static void add(struct tcptuned_prefixes *prefixes, const char *text)
{
	char problem[200] = "";

	if (tcptuned_prefixes_add(prefixes, text, problem, sizeof(problem)))
		fail_msg("%s: %s", text, problem);
}

/* Adds the first @count networks of 256 addresses in 10.0.0.0/8. */
static void add_many(struct tcptuned_prefixes *prefixes, int count)
{
	char text[32];

	for (int i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "10.%d.%d.0/24", i / 256, i % 256);
		add(prefixes, text);
	}
}

/* A policy of a configuration, and its source to compile. The first is the default policy. */
struct set {
	struct tcptuned_named_policy named[64];
	struct tcptuned_policy_source sources[65];
	size_t len;
};

static struct set set;
static struct tcptuned_ruleset rules;
static struct tcptuned_error err;

static void free_rules(void)
{
	tcptuned_ruleset_free(&rules);
	memset(&rules, 0, sizeof(rules));
}

static int end(void **state)
{
	free_rules();
	for (size_t i = 0; i + 1 < set.len; i++) {
		tcptuned_prefixes_free(&set.named[i].set.destination);
		tcptuned_prefixes_free(&set.named[i].set.source);
		tcptuned_prefixes_free(&set.named[i].from_file);
	}
	memset(&set, 0, sizeof(set));
	return 0;
}

/* Starts with the default policy only. */
static int begin(void **state)
{
	end(state);
	set.len = 1;
	set.sources[0].record.mode = TCPTUNED_TUNE;
	set.sources[0].record.override_rcvbuf = set.sources[0].record.override_sndbuf = 1;
	return 0;
}

FIXTURE(begin, end)

static struct tcptuned_policy_config *more(const char *name)
{
	struct tcptuned_named_policy *named = &set.named[set.len - 1];

	assert_true(set.len < ARRAY_SIZE(set.sources));
	snprintf(named->name, sizeof(named->name), "%s", name);
	set.sources[set.len].named = named;
	set.sources[set.len].record = set.sources[0].record;
	set.len++;
	return &named->set;
}

/* Compiles into the first or the second of the two arrays of rules, @array 0 or 1. */
static void compile(__u32 array)
{
	free_rules();
	if (tcptuned_ruleset_compile(set.sources, set.len, GENERATION, array, &rules, &err))
		fail_msg("%s", err.text);
}

static void address(__u8 ret[16], const char *text)
{
	memset(ret, 0, 16);
	if (inet_pton(AF_INET, text, ret + 12) == 1)
		ret[10] = ret[11] = 0xff;
	else
		assert_int_equal(inet_pton(AF_INET6, text, ret), 1);
}

static bool in_cgroup(const struct tcptuned_tuple *tuple, __u64 id)
{
	for (size_t i = 0; i < tuple->cgroups_len; i++)
		if (id && tuple->cgroups[i] == id)
			return true;
	return false;
}

/* Returns the id of the policy that @tuple gets, as the kernel finds it (bpf/policy.h). */
static __u32 find_policy(const struct tcptuned_tuple *tuple)
{
	const struct tcptuned_ruleset_entry *best = &rules.entries[0];
	__u32 next;

	for (__u32 i = 1; i < rules.entries_len; i++) {
		const struct tcptuned_ruleset_entry *entry = &rules.entries[i];

		if (entry->key.length >= best->key.length &&
		    tcptuned_prefix_covers(entry->key.address, entry->key.length, tuple->remote))
			best = entry;
	}
	for (next = TCPTUNED_RULE_INDEX(best->match.first); next; next = rules.rules[next].next) {
		const struct tcptuned_rule *rule = &rules.rules[next];

		if (tcptuned_rule_matches(rule, tuple->local, tuple->remote, tuple->local_port,
					  tuple->remote_port) &&
		    (!(rule->flags & TCPTUNED_RULE_CGROUP) || in_cgroup(tuple, rule->cgroup)))
			return rule->policy;
	}
	return rules.entries[0].match.default_policy;
}

static void assert_peer(const char *remote, __u32 place)
{
	struct tcptuned_tuple t = {.local_port = 40000, .remote_port = 443};

	address(t.local, "192.0.2.1");
	address(t.remote, remote);
	assert_int_equal(find_policy(&t), TCPTUNED_POLICY_ID(GENERATION, place));
}

/* A destination_file may be empty: then the policy matches no connection, rather than every one. */
TEST(empty_file)
{
	strcpy(more("none")->destination_file, "/dev/null");
	compile(0);
	assert_peer("10.0.0.1", 0);
	add(&set.named[0].from_file, "10.0.0.0/8 10.0.0.0/8");
	compile(0);
	assert_peer("10.0.0.1", 1);
	assert_int_equal(rules.entries_len, 2);
	assert_int_equal(rules.rules_len, 1 + 2); /* a prefix that is given twice makes one rule */
}

static struct tcptuned_ports ports_of(uint16_t low, uint16_t high)
{
	return (struct tcptuned_ports){1, {{low, high}}};
}

/* True if by the chain a request on a listener is honoured. */
static bool is_honoured_at(__u32 first, unsigned int port, __u64 cgroup)
{
	const __u8 any[16] = {0};

	for (__u32 i = TCPTUNED_RULE_INDEX(first); i; i = rules.rules[i].next) {
		const struct tcptuned_rule *rule = &rules.rules[i];

		if (tcptuned_rule_matches(rule, any, any, port, 0) &&
		    (!(rule->flags & TCPTUNED_RULE_CGROUP) || rule->cgroup == cgroup))
			return rule->policy;
	}
	return false;
}

/* The rest of the host is only observed; services are tuned by their cgroup, and by their port. */
TEST(buffer_requests_of_one_service)
{
	const struct tcptuned_match *m;

	strcpy(more("group")->cgroup, "/x");
	set.sources[1].cgroup = 2;
	more("port")->local_port = ports_of(80, 80);
	set.sources[0].record.mode = TCPTUNED_OBSERVE;
	compile(1);
	m = &rules.entries[0].match;
	assert_false(is_honoured_at(m->listener_rcvbuf, 22, 2));
	assert_false(is_honoured_at(m->listener_rcvbuf, 80, 0));
	assert_true(is_honoured_at(m->listener_rcvbuf, 22, 3));
	/* The port is the narrower condition. */
	set.sources[1].record.override_rcvbuf = 0;
	compile(1);
	m = &rules.entries[0].match;
	assert_true(is_honoured_at(m->listener_rcvbuf, 22, 2));
	assert_false(is_honoured_at(m->listener_rcvbuf, 80, 2));
	/* One of its peers may have another policy. */
	add(&more("peer")->destination, "10.0.0.0/8");
	set.sources[3].record.mode = TCPTUNED_OFF;
	compile(1);
	assert_true(is_honoured_at(rules.entries[0].match.listener_rcvbuf, 80, 0));
}

TEST(buffer_requests)
{
	struct tcptuned_policy_config *off;
	const struct tcptuned_match *m;

	compile(1);
	m = &rules.entries[0].match;
	assert_int_equal(rules.entries_len, 1);
	assert_int_equal(rules.entries[0].key.length, 0);
	assert_int_equal(m->first, 1u << 31 | 1);
	assert_int_equal(m->default_policy,
			 TCPTUNED_POLICY_ID(GENERATION, TCPTUNED_POLICY_DEFAULT));
	assert_int_equal(m->any_policy, TCPTUNED_RCVBUF_OVERRIDDEN | TCPTUNED_SNDBUF_OVERRIDDEN |
						TCPTUNED_ANY_MANAGES);
	assert_int_equal(TCPTUNED_RULE_INDEX(m->listener_rcvbuf), TCPTUNED_RULE_NONE);

	set.sources[0].record.mode = TCPTUNED_OFF;
	compile(1);
	assert_int_equal(rules.entries[0].match.any_policy, 0);
	assert_true(is_honoured_at(rules.entries[0].match.listener_rcvbuf, 80, 0));

	/* Only a policy that may apply to the listener decides for its connections. */
	begin(NULL);
	off = more("off");
	off->local_port = ports_of(22, 22);
	off->remote_port = ports_of(5, 6);
	add(&off->destination, "10.0.0.0/8");
	add(&off->source, "192.0.2.1");
	strcpy(more("sender")->cgroup, "/x");
	set.sources[2].cgroup = 2;
	more("watch")->local_port = (struct tcptuned_ports){2, {{70, 70}, {80, 90}}};
	set.sources[1].record.mode = TCPTUNED_OFF;
	set.sources[2].record.override_rcvbuf = 0;
	strcpy(set.sources[2].record.congestion_control, "cubic");
	set.sources[3].record.mode = TCPTUNED_OBSERVE;
	compile(0);
	m = &rules.entries[0].match;
	assert_int_equal(m->any_policy, TCPTUNED_RCVBUF_OVERRIDDEN | TCPTUNED_SNDBUF_OVERRIDDEN |
						TCPTUNED_RCVBUF_OBSERVED |
						TCPTUNED_SNDBUF_OBSERVED | TCPTUNED_ANY_MANAGES |
						TCPTUNED_AT_ESTABLISHED);
	assert_true(is_honoured_at(m->listener_rcvbuf, 22, 0));
	assert_true(is_honoured_at(m->listener_rcvbuf, 70, 0));
	assert_true(is_honoured_at(m->listener_rcvbuf, 85, 0));
	assert_false(is_honoured_at(m->listener_rcvbuf, 75, 0));
	assert_true(is_honoured_at(m->listener_rcvbuf, 443, 2));
	assert_false(is_honoured_at(m->listener_rcvbuf, 443, 8));
	/* A disabled policy decides for none. */
	set.sources[1].record.disabled = 1;
	compile(0);
	assert_false(is_honoured_at(rules.entries[0].match.listener_rcvbuf, 22, 0));
}

static bool covers(const struct tcptuned_prefix *prefix, const __u8 *to)
{
	if (!prefix->ipv4 && tcptuned_address_is_ipv4(to))
		return false;
	for (unsigned int bit = 0; bit < prefix->length; bit++)
		if ((prefix->address[bit / 8] ^ to[bit / 8]) & (0x80 >> bit % 8))
			return false;
	return true;
}

/* Returns the longest length that covers the address; 0: there is no prefix; -1: no cover. */
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
	bool in = !ports->len;

	for (uint32_t i = 0; i < ports->len; i++)
		in |= port >= ports->list[i].low && port <= ports->list[i].high;
	return in;
}

static uint64_t count_ports(const struct tcptuned_ports *ports)
{
	uint64_t n = ports->len ? 0 : 65536;

	for (uint32_t i = 0; i < ports->len; i++)
		n += ports->list[i].high - ports->list[i].low + 1u;
	return MIN(n, 65536);
}

/* Returns how specific the policy is, the first condition first; false: no match. */
static bool rank(const struct tcptuned_policy_source *source, const struct tcptuned_tuple *t,
		 int64_t ret[4])
{
	const struct tcptuned_policy_config *own = &source->named->set;
	bool inside = !own->cgroup[0];

	ret[0] = longest(&own->destination, t->remote);
	ret[1] = longest(&own->source, t->local);
	ret[2] = -(int64_t)(count_ports(&own->local_port) * count_ports(&own->remote_port));
	ret[3] = (int64_t)source->cgroup; /* its depth; see random_set() */
	for (size_t i = 0; i < t->cgroups_len; i++)
		inside |= t->cgroups[i] == source->cgroup;
	return ret[0] >= 0 && ret[1] >= 0 && in_ports(&own->local_port, t->local_port) &&
	       in_ports(&own->remote_port, t->remote_port) && inside;
}

static size_t find_by_comparison(const struct tcptuned_tuple *t)
{
	int64_t best[4], now[4];
	size_t found = 0;

	for (size_t i = 1; i < set.len; i++) {
		int better = 0;

		if (set.sources[i].record.disabled || !rank(&set.sources[i], t, now))
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

/* Draws addresses of few bits, so that prefixes nest and coincide. */
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
		static const unsigned int lengths[] = {0,   1,	 90,  96,  97,	98,
						       100, 104, 110, 112, 127, 128};
		struct tcptuned_prefix p = {0};
		char text[TCPTUNED_PREFIX_TEXT];

		random_address(p.address);
		p.length = (uint8_t)lengths[(size_t)random() % ARRAY_SIZE(lengths)];
		if (tcptuned_address_is_ipv4(p.address) && p.length < 96)
			p.length = 96;
		p.ipv4 = tcptuned_address_is_ipv4(p.address);
		tcptuned_prefix_mask(p.address, p.length);
		tcptuned_prefix_print(&p, text);
		add(prefixes, text);
	}
}

static void random_ports(struct tcptuned_ports *ports)
{
	if (random() % 3)
		return;
	for (ports->len = 0; ports->len < 1 + (random() % 4 == 0); ports->len++) {
		struct tcptuned_port_range *range = &ports->list[ports->len];

		range->low = (uint16_t)(random() % 4 + 1);
		range->high = random() % 4 ? (uint16_t)(range->low + random() % 3) : 65535;
	}
}

static void random_set(void)
{
	static const char *const groups[] = {"/gone", "/", "/a", "/a/b"}; /* by their ids */

	begin(NULL);
	for (long n = random() % 20; n; n--) {
		struct tcptuned_policy_config *p = more("x");
		size_t group = (size_t)random() % 9;

		random_prefixes(&p->destination, 4);
		random_prefixes(&p->source, 2);
		random_ports(&p->local_port);
		random_ports(&p->remote_port);
		set.sources[set.len - 1].record.disabled = random() % 6 == 0;
		if (group >= ARRAY_SIZE(groups))
			continue;
		strcpy(p->cgroup, groups[group]);
		set.sources[set.len - 1].cgroup = group;
	}
}

TEST(random_rules)
{
	static const __u64 cgroups[] = {3, 2, 1};
	size_t named = 0;

	for (int round = 0; round < 400; round++) {
		random_set();
		compile((__u32)round % 2);
		for (int i = 0; i < 400; i++) {
			struct tcptuned_tuple t = {.local_port = (__u16)(random() % 7),
						   .remote_port = (__u16)(random() % 7)};
			size_t want;

			random_address(t.local);
			random_address(t.remote);
			t.cgroups = cgroups + random() % 4;
			t.cgroups_len = (size_t)(cgroups + 3 - t.cgroups);
			want = find_by_comparison(&t);
			named += want > 0;
			assert_int_equal(find_policy(&t), TCPTUNED_POLICY_ID(GENERATION, want));
		}
	}
	assert_in_range(named, 50000, 155000); /* it was about both */
}

static void assert_text(char *text, const char *says)
{
	assert_string_equal(text, says);
	free(text);
}

static void assert_rule(__u32 which, const char *remote, const char *cgroup, const char *says)
{
	__u8 to[16];

	address(to, remote);
	assert_text(tcptuned_describe_rule(&rules.rules[which], to, cgroup), says);
}

static void assert_conditions(const struct tcptuned_named_policy *named, const char *says)
{
	assert_text(tcptuned_describe_conditions(named), says);
}

#define ALL_BUT_CGROUP                                                         \
	"destination 10.1.0.0/16, source 192.0.2.0/24, local port 8000-8080, " \
	"remote port 443, cgroup "

TEST(words)
{
	struct tcptuned_policy_config *all, *six;

	all = more("all");
	add(&all->destination, "10.1.0.0/16");
	add(&all->source, "192.0.2.0/24");
	all->local_port = ports_of(8000, 8080);
	all->remote_port = ports_of(443, 443);
	strcpy(all->cgroup, "/a/b");
	set.sources[1].cgroup = 3;
	six = more("six");
	add(&six->destination, "2001:db8::/32, ::/0");
	compile(0);
	/* in the order of the trie: ::/0 of "six", of all, 10.1.0.0/16, 2001:db8::/32 */
	assert_int_equal(rules.rules_len, 5);
	assert_rule(1, "2001:db8::1", NULL, "destination ::/0");
	assert_rule(2, "10.1.2.3", NULL, "every connection");
	assert_rule(3, "10.1.2.3", "/a/b", ALL_BUT_CGROUP "/a/b");
	assert_rule(3, "10.1.2.3", NULL, ALL_BUT_CGROUP "of id 3");
	assert_rule(4, "2001:db8::1", NULL, "destination 2001:db8::/32");

	assert_conditions(NULL, "every connection");
	assert_conditions(&set.named[0], ALL_BUT_CGROUP "/a/b");
	assert_conditions(&set.named[1], "destination 2001:db8::/32, ::/0");
	all->remote_port = (struct tcptuned_ports){2, {{443, 443}, {8000, 8080}}};
	assert_conditions(&set.named[0], "destination 10.1.0.0/16, source 192.0.2.0/24, local port "
					 "8000-8080, remote port 443 or 8000-8080, cgroup /a/b");
	add_many(&six->destination, 100);
	strcpy(six->destination_file, "/etc/more");
	add(&set.named[1].from_file, "192.0.2.0/24");
	assert_conditions(&set.named[1], "destination 102 prefixes, destination in /etc/more (1 "
					 "prefixes)");
}

TEST(ten_thousand_prefixes)
{
	__u64 begun_ns;

	for (int p = 0; p < 10; p++)
		more("x");
	for (int i = 0; i < 10000; i++) {
		char text[64];

		if (i % 2)
			snprintf(text, sizeof(text), "10.%d.%d.0/24", i / 256, i % 256);
		else
			snprintf(text, sizeof(text), "2001:db8:%x::/48", i);
		add(&set.named[i % 10].from_file, text);
	}
	begun_ns = tcptuned_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	compile(0);
	assert_in_range(tcptuned_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns, 0, 1000000000);
	assert_int_equal(rules.entries_len, 10001);
	assert_int_equal(rules.rules_len, 10002);
}

TEST(too_much)
{
	struct tcptuned_config checked = {0};
	struct tcptuned_policy_config *p;
	struct tcptuned_ruleset none;

	p = more("wide");
	add_many(&p->source, TCPTUNED_CHAIN_MAX);
	assert_int_equal(tcptuned_ruleset_compile(set.sources, set.len, 1, 0, &none, &err), -E2BIG);
	assert_contains(err.text, "4096 rules");
	/* --check-config, a reload and a start find this before they change anything. */
	checked.policies = set.named;
	checked.policies_len = set.len - 1;
	memset(&err, 0, sizeof(err));
	assert_int_equal(tcptuned_policies_check(&checked, &err), -E2BIG);
	assert_contains(err.text, "policy wide: for ::/0 there are more than 4096 rules");
	assert_int_equal(err.status, TCPTUNED_EXIT_CONFIG);
	p->source.len--;
	assert_int_equal(tcptuned_policies_check(&checked, &err), 0);
	compile(0);
	add_many(&p->destination, 300);
	assert_int_equal(tcptuned_ruleset_compile(set.sources, set.len, 1, 0, &none, &err), -E2BIG);
	assert_contains(err.text, "1228501 rules, one for each combination");
}
