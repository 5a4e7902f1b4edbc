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
 *  PREPARING  The smallest RTT of a whole interval was more than 2.5 times the minimum, also without
 *             half the range over which RTTs vary: there is a standing queue. The window is 3/2 of
 *             what is in flight, so that the next test takes effect soon, since an advertised window
 *             is never shrunk. With less than 3/2, a writer, which is woken when a third of the
 *             buffer is free, would come too late.
 *  TESTING    For three RTTs the window is half of what was in flight. If the queue is the
 *             connection's own, the RTT falls with the window and the rate stays. If the path is
 *             long or its delay varies, the rate falls. If others fill the queue, the RTT hardly
 *             falls. In the last two cases, and if a segment is lost meanwhile, the connection is
 *             free again. If the link itself becomes slower meanwhile, the queue is known to be the
 *             connection's own by data that arrive without a pause, although the sender paused.
 *  PROBE_RTT  The queue is its own. The window is half a bandwidth-delay product until the queue is
 *             empty, so that the minimum RTT is measured again.
 *  HOLDING    The window is 2 x rate x minimum RTT (DRS III.B), or as much more as the delay of the
 *             path varies. It grows as in DRS whenever the smallest RTT of a round shows that the
 *             queue had nearly emptied (a larger one may come from a delay that varies), and by a
 *             quarter whenever the link was idle at times. Three failed tests in a row end the hold,
 *             and so do two rounds with silences that a queue would have filled.
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
 * Tests begin at marks that are 2^20 us = 1 s and at least four standing RTTs apart, but at most 4.2 s.
 * Whether to prepare for one is decided at marks 1 s apart in the first 7 s and until the first test,
 * then or after a failure 4.2 s, after three failures 8.4 s apart. In the first 3 s the queue must not
 * grow fast.
 */
#define RIGHTSIZE_TEST_RTTS    4u
#define RIGHTSIZE_TEST_SHIFT   20u
#define RIGHTSIZE_LATER_SHIFT  22u
#define RIGHTSIZE_FAILED_SHIFT 23u
#define RIGHTSIZE_NEW_US       (7u << 20)
#define RIGHTSIZE_GROWING_US   (3u << 20)

/* An interval with fewer RTT samples continues past the mark, and so does a probe of a varying delay. */
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

/* The bytes of an interval are counted in 32 bits, and in units of 2^30 bytes, at most 127. */
#define RIGHTSIZE_UNIT_SHIFT 30u
#define RIGHTSIZE_UNITS_MAX  127u

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
	__u64 stage_us;		  /* beginning of the test or the probe */
	__u64 seen_us;		  /* when data was last seen */
	__u64 rate;		  /* of the last interval, bytes per second */
	__u64 rate_best;	  /* of the fastest busy round */
	__u64 rate_before;	  /* ... before the last test: what a hold has to carry */
	__u64 rtt_sum_us;	  /* of the samples of the present interval or stage */
	__u32 mark;		  /* number of the interval on the common clock */
	__u32 interval_bytes;	  /* the byte counter at its beginning, or later by the units */
	__u32 round_bytes;	  /* ... of the round */
	__u32 per_rtt;		  /* bytes of the last round */
	__u32 min_rtt_us;	  /* smallest RTT known of the path; 0: none */
	__u32 low_us;		  /* smallest RTT of the present interval; 0: none */
	__u32 round_low_us;	  /* ... of the present round */
	__u32 last_low_us;	  /* ... of the previous round */
	__u32 samples;		  /* RTT samples of the present interval */
	__u32 silent_us;	  /* longest time without data in the present round */
	__u32 interval_silent_us; /* ... in the present interval or stage */
	__u32 test_rtt_us;	  /* standing RTT before the test, or of the previous interval */
	__u32 path_rtt_us;	  /* mean RTT without a queue, by the last probe; 0: none */
	__u32 range_us;	       /* over which RTTs varied before the test, or in the last interval */
	__u32 before_low_us;   /* smallest RTT of the previous interval */
	__u32 held;	       /* the window to hold, bytes; 0: none */
	__u32 window;	       /* the window decided on, bytes; 0: the kernel's */
	__u32 tests;	       /* number of tests begun */
	__u8 state;	       /* enum rightsize_state */
	__u8 reason;	       /* enum rightsize_reason */
	__u8 failures;	       /* tests that failed in a row */
	__u8 silent_rounds;    /* rounds in a row in which a hold left the path idle */
	__u8 inconclusive : 1; /* 1: the path changed during the last test */
	__u8 waiting : 1;      /* 1: more is offered than the window of the stage */
	__u8 steady : 4;       /* busy rounds since the rate rose by a quarter, at most 15 */
	__u8 intervals;	       /* that have ended, at most 255 */
	__u8 rate_rose : 1;    /* 1: the rate rose by 3/8 at once since the last test */
	__u8 units : 7; /* of 2^30 bytes that the interval has carried before interval_bytes */
};

/* The measurements of a direction when an ACK leaves or arrives. */
struct rightsize_ack {
	__u64 now_us;	 /* monotonic clock */
	__u64 clock_us;	 /* a clock that hosts share: TAI */
	__u32 bytes;	 /* counter of the bytes that the direction carried, modulo 2^32 */
	__u32 sample_us; /* one RTT, not smoothed; 0: none */
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
	__u64 units = (__u64)rs->units << RIGHTSIZE_UNIT_SHIFT;

	return rightsize_rate(units + rightsize_since(rs->interval_bytes, a->bytes),
			      a->now_us - rs->interval_us);
}

/*
 * Counts a unit of the interval's bytes before they exceed 31 bits (rightsize_since()), as they do
 * where more than 64 MB are in flight: an interval has up to 32 RTTs.
 */
static inline void rightsize_count_unit(struct rightsize *rs, const struct rightsize_ack *a)
{
	if (rightsize_since(rs->interval_bytes, a->bytes) >> RIGHTSIZE_UNIT_SHIFT &&
	    rs->units < RIGHTSIZE_UNITS_MAX) {
		rs->interval_bytes += 1u << RIGHTSIZE_UNIT_SHIFT;
		rs->units++;
	}
}

/*
 * Returns whether the sender paused for a round trip in the present interval: its application has little to
 * send, and the pause is part of the RTT samples, as the timestamp that the next data echo is from before it.
 */
static inline int rightsize_has_paused(const struct rightsize *rs)
{
	return rs->interval_silent_us >= rs->low_us;
}

/* Returns whether data arrived without a pause since the window was reduced. */
static inline int rightsize_kept_link_busy(const struct rightsize *rs)
{
	return rs->interval_silent_us < rs->test_rtt_us / 8;
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

/* Returns whether the last probe found a delay that varies (rightsize_path_us()). */
static inline int rightsize_delay_varies(const struct rightsize *rs)
{
	return 2ull * rs->path_rtt_us >= 3ull * rightsize_min_rtt_us(rs);
}

/* Returns whether a packet that had this RTT found the queue nearly empty. */
static inline int rightsize_nearly_empty(const struct rightsize *rs, __u32 rtt_us)
{
	return 4ull * rtt_us < 5ull * rightsize_min_rtt_us(rs);
}

/*
 * Returns whether a queue that is empty now shows that the window is too small. Hosts and links
 * pause at times. So where the delay was constant, the rate must have fallen below 15/16 of that
 * before the test, or the queue must have been empty in the previous interval, too.
 */
static inline int rightsize_empties_often(const struct rightsize *rs)
{
	return rightsize_delay_varies(rs) || 16 * rs->rate < 15 * rs->rate_before ||
	       rightsize_nearly_empty(rs, rs->before_low_us);
}

/* True if @rtt_us exceeds what a window of 2 x rate x RTT without a queue explains. */
static inline int rightsize_exceeds(const struct rightsize *rs, __u32 rtt_us)
{
	__u64 base = rightsize_min_rtt_us(rs);

	if (base < rs->path_rtt_us)
		base = rs->path_rtt_us;

	return 2ull * rtt_us > 5 * base && rtt_us > base + RIGHTSIZE_EXCESS_MIN_US;
}

static inline void rightsize_enter(struct rightsize *rs, __u8 state, __u64 now_us)
{
	static const __u8 reasons[8] = {
		[RIGHTSIZE_FREE] = RIGHTSIZE_KERNEL,
		[RIGHTSIZE_PREPARING] = RIGHTSIZE_UNDER_TEST,
		[RIGHTSIZE_TESTING] = RIGHTSIZE_UNDER_TEST,
		[RIGHTSIZE_PROBE_RTT] = RIGHTSIZE_PROBING,
		[RIGHTSIZE_HOLDING] = RIGHTSIZE_HELD,
	};

	rs->state = state;
	rs->reason = reasons[state & 7];
	rs->stage_us = now_us;
	rs->silent_rounds = 0;
	rs->interval_silent_us = 0;
	rs->waiting = 1;
	if (state == RIGHTSIZE_FREE)
		rs->window = rs->held = rs->path_rtt_us = 0;
}

/* Discards the measurements, at the beginning of an interval or stage. */
static inline void rightsize_clear(struct rightsize *rs)
{
	rs->low_us = 0;
	rs->samples = 0;
	rs->rtt_sum_us = 0;
}

static inline void rightsize_begin_interval(struct rightsize *rs, const struct rightsize_ack *a)
{
	rs->interval_us = a->now_us;
	rs->interval_bytes = a->bytes;
	rs->units = 0;
	rightsize_clear(rs);
}

/* Is mark number @mark, 2^@shift us apart, one of those 2^@wanted us apart, or was one skipped? */
static inline int rightsize_is_mark(const struct rightsize *rs, __u32 mark, __u32 shift,
				    __u32 wanted)
{
	return wanted <= shift || mark >> (wanted - shift) != rs->mark >> (wanted - shift);
}

/* The approximate time for which the connection has carried data, us. */
static inline __u64 rightsize_age_us(const struct rightsize *rs, __u32 shift)
{
	return (__u64)rs->intervals << shift;
}

/*
 * Returns whether a connection should prepare for a test at this mark. An old connection that has
 * tested, or one whose test failed, uses marks that are further apart; these are the same for all
 * connections of a bottleneck and for both ends of a connection. It uses every mark after its rate rose
 * at once beyond that before the last test, since another connection may then have left the queue.
 */
static inline int rightsize_test_due(const struct rightsize *rs, __u32 mark, __u32 shift)
{
	__u32 failures = rs->failures + rs->inconclusive;

	if (rs->rate_rose ||
	    (!failures && (!rs->tests || rightsize_age_us(rs, shift) < RIGHTSIZE_NEW_US)))
		return 1;
	return rightsize_is_mark(rs, mark, shift,
				 failures > 2 ? RIGHTSIZE_FAILED_SHIFT : RIGHTSIZE_LATER_SHIFT);
}

/* The RTT with the standing queue, which may have grown since the interval began. */
static inline __u32 rightsize_standing_rtt_us(const struct rightsize *rs)
{
	return rs->last_low_us > rs->low_us ? rs->last_low_us : rs->low_us;
}

/*
 * Returns whether tests begin at mark number @mark of those 2^@shift us apart. Test marks depend on
 * the RTT only from 262 ms on, so that connections that share a queue seldom use different ones.
 */
static inline int rightsize_is_test_mark(const struct rightsize *rs, __u32 mark, __u32 shift)
{
	__u32 wanted = rightsize_shift(RIGHTSIZE_TEST_RTTS, rightsize_standing_rtt_us(rs));

	if (wanted > RIGHTSIZE_LATER_SHIFT)
		wanted = RIGHTSIZE_LATER_SHIFT;
	return rightsize_is_mark(rs, mark, shift, RIGHTSIZE_TEST_SHIFT) &&
	       rightsize_is_mark(rs, mark, shift, wanted);
}

/*
 * Returns whether the queue grows too fast for a test. Before its first loss, CUBIC grows by 5 % per
 * RTT (bictcp_update()). A test in that time costs a share of the queue that is never regained from
 * competing connections. So the queueing delay of a new connection may have grown by at most 1/32 of
 * the time since the last mark. Later the RTT may have doubled, as it does where a link becomes slower.
 */
static inline int rightsize_queue_grows(const struct rightsize *rs, __u32 shift)
{
	__u32 most = 1u << (shift > RIGHTSIZE_TEST_SHIFT ? shift : RIGHTSIZE_TEST_SHIFT) >> 5;

	if (rightsize_age_us(rs, shift) >= RIGHTSIZE_GROWING_US)
		most = rs->test_rtt_us;
	else if (most > rs->test_rtt_us / 2)
		most = rs->test_rtt_us / 2;
	return rs->low_us > rs->test_rtt_us + most;
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
	__u32 rtt_us = rightsize_standing_rtt_us(rs), mean = rightsize_mean_rtt_us(rs);

	return rightsize_muldiv(rs->rate, mean > rtt_us ? mean : rtt_us, 1000000);
}

/*
 * The range over which RTTs vary, us: twice what their mean exceeds the smallest one by, without what a
 * queue that grows or shrinks contributes.
 */
static inline __u32 rightsize_range_us(const struct rightsize *rs)
{
	__u32 low = rs->low_us, before = rs->before_low_us;
	__u32 moved = before > low ? before - low : low - before;
	__u32 range = 2 * (rightsize_mean_rtt_us(rs) - low);

	return range > moved ? range - moved : 0;
}

/* The RTT of an interval also varies where a loss shrinks the queue, but seldom that of two. */
static inline void rightsize_limit_range(struct rightsize *rs, __u32 range)
{
	if (rs->range_us > range)
		rs->range_us = range;
}

static inline void rightsize_prepare(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 flight = rightsize_flight(rs);

	rs->window = rightsize_clamp_window(flight + flight / 2, a->min);
	rightsize_enter(rs, RIGHTSIZE_PREPARING, a->now_us);
}

static inline void rightsize_begin_test(struct rightsize *rs, const struct rightsize_ack *a,
					__u32 range)
{
	__u64 flight = rightsize_flight(rs);

	rightsize_limit_range(rs, range);
	if (rs->held && flight > rs->held)
		flight = rs->held;
	rs->test_rtt_us = rightsize_standing_rtt_us(rs);
	rs->window = rightsize_clamp_window(flight / 2, a->min);
	rs->rate_before = rs->rate;
	rs->tests++;
	rs->inconclusive = rs->rate_rose = 0;
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

/*
 * Measures it: with 3/4 of a bandwidth-delay product the queue empties, if it is the connection's own. Whatever
 * RTT is then the smallest is the minimum, also if it is larger than the one before.
 */
static inline void rightsize_probe_again(struct rightsize *rs, const struct rightsize_ack *a)
{
	rs->test_rtt_us = rightsize_standing_rtt_us(rs);
	rs->window = rightsize_clamp_window(
		rightsize_muldiv(3 * rs->rate, rightsize_min_rtt_us(rs), 4000000), a->min);
	rs->rate_before = rs->rate;
	rs->min_rtt_us = rs->low_us;
	rightsize_enter(rs, RIGHTSIZE_PROBE_RTT, a->now_us);
}

/* Returns to the window held before the test, or to the kernel's. */
static inline void rightsize_leave_test(struct rightsize *rs, const struct rightsize_ack *a)
{
	rs->window = rs->held;
	if (rs->held)
		rightsize_enter(rs, RIGHTSIZE_HOLDING, a->now_us);
	else
		rightsize_enter(rs, RIGHTSIZE_FREE, a->now_us);
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
	if (a->offered > rs->window + rs->window / 8ull + a->min / 4) {
		if (a->now_us - rs->stage_us < 16ull * rs->test_rtt_us)
			return 0;
		rs->inconclusive = 1;
		rightsize_leave_test(rs, a);
		return 0;
	}
	rs->waiting = 0;
	rs->interval_silent_us = 0;
	rs->stage_us = a->now_us;
	return 1;
}

/*
 * A test failed, because the RTT did not fall with the window. If it did not change at all, none of
 * the queue is the connection's, and this RTT becomes the minimum. If it rose, the path became slower
 * during the test, which is then inconclusive.
 */
static inline void rightsize_fail(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u32 found = rs->low_us, before = rs->test_rtt_us;
	__u32 gap = found > before ? found - before : before - found;

	if (found > before + before / 4)
		rs->inconclusive = 1;
	else if (rs->failures < 255)
		rs->failures++;
	if (found && gap < before / 16)
		rs->min_rtt_us = found;
	if (rs->failures >= RIGHTSIZE_FAILURES_MAX)
		rs->held = 0;
	rightsize_leave_test(rs, a);
}

/*
 * The RTT of a path that a probe found without a queue, us, including by how much it varies: by the
 * probe, four times what the mean exceeds the smallest sample by, or @base + @own if that is smaller,
 * as the delay may have been long all the time. These few samples are a poor measure, as a sender may
 * have written more than its buffer holds; RTTs before the test also varied where the rate did, and the
 * queue with it. The result is the smaller of what both allow. @base: the minimum RTT; @own: the delay
 * that the window itself causes.
 */
static inline __u64 rightsize_path_us(const struct rightsize *rs, __u64 base, __u64 own)
{
	__u64 mean = rightsize_mean_rtt_us(rs);
	__u64 low = rs->low_us < base + own ? rs->low_us : base + own;
	__u64 more = mean > low ? 4 * (mean - low) : 0;

	if (more > rs->range_us)
		more = rs->range_us;
	if (2 * more < base) /* a remainder of the queue, not a varying delay */
		more = 0;
	return base + more;
}

/*
 * One RTT after the window took effect, the queue is empty, and the RTT is that of the path. The hold
 * is twice the rate before the test x that RTT, or 7/8 of it where the delay does not vary, so that the
 * RTT stays below twice the path's, and at least 3/4 of the hold before.
 */
static inline void rightsize_probe(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 base = rightsize_min_rtt_us(rs), range = rs->range_us;
	__u64 elapsed, enough, window, path, own;

	if (!rightsize_takes_effect(rs, a)) {
		rightsize_begin_interval(rs, a);
		return;
	}
	elapsed = a->now_us - rs->stage_us;
	if (elapsed < rs->test_rtt_us + base / 2) {
		rightsize_clear(rs);
		return;
	}
	/* Another RTT lets the other connections of the queue measure it empty, too. */
	enough = range < 3 * base ? 3 * base : range < 5 * base ? range : 5 * base;
	if (elapsed < rs->test_rtt_us + enough ||
	    (rs->samples < (range > base ? RIGHTSIZE_SAMPLES_MIN : 2) &&
	     elapsed < 8ull * rs->test_rtt_us))
		return;
	/* The delay of the window itself, if the smallest window allowed exceeds the path's BDP. */
	own = rightsize_muldiv(rs->window, 1000000, rs->rate);
	own = own > base ? own - base : 0;
	if (rs->low_us > own && rightsize_exceeds(rs, (__u32)(rs->low_us - own))) {
		/* Others may test a little later. A queue that remains after that is theirs. */
		if (elapsed < 4ull * rs->test_rtt_us + 3 * base) {
			rightsize_clear(rs);
			return;
		}
		if (rs->low_us > own + range &&
		    rightsize_exceeds(rs, (__u32)(rs->low_us - own - range))) {
			if (!rightsize_kept_link_busy(rs)) {
				rightsize_fail(rs, a);
				rightsize_begin_interval(rs, a);
				return;
			}
			rs->rate = rs->rate_before = rightsize_rate_now(rs, a);
		}
	}
	path = rightsize_path_us(rs, base, own);
	window = (path > base ? 8 : 7) * rightsize_muldiv(rs->rate, path, 4000000);
	if (window < rs->held - rs->held / 4)
		window = rs->held - rs->held / 4;
	rs->held = rs->window = rightsize_clamp_window(window, a->min);
	rs->path_rtt_us = (__u32)path;
	rs->failures = 0;
	/* It grows later: at first the connection's other end may still empty the queue. */
	rightsize_enter(rs, RIGHTSIZE_HOLDING, a->now_us + (1u << RIGHTSIZE_MARK_SHIFT));
	rightsize_begin_interval(rs, a);
}

/*
 * Returns whether the queue was empty at times during an interval, and the link perhaps idle: the
 * smallest RTT is below 5/4 of the minimum, and that shows something (rightsize_empties_often()); or
 * it is below the RTT of the path, whose delay varies, and the rate below 31/32 of that before the
 * test.
 */
static inline int rightsize_was_idle(const struct rightsize *rs)
{
	if (rightsize_nearly_empty(rs, rs->low_us))
		return rightsize_empties_often(rs);
	return rightsize_delay_varies(rs) && rs->low_us < rs->path_rtt_us &&
	       32 * rs->rate < 31 * rs->rate_before;
}

/*
 * Ends an interval of a hold. If the window was in use and the link idle at times, the window is too
 * small for the way in which delay or rate varies: it grows by a quarter. If the rate has fallen
 * below 3/4 of that before the test, it grows by the missing factor, at most 2.
 */
static inline void rightsize_hold_interval(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 flight = rightsize_muldiv(rs->rate, rightsize_mean_rtt_us(rs), 1000000);
	__u64 gain = 5; /* in quarters */

	if (!rightsize_was_idle(rs) || flight < rs->held / 2)
		return;
	if (rs->interval_us <= rs->stage_us) /* it has RTTs of the window before */
		return;
	if (4 * rs->rate < 3 * rs->rate_before)
		gain = rightsize_muldiv(4, rs->rate_before, rs->rate);
	if (gain > 8)
		gain = 8;
	rs->held = rs->window = rightsize_clamp_window(gain * rs->held / 4, a->min);
	rs->stage_us = a->now_us;
}

/*
 * Ends the interval between two marks, and decides by whether there was a standing queue during all of
 * it. Returns 0 if it had too few samples; it then continues, and its mark is handled later.
 */
static inline int rightsize_end_interval(struct rightsize *rs, const struct rightsize_ack *a,
					 __u32 mark, __u32 shift)
{
	__u64 elapsed = a->now_us - rs->interval_us, before;
	__u32 range, most;
	int exceeds;

	if (rs->samples < RIGHTSIZE_SAMPLES_MIN && elapsed < RIGHTSIZE_RTT_MAX_US)
		return 0;
	range = rightsize_range_us(rs);
	most = range > rs->range_us ? range : rs->range_us;
	exceeds = rightsize_exceeds(rs, rs->low_us);
	/*
	 * A delay that varies need not be at its smallest in each interval: that is not a queue. Less
	 * than a fifth does not count, as rates of others vary the queue, too.
	 */
	if (rs->state == RIGHTSIZE_FREE && exceeds && most > rs->low_us / 5)
		exceeds = rs->low_us > most / 2 && rightsize_exceeds(rs, rs->low_us - most / 2);
	before = rs->rate > rs->rate_before ? rs->rate : rs->rate_before;
	rs->rate = rightsize_rate_now(rs, a);
	if (rs->state == RIGHTSIZE_FREE && 8 * rs->rate > 11 * before)
		rs->rate_rose = rs->failures > 0;
	if (rs->intervals < 255)
		rs->intervals++;
	if (rs->reason == RIGHTSIZE_UNMEASURED)
		rs->reason = RIGHTSIZE_KERNEL;
	switch (rs->state) {
	case RIGHTSIZE_FREE:
		if (!rightsize_is_mark(rs, mark, shift, RIGHTSIZE_TEST_SHIFT))
			break;
		if (exceeds && !rightsize_queue_grows(rs, shift) && !rightsize_has_paused(rs) &&
		    rs->interval_us > rs->stage_us && rightsize_test_due(rs, mark, shift)) {
			rightsize_limit_range(rs, range);
			rightsize_prepare(rs, a);
		}
		rs->test_rtt_us = rs->low_us;
		break;
	case RIGHTSIZE_PREPARING:
		if (!exceeds || a->offered == RIGHTSIZE_WINDOW_MAX)
			rightsize_enter(rs, RIGHTSIZE_FREE, a->now_us);
		else if (a->offered > 8ull * rs->window) /* of the window before */
			rightsize_prepare(rs, a);
		else if (rightsize_is_test_mark(rs, mark, shift))
			rightsize_begin_test(rs, a, range);
		break;
	default:
		if (rightsize_is_unsure(rs, mark, shift))
			rightsize_probe_again(rs, a);
		else if (!exceeds)
			rightsize_hold_interval(rs, a);
		else if (rs->interval_silent_us < rs->low_us / 2 &&
			 rightsize_is_test_mark(rs, mark, shift))
			rightsize_begin_test(rs, a, range);
	}
	if (rs->state == RIGHTSIZE_FREE) /* while preparing, the window itself makes the RTT vary */
		rs->range_us = range;
	rs->before_low_us = rs->low_us;
	rs->interval_silent_us = 0;
	rightsize_begin_interval(rs, a);
	return 1;
}

/*
 * Returns whether the RTT has fallen with the window while the rate stayed. In a queue of its own, a
 * connection with half the window has 1/2 of the RTT and its full rate; in a queue of others 3/4 of
 * the RTT or more; without a queue the full RTT and half the rate. The bounds are in between.
 *
 * Where the rate of the link changes, neither shows whose queue it is. But a sender whose window is
 * halved pauses for half an RTT, and no data arrive for as long on a path without a queue, and for a
 * quarter of an RTT where half of the queue is of others. Less than an eighth shows that the link was
 * busy with this connection alone, if the bytes in flight were reduced.
 */
static inline int rightsize_test_passes(const struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 rate = rightsize_rate_now(rs, a);

	if (!rs->samples)
		return 0;
	if (rs->low_us <= rs->test_rtt_us * 11ull / 16 && rate >= rs->rate * 5 / 8)
		return 1;
	return rightsize_kept_link_busy(rs) &&
	       rightsize_muldiv(rate, rightsize_mean_rtt_us(rs), 1000000) <= rs->window * 3ull / 2;
}

/* What was in flight before is gone after two RTTs. The third one is measured. */
static inline void rightsize_test(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 elapsed;

	/* A loss reduces the RTT, too. */
	if (a->offered == RIGHTSIZE_WINDOW_MAX) {
		rightsize_leave_test(rs, a);
		rightsize_begin_interval(rs, a);
		return;
	}
	if (!rightsize_takes_effect(rs, a)) {
		rightsize_begin_interval(rs, a);
		return;
	}
	elapsed = a->now_us - rs->stage_us;
	if (elapsed < 2ull * rs->test_rtt_us) {
		rightsize_begin_interval(rs, a);
		return;
	}
	if (elapsed < 3ull * rs->test_rtt_us ||
	    (rs->samples < 2 && elapsed < 8ull * rs->test_rtt_us))
		return;
	if (rightsize_test_passes(rs, a)) {
		__u64 rate = rightsize_rate_now(rs, a);

		/* The link became faster. Where another connection pauses, the rate may double. */
		if (rate > 2 * rs->rate)
			rs->rate = rate;
		rs->window = rightsize_clamp_window(
			rightsize_muldiv(rs->rate, rightsize_min_rtt_us(rs) + rs->range_us,
					 2000000),
			a->min);
		rs->test_rtt_us = rs->low_us;
		rightsize_enter(rs, RIGHTSIZE_PROBE_RTT, a->now_us);
	} else {
		rightsize_fail(rs, a);
	}
	rightsize_begin_interval(rs, a);
}

/*
 * Ends a round of a hold that carried @got bytes and whose smallest RTT was @low. If the queue nearly
 * emptied, the window is too small: it becomes twice the bytes per RTT (DRS III.B) without those that
 * were queued, or 7/4 of the bytes per minimum RTT if that happens seldom. It grows again 16 RTTs later,
 * or 4 where the link has become faster: the rate exceeds 5/4 of that before the test.
 *
 * If the path was silent although the RTT is four times the minimum, there is no queue and the path has
 * become longer: the hold ends, and this RTT becomes the minimum. Below four times the minimum, bursts
 * of other connections may be the reason for the silence. A hold from the path memory
 * (rightsize_begin_held()) ends if it leaves the path silent for half an RTT: a slow path is never.
 */
static inline void rightsize_hold_round(struct rightsize *rs, const struct rightsize_ack *a,
					__u32 got, __u32 low)
{
	__u64 window = got < rs->held ? got : rs->held;
	__u32 base = rightsize_min_rtt_us(rs);
	__u32 rtts = 4 * rs->rate > 5 * rs->rate_before ? 4 : 16;

	/* The effect of a window is seen one RTT later. */
	if (low && rightsize_nearly_empty(rs, low) &&
	    rs->round_us > rs->stage_us + (__u64)rtts * base) {
		if (rightsize_empties_often(rs))
			window = rightsize_muldiv(2 * window, base, low < base ? base : low);
		else
			window = rightsize_muldiv(7 * window, base, 4 * (a->now_us - rs->round_us));
		if (window > rs->held) {
			rs->held = rs->window = rightsize_clamp_window(window, a->min);
			rs->stage_us = a->now_us;
		}
	}
	if (got > rs->held / 2 &&
	    ((low > 4ull * base && rightsize_exceeds(rs, low) && rs->silent_us > low / 3) ||
	     (!rs->tests && rs->silent_us > low / 2))) {
		if (++rs->silent_rounds >= 2) {
			if (rs->failures < 255)
				rs->failures++;
			rs->min_rtt_us = low;
			rightsize_enter(rs, RIGHTSIZE_FREE, a->now_us);
		}
	} else {
		rs->silent_rounds = 0;
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

static inline int rightsize_end_round(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u32 low = rs->round_low_us;

	rs->per_rtt = rs->round_us ? rightsize_since(rs->round_bytes, a->bytes) : 0;
	if (rs->round_us)
		rightsize_note_rate(rs, a);
	if (rs->state == RIGHTSIZE_HOLDING && rs->round_us)
		rightsize_hold_round(rs, a, rs->per_rtt, low);
	rs->round_us = a->now_us;
	rs->round_bytes = a->bytes;
	rs->last_low_us = low;
	rs->round_low_us = 0;
	rs->silent_us = 0;
	return 1;
}

/*
 * An ACK leaves or arrives. Sets rs->window, the maximum window of the direction, bytes; 0: the
 * kernel's. Returns whether a round ended.
 */
static inline int rightsize_on_ack(struct rightsize *rs, const struct rightsize_ack *a)
{
	__u64 silent = a->now_us - rs->seen_us;
	__u32 shift, mark;

	if (!rs->seen_us || silent >= RIGHTSIZE_RTT_MAX_US)
		silent = 0;
	if (silent > rs->silent_us)
		rs->silent_us = (__u32)silent;
	if (silent > rs->interval_silent_us)
		rs->interval_silent_us = (__u32)silent;
	if (rs->interval_us &&
	    silent > 2ull * a->rtt_us) /* the application paused: no time of its rate */
		rs->interval_us += silent;
	rs->seen_us = a->now_us;
	rightsize_rtt_sample(rs, a->sample_us);
	if (!rs->min_rtt_us)
		return 0;
	shift = rightsize_shift(RIGHTSIZE_MARK_RTTS, rs->min_rtt_us);
	mark = (__u32)(a->clock_us >> shift);
	if (!rs->interval_us) {
		rightsize_begin_interval(rs, a);
		rs->mark = mark;
	}
	rightsize_count_unit(rs, a);
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
	return rightsize_end_round(rs, a);
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
