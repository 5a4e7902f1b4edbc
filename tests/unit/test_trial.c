// SPDX-License-Identifier: GPL-2.0-only
/* Which connections are held back for a trial, and what their comparison with the others says. */
#include "test.h"

#include "policy/trial.h"
#include "tcptuned/algo/trial_draw.h"

#define LOG_ONE TCPTUNED_OUTCOME_LOG_ONE

static double uniform(void)
{
	return ((double)random() + 0.5) / ((double)RAND_MAX + 1);
}

/* Box and Muller's. */
static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

TEST(logarithm_is_near)
{
	double worst = 0;

	for (int i = 0; i < 100000; i++) {
		__u64 value = (__u64)exp2(uniform() * 63);

		worst = fmax(worst,
			     fabs(tcptuned_log2_fixed(value) - LOG_ONE * log2((double)value)));
	}
	/* 8 by the parabola (at 1.18), and 1 each by the value, the product and the result */
	assert_true(worst <= 11);
	assert_int_equal(tcptuned_log2_fixed(0), 0);
	assert_int_equal(tcptuned_log2_fixed(1), 0);
	assert_int_equal(tcptuned_log2_fixed(1ull << 63), 63 * LOG_ONE);
}

/* Ports that follow each other, as a kernel gives them, at the two ends of the same connections. */
TEST(held_back_is_a_random_share)
{
	const __u32 client[4] = {0, 0, 0xffff0000, 0x0100a8c0},
		    server[4] = {0, 0, 0xffff0000, 0x0200a8c0};
	static const double shares[] = {0.001, 0.01, 0.05, 0.5};
	const unsigned int n = 28000;

	for_each_row (share, shares) {
		const __u32 q32 = (__u32)(*share * Q32);
		unsigned int here = 0, there = 0, both = 0, runs = 0, before = 0;
		double error = sqrt(*share * (1 - *share) / n);

		for (unsigned int i = 0; i < n; i++) {
			__u32 port = 32768 + i;
			unsigned int a =
				(unsigned int)trial_draw(7, q32, client, server, port, 443);
			unsigned int b =
				(unsigned int)trial_draw(7, q32, server, client, 443, port);

			assert_int_equal(a, trial_draw(7, q32, client, server, port, 443));
			here += a;
			there += b;
			both += a && b;
			runs += a && before;
			before = a;
		}
		assert_true(fabs((double)here / n - *share) < 4 * error);
		assert_true(fabs((double)there / n - *share) < 4 * error);
		/* independent: of the other end, and of the port before */
		error = sqrt(*share * *share * (1 - *share * *share) / n) + 1.0 / n;
		assert_true(fabs((double)both / n - *share * *share) < 4 * error);
		assert_true(fabs((double)runs / n - *share * *share) < 4 * error);
	}
}

TEST(sizes)
{
	static const struct {
		__u64 bytes;
		__u32 size;
	} rows[] = {
		{128 << 10, 0}, {(1 << 20) - 1, 0}, {1 << 20, 1},    {(8 << 20) - 1, 1},
		{8 << 20, 2},	{64ull << 20, 3},   {1ull << 50, 3},
	};

	for_each_row (r, rows)
		assert_int_equal(tcptuned_outcome_size(r->bytes), r->size);
}

static void add(struct tcptuned_trial *trial, unsigned int held_back, unsigned int stratum,
		double log_rate, double log_rtt)
{
	struct tcptuned_outcome *o = &trial->of[held_back][stratum];
	__s64 rate = llround(log_rate * LOG_ONE), rtt = llround(log_rtt * LOG_ONE);

	o->connections++;
	o->of[TCPTUNED_RATE].sum += rate;
	o->of[TCPTUNED_RATE].squares += (__u64)(rate * rate);
	o->of[TCPTUNED_RTT].sum += rtt;
	o->of[TCPTUNED_RTT].squares += (__u64)(rtt * rtt);
}

/* Two sizes; tuned connections are four times as fast in the first one, alike in the second one. */
TEST(difference_is_averaged_over_sizes)
{
	struct tcptuned_trial trial = {0};
	struct tcptuned_estimate e;

	for (int i = 0; i < 100; i++) {
		add(&trial, 0, 0, 12 + i % 2, 10);
		add(&trial, 1, 0, 10 + i % 2, 10);
	}
	for (int i = 0; i < 50; i++) {
		for (int j = 0; j < 10; j++) /* a larger share of the tuned ones is large */
			add(&trial, 0, 1, 20 + j % 2, 10);
		add(&trial, 1, 1, 20 + i % 2, 10);
	}
	for (int i = 0; i < 19; i++) /* too few to count */
		add(&trial, 1, 2, 1, 1);
	e = tcptuned_trial_estimate(&trial, TCPTUNED_RATE, 0, TCPTUNED_OUTCOME_SIZES);
	assert_true(e.known);
	assert_true(fabs(e.difference - (200 * 2.0 + 550 * 0.0) / 750) < 1e-9);
	assert_true(fabs(e.mean[1] - (200 * 10.5 + 550 * 20.5) / 750) < 1e-9);
	e = tcptuned_trial_estimate(&trial, TCPTUNED_RATE, 2, 3);
	assert_false(e.known);
	e = tcptuned_trial_estimate(&trial, TCPTUNED_RATE, 0, 1);
	assert_true(fabs(e.difference - 2) < 1e-9);
	/* a variance of 1/4, and more than the 2.9 standard errors of one look with 5 % / 13 */
	assert_true(e.radius > 2.9 * sqrt(2 * 0.25 / 100));
	assert_true(e.radius < 2 * 2.9 * sqrt(2 * 0.25 / 100));
}

/*
 * One connection, of any size in one of the directions; large ones are faster. The rate varies by a
 * factor of four either way, the RTT by two. @faster, @longer: what tuning does to both.
 */
static void end_one(struct tcptuned_trial *trial, double share, double faster, double longer)
{
	unsigned int held_back = uniform() < share,
		     stratum = (unsigned int)(uniform() * TCPTUNED_STRATA);
	double rate = 10 + 2 * (stratum % TCPTUNED_OUTCOME_SIZES) + 2 * normal();
	double rtt = 15 + normal();

	if (!held_back) {
		rate += log2(faster);
		rtt += log2(longer);
	}
	add(trial, held_back, stratum, rate, rtt);
}

static bool shows_any(const struct tcptuned_trial *trial)
{
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int first = i % 2 * TCPTUNED_OUTCOME_SIZES;
		struct tcptuned_estimate e;

		e = tcptuned_trial_estimate(trial, i / 2 ? TCPTUNED_RTT : TCPTUNED_RATE, first,
					    first + TCPTUNED_OUTCOME_SIZES);
		if (fabs(e.difference) > e.radius)
			return true;
	}
	return false;
}

/*
 * How many of @n trials stop, or show a difference, at one of the looks after every 25 connections.
 */
static unsigned int count_trials(unsigned int n, double share, double faster, double longer,
				 unsigned int connections, unsigned int *ret_differences)
{
	unsigned int harms = 0;

	*ret_differences = 0;
	for (unsigned int i = 0; i < n; i++) {
		struct tcptuned_trial trial = {0};
		bool harm = false, difference = false, sends;
		enum tcptuned_measure measure;

		for (unsigned int c = 1; c <= connections && !harm; c++) {
			end_one(&trial, share, faster, longer);
			if (c % 25)
				continue;
			harm |= tcptuned_trial_shows_harm(&trial, &sends, &measure);
			difference |= shows_any(&trial);
		}
		harms += harm;
		*ret_differences += difference;
	}
	return harms;
}

TEST(nothing_against_nothing)
{
	static const double shares[] = {0.05, 0.5};
	unsigned int differences;

	for_each_row (share, shares) {
		assert_in_range(count_trials(200, *share, 1, 1, 4000, &differences), 0, 10);
		assert_in_range(differences, 0, 10); /* 5 % */
	}
}

/*
 * Of 4,000 connections, 2,000 in each direction, the standard error of the difference is 2 /
 * sqrt(2,000 / 4) = 0.09 for the rate and half of that for the RTT: the harm is seven of them and
 * more, the boundary four.
 */
TEST(harm_is_found)
{
	unsigned int differences;

	assert_int_equal(count_trials(50, 0.5, 0.6, 1, 4000, &differences), 50);
	assert_int_equal(count_trials(50, 0.5, 1, 1.3, 4000, &differences), 50);
}

TEST(what_is_faster_may_have_a_longer_round_trip)
{
	unsigned int differences;

	assert_int_equal(count_trials(50, 0.5, 1.7, 0.7, 4000, &differences), 0);
	assert_int_equal(differences, 50);
	assert_int_equal(count_trials(50, 0.5, 16, 1.1, 4000, &differences), 0);
}
