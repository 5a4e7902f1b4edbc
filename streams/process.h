/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The established TCP connections of a process, by sock_diag(7). */
#pragma once

#include <sys/types.h>

/*
 * Sums over the connections of a process that carry data: those with less than a hundredth of the
 * bytes of the largest are left out, for example the control connection of iperf3.
 */
struct process_sums {
	unsigned int count;
	int receives;	     /* most bytes were received, not sent */
	double bytes;	     /* received, or sent and acknowledged */
	double bytes_max;    /* of one of them */
	double sent, resent; /* segments; of a receiver: arrived, and arrived out of order */
	double busy_s, rwnd_s, sndbuf_s; /* with data to send; limited by either window */
	double rtt_s;			 /* mean of the smoothed RTTs; 0: unknown */
	double rtt_min_s;		 /* smallest minimum; 0: unknown */
	double window_max_bytes;	 /* of a receiver: bytes that may come */
	char congestion_control[16];	 /* "mixed" if there are several */
};

/* What a reader remembers between calls; all zeroes: new. */
struct process_reader {
	int fd;		   /* of netlink; 0: none yet */
	unsigned int port; /* remote, of all connections of the process; 0: unknown, or several */
};

/* Read the connections of the process @pid. Returns 0, or an error of the system. */
int process_read(struct process_reader *reader, pid_t pid, struct process_sums *ret);

void process_close(struct process_reader *reader);
