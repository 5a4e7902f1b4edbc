// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic Right-Sizing on the wire: the life of a connection as its programs see it.
 *
 *   setsockopt()    an application fixes its buffers: the call is intercepted, autotuning goes on
 *   getsockopt()    returns what the application asked for
 *   connect()       the policy is known: what an earlier connection of the socket had goes
 *   listen()
 *   SYN, SYN-ACK    small first windows on paths that are remembered as slow
 *   established     callbacks are asked for, and nothing else: a short connection costs nothing
 *   an ACK leaves   once the connection has carried enough, its policy is looked up and its record
 *                   made; then at most once per millisecond: measure, and clamp the window
 *   a segment leaves  at most once per millisecond, and when a round trip ends: the same for the send
 *                   buffer and the congestion control
 *   closed          add up, remember the path
 *   destroyed       the same, where no callback reported the end
 *
 * The kernel sizes the buffers, unlocked. <tcptuned/algo/rightsize.h> decides where less window is
 * worth a try; here the socket is read and the result written.
 */
#include "kernel.h"
#include "budget.h"
#include "callbacks.h"
#include "maps.h"
#include "claim.h"
#include "events.h"
#include "paths.h"
#include "policy.h"
#include "wishes.h"
#include <tcptuned/algo/unsent.h>

#define PAGE_SIZE	4096
#define RCVBUF_MIN	2304 /* SOCK_MIN_RCVBUF of include/net/sock.h on 64 bits, ... */
#define SNDBUF_MIN	4608 /* ... and SOCK_MIN_SNDBUF */
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
		flow->flags &= ~(TCPTUNED_F_CC_SET | TCPTUNED_F_CC_RESTORED);
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
	else if (ctx->level == SOL_TCP && ctx->optname == TCP_WINDOW_CLAMP)
		hands_off(ctx);
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
	if (ctx->level != SOL_SOCKET || (ctx->optname != SO_RCVBUF && ctx->optname != SO_SNDBUF))
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
	return 1;
}

/* ---- the first window --------------------------------------------------------------- */

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
	if (!policy || (flow && (flow->flags & TCPTUNED_F_RCVBUF_APP)))
		return NULL;
	locks = flow ? locks_of_application(flow, tp) :
		       BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_inet.sk.sk_userlocks);
	return policy->override_rcvbuf || !(locks & SOCK_RCVBUF_LOCK) ? policy : NULL;
}

/* Does the policy of the connection to come tune? */
static __always_inline bool first_window_is_ours(struct bpf_sock_ops *ctx)
{
	const struct tcptuned_policy *policy;

	policy = ctx->is_fullsock ? policy_of_opened(ctx) : policy_by_ends(ctx);
	return policy && policy->mode == TCPTUNED_TUNE;
}

/* Start small on a path that was slow, before there is a socket that could be asked. */
verified_once int first_window(struct bpf_sock_ops *ctx)
{
	if (path_was_slow(ctx) && first_window_is_ours(ctx))
		ctx->reply = LEAST_WINDOW;
	return 0;
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
	if (!bpf_sk_storage_delete(&flows, sk))
		uncount_record();
}

static __always_inline void on_connect(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
				       struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = flow_of(sk);
	const struct tcptuned_policy *policy;
	__u32 key;

	if (!flow)
		return;
	policy = policy_for(tp, &key);
	lift_unsent(ctx, flow, tp);
	settle(ctx, flow, policy, 0);
	/* Before its new route may have one of its own (tcp_ca_dst_init()). */
	restore_congestion_control(ctx, flow, tp);
	if (!policy) {
		forget(ctx, sk, flow);
		return;
	}
	flow->policy = key;
	flow->flags |= TCPTUNED_F_PLANNED;
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

/* Does @now differ from @then by more than a sixteenth? */
static __always_inline bool differs(__u32 then, __u32 now)
{
	__u32 gap = now > then ? now - then : then - now;

	return gap > then / 16;
}

/*
 * Sets the clamp. The kernel moves it when it enlarges the buffer (tcp_rcvbuf_grow()) or learns
 * what segments cost (tcp_measure_rcv_mss()), so that it is looked at with each ACK; and a window
 * that has been advertised stays (tcp_select_window()), except with net.ipv4.tcp_shrink_window.
 */
static __always_inline void clamp_window(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					 struct tcp_sock *tp, __u32 limit)
{
	__u32 min = kernel_least_clamp(tp);
	int value;

	if (!limit && !flow->rcv_clamp)
		return;
	value = limit ? limit : kernel_win_from_space(tp, tp->inet_conn.icsk_inet.sk.sk_rcvbuf);
	if (value < (int)min)
		value = min;
	if (limit && flow->rcv_clamp && !differs(tp->window_clamp, value))
		return;
	flow->rcv_clamp = limit ? value : 0;
	flow->flags |= TCPTUNED_F_RCV_TAKEN;
	if (!limit)
		flow->flags &= ~TCPTUNED_F_RCV_TAKEN;
	if (bpf_setsockopt(ctx, SOL_TCP, TCP_WINDOW_CLAMP, &value, sizeof(value))) {
		count(TCPTUNED_C_RCV_FAILED);
		event(TCPTUNED_EV_RCV_FAILED, tp, flow, value, 0);
	}
}

/* Reads what the application asked for, takes the record over, and sets the congestion control. */
static __always_inline struct tcptuned_flow *claim(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
						   struct tcp_sock *tp, bool passive)
{
	const struct tcptuned_policy *policy;
	char name[TCPTUNED_CC_NAME_MAX];
	struct tcptuned_flow *flow;
	__u32 key;

	policy = policy_begun(flow_of(sk), tp, passive, &key);
	if (!policy) {
		leave_alone(ctx, sk, tp);
		return NULL;
	}
	flow = make_record(sk);
	if (!flow)
		return NULL;
	take_note(flow, tp, policy);
	claim_flow(flow, tp, policy, key);
	if (passive)
		flow->flags |= TCPTUNED_F_PASSIVE;
	/* Before the congestion control is set: bitcp looks for its maximum when it begins. */
	path_seed(flow, tp, policy);
	if (flow->flags & TCPTUNED_F_SLOW_SEED)
		rightsize_begin_held(&flow->rcv, least_window(tp));
	event(TCPTUNED_EV_CLAIMED, tp, flow, passive, 0);
	callbacks_note(flow, ctx->bpf_sock_ops_cb_flags, CALLBACKS);
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | CALLBACKS);
	if (congestion_control_is_ours(flow, tp, policy, name) ||
	    ((flow->flags & TCPTUNED_F_LONG_PATH) &&
	     auto_congestion_control_is_ours(flow, tp, policy, name)))
		congestion_control_set(flow, tp, name,
				       bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name,
						      sizeof(name)));
	clamp_window(ctx, flow, tp, flow->rcv.window);
	count(passive ? TCPTUNED_C_CLAIMED_PASSIVE : TCPTUNED_C_CLAIMED_ACTIVE);
	return flow;
}

/*
 * A connection that has just been established costs two callbacks and nothing else, unless its
 * application's request was intercepted, a policy sets something from the start, or its path is
 * known to be slow or long. Returns whether it is to be claimed.
 */
verified_once int on_established(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	const struct tcptuned_match *m = match_anywhere();
	__u32 has = ctx->bpf_sock_ops_cb_flags;
	struct tcptuned_flow *flow;

	if (!tp)
		return 0;
	flow = flow_of(sk);
	if (!m || !(m->wishes & TCPTUNED_ANY_CLAIMS)) {
		if (flow)
			leave_alone(ctx, sk, tp);
		return 0;
	}
	if (flow || (m->wishes & TCPTUNED_AT_ESTABLISHED) || path_is_remarkable(tp))
		return 1;
	/* STATE_CB, which nothing needs yet, says that WRITE_HDR_OPT is somebody else's, too. */
	if (has & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)
		has |= BPF_SOCK_OPS_STATE_CB_FLAG;
	bpf_sock_ops_cb_flags_set(ctx, has | CALLBACKS_EARLY);
	return 0;
}

/* What listen() set is copied to all that the listener accepts (sk_clone_lock()). */
static __always_inline bool is_accepted(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.sk_max_ack_backlog;
}

/* The ACKs of an answer show how long it is: its segments, twenty more calls for 100 KB, need not. */
static __always_inline void watch_acks_only(struct bpf_sock_ops *ctx, struct tcp_sock *tp)
{
	const __u32 both = BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_STATE_CB_FLAG;
	__u32 has = ctx->bpf_sock_ops_cb_flags;

	if ((has & both) == BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG && is_accepted(tp) &&
	    ctx->bytes_acked > ctx->bytes_received + ANSWER_BYTES)
		bpf_sock_ops_cb_flags_set(ctx, has & ~BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/* Has the connection carried enough to have a record? */
static __always_inline bool is_long(struct bpf_sock_ops *ctx, struct tcp_sock *tp)
{
	if (ctx->bytes_received >= CLAIM_BYTES || ctx->bytes_acked >= CLAIM_BYTES)
		return true;
	if (ctx->op == BPF_SOCK_OPS_RTT_CB)
		watch_acks_only(ctx, tp);
	return false;
}

/*
 * Hands the connection to its policy. One that has carried enough and has no policy does without
 * its callbacks from now on.
 */
verified_once int claim_connection(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	bool passive = ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
	bool established = passive || ctx->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB;

	if (!tp)
		return 0;
	if (!established)
		passive = is_accepted(tp);
	if (!claim(ctx, sk, tp, passive) && !established)
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags & ~CALLBACKS_EARLY);
	return 0;
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

/* What decide() returns: an event of a receive window (event.h), or 0, and whether a round ended. */
#define ROUND_ENDED   0x100
#define DECIDED(what) ((what) & 0xff)
#define SENDS	      (TCPTUNED_EV_SND_GROWN - TCPTUNED_EV_RCV_GROWN)

static __always_inline void count_decision(__u32 kind, __u32 from)
{
	count(from + (kind == TCPTUNED_EV_RCV_GROWN ? TCPTUNED_C_RCV_GROWS : TCPTUNED_C_RCV_SHRINKS));
	if (kind == TCPTUNED_EV_RCV_TEST)
		count(from + TCPTUNED_C_RCV_TESTS);
}

/* Verified once, and not for every state of either direction that calls it. */
__noinline int decide(struct rightsize *rs, const struct rightsize_ack *ack, bool sends)
{
	__u32 was, is, tests, kind = 0;
	int ended;

	if (!rs || !ack)
		return 0;
	/* No limit, 0, is the largest window. */
	was = rs->window - 1;
	tests = rs->tests;
	ended = rightsize_on_ack(rs, ack);
	is = rs->window - 1;
	if (rs->tests != tests)
		kind = TCPTUNED_EV_RCV_TEST;
	else if (is != was)
		kind = is > was ? TCPTUNED_EV_RCV_GROWN : TCPTUNED_EV_RCV_SHRUNK;
	if (kind && sends)
		count_decision(kind, TCPTUNED_C_SND_ROUNDS - TCPTUNED_C_RCV_ROUNDS);
	else if (kind)
		count_decision(kind, 0);
	return kind | (ended ? ROUND_ENDED : 0);
}

/* ---- an ACK leaves: the receive window ---------------------------------------------- */

/* The smaller of two limits, of which 0 is none. */
static __always_inline __u32 smaller(__u32 a, __u32 b)
{
	return a - 1 < b - 1 ? a : b;
}

/* The kernel's usual first window. */
#define FIRST_WINDOW_BYTES 65535u

/*
 * The window that the clamp should allow: what right-sizing, the reader, the budget and the policy
 * say, whichever is least; 0: no limit. @flow's reason becomes that of the limit.
 *
 * While there is a reassembly gap nothing is held below what the kernel gives: a sender that repairs
 * a loss needs up to twice what is in flight (DRS II), and an ACK with three SACK blocks has no room
 * for the option whose callback this is (bpf_skops_hdr_opt_len()).
 */
static __always_inline __u32 receive_limit(struct tcptuned_flow *flow, struct tcp_sock *tp,
					   __u32 min)
{
	bool gap = tp->out_of_order_queue.rb_node && flow->rcv.window > FIRST_WINDOW_BYTES;
	__u32 unread = tp->rcv_nxt - tp->copied_seq, window = gap ? 0 : flow->rcv.window;
	__u8 reason = window ? flow->rcv.reason : RIGHTSIZE_KERNEL;
	__u32 limit;

	if (flow->reader.window) {
		limit = rightsize_offer(flow->reader.window, unread, 2 * tp->mss_cache);
		if (smaller(limit, window) != window)
			reason = RIGHTSIZE_READER;
		window = smaller(window, limit);
	}
	if (flow->rcv_allowed) {
		limit = rightsize_offer(flow->rcv_allowed, unread, 2 * tp->mss_cache);
		if (smaller(limit, window) != window)
			reason = RIGHTSIZE_BUDGET;
		window = smaller(window, limit);
	}
	/* By the buffer, and not by the clamp, which is what the answer sets. */
	limit = kernel_win_from_space(tp, tp->inet_conn.icsk_inet.sk.sk_rcvbuf);
	if (limit > flow->rcv_window_max && window - 1 >= flow->rcv_window_max) {
		reason = RIGHTSIZE_CAPPED;
		window = flow->rcv_window_max;
	}
	if (flow->rcv.reason == RIGHTSIZE_UNMEASURED)
		return window;
	if (reason == RIGHTSIZE_CAPPED && flow->rcv_reason != reason)
		event(TCPTUNED_EV_RCV_CAPPED, tp, flow, limit, window);
	flow->rcv_reason = reason;
	return window;
}

/*
 * A buffer that the application had fixed before tcptuned saw it is locked, and the kernel does
 * not size it: it gets twice what a round trip carries, and as much again to grow. Where the budget
 * has less than the buffer that it already has, the window is what the budget allows.
 */
static __always_inline void size_locked_receiver(struct bpf_sock_ops *ctx,
						 struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_rcvbuf, clamp, allowed;
	__u64 want = kernel_space_from_win(tp, flow->rcv.per_rtt) * 4;
	int value;

	if (want > flow->rcv_buffer_max)
		want = flow->rcv_buffer_max;
	if (want <= have + have / 16)
		want = have;
	allowed = budget_allow(&flow->rcv_share, tp, flow->rcv_base, want, &flow->flags,
			       TCPTUNED_F_RCV_PRESSED);
	if (want > allowed)
		want = allowed;
	flow->rcv_allowed = want < have ? kernel_win_from_space(tp, want) : 0;
	if (want <= have)
		return;
	value = want / 2; /* the kernel doubles it: sock_set_rcvbuf() */
	if (bpf_setsockopt(ctx, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value))) {
		count(TCPTUNED_C_RCV_FAILED);
		return;
	}
	flow->flags |= TCPTUNED_F_RCV_LOCKED;
	clamp = kernel_win_from_space(tp, want);
	if (!flow->rcv_clamp)
		bpf_setsockopt(ctx, SOL_TCP, TCP_WINDOW_CLAMP, &clamp, sizeof(clamp));
}

/*
 * What the kernel has given beyond what it would have given without tcptuned, which raised
 * tcp_rmem, is the budget's. Where that has no more, the window is what it would have been.
 */
static __always_inline void keep_receive_budget(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_rcvbuf, allowed;

	if (have <= flow->rcv_base) {
		flow->rcv_allowed = 0;
		return;
	}
	allowed = budget_allow(&flow->rcv_share, tp, flow->rcv_base, have, &flow->flags,
			       TCPTUNED_F_RCV_PRESSED);
	flow->rcv_allowed = allowed < have ? kernel_win_from_space(tp, allowed) : 0;
	if (flow->rcv_allowed) {
		count(TCPTUNED_C_RCV_BUDGET);
		event(TCPTUNED_EV_RCV_BUDGET, tp, flow, have, allowed);
	}
}

/* Does the kernel not size the buffer any more? @lock: SOCK_RCVBUF_LOCK or SOCK_SNDBUF_LOCK */
static __always_inline bool is_locked(struct tcp_sock *tp, __u32 lock)
{
	return BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_inet.sk.sk_userlocks) & lock;
}

static __always_inline void end_receive_round(struct bpf_sock_ops *ctx,
					      struct tcptuned_flow *flow, struct tcp_sock *tp,
					      __u32 rtt_us, __u32 min)
{
	struct tcptuned_totals *t = totals_here();

	rightsize_weigh_reader(&flow->reader, tp->tcp_mstamp, rtt_us, tp->copied_seq,
			       tp->rcv_nxt - tp->copied_seq, kernel_receive_window(tp), min);
	call_again(ctx, flow);
	if (t) {
		count_more(t, TCPTUNED_C_RCV_ROUNDS, 1);
		count_more(t, TCPTUNED_C_RCV_CAPS, flow->rcv_reason == RIGHTSIZE_CAPPED);
		count_known(t, TCPTUNED_H_RCV_RTT, tp->rcv_rtt_est.rtt_us >> 3);
		count_in(t, TCPTUNED_H_RCV_PER_RTT, flow->rcv.per_rtt);
		count_in(t, TCPTUNED_H_RCV_WINDOW, tp->rcv_wnd);
	}
	if (flow->flags & TCPTUNED_F_OBSERVE)
		return;
	if (is_locked(tp, SOCK_RCVBUF_LOCK)) {
		size_locked_receiver(ctx, flow, tp);
		return;
	}
	keep_receive_budget(flow, tp);
}

/* A receiver's clock for silences and RTTs ticks in milliseconds, as its timestamps do. */
#define ACK_TICK_US 1000u

static __always_inline void on_ack_out(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				       struct tcp_sock *tp)
{
	struct rightsize_ack ack = { .now_us = tp->tcp_mstamp };
	__u32 min, was = flow->rcv.window, did;

	if (flow->flags & TCPTUNED_F_RCVBUF_APP)
		return;
	if (ack.now_us - flow->rcv.seen_us < ACK_TICK_US &&
	    (!flow->rcv_clamp || flow->rcv_clamp == tp->window_clamp))
		return;
	min = least_window(tp);
	ack.clock_us = bpf_ktime_get_tai_ns() / 1000;
	ack.bytes = kernel_highest_seen(tp);
	ack.rtt_us = kernel_rcv_rtt_us(tp);
	ack.sample_us = kernel_rcv_rtt_sample_us(tp);
	ack.min = min;
	ack.offered = tp->out_of_order_queue.rb_node ? RIGHTSIZE_WINDOW_MAX :
						       kernel_receive_window(tp);
	did = decide(&flow->rcv, &ack, false);
	if (did & ROUND_ENDED)
		end_receive_round(ctx, flow, tp, ack.rtt_us, min);
	if (DECIDED(did)) {
		flow->rcv_grows += DECIDED(did) == TCPTUNED_EV_RCV_GROWN;
		flow->rcv_shrinks += DECIDED(did) != TCPTUNED_EV_RCV_GROWN;
		event(DECIDED(did), tp, flow, was, flow->rcv.window);
	}
	min = receive_limit(flow, tp, min);
	if (!(flow->flags & TCPTUNED_F_OBSERVE))
		clamp_window(ctx, flow, tp, min);
}

/* ---- a segment leaves, a round trip ends: the send buffer ---------------------------- */

/*
 * Memory that a byte in the send queue costs, in 1/256: as measured on this queue, and the
 * kernel's own cautious guess (tcp_sndbuf_expand(): two) while it is too short to tell.
 */
static __always_inline __u32 send_cost_256(const struct tcp_sock *tp)
{
	__u32 bytes = tp->write_seq - tp->snd_una;
	__u64 cost = (__u64)(__u32)tp->inet_conn.icsk_inet.sk.sk_wmem_queued << 8;

	if (bytes < LEAST_WINDOW * tp->mss_cache)
		return 512;
	cost /= bytes;
	return cost < 256 ? 256 : cost > 1024 ? 1024 : cost;
}

/*
 * What may wait unsent, bytes: what the path needs. 0, which is the namespace's
 * net.ipv4.tcp_notsent_lowat, where an administrator has set that one.
 */
static __always_inline __u32 unsent_max(struct tcp_sock *tp)
{
	struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;
	__u32 rtt_us = tp->srtt_us >> 3;

	if (net->ipv4.sysctl_tcp_notsent_lowat != ~0u)
		return 0;
	return rightsize_unsent(rightsize_muldiv((__u64)tp->snd_cwnd * tp->mss_cache, 1000000,
						 rtt_us), rtt_us);
}

/*
 * What waits unsent is held to that, unless the application has set a bound itself: what is set
 * there now is then not what was set here.
 */
static __always_inline int set_unsent(struct bpf_sock_ops *ctx, struct tcp_sock *tp,
				      struct tcptuned_flow *flow)
{
	int value;

	if (tp->notsent_lowat != flow->snd_unsent)
		return 0;
	value = unsent_max(tp);
	if (!differs(flow->snd_unsent, value))
		return 0;
	if (bpf_setsockopt(ctx, SOL_TCP, TCP_NOTSENT_LOWAT, &value, sizeof(value)))
		return -1;
	flow->snd_unsent = value;
	return 0;
}

static __always_inline bool is_recovering(struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_state) != TCP_CA_OPEN;
}

/*
 * What makes a buffer smaller locks it, so that this is done only where net.core.wmem_max lets the
 * buffer be made as large again as the kernel alone would have it.
 */
static __always_inline bool may_hold_sender(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;

	return flow->snd_buffer_max >= (__u32)net->ipv4.sysctl_tcp_wmem[2];
}

/*
 * The send buffer, bytes of memory; 0: the kernel's. Held: room for the window, and no less during
 * a recovery, when nothing leaves the queue. A buffer that is locked because it was held once, or
 * because the application had fixed it before tcptuned saw it, follows cwnd as the kernel would
 * have it (tcp_sndbuf_expand()), twice that in slow start. More than @max is the policy's to cut.
 */
static __always_inline __u64 send_space(struct tcptuned_flow *flow, struct tcp_sock *tp, __u64 max)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_sndbuf;
	__u64 space = (__u64)flow->snd.window * send_cost_256(tp) >> 8;

	if (flow->snd.window)
		return is_recovering(tp) && space < have ? have : space;
	if (!is_locked(tp, SOCK_SNDBUF_LOCK)) {
		/* The kernel sizes it; what tcp_wmem was raised by is the budget's. */
		return have > flow->snd_base || have > max ? have : 0;
	}
	space = 4ull * tp->snd_cwnd * tp->mss_cache;
	if (tp->snd_cwnd < tp->snd_ssthresh)
		space *= 2;
	return space > have ? space : have;
}

static __always_inline void set_send_buffer(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					    struct tcp_sock *tp)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_sndbuf, allowed;
	__u64 max = may_hold_sender(flow, tp) ? 2ull * flow->snd_window_max : ~0ull;
	__u64 space = send_space(flow, tp, max);
	int value;

	if (!space)
		return;
	if (space > max) {
		count(TCPTUNED_C_SND_CAPS);
		flow->snd_reason = RIGHTSIZE_CAPPED;
		space = max;
	}
	if (space > flow->snd_buffer_max)
		space = flow->snd_buffer_max;
	allowed = budget_allow(&flow->snd_share, tp, flow->snd_base, space, &flow->flags,
			       TCPTUNED_F_SND_PRESSED);
	if (allowed < space) {
		count(TCPTUNED_C_SND_BUDGET);
		flow->snd_reason = RIGHTSIZE_BUDGET;
		event(TCPTUNED_EV_SND_BUDGET, tp, flow, space, allowed);
		space = allowed;
	}
	if (!differs(have, space))
		return;
	if (flow->snd_reason == RIGHTSIZE_CAPPED)
		event(TCPTUNED_EV_SND_CAPPED, tp, flow, have, space);
	value = space / 2; /* the kernel doubles it: sk_setsockopt() */
	if (bpf_setsockopt(ctx, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value))) {
		count(TCPTUNED_C_SND_FAILED);
		event(TCPTUNED_EV_SND_FAILED, tp, flow, space, 0);
		return;
	}
	flow->flags |= TCPTUNED_F_SND_SIZED;
}

/*
 * BI-TCP for a long path (policy.h, cc_auto): once the bandwidth-delay product is so large that a
 * loss costs seconds, where the host's congestion control is one that a kernel is built with.
 */
static __always_inline void choose_congestion_control(struct bpf_sock_ops *ctx,
						      struct tcptuned_flow *flow,
						      struct tcp_sock *tp)
{
	const struct tcptuned_policy *policy = policy_of(flow->policy);
	__u64 bdp = rightsize_muldiv(flow->snd.rate, flow->snd.min_rtt_us, 1000000);
	char name[TCPTUNED_CC_NAME_MAX];

	if (!policy || !policy->cc_auto || (flow->flags & TCPTUNED_F_CC_SET) ||
	    bdp < (__u64)policy->cc_long_path_segments * tp->mss_cache)
		return;
	if (auto_congestion_control_is_ours(flow, tp, policy, name))
		congestion_control_set(flow, tp, name,
				       bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name,
						      sizeof(name)));
}

/* Does hardly any data come back? Then the ACKs on its data segments need no care. */
static __always_inline bool mostly_sends(struct bpf_sock_ops *ctx)
{
	return ctx->data_segs_in < ctx->data_segs_out / 64;
}

/*
 * Bytes acknowledged, and during a recovery, when that stands still, those of segments that are
 * acknowledged selectively. These may be smaller than the MSS: the sum does not go back.
 */
static __always_inline void count_delivered(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 bytes = (__u32)tp->bytes_acked + tp->sacked_out * tp->mss_cache;

	if ((__s32)(bytes - flow->snd_bytes) > 0)
		flow->snd_bytes = bytes;
}

/*
 * @segment: a segment leaves; else a round trip ends. One RTT in each round trip would be too few to
 * tell a queue from a delay that varies: the smallest of some is needed. Between two ends of round
 * trips only the buffer of a test or a hold is set.
 */
static __always_inline void on_sending(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				       struct tcp_sock *tp, bool segment)
{
	struct rightsize_ack ack = { .now_us = tp->tcp_mstamp, .rtt_us = tp->srtt_us >> 3 };
	struct tcptuned_totals *t;
	__u32 was = flow->snd.window, did;

	if (segment && ack.now_us - flow->snd.seen_us < ACK_TICK_US)
		return;
	t = totals_here();
	count_delivered(flow, tp);
	if (!t || (flow->flags & TCPTUNED_F_SNDBUF_APP) || kernel_device_encrypts(tp))
		return;
	ack.clock_us = bpf_ktime_get_tai_ns() / 1000;
	ack.bytes = flow->snd_bytes;
	ack.sample_us = tp->rack.rtt_us;
	ack.min = LEAST_WINDOW * tp->mss_cache;
	ack.offered = is_recovering(tp) ? RIGHTSIZE_WINDOW_MAX : 0;
	/* Of a connection with data both ways, segments are not seen: silences are not, either. */
	if (!segment && !mostly_sends(ctx))
		flow->snd.seen_us = ack.now_us;
	if (!may_hold_sender(flow, tp))
		ack.sample_us = 0;
	did = decide(&flow->snd, &ack, true);
	if (did & ROUND_ENDED) {
		count_more(t, TCPTUNED_C_SND_ROUNDS, 1);
		count_in(t, TCPTUNED_H_SRTT, ack.rtt_us);
		count_in(t, TCPTUNED_H_CWND, tp->snd_cwnd);
	}
	if (segment && !DECIDED(did))
		return;
	flow->snd_reason = flow->snd.reason;
	if (DECIDED(did)) {
		flow->snd_grows += DECIDED(did) == TCPTUNED_EV_RCV_GROWN;
		flow->snd_shrinks += DECIDED(did) != TCPTUNED_EV_RCV_GROWN;
		event(DECIDED(did) + SENDS, tp, flow, was, flow->snd.window);
	}
	if (flow->flags & TCPTUNED_F_OBSERVE)
		return;
	choose_congestion_control(ctx, flow, tp);
	set_send_buffer(ctx, flow, tp);
	if (set_unsent(ctx, tp, flow))
		count(TCPTUNED_C_SND_FAILED);
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

/* ---- the callbacks ------------------------------------------------------------------ */

/*
 * A segment leaves, or a round trip ends. Returns whether the connection is to be claimed. Like the
 * other handlers this is a function of its own, which the verifier walks once, and whose stack is
 * gone when claim_connection() needs its own.
 */
verified_once int on_traffic(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	bool segment = ctx->op == BPF_SOCK_OPS_HDR_OPT_LEN_CB;
	struct tcptuned_flow *flow;

	if (!tp)
		return 0;
	flow = flow_of(sk);
	/* A request that was intercepted once the connection was established made a record, too. */
	if (!flow || !(flow->flags & TCPTUNED_F_CLAIMED))
		return ctx->state != TCP_STATE_CLOSE && is_long(ctx, tp);
	if (segment && !(ctx->skb_len && mostly_sends(ctx))) {
		on_ack_out(ctx, flow, tp);
		return 0;
	}
	if (!segment)
		call_again(ctx, flow);
	on_sending(ctx, flow, tp, segment);
	return 0;
}

/* The socket changes its state, or a callback comes that another program asked for. */
verified_once int on_state_change(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	struct tcptuned_flow *flow;
	__u32 op = ctx->op;

	if (!tp)
		return 0;
	if (op == BPF_SOCK_OPS_TCP_CONNECT_CB) {
		on_connect(ctx, sk, tp);
		return 0;
	}
	flow = flow_of(sk);
	if (!flow)
		return 0;
	if (op == BPF_SOCK_OPS_TCP_LISTEN_CB) {
		end_untold(flow);
		settle_listener(ctx, flow, (struct sock *)tp);
		return 0;
	}
	/*
	 * Nothing is written before this on STATE_CB: a child whose set-up fails is closed without
	 * its lock, and may have the callback from its listener (CVE-2026-74268: 4.16 to 7.1).
	 */
	if (!(flow->flags & TCPTUNED_F_CLAIMED))
		return 0;
	if (op == BPF_SOCK_OPS_STATE_CB && ctx->args[1] == TCP_STATE_CLOSE)
		on_close(flow, tp);
	else
		call_again(ctx, flow);
	return 0;
}

SEC("sockops")
int tcptuned_sockops(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB: /* for each segment */
		/* A sender has two for each segment: this one is only to know the MSS. */
		if (ctx->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS)
			break;
		/* fall through */
	case BPF_SOCK_OPS_RTT_CB: /* for each ACK of new data */
		if (on_traffic(ctx))
			claim_connection(ctx);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (on_established(ctx))
			claim_connection(ctx);
		break;
	case BPF_SOCK_OPS_RWND_INIT:
		first_window(ctx);
		break;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
	case BPF_SOCK_OPS_STATE_CB:
	case BPF_SOCK_OPS_RETRANS_CB:
	case BPF_SOCK_OPS_RTO_CB:
		on_state_change(ctx);
		break;
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
	uncount_record();
	return 0;
}

char _license[] SEC("license") = "GPL";
