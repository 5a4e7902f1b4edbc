// SPDX-License-Identifier: GPL-2.0-only
/*
 * The congestion control family against RFC 3649, RFC 5681 and the papers' numbers; what must
 * not be, over random lives; and the windows that every engine must come to on one recorded
 * sequence of ACKs and losses (tests/traces).
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tcptuned/family.h"
#include "numbers.h"

/* --- a connection --------------------------------------------------------------------- */

struct connection {
	const struct family_member *member;
	union family_state st;
	__u32 cwnd, ssthresh;
	__u32 una, nxt;
};

static const struct family_member *member(const char *name)
{
	for (size_t i = 0; i < FAMILY_MEMBERS; i++)
		if (!strcmp(family_members[i].name, name))
			return &family_members[i];
	fail_msg("no %s in the family", name);
	return NULL;
}

static struct connection connection_of(const struct family_member *m, __u32 cwnd, __u32 ssthresh)
{
	struct connection c = {.member = m, .cwnd = cwnd, .ssthresh = ssthresh};

	memset(&c.st, 0xa5, sizeof(c.st)); /* init must leave nothing as it was */
	m->init(&c.st, cwnd);
	return c;
}

static struct connection connection(const char *name, __u32 cwnd)
{
	return connection_of(member(name), cwnd, NO_SLOW_START);
}

static void ack_when(struct connection *c, __u32 acked, bool limited)
{
	struct congestion_ack ack = {
		.cwnd = c->cwnd,
		.ssthresh = c->ssthresh,
		.acked = acked,
		.limited = limited,
		.una = c->una + acked,
		.nxt = c->una + c->cwnd,
	};

	c->una += acked;
	c->member->on_ack(&c->st, &ack);
	c->cwnd = ack.cwnd;
	c->ssthresh = ack.ssthresh;
}

static void ack(struct connection *c, __u32 acked)
{
	ack_when(c, acked, true);
}

static void loss(struct connection *c)
{
	c->ssthresh = c->member->ssthresh(&c->st, c->cwnd);
	c->cwnd = c->ssthresh;
}

static void timeout(struct connection *c)
{
	c->ssthresh = c->member->ssthresh(&c->st, c->cwnd);
	c->cwnd = 1;
}

static void round_trip(struct connection *c)
{
	for (__u32 n = c->cwnd; n; n--)
		ack(c, 1);
}

/* --- random numbers ------------------------------------------------------------------- */

static __u64 rng_state;

static __u64 rng(void) /* xorshift64* */
{
	rng_state ^= rng_state >> 12;
	rng_state ^= rng_state << 25;
	rng_state ^= rng_state >> 27;
	return rng_state * 0x2545f4914f6cdd1dull;
}

static __u32 rng_scaled(__u32 low, __u32 high) /* small and large alike */
{
	__u64 value = rng() & ((2ull << rng() % 32) - 1);

	return value < low ? low : value > high ? high : (__u32)value;
}

/* --- Reno: RFC 5681 and the kernel ------------------------------------------------------ */

/* tcp_cong_avoid_ai() of net/ipv4/tcp_cong.c, as it works while the window is set by it only. */
static __u32 kernel_cong_avoid(__u32 *cwnd_cnt, __u32 cwnd, __u32 acked)
{
	*cwnd_cnt += acked;
	if (*cwnd_cnt >= cwnd) {
		__u32 delta = *cwnd_cnt / cwnd;

		*cwnd_cnt -= delta * cwnd;
		cwnd += delta;
	}
	return cwnd;
}

static void reno_counts_as_the_kernel_does(void **state)
{
	struct connection c = connection("tt_reno", 10);
	__u32 cwnd = 10, count = 0;

	rng_state = 1;
	for (int i = 0; i < 200000; i++) {
		__u32 acked = 1 + rng() % 2;

		cwnd = kernel_cong_avoid(&count, cwnd, acked);
		ack(&c, acked);
		assert_int_equal(c.cwnd, cwnd);
		if (rng() % 5000)
			continue;
		loss(&c);
		cwnd = cwnd / 2 > 2 ? cwnd / 2 : 2;
		count = 0;
		assert_int_equal(c.cwnd, cwnd);
	}
}

static void below_the_low_window_all_but_aimd_are_reno(void **state)
{
	static const struct {
		const char *name;
		__u32 low;
	} members[] = {{"stcp", STCP_LOW_WINDOW}, {"hstcp", HSTCP_LOW_WINDOW + 1}};

	assert_int_equal(STCP_LOW_WINDOW, 16);
	assert_int_equal(HSTCP_LOW_WINDOW, 38);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		struct connection c = connection(members[i].name, 2);

		for (__u32 w = 2; w < members[i].low; w++) {
			struct connection lost = c;

			assert_int_equal(c.cwnd, w);
			loss(&lost);
			assert_int_equal(lost.cwnd, w / 2 > 2 ? w / 2 : 2);
			round_trip(&c);
		}
	}
}

static void slow_start_doubles_and_goes_on_as_avoidance(void **state)
{
	static const char *const names[] = {"tt_reno", "stcp", "hstcp", "bitcp"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct connection c = connection_of(member(names[i]), 4, 11);

		for (__u32 n = 4; n; n--)
			ack(&c, 1);
		assert_int_equal(c.cwnd, 8);
		ack(&c, 8); /* three of them up to ssthresh, five of eleven towards the next */
		assert_int_equal(c.cwnd, 11);
		ack(&c, 5);
		assert_int_equal(c.cwnd, 11);
		ack(&c, 2);
		assert_int_equal(c.cwnd, 12);
	}
}

/* --- AIMD and STCP: Xu, Harfoush, Rhee ------------------------------------------------- */

static void aimd_grows_by_32_and_gives_up_an_eighth(void **state)
{
	struct connection c = connection("aimd", 1000);

	for (__u32 n = 1000; n; n--)
		ack(&c, 1);
	/* The window is not 1000 all the while: 32 * sum of 1/w, with w from 1000 to 1031. */
	assert_near(c.cwnd, 1031.5, 0.5);
	loss(&c);
	assert_int_equal(c.cwnd, 1031 * 7 / 8);
	c = connection("aimd", 2); /* no low window */
	ack(&c, 2);
	assert_int_equal(c.cwnd, 34);
}

static void stcp_grows_by_a_hundredth_of_what_is_acknowledged(void **state)
{
	static const __u32 windows[] = {16, 37, 100, 5000, 83000, 1 << 20};

	for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
		struct connection c = connection("stcp", windows[i]);

		for (__u32 n = 1; n <= 1000; n++) {
			ack(&c, 1);
			assert_int_equal(c.cwnd, windows[i] + n / 100);
		}
		c = connection("stcp", windows[i]);
		loss(&c);
		assert_int_equal(c.cwnd, windows[i] * 7ull / 8);
	}
}

/* --- HSTCP: RFC 3649 --------------------------------------------------------------------- */

static double rfc3649_b(double w)
{
	return 0.5 + (0.1 - 0.5) * log(w / 38) / log(83000.0 / 38);
}

static double rfc3649_a(double w)
{
	double b = rfc3649_b(w), p = 1 / (12.8 * pow(w, 1.2));

	return w * w * p * 2 * b / (2 - b);
}

/* Appendix B: a row at the first window whose a(w) is more than one above that of the last. */
static void hstcp_table_is_that_of_the_rfc(void **state)
{
	double last = 1;
	__u32 rows = 1;

	assert_int_equal(hstcp_table[0].w, 38);
	assert_int_equal(hstcp_table[0].a, 1 << 16);
	assert_int_equal(hstcp_table[0].b, 1u << 31);
	for (__u32 w = 38; w < 100000; w++) {
		double a = rfc3649_a(w);

		if (a <= last + 1)
			continue;
		last = a;
		assert_in_range(rows, 1, HSTCP_ROWS - 1);
		assert_int_equal(hstcp_table[rows].w, w);
		assert_near(hstcp_table[rows].a, a * Q16, 1);
		assert_near(hstcp_table[rows].b, rfc3649_b(w) * Q32, 1);
		rows++;
	}
	assert_int_equal(rows, HSTCP_ROWS);
}

static void hstcp_has_the_values_of_appendix_b(void **state)
{
	static const struct {
		__u32 w, a;
		double b;
	} rows[] = {
		{38, 1, 0.50},	 {118, 2, 0.44},  {221, 3, 0.41},   {347, 4, 0.38},
		{495, 5, 0.37},	 {663, 6, 0.35},  {851, 7, 0.34},   {1058, 8, 0.33},
		{1284, 9, 0.32}, {1529, 10, 0.31}, {1793, 11, 0.30}, {84035, 71, 0.10},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(hstcp_increase(rows[i].w) >> 16, rows[i].a);
		assert_near(hstcp_decrease(rows[i].w) / Q32, rows[i].b, 0.005);
	}
}

/* Straight lines between the rows are never far from the formulas; a(w) is at least 1. */
static void hstcp_follows_the_formulas_between_the_rows(void **state)
{
	__u64 a = 0;
	__u32 b = UINT32_MAX;

	for (__u32 w = 2; w <= 1 << 20; w += 1 + w / 2000) {
		__u64 next_a = hstcp_increase(w);
		__u32 next_b = hstcp_decrease(w);

		assert_true(next_a >= a);
		assert_true(next_b <= b);
		a = next_a;
		b = next_b;
		if (w < 38 || w > 94717)
			continue;
		assert_near(a / Q16 / fmax(rfc3649_a(w), 1), 1, w < 118 ? 0.04 : 0.012);
		assert_near(b / Q32 / rfc3649_b(w), 1, w < 118 ? 0.02 : 0.01);
	}
	assert_int_equal(a, hstcp_table[HSTCP_ROWS - 1].a);
	assert_int_equal(b, hstcp_table[HSTCP_ROWS - 1].b);
}

/* --- response functions ------------------------------------------------------------------ */

/* The average window per RTT with a loss after every 1/p packets, past the first ones. */
static double average_window(const char *name, double p, __u32 cwnd, int losses)
{
	__u32 burst = p < 1e-5 ? 32 : 1;
	double packets = 0, rtts = 0;
	struct connection c = connection(name, cwnd);

	for (int i = 0; i < losses; i++) {
		for (double until = 1 / p; until > 0; until -= burst) {
			if (i >= losses / 2) {
				packets += burst;
				rtts += (double)burst / c.cwnd;
			}
			ack(&c, burst);
		}
		loss(&c);
	}
	return packets / rtts;
}

static void response_functions_are_those_of_the_papers(void **state)
{
	static const double rates[] = {1e-3, 1e-4, 1e-5, 1e-6};

	/* RFC 3649, table 2: 83000 at 10^-7, and 0.12 / p^0.835 in all. */
	assert_near(average_window("hstcp", 1e-7, 83000, 20) / 83000, 1, 0.03);
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		double p = rates[i], root = sqrt(1 / p);
		double stcp = log(1.01) / -log(0.875) / p;

		/* Whole packets make it a little less, the more so the smaller the window. */
		assert_near(average_window("tt_reno", p, 1.2 * root, 40) / (sqrt(1.5) * root), 1,
			    p > 5e-4 ? 0.03 : 0.01);
		assert_near(average_window("aimd", p, 15 * root, 200) /
				    (sqrt(32 / 2.0 * (2 - 0.125) / 0.125) * root),
			    1, 0.02);
		assert_near(average_window("stcp", p, stcp, 60) / stcp, 1, 0.02);
		if (p < 5e-4)
			assert_near(average_window("hstcp", p, 0.12 / pow(p, 0.835), 100) /
					    (0.12 / pow(p, 0.835)),
				    1, 0.06);
	}
}

/* --- Vegas: Brakmo and Peterson, with the values of Feng and Tinnakornsrisuphap --------- */

#define BASE_RTT_US 100000

/* A path that holds @pipe packets; what is in flight beyond that waits in a queue. */
static void vegas_round_trip(struct connection *c, __u32 pipe, __u32 others)
{
	__u32 window = c->cwnd, in_flight = window + others;
	__u32 rtt = in_flight > pipe ? (__u64)BASE_RTT_US * in_flight / pipe : BASE_RTT_US;

	for (__u32 n = window; n; n--) {
		c->member->on_rtt(&c->st, rtt);
		ack(c, 1);
	}
}

static void vegas_parameters_are_the_papers(void **state)
{
	assert_int_equal(VEGAS_ALPHA, 1);
	assert_int_equal(VEGAS_BETA, 3);
	assert_int_equal(VEGAS_GAMMA, 1);
}

static void vegas_keeps_one_to_three_packets_queued(void **state)
{
	static const __u32 pipes[] = {4, 10, 100, 1000};
	static const double starts[] = {0.5, 0.9, 1.0, 1.2, 2};

	for (size_t i = 0; i < ARRAY_SIZE(pipes); i++)
		for (size_t j = 0; j < ARRAY_SIZE(starts); j++) {
			struct connection c = connection("tt_vegas", fmax(pipes[i] * starts[j], 2));
			__u32 settled;

			/* The path shows its base RTT once: other connections are the queue. */
			c.member->on_rtt(&c.st, BASE_RTT_US);
			for (__u32 n = 0; n < pipes[i] + 10; n++)
				vegas_round_trip(&c, pipes[i], 0);
			settled = c.cwnd;
			assert_in_range(settled, pipes[i] + VEGAS_ALPHA, pipes[i] + VEGAS_BETA);
			for (int n = 0; n < 50; n++) {
				vegas_round_trip(&c, pipes[i], 0);
				assert_int_equal(c.cwnd, settled);
			}
		}
}

/* One packet per RTT either way, and none from alpha to beta, in whole packets (ns-2's Vegas). */
static void vegas_decides_once_per_round_trip(void **state)
{
	static const struct {
		__u32 rtt; /* base 100000: 100 packets keep 100 * (1 - base / rtt) queued */
		int change;
	} cases[] = {{100000, 1}, {100490, 1},	{100510, 0}, {102000, 0},
		     {103610, 0}, {103640, -1}, {150000, -1}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct connection c = connection("tt_vegas", 100);

		c.member->on_rtt(&c.st, BASE_RTT_US);
		ack(&c, 1); /* the first of a hundred packets on their way */
		for (int n = 0; n < 98; n++) {
			c.member->on_rtt(&c.st, cases[i].rtt + n);
			ack(&c, 1);
			assert_int_equal(c.cwnd, 100);
		}
		c.member->on_rtt(&c.st, cases[i].rtt);
		ack(&c, 1);
		assert_int_equal(c.cwnd, 100 + cases[i].change);
	}
}

static void vegas_slow_start_doubles_every_other_round_trip(void **state)
{
	struct connection c = connection_of(member("tt_vegas"), 2, 0x7fffffff);
	__u32 rests_at = 0, rested = 0, most = 2, rests = 0;

	while (c.cwnd < 1 << 16) {
		__u32 before = c.cwnd;

		c.member->on_rtt(&c.st, BASE_RTT_US);
		ack(&c, 1);
		if (c.cwnd == before) {
			rested++;
			continue;
		}
		assert_int_equal(c.cwnd, before + 1);
		if (!rested)
			continue;
		assert_near(rested, before, 1); /* a round trip */
		if (rests++)
			assert_near(before, 2.0 * rests_at, 1);
		rests_at = before;
		rested = 0;
	}
	assert_int_equal(rests, 15);

	/* It ends below the window that would lose packets: a queue of one pipe is never full. */
	c = connection_of(member("tt_vegas"), 2, 0x7fffffff);
	for (int n = 0; n < 40; n++) {
		vegas_round_trip(&c, 1000, 0);
		most = c.cwnd > most ? c.cwnd : most;
	}
	assert_true(c.ssthresh <= c.cwnd); /* over */
	assert_true(most < 2000);
	assert_true(c.cwnd >= 500);
}

static void vegas_gives_up_a_quarter_at_a_loss(void **state)
{
	struct connection c = connection("tt_vegas", 100);

	vegas_round_trip(&c, 200, 0);
	c.cwnd = 101;
	loss(&c);
	assert_int_equal(c.cwnd, 75);
	assert_int_equal(c.ssthresh, 75);
	c.cwnd = 2;
	loss(&c);
	assert_int_equal(c.cwnd, 2);
}

/* The ACK that comes next ends a round of 100 packets, of @rtt_us each. */
static struct connection vegas_after(__u32 rtt_us, bool limited)
{
	struct connection c = connection("tt_vegas", 100);

	c.member->on_rtt(&c.st, BASE_RTT_US);
	for (int n = 0; n < 99; n++) {
		ack_when(&c, 1, limited);
		c.member->on_rtt(&c.st, rtt_us);
	}
	return c;
}

static void vegas_leaves_a_window_alone_that_is_not_used(void **state)
{
	struct connection used = vegas_after(2 * BASE_RTT_US, true);
	struct connection unused = vegas_after(2 * BASE_RTT_US, false);

	ack_when(&used, 1, true);
	assert_int_equal(used.cwnd, 99);
	ack_when(&unused, 1, false);
	assert_int_equal(unused.cwnd, 100);

	/* nor does it end slow start */
	unused = vegas_after(2 * BASE_RTT_US, false);
	unused.ssthresh = 0x7fffffff;
	ack_when(&unused, 1, false);
	assert_int_equal(unused.cwnd, 100);
	assert_int_equal(unused.ssthresh, 0x7fffffff);
}

/* What was measured with another window says nothing about the one that was set. */
static void vegas_judges_whole_rounds_of_one_window(void **state)
{
	struct connection c = vegas_after(2 * BASE_RTT_US, true);

	c.cwnd = 90; /* the clamp */
	ack(&c, 1);
	assert_int_equal(c.cwnd, 90);
	for (int n = 0; n < 90; n++) {
		c.member->on_rtt(&c.st, 2 * BASE_RTT_US);
		ack(&c, 1);
	}
	assert_int_equal(c.cwnd, 89);

	c = vegas_after(2 * BASE_RTT_US, true); /* a loss that was none */
	c.ssthresh = c.member->ssthresh(&c.st, c.cwnd);
	c.cwnd = c.ssthresh;
	ack(&c, 1);
	c.cwnd = c.member->undo(&c.st, c.cwnd);
	assert_int_equal(c.cwnd, 100);
	c.member->on_rtt(&c.st, 2 * BASE_RTT_US);
	ack(&c, 100);
	assert_int_equal(c.cwnd, 100); /* a round begins, none has ended */
	c.member->on_rtt(&c.st, 2 * BASE_RTT_US);
	ack(&c, 100);
	assert_int_equal(c.cwnd, 99);
}

/* After a timeout slow start grows at once, also where it rested when that came. */
static void vegas_does_not_rest_after_a_timeout(void **state)
{
	struct connection c = connection_of(member("tt_vegas"), 8, 0x7fffffff);
	__u32 before;

	do { /* a round trip with no queue, after which the window rests */
		before = c.cwnd;
		c.member->on_rtt(&c.st, BASE_RTT_US);
		ack(&c, 1);
	} while (c.cwnd != before);
	timeout(&c);
	c.member->on_rtt(&c.st, BASE_RTT_US);
	ack(&c, 1);
	assert_int_equal(c.cwnd, 2);
}

/* A path that is longer than the one before is not one with a queue. */
static void vegas_forgets_the_path_when_it_restarts(void **state)
{
	static const struct {
		__u32 set;
		int change;
	} cases[] = {{99, -1}, {51, -1}, {50, 1}, {10, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct connection c = vegas_after(BASE_RTT_US, true);
		__u32 set = cases[i].set;

		c.cwnd = set;
		for (__u32 n = 0; n < set; n++) {
			ack(&c, 1);
			c.member->on_rtt(&c.st, 2 * BASE_RTT_US);
		}
		assert_int_equal(c.cwnd, set + cases[i].change);
	}
}

static void vegas_without_a_measurement_changes_nothing(void **state)
{
	struct connection c = connection("tt_vegas", 50);

	for (int n = 0; n < 20; n++)
		round_trip(&c);
	assert_int_equal(c.cwnd, 50);
	c.member->on_rtt(&c.st, 0);
	c.member->on_rtt(&c.st, -1); /* the kernel's "none" */
	for (int n = 0; n < 20; n++)
		round_trip(&c);
	assert_int_equal(c.cwnd, 50);
}

/* --- all of them --------------------------------------------------------------------------- */

static void a_window_that_is_not_used_does_not_grow(void **state)
{
	for (size_t i = 0; i < FAMILY_MEMBERS; i++) {
		struct connection c = connection_of(&family_members[i], 10, 20);

		for (int n = 0; n < 2000; n++) {
			c.member->on_rtt(&c.st, BASE_RTT_US);
			ack_when(&c, 1, false);
		}
		assert_int_equal(c.cwnd, 10);
		c.ssthresh = 5;
		for (int n = 0; n < 2000; n++) {
			c.member->on_rtt(&c.st, BASE_RTT_US);
			ack_when(&c, 1, false);
		}
		assert_int_equal(c.cwnd, 10);
	}
}

static void delayed_acks_grow_the_same(void **state)
{
	static const char *const names[] = {"tt_reno", "aimd", "stcp", "hstcp"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (__u32 stretch = 2; stretch <= 64; stretch *= 2) {
			struct connection one = connection(names[i], 500);
			struct connection many = connection(names[i], 500);

			for (int n = 0; n < 64 * 200; n++)
				ack(&one, 1);
			for (__u32 n = 0; n < 64 * 200 / stretch; n++)
				ack(&many, stretch);
			/* A packet gained in the middle of a stretched ACK counts after it. */
			assert_near(many.cwnd, one.cwnd, 1 + (one.cwnd - 500) / 100.0);
		}
}

static void undo_returns_to_the_window_before(void **state)
{
	for (size_t i = 0; i < FAMILY_MEMBERS; i++) {
		struct connection c = connection_of(&family_members[i], 1000, NO_SLOW_START);

		loss(&c);
		assert_true(c.cwnd < 1000);
		ack(&c, 1);
		assert_int_equal(c.member->undo(&c.st, c.cwnd), 1000);
		assert_int_equal(c.member->undo(&c.st, 1000), 1000);
		/* Nothing to undo any more, and nothing shrinks. */
		assert_int_equal(c.member->undo(&c.st, 7), 7);
		c.cwnd = 7;
		loss(&c);
		assert_int_equal(c.member->undo(&c.st, 5000), 5000);
	}
}

static void a_window_set_from_outside_begins_anew(void **state)
{
	struct connection c = connection("tt_reno", 100);

	ack(&c, 99);
	c.cwnd = 50; /* restart after idle */
	ack(&c, 1);
	assert_int_equal(c.cwnd, 50);
	ack(&c, 49);
	assert_int_equal(c.cwnd, 51);
}

/* What holds at every moment of every life. */
static void one_life(const struct family_member *m, __u32 top)
{
	struct connection c = connection_of(m, rng_scaled(1, top), rng_scaled(0, top));
	bool vegas = !strcmp(m->name, "tt_vegas");

	for (int n = 0; n < 2000; n++) {
		__u32 before = c.cwnd, acked = rng_scaled(0, UINT_MAX);

		switch (rng() % 64) {
		case 0:
			loss(&c);
			assert_in_range(c.cwnd, 2, before > 2 ? before : 2);
			break;
		case 1:
			timeout(&c);
			break;
		case 2:
			c.cwnd = m->undo(&c.st, c.cwnd);
			assert_true(c.cwnd >= before);
			break;
		case 3:
			c.cwnd = rng_scaled(1, top); /* from outside */
			break;
		case 4:
			c.ssthresh = rng() % 2 ? 0x7fffffff : rng_scaled(0, top);
			break;
		case 5:
			ack_when(&c, acked, false);
			assert_true(c.cwnd <= before);
			break;
		default:
			m->on_rtt(&c.st, rng_scaled(0, 10000000));
			ack(&c, rng() % 8 ? acked % 4 : acked);
			if (!vegas)
				assert_true(c.cwnd >= before);
			break;
		}
		assert_in_range(c.cwnd, 1, CONGESTION_MAX_CWND);
	}
}

static void random_lives_keep_the_rules(void **state)
{
	static const __u32 tops[] = {20, 100, 10000, 1 << 20, CONGESTION_MAX_CWND};

	rng_state = 20261121;
	for (size_t i = 0; i < FAMILY_MEMBERS; i++)
		for (size_t j = 0; j < ARRAY_SIZE(tops); j++)
			for (int n = 0; n < 40; n++)
				one_life(&family_members[i], tops[j]);
}

static void one_ack_counts_for_one_window_at_most(void **state)
{
	struct connection c = connection("tt_reno", 10);

	ack(&c, 60000);
	assert_int_equal(c.cwnd, 11);
	c = connection("aimd", 10);
	ack(&c, 60000);
	assert_int_equal(c.cwnd, 42);
	/* but not for less: at 10 Gbit/s one may stand for thousands */
	c = connection("tt_reno", 60000);
	ack(&c, 60000);
	assert_int_equal(c.cwnd, 60001);
	assert_int_equal(CONGESTION_MOST_ACKED, 65536);
}

/* RFC 5681, 3.1: FlightSize, where cwnd was not the limit; but an initial window at least. */
static void a_loss_is_met_with_the_window_in_use(void **state)
{
	static const struct {
		__u32 cwnd, ssthresh, out, most, limited, used;
	} cases[] = {
		{100, 50, 60, 60, 0, 60}, {100, 50, 60, 80, 0, 80}, {100, 50, 80, 60, 0, 80},
		{100, 50, 60, 60, 1, 100}, {100, 100, 60, 60, 1, 100},
		{100, 101, 60, 60, 1, 60}, /* slow start has doubled it since */
		{100, 50, 120, 60, 0, 100}, /* never more than cwnd */
		{100, 50, 0, 60, 0, 100}, /* a segment dropped before it has left the host */
		{400, 50, 3, 2, 0, 10}, {400, 50, 9, 2, 0, 10}, {400, 50, 11, 2, 0, 11},
		{10, 50, 3, 3, 0, 10}, {6, 50, 3, 3, 0, 6}, {6, 50, 3, 3, 1, 6},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(congestion_window_in_use(cases[i].cwnd, cases[i].ssthresh,
							  cases[i].out, cases[i].most,
							  cases[i].limited),
				 cases[i].used);
}

/* What was computed with 64 bits is what is computed with more. */
static void nothing_overflows_at_the_extremes(void **state)
{
	static const __u32 windows[] = {1 << 20, 1 << 24, CONGESTION_MAX_CWND - 1};

	for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
		struct connection c = connection("stcp", windows[i]);
		__u32 before = c.cwnd;

		ack(&c, UINT_MAX); /* counts as the most that may count */
		assert_near(c.cwnd - (double)before,
			    fmin(CONGESTION_MOST_ACKED / 100, CONGESTION_MAX_CWND - before), 1);
		loss(&c);
		assert_in_range(c.cwnd, before / 8 * 7, before);
		c = connection("aimd", windows[i]);
		ack(&c, UINT_MAX);
		assert_near(c.cwnd - (double)before, 32.0 * CONGESTION_MOST_ACKED / before, 1);
	}
}

/* --- one recorded sequence ---------------------------------------------------------------------- */

#define TRACE "tests/traces/family.csv"

/* The members in the order of its columns. */
static const char *const trace_columns[FAMILY_MEMBERS] = {"bitcp", "hstcp",    "stcp",
							  "aimd",  "tt_vegas", "tt_reno"};

struct trace_event {
	char what[8];
	__u32 acked, limited, una, nxt;
	__s32 rtt_us;
};

/* One member on it. */
struct traced {
	struct connection c;
	__u32 ssthresh_before;	 /* the last loss */
	__u32 recorded_ssthresh; /* in force: the file has it where it changes */
};

static void trace_begin(struct traced *t, const char *name, __u32 cwnd)
{
	t->c = connection_of(member(name), cwnd, 0x7fffffff);
	t->ssthresh_before = t->recorded_ssthresh = t->c.ssthresh;
}

static void trace_ack(struct connection *c, const struct trace_event *e)
{
	struct congestion_ack ack = {c->cwnd, c->ssthresh, e->acked, e->limited, e->una, e->nxt};

	c->member->on_rtt(&c->st, e->rtt_us);
	c->member->on_ack(&c->st, &ack);
	c->cwnd = ack.cwnd;
	c->ssthresh = ack.ssthresh;
}

static void trace_step(struct traced *t, const char *name, const struct trace_event *e)
{
	if (!strcmp(e->what, "begin")) {
		trace_begin(t, name, e->acked);
	} else if (!strcmp(e->what, "ack")) {
		trace_ack(&t->c, e);
	} else if (!strcmp(e->what, "again")) {
		t->c.cwnd = 1;
	} else if (!strcmp(e->what, "undo")) {
		t->c.cwnd = t->c.member->undo(&t->c.st, t->c.cwnd);
		t->c.ssthresh = t->ssthresh_before;
	} else {
		t->ssthresh_before = t->c.ssthresh;
		(!strcmp(e->what, "timeout") ? timeout : loss)(&t->c);
	}
}

/* WINDOW, or WINDOW/SSTHRESH where ssthresh is another than before; returns what follows. */
static const char *trace_compare(struct traced *t, const char *recorded, const char *where)
{
	char *end;
	__u32 cwnd = strtoul(recorded, &end, 10);

	if (*end == '/')
		t->recorded_ssthresh = strtoul(end + 1, &end, 10);
	if (t->c.cwnd != cwnd || t->c.ssthresh != t->recorded_ssthresh)
		fail_msg("%s: %s: window %u and ssthresh %u, recorded %u and %u: %s", TRACE,
			 t->c.member->name, t->c.cwnd, t->c.ssthresh, cwnd, t->recorded_ssthresh,
			 where);
	return end + 1;
}

/* What the file says, every engine has to do: see tests/traces/README.md. */
static void the_recorded_sequence_gives_the_recorded_windows(void **state)
{
	struct traced members[FAMILY_MEMBERS];
	unsigned int modes[BITCP_SLOW_START_PAST_MAX + 1] = {0}, losses = 0, undos = 0;
	const struct connection *bitcp = &members[0].c;
	struct trace_event e;
	char line[256];
	int windows;
	FILE *file = fopen(TRACE, "r");

	if (!file)
		fail_msg("%s: cannot be opened from this directory", TRACE);
	while (fgets(line, sizeof(line), file)) {
		const char *recorded = line;

		if (sscanf(line, "%7[a-z],%u,%d,%u,%u,%u,%n", e.what, &e.acked, &e.rtt_us,
			   &e.limited, &e.una, &e.nxt, &windows) != 6)
			continue;
		recorded += windows;
		for (size_t i = 0; i < FAMILY_MEMBERS; i++) {
			trace_step(&members[i], trace_columns[i], &e);
			recorded = trace_compare(&members[i], recorded, line);
		}
		losses += !strcmp(e.what, "loss") || !strcmp(e.what, "timeout");
		undos += !strcmp(e.what, "undo");
		modes[bitcp_mode(&bitcp->st.bitcp, bitcp->cwnd, bitcp->ssthresh)]++;
	}
	fclose(file);
	assert_in_range(losses, 10, 100);
	assert_in_range(undos, 2, 100);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		assert_in_range(modes[i], 30, 10000); /* nothing that bitcp does is left out */
}

static void the_state_fits_the_socket(void **state)
{
	assert_true(sizeof(union family_state) <= 96); /* icsk_ca_priv without struct paced */
	for (size_t i = 0; i < FAMILY_MEMBERS; i++)
		assert_true(strlen(family_members[i].name) < 16); /* TCP_CA_NAME_MAX */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reno_counts_as_the_kernel_does),
		cmocka_unit_test(below_the_low_window_all_but_aimd_are_reno),
		cmocka_unit_test(slow_start_doubles_and_goes_on_as_avoidance),
		cmocka_unit_test(aimd_grows_by_32_and_gives_up_an_eighth),
		cmocka_unit_test(stcp_grows_by_a_hundredth_of_what_is_acknowledged),
		cmocka_unit_test(hstcp_table_is_that_of_the_rfc),
		cmocka_unit_test(hstcp_has_the_values_of_appendix_b),
		cmocka_unit_test(hstcp_follows_the_formulas_between_the_rows),
		cmocka_unit_test(response_functions_are_those_of_the_papers),
		cmocka_unit_test(vegas_parameters_are_the_papers),
		cmocka_unit_test(vegas_keeps_one_to_three_packets_queued),
		cmocka_unit_test(vegas_decides_once_per_round_trip),
		cmocka_unit_test(vegas_slow_start_doubles_every_other_round_trip),
		cmocka_unit_test(vegas_gives_up_a_quarter_at_a_loss),
		cmocka_unit_test(vegas_leaves_a_window_alone_that_is_not_used),
		cmocka_unit_test(vegas_judges_whole_rounds_of_one_window),
		cmocka_unit_test(vegas_does_not_rest_after_a_timeout),
		cmocka_unit_test(vegas_forgets_the_path_when_it_restarts),
		cmocka_unit_test(vegas_without_a_measurement_changes_nothing),
		cmocka_unit_test(a_window_that_is_not_used_does_not_grow),
		cmocka_unit_test(delayed_acks_grow_the_same),
		cmocka_unit_test(undo_returns_to_the_window_before),
		cmocka_unit_test(a_window_set_from_outside_begins_anew),
		cmocka_unit_test(random_lives_keep_the_rules),
		cmocka_unit_test(one_ack_counts_for_one_window_at_most),
		cmocka_unit_test(a_loss_is_met_with_the_window_in_use),
		cmocka_unit_test(nothing_overflows_at_the_extremes),
		cmocka_unit_test(the_recorded_sequence_gives_the_recorded_windows),
		cmocka_unit_test(the_state_fits_the_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
