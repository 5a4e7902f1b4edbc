/* SPDX-License-Identifier: GPL-2.0-only */
/* The receive window, adjusted when an ACK leaves. */
#ifndef TCPTUNED_BPF_RECEIVER_H
#define TCPTUNED_BPF_RECEIVER_H

#include "budget.h"
#include "callbacks.h"
#include "events.h"
#include "kernel.h"
#include "rightsizing.h"
#include <tcptuned/algo/reader.h>

/*
 * The least window of a slow path: what any sender begins with, so that none is held back by
 * it; and the scaled field must be able to say it (DRS III.C).
 */
static __always_inline __u32 least_window(struct tcp_sock *tp)
{
	__u32 least = LEAST_WINDOW * tp->mss_cache, unit = kernel_window_unit(tp);

	return least > 2 * unit ? least & ~(unit - 1) : 2 * unit;
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

#endif
