// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kern/totals.h"
#include "util/cleanup.h"

static void add_totals(struct tcptuned_totals *sum, const struct tcptuned_totals *cpu)
{
	int i, b;

	for (i = 0; i < TCPTUNED_COUNTERS; i++)
		sum->counter[i] += cpu->counter[i];
	for (i = 0; i < TCPTUNED_HISTOGRAMS; i++) {
		sum->histogram[i].count += cpu->histogram[i].count;
		sum->histogram[i].sum += cpu->histogram[i].sum;
		for (b = 0; b < TCPTUNED_BUCKETS; b++)
			sum->histogram[i].bucket[b] += cpu->histogram[i].bucket[b];
	}
}

/* A per-CPU value is padded to eight bytes for each CPU; this one has that size anyway. */
_Static_assert(sizeof(struct tcptuned_totals) % 8 == 0, "per-CPU values lie side by side");

int tcptuned_totals_read(int map_fd, struct tcptuned_totals *ret)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct tcptuned_totals *per_cpu = NULL;
	__u32 zero = 0;

	memset(ret, 0, sizeof(*ret));
	if (map_fd < 0)
		return -EBADF;
	if (cpus < 1)
		return -EINVAL;
	per_cpu = calloc((size_t)cpus, sizeof(*per_cpu));
	if (!per_cpu)
		return -ENOMEM;
	if (bpf_map_lookup_elem(map_fd, &zero, per_cpu))
		return -errno;
	for (int cpu = 0; cpu < cpus; cpu++)
		add_totals(ret, &per_cpu[cpu]);
	return 0;
}
