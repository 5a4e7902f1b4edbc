/* SPDX-License-Identifier: GPL-2.0-only */
/* A serialisation clock of a constant rate. Pure: the time is an argument. */
#pragma once

#include <stdint.h>

#define NS_PER_SECOND 1000000000ull

/* The remainder is carried, so that the clock never drifts off its rate. */
struct rate_clock {
	uint64_t rate_bps; /* 0: takes no time */
	uint64_t busy_until_ns;
	uint64_t remainder; /* of a nanosecond, in bits times 1e9 */
};

/*
 * Makes the clock begin at @ready_ns if it is idle by then, and returns the work of @bytes in bits
 * times 1e9, with the remainder.
 */
uint64_t rate_clock_begin(struct rate_clock *c, uint64_t ready_ns, uint32_t bytes);

/* When the last bit of @bytes is out that were ready at @ready_ns, behind all before them. */
uint64_t rate_clock_send(struct rate_clock *c, uint64_t ready_ns, uint32_t bytes);
