/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the sockops program wants to be called for. That is one field of the socket, which all
 * sockops programs share, and bpf_sock_ops_cb_flags_set() assigns it: another program that does not
 * keep what it finds there takes away what was asked for here. So it is looked at again, and the
 * record knows which of them the socket would not have by anybody else, for these go at the end.
 */
#ifndef TCPTUNED_CALLBACKS_H
#define TCPTUNED_CALLBACKS_H

#include "kernel.h"
#include "maps.h"

#define CB_NEIGHBOURS (BPF_SOCK_OPS_STATE_CB_FLAG | BPF_SOCK_OPS_RTT_CB_FLAG)
#define CALLBACKS     (CB_NEIGHBOURS | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)
/* Of a connection that has not carried enough to have a record. */
#define CALLBACKS_EARLY (BPF_SOCK_OPS_RTT_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)

/* From the kernel's bits to those of the record. */
#define CB_SHIFT       27
#define CB_WRITE_SHIFT 25

_Static_assert(BPF_SOCK_OPS_STATE_CB_FLAG << CB_SHIFT == TCPTUNED_F_CB_STATE &&
	       BPF_SOCK_OPS_RTT_CB_FLAG << CB_SHIFT == TCPTUNED_F_CB_RTT &&
	       (__u32)BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG << CB_WRITE_SHIFT ==
		       TCPTUNED_F_CB_WRITE_HDR_OPT, "the record's bits are the kernel's, moved");

/* @which of the callbacks are being asked for, of a socket that has @had. */
static __always_inline void callbacks_note(struct tcptuned_flow *flow, __u32 had, __u32 which)
{
	__u32 new = which & ~had;

	flow->flags |= (new & CB_NEIGHBOURS) << CB_SHIFT |
		       (new & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG) << CB_WRITE_SHIFT;
}

/* Those that the socket has from tcptuned. */
static __always_inline __u32 callbacks_ours(const struct tcptuned_flow *flow)
{
	return (flow->flags >> CB_SHIFT & CB_NEIGHBOURS) |
	       (flow->flags >> CB_WRITE_SHIFT & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/* Another program took some away, and this is a call that still comes: ask for all of them. */
verified_once int call_again(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow)
{
	__u32 has = ctx->bpf_sock_ops_cb_flags;

	if (!flow || (has & CALLBACKS) == CALLBACKS)
		return 0;
	callbacks_note(flow, has, CALLBACKS);
	bpf_sock_ops_cb_flags_set(ctx, has | CALLBACKS);
	count(TCPTUNED_C_CALLBACKS_AGAIN);
	return 0;
}

#endif
