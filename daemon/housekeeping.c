// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/housekeeping.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/param.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "apply/apply.h"
#include "apply/memory_limits.h"
#include "daemon/worker.h"
#include "flows/scan.h"
#include "host/cgroup.h"
#include "host/sysctl.h"
#include "kern/iterators.h"
#include "policy/trial.h"
#include "streams/memory.h"
#include "tcptuned.skel.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"

#define OUR_NAME "tcptuned_sockops" /* of which the kernel keeps fifteen characters */

/* True if the program @id is a sockops program, and not a tcptuned's; its name goes to @ret. */
static bool is_other_sockops(__u32 id, char ret[BPF_OBJ_NAME_LEN])
{
	_cleanup_close_ int fd = bpf_prog_get_fd_by_id(id);
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return false;
	memcpy(ret, info.name, sizeof(info.name));
	return info.type == BPF_PROG_TYPE_SOCK_OPS && strncmp(ret, OUR_NAME, BPF_OBJ_NAME_LEN - 1);
}

/*
 * Another sockops program may clear the callback flags that ours has set (bpf/callbacks.h). Without
 * one, no connection has to be checked for that. Only CAP_SYS_ADMIN may list programs; without it,
 * there may be one.
 */
static bool has_other_sockops(struct tcptuned_daemon *d)
{
	char name[BPF_OBJ_NAME_LEN] = "";

	if (d->other_sockops)
		return true;
	while (!d->other_sockops && !bpf_prog_get_next_id(d->last_prog_id, &d->last_prog_id))
		d->other_sockops = is_other_sockops(d->last_prog_id, name);
	if (!d->other_sockops && errno != EPERM)
		return false;
	d->other_sockops = true;
	log_info(
		"there is another sockops program%s%s: callback flags that it clears are set again",
		name[0] ? ", " : "", name);
	return true;
}

/*
 * The scan is limited to 0.1 % of a processor, and to 1 % while connections wait for memory that
 * idle ones hold, so that they get it within seconds.
 */
static void maintain_flows(struct tcptuned_daemon *d)
{
	bool other_sockops = has_other_sockops(d), is_short = tcptuned_memory_budget_is_short(d);
	uint64_t used_ns = tcptuned_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (tcptuned_monotonic_ns() < d->next_scan_ns || (!other_sockops && !is_short))
		return;
	if (other_sockops)
		tcptuned_iterator_run(d->kernel.bpf->links.recall_flows, NULL);
	if (is_short)
		tcptuned_iterator_run(d->kernel.bpf->links.reclaim_idle, NULL);
	used_ns = tcptuned_clock_ns(CLOCK_THREAD_CPUTIME_ID) - used_ns;
	d->next_scan_ns = tcptuned_monotonic_ns() + used_ns * (is_short ? 100 : 1000);
}

static bool add_to_groups(const void *ctx, const struct tcptuned_flow_record *record)
{
	tcptuned_passive_add(((const struct tcptuned_daemon *)ctx)->passive, record);
	return false; /* it is not kept */
}

static void add_window(void *ctx, const struct tcptuned_streams_key *key, __u32 netns,
		       const struct tcptuned_streams_level *window)
{
	const struct tcptuned_daemon *d = ctx;

	tcptuned_streams_memory_add(bpf_map__fd(d->kernel.bpf->maps.streams), key, netns, window);
}

/*
 * The first scan only finds out the kernel's time, since when connections are active in the next
 * one.
 */
static void scan_groups(struct tcptuned_daemon *d)
{
	struct tcptuned_filter filter = {.active_since = d->scan_jiffies};
	struct tcptuned_flows flows = {0};
	int error;

	if (d->scan_jiffies) {
		flows.choice.wanted = add_to_groups;
		flows.choice.ctx = d;
	}
	tcptuned_passive_begin(d->passive, tcptuned_monotonic_ns());
	error = tcptuned_scan(&flows, &d->kernel, &filter, NULL);
	if (error == -EAGAIN || error == -EACCES) /* another process scans */
		tcptuned_passive_cancel(d->passive);
	if (error)
		return;
	tcptuned_passive_end(d->passive, add_window, d);
	d->scan_jiffies = flows.jiffies;
}

uint64_t tcptuned_housekeeping_streams(struct tcptuned_daemon *d)
{
	uint64_t used_ns = tcptuned_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!d->config->paths_enabled || !d->config->paths_streams) {
		d->scan_jiffies = 0;
		tcptuned_passive_begin(d->passive, tcptuned_monotonic_ns()); /* and add none */
		return TCPTUNED_PASSIVE_WINDOW_NS / 1000;
	}
	scan_groups(d);
	used_ns = tcptuned_clock_ns(CLOCK_THREAD_CPUTIME_ID) - used_ns;
	return MAX(TCPTUNED_PASSIVE_WINDOW_NS, used_ns * 1000) / 1000;
}

/* A control group comes and goes with its service, each time with another id. */
static bool have_cgroups_changed(struct tcptuned_daemon *d)
{
	for (size_t i = 1; i < d->policies_len; i++) {
		const char *cgroup = tcptuned_settings_of(d, &d->policies[i])->cgroup;

		if (!cgroup[0] || d->policies[i].cgroup == tcptuned_cgroup_id(cgroup))
			continue;
		log_info("policy %s: control group %s has come, gone, or is a new one",
			 d->policies[i].record.name, cgroup);
		return true;
	}
	return false;
}

static int on_cgroup(sd_event_source *source, const struct inotify_event *event, void *ctx)
{
	struct tcptuned_daemon *d = ctx;

	if (have_cgroups_changed(d))
		tcptuned_apply_again(d);
	return 0;
}

void tcptuned_housekeeping_watch(struct tcptuned_daemon *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(d->cgroup_watches); i++) {
		const char *cgroup =
			i < d->policies_len ? tcptuned_settings_of(d, &d->policies[i])->cgroup : "";
		_cleanup_close_ int fd = cgroup[0] ? tcptuned_cgroup_open_above(cgroup) : -1;

		d->cgroup_watches[i] = sd_event_source_unref(d->cgroup_watches[i]);
		if (fd >= 0)
			sd_event_add_inotify_fd(d->event, &d->cgroup_watches[i], fd,
						IN_CREATE | IN_ONLYDIR, on_cgroup, d);
	}
}

static void log_harm(const struct tcptuned_trial *trial, const char *policy, bool sends,
		     enum tcptuned_measure measure)
{
	unsigned int first = sends * TCPTUNED_OUTCOME_SIZES;
	struct tcptuned_estimate e =
		tcptuned_trial_estimate(trial, measure, first, first + TCPTUNED_OUTCOME_SIZES);
	bool slower = measure == TCPTUNED_RATE;
	double least = slower ? e.difference + e.radius : e.difference - e.radius;

	log_error(
		"policy %s: tuned connections that %s are %s than those held back, by %.1f %%, at "
		"least by %.1f %%; it only observes until tcptunectl policy enable %s (see "
		"tcptunectl trial)",
		policy, sends ? "send" : "receive",
		slower ? "slower" : "no faster and have longer round trips",
		100 * fabs(exp2(e.difference) - 1), 100 * fabs(exp2(least) - 1), policy);
}

/* Where tuning is shown to do harm, new connections are left to the kernel. */
static void check_trials(struct tcptuned_daemon *d)
{
	char policy[TCPTUNED_POLICY_NAME_MAX];
	struct tcptuned_error err = {0};
	enum tcptuned_measure measure;
	struct tcptuned_trial trial;
	bool sends;

	for (size_t i = 0; i < d->policies_len; i++) {
		if (!d->policies[i].record.holdback)
			continue;
		memcpy(policy, d->policies[i].record.name, sizeof(policy));
		tcptuned_trial_read(&d->kernel, d->policies[i].record.trial, &trial);
		if (!tcptuned_trial_shows_harm(&trial, &sends, &measure) ||
		    tcptuned_apply_overruled(d, policy, false, true, &err))
			continue;
		log_harm(&trial, policy, sends, measure);
	}
}

static int check_cgroup(struct tcptuned_daemon *d, struct tcptuned_error *err)
{
	_cleanup_close_ int fd = -1;
	char path[TCPTUNED_CONFIG_TEXT], text[TCPTUNED_ERROR_TEXT];
	bool root;

	/* The directory of a removed cgroup is empty for a process that still has it open. */
	if (d->whole_host || !faccessat(d->cgroup_fd, "cgroup.procs", F_OK, 0) ||
	    (errno != ENOENT && errno != ENODEV))
		return 0;
	fd = tcptuned_cgroup_open(d->cgroup_path, &root, path, sizeof(path), NULL);
	if (fd >= 0)
		return FAIL(err, ESTALE, INTERNAL,
			    "tcptuned.cgroup: %s was removed, and there is another one of "
			    "that name; a start of tcptuned attaches to that one",
			    d->cgroup_path);
	snprintf(text, sizeof(text),
		 "tcptuned.cgroup: %s was removed; no new connection is tuned until there is one "
		 "of that name, and tcptuned is started again",
		 d->cgroup_path);
	if (!d->shared->trouble.unapplied[0]) /* a reload clears it, but does not attach */
		memcpy(d->shared->trouble.unapplied, text, sizeof(text));
	if (!d->cgroup_removed)
		log_error("%s", text);
	d->cgroup_removed = true;
	return 0;
}

/*
 * NTP daemons set this offset to the leap seconds of late (chrony: 37) or not at all
 * (systemd-timesyncd: 0).
 */
static void follow_tai_offset(const struct tcptuned_daemon *d)
{
	int64_t ahead_ns =
		(int64_t)(tcptuned_clock_ns(CLOCK_TAI) - tcptuned_clock_ns(CLOCK_REALTIME));
	uint64_t ahead_us = (uint64_t)((ahead_ns + 500000000) / 1000000000 * 1000000);
	__u32 zero = 0;

	bpf_map_update_elem(bpf_map__fd(d->kernel.bpf->maps.tai_offset), &zero, &ahead_us, BPF_ANY);
}

/* Windows follow the maxima of an administrator, whether tcptuned has raised them or not. */
static bool have_maxima_changed(const struct tcptuned_daemon *d)
{
	return tcptuned_memory_window_limits(d, TCPTUNED_SYSCTL_TCP_RMEM).kernel_max !=
		       d->rcv_kernel_max ||
	       tcptuned_memory_window_limits(d, TCPTUNED_SYSCTL_TCP_WMEM).kernel_max !=
		       d->snd_kernel_max;
}

int tcptuned_housekeeping(struct tcptuned_daemon *d, struct tcptuned_error *err)
{
	bool overruled = tcptuned_sysctls_overruled(bpf_map__fd(d->kernel.bpf->maps.meta));
	int error;

	if (d->unapplied || overruled || have_maxima_changed(d) || have_cgroups_changed(d))
		tcptuned_apply_again(d);
	error = check_cgroup(d, err);
	if (error)
		return error;
	check_trials(d);
	follow_tai_offset(d);
	maintain_flows(d);
	tcptuned_scrape_read_process(&d->shared->keeper);
	tcptuned_worker_check(d);
	return 0;
}
