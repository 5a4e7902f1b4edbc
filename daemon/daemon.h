/* SPDX-License-Identifier: GPL-2.0-only */
/* The running daemon: start, event loop, stop. Another process serves: daemon/worker.h. */
#pragma once

#include "config/config.h"
#include "config/options.h"
#include "util/error.h"

/*
 * Start with @config, call @ready when everything is in place, run until a stop is requested, and
 * then detach. After a fatal error the attached programs keep running, as after SIGKILL.
 */
int tcptuned_daemon_run(const struct tcptuned_options *options, struct tcptuned_config *config,
			void (*ready)(void *ctx), void *ctx, struct tcptuned_error *err);
