// SPDX-License-Identifier: GPL-2.0-only
/* What follows from measurements: limits, numbers, and whether anybody else is there. */
#include "test.h"
#include "streams/verdict.h"

static const struct tcptuned_streams_options defaults = {
	.streams_max = 16, .impact_max = 0.1, .gain_min = 0.05};

/* Connections of a path of 40 ms. */
static struct tcptuned_streams_level level(unsigned int streams, double rate, double loss,
					   double rtt_ms)
{
	return (struct tcptuned_streams_level){
		.streams = streams,
		.rate = rate,
		.rate_peak = rate,
		.loss = loss,
		.rtt_s = rtt_ms / 1e3,
		.rtt_min_s = 0.04,
	};
}

static struct tcptuned_streams_level received(unsigned int streams, double rate, double peak)
{
	struct tcptuned_streams_level ret = level(streams, rate, 0, 41);

	ret.receives = 1;
	ret.rate_peak = peak;
	return ret;
}

/* One connection that lost so many of its segments. */
static struct tcptuned_streams_level counted(double rate, double losses, double segments)
{
	struct tcptuned_streams_level ret = level(1, rate, losses / segments, 40.2);

	ret.segments = segments;
	return ret;
}

TEST(limits)
{
	static const struct {
		struct tcptuned_streams_level level;
		enum tcptuned_streams_limit limit;
	} rows[] = {
		{{1, 1e8, .loss = -1}, TCPTUNED_STREAMS_LIMIT_UNKNOWN},
		{{1, 1e8, .rtt_s = 0.041, .rtt_min_s = 0.04}, TCPTUNED_STREAMS_LIMIT_CWND},
		{{1, 1e8, .rtt_s = 0.041, .rtt_min_s = 0.04, .loss = 1e-4},
		 TCPTUNED_STREAMS_LIMIT_LOSS},
		{{1, 1e8, .rtt_s = 0.050, .rtt_min_s = 0.04, .loss = 1e-4},
		 TCPTUNED_STREAMS_LIMIT_QUEUE},
		{{1, 1e8, .rtt_s = 0.041, .rtt_min_s = 0.04, .send_buffer = 0.4},
		 TCPTUNED_STREAMS_LIMIT_SEND_BUFFER},
		{{1, 1e8, .rtt_s = 0.041, .rtt_min_s = 0.04, .send_buffer = 0.4, .loss = 1e-4},
		 TCPTUNED_STREAMS_LIMIT_LOSS},
		{{1, 1e8, .rtt_s = 0.041, .rtt_min_s = 0.04, .receiver_window = 0.9,
		  .send_buffer = 0.1},
		 TCPTUNED_STREAMS_LIMIT_RECEIVER_WINDOW},
		{{1, 1e8, .rtt_s = 0.041, .rtt_min_s = 0.04, .application = 0.7},
		 TCPTUNED_STREAMS_LIMIT_APPLICATION},
		/* a queue fills whatever window there is */
		{{1, 1e8, .rtt_s = 0.120, .rtt_min_s = 0.04, .send_buffer = 0.9},
		 TCPTUNED_STREAMS_LIMIT_QUEUE},
		{{1, 1e8, .rtt_s = 0.120, .rtt_min_s = 0.04, .processor = 0.95},
		 TCPTUNED_STREAMS_LIMIT_PROCESSOR},
		/* below a millisecond nothing is a queue */
		{{1, 1e8, .rtt_s = 0.0009, .rtt_min_s = 0.0001}, TCPTUNED_STREAMS_LIMIT_CWND},
	};

	for_each_row (r, rows) {
		struct tcptuned_streams_result result = {.levels = {r->level}, .levels_len = 1};

		verdict_find_limits(&result);
		assert_int_equal(result.levels[0].limit, r->limit);
	}
}

#define advised(fastest, within, impact, limit) \
	fastest, within, TCPTUNED_STREAMS_IMPACT_##impact, TCPTUNED_STREAMS_LIMIT_##limit

/*
 * Measurements of linkem, 200 Mbit/s, 40 ms, a queue of a quarter BDP, reno; others are synthetic.
 */
TEST(two_numbers_and_the_evidence_for_the_second)
{
	const struct {
		unsigned int fastest, within;
		enum tcptuned_streams_impact impact;
		enum tcptuned_streams_limit limit;
		struct tcptuned_streams_level levels[5];
	} rows[] = {
		/* empty: 1 to 4 would be an impact of 58 % */
		{advised(4, 4, ALONE, CWND),
		 {level(1, 110e6, 0, 40.5), level(2, 138e6, 0, 40.5), level(4, 184e6, 8e-5, 43.6),
		  level(8, 187e6, 33e-5, 44.3)}},
		/* next to four others */
		{advised(8, 1, MODEL, LOSS),
		 {level(1, 62e6, 2e-4, 42.2), level(2, 71e6, 2e-4, 42.9),
		  level(4, 91e6, 5e-4, 44.1), level(8, 125e6, 6.4e-4, 44.8)}},
		/* linkem, RED, next to four others: one is too short to lose a segment */
		{advised(16, 2, MODEL, CWND),
		 {level(1, 19e6, 0, 40.4), level(4, 60e6, 0, 40.4), level(8, 93e6, 6.8e-4, 41.4),
		  level(16, 128e6, 2e-3, 42.2)}},
		/* the other was idle only while one was measured first */
		{advised(4, 1, MODEL, CWND),
		 {level(1, 60e6, 0, 41), level(2, 80e6, 2e-4, 44), level(4, 110e6, 4e-4, 44),
		  level(1, 65e6, 1e-4, 44)}},
		/* the path is full with one */
		{advised(1, 1, NONE, PATH), {level(1, 97e6, 0, 42), level(2, 98e6, 1e-3, 70)}},
		/* a limit per connection */
		{advised(4, 4, NONE, CONNECTION),
		 {level(1, 10e6, 0, 41), level(2, 20e6, 0, 41), level(4, 40e6, 0, 41)}},
		/* received: what the sender's buffer limits, and what nothing here explains */
		{advised(2, 2, NONE, CONNECTION),
		 {received(1, 10e6, 10e6), received(2, 20e6, 20e6)}},
		{advised(2, 2, NONE, UNKNOWN), {received(1, 10e6, 14e6), received(2, 20e6, 20e6)}},
		/* a host that is full: fewer bits each, without losses or a queue */
		{advised(4, 4, UNCONGESTED, CWND),
		 {level(1, 30e6, 0, 41), level(2, 45e6, 0, 41), level(4, 60e6, 0, 41)}},
		/* linkem, 1 Gbit/s, 100 ms, random losses; 16 fill the path */
		{advised(16, 16, UNCONGESTED, LOSS),
		 {level(1, 147e6, 1.1e-4, 40.2), level(4, 323e6, 1.4e-4, 40.2),
		  level(8, 816e6, 1.3e-4, 45), level(16, 945e6, 1.2e-4, 48)}},
		/* a policer for each, until 16 fill the path */
		{advised(16, 16, ALONE, LOSS),
		 {level(1, 86e6, 5e-3, 41), level(4, 358e6, 5e-3, 41), level(8, 701e6, 5e-3, 41),
		  level(16, 949e6, 9e-3, 76)}},
		/* many others keep a queue, which more connections do not lengthen */
		{advised(16, 5, MODEL, QUEUE),
		 {level(1, 26e6, 5e-3, 46), level(4, 92e6, 6e-3, 46), level(8, 179e6, 8e-3, 47),
		  level(16, 300e6, 13e-3, 48)}},
		/* linkem, 1 Gbit/s: 4 others, which give way before anything is lost */
		{advised(16, 1, MODEL, CWND),
		 {level(1, 316e6, 0, 42), level(2, 443e6, 0, 43.5), level(4, 536e6, 0, 43.5),
		  level(8, 595e6, 0, 46), level(16, 673e6, 3.4e-5, 48)}},
		/* the same path when it is empty: two doublings fill it */
		{advised(4, 4, ALONE, CWND),
		 {level(1, 499e6, 0, 43), level(2, 748e6, 0, 43.5), level(4, 945e6, 0, 55),
		  level(8, 896e6, 1e-4, 55)}},
		/* linkem, 1 Gbit/s, 100 ms, random losses: eight are too few to tell */
		{advised(8, 8, UNCONGESTED, LOSS),
		 {counted(194e6, 8, 84000), level(2, 297e6, 7e-5, 40.2),
		  level(4, 442e6, 13e-5, 40.2), level(8, 498e6, 20e-5, 40.2)}},
		{advised(8, 1, MODEL, LOSS),
		 {counted(194e6, 80, 840000), level(2, 297e6, 7e-5, 40.2),
		  level(4, 442e6, 13e-5, 40.2), level(8, 498e6, 20e-5, 40.2)}},
		/* seen, not searched: from n to n + 1 a part is normal */
		{advised(5, 5, ALONE, CWND),
		 {level(1, 30e6, 0, 41), level(2, 50e6, 0, 41), level(3, 65e6, 0, 41),
		  level(4, 78e6, 0, 41), level(5, 88e6, 0, 60)}},
		/* one was never measured, so that nothing is known of what others left to it */
		{advised(16, 4, MODEL, LOSS),
		 {level(4, 40e6, 1e-2, 41), level(8, 60e6, 1.2e-2, 41),
		  level(16, 80e6, 1.4e-2, 41)}},
		/* random losses, which more connections do not increase */
		{advised(4, 4, MODEL, LOSS),
		 {level(1, 10e6, 1e-4, 41), level(2, 20e6, 1e-4, 41), level(4, 37e6, 1e-4, 41)}},
	};

	for_each_row (r, rows) {
		struct tcptuned_streams_result result = {0};

		while (result.levels_len < ARRAY_SIZE(r->levels) &&
		       r->levels[result.levels_len].streams)
			result.levels_len++;
		memcpy(result.levels, r->levels, sizeof(r->levels));
		verdict_conclude(&defaults, &result);
		assert_int_equal(result.fastest, r->fastest);
		assert_int_equal(result.within, r->within);
		assert_int_equal(result.impact, r->impact);
		assert_int_equal(result.levels[0].limit, r->limit);
	}
}

/* Measured, or fitted. */
static double rate_of(const struct tcptuned_streams_result *result, unsigned int streams)
{
	for (unsigned int k = 0; k < result->levels_len; k++)
		if (result->levels[k].streams == streams)
			return result->levels[k].rate;
	return tcptuned_streams_rate(&result->fit, streams);
}

TEST(any_measurements_give_numbers_in_their_bounds)
{
	for (int i = 0; i < 3000; i++) {
		struct tcptuned_streams_options options = defaults;
		struct tcptuned_streams_result result = {.levels_len = 1 + random() % 6};
		unsigned int first = i % 5 ? 1 : 2;

		test_row = i;
		options.impact_max = random_real(0, 1);
		options.bits_per_second = i % 2 ? exp(random_real(0, 30)) : 0;
		for (unsigned int k = 0; k < result.levels_len; k++) {
			struct tcptuned_streams_level *l = &result.levels[k];

			*l = level(first << k, exp(random_real(0, 30)), random_real(-1, 0.1),
				   random_real(30, 200));
			l->rate_peak = l->rate * random_real(1, 2);
			l->send_buffer = random_real(0, 1);
			l->rtt_s = i % 3 ? l->rtt_s : 0;
		}
		verdict_conclude(&options, &result);
		assert_true(result.fastest >= 1 &&
			    result.fastest <= first << (result.levels_len - 1));
		assert_true(result.within >= 1 && result.within <= result.fastest);
		assert_true(result.fastest_rate > 0 && isfinite(result.within_rate));
		assert_true(result.within_impact <= options.impact_max + 1e-12);
		assert_true(result.wanted <= options.streams_max);
		assert_true(!result.wanted ||
			    (options.bits_per_second > 0 &&
			     rate_of(&result, result.wanted) >= options.bits_per_second));
	}
}

/* 10 Mbit/s for each connection. */
TEST(the_number_for_a_rate)
{
	static const struct {
		double wanted;
		unsigned int streams;
	} rows[] = {{0, 0}, {9e6, 1}, {20e6, 2}, {21e6, 3}, {150e6, 15}, {170e6, 0}};

	for_each_row (r, rows) {
		struct tcptuned_streams_options options = defaults;
		struct tcptuned_streams_result result = {
			.levels = {level(1, 10e6, 0, 41), level(2, 20e6, 0, 41)}, .levels_len = 2};

		options.bits_per_second = r->wanted;
		verdict_conclude(&options, &result);
		assert_int_equal(result.wanted, r->streams);
	}
}

/* The smallest number need not be one. */
TEST(levels_that_were_not_searched)
{
	static const struct {
		double rates[3]; /* of 2, 4 and 8 */
		enum tcptuned_streams_limit limit;
		unsigned int fastest;
	} rows[] = {
		{{2e7, 4e7, 8e7}, TCPTUNED_STREAMS_LIMIT_CONNECTION, 8},
		{{6e7, 6e7, 6e7}, TCPTUNED_STREAMS_LIMIT_PATH, 2},
		{{4e7, 6e7, 6.1e7}, TCPTUNED_STREAMS_LIMIT_CWND, 4},
	};
	static const struct tcptuned_streams_options none = {.size = sizeof(none)};

	for_each_row (r, rows) {
		struct tcptuned_streams_result result = {
			.size = sizeof(result), .levels_len = 3, .congestion_control = "reno"};

		for (unsigned int i = 0; i < 3; i++)
			result.levels[i] = level(2u << i, r->rates[i], 0, 41);
		assert_int_equal(tcptuned_streams_conclude(&none, &result), 0);
		assert_int_equal(result.levels[0].limit, r->limit);
		assert_int_equal(result.fastest, r->fastest);
		assert_near(result.fastest_rate, r->rates[__builtin_ctz(r->fastest) - 1], 1);
	}
}

TEST(levels_out_of_range)
{
	static const struct tcptuned_streams_options none = {.size = sizeof(none)},
						     much = {.size = sizeof(much), .impact_max = 2};
	struct tcptuned_streams_result result = {.size = sizeof(result)};

	assert_int_equal(tcptuned_streams_conclude(&none, &result), -EINVAL);
	result.levels_len = TCPTUNED_STREAMS_LEVELS_MAX + 1;
	assert_int_equal(tcptuned_streams_conclude(&none, &result), -EINVAL);
	result.levels_len = 1;
	result.levels[0] = level(1, 1e8, 0, 41);
	assert_int_equal(tcptuned_streams_conclude(&much, &result), -EINVAL);
	assert_int_equal(tcptuned_streams_conclude(&none, &result), 0);
	assert_int_equal(result.fastest, 1);
}

/* Of programs that were compiled with an earlier or a later version. */
TEST(structures_of_other_sizes)
{
	struct {
		struct tcptuned_streams_options options;
		double later;
	} options = {.options = {.size = sizeof(options), .streams_max = 4}};
	struct {
		struct tcptuned_streams_result result;
		double later;
	} result = {.result = {.size = sizeof(result), .levels_len = 1}, .later = 7};

	result.result.levels[0] = level(1, 1e8, 0, 41);
	assert_int_equal(tcptuned_streams_conclude(&options.options, &result.result), 0);
	assert_int_equal(result.result.size, sizeof(result));
	assert_int_equal(result.result.fastest, 1);
	assert_true(result.result.fastest_rate == 1e8 && result.later == 0);
	options.later = 1;
	assert_int_equal(tcptuned_streams_conclude(&options.options, &result.result), -E2BIG);
	options.options.size = 1 << 20;
	assert_int_equal(tcptuned_streams_conclude(&options.options, &result.result), -E2BIG);
	options.options.size = 0; /* forgotten */
	assert_int_equal(tcptuned_streams_conclude(&options.options, &result.result), -EINVAL);
	/* What is behind the members of an earlier version is neither read nor written. */
	options.options.size = offsetof(struct tcptuned_streams_options, gain_min);
	options.options.gain_min = 2;
	result.result.size = offsetof(struct tcptuned_streams_result, fastest_rate);
	result.result.fastest = 0;
	result.result.fastest_rate = -1;
	assert_int_equal(tcptuned_streams_conclude(&options.options, &result.result), 0);
	assert_int_equal(result.result.fastest, 1);
	assert_true(result.result.fastest_rate == -1);
	assert_int_equal(result.result.size,
			 offsetof(struct tcptuned_streams_result, fastest_rate));
	options.options.size = sizeof(options.options);
	assert_int_equal(tcptuned_streams_conclude(&options.options, &result.result), -EINVAL);
}
