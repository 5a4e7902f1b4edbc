// SPDX-License-Identifier: GPL-2.0-only
#include "clock.h"

uint64_t rate_clock_begin(struct rate_clock *c, uint64_t ready_ns, uint32_t bytes)
{
	if (c->busy_until_ns < ready_ns) {
		c->busy_until_ns = ready_ns;
		c->remainder = 0;
	}
	return bytes * 8ull * NS_PER_SECOND + c->remainder;
}

uint64_t rate_clock_send(struct rate_clock *c, uint64_t ready_ns, uint32_t bytes)
{
	uint64_t work;

	if (!c->rate_bps)
		return ready_ns;
	work = rate_clock_begin(c, ready_ns, bytes);
	c->busy_until_ns += work / c->rate_bps;
	c->remainder = work % c->rate_bps;
	return c->busy_until_ns;
}
