/* SPDX-License-Identifier: GPL-2.0-only */
/* Which congestion control connections get: that of each policy, and the host's default. */
#pragma once

#include "apply/state.h"

/*
 * Write the configured congestion control into each policy's record; none if it is not available,
 * which is logged, or if the BPF programs choose it by the path (auto). An administrator who has
 * set a default congestion control has chosen for every policy that has no setting of its own.
 */
void tcptuned_cc_choose(struct tcptuned_daemon *d);

/* Make that of the default policy the host's default if every connection's policy sets one. */
void tcptuned_cc_choose_default(struct tcptuned_daemon *d);
