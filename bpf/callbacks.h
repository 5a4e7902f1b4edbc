/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callbacks that the sockops program asks for. They are one field of the socket, which all
 * sockops programs share and bpf_sock_ops_cb_flags_set() assigns, so that another program may
 * remove them. They are checked again from time to time, and the record keeps those that the socket
 * has from tcptuned only, which are removed at the end.
 */
#ifndef TCPTUNED_BPF_CALLBACKS_H
#define TCPTUNED_BPF_CALLBACKS_H

#include "maps.h"

#define CB_STATE_RTT (BPF_SOCK_OPS_STATE_CB_FLAG | BPF_SOCK_OPS_RTT_CB_FLAG)
#define CALLBACKS    (CB_STATE_RTT | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)
/* Of a connection that has not carried enough to have a record. */
#define CALLBACKS_EARLY (BPF_SOCK_OPS_RTT_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)

/* From the kernel's bits to those of the record. */
#define CB_SHIFT       27
#define CB_WRITE_SHIFT 25

_Static_assert(BPF_SOCK_OPS_STATE_CB_FLAG << CB_SHIFT == TCPTUNED_F_CB_STATE &&
		       BPF_SOCK_OPS_RTT_CB_FLAG << CB_SHIFT == TCPTUNED_F_CB_RTT &&
		       (__u32)BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG << CB_WRITE_SHIFT ==
			       TCPTUNED_F_CB_WRITE_HDR_OPT,
	       "the bits of the record are the kernel's, shifted");

/* Records that all of CALLBACKS are requested, of a socket that has @has. */
static __always_inline void note_callbacks(struct tcptuned_flow *flow, __u32 has)
{
	__u32 added = CALLBACKS & ~has;

	flow->flags |= (added & CB_STATE_RTT) << CB_SHIFT |
		       (added & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG) << CB_WRITE_SHIFT;
}

/* The callbacks that the socket has from tcptuned only. */
static __always_inline __u32 own_callbacks(const struct tcptuned_flow *flow)
{
	return (flow->flags >> CB_SHIFT & CB_STATE_RTT) |
	       (flow->flags >> CB_WRITE_SHIFT & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

#endif
