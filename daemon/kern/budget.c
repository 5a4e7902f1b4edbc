// SPDX-License-Identifier: GPL-2.0-only
#include "kern/budget.h"

#include <stddef.h>
#include <sys/mman.h>

#include "tcptuned.skel.h"

struct budget *tcptuned_budget_map(const struct tcptuned_kernel *kernel)
{
	void *mapped = mmap(NULL, sizeof(struct budget), PROT_READ | PROT_WRITE, MAP_SHARED,
			    bpf_map__fd(kernel->bpf->maps.budget), 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

void tcptuned_budget_unmap(struct budget **budget)
{
	if (*budget)
		munmap(*budget, sizeof(**budget));
}
