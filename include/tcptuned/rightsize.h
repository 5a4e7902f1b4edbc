/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dynamic Right-Sizing: how large a window does one direction of a connection need?
 *
 * Fisk and Feng, "Dynamic Right-Sizing in TCP" (DRS below): the receiver measures the bytes
 * that arrive in a round-trip time, keeps the largest such measurement, and offers twice that
 * (sections III.A, III.B, IV, IV.A). The same arithmetic sizes the send buffer from the bytes
 * delivered per round trip (section III.B: sender and receiver "work their windows up in
 * harmony").
 *
 * Three things are added to the paper, each because it was measured on current Linux:
 *
 *  - Bytes are normalised to the *minimum* round-trip time. The paper uses the smoothed one
 *    (IV) and the minimum only when there is no other (IV.A). The smoothed time contains the
 *    queue that the window itself built, so that a window of 2 x bytes per smoothed RTT feeds
 *    on itself in a deep queue.
 *  - Growth room as in the kernel's tcp_rcvbuf_grow(): 2 x alone can double the window only
 *    every second round trip, since each measurement is one round trip late.
 *  - The minimum is taken over a sliding interval, so that a longer path is believed in the
 *    end. Before an old minimum is forgotten the window is held small for a few round trips
 *    (a "drain"), for else the flow's own queue would pass for a longer path.
 *
 * Pure: no globals, no kernel and no libc call, integers only. Times are microseconds,
 * amounts are bytes. Included by BPF programs, unit tests and simulations.
 */
#ifndef TCPTUNED_RIGHTSIZE_H
#define TCPTUNED_RIGHTSIZE_H

#include <linux/types.h>

/*
 * A shorter path is treated as one of this RTT. Below it, scheduling of the two applications
 * dominates what the path needs (Weigle and Feng, section 4.1), and a receiver's timestamps
 * tick in milliseconds (tcp_rcv_rtt_measure_ts()).
 */
#define RIGHTSIZE_RTT_FLOOR_US	1000u

/* The minimum RTT falls at once; it can rise at the end of one of these, after a drain. */
#define RIGHTSIZE_MIN_RTT_HALF_US 5000000u

/* An old minimum that current samples exceed by this many eighths calls for a drain. */
#define RIGHTSIZE_DRAIN_EIGHTHS	10u

/* Trains are looked for in this many parts of a round. */
#define RIGHTSIZE_TICKS		8u

/* A drain lasts this many (loaded) round trips: one for the queue to empty, two to measure. */
#define RIGHTSIZE_DRAIN_ROUNDS	3u

/* It ends early once a sample is within so many eighths of the old minimum: nothing changed. */
#define RIGHTSIZE_SAME_EIGHTHS	9u

/* 67 seconds and 1.1 Tbit/s: more is not believed, and the product stays below 2^64. */
#define RIGHTSIZE_RTT_MAX_US	(1u << 26)
#define RIGHTSIZE_RATE_MAX	(1ull << 37)

/* The largest window that TCP can express: RFC 7323, section 2.3. */
#define RIGHTSIZE_WINDOW_MAX	(1u << 30)

/* Why the window is what it is. */
enum rightsize_reason {
	RIGHTSIZE_UNMEASURED = 0, /* no full round trip yet, or no RTT known */
	RIGHTSIZE_FLOOR,	  /* the path needs less than the smallest window allowed */
	RIGHTSIZE_MEASURED,	  /* 2 x the largest bytes per minimum RTT (DRS III.B) */
	RIGHTSIZE_GROWING,	  /* the last round was the largest yet: with growth room */
	RIGHTSIZE_DRAINING,	  /* held small to measure the minimum RTT again */
	RIGHTSIZE_CAPPED,	  /* would be larger, but for the largest window allowed */
	RIGHTSIZE_BUDGET,	  /* ... but for its share of the memory budget (budget.h) */
	RIGHTSIZE_REASONS,
};

/* One direction of one connection. All zeroes is the state of a new one. */
struct rightsize {
	__u64 round_start_us;	/* when the measuring round began; 0: none yet */
	__u64 half_start_us;	/* when the running half of the min-RTT interval began */
	__u64 drain_end_us;	/* end of a drain; 0: not draining */
	__u64 rate_best;	/* largest rate kept, bytes per second */
	__u64 train_best;	/* largest rate within a round, bytes per second; 0: none seen */
	__u64 train_known;	/* train_best when the last round ended */
	__u64 tick_start_us;	/* when the running tick began, and ... */
	__u32 tick_bytes;	/* ... the byte counter then */
	__u32 round_bytes;	/* the byte counter when the round began */
	__u32 prev_bytes;	/* the round before: bytes ... */
	__u32 prev_us;		/* ... and duration; 0: none */
	__u32 rtt_now_us;	/* smallest RTT sample in the running half; 0: none */
	__u32 rtt_old_us;	/* smallest in the half before; 0: none */
	__u32 per_rtt;		/* last round's bytes per minimum RTT */
	__u32 per_rtt_peak;	/* largest single round's */
	__u32 window;		/* the window decided on, bytes */
	__u32 drains;		/* how often it drained */
	__u32 reason;		/* enum rightsize_reason */
};

/* What the direction may have: bytes of window, both inclusive, floor <= cap. */
struct rightsize_limits {
	__u32 floor;
	__u32 cap;
};

/* a * b / c with a 64-bit product; the caller keeps a * b below 2^64. 0 when c is 0. */
static inline __u64 rightsize_muldiv(__u64 a, __u64 b, __u64 c)
{
	return c ? a * b / c : 0;
}

/*
 * The minimum RTT of the sliding interval, at least RIGHTSIZE_RTT_FLOOR_US; 0 while none is
 * known.
 */
static inline __u32 rightsize_min_rtt_us(const struct rightsize *rs)
{
	__u32 rtt = rs->rtt_now_us;

	if (!rtt || (rs->rtt_old_us && rs->rtt_old_us < rtt))
		rtt = rs->rtt_old_us;
	if (!rtt)
		return 0;
	return rtt < RIGHTSIZE_RTT_FLOOR_US ? RIGHTSIZE_RTT_FLOOR_US : rtt;
}

/*
 * Is the running tick over? This is the whole of the common case on every ACK.
 * @rtt_us: as for rightsize_round_over()
 */
static inline int rightsize_tick_over(const struct rightsize *rs, __u64 now_us, __u32 rtt_us)
{
	if (rtt_us < RIGHTSIZE_RTT_FLOOR_US)
		rtt_us = RIGHTSIZE_RTT_FLOOR_US;
	return now_us - rs->tick_start_us >= rtt_us / RIGHTSIZE_TICKS;
}

/*
 * End the running tick. In slow start a flight arrives as a train of segments, spaced by the
 * bottleneck, and then there is a pause: the train's rate is the path's, long before the
 * bytes per RTT are. (DRS III.A warns of this very rate, for it says little about the
 * sender's window; here it bounds what a larger window could be good for.) A tick that took
 * twice its time contains the pause, or a train too short to be measured: it says nothing.
 */
static inline void rightsize_tick(struct rightsize *rs, __u64 now_us, __u32 bytes)
{
	__u64 elapsed = now_us - rs->tick_start_us, rate;

	if (rs->tick_start_us && elapsed &&
	    elapsed * RIGHTSIZE_TICKS < 2ull * rightsize_min_rtt_us(rs)) {
		rate = rightsize_muldiv(bytes - rs->tick_bytes, 1000000, elapsed);
		if (rate > RIGHTSIZE_RATE_MAX)
			rate = RIGHTSIZE_RATE_MAX;
		if (rate > rs->train_best)
			rs->train_best = rate;
	}
	rs->tick_start_us = now_us;
	rs->tick_bytes = bytes;
}

/*
 * Is the running round over?
 * @rtt_us: the current (loaded) RTT; the round lasts at least as long, and at least
 * RIGHTSIZE_RTT_FLOOR_US, so that a round sees a whole flight of the sender (DRS III.A).
 */
static inline int rightsize_round_over(const struct rightsize *rs, __u64 now_us, __u32 rtt_us)
{
	if (rtt_us < RIGHTSIZE_RTT_FLOOR_US)
		rtt_us = RIGHTSIZE_RTT_FLOOR_US;
	return now_us - rs->round_start_us >= rtt_us;
}

/* Take in one RTT sample; 0 is no sample. */
static inline void rightsize_rtt_sample(struct rightsize *rs, __u32 rtt_us)
{
	if (rtt_us > RIGHTSIZE_RTT_MAX_US)
		rtt_us = RIGHTSIZE_RTT_MAX_US;
	if (rtt_us && (!rs->rtt_now_us || rtt_us < rs->rtt_now_us))
		rs->rtt_now_us = rtt_us;
}

/* Is the minimum of the running half well above the older one? */
static inline int rightsize_longer(const struct rightsize *rs)
{
	return (__u64)rs->rtt_now_us * 8 > (__u64)rs->rtt_old_us * RIGHTSIZE_DRAIN_EIGHTHS;
}

/*
 * How long a drain may last. A receiver's RTT estimate contains the pauses of a sender that
 * has nothing to send, and can be minutes (tcp_rcv_rtt_measure_ts()): at most half of a half.
 */
static inline __u64 rightsize_drain_us(__u32 rtt_us)
{
	__u64 drain_us = (__u64)RIGHTSIZE_DRAIN_ROUNDS * rtt_us;

	return drain_us < RIGHTSIZE_MIN_RTT_HALF_US / 2 ? drain_us :
							  RIGHTSIZE_MIN_RTT_HALF_US / 2;
}

/*
 * Move the min-RTT interval along. When a half ends whose minimum is well above the older
 * one's, the path may have become longer, or the flow may sit in its own queue: drain first,
 * and let the half end only after that. @rtt_us: the current (loaded) RTT.
 *
 * Halves end when the clock passes a multiple of their length, for all connections of a host
 * at once: those that share a bottleneck drain together. One alone would measure the queue of
 * the others.
 */
static inline void rightsize_slide(struct rightsize *rs, __u64 now_us, __u32 rtt_us)
{
	if (!rs->half_start_us)
		rs->half_start_us = now_us;
	if (rs->drain_end_us) {
		if (now_us < rs->drain_end_us &&
		    (__u64)rs->rtt_now_us * 8 > (__u64)rs->rtt_old_us * RIGHTSIZE_SAME_EIGHTHS)
			return;
		rs->drain_end_us = 0;
	} else {
		if (now_us / RIGHTSIZE_MIN_RTT_HALF_US ==
		    rs->half_start_us / RIGHTSIZE_MIN_RTT_HALF_US)
			return;
		if (rs->window && rs->rtt_old_us && rightsize_longer(rs)) {
			rs->drain_end_us = now_us + rightsize_drain_us(rtt_us);
			rs->drains++;
			return;
		}
	}
	/*
	 * Nothing was sampled while the connection was idle: the old minimum stands. A little
	 * above the old one it stands, too: believed step by step, a queue that a sender fills
	 * slowly would pass for a longer path without ever a drain.
	 */
	if (rs->rtt_now_us && (!rs->rtt_old_us || rs->rtt_now_us < rs->rtt_old_us ||
			       rightsize_longer(rs)))
		rs->rtt_old_us = rs->rtt_now_us;
	rs->rtt_now_us = 0;
	rs->half_start_us = now_us;
}

/*
 * The window that a round of @per_rtt bytes per minimum RTT calls for, given the largest
 * single round before it: 2 x as in DRS III.B, and the kernel's room for growth,
 * 2 x (2 x new) x (new - old) / old (tcp_rcvbuf_grow(), Linux 6.18), here at most 4 x new:
 * a congestion window at most doubles per round trip (DRS III). And not quite twice what the
 * best train would carry: a sender that has just filled the path would else put another two
 * bandwidth-delay products into its queue before a round can tell. A train's rate that still
 * grows from round to round is a pacing sender's and not the path's.
 */
static inline __u64 rightsize_growing(const struct rightsize *rs, __u32 peak, __u32 min_rtt)
{
	__u32 per_rtt = rs->per_rtt;
	__u64 room = rightsize_muldiv(4ull * per_rtt, per_rtt - peak, peak);
	__u64 win, most = 7 * rightsize_muldiv(rs->train_best, min_rtt, 4000000);

	if (!peak || room > 4ull * per_rtt)
		room = 4ull * per_rtt;
	win = 2ull * per_rtt + room;
	if (rs->train_best > rs->train_known + rs->train_known / 8)
		return win;
	return most && win > most ? most : win;
}

/*
 * The window of a drain, decided once, as it begins: half of what one minimum RTT carries, so
 * that even a minimum believed twice too long lets the queue empty. By the last round and not
 * only by the best one, @win being 2 x that: the path may have become slower since, and then
 * even a quarter of @win would keep its queue standing, and each drain believe in a longer
 * path than the one before.
 */
static inline __u64 rightsize_drained(const struct rightsize *rs, __u64 win)
{
	return rs->per_rtt / 2 < win / 4 ? rs->per_rtt / 2 : win / 4;
}

/*
 * End the running round and decide on the window anew.
 *
 * @now_us:  a monotonic clock
 * @bytes:   a counter of the bytes that this direction carried, modulo 2^32
 * @rtt_us:  the current RTT, queues included: smoothed, or the receiver's own estimate
 * @limits:  floor and cap, bytes of window
 *
 * Returns the window in bytes (also in rs->window, with rs->reason), or 0 while nothing can
 * be said yet; then the kernel's own sizing should go on.
 *
 * The rate that is kept is the mean of two rounds: one round alone is inflated whenever a
 * stall of the host piles up data just before it begins.
 */
static inline __u32 rightsize_round(struct rightsize *rs, __u64 now_us, __u32 bytes,
				    __u32 rtt_us, const struct rightsize_limits *limits)
{
	__u32 min_rtt, got = bytes - rs->round_bytes;
	__u64 elapsed = now_us - rs->round_start_us, rate, win;
	int first = !rs->round_start_us, was_draining = rs->reason == RIGHTSIZE_DRAINING;

	rightsize_rtt_sample(rs, rtt_us);
	rightsize_slide(rs, now_us, rtt_us);
	rs->round_start_us = now_us;
	rs->round_bytes = bytes;
	min_rtt = rightsize_min_rtt_us(rs);
	if (first || !min_rtt || !elapsed)
		return rs->window;
	if (elapsed > 0xffffffffu) /* over an hour idle: no measurement */
		elapsed = 0xffffffffu;

	if (rs->prev_us) {
		rate = rightsize_muldiv((__u64)got + rs->prev_bytes, 1000000,
					elapsed + rs->prev_us);
		if (rate > RIGHTSIZE_RATE_MAX)
			rate = RIGHTSIZE_RATE_MAX;
		if (rate > rs->rate_best)
			rs->rate_best = rate;
	}
	rs->prev_bytes = got;
	rs->prev_us = (__u32)elapsed;

	win = rightsize_muldiv(got, min_rtt, elapsed);
	rs->per_rtt = win > RIGHTSIZE_WINDOW_MAX ? RIGHTSIZE_WINDOW_MAX : (__u32)win;

	win = 2 * rightsize_muldiv(rs->rate_best, min_rtt, 1000000);
	rs->reason = RIGHTSIZE_MEASURED;
	if (rs->per_rtt > rs->per_rtt_peak) {
		__u64 growing = rightsize_growing(rs, rs->per_rtt_peak, min_rtt);

		rs->per_rtt_peak = rs->per_rtt;
		if (growing > win) {
			win = growing;
			rs->reason = RIGHTSIZE_GROWING;
		}
	}
	rs->train_known = rs->train_best;
	/* Back in two steps, for the sender fills all of it at once: first what the path holds. */
	if (!rs->drain_end_us && was_draining)
		win /= 2;
	if (rs->drain_end_us) {
		win = was_draining ? rs->window : rightsize_drained(rs, win);
		rs->reason = RIGHTSIZE_DRAINING;
	}
	if (win < limits->floor) {
		win = limits->floor;
		if (rs->reason != RIGHTSIZE_DRAINING)
			rs->reason = RIGHTSIZE_FLOOR;
	}
	if (win > limits->cap) {
		win = limits->cap;
		rs->reason = RIGHTSIZE_CAPPED;
	}
	rs->window = (__u32)win;
	return rs->window;
}

#endif
