/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's maps say now: which rule a connection comes under, and which generation holds. */
#ifndef TCPTUNED_POLICY_LOOKUP_H
#define TCPTUNED_POLICY_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>

#include <tcptuned/abi/policy.h>

#include "kern/kernel.h"

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

/* What holds now for connections to anywhere. Returns 0, or -1 where nothing does. */
int tcptuned_policies_match(const struct tcptuned_kernel *kernel, struct tcptuned_match *ret);

/* The generation that holds now; 0: none does. */
__u32 tcptuned_policies_generation(const struct tcptuned_kernel *kernel);

#endif
