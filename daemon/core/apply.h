/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes what is configured hold: the configuration in, what the kernel side reads out. */
#ifndef TCPTUNED_CORE_APPLY_H
#define TCPTUNED_CORE_APPLY_H

#include "core/state.h"

/*
 * Write what is configured for connections to come; live ones keep what they have. The first time
 * connections that are open are adopted. Somebody has asked for it: what fails is told, whatever
 * was told before. Returns 0, or a negative errno with @err filled: what held before goes on, and
 * the timer tries again.
 */
int tcptuned_apply(struct tcptuned_daemon *d, struct tcptuned_error *err);

/*
 * The same where nobody has asked, or where it has failed, and what was in force before is to be so
 * again. Why it fails is logged, once.
 */
void tcptuned_apply_again(struct tcptuned_daemon *d);

#endif
