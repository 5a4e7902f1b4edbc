// SPDX-License-Identifier: GPL-2.0-only
#include "watch.h"

#include <time.h>

#include "apply.h"
#include "cgroup.h"
#include "log.h"
#include "memlimits.h"
#include "neighbours.h"
#include "sysctls.h"

/*
 * Another sockops program may end the calls to ours (bpf/callbacks.h); where there is none, nobody
 * has to look for connections to which that happened.
 */
static bool has_neighbours(struct tcptuned_daemon *d)
{
	bool had = d->neighbours.any;

	if (!tcptuned_neighbours_look(&d->neighbours) || had)
		return had;
	tcptuned_log(TCPTUNED_LOG_INFO,
		     "there is another sockops program%s%s: callbacks that it takes from "
		     "connections are asked for again",
		     d->neighbours.name[0] ? ", " : "", d->neighbours.name);
	return true;
}

/* To look for such connections may take a thousandth of the time. */
void tcptuned_watch_flows(struct tcptuned_daemon *d)
{
	bool neighbours = has_neighbours(d), short_of = tcptuned_budget_is_short(d);
	struct timespec start, end;
	double took_s;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (start.tv_sec < d->flows_due_s || (!neighbours && !short_of))
		return;
	if (neighbours)
		tcptuned_kernel_recall_flows(&d->kernel);
	if (short_of)
		tcptuned_kernel_rest_flows(&d->kernel);
	clock_gettime(CLOCK_MONOTONIC, &end);
	took_s = (double)(end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9;
	d->flows_due_s = end.tv_sec + (time_t)(took_s * 1000);
}

bool tcptuned_watch_sysctls(struct tcptuned_daemon *d)
{
	int meta_fd = d->kernel.map_fd[TCPTUNED_MAP_META];
	char ours[TCPTUNED_SYSCTL_VALUE], now[TCPTUNED_SYSCTL_VALUE];
	bool overruled = false;

	for (int i = 0; i < TCPTUNED_SYSCTLS; i++) {
		if (!tcptuned_sysctl_overruled(meta_fd, i, ours, now))
			continue;
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%s was changed from tcptuned's %s to %s by somebody else: left "
			     "alone from now on, also at the end",
			     tcptuned_sysctl_name(i), ours, now);
		overruled = true;
	}
	return overruled;
}

/* A control group comes and goes with its service, each time under another id. Has one? */
static bool cgroups_changed(struct tcptuned_daemon *d)
{
	for (size_t i = 1; i < d->policies_len; i++) {
		const char *cgroup = tcptuned_settings_of(d, &d->policies[i])->cgroup;

		if (!cgroup[0] || d->policies[i].cgroup == tcptuned_cgroup_id(cgroup))
			continue;
		tcptuned_log(TCPTUNED_LOG_INFO, "policy %s: control group %s is another one now",
			     d->policies[i].record.name, cgroup);
		return true;
	}
	return false;
}

/* What is seen is seen once: where it cannot be followed now, it is when the timer runs next. */
void tcptuned_watch_host(struct tcptuned_daemon *d)
{
	bool due = d->unapplied;

	due |= tcptuned_watch_sysctls(d);
	if (due || cgroups_changed(d))
		tcptuned_apply_again(d);
}
