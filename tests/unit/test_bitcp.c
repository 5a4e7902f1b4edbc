// SPDX-License-Identifier: GPL-2.0-only
/* BI-TCP against the paper: its pseudo-code in floating point, its numbers, and invariants. */
#include "test.h"
#include "tcptuned/algo/bitcp.h"

#define NO_SLOW_START 0u /* an ssthresh below every window */
#define PACKETS(x)    ((__u64)((x)*Q32 + 0.5))

/* --- the paper's pseudo-code, section VI-A, in doubles -------------------------------- */

struct paper {
	double s_max, s_min, beta, low_window;
	double cwnd, max_win, min_win, target_win, ss_cwnd, ss_target;
	bool is_bitcp_ss;
};

static const double default_max_win = BITCP_MAX_CWND;

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
		p->is_bitcp_ss = false; /* corrected: the maximum is known now */
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
			p->min_win = p->cwnd; /* corrected: as in the text */
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

/* Acknowledges @n packets, each by an ACK of its own. Returns the growth in packets. */
static double acks(struct bitcp *st, __u32 ssthresh, __u32 n)
{
	double before = win(st);

	while (n--)
		bitcp_on_ack(st, st->cwnd, ssthresh, 1);
	return win(st) - before;
}

/* Runs one round trip, and returns the growth in packets. */
static double round_trip(struct bitcp *st, __u32 ssthresh)
{
	return acks(st, ssthresh, st->cwnd);
}

/* Returns a connection whose last loss was at @at packets: max_win is @at. */
static struct bitcp after_loss(struct bitcp_params p, __u32 at)
{
	struct bitcp st = fresh_with(p, at / 4);

	bitcp_ssthresh(&st, at / 4); /* a lower maximum before it */
	bitcp_ssthresh(&st, at);
	return st;
}

/* Draws each edge of the range as often as an eighth of the range. */
static __u64 random_parameter(__u64 lowest, __u64 highest)
{
	__u64 which = random64() % 8;

	return which == 0 ? lowest : which == 1 ? highest : random_between(lowest, highest);
}

static struct bitcp_params random_params(void)
{
	struct bitcp_params p = {
		.s_max = random_parameter(BITCP_S_MAX_LOWEST, BITCP_S_MAX_HIGHEST),
		.s_min = random_parameter(BITCP_S_MIN_LOWEST, BITCP_S_MIN_HIGHEST),
		.beta = (__u32)random_parameter(BITCP_BETA_LOWEST, BITCP_BETA_HIGHEST),
		.low_window = random_scaled(BITCP_LOW_WINDOW_LOWEST, BITCP_LOW_WINDOW_HIGHEST),
	};

	assert_true(bitcp_params_valid(&p));
	return p;
}

/*
 * Where a comparison depends on the last bits, one side changes its mode a few ACKs before the
 * other. Until the other follows, their maxima differ, and their windows hardly.
 */
static void same_window(const struct bitcp *st, const struct paper *p, long at, bool reduced)
{
	if (fabs(win(st) - p->cwnd) > 0.5 || (reduced && fabs(max_win(st) - p->max_win) > 0.5))
		fail_msg("packet %ld: cwnd %.6f, the paper's %.6f; max %.6f, the paper's %.6f", at,
			 win(st), p->cwnd, max_win(st), p->max_win);
}

/* Loses at random, and whenever the window exceeds a capacity that changes now and then. */
static void follow(double s_max, double s_min, double beta, int low_window, __u32 capacity)
{
	struct bitcp st = fresh_with(params(s_max, s_min, beta, low_window), 10);
	struct paper p = struct_of(paper, .s_max = s_max, .s_min = s_min, .beta = beta,
				   .low_window = low_window, .cwnd = 10, .max_win = default_max_win,
				   .target_win = default_max_win / 2);
	int losses = 0, past_max = 0, paper_past_max = 0;

	random_state = 0x9e3779b97f4a7c15ull + capacity;
	for (long i = 0; i < 400000; i++) {
		__u32 room = capacity + (__u32)(i / 20000 * 7 % 5) * capacity / 4;

		bitcp_on_ack(&st, st.cwnd, NO_SLOW_START, 1);
		paper_ack(&p);
		same_window(&st, &p, i, false);
		past_max += st.ss_cwnd != 0;
		paper_past_max += p.is_bitcp_ss;
		if (st.cwnd >= room || random64() % 40000 == 0) {
			bitcp_ssthresh(&st, st.cwnd);
			paper_fast_recovery(&p);
			same_window(&st, &p, i, true);
			losses++;
		}
	}
	assert_true(losses > 5); /* the script went where it should */
	if (s_max > 1) {
		assert_true(past_max > 100);
		assert_near(past_max, paper_past_max, 0.02 * paper_past_max);
	}
}

TEST(follows_the_pseudo_code)
{
	follow(32, 0.01, 0.125, 14, 300);
	follow(32, 0.01, 0.125, 14, 40);
	follow(32, 0.01, 0.125, 14, 2000);
	follow(20, 0.3, 0.2, 31, 400); /* S_max no power of two */
	follow(8, 1, 0.5, 16, 150);
	follow(1, 0.0001, 0.125, 2, 60);
	follow(1024, 0.01, 0.05, 14, 5000);
}

TEST(first_slow_start_is_the_standard_one)
{
	struct bitcp st = fresh(22);

	/* 8 packets to ssthresh; the other 12 of 20 are avoidance at S_max per RTT */
	assert_int_equal(bitcp_on_ack(&st, 22, 30, 20), 40);
	assert_near(win(&st), sqrt(30 * 30 + 2 * 32 * 12), 0.2);
}

TEST(smallest_step_of_the_largest_window)
{
	static const double s_min[] = {0.01, 0.0001, 0.0137};

	for_each_row (step, s_min) {
		struct bitcp st = fresh_with(params(32, *step, 0.125, 14), 1 << 20);

		st.max_win = bitcp_win(&st) + PACKETS(1.5 * *step);
		assert_near(acks(&st, NO_SLOW_START, 1 << 20) / *step, 1, 0.001);
		assert_int_equal(st.ss_cwnd, 0); /* it was the search throughout */
	}
}

TEST(modes_are_distinguished)
{
	struct bitcp st = after_loss(bitcp_params_default(), 1000);

	assert_int_equal(bitcp_mode(&st, 874, 875), BITCP_SLOW_START);
	assert_int_equal(bitcp_mode(&st, 13, 13), BITCP_NORMAL);
	assert_int_equal(bitcp_mode(&st, 875, 875), BITCP_ADDITIVE); /* 62.5 to the target */
	for (int rtt = 0; rtt < 3; rtt++)
		round_trip(&st, NO_SLOW_START); /* 1000 - 61 is the border, 61 packets away */
	assert_int_equal(bitcp_mode(&st, st.cwnd, 875), BITCP_BINARY_SEARCH);
	while (!st.ss_cwnd)
		acks(&st, NO_SLOW_START, 1);
	assert_int_equal(bitcp_mode(&st, st.cwnd, 875), BITCP_SLOW_START_PAST_MAX);
}

TEST(timeout_keeps_the_maximum)
{
	struct bitcp st = after_loss(bitcp_params_default(), 1000), loss = st;
	__u32 cwnd = 1, ssthresh;

	acks(&st, NO_SLOW_START, 3000);
	loss = st;
	ssthresh = bitcp_ssthresh(&st, st.cwnd);
	bitcp_ssthresh(&loss, loss.cwnd);
	while (cwnd < ssthresh)
		cwnd = bitcp_on_ack(&st, cwnd, ssthresh, 2);
	assert_int_equal(cwnd, ssthresh);
	assert_true(st.max_win == loss.max_win); /* as after fast recovery */
	assert_near(win(&st), win(&loss), 1);
	acks(&st, NO_SLOW_START, 2000);
	acks(&loss, NO_SLOW_START, 2000);
	assert_near(win(&st), win(&loss), 1);
}

TEST(a_lost_syn_is_normal_tcp)
{
	struct bitcp st;

	memset(&st, 0, sizeof(st)); /* the kernel calls ssthresh before init then */
	assert_int_equal(bitcp_ssthresh(&st, 10), 5);
	assert_int_equal(bitcp_undo(&st, 1), 10);
	assert_int_equal(bitcp_on_ack(&st, 10, NO_SLOW_START, 10), 10);
	assert_near(win(&st), 10.95, 0.01);
}

TEST(undo_returns_to_the_trajectory)
{
	/* at several points of an epoch: additive, search, past the maximum, additive again */
	for (int rtts = 0; rtts < 40; rtts += 3) {
		struct bitcp st = after_loss(bitcp_params_default(), 1000), as_if;
		__u32 cwnd;

		for (int rtt = 0; rtt < rtts; rtt++)
			round_trip(&st, NO_SLOW_START);
		as_if = st;
		cwnd = st.cwnd;
		bitcp_ssthresh(&st, cwnd);
		/* a timeout's slow start, into the avoidance after it */
		bitcp_on_ack(&st, 1, 50, 40);
		bitcp_on_ack(&st, st.cwnd, 50, 40);
		acks(&st, NO_SLOW_START, 200);
		assert_int_equal(bitcp_undo(&st, st.cwnd), cwnd);
		assert_true(st.max_win == as_if.max_win && st.ss_cwnd == as_if.ss_cwnd);
		for (int n = 0; n < 20000; n++) {
			acks(&st, NO_SLOW_START, 1);
			acks(&as_if, NO_SLOW_START, 1);
			assert_near(win(&st), win(&as_if), 1e-6);
			assert_int_equal(st.ss_cwnd, as_if.ss_cwnd);
		}
	}
}

TEST(undo_does_not_shrink)
{
	struct bitcp st = fresh(100);

	assert_int_equal(bitcp_undo(&st, 77), 77); /* nothing to undo */
	bitcp_ssthresh(&st, 100);
	assert_int_equal(bitcp_undo(&st, 120), 120);
	assert_true(bitcp_win(&st) == PACKETS(120));
	assert_int_equal(bitcp_undo(&st, 60), 60); /* and not twice */
}

TEST(an_outside_change_voids_the_fraction)
{
	struct bitcp st = fresh(100);

	st.frac = UINT_MAX; /* one ACK short of 101 */
	assert_int_equal(bitcp_on_ack(&st, 100, NO_SLOW_START, 1), 101);
	st.frac = UINT_MAX;
	assert_int_equal(bitcp_on_ack(&st, 50, NO_SLOW_START, 1), 50);
	assert_near(win(&st), 50 + 32.0 / 50, 1e-4);
	/* A clamp that restores the window each time must not accumulate credit. */
	for (int n = 0; n < 1000; n++)
		bitcp_on_ack(&st, 40, NO_SLOW_START, 4);
	assert_near(win(&st), 40 + 4 * 32.0 / 40, 0.3);
}

TEST(idle_restart_moves_the_target_of_the_slow_start)
{
	struct bitcp st = after_loss(params(32, 1, 0.125, 14), 10000);

	while (st.ss_cwnd != 4)
		acks(&st, NO_SLOW_START, 1);
	/* restarted at 10, slow start up to 3/4 of what it was */
	assert_int_equal(bitcp_on_ack(&st, 10, 7500, 7490), 7500);
	assert_int_equal(st.ss_cwnd, 4); /* neither doubled at once ... */
	assert_near(round_trip(&st, NO_SLOW_START), 4, 0.01);
	acks(&st, NO_SLOW_START, 8);
	assert_int_equal(st.ss_cwnd, 8); /* ... nor stuck at a target 2500 packets away */
	/* the same without slow start */
	bitcp_on_ack(&st, 5000, NO_SLOW_START, 1);
	assert_int_equal(st.ss_cwnd, 8);
	assert_near(round_trip(&st, NO_SLOW_START), 8, 0.02);
	acks(&st, NO_SLOW_START, 16);
	assert_int_equal(st.ss_cwnd, 16);
}

/* A window that the kernel raised past the maximum grows on from there, and never shrinks. */
TEST(a_window_above_its_maximum_goes_on)
{
	struct bitcp st = after_loss(bitcp_params_default(), 1000);

	assert_int_equal(bitcp_on_ack(&st, 2000, NO_SLOW_START, 1), 2000);
	assert_near(win(&st), 2000 + 0.01 / 2000, 1e-7);
	assert_int_equal(bitcp_mode(&st, 2000, 0), BITCP_SLOW_START_PAST_MAX);
}

TEST(stretched_acks_grow_the_same)
{
	/* acked packets per ACK (0: a whole window), the farthest apart in packets */
	static const struct {
		__u32 acked;
		double apart;
	} cases[] = {{2, 0}, {16, 0}, {17, 0.2}, {44, 0.2}, {256, 0.2}, {0, 1.6}};
	static const __u32 at[] = {1000, 4000, 16000};

	for (size_t i = 0; i < ARRAY_SIZE(cases) * ARRAY_SIZE(at); i++) {
		__u32 acked = cases[i % ARRAY_SIZE(cases)].acked;
		struct bitcp one = after_loss(bitcp_params_default(), at[i / ARRAY_SIZE(cases)]);
		struct bitcp many = one;
		double apart = 0;

		/* far enough to pass the maximum and to be additive again, and a loss there */
		for (int rtt = 0; rtt < 200; rtt++) {
			for (__u32 left = one.cwnd, now; left; left -= now) {
				now = acked && acked < left ? acked : left;
				bitcp_on_ack(&many, many.cwnd, NO_SLOW_START, now);
				acks(&one, NO_SLOW_START, now);
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

/*
 * The growth bound: S_max per window, or one packet in normal TCP, and an ACK counts for one window
 * at most. With a remembered maximum it is that of slow start.
 */
static void one_ack(struct bitcp *st, __u32 *cwnd, __u32 ssthresh)
{
	__u32 acked = random_scaled(0, UINT_MAX), now;
	double most = fmin(acked, *cwnd) / *cwnd * fmax((double)st->params.s_max / Q32, 1) + 1;

	if (st->seed_step)
		most = (double)acked + 2;
	now = bitcp_on_ack(st, *cwnd, ssthresh, acked);
	assert_true(now >= *cwnd);
	if (*cwnd < BITCP_MAX_CWND)
		assert_true(now <= BITCP_MAX_CWND);
	if (*cwnd >= ssthresh)
		assert_true(now - *cwnd <= most);
	else if (*cwnd < BITCP_MAX_CWND && now < ssthresh)
		assert_true(now == *cwnd + acked || now == BITCP_MAX_CWND);
	*cwnd = now;
}

static void one_loss(struct bitcp *st, __u32 *cwnd, __u32 *ssthresh, bool timeout)
{
	__u32 before = *cwnd;

	*ssthresh = bitcp_ssthresh(st, before);
	assert_int_equal(st->seed_step, 0);
	assert_true(*ssthresh >= 2 && *ssthresh <= (before > 2 ? before : 2));
	assert_true(*ssthresh >= before / 2);
	if (before >= st->params.low_window && before > 4)
		assert_near(*ssthresh, before * (1 - st->params.beta / Q32), 1);
	else if (before > 4) /* RFC 5681 */
		assert_int_equal(*ssthresh, before / 2);
	*cwnd = timeout ? 1 : *ssthresh;
}

static void random_life(struct bitcp_params p, __u32 top)
{
	__u32 cwnd = random_scaled(1, top), ssthresh = INT_MAX;
	struct bitcp st = fresh_with(p, cwnd);

	if (random64() % 2) {
		ssthresh = bitcp_seed(&st, random_scaled(32, BITCP_MAX_CWND));
		ssthresh = ssthresh ? ssthresh : INT_MAX;
	}
	for (int i = 0; i < 400; i++) {
		__u32 before = cwnd;

		switch (random64() % 16) {
		case 0:
		case 1:
			one_loss(&st, &cwnd, &ssthresh, random64() % 2);
			break;
		case 2:
			cwnd = bitcp_undo(&st, cwnd);
			assert_true(cwnd >= before);
			break;
		case 3: /* restart after idle, or another outside change */
			cwnd = random_scaled(1, top);
			break;
		default:
			one_ack(&st, &cwnd, ssthresh);
		}
		assert_true(cwnd > 0);
		assert_true(st.max_win >> 32 <= (top > BITCP_MAX_CWND ? top : BITCP_MAX_CWND));
		assert_true(st.seed_step || st.ss_cwnd < 2048);
		assert_memory_equal(&st.params, &p, sizeof(p));
		assert_in_range(bitcp_mode(&st, cwnd, ssthresh), BITCP_SLOW_START,
				BITCP_SLOW_START_PAST_MAX);
	}
}

TEST(random_lives_keep_the_rules)
{
	static const __u32 top[] = {50, 5000, 1 << 20, BITCP_MAX_CWND + 10, UINT_MAX};

	random_state = 20040307;
	for (int i = 0; i < 20000; i++)
		random_life(random_params(), top[i % ARRAY_SIZE(top)]);
}

TEST(nothing_overflows_at_the_extremes)
{
	static const __u32 cwnds[] = {65536, 1 << 20, (1 << 20) - 1, BITCP_MAX_CWND - 5000};

	for_each_row (cwnd, cwnds) {
		struct bitcp st = after_loss(params(1024, 0.01, 0.125, 14), *cwnd / 7 * 8);
		struct bitcp other;
		double before = *cwnd;

		bitcp_cwnd_changed(&st, *cwnd);
		st.max_win = BITCP_MAX_WIN;
		other = st;
		bitcp_on_ack(&st, *cwnd, NO_SLOW_START, 65536);
		/* dw/dn = 1024 / w over 65536 packets */
		assert_near(win(&st), sqrt(before * before + 2 * 1024.0 * 65536),
			    0.001 * 1024 * 65536 / before);
		bitcp_cwnd_changed(&other, *cwnd);
		bitcp_on_ack(&other, *cwnd, NO_SLOW_START, UINT_MAX);
		assert_true(bitcp_win(&other) == bitcp_win(&st)); /* 2^16 is the most */
	}
}

TEST(the_largest_window_stays)
{
	struct bitcp st = fresh_with(params(1024, 1, 0.125, 14), BITCP_MAX_CWND - 1);
	__u32 cwnd = BITCP_MAX_CWND - 1;

	for (int i = 0; i < 100000; i++)
		cwnd = bitcp_on_ack(&st, cwnd, NO_SLOW_START, 65536);
	assert_int_equal(cwnd, BITCP_MAX_CWND);
	assert_int_equal(bitcp_on_ack(&st, UINT_MAX, NO_SLOW_START, 7), UINT_MAX);
	assert_int_equal(bitcp_on_ack(&st, BITCP_MAX_CWND - 2, INT_MAX, UINT_MAX), BITCP_MAX_CWND);
	assert_int_equal(bitcp_ssthresh(&st, UINT_MAX), 3758096383u);
	assert_int_equal(bitcp_on_ack(&st, 0, NO_SLOW_START, 7), 0);
}

/* Valid parameters are adopted; others are replaced by the defaults. */
static void assert_params(struct bitcp_params p, bool valid)
{
	struct bitcp_params defaults = bitcp_params_default();
	struct bitcp st = fresh_with(p, 10);

	assert_int_equal(bitcp_params_valid(&p), valid);
	assert_memory_equal(&st.params, valid ? &p : &defaults, sizeof(p));
}

TEST(parameters_are_checked_at_their_edges)
{
	struct bitcp_params p = bitcp_params_default();

	assert_true(p.s_max == PACKETS(32) && p.s_min == PACKETS(0.01));
	assert_true(p.beta == PACKETS(0.125) && p.low_window == 14);
	assert_int_equal(sizeof(p), 24);
	assert_params(params(64, 0.1, 0.25, 20), true);
	assert_params((struct bitcp_params){0}, false);
#define EDGES(field, lowest, highest)                                       \
	do {                                                                \
		const typeof(p.field) edges[] = {                           \
			lowest, highest, (lowest)-1, (highest) + 1, 0, -1}; \
		p = bitcp_params_default();                                 \
		for_each_row (edge, edges) {                                \
			p.field = *edge;                                    \
			assert_params(p, test_row < 2);                     \
		}                                                           \
	} while (0)
	EDGES(s_max, PACKETS(1), PACKETS(1024));
	EDGES(s_min, PACKETS(0.0001), PACKETS(1));
	EDGES(beta, (__u32)PACKETS(0.001), (__u32)PACKETS(0.5));
	EDGES(low_window, 2, 65536);
}

TEST(a_remembered_maximum_ends_slow_start_below_it)
{
	struct bitcp st = fresh(10);
	__u32 ssthresh = bitcp_seed(&st, 1600), rtts = 0;

	assert_int_equal(ssthresh, 1400);
	for (; st.cwnd < 1400; rtts++) {
		assert_int_equal(bitcp_mode(&st, st.cwnd, ssthresh), BITCP_SLOW_START);
		round_trip(&st, ssthresh);
	}
	assert_int_equal(rtts, 8); /* 10 * 2^8: no faster than slow start */
	assert_in_range(st.cwnd, 1400, 1500);
	assert_int_equal(bitcp_mode(&st, st.cwnd, ssthresh), BITCP_BINARY_SEARCH);
	assert_near(max_win(&st), 1600, 0);
	round_trip(&st, ssthresh);
	round_trip(&st, ssthresh);
	assert_in_range(st.cwnd, 1590, 1690); /* at the maximum */
}

/* Returns the round trips until the window is @target, with a remembered @max_win (0: none). */
static __u32 rtts_until(__u32 target, __u32 max_win, __u32 *ret_cwnd)
{
	struct bitcp st = fresh(10);
	__u32 ssthresh = max_win ? bitcp_seed(&st, max_win) : INT_MAX, rtts = 0;

	for (; st.cwnd < target; rtts++)
		round_trip(&st, ssthresh);
	round_trip(&st, ssthresh); /* until the sender would know of a loss */
	*ret_cwnd = st.cwnd;
	return rtts;
}

/* If the path has become up to 128 times faster, an old maximum costs at most six round trips. */
TEST(a_maximum_too_low_costs_little)
{
	static const __u32 maxima[] = {32, 100, 1000, 5000};
	__u32 cwnd;

	for_each_row (max, maxima)
		for (__u32 times = 2; times <= 128; times *= 2) {
			__u32 without = rtts_until(times * *max, 0, &cwnd);

			assert_in_range(rtts_until(times * *max, *max, &cwnd), without,
					without + 6);
		}
}

TEST(a_right_maximum_spares_the_first_loss)
{
	/* packets of the round that is lost when the window passes what the path holds */
	static const struct {
		__u32 holds, max_win, min_lost, max_lost;
	} rows[] = {{1000, 0, 1001, ~0u},
		    {1000, 1000, 1, 219},
		    {1000, 900, 1, 299},
		    {900, 1000, 1, 319}};
	__u32 cwnd;

	for_each_row (r, rows) {
		rtts_until(r->holds + 1, r->max_win, &cwnd);
		assert_in_range(cwnd - r->holds, r->min_lost, r->max_lost);
	}
}

/* The first loss replaces what was remembered. From there on it is the paper's BI-TCP. */
TEST(a_loss_replaces_the_remembered_maximum)
{
	struct bitcp st = fresh(10), cold = fresh(10);
	__u32 ssthresh = bitcp_seed(&st, 100);

	while (st.cwnd < 3000)
		round_trip(&st, ssthresh);
	assert_true(st.ss_cwnd > 1024); /* more than any S_max */
	assert_int_equal(bitcp_ssthresh(&st, 3000), bitcp_ssthresh(&cold, 3000));
	st.undo_ss_target = cold.undo_ss_target;
	assert_memory_equal(&st, &cold, sizeof(st));
	bitcp_undo(&st, 2625);
	assert_int_equal(st.ss_cwnd, 0);
	assert_near(round_trip(&st, NO_SLOW_START), 32, 0.5);
}

TEST(a_maximum_that_is_of_no_use_changes_nothing)
{
	static const __u32 useless[] = {0, 1, 19, BITCP_SEED_MIN - 1, BITCP_MAX_CWND + 1, UINT_MAX};
	struct bitcp st, before;

	for_each_row (maximum, useless) {
		st = before = fresh(10);
		assert_int_equal(bitcp_seed(&st, *maximum), 0);
		assert_memory_equal(&st, &before, sizeof(st));
	}
	st = fresh(100); /* an initial window of 100 */
	assert_int_equal(bitcp_seed(&st, 199), 0);
	assert_int_not_equal(bitcp_seed(&st, 200), 0);
	st = fresh_with(params(32, 0.01, 0.125, 64), 10);
	assert_int_equal(bitcp_seed(&st, 127), 0);
}
