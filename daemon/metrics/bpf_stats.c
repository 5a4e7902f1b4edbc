// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "kern/loader.h"
#include "metrics/bpf_stats.h"
#include "util/cleanup.h"

#define PREFIX "tcptuned_"

/*
 * What the kernel puts before a value in socket storage: struct bpf_local_storage_elem fills
 * a cache line, then one pointer (bpf_local_storage.h, 6.1 to 7.2).
 */
#define STORAGE_HEAD_BYTES (64 + 8)

/* And once per socket, struct bpf_local_storage, if no other map needed it already. */
#define STORAGE_SOCKET_BYTES 168

/* The sizes that kmalloc() and bpf_mem_alloc() hand out: powers of two, and 96 and 192. */
static __u64 allocated_bytes(__u64 size)
{
	__u64 class = 16;

	while (class < size)
		class *= 2;
	return class / 4 * 3 >= size && class <= 256 && class >= 128 ? class / 4 * 3 : class;
}

/* What the kernel allocates for one record in socket storage of the map @fd, or 0. */
static __u64 storage_bytes(int fd)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return 0;
	return allocated_bytes(STORAGE_HEAD_BYTES + info.value_size) +
	       allocated_bytes(STORAGE_SOCKET_BYTES);
}

/* @name, since the kernel cuts its own at 15 characters; NULL: one of BI-TCP's, as the kernel has it. */
static void read_program(struct tcptuned_bpfstats *stats, const char *name, int fd)
{
	struct tcptuned_program_stats *program = &stats->programs[stats->programs_len];
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return;
	program->verified_insns = info.verified_insns;
	program->runs = info.run_cnt;
	program->run_time_ns = info.run_time_ns;
	if (name)
		snprintf(program->name, sizeof(program->name), "%s",
			 name + (strncmp(name, PREFIX, strlen(PREFIX)) ? 0 : strlen(PREFIX)));
	else
		snprintf(program->name, sizeof(program->name), "bitcp_%s", info.name);
	stats->programs_len++;
}

static bool sysctl_enabled(void)
{
	_cleanup_close_ int fd =
		open("/proc/sys/kernel/bpf_stats_enabled", O_RDONLY | O_CLOEXEC);
	char digit = '0';

	return fd >= 0 && read(fd, &digit, 1) == 1 && digit != '0';
}

void tcptuned_bpfstats_read(struct tcptuned_bpfstats *stats, const struct tcptuned_kernel *kernel)
{
	unsigned int i;

	memset(stats, 0, sizeof(*stats));
	stats->enabled = sysctl_enabled();
	for (i = 0; i < TCPTUNED_PROGS; i++)
		read_program(stats, tcptuned_prog_name(i), kernel->prog_fd[i]);
	stats->storage_bytes = storage_bytes(kernel->map_fd[TCPTUNED_MAP_FLOWS]);
}

void tcptuned_process_stats_read(struct tcptuned_process_stats *stats)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long resident_pages;
	struct timespec cpu;

	memset(stats, 0, sizeof(*stats));
	if (file && fscanf(file, "%*s %llu", &resident_pages) == 1)
		stats->resident_bytes = resident_pages * (__u64)sysconf(_SC_PAGESIZE);
	if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu))
		stats->cpu_ns = (__u64)cpu.tv_sec * 1000000000 + (__u64)cpu.tv_nsec;
}
