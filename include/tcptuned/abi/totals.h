/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Totals of the host: counters and histograms, one copy per CPU, added up when read. The
 * names that Prometheus sees are made from the two tables in daemon/metrics/metrics.c.
 */
#ifndef TCPTUNED_TOTALS_H
#define TCPTUNED_TOTALS_H

#include <linux/types.h>

enum tcptuned_counter {
	TCPTUNED_C_CLAIMED_ACTIVE,    /* connections claimed that this host opened */
	TCPTUNED_C_CLAIMED_PASSIVE,   /* ... that it accepted */
	TCPTUNED_C_CLAIMED_OPEN,      /* ... that were open before tcptuned came */
	TCPTUNED_C_ADOPT_FAILED,      /* open sockets that could not be adopted */
	TCPTUNED_C_CLOSED,	      /* claimed connections that ended */
	TCPTUNED_C_CALLBACKS_AGAIN,   /* times that a connection's callbacks were gone */
	TCPTUNED_C_STORAGE_FAILED,    /* no memory for a record: left to the kernel */
	TCPTUNED_C_CC_SET,	      /* congestion control of the policy set */
	TCPTUNED_C_CC_KEPT,	      /* the application or a route had chosen: kept */
	TCPTUNED_C_CC_FAILED,	      /* setting it failed */
	TCPTUNED_C_RCVBUF_OVERRIDDEN, /* SO_RCVBUF requests of applications not obeyed */
	TCPTUNED_C_SNDBUF_OVERRIDDEN,
	TCPTUNED_C_RCV_ROUNDS,	      /* measuring rounds that ended; the two directions' ... */
	TCPTUNED_C_RCV_GROWS,	      /* receive windows enlarged */
	TCPTUNED_C_RCV_SHRINKS,	      /* ... made smaller */
	TCPTUNED_C_RCV_CAPS,	      /* ... that the cap held back */
	TCPTUNED_C_RCV_TESTS,	      /* tests with a smaller one that began */
	TCPTUNED_C_RCV_FAILED,	      /* the kernel refused the change */
	TCPTUNED_C_SND_ROUNDS,	      /* ... counters are the same, and in the same order */
	TCPTUNED_C_SND_GROWS,
	TCPTUNED_C_SND_SHRINKS,
	TCPTUNED_C_SND_CAPS,
	TCPTUNED_C_SND_TESTS,
	TCPTUNED_C_SND_FAILED,
	TCPTUNED_C_BYTES_RECEIVED,    /* of claimed connections that ended */
	TCPTUNED_C_BYTES_ACKED,
	TCPTUNED_C_SEGMENTS_SENT,
	TCPTUNED_C_RETRANSMITS,
	TCPTUNED_C_RCV_BUDGET,	      /* receive windows kept below what the path needs, ... */
	TCPTUNED_C_SND_BUDGET,	      /* ... send buffers, for the budget's sake */
	TCPTUNED_C_MEMORY_SHORT,      /* growth refused since TCP's memory runs out */
	TCPTUNED_C_EVENTS_LOST,	      /* nobody read them fast enough */
	TCPTUNED_C_PATH_LEARNED,      /* connections whose measurements went into a path */
	TCPTUNED_C_PATH_FAILED,	      /* ... that could not be stored */
	TCPTUNED_C_PATH_SEEDS,	      /* connections that began with what a path was known for */
	TCPTUNED_COUNTERS,
};

enum tcptuned_histogram_id {
	TCPTUNED_H_SRTT,	  /* microseconds; per sending round */
	TCPTUNED_H_RCV_RTT,	  /* microseconds, the receiver's estimate; per receiving round */
	TCPTUNED_H_MIN_RTT,	  /* microseconds; at the connection's end */
	TCPTUNED_H_RCV_PER_RTT,	  /* bytes per minimum RTT received; per round */
	TCPTUNED_H_RCV_WINDOW,	  /* bytes advertised; per receiving round */
	TCPTUNED_H_CWND,	  /* segments; per sending round */
	TCPTUNED_H_RETRANSMITS,	  /* segments; per connection, at its end */
	TCPTUNED_HISTOGRAMS,
};

/* Bucket i counts values above 2^(i-1) and up to 2^i; the last takes the rest. */
#define TCPTUNED_BUCKETS 32

struct tcptuned_histogram {
	__u64 count;
	__u64 sum;
	__u64 bucket[TCPTUNED_BUCKETS];
};

struct tcptuned_totals {
	__u64 counter[TCPTUNED_COUNTERS];
	struct tcptuned_histogram histogram[TCPTUNED_HISTOGRAMS];
};

/* The bucket that @value falls into: the smallest i with value <= 2^i. */
static inline __u32 tcptuned_bucket(__u64 value)
{
	__u32 i = 0;

	if (value <= 1)
		return 0;
	value--;
	/* A binary search of the highest bit: BPF has no instruction for it. */
	if (value >> 32)
		return TCPTUNED_BUCKETS - 1;
	if (value >> 16) {
		i += 16;
		value >>= 16;
	}
	if (value >> 8) {
		i += 8;
		value >>= 8;
	}
	if (value >> 4) {
		i += 4;
		value >>= 4;
	}
	if (value >> 2) {
		i += 2;
		value >>= 2;
	}
	if (value >> 1)
		i += 1;
	return i + 1 < TCPTUNED_BUCKETS ? i + 1 : TCPTUNED_BUCKETS - 1;
}

#endif
