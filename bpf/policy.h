/* SPDX-License-Identifier: GPL-2.0-only */
/* Which policy a connection comes under. */
#ifndef TCPTUNED_BPF_POLICY_H
#define TCPTUNED_BPF_POLICY_H

#include "kernel.h"
#include "maps.h"

static __always_inline const struct tcptuned_policy *policy_of(__u32 key)
{
	return bpf_map_lookup_elem(&policies, &key);
}

/* The policy that claims this connection, and its key; NULL: none does. */
static __always_inline const struct tcptuned_policy *policy_for(struct tcp_sock *tp, __u32 *ret_key)
{
	const struct tcptuned_policy *policy = policy_of(TCPTUNED_POLICY_DEFAULT);

	*ret_key = TCPTUNED_POLICY_DEFAULT;
	if (!policy || policy->mode == TCPTUNED_OFF)
		return NULL;
	/* Multipath TCP sizes the buffers of its subflows together. */
	if (bpf_core_field_exists(tp->is_mptcp) && tp->is_mptcp)
		return NULL;
	return policy;
}

#endif
