/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How an engine calls a congestion control, and what it hands over: the kernel by way of
 * bpf/cc/congestion.h, a simulator, a test. bitcp.h is one; bench/cc has those that it is compared
 * with. No globals, no libc, no kernel call: it compiles as BPF, C and C++.
 *
 * The engine keeps cwnd and ssthresh in packets (MSS-sized segments) and calls
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

/* RFC 6928: the initial window, in packets. */
#define CONGESTION_INITIAL_WINDOW 10u

/* One ACK: what the engine says, and, in cwnd and ssthresh, what is to be. */
struct congestion_ack {
	__u32 cwnd;
	__u32 ssthresh;
	__u32 acked;   /* packets that it newly acknowledges */
	__u32 limited; /* not 0: the sender uses its window; one that is not used does not grow */
	__u32 una;     /* what is acknowledged now, and ... */
	__u32 nxt;     /* ... what will be sent next: sequence numbers, of bytes or packets */
};

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

#endif /* TCPTUNED_CONGESTION_H */
