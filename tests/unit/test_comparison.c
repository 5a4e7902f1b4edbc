// SPDX-License-Identifier: GPL-2.0-only
/*
 * The congestion controls that bitcp is compared with (bench/cc), against RFC 3649, RFC 5681 and
 * the papers' numbers; and what holds for all of them, in random lives.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../../bench/cc/family.h"
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

/* --- Vegas: Brakmo and Peterson, with the values of Feng and Tinnakornsrisuphap --------- */

#define BASE_RTT_US 100000

/* A path that holds @pipe packets; what is in flight beyond that waits in a queue. */
static void vegas_round_trip(struct connection *c, __u32 pipe)
{
	__u32 window = c->cwnd;
	__u32 rtt = window > pipe ? (__u64)BASE_RTT_US * window / pipe : BASE_RTT_US;

	for (__u32 n = window; n; n--) {
		c->member->on_rtt(&c->st, rtt);
		ack(c, 1);
	}
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
				vegas_round_trip(&c, pipes[i]);
			settled = c.cwnd;
			assert_in_range(settled, pipes[i] + VEGAS_ALPHA, pipes[i] + VEGAS_BETA);
			for (int n = 0; n < 50; n++) {
				vegas_round_trip(&c, pipes[i]);
				assert_int_equal(c.cwnd, settled);
			}
		}
}

static void vegas_gives_up_a_quarter_at_a_loss(void **state)
{
	struct connection c = connection("tt_vegas", 100);

	vegas_round_trip(&c, 200);
	c.cwnd = 101;
	loss(&c);
	assert_int_equal(c.cwnd, 75);
	assert_int_equal(c.ssthresh, 75);
	c.cwnd = 2;
	loss(&c);
	assert_int_equal(c.cwnd, 2);
}

/* --- all of them --------------------------------------------------------------------------- */

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
		cmocka_unit_test(aimd_grows_by_32_and_gives_up_an_eighth),
		cmocka_unit_test(stcp_grows_by_a_hundredth_of_what_is_acknowledged),
		cmocka_unit_test(hstcp_table_is_that_of_the_rfc),
		cmocka_unit_test(hstcp_has_the_values_of_appendix_b),
		cmocka_unit_test(vegas_keeps_one_to_three_packets_queued),
		cmocka_unit_test(vegas_gives_up_a_quarter_at_a_loss),
		cmocka_unit_test(random_lives_keep_the_rules),
		cmocka_unit_test(the_state_fits_the_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
