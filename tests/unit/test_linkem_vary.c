// SPDX-License-Identifier: GPL-2.0-only
/* Links that vary: schedules, traces, jitter, bursts of loss, reordering, CE marks, policers. */
#include "linkem.h"
#include "delay.h"

static struct step steps[] = {
	{.at_ns = 0, .rate_bps = 100000000, .delay_ns = 10 * MS, .limit_bytes = 100000},
	{.at_ns = 10 * MS, .rate_bps = 1000000, .delay_ns = 50 * MS, .limit_bytes = 3000},
	{.at_ns = 40 * MS, .rate_bps = 12000000, .delay_ns = 5 * MS, .limit_packets = 4},
};
static const struct schedule schedule = {.steps = steps, .count = ARRAY_SIZE(steps)};

/* Returns the integral of the rate. */
static uint64_t scheduled_bits_by(uint64_t ns)
{
	double bits = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(steps) && steps[i].at_ns < ns; i++) {
		uint64_t end = ns;

		if (i + 1 < ARRAY_SIZE(steps) && steps[i + 1].at_ns < ns)
			end = steps[i + 1].at_ns;
		bits += (double)(end - steps[i].at_ns) * (double)steps[i].rate_bps / 1e9;
	}
	return (uint64_t)bits;
}

TEST(scheduled_rate_is_exact)
{
	struct rate_clock clock = {0};
	uint64_t bits = 0;

	while (clock.busy_until_ns < 80 * MS) {
		uint32_t bytes = 40 + random() % 1461;
		uint64_t ns = schedule_send(&schedule, &clock, 0, bytes);

		bits += bytes * 8;
		assert_near(bits, scheduled_bits_by(ns), 2);
	}
}

/* Packets that wait when the rate falls leave at the new rate, and new limits hold. */
TEST(queue_follows_its_schedule)
{
	struct queue q =
		queue_of(.rate_bps = 100000000, .limit_bytes = 100000, .schedule = schedule);

	assert_int_equal(offer(&q, START_NS, 1250), VERDICT_PASS);
	assert_int_equal(offered.depart_ns, START_NS + 100000);
	/* 9.95 ms: 625 bytes of the first are out at 10 ms, the rest and the next at 1 Mbit/s */
	for (int i = 0; i < 2; i++)
		assert_int_equal(offer(&q, START_NS + 9950000, 1250), VERDICT_PASS);
	assert_int_equal(offered.depart_ns, START_NS + 25 * MS);
	assert_int_equal(offer(&q, START_NS + 10 * MS, 500), VERDICT_PASS);
	assert_int_equal(offered.queued_bytes, 3000);
	assert_int_equal(offer(&q, START_NS + 10 * MS, 40), VERDICT_FULL);
	for (int i = 0; i < 6; i++)
		assert_int_equal(offer(&q, START_NS + 40 * MS, 1500),
				 i < 4 ? VERDICT_PASS : VERDICT_FULL);
	assert_int_equal(offered.depart_ns, START_NS + 44 * MS);
	assert_int_equal(queue_fastest_bps(&q.config), 100000000);
}

static int read_text(const char *text, struct trace *ret)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	int err = trace_read(in, ret);

	fclose(in);
	return err;
}

TEST(trace_opportunities)
{
	struct trace_clock clock = {0};
	struct trace t;

	assert_int_equal(read_text("0\n5\n5\n9\n10\n", &t), 0);
	assert_int_equal(t.count, 5);
	assert_int_equal(t.period_ns, 10 * MS);
	assert_int_equal(trace_mean_bps(&t), 6000000);
	/* two of half the size share one, a longer one goes over the end */
	assert_int_equal(trace_send(&t, &clock, 0, 750), 0);
	assert_int_equal(trace_send(&t, &clock, 0, 750), 0);
	assert_int_equal(trace_send(&t, &clock, 0, 1500), 5 * MS);
	assert_int_equal(trace_send(&t, &clock, 0, 1600), 9 * MS);
	assert_int_equal(trace_send(&t, &clock, 0, 1400), 9 * MS);
	/* 10 ms is the last of the first period, and the first of the second one */
	assert_int_equal(trace_send(&t, &clock, 0, 1500), 10 * MS);
	assert_int_equal(trace_send(&t, &clock, 0, 1500), 10 * MS);
	assert_int_equal(trace_send(&t, &clock, 0, 1500), 15 * MS);
	/* what is not used is lost */
	assert_int_equal(trace_send(&t, &clock, 15 * MS + 1, 1500), 19 * MS);
	assert_int_equal(trace_send(&t, &clock, 1000 * MS + 1, 1500), 1005 * MS);
	assert_int_equal(trace_send(&t, &clock, 1000 * MS + 1, 3000), 1009 * MS);
	assert_int_equal(trace_max_bytes(&t, 0), 3000);
	assert_int_equal(trace_max_bytes(&t, 5 * MS), 7500); /* 5, 5, 9, 10, 10 */
	trace_free(&t);
}

/* A link that is never idle delivers in each millisecond exactly what the trace allows. */
TEST(trace_bytes_per_ms)
{
	enum { PERIOD = 997, PERIODS = 3 };
	static uint64_t want[PERIOD * PERIODS + 1], got[PERIOD * PERIODS + 1];
	struct trace_clock clock = {0};
	uint64_t sum_want = 0, sum_got = 0, last = 0;
	char *text = malloc(PERIOD * 40), *at = text;
	struct trace t;

	for (unsigned int ms = 0; ms <= PERIOD; ms++) {
		unsigned int lines = ms == PERIOD ? 1 : random() % 5;

		for (unsigned int i = 0; i < lines; i++)
			at += sprintf(at, "%u\n", ms);
		for (unsigned int p = 0; p < PERIODS; p++)
			want[p * PERIOD + ms] += lines * 1500;
	}
	assert_int_equal(read_text(text, &t), 0);
	while (last < PERIOD * PERIODS) {
		uint32_t bytes = 40 + random() % 1461;

		last = trace_send(&t, &clock, 0, bytes) / MS;
		if (last <= PERIOD * PERIODS)
			got[last] += bytes;
	}
	/* a segment counts when its last byte is out: up to one of them is not whole yet */
	for (unsigned int ms = 0; ms < PERIOD * PERIODS; ms++) {
		sum_want += want[ms];
		sum_got += got[ms];
		assert_in_range(sum_want - sum_got, 0, 1499);
	}
	trace_free(&t);
	free(text);
}

TEST(trace_in_a_queue)
{
	struct trace t;
	struct queue q;

	assert_int_equal(read_text("1\n2\n4\n8\n", &t), 0);
	q = queue_of(.rate_bps = trace_mean_bps(&t), .limit_packets = 3, .trace = &t);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(offer(&q, START_NS, 1500), i < 3 ? VERDICT_PASS : VERDICT_FULL);
	assert_int_equal(offered.arrive_ns, START_NS);
	assert_int_equal(offer(&q, START_NS + MS, 1500), VERDICT_PASS);
	assert_int_equal(offered.depart_ns, START_NS + 8 * MS);
	trace_free(&t);
}

TEST(bad_traces)
{
	static const char *const bad[] = {"\n",	  "0\n",   "5\n4\n",	    "1\nx\n",
					  "-1\n", "1.5\n", "10000000000\n", " 1\n"};
	struct trace t;

	for_each_row (text, bad) {
		assert_int_equal(read_text(*text, &t), -EINVAL);
		assert_null(t.at_ns);
	}
	assert_int_equal(read_text("1\r\n2", &t), 0);
	assert_int_equal(t.count, 2);
	trace_free(&t);
}

static struct delay_line make_line(struct delay_config config)
{
	struct delay_line line;

	delay_line_init(&line, &config);
	return line;
}

#define line_of(fields...) make_line((struct delay_config){fields})

struct moments {
	double mean, deviation, least, most;
};

static struct moments draws_of(struct jitter jitter, uint64_t seed)
{
	struct delay_line line = line_of(.jitter = jitter, .seed = seed);
	struct moments m = {.least = INFINITY};
	double squares = 0;
	enum { DRAWS = 200000 };

	for (uint64_t i = 0; i < DRAWS; i++) {
		uint64_t ns = i * jitter.every_ns, one = delay_line_jitter_ns(&line, ns);
		double ms = (double)one / MS;

		/* one draw in a period */
		assert_int_equal(one, delay_line_jitter_ns(&line, ns + jitter.every_ns - 1));
		assert_true(one <= line.max_ns);
		m.mean += ms / DRAWS;
		squares += ms * ms / DRAWS;
		m.least = fmin(m.least, ms);
		m.most = fmax(m.most, ms);
	}
	m.deviation = sqrt(squares - m.mean * m.mean);
	return m;
}

TEST(jitter_draws)
{
	static const struct {
		enum jitter_kind kind;
		uint64_t amount_ms; /* drawn every 20 ms */
		double mean, mean_error, deviation, deviation_error, most, most_error;
	} rows[] = {
		/* 80 / sqrt(12); four standard errors of 200,000 draws are 0.21 ms */
		{JITTER_UNIFORM, 80, 40, 0.21, 23.094, 0.2, 80, 0.01},
		/* the tail beyond ten means would add 0.0005 means */
		{JITTER_EXPONENTIAL, 40, 39.998, 0.36, 40, 0.7, 400, 1},
	};

	for_each_row (r, rows) {
		struct jitter jitter = {
			.kind = r->kind, .amount_ns = r->amount_ms * MS, .every_ns = 20 * MS};
		struct moments m = draws_of(jitter, 5);

		assert_near(m.mean, r->mean, r->mean_error);
		assert_near(m.deviation, r->deviation, r->deviation_error);
		assert_near(m.least, 0, 0.01);
		assert_near(m.most, r->most, r->most_error);
		assert_true(m.mean == draws_of(jitter, 5).mean);
		assert_true(m.mean != draws_of(jitter, 6).mean);
	}
}

TEST(jitter_onoff)
{
	struct jitter jitter = {JITTER_ONOFF, .amount_ns = 60 * MS, .on_ns = 50 * MS,
				.every_ns = 200 * MS};
	struct delay_line line = line_of(.delay_ns = 10 * MS, .jitter = jitter);

	assert_int_equal(delay_line_send(&line, 0), 70 * MS);
	assert_int_equal(delay_line_send(&line, 50 * MS - 1), 120 * MS - 1);
	/* nothing overtakes: until 110 ms what came before is still under way */
	assert_int_equal(delay_line_send(&line, 50 * MS), 120 * MS - 1);
	assert_int_equal(delay_line_send(&line, 109 * MS), 120 * MS - 1);
	assert_int_equal(delay_line_send(&line, 110 * MS), 120 * MS);
	assert_int_equal(delay_line_send(&line, 199 * MS), 209 * MS);
	assert_int_equal(delay_line_send(&line, 200 * MS), 270 * MS);
	assert_int_equal(line.min_ns, 10 * MS);
	assert_int_equal(line.max_ns, 70 * MS);
}

/* Jitter and a schedule never reorder, and no delay exceeds the line's maximum. */
TEST(order_is_kept)
{
	struct jitter jitter = {JITTER_EXPONENTIAL, .amount_ns = 7 * MS, .every_ns = 3 * MS};
	struct delay_line line =
		line_of(.delay_ns = 10 * MS, .schedule = schedule, .seed = 3, .jitter = jitter);
	uint64_t last = 0, held = 0;

	assert_int_equal(line.min_ns, 5 * MS);
	assert_int_equal(line.max_ns, 120 * MS);
	for (uint64_t ns = 0; ns < 1000 * MS; ns += random() % 100000) {
		uint64_t due = delay_line_send(&line, ns);
		uint64_t own =
			ns + schedule_at(&schedule, ns)->delay_ns + delay_line_jitter_ns(&line, ns);

		assert_int_equal(due, own > last ? own : last);
		assert_in_range(due - ns, line.min_ns, line.max_ns);
		held += own < last;
		last = due;
	}
	assert_in_range(held, 1000, 20000); /* of 20,000 */
}

TEST(reordering_rate)
{
	struct delay_line line =
		line_of(.delay_ns = MS, .reorder = 0.02, .reorder_ns = 4 * MS, .seed = 9);
	unsigned int n = 1000000, reordered = 0, pairs = 0;
	bool before = false;

	assert_int_equal(line.max_ns, 5 * MS);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t later = delay_line_reorder_ns(&line);

		assert_true(!later || later == 4 * MS);
		reordered += later > 0;
		pairs += later && before;
		before = later;
	}
	assert_near(reordered, n * 0.02, 4 * sqrt(n * 0.02 * 0.98));
	assert_near(pairs, n * 0.0004, 4 * sqrt(n * 0.0004));
}

TEST(bursts_of_loss)
{
	static const struct bursts models[] = {
		{.enter = 0.001, .leave = 0.2},
		{.enter = 0.01, .leave = 0.1},
		{.enter = 0.02, .leave = 0.5},
	};

	for_each_row (m, models) {
		struct queue q = queue_of(.rate_bps = 10000000000, .limit_packets = 10,
					  .bursts = *m, .seed = 11);
		double share = m->enter / (m->enter + m->leave), n = 4000000;
		unsigned int lost = 0, bursts = 0;
		bool before = false;

		for (unsigned int k = 0; k < n; k++) {
			bool now = offer(&q, START_NS + k * 2000ull, 1500) == VERDICT_BURST;

			lost += now;
			bursts += now && !before;
			before = now;
		}
		/* neighbours depend on one another: bursts / (share of loss) losses count as one */
		assert_near(lost / n, share, 4 * share * sqrt(2 / m->leave / n / share));
		assert_near((double)lost / bursts, 1 / m->leave, 4 / m->leave / sqrt(bursts));
	}
}

TEST(marks_above_a_threshold)
{
	static const struct queue_config configs[] = {
		{.rate_bps = 100000000, .limit_packets = 100, .mark_packets = 20},
		{.rate_bps = 100000000, .limit_packets = 100, .mark_bytes = 30000},
		{.rate_bps = 100000000, .limit_packets = 100},
	};
	struct queue q[ARRAY_SIZE(configs)];

	for_each_row (config, configs) {
		q[test_row] = make_queue(*config);
		for (int i = 1; i <= 100; i++) {
			assert_int_equal(offer(&q[test_row], START_NS, 1500), VERDICT_PASS);
			assert_int_equal(offered.mark, test_row < 2 && i > 20);
		}
	}
	/* 81 have left: 19 and this one */
	assert_int_equal(offer(&q[0], START_NS + 81 * 120000, 1500), VERDICT_PASS);
	assert_int_equal(offered.queued_packets, 20);
	assert_false(offered.mark);
}

TEST(policer)
{
	struct queue q = queue_of(.rate_bps = 1000000000, .limit_packets = 100,
				  .police_bps = 12000000, .police_bytes = 15000);
	uint64_t passed = 0, now = START_NS;

	/* ten at once, and one more each ms */
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(offer(&q, now, 1500), i < 10 ? VERDICT_PASS : VERDICT_POLICED);
	assert_int_equal(offer(&q, now + MS - 1, 1500), VERDICT_POLICED);
	assert_int_equal(offer(&q, now + MS, 1500), VERDICT_PASS);
	assert_int_equal(offer(&q, now + MS, 40), VERDICT_POLICED);
	/* 10 s of about 40 Mbit/s */
	now += 1000 * MS;
	for (uint64_t end = now + 10000 * MS; now < end; now += random() % 600000)
		if (offer(&q, now, 1500) == VERDICT_PASS)
			passed += 1500;
	assert_near(passed, 15000000 + 15000, 1500);
}

TEST(policer_of_each_flow)
{
	struct queue q = queue_of(.rate_bps = 1000000000, .limit_packets = 100,
				  .police_bps = 12000000, .police_bytes = 15000,
				  .police_flows = true);

	for (unsigned int i = 0; i < 60; i++)
		assert_int_equal(queue_offer(&q, START_NS, 1500, true, i % 2 ? 0 : 65535, &offered),
				 i < 20 ? VERDICT_PASS : VERDICT_POLICED);
	assert_int_equal(queue_offer(&q, START_NS, 1500, true, 7, &offered), VERDICT_PASS);
}
