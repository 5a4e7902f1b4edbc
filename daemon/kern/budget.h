/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory budget, in the memory that it shares with the programs. */
#ifndef TCPTUNED_KERN_BUDGET_H
#define TCPTUNED_KERN_BUDGET_H

#include <tcptuned/algo/budget.h>

#include "kern/kernel.h"

/*
 * Map the budget, which programs change at the same time. NULL, with errno set: it cannot be
 * mapped.
 */
struct budget *tcptuned_budget_map(const struct tcptuned_kernel *kernel);

/* Unmap it, unless it is NULL. */
void tcptuned_budget_unmap(struct budget **budget);

#define _cleanup_budget_ __attribute__((cleanup(tcptuned_budget_unmap)))

#endif
