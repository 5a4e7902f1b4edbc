/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration, read again while the daemon runs. */
#ifndef TCPTUNED_CORE_RELOAD_H
#define TCPTUNED_CORE_RELOAD_H

#include "core/state.h"

/*
 * Read it, and have it take the place of the one in force; where anything is wrong with it, or it
 * cannot be made to hold, the one before stays. What differs, or what is wrong, is logged; systemd
 * and the metrics are told.
 */
void tcptuned_reload(struct tcptuned_daemon *d);

#endif
