// SPDX-License-Identifier: GPL-2.0-only
/* resume.h: which window a pause leaves, when it is validated, and what a loss leaves of it. */
#include "test.h"
#include "tcptuned/algo/resume.h"

#define MSS 1000u

/*
 * RFC 7661: half of the window carried in a round trip validates it, for five minutes; slow start soon has 40
 * packets.
 */
TEST(the_window_after_a_pause)
{
	static const struct {
		__u32 pause_s, cwnd, pipe, restart,
			window; /* 0: slow start, as the kernel has it */
	} rows[] = {
		{2, 800, 800, 10, 800},
		{2, 800, 400, 10, 800},
		{2, 800, 300, 10, 600},
		{299, 800, 800, 10, 800},
		{300, 800, 800, 10, 400},
		{1199, 800, 800, 10, 100},
		{1500, 800, 800, 10, 0},
		{9600, ~0u, ~0u, 10, 0},
		{2, 40, 40, 10, 40},
		{2, 39, 39, 10, 0},
		{2, 800, 0, 10, 0},
		{2, 800, 800, 800, 0},
		{2, ~0u, 1 << 30, 10, 1u << 31},
	};

	for_each_row (row, rows) {
		struct resume r = {.state = RESUME_VALIDATING, .packets = 5};
		bool resumes =
			resume_after_pause(&r, row->pause_s, row->cwnd, row->pipe, row->restart);

		assert_int_equal(resumes, row->window != 0);
		assert_int_equal(r.state, resumes ? RESUME_READY : RESUME_NORMAL);
		if (resumes)
			assert_int_equal(resume_begin(&r, row->restart), row->window);
	}
}

/* A connection that resumed with @window packets. */
static struct resume resumed(__u32 window)
{
	struct resume r = {0};

	resume_after_pause(&r, 2, window, window, 10);
	assert_int_equal(resume_begin(&r, 10), window);
	return r;
}

static __u32 acknowledge(struct resume *r, __u32 cwnd, __u32 una, __u32 nxt, __u32 acked)
{
	struct congestion_ack a = {
		.cwnd = cwnd, .acked = acked, .una = una * MSS, .nxt = nxt * MSS};

	return resume_on_ack(r, &a, nxt - una);
}

/*
 * RFC 9959, Validating Phase: the window is what was in flight, at the first ACK, and validated when that is
 * acknowledged.
 */
TEST(a_window_is_validated)
{
	static const struct {
		__u32 sent, cwnd;
	} rows[] = {{100, 100}, {60, 60}, {12, 12}, {4, 10}};

	for_each_row (row, rows) {
		struct resume r = resumed(100);
		__u32 cwnd = acknowledge(&r, 100, 2, row->sent, 2);

		assert_int_equal(cwnd, row->cwnd);
		assert_int_equal(r.state, RESUME_VALIDATING);
		cwnd += 7; /* the congestion control goes on from there, and more is sent */
		assert_int_equal(
			acknowledge(&r, cwnd, row->sent - 1, row->sent + 50, row->sent - 3), cwnd);
		assert_int_equal(r.state, RESUME_VALIDATING);
		assert_int_equal(acknowledge(&r, cwnd, row->sent, row->sent + 50, 1), cwnd);
		assert_int_equal(r.state, RESUME_NORMAL);
		assert_int_equal(resume_retreat(&r, 3), 0);
	}
}

/*
 * The kernel halves a window once for each RTO of a pause: after a short one it may leave more than the path has
 * carried.
 */
TEST(not_less_than_the_kernel)
{
	static const struct {
		__u32 restart, begin, validated;
	} rows[] = {{50, 100, 50}, {150, 150, 150}};

	for_each_row (row, rows) {
		struct resume r = {0};

		assert_true(resume_after_pause(&r, 2, 300, 50, 10));
		assert_int_equal(resume_begin(&r, row->restart), row->begin);
		assert_int_equal(acknowledge(&r, row->begin, 1, 21, 1), row->validated);
	}
}

/* RFC 9959, Safe Retreat Phase: a loss leaves what the path has carried, and not less than an initial window. */
TEST(a_loss_before_that)
{
	static const struct {
		__u32 acked, sacked, window;
	} rows[] = {{0, 0, 10}, {0, 12, 12}, {20, 0, 20}, {20, 30, 50}};

	for_each_row (row, rows) {
		struct resume r = resumed(100);

		if (row->acked)
			acknowledge(&r, 100, row->acked, 100, row->acked);
		assert_int_equal(resume_retreat(&r, row->sacked), row->window);
		assert_int_equal(r.state, RESUME_NORMAL);
		assert_int_equal(resume_retreat(&r, row->sacked), 0);
	}
}

/* An ACK of what was sent before the pause ends it: nothing was sent since. */
TEST(an_ack_before_the_first_segment)
{
	struct resume r = {0};

	assert_true(resume_after_pause(&r, 2, 100, 100, 10));
	assert_int_equal(acknowledge(&r, 10, 1, 1, 1), 10);
	assert_int_equal(r.state, RESUME_NORMAL);
}

/*
 * Whatever comes, the window is not larger than before the pause, no ACK raises it, and what retreats carried
 * something.
 */
TEST(any_input)
{
	for (int i = 0; i < 200000; i++) {
		struct congestion_ack a = {.acked = (__u32)random_between(0, 64),
					   .nxt = (__u32)random64()};
		__u32 cwnd = (__u32)random_scaled(1, 1 << 30),
		      pipe = (__u32)random_scaled(0, 1 << 30);
		__u32 restart = (__u32)random_between(1, cwnd), carried = 0;
		struct resume r = {0};
		bool resumes = resume_after_pause(&r, (__u32)random_scaled(0, UINT32_MAX), cwnd,
						  pipe, (__u32)random_scaled(1, 1000));

		a.cwnd = resumes ? resume_begin(&r, restart) : cwnd;
		assert_true(a.cwnd <= cwnd);
		assert_true(!resumes || a.cwnd <= 2ull * pipe + 1 || a.cwnd == restart);
		for (int ack = 0; ack < 8; ack++) {
			__u32 before = a.cwnd;

			a.una = a.nxt - (__u32)random_scaled(0, 1 << 20);
			a.cwnd = resume_on_ack(&r, &a, (__u32)random_scaled(0, 1 << 20));
			carried += a.acked;
			assert_true(a.cwnd <= before && a.cwnd >= (resumes ? restart : before));
		}
		assert_in_range(resume_retreat(&r, 5), 0, carried + 5 < 10 ? 10 : carried + 5);
		assert_int_equal(r.state, RESUME_NORMAL);
	}
}
