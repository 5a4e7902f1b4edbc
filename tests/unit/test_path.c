// SPDX-License-Identifier: GPL-2.0-only
/* Path memory: what is kept, how it ages, and which window it gives a new connection. */
#include "test.h"
#include "tcptuned/algo/path.h"

#define DAY    86400u
#define NO_CAP RIGHTSIZE_WINDOW_MAX

/* Draws small and large values alike: the number of bits is uniform. */
static __u64 any64(void)
{
	return random64() >> (random64() % 64);
}

/* 100 Mbit/s, 100 ms: 1.25 MB per round trip, lost at a window of 1.5 MB. */
static struct path_sample a_transfer(void)
{
	return struct_of(path_sample, .received = 40 << 20, .acked = 40 << 20, .sent = 28000,
			 .retransmitted = 280, .min_rtt_us = 100000, .rcv_per_rtt = 1250000,
			 .snd_per_rtt = 1250000, .max_window = 1500000, .cwnd = 1400000, .host = 7);
}

static struct tcptuned_path known(__s64 now_s)
{
	struct path_sample s = a_transfer();
	struct tcptuned_path path = {0};

	assert_int_equal(path_merge(&path, &s, now_s, DAY), 1);
	return path;
}

TEST(masks_cover_the_prefix_and_nothing_else)
{
	for (__u32 bits = 0; bits <= 128; bits++) {
		__u32 set = 0;

		for (__u32 i = 0; i < 4; i++) {
			__u32 mask = path_mask(bits, i);

			set += (__u32)__builtin_popcount(mask);
			/* ones first, and none after a word that is not full */
			assert_int_equal(mask & (~mask >> 1), 0);
			assert_true(!mask || set == 32 * i + (__u32)__builtin_popcount(mask));
		}
		assert_int_equal(set, bits);
	}
}

TEST(a_quarter_of_a_life_halves)
{
	assert_int_equal(path_aged(1000000, 0, DAY), 1000000);
	assert_int_equal(path_aged(1000000, DAY / 8, DAY), 750000); /* linear between */
	assert_int_equal(path_aged(1000000, DAY / 4, DAY), 500000);
	assert_int_equal(path_aged(1000000, DAY / 2, DAY), 250000);
	assert_int_equal(path_aged(1000000, DAY, DAY), 62500);
	assert_int_equal(path_aged(1000000, UINT64_MAX, DAY), 0);
}

TEST(ageing_never_adds)
{
	for (int i = 0; i < 1000000; i++) {
		__u32 expire = PATH_EXPIRE_MIN_S +
			       (__u32)(random64() % (PATH_EXPIRE_MAX_S - PATH_EXPIRE_MIN_S + 1));
		__u64 value = any64() & (PATH_COUNT_MAX - 1), age = any64();
		__u64 aged = path_aged(value, age, expire);

		assert_true(aged <= value);
		if (age < UINT64_MAX - expire) {
			assert_true(path_aged(value, age + 1, expire) <= aged);
			assert_true(path_aged(value, age + expire / 4 + 1, expire) <= aged / 2 + 1);
		}
	}
}

TEST(the_first_transfer_is_remembered_as_it_was)
{
	struct tcptuned_path path = known(1000);
	struct tcptuned_path want =
		struct_of(tcptuned_path, .min_rtt_us = 100000, .rcv_per_rtt = 1250000,
			  .snd_per_rtt = 1250000, .max_window = 1500000, .max_window_s = 1000,
			  .sent = 28000, .retransmitted = 280, .connections = 1, .updated_s = 1000,
			  .host = 7, .host_rcv_per_rtt = 1250000, .host_snd_per_rtt = 1250000);

	assert_memory_equal(&path, &want, sizeof(want));
}

TEST(too_little_teaches_nothing)
{
	struct tcptuned_path path = known(1000), before = path;
	struct path_sample s = a_transfer();

	s.received = s.acked = CARRIED_MIN - 1;
	assert_int_equal(path_merge(&path, &s, 2000, DAY), 0);
	s.received = CARRIED_MIN;
	s.min_rtt_us = 0;
	assert_int_equal(path_merge(&path, &s, 2000, DAY), 0);
	assert_memory_equal(&path, &before, sizeof(path));
	s.min_rtt_us = 1;
	assert_int_equal(path_merge(&path, &s, 2000, DAY), 1);
}

/* A transfer that the application limits does not lower the memory; one that filled it does. */
TEST(less_counts_only_after_enough)
{
	struct tcptuned_path path = known(1000);
	struct path_sample s = a_transfer();

	s.rcv_per_rtt = s.snd_per_rtt = 250000;
	s.received = PATH_ROUNDS_ENOUGH * 1250000 - 1;
	s.acked = PATH_ROUNDS_ENOUGH * 1250000;
	path_merge(&path, &s, 1000, DAY);
	assert_int_equal(path.rcv_per_rtt, 1250000);
	assert_int_equal(path.snd_per_rtt, 1000000); /* a quarter of the way */
	s.rcv_per_rtt = 2000000;
	path_merge(&path, &s, 1000, DAY);
	assert_int_equal(path.rcv_per_rtt, 2000000); /* more counts at once */
}

TEST(the_minimum_rtt_falls_at_once_and_rises_slowly)
{
	struct tcptuned_path path = known(1000);
	struct path_sample s = a_transfer();

	s.min_rtt_us = 60000;
	path_merge(&path, &s, 1000, DAY);
	assert_int_equal(path.min_rtt_us, 60000);
	s.min_rtt_us = 100000;
	path_merge(&path, &s, 1000, DAY);
	assert_int_equal(path.min_rtt_us, 70000);
	for (int i = 0; i < 20; i++)
		path_merge(&path, &s, 1000, DAY);
	assert_in_range(path.min_rtt_us, 99000, 100000);
}

TEST(the_maximum_is_bounded_and_forgotten_when_outgrown)
{
	struct tcptuned_path path = known(1000);
	struct path_sample s = a_transfer();

	s.max_window = 4000000; /* as a first slow start leaves it */
	path_merge(&path, &s, 1000, DAY);
	assert_int_equal(path.max_window, 2 * 1250000);
	s.max_window = 1500000;
	path_merge(&path, &s, 1001, DAY);
	assert_int_equal(path.max_window, 2000000); /* half of the way down */
	assert_int_equal(path.max_window_s, 1001);
	s.snd_per_rtt = 0; /* not measured */
	path_merge(&path, &s, 1002, DAY);
	assert_int_equal(path.max_window, 2000000);
	s.max_window = 0;
	s.cwnd = 1999999;
	path_merge(&path, &s, 1002, DAY);
	assert_int_equal(path.max_window, 2000000);
	assert_int_equal(path.max_window_s, 1001);
	s.cwnd = 2000001;
	path_merge(&path, &s, 1003, DAY);
	assert_int_equal(path.max_window, 0);
}

/* Old samples weigh less: the same small transfer moves an old memory further. */
TEST(old_samples_lose_weight)
{
	struct path_sample s = a_transfer();
	__u32 before = UINT_MAX;

	s.rcv_per_rtt = 100000;
	s.received = CARRIED_MIN;
	for (__s64 age = 0; age < DAY; age += DAY / 16) {
		struct tcptuned_path path = known(1000);

		path_merge(&path, &s, 1000 + age, DAY);
		assert_true(path.rcv_per_rtt < before);
		assert_true(path.rcv_per_rtt >= 78125);
		before = path.rcv_per_rtt;
	}
	struct tcptuned_path path = known(1000);

	path_merge(&path, &s, 1000 + DAY, DAY);
	assert_int_equal(path.rcv_per_rtt, 100000); /* expired: as if new */
	assert_int_equal(path.connections, 1);
	assert_int_equal(path.sent, 28000);
}

TEST(random_lives_stay_bounded)
{
	struct tcptuned_path path = {0};
	__s64 now = 0;

	for (int i = 0; i < 1000000; i++) {
		struct path_sample s =
			struct_of(path_sample, .received = any64(), .acked = any64(),
				  .sent = any64(), .retransmitted = (__u32)any64(),
				  .min_rtt_us = (__u32)any64(), .rcv_per_rtt = (__u32)any64(),
				  .snd_per_rtt = (__u32)any64(), .max_window = (__u32)any64(),
				  .cwnd = (__u32)any64(), .host = (__u32)(random64() % 2));
		__u32 rtt = (__u32)any64(), cap = (__u32)any64();
		struct path_seed seed;

		now += (__s64)(random64() % 8 ? random64() % 100 : random64() % (2 * DAY)) -
		       (random64() % 64 == 0) * 5000;
		path_merge(&path, &s, now, DAY);
		assert_true(path.rcv_per_rtt <= RIGHTSIZE_WINDOW_MAX);
		assert_true(path.snd_per_rtt <= RIGHTSIZE_WINDOW_MAX);
		assert_true(path.max_window <= RIGHTSIZE_WINDOW_MAX);
		assert_true(path.min_rtt_us <= RIGHTSIZE_RTT_MAX_US);
		assert_true(path.sent <= PATH_COUNT_MAX && path.retransmitted <= PATH_COUNT_MAX);
		seed = path_seed_of(&path, 7, now + (__s64)(random64() % DAY), DAY, rtt, cap);
		assert_true(seed.max_window <= cap && seed.max_window <= path.max_window);
		assert_true(seed.jump <= cap && seed.jump <= path.snd_per_rtt / 2);
	}
}

TEST(counts_stop_at_their_limit)
{
	struct path_sample s = a_transfer();
	struct tcptuned_path path = known(0);

	path.sent = path.retransmitted = PATH_COUNT_MAX - 10;
	path.connections = UINT_MAX;
	path_merge(&path, &s, 0, DAY);
	assert_true(path.sent == PATH_COUNT_MAX && path.retransmitted == PATH_COUNT_MAX);
	assert_int_equal(path.connections, UINT_MAX);
	path = known(0);
	s.sent = 3ull << 32; /* of one connection */
	path_merge(&path, &s, 0, DAY);
	assert_true(path.sent == (3ull << 32) + 28000);
}

/*
 * The seed is the window of the last loss, bounded by the policy, and the receive window is twice
 * the bytes per RTT, if the memory is of this path.
 */
TEST(what_a_known_path_gives)
{
	static const struct {
		__s64 learned_s, now_s;
		__u32 rtt_us, cap, max_window, receive_window;
	} rows[] = {
		{1000, 1000, 100000, NO_CAP, 1500000, 2500000},
		{1000, 1000, 100000, 131072, 131072, 2500000},
		/* a wrong maximum costs time, so it is used for half of the life only */
		{0, DAY / 2 - 1, 100000, NO_CAP, 1500000, 625030},
		{0, DAY / 2, 100000, NO_CAP, 0, 625000},
		{1000, 1000 + DAY, 100000, NO_CAP, 0, 0}, /* expired */
		{1000, INT64_MAX, 100000, NO_CAP, 0, 0},
		/*
		 * boot times before this boot are negative; a clock that was behind makes ages of 0
		 */
		{-5000, -5000 + DAY / 4, 100000, NO_CAP, 1500000, 1250000},
		{-5000, -900000, 100000, NO_CAP, 1500000, 2500000},
		/* another RTT means another host of the prefix, or another route */
		{0, 0, 50000, NO_CAP, 1500000, 2500000},
		{0, 0, 49999, NO_CAP, 0, 0},
		{0, 0, 200000, NO_CAP, 1500000, 2500000},
		{0, 0, 200001, NO_CAP, 0, 0},
		{0, 0, 0, NO_CAP, 0, 0},
	};
	struct tcptuned_path path = {0};
	struct path_seed seed;

	assert_int_equal(path_seed_of(&path, 7, 1000, DAY, 100000, NO_CAP).max_window, 0);
	for_each_row (r, rows) {
		path = known(r->learned_s);
		path.slow = 7;
		seed = path_seed_of(&path, 7, r->now_s, DAY, r->rtt_us, r->cap);
		assert_int_equal(seed.max_window, r->max_window);
		assert_int_equal(seed.slow, r->receive_window > 0);
		assert_int_equal(path_receive_window(&path, r->now_s, DAY, r->rtt_us),
				 r->receive_window);
	}
	path.rcv_per_rtt = RIGHTSIZE_WINDOW_MAX;
	assert_int_equal(path_receive_window(&path, 0, DAY, 100000), RIGHTSIZE_WINDOW_MAX);
}

/*
 * RFC 9959: half of what was carried to the same host, for one connection at a time, on the same
 * path, while no queue stands there.
 */
TEST(what_a_connection_may_jump_to)
{
	static const struct {
		__s64 now_s;
		__u32 host, rtt_us, cap, jumped_s, jump;
	} rows[] = {
		{1000, 7, 100000, NO_CAP, 0, 625000},
		{1000, 7, 100000, 131072, 0, 131072},
		{1000 + DAY / 4, 7, 100000, NO_CAP, 0, 312500},
		{1000 + DAY, 7, 100000, NO_CAP, 0, 0},
		{1000, 8, 100000, NO_CAP, 0, 0},
		{1000, 7, 125000, NO_CAP, 0, 625000},
		{1000, 7, 125001, NO_CAP, 0, 0},
		{1000, 7, 50000, NO_CAP, 0, 625000},
		{1000, 7, 49999, NO_CAP, 0, 0},
		{1000, 7, 0, NO_CAP, 0, 0},
		{1000, 7, 100000, NO_CAP, 1000, 0},
		{1000, 7, 100000, NO_CAP, 997, 0},
		{1000, 7, 100000, NO_CAP, 996, 625000},
	};

	for_each_row (r, rows) {
		struct tcptuned_path path = known(1000);

		path.jump_s = r->jumped_s;
		assert_int_equal(
			path_seed_of(&path, r->host, r->now_s, DAY, r->rtt_us, r->cap).jump,
			r->jump);
	}
}

/*
 * What others of the prefix have carried is forgotten, and so is a host once another one follows.
 */
TEST(the_last_host_is_known)
{
	struct tcptuned_path path = known(1000);
	struct path_sample s = a_transfer();

	assert_int_equal(path_first_window(&path, 7, 1000, DAY), 1250000);
	assert_int_equal(path_first_window(&path, 7, 1000 + DAY / 4, DAY), 625000);
	assert_int_equal(path_first_window(&path, 8, 1000, DAY), 0);
	s.host = 8;
	s.snd_per_rtt = s.rcv_per_rtt = 200000;
	path_merge(&path, &s, 1000, DAY);
	assert_int_equal(path_jump(&path, 8, 1000, DAY, 100000), 100000);
	assert_int_equal(path_first_window(&path, 8, 1000, DAY), 200000);
	assert_int_equal(path_jump(&path, 7, 1000, DAY, 100000), 0);
	path.min_rtt_us = PATH_JUMP_RTT_US - 1;
	assert_int_equal(path_jump(&path, 8, 1000, DAY, PATH_JUMP_RTT_US - 1), 0);
}

/* ... and not for other hosts of the prefix. */
TEST(a_slow_path_is_remembered_until_one_is_not)
{
	__u32 host = path_host((__be32[]){0, 0, 0xffff0000, 0x0700630a}),
	      other = path_host((__be32[]){0, 0, 0xffff0000, 0x0800630a});
	struct path_sample s = a_transfer();
	struct tcptuned_path path = known(1000);

	assert_int_equal(path_seed_of(&path, host, 1000, DAY, 100000, NO_CAP).slow, 0);
	s.slow = host;
	path_merge(&path, &s, 1001, DAY);
	assert_int_equal(path_seed_of(&path, host, 1001, DAY, 100000, NO_CAP).slow, 1);
	assert_int_equal(path_seed_of(&path, other, 1001, DAY, 100000, NO_CAP).slow, 0);
	assert_int_equal(path_host((__be32[4]){0}), 1);
	/* a transfer that received too little does not count */
	s.slow = 0;
	s.received = CARRIED_MIN - 1;
	path_merge(&path, &s, 1002, DAY);
	assert_int_equal(path.slow, host);
	s.received = CARRIED_MIN;
	path_merge(&path, &s, 1003, DAY);
	assert_int_equal(path.slow, 0);
}
