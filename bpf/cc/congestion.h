/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a struct_ops congestion control takes: the socket is read, the algorithm called, the result
 * written. A .bpf.c file that includes this has an init of its own, CONGESTION_CONTROL_ACK() and
 * _LOSS() on the functions of its algorithm, and CONGESTION_CONTROL_CALLS for the kernel.
 *
 * No cwnd_event, no set_state: the algorithm sees a window that was set from outside (rate
 * reduction, restart after idle, the clamp) by comparing it with the one that it left.
 */
#ifndef TCPTUNED_BPF_CONGESTION_H
#define TCPTUNED_BPF_CONGESTION_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "tcptuned/algo/congestion.h"

char LICENSE[] SEC("license") = "GPL";

/* Kernel types: just the fields in use, found by name when the program is loaded. */
struct sock {
	unsigned long sk_max_pacing_rate; /* bytes per second; all ones: none */
	__u32 sk_pacing_status;		  /* enum sk_pacing */
} __attribute__((preserve_access_index));

enum sk_pacing { SK_PACING_NONE, SK_PACING_NEEDED };

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

struct inet_connection_sock {
	__u8 icsk_ca_state : 5; /* enum tcp_ca_state */
	__u64 icsk_ca_priv[13];
} __attribute__((preserve_access_index));

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_nxt;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 mss_cache;
	__u32 packets_out;
	__u32 max_packets_out;
	__u32 prior_cwnd;
	__u32 snd_una;
	__u32 snd_wnd;
	__u32 srtt_us;	       /* times 8 */
	__u64 tcp_wstamp_ns;   /* when the next segment may leave, if paced, ... */
	__u64 tcp_clock_cache; /* ... and now */
	__u8 is_cwnd_limited : 1;
} __attribute__((preserve_access_index));

struct ack_sample {
	__s32 rtt_us; /* negative: not measured */
} __attribute__((preserve_access_index));

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	char name[16];
	__u32 flags;
};

/* Open to unprivileged processes and to every network namespace. */
#define TCP_CONG_NON_RESTRICTED 0x1

static __always_inline void *state_of(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_ca_priv;
}

/* The kernel's tcp_is_cwnd_limited(): a window that is not used says nothing about the path. */
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

/* A reduction undone is undone whole, also of what was not in use (tcp_reno_undo_cwnd()). */
static __always_inline __u32 window_before_loss(struct tcp_sock *tp, __u32 cwnd)
{
	return cwnd > tp->prior_cwnd ? cwnd : tp->prior_cwnd;
}

/*
 * No bursts after a loss. A peer's window of which most is in flight has no room for more until
 * the hole is repaired: the sender stands still for a round trip, and the ACK that then comes
 * lets a whole window go at once, of which the queue drops what it cannot hold. That is the next
 * loss. So TCP itself paces from such a loss until two round trips after its repair, at the rate
 * that the kernel keeps, 120 % of cwnd per srtt (tcp_update_pacing_rate()), which spreads the burst
 * over one of them. It is over then: a timer costs more than an ACK, and a reply is not to wait.
 *
 * sch_fq, a limit (SO_MAX_PACING_RATE) and another congestion control before this one have set
 * the status themselves, and keep it.
 */
#define PACED_ROUNDS	   2u
#define PACED_LEAST_RTT_US 1000u

/* The last 8 of the 104 bytes, behind the algorithm's state. */
struct paced {
	__u32 rounds; /* still to go, with the recovery; 0: this does not pace */
	__u32 end;    /* of this one: the sequence number to be acknowledged */
};

static __always_inline struct paced *paced_of(struct tcp_sock *tp)
{
	return (struct paced *)&tp->inet_conn.icsk_ca_priv[12];
}

/* sch_fq sets it without the socket's lock. Returns 1 if it was @from. */
static __always_inline int swap_pacing(struct sock *sk, __u32 from, __u32 to)
{
	return __sync_val_compare_and_swap(&sk->sk_pacing_status, from, to) == from;
}

/*
 * In the round trip of its repair some @ssthresh segments are to be sent: is there no room for them
 * in the peer's window? After the first slow start there is, but the queue is full then.
 */
static __always_inline int will_stand_still(struct tcp_sock *tp, __u32 ssthresh)
{
	__u32 flight = tp->snd_nxt - tp->snd_una;

	return tp->snd_cwnd < tp->snd_ssthresh ||
	       flight + (__u64)ssthresh * tp->mss_cache > tp->snd_wnd;
}

static __always_inline void pace_after_loss(struct sock *sk, __u32 ssthresh)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct paced *paced = paced_of(tp);

	if (!will_stand_still(tp, ssthresh))
		return;
	if (!paced->rounds && (tp->srtt_us >> 3 < PACED_LEAST_RTT_US ||
			       !swap_pacing(sk, SK_PACING_NONE, SK_PACING_NEEDED)))
		return;
	paced->rounds = 1 + PACED_ROUNDS;
	paced->end = tp->snd_nxt;
}

static __always_inline void stop_pacing(struct sock *sk)
{
	struct paced *paced = paced_of((struct tcp_sock *)sk);

	if (!paced->rounds)
		return;
	paced->rounds = 0;
	if (sk->sk_max_pacing_rate == ~0ul)
		swap_pacing(sk, SK_PACING_NEEDED, SK_PACING_NONE);
}

/* Each ACK that is not of a recovery. */
static __always_inline void pace_on_ack(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct paced *paced = paced_of(tp);

	if (!paced->rounds || (__s32)(tp->snd_una - paced->end) < 0)
		return;
	if (paced->rounds == 1) {
		/* What left before its time stamp would measure too short a round trip. */
		if (tp->tcp_wstamp_ns <= tp->tcp_clock_cache)
			stop_pacing(sk);
		return;
	}
	paced->rounds--;
	paced->end = tp->snd_nxt;
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

static __always_inline void write_window(struct tcp_sock *tp, const struct congestion_ack *ack)
{
	tp->snd_cwnd = ack->cwnd < tp->snd_cwnd_clamp ? ack->cwnd : tp->snd_cwnd_clamp;
	if (ack->ssthresh != tp->snd_ssthresh)
		tp->snd_ssthresh = ack->ssthresh;
}

/* What comes of a loss, of one that was none, and of the connection's end. */
#define CONGESTION_CONTROL_LOSS(SSTHRESH, UNDO)                                      \
	SEC("struct_ops/ca_ssthresh")                                                \
	__u32 BPF_PROG(ca_ssthresh, struct sock *sk)                                 \
	{                                                                            \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                         \
		__u32 cwnd = window_in_use(tp);                                      \
		__u32 ssthresh = SSTHRESH(state_of(tp), cwnd);                       \
                                                                                     \
		pace_after_loss(sk, ssthresh);                                       \
		return ssthresh;                                                     \
	}                                                                            \
                                                                                     \
	SEC("struct_ops/ca_undo_cwnd")                                               \
	__u32 BPF_PROG(ca_undo_cwnd, struct sock *sk)                                \
	{                                                                            \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                         \
		__u32 cwnd = UNDO(state_of(tp), tp->snd_cwnd);                       \
                                                                                     \
		return window_before_loss(tp, cwnd);                                 \
	}                                                                            \
                                                                                     \
	SEC("struct_ops/ca_release")                                                 \
	void BPF_PROG(ca_release, struct sock *sk)                                   \
	{                                                                            \
		stop_pacing(sk);                                                     \
	}

/* Each ACK, on the function ON_ACK. */
#define CONGESTION_CONTROL_ACK(ON_ACK)                                               \
	SEC("struct_ops/ca_cong_avoid")                                              \
	void BPF_PROG(ca_cong_avoid, struct sock *sk, __u32 una, __u32 acked)        \
	{                                                                            \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                         \
		struct congestion_ack ack;                                           \
                                                                                     \
		pace_on_ack(sk);                                                     \
		read_ack(tp, una, acked, &ack);                                      \
		ON_ACK(state_of(tp), &ack);                                          \
		write_window(tp, &ack);                                              \
	}

#define CONGESTION_CONTROL_CALLS                                                       \
	.init = (void *)ca_init, .cong_avoid = (void *)ca_cong_avoid,                  \
	.ssthresh = (void *)ca_ssthresh, .undo_cwnd = (void *)ca_undo_cwnd,            \
	.release = (void *)ca_release,                                                 \
	.flags = TCP_CONG_NON_RESTRICTED

#endif
