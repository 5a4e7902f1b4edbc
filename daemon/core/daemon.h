/* SPDX-License-Identifier: GPL-2.0-only */
/* The running daemon: start, wait, reload, stop. */
#ifndef TCPTUNED_CORE_DAEMON_H
#define TCPTUNED_CORE_DAEMON_H

#include "config/config.h"
#include "config/options.h"
#include "util/error.h"

/*
 * Start with @config, call @ready once everything is in place, and run until a signal asks to
 * stop; then take everything back. Logs what it does. Returns 0, or a negative errno with
 * @err filled when it could not start, or not go on: then everything is as if it had been killed.
 */
int tcptuned_daemon_run(const struct tcptuned_options *options, struct tcptuned_config *config,
			void (*ready)(void *ctx), void *ctx, struct tcptuned_error *err);

#endif
