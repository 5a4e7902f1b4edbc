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
 * makes its buffer smaller. What somebody else had given it already counts as granted, too, also
 * beyond the total: there is less for growth then.
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

struct budget {
	__u64 total;	/* what may be granted; 0: any amount */
	__u64 granted;	/* what is */
	__u64 wanted;	/* the sum of all wants */
	__u64 level_us; /* when the level was found */
	__u64 level;	/* no connection gets more; BUDGET_NO_LEVEL: all can have what they want */
	__u64 records;	/* connections and listeners that have a record */
	__u64 records_max; /* 0: any number */
	struct budget_class need[BUDGET_CLASSES];
};

/* One direction of one connection. All zeroes: wants nothing, has nothing. */
struct budget_share {
	__u32 wanted;
	__u32 granted;
};

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
	__sync_fetch_and_add(&b->wanted, bytes);
}

static inline void budget_class_remove(struct budget *b, __u32 bytes)
{
	__u32 i = budget_class_of(bytes);

	if (!bytes || !budget_has_class(&i))
		return;
	__sync_fetch_and_add(&b->need[i].count, -1ull);
	__sync_fetch_and_add(&b->need[i].bytes, -(__u64)bytes);
	__sync_fetch_and_add(&b->wanted, -(__u64)bytes);
}

/* One connection never has more than this part of the budget. */
#define BUDGET_PART 4u

/* May there be another record? Counts it if so. */
static inline int budget_add_record(struct budget *b)
{
	if (__sync_fetch_and_add(&b->records, 1) < b->records_max || !b->records_max)
		return 1;
	__sync_fetch_and_add(&b->records, -1ull);
	return 0;
}

/* Say what the connection could use now. */
static inline void budget_want(struct budget *b, struct budget_share *share, __u32 bytes)
{
	__u32 was = share->wanted, gap = bytes > was ? bytes - was : was - bytes;

	if (gap <= was / BUDGET_NOTICE)
		return;
	budget_class_remove(b, was);
	budget_class_add(b, bytes);
	share->wanted = bytes;
}

/*
 * The max-min fair level for @total bytes, where not all wants can be met: at most what each
 * connection's own want would give, and at least 8/9 of that.
 */
static inline __u32 budget_find_level(const struct budget *b, __u64 total)
{
	__u64 rest = total, above = 0, count, bytes, level;
	__u32 i;

	for (i = 0; i < BUDGET_CLASSES; i++)
		above += b->need[i].count;
	for (i = 0; i < BUDGET_CLASSES && above; i++) {
		count = b->need[i].count;
		bytes = b->need[i].bytes;
		if (!count)
			continue;
		/* Sums are changed one after the other, and may be seen in between. */
		if (count > above)
			count = above;
		if (bytes > rest)
			break;
		if (count < above && (rest - bytes) / (above - count) < budget_class_end(i))
			break;
		rest -= bytes;
		above -= count;
	}
	if (!above)
		return BUDGET_NO_LEVEL;
	level = rest / above;
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

/*
 * Reserve memory up to @bytes for the connection, or as much of it as there is. Returns what
 * it has then, which is not less than it had.
 */
static inline __u32 budget_reserve(struct budget *b, struct budget_share *share, __u32 bytes)
{
	__u64 more, before, over;

	if (b->total && bytes > b->total / BUDGET_PART)
		bytes = (__u32)(b->total / BUDGET_PART);
	if (bytes <= share->granted)
		return share->granted;
	more = bytes - share->granted;
	before = __sync_fetch_and_add(&b->granted, more);
	if (b->total && before + more > b->total) {
		over = before + more - b->total;
		if (over > more)
			over = more;
		__sync_fetch_and_add(&b->granted, -over);
		more -= over;
	}
	share->granted += (__u32)more;
	return share->granted;
}

/*
 * The connection has @bytes already: what the kernel gave it before it was known here, or what its
 * peer was promised. That much is granted whatever the total, so that others get less.
 */
static inline void budget_hold(struct budget *b, struct budget_share *share, __u32 bytes)
{
	if (bytes <= share->granted)
		return;
	__sync_fetch_and_add(&b->granted, bytes - share->granted);
	share->granted = bytes;
}

/* Give back what is more than @bytes. */
static inline void budget_return(struct budget *b, struct budget_share *share, __u32 bytes)
{
	if (share->granted <= bytes)
		return;
	__sync_fetch_and_add(&b->granted, -(__u64)(share->granted - bytes));
	share->granted = bytes;
}

/* The connection is gone. */
static inline void budget_leave(struct budget *b, struct budget_share *share)
{
	budget_return(b, share, 0);
	budget_class_remove(b, share->wanted);
	share->wanted = 0;
}

#endif
