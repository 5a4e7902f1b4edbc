/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections that have a record: the kernel's sums about all of them, and those that come first in
 * a choice. Memory does not depend on how many there are. flows/scan.h reads them from the kernel.
 */
#pragma once

#include <stdbool.h>
#include <tcptuned/abi/flow.h>
#include <tcptuned/abi/readout.h>

#define TCPTUNED_SSTHRESH_NONE 0x7fffffffu /* TCP_INFINITE_SSTHRESH of the kernel */

/* Which live connections are wanted, and in which order. */
struct tcptuned_flow_choice {
	/* NULL: all of them. */
	bool (*wanted)(const void *ctx, const struct tcptuned_flow_record *record);
	/* Negative: @a comes before @b. NULL: the largest come first, by tcptuned_flow_size(). */
	int (*order)(const void *ctx, const struct tcptuned_flow_record *a,
		     const struct tcptuned_flow_record *b);
	const void *ctx;
};

/* All zeroes: no connection is kept, and the sums are read. */
struct tcptuned_flows {
	struct tcptuned_flow_choice choice; /* set it after tcptuned_flows_init(), if at all */
	struct tcptuned_flow_record *top;   /* in order, after tcptuned_flows_end() */
	__u32 top_len;
	__u32 top_max;
	__u32 jiffies; /* the kernel's, at the beginning of the scan; 0: there was no connection */
	__u64 wanted;  /* connections that match the choice; top_len of them are in top */
	struct readout_sums sums; /* of the kernel, about all connections */
};

/* Keep the first @top_max (0: none) of the choice. Returns 0 or -ENOMEM. */
int tcptuned_flows_init(struct tcptuned_flows *flows, __u32 top_max);

void tcptuned_flows_free(struct tcptuned_flows *flows);

/* Drop what was read before. */
void tcptuned_flows_begin(struct tcptuned_flows *flows);

/* Keep @record if it is one of the first of the choice. 0, or -EPROTO: another build's record. */
int tcptuned_flows_add(struct tcptuned_flows *flows, const struct tcptuned_flow_record *record);

/* Copy the sums of the kernel, and make the names in them printable. */
void tcptuned_flows_sum_up(struct tcptuned_flows *flows, const struct readout_sums *sums);

/* Sort those that were kept, and drop doubles. Nothing may be added afterwards. */
void tcptuned_flows_end(struct tcptuned_flows *flows);

/* Bytes received plus bytes sent and acknowledged: the size by which the largest are chosen. */
__u64 tcptuned_flow_size(const struct tcptuned_flow_record *record);

/* Negative: @a is the larger one. */
int tcptuned_flow_order(const struct tcptuned_flow_record *a, const struct tcptuned_flow_record *b);
