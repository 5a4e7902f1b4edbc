/* SPDX-License-Identifier: GPL-2.0-only */
/* CLOCK_MONOTONIC is also the clock of BPF, of TCP and of struct sk_buff's tstamp. */
#ifndef TCPTUNED_UTIL_CLOCK_H
#define TCPTUNED_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t tcptuned_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
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

/*
 * HZ of the kernel, of whose jiffies @jiffies were the lower bits at the monotonic time @now_ms.
 * They were 0 five minutes after the boot (INITIAL_JIFFIES); about then 0 is returned: unknown.
 */
static inline unsigned int tcptuned_clock_hz(uint32_t jiffies, uint64_t now_ms)
{
	static const unsigned int rates[] = {100, 250, 300, 1000};
	int64_t ms = (int64_t)now_ms - 300000;
	unsigned int best = 0;
	int64_t least = 0;

	if (ms > -5000 && ms < 5000)
		return 0;
	for (unsigned int i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		int32_t off = (int32_t)(jiffies - (uint32_t)(rates[i] * ms / 1000));
		int64_t distance = off < 0 ? -(int64_t)off : off;

		if (!best || distance < least) {
			best = rates[i];
			least = distance;
		}
	}
	return best;
}

#endif
