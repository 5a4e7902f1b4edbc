/* SPDX-License-Identifier: GPL-2.0-only */
/* Collects what a scrape shows, from the kernel and from the rest of the daemon. */
#ifndef TCPTUNED_METRICS_SCRAPE_H
#define TCPTUNED_METRICS_SCRAPE_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

#include "config/config.h"
#include "streams/passive.h"
#include "kern/kernel.h"
#include "paths/paths.h"

struct tcptuned_scrape;

/* What the pointers refer to has to outlive the scrape object, and may change at any time. */
struct tcptuned_scrape_options {
	const struct tcptuned_kernel *kernel;
	struct tcptuned_paths *paths; /* or NULL */
	const struct tcptuned_passive_stats *groups;
	__u32 flows_max;		     /* number of connections that are shown one by one */
	bool whole_host;		     /* attached to the root of the cgroup tree */
	const unsigned int *cgroups_missing; /* of policies: nonexistent, or not visible */
	const struct tcptuned_config_trouble *trouble;
};

/* Connections of the caller's network namespace will be shown one by one. Returns 0 or -errno. */
int tcptuned_scrape_new(struct tcptuned_scrape **ret,
			const struct tcptuned_scrape_options *options);

void tcptuned_scrape_free(struct tcptuned_scrape *scrape);

/* Change the number of connections. Returns 0, or -ENOMEM, and then it stays as it was. */
int tcptuned_scrape_configure(struct tcptuned_scrape *scrape, __u32 flows_max);

/* Count a reload of the configuration. */
void tcptuned_scrape_count_reload(struct tcptuned_scrape *scrape, bool ok);

/* Read everything and write it to @out. @scrape has no type, for struct tcptuned_http_options. */
void tcptuned_scrape_print(void *scrape, FILE *out);

#endif
