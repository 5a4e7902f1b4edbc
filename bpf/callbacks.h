/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callbacks that the sockops program asks for. They are one field of the socket, which all
 * sockops programs share and bpf_sock_ops_cb_flags_set() assigns, so that another program may
 * remove them. They are checked again from time to time, and the record keeps those that the socket
 * has from tcptuned only, which are removed at the end.
 */
#pragma once

#include "maps.h"
#include "sock.h"
#include <tcptuned/algo/peer.h>

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

/* True if hardly any data arrives, so that ACKs on outgoing data segments need not be examined. */
static __always_inline bool mostly_sends(const struct tcp_sock *tp)
{
	return tp->data_segs_in < tp->data_segs_out / 64;
}

/*
 * True if more data leaves, whose ACK brings RTT_CB: it comes once data beyond rtt_seq is confirmed
 * (tcp_rtt_estimator()). After its last data the connection may receive, and a receiver has calls
 * with its segments only.
 */
static __always_inline bool sends_more(const struct tcp_sock *tp)
{
	return tp->write_seq != tp->rtt_seq;
}

/*
 * A sender has RTT_CB once in a round trip, which is enough where no queue stands. Silences, and
 * whether the delay varies, are seen by all segments.
 */
static __always_inline __u32 callbacks_of(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 wanted = CB_STATE_RTT;

	if (!mostly_sends(tp) || !sends_more(tp) || flow->snd.state ||
	    rightsize_minds_silence(&flow->snd, tp->srtt_us >> 3))
		wanted |= BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	return wanted;
}

/*
 * The callbacks of a socket that @has these, without the WRITE_HDR_OPT of CALLBACKS_EARLY, unless
 * that is marked (with_early()). Without branches, which the verifier would walk through with all
 * that follows.
 */
static __always_inline __u32 without_early(__u32 has)
{
	__u32 early = (has & BPF_SOCK_OPS_RTT_CB_FLAG) << 3 &
		      ~((has & BPF_SOCK_OPS_STATE_CB_FLAG) << 4);

	return has & ~(early & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/*
 * Those of a socket that @has these while its connection is short. STATE_CB, not needed yet, marks
 * a WRITE_HDR_OPT that another program has requested.
 */
static __always_inline __u32 with_early(__u32 has)
{
	return has | (has & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG) >> 4 | CALLBACKS_EARLY;
}

/* Records that @wanted are requested, of a socket that has @has. */
static __always_inline void note_callbacks(struct tcptuned_flow *flow, __u32 has, __u32 wanted)
{
	__u32 added = wanted & ~has;

	flow->flags |= (added & CB_STATE_RTT) << CB_SHIFT |
		       (added & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG) << CB_WRITE_SHIFT;
}

/* The callbacks that the socket has from tcptuned only; WRITE_HDR_OPT at times (callbacks_of()). */
static __always_inline __u32 own_callbacks(const struct tcptuned_flow *flow)
{
	return (flow->flags >> CB_SHIFT & CB_STATE_RTT) |
	       (flow->flags >> CB_WRITE_SHIFT & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}
