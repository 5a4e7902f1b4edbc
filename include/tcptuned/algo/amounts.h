/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Times, amounts and rates of a connection, and their limits. Times are microseconds, amounts
 * bytes.
 */
#pragma once

#include <linux/types.h>

/*
 * A function that the kernel's verifier walks through once. Inlined, it would verify what follows
 * for each result.
 */
#ifdef __bpf__
#define ALGO_APART __attribute__((noinline, weak))
#else
#define ALGO_APART static inline
#endif

/* 67 seconds and 550 Gbit/s: values are limited to them, so that products stay below 2^64. */
#define RIGHTSIZE_RTT_MAX_US (1u << 26)
#define RIGHTSIZE_RATE_MAX   (1ull << 36)

/* The largest window that TCP can express: RFC 7323, section 2.3. */
#define RIGHTSIZE_WINDOW_MAX (1u << 30)

/* The kernel's usual initial window, and the largest clamp (tcp_select_initial_window()). */
#define INITIAL_WINDOW_BYTES 65535u
#define WINDOW_CLAMP_MAX     (INITIAL_WINDOW_BYTES << 14)

/* A connection that carried less in both directions is not tuned, and adds nothing to its path. */
#define CARRIED_MIN (128u << 10)

/*
 * A smaller SO_RCVBUF or SO_SNDBUF is deliberate, to bound the memory of a client or the latency,
 * and is honoured. As in setsockopt().
 */
#define REQUEST_MIN (16u << 10)

static inline __u32 rightsize_smaller(__u32 a, __u32 b)
{
	return a < b ? a : b;
}

/* a * b / c, or 0 if c is 0. The caller keeps a * b below 2^64. */
static inline __u64 rightsize_muldiv(__u64 a, __u64 b, __u64 c)
{
	return c ? a * b / c : 0;
}

/*
 * The bytes carried since a counter, modulo 2^32, was @then. The highest sequence number decreases
 * when the kernel drops segments that arrived out of order (tcp_prune_ofo_queue()).
 */
static inline __u32 rightsize_since(__u32 then, __u32 bytes)
{
	__s32 came = (__s32)(bytes - then);

	return came < 0 ? 0 : (__u32)came;
}

/* The smaller of two one-way delays, which may be on both sides of 2^32; 0: none. */
static inline __u32 rightsize_smaller_delay(__u32 a, __u32 b)
{
	return a && (!b || (__s32)(a - b) < 0) ? a : b;
}

/* Bytes per second. */
static inline __u64 rightsize_rate(__u64 bytes, __u64 us)
{
	__u64 rate = rightsize_muldiv(bytes, 1000000, us);

	return rate < RIGHTSIZE_RATE_MAX ? rate : RIGHTSIZE_RATE_MAX;
}

/* True if @b differs from @a by more than a sixteenth; less is not worth a change. */
static inline int rightsize_differs(__u32 a, __u32 b)
{
	__u32 gap = b > a ? b - a : a - b;

	return gap > a / 16;
}

static inline __u32 rightsize_clamp_window(__u64 window, __u32 min)
{
	if (window < min)
		return min;
	return window < RIGHTSIZE_WINDOW_MAX ? (__u32)window : RIGHTSIZE_WINDOW_MAX;
}
