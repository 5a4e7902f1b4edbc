/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What determines the window of a direction: the reason that flows, explain and metrics give. */
#pragma once

#include <tcptuned/algo/rightsize.h>

enum rightsize_reason {
	RIGHTSIZE_UNMEASURED = 0, /* no round trip has been measured */
	RIGHTSIZE_KERNEL,	  /* the kernel's own autotuning */
	RIGHTSIZE_UNDER_TEST,	  /* 3/2, then half of what was in flight: whose is the queue? */
	RIGHTSIZE_PROBING,	  /* 3/4 of a bandwidth-delay product, to measure the minimum RTT */
	RIGHTSIZE_HELD,		  /* 7/4 of one */
	RIGHTSIZE_READER,	  /* the application reads slowly (DRS II) */
	RIGHTSIZE_CAPPED,	  /* the policy's maximum */
	RIGHTSIZE_BUDGET,	  /* its share of the memory budget (budget.h) */
	RIGHTSIZE_EARNED,	  /* beyond the kernel's maximum: earned.h */
	RIGHTSIZE_REASONS,
};

/* That of rightsize.h, whose result other rules may then limit. */
static inline __u8 rightsize_reason(const struct rightsize *rs)
{
	if (rs->state == RIGHTSIZE_HOLDING)
		return RIGHTSIZE_HELD;
	if (rs->state == RIGHTSIZE_PROBE_RTT)
		return RIGHTSIZE_PROBING;
	if (rs->state != RIGHTSIZE_FREE)
		return RIGHTSIZE_UNDER_TEST;
	return rs->rate ? RIGHTSIZE_KERNEL : RIGHTSIZE_UNMEASURED;
}
