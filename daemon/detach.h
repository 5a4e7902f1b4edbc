/* SPDX-License-Identifier: GPL-2.0-only */
/* Removes all that tcptuned has on the host, when a daemon stops or after one was killed. */
#pragma once

#include "config/config.h"
#include "kern/kernel.h"
#include "util/error.h"

/*
 * Release connections to the kernel, restore sysctls, detach, and leave no pin. Logs what it does.
 * Returns 0, or a negative errno if something is still pinned.
 */
int tcptuned_detach(struct tcptuned_kernel *kernel, struct tcptuned_error *err);

/* --detach: do so for a daemon that was killed. */
int tcptuned_daemon_detach(const struct tcptuned_config *config, struct tcptuned_error *err);
