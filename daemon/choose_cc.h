/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which congestion control connections get: each policy's, the host's default, and which ones of
 * the family are registered for that. What the kernel offers is in congestion.h.
 */
#ifndef TCPTUNED_CHOOSE_CC_H
#define TCPTUNED_CHOOSE_CC_H

#include <stdbool.h>

#include "state.h"

/*
 * Register those of the family that are configured or that policies name, before a policy may name
 * them; @anew: also those that an earlier build registered. Logs what it does.
 */
void tcptuned_family_register_wanted(struct tcptuned_daemon *d, bool anew);

/* The others end, once no policy names them any more. */
void tcptuned_family_unregister_unwanted(struct tcptuned_daemon *d);

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
