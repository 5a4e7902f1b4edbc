/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How bursty is what a host sends? The coefficient of variation (c.o.v.) of Feng and
 * Tinnakornsrisuphap, "The Adverse Impact of the TCP Congestion-Control Mechanism in Heterogeneous
 * Computing Systems", section 3: the standard deviation over the mean of the number of packets in
 * intervals of one round-trip propagation delay. Poisson traffic of m packets per interval has
 * 1 / sqrt(m) (section 3.2), a constant rate 0, and n intervals of which one has everything
 * sqrt(n - 1).
 *
 * The interval is one for the whole host, as the paper's is that of the path which all connections
 * share: their sum has no round-trip time of its own, and values over intervals of different
 * lengths cannot be compared. Somebody has to say which path matters.
 *
 * Its input is the aggregate: what two CPUs send in the same interval has to be added before it
 * is squared. So a writer only counts, in a ring of intervals of its own that nobody else writes
 * to, and the reader adds up the rings, interval by interval, and squares. A slot of the ring
 * carries the number of its interval; nothing has to be cleared, and an interval in which nothing
 * was sent is one whose number is not there.
 *
 * Pure: burstiness_count() is what BPF does, the rest is for whoever reads.
 */
#ifndef TCPTUNED_BURSTINESS_H
#define TCPTUNED_BURSTINESS_H

#include <linux/types.h>

#define BURSTINESS_NAMES 16 /* congestion controls told apart, with one place for the rest */
#define BURSTINESS_SLOTS 1024u /* a power of two */
/*
 * So many intervals are judged, the last ones: a scrape is to see the recent past. The rest of the
 * ring is for what leaves later, and for the time that a reader needs.
 */
#define BURSTINESS_WINDOW 960u
#define BURSTINESS_AHEAD  16u

/* Written by one CPU. Interrupts are writers of the same CPU, therefore the atomic operations. */
struct burstiness_ring {
	__u64 slot[BURSTINESS_SLOTS]; /* number of the interval << 32 | segments in it */
};

/*
 * The number of the interval in which a segment leaves: at its earliest departure time @edt_ns,
 * which pacing by the queueing discipline puts after @now_ns, or now. Of the same clock. What is
 * to leave after the whole ring's time would push out what is not read yet: it counts as earlier.
 */
static inline __u64 burstiness_interval(__u64 edt_ns, __u64 now_ns, __u64 interval_ns)
{
	__u64 last_ns = now_ns + BURSTINESS_AHEAD * interval_ns;

	if (edt_ns < now_ns)
		edt_ns = now_ns;
	return (edt_ns < last_ns ? edt_ns : last_ns) / interval_ns;
}

/* Segments that leave in that interval. More than 2^32 - 1 are not counted. */
static inline void burstiness_count(struct burstiness_ring *ring, __u64 interval, __u32 segments)
{
	__u64 *slot = &ring->slot[interval & (BURSTINESS_SLOTS - 1)];
	__u64 fresh = interval << 32 | segments, old = *slot;

	if (old >> 32 != fresh >> 32 && __sync_val_compare_and_swap(slot, old, fresh) == old)
		return;
	/* Its time has come already, perhaps in an interrupt just now. */
	if ((__u32)*slot <= 0xffffffffu - segments)
		__sync_fetch_and_add(slot, segments);
}

/* The segments in that interval, which is one of the last BURSTINESS_SLOTS. */
static inline __u32 burstiness_segments(const struct burstiness_ring *ring, __u64 interval)
{
	__u64 slot = ring->slot[interval & (BURSTINESS_SLOTS - 1)];

	return slot >> 32 == (interval & 0xffffffffu) ? (__u32)slot : 0;
}

/*
 * The intervals to judge, up to BURSTINESS_WINDOW of them: returns how many, and in @ret_first the
 * first. Only such as began after @start_ns, when counting did, and that are over; but for the
 * last of those, to which a CPU may be adding still.
 */
static inline __u32 burstiness_window(__u64 start_ns, __u64 now_ns, __u64 interval_ns,
				      __u64 *ret_first)
{
	__u64 end = now_ns / interval_ns, first = start_ns / interval_ns + 1;

	if (end)
		end--;
	if (end > BURSTINESS_WINDOW && first < end - BURSTINESS_WINDOW)
		first = end - BURSTINESS_WINDOW;
	*ret_first = first;
	return end > first ? (__u32)(end - first) : 0;
}

/*
 * Whether intervals from @first on, of a ring that was read until @now_ns, are what they were: who
 * reads slowly may find places of theirs taken by later ones.
 */
static inline int burstiness_in_time(__u64 first, __u64 now_ns, __u64 interval_ns)
{
	return now_ns / interval_ns + BURSTINESS_AHEAD < first + BURSTINESS_SLOTS;
}

/* Moments of the number of segments in an interval, of those that are over. */
struct burstiness {
	__u64 intervals;
	__u64 segments; /* in all of them */
	__u64 squares;	/* of the segments in each, added up */
};

/* No host sends more in one second; and no sum below passes 2^64. */
#define BURSTINESS_MOST_SEGMENTS ((1u << 26) - 1)
#define BURSTINESS_MOST_INTERVALS 4096u

/* One more interval. Those past the limits count as much as these, or not at all. */
static inline void burstiness_add(struct burstiness *b, __u64 segments)
{
	if (b->intervals >= BURSTINESS_MOST_INTERVALS)
		return;
	if (segments > BURSTINESS_MOST_SEGMENTS)
		segments = BURSTINESS_MOST_SEGMENTS;
	b->intervals++;
	b->segments += segments;
	b->squares += segments * segments;
}

/* The results are in millionths. */
#define BURSTINESS_ONE 1000000u

/* Segments per interval, rounded down; 0 when there is no interval. */
static inline __u64 burstiness_mean(const struct burstiness *b)
{
	return b->intervals ? b->segments * BURSTINESS_ONE / b->intervals : 0;
}

/* The square root, rounded down. */
static inline __u64 burstiness_sqrt(__u64 value)
{
	__u64 root = 0, bit;

	for (bit = 1ull << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= value)
			root += bit;
	return root;
}

/*
 * The c.o.v. of all intervals: n intervals, S segments in them and Q as the sum of squares make
 * sqrt(Q / n - (S / n)^2) / (S / n) = sqrt((n Q - S^2) / S^2). Rounded down; 0 when nothing was
 * sent, which has none.
 */
static inline __u64 burstiness_cov(const struct burstiness *b)
{
	unsigned __int128 mean2 = (unsigned __int128)b->segments * b->segments;
	unsigned __int128 spread = (unsigned __int128)b->intervals * b->squares - mean2;

	if (!b->segments)
		return 0;
	return burstiness_sqrt((__u64)(spread * BURSTINESS_ONE * BURSTINESS_ONE / mean2));
}

#endif /* TCPTUNED_BURSTINESS_H */
