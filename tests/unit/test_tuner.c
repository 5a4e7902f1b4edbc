// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "lib/tuner.h"

#include "test.h"

#define MS 1000u

static const struct tuner_limits limits = {
	.rcvbuf = 8 << 20,
	.sndbuf = 8 << 20,
	.tuned_rcvbuf = 32 << 20,
	.tuned_sndbuf = 4 << 20,
};

static unsigned int rcvbuf = 131072;

/* A receiver of @rate bytes per second, with a window of @window bytes, after @ms. */
static struct tuner_sample receiver(unsigned int ms, unsigned int rate, unsigned int window)
{
	struct tuner_sample s = {.rcvbuf = rcvbuf};

	s.info.tcp.tcpi_state = DIAG_ESTABLISHED;
	s.info.tcp.tcpi_rcv_rtt = 50 * MS;
	s.info.tcp.tcpi_rcv_mss = 1448;
	s.info.tcp.tcpi_rcv_wscale = 7;
	s.info.tcp.tcpi_bytes_received = (__u64)rate * ms / 1000;
	s.info.tcp.tcpi_data_segs_in = rate / 1000 * ms / 1000; /* of 1000 bytes */
	s.info.words[offsetof(struct tcp_info, tcpi_snd_wnd) / 4 + 1] = window;
	return s;
}

static struct tuner_sample sender(unsigned int cwnd, unsigned int sndbuf)
{
	struct tuner_sample s = {.sndbuf = sndbuf};

	s.info.tcp.tcpi_state = DIAG_ESTABLISHED;
	s.info.tcp.tcpi_rtt = 100 * MS;
	s.info.tcp.tcpi_snd_mss = 1000;
	s.info.tcp.tcpi_snd_cwnd = cwnd;
	s.info.tcp.tcpi_bytes_acked = 1 << 20;
	s.info.tcp.tcpi_min_rtt = 50 * MS;
	s.info.tcp.tcpi_delivery_rate = cwnd * 1000ull * 10;
	return s;
}

/* Samples a receiver every 50 ms for a second; returns the largest window that was asked for. */
static unsigned int largest_grow(unsigned int rate, unsigned int window)
{
	struct tuner tuner = {0};
	struct tuner_action action;
	unsigned int largest = 0;

	for (unsigned int ms = 50; ms <= 1000; ms += 50) {
		struct tuner_sample s = receiver(ms, rate, window);

		tuner_decide(&tuner, &limits, &s, 1000000 + ms * MS, ms * MS, &action);
		assert_int_equal(action.clamp, 0);
		if (action.grow > largest)
			largest = action.grow;
	}
	return largest;
}

TEST(a_window_below_twice_the_bytes_of_a_round_trip_grows_to_four_times)
{
	/* 10 MB/s and 50 ms: 500 KB. */
	assert_int_equal(largest_grow(10000000, 600000), 2000000);
	assert_int_equal(largest_grow(10000000, 1100000), 0);
	rcvbuf = limits.tuned_rcvbuf; /* it cannot grow */
	assert_int_equal(largest_grow(10000000, 600000), 0);
	rcvbuf = 131072;
}

TEST(bytes_beyond_a_gap_count_when_they_arrive)
{
	struct tuner tuner = {0};
	struct tuner_action action;
	struct tuner_sample s = receiver(1000, 10000000, 600000);

	tuner_decide(&tuner, &limits, &s, 1000000, 0, &action);
	assert_int_equal(tuner.received, 10000000);
	s = receiver(1100, 10000000, 600000);
	s.info.tcp.tcpi_bytes_received = 10000000;
	s.info.tcp.tcpi_rcv_ooopack = 1000;
	tuner_decide(&tuner, &limits, &s, 1100000, 100000, &action);
	assert_int_equal(tuner.received, 11000000);
	s = receiver(1200, 10000000, 600000); /* it is filled, and 2 MB are received at once */
	s.info.tcp.tcpi_rcv_ooopack = 1000;
	tuner_decide(&tuner, &limits, &s, 1200000, 200000, &action);
	assert_int_equal(tuner.received, 12000000);
}

TEST(a_seed_is_asked_for_once_when_the_first_window_is_used_up)
{
	struct tuner tuner = {.seed = 2000000, .unlocked = 1};
	struct tuner_sample s = receiver(0, 10000000, 65535);
	struct tuner_action action;

	assert_false(tuner_decide(&tuner, &limits, &s, 1000000, 0, &action));
	s = receiver(100, 655340, 65535); /* a byte is missing */
	assert_false(tuner_decide(&tuner, &limits, &s, 1000000, 0, &action));
	s = receiver(100, 655350, 65535);
	assert_true(tuner_decide(&tuner, &limits, &s, 1000000, 0, &action));
	assert_int_equal(action.grow, 2000000);
	assert_false(tuner_decide(&tuner, &limits, &s, 1000000, 0, &action));
	tuner.seed = 20000000; /* half of tcp_rmem's maximum is the window's */
	tuner_decide(&tuner, &limits, &s, 1000000, 0, &action);
	assert_int_equal(action.grow, 16 << 20);
	tuner.seed = 60000;
	s.info.tcp.tcpi_rcv_ssthresh = 65535;
	assert_false(tuner_decide(&tuner, &limits, &s, 1000000, 0, &action));
}

TEST(the_kernel_grows_a_window_first)
{
	struct tuner tuner = {0};
	struct tuner_action action;

	for (unsigned int ms = 50; ms <= 1000; ms += 50) {
		struct tuner_sample s = receiver(ms, 10000000, 600000);

		s.rcvbuf += ms / 100 * 1000; /* at every other sample */
		tuner_decide(&tuner, &limits, &s, 1000000 + ms * MS, ms * MS, &action);
		assert_int_equal(action.grow, 0);
	}
}

TEST(a_silence_is_not_the_time_between_samples)
{
	struct tuner tuner = {0};
	struct tuner_action action;
	struct tuner_sample s = receiver(1000, 10000000, 600000);

	tuner_decide(&tuner, &limits, &s, 1000000, 0, &action);
	s = receiver(1500, 10000000, 600000);
	tuner_decide(&tuner, &limits, &s, 1500000, 500000, &action);
	assert_int_equal(tuner.receive.interval_silent_us, 0);
	s.info.tcp.tcpi_last_data_recv = 40;
	tuner_decide(&tuner, &limits, &s, 1600000, 600000, &action);
	assert_int_equal(tuner.receive.seen_us, 1600000);
}

/* Less than twice the bytes of a minimum RTT of 50 ms, of which each needs two bytes of memory. */
TEST(a_send_buffer_at_the_kernels_maximum_gets_that_of_so_sndbuf)
{
	struct tuner_action action;
	struct tuner tuner = {0};
	struct tuner_sample s = sender(2200, 4 << 20); /* 22 MB/s */

	assert_true(tuner_decide(&tuner, &limits, &s, 1000000, 0, &action));
	assert_int_equal(action.sndbuf, 8 << 20);
	s = sender(2200, 3 << 20); /* autotuning still enlarges it */
	tuner_decide(&tuner, &limits, &s, 1100000, 0, &action);
	assert_int_equal(action.sndbuf, 0);
	s = sender(2000, 4 << 20);
	tuner_decide(&tuner, &limits, &s, 1200000, 0, &action);
	assert_int_equal(action.sndbuf, 0);
}

TEST(unsent_data_is_limited_unless_another_does)
{
	struct tuner_limits administered = limits;
	struct tuner_action action;
	struct tuner tuner = {0};
	struct tuner_sample s = sender(1000, 3 << 20);

	/* 10 MB/s x an eighth of 100 ms, but at least 128 KiB. */
	tuner_decide(&tuner, &limits, &s, 1000000, 0, &action);
	assert_int_equal(action.unsent, 131072);
	s = sender(2000, 3 << 20);
	tuner_decide(&tuner, &limits, &s, 1000000, 0, &action);
	assert_int_equal(action.unsent, 250000);
	/* The application asked for a smaller buffer, and does not have it. */
	tuner.asked = 65536;
	tuner_decide(&tuner, &limits, &s, 1000000, 0, &action);
	assert_int_equal(action.unsent, 65536);
	tuner.asked = 0;
	/* A buffer of 128 KiB is the limit, but not if the connection was given a smaller one. */
	tuner.unsent = 0;
	s = sender(2000, 131072);
	tuner_decide(&tuner, &limits, &s, 1000000, 0, &action);
	assert_int_equal(action.unsent, 0);
	tuner.unsent = 100000;
	tuner_decide(&tuner, &limits, &s, 1000000, 0, &action);
	assert_int_equal(action.unsent, 250000);
	tuner.unsent = 0;
	s = sender(2000, 3 << 20);
	administered.unsent = 1;
	tuner_decide(&tuner, &administered, &s, 1000000, 0, &action);
	assert_int_equal(action.unsent, 0);
	tuner.unsent_foreign = 1;
	tuner_decide(&tuner, &limits, &s, 1000000, 0, &action);
	assert_int_equal(action.unsent, 0);
}

TEST(nothing_is_set_before_128_kib)
{
	struct tuner_action action;
	struct tuner tuner = {.unlocked = 1};
	struct tuner_sample s = sender(2000, 4 << 20);

	s.info.tcp.tcpi_bytes_acked = 131071;
	assert_false(tuner_decide(&tuner, &limits, &s, 1000000, 0, &action));
}

TEST(a_sample_is_due_after_a_round_trip)
{
	struct tuner_sample s = sender(1, 1);

	assert_int_equal(tuner_interval_us(&s), 106250);
	s.info.tcp.tcpi_rtt = 100;
	assert_int_equal(tuner_interval_us(&s), 5000);
	s.info.tcp.tcpi_rtt = 5000000;
	assert_int_equal(tuner_interval_us(&s), 1000000);
	s = receiver(1000, 10000000, 1);
	assert_int_equal(tuner_interval_us(&s), 53125);
}
