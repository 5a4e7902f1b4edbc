/* SPDX-License-Identifier: GPL-2.0-only */
/* Looks up in the maps which rule a connection comes under, and the policies in force. */
#pragma once

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
	const __u64 *cgroups; /* ids of its cgroup and of all ancestors */
	size_t cgroups_len;
	const char *policy; /* the name of the policy that it has; NULL: it is a new connection */
};

/*
 * Find the rule that gives a policy to a new connection @tuple. Without cgroups, that is the rule
 * for a connection that no policy with a cgroup matches. -ENOENT: no policy is in force.
 *
 * With the name of a policy, find the rule that gave it to a connection whose cgroup is no longer
 * known. All rules of a policy have the same cgroup, so that this is the first one that matches. A
 * reload changes the keys of policies and leaves most names. -ENOENT: no such policy is in force.
 */
int tcptuned_policies_find(const struct tcptuned_kernel *kernel, const struct tcptuned_tuple *tuple,
			   struct tcptuned_rule *ret);

/* Keep open what the functions above and below look up, after it was replaced. */
void tcptuned_policies_keep_open(struct tcptuned_kernel *kernel);

/* Read the trie's entry for all addresses. Returns 0, or -1 if no policy is in force. */
int tcptuned_policies_match(const struct tcptuned_kernel *kernel, struct tcptuned_match *ret);

/* Read the record of a policy, its texts terminated. Returns 0 or -ENOENT. */
int tcptuned_policy_read(const struct tcptuned_kernel *kernel, __u32 key,
			 struct tcptuned_policy *ret);

/*
 * Read the policies in force one after the other, the default one first. *@key: 0 before the first
 * call, then the policy that was read. False: there is none left.
 */
bool tcptuned_policy_next(const struct tcptuned_kernel *kernel, __u32 *key,
			  struct tcptuned_policy *ret);

/*
 * The name of a policy: that of its record, which outlives the policy, or TCPTUNED_POLICY_GONE().
 */
const char *tcptuned_policy_name(const struct tcptuned_kernel *kernel, __u32 key,
				 char ret[TCPTUNED_POLICY_NAME_MAX]);

/* The congestion control of new connections under @policy, or "auto"; "": it sets none. */
const char *tcptuned_policy_congestion_control(const struct tcptuned_policy *policy);
