// SPDX-License-Identifier: GPL-2.0-only
/* The memory budget: classes, the max-min fair level against its definition, conservation. */
#include <pthread.h>

#include "test.h"
#include "tcptuned/algo/budget.h"

#define MB	    1000000u
#define CONNECTIONS 300

static __u32 number(__u32 below)
{
	return (__u32)(random64() % below);
}

/* Draws a demand of any order of magnitude, sometimes none. */
static __u32 want(void)
{
	__u32 bits = number(31);

	return number(10) ? (1u << bits) + number(1u << bits) : 0;
}

TEST(classes_are_without_gaps)
{
	__u64 begin = 0;

	for (__u32 i = 0; i < BUDGET_CLASSES; i++) {
		__u64 end = budget_class_end(i);

		assert_true(end > begin);
		assert_int_equal(budget_class_of((__u32)begin), i);
		assert_int_equal(budget_class_of((__u32)(end - 1)), i);
		if (begin >= 16) /* an eighth of an octave */
			assert_true((end - begin) * 8 <= begin);
		begin = end;
	}
	assert_true(begin == 1ull << 32);
}

static __u64 used_at(const struct budget_share *shares, int len, __u64 level)
{
	__u64 sum = 0;

	for (int i = 0; i < len; i++)
		sum += shares[i].wanted < level ? shares[i].wanted : level;
	return sum;
}

/* Returns the level by its definition: the largest one at which the sum stays within the total. */
static __u64 true_level(const struct budget_share *shares, int len, __u64 total)
{
	__u64 low = 0, high = 1ull << 32;

	while (high - low > 1) {
		__u64 middle = (low + high) / 2;

		if (used_at(shares, len, middle) <= total)
			low = middle;
		else
			high = middle;
	}
	return low;
}

TEST(level_is_as_defined)
{
	for (int round = 0; round < 2000; round++) {
		__u32 len = 1 + number(CONNECTIONS);
		struct budget_share shares[CONNECTIONS] = {};
		struct budget b = {};
		__u64 level, truth;

		for (__u32 i = 0; i < len; i++)
			budget_want(&b, &shares[i], want());
		b.total = 1 + b.wanted * (1 + number(120)) / 100;
		level = budget_level(&b, 1);
		truth = true_level(shares, (int)len, b.total);
		if (b.wanted <= b.total) {
			assert_int_equal(level, BUDGET_NO_LEVEL);
		} else {
			assert_in_range(level, truth / 9 * 8, truth);
			assert_true(used_at(shares, (int)len, level) <= b.total);
		}
		b.total = 0; /* no bound */
		assert_int_equal(budget_level(&b, 1 + BUDGET_LEVEL_US), BUDGET_NO_LEVEL);
	}
}

TEST(level_is_found_again_in_time)
{
	struct budget b = {.total = 40 * MB};
	struct budget_share shares[8] = {};

	for (__u32 i = 0; i < 8; i++)
		shares[i].prefix = i;
	for (__u32 i = 0; i < 5; i++)
		budget_want(&b, &shares[i], 40 * MB);
	assert_int_equal(budget_level(&b, 1000), 8 * MB);
	for (__u32 i = 5; i < 8; i++)
		budget_want(&b, &shares[i], 40 * MB);
	assert_int_equal(budget_level(&b, 1000 + BUDGET_LEVEL_US - 1), 8 * MB);
	assert_int_equal(budget_level(&b, 1000 + BUDGET_LEVEL_US), 5 * MB);
	for (__u32 i = 5; i < 8; i++)
		budget_leave(&b, &shares[i]);
	assert_int_equal(budget_level(&b, 1000 + 2 * BUDGET_LEVEL_US), 8 * MB);
}

TEST(small_changes_are_not_noticed)
{
	struct budget b = {.total = MB};
	struct budget_share share = {};

	budget_want(&b, &share, 1600);
	budget_want(&b, &share, 1700);
	assert_int_equal(share.wanted, 1600);
	budget_want(&b, &share, 1701);
	assert_int_equal(share.wanted, 1701);
	budget_want(&b, &share, 0);
	assert_int_equal(share.wanted, 0);
	assert_int_equal(b.wanted, 0);
}

TEST(one_connection_has_at_most_a_part)
{
	struct budget b = {.total = 10 * MB};
	struct budget_share first = {}, second = {};

	assert_int_equal(budget_reserve(&b, &first, 7 * MB), 10 * MB / BUDGET_PART);
	assert_int_equal(budget_reserve(&b, &second, 4000 * MB), 10 * MB / BUDGET_PART);
	budget_want(&b, &first, 7 * MB);
	assert_int_equal(first.wanted, 10 * MB / BUDGET_PART);
	b.total = 0; /* no bound */
	assert_int_equal(budget_reserve(&b, &second, 4000 * MB), 4000 * MB);
	b.total = 1ull << 40; /* a part that does not fit into 32 bits */
	assert_int_equal(budget_reserve(&b, &first, 4000 * MB), 4000 * MB);
}

TEST(growth_is_refused_beyond_the_total)
{
	struct budget b = {.total = 40 * MB};
	struct budget_share others[3] = {{.prefix = 1}, {.prefix = 1}, {.prefix = 2}};
	struct budget_share first = {.prefix = 3}, second = {.prefix = 4};

	for (int i = 0; i < 3; i++)
		assert_int_equal(budget_reserve(&b, &others[i], 10 * MB), 10 * MB);
	assert_int_equal(budget_reserve(&b, &first, 7 * MB), 7 * MB);
	assert_int_equal(budget_reserve(&b, &second, 7 * MB), 3 * MB);
	assert_int_equal(budget_reserve(&b, &first, 8 * MB), 7 * MB);
	assert_int_equal(b.granted, 40 * MB);
	/* a lower total revokes no grant by itself */
	b.total = 36 * MB;
	assert_int_equal(budget_reserve(&b, &first, 8 * MB), 7 * MB);
	assert_int_equal(b.granted, 40 * MB);
	budget_return(&b, &first, MB);
	assert_int_equal(first.granted, MB);
	assert_int_equal(budget_reserve(&b, &second, 9 * MB), 5 * MB);
	for (int i = 0; i < 3; i++)
		budget_leave(&b, &others[i]);
	budget_leave(&b, &first);
	budget_leave(&b, &second);
	assert_int_equal(b.granted, 0);
}

/* The connections of one prefix share its half equally; those of another have the rest. */
TEST(one_prefix_has_half_at_most)
{
	struct budget b = {.total = 40 * MB};
	struct budget_share many[50] = {}, other[2] = {{.prefix = 7}, {.prefix = 7}};
	__u64 granted = 0;

	for (int round = 0; round < 3; round++) {
		granted = 0;
		for (int i = 0; i < 50; i++) {
			__u32 part = budget_want(&b, &many[i], 30 * MB);

			budget_return(&b, &many[i], part);
			granted += budget_reserve(&b, &many[i], part);
		}
	}
	assert_in_range(granted, 19 * MB, 20 * MB);
	for_each_row (share, many)
		assert_in_range(share->granted, 390000, 400000);
	assert_int_equal(b.prefix[0].granted, granted);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(budget_want(&b, &other[i], 30 * MB), 10 * MB);
		assert_int_equal(budget_reserve(&b, &other[i], 10 * MB), 10 * MB);
	}
	/* The level is 10 MB, as the 50 may have only half of the 40 MB, less at most 1/16. */
	assert_true(budget_is_scarce(&b));
	assert_true(budget_level(&b, 1) >= 9 * MB);
	/* If one of the 50 leaves, the others may have more. */
	budget_leave(&b, &many[0]);
	assert_true(budget_want(&b, &many[1], 30 * MB) > 400000);
	b.total = 0; /* no bound */
	assert_int_equal(budget_want(&b, &many[1], 30 * MB), 30 * MB);
	assert_int_equal(budget_reserve(&b, &many[1], 4000 * MB), 4000 * MB);
}

/* No product overflows 64 bits, and the sum of the parts is at most the half. */
TEST(part_of_prefix_is_exact)
{
	struct budget b = {.total = 1ull << 40};
	__u64 sum;

	assert_int_equal(budget_part_of_prefix(&b, 1ull << 39, ~0u), ~0u);
	assert_in_range(budget_part_of_prefix(&b, 1ull << 41, ~0u), (1u << 30) - 1000, 1u << 30);
	for (int round = 0; round < 20000; round++) {
		__u32 len = 2 + number(100);
		__u32 wants[102];
		__u64 wanted = 0;

		b.total = (1ull << 20) + ((__u64)number(~0u) << number(8));
		for (__u32 i = 0; i < len; i++)
			wanted += wants[i] = want();
		sum = 0;
		for (__u32 i = 0; i < len; i++)
			sum += budget_part_of_prefix(&b, wanted, wants[i]);
		assert_true(sum <= wanted);
		if (wanted > b.total / 2)
			assert_in_range(sum + len, b.total / 2 / 1000 * 998, b.total / 2 + len);
		else
			assert_int_equal(sum, wanted);
	}
}

TEST(prefixes_are_spread)
{
	__u32 count[BUDGET_PREFIXES] = {};

	for (__u32 i = 0; i < 4 * BUDGET_PREFIXES; i++) {
		/* 10.0.0.0/24, 10.0.1.0/24, ... in network byte order, read by a little endian */
		__u32 hash = budget_prefix_hash(10 | (i >> 8 & 255) << 8 | (i & 255) << 16);

		assert_true(hash < BUDGET_PREFIXES);
		assert_true(++count[hash] <= 16);
	}
}

/* The sums are those of the @len connections, and within the total and each prefix's half. */
static void assert_sums(const struct budget *b, const struct budget_share *shares, int len)
{
	struct budget_prefix sums[BUDGET_PREFIXES] = {};
	__u64 granted = 0, wanted = 0, counted = 0;

	for (int i = 0; i < len; i++) {
		granted += shares[i].granted;
		wanted += shares[i].wanted;
		counted += shares[i].counted;
		sums[shares[i].prefix].granted += shares[i].granted;
		sums[shares[i].prefix].wanted += shares[i].wanted;
		assert_true(shares[i].granted <= b->total / BUDGET_PART);
	}
	assert_int_equal(b->granted, granted);
	assert_int_equal(b->wanted, wanted);
	assert_memory_equal(b->prefix, sums, sizeof(sums));
	assert_true(granted <= b->total);
	for (__u32 i = 0; i < BUDGET_PREFIXES; i++)
		assert_true(sums[i].granted <= b->total / 2);
	for (__u32 i = 0; i < BUDGET_CLASSES; i++)
		counted -= b->need[i].bytes;
	assert_int_equal(counted, 0);
}

/* Makes one of eight changes, five of which are what a connection does when it is measured. */
static void change(struct budget *b, struct budget_share *share, __u32 which, __u32 bytes)
{
	switch (which % 8) {
	case 0:
		budget_leave(b, share);
		break;
	case 1:
		budget_return(b, share, bytes);
		break;
	case 2:
		budget_reserve(b, share, bytes);
		break;
	default:
		bytes = budget_want(b, share, bytes);
		budget_return(b, share, bytes);
		budget_reserve(b, share, bytes);
	}
}

static void leave_all(struct budget *b, struct budget_share *shares, int len)
{
	for (int i = 0; i < len; i++)
		budget_leave(b, &shares[i]);
	memset(shares, 0, (size_t)len * sizeof(*shares));
	assert_sums(b, shares, len);
}

/* The budget's sums stay those of the connections, in any order of changes. */
TEST(sums_are_those_of_the_connections)
{
	struct budget_share shares[CONNECTIONS] = {};
	struct budget b = {.total = 64 * MB};

	for (__u32 i = 0; i < CONNECTIONS; i++)
		shares[i].prefix = number(5) * number(30);
	for (int step = 0; step < 200000; step++) {
		change(&b, &shares[number(CONNECTIONS)], number(8), want());
		if (step % 50 == 0)
			assert_sums(&b, shares, CONNECTIONS);
	}
	leave_all(&b, shares, CONNECTIONS);
}

struct worker {
	struct budget *b;
	pthread_t thread;
	__u32 id;
	struct budget_share *shares; /* 50 */
};

/* Changes the budget as one of two CPUs does. */
static void *work(void *arg)
{
	struct worker *w = arg;
	__u64 x = 88172645463325252ull + w->id;

	for (int i = 0; i < 200000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		change(w->b, &w->shares[x % 50], x >> 32, (__u32)(x >> 40));
	}
	return NULL;
}

TEST(nothing_is_lost_among_cpus)
{
	struct budget_share shares[100] = {};
	struct budget b = {.total = 50 * MB};
	struct worker workers[2] = {{&b, .shares = shares}, {&b, .id = 1, .shares = shares + 50}};

	for (__u32 i = 0; i < 100; i++)
		shares[i].prefix = i % 4;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(workers[i].thread, NULL);
	assert_sums(&b, shares, 100);
	leave_all(&b, shares, 100);
}

/* Two programs may count the end of one record, and an earlier build of them below zero. */
TEST(records_are_limited_and_never_negative)
{
	struct budget b = {.records_max = 2};

	assert_true(budget_add_record(&b));
	assert_true(budget_add_record(&b));
	assert_false(budget_add_record(&b));
	assert_int_equal(b.records, 2);
	for (int i = 0; i < 4; i++)
		budget_remove_record(&b);
	assert_int_equal(b.records, 0);
	b.records = -3;
	assert_true(budget_add_record(&b));
}

/*
 * A number before or after a pass may be right, or any in between; only one outside of them is
 * corrected.
 */
TEST(records_are_counted_again)
{
	struct {
		__s64 before, now, seen, right;
	} rows[] = {
		{5, 5, 5, 5},	  {5, 5, 8, 8},	    {5, 5, 0, 0},     {-3, -3, 0, 0},
		{-3, 1, 10, 10},  {10, 12, 11, 12}, {12, 10, 11, 10}, {10, 12, 7, 9},
		{10, 12, 14, 14}, {12, 10, 7, 7},   {12, 10, 14, 12},
	};

	for_each_row (r, rows) {
		struct budget b = {.records = r->now};

		budget_recount(&b, r->before, r->seen);
		assert_int_equal(b.records, r->right);
	}
}
