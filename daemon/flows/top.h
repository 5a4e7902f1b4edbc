/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections that have a record: the kernel's sums about all of them, and one by one those that
 * come first by a choice. Memory does not depend on how many there are. Who reads them out of
 * the kernel is flows/scan.h.
 */
#ifndef TCPTUNED_FLOWS_TOP_H
#define TCPTUNED_FLOWS_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <tcptuned/abi/flow.h>
#include <tcptuned/abi/readout.h>

#define TCPTUNED_FLOW_GROUPS   READOUT_GROUPS
#define TCPTUNED_SSTHRESH_NONE 0x7fffffffu /* TCP_INFINITE_SSTHRESH of the kernel */

/* Connections of one policy with one congestion control. */
struct tcptuned_flow_group {
	__u32 policy;
	char congestion_control[TCPTUNED_CC_NAME_MAX];
	__u64 flows;
};

/* Which live connections are wanted one by one, and in which order. */
struct tcptuned_flow_choice {
	/* NULL: all of them. */
	bool (*wanted)(const void *ctx, const struct tcptuned_flow_record *record);
	/* Negative: @a comes before @b. NULL: the largest come first, by tcptuned_flow_size(). */
	int (*order)(const void *ctx, const struct tcptuned_flow_record *a,
		     const struct tcptuned_flow_record *b);
	const void *ctx;
};

struct tcptuned_flows {
	struct tcptuned_flow_choice choice; /* set it after tcptuned_flows_init(), if at all */
	struct tcptuned_flow_record
		*top; /* in order, after tcptuned_flows_end() */
	__u32 top_len;
	__u32 top_max;
	__u32 groups_len;
	struct tcptuned_flow_group groups[TCPTUNED_FLOW_GROUPS];
	__u64 groups_other; /* connections that found no room in the kernel's groups */
	__u64 records;	    /* sockets that have a record */
	__u64 live;	    /* of these: claimed connections that are open */
	__u64 wanted;	    /* of those added: chosen; top_len of them are in top */
	__u64 observed;	    /* of the live ones: nothing is changed about them */
	__u64 limited[TCPTUNED_LIMITS];
	__u64 rcv_reason[RIGHTSIZE_REASONS];
	__u64 snd_reason[RIGHTSIZE_REASONS];
	__u64 rcv_taken; /* whose receive buffer tcptuned sizes */
	__u64 snd_taken;
	__u64 rcvbuf_requests; /* whose application asked for a receive buffer in vain */
	__u64 sndbuf_requests;
	__u64 rcvbuf_bytes; /* sums over the live ones: buffers allowed ... */
	__u64 sndbuf_bytes;
	__u64 rmem_bytes; /* ... and memory in use */
	__u64 wmem_bytes;
	__u64 rcv_wnd_bytes;
};

/* Keep the first @top_max (0: none) of the choice. Returns 0 or -ENOMEM. */
int tcptuned_flows_init(struct tcptuned_flows *flows, __u32 top_max);

void tcptuned_flows_free(struct tcptuned_flows *flows);

/* Forget what was read. */
void tcptuned_flows_begin(struct tcptuned_flows *flows);

/*
 * Keep @record if it is one of the first of the choice. Returns 0, or -EPROTO when it cannot be
 * a record: the kernel side is of another build.
 */
int tcptuned_flows_add(struct tcptuned_flows *flows, const struct tcptuned_flow_record *record);

/* Take over what the kernel has added up about all of them. */
void tcptuned_flows_sum_up(struct tcptuned_flows *flows, const struct readout_sums *sums);

/* Bring those that were kept in order, each once. Nothing may be added afterwards. */
void tcptuned_flows_end(struct tcptuned_flows *flows);

/* By this the largest are chosen: bytes received plus bytes sent and acknowledged. */
__u64 tcptuned_flow_size(const struct tcptuned_flow_record *record);

#endif
