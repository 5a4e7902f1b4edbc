// SPDX-License-Identifier: GPL-2.0-only
/* What a dry run says of the path memory: which path, and what of it. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "pathseed.h"

#define NOW_S	 100000
#define EXPIRE_S 86400

static const struct tcptuned_path_settings settings = {
	.enabled = 1,
	.ipv4_prefix = 24,
	.ipv6_prefix = 48,
	.expire_s = EXPIRE_S,
};

static void expect_key(int family, const char *local, const char *remote, int key_family,
		       const char *prefix, __u8 prefix_len)
{
	struct tcptuned_flow_record record = { .family = (__u16)family, .netns = 77 };
	struct tcptuned_path_key key, wanted = { .netns = 77, .prefix_len = prefix_len };

	memset(&key, 0xa5, sizeof(key));
	inet_pton(family, local, record.local);
	inet_pton(family, remote, record.remote);
	wanted.family = (__u8)key_family;
	inet_pton(key_family, prefix, wanted.prefix);
	assert_true(tcptuned_pathseed_key(&record, &settings, &key));
	assert_memory_equal(&key, &wanted, sizeof(key));
}

static void test_keys(void **state)
{
	struct tcptuned_flow_record record = { .family = AF_INET6 };
	struct tcptuned_path_key key;

	expect_key(AF_INET, "192.0.2.1", "198.51.100.7", AF_INET, "198.51.100.0", 24);
	expect_key(AF_INET6, "2001:db8::1", "2001:db8:1:ffff::7", AF_INET6, "2001:db8:1::", 48);
	/* IPv4 on a socket of both */
	expect_key(AF_INET6, "::ffff:192.0.2.1", "::ffff:198.51.100.7", AF_INET, "198.51.100.0",
		   24);
	inet_pton(AF_INET6, "2001:db8::1", record.local);
	inet_pton(AF_INET6, "2001:db8::1", record.remote);
	assert_false(tcptuned_pathseed_key(&record, &settings, &key));
}

/* 100 kB per RTT of 10 ms received just now, and a maximum of 300 kB. */
static const struct tcptuned_path path = {
	.updated_s = NOW_S,
	.max_window_s = NOW_S,
	.min_rtt_us = 10000,
	.rcv_per_rtt = 100000,
	.max_window = 300000,
	.connections = 3,
	.slow = 1,
};

static struct tcptuned_flow_record observed(__u32 flags)
{
	struct tcptuned_flow_record record = {
		.flow = {
			.flags = TCPTUNED_F_CLAIMED | TCPTUNED_F_OBSERVE | flags,
			.rcv_floor = 65536,
			.rcv_window_max = 1 << 20,
			.snd_window_max = 250000,
		},
		.min_rtt_us = 10000,
	};

	return record;
}

static void test_what_is_given(void **state)
{
	struct tcptuned_policy policy = { .congestion_control = "bitcp" };
	struct tcptuned_flow_record r = observed(TCPTUNED_F_CC_WOULD);
	struct tcptuned_would_set would;

	tcptuned_pathseed_put(&r, &path, NOW_S, EXPIRE_S);
	would = tcptuned_flow_would_set(&r, &policy);
	assert_int_equal(would.remembered_window, 200000);
	assert_int_equal(would.remembered_max, 250000); /* as much as its policy allows */
	assert_int_equal(would.slow_path, 1);
	/* What the policy says goes before it; a maximum is bitcp's alone. */
	policy.first_window = 80000;
	strcpy(policy.congestion_control, "cubic");
	would = tcptuned_flow_would_set(&r, &policy);
	assert_int_equal(would.remembered_window, 200000);
	assert_int_equal(would.remembered_max, 0);
	assert_int_equal(would.slow_path, 0);
	policy.rcv_buffer = 80000;
	assert_int_equal(tcptuned_flow_would_set(&r, &policy).remembered_window, 0);
	/* Over, or another path by its RTT. */
	r = observed(0);
	tcptuned_pathseed_put(&r, &path, NOW_S + EXPIRE_S, EXPIRE_S);
	assert_int_equal(r.flow.rcv_seed, 0);
	assert_int_equal(r.flow.flags & TCPTUNED_F_SLOW_SEED, 0);
	r.min_rtt_us = 30000;
	tcptuned_pathseed_put(&r, &path, NOW_S, EXPIRE_S);
	assert_int_equal(r.flow.rcv_seed, 100000);
	assert_int_equal(r.flow.max_window_seed, 0);
	assert_int_equal(r.flow.flags & TCPTUNED_F_SLOW_SEED, 0);
}

static void test_what_is_kept_back(void **state)
{
	struct tcptuned_flow_record r = observed(TCPTUNED_F_RCVBUF_APP);

	tcptuned_pathseed_put(&r, &path, NOW_S, EXPIRE_S);
	assert_int_equal(r.flow.rcv_seed, 0);
	assert_int_equal(r.flow.flags & TCPTUNED_F_SLOW_SEED, 0);
	assert_int_equal(r.flow.max_window_seed, 250000);
	r = observed(TCPTUNED_F_RCV_LEAST);
	r.flow.rcv_floor = 200000; /* no less than is remembered */
	tcptuned_pathseed_put(&r, &path, NOW_S, EXPIRE_S);
	assert_int_equal(r.flow.rcv_seed, 0);
	assert_int_equal(r.flow.flags & TCPTUNED_F_SLOW_SEED, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_what_is_given),
		cmocka_unit_test(test_what_is_kept_back),
	};

	return cmocka_run_group_tests_name("pathseed", tests, NULL, NULL);
}
