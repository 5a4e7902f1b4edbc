/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps that the daemon reads as a whole. */
#pragma once

#include <tcptuned/abi/totals.h>
#include <tcptuned/algo/budget.h>

#include "kern/kernel.h"

/* Add up the counters and histograms of all CPUs in the map @map_fd. Returns 0 or -errno. */
int tcptuned_maps_read_totals(int map_fd, struct tcptuned_totals *ret);

/*
 * Map the budget, which programs change at the same time. NULL, with errno set: it cannot be
 * mapped.
 */
struct budget *tcptuned_maps_open_budget(const struct tcptuned_kernel *kernel);

/* Unmap it, unless it is NULL. */
void tcptuned_maps_close_budget(struct budget **budget);

#define _cleanup_budget_ __attribute__((cleanup(tcptuned_maps_close_budget)))
