// SPDX-License-Identifier: GPL-2.0-only
#include "kern/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "util/cleanup.h"

/* A per-CPU value is padded to eight bytes for each CPU: this one is all counters of that size. */
#define TOTALS_WORDS (sizeof(struct tcptuned_totals) / sizeof(__u64))

_Static_assert(sizeof(struct tcptuned_totals) % sizeof(__u64) == 0, "totals are 64-bit counters");

int tcptuned_totals_read(int map_fd, struct tcptuned_totals *ret)
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
