/* SPDX-License-Identifier: GPL-2.0-only */
/* The policies that are disabled at run time, through the control socket. */
#ifndef TCPTUNED_POLICY_DISABLED_H
#define TCPTUNED_POLICY_DISABLED_H

#include <stdbool.h>
#include <stddef.h>

#include "kern/kernel.h"
#include "policy/compile.h"

/* Their names; begins as { 0 }, and the caller frees @names. */
struct tcptuned_disabled {
	char (*names)[TCPTUNED_POLICY_NAME_MAX];
	size_t len;
};

/* Is the policy @name ("default" is one, too) disabled? */
bool tcptuned_policy_is_disabled(const struct tcptuned_disabled *d, const char *name);

/* Returns 0 or -ENOMEM. */
int tcptuned_policy_set_disabled(struct tcptuned_disabled *d, const char *name, bool disabled);

/* A daemon that was killed left word of them in its records; a clean stop leaves nothing. */
void tcptuned_disabled_remember(struct tcptuned_disabled *d,
				const struct tcptuned_kernel *kernel);

/* What a reload has taken away, so that it is not one of @policies, is not disabled any more. */
void tcptuned_disabled_forget(struct tcptuned_disabled *d,
			      const struct tcptuned_policy_source *policies, size_t len);

#endif
