/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies compiled into what <tcptuned/abi/policy.h> describes, and laid into the kernel's maps
 * with one step that makes them hold.
 */
#ifndef TCPTUNED_POLICY_COMPILE_H
#define TCPTUNED_POLICY_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include <tcptuned/abi/policy.h>

#include "config.h"
#include "kern/loader.h"
#include "util/strbuf.h"

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

/* A connection to look up; addresses as in the trie. */
struct tcptuned_tuple {
	__u8 local[16];
	__u8 remote[16];
	__u16 local_port;
	__u16 remote_port;
	const __u64 *cgroups; /* its cgroup's id and those of all above it */
	size_t cgroups_len;
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

/*
 * Compile @policies and have them hold for connections made from now on. Until the last step
 * nothing changes; that one cannot be seen half done. Returns 0 or a negative errno with @err
 * filled, and then what held before goes on; in @kernel the new generation and its length.
 */
int tcptuned_policies_install(struct tcptuned_kernel *kernel,
			      const struct tcptuned_policy_source *policies, size_t len,
			      struct tcptuned_error *err);

/*
 * The rule that gives @tuple its policy, from what is laid down; a tuple without cgroups gets
 * that of a connection that no policy with a cgroup may have. -ENOENT: nothing is.
 */
int tcptuned_policies_find(const struct tcptuned_kernel *kernel,
			   const struct tcptuned_tuple *tuple, struct tcptuned_rule *ret);

/*
 * The rule by which a connection got its policy, whose cgroup is not known any more: @is_its says
 * which ids its policy may have. All rules of a policy ask for the same cgroup, so that it is the
 * first of them that fits. -ENOENT: it got it by a configuration that is not in force now.
 */
int tcptuned_policies_find_of(const struct tcptuned_kernel *kernel,
			      const struct tcptuned_tuple *tuple,
			      bool (*is_its)(void *ctx, __u32 policy), void *ctx,
			      struct tcptuned_rule *ret);

/*
 * The rule in words, "destination 10.1.0.0/16, remote port 80", or "every connection".
 * @remote: an address that it has matched; @cgroup: what its cgroup is called, or NULL
 */
void tcptuned_rule_format(struct tcptuned_buf *out, const struct tcptuned_rule *rule,
			  const __u8 remote[16], const char *cgroup);

/* The same of all conditions of a policy; of the default policy (NULL) "every connection". */
void tcptuned_conditions_format(struct tcptuned_buf *out,
				const struct tcptuned_named_policy *named);

/* The generation that holds now; 0: none does. */
__u32 tcptuned_policies_generation(const struct tcptuned_kernel *kernel);

#endif
