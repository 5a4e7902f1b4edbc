// SPDX-License-Identifier: GPL-2.0-only
/* RED's average, probabilities and distances between drops, against their definitions. */
#include "linkem.h"
#include "red.h"

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

TEST(average)
{
	struct red r = make_red(table_1);

	/* avg = (1 - w) avg + w q: after n packets that found 30, 30 (1 - (1 - w)^n) */
	for (int n = 1; n <= 3000; n++) {
		red_arrival(&r, START_NS, 30, 0);
		assert_near(r.avg, 30 * (1 - pow(1 - 0.002, n)), 1e-9);
	}
	assert_near(r.avg_max, r.avg, 0);
}

/* Idle time changes the average as small packets at the link's rate would. */
TEST(idle_time)
{
	struct red r = make_red(table_1);

	r.avg = 20;
	red_arrival(&r, START_NS, 0, START_NS - 100 * PACKET_NS);
	assert_near(r.avg, 20 * pow(1 - 0.002, 100), 1e-9);
	/* the time counts since the link became idle, not since the last packet */
	red_arrival(&r, START_NS + 50 * PACKET_NS, 0, START_NS + 50 * PACKET_NS);
	assert_near(r.avg, 20 * pow(1 - 0.002, 100), 1e-9);
	red_arrival(&r, START_NS + 1000000 * PACKET_NS, 0, START_NS);
	assert_near(r.avg, 0, 1e-9);
}

TEST(probability)
{
	static const struct {
		bool gentle;
		double average, probability, tolerance;
	} rows[] = {
		{false, 9.999, 0, 0},	    {false, 10, 0, 0},	     {false, 25, 0.05, 1e-12},
		{false, 39.999, 0.1, 1e-4}, {false, 40, 1, 0},	     {true, 25, 0.05, 1e-12},
		{true, 40, 0.1, 1e-12},	    {true, 60, 0.55, 1e-12}, {true, 79.999, 1, 1e-4},
		{true, 80, 1, 0},
	};

	for_each_row (row, rows) {
		struct red_config config = table_1;
		struct red r;

		config.gentle = row->gentle;
		r = make_red(config);
		r.avg = row->average;
		assert_near(red_probability(&r), row->probability, row->tolerance);
	}
}

struct distances {
	unsigned int drops, least, most;
	double mean;
};

/* Returns the distances between drops, over a million packets at a constant average. */
static struct distances distances_at(struct red_config config, unsigned int avg)
{
	struct distances d = {.least = -1};
	struct red r = make_red(config);
	unsigned int since = 0, sum = 0;
	enum red_fate fate;

	r.avg = avg;
	for (int i = 0; i < 1000000; i++) {
		since++;
		fate = red_arrival(&r, START_NS, avg, 0);
		if (fate == RED_KEEP)
			continue;
		assert_int_equal(fate, RED_EARLY);
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
TEST(distance_between_drops)
{
	static const unsigned int averages[] = {13, 16, 25, 35};

	for_each_row (average, averages) {
		struct red_config config = table_1;
		double n = 1 / (0.1 * (*average - 10) / 30);
		struct distances d = distances_at(config, *average);

		assert_int_equal(d.least, 1);
		assert_in_range(d.most, floor(n - 1.01), ceil(n - 0.99));
		assert_near(d.mean, n / 2, 0.02 * n / 2);
		config.wait = true;
		d = distances_at(config, *average);
		assert_in_range(d.least, floor(n - 0.01), ceil(n + 0.01));
		assert_in_range(d.most, floor(2 * n - 1.01), ceil(2 * n - 0.99));
		assert_near(d.mean, (3 * n - 1) / 2, 0.02 * 1.5 * n);
	}
}

/*
 * Below min_th no packet is dropped, and none counts for the next drop; from max_th on each one is.
 */
TEST(outside_the_thresholds)
{
	struct red r = make_red(table_1);

	for (int i = 0; i < 100000; i++)
		assert_int_equal(red_arrival(&r, START_NS, 9, 0), RED_KEEP);
	assert_int_equal(r.count, -1);
	r.avg = 40;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(red_arrival(&r, START_NS, 40, 0), RED_FORCED);
	r.avg = 9;
	red_arrival(&r, START_NS, 9, 0);
	assert_int_equal(r.count, -1);
}

/* The target is 22 to 28 packets; max_p, in each row after an arrival, changes every 0.5 s. */
TEST(adaptive_max_p)
{
	static const struct {
		uint64_t after_ns;
		double average, max_p;
	} rows[] = {
		{0, 30, 0.1},
		{499999999, 30, 0.1},
		{500000000, 30, 0.11}, /* above it, it rises by a quarter, but by 0.01 at most */
		{500000001, 30, 0.11},
		{1000000000, 25, 0.11},	    /* within it, it stays */
		{1500000000, 20, 0.099},    /* below it, it falls by a tenth */
		{40000000000, 20, 0.001},   /* down to the bottom */
		{40500000000, 35, 0.00125}, /* from there it rises by a quarter at a time */
		{150000000000, 35, 0.5},
	};
	struct red_config config = table_1;
	uint64_t now = 0;
	struct red r;

	config.adaptive = true;
	config.bottom = 0.001;
	config.top = 0.5;
	r = make_red(config);
	for_each_row (row, rows) {
		for (; now + 1500000000 < row->after_ns; now += 500000000) {
			r.avg = row->average;
			red_arrival(&r, START_NS + now, (unsigned int)row->average, 0);
		}
		now = row->after_ns;
		r.avg = row->average;
		red_arrival(&r, START_NS + now, (unsigned int)row->average, 0);
		assert_near(r.max_p, row->max_p, 1e-12);
	}
}

/* The values that ns-2 computes at 2.5 Gbit/s and at 10 Mbit/s (1500 bytes; queue/red.cc). */
TEST(automatic)
{
	static const struct {
		uint64_t rate_bps, delay_ns;
		uint32_t mean_bytes;
		double min_th, max_th, rounds; /* the weight is 1 - exp(-1 / rounds) */
	} rows[] = {
		/* 5 ms of the link's packets, and ten times 100 ms */
		{2500000000, 10000000, 0, 2.5e9 / 12000 * 0.005 / 2, 2.5e9 / 12000 * 0.0075,
		 2.5e9 / 12000},
		{10000000, 100000000, 0, 5, 15, 10 * 3 * (0.1 * 1e7 / 12000 + 1)},
		/* as ns-2 does, which assumes packets of 500 bytes here (ns-default.tcl) */
		{2500000000, 10000000, 500, 1562.5, 4687.5, 625000},
	};
	struct red_config c = table_1;

	red_config_resolve(&c, 10000000, 100000000, 1500); /* what is given stays */
	assert_near(c.min_th, 10, 0);
	assert_near(c.max_th, 40, 0);
	assert_near(c.weight, 0.002, 0);
	for_each_row (r, rows) {
		c = (struct red_config){.on = true, .mean_bytes = r->mean_bytes};
		red_config_resolve(&c, r->rate_bps, r->delay_ns, 1500);
		assert_near(c.min_th, r->min_th, 1e-9);
		assert_near(c.max_th, r->max_th, 1e-9);
		assert_near(c.weight, 1 - exp(-1 / r->rounds), 1e-12);
	}
}

/*
 * Twice as much as the link carries arrives at a queue of 1500 packets. RED2 of paper 002 (75 and
 * 300 packets), here with a max_p of 0.5, drops every other one where p_b is 0.25: at 187.5
 * packets. Without it the queue is full.
 */
TEST(in_the_queue)
{
	struct queue_config config = struct_of(
		queue_config, .rate_bps = 100000000, .limit_packets = 1500, .seed = 3,
		.packet_bytes = 1500,
		.red = {.on = true, .min_th = 75, .max_th = 300, .max_p = 0.5, .weight = 0.002});
	unsigned int verdicts[2][VERDICT_COUNT] = {0};
	struct queue q[2], again;

	q[0] = make_queue(config);
	again = make_queue(config);
	config.red.on = false;
	q[1] = make_queue(config);
	for (unsigned int i = 0; i < 200000; i++) {
		uint64_t now = START_NS + i * 60000ull;
		enum verdict v = offer(&q[0], now, 1500);

		verdicts[0][v]++;
		assert_int_equal(offer(&again, now, 1500), v);
		verdicts[1][offer(&q[1], now, 1500)]++;
	}
	assert_int_equal(verdicts[0][VERDICT_FULL], 0);
	assert_in_range(verdicts[0][VERDICT_EARLY], 98000, 100000);
	assert_in_range(verdicts[0][VERDICT_FORCED], 0, 1000);
	assert_near(q[0].red.avg, 187.5, 15);
	assert_int_equal(verdicts[1][VERDICT_EARLY] + verdicts[1][VERDICT_FORCED], 0);
	assert_in_range(verdicts[1][VERDICT_FULL], 98000, 99000);
	config.red.on = true;
	config.packet_bytes = 0;
	assert_int_equal(queue_init(&again, &config), -EINVAL);
}
