/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection becomes a policy's: what is the same for one that has just been established and
 * for one that was open before.
 */
#ifndef TCPTUNED_CLAIM_H
#define TCPTUNED_CLAIM_H

#include "budget.h"
#include "events.h"
#include "kernel.h"
#include "maps.h"
#include "names.h"
#include "policy.h"
#include <tcptuned/algo/rightsize.h>

/* A connection that has carried less is a short one, and has no record. */
#define CLAIM_BYTES (128u << 10)
/* An accepted connection that has sent so much more than it received answers requests. */
#define ANSWER_BYTES 4096u

/*
 * By the name: a socket that is older than the registration has the one before, of a build that
 * another has taken the place of since.
 */
static __always_inline bool has_default_congestion_control(struct inet_connection_sock *icsk)
{
	struct net *net = icsk->icsk_inet.sk.__sk_common.skc_net.net;
	char its[TCPTUNED_CC_NAME_MAX] = {}, the_default[TCPTUNED_CC_NAME_MAX] = {};

	if (icsk->icsk_ca_ops == net->ipv4.tcp_congestion_control)
		return true;
	BPF_CORE_READ_STR_INTO(&its, icsk, icsk_ca_ops, name);
	BPF_CORE_READ_STR_INTO(&the_default, net, ipv4.tcp_congestion_control, name);
	return is_same_name(its, the_default);
}

/*
 * Congestion control is the policy's only where nobody chose: neither the application
 * (icsk_ca_setsockopt, but that is also of a default put back) nor a route (then it is not the
 * namespace's default), or where it is the policy's already. Is it, and is there a choice to make?
 * Copies the name to @ret. Not in a dry run.
 */
static __always_inline bool congestion_control_is_ours(struct tcptuned_flow *flow,
						       struct tcp_sock *tp,
						       const struct tcptuned_policy *policy,
						       char ret[TCPTUNED_CC_NAME_MAX])
{
	struct inet_connection_sock *icsk = &tp->inet_conn;
	bool restored = flow->flags & TCPTUNED_F_CC_RESTORED, set = flow->flags & TCPTUNED_F_CC_SET;

	if (!policy->congestion_control[0])
		return false;
	if (!set && ((BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_setsockopt) && !restored) ||
		     !has_default_congestion_control(icsk))) {
		char kept[TCPTUNED_CC_NAME_MAX] = "";

		BPF_CORE_READ_STR_INTO(&kept, icsk, icsk_ca_ops, name);
		event_name(TCPTUNED_EV_CC_KEPT, tp, flow, kept);
		count(TCPTUNED_C_CC_KEPT);
		return false;
	}
	if (policy->mode == TCPTUNED_OBSERVE)
		return false;
	__builtin_memcpy(ret, policy->congestion_control, TCPTUNED_CC_NAME_MAX);
	return true;
}

/* A congestion control that kernels are built with as their default: nobody has chosen it. */
static __always_inline bool is_builtin_default(const char name[TCPTUNED_CC_NAME_MAX])
{
	return is_same_name(name, "cubic\0\0\0\0\0\0\0\0\0\0") ||
	       is_same_name(name, "reno\0\0\0\0\0\0\0\0\0\0\0");
}

/*
 * May `auto` move the connection to bitcp? Where nobody chose: neither the application nor a route,
 * and where the host's default is what kernels are built with. Copies the name to @ret.
 */
static __always_inline bool auto_congestion_control_is_ours(struct tcptuned_flow *flow,
							    struct tcp_sock *tp,
							    const struct tcptuned_policy *policy,
							    char ret[TCPTUNED_CC_NAME_MAX])
{
	struct inet_connection_sock *icsk = &tp->inet_conn;
	char now[TCPTUNED_CC_NAME_MAX] = {};

	BPF_CORE_READ_STR_INTO(&now, icsk, icsk_ca_ops, name);
	if (policy->mode != TCPTUNED_TUNE || !is_builtin_default(now) ||
	    (BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_setsockopt) &&
	     !(flow->flags & TCPTUNED_F_CC_RESTORED)) ||
	    !has_default_congestion_control(icsk))
		return false;
	__builtin_memcpy(ret, "bitcp\0\0\0\0\0\0\0\0\0\0", TCPTUNED_CC_NAME_MAX);
	return true;
}

/* Takes note of what became of setting it to @name; @error as bpf_setsockopt() returned. */
static __always_inline void congestion_control_set(struct tcptuned_flow *flow, struct tcp_sock *tp,
						   const char name[TCPTUNED_CC_NAME_MAX], int error)
{
	event_name(error ? TCPTUNED_EV_CC_FAILED : TCPTUNED_EV_CC_SET, tp, flow, name);
	if (error) {
		count(TCPTUNED_C_CC_FAILED);
		return;
	}
	flow->flags |= TCPTUNED_F_CC_SET;
	count(TCPTUNED_C_CC_SET);
}

/* @ctx: whatever bpf_setsockopt() takes. Returns its error. */
static __always_inline int set_default_congestion_control(void *ctx, struct tcp_sock *tp)
{
	char name[TCPTUNED_CC_NAME_MAX] = {};

	BPF_CORE_READ_STR_INTO(&name, tp, inet_conn.icsk_inet.sk.__sk_common.skc_net.net,
			       ipv4.tcp_congestion_control, name);
	return bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
}

/*
 * What had its congestion control from tcptuned gets its namespace's default, as it would have
 * without. At a clean stop: once that default is what it was before; where other programs
 * follow, connections are theirs to move.
 */
static __always_inline void restore_congestion_control(void *ctx, struct tcptuned_flow *flow,
						       struct tcp_sock *tp)
{
	if (!(flow->flags & TCPTUNED_F_CC_SET) || set_default_congestion_control(ctx, tp))
		return;
	flow->flags &= ~TCPTUNED_F_CC_SET;
	flow->flags |= TCPTUNED_F_CC_RESTORED;
}

/* What may wait unsent is again the sysctl's to say, unless the application has said it since. */
static __always_inline void lift_unsent(void *ctx, const struct tcptuned_flow *flow,
					struct tcp_sock *tp)
{
	int none = 0;

	if (flow->snd_unsent && tp->notsent_lowat == flow->snd_unsent)
		bpf_setsockopt(ctx, SOL_TCP, TCP_NOTSENT_LOWAT, &none, sizeof(none));
}

/* sk_userlocks without those that come from sizing its buffers here. */
static __always_inline __u32 locks_of_application(const struct tcptuned_flow *flow,
						  struct tcp_sock *tp)
{
	__u32 locks = BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_inet.sk.sk_userlocks);
	__u32 flags = flow->flags;

	if ((flags & (TCPTUNED_F_RCV_LOCKED | TCPTUNED_F_RCVBUF_OBEYED)) == TCPTUNED_F_RCV_LOCKED)
		locks &= ~SOCK_RCVBUF_LOCK;
	if ((flags & (TCPTUNED_F_SND_LOCKED | TCPTUNED_F_SNDBUF_OBEYED)) == TCPTUNED_F_SND_LOCKED)
		locks &= ~SOCK_SNDBUF_LOCK;
	return locks;
}

/* The most that the kernel alone would give, bytes: tcp_rmem, tcp_wmem, or what is locked. */
static __always_inline __u32 base_of(const struct tcptuned_flow *flow,
				     const struct tcptuned_policy *policy, bool receive)
{
	__u32 most = receive ? policy->rcv_kernel_max : policy->snd_kernel_max;
	__u32 obeyed = receive ? TCPTUNED_F_RCVBUF_OBEYED : TCPTUNED_F_SNDBUF_OBEYED;
	__u32 locked = 2 * (receive ? flow->req_rcvbuf : flow->req_sndbuf);

	return (flow->flags & obeyed) && locked < most ? locked : most;
}

/* Begin the connection's record. What the application asked for before stays in it. */
static __always_inline void claim_flow(struct tcptuned_flow *flow, struct tcp_sock *tp,
				       const struct tcptuned_policy *policy, __u32 key)
{
	__u32 locks = locks_of_application(flow, tp);

	/* A socket that was disconnected and connects anew measures anew. */
	__builtin_memset(&flow->rcv, 0, sizeof(flow->rcv));
	__builtin_memset(&flow->snd, 0, sizeof(flow->snd));
	__builtin_memset(&flow->reader, 0, sizeof(flow->reader));
	flow->flags = (flow->flags & TCPTUNED_F_WISHES) | TCPTUNED_F_CLAIMED;
	if (policy->mode == TCPTUNED_OBSERVE)
		flow->flags |= TCPTUNED_F_OBSERVE;
	if ((locks & SOCK_RCVBUF_LOCK) && !policy->override_rcvbuf)
		flow->flags |= TCPTUNED_F_RCVBUF_APP;
	if ((locks & SOCK_SNDBUF_LOCK) && !policy->override_sndbuf)
		flow->flags |= TCPTUNED_F_SNDBUF_APP;
	flow->policy = key;
	flow->rcv_window_max = policy->rcv_window_max;
	flow->snd_window_max = policy->snd_window_max;
	flow->snd_unsent = 0;
	flow->rcv_buffer_max = policy->rcv_buffer_max;
	flow->snd_buffer_max = policy->snd_buffer_max;
	flow->rcv_base = base_of(flow, policy, true);
	flow->snd_base = base_of(flow, policy, false);
	budget_open(flow, tp);
	flow->rcv_clamp = flow->rcv_allowed = 0;
	flow->snd_bytes = (__u32)tp->bytes_acked;
	rightsize_rtt_sample(&flow->rcv, kernel_min_rtt_us(tp));
	rightsize_rtt_sample(&flow->snd, kernel_min_rtt_us(tp));
}

#endif
