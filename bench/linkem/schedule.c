// SPDX-License-Identifier: GPL-2.0-only
#include "schedule.h"

const struct step *schedule_at(const struct schedule *s, uint64_t ns)
{
	unsigned int low = 0, high = s->count;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (s->steps[middle].at_ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return &s->steps[low];
}

uint64_t schedule_send(const struct schedule *s, struct rate_clock *c, uint64_t ready_ns,
		       uint32_t bytes)
{
	uint64_t work = rate_clock_begin(c, ready_ns, bytes);
	const struct step *step = schedule_at(s, c->busy_until_ns);
	const struct step *end = s->steps + s->count;

	while (step + 1 < end && c->busy_until_ns + work / step->rate_bps >= step[1].at_ns) {
		work -= (step[1].at_ns - c->busy_until_ns) * step->rate_bps;
		c->busy_until_ns = step[1].at_ns;
		step++;
	}
	c->rate_bps = step->rate_bps;
	c->busy_until_ns += work / step->rate_bps;
	c->remainder = work % step->rate_bps;
	return c->busy_until_ns;
}
