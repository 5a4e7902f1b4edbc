/* SPDX-License-Identifier: GPL-2.0-only */
/* What others change on the host while tcptuned runs, looked for each time that the timer runs. */
#ifndef TCPTUNED_CORE_HOUSEKEEPING_H
#define TCPTUNED_CORE_HOUSEKEEPING_H

#include <stdbool.h>

#include "core/state.h"

/* Follow what has changed since: sysctls, and the control groups that policies name. */
void tcptuned_watch_host(struct tcptuned_daemon *d);

/*
 * A control group that tcptuned.cgroup names goes with its unit, a slice say, and with it what is
 * attached: no new connection is claimed. While there is none that is logged, once, and part of
 * what tcptunectl and the metrics say. Returns 0; or, when there is another one in its place, to
 * which only a start attaches, -ESTALE with @err filled.
 */
int tcptuned_watch_cgroup(struct tcptuned_daemon *d, struct tcptuned_error *err);

/*
 * Have connections at rest give back memory where the budget is short, and have callbacks asked for
 * again that another sockops program took.
 */
void tcptuned_watch_flows(struct tcptuned_daemon *d);

#endif
