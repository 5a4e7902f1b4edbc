/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes everything back that tcptuned has on the host: by a daemon that stops, or for one that was
 * killed.
 */
#ifndef TCPTUNED_CORE_DETACH_H
#define TCPTUNED_CORE_DETACH_H

#include "config/config.h"
#include "kern/kernel.h"
#include "util/error.h"

/*
 * Detach, restore sysctls, give connections back to the kernel, and leave no pin. Logs what it does
 * and what it cannot do.
 */
void tcptuned_take_back(struct tcptuned_kernel *kernel);

/* --detach: take back what a daemon left that was killed. */
int tcptuned_daemon_detach(const struct tcptuned_config *config, struct tcptuned_error *err);

#endif
