/* SPDX-License-Identifier: GPL-2.0-only */
/* Totals of the host, one copy per CPU. metrics/exposition.c has their names in Prometheus. */
#pragma once

#include <linux/types.h>
#include <tcptuned/algo/log2.h>

enum tcptuned_counter {
	TCPTUNED_C_MANAGED_ACTIVE,    /* connections managed that this host opened */
	TCPTUNED_C_MANAGED_PASSIVE,   /* ... that it accepted */
	TCPTUNED_C_MANAGED_OPEN,      /* ... that were open before tcptuned started */
	TCPTUNED_C_ADOPT_FAILED,      /* open sockets that could not be adopted */
	TCPTUNED_C_CLOSED,	      /* managed connections that ended */
	TCPTUNED_C_CALLBACKS_AGAIN,   /* callbacks of a connection that had to be requested again */
	TCPTUNED_C_STORAGE_FAILED,    /* no memory for a record: left to the kernel */
	TCPTUNED_C_CC_SET,	      /* congestion control of the policy set */
	TCPTUNED_C_CC_KEPT,	      /* kept, since the application or a route had chosen it */
	TCPTUNED_C_CC_FAILED,	      /* the kernel refused it */
	TCPTUNED_C_RCVBUF_OVERRIDDEN, /* SO_RCVBUF requests of applications that were overridden */
	TCPTUNED_C_SNDBUF_OVERRIDDEN,
	TCPTUNED_C_RCV_ROUNDS,		/* rounds of measurement that ended */
	TCPTUNED_C_RCV_GROWS,		/* receive windows enlarged */
	TCPTUNED_C_RCV_SHRINKS,		/* ... reduced */
	TCPTUNED_C_RCV_CAPS,		/* ... limited by the policy */
	TCPTUNED_C_RCV_TESTS_HELD,	/* tests with a smaller one, after which one is held */
	TCPTUNED_C_RCV_TESTS_FAILED,	/* ... after which the kernel sizes it */
	TCPTUNED_C_RCV_TESTS_ABANDONED, /* ... that a loss ended, or that did not take effect */
	TCPTUNED_C_RCV_FAILED,		/* changes that the kernel refused */
	TCPTUNED_C_SND_ROUNDS,		/* the same of the send direction, in the same order */
	TCPTUNED_C_SND_GROWS,
	TCPTUNED_C_SND_SHRINKS,
	TCPTUNED_C_SND_CAPS,
	TCPTUNED_C_SND_TESTS_HELD,
	TCPTUNED_C_SND_TESTS_FAILED,
	TCPTUNED_C_SND_TESTS_ABANDONED,
	TCPTUNED_C_SND_FAILED,
	TCPTUNED_C_RCV_BUDGET,	 /* receive windows that the budget limited */
	TCPTUNED_C_SND_BUDGET,	 /* send buffers that the budget limited */
	TCPTUNED_C_MEMORY_SHORT, /* growth refused because TCP's memory is short */
	TCPTUNED_C_EVENTS_LOST,	 /* events for which the ring buffer had no room */
	TCPTUNED_C_PATH_LEARNED, /* connections whose measurements went into a path */
	TCPTUNED_C_PATH_FAILED,	 /* ... could not be stored */
	TCPTUNED_C_PATH_SEEDS,	 /* connections that began with what was known of the path */
	TCPTUNED_C_WAITS, /* struct tcptuned_waits of tuned connections that ended, its members */
	TCPTUNED_C_WAITS_OBSERVED = TCPTUNED_C_WAITS + 3, /* of those that were only observed */
	TCPTUNED_COUNTERS = TCPTUNED_C_WAITS_OBSERVED + 3,
};

#define TCPTUNED_CHRONO_RWND   2 /* include/linux/tcp.h, enum tcp_chrono */
#define TCPTUNED_CHRONO_SNDBUF 3

/* For how long a sender was what, jiffies (tcp_get_info_chrono_stats()). */
struct tcptuned_waits {
	__u64 busy;   /* had data to send or in flight */
	__u64 rwnd;   /* of that, limited by the peer's window */
	__u64 sndbuf; /* of that, limited by its send buffer */
};

enum tcptuned_histogram_id {
	TCPTUNED_H_SRTT,	/* microseconds; of one in eight sending rounds */
	TCPTUNED_H_QUEUE,	/* microseconds by which that exceeds the minimum */
	TCPTUNED_H_RCV_RTT,	/* microseconds, the receiver's estimate; of receiving rounds */
	TCPTUNED_H_MIN_RTT,	/* microseconds; at the connection's end */
	TCPTUNED_H_RCV_WINDOW,	/* bytes advertised; of receiving rounds */
	TCPTUNED_H_CWND,	/* segments; of sending rounds */
	TCPTUNED_H_RETRANSMITS, /* segments; per connection, at its end */
	TCPTUNED_HISTOGRAMS,
};

/* Bucket i counts values above 2^(i-1) and up to 2^i; the last one all larger ones. */
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

/* The bucket of @value: the smallest i with @value <= 2^i. */
static inline __u32 tcptuned_bucket(__u64 value)
{
	if (value <= 1)
		return 0;
	if (value > 1ull << (TCPTUNED_BUCKETS - 1))
		return TCPTUNED_BUCKETS - 1;
	return tcptuned_log2(value - 1) + 1;
}
