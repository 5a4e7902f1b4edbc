/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits of memory: for the windows of one connection, and for all together (the budget). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "apply/state.h"
#include "host/sysctl.h"

/* Largest windows that are not configured in bytes. */
struct tcptuned_window_limits {
	uint32_t kernel_max;	/* tcp_rmem[2] (tcp_wmem[2]) without tcptuned, bytes of memory */
	uint32_t window_kernel; /* the window that the kernel reaches with that, bytes */
	uint32_t window_auto;	/* bytes */
};

/* @which: TCPTUNED_SYSCTL_TCP_RMEM or _TCP_WMEM */
struct tcptuned_window_limits tcptuned_memory_window_limits(const struct tcptuned_daemon *d,
							    enum tcptuned_sysctl which);

/*
 * The largest window of a policy, in bytes; @configured may be 0 (auto) or TCPTUNED_WINDOW_KERNEL.
 */
uint32_t tcptuned_memory_window_max(const struct tcptuned_window_limits *limits,
				    uint32_t configured);

/* Write the configured budget into its map. Returns 0 or a negative errno. */
int tcptuned_memory_budget_set(struct tcptuned_daemon *d);

/* True if connections may be refused memory that others could return. */
bool tcptuned_memory_budget_is_short(const struct tcptuned_daemon *d);

/*
 * Set the maxima of tcp_rmem and net.core.wmem_max to what the windows of the policies need,
 * restore those that are large enough without, and write into each policy's record how large a
 * buffer setsockopt() can make. Logs what it does.
 */
void tcptuned_memory_buffer_limits_set(struct tcptuned_daemon *d);
