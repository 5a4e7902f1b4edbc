// SPDX-License-Identifier: GPL-2.0-only
/*
 * Right-sizing: each rule by its numbers, the paper's bounds for coarse clocks, and the whole
 * of it in a model of a path with a queue.
 */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "array.h"
#include "rightsize_model.h"

#define START_US      1000000000ull /* a multiple of a half of the min-RTT interval */
#define HALF_US	      RIGHTSIZE_MIN_RTT_HALF_US
#define assert_within(a, low, high)                                                  \
	do {                                                                         \
		double a_ = (a), l_ = (low), h_ = (high);                            \
		if (!(a_ >= l_ && a_ <= h_))                                         \
			fail_msg("%s = %.9g, not in %.9g ... %.9g", #a, a_, l_, h_); \
	} while (0)

static const struct rightsize_limits no_limits = {.floor = 0, .cap = 1u << 30};

/* A connection and its clock and byte counter. */
struct line {
	struct rightsize rs;
	struct rightsize_limits limits;
	uint64_t now_us;
	uint32_t bytes, rtt_us;
};

/* A line whose first round has just begun. */
static struct line line_new(uint32_t rtt_us)
{
	struct line l = {
		.limits = no_limits, .now_us = START_US, .bytes = 4000, .rtt_us = rtt_us};

	assert_int_equal(rightsize_round(&l.rs, l.now_us, l.bytes, l.rtt_us, &l.limits), 0);
	return l;
}

/* A round of @took_us in which @got bytes come. */
static uint32_t line_round(struct line *l, uint32_t took_us, uint32_t got)
{
	l->now_us += took_us;
	l->bytes += got;
	return rightsize_round(&l->rs, l->now_us, l->bytes, l->rtt_us, &l->limits);
}

/* ---- the rules -------------------------------------------------------------------------- */

static void nothing_is_said_before_a_round_trip(void **state)
{
	struct rightsize rs = {0};

	assert_true(rightsize_round_over(&rs, START_US, 50000));
	assert_int_equal(rightsize_round(&rs, START_US, 77, 0, &no_limits), 0);
	assert_int_equal(rs.reason, RIGHTSIZE_UNMEASURED);
	/* A round, but no RTT is known. */
	assert_int_equal(rightsize_round(&rs, START_US + 50000, 1000077, 0, &no_limits), 0);
	assert_int_equal(rs.reason, RIGHTSIZE_UNMEASURED);
	/* The first round with an RTT. */
	assert_int_not_equal(
		rightsize_round(&rs, START_US + 100000, 2000077, 50000, &no_limits), 0);
}

static void a_round_lasts_one_loaded_rtt(void **state)
{
	struct rightsize rs = {.round_start_us = START_US};

	assert_false(rightsize_round_over(&rs, START_US + 49999, 50000));
	assert_true(rightsize_round_over(&rs, START_US + 50000, 50000));
	assert_false(rightsize_round_over(&rs, START_US + 999, 0));
	assert_false(rightsize_round_over(&rs, START_US + 999, 20));
	assert_true(rightsize_round_over(&rs, START_US + 1000, 20));
	assert_false(rightsize_round_over(&rs, START_US + UINT_MAX - 1, UINT_MAX));
}

static void twice_the_bytes_per_rtt(void **state)
{
	struct line l = line_new(50000);

	/* The first is all growth: 2 n + 4 n. */
	assert_int_equal(line_round(&l, 50000, 312500), 6 * 312500);
	assert_int_equal(l.rs.reason, RIGHTSIZE_GROWING);
	assert_int_equal(line_round(&l, 50000, 312500), 2 * 312500);
	assert_int_equal(l.rs.reason, RIGHTSIZE_MEASURED);
	assert_int_equal(l.rs.rate_best, 6250000);
	assert_int_equal(l.rs.per_rtt, 312500);
}

static void bytes_are_per_elapsed_time(void **state)
{
	static const uint32_t took_us[] = {50000, 100000, 175000, 500000};

	for (size_t i = 0; i < ARRAY_SIZE(took_us); i++) {
		struct line l = line_new(50000);

		line_round(&l, took_us[i], took_us[i] * 6);
		assert_int_equal(line_round(&l, took_us[i], took_us[i] * 6), 600000);
		assert_int_equal(l.rs.per_rtt, 300000);
	}
}

static void the_rtt_is_the_minimum(void **state)
{
	struct line l = line_new(10000);

	l.rtt_us = 40000; /* three quarters of it is queue */
	line_round(&l, 40000, 400000);
	assert_int_equal(line_round(&l, 40000, 400000), 2 * 100000);
	assert_int_equal(rightsize_min_rtt_us(&l.rs), 10000);
	/* A sample of the sending side counts too, and 0 is none. */
	rightsize_rtt_sample(&l.rs, 8000);
	rightsize_rtt_sample(&l.rs, 0);
	assert_int_equal(line_round(&l, 40000, 400000), 2 * 80000);
}

static void a_lan_is_measured_by_the_millisecond(void **state)
{
	struct line l = line_new(30);

	line_round(&l, 1000, 100000);
	assert_int_equal(line_round(&l, 1000, 100000), 2 * 4 * 100000); /* a window for 4 ms */
	assert_int_equal(rightsize_min_rtt_us(&l.rs), 4000);
}

static void the_largest_is_kept(void **state)
{
	struct line l = line_new(20000);

	line_round(&l, 20000, 100000);
	line_round(&l, 20000, 100000);
	assert_int_equal(l.rs.window, 200000);
	line_round(&l, 20000, 300000);
	line_round(&l, 20000, 300000);
	assert_int_equal(l.rs.window, 600000);
	for (int i = 0; i < 100; i++)
		assert_int_equal(line_round(&l, 20000, i * 100), 600000);
	assert_int_equal(l.rs.per_rtt, 9900);
}

/* The rate is the mean of two rounds: what a stall moves from one to the next is no rate. */
static void one_inflated_round_does_not_stick(void **state)
{
	struct line l = line_new(20000);

	for (int i = 0; i < 10; i++)
		line_round(&l, 20000, 100000);
	line_round(&l, 20000, 30000);
	assert_true(line_round(&l, 20000, 170000) > 200000); /* growth, for this round only */
	assert_int_equal(line_round(&l, 20000, 100000), 270000);
	assert_int_equal(l.rs.rate_best, 6750000);

	/* Where the stall precedes and the lull follows, nothing is left of it. */
	l = line_new(20000);
	for (int i = 0; i < 10; i++) {
		line_round(&l, 20000, 100000);
		line_round(&l, 20000, 100000);
		line_round(&l, 20000, 0);
		line_round(&l, 20000, 200000);
		line_round(&l, 20000, 0);
	}
	assert_int_equal(l.rs.window, 200000);
	assert_int_equal(l.rs.rate_best, 5000000);
}

/* tcp_rcvbuf_grow() of Linux 6.18, in doubles. */
static double kernel_grow(double copied, double old)
{
	double window = 2 * copied;

	return window + 2 * (window * (copied - old) / old);
}

static __u64 growing(uint32_t per_rtt, uint32_t peak)
{
	struct rightsize rs = {.per_rtt = per_rtt};

	return rightsize_growing(&rs, peak, 50000);
}

static void growth_room_is_the_kernels(void **state)
{
	assert_int_equal(growing(1000, 0), 6000);
	assert_int_equal(growing(1000, 500), 6000);
	assert_int_equal(growing(1000, 400), 6000);
	assert_int_equal(growing(1000, 800), 3000);
	assert_int_equal(growing(1000, 999), 2004);
	for (uint32_t old = 1000; old < RIGHTSIZE_WINDOW_MAX / 2; old = old * 3 + 1)
		for (uint32_t percent = 101; percent <= 300; percent += 7) {
			uint32_t copied = (uint32_t)((uint64_t)old * percent / 100);
			double expected = fmin(kernel_grow(copied, old), 6.0 * copied);

			if (copied <= RIGHTSIZE_WINDOW_MAX)
				assert_within(growing(copied, old), expected - 1, expected);
		}
}

static void growth_room_in_a_round(void **state)
{
	struct line l = line_new(20000);

	line_round(&l, 20000, 100000);
	line_round(&l, 20000, 100000);
	assert_int_equal(line_round(&l, 20000, 125000), 2 * 125000 + 4 * 125000 / 4);
	assert_int_equal(l.rs.reason, RIGHTSIZE_GROWING);
	/* 112500 was the mean; 2 x of that once it grows no more ... */
	assert_int_equal(line_round(&l, 20000, 100000), 225000);
	/* ... and again no room for what is not the largest yet. */
	assert_int_equal(line_round(&l, 20000, 125000), 225000);
	assert_int_equal(l.rs.reason, RIGHTSIZE_MEASURED);
}

/* 125 bytes per microsecond in trains of 2 ms on a 10 ms path: the path's rate, in a tick. */
static void a_train_shows_the_rate_of_the_path(void **state)
{
	struct rightsize rs = {.rtt_now_us = 10000};

	assert_true(rightsize_tick_over(&rs, START_US, 10000));
	rightsize_tick(&rs, START_US, 1000, 0);
	assert_int_equal(rs.train_best, 0);
	assert_false(rightsize_tick_over(&rs, START_US + 1249, 10000));
	assert_true(rightsize_tick_over(&rs, START_US + 1250, 10000));
	rightsize_tick(&rs, START_US + 1250, 1000 + 156250, 0);
	assert_int_equal(rs.train_best, 125000000);
	/* A slower one changes nothing. */
	rightsize_tick(&rs, START_US + 2500, 1000 + 200000, 0);
	assert_int_equal(rs.train_best, 125000000);
	/* Nor does one that took 2500 us: it may contain a pause. One of 2499 us is measured.
	 */
	rightsize_tick(&rs, START_US + 5000, 9000000, 0);
	assert_int_equal(rs.train_best, 125000000);
	rightsize_tick(&rs, START_US + 7499, 9000000 + 499800, 0);
	assert_int_equal(rs.train_best, 200000000);
	/* The counter goes back as a queue is pruned: no train is as fast as that. */
	rightsize_tick(&rs, START_US + 9000, 1000000, 0);
	assert_int_equal(rs.train_best, 200000000);
	rightsize_tick(&rs, START_US + 11000, 1000000 + 440000, 0);
	assert_int_equal(rs.train_best, 220000000);
	/* It may wrap, and jump. */
	rs.tick_bytes = UINT_MAX;
	rightsize_tick(&rs, START_US + 12000, 229999, 0);
	assert_int_equal(rs.train_best, 230000000);
	rightsize_tick(&rs, START_US + 12001, 229999 + (uint32_t)INT_MAX, 0);
	assert_int_equal(rs.train_best, RIGHTSIZE_RATE_MAX);
}

/* Two rounds cut a train in half: the second is no larger, and yet the flight has doubled. */
static void room_to_grow_stands_for_a_round(void **state)
{
	struct line l = line_new(50000);

	l.rs.train_best = l.rs.train_known = 125000000;
	line_round(&l, 50000, 57000);
	assert_int_equal(line_round(&l, 50000, 171000), 6 * 171000);
	assert_int_equal(line_round(&l, 50000, 160000), 6 * 171000);
	assert_int_equal(l.rs.reason, RIGHTSIZE_MEASURED);
	/* not for ever, ... */
	assert_int_equal(line_round(&l, 50000, 160000), 2 * (171000 + 160000) / 2);
	/* ... and not beyond what the trains carry: here 10 MB/s, 500 KB in an RTT */
	l.rs.train_best = l.rs.train_known = 0;
	assert_int_equal(line_round(&l, 50000, 520000), 6 * 520000);
	l.rs.train_best = l.rs.train_known = 10000000;
	assert_int_equal(line_round(&l, 50000, 400000), 2 * (520000 + 400000) / 2);
	l.rs.train_best = l.rs.train_known = 12000000;
	l.rs.reason = RIGHTSIZE_GROWING;
	l.rs.window = 6 * 520000;
	assert_int_equal(line_round(&l, 50000, 400000), 7 * 12000000ull * 50000 / 4000000);
}

static void a_known_train_bounds_growth(void **state)
{
	struct rightsize rs = {
		.per_rtt = 100000, .train_best = 20000000, .train_known = 17777778};

	/* 1.75 x 20 MB/s x 10 ms, instead of 600000. */
	assert_int_equal(rightsize_growing(&rs, 50000, 10000), 350000);
	rs.train_known = 17777776; /* it grew by more than an eighth in the last round */
	assert_int_equal(rightsize_growing(&rs, 50000, 10000), 600000);
	rs.train_best = rs.train_known = 0;
	assert_int_equal(rightsize_growing(&rs, 50000, 10000), 600000);
}

static void floor_and_cap(void **state)
{
	struct line l = line_new(20000);

	l.limits = (struct rightsize_limits){.floor = 65536, .cap = 1000000};
	line_round(&l, 20000, 1000);
	assert_int_equal(l.rs.window, 65536);
	assert_int_equal(l.rs.reason, RIGHTSIZE_FLOOR);
	line_round(&l, 20000, 32768);
	line_round(&l, 20000, 32768);
	assert_int_equal(l.rs.window, 65536);
	assert_int_equal(l.rs.reason, RIGHTSIZE_MEASURED);
	line_round(&l, 20000, 400000);
	assert_int_equal(l.rs.window, 1000000);
	assert_int_equal(l.rs.reason, RIGHTSIZE_CAPPED);
	line_round(&l, 20000, 500000);
	line_round(&l, 20000, 500000);
	assert_int_equal(l.rs.window, 1000000);
	assert_int_equal(l.rs.reason, RIGHTSIZE_MEASURED);
	/* Limits may change from round to round. */
	l.limits.cap = 300000;
	assert_int_equal(line_round(&l, 20000, 500000), 300000);
	assert_int_equal(l.rs.reason, RIGHTSIZE_CAPPED);
	l.limits = (struct rightsize_limits){.floor = 2000000, .cap = 4000000};
	assert_int_equal(line_round(&l, 20000, 500000), 2000000);
	assert_int_equal(l.rs.reason, RIGHTSIZE_FLOOR);
	/* The cap is the stronger of the two, and zero of both is no window at all. */
	l.limits = (struct rightsize_limits){.floor = 2000000, .cap = 1000};
	assert_int_equal(line_round(&l, 20000, 500000), 1000);
	l.limits = (struct rightsize_limits){0};
	assert_int_equal(line_round(&l, 20000, 500000), 0);
	assert_int_equal(l.rs.reason, RIGHTSIZE_CAPPED);
}

static void the_byte_counter_wraps(void **state)
{
	struct line l = {.limits = no_limits,
			 .now_us = START_US,
			 .bytes = UINT_MAX - 49999,
			 .rtt_us = 20000};

	rightsize_round(&l.rs, l.now_us, l.bytes, l.rtt_us, &l.limits);
	line_round(&l, 20000, 100000);
	assert_int_equal(l.bytes, 50000);
	assert_int_equal(line_round(&l, 20000, 100000), 200000);
}

/* ---- the minimum over time --------------------------------------------------------------- */

/* Rounds of one RTT and 100000 bytes until the clock stands at @until_us past the start. */
static void line_until(struct line *l, uint64_t until_us)
{
	while (l->now_us < START_US + until_us)
		line_round(l, l->rtt_us, 100000);
}

static void the_minimum_falls_at_once(void **state)
{
	struct line l = line_new(50000);

	line_until(&l, 7000000);
	l.rtt_us = 20000;
	line_round(&l, 20000, 100000);
	assert_int_equal(rightsize_min_rtt_us(&l.rs), 20000);
	line_until(&l, 60000000);
	assert_int_equal(rightsize_min_rtt_us(&l.rs), 20000);
	assert_int_equal(l.rs.drains, 0);
}

/* A quarter longer is not enough to drain, and nothing but a drain lets the minimum rise. */
static void a_little_longer_is_not_believed(void **state)
{
	struct line l = line_new(10000);

	line_until(&l, 2000000);
	l.rtt_us = 12500;
	line_until(&l, 60000000);
	assert_int_equal(rightsize_min_rtt_us(&l.rs), 10000);
	assert_int_equal(l.rs.drains, 0);
	l.rtt_us = 12501;
	line_until(&l, 71000000);
	assert_int_equal(l.rs.drains, 1);
}

static void longer_is_believed_after_a_drain(void **state)
{
	struct line l = line_new(10000);
	uint64_t began_us;

	line_until(&l, 2000000);
	l.rtt_us = 30000; /* and no drain shows less */
	line_until(&l, 2 * HALF_US - 30000);
	assert_int_equal(l.rs.drains, 0);
	assert_int_equal(rightsize_min_rtt_us(&l.rs), 10000);
	line_until(&l, 2 * HALF_US);
	began_us = l.now_us;
	assert_int_equal(l.rs.drains, 1);
	assert_int_equal(l.rs.reason, RIGHTSIZE_DRAINING);
	/* Half of the last round's 33333 bytes per minimum RTT: less than a quarter of the
	 * best. */
	assert_int_equal(l.rs.window, 33333 / 2);
	for (int i = 0; i < 2; i++) {
		line_round(&l, 30000, 10000);
		assert_int_equal(l.rs.reason, RIGHTSIZE_DRAINING);
		assert_int_equal(l.rs.window, 33333 / 2); /* decided once */
		assert_int_equal(rightsize_min_rtt_us(&l.rs), 10000);
	}
	line_round(&l, 30000, 100000);
	assert_int_equal(l.now_us - began_us, RIGHTSIZE_DRAIN_ROUNDS * 30000);
	assert_int_equal(rightsize_min_rtt_us(&l.rs), 30000);
	/* Out of it in two steps: what the path holds, and then twice that (10 MB/s x 30 ms).
	 */
	assert_int_equal(l.rs.rate_best, 10000000);
	assert_int_equal(l.rs.window, 300000);
	assert_int_equal(l.rs.reason, RIGHTSIZE_MEASURED);
	line_round(&l, 30000, 100000);
	assert_int_equal(l.rs.window, 600000);
	assert_int_equal(l.rs.drains, 1);
}

static void a_drain_ends_when_the_old_minimum_is_seen(void **state)
{
	struct line l = line_new(10000);

	line_until(&l, 2000000);
	l.rtt_us = 20000;
	line_until(&l, 2 * HALF_US);
	assert_int_equal(l.rs.reason, RIGHTSIZE_DRAINING);
	rightsize_rtt_sample(&l.rs, 11251);
	l.limits.floor = 65536; /* a drain goes no lower, and is a drain still */
	line_round(&l, 10000, 30000);
	assert_int_equal(l.rs.window, 65536);
	assert_int_equal(l.rs.reason, RIGHTSIZE_DRAINING);
	rightsize_rtt_sample(&l.rs, 11250);
	line_round(&l, 10000, 30000);
	assert_int_equal(l.rs.reason, RIGHTSIZE_MEASURED);
	assert_int_equal(rightsize_min_rtt_us(&l.rs), 10000);
}

/* The halves of two connections end together, whenever they began. */
static void connections_drain_together(void **state)
{
	struct line a = line_new(10000), b;

	b = (struct line){.limits = no_limits, .now_us = START_US + 1234567, .rtt_us = 10000};
	rightsize_round(&b.rs, b.now_us, b.bytes, b.rtt_us, &b.limits);
	line_until(&a, 2000000);
	line_until(&b, 2000000);
	a.rtt_us = b.rtt_us = 40000;
	while (!a.rs.drains)
		line_round(&a, 40000, 100000);
	while (!b.rs.drains)
		line_round(&b, 40000, 100000);
	assert_within((double)a.now_us - b.now_us, -40000, 40000);
	assert_within(a.now_us - START_US, 2 * HALF_US, 2 * HALF_US + 40000);
}

static void a_drain_is_bounded(void **state)
{
	struct line l = line_new(10000);

	/* The pause of a sender counts as RTT: 20 minutes. */
	line_until(&l, 2000000);
	l.rtt_us = 1200000000;
	line_round(&l, 1200000000, 100000);
	line_round(&l, 1200000000, 100000);
	assert_int_equal(l.rs.drains, 1);
	assert_int_equal(l.rs.drain_end_us - l.now_us, HALF_US / 2);
}

static void idle_for_hours(void **state)
{
	struct line l = line_new(10000);

	line_until(&l, 2000000);
	/* Nothing for six hours, and no sample of the RTT either. */
	l.rtt_us = 0;
	line_round(&l, UINT_MAX, 0);
	l.now_us += 6 * 3600 * 1000000ull;
	assert_int_equal(line_round(&l, 1, 0), 200000);
	assert_int_equal(rightsize_min_rtt_us(&l.rs), 10000);
	l.rtt_us = 10000;
	for (int i = 0; i < 5; i++)
		assert_int_equal(line_round(&l, 10000, 100000), 200000);
	assert_int_equal(l.rs.drains, 0);
	/* It still grows. */
	assert_int_equal(line_round(&l, 10000, 200000), 1200000);
	/* An hour and a bit, which must not come out as the bit: 2^32 + 1 us. */
	l = line_new(10000);
	line_until(&l, 2000000);
	l.now_us += 1ull << 32;
	line_round(&l, 1, 100000);
	assert_int_equal(line_round(&l, 10000, 100000), 200000);
}

static void a_clock_that_jumps(void **state)
{
	struct line l = line_new(10000);
	uint32_t per_rtt;
	uint64_t rate;

	line_until(&l, 2000000);
	rate = l.rs.rate_best;
	l.now_us -= 1000000;
	assert_true(rightsize_round_over(&l.rs, l.now_us, 10000));
	assert_int_equal(line_round(&l, 0, 100000), 200000);
	/* A call in the same microsecond measures nothing. */
	per_rtt = l.rs.per_rtt;
	assert_int_equal(line_round(&l, 0, 100000), 200000);
	assert_int_equal(l.rs.per_rtt, per_rtt);
	assert_int_not_equal(l.rs.prev_us, 0);
	l.now_us += 1ull << 40;
	assert_int_equal(line_round(&l, 0, 100000), 200000);
	assert_int_equal(l.rs.rate_best, rate);
	for (int i = 0; i < 3; i++)
		assert_int_equal(line_round(&l, 10000, 100000), 200000);
}

/*
 * ---- DRS, section IV.B: coarse timers -----------------------------------------------------
 *
 * (1) d / n_max <= w <= d / n_min		bytes d of n round trips of window w
 * (2) ceil(t / rtt) <= n < ceil(t / rtt) + 2	round trips, in part or whole, in a time t
 * (3) rtt <= t <= rtt + 20 ms			an RTT in jiffies of 10 ms
 * (4), (5) 1 <= n < ceil(20 ms / rtt) + 3
 * (6) d / (ceil(20 ms / rtt) + 3) <= w <= d
 */

#define JIFFY_US 10000u

/* Bytes of a sender of window @w that repeats @offset every RTT, up to @t_us. */
static uint64_t sent_until(const uint32_t *offset, uint32_t segments, uint32_t bytes,
			   uint32_t rtt_us, uint64_t t_us)
{
	uint64_t count = t_us / rtt_us * segments;

	for (uint32_t i = 0; i < segments; i++)
		count += offset[i] < t_us % rtt_us;
	return count * bytes;
}

/*
 * One measurement with a clock of ticks. Returns d / w, by which the bytes of a period overstate
 * the window, as the paper takes them.
 */
static double check_coarse_round(uint32_t tick_us, uint32_t rtt_us, uint64_t start_us,
				 const uint32_t *offset)
{
	enum {
		SEGMENTS = 16,
		BYTES = 1000
	};
	const double w = SEGMENTS * BYTES, slack = ceil(2.0 * tick_us / rtt_us);
	struct rightsize rs = {.round_start_us = start_us / tick_us * tick_us};
	uint64_t now_us = start_us;
	uint32_t d, window;
	double t, n;

	/* "If more than the RTT has passed": with a clock of jiffies, one jiffy more. */
	while (!rightsize_round_over(&rs, now_us / tick_us * tick_us, rtt_us + tick_us))
		now_us += 100;
	t = (double)now_us - start_us;
	d = (uint32_t)(sent_until(offset, SEGMENTS, BYTES, rtt_us, now_us) -
		       sent_until(offset, SEGMENTS, BYTES, rtt_us, start_us));
	/* (3) */
	assert_within(t, rtt_us, rtt_us + 2 * tick_us);
	/* (2): round trips touched, for (1) */
	n = (double)((now_us - 1) / rtt_us - start_us / rtt_us + 1);
	assert_within(n, ceil(t / rtt_us), ceil(t / rtt_us) + 1);
	/* (4), (5) */
	assert_within(n, 1, slack + 2);
	/* (1), (6): the window lies between d / n_max and d */
	assert_within(w, d / n, d);
	assert_within(w, d / (slack + 3), d);
	/*
	 * Here d is divided by the time that it took, so that the same d is no gross
	 * overestimate on a short path; and what is offered, 2 x, is no less than the window
	 * from an RTT of two ticks on.
	 */
	rs.round_bytes = 0;
	rightsize_rtt_sample(&rs, rtt_us);
	rs.half_start_us = rs.round_start_us;
	window = rightsize_round(&rs, now_us / tick_us * tick_us, d, rtt_us, &no_limits);
	assert_within(rs.per_rtt, 0, 2 * w * rightsize_min_rtt_us(&rs) / rtt_us);
	if (rtt_us >= 2 * tick_us) {
		assert_within(rs.per_rtt, w / 2, 2 * w * rightsize_min_rtt_us(&rs) / rtt_us);
		assert_within(window, w, 12 * w * rightsize_min_rtt_us(&rs) / rtt_us);
	}
	return d / w;
}

/* Of 300 senders, bursts and spreads by turns, the worst. */
static double worst_coarse_round(uint32_t tick_us, uint32_t rtt_us)
{
	uint64_t x = 2463534242u + rtt_us;
	double worst = 0;

	for (int i = 0; i < 300; i++) {
		uint32_t offset[16];
		double over;

		for (int k = 0; k < 16; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			offset[k] = i % 3 ? (uint32_t)(x % rtt_us) : (uint32_t)(i * 7919 % rtt_us);
		}
		over = check_coarse_round(tick_us, rtt_us, START_US + (x >> 20) % 1000000, offset);
		if (over > worst)
			worst = over;
	}
	return worst;
}

static void coarse_timers_do_not_underestimate(void **state)
{
	/* "Three times the actual window when ... rtt > 20ms"; and it does come to twice. */
	for (uint32_t rtt_us = 20500; rtt_us <= 300000; rtt_us += 7300)
		assert_within(worst_coarse_round(JIFFY_US, rtt_us), 1.5, 3);
	for (uint32_t rtt_us = JIFFY_US; rtt_us <= 20000; rtt_us += 2000)
		assert_within(worst_coarse_round(JIFFY_US, rtt_us), 2, 4);
	/* "Local networks ... may be grossly over-estimated" */
	assert_within(worst_coarse_round(JIFFY_US, 1000), 15, 22);
	assert_within(worst_coarse_round(JIFFY_US, 4000), 3, 7);
	/* With the clock of TCP's timestamps all of that is ten times as far away. */
	for (uint32_t rtt_us = 2500; rtt_us <= 100000; rtt_us += 1900)
		assert_within(worst_coarse_round(1000, rtt_us), 1, 3);
}

/*
 * The clock of tcptuned ticks in microseconds; but the receiver's RTT comes from timestamps of
 * milliseconds, which may say one too few, and rounds then end before the round trip does. A
 * sender that is held by its window @w, in bursts: it is offered that, and more to grow.
 */
static void timestamps_in_milliseconds_do_not_underestimate(void **state)
{
	const uint32_t w = 160000;

	for (uint32_t rtt_us = 1000; rtt_us <= 120000; rtt_us += 457) {
		uint32_t said_us = rtt_us / 1000 * 1000;
		struct line l = line_new(said_us);
		uint64_t sent = 0;

		for (int round = 0; round < 60; round++) {
			uint32_t took_us = said_us + (uint32_t)round * 37 % 900;
			uint64_t bursts = (l.now_us + took_us - START_US) / rtt_us + 1;

			line_round(&l, took_us, (uint32_t)(bursts * w - sent));
			sent = bursts * w;
		}
		assert_int_equal(l.rs.reason, RIGHTSIZE_MEASURED);
		assert_within(l.rs.window, w, 4.0 * w * rightsize_min_rtt_us(&l.rs) / said_us);
	}
}

/* ---- slow start ---------------------------------------------------------------------------
 */

/*
 * RTTs until cwnd covers the path (or 16 MB) behind a receiver of kind @kind; and into @held,
 * how often its window was in the way. @phase: how much of the first round had passed when
 * the first data came. @pace: as in the model.
 */
static double slow_start(enum receiver kind, double rtt_ms, double phase, double rate_Bps,
			 double pace, uint64_t *held)
{
	struct model *m = model_new(rate_Bps, rtt_ms, 0);
	struct model_flow *f = model_add(m, kind, SLOW_START, 0);
	double enough = fmin(16e6, rate_Bps * rtt_ms / 1e3), t;

	f->pace = pace;
	f->initial_window = kind == FIXED ? 1u << 30 : INITIAL_WINDOW;
	f->rs.round_start_us = (uint64_t)(EPOCH_NS / 1e3 + rtt_ms * 1e3 * (0.5 - phase));
	for (t = 0; f->cwnd < enough && t < 30; t += 1.0 / 8)
		model_run(m, t * rtt_ms / 1e3);
	*held = f->held_by_window;
	model_free(m);
	return t;
}

static const double slow_start_rtt_ms[] = {1, 2, 3, 5, 7, 10, 20, 33, 50, 100, 200, 300};

static void slow_start_is_never_held_by_the_window(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(slow_start_rtt_ms); i++)
		for (int phase = 0; phase < 32; phase++) {
			double rtt_ms = slow_start_rtt_ms[i], rate = phase & 1 ? 5e9 : 125e6;
			uint64_t held;

			slow_start(RIGHTSIZED, rtt_ms, phase / 32.0, rate, 0, &held);
			if (held)
				fail_msg("RTT %g ms, phase %d: held %lu times", rtt_ms, phase,
					 (unsigned long)held);
		}
}

/* Spread over the round trip, the trains say nothing. What is lost is less than half an RTT. */
static void slow_start_of_a_pacing_sender(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(slow_start_rtt_ms); i++)
		for (int phase = 0; phase < 32; phase++) {
			double rtt_ms = slow_start_rtt_ms[i], rate = phase & 1 ? 5e9 : 125e6;
			double pace = phase & 2 ? 2 : 1.25, ideal;
			uint64_t held;

			ideal = slow_start(FIXED, rtt_ms, 0, rate, pace, &held);
			assert_int_equal(held, 0);
			assert_within(
				slow_start(RIGHTSIZED, rtt_ms, phase / 32.0, rate, pace, &held),
				ideal, ideal + 0.5);
		}
}

/* ---- a deep queue -------------------------------------------------------------------------
 */

#define GBIT 125e6

static void check_deep_queue(double rtt_ms, enum sender sender, enum estimator estimator,
			     uint32_t tick_us, double minutes)
{
	struct model *m = model_new(GBIT, rtt_ms, 0);
	struct model_flow *f = model_add(m, RIGHTSIZED, sender, 0);
	double bdp = GBIT * rtt_ms / 1e3, goodput;
	uint32_t drains;

	m->segment = 8688;
	m->estimator = estimator;
	m->tick_us = tick_us;
	f->ssthresh = bdp;
	model_run(m, 11);
	model_rtt_max_ms(m);
	drains = f->rs.drains;
	goodput = model_goodput(m, 13 + 60 * minutes); /* ends between two drains */
	assert_within(goodput / GBIT, 0.99, 1.0001);
	assert_within(model_rtt_max_ms(m) / rtt_ms, 1, 2.5);
	assert_within(f->window / bdp, 1.8, 2.2);
	assert_within(f->rs.drains - drains, 1, ceil((2 + 60 * minutes) * 1e6 / HALF_US));
	model_free(m);
}

static void a_deep_queue_does_not_fill(void **state)
{
	check_deep_queue(10, WINDOW_LIMITED, MINIMUM_AT_ONCE, 1, 10);
	check_deep_queue(10, WINDOW_LIMITED, SMOOTHED, 1000, 10);
	check_deep_queue(5, WINDOW_LIMITED, MINIMUM_AT_ONCE, 1000, 1);
	check_deep_queue(30, WINDOW_LIMITED, MINIMUM_AT_ONCE, 1000, 1);
	check_deep_queue(80, WINDOW_LIMITED, MINIMUM_AT_ONCE, 1, 1);
}

/* A Reno fills it by little steps, of which no one is worth a drain. */
static void a_slowly_filled_queue_does_not_creep(void **state)
{
	struct model *m = model_new(GBIT, 30, 0);
	struct model_flow *f = model_add(m, RIGHTSIZED, RENO, 0);
	double bdp = GBIT * 0.03;

	m->segment = 8688;
	f->ssthresh = bdp;
	model_run(m, 600);
	assert_true(f->cwnd > 3 * bdp); /* it would, if it could */
	assert_within(model_rtt_max_ms(m) / 30, 1, 2.5);
	assert_within(f->window / bdp, 1.8, 2.2);
	model_free(m);
}

/* That the drain is what keeps it: without one the RTT doubles every five seconds. */
static void without_drains_it_runs_away(void **state)
{
	struct model *m = model_new(GBIT, 10, 0);

	model_add(m, RIGHTSIZED_NO_DRAIN, WINDOW_LIMITED, 0)->limits.cap = 1 << 28;
	m->segment = 8688;
	model_run(m, 60);
	assert_true(model_rtt_max_ms(m) > 100);
	model_free(m);
}

static void two_flows_do_not_drive_each_other_up(void **state)
{
	struct model *m = model_new(GBIT, 10, 0);

	m->segment = 8688;
	model_add(m, RIGHTSIZED, WINDOW_LIMITED, 0)->limits.cap = 1 << 28;
	model_add(m, RIGHTSIZED, WINDOW_LIMITED, 20)->limits.cap = 1 << 28;
	model_run(m, 40);
	model_rtt_max_ms(m);
	model_run(m, 640);
	assert_within(model_rtt_max_ms(m) / 10, 1,
		      4.2); /* 2 x each, were their rates 1 and 1 */
	for (int i = 0; i < 2; i++)
		assert_within(rightsize_min_rtt_us(&m->flow[i].rs), 10000, 12500);
	assert_within(m->flow[1].received / (600 * GBIT), 0.2, 0.6);
	model_free(m);
}

/* ---- paths that change ---------------------------------------------------------------------
 */

static struct model *model_settled(double rtt_ms)
{
	struct model *m = model_new(GBIT, rtt_ms, 0);

	m->segment = 8688;
	model_add(m, RIGHTSIZED, WINDOW_LIMITED, 0)->limits.cap = 1 << 28;
	model_run(m, 31);
	return m;
}

static void a_path_three_times_as_long(void **state)
{
	struct model *m = model_settled(10);

	m->base_ns = 30 * MS;
	assert_within(model_goodput(m, 36) / GBIT, 0.6,
		      0.75); /* 2 x 10 ms of window in 30 ms */
	model_run(m, 46);
	assert_within(rightsize_min_rtt_us(&m->flow[0].rs), 30000, 31000);
	assert_within(model_goodput(m, 49) / GBIT, 0.995, 1.001);
	model_rtt_max_ms(m);
	model_run(m, 100);
	assert_within(model_rtt_max_ms(m) / 30, 1, 2.5);
	model_free(m);
}

static void a_path_a_third_as_long(void **state)
{
	struct model *m = model_settled(30);

	m->base_ns = 10 * MS;
	model_run(m, 52);
	assert_within(rightsize_min_rtt_us(&m->flow[0].rs), 9999, 11000);
	model_rtt_max_ms(m);
	assert_within(model_goodput(m, 100) / GBIT, 0.99, 1.001);
	assert_within(model_rtt_max_ms(m) / 10, 1, 2.5);
	model_free(m);
}

/*
 * The best rate is kept (DRS IV.A), so that the window of a path that became slower stays; but
 * it must not grow.
 */
static void a_slower_path_does_not_run_away(void **state)
{
	for (int times = 2; times <= 16; times *= 2) {
		struct model *m = model_settled(10);
		double window = m->flow[0].window;

		m->rate_Bps /= times;
		model_run(m, 50);
		model_rtt_max_ms(m);
		assert_within(model_goodput(m, 200) / m->rate_Bps, 0.98, 1.001);
		assert_within(rightsize_min_rtt_us(&m->flow[0].rs), 9999, 12500);
		assert_within(m->flow[0].window / window, 0.24, 1.1);
		assert_within(model_rtt_max_ms(m) / 10, 1, 2.3 * times);
		model_free(m);
	}
}

static void a_faster_path_is_used(void **state)
{
	struct model *m = model_new(GBIT / 10, 10, 0);

	m->segment = 2896;
	model_add(m, RIGHTSIZED, WINDOW_LIMITED, 0)->limits.cap = 1 << 28;
	model_run(m, 31);
	m->rate_Bps = GBIT;
	model_run(m, 31.5);
	assert_within(model_goodput(m, 33) / GBIT, 0.98, 1.001);
	model_free(m);
}

/* Somebody else's queue, three times our path long, that no drain of ours empties. */
static void a_standing_queue_becomes_the_path(void **state)
{
	struct model *m = model_new(GBIT, 10, 20000000);
	struct model_flow *other;

	m->segment = 8688;
	model_add(m, RIGHTSIZED, RENO, 0)->limits.cap = 1 << 26;
	other = model_add(m, FIXED, WINDOW_LIMITED, 21);
	other->initial_window = (uint32_t)(3 * GBIT * 0.01);
	other->stop_ns = EPOCH_NS + 81 * SEC;
	model_run(m, 22);
	assert_within(model_goodput(m, 25) / GBIT, 0.38, 0.42); /* 2 of 5 */
	model_run(m, 36);
	assert_true(rightsize_min_rtt_us(&m->flow[0].rs) > 25000);
	assert_within(model_goodput(m, 80) / GBIT, 0.65, 0.85); /* the kernel alone: 0.81 */
	/* It ends, and within four halves nothing of it is left. */
	model_run(m, 101);
	assert_within(rightsize_min_rtt_us(&m->flow[0].rs), 9999, 11000);
	model_rtt_max_ms(m);
	model_run(m, 120);
	assert_within(model_rtt_max_ms(m) / 10, 1, 2.5);
	model_free(m);
}

/* A receiving application that stops for a while, then takes all that has come at once. */
static void an_application_that_stalls(void **state)
{
	struct model *m = model_settled(10);
	uint64_t x = 88172645463325252ull;

	for (double t = 31; t < 120;) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		t += 0.05 + x % 1000 / 1e3;
		model_run(m, t);
		m->flow[0].stall_until_ns = m->now_ns + (x >> 32) % 50 * MS + 1;
	}
	/* Not 2 but 2.62 BDP is where w = 2 (1.5 - 1 / 2 w) settles: a lump of w, then the
	 * rate. */
	assert_within(m->flow[0].rs.rate_best * 2 * 0.01 / (GBIT * 0.01), 1.9, 2.8);
	model_free(m);
}

/* ---- anything at all ------------------------------------------------------------------------
 */

static uint64_t rnd(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Of any magnitude up to 2^@bits. */
static uint64_t rnd_wide(uint64_t *x, unsigned bits)
{
	uint64_t r = rnd(x);

	return (r >> 8) & ((1ull << (r % (bits + 1))) - 1);
}

static void any_input_keeps_the_limits(void **state)
{
	uint64_t x = 1234567;

	for (int life = 0; life < 2000; life++) {
		struct rightsize rs = {0};
		struct rightsize_limits limits;
		uint64_t now_us = 1 + rnd_wide(&x, 50);
		uint32_t bytes = (uint32_t)rnd(&x);

		limits.floor = (uint32_t)rnd_wide(&x, 24);
		limits.cap = limits.floor + (uint32_t)rnd_wide(&x, 29);
		for (int i = 0; i < 300; i++) {
			uint32_t rtt_us = (uint32_t)rnd_wide(&x, 32), window;
			bool measured = rs.window != 0;

			if (rnd(&x) % 16 == 0) {
				limits.floor = (uint32_t)rnd_wide(&x, 24);
				limits.cap = limits.floor + (uint32_t)rnd_wide(&x, 29);
			}
			now_us += 1 + rnd_wide(&x, 40);
			bytes += (uint32_t)rnd_wide(&x, 32);
			window = rightsize_round(&rs, now_us, bytes, rtt_us, &limits);
			assert_true(window <= limits.cap);
			assert_true(!measured || window >= limits.floor);
			assert_int_equal(window, rs.window);
			assert_true(rs.reason < RIGHTSIZE_REASONS);
			assert_true(rs.rate_best <= RIGHTSIZE_RATE_MAX);
			assert_true(rs.per_rtt <= RIGHTSIZE_WINDOW_MAX);
			if (rs.drain_end_us > now_us)
				assert_true(rs.drain_end_us - now_us <= HALF_US / 2);
		}
	}
}

/* The rate kept never falls, and the window follows it exactly but for growth and drains. */
static void the_window_is_two_rates_times_rtt(void **state)
{
	uint64_t x = 7;

	for (int life = 0; life < 500; life++) {
		struct line l = line_new(RIGHTSIZE_WINDOW_FLOOR_US + rnd(&x) % 300000);
		uint32_t mean = (uint32_t)rnd_wide(&x, 24) + 1;
		uint64_t rate = 0;

		for (int i = 0; i < 200; i++) {
			uint32_t took_us = l.rtt_us + rnd(&x) % l.rtt_us;
			uint64_t want;

			line_round(&l, took_us, (uint32_t)(rnd(&x) % (2 * mean)));
			assert_true(l.rs.rate_best >= rate);
			rate = l.rs.rate_best;
			want = 2 * (uint64_t)((__uint128_t)rate * l.rtt_us / 1000000);
			if (want > RIGHTSIZE_WINDOW_MAX)
				want = RIGHTSIZE_WINDOW_MAX;
			assert_true(l.rs.window >= want);
			if (l.rs.reason == RIGHTSIZE_MEASURED)
				assert_int_equal(l.rs.window, want);
			assert_int_equal(l.rs.drains, 0);
		}
	}
}

/* 1 Tbit/s and RTTs from 1 us to 60 s; the counter may wrap many times a second. */
static void nothing_overflows_at_the_extremes(void **state)
{
	static const uint32_t rtt_us[] = {1, 1000, 33000, 1000000, 60000000, UINT_MAX};
	static const uint32_t got[] = {0, 1, 125000000, UINT_MAX};

	for (size_t r = 0; r < ARRAY_SIZE(rtt_us); r++)
		for (size_t g = 0; g < ARRAY_SIZE(got); g++) {
			struct line l = line_new(rtt_us[r]);
			uint32_t rtt = rtt_us[r] < RIGHTSIZE_WINDOW_FLOOR_US ? RIGHTSIZE_WINDOW_FLOOR_US : rtt_us[r];
			double want;

			if (rtt > RIGHTSIZE_RTT_MAX_US)
				rtt = RIGHTSIZE_RTT_MAX_US;
			for (int i = 0; i < 4; i++)
				line_round(&l, 1000, got[g]);
			want = fmin(2 * fmin(got[g] * 1e3, RIGHTSIZE_RATE_MAX) * rtt / 1e6,
				    1u << 30);
			if (rtt_us[r] <= 33000)
				assert_within(l.rs.window, want - 2, want);
			else /* all of this falls into one drain, or none */
				assert_within(l.rs.window, 0, want);
		}
	/* 1 Tbit/s over 1 ms is 125 MB, of which twice are wanted. */
	{
		struct line l = line_new(1000);

		for (int i = 0; i < 4; i++)
			line_round(&l, 1000, 125000000);
		assert_int_equal(l.rs.window, 1000000000);
		/* A counter that jumps back is a round of 4 GB, and the cap. */
		line_round(&l, 1000, UINT_MAX - 5);
		assert_int_equal(l.rs.window, RIGHTSIZE_WINDOW_MAX);
	}
}

/* ---- an application that reads slowly --------------------------------------------------------
 */

/* A line at 20 ms whose best rate is @rate, bytes per second. */
static struct line line_at_rate(uint32_t rate)
{
	struct line l = line_new(20000);

	for (int i = 0; i < 3; i++)
		line_round(&l, 20000, rate / 50);
	assert_int_equal(l.rs.rate_best, rate);
	assert_int_equal(l.rs.window, rate / 25);
	return l;
}

/* @rounds of 20 ms in which @got bytes are read, and @unread wait. Returns the best rate. */
static uint64_t line_reads(struct line *l, struct rightsize_reader *reader, int rounds,
			   uint32_t got, uint32_t unread)
{
	for (int i = 0; i < rounds; i++) {
		rightsize_weigh_reader(reader, &l->rs, l->now_us + 20000, l->bytes + got, unread);
		line_round(l, 20000, got);
	}
	return l->rs.rate_best;
}

static void a_slow_reader_comes_down_by_halves(void **state)
{
	struct line l = line_at_rate(100000000);
	struct rightsize_reader reader = {0};

	/* 250 ms, after the round in which it was first seen, are 13 rounds of 20 ms. */
	assert_int_equal(line_reads(&l, &reader, 13, 200000, 3900000), 100000000);
	assert_int_equal(line_reads(&l, &reader, 1, 200000, 3900000), 50000000);
	assert_int_equal(l.rs.window, 2000000);
	assert_int_equal(line_reads(&l, &reader, 12, 200000, 1900000), 50000000);
	assert_int_equal(line_reads(&l, &reader, 1, 200000, 1900000), 25000000);
	/* ... and to what it reads, 200 KB in 20 ms, not below. */
	assert_int_equal(line_reads(&l, &reader, 13, 200000, 900000), 12500000);
	assert_int_equal(line_reads(&l, &reader, 13, 200000, 450000), 12500000);
	/* A quarter less is near enough; half of it is not. */
	assert_int_equal(line_reads(&l, &reader, 8 * 13, 190000, 450000), 12500000);
	assert_int_equal(line_reads(&l, &reader, 13, 100000, 450000), 6250000);
	assert_int_equal(line_reads(&l, &reader, 100, 100000, 450000), 6250000);
	assert_int_equal(l.rs.window, 250000);
}

/* Half the window unread is what the rule itself leaves to a steady reader. */
static void half_a_window_unread_is_no_sign(void **state)
{
	struct line l = line_at_rate(100000000);
	struct rightsize_reader reader = {0};

	assert_int_equal(line_reads(&l, &reader, 1000, 200000, 2000000), 100000000);
	assert_int_equal(line_reads(&l, &reader, 14, 200000, 2000001), 50000000);
}

static void a_pause_is_not_slowness(void **state)
{
	struct line l = line_at_rate(100000000);
	struct rightsize_reader reader = {0};

	for (int i = 0; i < 100; i++) { /* 200 ms of pause, then all of it at once */
		line_reads(&l, &reader, 10, 0, 3900000);
		line_reads(&l, &reader, 1, 4000000, 0);
	}
	assert_int_equal(l.rs.rate_best, 100000000);
	/* Little is known after a few rounds, however long they were. */
	line_reads(&l, &reader, 1, 0, 3900000);
	l.now_us += 2000000;
	line_reads(&l, &reader, 6, 0, 3900000);
	assert_int_equal(l.rs.rate_best, 100000000);
	line_reads(&l, &reader, 1, 4000000, 0);
	/* A minute without an ACK is one round, and takes no more than half. */
	line_reads(&l, &reader, 8, 0, 3900000);
	l.now_us += 60000000;
	assert_int_equal(line_reads(&l, &reader, 1, 0, 3900000), 50000000);
}

static void a_reader_that_is_fast_again_grows_as_a_new_one(void **state)
{
	struct line l = line_at_rate(100000000);
	struct rightsize_reader reader = {0};
	int rounds = 0;

	line_reads(&l, &reader, 200, 20000, 3900000);
	assert_int_equal(l.rs.window, 40000);
	while (l.rs.window < 2000000 && rounds < 100) { /* a window each round trip */
		line_reads(&l, &reader, 1, l.rs.window, 0);
		rounds++;
	}
	assert_within(rounds, 3, 6);
}

static void any_reader_never_loses_more_than_half(void **state)
{
	uint64_t x = 99;

	for (int life = 0; life < 2000; life++) {
		struct rightsize rs = {.rtt_now_us = 1 + (uint32_t)rnd_wide(&x, 26)};
		struct rightsize_reader reader = {0};
		uint64_t now_us = 1 + rnd_wide(&x, 50);

		rs.rate_best = rnd_wide(&x, 37);
		rs.window = (uint32_t)rnd_wide(&x, 30);
		for (int i = 0; i < 100; i++) {
			uint64_t before = rs.rate_best;
			uint32_t peak = rs.per_rtt_peak = (uint32_t)rnd_wide(&x, 30);
			uint32_t unread = (uint32_t)rnd_wide(&x, 31);

			now_us += rnd_wide(&x, 40);
			rightsize_weigh_reader(&reader, &rs, now_us, (uint32_t)rnd(&x), unread);
			assert_true(rs.rate_best <= before && rs.rate_best >= before / 2);
			assert_true(rs.per_rtt_peak <= peak);
			if (unread <= rs.window / 2)
				assert_true(rs.rate_best == before && !reader.since_us);
		}
	}
}

/* 50 Mbit/s of a path of 1 Gbit/s and 20 ms, after five seconds of all of it, and again. */
static void a_slow_reader_in_the_model(void **state)
{
	struct model *m = model_new(GBIT, 20, 0);
	struct model_flow *f = model_add(m, RIGHTSIZED, WINDOW_LIMITED, 0);
	double needs = 2 * 6.25e6 * 0.02;

	m->segment = 8688;
	model_run(m, 6);
	assert_within(f->window / (GBIT * 0.02), 1.9, 2.2);
	model_reader(m, f, 6.25e6);
	model_run(m, 12);
	assert_within(f->window / needs, 1, 2.6);
	assert_within((f->received - f->read) / needs, 0.4, 2.6);
	model_run(m, 13);
	uint64_t read = f->read;

	model_run(m, 23);
	assert_within((f->read - read) / 62.5e6, 0.99, 1.01);
	assert_within(f->window / needs, 1, 2.6);
	model_reader(m, f, 0);
	model_run(m, 23.3);
	assert_within(model_goodput(m, 24) / GBIT, 0.97, 1.01);
	model_free(m);
}

/* Pauses of 200 ms, as often as not: what is read meanwhile is what it is without the rule. */
static void a_fast_reader_that_pauses_loses_nothing(void **state)
{
	static const double every_s[] = {0.25, 0.4, 1, 3};
	double got[2];

	for (size_t e = 0; e < ARRAY_SIZE(every_s); e++)
		for (double rtt_ms = 2; rtt_ms <= 50; rtt_ms *= 5) {
			for (int patient = 0; patient < 2; patient++) {
				struct model *m = model_new(GBIT, rtt_ms, 0);

				m->segment = 8688;
				model_add(m, patient ? RIGHTSIZED_PATIENT : RIGHTSIZED,
					  WINDOW_LIMITED, 0);
				model_run(m, 3);
				for (double t = 3; t < 30; t += every_s[e]) {
					model_run(m, t);
					m->flow[0].stall_until_ns = m->now_ns + 200 * MS;
				}
				got[patient] = m->flow[0].received;
				model_free(m);
			}
			assert_within(got[0] / got[1], 0.99, 1.05);
		}
}

/* ---- slow links ------------------------------------------------------------------------------
 */

/* A round of 100 ms at an RTT of 100 ms, with @ticks ticks of @bytes each before it ends. */
static void full_round(struct line *l, int ticks, uint32_t bytes)
{
	uint64_t start_us = l->now_us;

	for (int i = 1; i <= ticks; i++)
		rightsize_tick(&l->rs, start_us + i * 12500, l->bytes + i * bytes, 0);
	line_round(l, 100000, ticks * bytes);
}

static struct line line_on_slow_path(uint32_t rtt_us)
{
	struct line l = line_new(50000);

	l.limits = (struct rightsize_limits){.floor = 65536, .cap = 1 << 30, .least = 14480};
	l.rtt_us = rtt_us;
	full_round(&l, 8, 2000);
	return l;
}

static void a_full_slow_path_gets_less_than_the_floor(void **state)
{
	struct line l = line_on_slow_path(100000);

	full_round(&l, 8, 2000);
	assert_int_equal(l.rs.window, 65536);
	full_round(&l, 8, 2000);
	/* 16 KB in 100 ms are 8 KB in 50 ms, of which twice are wanted. */
	assert_int_equal(l.rs.window, 16000);
	/* It empties the queue, and stays. */
	l.rtt_us = 50000;
	full_round(&l, 2, 100);
	assert_int_equal(l.rs.window, 16000);
	/* A faster path that needs the floor gets it. */
	for (int i = 0; i < 3; i++)
		full_round(&l, 8, 8000);
	assert_int_equal(l.rs.window, 65536);
	full_round(&l, 8, 2000);
	assert_int_equal(l.rs.window, 65536);
}

/*
 * Without a pause, in however few ACKs: at 512 kbit/s one for two segments leaves every 46 ms, and
 * a queue of eight packets makes a round-trip time of four of them. Silence is not longer for a hole that is being filled.
 */
static void a_path_of_few_segments_is_seen_to_be_full(void **state)
{
	for (int hole = 0; hole < 2; hole++) {
		struct line l = line_new(50000);

		l.limits = (struct rightsize_limits){
			.floor = 65536, .cap = 1 << 30, .least = 14480};
		l.rtt_us = 180000;
		for (int i = 0; i < 4; i++) {
			for (int t = 0; t < 4; t++) {
				l.now_us += 46000;
				l.bytes += hole ? 0 : 2896;
				rightsize_tick(&l.rs, l.now_us, l.bytes, hole);
			}
			rightsize_round(&l.rs, l.now_us, l.bytes, l.rtt_us, &l.limits);
		}
		assert_true(rightsize_path_slow(&l.rs));
		assert_int_equal(l.rs.window, 14480);
	}
}

/* The first hole makes the window tight: the 8 KB that the path holds, and half the least. */
static void a_slow_path_that_loses_gets_less(void **state)
{
	struct line l = line_on_slow_path(100000);

	l.limits.least = 3000;
	rightsize_weigh_hole(&l.rs, 1, 1); /* of before it was known to be slow */
	for (int i = 0; i < 3; i++)
		full_round(&l, 8, 2000);
	rightsize_weigh_hole(&l.rs, 1, 1); /* and it is still there */
	full_round(&l, 8, 2000);
	assert_int_equal(l.rs.window, 16000);
	rightsize_weigh_hole(&l.rs, 0, 0);
	rightsize_weigh_hole(&l.rs, 1, 0); /* the sender has not yet come down to the window */
	full_round(&l, 8, 2000);
	assert_int_equal(l.rs.window, 16000);
	rightsize_weigh_hole(&l.rs, 0, 1);
	rightsize_weigh_hole(&l.rs, 1, 1);
	full_round(&l, 8, 2000);
	assert_int_equal(l.rs.window, 9500);
	assert_int_equal(l.rs.reason, RIGHTSIZE_SHORT_QUEUE);
	/* A path that becomes faster is still used. */
	full_round(&l, 8, 2750);
	full_round(&l, 8, 2750);
	assert_int_equal(l.rs.window, 12500);
	for (int i = 0; i < 3; i++)
		full_round(&l, 8, 8000);
	assert_int_equal(l.rs.window, 65536);
}

/* Where the small window loses data all the same, it is of no use. */
static void a_slow_path_that_still_loses_gets_the_floor(void **state)
{
	struct line l = line_on_slow_path(100000);

	for (int i = 0; i < 3; i++) { /* the last one makes it tight */
		rightsize_weigh_hole(&l.rs, i % 2 == 0, 1);
		full_round(&l, 8, 2000);
	}
	rightsize_weigh_hole(&l.rs, 0, 1);
	assert_int_equal(l.rs.window, 15240);
	for (int i = 0; i < 6600; i++) { /* one in sixty-six is forgiven, and one for long */
		rightsize_weigh_hole(&l.rs, i % 66 < 2, 1);
		full_round(&l, 8, 2000);
		assert_true(l.rs.window <= 15240); /* or less, in a drain */
	}
	for (int i = 0; i < 260; i++) { /* one in fifty-two is not, if that goes on */
		assert_true(l.rs.window <= 15240);
		rightsize_weigh_hole(&l.rs, i % 52 == 0, 1);
		full_round(&l, 8, 2000);
	}
	for (int i = 0; i < 8; i++) {
		assert_true(l.rs.window <= 15240);
		rightsize_weigh_hole(&l.rs, i % 2, 1);
		full_round(&l, 8, 2000);
	}
	for (int i = 0; i < 200; i++) {
		assert_int_equal(l.rs.window, 65536);
		rightsize_weigh_hole(&l.rs, 0, 1);
		full_round(&l, 8, 2000);
	}
}

static void the_least_window_is_kept(void **state)
{
	struct line l = line_on_slow_path(100000);

	for (int i = 0; i < 3; i++)
		full_round(&l, 8, 100);
	assert_true(l.rs.window >= 14480);
	assert_true(l.rs.window < 65536);
}

/* A drain leaves a slow path one bandwidth-delay product. */
static void a_drain_of_a_slow_path(void **state)
{
	struct line l = line_on_slow_path(100000);

	l.limits.least = 3000;
	for (int i = 0; i < 3; i++)
		full_round(&l, 8, 2000);
	assert_int_equal(l.rs.window, 16000);
	while (l.rs.reason != RIGHTSIZE_DRAINING && l.now_us < START_US + 3 * HALF_US)
		full_round(&l, 8, 2000);
	assert_int_equal(l.rs.reason, RIGHTSIZE_DRAINING);
	assert_int_equal(l.rs.window, 8000);
}

/*
 * What is not the path's: no queue; data in bursts, or evenly, where the sender's pauses are all
 * that there is beyond the minimum of 50 ms.
 */
static void a_slow_sender_keeps_the_floor(void **state)
{
	struct line l = line_on_slow_path(60000);

	for (int i = 0; i < 50; i++) /* evenly, but at an RTT of 60 ms where 50 is the least */
		full_round(&l, 8, 2000);
	assert_int_equal(l.rs.window, 65536);
	for (uint32_t pause_us = 10000; pause_us < 2000000; pause_us += 10000) {
		l = line_on_slow_path(50000 + pause_us);
		for (int i = 0; i < 20; i++) { /* a burst, and then nothing */
			rightsize_tick(&l.rs, l.now_us + 6000, l.bytes + 4000, 0);
			rightsize_tick(&l.rs, l.now_us + 12500, l.bytes + 9000, 0);
			l.now_us += pause_us;
			l.bytes += 9000;
			rightsize_tick(&l.rs, l.now_us + 12500, l.bytes + 1448, 0);
			line_round(&l, 50000, 1448);
			assert_int_equal(l.rs.window, 65536);
		}
	}
	l = line_on_slow_path(100000);
	for (int i = 0; i < 50; i++) { /* ACKs of other things than data */
		full_round(&l, 8, 0);
		assert_int_equal(l.rs.window, 65536);
	}
}

/* The RTT that the smallest window makes by itself, or that no drain had the time to lower. */
static void our_own_queue_is_not_the_path(void **state)
{
	struct rightsize rs = {.window = 65536, .rate_best = 200000, .rtt_now_us = 350000};

	assert_false(rightsize_drain_tells(&rs)); /* 70 KB in flight: nearly the window */
	rs.rtt_now_us = 400000;
	assert_true(rightsize_drain_tells(&rs));
	rs.rtt_now_us = 1250000;
	assert_true(rightsize_drain_tells(&rs));
	rs.rtt_now_us = 1250001;
	assert_false(rightsize_drain_tells(&rs));
}

static void less_than_the_floor_only_on_a_slow_path(void **state)
{
	uint64_t x = 4711;

	for (int life = 0; life < 2000; life++) {
		struct rightsize rs = {0};
		struct rightsize_limits limits;
		uint64_t now_us = 1 + rnd_wide(&x, 50);
		uint32_t bytes = 0;

		limits.least = (uint32_t)rnd_wide(&x, 20);
		limits.floor = limits.least + (uint32_t)rnd_wide(&x, 20);
		limits.cap = limits.floor + (uint32_t)rnd_wide(&x, 29);
		for (int i = 0; i < 300; i++) {
			uint32_t rtt_us = (uint32_t)rnd_wide(&x, 24);

			now_us += rnd_wide(&x, 20);
			bytes += (uint32_t)rnd_wide(&x, 20);
			rightsize_tick(&rs, now_us, bytes, rnd(&x) % 4 == 0);
			if (rnd(&x) % 8)
				continue;
			rightsize_weigh_hole(&rs, rnd(&x) % 16 == 0, rnd(&x) % 2);
			if (!rightsize_round(&rs, now_us, bytes, rtt_us, &limits))
				continue;
			assert_true(rs.window >= limits.least && rs.window <= limits.cap);
			if (rs.window < limits.floor)
				assert_int_equal(rs.full_rounds, RIGHTSIZE_FULL_ROUNDS);
			assert_true(rs.full_rounds <= RIGHTSIZE_FULL_ROUNDS);
		}
	}
}

/* The second paper's Figure 7 and more: drops of a Reno sender, and the same throughput. */
static void check_slow_link(double rate_bps, double rtt_ms, uint64_t queue, uint32_t segment,
			    double seconds)
{
	double drops[2], got[2];

	for (int fixed = 0; fixed < 2; fixed++) {
		struct model *m = model_new(rate_bps / 8, rtt_ms, queue);
		struct model_flow *f = model_add(m, fixed ? FIXED : RIGHTSIZED, RENO, 0);

		m->segment = segment;
		m->tick_us = 1000;
		model_run(m, seconds);
		drops[fixed] = f->drops;
		got[fixed] = f->received;
		if (!fixed)
			assert_within(f->window, 14480, 40000);
		model_free(m);
	}
	assert_true(drops[1] >= 5);
	assert_within(drops[0] / drops[1], 0, 0.8);
	assert_within(got[0] / got[1], 0.99, 1.05);
}

static void slow_links_drop_less(void **state)
{
	check_slow_link(56e3, 100, 15000, 1500, 300);
	check_slow_link(1.5e6, 50, 15000, 1500, 60);
	check_slow_link(1.5e6, 100, 30000, 1500, 60);
	/* Twice what the path holds does not fit into it and its queue. */
	check_slow_link(1.5e6, 100, 15000, 1500, 60);
	/* Two segments for an ACK. */
	check_slow_link(512e3, 50, 15000, 3000, 60);
}

/* However deep the queue: the window does not follow what it makes of the RTT. */
static void a_slow_link_with_a_deep_queue(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct model *m = model_new(i ? 1.5e6 / 8 : 7000, 100, 0);
		struct model_flow *f = model_add(m, RIGHTSIZED, RENO, 0);

		m->segment = 1500;
		m->tick_us = 1000;
		model_run(m, 100);
		assert_within(model_goodput(m, 600) / m->rate_Bps, 0.98, 1.01);
		assert_within(f->window, 14480, 50000);
		model_free(m);
	}
}

/* ---- the sending direction -------------------------------------------------------------------
 */

static void a_send_buffer_is_what_can_be_used(void **state)
{
	struct rightsize rs = {.window = 1000000, .reason = RIGHTSIZE_MEASURED};

	assert_int_equal(rightsize_usable(&rs, 500000, UINT_MAX, 0, 0), 1000000);
	assert_int_equal(rs.reason, RIGHTSIZE_MEASURED);
	assert_int_equal(rightsize_usable(&rs, 400000, UINT_MAX, 0, 0), 800000);
	assert_int_equal(rs.reason, RIGHTSIZE_USABLE);
	assert_int_equal(rightsize_usable(&rs, 150000, UINT_MAX, 1, 0), 600000);
	assert_int_equal(rightsize_usable(&rs, 400000, 150000, 0, 0), 300000);
	assert_int_equal(rightsize_usable(&rs, 10000, UINT_MAX, 0, 131072), 131072);
	assert_int_equal(rightsize_usable(&rs, 0, 0, 0, 0), 0);
	rs.window = RIGHTSIZE_WINDOW_MAX;
	assert_int_equal(rightsize_usable(&rs, 1ull << 40, UINT_MAX, 1, 0), RIGHTSIZE_WINDOW_MAX);
}

static void little_waits_unsent(void **state)
{
	struct rightsize rs = {.rtt_now_us = 100000, .rate_best = 125000000};

	assert_int_equal(rightsize_unsent(&rs), 1562500); /* an eighth of 100 ms at 1 Gbit/s */
	rs.rtt_now_us = 10000;
	assert_int_equal(rightsize_unsent(&rs), 500000); /* 4 ms */
	rs.rate_best = 1250000;
	assert_int_equal(rightsize_unsent(&rs), 131072);
	rs.rate_best = RIGHTSIZE_RATE_MAX;
	rs.rtt_now_us = RIGHTSIZE_RTT_MAX_US;
	assert_int_equal(rightsize_unsent(&rs), RIGHTSIZE_WINDOW_MAX);
	rs = (struct rightsize){0};
	assert_int_equal(rightsize_unsent(&rs), 131072);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said_before_a_round_trip),
		cmocka_unit_test(a_round_lasts_one_loaded_rtt),
		cmocka_unit_test(twice_the_bytes_per_rtt),
		cmocka_unit_test(bytes_are_per_elapsed_time),
		cmocka_unit_test(the_rtt_is_the_minimum),
		cmocka_unit_test(a_lan_is_measured_by_the_millisecond),
		cmocka_unit_test(the_largest_is_kept),
		cmocka_unit_test(one_inflated_round_does_not_stick),
		cmocka_unit_test(growth_room_is_the_kernels),
		cmocka_unit_test(growth_room_in_a_round),
		cmocka_unit_test(a_train_shows_the_rate_of_the_path),
		cmocka_unit_test(room_to_grow_stands_for_a_round),
		cmocka_unit_test(a_known_train_bounds_growth),
		cmocka_unit_test(floor_and_cap),
		cmocka_unit_test(the_byte_counter_wraps),
		cmocka_unit_test(the_minimum_falls_at_once),
		cmocka_unit_test(a_little_longer_is_not_believed),
		cmocka_unit_test(longer_is_believed_after_a_drain),
		cmocka_unit_test(a_drain_ends_when_the_old_minimum_is_seen),
		cmocka_unit_test(connections_drain_together),
		cmocka_unit_test(a_drain_is_bounded),
		cmocka_unit_test(idle_for_hours),
		cmocka_unit_test(a_clock_that_jumps),
		cmocka_unit_test(coarse_timers_do_not_underestimate),
		cmocka_unit_test(timestamps_in_milliseconds_do_not_underestimate),
		cmocka_unit_test(slow_start_is_never_held_by_the_window),
		cmocka_unit_test(slow_start_of_a_pacing_sender),
		cmocka_unit_test(a_deep_queue_does_not_fill),
		cmocka_unit_test(a_slowly_filled_queue_does_not_creep),
		cmocka_unit_test(without_drains_it_runs_away),
		cmocka_unit_test(two_flows_do_not_drive_each_other_up),
		cmocka_unit_test(a_path_three_times_as_long),
		cmocka_unit_test(a_path_a_third_as_long),
		cmocka_unit_test(a_slower_path_does_not_run_away),
		cmocka_unit_test(a_faster_path_is_used),
		cmocka_unit_test(a_standing_queue_becomes_the_path),
		cmocka_unit_test(an_application_that_stalls),
		cmocka_unit_test(any_input_keeps_the_limits),
		cmocka_unit_test(the_window_is_two_rates_times_rtt),
		cmocka_unit_test(nothing_overflows_at_the_extremes),
		cmocka_unit_test(a_slow_reader_comes_down_by_halves),
		cmocka_unit_test(half_a_window_unread_is_no_sign),
		cmocka_unit_test(a_pause_is_not_slowness),
		cmocka_unit_test(a_reader_that_is_fast_again_grows_as_a_new_one),
		cmocka_unit_test(any_reader_never_loses_more_than_half),
		cmocka_unit_test(a_slow_reader_in_the_model),
		cmocka_unit_test(a_fast_reader_that_pauses_loses_nothing),
		cmocka_unit_test(a_full_slow_path_gets_less_than_the_floor),
		cmocka_unit_test(a_path_of_few_segments_is_seen_to_be_full),
		cmocka_unit_test(a_slow_path_that_loses_gets_less),
		cmocka_unit_test(a_slow_path_that_still_loses_gets_the_floor),
		cmocka_unit_test(the_least_window_is_kept),
		cmocka_unit_test(a_drain_of_a_slow_path),
		cmocka_unit_test(a_slow_sender_keeps_the_floor),
		cmocka_unit_test(our_own_queue_is_not_the_path),
		cmocka_unit_test(less_than_the_floor_only_on_a_slow_path),
		cmocka_unit_test(slow_links_drop_less),
		cmocka_unit_test(a_slow_link_with_a_deep_queue),
		cmocka_unit_test(a_send_buffer_is_what_can_be_used),
		cmocka_unit_test(little_waits_unsent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
