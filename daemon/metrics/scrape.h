/* SPDX-License-Identifier: GPL-2.0-only */
/* Collects what a scrape shows, from the kernel and from the rest of the daemon. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

#include "config/config.h"
#include "streams/passive.h"
#include "kern/kernel.h"
#include "metrics/exposition.h"
#include "paths/paths.h"

struct tcptuned_scrape;

/*
 * Memory that all processes of the daemon have (daemon/worker.h): what the keeper tells of itself,
 * and what a worker hands on to the next one. A text may change while it is read.
 */
struct tcptuned_shared {
	struct tcptuned_config_trouble trouble;
	__u64 start_us;		      /* of the daemon, since 1970 */
	__u64 reloads[2];	      /* of the configuration: rejected, accepted */
	unsigned int cgroups_missing; /* of policies: nonexistent, or not visible */
	struct tcptuned_passive_stats groups;
	struct tcptuned_process_stats keeper;
	bool paths_loaded;
	__u64 ticks; /* of all workers: they do not hang */
	__u64 scrapes, scrapes_ns;
	__u64 events_lost; /* and reported to who listens */
	__u64 cpu_ns;	   /* of all processes, as it was last shown */
	struct tcptuned_limited limited[2];
	struct tcptuned_shown_traffic {
		char policy[TCPTUNED_POLICY_NAME_MAX];
		struct tcptuned_traffic traffic;
	} shown[2 * TCPTUNED_POLICIES_MAX]; /* of tuned connections, of observed ones, by policy */
};

/* Memory that is shared with processes that are forked later, all zeroes. NULL: there is none. */
struct tcptuned_shared *tcptuned_scrape_new_shared(void);

/* Read what the calling process costs. */
void tcptuned_scrape_read_process(struct tcptuned_process_stats *ret);

/* What the pointers refer to has to outlive the scrape object, and may change at any time. */
struct tcptuned_scrape_options {
	const struct tcptuned_kernel *kernel;
	struct tcptuned_paths *paths; /* or NULL */
	struct tcptuned_shared *shared;
	__u32 flows_max; /* number of connections that are shown one by one */
	bool whole_host; /* attached to the root of the cgroup tree */
};

/* Connections of the caller's network namespace will be shown one by one. Returns 0 or -errno. */
int tcptuned_scrape_new(struct tcptuned_scrape **ret,
			const struct tcptuned_scrape_options *options);

void tcptuned_scrape_free(struct tcptuned_scrape *scrape);

/* Read everything and write it to @out. @scrape has no type, for struct tcptuned_http_options. */
void tcptuned_scrape_print(void *scrape, FILE *out);
