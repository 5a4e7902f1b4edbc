/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiles policies to what <tcptuned/abi/policy.h> describes. */
#pragma once

#include <stddef.h>

#include <tcptuned/abi/policy.h>

#include "config/config.h"

/* The ports of a rule without such a condition. The socket of a listener has remote port 0. */
#define TCPTUNED_ANY_PORT_LOW  0
#define TCPTUNED_ANY_PORT_HIGH 65535

/*
 * One policy; the first one of a list is the default policy. A disabled policy keeps its place and
 * has no rules, as if its section did not exist.
 */
struct tcptuned_policy_source {
	const struct tcptuned_named_policy *named; /* its conditions; NULL: the default policy */
	__u64 cgroup;		       /* id of its cgroup, if it has one; 0: it does not exist */
	struct tcptuned_policy record; /* its actions */
};

/* An entry of the trie. */
struct tcptuned_ruleset_entry {
	struct tcptuned_match_key key;
	struct tcptuned_match match;
};

/* The result. Entries are sorted by their addresses; the first one is that of ::/0. */
struct tcptuned_ruleset {
	struct tcptuned_rule *rules; /* rules[0] is unused */
	__u32 rules_len;
	struct tcptuned_ruleset_entry *entries;
	__u32 entries_len;
	__u32 generation;
};

/*
 * Compile @len policies (at most TCPTUNED_POLICIES_MAX) for @generation, with rules for array
 * @array, 0 or 1. Pure. Returns 0, -ENOMEM, or -E2BIG: too many rules in all, or for one prefix.
 */
int tcptuned_ruleset_compile(const struct tcptuned_policy_source *policies, size_t len,
			     __u32 generation, __u32 array, struct tcptuned_ruleset *ret,
			     struct tcptuned_error *err);

void tcptuned_ruleset_free(struct tcptuned_ruleset *rules);

/* Check that all policies of @config can be compiled. Returns as tcptuned_ruleset_compile(). */
int tcptuned_policies_check(const struct tcptuned_config *config, struct tcptuned_error *err);
