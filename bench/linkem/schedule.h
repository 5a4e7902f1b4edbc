/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rate, delay and queue limit of a link that change at set times. The whole schedule is known
 * beforehand, so a segment that waits while the rate changes leaves exactly when it would on a
 * real link. Pure: the time is an argument, in nanoseconds since the schedule began.
 */
#pragma once

#include <stdint.h>

#include "clock.h"

/* What holds from at_ns on, until the next step. */
struct step {
	uint64_t at_ns;
	uint64_t rate_bps, delay_ns;
	uint64_t limit_bytes;	/* 0: no limit in bytes */
	uint32_t limit_packets; /* 0: no limit in packets */
};

struct schedule {
	struct step *steps; /* ascending; the first one begins at 0 */
	unsigned int count; /* 0: nothing changes */
};

/* The step in force at @ns. The schedule must not be empty. */
const struct step *schedule_at(const struct schedule *s, uint64_t ns);

/*
 * As rate_clock_send(), at the rates of the schedule. The times of @c and @ready_ns count from the
 * beginning of the schedule.
 */
uint64_t schedule_send(const struct schedule *s, struct rate_clock *c, uint64_t ready_ns,
		       uint32_t bytes);
