/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AIMD(32, 0.125): additive increase by alpha packets per RTT, and beta of the window given up
 * at a loss, as Xu, Harfoush and Rhee (INFOCOM 2004, sections V and VII) compare it with BI-TCP.
 * They name no low window, and Figure 4 shows it parallel to TCP at every loss rate: it is not
 * friendly to TCP, and on links that others share it is for measurements only.
 */
#pragma once

#include "loss_based.h"

#define AIMD_ALPHA CONGESTION_PACKETS(32, 1)
#define AIMD_BETA  CONGESTION_SHARE(1, 8)

congestion_fn void aimd_on_ack(struct congestion *st, struct congestion_ack *ack)
{
	__u32 left = congestion_slow_start(st, ack);

	congestion_avoid(st, ack, AIMD_ALPHA, left);
}

congestion_fn __u32 aimd_ssthresh(struct congestion *st, __u32 cwnd)
{
	return congestion_reduce(st, cwnd, AIMD_BETA);
}
