/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Dynamic Right-Sizing: does a direction of a connection need all the window that it gets?
 *
 * Fisk and Feng, "Dynamic Right-Sizing in TCP" (DRS below), offer twice the bytes that arrive in a
 * round-trip time (III.A, III.B, IV). So does Linux (tcp_rcvbuf_grow(), tcp_sndbuf_expand()), but
 * by the present RTT, queues included: the window grows until a deep queue is full. Twice the bytes
 * per *minimum* RTT (DRS IV.A) fills the path, too, with a queue of one bandwidth-delay product;
 * but only if the queue is this connection's own. Where the path became longer, its delay varies,
 * or others fill the queue, less window is less rate. So the kernel's growth is the default, and a
 * smaller window is an experiment that has to prove itself:
 *
 *  FREE       The kernel sizes the buffer.
 *  PREPARING  A queue stood during a whole interval, in the direction of the data, without a
 *             silence of the peer, or another connection prepares a test (peer.h). The window is
 *             3/2 of what is in flight: an advertised one is never shrunk, so the test takes effect
 *             soon. With less, a writer, woken when a third is free, would come too late.
 *  TESTING    For three RTTs the window is half of what was in flight. In a queue of its own the
 *             RTT falls with it and the rate stays; on a long or varying path the rate falls; in a
 *             queue of others the RTT hardly falls. Then, and after a loss, it is free again.
 *  HOLDING    The window is 7/4 x rate x RTT of the path, or twice the bytes of a round (DRS III.B)
 *             once the queue nearly emptied. Silences that it would fill end it; less use does not.
 *  PROBE_RTT  A hold measures the minimum RTT again with 3/4 of a bandwidth-delay product. It ends
 *             if a queue remains, which is that of others.
 *
 * Connections that fill one queue have to shorten it together, as BBR's ProbeRTT and Copa's mode
 * switching know: tests begin at common marks (marks.h), and one joins those that another prepares
 * (peer.h). bench/rule/run shows what each part is for.
 */
#pragma once

#include <tcptuned/algo/amounts.h>
#include <tcptuned/algo/marks.h>

/* A smaller RTT counts as this: timestamps tick in ms, and applications are scheduled late. */
#define RIGHTSIZE_BASE_MIN_US 2000u

/*
 * Quarters: an RTT that a window of two BDPs (DRS III.B) does not explain, and one of a queue that
 * nearly emptied; held; probed; of what is in flight, prepared.
 */
#define RIGHTSIZE_EXCESS  9u
#define RIGHTSIZE_EMPTY	  5ull
#define RIGHTSIZE_HOLD	  7u
#define RIGHTSIZE_PROBE	  3u
#define RIGHTSIZE_PREPARE 6u

/* Sixteenths of those before: largest RTT and smallest rate with which a test is passed. */
#define RIGHTSIZE_PASS_RTT  11u
#define RIGHTSIZE_PASS_RATE 10u

/* An RTT that exceeds the minimum by less is not worth an experiment. */
#define RIGHTSIZE_EXCESS_MIN_US 4000u

/* After more failures, a connection joins no test that another one with its peer prepares. */
#define RIGHTSIZE_JOINS_MAX 2u

/*
 * RTTs: of a test, until its window has taken effect, and in all; then a stage whose window is
 * still not used is given up, and one without two samples ends; a hold grows so seldom.
 */
#define RIGHTSIZE_SETTLES  2ull
#define RIGHTSIZE_LASTS	   3ull
#define RIGHTSIZE_GIVES_UP 16ull
#define RIGHTSIZE_LATE	   8ull
#define RIGHTSIZE_GROWS	   4ull

/* A silence (peer.h) of RTT / 8: others in the queue, or a pause. Tests wait for 1 s without. */
#define RIGHTSIZE_SILENCE  8u
#define RIGHTSIZE_BUSY_US  (1u << 20)
#define RIGHTSIZE_BUSY_MAX 32u

/*
 * A path is longer if a hold leaves it idle for 1/6 of an RTT that stays within 1/16. A round with
 * silences of 1/3 says so from 4 minimum RTTs on: below that, others may be the reason.
 */
#define RIGHTSIZE_IDLE	6u
#define RIGHTSIZE_STAYS 16u
#define RIGHTSIZE_GAP	3u
#define RIGHTSIZE_FAR	4ull

enum rightsize_state {
	RIGHTSIZE_FREE = 0,
	RIGHTSIZE_PREPARING,
	RIGHTSIZE_TESTING,
	RIGHTSIZE_PROBE_RTT,
	RIGHTSIZE_HOLDING,
};

/* One direction of one connection; all zeroes: a new one. */
struct rightsize {
	__u64 interval_us;  /* beginning of the interval between two marks; 0: none yet */
	__u64 round_us;	    /* beginning of the round */
	__u64 stage_us;	    /* beginning of the test or the probe, or when a hold last grew */
	__u64 seen_us;	    /* when data was last seen */
	__u64 rate;	    /* of the last interval, bytes per second */
	__u64 rate_best;    /* of the fastest busy round */
	__u64 carried;	    /* bytes of the present interval or stage */
	__u64 rtt_sum_us;   /* of the samples of the present interval or stage */
	__u32 mark;	    /* number of the interval on the common clock */
	__u32 seen_bytes;   /* the byte counter when data was last seen */
	__u32 round_bytes;  /* ... of the round */
	__u32 per_rtt;	    /* bytes of the last round */
	__u32 min_rtt_us;   /* smallest RTT known of the path; 0: none */
	__u32 min_delay_us; /* smallest one-way delay, by clocks that differ; 0: none */
	__u32 low_us;	    /* smallest RTT of the present interval; 0: none */
	__u32 low_delay_us; /* ... one-way delay */
	__u32 round_low_us; /* smallest RTT of the present round */
	__u32 last_low_us;  /* ... of the previous round */
	__u32 samples;	    /* RTT samples of the present interval */
	__u32 silent_us; /* longest time without data with the peer (peer.h) in the present round */
	__u32 interval_silent_us; /* ... in the present interval or stage */
	__u32 test_rtt_us;	  /* RTT before the test, or of a hold's interval before */
	__u32 varies_us;	  /* by so much the path's delay varies */
	__u32 held;		  /* the window to hold, bytes; 0: none */
	__u32 window;		  /* the window decided on, bytes; 0: the kernel's */
	__u32 tests;		  /* number of tests begun */
	__u8 state;		  /* enum rightsize_state */
	__u8 failures;		  /* tests that failed in a row */
	__u8 busy;		  /* intervals without a silence, halved by one with one */
	__u8 waiting : 1;	  /* 1: more is offered than the window of the stage */
	__u8 steady : 4;	  /* busy rounds since the rate rose by a quarter, at most 15 */
	__u8 borrowed : 1; /* 1: the minimum RTT is another connection's with the peer (peer.h) */
};

/* The measurements of a direction when an ACK leaves or arrives. */
struct rightsize_ack {
	__u64 now_us;	 /* monotonic clock */
	__u64 clock_us;	 /* a clock that hosts share */
	__u32 bytes;	 /* counter of the bytes that the direction carried, modulo 2^32 */
	__u32 sample_us; /* one RTT, not smoothed; 0: none */
	__u32 delay_us;	 /* from sending to arrival, by the clocks of the two hosts; 0: none */
	__u32 rtt_us;	 /* smoothed RTT, queues included: the length of a round */
	__u32 silent_us; /* longest time without data with the peer (peer.h); 0: the connection's */
	__u8 prepared;	 /* 1: another connection with the peer prepares a test */
	__u8 unheld;	 /* 1: another connection with the peer has a queue and holds no window */
	__u32 min;	 /* the smallest window allowed, bytes */
	__u32 offered;	 /* advertised and not used, bytes; RIGHTSIZE_WINDOW_MAX: in a recovery */
};

/* The minimum RTT for calculations; 0: none is known. */
static inline __u32 rightsize_min_rtt_us(const struct rightsize *rs)
{
	__u32 min_us = rs->min_rtt_us;

	return min_us && min_us < RIGHTSIZE_BASE_MIN_US ? RIGHTSIZE_BASE_MIN_US : min_us;
}

static inline void rightsize_rtt_sample(struct rightsize *rs, __u32 rtt_us)
{
	if (!rtt_us)
		return;
	rtt_us = rightsize_smaller(rtt_us, RIGHTSIZE_RTT_MAX_US);
	rs->samples++;
	rs->rtt_sum_us += rtt_us;
	if (!rs->min_rtt_us || rtt_us <= rs->min_rtt_us) {
		rs->min_rtt_us = rtt_us;
		rs->borrowed = 0;
	}
	rs->low_us = rightsize_smaller_delay(rtt_us, rs->low_us);
	rs->round_low_us = rightsize_smaller_delay(rtt_us, rs->round_low_us);
}

static inline int rightsize_nearly_empty(const struct rightsize *rs, __u32 rtt_us)
{
	return 4ull * rtt_us < RIGHTSIZE_EMPTY * rightsize_min_rtt_us(rs);
}

static inline int rightsize_exceeds(const struct rightsize *rs, __u32 rtt_us)
{
	__u64 base = rightsize_min_rtt_us(rs) + (rs->held ? rs->varies_us : 0);

	return 4ull * rtt_us > RIGHTSIZE_EXCESS * base && rtt_us > base + RIGHTSIZE_EXCESS_MIN_US;
}

static inline __u32 rightsize_mean_rtt_us(const struct rightsize *rs)
{
	return (__u32)rightsize_muldiv(rs->rtt_sum_us, 1, rs->samples);
}

static inline void rightsize_begin_interval(struct rightsize *rs, __u64 now_us)
{
	rs->interval_us = now_us;
	rs->carried = 0;
	rs->rtt_sum_us = rs->low_us = rs->low_delay_us = rs->samples = rs->interval_silent_us = 0;
}

static inline void rightsize_enter(struct rightsize *rs, __u8 state, __u64 now_us)
{
	rs->state = state;
	rs->stage_us = now_us;
	rs->waiting = 1;
	rs->tests += state == RIGHTSIZE_TESTING;
	if (state == RIGHTSIZE_FREE)
		rs->window = rs->held = rs->varies_us = 0;
	rightsize_begin_interval(rs, now_us);
}

static inline void rightsize_new_minimum(struct rightsize *rs, __u32 rtt_us)
{
	rs->min_rtt_us = rtt_us;
	rs->min_delay_us = rs->low_delay_us;
	rs->borrowed = 0;
}

/* Do tests begin at @mark? Below 262 ms that does not depend on the RTT, which others share. */
static inline int rightsize_is_test_mark(const struct rightsize *rs, __u32 mark, __u32 shift)
{
	__u32 wanted = rightsize_smaller(rightsize_shift(RIGHTSIZE_TEST_RTTS, rs->low_us),
					 RIGHTSIZE_TEST_SHIFT_MAX);

	return rightsize_is_mark(rs->mark, mark, shift, RIGHTSIZE_TEST_SHIFT) &&
	       rightsize_is_mark(rs->mark, mark, shift, wanted);
}

static inline int rightsize_test_due(const struct rightsize *rs, __u32 mark, __u32 shift)
{
	__u32 wanted = rightsize_smaller(RIGHTSIZE_TEST_SHIFT + rs->failures, RIGHTSIZE_LATER_MAX);

	return (__u64)rs->busy << shift >= RIGHTSIZE_BUSY_US &&
	       rightsize_is_mark(rs->mark, mark, shift, wanted);
}

/* Returns whether a queue stood all the time, at least half of it in the direction of the data. */
static inline int rightsize_queue_stands(const struct rightsize *rs)
{
	return rightsize_exceeds(rs, rs->low_us) &&
	       (!rs->low_delay_us ||
		2ull * (rs->low_delay_us - rs->min_delay_us) >= rs->low_us - rs->min_rtt_us);
}

/* Is the RTT what it was? */
static inline int rightsize_stays(const struct rightsize *rs)
{
	__s64 gap = (__s64)rs->low_us - rs->test_rtt_us;

	return RIGHTSIZE_STAYS * (gap < 0 ? -gap : gap) < rs->test_rtt_us;
}

/* Has the path become longer? The queue of a hold neither doubles the RTT nor leaves it idle. */
static inline int rightsize_is_longer(const struct rightsize *rs)
{
	return rs->busy > 1 && rightsize_stays(rs) &&
	       rs->low_us / 2 >= rightsize_min_rtt_us(rs) + rs->varies_us &&
	       (__u64)RIGHTSIZE_IDLE * rs->interval_silent_us >= rs->low_us &&
	       (__u64)RIGHTSIZE_STAYS * (rightsize_mean_rtt_us(rs) - rs->low_us) < rs->low_us;
}

static inline __u64 rightsize_bdp(const struct rightsize *rs, __u32 quarters)
{
	return quarters *
	       rightsize_muldiv(rs->rate, rightsize_min_rtt_us(rs) + rs->varies_us, 4000000);
}

/*
 * What varies of the path's RTT counts from half the minimum on. A queue varies, too: the smallest
 * range seen counts, @times what the mean exceeds the smallest by: 2 of many samples, 4 of few.
 */
static inline void rightsize_note_variation(struct rightsize *rs, __u32 times)
{
	__u32 range_us = times * (rightsize_mean_rtt_us(rs) - rs->low_us);

	rs->varies_us = rightsize_smaller(rs->varies_us, range_us);
	if (2 * rs->varies_us < rightsize_min_rtt_us(rs))
		rs->varies_us = 0;
}

/* The RTT stays below twice the path's. */
static inline void rightsize_hold(struct rightsize *rs, const struct rightsize_ack *a)
{
	rightsize_note_variation(rs, 4);
	rs->held = rs->window = rightsize_clamp_window(rightsize_bdp(rs, RIGHTSIZE_HOLD), a->min);
	rs->failures = rs->borrowed = 0;
	rightsize_enter(rs, RIGHTSIZE_HOLDING, a->now_us);
}

/* A hold whose RTT varies less than it seemed needs less: later tests vary it for others. */
static inline void rightsize_hold_less(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u32 before = rightsize_min_rtt_us(rs) + rs->varies_us;

	rightsize_note_variation(rs, 2);
	rs->held = rs->window = rightsize_clamp_window(
		rightsize_muldiv(rs->held, rightsize_min_rtt_us(rs) + rs->varies_us, before),
		a->min);
}

/* Begins a test or a probe with @window bytes. */
static inline void rightsize_begin_stage(struct rightsize *rs, const struct rightsize_ack *a,
					 __u8 state, __u64 window)
{
	if (state != RIGHTSIZE_TESTING)
		rs->varies_us = 2 * (rightsize_mean_rtt_us(rs) - rs->low_us);
	rs->test_rtt_us = rs->low_us;
	rs->window = rightsize_clamp_window(window, a->min);
	rightsize_enter(rs, state, a->now_us);
}

/* Returns to the window held before the stage, or to the kernel's. */
static inline void rightsize_leave_stage(struct rightsize *rs, const struct rightsize_ack *a)
{
	rs->window = rs->held;
	rightsize_enter(rs, rs->held ? RIGHTSIZE_HOLDING : RIGHTSIZE_FREE, a->now_us);
}

/*
 * An advertised window is never shrunk: a smaller one takes effect when the sender has used what
 * was offered. Returns whether the stage has since lasted @length us, without the first @settle.
 */
static inline int rightsize_stage_ends(struct rightsize *rs, const struct rightsize_ack *a,
				       __u64 settle, __u64 length)
{
	__u64 elapsed = a->now_us - rs->stage_us;

	if (rs->waiting && a->offered > rs->window + rs->window / 8ull + a->min / 4) {
		if (elapsed >= RIGHTSIZE_GIVES_UP * rs->test_rtt_us)
			rightsize_leave_stage(rs, a);
		return 0;
	}
	if (rs->waiting) {
		rs->waiting = 0;
		rs->stage_us = a->now_us;
		elapsed = 0;
	}
	if (elapsed < settle) {
		rightsize_begin_interval(rs, a->now_us);
		return 0;
	}
	return elapsed >= length &&
	       (rs->samples >= 2 || elapsed >= RIGHTSIZE_LATE * rs->test_rtt_us);
}

/* The kernel sizes the buffer, on a path with the RTT @rtt_us; 0: that is not known. */
static inline void rightsize_let_go(struct rightsize *rs, const struct rightsize_ack *a,
				    __u32 rtt_us)
{
	rs->failures += rs->failures < 255;
	if (rtt_us)
		rightsize_new_minimum(rs, rtt_us);
	rightsize_enter(rs, RIGHTSIZE_FREE, a->now_us);
}

/*
 * What was in flight is gone after two RTTs; the third is measured. With half the window, a queue
 * of its own leaves half the RTT and the full rate; that of others 3/4 of the RTT or more; none the
 * full RTT and half the rate. The bounds are in between; a loss reduces the RTT, too. An RTT that
 * stayed has no queue of the connection.
 */
static inline void rightsize_test(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 rate, test = rs->test_rtt_us;

	if (a->offered == RIGHTSIZE_WINDOW_MAX)
		rightsize_leave_stage(rs, a);
	if (rs->state != RIGHTSIZE_TESTING ||
	    !rightsize_stage_ends(rs, a, RIGHTSIZE_SETTLES * test, RIGHTSIZE_LASTS * test))
		return;
	rate = rightsize_rate(rs->carried, a->now_us - rs->interval_us);
	if (!rs->samples || 16ull * rs->low_us > RIGHTSIZE_PASS_RTT * test ||
	    16 * rate < RIGHTSIZE_PASS_RATE * rs->rate) {
		rightsize_let_go(rs, a, rightsize_stays(rs) ? rs->low_us : 0);
		return;
	}
	/* The link became faster. Where others pause, the rate may double. */
	if (rate > 2 * rs->rate)
		rs->rate = rate;
	rightsize_hold(rs, a);
}

/*
 * One RTT after the window took effect the queue is empty; three more let the other connections of
 * the queue measure it empty, too. A queue that remains after that is theirs.
 */
static inline void rightsize_probe(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 base = rightsize_min_rtt_us(rs), own;

	if (!rightsize_stage_ends(rs, a, rs->test_rtt_us + base / 2, rs->test_rtt_us + 3 * base))
		return;
	/* The delay of the window itself, if the smallest window allowed exceeds the path's BDP. */
	own = rightsize_muldiv(rs->window, 1000000, rs->rate);
	own = own > base ? own - base : 0;
	if (rs->low_us > own && rightsize_exceeds(rs, (__u32)(rs->low_us - own))) {
		rightsize_let_go(rs, a, rightsize_stays(rs) ? rs->low_us : 0);
	} else {
		rightsize_new_minimum(rs, rs->low_us ?: rs->min_rtt_us);
		rightsize_hold(rs, a);
	}
}

/* Ends the interval between two marks. Returns 0 if it had too few samples: then it continues. */
ALGO_APART int rightsize_end_interval(struct rightsize *rs, const struct rightsize_ack *a,
				      __u32 mark, __u32 shift)
{
	int stands, tests, joins;
	__u64 rate, flight;

	if (!rs || !a ||
	    (rs->samples < RIGHTSIZE_SAMPLES_MIN &&
	     a->now_us - rs->interval_us < RIGHTSIZE_RTT_MAX_US))
		return 0;
	tests = rightsize_is_test_mark(rs, mark, shift);
	joins = a->prepared && !tests;
	stands = rs->state == RIGHTSIZE_FREE ? rightsize_queue_stands(rs)
					     : rightsize_exceeds(rs, rs->low_us);
	rate = rightsize_rate(rs->carried, a->now_us - rs->interval_us);
	flight = rightsize_muldiv(rate, rightsize_mean_rtt_us(rs), 1000000);
	if (rs->state == RIGHTSIZE_HOLDING && 2 * flight < rs->held) {
		rightsize_begin_interval(rs, a->now_us);
		return 1;
	}
	rs->rate = rate;
	rs->busy = (__u64)RIGHTSIZE_SILENCE * rs->interval_silent_us >= rs->low_us
			   ? rs->busy / 2
			   : rs->busy + (rs->busy < RIGHTSIZE_BUSY_MAX);
	switch (rs->state) {
	case RIGHTSIZE_FREE:
		if (stands && rs->interval_us > rs->stage_us &&
		    ((joins && rs->failures <= RIGHTSIZE_JOINS_MAX) ||
		     rightsize_test_due(rs, mark, shift)))
			rightsize_begin_stage(rs, a, RIGHTSIZE_PREPARING,
					      RIGHTSIZE_PREPARE * flight / 4);
		break;
	case RIGHTSIZE_PREPARING:
		if (!stands || a->offered == RIGHTSIZE_WINDOW_MAX)
			rightsize_leave_stage(rs, a);
		else if (tests)
			rightsize_begin_stage(rs, a, RIGHTSIZE_TESTING, flight / 2);
		break;
	default:
		if (stands && (joins || (rs->busy && tests && a->unheld)))
			rightsize_begin_stage(rs, a, RIGHTSIZE_PREPARING, rs->held);
		else if ((stands && rs->busy && tests) ||
			 (!rightsize_nearly_empty(rs, rs->low_us) &&
			  rightsize_is_mark(rs->mark, mark, shift, RIGHTSIZE_AGAIN_SHIFT) &&
			  rightsize_is_mark(rs->mark, mark, shift,
					    rightsize_shift(RIGHTSIZE_AGAIN_RTTS, rs->min_rtt_us))))
			rightsize_begin_stage(rs, a, RIGHTSIZE_PROBE_RTT,
					      rightsize_bdp(rs, RIGHTSIZE_PROBE));
		else if (rightsize_is_longer(rs))
			rightsize_let_go(rs, a, rs->low_us);
		else if (rs->varies_us)
			rightsize_hold_less(rs, a);
		if (rs->state == RIGHTSIZE_HOLDING)
			rs->test_rtt_us = rs->low_us;
	}
	rightsize_begin_interval(rs, a->now_us);
	return 1;
}

/*
 * A round of a hold carried @got bytes with the smallest RTT @low. If the queue nearly emptied, the
 * window becomes twice the bytes per RTT (DRS III.B) without what was queued. A path with silences
 * of half an RTT is not the slow one of rightsize_begin_held().
 */
static inline void rightsize_hold_round(struct rightsize *rs, const struct rightsize_ack *a,
					__u32 got, __u32 low)
{
	__u32 base = rightsize_min_rtt_us(rs);
	__u64 window;

	if (low && rightsize_nearly_empty(rs, low) &&
	    rs->round_us > rs->stage_us + RIGHTSIZE_GROWS * base) {
		window = rightsize_muldiv(2ull * rightsize_smaller(got, rs->held), base,
					  low < base ? base : low);
		if (window > rs->held) {
			rs->held = rs->window = rightsize_clamp_window(window, a->min);
			rs->stage_us = a->now_us;
		}
	}
	if (got > rs->held / 2 &&
	    ((low > RIGHTSIZE_FAR * base && rs->silent_us > low / RIGHTSIZE_GAP) ||
	     (!rs->tests && rs->silent_us > low / 2)))
		rightsize_let_go(rs, a, low);
}

/* Notes the rate of a busy round: in a longer one the application paused. */
static inline void rightsize_note_rate(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 us = a->now_us - rs->round_us, rate = rightsize_rate(rs->per_rtt, us);

	if (us >= 2ull * (a->rtt_us > rs->min_rtt_us ? a->rtt_us : rs->min_rtt_us))
		return;
	rs->steady = 4 * rate > 5 * rs->rate_best ? 0 : rs->steady + (rs->steady < 15);
	if (rate > rs->rate_best)
		rs->rate_best = rate;
}

ALGO_APART int rightsize_end_round(struct rightsize *rs, const struct rightsize_ack *a)
{
	if (!rs || !a)
		return 0;
	if (rs->round_us) {
		rs->per_rtt = rightsize_since(rs->round_bytes, a->bytes);
		rightsize_note_rate(rs, a);
		if (rs->state == RIGHTSIZE_HOLDING)
			rightsize_hold_round(rs, a, rs->per_rtt, rs->round_low_us);
	}
	rs->round_us = a->now_us;
	rs->round_bytes = a->bytes;
	rs->last_low_us = rs->round_low_us;
	rs->round_low_us = 0;
	rs->silent_us = 0;
	return 1;
}

static inline int rightsize_round_is_over(const struct rightsize *rs, const struct rightsize_ack *a)
{
	return a->now_us - rs->round_us >= (a->rtt_us ? a->rtt_us : rs->min_rtt_us);
}

/* An ACK leaves or arrives. Sets rs->window, bytes; 0: the kernel's. True: a round ended. */
static inline int rightsize_on_ack(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u32 silent = rs->seen_us && a->now_us - rs->seen_us < RIGHTSIZE_RTT_MAX_US
			       ? a->now_us - rs->seen_us
			       : 0;
	__u32 shared = a->silent_us && a->silent_us < silent ? a->silent_us : silent;
	__u32 shift, mark;

	if (shared > rs->silent_us)
		rs->silent_us = shared;
	if (shared > rs->interval_silent_us)
		rs->interval_silent_us = shared;
	if (rs->interval_us && silent > 2ull * a->rtt_us)
		rs->interval_us += silent; /* the application paused: no time of its rate */
	if (rs->seen_us)
		rs->carried += rightsize_since(rs->seen_bytes, a->bytes);
	rs->seen_bytes = a->bytes;
	rs->seen_us = a->now_us;
	rightsize_rtt_sample(rs, a->sample_us);
	rs->min_delay_us = rightsize_smaller_delay(a->delay_us, rs->min_delay_us);
	rs->low_delay_us = rightsize_smaller_delay(a->delay_us, rs->low_delay_us);
	if (!rs->min_rtt_us)
		return 0;
	shift = rightsize_shift(RIGHTSIZE_MARK_RTTS, rs->min_rtt_us);
	mark = (__u32)(a->clock_us >> shift);
	if (!rs->interval_us) {
		rightsize_begin_interval(rs, a->now_us);
		rs->mark = mark;
	}
	if (rs->state == RIGHTSIZE_TESTING)
		rightsize_test(rs, a);
	else if (rs->state == RIGHTSIZE_PROBE_RTT)
		rightsize_probe(rs, a);
	else if (mark != rs->mark && !rightsize_end_interval(rs, a, mark, shift))
		mark = rs->mark;
	rs->mark = mark;
	return rightsize_round_is_over(rs, a) ? rightsize_end_round(rs, a) : 0;
}
