/* SPDX-License-Identifier: GPL-2.0-only */
/* Periodic work: follows what others change on the host while tcptuned runs. */
#pragma once

#include "apply/state.h"

/*
 * Apply the configuration again if a sysctl or a policy's control group has changed, and reclaim
 * memory from idle connections. -ESTALE: the control group that tcptuned is attached to was
 * replaced by another one, to which only a new start attaches.
 */
int tcptuned_housekeeping(struct tcptuned_daemon *d, struct tcptuned_error *err);

/*
 * Watch for the control groups that policies name, so that a service's first connections have its
 * policy; the timer finds what cannot be watched.
 */
void tcptuned_housekeeping_watch(struct tcptuned_daemon *d);

/*
 * Scan the groups of connections for measurement intervals that tell what parallel connections
 * carry. Returns the microseconds until the next scan, so that all of them take at most 0.1 % of a
 * processor.
 */
uint64_t tcptuned_housekeeping_streams(struct tcptuned_daemon *d);
