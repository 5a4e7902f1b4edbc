/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel side leaves open of observed connections, which would be a burden there: what
 * the path memory would have given them to begin with, and what the memory budget would grant
 * them. It is worked out when records are read, and so as of now.
 */
#ifndef TCPTUNED_DRYRUN_H
#define TCPTUNED_DRYRUN_H

#include <stdbool.h>
#include <tcptuned/budget.h>
#include <tcptuned/path.h>

#include "flows.h"
#include "loader.h"

/*
 * Under which key the path to the peer of @record is remembered (path_key_from() of the kernel
 * side). False: its peer is this host, which is not remembered.
 */
bool tcptuned_dryrun_path_key(const struct tcptuned_flow_record *record,
			      const struct tcptuned_path_settings *settings,
			      struct tcptuned_path_key *ret);

/*
 * Put into an observed @record what a connection that is not would have of @path at @now_s,
 * seconds of CLOCK_BOOTTIME: rcv_seed, max_window_seed, TCPTUNED_F_SLOW_SEED.
 */
void tcptuned_dryrun_put_path(struct tcptuned_flow_record *record,
			      const struct tcptuned_path *path, __s64 now_s, __u32 expire_s);

/*
 * Put into an observed @record what of @budget each of its windows would want and get, if it
 * alone were sized from now on: rcv_share, snd_share. Memory is estimated, by what the kernel
 * lets a window take of the buffer that there is.
 */
void tcptuned_dryrun_put_budget(struct tcptuned_flow_record *record, const struct budget *budget);

/* All of that for flows->top, by what @kernel has; where it has nothing, nothing. */
void tcptuned_dryrun_complete(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel);

#endif
