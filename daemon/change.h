/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of the control socket that change something: about policies and remembered paths. */
#ifndef TCPTUNED_DAEMON_CHANGE_H
#define TCPTUNED_DAEMON_CHANGE_H

#include "apply/state.h"
#include "rpc/request.h"

/* Execute @request, and print the result as JSON; @daemon is a struct tcptuned_daemon. */
int tcptuned_change(void *daemon, const struct tcptuned_request *request, FILE *out,
		    struct tcptuned_error *err);

#endif
