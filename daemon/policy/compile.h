/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies compiled into what <tcptuned/abi/policy.h> describes. */
#ifndef TCPTUNED_POLICY_COMPILE_H
#define TCPTUNED_POLICY_COMPILE_H

#include <stddef.h>

#include <tcptuned/abi/policy.h>

#include "config/config.h"

/* The ports of a rule that asks for none. A listener's socket has no peer, and no port of one. */
#define TCPTUNED_ANY_PORT_LOW  0
#define TCPTUNED_ANY_PORT_HIGH 65535

/*
 * One policy, as it goes in. The first one of a list is the default policy. One whose record is
 * disabled keeps its place, and has no rules: as if its section were not there.
 */
struct tcptuned_policy_source {
	const struct tcptuned_named_policy *named; /* its conditions; NULL: the default policy */
	__u64 cgroup;		       /* id of its cgroup, where it has one; 0: it is not there */
	struct tcptuned_policy record; /* what it does */
};

/* An entry of the trie. */
struct tcptuned_ruleset_entry {
	struct tcptuned_match_key key;
	struct tcptuned_match match;
};

/* What comes out. Entries are in the order of their addresses, the first is that of ::/0. */
struct tcptuned_ruleset {
	struct tcptuned_rule *rules; /* rules[0] is none */
	__u32 rules_len;
	struct tcptuned_ruleset_entry *entries;
	__u32 entries_len;
	__u32 generation;
};

/*
 * Compile @len policies (at most TCPTUNED_POLICIES_MAX) for @generation, with rules in array
 * @array, 0 or 1. Pure. Returns 0; -ENOMEM; or -E2BIG and a sentence: too many rules in all, or
 * too many for one prefix.
 */
int tcptuned_ruleset_compile(const struct tcptuned_policy_source *policies, size_t len,
			     __u32 generation, __u32 array, struct tcptuned_ruleset *ret,
			     struct tcptuned_error *err);

void tcptuned_ruleset_free(struct tcptuned_ruleset *rules);

/*
 * Could the policies of @config be compiled, all of them in force? Pure, but for memory. Returns
 * 0, or what tcptuned_ruleset_compile() returns with @err filled.
 */
int tcptuned_policies_check(const struct tcptuned_config *config, struct tcptuned_error *err);

#endif
