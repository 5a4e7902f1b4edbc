/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is changed at run time, through the control socket: policies are disabled and enabled, and
 * applied to connections that are open; paths are forgotten.
 */
#ifndef TCPTUNED_CORE_COMMANDS_H
#define TCPTUNED_CORE_COMMANDS_H

#include "core/state.h"
#include "rpc/request.h"
#include "util/strbuf.h"

/*
 * Do what @request asks for, and write into @out, as JSON, what came of it; @daemon is a struct
 * tcptuned_daemon (see tcptuned_control_options). Returns 0, or a negative errno with @err filled.
 */
int tcptuned_change(void *daemon, const struct tcptuned_request *request, struct tcptuned_buf *out,
		    struct tcptuned_error *err);

#endif
