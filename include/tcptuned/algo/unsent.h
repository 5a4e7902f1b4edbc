/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How much data of a sender may wait: unsent (TCP_NOTSENT_LOWAT), or in a queue of the path. */
#pragma once

#include <tcptuned/algo/rightsize.h>

/*
 * An eighth of a round trip's bytes, but at least 128 KiB and what is sent before the application
 * gets the processor again (a tick of 250 Hz). Where it gets it later, as under a CPU quota, the
 * limit doubles, and after the fourth time, which would be the size of the kernel's buffer
 * (tcp_sndbuf_expand()), there is none.
 */
#define RIGHTSIZE_UNSENT_PART 8u
#define RIGHTSIZE_UNSENT_US   4000u
#define RIGHTSIZE_UNSENT_MIN  131072u
#define RIGHTSIZE_LATE_MAX    4u

/* True for a send buffer of @asked bytes, 0: none, that is to keep data fresh. */
static inline int rightsize_asked_for_little(__u32 asked)
{
	return asked && asked < RIGHTSIZE_UNSENT_MIN;
}

/*
 * Returns the window beyond the buffer that an application asked for to keep data fresh, bytes:
 * without a queue, which would make them old, any, and else what the last round carried per minimum
 * RTT, and a quarter. @rtt_us: smoothed, for a connection without timestamps, whose samples are not
 * taken (on_sending()).
 */
static inline __u32 rightsize_fresh(const struct rightsize *rs, __u32 rtt_us)
{
	__u32 low_us = rs->min_delay_us && rs->last_low_us ? rs->last_low_us : rtt_us;

	if (rightsize_nearly_empty(rs, low_us))
		return RIGHTSIZE_WINDOW_MAX;
	return rightsize_clamp_window(
		5 * rightsize_muldiv(rs->per_rtt, rightsize_min_rtt_us(rs), rtt_us) / 4, 0);
}

/*
 * The limit of unsent data, bytes; 0: none. More would only become old in the queue, because the
 * application could write it later and it would be sent as soon. @rate: bytes per second, @rtt_us:
 * smoothed, @asked: the send buffer that the application asked for, bytes, 0: none. Where that is
 * small, no more data may be old; where it is large, as much may be written at once. @late: how
 * often the application wrote too late.
 */
static inline __u32 rightsize_unsent(__u64 rate, __u32 rtt_us, __u32 asked, __u32 late)
{
	__u32 us = rtt_us / RIGHTSIZE_UNSENT_PART;
	__u64 bytes;

	if (rightsize_asked_for_little(asked))
		return asked;
	if (late >= RIGHTSIZE_LATE_MAX)
		return 0;
	if (us < RIGHTSIZE_UNSENT_US)
		us = RIGHTSIZE_UNSENT_US;
	if (rate > RIGHTSIZE_RATE_MAX)
		rate = RIGHTSIZE_RATE_MAX;
	bytes = rightsize_muldiv(rate, us, 1000000);
	if (bytes < RIGHTSIZE_UNSENT_MIN)
		bytes = RIGHTSIZE_UNSENT_MIN;
	bytes <<= late;
	if (bytes < asked)
		bytes = asked;
	return bytes > RIGHTSIZE_WINDOW_MAX ? RIGHTSIZE_WINDOW_MAX : (__u32)bytes;
}
