/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdint.h>

#include "delay.h"
#include "hosts.h"
#include "link.h"
#include "queue.h"
#include "trace.h"

/* What the link is asked to be, [0] from a to b, [1] from b to a. */
struct direction {
	struct queue_config queue;
	struct delay_config delay;
	struct trace trace; /* .count 0: none */
	struct limit {
		uint64_t bytes;
		uint32_t packets;
		double bdp; /* > 0: multiple of rate times both delays, until resolved */
	} limit, mark;
};

struct options {
	const char *netns[2], *device[2], *addr4[2], *addr6[2]; /* per end: [0] a, [1] b */
	struct direction direction[2];
	struct host hosts[HOSTS_MAX];
	unsigned int host_count;
	uint64_t seed;
	double tolerance;     /* of the limits on its own lateness, a factor */
	double duration_s;    /* 0: until a signal */
	double judge_after_s; /* since the link came up; 0: from its first packet on */
	enum link_idle idle;
	const char *stats_path;
};

/*
 * Fills @ret from the command line. Returns 0, or 1 when the program is to end at once with
 * success (--help), or -EINVAL after one clear line on standard error.
 */
int options_parse(struct options *ret, int argc, char **argv);
void options_free(struct options *o);
