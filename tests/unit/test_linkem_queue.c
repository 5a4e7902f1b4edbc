// SPDX-License-Identifier: GPL-2.0-only
/* The link's arithmetic: rates exact to the nanosecond, limits exact to the byte. */
#include "linkem.h"
#include "stats.h"

TEST(rate_is_exact)
{
	static const uint64_t rates[] = {56000,	    1000000,	20000000,   622080000,
					 999999937, 2500000000, 10000000000};

	for_each_row (rate, rates) {
		struct rate_clock clock = {.rate_bps = *rate};
		unsigned __int128 bits = 0;

		for (int i = 0; i < 1000000; i++) {
			uint32_t bytes = 40 + random() % 1461;

			bits += bytes * 8ull;
			assert_int_equal(rate_clock_send(&clock, START_NS, bytes) - START_NS,
					 (uint64_t)(bits * 1000000000 / *rate));
		}
	}
	assert_int_equal(rate_clock_send(&(struct rate_clock){0}, 5, 1500), 5); /* no limit */
}

/* While there is a queue, a segment that linkem reads late leaves on time. */
TEST(lateness_does_not_add_up)
{
	struct queue_config config = {.rate_bps = 1500000, .limit_packets = 10};
	struct queue q[2] = {make_queue(config), make_queue(config)};
	uint64_t now = START_NS;

	for (int i = 0; i < 10000; i++) {
		uint64_t late = i < 4 ? 0 : (uint64_t)random() % 6000000;
		struct offer on_time, o;

		/* 8 ms each, of which four are always there */
		assert_int_equal(queue_offer(&q[0], now, 1500, true, 0, &on_time), VERDICT_PASS);
		assert_int_equal(queue_offer(&q[1], now + late, 1500, true, 0, &o), VERDICT_PASS);
		assert_int_equal(o.depart_ns, on_time.depart_ns);
		assert_int_equal(o.depart_ns, START_NS + (i + 1) * 8000000ull);
		now += i < 4 ? 0 : 8000000;
	}
}

TEST(late_is_what_tcp_could_notice)
{
	/* 1500 bytes at 1 Gbit/s, 1.5 Mbit/s and 56 kbit/s */
	assert_int_equal(report_late_p99_limit_ns(25000000, 12000), 500000);
	assert_int_equal(report_late_p99_limit_ns(100000000, 12000), 1000000);
	assert_int_equal(report_late_p99_limit_ns(50000000, 8000000), 800000);
	assert_int_equal(report_late_p99_limit_ns(100000000, 214285714), 21428571);
	assert_true(report_cpu_wait_limit_us(12000) == 20);
	assert_true(report_cpu_wait_limit_us(8000000) == 20);
	assert_true(report_cpu_wait_limit_us(214285714) == 214.285);
	assert_int_equal(report_late_max_limit_ns(25000000, 12000), 20000000);
	assert_int_equal(report_late_max_limit_ns(100000000, 8000000), 50000000);
	assert_int_equal(report_late_max_limit_ns(100000000, 214285714), 107142857);
}

/*
 * With random arrivals the queue holds what a plain simulation of it holds, to the packet and byte.
 */
static void against_simulation(struct queue_config config)
{
	struct {
		uint64_t depart_ns;
		uint32_t bytes;
	} held[100];
	struct queue q = make_queue(config);
	uint64_t busy = 0, now = START_NS;
	unsigned int len = 0, dropped = 0;

	for (int i = 0; i < 300000; i++) {
		uint32_t bytes = 125 * (1 + random() % 12); /* 20 us each: no fractions */
		unsigned int kept = 0, queued = bytes;
		bool full;

		now += random() % 31 * 10000; /* also at the very moment when a packet departs */
		for (unsigned int j = 0; j < len; j++)
			if (held[j].depart_ns > now) {
				queued += held[j].bytes;
				held[kept++] = held[j];
			}
		len = kept;
		full = (config.limit_packets && len == config.limit_packets) ||
		       (config.limit_bytes && queued > config.limit_bytes);
		assert_int_equal(offer(&q, now, bytes), full ? VERDICT_FULL : VERDICT_PASS);
		dropped += full;
		if (full)
			continue;
		busy = (busy > now ? busy : now) + bytes * 160ull;
		held[len].depart_ns = busy;
		held[len++].bytes = bytes;
		assert_int_equal(offered.depart_ns, busy);
		assert_int_equal(offered.queued_packets, len);
		assert_int_equal(offered.queued_bytes, queued);
	}
	/* 130 us of work every 150 us: drops happen, and are rare */
	assert_in_range(dropped, 10, 30000);
}

TEST(limits)
{
	against_simulation((struct queue_config){.rate_bps = 50000000, .limit_packets = 12});
	against_simulation((struct queue_config){.rate_bps = 50000000, .limit_bytes = 9000});
}

TEST(access_rate_spaces_bursts)
{
	/* as in paper 003: 20 packets arrive at a queue of 10 */
	struct queue_config config = {.rate_bps = 1000000000, .limit_packets = 10};
	struct queue at_once = make_queue(config), spaced;
	unsigned int passed[2] = {0};

	config.access_bps = 2000000000;
	spaced = make_queue(config);
	for (int i = 0; i < 20; i++) {
		passed[0] += offer(&at_once, START_NS, 1500) == VERDICT_PASS;
		passed[1] += offer(&spaced, START_NS, 1500) == VERDICT_PASS;
		assert_int_equal(offered.arrive_ns, START_NS + (i + 1) * 6000);
	}
	assert_int_equal(passed[0], 10);
	/* 114 us pass between the first and the last arrival, 9 packets leave in them */
	assert_int_equal(passed[1], 19);
}

/* Losses are as many as the rate says, independent of one another, and follow the seed. */
TEST(loss_rate)
{
	static const double rates[] = {1e-4, 1e-3, 0.05, 0.5};

	for_each_row (rate, rates) {
		struct queue_config config = {
			.rate_bps = 10000000000, .limit_packets = 10, .loss = *rate, .seed = 7};
		double n = 2000000, p = *rate;
		unsigned int losses = 0, pairs = 0, common = 0;
		bool lost[3] = {false}, before;
		struct queue q[3];

		for (int i = 0; i < 3; i++) {
			config.seed += i == 2;
			q[i] = make_queue(config);
		}
		for (unsigned int i = 0; i < n; i++) {
			before = lost[0];
			for (int j = 0; j < 3; j++)
				lost[j] = offer(&q[j], START_NS + i * 2000ull, 1500) ==
					  VERDICT_LOST;
			assert_int_equal(lost[0], lost[1]);
			losses += lost[0];
			pairs += lost[0] && before;
			common += lost[0] && lost[2];
		}
		/* four standard deviations */
		assert_near(losses, n * p, 4 * sqrt(n * p * (1 - p)));
		assert_near(pairs, n * p * p, 4 * sqrt(n * p * p) + 4);
		assert_near(common, n * p * p, 4 * sqrt(n * p * p) + 4);
	}
}

TEST(chosen_losses)
{
	static uint64_t lose[] = {1, 5, 6};
	struct queue q = queue_of(.rate_bps = 10000000000, .limit_packets = 100, .lose = lose,
				  .lose_count = 3);

	for (unsigned int i = 1; i <= 50; i++) {
		bool chosen = i == 1 || i == 5 || i == 6;

		/* what carries no data is neither counted nor lost */
		assert_int_equal(queue_offer(&q, START_NS, 52, false, 0, &offered), VERDICT_PASS);
		assert_int_equal(offer(&q, START_NS, 1500), chosen ? VERDICT_CHOSEN : VERDICT_PASS);
	}
}

/* If the emulator's own memory is full, the verdict is not that of a full queue. */
TEST(no_room_is_reported)
{
	struct queue q = queue_of(.rate_bps = 1000000000, .limit_bytes = 1000000000);
	unsigned int passed = 0;
	enum verdict v;

	while ((v = offer(&q, START_NS, 60)) == VERDICT_PASS)
		passed++;
	assert_int_equal(v, VERDICT_NO_ROOM);
	assert_int_equal(passed, 1u << 22);
}

TEST(refuses)
{
	struct queue q;

	assert_int_equal(queue_init(&q, &(struct queue_config){.limit_packets = 1}), -EINVAL);
	assert_int_equal(queue_init(&q, &(struct queue_config){.rate_bps = 1}), -EINVAL);
}

TEST(histogram)
{
	static struct histogram h;
	static uint64_t values[100000];
	enum { N = ARRAY_SIZE(values) };
	static const double quantiles[] = {0, 0.1, 0.5, 0.99, 0.999};

	assert_int_equal(histogram_quantile(&h, 0.99), 0);
	for (unsigned int i = 0; i < N; i++) {
		values[i] = (uint64_t)random() >> random() % 31;
		histogram_add(&h, values[i]);
	}
	qsort(values, N, sizeof(values[0]), compare);
	for_each_row (quantile, quantiles) {
		uint64_t exact = values[(size_t)(*quantile * N)];
		uint64_t got = histogram_quantile(&h, *quantile);

		assert_true(got >= exact && got - exact <= exact / 32);
	}
	assert_int_equal(histogram_quantile(&h, 1), values[N - 1]);
	histogram_add(&h, UINT64_MAX);
	assert_int_equal(h.max, UINT64_MAX);
}
