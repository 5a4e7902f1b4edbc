/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reno's congestion avoidance, RFC 5681: the reference of the family, and what its other
 * members are below their low window. One packet per RTT, counted in packets acknowledged
 * (section 3.1, "a full-sized segment each time a window's worth has been acknowledged"), and
 * half of the window at a loss. The RFC halves what is in flight; the window stands for it
 * here, as in the kernel, since one that is not used does not grow.
 */
#pragma once

#include "loss_based.h"

#define RENO_INCREASE CONGESTION_PACKETS(1, 1)
#define RENO_DECREASE CONGESTION_SHARE(1, 2)

congestion_fn void reno_on_ack(struct congestion *st, struct congestion_ack *ack)
{
	__u32 left = congestion_slow_start(st, ack);

	congestion_avoid(st, ack, RENO_INCREASE, left);
}

congestion_fn __u32 reno_ssthresh(struct congestion *st, __u32 cwnd)
{
	return congestion_reduce(st, cwnd, RENO_DECREASE);
}
