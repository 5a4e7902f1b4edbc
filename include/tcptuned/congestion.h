/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the congestion controls of the family have in common: reno.h, aimd.h, stcp.h, hstcp.h,
 * vegas.h. bitcp.h, which they are compared with, stands alone; family.h puts all six behind
 * one table. No globals, no libc, no kernel call: it compiles as BPF, C and C++.
 *
 * An engine (the kernel by way of bpf/congestion.h, a simulator, a test) keeps cwnd and
 * ssthresh in packets (MSS-sized segments) and calls
 *
 *   init       once, with the window as it is
 *   on_rtt     for each measured round-trip time (Vegas only), but not while losses are repaired:
 *              what is measured of a segment that was sent twice may be too short
 *   on_ack     for each ACK of new data outside fast recovery
 *   ssthresh   at a loss: entering fast recovery, at a timeout outside of it, at an ECN mark; it
 *              is called with the window in use (congestion_window_in_use()) and returns the
 *              new ssthresh, to which the engine brings cwnd. After a timeout the engine begins
 *              with a window of its own, and slow start ends at that ssthresh.
 *   undo       when that loss was none; it returns cwnd, and ssthresh is put back by the engine
 *
 * A cwnd that differs from the one returned last was set by the engine (rate reduction, restart
 * after idle, clamp), and what had been counted towards the next packet is void.
 */
#ifndef TCPTUNED_CONGESTION_H
#define TCPTUNED_CONGESTION_H

#include <linux/types.h>

#define congestion_fn static inline __attribute__((always_inline))

/* TCP's largest window is 2^30 bytes, so no window in packets can pass that. */
#define CONGESTION_MAX_CWND 0x40000000u
/* RFC 5681, equation (4): the least ssthresh. */
#define CONGESTION_MIN_SSTHRESH 2u
/* RFC 6928: the initial window, in packets. */
#define CONGESTION_INITIAL_WINDOW 10u
/* More than that in one ACK counts as that: no path delivers it, and it bounds the arithmetic. */
#define CONGESTION_MOST_ACKED 65536u

/* num/den packets per RTT, with 16 binary places; a share of the window, with 32. */
#define CONGESTION_PACKETS(num, den) ((((__u64)(num) << 16) + (den) / 2) / (den))
#define CONGESTION_SHARE(num, den)   ((__u32)((((__u64)(num) << 32) + (den) / 2) / (den)))

/* One ACK: what the engine says, and, in cwnd and ssthresh, what is to be. */
struct congestion_ack {
	__u32 cwnd;
	__u32 ssthresh;
	__u32 acked;   /* packets that it newly acknowledges */
	__u32 limited; /* not 0: the sender uses its window; one that is not used does not grow */
	__u32 una;     /* what is acknowledged now, and ... */
	__u32 nxt;     /* ... what will be sent next: sequence numbers, of bytes or packets */
};

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

/*
 * The window that a loss was met with: @cwnd, but not what of it has not been used. Slow start
 * lets it grow to twice what was sent while the peer's window or the application is the limit,
 * and what beta leaves of that may still be more than the path had (RFC 5681, 3.1: FlightSize,
 * not cwnd). There it is no use to ask whether cwnd was the limit: that stands for a round trip, in
 * which cwnd has doubled. As in the kernel's tcp_cwnd_application_limited(), an initial window
 * counts as used: who sends little is not to lose what any new connection has.
 *
 * @packets_out: in flight now; 0 where a segment is dropped before it has left the host.
 * @most_out: at most, in the round trip that has ended. @limited: cwnd was the limit in it.
 */
congestion_fn __u32 congestion_window_in_use(__u32 cwnd, __u32 ssthresh, __u32 packets_out,
					     __u32 most_out, __u32 limited)
{
	__u32 used = packets_out > most_out ? packets_out : most_out;

	if (used < CONGESTION_INITIAL_WINDOW)
		used = CONGESTION_INITIAL_WINDOW;
	if (!packets_out || (limited && cwnd >= ssthresh) || used >= cwnd)
		return cwnd;
	return used;
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

#endif /* TCPTUNED_CONGESTION_H */
