// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/bpf_stats.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "kern/loader.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define PREFIX "tcptuned_"

/*
 * Bytes before a value in socket storage: struct bpf_local_storage_elem, which is a cache line, and
 * a pointer (bpf_local_storage.h, 6.1 to 7.2).
 */
#define STORAGE_HEAD_BYTES (64 + 8)

/* Bytes per socket: struct bpf_local_storage, unless another map needed it before. */
#define STORAGE_SOCKET_BYTES 168

/* The sizes that kmalloc() and bpf_mem_alloc() allocate: powers of two, 96 and 192. */
static __u64 allocated_bytes(__u64 size)
{
	__u64 class = 16;

	while (class < size)
		class *= 2;
	return class / 4 * 3 >= size && class <= 256 && class >= 128 ? class / 4 * 3 : class;
}

/* Bytes that the kernel allocates for a record in socket storage of the map @fd, or 0. */
static __u64 storage_bytes(int fd)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return 0;
	return allocated_bytes(STORAGE_HEAD_BYTES + info.value_size) +
	       allocated_bytes(STORAGE_SOCKET_BYTES);
}

static void read_program(struct tcptuned_bpfstats *stats, enum tcptuned_prog which, int fd)
{
	const char *name = tcptuned_prog_name(which);
	struct tcptuned_program_stats *program = &stats->programs[stats->programs_len];
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return;
	program->verified_insns = info.verified_insns;
	program->runs = info.run_cnt;
	program->run_time_ns = info.run_time_ns;
	snprintf(program->name, sizeof(program->name), "%s%s",
		 which >= TCPTUNED_PROG_BITCP ? "bitcp_" : "",
		 name + (strncmp(name, PREFIX, strlen(PREFIX)) ? 0 : strlen(PREFIX)));
	stats->programs_len++;
}

static bool statistics_enabled(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/sys/kernel/bpf_stats_enabled", "re");

	return file && fgetc(file) == '1';
}

void tcptuned_bpfstats_read(struct tcptuned_bpfstats *stats, const struct tcptuned_kernel *kernel)
{
	unsigned int i;

	memset(stats, 0, sizeof(*stats));
	stats->enabled = statistics_enabled();
	for (i = 0; i < TCPTUNED_PROGS; i++)
		read_program(stats, i, kernel->prog_fd[i]);
	stats->storage_bytes = storage_bytes(kernel->map_fd[TCPTUNED_MAP_FLOWS]);
}

void tcptuned_process_stats_read(struct tcptuned_process_stats *stats)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long resident_pages;

	memset(stats, 0, sizeof(*stats));
	if (file && fscanf(file, "%*s %llu", &resident_pages) == 1)
		stats->resident_bytes = resident_pages * (__u64)sysconf(_SC_PAGESIZE);
	stats->cpu_ns = tcptuned_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}
