// SPDX-License-Identifier: GPL-2.0-only
#include "kern/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tcptuned.skel.h"
#include "util/cleanup.h"

/* A per-CPU value is padded to eight bytes for each CPU: this one is all counters of that size. */
#define TOTALS_WORDS (sizeof(struct tcptuned_totals) / sizeof(__u64))

_Static_assert(sizeof(struct tcptuned_totals) % sizeof(__u64) == 0, "totals are 64-bit counters");

int tcptuned_maps_read_totals(int map_fd, struct tcptuned_totals *ret)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ __u64 *per_cpu = NULL;
	__u64 *sums = (__u64 *)ret;
	__u32 zero = 0;

	memset(ret, 0, sizeof(*ret));
	if (cpus < 1)
		return -EINVAL;
	per_cpu = calloc((size_t)cpus, sizeof(*ret));
	if (!per_cpu)
		return -ENOMEM;
	if (bpf_map_lookup_elem(map_fd, &zero, per_cpu))
		return -errno;
	for (size_t i = 0; i < (size_t)cpus * TOTALS_WORDS; i++)
		sums[i % TOTALS_WORDS] += per_cpu[i];
	return 0;
}

struct budget *tcptuned_maps_open_budget(const struct tcptuned_kernel *kernel)
{
	void *mapped = mmap(NULL, sizeof(struct budget), PROT_READ | PROT_WRITE, MAP_SHARED,
			    bpf_map__fd(kernel->bpf->maps.budget), 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

void tcptuned_maps_close_budget(struct budget **budget)
{
	if (*budget)
		munmap(*budget, sizeof(**budget));
}
