// SPDX-License-Identifier: GPL-2.0-only
/*
 * rightsize.h in the packet model of rightsize_model.h, with CUBIC: the goodput and RTT of a
 * connection, compared with one that the kernel sizes. The bounds are those of the documentation.
 */
#include "test.h"
#include "rightsize_model.h"
#include "tcptuned/algo/unsent.h"

#define START_US 5000000000ull
#define SEEDS	 (SANITIZED ? 2 : 8)
#define LINKS	 64 /* of which a mean is asserted */
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
				/*
				 * a second without a silence, until the next mark, and until the
				 * next test mark
				 */
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
			model_run(5);
			model_run(9);
			assert_true(model_mean_rtt_ms() <= 20);
		}
}

/*
 * All but the first have never seen the queue empty, and those that come a second later find
 * windows held: they all test together.
 */
TEST(one_after_another_in_a_deep_queue)
{
	for (unsigned int flows = 2; flows <= 4; flows += 2)
		for (double apart_s = 0.5; apart_s <= 1; apart_s += 0.5)
			for (uint64_t seed = 1; seed <= SEEDS; seed++) {
				model_begin(&(struct path){1000, 10, 0.16}, seed);
				for (unsigned int i = 0; i < flows; i++)
					model_add(RIGHTSIZED_BOTH, apart_s * i);
				model_run(9);
				model_run(16);
				assert_true(model_mean_rtt_ms() <= 2.2 * 10);
			}
}

/*
 * With windows of 256 MiB, which the README names, the queue on a path of 10 Gbit/s and 100 ms is
 * too short for a test. With larger ones it is not, and 7/4 of rate x minimum RTT are held; the
 * last interval begins after the test. In the third row an interval has 5.2e9 bytes, more than 32
 * bits. In a data centre, the last row, it has 262 ms. Under the sanitizers, where an end alone
 * takes 15 s, only both are tuned.
 */
TEST(more_than_31_bits_in_an_interval)
{
	struct {
		struct path path;
		double kernel_max, until_s, held;
	} rows[] = {{{10000, 100, 0.5}, 256 << 20, 6, 0},
		    {{10000, 100, 0.5}, 512 << 20, 15, 218.75e6},
		    {{20000, 140, 0.5}, 1 << 30, 7, 0},
		    {{100000, 0.1, 0.001}, 256 << 20, 1, 0}};

	for_each_row (r, rows)
		for_each_row (end, ends) {
			double rate = r->path.mbit * MBIT;
			const struct rightsize *rs;
			struct model_flow *f;

			if (SANITIZED && *end != RIGHTSIZED_BOTH)
				continue;
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

/* Returns the goodput for 5 s, from @after_s after the path became @factor times as long on. */
static double on_a_longer_path(const struct path *p, double at_s, double factor, double after_s,
			       enum receiver end, uint64_t seed)
{
	at_s += 0.037 * (double)seed;
	model_begin(p, seed);
	model_schedule(at_s, p->mbit * MBIT, factor * p->base_ms);
	model_add(end, 0);
	model_run(at_s + after_s);
	return model_goodput(at_s + after_s + 5);
}

TEST(a_longer_path)
{
	static const struct path paths[] = {{200, 10, 0.32}, {100, 5, 0.4}};

	for_each_row (p, paths)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			double ten_rtts = 0.1 * p->base_ms; /* s */
			double kernel = on_a_longer_path(p, 5, 10, ten_rtts, KERNEL, seed);

			for_each_row (end, ends)
				assert_true(on_a_longer_path(p, 5, 10, ten_rtts, *end, seed) >=
					    0.9 * kernel);
		}
}

/*
 * A hold on a path that becomes longer by less than what a hold notices in a round: it measures the
 * minimum RTT again. Of the kernel's rate it carries 95 % from 10 s after the change on.
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

/*
 * A window of 7/4 leaves a path idle for more than a sixth of its RTT if that has become 2.1 times
 * as long. Two whole intervals of 262 ms or eight RTTs show it, so that the seconds 1 to 6 have the
 * kernel's growth; but a probe may hide it from one of eight runs, which then has 7/16 at 4.
 * Without the rule all have 7/4 of the path until a probe: 73 % at 2.4.
 */
TEST(a_hold_that_leaves_a_longer_path_idle)
{
	static const struct path paths[] = {{50, 20, 0.4}, {200, 10, 0.32}};
	static const double factors[] = {2.2, 2.4, 3, 4};

	for_each_row (p, paths)
		for_each_row (factor, factors)
			for_each_row (end, ends) {
				double sum = 0;

				for (uint64_t seed = 1; seed <= SEEDS; seed++)
					sum += on_a_longer_path(p, 12, *factor, 1, *end, seed);
				assert_true(sum >= 0.85 * p->mbit * MBIT * SEEDS);
			}
}

/*
 * The loaded path never shows the RTT of the handshake again, and then the link becomes four times
 * as fast.
 */
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

/*
 * An earlier connection to the host was slow. This one's path is fast, and its RTT above the
 * handshake's.
 */
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

/* Returns the goodput of six seconds. Beyond @former_max a window is earned; 0: nothing is. */
static double in_six_seconds(const struct path *p, enum receiver end, double former_max)
{
	model_begin(p, 1);
	model.former_max = former_max;
	model_add(end, 0);
	return model_goodput(6);
}

/*
 * What exceeds the kernel's own maximum, 3 MB, is earned: in a queue of 20 MB the first six seconds
 * are those of the kernel alone, and a long path gets what it needs.
 */
TEST(the_first_seconds)
{
	const struct path deep = {1000, 10, 0.16}, far = {1000, 100, 0.1};
	double goodput = in_six_seconds(&deep, KERNEL, 3e6), rtt = model_mean_rtt_ms();

	for_each_row (end, ends) {
		assert_true(in_six_seconds(&deep, *end, 3e6) >= 0.98 * goodput);
		assert_true(model_mean_rtt_ms() <= 1.2 * rtt);
	}
	goodput = in_six_seconds(&far, KERNEL, 0);
	/* if only one end is tuned, the other one has the kernel's maximum */
	assert_true(in_six_seconds(&far, RIGHTSIZED_BOTH, 3e6) >= 0.97 * goodput);
}

/*
 * Returns the RTT in ms, a minute and a half after the link became 64 times slower, which makes 2.2
 * s of a hold.
 */
static double on_a_slower_link(enum receiver end, uint64_t seed)
{
	model_begin(&(struct path){100, 20, 0.32}, seed);
	model_schedule(5 + 0.037 * (double)seed, 100 * MBIT / 64, 20);
	model_add(end, 0);
	model_run(95);
	model_run(100);
	return model_mean_rtt_ms();
}

TEST(a_slower_link)
{
	double kernel = on_a_slower_link(KERNEL, 1);

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		for_each_row (end, ends)
			assert_true(on_a_slower_link(*end, seed) < kernel / 10);
}

/* A link that became eight times faster: the window grows as the queue empties (DRS III.B). */
TEST(a_faster_link)
{
	for_each_row (end, ends) {
		const struct rightsize *rs;

		model_begin(&(struct path){50, 20, 0.8}, 1);
		model_schedule(14, 400 * MBIT, 20);
		model_add(*end, 0);
		model_run(14);
		rs = *end == RIGHTSIZED_SENDER ? &model.flow[0].snd : &model.flow[0].rs;
		assert_int_equal(rs->state, RIGHTSIZE_HOLDING);
		model_run(20);
		assert_true(model_goodput(24) >= 0.95 * 400 * MBIT);
	}
}

/*
 * An application that used less than it held for some seconds, beside another connection that holds
 * a window: it gets what it had.
 */
TEST(after_less_was_used)
{
	static const struct path paths[] = {{50, 40, 0.24}, {100, 10, 0.2}};

	for_each_row (p, paths) {
		double kernel = 0, tuned[ENDS] = {0};

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			kernel += model_goodput_after_less(p, KERNEL, seed);
			for_each_row (end, ends)
				tuned[test_row] += model_goodput_after_less(p, *end, seed);
		}
		for_each_row (carried, tuned)
			assert_true(*carried >= 0.95 * kernel);
	}
}

/* As much as with the kernel's windows, on average of many links, at a lower RTT. */
TEST(a_rate_that_varies)
{
	for_each_row (end, ends) {
		double carried = 0, rtt = 0;

		for (uint64_t seed = 1; seed <= LINKS; seed++) {
			double kernel = model_cellular_goodput(KERNEL, seed),
			       kernel_rtt = model_mean_rtt_ms();

			carried += model_cellular_goodput(*end, seed) / kernel;
			rtt += model_mean_rtt_ms() / kernel_rtt;
		}
		assert_true(carried >= 0.95 * LINKS);
		assert_true(rtt <= LINKS);
	}
}

TEST(next_to_an_untuned_connection)
{
	static const struct path paths[] = {{100, 20, 0.4}, {100, 20, 0.1}, {10, 20, 0.8}};
	double kernel = 0, tuned[ENDS] = {0};

	for_each_row (p, paths)
		for (uint64_t seed = 1; seed <= SEEDS + 1; seed++) {
			kernel += model_goodput_beside_untuned(p, KERNEL, seed, 23) / p->mbit;
			for_each_row (end, ends)
				tuned[test_row] +=
					model_goodput_beside_untuned(p, *end, seed, 23) / p->mbit;
		}
	for_each_row (carried, tuned)
		assert_true(*carried >= 0.95 * kernel);
}

/* Two connections take turns of 8 ms, and nothing comes for 5 ms after the second one's. */
TEST(silences_with_a_peer)
{
	const __u64 clock_us = (1ull << RIGHTSIZE_MARK_SHIFT) * 1000;
	struct rightsize_peer peer = {0};
	__u32 silent_us = 0;

	for (__u64 t = 0; t < 3ull << RIGHTSIZE_MARK_SHIFT; t += 1000)
		if (t % 21000 < 16000 || t < 10000)
			silent_us = rightsize_peer_carried(&peer, START_US + t, clock_us + t);
	assert_int_equal(silent_us, 6000);
	/* The mark that follows keeps it, and the next one does not. */
	for (__u64 t = 3ull << RIGHTSIZE_MARK_SHIFT; t < 5ull << RIGHTSIZE_MARK_SHIFT; t += 1000) {
		silent_us = rightsize_peer_carried(&peer, START_US + t, clock_us + t);
		if (t < 4ull << RIGHTSIZE_MARK_SHIFT)
			assert_int_equal(silent_us, 6000);
	}
	assert_true(silent_us < 2000);
	/* Of two processors, the one with the earlier time may come second. */
	rightsize_peer_carried(&peer, START_US + (5ull << RIGHTSIZE_MARK_SHIFT) + 2,
			       clock_us + (5ull << RIGHTSIZE_MARK_SHIFT));
	silent_us = rightsize_peer_carried(&peer, START_US + (5ull << RIGHTSIZE_MARK_SHIFT),
					   clock_us + (5ull << RIGHTSIZE_MARK_SHIFT));
	assert_true(silent_us < 2000);
	assert_int_equal(rightsize_peer_carried(&peer, START_US + (1ull << 40),
						clock_us + (1ull << 40)),
			 RIGHTSIZE_RTT_MAX_US);
}

/* An ACK on a path of 10 ms with a queue of @queue_us; the clocks of the hosts differ by 2 s. */
static void ack_in_queue(struct rightsize_peer *peer, struct rightsize *rs, __u64 at_us,
			 __u32 queue_us)
{
	struct rightsize_ack ack = {.now_us = START_US + at_us,
				    .clock_us = at_us,
				    .sample_us = 10000 + queue_us,
				    .rtt_us = 10000 + queue_us,
				    .delay_us = 2005000 + queue_us,
				    .min = WINDOW_MIN};

	if (rightsize_minds_peer(rs, &ack))
		rightsize_look_at_peer(peer, rs, &ack);
	rightsize_on_ack(rs, &ack);
}

/*
 * A connection that begins in a queue of 100 ms borrows the minimum RTT of the one that has filled
 * it, and its one-way delay is that without the queue. What is borrowed is not lent: a third one
 * that comes when the first has ended has none. Its own test makes a connection independent.
 */
TEST(a_minimum_is_borrowed)
{
	const __u32 mark_us = 1u << RIGHTSIZE_MARK_SHIFT;
	struct rightsize_peer peer = {0};
	struct rightsize first = {0}, second = {0}, third = {0}, tested = {.tests = 1};

	ack_in_queue(&peer, &first, 0, 0);
	ack_in_queue(&peer, &first, 1000, 100000);
	ack_in_queue(&peer, &second, 2000, 100000);
	assert_int_equal(second.min_rtt_us, 110000);
	ack_in_queue(&peer, &second, 120000, 90000);
	assert_int_equal(second.min_rtt_us, 10000);
	assert_int_equal(second.min_delay_us,
			 2005000 - 10000); /* the queue was 10 ms longer before */
	assert_int_equal(second.borrowed, 1);
	ack_in_queue(&peer, &tested, 121000, 100000);
	ack_in_queue(&peer, &tested, 260000, 100000);
	assert_int_equal(tested.min_rtt_us, 110000);
	for (__u32 t = 300000; t < 3 * mark_us; t += 1000)
		ack_in_queue(&peer, &second, t, 100000);
	ack_in_queue(&peer, &third, 3 * mark_us, 100000);
	ack_in_queue(&peer, &third, 3 * mark_us + 120000, 100000);
	assert_int_equal(third.min_rtt_us, 110000);
	ack_in_queue(&peer, &second, 3 * mark_us + 130000, 0); /* its own */
	assert_int_equal(second.borrowed, 0);
}

/*
 * A hold of 2.6 MB on a path of 10 ms, of which 16 ms seemed to vary, with an ACK each millisecond
 * for @ms; but the data of every round comes within @burst_us, as if others' came in between.
 * @rtt_us: of all samples.
 */
static struct rightsize hold_in_bursts(__u32 rtt_us, __u32 burst_us, __u32 peer_silent_us, __u32 ms)
{
	struct rightsize rs = {.state = RIGHTSIZE_HOLDING,
			       .min_rtt_us = 10000,
			       .varies_us = 16000,
			       .held = 2600000,
			       .window = 2600000,
			       .tests = 1,
			       .rate = 100000000};
	struct rightsize_ack ack = {.sample_us = rtt_us,
				    .rtt_us = rtt_us,
				    .min = WINDOW_MIN,
				    .silent_us = peer_silent_us};

	for (__u32 t = 0; t < ms; t++) {
		ack.clock_us = 1000 * t;
		ack.now_us = START_US + ack.clock_us;
		if (ack.clock_us % rtt_us >= burst_us)
			continue;
		ack.bytes += 1000000;
		rightsize_on_ack(&rs, &ack);
	}
	return rs;
}

/* Its RTT did not vary in an interval, of 262 ms: 10/26 of the window are enough. */
TEST(a_hold_becomes_smaller)
{
	assert_int_equal(hold_in_bursts(20000, 20000, 0, 600).held, 1000000);
	assert_int_equal(hold_in_bursts(20000, 20000, 0, 200).held, 2600000);
}

/*
 * A hold whose RTT is four times the minimum ends by silences, but not by those in which data of
 * others came.
 */
TEST(a_hold_ends_by_silences)
{
	assert_int_equal(hold_in_bursts(54000, 20000, 0, 200).state, RIGHTSIZE_FREE);
	assert_int_equal(hold_in_bursts(54000, 20000, 2000, 200).state, RIGHTSIZE_HOLDING);
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
	ack.bytes = rs->seen_bytes;
	held = *rs;
	held.held = 100000;
	rightsize_on_ack(rs, &ack);
	assert_int_equal(rs->state, RIGHTSIZE_FREE);
	assert_int_equal(rs->window, 0);
	assert_int_equal(rs->failures, 0);
	rightsize_on_ack(&held, &ack);
	assert_int_equal(held.state, RIGHTSIZE_HOLDING);
	assert_int_equal(held.window, 100000);
}

/* Once those that filled the queue have left, the next test is not late. */
TEST(others_leave)
{
	for_each_row (end, ends) {
		model_begin(&(struct path){100, 20, 0.3}, 1);
		model_add(*end, 0);
		model_add(KERNEL, 0)->app =
			(struct app){.kind = APP_ON_OFF, .on_s = 40, .off_s = 1000};
		model_run(40);
		model_run(60);
		assert_true(model_goodput(70) >= 0.98 * 100 * MBIT);
		assert_true(model_mean_rtt_ms() <= 2.2 * 20);
	}
}

/*
 * An upload fills the queue of the way back, so that the RTT of a download grows. None of that
 * queue is the download's, by the one-way delay, whose clocks differ by any time: it is not tested.
 */
TEST(a_queue_of_the_other_direction)
{
	for (enum receiver upload = KERNEL; upload <= RIGHTSIZED_BOTH; upload++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct model_flow *download;

			model_begin(&(struct path){400, 50, 0.1}, seed);
			model.former_max = 6e6;
			model.back.rate_Bps = 5 * MBIT;
			model.back.queue_bytes = 625000;
			download = model_add(RIGHTSIZED_BOTH, 0);
			model_add(upload, 1)->back = true;
			model_run(30);
			assert_int_equal(download->rs.tests + download->snd.tests, 0);
		}
}

/*
 * Beyond the kernel's maximum a window is twice what the fastest round carried, eight times while
 * that grows, by the minimum RTT. That of a receiver is at least 2 ms, so the kernel's own counts
 * below.
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

static uint32_t any32(void)
{
	return (uint32_t)random64();
}

/* Beyond a small buffer a sender fills its path, and 1/4 more where a queue stands. */
TEST(a_window_of_fresh_data)
{
	struct {
		uint32_t per_rtt, delay_us, last_low_us, rtt_us, window;
	} rows[] = {{100000, 1, 24999, 40000, RIGHTSIZE_WINDOW_MAX},
		    {100000, 0, 24999, 40000, 62500}, /* no timestamps */
		    {100000, 1, 25000, 25000, 100000},
		    {100000, 1, 40000, 50000, 50000},
		    {100000, 1, 0, 24999, RIGHTSIZE_WINDOW_MAX},
		    {100000, 1, 0, 40000, 62500},
		    {0, 1, 40000, 40000, 0},
		    {~0u, 1, 40000, 40000, RIGHTSIZE_WINDOW_MAX}};

	for_each_row (r, rows) {
		struct rightsize rs = {.min_rtt_us = 20000,
				       .min_delay_us = r->delay_us,
				       .per_rtt = r->per_rtt,
				       .last_low_us = r->last_low_us};

		assert_int_equal(rightsize_fresh(&rs, r->rtt_us), r->window);
	}
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
		uint32_t before = reader.window;
		uint64_t twice = 2ull * before < RIGHTSIZE_WINDOW_MAX ? 2ull * before
								      : RIGHTSIZE_WINDOW_MAX;

		rightsize_weigh_reader(&reader, &ack, read, i == 8 ? before / 4 : 0, offer);
		assert_int_equal(reader.window, i % 8 > 1 ? twice : before);
	}
	rightsize_weigh_reader(&reader, &ack, read, 0, offer);
	assert_int_equal(reader.window, 0);
}

/* It reads all of it each second, in which the window would not have been halved for long. */
TEST(a_reader_that_pauses_is_not_slow)
{
	struct rightsize_reader reader = {0};
	struct rightsize_ack ack = {.now_us = START_US, .rtt_us = 10000, .min = WINDOW_MIN};
	const uint32_t window = 4 << 20, round = window / 32;
	uint32_t read = 7;

	for (unsigned int i = 0; i < 1000; i++, ack.now_us += 10000) {
		uint32_t unread = (i % 100 < 32 ? i % 100 : 32) * round;

		read += i % 100 ? 0 : window;
		rightsize_weigh_reader(&reader, &ack, read, unread, window - unread);
		assert_int_equal(reader.window, 0);
	}
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
	/* who asks for little wants no old data; who asks for much writes much at once */
	assert_int_equal(rightsize_unsent(125000000, 100000, 32768, 0), 32768);
	assert_int_equal(rightsize_unsent(1000, 100000, 4 << 20, 0), 4 << 20);
	assert_int_equal(rightsize_unsent(125000000, 100000, 212992, 0), 125000000 / 80);
	assert_int_equal(rightsize_unsent(125000000, 100000, 32768, RIGHTSIZE_LATE_MAX), 32768);
	assert_int_equal(rightsize_unsent(125000000, 100000, 4 << 20, RIGHTSIZE_LATE_MAX), 0);
}
