/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The receive window, adjusted when an ACK leaves. The kernel sizes the buffer; where right-sizing,
 * a slow reader, the budget or the policy allow less window, it is held by TCP_WINDOW_CLAMP.
 */
#ifndef TCPTUNED_BPF_RECEIVER_H
#define TCPTUNED_BPF_RECEIVER_H

#include "budget.h"
#include "events.h"
#include "rightsizing.h"
#include <tcptuned/algo/reader.h>

/*
 * The smallest window of a slow path. It holds what any sender begins with, so that it delays none,
 * and can be expressed in the scaled field (DRS III.C).
 */
static __always_inline __u32 min_window(struct tcp_sock *tp)
{
	__u32 min = MIN_WINDOW_SEGMENTS * tp->mss_cache, unit = sk_window_unit(tp);

	return min > 2 * unit ? min & ~(unit - 1) : 2 * unit;
}

/*
 * Sets the clamp; @limit 0: as the kernel would. The kernel moves it when it enlarges the buffer
 * (tcp_rcvbuf_grow()) or measures the memory of segments (tcp_measure_rcv_mss()), so it is checked
 * with each ACK. A window that has been advertised is kept (tcp_select_window()).
 */
static __always_inline void clamp_window(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					 struct tcp_sock *tp, __u32 limit)
{
	__u32 min = sk_min_clamp(tp);
	int value;

	if (!limit && !flow->rcv_clamp)
		return;
	value = limit ? limit : sk_window_from_space(tp, tp->inet_conn.icsk_inet.sk.sk_rcvbuf);
	if (value < (int)min)
		value = min;
	if (limit && flow->rcv_clamp && !rightsize_differs(tp->window_clamp, value))
		return;
	flow->rcv_clamp = limit ? value : 0;
	flow->flags |= TCPTUNED_F_RCV_TUNED;
	if (!limit)
		flow->flags &= ~TCPTUNED_F_RCV_TUNED;
	if (set_option(ctx, SOL_TCP, TCP_WINDOW_CLAMP, value)) {
		count(TCPTUNED_C_RCV_FAILED);
		emit_event(TCPTUNED_EV_RCV_FAILED, tp, flow, value, 0);
	}
}

/* The smaller of two limits, of which 0 is none. */
static __always_inline __u32 min_limit(__u32 a, __u32 b)
{
	return a - 1 < b - 1 ? a : b;
}

/*
 * Reduces @window to what the reader and the budget allow to be offered and @unread, @min at least,
 * and to what was earned; the flow's reason becomes that of the limit. An application that waits
 * for an amount leaves it unread on purpose: @least, twice that.
 */
__bpf_global __u32 reduce_window(struct tcptuned_flow *flow, __u32 window, __u32 unread,
				 __u32 least, __u32 min)
{
	__u32 limit, earned = 0, allowed = 0;
	bool is_budget;

	if (!flow)
		return window;
	if (flow->flags & TCPTUNED_F_RCV_UNEARNED)
		earned = flow->rcv_allowed;
	else
		allowed = flow->rcv_allowed;
	limit = min_limit(flow->reader.window, allowed);
	is_budget = limit != flow->reader.window;
	if (limit)
		limit = rightsize_offer(limit > least ? limit : least, unread, min);
	if (earned && earned < least)
		earned = least;
	if (window && window < least)
		window = least;
	if (min_limit(limit, window) != window) {
		window = limit;
		flow->rcv_reason = is_budget ? RIGHTSIZE_BUDGET : RIGHTSIZE_READER;
	}
	if (min_limit(earned, window) != window) {
		window = earned;
		flow->rcv_reason = RIGHTSIZE_EARNED;
	}
	return window;
}

/*
 * The window that the clamp should allow, the smallest of what right-sizing, the reader, the budget
 * and the policy say; 0: no limit. The flow's reason becomes that of the limit.
 *
 * During a reassembly gap only windows below the kernel's initial one are held: a sender that
 * repairs a loss needs up to twice what is in flight (DRS II), and an ACK with three SACK blocks
 * has no room for the option whose callback this is (bpf_skops_hdr_opt_len()).
 */
static __always_inline __u32 receive_limit(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	bool gap = tp->out_of_order_queue.rb_node && flow->rcv.window > INITIAL_WINDOW_BYTES;
	bool was_capped = flow->rcv_reason == RIGHTSIZE_CAPPED;
	__u32 window, limit;

	flow->rcv_reason = gap ? RIGHTSIZE_KERNEL : rightsize_reason(&flow->rcv);
	window = reduce_window(flow, gap ? 0 : flow->rcv.window, tp->rcv_nxt - tp->copied_seq,
			       2 * (__u32)tp->inet_conn.icsk_inet.sk.sk_rcvlowat,
			       2 * tp->mss_cache);
	/* By the buffer, not by the clamp, which follows from the result. */
	limit = sk_window_from_space(tp, tp->inet_conn.icsk_inet.sk.sk_rcvbuf);
	if (limit <= flow->rcv_window_max || window - 1 < flow->rcv_window_max)
		return window;
	window = flow->rcv_window_max;
	flow->rcv_reason = RIGHTSIZE_CAPPED;
	if (!was_capped)
		emit_event(TCPTUNED_EV_RCV_CAPPED, tp, flow, limit, window);
	return window;
}

/*
 * @want, but beyond what the kernel had by itself only what the connection has earned, bytes of
 * memory.
 */
static __always_inline __u32 earned_receive_space(const struct tcptuned_flow *flow,
						  const struct tcp_sock *tp, __u32 want)
{
	__u64 earned = sk_space_from_window(tp, rightsize_earned(&flow->rcv, sk_min_rtt_us(tp)));

	if (earned < flow->rcv_base)
		earned = flow->rcv_base;
	return want < earned ? want : earned;
}

/*
 * Sizes a buffer that the application had locked before tcptuned saw it, so that the kernel does
 * not: twice what a round trip carries, and as much again to grow. Where the budget has less than
 * the present buffer, the window is held to that.
 */
static __always_inline void size_locked_receiver(struct bpf_sock_ops *ctx,
						 struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_rcvbuf, allowed, window;
	__u64 want = sk_space_from_window(tp, flow->rcv.per_rtt) * 4;

	if (want > flow->rcv_buffer_max)
		want = flow->rcv_buffer_max;
	want = earned_receive_space(flow, tp, want);
	if (want <= have + have / 16)
		want = have;
	allowed = grant_memory(&flow->rcv_share, tp, flow->rcv_base, want, &flow->flags,
			       TCPTUNED_F_RCV_MEMORY_SHORT);
	if (want > allowed)
		want = allowed;
	flow->rcv_allowed = want < have ? sk_window_from_space(tp, want) : 0;
	flow->flags &= ~TCPTUNED_F_RCV_UNEARNED;
	if (want <= have)
		return;
	/* The kernel doubles it: sock_set_rcvbuf(). */
	if (set_option(ctx, SOL_SOCKET, SO_RCVBUF, want / 2)) {
		count(TCPTUNED_C_RCV_FAILED);
		return;
	}
	flow->flags |= TCPTUNED_F_RCV_LOCKED;
	window = sk_window_from_space(tp, want);
	if (window < sk_min_clamp(tp)) /* the ratio has fallen since that was offered */
		window = sk_min_clamp(tp);
	if (!flow->rcv_clamp)
		set_option(ctx, SOL_TCP, TCP_WINDOW_CLAMP, window);
}

/*
 * Charges the budget with what the kernel has given beyond tcp_rmem as it was before tcptuned
 * raised it. Where the budget has no more, the window and what is unread are held to what they
 * would have been. Where the connection has not earned more, the window alone is: the kernel
 * forgets a window that is taken back from a reader that pauses (tcp_set_window_clamp()), and has
 * it grow again by what arrives.
 */
static __always_inline void apply_receive_budget(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u32 have = sk->sk_rcvbuf, earned, want, allowed;

	flow->rcv_allowed = 0;
	flow->flags &= ~TCPTUNED_F_RCV_UNEARNED;
	if (have <= flow->rcv_base)
		return;
	earned = earned_receive_space(flow, tp, have);
	want = earned + sk->sk_backlog.rmem_alloc.counter; /* what is queued */
	if (want > have)
		want = have;
	allowed = grant_memory(&flow->rcv_share, tp, flow->rcv_base, want, &flow->flags,
			       TCPTUNED_F_RCV_MEMORY_SHORT);
	if (allowed == want && earned < have) {
		flow->flags |= TCPTUNED_F_RCV_UNEARNED;
		allowed = earned;
	}
	if (allowed < have)
		flow->rcv_allowed = sk_window_from_space(tp, allowed);
	if (allowed < want && !(flow->flags & TCPTUNED_F_RCV_UNEARNED)) {
		count(TCPTUNED_C_RCV_BUDGET);
		emit_event(TCPTUNED_EV_RCV_BUDGET, tp, flow, have, allowed);
	}
}

static __always_inline void end_receive_round(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					      struct tcp_sock *tp, const struct rightsize_ack *ack)
{
	struct tcptuned_totals *t = single_value(&totals);

	rightsize_weigh_reader(&flow->reader, ack, tp->copied_seq, tp->rcv_nxt - tp->copied_seq,
			       sk_offered_window(tp));
	if (t)
		add_count(t, TCPTUNED_C_RCV_CAPS, flow->rcv_reason == RIGHTSIZE_CAPPED);
	if (t && count_round(t, TCPTUNED_C_RCV_ROUNDS)) {
		if (tp->rcv_rtt_est.rtt_us >> 3)
			histogram_add(&t->histogram[TCPTUNED_H_RCV_RTT],
				      tp->rcv_rtt_est.rtt_us >> 3);
		histogram_add(&t->histogram[TCPTUNED_H_RCV_WINDOW], tp->rcv_wnd);
	}
	if ((flow->flags & TCPTUNED_F_OBSERVE) ||
	    tcptuned_request(flow, true) == REQUEST_APPLICATION)
		return;
	if (sk_buffer_locks(tp) & SOCK_RCVBUF_LOCK)
		size_locked_receiver(ctx, flow, tp);
	else
		apply_receive_budget(flow, tp);
}

/*
 * The window of a buffer that the application sizes, or of a connection without timestamps, is only
 * measured: as if no RTT exceeded the minimum, so that nothing is tested. Returns false if it is
 * too early to decide again.
 */
static __always_inline bool on_ack_out(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				       struct tcp_sock *tp)
{
	struct rightsize_ack ack = {.now_us = tp->tcp_mstamp};
	__u32 before = flow->rcv.window, did, limit;

	/* A clamp that the kernel moved, or that a gap ends, does not wait for the next tick. */
	if (ack.now_us - flow->rcv.seen_us < ACK_TICK_US &&
	    (!flow->rcv_clamp ||
	     (flow->rcv_clamp == tp->window_clamp && !tp->out_of_order_queue.rb_node)))
		return false;
	ack.clock_us = utc_us();
	ack.bytes = sk_highest_seen(tp);
	ack.rtt_us = sk_rcv_rtt_us(tp);
	ack.delay_us = sk_forward_delay_us(tp, false);
	if (!ack.delay_us || tcptuned_request(flow, true) == REQUEST_APPLICATION)
		ack.sample_us = flow->rcv.min_rtt_us ?: ack.rtt_us;
	else if (ack.bytes != flow->rcv.seen_bytes) /* or the timestamp is old: a request leaves */
		ack.sample_us = sk_rcv_rtt_sample_us(tp);
	ack.min = min_window(tp);
	ack.offered = tp->out_of_order_queue.rb_node ? RIGHTSIZE_WINDOW_MAX : sk_offered_window(tp);
	look_at_peer(&ack, &flow->rcv, tp, false);
	did = decide(&flow->rcv, &ack, false);
	if (did & ROUND_ENDED)
		end_receive_round(ctx, flow, tp, &ack);
	if (tcptuned_request(flow, true) == REQUEST_APPLICATION)
		return true;
	if (DECIDED(did)) {
		flow->rcv_grows += DECIDED(did) == TCPTUNED_EV_RCV_GROWN;
		flow->rcv_shrinks += DECIDED(did) != TCPTUNED_EV_RCV_GROWN;
		emit_event(DECIDED(did), tp, flow, before, flow->rcv.window);
	}
	limit = receive_limit(flow, tp);
	if (!(flow->flags & TCPTUNED_F_OBSERVE))
		clamp_window(ctx, flow, tp, limit);
	return true;
}

#endif
