/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the comparison congestion controls have in common: reno.h, aimd.h, stcp.h, hstcp.h, vegas.h.
 * When an engine calls them is in tcptuned/algo/congestion.h. They compile as BPF, C and C++.
 */
#pragma once

#include "tcptuned/algo/congestion.h"

/* TCP's largest window is 2^30 bytes, so no window in packets can pass that. */
#define CONGESTION_MAX_CWND 0x40000000u
/* RFC 5681, equation (4): the least ssthresh. */
#define CONGESTION_MIN_SSTHRESH 2u
/* More than that in one ACK counts as that: no path delivers it, and it bounds the arithmetic. */
#define CONGESTION_MOST_ACKED 65536u

/* num/den packets per RTT, with 16 binary places; a share of the window, with 32. */
#define CONGESTION_PACKETS(num, den) ((((__u64)(num) << 16) + (den) / 2) / (den))
#define CONGESTION_SHARE(num, den)   ((__u32)((((__u64)(num) << 32) + (den) / 2) / (den)))

/* One connection of a congestion control that knows losses only. */
struct congestion {
	__u64 credit;	 /* towards the next packet: growth per RTT * packets acked, Q16 */
	__u32 cwnd;	 /* as returned last */
	__u32 undo_cwnd; /* before the last reduction; 0: nothing to undo */
};

congestion_fn void congestion_init(struct congestion *st, __u32 cwnd)
{
	st->credit = 0;
	st->cwnd = cwnd;
	st->undo_cwnd = 0;
}

/* Takes note of a cwnd that the engine has set. Returns 1 if it has, else 0. */
congestion_fn int congestion_cwnd_changed(struct congestion *st, __u32 cwnd)
{
	if (cwnd == st->cwnd)
		return 0;
	st->cwnd = cwnd;
	st->credit = 0;
	return 1;
}

/*
 * Below ssthresh: a packet for each one acknowledged (RFC 5681 with the byte counting of RFC
 * 3465 without its limit L, as the kernel's tcp_slow_start() does). Returns how many of them
 * are left for congestion avoidance, at most a window.
 */
congestion_fn __u32 congestion_slow_start(struct congestion *st, struct congestion_ack *ack)
{
	__u32 left = ack->acked, top, grown;

	congestion_cwnd_changed(st, ack->cwnd);
	if (!ack->limited || !ack->cwnd || ack->cwnd >= CONGESTION_MAX_CWND)
		return 0;
	if (ack->cwnd < ack->ssthresh) {
		top = ack->ssthresh < CONGESTION_MAX_CWND ? ack->ssthresh : CONGESTION_MAX_CWND;
		grown = left < top - ack->cwnd ? left : top - ack->cwnd;
		ack->cwnd += grown;
		st->cwnd = ack->cwnd;
		left -= grown;
	}
	if (left > CONGESTION_MOST_ACKED)
		left = CONGESTION_MOST_ACKED;
	return left < ack->cwnd ? left : ack->cwnd;
}

/*
 * The window grows by @increase packets (Q16, at most 2^24 packets) per window of packets
 * acknowledged, in whole packets: what is short of one is kept for the next ACK. Delayed ACKs
 * thus make no difference. With an increase of 1 it is the kernel's tcp_cong_avoid_ai().
 */
congestion_fn void congestion_avoid(struct congestion *st, struct congestion_ack *ack,
				    __u64 increase, __u32 acked)
{
	__u64 window = (__u64)ack->cwnd << 16, cwnd;

	if (!acked)
		return;
	st->credit += increase * acked;
	if (st->credit < window)
		return;
	cwnd = ack->cwnd + st->credit / window;
	st->credit %= window;
	ack->cwnd = cwnd < CONGESTION_MAX_CWND ? (__u32)cwnd : CONGESTION_MAX_CWND;
	st->cwnd = ack->cwnd;
}

/* The ssthresh after a loss at which @share of the window, times 2^32, is given up. */
congestion_fn __u32 congestion_reduce(struct congestion *st, __u32 cwnd, __u32 share)
{
	__u32 left = (__u32)((((__u64)cwnd << 32) - (__u64)cwnd * share) >> 32);

	st->undo_cwnd = cwnd;
	st->credit = 0;
	st->cwnd = left > CONGESTION_MIN_SSTHRESH ? left : CONGESTION_MIN_SSTHRESH;
	return st->cwnd;
}

/* The cwnd to return to, not below the one given: it may have grown past the old one since. */
congestion_fn __u32 congestion_undo(struct congestion *st, __u32 cwnd)
{
	if (st->undo_cwnd > cwnd)
		cwnd = st->undo_cwnd;
	st->undo_cwnd = 0;
	congestion_cwnd_changed(st, cwnd);
	return cwnd;
}
