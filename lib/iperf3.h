/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What n parallel connections carry, measured by iperf3, which runs as a child. */
#ifndef TCPTUNED_IPERF3_H
#define TCPTUNED_IPERF3_H

#include <stddef.h>
#include <sys/types.h>

struct iperf3_run {
	const char *host;
	unsigned int port;
	unsigned int streams;
	unsigned int seconds; /* that are measured, after those that are left out */
	unsigned int omit_seconds;
	int reverse; /* 1: the server sends */
};

struct iperf3_result {
	double bits_per_second; /* received, of all connections */
	double bytes;		/* sent in all, those that are left out included */
	double rtt_min_s;   /* smallest smoothed RTT of the sender's, once a second; 0: unknown */
	double retransmits; /* segments; -1: unknown */
	char congestion_control[16];
};

/*
 * Start a run. @pid: a child, which leads a process group of its own and ends with this process;
 * @output: what it prints, a descriptor to read until its end. Returns 0 or an errno, negative: -ENOENT
 * means that iperf3 is not installed.
 */
int iperf3_start(const struct iperf3_run *run, pid_t *pid, int *output);

/*
 * Read what a run has printed. Returns 0; -EPROTO, and in @error what iperf3 complains about, or that
 * its output makes no sense.
 */
int iperf3_read(const char *output, size_t len, struct iperf3_result *ret, char *error,
		size_t error_size);

#endif
