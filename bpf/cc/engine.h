/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A congestion control as BPF struct_ops: the socket is read, the algorithm called, the result
 * written. A .bpf.c file that includes this defines ca_init(), applies CONGESTION_CONTROL_ACK() and
 * _LOSS() to the functions of its algorithm, and registers CONGESTION_CONTROL_CALLS.
 *
 * There is no set_state: the algorithm notices a window that was set from outside (rate reduction,
 * a pause, the clamp) by comparing it with the one that it left.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "../maps.h"
#include "../sock.h"
#include "tcptuned/algo/congestion.h"

char LICENSE[] SEC("license") = "GPL";

/* Available to unprivileged processes and in every network namespace. */
#define TCP_CONG_NON_RESTRICTED 0x1

static __always_inline void *state_of(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_ca_priv;
}

/* tcp_is_cwnd_limited(). A window that is not used says nothing about the path. */
static __always_inline int cwnd_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static __always_inline __u32 window_in_use(struct tcp_sock *tp)
{
	return congestion_window_in_use(tp->snd_cwnd, tp->snd_ssthresh, tp->packets_out,
					tp->max_packets_out,
					BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited));
}

/* An undone reduction also restores what was not in use (tcp_reno_undo_cwnd()). */
static __always_inline __u32 window_before_loss(struct tcp_sock *tp, __u32 cwnd)
{
	return cwnd > tp->prior_cwnd ? cwnd : tp->prior_cwnd;
}

/*
 * Pacing after a loss. If most of the peer's window is in flight, there is no room for more until
 * the gap is repaired. The sender stands still for a round trip, and the ACK that then arrives
 * releases a whole window at once, of which the queue drops what it cannot hold: the next loss. So
 * TCP itself paces from such a loss until two round trips after its repair, at the kernel's rate of
 * 120 % of cwnd per srtt (tcp_update_pacing_rate()), which spreads the burst over one of them.
 * After that it does not, since a timer costs more than an ACK, and a reply should not wait; a slow
 * start that goes on is paced until it ends.
 *
 * sch_fq, a limit (SO_MAX_PACING_RATE) and a previous congestion control set the status themselves,
 * and it is left to them, except after BBR (follow_bbr()).
 */
#define PACED_ROUNDS 2u

/* Atomic, since sch_fq sets it without the socket's lock. Returns 1 if the status was @from. */
static __always_inline int swap_pacing(struct sock *sk, __u32 from, __u32 to)
{
	return __sync_val_compare_and_swap(&sk->sk_pacing_status, from, to) == from;
}

/*
 * True if the peer's window has no room for the @ssthresh segments or so that will be sent in the
 * round trip of the repair. After the first slow start it has, but then the queue is full.
 */
static __always_inline int will_stand_still(struct tcp_sock *tp, __u32 ssthresh)
{
	__u32 flight = tp->snd_nxt - tp->snd_una;

	return tp->snd_cwnd < tp->snd_ssthresh ||
	       flight + (__u64)ssthresh * tp->mss_cache > tp->snd_wnd;
}

/* Paces @rounds round trips from now on. Returns 0 if that is not this program's to decide. */
static __always_inline int pace(struct sock *sk, __u32 rounds)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct resume *r = resume_of(tp);

	if (!r->paced && (tp->srtt_us >> 3 < PACED_RTT_MIN_US ||
			  !swap_pacing(sk, SK_PACING_NONE, SK_PACING_NEEDED)))
		return 0;
	r->paced = rounds;
	r->end = tp->snd_nxt;
	return 1;
}

static __always_inline void pace_after_loss(struct sock *sk, __u32 ssthresh)
{
	if (will_stand_still((struct tcp_sock *)sk, ssthresh))
		pace(sk, 1 + PACED_ROUNDS);
}

static __always_inline void stop_pacing(struct sock *sk)
{
	struct resume *r = resume_of((struct tcp_sock *)sk);

	if (!r->paced)
		return;
	r->paced = 0;
	if (sk->sk_max_pacing_rate == ~0ul)
		swap_pacing(sk, SK_PACING_NEEDED, SK_PACING_NONE);
}

/* Called for each ACK outside a recovery. */
static __always_inline void pace_on_ack(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct resume *r = resume_of(tp);

	if (!r->paced || r->state >= RESUME_UNVALIDATED || (__s32)(tp->snd_una - r->end) < 0)
		return;
	if (r->paced == 1) {
		/*
		 * ACKs of what was paced come as a longer train than HyStart would accept of an
		 * unpaced slow start (hystart_update()): it would end with the next round trip.
		 */
		if (tp->snd_cwnd < tp->snd_ssthresh && cwnd_limited(tp))
			return;
		/* A segment that leaves before its time stamp would measure too short an RTT. */
		if (tp->tcp_wstamp_ns <= tp->tcp_clock_cache)
			stop_pacing(sk);
		return;
	}
	r->paced--;
	r->end = tp->snd_nxt;
}

/* ---- the window after a pause (tcptuned/algo/resume.h) --------------------------------- */

/* A pause ends. @cwnd: the window before it. */
static __always_inline void after_pause(struct tcp_sock *tp, __u32 cwnd)
{
	__u64 pause_us = bpf_ktime_get_ns() / 1000 - tp->delivered_mstamp;

	resume_after_pause(resume_of(tp), pause_us / 1000000, cwnd, sk_pipe(tp));
}

/*
 * The first segment after a pause. What is to follow it until the first ACK leaves at 120 % of the
 * window per RTT, as the kernel has it then (tcp_update_pacing_rate()), and at 200 packets per RTT
 * at least: the ten that slow start would send at once are not much later.
 */
#define PACED_PER_RTT_MIN 200u

static __always_inline void begin_after_pause(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 window = resume_begin(resume_of(tp), tp->snd_cwnd, tp->snd_nxt, tp->delivered);
	__u64 per_rtt = window + window / 5, rate;

	tp->snd_cwnd = window < tp->snd_cwnd_clamp ? window : tp->snd_cwnd_clamp;
	if (!pace(sk, 1))
		return;
	if (per_rtt < PACED_PER_RTT_MIN)
		per_rtt = PACED_PER_RTT_MIN;
	rate = per_rtt * tp->mss_cache * 1000000 / (tp->srtt_us >> 3);
	sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
}

/*
 * A loss. Returns the packets that the path has carried of a window that is not validated, or 0. If
 * the loss was spurious, its undo restores all of that window, which still has to be paced then.
 */
static __always_inline __u32 retreat(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 carried = resume_retreat(resume_of(tp), tp->delivered);

	if (carried && resume_of(tp)->paced)
		pace(sk, 1 + PACED_ROUNDS);
	return carried;
}

/*
 * The window of which a loss leaves a share: what is in use, but of one that is not validated what
 * the path has carried.
 */
static __always_inline __u32 window_at_loss(struct tcp_sock *tp)
{
	__u32 carried = retreat((struct sock *)tp);

	if (!carried)
		return window_in_use(tp);
	return carried < tp->snd_cwnd ? carried : tp->snd_cwnd;
}

/* A jump is validated, or its loss was none: slow start has no end, as before (jump()). */
static __always_inline void restore_slow_start(struct tcp_sock *tp)
{
	struct resume *r = resume_of(tp);

	if (r->finite)
		tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	r->finite = 0;
}

/* Another congestion control gets of a window that is not acknowledged what is in flight. */
static __always_inline void abandon_window(struct tcp_sock *tp)
{
	struct resume *r = resume_of(tp);
	__u32 left = tp->packets_out > r->restart ? tp->packets_out : r->restart;

	if (r->state != RESUME_UNVALIDATED)
		return;
	restore_slow_start(tp);
	if (tp->snd_cwnd > left)
		tp->snd_cwnd = left;
}

static __always_inline void on_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct resume *r = resume_of(tp);

	resume_expire(r, tp->tcp_mstamp);
	if (event == CA_EVENT_TX_START && r->state == RESUME_READY)
		begin_after_pause(sk);
	if (event != CA_EVENT_CWND_RESTART)
		return;
	switch (r->state) {
	case RESUME_UNVALIDATED: /* before anything of its window was acknowledged */
		restore_slow_start(tp);
		resume_ready(r, 0);
		break;
	case RESUME_READY: /* again before a segment left: the first one found the window */
	case RESUME_KNOWN:
		break;
	default:
		after_pause(tp, tp->snd_cwnd);
	}
}

/* ---- the window on a known path -------------------------------------------------------- */

/* Takes what the path memory has left for this connection (bpf/paths.h), if anything. */
static __always_inline bool expect_jump(struct sock *sk, struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, sk, NULL, 0);

	if (!flow || !flow->jump_seed || !tp->mss_cache)
		return false;
	resume_known(resume_of(tp), TCPTUNED_JUMP_UNIT * flow->jump_seed / tp->mss_cache,
		     tp->tcp_mstamp);
	flow->jump_seed = 0;
	return true;
}

/*
 * The jump is sent at 120 % of itself per RTT, as the kernel has it where ssthresh is no larger
 * than cwnd (tcp_update_pacing_rate()).
 */
static __always_inline void jump(struct sock *sk, struct congestion_ack *ack)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct resume *r = resume_of(tp);

	if (!resume_may_jump(r, ack, tp->write_seq == tp->snd_nxt ? 0 : tp->delivered,
			     tp->rack.rtt_us, sk_min_rtt_us(tp), tp->tcp_mstamp))
		return;
	if (!pace(sk, 1) && sk->sk_pacing_status == SK_PACING_NONE) {
		r->state = RESUME_NORMAL;
		r->jumps = 0;
		return;
	}
	ack->cwnd = resume_begin(r, ack->cwnd, ack->nxt, tp->delivered);
	if (ack->cwnd > tp->snd_cwnd_clamp)
		ack->cwnd = tp->snd_cwnd_clamp;
	r->finite = ack->ssthresh >= TCP_INFINITE_SSTHRESH;
	if (r->finite)
		ack->ssthresh = ack->cwnd;
}

static __always_inline void read_ack(struct tcp_sock *tp, __u32 una, __u32 acked,
				     struct congestion_ack *ret)
{
	ret->cwnd = tp->snd_cwnd;
	ret->ssthresh = tp->snd_ssthresh;
	ret->acked = acked;
	ret->limited = !!cwnd_limited(tp);
	ret->una = una;
	ret->nxt = tp->snd_nxt;
}

/*
 * An ACK. Sets the window from which the congestion control goes on; outside of a validation that
 * is the present one. False: it has to wait, as nothing that was sent with the window is
 * acknowledged yet.
 */
static __always_inline bool validate(struct sock *sk, struct congestion_ack *ack)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct resume *r = resume_of(tp);
	bool waited = r->state == RESUME_UNVALIDATED;

	jump(sk, ack);
	ack->cwnd = resume_on_ack(r, ack, tp->packets_out - tp->sacked_out);
	pace_on_ack(sk);
	if (r->state == RESUME_UNVALIDATED)
		return false;
	if (waited) {
		restore_slow_start(tp);
		ack->ssthresh = tp->snd_ssthresh;
	}
	return true;
}

static __always_inline void write_window(struct tcp_sock *tp, const struct congestion_ack *ack)
{
	tp->snd_cwnd = ack->cwnd < tp->snd_cwnd_clamp ? ack->cwnd : tp->snd_cwnd_clamp;
	if (ack->ssthresh != tp->snd_ssthresh)
		tp->snd_ssthresh = ack->ssthresh;
}

/* A loss, the undoing of one that was spurious, and the end of the connection. */
#define CONGESTION_CONTROL_LOSS(SSTHRESH, UNDO)                \
	SEC("struct_ops/ca_ssthresh")                          \
	__u32 BPF_PROG(ca_ssthresh, struct sock *sk)           \
	{                                                      \
		struct tcp_sock *tp = (struct tcp_sock *)sk;   \
		__u32 cwnd = window_at_loss(tp);               \
		__u32 ssthresh = SSTHRESH(state_of(tp), cwnd); \
                                                               \
		pace_after_loss(sk, ssthresh);                 \
		return ssthresh;                               \
	}                                                      \
                                                               \
	SEC("struct_ops/ca_undo_cwnd")                         \
	__u32 BPF_PROG(ca_undo_cwnd, struct sock *sk)          \
	{                                                      \
		struct tcp_sock *tp = (struct tcp_sock *)sk;   \
		__u32 cwnd = UNDO(state_of(tp), tp->snd_cwnd); \
                                                               \
		restore_slow_start(tp);                        \
		return window_before_loss(tp, cwnd);           \
	}                                                      \
                                                               \
	SEC("struct_ops/ca_release")                           \
	void BPF_PROG(ca_release, struct sock *sk)             \
	{                                                      \
		abandon_window((struct tcp_sock *)sk);         \
		stop_pacing(sk);                               \
	}

/* An ACK. */
#define CONGESTION_CONTROL_ACK(ON_ACK)                                        \
	SEC("struct_ops/ca_cong_avoid")                                       \
	void BPF_PROG(ca_cong_avoid, struct sock *sk, __u32 una, __u32 acked) \
	{                                                                     \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                  \
		struct congestion_ack ack;                                    \
                                                                              \
		read_ack(tp, una, acked, &ack);                               \
		if (validate(sk, &ack))                                       \
			ON_ACK(state_of(tp), &ack);                           \
		write_window(tp, &ack);                                       \
	}

#define CONGESTION_CONTROL_CALLS                                            \
	.init = (void *)ca_init, .cong_avoid = (void *)ca_cong_avoid,       \
	.ssthresh = (void *)ca_ssthresh, .undo_cwnd = (void *)ca_undo_cwnd, \
	.release = (void *)ca_release, .flags = TCP_CONG_NON_RESTRICTED
