// SPDX-License-Identifier: GPL-2.0-only
/* tcptuned_bucket(): its definition by the edges, and that every value has one bucket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tcptuned/abi/totals.h"

/* The definition itself, by search: the smallest i with value <= 2^i. */
static __u32 bucket_by_search(__u64 value)
{
	__u32 i = 0;

	while (i < TCPTUNED_BUCKETS - 1 && value > (1ull << i))
		i++;
	return i;
}

/* Value 1 shares bucket 0 with 0: there is no 2^-1. */
static void each_power_of_two_ends_its_bucket(void **state)
{
	for (__u32 i = 1; i < TCPTUNED_BUCKETS - 1; i++) {
		assert_int_equal(tcptuned_bucket(1ull << i), i);
		assert_int_equal(tcptuned_bucket((1ull << i) + 1), i + 1);
		assert_int_equal(tcptuned_bucket((1ull << i) - 1), i == 1 ? 0 : i);
	}
}

static void the_ends_of_the_scale(void **state)
{
	assert_int_equal(tcptuned_bucket(0), 0);
	assert_int_equal(tcptuned_bucket(1), 0);
	assert_int_equal(tcptuned_bucket(2), 1);
	assert_int_equal(tcptuned_bucket(3), 2);
	assert_int_equal(tcptuned_bucket(1ull << 30), 30);
	assert_int_equal(tcptuned_bucket((1ull << 30) + 1), 31);
	assert_int_equal(tcptuned_bucket(1ull << 31), 31);
	assert_int_equal(tcptuned_bucket((1ull << 31) + 1), 31);
	assert_int_equal(tcptuned_bucket(1ull << 32), 31);
	assert_int_equal(tcptuned_bucket((1ull << 32) + 1), 31);
	assert_int_equal(tcptuned_bucket(1ull << 63), 31);
	assert_int_equal(tcptuned_bucket(~0ull), 31);
}

static void the_same_as_the_definition(void **state)
{
	__u64 x = 88172645463325252ull;

	for (__u64 value = 0; value < 1 << 20; value++)
		assert_int_equal(tcptuned_bucket(value), bucket_by_search(value));
	for (int i = 0; i < 1000000; i++) {
		__u64 value;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		value = x >> (i & 63);
		assert_int_equal(tcptuned_bucket(value), bucket_by_search(value));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_power_of_two_ends_its_bucket),
		cmocka_unit_test(the_ends_of_the_scale),
		cmocka_unit_test(the_same_as_the_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
