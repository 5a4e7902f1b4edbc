/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which congestion control a connection gets: the policy's, where neither the application nor a
 * route has chosen one. A @ctx below is whatever bpf_setsockopt() takes.
 */
#pragma once

#include "events.h"
#include "maps.h"
#include "sock.h"
#include "totals.h"

#define CC_NAME(literal) ((char[TCPTUNED_CC_NAME_MAX]){literal})

static __always_inline bool is_same_name(const char a[TCPTUNED_CC_NAME_MAX],
					 const char b[TCPTUNED_CC_NAME_MAX])
{
	__u64 halves[2][2];

	__builtin_memcpy(halves[0], a, sizeof(halves[0]));
	__builtin_memcpy(halves[1], b, sizeof(halves[1]));
	return halves[0][0] == halves[1][0] && halves[0][1] == halves[1][1];
}

static __always_inline bool is_bitcp(const char name[TCPTUNED_CC_NAME_MAX])
{
	return is_same_name(name, CC_NAME("bitcp"));
}

/*
 * True if the socket has the default of its network namespace, by name, because one that is older
 * than a new registration of the default still has the previous one.
 */
static __always_inline bool has_default_cc(struct tcp_sock *tp)
{
	char now[TCPTUNED_CC_NAME_MAX] = {}, the_default[TCPTUNED_CC_NAME_MAX] = {};

	read_cc_name(now, tp);
	read_default_cc(the_default, tp);
	return is_same_name(now, the_default);
}

/*
 * True if the application has chosen the congestion control (icsk_ca_setsockopt, which tcptuned
 * sets, too, when it restores the default), or a route (then it is not the namespace's default).
 */
static __always_inline bool is_cc_chosen(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	if (flow->flags & TCPTUNED_F_CC_RESUMES)
		return false;
	return (BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_setsockopt) &&
		!(flow->flags & TCPTUNED_F_CC_RESTORED)) ||
	       !has_default_cc(tp);
}

/* Copies the policy's choice to @ret. False: there is none, or it may not be set. */
static __always_inline bool may_set_policy_cc(struct tcptuned_flow *flow, struct tcp_sock *tp,
					      const struct tcptuned_policy *policy,
					      char ret[TCPTUNED_CC_NAME_MAX])
{
	if (!policy->congestion_control[0])
		return false;
	if (!(flow->flags & TCPTUNED_F_CC_SET) && is_cc_chosen(flow, tp)) {
		char kept[TCPTUNED_CC_NAME_MAX] = "";

		read_cc_name(kept, tp);
		emit_cc_event(TCPTUNED_EV_CC_KEPT, tp, flow, kept);
		count(TCPTUNED_C_CC_KEPT);
		return false;
	}
	if (policy->mode == TCPTUNED_OBSERVE)
		return false;
	__builtin_memcpy(ret, policy->congestion_control, TCPTUNED_CC_NAME_MAX);
	return true;
}

/*
 * True if cc_auto may choose: nothing else was chosen, and @now, which is the default then, is one
 * that kernels are built with.
 */
static __always_inline bool may_set_auto_cc(struct tcptuned_flow *flow, struct tcp_sock *tp,
					    const struct tcptuned_policy *policy,
					    const char now[TCPTUNED_CC_NAME_MAX])
{
	return !is_cc_chosen(flow, tp) &&
	       (is_same_name(now, CC_NAME("cubic")) || is_same_name(now, CC_NAME("reno")) ||
		is_same_name(now, policy->cc_resume));
}

/* Returns the error of bpf_setsockopt(). */
static __always_inline int set_cc(void *ctx, struct tcptuned_flow *flow, struct tcp_sock *tp,
				  char name[TCPTUNED_CC_NAME_MAX])
{
	int error = bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, TCPTUNED_CC_NAME_MAX);

	emit_cc_event(error ? TCPTUNED_EV_CC_FAILED : TCPTUNED_EV_CC_SET, tp, flow, name);
	count(error ? TCPTUNED_C_CC_FAILED : TCPTUNED_C_CC_SET);
	if (!error)
		flow->flags |= TCPTUNED_F_CC_SET;
	return error;
}

/* Returns the error of bpf_setsockopt(). */
static __always_inline int set_default_cc(void *ctx, struct tcp_sock *tp)
{
	char name[TCPTUNED_CC_NAME_MAX] = {};

	read_default_cc(name, tp);
	return bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
}

/*
 * Sets the namespace's default where tcptuned has set the congestion control. A clean stop restores
 * that default first; if programs of another build follow, they move the connections.
 */
static __always_inline void restore_cc(void *ctx, struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	if (!(flow->flags & TCPTUNED_F_CC_OURS) || set_default_cc(ctx, tp))
		return;
	flow->flags &= ~TCPTUNED_F_CC_OURS;
	flow->flags |= TCPTUNED_F_CC_RESTORED;
}
