/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How much of what exceeds the kernel's own maximum a connection gets. */
#pragma once

#include <tcptuned/algo/rightsize.h>

/*
 * The rate grows if it has risen by a quarter in one of so many rounds; slow start doubles it in
 * each.
 */
#define RIGHTSIZE_STEADY_ROUNDS 3u

/*
 * Returns the window that a connection has earned, bytes, of what exceeds the kernel's own maximum:
 * twice what the fastest round carried per minimum RTT, so that the rate can double in the next one
 * (DRS III.B), or eight times while it grows: slow start has sent twice in a round what arrived in
 * it, doubles that in the next one, and again before that is measured. A rate that has stopped
 * growing has filled the path, and then the window grows no more. Before a round has been measured
 * nothing is denied. @rtt_us: the kernel's minimum, which is exact where a receiver's timestamps
 * are not.
 */
ALGO_APART __u32 rightsize_earned(const struct rightsize *rs, __u32 rtt_us)
{
	__u64 carried;

	if (!rs || !rs->rate_best)
		return RIGHTSIZE_WINDOW_MAX;
	if (!rtt_us || rtt_us >= RIGHTSIZE_BASE_MIN_US)
		rtt_us = rightsize_min_rtt_us(rs);
	carried = rightsize_muldiv(rs->rate_best, rtt_us, 1000000);
	return rightsize_clamp_window((rs->steady < RIGHTSIZE_STEADY_ROUNDS ? 8 : 2) * carried, 0);
}
