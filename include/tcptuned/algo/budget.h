/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory budget of all connections, shared max-min fairly.
 *
 * Each connection states its demand. A small demand is met in full; what remains is shared equally
 * by the others, as the automatic tuning of Semke, Mahdavi and Mathis does with send buffers
 * (Weigle and Feng, "A Comparison of TCP Automatic Tuning Techniques for Distributed Computing",
 * section 2.3). The fair share is the level L with
 *
 *	sum over all connections of min(wanted, L) = total
 *
 * It is found without a walk over the connections. Demands are kept as a histogram, eight classes
 * to the octave, with the number and the sum of each class. One pass over the classes gives a level
 * that is exact unless it lies within a class. Then every demand of that class counts as that
 * class's maximum, so that the level is never too high.
 *
 * A level alone does not keep the sum of grants below the total while connections that had more are
 * still shrinking. So growth is first reserved by one atomic addition, which is undone if it
 * exceeds the total. Only growth is refused; a grant is reduced when the connection makes its
 * buffer smaller.
 *
 * No connection has more than a quarter of the budget, and the connections of one peer prefix (/24
 * of IPv4, /48 of IPv6) have at most half of it together, so that no remote network can exhaust it.
 * Where the connections of a prefix demand more than half, the demand of each counts in proportion.
 * Prefixes are hashed into a table that never fills up and from which nothing is removed: two
 * prefixes with the same hash share the half of one.
 *
 * Sums are changed by atomic additions; all CPUs share one struct budget. Amounts are bytes of
 * memory beyond what the kernel alone would give, times are microseconds of a monotonic clock.
 */
#pragma once

#include <linux/types.h>
#include <tcptuned/algo/amounts.h>
#include <tcptuned/algo/log2.h>

/* Below 2^4 each value is a class, then there are eight to the octave, up to 2^32. */
#define BUDGET_CLASSES 240

/* The level is computed again after this time while not all demands can be met. */
#define BUDGET_LEVEL_US 10000u

#define BUDGET_NO_LEVEL (~0u)

struct budget_class {
	__u64 count; /* connections whose demands lie in it */
	__u64 bytes; /* the sum of these demands */
};

/* Powers of two; a table of 16 KB. */
#define BUDGET_PREFIX_BITS 10
#define BUDGET_PREFIXES	   (1u << BUDGET_PREFIX_BITS)

/* The connections of one peer prefix. */
struct budget_prefix {
	__u64 wanted;
	__u64 granted;
};

struct budget {
	__u64 total; /* that may be granted; 0: unlimited */
	__u64 granted;
	__u64 wanted;	   /* the sum of all demands */
	__u64 level_us;	   /* when the level was computed */
	__u64 level;	   /* no connection gets more; BUDGET_NO_LEVEL: all demands can be met */
	__s64 records;	   /* connections and listeners that have a record */
	__u64 records_max; /* 0: unlimited */
	struct budget_class need[BUDGET_CLASSES];
	struct budget_prefix prefix[BUDGET_PREFIXES];
};

/* One direction of one connection; all zeroes: no demand, no grant. */
struct budget_share {
	__u32 wanted;
	__u32 granted;
	__u32 counted; /* demand in its class, less than wanted if its prefix demands too much */
	__u32 prefix;  /* budget_prefix_hash() of the peer; changed only while the rest is zero */
};

/* Where a peer prefix is counted, by its first 64 bits. */
static inline __u32 budget_prefix_hash(__u64 prefix)
{
	return (prefix * 0x9e3779b97f4a7c15ull) >> (64 - BUDGET_PREFIX_BITS);
}

static inline struct budget_prefix *budget_prefix_of(struct budget *b,
						     const struct budget_share *share)
{
	return &b->prefix[share->prefix & (BUDGET_PREFIXES - 1)];
}

/* The class that @bytes falls into. */
static inline __u32 budget_class_of(__u32 bytes)
{
	__u32 octave;

	if (bytes < 16)
		return bytes;
	octave = tcptuned_log2(bytes);
	return (octave - 3) * 8 + (bytes >> (octave - 3));
}

/*
 * True if class @i exists. The compiler, which knows that small values have one, would omit the
 * comparison that the verifier of Linux 6.1 needs.
 */
static inline int budget_has_class(__u32 *i)
{
	__asm__("" : "+r"(*i));
	return *i < BUDGET_CLASSES;
}

/* The smallest value of the next class: every value of class @i is below it. */
static inline __u64 budget_class_end(__u32 i)
{
	i++;
	return i < 16 ? i : (__u64)(8 + (i & 7)) << ((i >> 3) - 1);
}

/* Adds a demand of @bytes, if @sign is 1, or removes it: -1. */
static inline void budget_class_count(struct budget *b, __u32 bytes, __s64 sign)
{
	__u32 i = budget_class_of(bytes);

	if (!bytes || !budget_has_class(&i))
		return;
	__sync_fetch_and_add(&b->need[i].count, sign);
	__sync_fetch_and_add(&b->need[i].bytes, sign * bytes);
}

/* No connection has more than this part of the budget. */
#define BUDGET_PART 4u

/* The connections of one peer prefix together have at most this, bytes. */
static inline __u64 budget_prefix_max(const struct budget *b)
{
	return b->total ? b->total / 2 : ~0ull;
}

/* Counts another record and returns 1, or 0 if there are too many. */
static inline int budget_add_record(struct budget *b)
{
	if (__sync_fetch_and_add(&b->records, 1) < (__s64)b->records_max || !b->records_max)
		return 1;
	__sync_fetch_and_add(&b->records, -1);
	return 0;
}

/* Counts one record less, but never makes the number negative. */
static inline void budget_remove_record(struct budget *b)
{
	if (__sync_fetch_and_add(&b->records, -1) <= 0)
		__sync_fetch_and_add(&b->records, 1);
}

/*
 * Corrects the number of records, which was @before when a pass over all of them began that found
 * @seen. Records that come and go during the pass may have been seen or not, so only what @seen
 * lies outside of @before and the present number by is an error; if as many came as went, the
 * number may be wrong by so many until the next pass. The error is added, and not a number stored,
 * so that a record that comes or goes at this moment is neither lost nor counted twice.
 *
 * No other sum needs this: a connection adds to them what its own share of the budget says, and
 * sets that to zero when it subtracts it, so that a second program that sees its end subtracts
 * nothing.
 */
static inline void budget_recount(struct budget *b, __s64 before, __s64 seen)
{
	__s64 now = b->records, low = now < before ? now : before, high = now + before - low;

	if (seen < low)
		__sync_fetch_and_add(&b->records, seen - low);
	else if (seen > high)
		__sync_fetch_and_add(&b->records, seen - high);
}

/* The part of @bytes that a connection may have if its prefix demands @wanted. */
static inline __u32 budget_part_of_prefix(const struct budget *b, __u64 wanted, __u32 bytes)
{
	__u64 max = budget_prefix_max(b);

	/* In units of 256 bytes: half of the largest budget has 39 bits, @bytes has 32. */
	return wanted > max ? bytes * (max >> 8) / ((wanted >> 8) + 1) : bytes;
}

/* Sets the demand of the connection. Returns as much of it as fits into its prefix's half. */
static inline __u32 budget_want(struct budget *b, struct budget_share *share, __u32 bytes)
{
	struct budget_prefix *prefix = budget_prefix_of(b, share);

	if (b->total && bytes > b->total / BUDGET_PART)
		bytes = (__u32)(b->total / BUDGET_PART);
	if (rightsize_differs(share->wanted, bytes)) {
		__u64 more = (__u64)bytes - share->wanted;

		__sync_fetch_and_add(&b->wanted, more);
		__sync_fetch_and_add(&prefix->wanted, more);
		share->wanted = bytes;
	}
	bytes = budget_part_of_prefix(b, prefix->wanted, bytes);
	if (rightsize_differs(share->counted, bytes)) {
		budget_class_count(b, share->counted, -1);
		budget_class_count(b, bytes, 1);
		share->counted = bytes;
	}
	return bytes;
}

/* The search for the level walks the classes, the smallest demands first. */
struct budget_search {
	const struct budget *b;
	__u64 rest;  /* bytes that are not distributed yet */
	__u64 above; /* connections whose demands are not met yet */
};

/* Meets the demands of class @i. Returns 1, which ends the search, if they exceed their share. */
static inline long budget_meet_class(__u32 i, struct budget_search *s)
{
	__u64 count, bytes;

	if (!s->above || !budget_has_class(&i))
		return 1;
	count = s->b->need[i].count;
	bytes = s->b->need[i].bytes;
	if (!count)
		return 0;
	/* Count and sum are changed one after the other, and may be read in between. */
	if (count > s->above)
		count = s->above;
	if (bytes > s->rest)
		return 1;
	if (count < s->above && (s->rest - bytes) / (s->above - count) < budget_class_end(i))
		return 1;
	s->rest -= bytes;
	s->above -= count;
	return 0;
}

/*
 * The max-min fair level where not all demands can be met: at most the exact one, and at least 8/9
 * of it.
 */
static inline __u32 budget_find_level(const struct budget *b)
{
	struct budget_search s = {.b = b, .rest = b->total};
	__u64 level;
	__u32 i;

	for (i = 0; i < BUDGET_CLASSES; i++)
		s.above += b->need[i].count;
#ifdef __bpf__ /* the verifier walks each iteration of a loop, but a callback of bpf_loop() once */
	bpf_loop(BUDGET_CLASSES, budget_meet_class, &s, 0);
#else
	for (i = 0; i < BUDGET_CLASSES && !budget_meet_class(i, &s); i++)
		;
#endif
	if (!s.above)
		return BUDGET_NO_LEVEL;
	level = s.rest / s.above;
	return level < BUDGET_NO_LEVEL ? (__u32)level : BUDGET_NO_LEVEL;
}

/* True if the demands exceed the total. */
static inline int budget_is_scarce(const struct budget *b)
{
	return b->total && b->wanted > b->total;
}

/* The present level. */
static inline __u32 budget_level(struct budget *b, __u64 now_us)
{
	if (!budget_is_scarce(b))
		return BUDGET_NO_LEVEL;
	if (!b->level || (__s64)(now_us - b->level_us) >= BUDGET_LEVEL_US) {
		b->level_us = now_us;
		b->level = budget_find_level(b);
	}
	return (__u32)b->level;
}

/* Adds @more to @sum, or as much as keeps @sum within @max. Returns what was added. */
static inline __u64 budget_add(__u64 *sum, __u64 more, __u64 max)
{
	__u64 after = __sync_fetch_and_add(sum, more) + more, over = 0;

	if (after > max) {
		over = after - max < more ? after - max : more;
		__sync_fetch_and_add(sum, -over);
	}
	return more - over;
}

/* Enlarges the grant to @bytes, or as far as there is memory. Returns the grant. */
static inline __u32 budget_reserve(struct budget *b, struct budget_share *share, __u32 bytes)
{
	struct budget_prefix *prefix = budget_prefix_of(b, share);
	__u64 more, added;

	if (b->total && bytes > b->total / BUDGET_PART)
		bytes = (__u32)(b->total / BUDGET_PART);
	if (bytes <= share->granted)
		return share->granted;
	more = budget_add(&prefix->granted, bytes - share->granted, budget_prefix_max(b));
	added = budget_add(&b->granted, more, b->total ? b->total : ~0ull);
	__sync_fetch_and_add(&prefix->granted, added - more);
	share->granted += (__u32)added;
	return share->granted;
}

/* Reduces the grant to @bytes. */
static inline void budget_return(struct budget *b, struct budget_share *share, __u32 bytes)
{
	__u64 less;

	if (share->granted <= bytes)
		return;
	less = share->granted - bytes;
	__sync_fetch_and_add(&b->granted, -less);
	__sync_fetch_and_add(&budget_prefix_of(b, share)->granted, -less);
	share->granted = bytes;
}

/* Removes demand and grant, at the end of a connection. */
static inline void budget_leave(struct budget *b, struct budget_share *share)
{
	budget_return(b, share, 0);
	budget_class_count(b, share->counted, -1);
	__sync_fetch_and_add(&b->wanted, -(__u64)share->wanted);
	__sync_fetch_and_add(&budget_prefix_of(b, share)->wanted, -(__u64)share->wanted);
	share->wanted = share->counted = 0;
}
