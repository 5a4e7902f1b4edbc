/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LINKEM_OPTIONS_H
#define LINKEM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bursts.h"
#include "delay.h"
#include "hosts.h"
#include "link.h"
#include "red.h"
#include "schedule.h"
#include "trace.h"

/* What the link is asked to be, per direction: [0] from a to b, [1] from b to a. */
struct options {
	const char *netns[2], *device[2], *addr4[2], *addr6[2]; /* per end: [0] a, [1] b */
	uint64_t rate_bps[2];
	uint64_t delay_ns[2];
	struct jitter jitter[2];
	struct schedule schedule[2]; /* if not empty, first the options above */
	struct trace trace[2];	     /* .count 0: none */
	struct limit {
		uint64_t bytes;
		uint32_t packets;
		double bdp; /* > 0: multiple of rate times both delays, until resolved */
	} queue[2], mark[2];
	struct red_config red[2];
	double loss[2];
	struct bursts bursts[2];
	struct reorder {
		double p;
		uint64_t later_ns;
	} reorder[2];
	struct police {
		uint64_t rate_bps, bytes;
		bool flows;
	} police[2];
	struct lose_list {
		uint64_t *at;
		unsigned int count;
	} lose[2];
	struct host *hosts; /* HOSTS_MAX */
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

#endif
