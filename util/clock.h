/* SPDX-License-Identifier: GPL-2.0-only */
/* CLOCK_MONOTONIC is also the clock of BPF, of TCP and of struct sk_buff's tstamp. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t tcptuned_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline int64_t tcptuned_clock_s(clockid_t clock)
{
	return (int64_t)(tcptuned_clock_ns(clock) / 1000000000);
}

static inline uint64_t tcptuned_monotonic_ns(void)
{
	return tcptuned_clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t tcptuned_monotonic_us(void)
{
	return tcptuned_monotonic_ns() / 1000;
}

static inline uint64_t tcptuned_monotonic_ms(void)
{
	return tcptuned_monotonic_ns() / 1000000;
}

static inline double tcptuned_monotonic_s(void)
{
	return (double)tcptuned_monotonic_ns() / 1e9;
}

/* Nanoseconds of one of the kernel's jiffies: KTIME_LOW_RES is TICK_NSEC. */
static inline uint64_t tcptuned_jiffy_ns(void)
{
	struct timespec jiffy;

	clock_getres(CLOCK_MONOTONIC_COARSE, &jiffy);
	return (uint64_t)jiffy.tv_nsec;
}
