/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The delay line behind the queue: constant or by schedule, with jitter, which is an extra delay
 * that is drawn again each period, as of a radio link's scheduler, and the same for all segments
 * of a period. Order is kept, except for segments that are reordered by chance. Pure: times are
 * arguments, in nanoseconds since the first segment.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schedule.h"

#define JITTER_EVERY_NS 20000000ull /* the default */
/* An exponential draw is cut off at this multiple of the mean: 5 of 100,000 are longer. */
#define JITTER_EXPONENTIAL_MAX 10

enum jitter_kind {
	JITTER_NONE,
	JITTER_UNIFORM,	    /* 0 to amount_ns */
	JITTER_EXPONENTIAL, /* of mean amount_ns */
	JITTER_ONOFF,	    /* amount_ns in the first on_ns of each period, then 0 */
};

struct jitter {
	enum jitter_kind kind;
	uint64_t amount_ns;
	uint64_t every_ns; /* the period */
	uint64_t on_ns;
};

struct delay_config {
	uint64_t delay_ns;
	struct schedule schedule; /* of delay, if it has steps; @delay_ns is that of the first */
	struct jitter jitter;
	double reorder;	     /* probability of a segment to be late on its own */
	uint64_t reorder_ns; /* by so much */
	uint64_t seed;
};

struct delay_line {
	struct delay_config config;
	uint64_t min_ns, max_ns; /* that a segment can take */
	uint64_t jitter_seed;
	uint64_t random;      /* of reordering */
	uint64_t last_due_ns; /* of what was not reordered */
};

/* The schedule stays the caller's. */
void delay_line_init(struct delay_line *l, const struct delay_config *config);

/* When a segment is through that enters at @ns, not before @ns of the call before. */
uint64_t delay_line_send(struct delay_line *l, uint64_t ns);

/* How much later than that it is delivered, behind others; draws once. 0: in order. */
uint64_t delay_line_reorder_ns(struct delay_line *l);

/* Jitter of what enters at @ns; the draw of a period depends on the seed and its number only. */
uint64_t delay_line_jitter_ns(const struct delay_line *l, uint64_t ns);
