// SPDX-License-Identifier: GPL-2.0-only
/*
 * rightsize.h in the packet model of rightsize_model.h, with CUBIC: the goodput and RTT of a
 * connection, compared with one that the kernel sizes. The bounds are those of the documentation.
 */
#include "test.h"
#include "rightsize_model.h"
#include "tcptuned/algo/unsent.h"

#define START_US 5000000000ull
#define SEEDS	 8
#define ENDS	 3

static const enum receiver ends[ENDS] = {RIGHTSIZED, RIGHTSIZED_SENDER, RIGHTSIZED_BOTH};

TEST(alone_in_a_deep_queue)
{
	static const struct path paths[] = {{10, 20, 0.8}, {100, 5, 0.2}, {100, 20, 0.4}};

	for_each_row (p, paths)
		for_each_row (end, ends)
			for (uint64_t seed = 1; seed <= SEEDS; seed++) {
				model_begin(p, seed);
				model_add(*end, 0);
				/* The queue grows until a loss; a second later a test is prepared. */
				model_run(5);
				assert_true(model_goodput(13) >= 0.98 * p->mbit * MBIT);
				assert_true(model_mean_rtt_ms() <= 2.2 * p->base_ms);
			}
}

/*
 * Connections that share a deep queue and test at the same time: each shortens it for all. Their
 * receivers offer unlike multiples of what is in flight.
 */
TEST(several_in_a_deep_queue)
{
	for (unsigned int flows = 2; flows <= 8; flows *= 2)
		for_each_row (end, ends) {
			model_begin(&(struct path){1000, 10, 0.16}, 1);
			for (unsigned int i = 0; i < flows; i++)
				model_add(*end, 0.001 * i)->offered = 2 + 0.75 * ((7 * i + 3) % 8);
			model_run(7);
			model_run(10);
			assert_true(model_mean_rtt_ms() <= 30);
		}
}

/*
 * The bytes of an interval exceed 31 bits, and in the third row 32. With windows of 256 MiB, which the README
 * names, the queue on a path of 10 Gbit/s and 100 ms is too short for a test. With larger ones it is not, and
 * 7/4 of rate x minimum RTT are held. In a data centre, the last row, an interval has 262 ms.
 */
TEST(more_than_31_bits_in_an_interval)
{
	struct {
		struct path path;
		double kernel_max, until_s, held;
	} rows[] = {{{10000, 100, 0.5}, 256 << 20, 6, 0},
		    {{10000, 100, 0.5}, 512 << 20, 16, 218.75e6},
		    {{10000, 200, 0.5}, 512 << 20, 13, 0},
		    {{100000, 0.1, 0.001}, 256 << 20, 1, 0}};

	for_each_row (r, rows)
		for_each_row (end, ends) {
			double rate = r->path.mbit * MBIT;
			const struct rightsize *rs;
			struct model_flow *f;

			model_begin(&r->path, 1);
			model.kernel_max = r->kernel_max;
			f = model_add(*end, 0);
			rs = *end == RIGHTSIZED_SENDER ? &f->snd : &f->rs;
			model_run(r->until_s);
			assert_in_range(rs->rate, 0.99 * rate, 1.01 * rate);
			assert_int_equal(rs->state, r->held ? RIGHTSIZE_HOLDING : RIGHTSIZE_FREE);
			assert_in_range(rs->window, 0.99 * r->held, 1.01 * r->held);
		}
}

static double under_jitter(const struct path *p, enum receiver end, const struct jitter *jitter,
			   uint64_t seed)
{
	struct delay_config config = {.seed = seed, .jitter = *jitter};
	struct delay_line line;

	model_begin(p, seed);
	delay_line_init(&line, &config);
	model.jitter = &line;
	model_add(end, 0);
	model_run(2);
	return model_goodput(14);
}

TEST(a_delay_that_varies)
{
	static const struct path paths[] = {{100, 20, 0.32}, {300, 5, 0.1}};
	static const struct jitter kinds[] = {
		{.kind = JITTER_UNIFORM, .amount_ns = 80 * MS, .every_ns = 20 * MS},
		{.kind = JITTER_EXPONENTIAL, .amount_ns = 40 * MS, .every_ns = 20 * MS},
		{.kind = JITTER_ONOFF, .amount_ns = 60 * MS, .every_ns = 200 * MS},
	};

	for_each_row (p, paths)
		for_each_row (kind, kinds) {
			double kernel = 0, tuned[ENDS] = {0};

			for (uint64_t seed = 1; seed <= SEEDS; seed++) {
				kernel += under_jitter(p, KERNEL, kind, seed);
				for_each_row (end, ends)
					tuned[test_row] += under_jitter(p, *end, kind, seed);
			}
			for_each_row (carried, tuned)
				assert_true(*carried >= 0.95 * kernel);
		}
}

/* Returns the goodput for 5 s, from ten RTTs after the path became ten times longer. */
static double on_a_longer_path(const struct path *p, enum receiver end, uint64_t seed)
{
	double at = 5 + 0.037 * (double)seed;

	model_begin(p, seed);
	model_schedule(at, p->mbit * MBIT, 10 * p->base_ms);
	model_add(end, 0);
	model_run(at + 0.1 * p->base_ms);
	return model_goodput(at + 0.1 * p->base_ms + 5);
}

TEST(a_longer_path)
{
	static const struct path paths[] = {{200, 10, 0.32}, {100, 5, 0.4}};

	for_each_row (p, paths)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			double kernel = on_a_longer_path(p, KERNEL, seed);

			for_each_row (end, ends)
				assert_true(on_a_longer_path(p, *end, seed) >= 0.9 * kernel);
		}
}

/*
 * A hold on a path that becomes longer by less than what a hold notices in a round: it measures the minimum RTT
 * again. Of the kernel's rate it carries 95 % from 10 s after the change on.
 */
TEST(a_slightly_longer_path)
{
	static const double factors[] = {1.5, 2, 2.4, 4};

	for_each_row (factor, factors)
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			for_each_row (end, ends) {
				model_begin(&(struct path){50, 20, 0.4}, seed);
				model_schedule(12 + 0.037 * (double)seed, 50 * MBIT, 20 * *factor);
				model_add(*end, 0);
				model_run(23);
				assert_true(model_goodput(48) >= 0.95 * 50 * MBIT);
			}
}

/* The loaded path never shows the RTT of the handshake again, and then the link becomes four times as fast. */
TEST(an_rtt_that_is_never_seen_again)
{
	static const double factors[] = {1, 1.3, 1.7, 2.4};

	for_each_row (factor, factors)
		for_each_row (end, ends) {
			struct model_flow *f;

			model_begin(&(struct path){20, 45, 1}, 1);
			model_schedule(12, 80 * MBIT, 45);
			f = model_add(*end, 0);
			model_run(0.2);
			f->rs.min_rtt_us = f->snd.min_rtt_us = (uint32_t)(45000 / *factor);
			model_run(22);
			assert_true(model_goodput(40) >= 0.95 * 80 * MBIT);
		}
}

/* An earlier connection to the host was slow. This one's path is fast, and its RTT above the handshake's. */
TEST(a_path_that_was_slow)
{
	static const double factors[] = {1, 1.4, 2.4};

	for_each_row (factor, factors) {
		struct model_flow *f;

		model_begin(&(struct path){100, 45, 0.1}, 1);
		f = model_add(RIGHTSIZED, 0);
		model_run(0.001);
		f->rs.min_rtt_us = (uint32_t)(45000 / *factor);
		rightsize_begin_held(&f->rs, WINDOW_MIN);
		f->clamp = WINDOW_MIN;
		f->edge = f->edge_bytes = WINDOW_MIN;
		model_run(1);
		assert_true(model_goodput(10) >= 0.95 * 100 * MBIT);
	}
}

/*
 * What exceeds the kernel's own maximum, 3 MB, is earned: in a queue of 20 MB the first six seconds are those of
 * the kernel alone, and a long path gets what it needs.
 */
TEST(the_first_seconds)
{
	for_each_row (end, ends) {
		double goodput, rtt;

		model_begin(&(struct path){1000, 10, 0.16}, 1);
		model.former_max = 3e6;
		model_add(KERNEL, 0);
		goodput = model_goodput(6);
		rtt = model_mean_rtt_ms();
		model_begin(&(struct path){1000, 10, 0.16}, 1);
		model.former_max = 3e6;
		model_add(*end, 0);
		assert_true(model_goodput(6) >= 0.98 * goodput);
		assert_true(model_mean_rtt_ms() <= 1.2 * rtt);
		if (*end != RIGHTSIZED_BOTH) /* the other end has the kernel's maximum */
			continue;
		model_begin(&(struct path){1000, 100, 0.1}, 1);
		model_add(KERNEL, 0);
		goodput = model_goodput(6);
		model_begin(&(struct path){1000, 100, 0.1}, 1);
		model.former_max = 3e6;
		model_add(*end, 0);
		assert_true(model_goodput(6) >= 0.97 * goodput);
	}
}

/* Returns the RTT in ms, a minute after the link became 64 times slower. */
static double on_a_slower_link(enum receiver end, uint64_t seed)
{
	model_begin(&(struct path){100, 20, 0.32}, seed);
	model_schedule(5 + 0.037 * (double)seed, 100 * MBIT / 64, 20);
	model_add(end, 0);
	model_run(60);
	model_run(70);
	return model_mean_rtt_ms();
}

TEST(a_slower_link)
{
	double kernel = on_a_slower_link(KERNEL, 1);

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		for_each_row (end, ends)
			assert_true(on_a_slower_link(*end, seed) < kernel / 20);
}

/* A link that became eight times faster: the window grows as the queue empties (DRS III.B). */
TEST(a_faster_link)
{
	for_each_row (end, ends) {
		const struct rightsize *rs;

		model_begin(&(struct path){50, 20, 0.8}, 1);
		model_schedule(8, 400 * MBIT, 20);
		model_add(*end, 0);
		model_run(8);
		rs = *end == RIGHTSIZED_SENDER ? &model.flow[0].snd : &model.flow[0].rs;
		assert_int_equal(rs->state, RIGHTSIZE_HOLDING);
		model_run(14);
		assert_true(model_goodput(18) >= 0.95 * 400 * MBIT);
	}
}

static double on_a_cellular_link(enum receiver end, uint64_t seed)
{
	model_begin(&(struct path){8, 40, 1.5}, seed);
	model_add(end, 0);
	model_walk(seed);
	return model_goodput(20);
}

/* As much as with the kernel's windows, on average of many links, at a lower RTT. */
TEST(a_rate_that_varies)
{
	for_each_row (end, ends) {
		double carried = 0, rtt = 0;

		for (uint64_t seed = 1; seed <= 8 * SEEDS; seed++) {
			double kernel = on_a_cellular_link(KERNEL, seed),
			       kernel_rtt = model_mean_rtt_ms();

			carried += on_a_cellular_link(*end, seed) / kernel;
			rtt += model_mean_rtt_ms() / kernel_rtt;
		}
		assert_true(carried >= 0.95 * 8 * SEEDS);
		assert_true(rtt <= 8 * SEEDS);
	}
}

/* Returns the goodput of a connection that joins one which the kernel sizes. */
static double next_to_untuned(const struct path *p, enum receiver end, uint64_t seed)
{
	model_begin(p, seed);
	model_add(end, 0.5 + 0.013 * (double)seed);
	model_add(KERNEL, seed & 1 ? 0 : 0.5);
	model_run(3);
	return model_goodput(23);
}

TEST(next_to_an_untuned_connection)
{
	static const struct path paths[] = {{100, 20, 0.4}, {100, 20, 0.1}, {10, 20, 0.8}};
	double kernel = 0, tuned[ENDS] = {0};

	for_each_row (p, paths)
		for (uint64_t seed = 1; seed <= SEEDS + 1; seed++) {
			kernel += next_to_untuned(p, KERNEL, seed) / p->mbit;
			for_each_row (end, ends)
				tuned[test_row] += next_to_untuned(p, *end, seed) / p->mbit;
		}
	for_each_row (carried, tuned)
		assert_true(*carried >= 0.8 * kernel);
}

/* A loss ends a test without a result: the window is the kernel's again, or the one held before. */
TEST(a_loss_puts_a_test_off)
{
	struct rightsize_ack ack = {.offered = RIGHTSIZE_WINDOW_MAX, .min = WINDOW_MIN};
	struct rightsize *rs, held;

	model_begin(&(struct path){100, 20, 0.4}, 1);
	rs = &model_add(RIGHTSIZED, 0)->rs;
	for (double at = 0; rs->state != RIGHTSIZE_TESTING && at < 10; at += 0.01)
		model_run(at);
	assert_int_equal(rs->state, RIGHTSIZE_TESTING);
	ack.now_us = rs->seen_us + 1;
	ack.bytes = rs->interval_bytes;
	held = *rs;
	held.held = 100000;
	rightsize_on_ack(rs, &ack);
	assert_int_equal(rs->state, RIGHTSIZE_FREE);
	assert_int_equal(rs->window, 0);
	assert_int_equal(rs->failures + rs->inconclusive, 0);
	rightsize_on_ack(&held, &ack);
	assert_int_equal(held.state, RIGHTSIZE_HOLDING);
	assert_int_equal(held.window, 100000);
}

/* Carries @rate bytes per second from the beginning of an interval until @end, with two RTTs in turn. */
static void carry_until(struct rightsize *rs, uint64_t end, uint64_t rate, uint32_t rtt_us,
			uint32_t other_us)
{
	struct rightsize_ack ack = {
		.now_us = rs->seen_us, .bytes = rs->interval_bytes, .min = WINDOW_MIN};

	rs->min_rtt_us = 20000;
	for (int i = 0; ack.now_us < end; i++) {
		ack.now_us += 1000;
		ack.clock_us = ack.now_us;
		ack.bytes += rate / 1000;
		ack.sample_us = ack.rtt_us = i % 2 ? rtt_us : other_us;
		rightsize_on_ack(rs, &ack);
	}
}

/* Carries for one interval, and ends it. The minimum RTT is 20 ms, so that marks are 2^19 us apart. */
static void carry(struct rightsize *rs, uint64_t rate, uint32_t rtt_us, uint32_t other_us)
{
	carry_until(rs, (((rs->seen_us >> 19) + 1) << 19) + 1000, rate, rtt_us, other_us);
}

#define MARK_US (64ull << 20)
#define at_a_mark(fields...)                        \
	((struct rightsize){.min_rtt_us = 20000,    \
			    .seen_us = MARK_US,     \
			    .interval_us = MARK_US, \
			    .round_us = MARK_US,    \
			    .mark = 64u << 1,       \
			    fields})

/* A failed test postpones the next one by 4 s, unless the rate rises, also above that before the test. */
TEST(others_leave)
{
	struct {
		uint64_t rate, rate_before;
		unsigned int state;
	} rows[] = {{5000000, 5000000, RIGHTSIZE_FREE},
		    {6500000, 5000000, RIGHTSIZE_FREE},
		    {7000000, 7000000, RIGHTSIZE_FREE},
		    {7000000, 5000000, RIGHTSIZE_PREPARING}};

	for_each_row (r, rows) {
		struct rightsize rs =
			at_a_mark(.failures = 1, .rate = 5000000, .rate_before = r->rate_before);

		for (int i = 0; i < 3; i++)
			carry(&rs, 5000000, 80000, 80000);
		assert_int_equal(rs.state, RIGHTSIZE_FREE);
		carry(&rs, r->rate, 80000, 80000);
		assert_int_equal(rs.state, r->state);
	}
}

/*
 * Where the delay varies, its minimum in an interval is not the path's. It counts as a queue only
 * if it exceeds the path's by more than half of the range. The window before a test is 3/2 of what
 * is in flight, which is the rate x the mean RTT. An old connection prepares for its first test
 * unless the RTT has more than doubled, and waits for a later mark with its next ones.
 */
TEST(prepared)
{
	struct {
		uint32_t tests, before, low, high, window; /* window 0: not prepared */
	} rows[] = {{0, 60000, 60000, 60000, 450000},	 {0, 60000, 60000, 140000, 0},
		    {0, 100000, 100000, 140000, 900000}, {0, 80000, 155000, 155000, 1162500},
		    {0, 80000, 165000, 165000, 0},	 {1, 80000, 155000, 155000, 0}};

	for_each_row (r, rows) {
		struct rightsize rs = at_a_mark(.intervals = 200, .tests = r->tests,
						.test_rtt_us = r->before,
						.before_low_us = r->before);

		carry(&rs, 5000000, r->low, r->high);
		carry(&rs, 5000000, r->low, r->high);
		assert_int_equal(rs.state, r->window ? RIGHTSIZE_PREPARING : RIGHTSIZE_FREE);
		assert_in_range(rs.window, 0.98 * r->window, 1.02 * r->window);
	}
}

/* The growth of a queue does not count as a delay that varies. */
TEST(range_of_the_rtt)
{
	struct {
		uint32_t before, low, mean, range;
	} rows[] = {{60000, 60000, 100000, 80000},
		    {40000, 60000, 70000, 0},
		    {80000, 60000, 70000, 0},
		    {60000, 60000, 65500, 11000},
		    {50000, 60000, 80000, 30000}};

	for_each_row (r, rows) {
		struct rightsize rs = {.before_low_us = r->before,
				       .low_us = r->low,
				       .samples = 10,
				       .rtt_sum_us = 10 * r->mean};

		assert_int_equal(rightsize_range_us(&rs), r->range);
	}
}

/*
 * Half the window has been in effect for an RTT of 60 ms. Before it, 5 MB/s had 300 KB in flight. The
 * test passes if RTT and rate are those of a queue of its own, or if the rate fell while the link was
 * never idle, and not if more than the window is in flight.
 */
TEST(whose_queue)
{
	struct {
		uint32_t rate, rtt_us, silent_us;
		bool own;
	} rows[] = {{5000000, 30000, 20000, true},
		    {2500000, 60000, 20000, false},
		    {2500000, 60000, 5000, true},
		    {5000000, 60000, 5000, false}};

	for_each_row (r, rows) {
		struct rightsize rs = struct_of(rightsize, .rate = 5000000, .test_rtt_us = 60000,
						.window = 150000, .low_us = r->rtt_us,
						.samples = 10, .rtt_sum_us = 10 * r->rtt_us,
						.interval_us = 1000000,
						.interval_silent_us = r->silent_us);
		struct rightsize_ack ack = {.now_us = 1060000, .bytes = r->rate / 1000 * 60};

		assert_int_equal(rightsize_test_passes(&rs, &ack), r->own);
	}
}

/*
 * A probe on a path of 20 ms + 0..40 ms passes, and its hold covers the longest delay, also if the
 * delay is not longer than what the window itself causes. If it does not vary, the queue is of
 * others, and the probe fails, or the link has become slower and was never idle: the hold is then
 * 7/4 of its new rate x the minimum RTT.
 */
TEST(probe_where_the_delay_varies)
{
	struct {
		uint32_t range, window, low, high, silent_us;
		unsigned int state;
		uint32_t held;
	} rows[] = {{40000, 50000, 60000, 60000, 10000, RIGHTSIZE_HOLDING, 600000},
		    {40000, 50000, 20000, 20000, 10000, RIGHTSIZE_HOLDING, 175000},
		    {40000, 150000, 20000, 40000, 10000, RIGHTSIZE_HOLDING, 600000},
		    {40000, 150000, 30000, 30000, 10000, RIGHTSIZE_HOLDING, 175000},
		    {0, 50000, 60000, 60000, 10000, RIGHTSIZE_FREE, 0},
		    {0, 50000, 60000, 60000, 5000, RIGHTSIZE_HOLDING, 87500}};

	for_each_row (r, rows) {
		struct rightsize rs = at_a_mark(.rate = 5000000, .range_us = r->range,
						.test_rtt_us = 60000, .window = r->window);

		rightsize_enter(&rs, RIGHTSIZE_PROBE_RTT, rs.seen_us);
		rs.waiting = 0;
		rs.interval_silent_us = r->silent_us;
		carry(&rs, 2500000, r->low, r->high);
		assert_int_equal(rs.state, r->state);
		assert_in_range(rs.held, 0.98 * r->held, 1.02 * r->held);
	}
}

/* A probe ends with the second sample, or with the eighth where the delay varies by more than 20 ms. */
TEST(samples_of_a_probe)
{
	struct {
		uint32_t range, samples;
		unsigned int state;
	} rows[] = {{20000, 0, RIGHTSIZE_PROBE_RTT},
		    {20000, 1, RIGHTSIZE_HOLDING},
		    {40000, 6, RIGHTSIZE_PROBE_RTT},
		    {40000, 7, RIGHTSIZE_HOLDING}};

	for_each_row (r, rows) {
		struct rightsize rs = at_a_mark(.rate = 5000000, .range_us = r->range,
						.test_rtt_us = 60000, .window = 50000,
						.samples = r->samples,
						.rtt_sum_us = 20000ull * r->samples);
		struct rightsize_ack ack = {
			.now_us = MARK_US + 200000, .sample_us = 20000, .min = WINDOW_MIN};

		rightsize_enter(&rs, RIGHTSIZE_PROBE_RTT, rs.seen_us);
		rs.waiting = 0;
		rightsize_on_ack(&rs, &ack);
		assert_int_equal(rs.state, r->state);
	}
}

/* A test at whose end the link is more than twice as fast: the hold is 7/4 of the new rate x minimum RTT. */
TEST(a_link_that_becomes_faster_during_a_test)
{
	struct {
		uint32_t rate, held;
	} rows[] = {{5000000, 175000}, {9900000, 175000}, {12000000, 420000}, {40000000, 1400000}};

	for_each_row (r, rows) {
		struct rightsize rs =
			at_a_mark(.rate = 5000000, .test_rtt_us = 60000, .window = 150000);

		rightsize_enter(&rs, RIGHTSIZE_TESTING, rs.seen_us);
		carry(&rs, r->rate, 20000, 20000);
		assert_int_equal(rs.state, RIGHTSIZE_HOLDING);
		assert_in_range(rs.held, 0.98 * r->held, 1.02 * r->held);
	}
}

/* A hold whose queue is empty doubles after 16 RTTs of 20 ms, or after 4 if the rate exceeds 5/4. */
TEST(a_hold_on_a_faster_link)
{
	struct {
		uint32_t rate, before, held;
	} rows[] = {{5000000, 4100000, 100000}, {5000000, 3900000, 200000}};

	for_each_row (r, rows) {
		struct rightsize rs = at_a_mark(.held = 100000, .window = 100000, .rate = r->rate,
						.rate_before = r->before, .before_low_us = 20000,
						.path_rtt_us = 20000);

		rightsize_enter(&rs, RIGHTSIZE_HOLDING, rs.seen_us);
		carry_until(&rs, rs.seen_us + 200000, r->rate, 20000, 20000);
		assert_in_range(rs.held, 0.9 * r->held, 1.02 * r->held);
	}
}

/* Tests begin at least four standing RTTs apart, but at most 4.2 s. */
TEST(marks_of_tests)
{
	struct {
		uint32_t rtt_us, apart_s;
	} rows[] = {{100000, 1}, {400000, 2}, {900000, 4}, {2000000, 4}};

	for_each_row (r, rows) {
		struct rightsize rs = {.low_us = r->rtt_us};

		for (uint32_t mark = 1; mark <= 8; mark++) {
			rs.mark = mark - 1;
			assert_int_equal(rightsize_is_test_mark(&rs, mark, RIGHTSIZE_TEST_SHIFT),
					 mark % r->apart_s == 0);
		}
	}
}

/*
 * Beyond the kernel's maximum a window is twice what the fastest round carried, eight times while that grows,
 * by the minimum RTT. That of a receiver is at least 2 ms, so the kernel's own counts below.
 */
TEST(an_earned_window)
{
	struct {
		uint64_t rate;
		uint32_t rtt_us, steady, window;
	} rows[] = {{125000000, 0, 15, 5000000},
		    {125000000, 20000, 15, 5000000},
		    {125000000, 20000, 2, 20000000},
		    {125000000, 20000, 3, 5000000},
		    {5000000000, 100, 15, 1000000},
		    {5000000000, 2000, 15, 200000000},
		    {RIGHTSIZE_RATE_MAX, 20000, 15, 1 << 30}};

	for_each_row (r, rows) {
		struct rightsize rs = {
			.min_rtt_us = 20000, .rate_best = r->rate, .steady = r->steady & 15};

		assert_int_equal(rightsize_earned(&rs, r->rtt_us), r->window);
	}
}

/* After two marks a hold grows by the factor that its rate lacks, at most 2, or by a quarter. */
TEST(a_hold_that_is_too_small)
{
	struct {
		uint64_t rate;
		uint32_t held;
	} rows[] = {{2500000, 200000}, {3300000, 150000}, {4000000, 125000}, {4900000, 100000}};

	for_each_row (r, rows) {
		struct rightsize rs = at_a_mark(.rate_before = 5000000, .held = 100000,
						.window = 100000, .path_rtt_us = 40000);

		rightsize_enter(&rs, RIGHTSIZE_HOLDING, rs.seen_us + (1 << 19));
		carry(&rs, r->rate, 30000, 40000);
		assert_int_equal(rs.held, 100000); /* the other end may still test */
		carry(&rs, r->rate, 30000, 40000);
		assert_int_equal(rs.held, r->held);
	}
}

/* A hold at a mark, whose window was set a second ago. */
static struct rightsize holding(uint32_t held, uint32_t path_rtt_us, uint64_t rate_before)
{
	struct rightsize rs = at_a_mark(.held = held, .window = held, .path_rtt_us = path_rtt_us,
					.rate_before = rate_before);

	rightsize_enter(&rs, RIGHTSIZE_HOLDING, rs.seen_us - (1 << 20));
	return rs;
}

/*
 * Where the delay varies, a hold that carries less than 31/32 of the former rate grows by a
 * quarter, if some RTT is below that of the path.
 */
TEST(a_hold_that_leaves_a_varying_path_idle)
{
	struct {
		uint32_t path_rtt_us, low_us, rate, held;
	} rows[] = {{40000, 35000, 4800000, 250000},
		    {40000, 35000, 4900000, 200000},
		    {40000, 45000, 4500000, 200000},
		    {29000, 28000, 4500000, 200000}};

	for_each_row (r, rows) {
		struct rightsize rs = holding(200000, r->path_rtt_us, 5000000);

		carry(&rs, r->rate, r->low_us, r->low_us + 5000);
		assert_int_equal(rs.held, r->held);
	}
}

/*
 * The link pauses until the queue of a hold of 7/4 of a bandwidth-delay product is empty. Where the delay
 * was constant, the window grows only if that happens in two intervals, or if the rate has suffered.
 */
TEST(a_pause_of_the_link)
{
	struct {
		uint32_t path_rtt_us, rate_before, pauses, held;
	} rows[] = {{20000, 5000000, 1, 175000},
		    {20000, 5000000, 2, 350000},
		    {20000, 5500000, 1, 350000},
		    {40000, 5000000, 1, 350000}};

	for_each_row (r, rows) {
		struct rightsize rs = holding(175000, r->path_rtt_us, r->rate_before);

		carry(&rs, 5000000, 35000, 35000);
		for (uint32_t i = 0; i < r->pauses; i++) {
			struct rightsize_ack ack = {.now_us = rs.seen_us + 1000,
						    .clock_us = rs.seen_us + 1000,
						    .bytes = rs.interval_bytes,
						    .sample_us = 20000,
						    .rtt_us = 35000};

			rightsize_on_ack(&rs, &ack);
			carry(&rs, 5000000, 35000, 35000);
		}
		assert_in_range(rs.held, 0.9 * r->held, r->held);
	}
}

static uint32_t any32(void)
{
	return (uint32_t)random64();
}

/* For any measurement there is no limit, or one that TCP can express and that is not too small. */
TEST(any_input)
{
	for (unsigned int i = 0; i < 300; i++) {
		struct rightsize rs = {0};
		uint64_t now = any32(), clock = any32();
		uint32_t bytes = any32();

		for (unsigned int j = 0; j < 3000; j++) {
			struct rightsize_ack ack;

			now += any32() % (j % 7 ? 3000 : 3000000);
			clock += any32() % 5000;
			if (j % 997 == 0)
				clock -= 1000000000; /* the clock is set */
			bytes += any32() % (j % 5 ? 100000 : 0x40000000);
			ack = struct_of(rightsize_ack, .now_us = now, .clock_us = clock,
					.bytes = bytes,
					.sample_us = any32() % 3 ? any32() % 300000 : any32(),
					.rtt_us = any32() % 400000, .min = WINDOW_MIN);
			rightsize_on_ack(&rs, &ack);
			assert_true(!rs.window ||
				    (rs.window >= WINDOW_MIN && rs.window <= RIGHTSIZE_WINDOW_MAX));
			assert_true(rs.state <= RIGHTSIZE_HOLDING);
			assert_true(rs.reason < RIGHTSIZE_REASONS);
			assert_true((rs.state == RIGHTSIZE_FREE) == !rs.window);
		}
	}
}

/* DRS II: twice what is read in a round trip, at most by half at a time. */
TEST(a_slow_reader)
{
	struct rightsize_reader reader = {0};
	struct rightsize_ack ack = {.now_us = START_US, .rtt_us = 40000, .min = WINDOW_MIN};
	uint32_t read = 7, offer = 4 << 20;

	for (unsigned int i = 0; i < 7; i++, ack.now_us += 40000, read += 1000)
		rightsize_weigh_reader(&reader, &ack, read, 8 << 20, offer);
	assert_int_equal(reader.window, 0); /* it may only be busy */
	for (unsigned int i = 0; i < 60; i++, ack.now_us += 40000, read += 1000) {
		uint32_t before = reader.window ? reader.window : 12 << 20;

		rightsize_weigh_reader(&reader, &ack, read, 8 << 20, offer);
		assert_true(!reader.window || reader.window >= before / 2);
		assert_true(!reader.window || reader.window <= before);
	}
	assert_true(reader.window && reader.window < 1 << 20);
	assert_true(reader.window >= WINDOW_MIN);
	/* It reads everything once, and finally always. */
	for (unsigned int i = 0; i < 16; i++) {
		rightsize_weigh_reader(&reader, &ack, read, i == 8 ? reader.window / 4 : 0, offer);
		assert_true(reader.window >= WINDOW_MIN);
	}
	rightsize_weigh_reader(&reader, &ack, read, 0, offer);
	assert_int_equal(reader.window, 0);
}

TEST(offer_and_unsent)
{
	assert_int_equal(rightsize_offer(1000000, 0, 2896), 1000000);
	assert_int_equal(rightsize_offer(1000000, 400000, 2896), 600000);
	assert_int_equal(rightsize_offer(1000000, 1000000, 2896), 2896);
	assert_int_equal(rightsize_offer(1000000, 5000000, 2896), 2896);
	assert_int_equal(rightsize_unsent(125000000, 100000, 0, 0), 125000000 / 80);
	assert_int_equal(rightsize_unsent(125000000, 1000, 0, 0), 500000); /* 4 ms */
	assert_int_equal(rightsize_unsent(1000, 100000, 0, 0), RIGHTSIZE_UNSENT_MIN);
	assert_int_equal(rightsize_unsent(~0ull >> 27, RIGHTSIZE_RTT_MAX_US, 0, 0),
			 RIGHTSIZE_WINDOW_MAX);
	assert_int_equal(rightsize_unsent(1ull << 60, 1, 0, 0),
			 RIGHTSIZE_RATE_MAX * 4000 / 1000000);
	/* more for an application that writes late, and at last no limit */
	assert_int_equal(rightsize_unsent(125000000, 100000, 0, 3), 125000000 / 10);
	assert_int_equal(rightsize_unsent(1000, 100000, 0, 1), 2 * RIGHTSIZE_UNSENT_MIN);
	assert_int_equal(rightsize_unsent(125000000, 100000, 0, RIGHTSIZE_LATE_MAX), 0);
	/* what an application asked for may be old, and no more */
	assert_int_equal(rightsize_unsent(125000000, 100000, 32768, 0), 32768);
	assert_int_equal(rightsize_unsent(1000, 100000, 4 << 20, 0), RIGHTSIZE_UNSENT_MIN);
	assert_int_equal(rightsize_unsent(125000000, 100000, 32768, RIGHTSIZE_LATE_MAX), 32768);
}
