/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scalable TCP: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area
 * Networks", 2002. a = 0.01 packets for each one acknowledged, b = 0.125 of the window given up
 * at a loss; below a window of 16 packets, where its response function meets TCP's (Xu,
 * Harfoush and Rhee, section VI-B.3), it is Reno.
 */
#pragma once

#include "reno.h"

#define STCP_LOW_WINDOW	  16u
#define STCP_ACKS_PER_ONE 100u /* 1 / a */
#define STCP_B		  CONGESTION_SHARE(1, 8)

/* Packets per RTT, Q16: of a window, a hundredth. */
congestion_fn __u64 stcp_increase(__u32 cwnd)
{
	if (cwnd < STCP_LOW_WINDOW)
		return RENO_INCREASE;
	return (((__u64)cwnd << 16) + STCP_ACKS_PER_ONE - 1) / STCP_ACKS_PER_ONE;
}

congestion_fn void stcp_on_ack(struct congestion *st, struct congestion_ack *ack)
{
	__u32 left = congestion_slow_start(st, ack);

	congestion_avoid(st, ack, stcp_increase(ack->cwnd), left);
}

congestion_fn __u32 stcp_ssthresh(struct congestion *st, __u32 cwnd)
{
	return congestion_reduce(st, cwnd, cwnd < STCP_LOW_WINDOW ? RENO_DECREASE : STCP_B);
}
