/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy record: what may be done to a connection. Written by the daemon, read by the BPF
 * programs when a connection is made; the parts that matter later are copied into the
 * connection's own record, so that a change of policy leaves live connections alone.
 */
#ifndef TCPTUNED_POLICY_H
#define TCPTUNED_POLICY_H

#include <linux/types.h>

#define TCPTUNED_CC_NAME_MAX	16 /* TCP_CA_NAME_MAX of the kernel, with its NUL */
#define TCPTUNED_POLICY_DEFAULT 0  /* key of the policy that takes every connection */

enum tcptuned_mode {
	TCPTUNED_OFF = 0,     /* claims nothing: no connection is touched */
	TCPTUNED_OBSERVE = 1, /* decides and counts everything, changes nothing (--dry-run) */
	TCPTUNED_TUNE = 2,
};

struct tcptuned_policy {
	__u32 mode;	       /* enum tcptuned_mode */
	__u32 override_rcvbuf; /* take SO_RCVBUF of applications for a hint, not an order */
	__u32 override_sndbuf;
	__u32 rcv_window_max; /* bytes of window that a receiver may get */
	__u32 snd_window_max; /* bytes in flight that a send buffer may allow for */
	__u32 snd_unsent_max; /* bytes that may wait in it unsent; 0: as the path needs */
	__u32 rcv_buffer_max; /* what bpf_setsockopt(SO_RCVBUF) can reach: 2 x net.core.rmem_max */
	__u32 snd_buffer_max; /* the same of SO_SNDBUF and net.core.wmem_max */
	char congestion_control[TCPTUNED_CC_NAME_MAX]; /* "": leave it alone */
};

#endif
