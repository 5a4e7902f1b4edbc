// SPDX-License-Identifier: GPL-2.0-only
#include "core/housekeeping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/apply.h"
#include "core/memory_limits.h"
#include "host/cgroup.h"
#include "host/other_bpf.h"
#include "host/sysctl.h"
#include "kern/iterators.h"
#include "util/cleanup.h"
#include "util/log.h"

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

/*
 * The scan may take a thousandth of the time; a hundredth while connections wait for what idle ones
 * hold of the budget, so that they have it within seconds.
 */
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
	d->flows_due_s = end.tv_sec + (time_t)(took_s * (short_of ? 100 : 1000));
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

	due |= tcptuned_sysctls_overruled(d->kernel.map_fd[TCPTUNED_MAP_META]);
	if (due || cgroups_changed(d))
		tcptuned_apply_again(d);
}

/* The directory of one that was removed is empty for whoever still has it open. */
static bool is_removed(int cgroup_fd)
{
	return faccessat(cgroup_fd, "cgroup.procs", F_OK, 0) &&
	       (errno == ENOENT || errno == ENODEV);
}

int tcptuned_watch_cgroup(struct tcptuned_daemon *d, struct tcptuned_error *err)
{
	_cleanup_close_ int fd = -1;
	char path[TCPTUNED_CONFIG_TEXT], text[TCPTUNED_ERROR_TEXT];
	bool root;

	if (d->whole_host || !is_removed(d->cgroup_fd))
		return 0;
	fd = tcptuned_cgroup_open(d->cgroup_path, &root, path, sizeof(path), NULL);
	if (fd >= 0)
		return tcptuned_fail(err, ESTALE, TCPTUNED_EXIT_INTERNAL,
				     "tcptuned.cgroup: %s was removed, and there is another one of "
				     "that name; a start of tcptuned attaches to that one",
				     d->cgroup_path);
	snprintf(text, sizeof(text),
		 "tcptuned.cgroup: %s was removed; no new connection is tuned until there is one "
		 "of that name, and tcptuned is started again",
		 d->cgroup_path);
	if (!d->cgroup_removed)
		tcptuned_log(TCPTUNED_LOG_ERROR, "%s", text);
	d->cgroup_removed = true;
	if (!d->trouble.unapplied[0]) /* also after a reload, which changes nothing about it */
		memcpy(d->trouble.unapplied, text, sizeof(text));
	return 0;
}
