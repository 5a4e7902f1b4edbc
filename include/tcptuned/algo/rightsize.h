/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Dynamic Right-Sizing: can one direction of a connection do with less window than the kernel gives
 * it, without a loss of rate?
 *
 * Fisk and Feng, "Dynamic Right-Sizing in TCP" (DRS below), offer twice the bytes that arrive in a
 * round-trip time (sections III.A, III.B, IV). Linux does the same (tcp_rcvbuf_grow(),
 * tcp_sndbuf_expand()), but with the present round-trip time, queues included, so that the window
 * grows until a deep queue is full. Twice the bytes per *minimum* RTT (DRS IV.A) also fills the
 * path, and leaves a queue of one bandwidth-delay product. That holds only where the queue is this
 * connection's own. Where the path became longer, its delay varies, or another connection fills the
 * queue, less window is less rate. So the kernel's growth is the default, and a smaller window is
 * an experiment that has to prove itself:
 *
 *  FREE       The kernel sizes the buffer.
 *  PREPARING  There was a standing queue during a whole interval, in the direction of the data, and
 *             the application has not paused for seconds. The window is 3/2 of what is in flight, so
 *             that the next test takes effect soon, since an advertised window is never shrunk. With
 *             less than 3/2, a writer, which is woken when a third of the buffer is free, would come
 *             too late.
 *  TESTING    For three RTTs the window is half of what was in flight. If the queue is the
 *             connection's own, the RTT falls with the window and the rate stays. If the path is
 *             long or its delay varies, the rate falls. If others fill the queue, the RTT hardly
 *             falls. In the last two cases, and if a segment is lost meanwhile, the connection is
 *             free again.
 *  PROBE_RTT  The queue is its own. The window is half a bandwidth-delay product until the queue is
 *             empty, so that the minimum RTT is measured again.
 *  HOLDING    The window is 7/4 x rate x minimum RTT. It becomes twice the bytes of a round (DRS III.B)
 *             whenever the smallest RTT of a round shows that the queue had nearly emptied. The hold
 *             ends with three failed tests in a row, and with two rounds with silences that a queue
 *             would have filled. A queue that does not empty is probed again.
 *
 * Tests begin at marks of a clock that hosts share, a power of two apart, because connections that
 * fill the queue of one bottleneck together have to reduce it together: a single one would find the
 * queue of the others (as with BBR's ProbeRTT and Copa's mode switching). A power of two of
 * microseconds does not coincide with delays that people configure.
 *
 * Pure: no globals, no kernel and no libc call, integers only. Times are microseconds, amounts are
 * bytes. Included by BPF programs, unit tests and simulations.
 */
#ifndef TCPTUNED_RIGHTSIZE_H
#define TCPTUNED_RIGHTSIZE_H

#include <linux/types.h>

/*
 * A path with a smaller RTT counts as one with this RTT. Below it, measurements depend on a
 * receiver's timestamps, which tick in milliseconds, and on the scheduling of the two applications.
 */
#define RIGHTSIZE_BASE_MIN_US 2000u

/* An RTT that exceeds the minimum by less than this is not worth an experiment. */
#define RIGHTSIZE_EXCESS_MIN_US 4000u

/* Marks are at least 2^18 us = 262 ms and at least 16 minimum RTTs apart. */
#define RIGHTSIZE_MARK_SHIFT	 18u
#define RIGHTSIZE_MARK_SHIFT_MAX 24u
#define RIGHTSIZE_MARK_RTTS	 16u

/*
 * Tests begin at marks that are 2^20 us = 1 s and at least four standing RTTs apart, but at most 4.2 s. After
 * the first one they are 4.2 s apart, and each failure beyond two doubles that, up to 67 s. So are those of a
 * connection that was once twice as fast: others share its link now, or the link has become slower.
 */
#define RIGHTSIZE_TEST_RTTS    4u
#define RIGHTSIZE_TEST_SHIFT   20u
#define RIGHTSIZE_LATER_SHIFT  22u
#define RIGHTSIZE_SELDOM_SHIFT 23u
#define RIGHTSIZE_SELDOM_MAX   26u

/* An application that paused during the last 4.2 s does not fill a queue all the time: no test. */
#define RIGHTSIZE_BUSY_US (1u << 22)

/* An interval with fewer RTT samples continues past the mark. */
#define RIGHTSIZE_SAMPLES_MIN 8u

/* This many failed tests in a row end a hold. */
#define RIGHTSIZE_FAILURES_MAX 3u

/*
 * A hold whose queue does not empty measures the minimum RTT again at marks that are 8.4 s (BBR's ProbeRTT: 10 s)
 * and 128 RTTs apart, but at most 16.8 s: the path may not show that minimum any more.
 */
#define RIGHTSIZE_AGAIN_SHIFT 23u
#define RIGHTSIZE_AGAIN_RTTS  128u

/* The rate grows if it has risen by a quarter in one of so many rounds; slow start doubles it in each. */
#define RIGHTSIZE_STEADY_ROUNDS 3u

/*
 * 67 seconds and 550 Gbit/s. Values are limited to them, so that products stay below 2^64: of a rate and
 * an RTT with the range over which it varies, which is at most twice the largest RTT.
 */
#define RIGHTSIZE_RTT_MAX_US (1u << 26)
#define RIGHTSIZE_RATE_MAX   (1ull << 36)

/* The largest window that TCP can express: RFC 7323, section 2.3. */
#define RIGHTSIZE_WINDOW_MAX (1u << 30)

enum rightsize_state {
	RIGHTSIZE_FREE = 0,
	RIGHTSIZE_PREPARING,
	RIGHTSIZE_TESTING,
	RIGHTSIZE_PROBE_RTT,
	RIGHTSIZE_HOLDING,
};

/* What determines the window. */
enum rightsize_reason {
	RIGHTSIZE_UNMEASURED = 0, /* no round trip has been measured */
	RIGHTSIZE_KERNEL,	  /* the kernel's own autotuning */
	RIGHTSIZE_UNDER_TEST,	  /* 3/2, then half of what was in flight: whose is the queue? */
	RIGHTSIZE_PROBING,	  /* half a bandwidth-delay product, to measure the minimum RTT */
	RIGHTSIZE_HELD,		  /* 2 x rate x minimum RTT (DRS III.B) */
	RIGHTSIZE_READER,	  /* the application reads slowly (DRS II) */
	RIGHTSIZE_CAPPED,	  /* the policy's maximum */
	RIGHTSIZE_BUDGET,	  /* its share of the memory budget (budget.h) */
	RIGHTSIZE_EARNED,	  /* beyond the kernel's maximum: rightsize_earned() */
	RIGHTSIZE_REASONS,
};

/* One direction of one connection; all zeroes: a new one. */
struct rightsize {
	__u64 interval_us;	  /* beginning of the interval between two marks; 0: none yet */
	__u64 round_us;		  /* beginning of the round */
	__u64 stage_us;		  /* beginning of the test or the probe, or when a hold last grew */
	__u64 seen_us;		  /* when data was last seen */
	__u64 rate;		  /* of the last interval, bytes per second */
	__u64 rate_best;	  /* of the fastest busy round */
	__u64 carried;		  /* bytes of the present interval or stage */
	__u64 rtt_sum_us;	  /* of the samples of the present interval or stage */
	__u32 mark;		  /* number of the interval on the common clock */
	__u32 seen_bytes;	  /* the byte counter when data was last seen */
	__u32 round_bytes;	  /* ... of the round */
	__u32 per_rtt;		  /* bytes of the last round */
	__u32 min_rtt_us;	  /* smallest RTT known of the path; 0: none */
	__u32 min_delay_us;	  /* smallest one-way delay, by clocks that differ; 0: none */
	__u32 low_us;		  /* smallest RTT of the present interval; 0: none */
	__u32 low_delay_us;	  /* ... one-way delay */
	__u32 round_low_us;	  /* smallest RTT of the present round */
	__u32 last_low_us;	  /* ... of the previous round */
	__u32 samples;		  /* RTT samples of the present interval */
	__u32 silent_us;	  /* longest time without data in the present round */
	__u32 interval_silent_us; /* ... in the present interval or stage */
	__u32 test_rtt_us;	  /* standing RTT before the test */
	__u32 held;		  /* the window to hold, bytes; 0: none */
	__u32 window;		  /* the window decided on, bytes; 0: the kernel's */
	__u32 tests;		  /* number of tests begun */
	__u8 state;		  /* enum rightsize_state */
	__u8 reason;		  /* enum rightsize_reason */
	__u8 failures;		  /* tests that failed in a row */
	__u8 silent_rounds;	  /* rounds in a row in which a hold left the path idle */
	__u8 busy;		  /* intervals in a row without a pause */
	__u8 waiting : 1;	  /* 1: more is offered than the window of the stage */
	__u8 steady : 4;	  /* busy rounds since the rate rose by a quarter, at most 15 */
};

/* The measurements of a direction when an ACK leaves or arrives. */
struct rightsize_ack {
	__u64 now_us;	 /* monotonic clock */
	__u64 clock_us;	 /* a clock that hosts share */
	__u32 bytes;	 /* counter of the bytes that the direction carried, modulo 2^32 */
	__u32 sample_us; /* one RTT, not smoothed; 0: none */
	__u32 delay_us;	 /* from sending to arrival, by the clocks of the two hosts; 0: none */
	__u32 rtt_us;	 /* smoothed RTT, queues included: the length of a round */
	__u32 min;	 /* the smallest window allowed, bytes */
	__u32 offered;	 /* advertised and not used, bytes, normally 0 for a sender;
			  * RIGHTSIZE_WINDOW_MAX: a loss is being repaired */
};

/* a * b / c, or 0 if c is 0. The caller keeps a * b below 2^64. */
static inline __u64 rightsize_muldiv(__u64 a, __u64 b, __u64 c)
{
	return c ? a * b / c : 0;
}

/*
 * The bytes carried since a counter, modulo 2^32, was @then. The highest sequence number decreases
 * when the kernel drops segments that arrived out of order (tcp_prune_ofo_queue()).
 */
static inline __u32 rightsize_since(__u32 then, __u32 bytes)
{
	__s32 came = (__s32)(bytes - then);

	return came < 0 ? 0 : (__u32)came;
}

/* Bytes per second. */
static inline __u64 rightsize_rate(__u64 bytes, __u64 us)
{
	__u64 rate = rightsize_muldiv(bytes, 1000000, us);

	return rate < RIGHTSIZE_RATE_MAX ? rate : RIGHTSIZE_RATE_MAX;
}

/* The minimum RTT for calculations; 0: none is known. */
static inline __u32 rightsize_min_rtt_us(const struct rightsize *rs)
{
	if (!rs->min_rtt_us)
		return 0;
	return rs->min_rtt_us < RIGHTSIZE_BASE_MIN_US ? RIGHTSIZE_BASE_MIN_US : rs->min_rtt_us;
}

static inline __u32 rightsize_clamp_window(__u64 window, __u32 min)
{
	if (window < min)
		return min;
	return window < RIGHTSIZE_WINDOW_MAX ? (__u32)window : RIGHTSIZE_WINDOW_MAX;
}

/* The rate since the present interval or stage began. */
static inline __u64 rightsize_rate_now(const struct rightsize *rs, const struct rightsize_ack *a)
{
	return rightsize_rate(rs->carried, a->now_us - rs->interval_us);
}

/* Adds one RTT sample; 0: none. */
static inline void rightsize_rtt_sample(struct rightsize *rs, __u32 rtt_us)
{
	if (!rtt_us)
		return;
	if (rtt_us > RIGHTSIZE_RTT_MAX_US)
		rtt_us = RIGHTSIZE_RTT_MAX_US;
	rs->samples++;
	rs->rtt_sum_us += rtt_us;
	if (!rs->min_rtt_us || rtt_us < rs->min_rtt_us)
		rs->min_rtt_us = rtt_us;
	if (!rs->low_us || rtt_us < rs->low_us)
		rs->low_us = rtt_us;
	if (!rs->round_low_us || rtt_us < rs->round_low_us)
		rs->round_low_us = rtt_us;
}

/* The smaller of two one-way delays, which may be on both sides of 2^32; 0: none. */
static inline __u32 rightsize_smaller_delay(__u32 a, __u32 b)
{
	return a && (!b || (__s32)(a - b) < 0) ? a : b;
}

/*
 * The smallest power of two of at least @rtts RTTs, us, within the range of marks. BPF programs do
 * not inline it, so that the verifier does not walk the caller for each result.
 */
#ifdef __bpf__
__attribute__((noinline))
#else
static inline
#endif
__u32 rightsize_shift(__u32 rtts, __u32 rtt_us)
{
	__u64 want = (__u64)rtts * rtt_us;
	__u32 shift = RIGHTSIZE_MARK_SHIFT;

	while (shift < RIGHTSIZE_MARK_SHIFT_MAX && 1ull << shift < want)
		shift++;
	return shift;
}

/* Is mark number @mark, 2^@shift us apart, one of those 2^@wanted us apart, or was one skipped? */
static inline int rightsize_is_mark(const struct rightsize *rs, __u32 mark, __u32 shift,
				    __u32 wanted)
{
	return wanted <= shift || mark >> (wanted - shift) != rs->mark >> (wanted - shift);
}

/* Returns whether a packet that had this RTT found the queue nearly empty. */
static inline int rightsize_nearly_empty(const struct rightsize *rs, __u32 rtt_us)
{
	return 4ull * rtt_us < 5ull * rightsize_min_rtt_us(rs);
}

/* True if @rtt_us exceeds what a window of 2 x rate x RTT without a queue explains. */
static inline int rightsize_exceeds(const struct rightsize *rs, __u32 rtt_us)
{
	__u64 base = rightsize_min_rtt_us(rs);

	return 2ull * rtt_us > 5 * base && rtt_us > base + RIGHTSIZE_EXCESS_MIN_US;
}

/* Mean RTT of the present interval or stage; 0: no sample. */
static inline __u32 rightsize_mean_rtt_us(const struct rightsize *rs)
{
	return (__u32)rightsize_muldiv(rs->rtt_sum_us, 1, rs->samples);
}

/*
 * Bytes in flight during the last interval. Uses the mean RTT, because under jitter it is more than
 * rate x smallest RTT.
 */
static inline __u64 rightsize_flight(const struct rightsize *rs)
{
	__u32 rtt_us = rs->low_us, mean = rightsize_mean_rtt_us(rs);

	return rightsize_muldiv(rs->rate, mean > rtt_us ? mean : rtt_us, 1000000);
}

static inline void rightsize_enter(struct rightsize *rs, __u8 state, __u64 now_us)
{
	rs->state = state;
	/* FREE is the kernel, PREPARING and TESTING are both a test, and the others have the same number */
	rs->reason = state < RIGHTSIZE_TESTING ? state + RIGHTSIZE_KERNEL : state;
	rs->stage_us = now_us;
	rs->silent_rounds = 0;
	rs->interval_silent_us = 0;
	rs->waiting = 1;
	if (state == RIGHTSIZE_FREE)
		rs->window = rs->held = 0;
}

static inline void rightsize_begin_interval(struct rightsize *rs, const struct rightsize_ack *a)
{
	rs->interval_us = a->now_us;
	rs->carried = 0;
	rs->low_us = rs->low_delay_us = rs->samples = 0;
	rs->rtt_sum_us = 0;
}

/* The path has changed: what was the smallest of late is the minimum. */
static inline void rightsize_new_minimum(struct rightsize *rs, __u32 rtt_us)
{
	rs->min_rtt_us = rtt_us;
	rs->min_delay_us = rs->low_delay_us;
}

/*
 * Returns whether tests begin at mark number @mark of those 2^@shift us apart. Test marks depend on
 * the RTT only from 262 ms on, so that connections that share a queue seldom use different ones.
 */
static inline int rightsize_is_test_mark(const struct rightsize *rs, __u32 mark, __u32 shift)
{
	__u32 wanted = rightsize_shift(RIGHTSIZE_TEST_RTTS, rs->low_us);

	if (wanted > RIGHTSIZE_LATER_SHIFT)
		wanted = RIGHTSIZE_LATER_SHIFT;
	return rightsize_is_mark(rs, mark, shift, RIGHTSIZE_TEST_SHIFT) &&
	       rightsize_is_mark(rs, mark, shift, wanted);
}

/* Returns whether a connection should prepare for a test at this mark. */
static inline int rightsize_test_due(const struct rightsize *rs, __u32 mark, __u32 shift)
{
	__u32 wanted = rs->tests ? RIGHTSIZE_LATER_SHIFT : RIGHTSIZE_TEST_SHIFT;

	if (rs->failures > 2)
		wanted += rs->failures - 2;
	if (wanted < RIGHTSIZE_SELDOM_SHIFT && 2 * rs->rate < rs->rate_best)
		wanted = RIGHTSIZE_SELDOM_SHIFT;
	if (wanted > RIGHTSIZE_SELDOM_MAX)
		wanted = RIGHTSIZE_SELDOM_MAX;
	return (__u64)rs->busy << shift >= RIGHTSIZE_BUSY_US &&
	       rightsize_is_mark(rs, mark, shift, wanted);
}

/*
 * Returns whether there was a queue during all of an interval, in the direction of the data: at least half
 * of what the RTT exceeds the minimum by, if timestamps tell.
 */
static inline int rightsize_queue_stands(const struct rightsize *rs)
{
	return rightsize_exceeds(rs, rs->low_us) &&
	       (!rs->low_delay_us ||
		2ull * (rs->low_delay_us - rs->min_delay_us) >= rs->low_us - rs->min_rtt_us);
}

static inline void rightsize_prepare(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 flight = rightsize_flight(rs);

	rs->window = rightsize_clamp_window(flight + flight / 2, a->min);
	rightsize_enter(rs, RIGHTSIZE_PREPARING, a->now_us);
}

static inline void rightsize_begin_test(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 flight = rightsize_flight(rs);

	rs->test_rtt_us = rs->low_us;
	rs->window = rightsize_clamp_window(flight / 2, a->min);
	rs->tests++;
	rightsize_enter(rs, RIGHTSIZE_TESTING, a->now_us);
}

/* Returns whether a hold has to measure the minimum RTT again at this mark. */
static inline int rightsize_is_unsure(const struct rightsize *rs, __u32 mark, __u32 shift)
{
	__u32 wanted = rightsize_shift(RIGHTSIZE_AGAIN_RTTS, rs->min_rtt_us);

	if (wanted < RIGHTSIZE_AGAIN_SHIFT)
		wanted = RIGHTSIZE_AGAIN_SHIFT;
	return rs->interval_us > rs->stage_us && !rightsize_nearly_empty(rs, rs->low_us) &&
	       rightsize_is_mark(rs, mark, shift, wanted);
}

/* A hold measures the minimum RTT again, with 3/4 of a bandwidth-delay product, which empties an own queue. */
static inline void rightsize_begin_probe(struct rightsize *rs, const struct rightsize_ack *a)
{
	rs->test_rtt_us = rs->low_us;
	rs->window = rightsize_clamp_window(
		rightsize_muldiv(3 * rs->rate, rightsize_min_rtt_us(rs), 4000000), a->min);
	rightsize_enter(rs, RIGHTSIZE_PROBE_RTT, a->now_us);
}

/* Holds 7/4 of a bandwidth-delay product: with the delay of the path, the RTT stays below twice the minimum. */
static inline void rightsize_hold(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 window = rightsize_muldiv(7 * rs->rate, rightsize_min_rtt_us(rs), 4000000);

	if (window < rs->held - rs->held / 4)
		window = rs->held - rs->held / 4;
	rs->held = rs->window = rightsize_clamp_window(window, a->min);
	rs->failures = 0;
	/* It grows later: at first the connection's other end may still empty the queue. */
	rightsize_enter(rs, RIGHTSIZE_HOLDING, a->now_us + (1u << RIGHTSIZE_MARK_SHIFT));
	rightsize_begin_interval(rs, a);
}

/* Returns to the window held before the test, or to the kernel's. */
static inline void rightsize_leave_test(struct rightsize *rs, const struct rightsize_ack *a)
{
	rs->window = rs->held;
	rightsize_enter(rs, rs->held ? RIGHTSIZE_HOLDING : RIGHTSIZE_FREE, a->now_us);
	rightsize_begin_interval(rs, a);
}

/*
 * An advertised window is never shrunk, so a smaller window takes effect when the sender has used what
 * was advertised before. Returns whether it has; the stage begins then. After 16 RTTs the test is
 * abandoned.
 */
static inline int rightsize_takes_effect(struct rightsize *rs, const struct rightsize_ack *a)
{
	if (!rs->waiting)
		return 1;
	if (a->offered <= rs->window + rs->window / 8ull + a->min / 4) {
		rs->waiting = 0;
		rs->interval_silent_us = 0;
		rs->stage_us = a->now_us;
		return 1;
	}
	if (a->now_us - rs->stage_us >= 16ull * rs->test_rtt_us)
		rightsize_leave_test(rs, a);
	rightsize_begin_interval(rs, a);
	return 0;
}

/*
 * A test failed, because the RTT did not fall with the window. If it did not change at all, none of
 * the queue is the connection's, and this RTT becomes the minimum.
 */
static inline void rightsize_fail(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u32 found = rs->low_us, before = rs->test_rtt_us;
	__u32 gap = found > before ? found - before : before - found;

	if (rs->failures < 255)
		rs->failures++;
	if (found && gap < before / 16)
		rightsize_new_minimum(rs, found);
	if (rs->failures >= RIGHTSIZE_FAILURES_MAX)
		rs->held = 0;
	rightsize_leave_test(rs, a);
}

/*
 * What was in flight before is gone after two RTTs. The third one is measured. In a queue of its own, a
 * connection with half the window has 1/2 of the RTT and its full rate; in a queue of others 3/4 of
 * the RTT or more; without a queue the full RTT and half the rate. The bounds are in between.
 */
static inline void rightsize_test(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 elapsed, rate;

	/* A loss reduces the RTT, too. */
	if (a->offered == RIGHTSIZE_WINDOW_MAX) {
		rightsize_leave_test(rs, a);
		return;
	}
	if (!rightsize_takes_effect(rs, a))
		return;
	elapsed = a->now_us - rs->stage_us;
	if (elapsed < 2ull * rs->test_rtt_us) {
		rightsize_begin_interval(rs, a);
		return;
	}
	if (elapsed < 3ull * rs->test_rtt_us ||
	    (rs->samples < 2 && elapsed < 8ull * rs->test_rtt_us))
		return;
	rate = rightsize_rate_now(rs, a);
	if (!rs->samples || rs->low_us > rs->test_rtt_us * 11ull / 16 || rate < rs->rate * 5 / 8) {
		rightsize_fail(rs, a);
		return;
	}
	/* The link became faster. Where another connection pauses, the rate may double. */
	if (rate > 2 * rs->rate)
		rs->rate = rate;
	rightsize_hold(rs, a);
}

/*
 * One RTT after the window took effect, the queue is empty, and the RTT is that of the path; three more
 * let the other connections of the queue measure it empty, too. A queue that remains after that is theirs. The
 * hold is 7/4 of the rate before the test x that RTT, so that the RTT stays below twice the path's, and at
 * least 3/4 of the hold before.
 */
static inline void rightsize_probe(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 base = rightsize_min_rtt_us(rs), elapsed, own;

	if (!rightsize_takes_effect(rs, a))
		return;
	elapsed = a->now_us - rs->stage_us;
	if (elapsed < rs->test_rtt_us + base / 2) {
		rightsize_begin_interval(rs, a);
		return;
	}
	if (elapsed < rs->test_rtt_us + 3 * base ||
	    (rs->samples < 2 && elapsed < 8ull * rs->test_rtt_us))
		return;
	/* The delay of the window itself, if the smallest window allowed exceeds the path's BDP. */
	own = rightsize_muldiv(rs->window, 1000000, rs->rate);
	own = own > base ? own - base : 0;
	if (rs->low_us > own && rightsize_exceeds(rs, (__u32)(rs->low_us - own))) {
		rightsize_fail(rs, a);
		return;
	}
	if (rs->low_us)
		rightsize_new_minimum(rs, rs->low_us);
	rightsize_hold(rs, a);
}

/*
 * Ends the interval between two marks, and decides by whether there was a standing queue during all of
 * it. Returns 0 if it had too few samples; it then continues, and its mark is handled later.
 */
static inline int rightsize_end_interval(struct rightsize *rs, const struct rightsize_ack *a,
					 __u32 mark, __u32 shift)
{
	__u64 elapsed = a->now_us - rs->interval_us, before = rs->rate;
	int stands;

	if (rs->samples < RIGHTSIZE_SAMPLES_MIN && elapsed < RIGHTSIZE_RTT_MAX_US)
		return 0;
	stands = rs->state == RIGHTSIZE_FREE ? rightsize_queue_stands(rs)
					     : rightsize_exceeds(rs, rs->low_us);
	rs->rate = rightsize_rate_now(rs, a);
	if (rs->reason == RIGHTSIZE_UNMEASURED)
		rs->reason = RIGHTSIZE_KERNEL;
	/* The sender paused for a round trip, and the pause is part of the samples. */
	if (rs->interval_silent_us >= rs->low_us)
		rs->busy = 0;
	else if (rs->busy < 255)
		rs->busy++;
	/* Others have left the queue, perhaps. */
	if (rs->state == RIGHTSIZE_FREE && 8 * rs->rate > 11 * before)
		rs->failures = 0;
	switch (rs->state) {
	case RIGHTSIZE_FREE:
		if (stands && rs->interval_us > rs->stage_us && rightsize_test_due(rs, mark, shift))
			rightsize_prepare(rs, a);
		break;
	case RIGHTSIZE_PREPARING:
		if (!stands || a->offered == RIGHTSIZE_WINDOW_MAX)
			rightsize_enter(rs, RIGHTSIZE_FREE, a->now_us);
		else if (rightsize_is_test_mark(rs, mark, shift))
			rightsize_begin_test(rs, a);
		break;
	default:
		if (rightsize_is_unsure(rs, mark, shift) ||
		    (stands && rs->busy && rightsize_is_test_mark(rs, mark, shift)))
			rightsize_begin_probe(rs, a);
	}
	rs->interval_silent_us = 0;
	rightsize_begin_interval(rs, a);
	return 1;
}

/*
 * Ends a round of a hold that carried @got bytes and whose smallest RTT was @low. If the queue nearly
 * emptied, the window is too small: it becomes twice the bytes per RTT (DRS III.B) without those that
 * were queued. It grows again 4 RTTs later.
 *
 * If the path was silent although the RTT is four times the minimum, there is no queue and the path has
 * become longer: the hold ends, and this RTT becomes the minimum. Below four times the minimum, bursts
 * of other connections may be the reason for the silence. A hold from the path memory
 * (rightsize_begin_held()) ends if it leaves the path silent for half an RTT: a slow path is never.
 */
static inline void rightsize_hold_round(struct rightsize *rs, const struct rightsize_ack *a,
					__u32 got, __u32 low)
{
	__u32 base = rightsize_min_rtt_us(rs);
	__u64 window;

	/* The effect of a window is seen one RTT later. */
	if (low && rightsize_nearly_empty(rs, low) && rs->round_us > rs->stage_us + 4ull * base) {
		window = rightsize_muldiv(2ull * (got < rs->held ? got : rs->held), base,
					  low < base ? base : low);
		if (window > rs->held) {
			rs->held = rs->window = rightsize_clamp_window(window, a->min);
			rs->stage_us = a->now_us;
		}
	}
	if (got <= rs->held / 2 ||
	    !((low > 4ull * base && rightsize_exceeds(rs, low) && rs->silent_us > low / 3) ||
	      (!rs->tests && rs->silent_us > low / 2))) {
		rs->silent_rounds = 0;
	} else if (++rs->silent_rounds >= 2) {
		if (rs->failures < 255)
			rs->failures++;
		rightsize_new_minimum(rs, low);
		rightsize_enter(rs, RIGHTSIZE_FREE, a->now_us);
	}
}

/* Notes the rate of a round, unless the application paused: then it is longer than two RTTs. */
static inline void rightsize_note_rate(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 us = a->now_us - rs->round_us, rate = rightsize_rate(rs->per_rtt, us);

	if (us >= 2ull * (a->rtt_us > rs->min_rtt_us ? a->rtt_us : rs->min_rtt_us))
		return;
	if (4 * rate > 5 * rs->rate_best)
		rs->steady = 0;
	else if (rs->steady < 15)
		rs->steady++;
	if (rate > rs->rate_best)
		rs->rate_best = rate;
}

static inline void rightsize_end_round(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u32 low = rs->round_low_us;

	if (rs->round_us) {
		rs->per_rtt = rightsize_since(rs->round_bytes, a->bytes);
		rightsize_note_rate(rs, a);
		if (rs->state == RIGHTSIZE_HOLDING)
			rightsize_hold_round(rs, a, rs->per_rtt, low);
	}
	rs->round_us = a->now_us;
	rs->round_bytes = a->bytes;
	rs->last_low_us = low;
	rs->round_low_us = 0;
	rs->silent_us = 0;
}

/*
 * An ACK leaves or arrives. Sets rs->window, the maximum window of the direction, bytes; 0: the
 * kernel's. Returns whether a round ended.
 */
static inline int rightsize_on_ack(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 silent = a->now_us - rs->seen_us;
	__u32 shift, mark, came;

	if (!rs->seen_us || silent >= RIGHTSIZE_RTT_MAX_US)
		silent = 0;
	if (silent > rs->silent_us)
		rs->silent_us = (__u32)silent;
	if (silent > rs->interval_silent_us)
		rs->interval_silent_us = (__u32)silent;
	if (rs->interval_us &&
	    silent > 2ull * a->rtt_us) /* the application paused: no time of its rate */
		rs->interval_us += silent;
	came = rightsize_since(rs->seen_us ? rs->seen_bytes : a->bytes, a->bytes);
	rs->seen_bytes = a->bytes;
	rs->seen_us = a->now_us;
	rs->carried += came;
	rightsize_rtt_sample(rs, a->sample_us);
	rs->min_delay_us = rightsize_smaller_delay(a->delay_us, rs->min_delay_us);
	rs->low_delay_us = rightsize_smaller_delay(a->delay_us, rs->low_delay_us);
	if (!rs->min_rtt_us)
		return 0;
	shift = rightsize_shift(RIGHTSIZE_MARK_RTTS, rs->min_rtt_us);
	mark = (__u32)(a->clock_us >> shift);
	if (!rs->interval_us) {
		rightsize_begin_interval(rs, a);
		rs->mark = mark;
	}
	if (rs->state == RIGHTSIZE_TESTING) {
		rightsize_test(rs, a);
	} else if (rs->state == RIGHTSIZE_PROBE_RTT) {
		rightsize_probe(rs, a);
	} else if (mark != rs->mark && !rightsize_end_interval(rs, a, mark, shift)) {
		mark = rs->mark;
	}
	rs->mark = mark;
	if (a->now_us - rs->round_us < (a->rtt_us ? a->rtt_us : rs->min_rtt_us))
		return 0;
	rightsize_end_round(rs, a);
	return 1;
}

/*
 * Returns the window that a connection has earned, bytes, of what exceeds the kernel's own maximum: twice
 * what the fastest round carried per minimum RTT, so that the rate can double in the next one (DRS III.B), or
 * eight times while it grows: slow start has sent twice in a round what arrived in it, doubles that in the next
 * one, and again before that is measured. A rate that has stopped growing has filled the path, and then the
 * window grows no more. Before a round has been measured nothing is denied. @rtt_us: the kernel's minimum,
 * which is exact where a receiver's timestamps are not.
 */
static inline __u32 rightsize_earned(const struct rightsize *rs, __u32 rtt_us)
{
	__u64 carried;

	if (!rs->rate_best)
		return RIGHTSIZE_WINDOW_MAX;
	if (!rtt_us || rtt_us >= RIGHTSIZE_BASE_MIN_US)
		rtt_us = rightsize_min_rtt_us(rs);
	carried = rightsize_muldiv(rs->rate_best, rtt_us, 1000000);
	return rightsize_clamp_window((rs->steady < RIGHTSIZE_STEADY_ROUNDS ? 8 : 2) * carried, 0);
}

/*
 * Begins as on a slow path, where an earlier connection held a window smaller than the kernel's
 * initial one (DRS V.B: on a link of 56 kbit/s a static window fills the queue and is lost).
 */
static inline void rightsize_begin_held(struct rightsize *rs, __u32 window)
{
	rs->held = rs->window = window;
	rightsize_enter(rs, RIGHTSIZE_HOLDING, 0);
}

#endif
