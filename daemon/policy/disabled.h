/* SPDX-License-Identifier: GPL-2.0-only */
/* The policies that are disabled at run time, through the control socket. */
#ifndef TCPTUNED_POLICY_DISABLED_H
#define TCPTUNED_POLICY_DISABLED_H

#include <stdbool.h>
#include <stddef.h>

#include "kern/kernel.h"
#include "policy/compile.h"

/* Their names. Initialise with { 0 }; the caller frees @names. */
struct tcptuned_disabled {
	char (*names)[TCPTUNED_POLICY_NAME_MAX];
	size_t len;
};

/* True if the policy @name, which may be "default", is disabled. */
bool tcptuned_policy_is_disabled(const struct tcptuned_disabled *d, const char *name);

/* Returns 0 or -ENOMEM. */
int tcptuned_policy_set_disabled(struct tcptuned_disabled *d, const char *name, bool disabled);

/* Add the policies that a killed daemon had disabled, according to its records. */
void tcptuned_disabled_remember(struct tcptuned_disabled *d, const struct tcptuned_kernel *kernel);

/* Remove the names that a reload has removed, so that they are not among @policies. */
void tcptuned_disabled_forget(struct tcptuned_disabled *d,
			      const struct tcptuned_policy_source *policies, size_t len);

#endif
