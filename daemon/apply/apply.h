/* SPDX-License-Identifier: GPL-2.0-only */
/* Puts a configuration into force: writes the maps, and sets sysctls. */
#pragma once

#include "apply/state.h"

/*
 * Apply d->config to new connections, as an administrator has requested; existing ones keep their
 * policy. The first time, open connections are adopted. Warnings that were logged before are logged
 * again. After a failure, what was in force before stays, and the timer tries again.
 */
int tcptuned_apply(struct tcptuned_daemon *d, struct tcptuned_error *err);

/* The same after a command, or a trial, has overruled the mode of @policy. */
int tcptuned_apply_overruled(struct tcptuned_daemon *d, const char *policy, bool disabled,
			     bool harmful, struct tcptuned_error *err);

/*
 * The same without a request: by the timer, or to return to what was in force. Logs failures once.
 */
void tcptuned_apply_again(struct tcptuned_daemon *d);
