// SPDX-License-Identifier: GPL-2.0-only
/*
 * rightsize.h against a path in fluid form: the time advances by a millisecond, and with it an ACK.
 * A sender keeps a congestion window in flight, or what the window under test allows; a deep queue
 * holds what the path does not. Other traffic, a longer path and a slower link can be had.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include <tcptuned/rightsize.h>

#define MSS	 1448u
#define MIN	 (10 * MSS)
#define START_US 5000000000ull

struct path {
	struct rightsize rs;
	double rate;	 /* of the link, bytes per millisecond */
	double base_ms;	 /* RTT without a queue */
	double extra_ms; /* added to it; it varies */
	double cwnd;	 /* bytes */
	double flight;	 /* bytes of this connection in the network */
	double queue;	 /* ... of them in the queue */
	double others;	 /* bytes of others in the queue, which they keep there */
	double carried;
	double rtt_ms;
	uint64_t now_us;
	uint32_t counter;
};

static struct path new_path(double rate, double base_ms)
{
	struct path p = {
		.rate = rate,
		.base_ms = base_ms,
		.cwnd = 30 * rate * base_ms,
		.now_us = START_US,
		.counter = 0xfffff000u, /* it wraps early */
	};

	rightsize_rtt_sample(&p.rs, (uint32_t)(base_ms * 1000));
	return p;
}

/* A millisecond: Little's law on what is in flight. */
static void step(struct path *p)
{
	double window = p->rs.window && p->rs.window < p->cwnd ? p->rs.window : p->cwnd;
	double wire = p->base_ms + p->extra_ms, share, served;
	struct rightsize_ack ack;

	/* The window shrinks only as data arrive. */
	if (p->flight > window)
		p->flight -= p->flight - window < p->rate ? p->flight - window : p->rate;
	else
		p->flight += window - p->flight < 2 * p->rate ? window - p->flight : 2 * p->rate;
	p->queue = p->flight - p->rate * wire;
	if (p->others > 0) {
		/* In a queue shared with others each has what it has of the queue. */
		p->rtt_ms = wire + (p->others + p->flight) / p->rate;
		share = p->flight / p->rtt_ms;
	} else {
		p->rtt_ms = wire + (p->queue > 0 ? p->queue / p->rate : 0);
		share = p->flight / p->rtt_ms;
	}
	served = share < p->rate ? share : p->rate;
	p->carried += served;
	p->counter += (uint32_t)served;
	p->now_us += 1000;
	ack = (struct rightsize_ack){
		.now_us = p->now_us,
		.clock_us = p->now_us + 37000000,
		.bytes = p->counter,
		.sample_us = (uint32_t)(p->rtt_ms * 1000),
		.rtt_us = (uint32_t)(p->rtt_ms * 1000),
		.min = MIN,
	};
	rightsize_on_ack(&p->rs, &ack);
}

struct outcome {
	double rate;   /* of the link's, 0 to 1 */
	double rtt_ms; /* mean */
};

static struct outcome run(struct path *p, unsigned int ms)
{
	double before = p->carried, rtt = 0;

	for (unsigned int i = 0; i < ms; i++) {
		step(p);
		rtt += p->rtt_ms;
	}
	return (struct outcome){ (p->carried - before) / (p->rate * ms), rtt / ms };
}

/* DRS III.B: twice what the path carries in its minimum RTT, and the link stays full. */
static void test_alone_in_a_deep_queue(void **state)
{
	const double rates[] = { 1250, 12500, 125000 }, rtts[] = { 5, 10, 40, 100 };

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int j = 0; j < 4; j++) {
			struct path p = new_path(rates[i], rtts[j]);
			struct outcome o;

			run(&p, 12000 + 60 * 100 * (unsigned int)rtts[j] / 10);
			assert_int_equal(p.rs.state, RIGHTSIZE_HOLDING);
			assert_int_equal(p.rs.reason, RIGHTSIZE_HELD);
			o = run(&p, 5000);
			assert_true(o.rate > 0.98);
			assert_true(o.rtt_ms < 2.2 * rtts[j] || p.rs.held == MIN);
			assert_true(p.rs.held > p.rate * rtts[j]);
		}
}

/* A queue of others does not empty when this connection makes room: it stays the kernel's. */
static void test_the_queue_of_others(void **state)
{
	struct path p = new_path(12500, 10);
	unsigned int limited = 0;

	p.cwnd = 12500 * 20;
	p.others = 12500 * 60;
	for (unsigned int i = 0; i < 30000; i++) {
		step(&p);
		limited += p.rs.window != 0;
	}
	assert_true(p.rs.tests > 0);
	/* Tests of three RTTs, ever farther apart: less than a tenth of the time. */
	assert_true(limited < 3000);
}

/* The minimum RTT is raised by a test that moved nothing, and by nothing else. */
static void test_a_longer_path(void **state)
{
	struct path p = new_path(25000, 10);
	struct outcome o;

	run(&p, 8000);
	assert_int_equal(p.rs.state, RIGHTSIZE_HOLDING);
	p.base_ms = 100;
	p.cwnd = 25000 * 120;
	run(&p, 3000);
	o = run(&p, 5000);
	assert_true(o.rate > 0.9);
}

/* Delay drawn anew: the mean RTT is 2.5 times the smallest, and none of it is a queue. */
static void test_jitter(void **state)
{
	struct path p = new_path(12500, 20);
	struct outcome o;

	srand(1);
	p.cwnd = 12500 * 60;
	o.rate = 0;
	for (unsigned int i = 0; i < 1000; i++) {
		p.extra_ms = rand() % 80;
		o.rate += run(&p, 20).rate / 1000;
	}
	/* The same without any window: what 60 ms of data in flight make of it. */
	srand(1);
	struct path free_path = new_path(12500, 20);
	double reference = 0;

	free_path.cwnd = 12500 * 60;
	for (unsigned int i = 0; i < 1000; i++) {
		free_path.extra_ms = rand() % 80;
		free_path.rs.min_rtt_us = 0; /* nothing is decided */
		reference += run(&free_path, 20).rate / 1000;
	}
	assert_true(o.rate >= 0.95 * reference);
}

/* A link that becomes 64 times slower: the window comes down, never up. */
static void test_a_slower_link(void **state)
{
	struct path p = new_path(125000, 10);
	uint32_t held;

	run(&p, 8000);
	assert_int_equal(p.rs.state, RIGHTSIZE_HOLDING);
	held = p.rs.held;
	p.rate /= 64;
	for (unsigned int i = 0; i < 60000; i++) {
		step(&p);
		assert_true(p.rs.window <= held);
	}
	assert_true(p.rs.held < held / 4);
}

/* A faster one: DRS's growth, whenever the queue has emptied. */
static void test_a_faster_link(void **state)
{
	struct path p = new_path(12500, 20);

	run(&p, 10000);
	assert_int_equal(p.rs.state, RIGHTSIZE_HOLDING);
	p.rate *= 8;
	p.cwnd *= 8;
	run(&p, 3000);
	assert_true(run(&p, 3000).rate > 0.95);
}

/* Two of about the same RTT begin their tests at the same mark, whenever they were made. */
static void test_marks_are_common(void **state)
{
	struct path a = new_path(12500, 10), b = new_path(12500, 11);
	uint64_t at[2] = { 0, 0 };

	for (unsigned int i = 0; i < 137; i++)
		step(&a);
	b.now_us = a.now_us;
	for (unsigned int i = 0; i < 4000 && !(at[0] && at[1]); i++) {
		step(&a);
		step(&b);
		if (!at[0] && a.rs.tests)
			at[0] = a.rs.stage_us;
		if (!at[1] && b.rs.tests)
			at[1] = b.rs.stage_us;
	}
	assert_true(at[0] && at[1]);
	/* The same mark of 2^18 us, or the next one. */
	assert_true(llabs((long long)(at[0] - at[1])) % (1 << 18) < 2000 ||
		    llabs((long long)(at[0] - at[1])) % (1 << 18) > (1 << 18) - 2000);
}

static uint32_t any32(void)
{
	return (uint32_t)rand() << 16 ^ (uint32_t)rand();
}

/* Whatever is measured: no limit, or one that TCP can express and that is not below the smallest. */
static void test_any_input(void **state)
{
	srand(2);
	for (unsigned int i = 0; i < 300; i++) {
		struct rightsize rs = { 0 };
		uint64_t now = any32(), clock = any32();
		uint32_t bytes = any32();

		for (unsigned int j = 0; j < 3000; j++) {
			struct rightsize_ack ack = { .min = MIN };

			now += any32() % (j % 7 ? 3000 : 3000000);
			clock += any32() % 5000;
			if (j % 997 == 0)
				clock -= 1000000000; /* somebody sets the clock */
			bytes += any32() % (j % 5 ? 100000 : 0x40000000);
			ack.now_us = now;
			ack.clock_us = clock;
			ack.bytes = bytes;
			ack.sample_us = any32() % 3 ? any32() % 300000 : any32();
			ack.rtt_us = any32() % 400000;
			rightsize_on_ack(&rs, &ack);
			assert_true(!rs.window ||
				    (rs.window >= MIN && rs.window <= RIGHTSIZE_WINDOW_MAX));
			assert_true(rs.state <= RIGHTSIZE_HOLDING);
			assert_true(rs.reason < RIGHTSIZE_REASONS);
			assert_true((rs.state == RIGHTSIZE_FREE) == !rs.window);
		}
	}
}

/* DRS II: twice what is read in a round trip, at most by half at a time. */
static void test_a_slow_reader(void **state)
{
	struct rightsize_reader reader = { 0 };
	uint64_t now = START_US;
	uint32_t read = 7, offer = 4 << 20;

	for (unsigned int i = 0; i < 7; i++, now += 40000, read += 1000)
		rightsize_weigh_reader(&reader, now, 40000, read, 8 << 20, offer, MIN);
	assert_int_equal(reader.window, 0); /* it may only be busy */
	for (unsigned int i = 0; i < 60; i++, now += 40000, read += 1000) {
		uint32_t before = reader.window ? reader.window : 12 << 20;

		rightsize_weigh_reader(&reader, now, 40000, read, 8 << 20, offer, MIN);
		assert_true(!reader.window || reader.window >= before / 2);
		assert_true(!reader.window || reader.window <= before);
	}
	assert_true(reader.window && reader.window < 1 << 20);
	assert_true(reader.window >= MIN);
	rightsize_weigh_reader(&reader, now, 40000, read, 0, offer, MIN);
	assert_int_equal(reader.window, 0);
}

static void test_offer_and_unsent(void **state)
{
	assert_int_equal(rightsize_offer(1000000, 0, 2896), 1000000);
	assert_int_equal(rightsize_offer(1000000, 400000, 2896), 600000);
	assert_int_equal(rightsize_offer(1000000, 1000000, 2896), 2896);
	assert_int_equal(rightsize_offer(1000000, 5000000, 2896), 2896);
	assert_int_equal(rightsize_unsent(125000000, 100000), 125000000 / 80);
	assert_int_equal(rightsize_unsent(125000000, 1000), 500000); /* 4 ms */
	assert_int_equal(rightsize_unsent(1000, 100000), RIGHTSIZE_UNSENT_MIN);
	assert_int_equal(rightsize_unsent(~0ull >> 27, RIGHTSIZE_RTT_MAX_US), RIGHTSIZE_WINDOW_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone_in_a_deep_queue),
		cmocka_unit_test(test_the_queue_of_others),
		cmocka_unit_test(test_a_longer_path),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_a_slower_link),
		cmocka_unit_test(test_a_faster_link),
		cmocka_unit_test(test_marks_are_common),
		cmocka_unit_test(test_any_input),
		cmocka_unit_test(test_a_slow_reader),
		cmocka_unit_test(test_offer_and_unsent),
	};

	return cmocka_run_group_tests_name("rightsize", tests, NULL, NULL);
}
