// SPDX-License-Identifier: GPL-2.0-only
/* resume.h: which window a pause leaves, when it is validated, and what a loss leaves of it. */
#include "test.h"
#include "tcptuned/algo/resume.h"

#define MSS 1000u

/*
 * RFC 7661: half of the window carried in a round trip validates it, for five minutes. Slow start
 * soon has 40 packets.
 */
TEST(the_window_after_a_pause)
{
	static const struct {
		__u32 pause_s, cwnd, pipe, window; /* 0: slow start, as the kernel has it */
	} rows[] = {
		{2, 800, 800, 800},   {2, 800, 400, 800},   {2, 800, 300, 600},
		{299, 800, 800, 800}, {300, 800, 800, 400}, {1199, 800, 800, 100},
		{1500, 800, 800, 0},  {9600, ~0u, ~0u, 0},  {2, 40, 40, 40},
		{2, 39, 39, 0},	      {2, 800, 0, 0},	    {2, ~0u, 1 << 30, 1u << 31},
	};

	for_each_row (row, rows) {
		struct resume r = {.state = RESUME_VALIDATING, .packets = 5};
		bool resumes = resume_after_pause(&r, row->pause_s, row->cwnd, row->pipe);

		assert_int_equal(resumes, row->window != 0);
		assert_int_equal(r.state, resumes ? RESUME_READY : RESUME_NORMAL);
		if (resumes)
			assert_int_equal(resume_begin(&r, 10, 1, 7), row->window);
	}
}

/* Sequence numbers and counts of packets begin anywhere. */
#define ISN	  0xfffff000u
#define DELIVERED 0xfffffff0u

/*
 * A connection that resumed with @window packets, in the place of @restart that the kernel had
 * left.
 */
static struct resume resumed(__u32 window, __u32 restart)
{
	struct resume r = {0};

	resume_after_pause(&r, 2, window, window);
	assert_int_equal(resume_begin(&r, restart, ISN, DELIVERED),
			 window > restart ? window : restart);
	return r;
}

/* Of @sent packets since, @acked are acknowledged. */
static __u32 acknowledge(struct resume *r, __u32 cwnd, __u32 acked, __u32 sent)
{
	struct congestion_ack a = {
		.cwnd = cwnd, .una = ISN + acked * MSS, .nxt = ISN + sent * MSS, .acked = acked};

	return resume_on_ack(r, &a, sent - acked);
}

/*
 * RFC 9959, Validating Phase: the window is what was in flight, at the first ACK, and validated
 * when that is acknowledged.
 */
TEST(a_window_is_validated)
{
	static const struct {
		__u32 sent, cwnd;
	} rows[] = {{100, 100}, {60, 60}, {12, 12}, {4, 10}};

	for_each_row (row, rows) {
		struct resume r = resumed(100, 10);
		__u32 cwnd = acknowledge(&r, 100, 2, row->sent);

		assert_int_equal(cwnd, row->cwnd);
		assert_int_equal(r.state, RESUME_VALIDATING);
		cwnd += 7; /* the congestion control goes on from there, and more is sent */
		assert_int_equal(acknowledge(&r, cwnd, row->sent - 1, row->sent + 50), cwnd);
		assert_int_equal(r.state, RESUME_VALIDATING);
		assert_int_equal(acknowledge(&r, cwnd, row->sent, row->sent + 50), cwnd);
		assert_int_equal(r.state, RESUME_NORMAL);
		assert_int_equal(resume_retreat(&r, DELIVERED + row->sent + 3), 0);
	}
}

/*
 * The kernel halves a window once for each RTO of a pause: after a short one it may leave more than
 * was carried.
 */
TEST(not_less_than_the_kernel)
{
	static const struct {
		__u32 restart, validated;
	} rows[] = {{50, 50}, {150, 150}, {100000, 65535}};

	for_each_row (row, rows) {
		struct resume r = resumed(100, row->restart);

		assert_int_equal(acknowledge(&r, row->restart > 100 ? row->restart : 100, 1, 21),
				 row->validated);
	}
}

/*
 * RFC 9959, Safe Retreat Phase: a loss leaves what the path has carried, and not less than an
 * initial window.
 */
TEST(a_loss_before_that)
{
	static const struct {
		__u32 acked, sacked, window;
	} rows[] = {{0, 0, 10}, {0, 12, 12}, {20, 0, 20}, {20, 30, 50}};

	for_each_row (row, rows) {
		struct resume r = resumed(100, 10);

		if (row->acked)
			acknowledge(&r, 100, row->acked, 100);
		assert_int_equal(resume_retreat(&r, DELIVERED + row->acked + row->sacked),
				 row->window);
		assert_int_equal(r.state, RESUME_NORMAL);
		assert_int_equal(resume_retreat(&r, DELIVERED + row->acked + row->sacked), 0);
	}
}

/* An ACK of what was sent before the pause ends it: nothing was sent since. */
TEST(an_ack_before_the_first_segment)
{
	struct resume r = {0};

	assert_true(resume_after_pause(&r, 2, 100, 100));
	assert_int_equal(acknowledge(&r, 10, 1, 1), 10);
	assert_int_equal(r.state, RESUME_NORMAL);
}

/* ---- a known path ---------------------------------------------------------------------- */

#define NOW_US 5000000000000ull

/* A connection that may jump to @window packets: to how many an ACK allows. The path has 100 ms. */
static __u32 jumps(__u32 window, __u32 cwnd, __u32 delivered, __u8 limited, __u32 rtt_us,
		   __u64 after_us)
{
	struct congestion_ack a = {.cwnd = cwnd, .ssthresh = ~0u >> 1, .limited = limited};
	struct resume r = {0};

	resume_known(&r, window, NOW_US);
	return resume_may_jump(&r, &a, delivered, rtt_us, 100000, NOW_US + after_us) ? r.packets
										     : 0;
}

/*
 * RFC 9959, Reconnaissance Phase: the initial window is acknowledged without a loss, and more is to
 * be sent. What is known expires before another connection may jump (path.h).
 */
TEST(a_jump_follows_the_initial_window)
{
	assert_int_equal(jumps(800, 20, 11, 1, 100000, 100000), 800); /* and a SYN */
	assert_int_equal(jumps(800, 19, 10, 1, 100000, 100000), 0);
	assert_int_equal(jumps(800, 20, 11, 0, 100000, 100000), 0);
	assert_int_equal(jumps(40, 40, 11, 1, 100000, 100000), 0);
	assert_int_equal(jumps(39, 20, 11, 1, 100000, 100000), 0); /* slow start soon has that */
	assert_int_equal(jumps(800, 20, 11, 1, 100000, 2000000), 800);
	assert_int_equal(jumps(800, 20, 11, 1, 100000, 3200000), 0);
}

/* A connection that sends little does not keep what is known, which a late loss would end. */
TEST(what_is_known_expires_without_a_jump)
{
	struct congestion_ack a = {.cwnd = 20, .ssthresh = ~0u, .limited = 0};
	struct resume r = {0};

	resume_known(&r, 800, NOW_US);
	assert_true(!resume_may_jump(&r, &a, 0, 100000, 100000, NOW_US + 2000000));
	assert_int_equal(r.state, RESUME_KNOWN);
	assert_true(!resume_may_jump(&r, &a, 0, 100000, 100000, NOW_US + 3200000));
	assert_int_equal(r.state, RESUME_NORMAL);
	assert_int_equal(r.jumps, 0);
}

/* Ten packets that take 1 ms are a path of 1000 in 100 ms. */
TEST(a_slower_path_is_noticed)
{
	assert_int_equal(jumps(800, 20, 11, 1, 101000, 100000), 800);
	assert_int_equal(jumps(800, 20, 11, 1, 101250, 100000), 800);
	assert_int_equal(jumps(800, 20, 11, 1, 102000, 100000), 500);
	assert_int_equal(jumps(800, 20, 11, 1, 110000, 100000), 100);
	assert_int_equal(jumps(800, 20, 11, 1, 150000, 100000), 0);
	assert_int_equal(jumps(800, 20, 11, 1, 90000, 100000), 800);
	assert_int_equal(jumps(1u << 31, 20, 11, 1, ~0u, 100000), 0);
	assert_int_equal(jumps(800, 20, 11, 1, 0, 100000), 0); /* not known: no SACK */
}

/* HyStart has ended slow start before. */
TEST(nothing_follows_the_end_of_slow_start)
{
	struct congestion_ack a = {.cwnd = 20, .ssthresh = 20, .limited = 1};
	struct resume r = {0};

	resume_known(&r, 800, NOW_US);
	assert_true(!resume_may_jump(&r, &a, 11, 100000, 100000, NOW_US));
	assert_int_equal(r.state, RESUME_NORMAL);
}

/* A jump that hardly anything was sent with leaves what slow start had. */
TEST(not_less_than_slow_start)
{
	struct congestion_ack a = {.cwnd = 800, .una = ISN + MSS, .nxt = ISN + 3 * MSS, .acked = 1};
	struct resume r = {0};

	resume_known(&r, 800, NOW_US);
	assert_int_equal(resume_begin(&r, 20, ISN, DELIVERED), 800);
	assert_int_equal(resume_on_ack(&r, &a, 2), 20);

	/* ... with what is acknowledged meanwhile */
	resume_known(&r, 800, NOW_US);
	resume_begin(&r, 20, ISN, DELIVERED);
	a = struct_of(congestion_ack, .cwnd = 800, .una = ISN - MSS, .nxt = ISN + MSS, .acked = 16);
	assert_int_equal(resume_on_ack(&r, &a, 2), 800);
	a.una = ISN + MSS;
	assert_int_equal(resume_on_ack(&r, &a, 0), 36);
}

/* What is too little to jump to has not been lost. */
TEST(a_small_window_is_not_lost)
{
	struct resume r = {0};

	resume_known(&r, 39, NOW_US);
	assert_int_equal(r.state, RESUME_NORMAL);
	assert_int_equal(r.jumps, 0);
}

/*
 * A loss of the initial window ends what is known, one of the jump leaves what was delivered since.
 */
TEST(a_loss_of_a_jump)
{
	struct congestion_ack a = {.cwnd = 20, .ssthresh = ~0u, .limited = 1};
	struct resume r = {0};

	resume_known(&r, 800, NOW_US);
	assert_int_equal(resume_retreat(&r, DELIVERED), 0);
	assert_int_equal(r.jumps, 1);
	assert_true(!resume_may_jump(&r, &a, DELIVERED + 20, 100000, 100000, NOW_US));
	resume_known(&r, 800, NOW_US);
	resume_begin(&r, 20, ISN, DELIVERED);
	assert_int_equal(resume_retreat(&r, DELIVERED + 60), 60);
}

/*
 * Whatever comes, the window is neither larger than before the pause nor smaller than the kernel's,
 * and no ACK raises it.
 */
TEST(any_input)
{
	for (int i = 0; i < 200000; i++) {
		struct congestion_ack a = {.nxt = (__u32)random64()};
		__u32 cwnd = (__u32)random_scaled(1, 1 << 30),
		      pipe = (__u32)random_scaled(0, 1 << 30);
		__u32 restart = (__u32)random_between(1, cwnd < 65535 ? cwnd : 65535);
		__u32 begin = (__u32)random64(), delivered = begin;
		struct resume r = {0};
		bool resumes =
			resume_after_pause(&r, (__u32)random_scaled(0, UINT32_MAX), cwnd, pipe);

		a.cwnd = resumes ? resume_begin(&r, restart, a.nxt - (1u << 21), begin) : cwnd;
		assert_true(a.cwnd <= cwnd);
		assert_true(!resumes || a.cwnd <= 2ull * pipe + 1 || a.cwnd == restart);
		for (int ack = 0; ack < 8; ack++) {
			__u32 before = a.cwnd;

			delivered += (__u32)random_between(0, 64);
			a.una = a.nxt - (__u32)random_scaled(0, 1 << 20);
			a.cwnd = resume_on_ack(&r, &a, (__u32)random_scaled(0, 1 << 20));
			assert_true(a.cwnd <= before && a.cwnd >= (resumes ? restart : before));
		}
		assert_in_range(resume_retreat(&r, delivered), 0,
				delivered - begin < 10 ? 10 : delivered - begin);
		assert_int_equal(r.state, RESUME_NORMAL);
	}
}
