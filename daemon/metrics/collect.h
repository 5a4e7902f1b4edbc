/* SPDX-License-Identifier: GPL-2.0-only */
/* What a scrape reads: from the kernel, and from the rest of the daemon. */
#ifndef TCPTUNED_METRICS_COLLECT_H
#define TCPTUNED_METRICS_COLLECT_H

#include <stdbool.h>
#include <linux/types.h>

#include "config/config.h"
#include "kern/kernel.h"
#include "paths/paths.h"
#include "util/strbuf.h"

struct tcptuned_scrape;

struct tcptuned_scrape_options {
	const struct tcptuned_kernel *kernel; /* has to outlive the scrape object */
	struct tcptuned_paths *paths;	      /* so has this; or NULL */
	__u32 flows_max;		      /* flows shown one by one */
	const char *version;
	/* The name of policy @key, or NULL where it is gone; may be NULL. */
	const char *(*policy_name)(void *ctx, __u32 key);
	void *policy_ctx;
	/* Of policies: not there, or not to be seen. Outlives, too, and may change at any time. */
	const unsigned int *cgroups_missing;
	const struct tcptuned_config_trouble *trouble; /* so, too */
};

/*
 * The network namespace of the caller is the one whose connections are shown one by one. Returns 0
 * or a negative errno.
 */
int tcptuned_scrape_new(struct tcptuned_scrape **ret,
			const struct tcptuned_scrape_options *options);

void tcptuned_scrape_free(struct tcptuned_scrape *scrape);
void tcptuned_scrape_freep(struct tcptuned_scrape **scrape);

/*
 * After a reload of the configuration. Returns 0, or -ENOMEM, and then as many flows are shown as
 * before.
 */
int tcptuned_scrape_configure(struct tcptuned_scrape *scrape, __u32 flows_max);

/* Count a reload of the configuration. */
void tcptuned_scrape_count_reload(struct tcptuned_scrape *scrape, bool taken);

/* Read everything and write it to @out. For tcptuned_http_start(), with the scrape object. */
void tcptuned_scrape_print(void *scrape, struct tcptuned_buf *out);

#endif
