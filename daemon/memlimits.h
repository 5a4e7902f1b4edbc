/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much memory there is: for one connection's windows, for all of them together (the budget),
 * and for the buffers of one socket, which net.core.rmem_max and wmem_max limit.
 */
#ifndef TCPTUNED_MEMLIMITS_H
#define TCPTUNED_MEMLIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"

/* The largest window of a policy, in bytes: as @configured, or, for 0, what suits the host. */
uint32_t tcptuned_window_max(uint32_t configured);

/* Tell the kernel side the budget as configured. Returns 0 or a negative errno. */
int tcptuned_budget_set(struct tcptuned_daemon *d);

/* Would connections have more than there is? */
bool tcptuned_budget_is_short(const struct tcptuned_daemon *d);

/*
 * Have the sysctls let buffers be as large as the policies want them, lower those that need not be
 * as high any more, and put into each policy's record how far buffers can go. Logs what it does.
 */
void tcptuned_buffer_limits_set(struct tcptuned_daemon *d);

#endif
