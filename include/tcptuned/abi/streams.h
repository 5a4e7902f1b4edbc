/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is remembered of parallel connections to a host: how much so many of them carried together,
 * and what limited them. The daemon writes it (streams/memory.c), and no BPF program reads it. It
 * is in a pinned map, so that it outlives the daemon and another process can have it forgotten, as
 * of paths.
 */
#pragma once

#include <linux/types.h>
#include <tcptuned/abi/policy.h>
#include <tcptuned/algo/path.h>

#define TCPTUNED_STREAMS_RECORDS_MAX 4096

/* All bytes are compared. */
struct tcptuned_streams_key {
	struct tcptuned_path_key host;		       /* a prefix of full length */
	char congestion_control[TCPTUNED_CC_NAME_MAX]; /* NUL to its end; "": the peer's, unknown */
	__u32 receives;				       /* 1: this host receives */
	__u32 streams;				       /* connections at the same time */
};

/*
 * Means of the windows of time in which they were measured; a new one counts at least a sixteenth.
 */
struct tcptuned_streams_record {
	__s64 updated_s;  /* CLOCK_BOOTTIME */
	__u32 netns;	  /* inode number of the network namespace */
	__u32 windows;	  /* that were added */
	double rate;	  /* bits per second, of all together */
	double rate_peak; /* the highest of a window; an earlier one fades */
	double loss; /* part of the segments that were retransmitted, or arrived out of order */
	double rtt_s, rtt_min_s;	     /* smoothed, and the smallest; 0: unknown */
	double receiver_window, send_buffer; /* limited it, shares of the time */
};
