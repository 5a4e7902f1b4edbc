// SPDX-License-Identifier: GPL-2.0-only
/* RED's average, probabilities and distances between drops, against their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "queue.h"
#include "red.h"

#define START_NS  123456789012345ull
#define PACKET_NS 120000ull /* 1500 bytes at 100 Mbit/s */

static struct red make_red(struct red_config config)
{
	struct red r;

	red_config_resolve(&config, 100000000, 25000000, 1500);
	red_init(&r, &config, PACKET_NS, 7);
	return r;
}

/* Paper 002, Table 1, with ns-2's weight and max_p. */
static const struct red_config table_1 = {
	.on = true, .min_th = 10, .max_th = 40, .max_p = 0.1, .weight = 0.002};

static void expect_near(double got, double want, double tolerance)
{
	if (fabs(got - want) > tolerance)
		fail_msg("%.9g, expected %.9g within %g", got, want, tolerance);
}

static void test_average(void **state)
{
	struct red r = make_red(table_1);

	/* avg = (1 - w) avg + w q: after n packets that found 30, 30 (1 - (1 - w)^n) */
	for (int n = 1; n <= 3000; n++) {
		red_arrival(&r, START_NS, 30, 0);
		expect_near(r.avg, 30 * (1 - pow(1 - 0.002, n)), 1e-9);
	}
	expect_near(r.avg_max, r.avg, 0);
}

/* As if so many small packets had found the queue empty as the link could have carried. */
static void test_idle_time(void **state)
{
	struct red r = make_red(table_1);

	r.avg = 20;
	red_arrival(&r, START_NS, 0, START_NS - 100 * PACKET_NS);
	expect_near(r.avg, 20 * pow(1 - 0.002, 100), 1e-9);
	/* the time since the link fell idle counts, not the time since the last packet came */
	red_arrival(&r, START_NS + 50 * PACKET_NS, 0, START_NS + 50 * PACKET_NS);
	expect_near(r.avg, 20 * pow(1 - 0.002, 100), 1e-9);
	red_arrival(&r, START_NS + 1000000 * PACKET_NS, 0, START_NS);
	expect_near(r.avg, 0, 1e-9);
}

static double probability_at(struct red_config config, double avg)
{
	struct red r = make_red(config);

	r.avg = avg;
	return red_probability(&r);
}

static void test_probability(void **state)
{
	struct red_config gentle = table_1;

	gentle.gentle = true;
	expect_near(probability_at(table_1, 9.999), 0, 0);
	expect_near(probability_at(table_1, 10), 0, 0);
	expect_near(probability_at(table_1, 25), 0.05, 1e-12);
	expect_near(probability_at(table_1, 39.999), 0.1, 1e-4);
	expect_near(probability_at(table_1, 40), 1, 0);
	expect_near(probability_at(gentle, 25), 0.05, 1e-12);
	expect_near(probability_at(gentle, 40), 0.1, 1e-12);
	expect_near(probability_at(gentle, 60), 0.55, 1e-12);
	expect_near(probability_at(gentle, 79.999), 1, 1e-4);
	expect_near(probability_at(gentle, 80), 1, 0);
}

struct distances {
	unsigned int drops, least, most;
	double mean;
};

/* Between drops, over a million packets that keep the average where it is. */
static struct distances distances_at(struct red_config config, unsigned int avg)
{
	struct distances d = {.least = -1};
	struct red r = make_red(config);
	unsigned int since = 0, sum = 0;

	r.avg = avg;
	for (int i = 0; i < 1000000; i++) {
		since++;
		if (red_arrival(&r, START_NS, avg, 0) == RED_KEEP)
			continue;
		if (d.drops++) {
			d.least = since < d.least ? since : d.least;
			d.most = since > d.most ? since : d.most;
			sum += since;
		}
		since = 0;
	}
	d.mean = (double)sum / (d.drops - 1);
	return d;
}

/*
 * At p_b = 1/n a drop follows the last one after 1 to n - 1 packets, each as likely: n/2 on
 * average. With wait it is n to 2n - 1.
 */
static void test_distance_between_drops(void **state)
{
	static const unsigned int averages[] = {13, 16, 25, 35};

	for (size_t i = 0; i < sizeof(averages) / sizeof(averages[0]); i++) {
		struct red_config config = table_1;
		double n = 1 / (0.1 * (averages[i] - 10) / 30);
		struct distances d = distances_at(config, averages[i]);

		assert_int_equal(d.least, 1);
		assert_in_range(d.most, floor(n - 1.01), ceil(n - 0.99));
		expect_near(d.mean, n / 2, 0.02 * n / 2);
		config.wait = true;
		d = distances_at(config, averages[i]);
		assert_in_range(d.least, floor(n - 0.01), ceil(n + 0.01));
		assert_in_range(d.most, floor(2 * n - 1.01), ceil(2 * n - 0.99));
		expect_near(d.mean, (3 * n - 1) / 2, 0.02 * 1.5 * n);
	}
}

static void test_fates(void **state)
{
	struct red r = make_red(table_1);
	unsigned int early = 0;

	for (int i = 0; i < 100000; i++)
		assert_int_equal(red_arrival(&r, START_NS, 9, 0), RED_KEEP);
	assert_int_equal(r.count, -1);
	r.avg = 39;
	for (int i = 0; i < 1000; i++) {
		enum red_fate fate = red_arrival(&r, START_NS, 39, 0);

		assert_int_not_equal(fate, RED_FORCED);
		early += fate == RED_EARLY;
	}
	/* p_b 0.0967: one in five */
	assert_in_range(early, 150, 250);
	r.avg = 40;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(red_arrival(&r, START_NS, 40, 0), RED_FORCED);
	/* the first packet above min_th: no more than p_b */
	r.avg = 9;
	red_arrival(&r, START_NS, 9, 0);
	assert_int_equal(r.count, -1);
}

static void test_adaptive_max_p(void **state)
{
	struct red_config config = table_1;
	struct red r;
	double before;

	config.adaptive = true;
	config.bottom = 0.001;
	config.top = 0.5;
	r = make_red(config);
	/* the target is 22 to 28: above it max_p rises by a quarter, but by 0.01 at most */
	r.avg = 30;
	red_arrival(&r, START_NS, 30, 0);
	expect_near(r.max_p, 0.1, 0);
	red_arrival(&r, START_NS + 499999999, 30, 0);
	expect_near(r.max_p, 0.1, 0);
	red_arrival(&r, START_NS + 500000000, 30, 0);
	expect_near(r.max_p, 0.11, 1e-12);
	red_arrival(&r, START_NS + 500000001, 30, 0);
	expect_near(r.max_p, 0.11, 1e-12);
	/* within it, it stays */
	r.avg = 25;
	red_arrival(&r, START_NS + 1000000000, 25, 0);
	expect_near(r.max_p, 0.11, 1e-12);
	/* below it, it falls by a tenth, down to the bottom */
	r.avg = 20;
	red_arrival(&r, START_NS + 1500000000, 20, 0);
	expect_near(r.max_p, 0.099, 1e-12);
	for (int i = 0; i < 60; i++) {
		r.avg = 20;
		red_arrival(&r, START_NS + 2000000000 + i * 500000000ull, 20, 0);
	}
	expect_near(r.max_p, 0.001, 1e-12);
	/* from there it can only rise by a quarter at a time */
	before = r.max_p;
	r.avg = 35;
	red_arrival(&r, START_NS + 40000000000, 35, 0);
	expect_near(r.max_p, before * 1.25, 1e-12);
	for (int i = 0; i < 200; i++) {
		r.avg = 35;
		red_arrival(&r, START_NS + 41000000000 + i * 500000000ull, 35, 0);
	}
	expect_near(r.max_p, 0.5, 1e-12);
}

/* What ns-2 comes to at 2.5 Gbit/s and at 10 Mbit/s (1500 bytes; queue/red.cc). */
static void test_automatic(void **state)
{
	struct red_config c = {.on = true};

	red_config_resolve(&c, 2500000000, 10000000, 1500);
	expect_near(c.min_th, 2.5e9 / 12000 * 0.005 / 2, 1e-9); /* 520.8 packets */
	expect_near(c.max_th, 3 * c.min_th, 1e-9);
	expect_near(c.weight, 1 - exp(-1 / (2.5e9 / 12000)), 1e-12); /* ten times 100 ms */
	c = (struct red_config){.on = true};
	red_config_resolve(&c, 10000000, 100000000, 1500);
	expect_near(c.min_th, 5, 0);
	expect_near(c.max_th, 15, 0);
	expect_near(c.weight, 1 - exp(-1 / (10 * 3 * (0.1 * 1e7 / 12000 + 1))), 1e-12);
	/* as ns-2 comes, whose packets have 500 bytes where it reckons (ns-default.tcl) */
	c = (struct red_config){.on = true, .mean_bytes = 500};
	red_config_resolve(&c, 2500000000, 10000000, 1500);
	expect_near(c.min_th, 1562.5, 1e-9);
	expect_near(c.max_th, 4687.5, 1e-9);
	expect_near(c.weight, 1 - exp(-1 / 625000.), 1e-12);
	/* what is given stays */
	c = table_1;
	red_config_resolve(&c, 10000000, 100000000, 1500);
	expect_near(c.min_th, 10, 0);
	expect_near(c.max_th, 40, 0);
	expect_near(c.weight, 0.002, 0);
}

/*
 * Twice as much as the link carries arrives at a queue of 1500 packets. RED2 of paper 002 (75 and
 * 300 packets), here with a max_p of 0.5, drops every other one where p_b is 0.25: at 187.5
 * packets. Without it the queue is full.
 */
static void test_in_the_queue(void **state)
{
	struct queue_config config = {
		.rate_bps = 100000000,
		.limit_packets = 1500,
		.seed = 3,
		.packet_bytes = 1500,
		.red = {.on = true,
			.min_th = 75,
			.max_th = 300,
			.max_p = 0.5,
			.weight = 0.002},
	};
	unsigned int verdicts[2][VERDICT_COUNT] = {0};
	struct queue q[2], again;
	struct offer o;

	assert_int_equal(queue_init(&q[0], &config), 0);
	assert_int_equal(queue_init(&again, &config), 0);
	config.red.on = false;
	assert_int_equal(queue_init(&q[1], &config), 0);
	for (unsigned int i = 0; i < 200000; i++) {
		uint64_t now = START_NS + i * 60000ull;
		enum verdict v = queue_offer(&q[0], now, 1500, true, &o);

		verdicts[0][v]++;
		assert_int_equal(queue_offer(&again, now, 1500, true, &o), v);
		verdicts[1][queue_offer(&q[1], now, 1500, true, &o)]++;
	}
	assert_int_equal(verdicts[0][VERDICT_FULL], 0);
	assert_in_range(verdicts[0][VERDICT_EARLY], 98000, 100000);
	assert_in_range(verdicts[0][VERDICT_FORCED], 0, 1000);
	expect_near(q[0].red.avg, 187.5, 15);
	assert_int_equal(verdicts[1][VERDICT_EARLY] + verdicts[1][VERDICT_FORCED], 0);
	assert_in_range(verdicts[1][VERDICT_FULL], 98000, 99000);
	queue_free(&q[0]);
	queue_free(&q[1]);
	queue_free(&again);
	config.red.on = true;
	config.packet_bytes = 0;
	assert_int_equal(queue_init(&again, &config), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_average),
		cmocka_unit_test(test_idle_time),
		cmocka_unit_test(test_probability),
		cmocka_unit_test(test_distance_between_drops),
		cmocka_unit_test(test_fates),
		cmocka_unit_test(test_adaptive_max_p),
		cmocka_unit_test(test_automatic),
		cmocka_unit_test(test_in_the_queue),
	};

	return cmocka_run_group_tests_name("linkem RED", tests, NULL, NULL);
}
