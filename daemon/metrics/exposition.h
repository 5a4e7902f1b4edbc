/* SPDX-License-Identifier: GPL-2.0-only */
/* Formats /metrics (Prometheus' text format 0.0.4) from a snapshot. Pure. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <tcptuned/algo/budget.h>
#include <tcptuned/abi/meta.h>
#include <tcptuned/abi/outcome.h>
#include <tcptuned/abi/policy.h>
#include <tcptuned/abi/totals.h>

#include "flows/columns.h"
#include "kern/kernel.h"
#include "streams/passive.h"
#include "paths/paths.h"

/* The cost of tcptuned itself; 0: unknown. */
struct tcptuned_program_stats {
	char name[32];
	__u32 verified_insns; /* processed by the verifier; 0 before Linux 5.16 */
	__u64 runs;	      /* counted while the kernel's statistics are enabled */
	__u64 run_time_ns;
};

struct tcptuned_bpfstats {
	bool enabled; /* runs and run_time_ns are being counted */
	unsigned int programs_len;
	struct tcptuned_program_stats programs[TCPTUNED_PROGRAMS_MAX];
};

struct tcptuned_process_stats {
	__u64 resident_bytes;
	__u64 open_fds, max_fds;
	__u64 cpu_ns; /* user and system */
};

/* Time with something to send, by what limited it, microseconds. */
struct tcptuned_limited {
	__u64 receiver_window, send_buffer, neither;
};

/* Everything that a scrape shows. */
struct tcptuned_snapshot {
	const char *version;
	const char *revision;
	const char *kernel_release;
	tcptuned_policy_namer policy_name;
	const struct tcptuned_kernel *kernel; /* for policy_name */
	bool bitcp;			      /* the congestion control is registered */
	unsigned int cgroups_missing;	      /* of policies */
	bool taken_over;
	bool whole_host;		   /* all processes are below the cgroup */
	bool left_alone[TCPTUNED_SYSCTLS]; /* since another process has changed it */
	struct tcptuned_adoption adoption;
	struct tcptuned_limited limited[2]; /* of tuned, and of observed connections */
	bool limited_ok;		    /* it is known */
	bool totals_ok;			    /* totals could be read */
	bool flows_ok;			    /* flows could be read completely */
	__u64 start_time_us;		    /* of the daemon, since 1970 */
	__u64 reloads[2];		    /* of the configuration: rejected, accepted */
	bool config_in_force;	       /* the last reload was accepted, and applied completely */
	__u64 scrapes;		       /* answers made before this one */
	__u64 scrapes_ns;	       /* time that they took */
	struct tcptuned_totals totals; /* sums over all CPUs */
	bool budget_ok;		       /* the budget could be read */
	struct budget budget;
	__u64 database_errors; /* of the path memory */
	struct tcptuned_passive_stats groups;
	struct tcptuned_flows flows; /* .top: those of the daemon's own network namespace */
	struct tcptuned_bpfstats bpf;
	struct tcptuned_process_stats process;
	unsigned int policies_len;
	struct tcptuned_policy policies[TCPTUNED_POLICIES_MAX]; /* in force, in their order */
	/* What connections of these have carried: tuned ones, and observed ones. */
	struct tcptuned_traffic traffic[TCPTUNED_POLICIES_MAX][2];
	/* Of those that hold connections back: all outcomes, tuned and held back. */
	struct tcptuned_outcome trials[TCPTUNED_POLICIES_MAX][2];
};

/* Write the whole of /metrics. Errors stay in @out. */
void tcptuned_metrics_format(FILE *out, const struct tcptuned_snapshot *snap);
