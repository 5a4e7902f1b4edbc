// SPDX-License-Identifier: GPL-2.0-only
/*
 * The congestion controls that bitcp is compared with (bench/cc), against RFC 3649, RFC 5681 and
 * the papers' numbers; and invariants of all of them under random events.
 */
#include "test.h"
#include "family.h"

#define NO_SLOW_START 0u /* an ssthresh below every window */

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

static void round_trip(struct connection *c)
{
	for (__u32 n = c->cwnd; n; n--)
		ack(c, 1);
}

/* tcp_cong_avoid_ai() of net/ipv4/tcp_cong.c, while nothing else sets the window. */
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

TEST(reno_counts_as_the_kernel_does)
{
	struct connection c = connection("tt_reno", 10);
	__u32 cwnd = 10, count = 0;

	random_state = 1;
	for (int i = 0; i < 200000; i++) {
		__u32 acked = 1 + random64() % 2;

		cwnd = kernel_cong_avoid(&count, cwnd, acked);
		ack(&c, acked);
		assert_int_equal(c.cwnd, cwnd);
		if (random64() % 5000)
			continue;
		loss(&c);
		cwnd = cwnd / 2 > 2 ? cwnd / 2 : 2;
		count = 0;
		assert_int_equal(c.cwnd, cwnd);
	}
}

TEST(below_the_low_window_all_but_aimd_are_reno)
{
	static const struct {
		const char *name;
		__u32 low;
	} members[] = {{"stcp", STCP_LOW_WINDOW}, {"hstcp", HSTCP_LOW_WINDOW + 1}};

	assert_int_equal(STCP_LOW_WINDOW, 16);
	assert_int_equal(HSTCP_LOW_WINDOW, 38);
	for_each_row (m, members) {
		struct connection c = connection(m->name, 2);

		for (__u32 w = 2; w < m->low; w++) {
			struct connection lost = c;

			assert_int_equal(c.cwnd, w);
			loss(&lost);
			assert_int_equal(lost.cwnd, w / 2 > 2 ? w / 2 : 2);
			round_trip(&c);
		}
	}
}

TEST(aimd_grows_by_32)
{
	struct connection c = connection("aimd", 1000);

	for (__u32 n = 1000; n; n--)
		ack(&c, 1);
	/* The window is not 1000 all the while: 32 * sum of 1/w, with w from 1000 to 1031. */
	assert_near(c.cwnd, 1031.5, 0.5);
	c = connection("aimd", 2); /* no low window */
	ack(&c, 2);
	assert_int_equal(c.cwnd, 34);
}

TEST(stcp_grows_by_a_hundredth_of_what_is_acknowledged)
{
	static const __u32 windows[] = {16, 37, 100, 5000, 83000, 1 << 20};

	for_each_row (window, windows) {
		struct connection c = connection("stcp", *window);

		for (__u32 n = 1; n <= 1000; n++) {
			ack(&c, 1);
			assert_int_equal(c.cwnd, *window + n / 100);
		}
	}
}

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
TEST(hstcp_table_is_that_of_the_rfc)
{
	double last = 1;
	__u32 rows = 1;

	assert_int_equal(hstcp_table[0].w, 38);
	assert_int_equal(hstcp_table[0].a, 1 << 16);
	assert_int_equal(hstcp_table[0].b, 1u << 31);
	for (__u32 w = 38; w < 100000; w++) {
		double a = rfc3649_a(w);

		if (w <= hstcp_table[HSTCP_ROWS - 1].w) { /* a straight line between rows */
			assert_near(hstcp_increase(w) / 65536.0, a, 0.1);
			assert_near(hstcp_decrease(w) / Q32, rfc3649_b(w), 0.01);
		}
		if (a <= last + 1)
			continue;
		last = a;
		assert_in_range(rows, 1, HSTCP_ROWS - 1);
		assert_int_equal(hstcp_table[rows].w, w);
		assert_near(hstcp_table[rows].a, a * 65536, 1);
		assert_near(hstcp_table[rows].b, rfc3649_b(w) * Q32, 1);
		rows++;
	}
	assert_int_equal(rows, HSTCP_ROWS);
	assert_int_equal(hstcp_table[10].w, 1793); /* two rows as the RFC prints them */
	assert_int_equal(hstcp_table[70].w, 84035);
}

#define BASE_RTT_US 100000

/* A path holds @pipe packets. What is in flight beyond that waits in a queue. */
static void vegas_round_trip(struct connection *c, __u32 pipe)
{
	__u32 window = c->cwnd;
	__u32 rtt = window > pipe ? (__u64)BASE_RTT_US * window / pipe : BASE_RTT_US;

	for (__u32 n = window; n; n--) {
		c->member->on_rtt(&c->st, rtt);
		ack(c, 1);
	}
}

TEST(vegas_keeps_one_to_three_packets_queued)
{
	static const __u32 pipes[] = {4, 10, 100, 1000};
	static const double starts[] = {0.5, 0.9, 1.0, 1.2, 2};

	for_each_row (pipe, pipes)
		for (size_t j = 0; j < ARRAY_SIZE(starts); j++) {
			struct connection c = connection("tt_vegas", fmax(*pipe * starts[j], 2));
			__u32 settled;

			/* The base RTT is seen once, before other connections fill the queue. */
			c.member->on_rtt(&c.st, BASE_RTT_US);
			for (__u32 n = 0; n < *pipe + 10; n++)
				vegas_round_trip(&c, *pipe);
			settled = c.cwnd;
			assert_in_range(settled, *pipe + VEGAS_ALPHA, *pipe + VEGAS_BETA);
			for (int n = 0; n < 50; n++) {
				vegas_round_trip(&c, *pipe);
				assert_int_equal(c.cwnd, settled);
			}
		}
}

TEST(window_after_a_loss)
{
	static const struct {
		const char *name;
		__u32 cwnd, after;
	} rows[] = {{"aimd", 1031, 902},    {"stcp", 16, 14},	       {"stcp", 37, 32},
		    {"stcp", 83000, 72625}, {"stcp", 1 << 20, 917504}, {"tt_vegas", 101, 75},
		    {"tt_vegas", 2, 2}};

	for_each_row (r, rows) {
		struct connection c = connection(r->name, r->cwnd);

		loss(&c);
		assert_int_equal(c.cwnd, r->after);
	}
}

/* Asserts the invariants after each of 2000 random events. */
static void one_life(const struct family_member *m, __u32 top)
{
	struct connection c = connection_of(m, random_scaled(1, top), random_scaled(0, top));
	bool vegas = !strcmp(m->name, "tt_vegas");

	for (int n = 0; n < 2000; n++) {
		__u32 before = c.cwnd, acked = random_scaled(0, UINT_MAX);

		switch (random64() % 64) {
		case 0:
			loss(&c);
			assert_in_range(c.cwnd, 2, before > 2 ? before : 2);
			break;
		case 1:
			loss(&c); /* a timeout */
			c.cwnd = 1;
			break;
		case 2:
			c.cwnd = m->undo(&c.st, c.cwnd);
			assert_true(c.cwnd >= before);
			break;
		case 3:
			c.cwnd = random_scaled(1, top); /* from outside */
			break;
		case 4:
			c.ssthresh = random64() % 2 ? 0x7fffffff : random_scaled(0, top);
			break;
		case 5:
			ack_when(&c, acked, false);
			assert_true(c.cwnd <= before);
			break;
		default:
			m->on_rtt(&c.st, random_scaled(0, 10000000));
			ack(&c, random64() % 8 ? acked % 4 : acked);
			if (!vegas)
				assert_true(c.cwnd >= before);
			break;
		}
		assert_in_range(c.cwnd, 1, CONGESTION_MAX_CWND);
	}
}

TEST(random_lives_keep_the_rules)
{
	static const __u32 tops[] = {20, 100, 10000, 1 << 20, CONGESTION_MAX_CWND};

	random_state = 20261121;
	for (size_t i = 0; i < FAMILY_MEMBERS; i++)
		for_each_row (top, tops)
			for (int n = 0; n < 40; n++)
				one_life(&family_members[i], *top);
}

TEST(the_state_fits_the_socket)
{
	assert_true(sizeof(union family_state) <=
		    96); /* of 104, whose last 12 bitcp.h leaves to congestion.h */
	for (size_t i = 0; i < FAMILY_MEMBERS; i++)
		assert_true(strlen(family_members[i].name) < 16); /* TCP_CA_NAME_MAX */
}
