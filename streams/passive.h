/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups of connections that one control group has to one host in one direction, and windows of
 * time in which a group was the same connections, none of which waited for its application:
 * measurements of parallel connections. One scan after the other is added, and nothing is kept but
 * sums.
 */
#pragma once

#include <tcptuned/abi/flow.h>
#include <tcptuned/abi/streams.h>
#include <tcptuned/streams.h>

/* A window is this long, and as many of its group's largest round-trip time. */
#define TCPTUNED_PASSIVE_WINDOW_NS   2000000000ull
#define TCPTUNED_PASSIVE_WINDOW_RTTS 20

struct tcptuned_passive;

/* For the metrics. */
struct tcptuned_passive_stats {
	__u64 groups;	/* in the last scan */
	__u64 measured; /* windows that were measurements */
	__u64 refused;	/* ... where a connection waited for its application, or they differ */
};

struct tcptuned_passive *tcptuned_passive_new(void);
void tcptuned_passive_free(struct tcptuned_passive *groups);

/* Begin a scan at @now_ns, CLOCK_MONOTONIC. */
void tcptuned_passive_begin(struct tcptuned_passive *groups, __u64 now_ns);

/* A scan that has begun, and to which nothing was added, does not take place. */
void tcptuned_passive_cancel(struct tcptuned_passive *groups);

/* Add a connection that has carried data since the scan before. */
void tcptuned_passive_add(struct tcptuned_passive *groups,
			  const struct tcptuned_flow_record *record);

/* End the scan. @measured is called for each window that has ended as a measurement. */
typedef void (*tcptuned_passive_measured)(void *ctx, const struct tcptuned_streams_key *key,
					  __u32 netns, const struct tcptuned_streams_level *window);
void tcptuned_passive_end(struct tcptuned_passive *groups, tcptuned_passive_measured measured,
			  void *ctx);

const struct tcptuned_passive_stats *tcptuned_passive_stats(const struct tcptuned_passive *groups);
