/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the connections with a peer know together.
 *
 * Is anybody else in the queue? Alone, they keep their bottleneck busy, and their data arrives
 * without a gap. Where it does not, the link carried others' packets meanwhile, or the application
 * paused. One connection sees gaps also where the data of its siblings comes, so they look
 * together.
 *
 * How long is the path? A connection that begins in the queue of its siblings has never seen it
 * empty. Until it has made a test of its own, it borrows the minimum RTT of those that have, if
 * their RTTs are alike now: hosts behind one address have other paths. What is borrowed is not lent
 * on, so that it is forgotten with those that measured it.
 *
 * Who prepares a test, and who fills the queue and holds no window? The others join them.
 */
#ifndef TCPTUNED_PEER_H
#define TCPTUNED_PEER_H

#include <tcptuned/algo/rightsize.h>

/* What they saw between two marks. */
struct rightsize_seen {
	__u32 silent_us;  /* longest time without data that ended */
	__u32 min_rtt_us; /* smallest RTT known of the path; 0: none */
};

/* All connections with one peer, one direction. All zeroes: none yet. */
struct rightsize_peer {
	__u64 seen_us;	/* when one of them carried data */
	__u32 mark;	/* number of the present mark, as of the shortest interval */
	__u32 prepared; /* ... when one of them last prepared a test */
	__u32 unheld;	/* ... when one of them last had a queue and held no window */
	__u32 rtt_us;	/* smoothed RTT when a minimum was last lent */
	__u32 queue_us; /* ... and the delay by the queue, in the direction of the data */
	struct rightsize_seen now, before;
};

/* Returns whether a queue may stand, so that silences matter. @rtt_us: smoothed. */
static inline int rightsize_minds_silence(const struct rightsize *rs, __u32 rtt_us)
{
	return rtt_us > RIGHTSIZE_EXCESS_MIN_US && rtt_us / 2 > rs->min_rtt_us;
}

/*
 * Returns whether the connection is to look at its peer: while a queue may stand, and once a round
 * until its first test.
 */
static inline int rightsize_minds_peer(const struct rightsize *rs, const struct rightsize_ack *a)
{
	return rightsize_minds_silence(rs, a->rtt_us) || rs->state != RIGHTSIZE_FREE ||
	       (!rs->tests && a->rtt_us > RIGHTSIZE_EXCESS_MIN_US &&
		rightsize_round_is_over(rs, a));
}

/*
 * One of the connections carried data. Returns the longest time in which none did, us, since the
 * mark before the present one.
 */
static inline __u32 rightsize_peer_carried(struct rightsize_peer *peer, __u64 now_us,
					   __u64 clock_us)
{
	/* Another processor may have looked already, with a later time. */
	__u64 silent = now_us > peer->seen_us ? now_us - peer->seen_us : 0;
	__u32 mark = (__u32)(clock_us >> RIGHTSIZE_MARK_SHIFT);

	if (mark != peer->mark) {
		peer->mark = mark;
		peer->before = peer->now;
		peer->now.silent_us = peer->now.min_rtt_us = 0;
	}
	peer->seen_us = now_us;
	if (silent > RIGHTSIZE_RTT_MAX_US)
		silent = RIGHTSIZE_RTT_MAX_US;
	if (silent > peer->now.silent_us)
		peer->now.silent_us = (__u32)silent;
	return peer->now.silent_us > peer->before.silent_us ? peer->now.silent_us
							    : peer->before.silent_us;
}

static inline void rightsize_lend_minimum(struct rightsize_peer *peer, const struct rightsize *rs,
					  const struct rightsize_ack *a)
{
	if (rs->borrowed || !rs->min_rtt_us || !rs->min_delay_us || !a->delay_us ||
	    !rightsize_minds_silence(rs, a->rtt_us))
		return;
	if (!peer->now.min_rtt_us || rs->min_rtt_us < peer->now.min_rtt_us)
		peer->now.min_rtt_us = rs->min_rtt_us;
	peer->rtt_us = a->rtt_us;
	peer->queue_us = a->delay_us - rs->min_delay_us;
}

/*
 * Borrows one, and the one-way delay without the queue, from connections whose RTT differs by a
 * quarter at most.
 */
static inline void rightsize_borrow_minimum(const struct rightsize_peer *peer, struct rightsize *rs,
					    const struct rightsize_ack *a)
{
	__u32 known = peer->now.min_rtt_us, before = peer->before.min_rtt_us;

	if (before && (!known || before < known))
		known = before;
	if (rs->tests || !known || !a->delay_us || 5ull * known >= 4ull * rs->min_rtt_us ||
	    4ull * a->rtt_us < 3ull * peer->rtt_us || 4ull * a->rtt_us > 5ull * peer->rtt_us)
		return;
	rs->min_rtt_us = known;
	rs->min_delay_us = (a->delay_us - peer->queue_us) ?: 1;
	rs->borrowed = 1;
}

/* An ACK leaves or arrives, and the connection minds its peer. Sets @a->silent_us. */
static inline void rightsize_look_at_peer(struct rightsize_peer *peer, struct rightsize *rs,
					  struct rightsize_ack *a)
{
	rightsize_lend_minimum(peer, rs, a);
	rightsize_borrow_minimum(peer, rs, a);
	a->silent_us = rightsize_peer_carried(peer, a->now_us, a->clock_us);
	if (rs->state == RIGHTSIZE_PREPARING)
		peer->prepared = peer->mark;
	if (rs->state == RIGHTSIZE_FREE && rightsize_minds_silence(rs, a->rtt_us))
		peer->unheld = peer->mark;
	a->prepared = peer->prepared == peer->mark;
	a->unheld = peer->mark - peer->unheld <= 1;
}

#endif
