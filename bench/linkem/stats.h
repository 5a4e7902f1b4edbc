/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one direction saw. A direction's thread alone writes; the main thread may read at any
 * time, each 64-bit counter whole, the set of them not of one instant.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hosts.h"
#include "queue.h"

/* Log-linear: 32 steps per octave, so a quantile is right within 3 %. */
#define HISTOGRAM_STEPS 32
struct histogram {
	uint64_t count;
	uint64_t max;
	uint64_t buckets[60 * HISTOGRAM_STEPS];
};

void histogram_add(struct histogram *h, uint64_t value);
/* Upper edge of the bucket in which quantile @q (0..1) lies, at most the maximum; 0 if empty.
 */
uint64_t histogram_quantile(const struct histogram *h, double q);

struct tally {
	uint64_t segments, data_segments, bytes;
};

struct direction_stats {
	uint64_t packets_in, packets_out; /* as read and written, GSO segments count once */
	struct tally in, out;
	struct tally verdicts[VERDICT_COUNT];
	struct tally marked; /* with CE, of those that passed */
	struct tally reordered;
	uint64_t malformed;
	uint64_t read_errors, write_errors;
	uint64_t first_in_ns, last_depart_ns, last_out_ns; /* CLOCK_MONOTONIC; 0: none yet */
	uint64_t queue_max_bytes, queue_max_packets, queue_max_delay_ns;
	/* Σ bytes × sojourn: divided by time it is the mean queue (Little's law) */
	double queue_byte_ns;
	double queue_delay_ns;	      /* Σ sojourn over the segments that passed */
	struct histogram late;	      /* ns from when a run was due to when it was handed over */
	struct histogram gap;	      /* ns that a packet may have waited unread behind a sleep */
	struct histogram late_before; /* both, of the time that is not judged */
};

/* What became of the segments from a host, and of those to it. */
struct host_stats {
	struct tally from[VERDICT_COUNT], to[VERDICT_COUNT];
};

/* How the device on the far end fared, from the kernel. */
struct device_counters {
	uint64_t tx_dropped, rx_dropped;
};

struct direction_report {
	const char *name; /* "ab" or "ba" */
	const struct direction_stats *stats;
	const struct queue_config *config;
	const struct red *red; /* NULL: drop-tail alone */
	uint64_t delay_ns;
	struct device_counters sender; /* the device that this direction reads from */
	struct device_counters receiver;
	bool counters_known;
	double cpu_share;   /* of one core, since the link came up */
	double cpu_wait_us; /* mean, from waking up to running; < 0: unknown */
	bool realtime;	    /* SCHED_FIFO was granted */
};

struct host_report {
	const struct host *host;
	const struct host_stats *stats[2]; /* of each direction */
};

struct report {
	uint64_t now_ns, up_since_ns;
	uint64_t rtt_ns; /* both delays, the shortest that a schedule has */
	double judge_after_s;
	double tolerance; /* multiplies every limit on lateness below */
	uint64_t seed;
	struct direction_report direction[2];
	struct host_report hosts[HOSTS_MAX + 1];
	unsigned int host_count;
	double host_cpu_share; /* all cores, 0..1, since the link came up; < 0: unknown */
	double host_steal_share;
};

/*
 * Lateness p99 beyond which a run is worth nothing: 1 % of the RTT, but not less than 500 us,
 * which is how near linkem claims to come to the RTT that was set; and not less than a tenth of
 * @segment_ns, what a full packet takes at the bottleneck. Departures follow a clock of their own
 * (rate_clock_send()), so that lateness does not add up; what is late by a tenth of a segment meets
 * a queue of another length in one case of ten, and of a hundred segments only one is so late.
 */
uint64_t report_late_p99_limit_ns(uint64_t rtt_ns, uint64_t segment_ns);
/*
 * One stall beyond which it is worth nothing: half the RTT or half of a segment's time, at least
 * 20 ms.
 */
uint64_t report_late_max_limit_ns(uint64_t rtt_ns, uint64_t segment_ns);

/*
 * Mean wait for a CPU beyond which it is worth nothing: what a packet waited while its reader
 * was being woken shows nowhere else. Undisturbed it is 1 or 2 us; 20 us are too much, or a
 * thousandth of a segment's time, where that is more.
 */
double report_cpu_wait_limit_us(uint64_t segment_ns);

/* Writes the JSON object; returns whether the run is valid. */
bool report_write(FILE *out, const struct report *r);
