/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Right-sizing in user space: what bpf/receiver.h and bpf/sender.h do in the kernel, once per round
 * trip and by socket options that need no privilege.
 */
#pragma once

#include <sys/socket.h>

#include <tcptuned/algo/rightsize.h>

#include "diag.h"

#define TUNER_CONTROL \
	"/run/tcptuned/control" /* the socket of a daemon with the default runtime_directory */

#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72 /* Linux 5.14 */
#endif

/* Maxima of the host, bytes of memory; 0: unknown. */
struct tuner_limits {
	unsigned int rcvbuf;	   /* the largest buffer by SO_RCVBUF: net.core.rmem_max x 2 */
	unsigned int sndbuf;	   /* net.core.wmem_max x 2 */
	unsigned int tuned_rcvbuf; /* maximum of net.ipv4.tcp_rmem: the largest by autotuning; 0
				      also if net.ipv4.tcp_moderate_rcvbuf is 0 */
	unsigned int tuned_sndbuf; /* maximum of net.ipv4.tcp_wmem */
	int unsent;		   /* net.ipv4.tcp_notsent_lowat has been set */
};

/* One connection; all zeroes: a new one. */
struct tuner {
	struct rightsize receive;
	__u64 received;			   /* bytes that arrived */
	unsigned int segments, disordered; /* that arrived, and out of order, at the last sample */
	unsigned int segment_bytes;
	unsigned int rcvbuf;	   /* bytes of memory at the end of the last round */
	unsigned int short_rounds; /* in a row in which the kernel left the window too small */
	unsigned int seed;	   /* receive window that the path needed, bytes; 0: unknown */
	unsigned int grown;	   /* the receive window that was asked for last, bytes */
	unsigned int clamp;	   /* the window clamp that was set; 0: none */
	unsigned int unsent;	   /* TCP_NOTSENT_LOWAT that was set; 0: none */
	unsigned int sndbuf;	   /* memory that was requested for the send buffer; 0: none */
	unsigned int asked; /* SO_SNDBUF of the application that it does not have, bytes; 0: none */
	int no_receive, no_send; /* this direction is left alone */
	int unlocked;		 /* SO_BUF_LOCK has been looked at */
	int unsent_foreign;	 /* the application sets TCP_NOTSENT_LOWAT itself */
};

struct tuner_sample {
	union diag_info info;
	unsigned int rcvbuf, sndbuf; /* bytes of memory */
};

/* What to set; 0: leave it as it is. */
struct tuner_action {
	unsigned int grow;   /* receive window, bytes */
	unsigned int clamp;  /* bytes */
	unsigned int unsent; /* bytes */
	unsigned int sndbuf; /* bytes of memory */
	int unlock;	     /* let the kernel size buffers that the application fixed */
};

void tuner_read_limits(struct tuner_limits *ret);

/* Whether tcptuned runs here: its control socket answers, or exists and is not for this user. */
int tuner_daemon_runs(void);

/*
 * Decide what to set, once per round trip. @now_us: monotonic clock, @clock_us: UTC. Returns
 * whether @ret has anything to set. Before the connection has carried 128 KiB only buffers are
 * unlocked, and the seed is asked for, from 64 KiB on.
 */
int tuner_decide(struct tuner *tuner, const struct tuner_limits *limits,
		 const struct tuner_sample *sample, __u64 now_us, __u64 clock_us,
		 struct tuner_action *ret);

/*
 * Set what is set once: a maximum of @rate, bytes per second (0: none), unless the application has
 * a lower one, and a congestion control (NULL: as it is). Returns whether that has been accepted.
 */
int tuner_prepare(int fd, __u64 rate, const char *congestion_control);

/* Set it. Returns 0, or the first error of the system. */
int tuner_act(struct tuner *tuner, int fd, const struct tuner_action *action);

/*
 * Do both for a socket of this process, if @due_us (monotonic clock; 0: now) has passed, and
 * advance that. Returns the microseconds that are left, or an error of the system.
 */
int tuner_tick(struct tuner *tuner, const struct tuner_limits *limits, int fd, __u64 *due_us);

/* Microseconds until the next sample: 17/16 of a round trip, at least 5 ms, at most 1 s. */
unsigned int tuner_interval_us(const struct tuner_sample *sample);
