/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Is anybody else in the queue? Alone, the connections with a peer keep its bottleneck busy, and their data
 * arrives without a gap. Where it does not, the link carried others' packets meanwhile, or the application
 * paused. One connection sees gaps also where the data of its siblings comes, so they look together.
 */
#ifndef TCPTUNED_PEER_H
#define TCPTUNED_PEER_H

#include <tcptuned/algo/rightsize.h>

/* All connections with one peer, one direction. All zeroes: none yet. */
struct rightsize_peer {
	__u64 seen_us;	 /* when one of them carried data */
	__u32 mark;	 /* number of the present mark, as of the shortest interval */
	__u32 silent_us; /* longest time without data that ended since it */
	__u32 before_us; /* ... in the time before it */
};

/* Returns whether a queue may stand, so that silences matter. @rtt_us: smoothed. */
static inline int rightsize_minds_silence(const struct rightsize *rs, __u32 rtt_us)
{
	return rtt_us > RIGHTSIZE_EXCESS_MIN_US && rtt_us / 2 > rs->min_rtt_us;
}

/*
 * One of the connections carried data. Returns the longest time in which none did, us, since the mark before
 * the present one.
 */
static inline __u32 rightsize_peer_carried(struct rightsize_peer *peer, __u64 now_us,
					   __u64 clock_us)
{
	__u64 silent = now_us - peer->seen_us;
	__u32 mark = (__u32)(clock_us >> RIGHTSIZE_MARK_SHIFT);

	if (mark != peer->mark) {
		peer->mark = mark;
		peer->before_us = peer->silent_us;
		peer->silent_us = 0;
	}
	peer->seen_us = now_us;
	if (silent > RIGHTSIZE_RTT_MAX_US)
		silent = RIGHTSIZE_RTT_MAX_US;
	if (silent > peer->silent_us)
		peer->silent_us = (__u32)silent;
	return peer->silent_us > peer->before_us ? peer->silent_us : peer->before_us;
}

#endif
