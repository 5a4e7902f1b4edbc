// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <bpf/bpf.h>

#include "flows/scan.h"
#include "kern/totals.h"
#include "metrics/metrics.h"
#include "util/clock.h"

struct tcptuned_scrape {
	struct tcptuned_scrape_options options;
	struct utsname host;
	struct tcptuned_filter own_netns; /* selects connections of the own namespace */
	struct tcptuned_snapshot snap;
};

static bool read_budget(struct tcptuned_scrape *scrape)
{
	int fd = scrape->options.kernel->map_fd[TCPTUNED_MAP_BUDGET];
	__u32 zero = 0;

	return fd >= 0 && !bpf_map_lookup_elem(fd, &zero, &scrape->snap.budget);
}

/* Read the policies in force, in the order of the configuration. */
static void read_policies(struct tcptuned_scrape *scrape)
{
	const struct tcptuned_kernel *kernel = scrape->options.kernel;
	struct tcptuned_snapshot *snap = &scrape->snap;
	int fd = kernel->map_fd[TCPTUNED_MAP_POLICIES];
	struct tcptuned_policy_entry *entry;
	__u32 place;

	for (place = 0; place < kernel->policies_len; place++) {
		entry = &snap->policies[place];
		entry->key = TCPTUNED_POLICY_ID(kernel->generation, place);
		if (fd < 0 || bpf_map_lookup_elem(fd, &entry->key, &entry->policy))
			break;
		entry->policy.congestion_control[TCPTUNED_CC_NAME_MAX - 1] = '\0';
	}
	snap->policies_len = place;
}

static void read_everything(struct tcptuned_scrape *scrape)
{
	const struct tcptuned_kernel *kernel = scrape->options.kernel;
	struct tcptuned_snapshot *snap = &scrape->snap;

	snap->bitcp = kernel->bitcp;
	snap->adoption = kernel->adoption;
	snap->cgroups_missing = *scrape->options.cgroups_missing;
	snap->config_in_force = tcptuned_config_in_force(scrape->options.trouble);
	snap->taken_over = kernel->origin == TCPTUNED_TAKEN_OVER ||
			   kernel->origin == TCPTUNED_UPGRADED;
	if (scrape->options.paths)
		tcptuned_paths_stats(scrape->options.paths, &snap->paths);
	snap->totals_ok = !tcptuned_totals_read(kernel->map_fd[TCPTUNED_MAP_TOTALS], &snap->totals);
	snap->budget_ok = read_budget(scrape);
	snap->flows_ok = !tcptuned_readout(&snap->flows, kernel, &scrape->own_netns);
	read_policies(scrape);
	tcptuned_bpfstats_read(&snap->bpf, kernel);
	tcptuned_process_stats_read(&snap->process);
}

void tcptuned_scrape_print(void *ctx, FILE *out)
{
	struct tcptuned_scrape *scrape = ctx;
	__u64 start = tcptuned_monotonic_ns();

	read_everything(scrape);
	tcptuned_metrics_format(out, &scrape->snap);
	scrape->snap.scrapes_ns += tcptuned_monotonic_ns() - start;
	scrape->snap.scrapes++;
}

int tcptuned_scrape_configure(struct tcptuned_scrape *scrape, __u32 flows_max)
{
	struct tcptuned_flows flows;

	if (flows_max == scrape->snap.flows.top_max)
		return 0;
	if (tcptuned_flows_init(&flows, flows_max))
		return -ENOMEM;
	tcptuned_flows_free(&scrape->snap.flows);
	scrape->snap.flows = flows;
	return 0;
}

void tcptuned_scrape_count_reload(struct tcptuned_scrape *scrape, bool taken)
{
	scrape->snap.reloads[taken]++;
}

int tcptuned_scrape_new(struct tcptuned_scrape **ret, const struct tcptuned_scrape_options *options)
{
	struct tcptuned_scrape *scrape;
	struct stat netns;

	if (stat("/proc/self/ns/net", &netns))
		return -errno;
	scrape = calloc(1, sizeof(*scrape));
	if (!scrape || tcptuned_scrape_configure(scrape, options->flows_max)) {
		free(scrape);
		return -ENOMEM;
	}
	scrape->options = *options;
	scrape->own_netns.netns = (__u32)netns.st_ino;
	uname(&scrape->host);
	scrape->snap.version = options->version;
	scrape->snap.kernel_release = scrape->host.release;
	scrape->snap.policy_name = options->policy_name;
	scrape->snap.policy_ctx = options->policy_ctx;
	scrape->snap.start_time_us = tcptuned_clock_ns(CLOCK_REALTIME) / 1000;
	*ret = scrape;
	return 0;
}

void tcptuned_scrape_free(struct tcptuned_scrape *scrape)
{
	if (!scrape)
		return;
	tcptuned_flows_free(&scrape->snap.flows);
	free(scrape);
}
