/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events: decisions about a connection, when they are made. The BPF programs write them to a ring
 * buffer while there are listeners. daemon/rpc/events.c names them and their two numbers.
 */
#pragma once

#include <linux/types.h>

/* Room for some 3,000 unread events. */
#define TCPTUNED_EVENTS_BYTES (256 * 1024)

/* An interface between builds, in which no number is used again. The comments describe a; b. */
enum tcptuned_event_kind {
	TCPTUNED_EV_MANAGED = 1,	   /* managed: 1 accepted here, 0 opened here; - */
	TCPTUNED_EV_CLOSED = 2,		   /* bytes received; bytes sent and acknowledged */
	TCPTUNED_EV_RCVBUF_OVERRIDDEN = 3, /* bytes requested; process */
	TCPTUNED_EV_SNDBUF_OVERRIDDEN = 4,
	TCPTUNED_EV_CC_SET = 5, /* a name, eight characters in each number */
	TCPTUNED_EV_CC_KEPT = 6,
	TCPTUNED_EV_CC_FAILED = 7,
	TCPTUNED_EV_RCV_GROWN = 16, /* bytes of window before; bytes now */
	TCPTUNED_EV_RCV_SHRUNK = 17,
	TCPTUNED_EV_RCV_CAPPED = 18, /* bytes of window before; the cap, bytes */
	TCPTUNED_EV_RCV_TEST = 19,   /* bytes of window before; bytes during the test */
	TCPTUNED_EV_RCV_FAILED = 20, /* bytes of window that could not be set; - */
	TCPTUNED_EV_RCV_BUDGET = 21, /* bytes of memory wanted; bytes granted */
	TCPTUNED_EV_SND_GROWN = 32,  /* the same of the send direction, in the same order */
	TCPTUNED_EV_SND_SHRUNK = 33,
	TCPTUNED_EV_SND_CAPPED = 34,
	TCPTUNED_EV_SND_TEST = 35,
	TCPTUNED_EV_SND_FAILED = 36,
	TCPTUNED_EV_SND_BUDGET = 37,
};

enum tcptuned_event_flags {
	TCPTUNED_EV_OBSERVE = 1 << 0, /* nothing was changed */
};

struct tcptuned_event {
	__u64 time_ns;	  /* CLOCK_MONOTONIC */
	__u64 a, b;	  /* by kind */
	__u8 local[16];	  /* network byte order; IPv4 in the first four bytes */
	__u8 remote[16];  /* zeroes: there is no connection yet */
	__u32 netns;	  /* inode number of the network namespace */
	__u32 policy;	  /* id */
	__u16 local_port; /* host byte order */
	__u16 remote_port;
	__u16 family; /* AF_INET or AF_INET6 */
	__u8 kind;    /* enum tcptuned_event_kind */
	__u8 flags;   /* enum tcptuned_event_flags */
};

/* A listener renews the end of the period, so that events stop if it is killed. */
struct tcptuned_event_gate {
	__u64 until_ns; /* CLOCK_MONOTONIC; 0: there is no listener */
};
