// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic Right-Sizing on the wire: the life of a connection as its programs see it.
 *
 *   setsockopt()    an application fixes its buffers: remember the wish, keep autotuning
 *   getsockopt()    it is told what it asked for
 *   connect()       the policy is known: what is to be there before the SYN, and what becomes
 *   listen()	     of the wish
 *   accepting       on a listener that was open before: keep the first window small
 *   SYN, SYN-ACK    to a path that is remembered as slow: a small first window
 *   established     the policy claims the connection, sets its congestion control; what is
 *                   known about its path is what it begins with
 *   an ACK leaves   at most once per RTT: measure, decide, set the receive window
 *   an ACK comes    once per RTT: the same for the send buffer
 *   closed          add up, remember the path
 *   destroyed       the same, where nobody was told that it closed
 *
 * All arithmetic is in <tcptuned/rightsize.h>; here the socket is read and the result written.
 */
#include "kernel.h"
#include "budget.h"
#include "callbacks.h"
#include "maps.h"
#include "claim.h"
#include "events.h"
#include "listeners.h"
#include "paths.h"
#include "policy.h"
#include "settings.h"
#include "wishes.h"

#define PAGE_SIZE	4096
#define RCVBUF_MIN	2304 /* SOCK_MIN_RCVBUF of include/net/sock.h on 64 bits, ... */
#define SNDBUF_MIN	4608 /* ... and SOCK_MIN_SNDBUF */
#define FIRST_WINDOW	45   /* segments: 64 KB of the usual ones, as Linux offers by itself */
#define LEAST_WINDOW	10u  /* segments: no sender begins with more (RFC 6928) */

static __always_inline struct tcptuned_flow *flow_of(struct bpf_sock *sk)
{
	return bpf_sk_storage_get(&flows, sk, NULL, 0);
}

/* ---- setsockopt() ------------------------------------------------------------------- */

/* What getsockopt() would say after setsockopt(@request). */
static __always_inline __s32 reported(__u32 request, __u32 min, __u32 max)
{
	if (request > max / 2)
		return max;
	return 2 * request < min ? min : 2 * request;
}

/* A buffer's size, by either option; what the kernel is going to refuse is nobody's business. */
static __always_inline bool sizes(struct bpf_sockopt *ctx, __s32 option, __s32 forced)
{
	return ctx->level == SOL_SOCKET &&
	       (ctx->optname == option || (ctx->optname == forced && kernel_may_force()));
}

/*
 * Congestion control that the application sets from now on is its own, also at the end. (Where
 * the kernel refuses the name, what it has is kept at the end, too.)
 */
static __always_inline void congestion_control_chosen(struct bpf_sock *sk)
{
	struct tcptuned_flow *flow = flow_of(sk);

	if (flow)
		flow->flags &= ~(TCPTUNED_F_CC_SET | TCPTUNED_F_CC_RESTORED |
				 TCPTUNED_F_CC_WOULD);
}

SEC("cgroup/setsockopt")
int tcptuned_setsockopt(struct bpf_sockopt *ctx)
{
	struct bpf_sock *sk = ctx->sk;

	/* Only the first page of a larger option is here; 0: "take the original". */
	if (ctx->optlen > PAGE_SIZE)
		ctx->optlen = 0;
	else if (!sk || sk->protocol != IPPROTO_TCP || sk->type != SOCK_STREAM)
		;
	else if (sizes(ctx, SO_RCVBUF, SO_RCVBUFFORCE))
		override(ctx, true);
	else if (sizes(ctx, SO_SNDBUF, SO_SNDBUFFORCE))
		override(ctx, false);
	else if (ctx->level == SOL_SOCKET && ctx->optname == SO_MAX_PACING_RATE)
		hold_pacing(ctx);
	else if (ctx->level == SOL_TCP && ctx->optname == TCP_WINDOW_CLAMP)
		hands_off(ctx);
	else if (ctx->level == SOL_SOCKET && ctx->optname == SO_RCVLOWAT)
		make_room_to_wait(ctx);
	else if (ctx->level == SOL_TCP && ctx->optname == TCP_CONGESTION)
		congestion_control_chosen(sk);
	return 1; /* never forbid */
}

/*
 * What was asked for is also what the application is told, doubled as the kernel would
 * (sock_setsockopt(); some, like iperf3, check it and give up). The sizes in force are in the
 * metrics.
 */
SEC("cgroup/getsockopt")
int tcptuned_getsockopt(struct bpf_sockopt *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcptuned_flow *flow;
	__s32 *value = ctx->optval;

	if (ctx->optlen > PAGE_SIZE) {
		ctx->optlen = 0;
		return 1;
	}
	if (ctx->level != SOL_SOCKET ||
	    (ctx->optname != SO_RCVBUF && ctx->optname != SO_SNDBUF &&
	     ctx->optname != SO_MAX_PACING_RATE))
		return 1;
	if (!sk || sk->protocol != IPPROTO_TCP || (void *)(value + 1) > ctx->optval_end)
		return 1;
	flow = flow_of(sk);
	if (!flow)
		return 1;
	if (ctx->optname == SO_RCVBUF && (flow->flags & TCPTUNED_F_RCVBUF_SWALLOWED))
		*value = reported(flow->req_rcvbuf, RCVBUF_MIN, flow->rcv_buffer_max);
	if (ctx->optname == SO_SNDBUF && (flow->flags & TCPTUNED_F_SNDBUF_SWALLOWED))
		*value = reported(flow->req_sndbuf, SNDBUF_MIN, flow->snd_buffer_max);
	if (ctx->optname == SO_MAX_PACING_RATE)
		tell_own_pacing(ctx, flow);
	return 1;
}

/* ---- accepted by a listener that was open before ------------------------------------ */

static __always_inline struct tcptuned_listener listener_of(struct bpf_sock_ops *ctx)
{
	return (struct tcptuned_listener){ .netns_cookie = bpf_get_netns_cookie(ctx),
					   .port = ctx->local_port };
}

/* The policy of a connection that has no socket yet; NULL: none, or its cgroup would decide. */
static __always_inline const struct tcptuned_policy *policy_by_ends(struct bpf_sock_ops *ctx)
{
	struct search_result r = { 0 };
	struct search s = {
		.local_port = ctx->local_port,
		.remote_port = bpf_ntohl(ctx->remote_port),
	};
	__u32 *local = (__u32 *)s.local, *remote = (__u32 *)s.remote;

	if (ctx->family == AF_INET6) {
		local[0] = ctx->local_ip6[0];
		local[1] = ctx->local_ip6[1];
		local[2] = ctx->local_ip6[2];
		local[3] = ctx->local_ip6[3];
		remote[0] = ctx->remote_ip6[0];
		remote[1] = ctx->remote_ip6[1];
		remote[2] = ctx->remote_ip6[2];
		remote[3] = ctx->remote_ip6[3];
		barrier(); /* or both ways are made one, with a pointer that the verifier refuses */
	} else {
		local[2] = remote[2] = bpf_htonl(0xffff);
		local[3] = ctx->local_ip4;
		remote[3] = ctx->remote_ip4;
	}
	return search_ends(&r, &s) ? policy_of(r.policy) : NULL;
}

/* Of one that is about to be opened here; NULL: none, or the window is its application's. */
static __always_inline const struct tcptuned_policy *policy_of_opened(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	const struct tcptuned_policy *policy;
	struct tcptuned_flow *flow;
	__u32 key, locks;

	if (!tp)
		return NULL;
	policy = policy_for(tp, &key);
	flow = flow_of(sk);
	if (!policy || (flow && (flow->flags & TCPTUNED_F_RCV_HANDS_OFF)))
		return NULL;
	locks = flow ? locks_of_application(flow, tp) :
		       BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_inet.sk.sk_userlocks);
	return policy->override_rcvbuf || !(locks & SOCK_RCVBUF_LOCK) ? policy : NULL;
}

/* Does the policy of the connection to come tune, and leave its first window to right-sizing? */
static __always_inline bool first_window_is_ours(struct bpf_sock_ops *ctx)
{
	const struct tcptuned_policy *policy;

	policy = ctx->is_fullsock ? policy_of_opened(ctx) : policy_by_ends(ctx);
	return policy && policy->mode == TCPTUNED_TUNE && !policy->first_window &&
	       !policy->rcv_buffer && !policy->rcv_window_min;
}

/* Of a socket that had a connection before: is its receive buffer to be sized anew? */
static __always_inline bool is_sized_again(const struct tcptuned_flow *flow,
					   const struct tcptuned_policy *policy)
{
	return policy && policy->mode == TCPTUNED_TUNE && was_sized(flow, true);
}

/* Was its buffer raised before the SYN (raise_again())? */
static __always_inline bool connects_again(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcptuned_flow *flow = sk ? flow_of(sk) : NULL;

	return flow && is_sized_again(flow, policy_of(flow->policy));
}

/*
 * The listener's buffer was raised (raise_listener()), so that the window scale is large; the
 * window that is offered first is not to be, for no right edge may be pulled back. There is no
 * socket yet that could be asked. Elsewhere the answer stays the kernel's, but on a slow path, and
 * of a socket that connects anew.
 */
static __always_inline void first_window(struct bpf_sock_ops *ctx)
{
	struct tcptuned_listener listener = listener_of(ctx);

	if (path_was_slow(ctx) && first_window_is_ours(ctx))
		ctx->reply = LEAST_WINDOW;
	else if (ctx->is_fullsock ? connects_again(ctx) :
				    !!bpf_map_lookup_elem(&listeners, &listener))
		ctx->reply = FIRST_WINDOW;
}

/* It may listen again: then as its application made it. */
static __always_inline void listener_closes(struct bpf_sock_ops *ctx, struct bpf_sock *sk)
{
	struct tcptuned_listener listener = listener_of(ctx);
	struct tcptuned_flow *flow = flow_of(sk);
	int value;

	if (!flow || !(flow->flags & TCPTUNED_F_RAISED))
		return;
	value = flow->req_rcvbuf;
	bpf_setsockopt(ctx, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
	flow->flags &= ~TCPTUNED_F_RAISED;
	forget_listener(&listener);
}

/* To @space, bytes of memory, but no less than was promised. */
static __always_inline void lower_buffer(struct bpf_sock_ops *ctx, struct tcp_sock *tp, __u64 space)
{
	__u64 promised = kernel_space_from_win(tp, tp->rcv_wnd);
	int value;

	if (space < promised)
		space = promised;
	value = space / 2; /* the kernel doubles it: sock_set_rcvbuf() */
	bpf_setsockopt(ctx, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
}

/*
 * It inherited the raised buffer: give it what a connection begins with here, or, where no
 * policy overrides the application, what that asked for; and no less than was promised.
 */
static __always_inline void settle_accepted(struct bpf_sock_ops *ctx, struct tcp_sock *tp,
					    struct tcptuned_flow *flow,
					    const struct tcptuned_policy *policy)
{
	struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;
	__u64 space = 2 * flow->req_rcvbuf;

	if (policy && policy->override_rcvbuf)
		space = net->ipv4.sysctl_tcp_rmem[1];
	lower_buffer(ctx, tp, space);
	flow->flags &= ~TCPTUNED_F_RAISED;
}

/* By a SYN cookie it may have been promised much (raise_listener()): that is the budget's. */
static __always_inline void hold_first_promise(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	if (!(flow->flags & (TCPTUNED_F_OBSERVE | TCPTUNED_F_RCV_HANDS_OFF)))
		budget_adopt(&flow->rcv_share, flow->rcv_base,
			     tp->inet_conn.icsk_inet.sk.sk_rcvbuf);
}

/* ---- connect(), listen() ------------------------------------------------------------- */

/* Of a connection that the socket had before: its end may not have been told (AF_UNSPEC). */
static __always_inline void end_untold(struct tcptuned_flow *flow)
{
	budget_close(flow);
	flow->flags &= ~TCPTUNED_F_CLAIMED;
}

/* What no policy has any more keeps neither a record nor the calls that it has from here. */
static __always_inline void forget(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
				   struct tcptuned_flow *flow)
{
	__u32 ours = callbacks_ours(flow);

	if (ours)
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags & ~ours);
	end_untold(flow);
	bpf_sk_storage_delete(&flows, sk);
}

/*
 * A socket that is disconnected (AF_UNSPEC) and connects anew has its buffer still, and the lock:
 * that would bound the window scale of this connection (tcp_connect_init()). As of a listener, it
 * is made as large as windows may be until the connection is there: the first is not to be.
 */
static __always_inline void raise_again(struct bpf_sock_ops *ctx, const struct tcptuned_flow *flow,
					const struct tcptuned_policy *policy)
{
	int value = policy->rcv_buffer_max / 2;

	if (!is_sized_again(flow, policy))
		return;
	if (value > RAISED_RCVBUF_MAX)
		value = RAISED_RCVBUF_MAX;
	bpf_setsockopt(ctx, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
}

static __always_inline void lower_again(struct bpf_sock_ops *ctx, struct tcp_sock *tp,
					const struct tcptuned_flow *flow,
					const struct tcptuned_policy *policy)
{
	struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;

	if (is_sized_again(flow, policy))
		lower_buffer(ctx, tp, net->ipv4.sysctl_tcp_rmem[1]);
}

static __always_inline void on_connect(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
				       struct tcp_sock *tp)
{
	const struct tcptuned_match *m = match_anywhere();
	struct tcptuned_flow *flow = flow_of(sk);
	const struct tcptuned_policy *policy;
	__u32 key;

	if (!flow && (!m || !(m->wishes & TCPTUNED_BEFORE_SYN)))
		return;
	policy = policy_for(tp, &key);
	if (flow) {
		lift_pacing(ctx, sk, flow, tp);
		lift_unsent(ctx, flow, tp);
		flow->flags &= ~TCPTUNED_F_RCV_FIXED;
		settle(ctx, flow, policy, 0);
		/* Before its new route may have one of its own (tcp_ca_dst_init()). */
		restore_congestion_control(ctx, flow, tp);
	}
	if (!policy) {
		if (flow)
			forget(ctx, sk, flow);
		return;
	}
	if (flow)
		raise_again(ctx, flow, policy);
	settings_before_syn(ctx, sk, tp, policy);
	flow = flow_of(sk);
	if (flow) {
		flow->policy = key;
		flow->flags |= TCPTUNED_F_PLANNED;
	}
}

/* ---- established -------------------------------------------------------------------- */

/*
 * The least window of a slow path: what any sender begins with, so that none is held back by
 * it; and the scaled field must be able to say it (DRS III.C).
 */
static __always_inline __u32 least_window(struct tcp_sock *tp)
{
	__u32 least = LEAST_WINDOW * tp->mss_cache, unit = kernel_window_unit(tp);

	return least > 2 * unit ? least & ~(unit - 1) : 2 * unit;
}

/* Before anything is measured: what is promised once cannot be taken back. */
static __always_inline void begin_small(struct bpf_sock_ops *ctx, struct tcp_sock *tp)
{
	__u32 least = kernel_least_clamp(tp), value = least_window(tp);

	if (value < least)
		value = least;
	bpf_setsockopt(ctx, SOL_TCP, TCP_WINDOW_CLAMP, &value, sizeof(value));
}

/* What a connection that no policy claims has of its listener, or of its time before. */
static __always_inline void leave_alone(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
					struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = flow_of(sk);

	if (!flow)
		return;
	settle(ctx, flow, NULL, kernel_rcvbuf_least(tp));
	forget(ctx, sk, flow);
}

/* A reload between SYN and SYN-ACK must not make a connection half one policy's, half another's. */
static __always_inline const struct tcptuned_policy *
policy_begun(struct tcptuned_flow *flow, struct tcp_sock *tp, bool passive, __u32 *ret_key)
{
	const struct tcptuned_policy *policy = NULL;

	if (flow && !passive && (flow->flags & TCPTUNED_F_PLANNED)) {
		*ret_key = flow->policy;
		policy = policy_of(*ret_key);
	}
	return policy ? policy : policy_for(tp, ret_key);
}

static __always_inline void claim(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
				  struct tcp_sock *tp, bool passive)
{
	const struct tcptuned_policy *policy;
	char name[TCPTUNED_CC_NAME_MAX];
	struct tcptuned_flow *flow;
	struct socket_facts facts;
	bool raised;
	__u32 key;

	policy = policy_begun(flow_of(sk), tp, passive, &key);
	flow = passive ? flow_of(sk) : NULL;
	raised = flow && (flow->flags & TCPTUNED_F_RAISED);
	if (raised)
		settle_accepted(ctx, tp, flow, policy);
	if (!policy) {
		leave_alone(ctx, sk, tp);
		return;
	}
	flow = bpf_sk_storage_get(&flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow) {
		count(TCPTUNED_C_STORAGE_FAILED);
		return;
	}
	if (passive)
		settle(ctx, flow, policy, kernel_rcvbuf_least(tp));
	lower_again(ctx, tp, flow, policy);
	take_note(flow, tp, policy);
	claim_flow(flow, tp, policy, key);
	if (passive)
		flow->flags |= TCPTUNED_F_PASSIVE;
	if (raised)
		lower_receive_floor(flow, tp);
	size_again(flow, tp);
	facts = facts_of(flow, tp);
	settings_at_established(ctx, flow, policy, &facts);
	if (raised || was_sized(flow, true))
		hold_first_promise(flow, tp);
	/* Before the congestion control is set: bitcp looks for its maximum as it begins. */
	path_seed(flow, tp);
	if ((flow->flags & TCPTUNED_F_SLOW_SEED) && !policy->first_window)
		begin_small(ctx, tp);
	event(TCPTUNED_EV_CLAIMED, tp, flow, passive, 0);
	callbacks_note(flow, ctx->bpf_sock_ops_cb_flags, CALLBACKS);
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | CALLBACKS);
	if (congestion_control_is_ours(flow, tp, policy, name))
		congestion_control_set(flow, tp, name,
				       bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name,
						      sizeof(name)));
	count(passive ? TCPTUNED_C_CLAIMED_PASSIVE : TCPTUNED_C_CLAIMED_ACTIVE);
}

/* Another program took some away, and this is a call that still comes: ask for all of them. */
verified_once int call_again(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow)
{
	__u32 has = ctx->bpf_sock_ops_cb_flags;

	if (!flow || (has & CALLBACKS) == CALLBACKS)
		return 0;
	callbacks_note(flow, has, CALLBACKS);
	bpf_sock_ops_cb_flags_set(ctx, has | CALLBACKS);
	count(TCPTUNED_C_CALLBACKS_AGAIN);
	return 0;
}

/*
 * rightsize_round() and what goes before it as global functions, which the verifier walks once,
 * and not for every state of either direction that reaches them.
 */
__noinline int end_tick(struct rightsize *rs, __u64 now_us, __u32 bytes, int hole)
{
	if (rs)
		rightsize_tick(rs, now_us, bytes, hole);
	return 0;
}

/* @offered: the window that the sender was told last */
__noinline int weigh_hole(struct rightsize *rs, int hole, __u32 offered)
{
	if (rs)
		rightsize_weigh_hole(rs, hole, offered <= rs->window + rs->window / 4);
	return 0;
}

__noinline __u32 decide(struct rightsize *rs, __u64 now_us, __u32 bytes, __u32 rtt_us,
			const struct rightsize_limits *limits)
{
	return rs && limits ? rightsize_round(rs, now_us, bytes, rtt_us, limits) : 0;
}

/* @window, if one was decided on, but no less than @least */
__noinline __u32 widen(struct rightsize *rs, __u32 window, __u32 least)
{
	if (!rs || !window || window >= least)
		return window;
	rs->reason = RIGHTSIZE_FLOOR;
	return rs->window = least;
}

/* ---- an ACK leaves: the receive window ---------------------------------------------- */

/* Is @now so far from @then that a change is worth a call? One sixteenth is. */
static __always_inline bool differs(__u32 then, __u32 now)
{
	__u32 gap = now > then ? now - then : then - now;

	return gap > then / 16;
}

/* What was decided before the round that ends now. */
struct decision {
	__u32 window;
	__u32 drains;
	__u32 reason;
};

#define DECISION(rs) { (rs).window, (rs).drains, (rs).reason }

/*
 * @first: the first of a direction's counters; both directions have the same, in one order.
 * @ours: the buffer is tcptuned's to size, or will be now
 */
static __always_inline void count_decision(struct tcptuned_totals *t, enum tcptuned_counter first,
					   const struct rightsize *now,
					   const struct decision *before, bool ours)
{
	__u32 from = first - TCPTUNED_C_RCV_ROUNDS;

	count_more(t, from + TCPTUNED_C_RCV_ROUNDS, 1);
	count_more(t, from + TCPTUNED_C_RCV_GROWS, ours && now->window > before->window);
	count_more(t, from + TCPTUNED_C_RCV_SHRINKS, ours && now->window < before->window);
	count_more(t, from + TCPTUNED_C_RCV_CAPS, now->reason == RIGHTSIZE_CAPPED);
	count_more(t, from + TCPTUNED_C_RCV_DRAINS, now->drains - before->drains);
}

/*
 * The memory for a window: what the kernel rounds it up to has to be queued, too. What it began
 * with has room for that; no memory is in a window below, which is the clamp's alone, also where
 * the segments that came cost less than the kernel had feared.
 */
static __always_inline __u64 space_for(const struct tcptuned_flow *flow, const struct tcp_sock *tp,
				       __u32 window)
{
	__u64 space = kernel_space_from_win(tp, window);

	if (space <= flow->rcv_base)
		return flow->rcv_base;
	return space + kernel_space_from_win(tp, kernel_window_unit(tp));
}

/*
 * What it cannot do without, also where there is less now: when a buffer is full the kernel packs
 * what it holds (tcp_prune_queue()), what was promised and rounded up fits in then, and nothing
 * more. What is not needed is not given, for the kernel would promise that, too.
 */
static __always_inline __u64 space_owed(const struct tcp_sock *tp)
{
	__u64 queued = tp->inet_conn.icsk_inet.sk.sk_backlog.rmem_alloc.counter;
	__u32 unread = tp->rcv_nxt - tp->copied_seq, rest = kernel_receive_window(tp);
	__u64 packed = kernel_collapsed_space(unread);

	if (packed < queued)
		queued = packed;
	if (!rest)
		return queued;
	rest += kernel_window_unit(tp);
	return queued + kernel_collapsed_space(rest) + 2 * KERNEL_COLLAPSED_SKB;
}

/*
 * What a buffer that is made smaller keeps beyond that while something is promised, for that is
 * rounded up with each ACK, and may cost more than was measured. But with what is promised less
 * than a sixteenth of it, and than half of @window, the clamp: the kernel would take more for a
 * window to offer, and promise it, too (__tcp_select_window()).
 */
static __always_inline __u64 space_margin(const struct tcp_sock *tp, __u32 window)
{
	__u32 most = (__u32)tp->inet_conn.icsk_inet.sk.sk_backlog.rmem_alloc.counter / 16;
	__u64 rest = kernel_space_from_win(tp, kernel_receive_window(tp));
	__u64 margin = kernel_space_promised(tp) - rest;
	__u64 half = kernel_space_from_win(tp, window) * 3 / 8;

	if (!rest || rest >= most)
		return 0;
	most -= rest;
	if (most > half)
		most = half;
	return margin < most ? margin : most;
}

/*
 * @window, or what of it the budget has memory for. @space: that memory, and what is owed beyond
 * it as far as the budget has some.
 */
static __always_inline __u32 affordable_window(struct tcptuned_flow *flow, struct tcp_sock *tp,
					       __u32 window, __u64 *space,
					       struct tcptuned_totals *t)
{
	struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_rcvbuf, allowed;
	__u64 need = space_for(flow, tp, window), owed = space_owed(tp);
	__u32 unit = kernel_window_unit(tp), kernels_max = net->ipv4.sysctl_tcp_rmem[2];

	if (owed > kernels_max) /* where tcp_clamp_window() ends, too */
		owed = kernels_max;
	if (owed > flow->rcv_buffer_max)
		owed = flow->rcv_buffer_max;
	if (need > flow->rcv_buffer_max)
		need = flow->rcv_buffer_max;
	*space = owed > have && owed > need ? owed : need;
	allowed = budget_allow(&flow->rcv_share, tp, flow->rcv_base, have, *space, &flow->flags,
			       TCPTUNED_F_RCV_PRESSED);
	if (allowed < *space)
		*space = allowed;
	if (allowed >= need)
		return window;
	count_more(t, TCPTUNED_C_RCV_BUDGET, 1);
	flow->rcv.reason = RIGHTSIZE_BUDGET;
	window = kernel_win_from_space(tp, allowed);
	return window > 2 * unit ? window - unit : window;
}

/*
 * @first: the first of a direction's kinds; both directions have the same, in one order. A cap
 * and a drain are told when they begin, for they last.
 */
static __always_inline void tell_decision(enum tcptuned_event_kind first, struct tcp_sock *tp,
					  const struct tcptuned_flow *flow,
					  const struct rightsize *now,
					  const struct decision *before)
{
	__u32 was = before->window, is = now->window, kind;

	if (now->drains != before->drains)
		kind = first + TCPTUNED_EV_RCV_DRAIN - TCPTUNED_EV_RCV_GROWN;
	else if (now->reason == RIGHTSIZE_CAPPED && before->reason != RIGHTSIZE_CAPPED)
		kind = first + TCPTUNED_EV_RCV_CAPPED - TCPTUNED_EV_RCV_GROWN;
	else if (is > was)
		kind = first;
	else if (is < was)
		kind = first + TCPTUNED_EV_RCV_SHRUNK - TCPTUNED_EV_RCV_GROWN;
	else
		return;
	event(kind, tp, flow, was, is);
}

/* @space: affordable_window()'s, for @window and for what is owed */
static __always_inline int set_receive_buffer(struct bpf_sock_ops *ctx, struct tcp_sock *tp,
					      struct tcptuned_flow *flow, __u32 window, __u64 space)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u32 have = sk->sk_rcvbuf, queued = sk->sk_backlog.rmem_alloc.counter;
	__u64 promised = kernel_space_held(tp), keep = promised + space_margin(tp, window);
	__u32 unread = tp->rcv_nxt - tp->copied_seq, unit = kernel_window_unit(tp);
	__u32 promised_window = kernel_least_clamp(tp);
	bool filled = queued > have / 2 && space > have;
	int value;

	/*
	 * A smaller window frees memory only as the application reads and as the promise is
	 * used up. A little that is left of the buffer beyond that is no reason for a call.
	 */
	if (space < promised)
		space = promised;
	if (space > flow->rcv_buffer_max)
		space = flow->rcv_buffer_max;
	/*
	 * An application that holds more than its window gets no new promise until it has read
	 * that: each would be added to what is queued. The kernel makes none while what is free
	 * of the buffer is little, and little it is once the old promise has run down.
	 */
	if (unread >= window && kernel_receive_window(tp) > window / 4)
		window /= 4;
	/* The kernel rounds up what the scaled field cannot say: in small windows, too much. */
	if (flow->rcv.reason == RIGHTSIZE_SHORT_QUEUE)
		window += unit / 2; /* and down, too little */
	if (window < flow->rcv_floor)
		window = window > unit ? window & ~(unit - 1) : unit;
	/* At least once, or the kernel's autotuning would go on; together, for one is for the other. */
	if (!filled && !differs(have, space) && !differs(tp->window_clamp, window) &&
	    (flow->flags & TCPTUNED_F_RCV_TAKEN))
		return 0;
	if (window < promised_window)
		window = promised_window;
	if (promised_window) /* the kernel rounds down what the buffer has room for, there */
		keep += kernel_space_from_win(tp, unit);
	if (space < have && space < keep)
		space = keep < have ? keep : have;
	/* More than net.core.rmem_max allows now: setting it would cut it to that. */
	if (space <= flow->rcv_buffer_max) {
		value = space / 2; /* the kernel doubles it: sock_set_rcvbuf() */
		if (bpf_setsockopt(ctx, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value)))
			return -1;
		flow->flags |= TCPTUNED_F_RCV_LOCKED;
	}
	flow->flags |= TCPTUNED_F_RCV_TAKEN;
	budget_has(&flow->rcv_share, flow->rcv_base, space); /* what is owed may be more */
	value = window;
	return bpf_setsockopt(ctx, SOL_TCP, TCP_WINDOW_CLAMP, &value, sizeof(value)) ? -1 : 0;
}

/*
 * The bytes that count for a round: as many as arrived in it, for what the application reads
 * when a hole is filled arrived in rounds before; and as many as the application read, for one
 * that does not read needs no window.
 */
static __always_inline __u32 bytes_received(struct tcptuned_flow *flow, struct tcp_sock *tp,
					    __u32 seen)
{
	__u32 read = tp->copied_seq - flow->rcv_copied_round;
	__u32 arrived = rightsize_since(flow->rcv_seen_round, seen);

	flow->rcv_copied_round = tp->copied_seq;
	flow->rcv_seen_round = seen;
	flow->rcv_bytes += read < arrived ? read : arrived;
	return flow->rcv_bytes;
}

/*
 * An application that is woken for SO_RCVLOWAT bytes only needs a window for them and for what
 * comes while it reads them (the kernel makes room for them: tcp_set_rcvlowat()). 0: it is woken
 * for each.
 */
static __always_inline __u32 wake_window(const struct tcp_sock *tp, __u32 cap)
{
	__u32 low = tp->inet_conn.icsk_inet.sk.sk_rcvlowat;

	return low <= 1 ? 0 : low < cap / 2 ? 2 * low : cap;
}

static __always_inline void on_ack_out(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				       struct tcp_sock *tp)
{
	struct decision before = DECISION(flow->rcv);
	__u32 rtt_us = kernel_rcv_rtt_us(tp), window, wanted, seen, hole;
	struct rightsize_limits limits;
	struct tcptuned_totals *t;
	__u64 now_us = tp->tcp_mstamp, space;
	bool ours;

	if (!rightsize_tick_over(&flow->rcv, now_us, rtt_us) ||
	    (flow->flags & TCPTUNED_F_RCV_HANDS_OFF))
		return;
	seen = kernel_highest_seen(tp);
	hole = seen - tp->rcv_nxt;
	end_tick(&flow->rcv, now_us, seen, hole);
	/* The first data raise the clamp: the kernel learns what they cost (tcp_measure_rcv_mss()). */
	if ((flow->flags & TCPTUNED_F_SLOW_SEED) && !flow->rcv.window)
		begin_small(ctx, tp);
	/*
	 * A sixteenth less: in slow start ACKs leave for a moment of each round trip only, and a
	 * round that just misses one, for an RTT estimated a little too long, would last for two.
	 */
	if (!rightsize_round_over(&flow->rcv, now_us, rtt_us - rtt_us / 16))
		return;
	call_again(ctx, flow);
	limits.floor = path_floor(flow, tp);
	limits.cap = 65535u << BPF_CORE_READ_BITFIELD(tp, rx_opt.rcv_wscale);
	if (limits.cap > flow->rcv_window_max)
		limits.cap = flow->rcv_window_max;
	limits.least = least_window(tp);
	if (limits.least > limits.floor || (flow->flags & TCPTUNED_F_RCV_LEAST))
		limits.least = limits.floor;
	weigh_hole(&flow->rcv, hole, tp->rcv_wnd);
	rightsize_weigh_reader(&flow->reader, &flow->rcv, now_us, tp->copied_seq,
			       tp->rcv_nxt - tp->copied_seq);
	window = decide(&flow->rcv, now_us, bytes_received(flow, tp, seen), rtt_us, &limits);
	window = widen(&flow->rcv, window, wake_window(tp, limits.cap));

	t = totals_here();
	if (!t || !window)
		return;
	/*
	 * While it needs what it began with, the connection is the kernel's; but not while a hole
	 * is filled, for what is read then at once the kernel takes for a round trip's, nor while
	 * it holds a share of the budget, which it was adopted with.
	 */
	ours = ((flow->flags & (TCPTUNED_F_RCV_TAKEN | TCPTUNED_F_RCV_LEAST)) |
		(window ^ flow->rcv_floor) | hole | flow->rcv_share.granted) != 0;
	count_known(t, TCPTUNED_H_RCV_RTT, tp->rcv_rtt_est.rtt_us >> 3);
	count_in(t, TCPTUNED_H_RCV_PER_RTT, flow->rcv.per_rtt);
	count_in(t, TCPTUNED_H_RCV_WINDOW, tp->rcv_wnd);
	count_decision(t, TCPTUNED_C_RCV_ROUNDS, &flow->rcv, &before, ours);
	if (!ours)
		return;
	flow->rcv_grows += window > before.window;
	flow->rcv_shrinks += window < before.window;
	tell_decision(TCPTUNED_EV_RCV_GROWN, tp, flow, &flow->rcv, &before);
	if (flow->flags & TCPTUNED_F_OBSERVE)
		return;
	wanted = window;
	window = affordable_window(flow, tp, window, &space, t);
	if (flow->rcv.reason == RIGHTSIZE_BUDGET && before.reason != RIGHTSIZE_BUDGET)
		event(TCPTUNED_EV_RCV_BUDGET, tp, flow, wanted, window);
	if (set_receive_buffer(ctx, tp, flow, window, space)) {
		count_more(t, TCPTUNED_C_RCV_FAILED, 1);
		event(TCPTUNED_EV_RCV_FAILED, tp, flow, window, 0);
	}
}

/* ---- an ACK comes, once per RTT: the send buffer ------------------------------------- */

/*
 * Memory that a byte in the send queue costs, in 1/256: as measured on this queue, and the
 * kernel's own cautious guess (tcp_sndbuf_expand(): two) while it is too short to tell.
 */
static __always_inline __u32 send_cost_256(const struct tcp_sock *tp)
{
	__u32 bytes = tp->write_seq - tp->snd_una;
	__u64 cost = (__u64)(__u32)tp->inet_conn.icsk_inet.sk.sk_wmem_queued << 8;

	if (bytes < 65536)
		return 512;
	cost /= bytes;
	return cost < 256 ? 256 : cost > 1024 ? 1024 : cost;
}

/*
 * What may wait unsent, bytes: what the policy says, or what the path needs. 0, which is the
 * namespace's net.ipv4.tcp_notsent_lowat, where an administrator has set that one.
 */
static __always_inline __u32 unsent_max(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;

	if (flow->snd_unsent_max)
		return flow->snd_unsent_max;
	return net->ipv4.sysctl_tcp_notsent_lowat == ~0u ? rightsize_unsent(&flow->snd) : 0;
}

/*
 * What waits unsent is held to that, unless the application has said itself how much it should
 * be: what is set there now is then not what was set here.
 */
static __always_inline int set_unsent(struct bpf_sock_ops *ctx, struct tcp_sock *tp,
				      struct tcptuned_flow *flow)
{
	int value;

	if (tp->notsent_lowat != flow->snd_unsent)
		return 0;
	value = unsent_max(flow, tp);
	if (!differs(flow->snd_unsent, value))
		return 0;
	if (bpf_setsockopt(ctx, SOL_TCP, TCP_NOTSENT_LOWAT, &value, sizeof(value)))
		return -1;
	flow->snd_unsent = value;
	return 0;
}

/* What may wait unsent on this socket, whoever said so. 0: what the namespace's sysctl says. */
static __always_inline __u32 unsent_bound(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	return tp->notsent_lowat == flow->snd_unsent ? unsent_max(flow, tp) : tp->notsent_lowat;
}

#define REPAIR_LEAST_RTT_US 1000u

/*
 * Is there to be room for a repair, another @window? Until a loss is repaired, in one round trip or
 * two, nothing leaves the queue, and a sender without room for new data stands still meanwhile.
 * Then a whole window goes at once, and what the path's queue cannot hold of it is the next loss.
 * (The kernel has such room because it counts 2 KB and more for each segment: tcp_sndbuf_expand().)
 *
 * Not where the application would fill it, nor where it is the buffer that bounds what is in
 * flight, and not cwnd: in deep queues (in the first slow start that is not known yet), and where
 * there is no path to speak of.
 */
static __always_inline bool needs_room_for_repair(const struct tcptuned_flow *flow,
						  struct tcp_sock *tp, __u32 window)
{
	__u64 cwnd = (__u64)tp->snd_cwnd * tp->mss_cache;

	return rightsize_min_rtt_us(&flow->snd) >= REPAIR_LEAST_RTT_US &&
	       unsent_bound(flow, tp) < window &&
	       (tp->snd_cwnd < tp->snd_ssthresh || cwnd <= window - window / 4);
}

/* The window of the send buffer that can be used; not less, in the midst of a loss, than before. */
static __always_inline __u32 send_usable(struct tcptuned_flow *flow, struct tcp_sock *tp,
					 __u32 before)
{
	bool repairs = BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_state) != TCP_CA_OPEN;
	__u32 least = repairs && before > flow->snd_floor ? before : flow->snd_floor;

	return rightsize_usable(&flow->snd, (__u64)tp->snd_cwnd * tp->mss_cache, tp->max_window,
				tp->snd_cwnd < tp->snd_ssthresh, least);
}

static __always_inline void on_rtt(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				   struct tcp_sock *tp)
{
	struct decision before = DECISION(flow->snd);
	__u32 rtt_us = tp->srtt_us >> 3;
	struct rightsize_limits limits = { .floor = flow->snd_floor, .cap = flow->snd_window_max };
	__u64 now_us = tp->tcp_mstamp, space;
	__u32 delivered = tp->delivered, window, have, allowed;
	struct tcptuned_totals *t = totals_here();
	bool ours;
	int value;

	/* Unsmoothed: a short dip while the queue drains must be seen. */
	rightsize_rtt_sample(&flow->rcv, tp->rack.rtt_us);
	rightsize_rtt_sample(&flow->snd, tp->rack.rtt_us);
	flow->snd_bytes += (delivered - flow->snd_delivered) * tp->mss_cache;
	flow->snd_delivered = delivered;
	if (!t || (flow->flags & TCPTUNED_F_SND_HANDS_OFF))
		return;
	/* What is sized already goes on being sized, for the kernel would not. */
	if (!(flow->flags & TCPTUNED_F_SND_TAKEN) && kernel_device_encrypts(tp))
		return;
	/* Called once per RTT, give or take; three quarters, or a round would be two of them. */
	if (!rightsize_round_over(&flow->snd, now_us, rtt_us - rtt_us / 4))
		return;
	limits.least = limits.floor;
	if (!decide(&flow->snd, now_us, flow->snd_bytes, rtt_us, &limits))
		return;
	window = send_usable(flow, tp, before.window);
	ours = (flow->flags & (TCPTUNED_F_SND_TAKEN | TCPTUNED_F_SND_LEAST)) ||
	       window > limits.floor || flow->snd_share.granted;
	count_in(t, TCPTUNED_H_SRTT, rtt_us);
	count_in(t, TCPTUNED_H_CWND, tp->snd_cwnd);
	count_decision(t, TCPTUNED_C_SND_ROUNDS, &flow->snd, &before, ours);
	if (!ours)
		return;
	flow->snd_grows += window > before.window;
	flow->snd_shrinks += window < before.window;
	tell_decision(TCPTUNED_EV_SND_GROWN, tp, flow, &flow->snd, &before);
	if (flow->flags & TCPTUNED_F_OBSERVE)
		return;
	space = ((__u64)window * send_cost_256(tp)) >> 8;
	if (needs_room_for_repair(flow, tp, window))
		space *= 2;
	if (space > flow->snd_buffer_max)
		space = flow->snd_buffer_max;
	have = tp->inet_conn.icsk_inet.sk.sk_sndbuf;
	allowed = budget_allow(&flow->snd_share, tp, flow->snd_base, have, space, &flow->flags,
			       TCPTUNED_F_SND_PRESSED);
	if (allowed < space) {
		count_more(t, TCPTUNED_C_SND_BUDGET, 1);
		flow->snd.reason = RIGHTSIZE_BUDGET;
		if (before.reason != RIGHTSIZE_BUDGET)
			event(TCPTUNED_EV_SND_BUDGET, tp, flow, space, allowed);
		space = allowed;
	}
	if (differs(have, space) || !(flow->flags & TCPTUNED_F_SND_TAKEN)) {
		value = space / 2; /* the kernel doubles it: sk_setsockopt() */
		if (bpf_setsockopt(ctx, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value))) {
			count_more(t, TCPTUNED_C_SND_FAILED, 1);
			event(TCPTUNED_EV_SND_FAILED, tp, flow, window, 0);
			return;
		}
		flow->flags |= TCPTUNED_F_SND_SIZED;
	}
	if (set_unsent(ctx, tp, flow))
		count_more(t, TCPTUNED_C_SND_FAILED, 1);
}

/* ---- closed ------------------------------------------------------------------------- */

static __always_inline void on_close(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct tcptuned_totals *t = totals_here();

	budget_close(flow);
	if (!t)
		return;
	count_more(t, TCPTUNED_C_CLOSED, 1);
	count_more(t, TCPTUNED_C_BYTES_RECEIVED, tp->bytes_received);
	count_more(t, TCPTUNED_C_BYTES_ACKED, tp->bytes_acked);
	count_more(t, TCPTUNED_C_SEGMENTS_SENT, tp->segs_out);
	count_more(t, TCPTUNED_C_RETRANSMITS, tp->total_retrans);
	event(TCPTUNED_EV_CLOSED, tp, flow, tp->bytes_received, tp->bytes_acked);
	count_known(t, TCPTUNED_H_MIN_RTT, kernel_min_rtt_us(tp));
	count_in(t, TCPTUNED_H_RETRANSMITS, tp->total_retrans);
	path_learn(flow, tp);
	flow->flags &= ~TCPTUNED_F_CLAIMED;
}

/*
 * Is this call for a segment that says nothing about the receive window? A sender has two for
 * each that it sends: one to know the MSS, one for the segment; and where hardly any data comes
 * back, the ACKs on its data segments need no care. From the context alone, before any helper.
 */
static __always_inline bool only_sends(struct bpf_sock_ops *ctx)
{
	return ctx->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS ||
	       (ctx->skb_len && ctx->data_segs_in < ctx->data_segs_out / 64);
}

SEC("sockops")
int tcptuned_sockops(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcptuned_flow *flow;
	struct tcp_sock *tp;
	__u32 op = ctx->op;

	if (op != BPF_SOCK_OPS_HDR_OPT_LEN_CB && op != BPF_SOCK_OPS_RTT_CB &&
	    op != BPF_SOCK_OPS_STATE_CB && op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB &&
	    op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB && op != BPF_SOCK_OPS_TCP_CONNECT_CB &&
	    op != BPF_SOCK_OPS_TCP_LISTEN_CB && op != BPF_SOCK_OPS_RETRANS_CB &&
	    op != BPF_SOCK_OPS_RTO_CB) {
		if (op == BPF_SOCK_OPS_RWND_INIT)
			first_window(ctx);
		return 1;
	}
	if (op == BPF_SOCK_OPS_HDR_OPT_LEN_CB && only_sends(ctx))
		return 1;
	if (!sk)
		return 1;
	tp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 1;
	if (op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB || op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB) {
		claim(ctx, sk, tp, op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB);
		return 1;
	}
	if (op == BPF_SOCK_OPS_TCP_CONNECT_CB) {
		on_connect(ctx, sk, tp);
		return 1;
	}
	if (op == BPF_SOCK_OPS_STATE_CB && ctx->args[0] == TCP_STATE_LISTEN) {
		listener_closes(ctx, sk);
		return 1;
	}
	flow = flow_of(sk);
	if (!flow)
		return 1;
	if (op == BPF_SOCK_OPS_TCP_LISTEN_CB) {
		end_untold(flow); /* its record is cloned from now on */
		settle_listener(ctx, flow, (struct sock *)tp);
		return 1;
	}
	/*
	 * Nothing is written before this on STATE_CB: a child whose set-up fails is closed without
	 * its lock, and has the callback from an adopted listener (CVE-2026-74268: 4.16 to 7.1).
	 */
	if (!(flow->flags & TCPTUNED_F_CLAIMED))
		return 1;
	if (op == BPF_SOCK_OPS_HDR_OPT_LEN_CB) {
		on_ack_out(ctx, flow, tp);
	} else if (op == BPF_SOCK_OPS_STATE_CB && ctx->args[1] == TCP_STATE_CLOSE) {
		on_close(flow, tp);
	} else {
		call_again(ctx, flow);
		if (op == BPF_SOCK_OPS_RTT_CB) /* the others are what another program asked for */
			on_rtt(ctx, flow, tp);
	}
	return 1;
}

/*
 * The socket goes, whether or not its end was told above: its callbacks may have been taken away,
 * and nothing is attached in the midst of a stop that is killed. What it was granted comes back.
 */
SEC("tp_btf/tcp_destroy_sock")
int tcptuned_destroyed(__u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	struct tcp_sock *tp;

	if (!flow)
		return 0;
	tp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (tp && (flow->flags & TCPTUNED_F_CLAIMED))
		on_close(flow, tp);
	else
		budget_close(flow);
	return 0;
}

char _license[] SEC("license") = "GPL";
