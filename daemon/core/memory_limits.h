/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much memory there is: for one connection's windows, which the maxima of net.ipv4.tcp_rmem and
 * net.ipv4.tcp_wmem limit, and for all of them together (the budget).
 */
#ifndef TCPTUNED_CORE_MEMORY_LIMITS_H
#define TCPTUNED_CORE_MEMORY_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/state.h"
#include "host/sysctl.h"

/* What receive_window_max (send_window_max) is where no size is configured. */
struct tcptuned_window_limits {
	uint32_t kernel_max;	/* tcp_rmem[2] (tcp_wmem[2]) without tcptuned, bytes of memory */
	uint32_t window_kernel; /* bytes of window that the kernel comes to with that */
	uint32_t window_auto;	/* bytes of window */
};

/* @which: TCPTUNED_SYSCTL_TCP_RMEM or _TCP_WMEM */
struct tcptuned_window_limits tcptuned_window_limits(const struct tcptuned_daemon *d,
						     enum tcptuned_sysctl which);

/* The largest window of a policy, in bytes; @configured may be 0, auto, or TCPTUNED_WINDOW_KERNEL. */
uint32_t tcptuned_window_max(const struct tcptuned_window_limits *limits, uint32_t configured);

/* Tell the kernel side the budget as configured. Returns 0 or a negative errno. */
int tcptuned_budget_set(struct tcptuned_daemon *d);

/* May there be connections that are refused what others could return? */
bool tcptuned_budget_is_short(const struct tcptuned_daemon *d);

/*
 * Raise the maxima of tcp_rmem and tcp_wmem to what the windows of the policies that tune need,
 * lower those that need not be as high any more, and put into each policy's record how large a
 * buffer setsockopt() can make. Logs what it does.
 */
void tcptuned_buffer_limits_set(struct tcptuned_daemon *d);

#endif
