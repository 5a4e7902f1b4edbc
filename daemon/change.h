/* SPDX-License-Identifier: GPL-2.0-only */
/* What clients of the control socket may change. A name is one that they have sent. */
#pragma once

#include "apply/state.h"

/* Enable or disable a policy, for new connections. */
int tcptuned_change_policy(struct tcptuned_daemon *d, const char *name, bool enabled,
			   bool *ret_changed, struct tcptuned_error *err);

/* Apply the policies to open connections. */
int tcptuned_change_open(struct tcptuned_daemon *d, struct tcptuned_adoption *ret,
			 struct tcptuned_error *err);

/* Stop the daemon, soon. */
int tcptuned_change_stop(struct tcptuned_daemon *d, struct tcptuned_error *err);
