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
 * Three things are added to the paper's rule, each because it was measured on current Linux:
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
 * And two that the paper argues for, but has no rule for: an application that reads slowly
 * gives window back (section II; struct rightsize_reader), and a path that is slow gets less
 * window than the kernel begins with (section V.B; rightsize_weigh_path()).
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

/*
 * And its window is one for this RTT: a tick of 250 Hz. Two applications that share a core take
 * turns so, whatever the path; a window for less can be what holds them to the rate that calls
 * for it.
 */
#define RIGHTSIZE_WINDOW_FLOOR_US 4000u

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

/*
 * A path is known to be slow once so many more rounds kept it full than did not: the round-trip
 * time was so many eighths of the minimum, and so many even without the longest silence.
 */
#define RIGHTSIZE_FULL_ROUNDS	3u
#define RIGHTSIZE_FULL_EIGHTHS	12u
#define RIGHTSIZE_QUEUE_EIGHTHS	9u

/*
 * What a slow path whose queue did not hold another bandwidth-delay product is given beyond one,
 * as a part of the least window: five segments of ten are enough for ACKs of two, and for the
 * path to be seen becoming faster.
 */
#define RIGHTSIZE_TIGHT_PART	2u

/*
 * ... and it is slow no longer, for good, once the holes in its data exceed by so many the one in
 * sixty-four rounds that is forgiven: a sawtooth that the small window does not end.
 */
#define RIGHTSIZE_HOLE		64u
#define RIGHTSIZE_HOLES		(4 * RIGHTSIZE_HOLE)

/* An application is slow, and not just busy, whose unread data stays high for this long. */
#define RIGHTSIZE_SLOW_ROUNDS	8u
#define RIGHTSIZE_SLOW_US	250000u

/*
 * What may wait unsent in a send buffer: an eighth of a round trip's bytes, but what is sent
 * before the application gets the processor again (a tick of 250 Hz), and no little thing.
 */
#define RIGHTSIZE_UNSENT_PART	8u
#define RIGHTSIZE_UNSENT_US	4000u
#define RIGHTSIZE_UNSENT_LEAST	131072u

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
	RIGHTSIZE_USABLE,	  /* ... but for what cwnd and the peer let a sender use */
	RIGHTSIZE_SHORT_QUEUE,	  /* ... but for a slow path's queue, which did not hold 2 x */
	RIGHTSIZE_REASONS,
};

/* What holes tell of a slow path. */
#define RIGHTSIZE_IN_HOLE 1u /* the last round ended with one */
#define RIGHTSIZE_TIGHT	  2u /* its queue did not hold a window of twice what the path does */

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
	__u32 silent_us;	/* since data came last, and ... */
	__u32 gap_us;		/* ... the longest such time in this round */
	__u32 holes;		/* RIGHTSIZE_HOLE for each hole, less one for each round without, ... */
				/* ... while it has the smallest window of a slow path */
	__u32 full_rounds;	/* rounds that kept a slow path full, less those that did not */
	__u32 queue_small;	/* RIGHTSIZE_IN_HOLE, RIGHTSIZE_TIGHT */
};

/*
 * What the direction may have: bytes of window, all inclusive, least <= floor <= cap. Less than
 * floor only on a path that is known to be slow.
 */
struct rightsize_limits {
	__u32 floor;
	__u32 cap;
	__u32 least;
};

/* The application at the receiving end. All zeroes is a new one. */
struct rightsize_reader {
	__u64 since_us; /* since when its unread data has been high; 0: it is not */
	__u32 read;	/* the counter of bytes read then */
	__u32 rounds;	/* measuring rounds since */
};

/* a * b / c with a 64-bit product; the caller keeps a * b below 2^64. 0 when c is 0. */
static inline __u64 rightsize_muldiv(__u64 a, __u64 b, __u64 c)
{
	return c ? a * b / c : 0;
}

/*
 * The minimum RTT of the sliding interval, at least RIGHTSIZE_WINDOW_FLOOR_US; 0 while none is
 * known.
 */
static inline __u32 rightsize_min_rtt_us(const struct rightsize *rs)
{
	__u32 rtt = rs->rtt_now_us;

	if (!rtt || (rs->rtt_old_us && rs->rtt_old_us < rtt))
		rtt = rs->rtt_old_us;
	if (!rtt)
		return 0;
	return rtt < RIGHTSIZE_WINDOW_FLOOR_US ? RIGHTSIZE_WINDOW_FLOOR_US : rtt;
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
 * How many bytes came since a counter, modulo 2^32, was @then. The highest sequence number goes
 * back where the kernel drops what came last and out of order (tcp_prune_ofo_queue()): none came.
 */
static inline __u32 rightsize_since(__u32 then, __u32 bytes)
{
	__s32 came = (__s32)(bytes - then);

	return came < 0 ? 0 : (__u32)came;
}

/*
 * End the running tick. In slow start a flight arrives as a train of segments, spaced by the
 * bottleneck, and then there is a pause: the train's rate is the path's, long before the
 * bytes per RTT are. (DRS III.A warns of this very rate, for it says little about the
 * sender's window; here it bounds what a larger window could be good for.) A tick that took
 * twice its time contains the pause, or a train too short to be measured: it says nothing.
 *
 * Of a queue that is never empty data comes all the time: how long none came is for
 * rightsize_weigh_path(). @hole: there is a hole in the data, and what comes may be what fills it.
 */
static inline void rightsize_tick(struct rightsize *rs, __u64 now_us, __u32 bytes, int hole)
{
	__u64 elapsed = now_us - rs->tick_start_us, rate, silent = rs->silent_us + elapsed;

	if (rs->tick_start_us && elapsed) {
		rs->silent_us = silent < RIGHTSIZE_RTT_MAX_US ? silent : RIGHTSIZE_RTT_MAX_US;
		if (rs->silent_us > rs->gap_us)
			rs->gap_us = rs->silent_us;
		if (bytes != rs->tick_bytes || hole)
			rs->silent_us = 0;
	}
	if (rs->tick_start_us && elapsed && elapsed <= RIGHTSIZE_RTT_MAX_US) {
		rate = rightsize_muldiv(rightsize_since(rs->tick_bytes, bytes), 1000000, elapsed);
		if (rate > RIGHTSIZE_RATE_MAX)
			rate = RIGHTSIZE_RATE_MAX;
		if (rate > rs->train_best &&
		    elapsed * RIGHTSIZE_TICKS < 2ull * rightsize_min_rtt_us(rs))
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
 * Does a drain that ends now tell a longer path from our own queue? Not one that was cut short
 * before the queue could have emptied; and not where the smallest window that is allowed makes,
 * at this rate, the whole of the round-trip time by itself.
 */
static inline int rightsize_drain_tells(const struct rightsize *rs)
{
	if (rs->rtt_now_us > RIGHTSIZE_MIN_RTT_HALF_US / 4)
		return 0;
	return rightsize_muldiv(rs->rate_best, rs->rtt_now_us, 1000000) * 8 >
	       (__u64)rs->window * RIGHTSIZE_SAME_EIGHTHS;
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
		if (rightsize_longer(rs) && !rightsize_drain_tells(rs))
			rs->rtt_now_us = 0; /* as if nothing had been sampled */
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

/* Not quite twice what the best train would carry in an RTT; 0: none was seen. */
static inline __u64 rightsize_train_most(const struct rightsize *rs, __u32 min_rtt)
{
	return 7 * rightsize_muldiv(rs->train_best, min_rtt, 4000000);
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
	__u64 win, most = rightsize_train_most(rs, min_rtt);

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
 * Is the path slow, and not only the sender? (DRS V.B: a link of 56 kbit/s, on which a static
 * window is data in the queue, and then lost.) The kernel begins with a window of 64 KB or so,
 * and a sender that happens to have little to say should keep it for when it has more. A sender
 * that pauses raises the receiver's estimate of the RTT, too, but by no more than it is silent.
 * Where the round-trip time is well above the minimum even without the longest silence, there is
 * a queue: the path carries no more.
 *
 * What was learned so is kept, for the small window then empties that queue, until the path
 * carries enough for the floor. @want: the window that the measurements call for.
 */
static inline int rightsize_weigh_path(struct rightsize *rs, __u32 rtt_us, __u32 min_rtt,
				       __u64 want, const struct rightsize_limits *limits)
{
	__u64 awake = rtt_us > rs->gap_us ? rtt_us - rs->gap_us : 0;
	int full = rs->gap_us && awake * 8 >= (__u64)min_rtt * RIGHTSIZE_QUEUE_EIGHTHS &&
		   (__u64)rtt_us * 8 >= (__u64)min_rtt * RIGHTSIZE_FULL_EIGHTHS;

	rs->gap_us = 0;
	if (want > limits->floor - limits->floor / 4 || rs->holes >= RIGHTSIZE_HOLES)
		rs->full_rounds = 0;
	else if (rs->full_rounds < RIGHTSIZE_FULL_ROUNDS && full)
		rs->full_rounds++;
	else if (rs->full_rounds < RIGHTSIZE_FULL_ROUNDS && rs->full_rounds)
		rs->full_rounds--;
	return rs->full_rounds >= RIGHTSIZE_FULL_ROUNDS;
}

/* Is the path known to be slow? */
static inline int rightsize_path_slow(const struct rightsize *rs)
{
	return rs->full_rounds >= RIGHTSIZE_FULL_ROUNDS;
}

/*
 * Begin as on a path that is known to be slow: a connection before this one has found out. What
 * is measured takes that back as ever.
 */
static inline void rightsize_path_is_slow(struct rightsize *rs)
{
	rs->full_rounds = RIGHTSIZE_FULL_ROUNDS;
}

/*
 * Did a round end with a @hole in the data? @held: although the sender has no more than a slow
 * path's window. Then twice what the path holds is more than it and its queue do: the first such
 * hole makes the window tight, for what a path cannot hold is only lost. Where that goes on all
 * the same, the queue holds next to nothing, or the loss is not its own. Then less window saves
 * no loss, and makes each cost more: while the hole is filled a sender with nothing left of the
 * window stands still (DRS section II: with selective acknowledgements a window is twice what is
 * in flight).
 */
static inline void rightsize_weigh_hole(struct rightsize *rs, int hole, int held)
{
	int another = hole && !(rs->queue_small & RIGHTSIZE_IN_HOLE);

	if (hole)
		rs->queue_small |= RIGHTSIZE_IN_HOLE;
	else
		rs->queue_small &= ~RIGHTSIZE_IN_HOLE;
	if (!held || rs->full_rounds < RIGHTSIZE_FULL_ROUNDS || rs->holes >= RIGHTSIZE_HOLES)
		return;
	if (another && !(rs->queue_small & RIGHTSIZE_TIGHT))
		rs->queue_small |= RIGHTSIZE_TIGHT;
	else if (another)
		rs->holes += RIGHTSIZE_HOLE;
	else if (!hole && rs->holes)
		rs->holes--;
}

/* @win, or what of it a slow path with a small queue is given. @holds: what the path does. */
static inline __u64 rightsize_tight(const struct rightsize *rs, __u64 win, __u64 holds,
				    const struct rightsize_limits *limits)
{
	__u64 most = holds + limits->least / RIGHTSIZE_TIGHT_PART;

	if (rs->full_rounds < RIGHTSIZE_FULL_ROUNDS || !(rs->queue_small & RIGHTSIZE_TIGHT))
		return win;
	return win < most ? win : most;
}

/*
 * The least window on such a path. A drain leaves it one bandwidth-delay product, half of @want:
 * that empties the queue, too, and what the kernel would have sent meanwhile is sent.
 */
static inline __u32 rightsize_least(const struct rightsize *rs, __u64 want,
				    const struct rightsize_limits *limits)
{
	if (rs->drain_end_us && want / 2 > limits->least)
		return want / 2 < limits->floor ? (__u32)(want / 2) : limits->floor;
	return limits->least;
}

/*
 * Weigh the application that reads, before a round of the same connection is ended.
 *
 * @read:   a counter of the bytes that it has read, modulo 2^32
 * @unread: bytes that arrived in order and wait for it
 *
 * DRS section II: data that was acknowledged must be kept until the application takes it, so
 * that one which reads slowly holds memory for as long as it likes, and the others starve. By
 * the rule of section III.B it may hold as much as it reads in a round trip. In a window W, an
 * application that reads r leaves W - r x RTT unread: more than W / 2 says that W is more than
 * 2 x r x RTT, whatever the best rate once was. Then that comes down to what is read; but at
 * most by half at a time, of which the factor of two is made up: an application that only
 * paused never has less than what the path carries in an RTT. It grows again as it once grew.
 */
static inline void rightsize_weigh_reader(struct rightsize_reader *reader, struct rightsize *rs,
					  __u64 now_us, __u32 read, __u32 unread)
{
	__u64 elapsed = now_us - reader->since_us, rate;
	__u32 peak;

	if (unread <= rs->window / 2) {
		reader->since_us = 0;
		return;
	}
	if (reader->since_us) {
		reader->rounds++;
		if (reader->rounds < RIGHTSIZE_SLOW_ROUNDS || elapsed < RIGHTSIZE_SLOW_US)
			return;
		rate = rightsize_muldiv(read - reader->read, 1000000, elapsed);
		if (rate < rs->rate_best / 2)
			rate = rs->rate_best / 2;
		/* A quarter less is within what a measurement is worth. */
		if (rate < rs->rate_best - rs->rate_best / 4) {
			rs->rate_best = rate;
			peak = (__u32)rightsize_muldiv(rate, rightsize_min_rtt_us(rs), 1000000);
			if (rs->per_rtt_peak > peak)
				rs->per_rtt_peak = peak;
		}
	}
	reader->since_us = now_us;
	reader->read = read;
	reader->rounds = 0;
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
	__u64 elapsed = now_us - rs->round_start_us, rate, win, holds, tight;
	int first = !rs->round_start_us, was_draining = rs->reason == RIGHTSIZE_DRAINING;
	__u32 reason = rs->reason;
	__u32 floor = limits->floor;

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

	holds = rightsize_muldiv(rs->rate_best, min_rtt, 1000000);
	win = 2 * holds;
	if (rightsize_weigh_path(rs, rtt_us, min_rtt, win, limits))
		floor = rightsize_least(rs, win, limits);
	rs->reason = RIGHTSIZE_MEASURED;
	if (rs->per_rtt > rs->per_rtt_peak) {
		__u64 growing = rightsize_growing(rs, rs->per_rtt_peak, min_rtt);

		rs->per_rtt_peak = rs->per_rtt;
		if (growing > win) {
			win = growing;
			rs->reason = RIGHTSIZE_GROWING;
		}
	} else if (reason == RIGHTSIZE_GROWING) {
		/*
		 * Two rounds may have cut one train in half. Room to grow is for the flight that
		 * follows, which is then still to come: it stands for a round more, where the
		 * trains say that the path carries so much.
		 */
		__u64 room = rightsize_train_most(rs, min_rtt);

		if (room > rs->window)
			room = rs->window;
		if (win < room)
			win = room;
	}
	rs->train_known = rs->train_best;
	/* Back in two steps, for the sender fills all of it at once: first what the path holds. */
	if (!rs->drain_end_us && was_draining)
		win /= 2;
	tight = rightsize_tight(rs, win, holds, limits);
	if (win > tight) {
		win = tight;
		rs->reason = RIGHTSIZE_SHORT_QUEUE;
	}
	if (rs->drain_end_us) {
		win = was_draining ? rs->window : rightsize_drained(rs, win);
		rs->reason = RIGHTSIZE_DRAINING;
	}
	if (win < floor) {
		win = floor;
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

/*
 * Hold a sending direction's window to what can be used of it: twice what congestion window and
 * peer let be in flight, once for that and once for what follows (Semke, Mahdavi and Mathis,
 * "Automatic TCP buffer tuning", as in Weigle and Feng, section 2.1). Four times in slow start,
 * since cwnd will have doubled before the next decision.
 *
 * @cwnd:    bytes
 * @peer:    the largest window that the peer has ever offered, bytes: that of this moment may
 *	     be closed, and be wide open the next
 * @starting: in slow start
 * @least:   the window is not made smaller than this: the floor; and while a loss is repaired
 *	     what it has been, for then what was in flight before is still in the buffer
 *
 * Returns the window, as rightsize_round() does.
 */
static inline __u32 rightsize_usable(struct rightsize *rs, __u64 cwnd, __u32 peer, int starting,
				     __u32 least)
{
	__u64 use = (starting ? 4 : 2) * (cwnd < peer ? cwnd : peer);

	if (use < least)
		use = least;
	if (rs->window > use) {
		rs->window = (__u32)use;
		if (rs->reason != RIGHTSIZE_DRAINING)
			rs->reason = RIGHTSIZE_USABLE;
	}
	return rs->window;
}

/*
 * How many bytes of a sending direction should wait unsent: what is more only grows old there,
 * for an application could write it later and be sent as soon (tcp_notsent_lowat).
 */
static inline __u32 rightsize_unsent(const struct rightsize *rs)
{
	__u32 us = rightsize_min_rtt_us(rs) / RIGHTSIZE_UNSENT_PART;
	__u64 bytes;

	if (us < RIGHTSIZE_UNSENT_US)
		us = RIGHTSIZE_UNSENT_US;
	bytes = rightsize_muldiv(rs->rate_best, us, 1000000);
	if (bytes < RIGHTSIZE_UNSENT_LEAST)
		return RIGHTSIZE_UNSENT_LEAST;
	return bytes > RIGHTSIZE_WINDOW_MAX ? RIGHTSIZE_WINDOW_MAX : (__u32)bytes;
}

#endif
