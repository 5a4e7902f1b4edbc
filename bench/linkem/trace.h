/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded rates in mahimahi's format: one line for each opportunity to send 1,500 bytes, in ms
 * since the beginning, ascending; a millisecond may stand on several lines. The last line is also
 * the period after which the trace repeats. Segments share opportunities and go over their ends;
 * what no segment uses is lost.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define TRACE_BYTES 1500u /* of one opportunity */

struct trace {
	uint64_t *at_ns; /* of each opportunity of one period */
	unsigned int count;
	uint64_t period_ns;
};

/* Which opportunity is being used; zero-initialised it is the first one. */
struct trace_clock {
	uint64_t index; /* counted over all periods */
	uint32_t used;	/* bytes of it */
};

/* Reads a whole file into @ret, which trace_free() releases. 0, -EINVAL or -ENOMEM. */
int trace_read(FILE *in, struct trace *ret);
void trace_free(struct trace *t);

/* When the last byte of @bytes leaves that were ready at @ready_ns, since the trace began. */
uint64_t trace_send(const struct trace *t, struct trace_clock *c, uint64_t ready_ns,
		    uint32_t bytes);

/* Mean rate of a period, bits per second. */
uint64_t trace_mean_bps(const struct trace *t);
/* The most bytes that the trace can deliver within any @window_ns. */
uint64_t trace_max_bytes(const struct trace *t, uint64_t window_ns);
