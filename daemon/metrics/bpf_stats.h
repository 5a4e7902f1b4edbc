/* SPDX-License-Identifier: GPL-2.0-only */
/* What tcptuned itself costs: run time of its programs, memory of its records and of the daemon. */
#ifndef TCPTUNED_METRICS_BPF_STATS_H
#define TCPTUNED_METRICS_BPF_STATS_H

#include <stdbool.h>
#include <linux/types.h>

#include "kern/kernel.h"

struct tcptuned_program_stats {
	char name[32];
	__u32 verified_insns; /* processed by the verifier; 0 before Linux 5.16 */
	__u64 runs;	      /* counted while the kernel's statistics are enabled */
	__u64 run_time_ns;
};

struct tcptuned_bpfstats {
	bool enabled; /* runs and run_time_ns are being counted */
	unsigned int programs_len;
	struct tcptuned_program_stats programs[TCPTUNED_PROGS];
	__u64 storage_bytes; /* one connection's record, as the kernel allocates it */
};

struct tcptuned_process_stats {
	__u64 resident_bytes;
	__u64 cpu_ns; /* user and system */
};

/* Read the statistics of the programs of @kernel, and the size of a record. 0: unknown. */
void tcptuned_bpfstats_read(struct tcptuned_bpfstats *stats, const struct tcptuned_kernel *kernel);

/* Read those of this process. 0: unknown. */
void tcptuned_process_stats_read(struct tcptuned_process_stats *stats);

#endif
