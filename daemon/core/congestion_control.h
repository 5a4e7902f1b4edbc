/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which congestion control connections get: each policy's, and the host's default. What the
 * kernel offers is in host/cc.h.
 */
#ifndef TCPTUNED_CORE_CONGESTION_CONTROL_H
#define TCPTUNED_CORE_CONGESTION_CONTROL_H

#include "core/state.h"

/*
 * Put into each policy's record the congestion control that is configured, or none when it is not
 * there, which is logged, or that the BPF programs choose it by the path (auto). What auto comes to on
 * this host, and that a choice of the administrator's is replaced, are logged, too. An administrator who chose a default congestion control has chosen for
 * every policy that chooses none of its own.
 */
void tcptuned_congestion_choose(struct tcptuned_daemon *d);

/*
 * Make that of the default policy the host's default, where every connection has a policy that sets
 * one; elsewhere put back what it was before.
 */
void tcptuned_default_congestion_choose(struct tcptuned_daemon *d);

#endif
