/* SPDX-License-Identifier: GPL-2.0-only */
/* All that the running daemon knows. For the files of this folder, and for nobody else. */
#ifndef TCPTUNED_CORE_STATE_H
#define TCPTUNED_CORE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include <tcptuned/abi/policy.h>

#include "config/config.h"
#include "config/options.h"
#include "host/other_bpf.h"
#include "kern/kernel.h"
#include "metrics/collect.h"
#include "metrics/http.h"
#include "paths/paths.h"
#include "policy/compile.h"
#include "policy/disabled.h"
#include "rpc/server.h"
#include "util/log.h"

struct tcptuned_daemon {
	const struct tcptuned_options *options;
	struct tcptuned_config *config;
	sd_event *event;
	bool ends; /* somebody has asked it to stop or to hand over */
	int error; /* a negative errno: it cannot go on, and @err says why */
	struct tcptuned_error *err;
	struct tcptuned_kernel kernel;
	struct tcptuned_scrape *scrape;
	struct tcptuned_paths *paths;
	struct tcptuned_http *http;
	struct tcptuned_control *control;
	char cgroup_path[TCPTUNED_CONFIG_TEXT];
	bool adopted;	 /* what was open before the start */
	bool unapplied;	 /* tcptuned_apply() failed last: the timer tries again */
	struct tcptuned_config_trouble trouble; /* told, and not at every try of the timer */
	struct tcptuned_told told; /* what is amiss where it succeeds, so, too */
	/* Modules that the kernel was asked for, since somebody has asked for what needs them. */
	char modules_asked[TCPTUNED_POLICIES_MAX][TCPTUNED_CC_NAME_MAX];
	size_t modules_asked_len;
	bool whole_host; /* attached to the root of the cgroup tree */
	bool cgroup_removed; /* what it was attached to; told */
	bool hands_over; /* ends for the next start to take over; nothing is given back */
	bool activated;	 /* systemd holds the socket for metrics, and starts tcptuned for it */
	int lock_fd, pins_lock_fd, cgroup_fd;
	struct tcptuned_policy_source *policies; /* in force; the default policy first */
	size_t policies_len;
	unsigned int cgroups_missing; /* of these: not there, or not to be seen */
	uint64_t next_scan_ns; /* of all connections, by housekeeping; CLOCK_MONOTONIC */
	struct tcptuned_other_sockops other_sockops;
	struct tcptuned_disabled disabled;
};

/* What the section of @source says. */
static inline const struct tcptuned_policy_config *
tcptuned_settings_of(const struct tcptuned_daemon *d, const struct tcptuned_policy_source *source)
{
	return source->named ? &source->named->set : &d->config->policy;
}

#endif
