/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a struct_ops congestion control takes: the socket is read, the algorithm called, the
 * result written. A .bpf.c file that includes this and a header of the family
 * (tcptuned/congestion.h) is done with CONGESTION_CONTROL() and what the kernel is to call.
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
#include "tcptuned/congestion.h"

char LICENSE[] SEC("license") = "GPL";

/* Kernel types: just the fields in use, found by name when the program is loaded. */
struct sock;

struct inet_connection_sock {
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
	char name[16];
	__u32 flags;
};

/*
 * A build with TCPTUNED_TRACE tells each call and what came of it through the kernel's trace
 * pipe, for tests/system/replay.c to compare with the algorithm's header.
 */
#ifdef TCPTUNED_TRACE
#define trace(fmt, args...) bpf_printk("tcptuned " fmt, ##args)
#else
#define trace(fmt, args...)                                \
	do {                                               \
		if (0)                                     \
			bpf_printk("tcptuned " fmt, ##args); \
	} while (0)
#endif

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

/*
 * The window that a loss was met with: snd_cwnd, but not what of it has not been used. Slow start
 * lets it grow to twice what was sent while the peer's window or the application is the limit,
 * and what beta leaves of that may still be more than the path had (RFC 5681, 3.1: FlightSize,
 * not cwnd). There it is no use to ask whether cwnd was the limit: that stands for a round trip, in
 * which cwnd has doubled.
 */
static __always_inline __u32 window_in_use(struct tcp_sock *tp)
{
	int limited = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
	__u32 used = tp->packets_out;

	if (used < tp->max_packets_out)
		used = tp->max_packets_out;
	/* nothing is out where a segment is dropped before it has left the host */
	if (!tp->packets_out || (limited && tp->snd_cwnd >= tp->snd_ssthresh) ||
	    used >= tp->snd_cwnd)
		return tp->snd_cwnd;
	return used;
}

/* A reduction undone is undone whole, also of what was not in use (tcp_reno_undo_cwnd()). */
static __always_inline __u32 window_before_loss(struct tcp_sock *tp, __u32 cwnd)
{
	return cwnd > tp->prior_cwnd ? cwnd : tp->prior_cwnd;
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

/* What comes of a loss, and of one that was none. */
#define CONGESTION_CONTROL_LOSS(SSTHRESH, UNDO)                                      \
	SEC("struct_ops/ca_ssthresh")                                                \
	__u32 BPF_PROG(ca_ssthresh, struct sock *sk)                                 \
	{                                                                            \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                         \
		__u32 cwnd = window_in_use(tp);                                      \
		__u32 ssthresh = SSTHRESH(state_of(tp), cwnd);                       \
                                                                                     \
		trace("loss %u %u", cwnd, ssthresh);                                 \
		return ssthresh;                                                     \
	}                                                                            \
                                                                                     \
	SEC("struct_ops/ca_undo_cwnd")                                               \
	__u32 BPF_PROG(ca_undo_cwnd, struct sock *sk)                                \
	{                                                                            \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                         \
		__u32 cwnd = UNDO(state_of(tp), tp->snd_cwnd);                       \
                                                                                     \
		trace("undo %u %u", tp->snd_cwnd, cwnd);                             \
		return window_before_loss(tp, cwnd);                                 \
	}

/* The four calls that every congestion control takes, on the functions INIT ... UNDO. */
#define CONGESTION_CONTROL(INIT, ON_ACK, SSTHRESH, UNDO)                             \
	SEC("struct_ops/ca_init")                                                    \
	void BPF_PROG(ca_init, struct sock *sk)                                      \
	{                                                                            \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                         \
                                                                                     \
		INIT(state_of(tp), tp->snd_cwnd);                                    \
		trace("init %u", tp->snd_cwnd);                                      \
	}                                                                            \
                                                                                     \
	SEC("struct_ops/ca_cong_avoid")                                              \
	void BPF_PROG(ca_cong_avoid, struct sock *sk, __u32 una, __u32 acked)        \
	{                                                                            \
		struct tcp_sock *tp = (struct tcp_sock *)sk;                         \
		struct congestion_ack ack, was;                                      \
                                                                                     \
		read_ack(tp, una, acked, &ack);                                      \
		was = ack;                                                           \
		ON_ACK(state_of(tp), &ack);                                          \
		write_window(tp, &ack);                                              \
		trace("ack %u %u %u %u %u %u %u %u", was.cwnd, was.ssthresh, acked,  \
		      was.limited, una, was.nxt, ack.cwnd, ack.ssthresh);            \
	}                                                                            \
                                                                                     \
	CONGESTION_CONTROL_LOSS(SSTHRESH, UNDO)

#define CONGESTION_CONTROL_CALLS                                                       \
	.init = (void *)ca_init, .cong_avoid = (void *)ca_cong_avoid,                  \
	.ssthresh = (void *)ca_ssthresh, .undo_cwnd = (void *)ca_undo_cwnd,            \
	.flags = TCP_CONG_NON_RESTRICTED

#endif
