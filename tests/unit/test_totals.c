// SPDX-License-Identifier: GPL-2.0-only
/* tcptuned_bucket(): its definition by the edges, and that every value has one bucket. */
#include "test.h"
#include "tcptuned/abi/totals.h"

/* The definition itself, by search: the smallest i with value <= 2^i. */
static __u32 bucket_by_search(__u64 value)
{
	__u32 i = 0;

	while (i < TCPTUNED_BUCKETS - 1 && value > (1ull << i))
		i++;
	return i;
}

TEST(the_same_as_the_definition)
{
	for (__u64 value = 0; value < 1 << 20; value++)
		assert_int_equal(tcptuned_bucket(value), bucket_by_search(value));
	for (int bit = 2; bit < 64; bit++)
		for (__u64 value = (1ull << bit) - 1; value <= (1ull << bit) + 1; value++)
			assert_int_equal(tcptuned_bucket(value), bucket_by_search(value));
	for (int i = 0; i < 1000000; i++) {
		__u64 value = random64() >> (i & 63);

		assert_int_equal(tcptuned_bucket(value), bucket_by_search(value));
	}
}
