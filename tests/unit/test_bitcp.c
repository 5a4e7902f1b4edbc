// SPDX-License-Identifier: GPL-2.0-only
/* BI-TCP against the paper: its pseudo-code in doubles, its numbers, and what must not be. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tcptuned/algo/bitcp.h"
#include "numbers.h"

#define PACKETS(x)    ((__u64)((x)*Q32 + 0.5))

/* --- the paper's pseudo-code, section VI-A, in doubles -------------------------------- */

struct paper {
	double s_max, s_min, beta, low_window;
	double cwnd, max_win, min_win, target_win, ss_cwnd, ss_target;
	bool is_bitcp_ss;
};

static const double default_max_win = BITCP_MAX_CWND;

static void paper_init(struct paper *p, double s_max, double s_min, double beta, int low_window,
		       double cwnd)
{
	*p = (struct paper){
		.s_max = s_max,
		.s_min = s_min,
		.beta = beta,
		.low_window = low_window,
		.cwnd = cwnd,
		.max_win = default_max_win,
		.target_win = default_max_win / 2,
	};
}

static void paper_fast_recovery(struct paper *p)
{
	if (p->low_window <= p->cwnd) {
		double prev_max = p->max_win;

		p->max_win = p->cwnd;
		p->cwnd = p->cwnd * (1 - p->beta);
		p->min_win = p->cwnd;
		if (prev_max > p->max_win)
			p->max_win = (p->max_win + p->min_win) / 2;
		p->target_win = (p->max_win + p->min_win) / 2;
		p->is_bitcp_ss = false; /* mended: the maximum is known now */
	} else {
		p->cwnd *= 0.5;
		p->ss_target = p->cwnd + p->ss_cwnd;
	}
	p->cwnd = fmax(p->cwnd, 2);
}

static void paper_ack(struct paper *p)
{
	if (p->low_window > p->cwnd) {
		p->cwnd += 1 / p->cwnd;
		return;
	}
	if (!p->is_bitcp_ss) {
		double step = p->target_win - p->cwnd;

		p->cwnd += fmin(fmax(step, p->s_min), p->s_max) / p->cwnd;
		if (p->max_win > p->cwnd) {
			p->min_win = p->cwnd;
			p->target_win = (p->max_win + p->min_win) / 2;
		} else {
			p->is_bitcp_ss = true;
			p->ss_cwnd = 1;
			p->ss_target = p->cwnd + 1;
			p->max_win = default_max_win;
			p->min_win = p->cwnd; /* mended: as in the text */
			p->target_win = (p->max_win + p->min_win) / 2;
		}
	} else {
		p->cwnd += p->ss_cwnd / p->cwnd;
		if (p->cwnd >= p->ss_target) {
			p->ss_cwnd *= 2;
			p->ss_target = p->cwnd + p->ss_cwnd;
		}
		if (p->ss_cwnd >= p->s_max)
			p->is_bitcp_ss = false;
	}
}

/* --- helpers -------------------------------------------------------------------------- */

static struct bitcp_params params(double s_max, double s_min, double beta, int low_window)
{
	return (struct bitcp_params){PACKETS(s_max), PACKETS(s_min), (__u32)PACKETS(beta),
				     (__u32)low_window};
}

static struct bitcp fresh_with(struct bitcp_params p, __u32 cwnd)
{
	struct bitcp st;

	memset(&st, 0xa5, sizeof(st)); /* bitcp_init must leave nothing as it was */
	bitcp_init(&st, &p, cwnd);
	return st;
}

static struct bitcp fresh(__u32 cwnd)
{
	return fresh_with(bitcp_params_default(), cwnd);
}

static double win(const struct bitcp *st)
{
	return (double)bitcp_win(st) / Q32;
}

static double max_win(const struct bitcp *st)
{
	return (double)st->max_win / Q32;
}

/* n packets, acknowledged one by one or several at once, past the first slow start. */
static void acks(struct bitcp *st, __u32 n, __u32 acked)
{
	while (n) {
		__u32 now = n < acked ? n : acked;

		bitcp_on_ack(st, st->cwnd, NO_SLOW_START, now);
		n -= now;
	}
}

/* One round trip: a window of packets. Returns the growth in packets. */
static double round_trip(struct bitcp *st)
{
	double before = win(st);

	acks(st, st->cwnd, 1);
	return win(st) - before;
}

/* A connection whose last loss was at `at` packets with no fast convergence: max_win is `at`
 * itself, the window at * (1 - beta).
 */
static struct bitcp after_loss(struct bitcp_params p, __u32 at)
{
	struct bitcp st = fresh_with(p, at / 4);

	bitcp_ssthresh(&st, at / 4); /* a lower maximum before it */
	bitcp_ssthresh(&st, at);
	return st;
}

static __u64 rng_state;

static __u64 rng(void) /* xorshift64* */
{
	rng_state ^= rng_state >> 12;
	rng_state ^= rng_state << 25;
	rng_state ^= rng_state >> 27;
	return rng_state * 0x2545f4914f6cdd1dull;
}

static __u64 rng_between(__u64 low, __u64 high)
{
	return low + rng() % (high - low + 1);
}

/* Small and large alike: the number of bits is uniform. */
static __u32 rng_scaled(__u32 low, __u32 high)
{
	__u64 value = rng() & ((2ull << rng_between(0, 31)) - 1);

	return value < low ? low : value > high ? high : (__u32)value;
}

static struct bitcp_params rng_params(void)
{
	struct bitcp_params p = {
		.s_max = rng_between(BITCP_S_MAX_LOWEST, BITCP_S_MAX_HIGHEST),
		.s_min = rng_between(BITCP_S_MIN_LOWEST, BITCP_S_MIN_HIGHEST),
		.beta = (__u32)rng_between(BITCP_BETA_LOWEST, BITCP_BETA_HIGHEST),
		.low_window = rng_scaled(BITCP_LOW_WINDOW_LOWEST, BITCP_LOW_WINDOW_HIGHEST),
	};

	if (rng() % 4 == 0)
		p.s_max = rng() % 2 ? BITCP_S_MAX_LOWEST : BITCP_S_MAX_HIGHEST;
	if (rng() % 4 == 0)
		p.s_min = rng() % 2 ? BITCP_S_MIN_LOWEST : BITCP_S_MIN_HIGHEST;
	if (rng() % 4 == 0)
		p.beta = (__u32)(rng() % 2 ? BITCP_BETA_LOWEST : BITCP_BETA_HIGHEST);
	assert_true(bitcp_params_valid(&p));
	return p;
}

/* --- step by step against the pseudo-code --------------------------------------------- */

/* Where a comparison hangs on the last bits, one side changes its mode a few ACKs before the
 * other; in between their maxima differ, their windows hardly.
 */
static void same_window(const struct bitcp *st, const struct paper *p, long at, bool reduced)
{
	if (fabs(win(st) - p->cwnd) > 0.5 || (reduced && fabs(max_win(st) - p->max_win) > 0.5))
		fail_msg("packet %ld: cwnd %.6f, the paper's %.6f; max %.6f, the paper's %.6f",
			 at, win(st), p->cwnd, max_win(st), p->max_win);
}

/* Loses whenever the window passes a capacity that changes every 20000 packets, and now and
 * then at random; 400000 packets per parameter set.
 */
static void follow(double s_max, double s_min, double beta, int low_window, __u32 capacity)
{
	struct bitcp st = fresh_with(params(s_max, s_min, beta, low_window), 10);
	struct paper p;
	int losses = 0, past_max = 0;

	paper_init(&p, s_max, s_min, beta, low_window, 10);
	rng_state = 0x9e3779b97f4a7c15ull + capacity;
	for (long i = 0; i < 400000; i++) {
		__u32 room = capacity + (__u32)(i / 20000 * 7 % 5) * capacity / 4;

		bitcp_on_ack(&st, st.cwnd, NO_SLOW_START, 1);
		paper_ack(&p);
		same_window(&st, &p, i, false);
		past_max += st.ss_cwnd != 0;
		if (st.cwnd >= room || rng() % 40000 == 0) {
			bitcp_ssthresh(&st, st.cwnd);
			paper_fast_recovery(&p);
			same_window(&st, &p, i, true);
			losses++;
		}
	}
	assert_true(losses > 5 && past_max > 100); /* the script went where it should */
}

static void follows_the_pseudo_code(void **state)
{
	(void)state;
	follow(32, 0.01, 0.125, 14, 300);
	follow(32, 0.01, 0.125, 14, 40);
	follow(32, 0.01, 0.125, 14, 2000);
	follow(20, 0.3, 0.2, 31, 400); /* S_max no power of two */
	follow(8, 1, 0.5, 16, 150);
	follow(1, 0.0001, 0.125, 2, 60);
	follow(1024, 0.01, 0.05, 14, 5000);
}

/* --- each behaviour by its numbers ---------------------------------------------------- */

static void loss_takes_exactly_beta(void **state)
{
	struct bitcp st = fresh(1000);

	(void)state;
	assert_int_equal(bitcp_ssthresh(&st, 1000), 875);
	assert_true(st.frac == 0);
	assert_int_equal(bitcp_ssthresh(&st, 999), 874); /* 874.125 */
	assert_true(bitcp_win(&st) == PACKETS(874.125));
	/* and the fraction counts at the next: 874.125 * 7/8 = 764.859375 */
	assert_int_equal(bitcp_ssthresh(&st, 874), 764);
	assert_true(bitcp_win(&st) == PACKETS(764.859375));
	st = fresh_with(params(32, 0.01, 0.5, 14), 1 << 20);
	assert_int_equal(bitcp_ssthresh(&st, 1 << 20), 1 << 19);
	st = fresh_with(params(32, 0.01, 0.3, 14), 1 << 20);
	assert_near(bitcp_ssthresh(&st, 1 << 20), 0.7 * (1 << 20), 1);
}

static void fast_convergence_halves_the_way_back(void **state)
{
	struct bitcp st = after_loss(bitcp_params_default(), 1000);

	(void)state;
	assert_near(max_win(&st), 1000, 0); /* upward: the maximum is the window */
	bitcp_ssthresh(&st, 900);	    /* downward: (900 + 787.5) / 2 */
	assert_near(max_win(&st), 843.75, 0);
	bitcp_ssthresh(&st, 844); /* just above that maximum: upward again */
	assert_near(max_win(&st), 844, 0);
	st = fresh(1000);
	bitcp_ssthresh(&st, 1000); /* the first: from the default maximum, as in VI-A */
	assert_near(max_win(&st), (1000 + 875) / 2.0, 0);
}

static void additive_increase_is_s_max_per_rtt(void **state)
{
	static const double s_max[] = {8, 32, 100};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(s_max); i++) {
		struct bitcp st = after_loss(params(s_max[i], 0.01, 0.125, 14), 40000);

		assert_int_equal(st.cwnd, 35000);
		for (int rtt = 0; rtt < 10; rtt++) {
			assert_int_equal(bitcp_mode(&st, st.cwnd, 0), BITCP_ADDITIVE);
			/* within an RTT the divisor grows: S_max - S_max^2 / (2 cwnd) */
			assert_near(round_trip(&st), s_max[i],
				    0.001 + s_max[i] * s_max[i] / 69000);
		}
	}
}

static void binary_search_closes_in_by_e_to_the_half(void **state)
{
	struct bitcp st = after_loss(params(1000, 0.01, 0.01, 14), 100000);
	double distance = 1000; /* beta is 0.01 */

	(void)state;
	assert_near(max_win(&st) - win(&st), distance, 0.001);
	for (int rtt = 0; rtt < 12; rtt++) {
		assert_int_equal(bitcp_mode(&st, st.cwnd, 0), BITCP_BINARY_SEARCH);
		round_trip(&st);
		distance *= exp(-0.5);
		assert_near(max_win(&st) - win(&st), distance, 0.01 * distance + 0.01);
	}
}

/* d packets below the maximum: additive to 2 S_max below it, then e^-1/2 per RTT down to
 * 2 S_min below it, then two RTTs at S_min.
 */
static double rtts_to_maximum(double d, double s_max, double s_min)
{
	double additive = fmax(0, (d - 2 * s_max) / s_max);

	return additive + 2 * log(fmin(d, 2 * s_max) / (2 * s_min)) + 2;
}

static void s_min_is_the_floor(void **state)
{
	static const struct {
		double s_max, s_min, beta;
		__u32 at;
	} cases[] = {
		{32, 0.01, 0.125, 1000},  {32, 1, 0.125, 1000},	 {32, 0.0001, 0.125, 1000},
		{32, 0.01, 0.125, 16000}, {8, 0.1, 0.25, 20000}, {32, 0.01, 0.125, 100},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double d = cases[i].at * cases[i].beta;
		struct bitcp st = after_loss(
			params(cases[i].s_max, cases[i].s_min, cases[i].beta, 14), cases[i].at);
		double rtts = 0;

		/* a window's worth at a time, counted to the packet */
		while (!st.ss_cwnd && rtts < 10000) {
			rtts += 1 / win(&st);
			acks(&st, 1, 1);
		}
		assert_near(rtts, rtts_to_maximum(d, cases[i].s_max, cases[i].s_min), 0.2);
		assert_near(win(&st), cases[i].at, cases[i].s_min);
	}
}

static void slow_start_past_the_maximum_doubles(void **state)
{
	static const double growth[] = {1, 2, 4, 8, 16, 32, 32, 32, 32};
	struct bitcp st = after_loss(params(32, 1, 0.125, 14), 100000);

	(void)state;
	while (!st.ss_cwnd)
		acks(&st, 1, 1);
	assert_near(win(&st), 100000, 0.001);
	for (size_t rtt = 0; rtt < ARRAY_SIZE(growth); rtt++) {
		double before = win(&st);

		/* each phase lasts until its growth is reached: one RTT to within a packet */
		assert_int_equal(bitcp_mode(&st, st.cwnd, 0),
				 rtt < 5 ? BITCP_SLOW_START_PAST_MAX : BITCP_ADDITIVE);
		for (__u32 n = 0, window = st.cwnd + 2 + rtt * 4; n < window; n++) {
			acks(&st, 1, 1);
			if (rtt < 5 && win(&st) - before >= growth[rtt])
				break;
		}
		assert_near(win(&st) - before, growth[rtt], 0.02);
	}
	assert_true(st.max_win == BITCP_MAX_WIN);
}

/* S_max 20 is no power of two: 1, 2, 4, 8, 16, then 20. S_max 1: nothing to double. */
static void slow_start_past_the_maximum_ends_at_s_max(void **state)
{
	struct bitcp st = after_loss(params(20, 1, 0.125, 14), 100000);

	(void)state;
	while (!st.ss_cwnd)
		acks(&st, 1, 1);
	while (st.ss_cwnd) {
		assert_true(st.ss_cwnd <= 16);
		acks(&st, 1, 1);
	}
	assert_near(win(&st), 100000 + 1 + 2 + 4 + 8 + 16, 0.02);
	assert_near(round_trip(&st), 20, 0.1);

	st = after_loss(params(1, 1, 0.125, 14), 1000);
	while (!st.ss_cwnd)
		acks(&st, 1, 1);
	acks(&st, 1, 1);
	assert_int_equal(bitcp_mode(&st, st.cwnd, 0), BITCP_ADDITIVE);
}

static void a_loss_ends_the_slow_start_past_the_maximum(void **state)
{
	struct bitcp st = after_loss(bitcp_params_default(), 1000);

	(void)state;
	while (st.ss_cwnd < 4)
		acks(&st, 1, 1);
	bitcp_ssthresh(&st, st.cwnd);
	assert_int_equal(bitcp_mode(&st, st.cwnd, 0), BITCP_BINARY_SEARCH);
	assert_near(round_trip(&st), 24.7, 0.5); /* d = 62.7: d (1 - e^-1/2) */
}

static void below_low_window_it_is_normal_tcp(void **state)
{
	struct bitcp st = fresh(10);

	(void)state;
	assert_int_equal(bitcp_mode(&st, 10, 0), BITCP_NORMAL);
	assert_near(round_trip(&st), 1, 0.06); /* 1 - 1 / (2 cwnd) */
	assert_int_equal(bitcp_ssthresh(&st, 13), 6);
	assert_true(bitcp_win(&st) == PACKETS(6.5));
	assert_true(st.max_win == BITCP_MAX_WIN);      /* untouched */
	assert_int_equal(bitcp_ssthresh(&st, 14), 12); /* 12.25: beta from here up */
	assert_near(max_win(&st), (14 + 12.25) / 2, 0);
	assert_int_equal(bitcp_ssthresh(&st, 3), 2);
	assert_int_equal(bitcp_ssthresh(&st, 1), 2); /* never less than 2 */

	st = fresh_with(params(32, 0.01, 0.125, 31), 30);
	assert_int_equal(bitcp_ssthresh(&st, 30), 15);
	assert_int_equal(bitcp_ssthresh(&st, 31), 27); /* 27.125 */
}

static void first_slow_start_is_the_standard_one(void **state)
{
	struct bitcp st = fresh(10);

	(void)state;
	assert_int_equal(bitcp_on_ack(&st, 10, INT_MAX, 1), 11);
	assert_int_equal(bitcp_on_ack(&st, 11, INT_MAX, 11), 22);
	assert_int_equal(bitcp_mode(&st, 22, 100), BITCP_SLOW_START);
	/* 8 packets to ssthresh; the other 12 of 20 are avoidance at S_max per RTT */
	assert_int_equal(bitcp_on_ack(&st, 22, 30, 20), 40);
	assert_near(win(&st), sqrt(30 * 30 + 2 * 32 * 12), 0.2);
}

static void smallest_step_of_the_largest_window(void **state)
{
	static const double s_min[] = {0.01, 0.0001, 0.0137};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(s_min); i++) {
		struct bitcp st = fresh_with(params(32, s_min[i], 0.125, 14), 1 << 20);
		double before;

		st.max_win = bitcp_win(&st) + PACKETS(1.5 * s_min[i]);
		before = win(&st);
		for (int n = 0; n < 1 << 20; n++)
			bitcp_on_ack(&st, st.cwnd, NO_SLOW_START, 1);
		assert_near((win(&st) - before) / s_min[i], 1, 0.001);
		assert_int_equal(st.ss_cwnd, 0); /* that was the search, not what follows it */
	}
}

static void modes_are_told_apart(void **state)
{
	struct bitcp st = after_loss(bitcp_params_default(), 1000);

	(void)state;
	assert_int_equal(bitcp_mode(&st, 874, 875), BITCP_SLOW_START);
	assert_int_equal(bitcp_mode(&st, 13, 13), BITCP_NORMAL);
	assert_int_equal(bitcp_mode(&st, 875, 875), BITCP_ADDITIVE); /* 62.5 to the target */
	for (int rtt = 0; rtt < 3; rtt++)
		round_trip(&st); /* 1000 - 61 is the border, 61 packets away */
	assert_int_equal(bitcp_mode(&st, st.cwnd, 875), BITCP_BINARY_SEARCH);
	while (!st.ss_cwnd)
		acks(&st, 1, 1);
	assert_int_equal(bitcp_mode(&st, st.cwnd, 875), BITCP_SLOW_START_PAST_MAX);
}

/* --- what comes from outside ---------------------------------------------------------- */

static void timeout_keeps_the_maximum(void **state)
{
	struct bitcp st = after_loss(bitcp_params_default(), 1000), loss = st;
	__u32 cwnd = 1, ssthresh;

	(void)state;
	acks(&st, 3000, 1);
	loss = st;
	ssthresh = bitcp_ssthresh(&st, st.cwnd);
	bitcp_ssthresh(&loss, loss.cwnd);
	while (cwnd < ssthresh)
		cwnd = bitcp_on_ack(&st, cwnd, ssthresh, 2);
	assert_int_equal(cwnd, ssthresh);
	assert_true(st.max_win == loss.max_win); /* as after fast recovery */
	assert_near(win(&st), win(&loss), 1);
	acks(&st, 2000, 1);
	acks(&loss, 2000, 1);
	assert_near(win(&st), win(&loss), 1);
}

static void a_lost_syn_is_normal_tcp(void **state)
{
	struct bitcp st;

	(void)state;
	memset(&st, 0, sizeof(st)); /* the kernel calls ssthresh before init then */
	assert_int_equal(bitcp_ssthresh(&st, 10), 5);
	assert_int_equal(bitcp_undo(&st, 1), 10);
	assert_int_equal(bitcp_on_ack(&st, 10, NO_SLOW_START, 10), 10);
	assert_near(win(&st), 10.95, 0.01);
}

static void undo_returns_to_the_trajectory(void **state)
{
	(void)state;
	/* at several points of an epoch: additive, search, past the maximum, additive again */
	for (int rtts = 0; rtts < 40; rtts += 3) {
		struct bitcp st = after_loss(bitcp_params_default(), 1000), as_if;
		__u32 cwnd;

		for (int rtt = 0; rtt < rtts; rtt++)
			round_trip(&st);
		as_if = st;
		cwnd = st.cwnd;
		bitcp_ssthresh(&st, cwnd);
		/* a timeout's slow start, into the avoidance after it */
		bitcp_on_ack(&st, 1, 50, 40);
		bitcp_on_ack(&st, st.cwnd, 50, 40);
		acks(&st, 200, 1);
		assert_int_equal(bitcp_undo(&st, st.cwnd), cwnd);
		assert_true(st.max_win == as_if.max_win && st.ss_cwnd == as_if.ss_cwnd);
		for (int n = 0; n < 20000; n++) {
			acks(&st, 1, 1);
			acks(&as_if, 1, 1);
			assert_near(win(&st), win(&as_if), 1e-6);
			assert_int_equal(st.ss_cwnd, as_if.ss_cwnd);
		}
	}
}

static void undo_does_not_shrink(void **state)
{
	struct bitcp st = fresh(100);

	(void)state;
	assert_int_equal(bitcp_undo(&st, 77), 77); /* nothing to undo */
	bitcp_ssthresh(&st, 100);
	assert_int_equal(bitcp_undo(&st, 120), 120);
	assert_true(bitcp_win(&st) == PACKETS(120));
	assert_int_equal(bitcp_undo(&st, 60), 60); /* and not twice */
}

static void an_outside_change_voids_the_fraction(void **state)
{
	struct bitcp st = fresh(100);

	(void)state;
	st.frac = UINT_MAX; /* one ACK short of 101 */
	assert_int_equal(bitcp_on_ack(&st, 100, NO_SLOW_START, 1), 101);
	st.frac = UINT_MAX;
	assert_int_equal(bitcp_on_ack(&st, 50, NO_SLOW_START, 1), 50);
	assert_near(win(&st), 50 + 32.0 / 50, 1e-4);
	/* a clamp that holds the window down each time: no credit piles up behind it */
	for (int n = 0; n < 1000; n++)
		bitcp_on_ack(&st, 40, NO_SLOW_START, 4);
	assert_near(win(&st), 40 + 4 * 32.0 / 40, 0.3);
}

static void idle_restart_moves_the_target_of_the_slow_start(void **state)
{
	struct bitcp st = after_loss(params(32, 1, 0.125, 14), 10000);
	__u32 cwnd;

	(void)state;
	while (st.ss_cwnd != 4)
		acks(&st, 1, 1);
	/* restarted at 10, slow start up to 3/4 of what it was */
	cwnd = bitcp_on_ack(&st, 10, 7500, 7490);
	assert_int_equal(cwnd, 7500);
	assert_int_equal(st.ss_cwnd, 4); /* neither doubled at once ... */
	assert_near(round_trip(&st), 4, 0.01);
	acks(&st, 8, 1);
	assert_int_equal(st.ss_cwnd, 8); /* ... nor stuck at a target 2500 packets away */
	/* the same without slow start */
	bitcp_on_ack(&st, 5000, NO_SLOW_START, 1);
	assert_int_equal(st.ss_cwnd, 8);
	assert_near(round_trip(&st), 8, 0.02);
	acks(&st, 16, 1);
	assert_int_equal(st.ss_cwnd, 16);
}

/* The kernel raised the window past the maximum: on from there, never down. */
static void a_window_above_its_maximum_goes_on(void **state)
{
	struct bitcp st = after_loss(bitcp_params_default(), 1000);

	(void)state;
	assert_int_equal(bitcp_on_ack(&st, 2000, NO_SLOW_START, 1), 2000);
	assert_near(win(&st), 2000 + 0.01 / 2000, 1e-7);
	assert_int_equal(bitcp_mode(&st, 2000, 0), BITCP_SLOW_START_PAST_MAX);
}

/* --- delayed and stretched ACKs ------------------------------------------------------- */

static void stretched_acks_grow_the_same(void **state)
{
	/* acked packets per ACK (0: a whole window), the farthest apart in packets */
	static const struct {
		__u32 acked;
		double apart;
	} cases[] = {{2, 0}, {16, 0}, {17, 0.2}, {44, 0.2}, {256, 0.2}, {0, 1.6}};
	static const __u32 at[] = {1000, 4000, 16000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases) * ARRAY_SIZE(at); i++) {
		__u32 acked = cases[i % ARRAY_SIZE(cases)].acked;
		struct bitcp one =
			after_loss(bitcp_params_default(), at[i / ARRAY_SIZE(cases)]);
		struct bitcp many = one;
		double apart = 0;

		/* far enough to pass the maximum and to be additive again, and a loss there */
		for (int rtt = 0; rtt < 200; rtt++) {
			for (__u32 left = one.cwnd, now; left; left -= now) {
				now = acked && acked < left ? acked : left;
				bitcp_on_ack(&many, many.cwnd, NO_SLOW_START, now);
				acks(&one, now, 1);
				apart = fmax(apart, fabs(win(&one) - win(&many)));
			}
			if (rtt == 120) {
				bitcp_ssthresh(&one, one.cwnd);
				bitcp_ssthresh(&many, many.cwnd);
			}
		}
		assert_near(apart, 0, cases[i % ARRAY_SIZE(cases)].apart);
	}
}

/* --- what must never happen ----------------------------------------------------------- */

/* S_max per window, or in normal TCP one packet; an ACK counts for a window at most. */
static double most_growth(const struct bitcp *st, __u32 cwnd, __u32 acked)
{
	double most = (double)st->params.s_max / Q32;
	double share = fmin(acked, cwnd) / cwnd;

	return fmax(most, 1) * share + 1;
}

static void one_ack(struct bitcp *st, __u32 *cwnd, __u32 ssthresh)
{
	__u32 acked = rng_scaled(0, UINT_MAX);
	__u32 now = bitcp_on_ack(st, *cwnd, ssthresh, acked);

	assert_true(now >= *cwnd);
	if (*cwnd < BITCP_MAX_CWND)
		assert_true(now <= BITCP_MAX_CWND);
	if (*cwnd >= ssthresh)
		assert_true(now - *cwnd <= most_growth(st, *cwnd, acked));
	else if (*cwnd < BITCP_MAX_CWND && now < ssthresh)
		assert_true(now == *cwnd + acked || now == BITCP_MAX_CWND);
	*cwnd = now;
}

static void one_loss(struct bitcp *st, __u32 *cwnd, __u32 *ssthresh, bool timeout)
{
	__u32 before = *cwnd;

	*ssthresh = bitcp_ssthresh(st, before);
	assert_true(*ssthresh >= 2 && *ssthresh <= (before > 2 ? before : 2));
	assert_true(*ssthresh >= before / 2);
	if (before >= st->params.low_window && before > 4)
		assert_near(*ssthresh, before * (1 - st->params.beta / Q32), 1);
	*cwnd = timeout ? 1 : *ssthresh;
}

static void random_life(struct bitcp_params p, __u32 top)
{
	__u32 cwnd = rng_scaled(1, top), ssthresh = INT_MAX;
	struct bitcp st = fresh_with(p, cwnd);

	for (int i = 0; i < 400; i++) {
		__u32 before = cwnd;

		switch (rng() % 16) {
		case 0:
			one_loss(&st, &cwnd, &ssthresh, false);
			break;
		case 1:
			one_loss(&st, &cwnd, &ssthresh, true);
			break;
		case 2:
			cwnd = bitcp_undo(&st, cwnd);
			assert_true(cwnd >= before);
			break;
		case 3: /* restart after idle, or any other hand on the window */
			cwnd = rng_scaled(1, top);
			break;
		default:
			one_ack(&st, &cwnd, ssthresh);
		}
		assert_true(cwnd > 0);
		assert_true(st.max_win >> 32 <= (top > BITCP_MAX_CWND ? top : BITCP_MAX_CWND));
		assert_true(st.ss_cwnd < 2048);
		assert_memory_equal(&st.params, &p, sizeof(p));
		assert_in_range(bitcp_mode(&st, cwnd, ssthresh), BITCP_SLOW_START,
				BITCP_SLOW_START_PAST_MAX);
	}
}

static void random_lives_keep_the_rules(void **state)
{
	static const __u32 top[] = {50, 5000, 1 << 20, BITCP_MAX_CWND + 10, UINT_MAX};

	(void)state;
	rng_state = 20040307;
	for (int i = 0; i < 20000; i++)
		random_life(rng_params(), top[i % ARRAY_SIZE(top)]);
}

static void nothing_overflows_at_the_extremes(void **state)
{
	static const __u32 cwnds[] = {65536, 1 << 20, (1 << 20) - 1, BITCP_MAX_CWND - 5000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cwnds); i++) {
		struct bitcp st = after_loss(params(1024, 0.01, 0.125, 14), cwnds[i] / 7 * 8);
		struct bitcp other;
		double before = cwnds[i];

		bitcp_cwnd_changed(&st, cwnds[i]);
		st.max_win = BITCP_MAX_WIN;
		other = st;
		bitcp_on_ack(&st, cwnds[i], NO_SLOW_START, 65536);
		/* dw/dn = 1024 / w over 65536 packets */
		assert_near(win(&st), sqrt(before * before + 2 * 1024.0 * 65536),
			    0.001 * 1024 * 65536 / before);
		bitcp_cwnd_changed(&other, cwnds[i]);
		bitcp_on_ack(&other, cwnds[i], NO_SLOW_START, UINT_MAX);
		assert_true(bitcp_win(&other) == bitcp_win(&st)); /* 2^16 is the most */
	}
}

static void the_largest_window_stays(void **state)
{
	struct bitcp st = fresh_with(params(1024, 1, 0.125, 14), BITCP_MAX_CWND - 1);
	__u32 cwnd = BITCP_MAX_CWND - 1;

	(void)state;
	for (int i = 0; i < 100000; i++)
		cwnd = bitcp_on_ack(&st, cwnd, NO_SLOW_START, 65536);
	assert_int_equal(cwnd, BITCP_MAX_CWND);
	assert_int_equal(bitcp_on_ack(&st, UINT_MAX, NO_SLOW_START, 7), UINT_MAX);
	assert_int_equal(bitcp_on_ack(&st, BITCP_MAX_CWND - 2, INT_MAX, UINT_MAX),
			 BITCP_MAX_CWND);
	assert_int_equal(bitcp_ssthresh(&st, UINT_MAX), 3758096383u);
	assert_int_equal(bitcp_on_ack(&st, 0, NO_SLOW_START, 7), 0);
}

/* --- parameters ----------------------------------------------------------------------- */

static void parameters_are_checked_at_their_edges(void **state)
{
	struct bitcp_params p = bitcp_params_default();

	(void)state;
	assert_true(bitcp_params_valid(&p));
	assert_true(p.s_max == PACKETS(32) && p.s_min == PACKETS(0.01));
	assert_true(p.beta == PACKETS(0.125) && p.low_window == 14);
#define EDGES(field, lowest, highest)                 \
	do {                                          \
		p = bitcp_params_default();           \
		p.field = (lowest);                   \
		assert_true(bitcp_params_valid(&p));  \
		p.field = (lowest)-1;                 \
		assert_false(bitcp_params_valid(&p)); \
		p.field = (highest);                  \
		assert_true(bitcp_params_valid(&p));  \
		p.field = (highest) + 1;              \
		assert_false(bitcp_params_valid(&p)); \
		p.field = 0;                          \
		assert_false(bitcp_params_valid(&p)); \
		p.field = (typeof(p.field))-1;        \
		assert_false(bitcp_params_valid(&p)); \
	} while (0)
	EDGES(s_max, PACKETS(1), PACKETS(1024));
	EDGES(s_min, PACKETS(0.0001), PACKETS(1));
	EDGES(beta, (__u32)PACKETS(0.001), (__u32)PACKETS(0.5));
	EDGES(low_window, 2, 65536);
}

static void invalid_parameters_become_the_defaults(void **state)
{
	struct bitcp_params defaults = bitcp_params_default(), p = {0};
	struct bitcp st;

	(void)state;
	st = fresh_with(p, 10);
	assert_memory_equal(&st.params, &defaults, sizeof(defaults));
	p = params(64, 0.1, 0.25, 20);
	st = fresh_with(p, 10);
	assert_memory_equal(&st.params, &p, sizeof(p));
	p.beta = 0;
	st = fresh_with(p, 10);
	assert_memory_equal(&st.params, &defaults, sizeof(defaults));
}

/* --- a remembered maximum -------------------------------------------------------------- */

/* One round trip of a sender with an ACK for each packet. */
static void round_trip_below(struct bitcp *st, __u32 *cwnd, __u32 ssthresh)
{
	for (__u32 n = *cwnd; n; n--)
		*cwnd = bitcp_on_ack(st, *cwnd, ssthresh, 1);
}

static void a_remembered_maximum_ends_slow_start_below_it(void **state)
{
	struct bitcp st = fresh(10);
	__u32 ssthresh = bitcp_seed(&st, 1600), cwnd = 10, rtts = 0;

	(void)state;
	assert_int_equal(ssthresh, 1400);
	while (cwnd < 1400) {
		assert_int_equal(bitcp_mode(&st, cwnd, ssthresh), BITCP_SLOW_START);
		round_trip_below(&st, &cwnd, ssthresh);
		rtts++;
	}
	assert_int_equal(rtts, 8); /* 10 * 2^8: no faster than slow start */
	assert_in_range(cwnd, 1400, 1500);
	assert_int_equal(bitcp_mode(&st, cwnd, ssthresh), BITCP_BINARY_SEARCH);
	assert_near(max_win(&st), 1600, 0);
}

/* Two round trips to the maximum, past it the growth about doubles, until the window does. */
static void past_a_remembered_maximum_it_becomes_slow_start_again(void **state)
{
	struct bitcp st = fresh(10);
	__u32 cwnd = bitcp_seed(&st, 16000), before = cwnd, growth = 1000, rtts = 0;

	(void)state;
	assert_int_equal(cwnd, 14000);
	round_trip_below(&st, &cwnd, NO_SLOW_START);
	round_trip_below(&st, &cwnd, NO_SLOW_START);
	assert_in_range(cwnd, 15800, 16200);
	for (; cwnd < 2 * before; rtts++) {
		before = cwnd;
		round_trip_below(&st, &cwnd, NO_SLOW_START);
		assert_true(cwnd - before >= growth - growth / 8);
		assert_true(cwnd <= 2 * before + 1);
		growth = cwnd - before;
		if (cwnd > before + before * 0.95)
			break;
	}
	assert_in_range(rtts, 4, 9);
	assert_int_equal(bitcp_mode(&st, cwnd, NO_SLOW_START), BITCP_SLOW_START_PAST_MAX);
	before = cwnd;
	round_trip_below(&st, &cwnd, NO_SLOW_START);
	assert_near(cwnd, 2.0 * before, 0.05 * before);
}

/* Round trips until the window is @target; with a memory of @max_win (0: none). */
static int rtts_until(__u32 target, __u32 max_win)
{
	__u32 cwnd = 10, ssthresh = INT_MAX, rtts = 0;
	struct bitcp st = fresh(cwnd);

	if (max_win)
		ssthresh = bitcp_seed(&st, max_win);
	for (; cwnd < target; rtts++)
		round_trip_below(&st, &cwnd, ssthresh);
	return rtts;
}

/* The path has become up to a hundred times faster: it costs six round trips, not hundreds. */
static void a_maximum_too_low_costs_little(void **state)
{
	static const __u32 maxima[] = {32, 100, 1000, 5000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(maxima); i++)
		for (__u32 times = 2; times <= 128; times *= 2)
			assert_in_range(rtts_until(times * maxima[i], maxima[i]),
					rtts_until(times * maxima[i], 0),
					rtts_until(times * maxima[i], 0) + 6);
}

/* Packets of the round that is lost when the window first passes what the path holds. */
static __u32 overshoot(__u32 holds, __u32 max_win)
{
	__u32 cwnd = 10, ssthresh = INT_MAX;
	struct bitcp st = fresh(cwnd);

	if (max_win)
		ssthresh = bitcp_seed(&st, max_win);
	while (cwnd <= holds)
		round_trip_below(&st, &cwnd, ssthresh);
	round_trip_below(&st, &cwnd, ssthresh); /* until the sender knows */
	return cwnd - holds;
}

static void a_right_maximum_spares_the_first_loss(void **state)
{
	(void)state;
	assert_true(overshoot(1000, 0) > 1000);
	assert_true(overshoot(1000, 1000) < 220);
	assert_true(overshoot(1000, 900) < 300);
	assert_true(overshoot(900, 1000) < 320);
}

/* What was remembered ends with the first loss: from there on the paper's BI-TCP. */
static void a_loss_replaces_the_remembered_maximum(void **state)
{
	struct bitcp st = fresh(10), cold = fresh(10);
	__u32 cwnd = 10, ssthresh = bitcp_seed(&st, 100);

	(void)state;
	while (cwnd < 3000)
		round_trip_below(&st, &cwnd, ssthresh);
	assert_true(st.ss_cwnd > 1024); /* more than any S_max */
	assert_int_equal(bitcp_ssthresh(&st, 3000), bitcp_ssthresh(&cold, 3000));
	st.undo_ss_target = cold.undo_ss_target;
	assert_memory_equal(&st, &cold, sizeof(st));
	bitcp_undo(&st, 2625);
	assert_int_equal(st.ss_cwnd, 0);
	assert_near(round_trip(&st), 32, 0.5);
}

static void a_maximum_that_is_of_no_use_changes_nothing(void **state)
{
	static const __u32 useless[] = {0, 1, 19, BITCP_SEED_MIN - 1, BITCP_MAX_CWND + 1,
					UINT_MAX};
	struct bitcp st, before;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(useless); i++) {
		st = before = fresh(10);
		assert_int_equal(bitcp_seed(&st, useless[i]), 0);
		assert_memory_equal(&st, &before, sizeof(st));
	}
	st = fresh(100); /* an initial window of 100 */
	assert_int_equal(bitcp_seed(&st, 199), 0);
	assert_int_not_equal(bitcp_seed(&st, 200), 0);
	st = fresh_with(params(32, 0.01, 0.125, 64), 10);
	assert_int_equal(bitcp_seed(&st, 127), 0);
}

/* However it lives: never down, never faster than slow start, and the first loss ends it. */
static void random_lives_after_a_seed(void **state)
{
	(void)state;
	rng_state = 20261121;
	for (int i = 0; i < 20000; i++) {
		__u32 cwnd = rng_scaled(1, 1000), before, acked;
		struct bitcp st = fresh_with(rng_params(), cwnd);
		__u32 ssthresh = bitcp_seed(&st, rng_scaled(32, BITCP_MAX_CWND));

		for (int n = 0; ssthresh && n < 200 && cwnd < BITCP_MAX_CWND; n++) {
			acked = rng_scaled(0, rng() % 4 ? cwnd : UINT_MAX);
			before = cwnd;
			if (rng() % 16 == 0)
				cwnd = before = rng_scaled(1, cwnd);
			cwnd = bitcp_on_ack(&st, cwnd, ssthresh, acked);
			assert_true(cwnd >= before && cwnd <= BITCP_MAX_CWND);
			assert_true(cwnd - before <= (__u64)acked + 2);
			assert_in_range(bitcp_mode(&st, cwnd, ssthresh), BITCP_SLOW_START,
					BITCP_SLOW_START_PAST_MAX);
		}
		bitcp_ssthresh(&st, cwnd);
		assert_int_equal(st.seed_step, 0);
	}
}

static void the_state_fits_the_socket(void **state)
{
	(void)state;
	assert_true(sizeof(struct bitcp) <= 96);
	assert_true(sizeof(struct bitcp_params) == 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_pseudo_code),
		cmocka_unit_test(loss_takes_exactly_beta),
		cmocka_unit_test(fast_convergence_halves_the_way_back),
		cmocka_unit_test(additive_increase_is_s_max_per_rtt),
		cmocka_unit_test(binary_search_closes_in_by_e_to_the_half),
		cmocka_unit_test(s_min_is_the_floor),
		cmocka_unit_test(slow_start_past_the_maximum_doubles),
		cmocka_unit_test(slow_start_past_the_maximum_ends_at_s_max),
		cmocka_unit_test(a_loss_ends_the_slow_start_past_the_maximum),
		cmocka_unit_test(below_low_window_it_is_normal_tcp),
		cmocka_unit_test(first_slow_start_is_the_standard_one),
		cmocka_unit_test(smallest_step_of_the_largest_window),
		cmocka_unit_test(modes_are_told_apart),
		cmocka_unit_test(timeout_keeps_the_maximum),
		cmocka_unit_test(a_lost_syn_is_normal_tcp),
		cmocka_unit_test(undo_returns_to_the_trajectory),
		cmocka_unit_test(undo_does_not_shrink),
		cmocka_unit_test(an_outside_change_voids_the_fraction),
		cmocka_unit_test(idle_restart_moves_the_target_of_the_slow_start),
		cmocka_unit_test(a_window_above_its_maximum_goes_on),
		cmocka_unit_test(stretched_acks_grow_the_same),
		cmocka_unit_test(random_lives_keep_the_rules),
		cmocka_unit_test(nothing_overflows_at_the_extremes),
		cmocka_unit_test(the_largest_window_stays),
		cmocka_unit_test(parameters_are_checked_at_their_edges),
		cmocka_unit_test(invalid_parameters_become_the_defaults),
		cmocka_unit_test(a_remembered_maximum_ends_slow_start_below_it),
		cmocka_unit_test(past_a_remembered_maximum_it_becomes_slow_start_again),
		cmocka_unit_test(a_maximum_too_low_costs_little),
		cmocka_unit_test(a_right_maximum_spares_the_first_loss),
		cmocka_unit_test(a_loss_replaces_the_remembered_maximum),
		cmocka_unit_test(a_maximum_that_is_of_no_use_changes_nothing),
		cmocka_unit_test(random_lives_after_a_seed),
		cmocka_unit_test(the_state_fits_the_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
