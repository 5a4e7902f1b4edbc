/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the path memory would have given observed connections to begin with. The kernel side
 * gives them nothing, and keeps no note of it: it is asked for as of now.
 */
#ifndef TCPTUNED_PATHSEED_H
#define TCPTUNED_PATHSEED_H

#include <stdbool.h>
#include <tcptuned/path.h>

#include "flows.h"
#include "loader.h"

/*
 * Under which key the path to the peer of @record is remembered (path_key_from() of the kernel
 * side). False: its peer is this host, which is not remembered.
 */
bool tcptuned_pathseed_key(const struct tcptuned_flow_record *record,
			   const struct tcptuned_path_settings *settings,
			   struct tcptuned_path_key *ret);

/*
 * Put into an observed @record what a connection that is not would have of @path at @now_s,
 * seconds of CLOCK_BOOTTIME: rcv_seed, max_window_seed, TCPTUNED_F_SLOW_SEED.
 */
void tcptuned_pathseed_put(struct tcptuned_flow_record *record, const struct tcptuned_path *path,
			   __s64 now_s, __u32 expire_s);

/* The same for all of flows->top, of what @kernel remembers; where that is nothing, nothing. */
void tcptuned_pathseed_flows(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel);

#endif
