/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is changed at run time, through the control socket: policies are disabled and enabled, and
 * applied to connections that are open; paths are forgotten.
 */
#ifndef TCPTUNED_CHANGE_H
#define TCPTUNED_CHANGE_H

#include <stdbool.h>

#include "rpc/request.h"
#include "state.h"
#include "util/strbuf.h"

/* Is the policy @name ("default" is one, too) disabled? */
bool tcptuned_policy_is_disabled(const struct tcptuned_daemon *d, const char *name);

/* A daemon that was killed left word of them in its records; a clean stop leaves nothing. */
void tcptuned_disabled_remember(struct tcptuned_daemon *d);

/* What a reload has taken away is not disabled any more, should it come back. */
void tcptuned_disabled_forget(struct tcptuned_daemon *d);

/*
 * Do what @request asks for, and write into @out, as JSON, what came of it; @daemon is a struct
 * tcptuned_daemon (see tcptuned_control_options). Returns 0, or a negative errno with @err filled.
 */
int tcptuned_change(void *daemon, const struct tcptuned_request *request, struct tcptuned_buf *out,
		    struct tcptuned_error *err);

#endif
