/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Marks of a clock that hosts share, a power of two of microseconds apart, which does not coincide
 * with delays that people configure.
 */
#pragma once

#include <tcptuned/algo/amounts.h>

/*
 * Marks are at least 2^18 us = 262 ms and 8 minimum RTTs apart; an interval between two has so many
 * samples.
 */
#define RIGHTSIZE_MARK_SHIFT	 18u
#define RIGHTSIZE_MARK_SHIFT_MAX 24u
#define RIGHTSIZE_MARK_RTTS	 8u
#define RIGHTSIZE_SAMPLES_MIN	 8u

/*
 * Tests begin at marks 2^20 us = 1 s and at least four standing RTTs apart, but at most 4.2 s; that
 * of a connection twice as far apart after each failure, at most 67 s.
 */
#define RIGHTSIZE_TEST_RTTS	 4u
#define RIGHTSIZE_TEST_SHIFT	 20u
#define RIGHTSIZE_TEST_SHIFT_MAX 22u
#define RIGHTSIZE_LATER_MAX	 26u

/* A hold whose queue stays probes at marks 8.4 s (BBR: 10) and 128 RTTs apart, at most 16.8 s. */
#define RIGHTSIZE_AGAIN_SHIFT 23u
#define RIGHTSIZE_AGAIN_RTTS  128u

/* The smallest power of two of at least @rtts RTTs, within the range of marks. */
ALGO_APART __u32 rightsize_shift(__u32 rtts, __u32 rtt_us)
{
	__u64 want = (__u64)rtts * rtt_us;
	__u32 shift = RIGHTSIZE_MARK_SHIFT;

	while (shift < RIGHTSIZE_MARK_SHIFT_MAX && 1ull << shift < want)
		shift++;
	return shift;
}

/*
 * Of marks 2^@shift us apart, is number @mark one of those 2^@wanted us apart, or was one skipped
 * since number @last?
 */
ALGO_APART int rightsize_is_mark(__u32 last, __u32 mark, __u32 shift, __u32 wanted)
{
	return wanted <= shift || mark >> (wanted - shift) != last >> (wanted - shift);
}
