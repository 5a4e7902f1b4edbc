/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between an engine and a congestion control. The engine is the kernel (through
 * bpf/cc/engine.h), a simulator or a test. bitcp.h is one congestion control, bench/cc has
 * others. No globals, no libc, no kernel call: it compiles as BPF, C and C++.
 *
 * The engine keeps cwnd and ssthresh in packets (MSS-sized segments) and calls
 *
 *   init       once, with the present window
 *   on_rtt     for each RTT sample (Vegas only), but not during loss recovery, when the sample of a
 *              retransmitted segment may be too small
 *   on_ack     for each ACK of new data outside fast recovery
 *   ssthresh   at a loss: on entering fast recovery, at a timeout outside of it, at an ECN mark.
 *              Its argument is the window in use (congestion_window_in_use()). It returns the new
 *              ssthresh, to which the engine reduces cwnd. After a timeout the engine begins with a
 *              window of its own, and slow start ends at that ssthresh.
 *   undo       when the loss was spurious; it returns cwnd, and the engine restores ssthresh
 *
 * If cwnd differs from the one returned last, the engine has set it (rate reduction, restart after
 * idle, clamp), and what has been counted towards the next packet is discarded.
 */
#pragma once

#include <linux/types.h>

#define congestion_fn static inline __attribute__((always_inline))

/* RFC 6928: the initial window, in packets. */
#define CONGESTION_INITIAL_WINDOW 10u

/* One ACK. The congestion control changes cwnd and ssthresh. */
struct congestion_ack {
	__u32 cwnd;
	__u32 ssthresh;
	__u32 acked;   /* packets newly acknowledged */
	__u32 limited; /* 0: the sender does not use its window, which does not grow then */
	__u32 una;     /* sequence number of what is acknowledged now, in bytes or packets */
	__u32 nxt;     /* ... of what is sent next */
};

/*
 * The part of @cwnd that was in use when a loss happened. While the peer's window or the
 * application is the limit, slow start lets cwnd grow to twice what is sent, and what beta leaves
 * of that may still exceed the path (RFC 5681, 3.1: FlightSize, not cwnd). In slow start @limited
 * is ignored, since it describes a round trip in which cwnd has doubled. An initial window counts
 * as used, as in the kernel's tcp_cwnd_application_limited(), so that a sender of little keeps it.
 *
 * @packets_out: in flight now; 0: a segment was dropped before it left the host
 * @max_out: the maximum in the last round trip, in which cwnd was the limit if @limited
 */
congestion_fn __u32 congestion_window_in_use(__u32 cwnd, __u32 ssthresh, __u32 packets_out,
					     __u32 max_out, __u32 limited)
{
	__u32 used = packets_out > max_out ? packets_out : max_out;

	if (used < CONGESTION_INITIAL_WINDOW)
		used = CONGESTION_INITIAL_WINDOW;
	if (!packets_out || (limited && cwnd >= ssthresh) || used >= cwnd)
		return cwnd;
	return used;
}
