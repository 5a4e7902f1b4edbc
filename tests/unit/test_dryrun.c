// SPDX-License-Identifier: GPL-2.0-only
/* What a dry run says of the path memory, which path and what of it; and of the budget. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "dryrun.h"

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
	struct tcptuned_flow_record record = { .family = (__u16)family, .netns_cookie = 77 };
	struct tcptuned_path_key key, wanted = { .netns_cookie = 77, .prefix_len = prefix_len };

	memset(&key, 0xa5, sizeof(key));
	inet_pton(family, local, record.local);
	inet_pton(family, remote, record.remote);
	wanted.family = (__u8)key_family;
	inet_pton(key_family, prefix, wanted.prefix);
	assert_true(tcptuned_dryrun_path_key(&record, &settings, &key));
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
	assert_false(tcptuned_dryrun_path_key(&record, &settings, &key));
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

	tcptuned_dryrun_put_path(&r, &path, NOW_S, EXPIRE_S);
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
	tcptuned_dryrun_put_path(&r, &path, NOW_S + EXPIRE_S, EXPIRE_S);
	assert_int_equal(r.flow.rcv_seed, 0);
	assert_int_equal(r.flow.flags & TCPTUNED_F_SLOW_SEED, 0);
	r.min_rtt_us = 30000;
	tcptuned_dryrun_put_path(&r, &path, NOW_S, EXPIRE_S);
	assert_int_equal(r.flow.rcv_seed, 100000);
	assert_int_equal(r.flow.max_window_seed, 0);
	assert_int_equal(r.flow.flags & TCPTUNED_F_SLOW_SEED, 0);
}

static void test_what_is_kept_back(void **state)
{
	struct tcptuned_flow_record r = observed(TCPTUNED_F_RCVBUF_APP);

	tcptuned_dryrun_put_path(&r, &path, NOW_S, EXPIRE_S);
	assert_int_equal(r.flow.rcv_seed, 0);
	assert_int_equal(r.flow.flags & TCPTUNED_F_SLOW_SEED, 0);
	assert_int_equal(r.flow.max_window_seed, 250000);
	r = observed(TCPTUNED_F_RCV_LEAST);
	r.flow.rcv_floor = 200000; /* no less than is remembered */
	tcptuned_dryrun_put_path(&r, &path, NOW_S, EXPIRE_S);
	assert_int_equal(r.flow.rcv_seed, 0);
	assert_int_equal(r.flow.flags & TCPTUNED_F_SLOW_SEED, 0);
}

/* A megabyte is granted to 10 connections that want 400 kB each, of 1.5 MB. */
static void scarce_budget(struct budget *budget)
{
	memset(budget, 0, sizeof(*budget));
	budget->total = 1500000;
	budget->granted = 1000000;
	for (int i = 0; i < 10; i++)
		budget_class_add(budget, 400000);
}

static struct tcptuned_flow_record wanting(__u32 rcv_window, __u32 snd_window)
{
	struct tcptuned_flow_record r = observed(0);

	r.rcvbuf = r.flow.rcv_base = 100000;
	r.window_clamp = 80000; /* a byte of window takes 1.25 of memory */
	r.sndbuf = r.flow.snd_base = 50000;
	r.flow.rcv_buffer_max = r.flow.snd_buffer_max = 4000000;
	r.flow.rcv.window = rcv_window;
	r.flow.snd.window = snd_window;
	return r;
}

static void test_budget_has_room(void **state)
{
	struct tcptuned_flow_record r = wanting(160000, 75000);
	struct tcptuned_would_set would;
	struct budget budget = { .total = 10000000 };

	tcptuned_dryrun_put_budget(&r, &budget);
	would = tcptuned_flow_would_set(&r, NULL);
	assert_int_equal(would.rcv_budget, 100000);
	assert_int_equal(would.rcv_refused, 0);
	assert_int_equal(would.snd_budget, 100000);
	assert_int_equal(would.snd_refused, 0);
	assert_int_equal(budget.granted, 0); /* a question only */
	assert_int_equal(budget.wanted, 0);
	/* Memory as measured where there is enough queued; and no more than can be set. */
	r = wanting(0, 2000000);
	r.flight = 80000;
	r.unsent = 20000;
	r.wmem_queued = 150000;
	tcptuned_dryrun_put_budget(&r, &budget);
	would = tcptuned_flow_would_set(&r, NULL);
	assert_int_equal(would.rcv_budget, 0);
	assert_int_equal(would.snd_budget, 3000000 - 50000);
	r.flow.snd_buffer_max = 1000000;
	tcptuned_dryrun_put_budget(&r, &budget);
	assert_int_equal(tcptuned_flow_would_set(&r, NULL).snd_budget, 1000000 - 50000);
	/* What it began with is enough, or its policy fixes it. */
	r = wanting(40000, 75000);
	tcptuned_dryrun_put_budget(&r, &budget);
	would = tcptuned_flow_would_set(&r, &(struct tcptuned_policy){ .snd_buffer = 1000 });
	assert_int_equal(would.rcv_budget, 0);
	assert_int_equal(would.snd_budget, 0);
}

static void test_budget_is_scarce(void **state)
{
	struct tcptuned_flow_record r = wanting(320000, 75000);
	struct tcptuned_would_set would;
	struct budget budget;

	/* Eleven who want: no more than an eleventh each, and no less than 8/9 of that. */
	scarce_budget(&budget);
	tcptuned_dryrun_put_budget(&r, &budget);
	would = tcptuned_flow_would_set(&r, NULL);
	assert_int_equal(would.rcv_budget, 300000);
	assert_in_range(would.rcv_refused, 300000 - 1500000 / 11, 300000 - 1500000 / 11 * 8 / 9);
	/* A small want is met whole. */
	assert_int_equal(would.snd_budget, 100000);
	assert_int_equal(would.snd_refused, 0);
	/* What is granted to others is not there, whatever the share. */
	budget.granted = 1460000;
	tcptuned_dryrun_put_budget(&r, &budget);
	would = tcptuned_flow_would_set(&r, NULL);
	assert_int_equal(would.rcv_refused, 300000 - 40000);
	assert_int_equal(would.snd_refused, 100000 - 40000);
	/* What the kernel has given it already it has. */
	r.rcvbuf = 180000;
	r.window_clamp = 144000;
	tcptuned_dryrun_put_budget(&r, &budget);
	assert_int_equal(tcptuned_flow_would_set(&r, NULL).rcv_refused, 300000 - 80000);
	/* Without a limit. */
	budget.total = 0;
	tcptuned_dryrun_put_budget(&r, &budget);
	assert_int_equal(tcptuned_flow_would_set(&r, NULL).rcv_refused, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_what_is_given),
		cmocka_unit_test(test_what_is_kept_back),
		cmocka_unit_test(test_budget_has_room),
		cmocka_unit_test(test_budget_is_scarce),
	};

	return cmocka_run_group_tests_name("dryrun", tests, NULL, NULL);
}
