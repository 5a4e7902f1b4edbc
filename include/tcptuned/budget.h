/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The budget: memory granted to connections in all, shared max-min fairly.
 *
 * Each connection says what it could use. Who needs little gets all of it; what is left is
 * shared equally by the rest, as the automatic tuning of Semke, Mahdavi and Mathis does with
 * send buffers (Weigle and Feng, "A Comparison of TCP Automatic Tuning Techniques for
 * Distributed Computing", section 2.3). The fair share is the level L with
 *
 *	sum over all connections of min(wanted, L) = total
 *
 * Connections are not gone through to find it. Their wants are kept as a histogram, eight
 * classes to the octave, with the number and the sum of each class; one pass over the classes
 * gives a level that is exact unless it lies within a class: then all of that class is taken to
 * need the whole of it, so that the level is never too high.
 *
 * A level alone does not keep the sum below the total while connections that had more are on
 * their way down: growth is reserved in one atomic addition first, and undone if that goes
 * beyond the total. Growth is refused; what was granted comes down only as a connection itself
 * makes its buffer smaller.
 *
 * No connection has more than a quarter of the budget, and the connections of one peer prefix (/24
 * of IPv4, /48 of IPv6) have at most half of it together, so that no remote network can exhaust it.
 * Where the connections of a prefix want more than half, the want of each counts in proportion.
 * Prefixes are hashed into a table that is never full and from which nothing is removed: two
 * prefixes with the same hash share the half of one.
 *
 * Pure: no kernel and no libc call, integers only. Sums are changed by atomic additions; all
 * CPUs share one struct budget. Amounts are bytes of memory beyond what a connection began
 * with, times are microseconds of a monotonic clock.
 */
#ifndef TCPTUNED_BUDGET_H
#define TCPTUNED_BUDGET_H

#include <linux/types.h>

/* Classes: below 2^4 one for each value, then eight to the octave, up to 2^32. */
#define BUDGET_CLASSES 240

/* The level is looked for again after this time, while not everybody's wants can be met. */
#define BUDGET_LEVEL_US 10000u

/* A want that changed by less than this part of it is not worth two atomic additions. */
#define BUDGET_NOTICE 16u

#define BUDGET_NO_LEVEL (~0u)

struct budget_class {
	__u64 count; /* connections whose wants lie in it */
	__u64 bytes; /* the sum of those */
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
	__u64 total;	/* what may be granted; 0: any amount */
	__u64 granted;	/* what is */
	__u64 wanted;	/* the sum of all wants */
	__u64 level_us; /* when the level was found */
	__u64 level;	/* no connection gets more; BUDGET_NO_LEVEL: all can have what they want */
	__u64 records;	/* connections and listeners that have a record */
	__u64 records_max; /* 0: any number */
	struct budget_class need[BUDGET_CLASSES];
	struct budget_prefix prefix[BUDGET_PREFIXES];
};

/* One direction of one connection. All zeroes: wants nothing, has nothing. */
struct budget_share {
	__u32 wanted;
	__u32 granted;
	__u32 counted; /* what is in a class of it: less than wanted where its prefix wants too much */
	__u32 prefix;  /* its peer's, budget_prefix_hash(); changed only while the rest is zero */
};

/* Where the peer prefix of which these are the first 64 bits is counted. */
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
	__u32 octave = 0, rest = bytes;

	if (bytes < 16)
		return bytes;
	/* A binary search of the highest bit: BPF has no instruction for it. */
	if (rest >> 16) {
		octave += 16;
		rest >>= 16;
	}
	if (rest >> 8) {
		octave += 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		octave += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		octave += 2;
		rest >>= 2;
	}
	octave += rest >> 1;
	return (octave - 3) * 8 + (bytes >> (octave - 3));
}

/*
 * Is there such a class? The compiler knows that of small values there is, and would leave the
 * comparison out, which the verifier of Linux 6.1 needs to see.
 */
static inline int budget_has_class(__u32 *i)
{
	__asm__("" : "+r"(*i));
	return *i < BUDGET_CLASSES;
}

/* The smallest value of the class above: every value of class @i is below it. */
static inline __u64 budget_class_end(__u32 i)
{
	i++;
	return i < 16 ? i : (__u64)(8 + (i & 7)) << ((i >> 3) - 1);
}

static inline void budget_class_add(struct budget *b, __u32 bytes)
{
	__u32 i = budget_class_of(bytes);

	if (!bytes || !budget_has_class(&i))
		return;
	__sync_fetch_and_add(&b->need[i].count, 1);
	__sync_fetch_and_add(&b->need[i].bytes, bytes);
}

static inline void budget_class_remove(struct budget *b, __u32 bytes)
{
	__u32 i = budget_class_of(bytes);

	if (!bytes || !budget_has_class(&i))
		return;
	__sync_fetch_and_add(&b->need[i].count, -1ull);
	__sync_fetch_and_add(&b->need[i].bytes, -(__u64)bytes);
}

/* One connection never has more than this part of the budget, ... */
#define BUDGET_PART 4u

/* ... and the connections of one peer prefix never more than this, bytes. */
static inline __u64 budget_prefix_max(const struct budget *b)
{
	return b->total ? b->total / 2 : ~0ull;
}

/* May there be another record? Counts it if so. */
static inline int budget_add_record(struct budget *b)
{
	if (__sync_fetch_and_add(&b->records, 1) < b->records_max || !b->records_max)
		return 1;
	__sync_fetch_and_add(&b->records, -1ull);
	return 0;
}

/* Is the difference worth atomic additions? */
static inline int budget_notices(__u32 was, __u32 bytes)
{
	__u32 gap = bytes > was ? bytes - was : was - bytes;

	return gap > was / BUDGET_NOTICE;
}

/* Of @bytes, the part that a connection may have if those of its prefix want @wanted together. */
static inline __u32 budget_part_of_prefix(const struct budget *b, __u64 wanted, __u32 bytes)
{
	__u64 max = budget_prefix_max(b);

	/* In units of 256 bytes: half of the largest budget has 39 bits, @bytes has 32. */
	return wanted > max ? bytes * (max >> 8) / ((wanted >> 8) + 1) : bytes;
}

/* Say what the connection could use now. Returns as much of it as is within its prefix's half. */
static inline __u32 budget_want(struct budget *b, struct budget_share *share, __u32 bytes)
{
	struct budget_prefix *prefix = budget_prefix_of(b, share);

	if (b->total && bytes > b->total / BUDGET_PART)
		bytes = (__u32)(b->total / BUDGET_PART);
	if (budget_notices(share->wanted, bytes)) {
		__u64 more = (__u64)bytes - share->wanted;

		__sync_fetch_and_add(&b->wanted, more);
		__sync_fetch_and_add(&prefix->wanted, more);
		share->wanted = bytes;
	}
	bytes = budget_part_of_prefix(b, prefix->wanted, bytes);
	if (budget_notices(share->counted, bytes)) {
		budget_class_remove(b, share->counted);
		budget_class_add(b, bytes);
		share->counted = bytes;
	}
	return bytes;
}

/* The search for the level goes through the classes, the smallest wants first. */
struct budget_search {
	const struct budget *b;
	__u64 rest;  /* bytes that are not given away yet */
	__u64 above; /* connections whose wants are not met yet */
};

/* Meets the wants of class @i. Returns 1, and ends the search, if they are more than their share. */
static inline long budget_meet_class(__u32 i, struct budget_search *s)
{
	__u64 count, bytes;

	if (!s->above || !budget_has_class(&i))
		return 1;
	count = s->b->need[i].count;
	bytes = s->b->need[i].bytes;
	if (!count)
		return 0;
	/* Sums are changed one after the other, and may be seen in between. */
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
 * The max-min fair level for @total bytes, where not all wants can be met: at most what each
 * connection's own want would give, and at least 8/9 of that.
 */
static inline __u32 budget_find_level(const struct budget *b, __u64 total)
{
	struct budget_search s = { .b = b, .rest = total };
	__u64 level;
	__u32 i;

	for (i = 0; i < BUDGET_CLASSES; i++)
		s.above += b->need[i].count;
#ifdef __bpf__ /* the verifier walks each turn of a loop, but what bpf_loop() calls only once */
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

/* Is more wanted than there is? */
static inline int budget_is_scarce(const struct budget *b)
{
	return b->total && b->wanted > b->total;
}

/* The level as of now. */
static inline __u32 budget_level(struct budget *b, __u64 now_us)
{
	if (!budget_is_scarce(b))
		return BUDGET_NO_LEVEL;
	if (!b->level || now_us - b->level_us >= BUDGET_LEVEL_US) {
		b->level_us = now_us;
		b->level = budget_find_level(b, b->total);
	}
	return (__u32)b->level;
}

/* Add @more to @sum, or as much of it as keeps @sum within @max. Returns what was added. */
static inline __u64 budget_add(__u64 *sum, __u64 more, __u64 max)
{
	__u64 after = __sync_fetch_and_add(sum, more) + more, over = 0;

	if (after > max) {
		over = after - max < more ? after - max : more;
		__sync_fetch_and_add(sum, -over);
	}
	return more - over;
}

/*
 * Reserve memory up to @bytes for the connection, or as much of it as there is. Returns what
 * it has then, which is not less than it had.
 */
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

/* Give back what is more than @bytes. */
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

/* The connection is gone. */
static inline void budget_leave(struct budget *b, struct budget_share *share)
{
	budget_return(b, share, 0);
	budget_class_remove(b, share->counted);
	__sync_fetch_and_add(&b->wanted, -(__u64)share->wanted);
	__sync_fetch_and_add(&budget_prefix_of(b, share)->wanted, -(__u64)share->wanted);
	share->wanted = share->counted = 0;
}

#endif
