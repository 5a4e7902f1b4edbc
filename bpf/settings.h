/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a policy sets on a connection once, by itself, and right-sizing then does not touch or
 * begins from: fixed buffers, least windows, the first window, the pacing limit.
 */
#ifndef TCPTUNED_SETTINGS_H
#define TCPTUNED_SETTINGS_H

#include "budget.h"
#include "claim.h"
#include "kernel.h"
#include "maps.h"
#include "policy.h"
#include "wishes.h"

/* What has to be known of the socket. */
struct socket_facts {
	__u64 max_pacing_rate; /* bytes per second; all ones: none */
	__u32 locks;	       /* locks_of_application() */
	__u32 rcvbuf_least; /* kernel_rcvbuf_least() */
};

static __always_inline struct socket_facts facts_of(const struct tcptuned_flow *flow,
							struct tcp_sock *tp)
{
	struct socket_facts facts = {
		.max_pacing_rate = tp->inet_conn.icsk_inet.sk.sk_max_pacing_rate,
		.locks = locks_of_application(flow, tp),
		.rcvbuf_least = kernel_rcvbuf_least(tp),
	};

	return facts;
}

/* May the policy fix this buffer? Not where the application did, and its word counts. */
static __always_inline bool may_fix(__u32 locks, const struct tcptuned_policy *policy,
				    bool receive)
{
	__u32 lock = receive ? SOCK_RCVBUF_LOCK : SOCK_SNDBUF_LOCK;

	if (!(receive ? policy->rcv_buffer : policy->snd_buffer))
		return false;
	return (receive ? policy->override_rcvbuf : policy->override_sndbuf) ||
	       !(locks & lock);
}

/* @least: kernel_rcvbuf_least() of a receive buffer; 0: nothing was promised yet */
static __always_inline void fix_buffer(void *ctx, struct tcptuned_flow *flow,
				       const struct tcptuned_policy *policy, bool receive,
				       __u32 least)
{
	int value = receive ? policy->rcv_buffer : policy->snd_buffer;

	if (value < (int)(least / 2)) /* the kernel doubles it */
		value = least / 2;
	if (bpf_setsockopt(ctx, SOL_SOCKET, receive ? SO_RCVBUF : SO_SNDBUF, &value,
			   sizeof(value))) {
		count(receive ? TCPTUNED_C_RCV_FAILED : TCPTUNED_C_SND_FAILED);
		return;
	}
	flow->flags |= receive ? TCPTUNED_F_RCV_FIXED | TCPTUNED_F_RCV_LOCKED :
				 TCPTUNED_F_SND_FIXED | TCPTUNED_F_SND_LOCKED;
	budget_give_up(receive ? &flow->rcv_share : &flow->snd_share);
}

/*
 * The largest first window that the kernel's own autotuning might get to, without the lock
 * that SO_RCVBUF sets, which would bound the window scale: SO_RCVLOWAT makes room for as much
 * (tcp_set_rcvlowat()), and the application's own is then put back.
 */
static __always_inline void open_window(void *ctx, struct tcp_sock *tp, __u32 window)
{
	int before = tp->inet_conn.icsk_inet.sk.sk_rcvlowat, value = window;
	__u32 clamp = tp->window_clamp;

	if (bpf_setsockopt(ctx, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof(value))) {
		count(TCPTUNED_C_RCV_FAILED);
		return;
	}
	bpf_setsockopt(ctx, SOL_SOCKET, SO_RCVLOWAT, &before, sizeof(before));
	if (tp->window_clamp == clamp)
		return;
	/* Older kernels clamp the window to as much, and with it the scale that it will have. */
	value = clamp ? clamp : 65535u << 14;
	bpf_setsockopt(ctx, SOL_TCP, TCP_WINDOW_CLAMP, &value, sizeof(value));
}

/* What has to be there before the SYN: it carries the first window and its scale. */
static __always_inline void settings_before_syn(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
						struct tcp_sock *tp,
						const struct tcptuned_policy *policy)
{
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	__u32 locks = BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_inet.sk.sk_userlocks);

	if (policy->mode != TCPTUNED_TUNE)
		return;
	if (flow)
		locks = locks_of_application(flow, tp);
	if (!may_fix(locks, policy, true)) {
		if (policy->first_window)
			open_window(ctx, tp, policy->first_window);
		return;
	}
	flow = make_record(sk);
	if (!flow)
		return;
	take_note(flow, tp, policy);
	flow->rcv_buffer_max = policy->rcv_buffer_max;
	fix_buffer(ctx, flow, policy, true, 0);
}

/*
 * The smallest receive window of a policy, without a lock. A connection that was just made and not yet
 * accepted has no socket that SO_RCVLOWAT could tell; so it is asked for in each round. With memory
 * for twice as much, since segments may come that are smaller than the kernel reckons with.
 */
static __always_inline void open_receive_window(void *ctx, struct tcptuned_flow *flow,
						struct tcp_sock *tp)
{
	__u32 least = flow->rcv_window_min, half = kernel_win_from_space(tp, 2 * least);

	if ((__u32)tp->inet_conn.icsk_inet.sk.sk_rcvbuf < 2 * least)
		open_window(ctx, tp, half > least ? half : least);
}

/* That of a sender: it locks the buffer, which then follows cwnd (send_space()). */
static __always_inline void open_send_window(void *ctx, struct tcptuned_flow *flow,
					     struct tcp_sock *tp,
					     const struct tcptuned_policy *policy)
{
	int value = policy->snd_window_min;

	if ((__u32)value <= (__u32)tp->inet_conn.icsk_inet.sk.sk_sndbuf / 2 ||
	    (flow->flags & TCPTUNED_F_SND_HANDS_OFF))
		return;
	if (!bpf_setsockopt(ctx, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value)))
		flow->flags |= TCPTUNED_F_SND_SIZED;
}

/* An application that wants to go slower still may. @own: what it had set itself; ~0: nothing */
static __always_inline void limit_pacing(void *ctx, void *sk, struct tcptuned_flow *flow,
					 __u64 own, __u32 rate)
{
	int value = rate;
	__u64 *kept;

	if (own != ~0ull) {
		kept = bpf_sk_storage_get(&pacing, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
		if (!kept) {
			count(TCPTUNED_C_STORAGE_FAILED);
			return;
		}
		*kept = own;
	}
	if (!bpf_setsockopt(ctx, SOL_SOCKET, SO_MAX_PACING_RATE, &value, sizeof(value)))
		flow->flags |= TCPTUNED_F_PACED;
}

static __always_inline bool is_paced_by_policy(const struct tcptuned_flow *flow,
					       const struct tcptuned_policy *policy)
{
	return (flow->flags & (TCPTUNED_F_CLAIMED | TCPTUNED_F_OBSERVE)) == TCPTUNED_F_CLAIMED &&
	       policy && policy->mode == TCPTUNED_TUNE && policy->pacing_rate_max;
}

/*
 * The application sets a limit while its policy has one: the lower one holds, and the kernel gets
 * that. It takes four bytes or eight, and all ones for none (sk_setsockopt()).
 */
static __always_inline void hold_pacing(struct bpf_sockopt *ctx)
{
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, ctx->sk, NULL, 0);
	const struct tcptuned_policy *policy = flow ? policy_of(flow->policy) : NULL;
	__u64 *wide = ctx->optval, *kept, asked;
	__u32 *narrow = ctx->optval;
	bool is_wide = ctx->optlen >= (__s32)sizeof(*wide);

	if (!flow || !is_paced_by_policy(flow, policy) || ctx->optlen < (__s32)sizeof(*narrow) ||
	    (void *)(narrow + 1) > ctx->optval_end)
		return;
	asked = *narrow == ~0u ? ~0ull : *narrow;
	if (is_wide) {
		if ((void *)(wide + 1) > ctx->optval_end)
			return;
		asked = *wide;
	}
	if (asked <= policy->pacing_rate_max) {
		flow->flags &= ~TCPTUNED_F_PACED;
		bpf_sk_storage_delete(&pacing, ctx->sk);
		return;
	}
	kept = bpf_sk_storage_get(&pacing, ctx->sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!kept) {
		count(TCPTUNED_C_STORAGE_FAILED);
		return;
	}
	*kept = asked;
	flow->flags |= TCPTUNED_F_PACED;
	if (is_wide)
		*wide = policy->pacing_rate_max;
	else
		*narrow = policy->pacing_rate_max;
}

/* getsockopt(): what it set itself. Where it has set none it is told what holds. */
static __always_inline void tell_own_pacing(struct bpf_sockopt *ctx,
					    const struct tcptuned_flow *flow)
{
	__u64 *wide = ctx->optval, *own;
	__u32 *narrow = ctx->optval;

	if (!(flow->flags & TCPTUNED_F_PACED))
		return;
	own = bpf_sk_storage_get(&pacing, ctx->sk, NULL, 0);
	if (!own)
		return;
	if (ctx->optlen >= (__s32)sizeof(*wide) && (void *)(wide + 1) <= ctx->optval_end)
		*wide = *own;
	else if ((void *)(narrow + 1) <= ctx->optval_end)
		*narrow = *own < ~0u ? *own : ~0u;
}

/*
 * The limit that its policy had set, unless the application has set another since: what it had
 * set itself, or none; bpf_setsockopt() takes 32 bits. @ctx, @sk: as for settings_of_connection()
 */
static __always_inline void lift_pacing(void *ctx, void *sk, struct tcptuned_flow *flow,
					struct tcp_sock *tp)
{
	const struct tcptuned_policy *was = policy_of(flow->policy);
	int value = -1;
	__u64 *own;

	if (!(flow->flags & TCPTUNED_F_PACED))
		return;
	flow->flags &= ~TCPTUNED_F_PACED;
	own = bpf_sk_storage_get(&pacing, sk, NULL, 0);
	if (own && *own < ~0u)
		value = *own;
	if (!was || tp->inet_conn.icsk_inet.sk.sk_max_pacing_rate == was->pacing_rate_max)
		bpf_setsockopt(ctx, SOL_SOCKET, SO_MAX_PACING_RATE, &value, sizeof(value));
	bpf_sk_storage_delete(&pacing, sk);
}

/* What may wait unsent is again the sysctl's to say, unless the application has said it since. */
static __always_inline void lift_unsent(void *ctx, const struct tcptuned_flow *flow,
					struct tcp_sock *tp)
{
	int none = 0;

	if (flow->snd_unsent && tp->notsent_lowat == flow->snd_unsent)
		bpf_setsockopt(ctx, SOL_TCP, TCP_NOTSENT_LOWAT, &none, sizeof(none));
}

/*
 * Of a connection that has just been claimed. @ctx: whatever bpf_setsockopt() takes; @sk:
 * whatever bpf_sk_storage_get() does.
 */
static __always_inline void settings_of_connection(void *ctx, void *sk, struct tcptuned_flow *flow,
						   const struct tcptuned_policy *policy,
						   const struct socket_facts *facts)
{
	if (policy->mode != TCPTUNED_TUNE)
		return;
	if (policy->pacing_rate_max && facts->max_pacing_rate > policy->pacing_rate_max)
		limit_pacing(ctx, sk, flow, facts->max_pacing_rate, policy->pacing_rate_max);
	if (may_fix(facts->locks, policy, false))
		fix_buffer(ctx, flow, policy, false, 0);
}

/*
 * The same of one that has just been established. Its receive buffer, too, if that was not fixed
 * before the SYN; of one that was open before, there may be a promise that takes more.
 */
verified_once int settings_at_established(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					  const struct tcptuned_policy *policy,
					  const struct socket_facts *facts)
{
	struct bpf_sock *sk = ctx->sk;

	if (!sk || !flow || !policy || !facts)
		return 0;
	settings_of_connection(ctx, sk, flow, policy, facts);
	if (policy->mode == TCPTUNED_TUNE && !(flow->flags & TCPTUNED_F_RCV_FIXED) &&
	    may_fix(facts->locks, policy, true))
		fix_buffer(ctx, flow, policy, true, facts->rcvbuf_least);
	return 0;
}

#endif
