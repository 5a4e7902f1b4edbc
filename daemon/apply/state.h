/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the running daemon, for the files of daemon/ and of this folder only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include <tcptuned/abi/policy.h>

#include "config/config.h"
#include "config/options.h"
#include "streams/passive.h"
#include "kern/kernel.h"
#include "metrics/scrape.h"
#include "metrics/http.h"
#include "paths/paths.h"
#include "policy/ruleset.h"
#include "rpc/control.h"

/* A process that serves, or that finishes what it has begun (daemon/worker.h). */
struct tcptuned_worker {
	pid_t pid; /* 0: none */
	int fd;	   /* the keeper's end of the pair of sockets */
	uint64_t since_us;
	sd_event_source *calls, *end;
};

struct tcptuned_daemon {
	const struct tcptuned_options *options;
	struct tcptuned_config *config;
	struct tcptuned_error *err; /* why it cannot go on, when @error is set */
	struct tcptuned_kernel kernel;
	struct tcptuned_paths *paths;
	struct tcptuned_passive *passive;
	struct tcptuned_http_listener metrics;
	struct tcptuned_control_listener control;
	struct tcptuned_shared *shared;
	struct tcptuned_worker workers[8], *worker; /* that serves now; NULL: none */
	sd_event_source *again;			    /* starts the next one; NULL: none was due */
	bool serves;				    /* there has been a worker */
	__u64 worker_ticks;
	unsigned int worker_idle_ticks; /* of the keeper, without one of the worker */
	sd_event *event;
	int lock_fd, pins_lock_fd, cgroup_fd;
	char cgroup_path[TCPTUNED_CONFIG_TEXT];
	bool whole_host;     /* attached to the root of the cgroup tree */
	bool cgroup_removed; /* the cgroup that it is attached to; logged */
	bool activated;	     /* systemd holds the socket for metrics, and starts tcptuned for it */
	bool stopping;	     /* a stop or a hand-over was requested */
	bool hands_over;     /* the next start takes over; nothing is released */
	int error;	     /* a negative errno: it cannot go on */
	bool adopted;	     /* the connections that were open before the start */
	/* Is called each time that a configuration has come into force, before that is said. */
	void (*applied)(struct tcptuned_daemon *d);
	bool unapplied; /* tcptuned_apply() failed last: the timer tries again */
	/* Modules that the kernel was asked for since the last start, reload or command. */
	char modules_asked[TCPTUNED_POLICIES_MAX + 1][TCPTUNED_CC_NAME_MAX];
	size_t modules_asked_len;
	struct tcptuned_policy_source *policies; /* in force; the default policy first */
	size_t policies_len;
	uint32_t rcv_kernel_max, snd_kernel_max;		/* that they were made with */
	sd_event_source *cgroup_watches[TCPTUNED_POLICIES_MAX]; /* of policies that name a cgroup */
	struct {
		const char *policy; /* that a command or a trial changes; NULL: none */
		bool disabled, harmful;
	} overrule;
	bool other_sockops;    /* a program of another owner may clear callback flags; logged */
	__u32 last_prog_id;    /* the latest program that was examined for that */
	uint64_t next_scan_ns; /* of all connections, by housekeeping; CLOCK_MONOTONIC */
	uint32_t scan_jiffies; /* the kernel's, of the last scan for groups; 0: none */
};

/* The settings of the section that @source was made from. */
static inline const struct tcptuned_policy_config *
tcptuned_settings_of(const struct tcptuned_daemon *d, const struct tcptuned_policy_source *source)
{
	return source->named ? &source->named->set : &d->config->policy;
}
