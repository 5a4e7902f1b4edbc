/* SPDX-License-Identifier: GPL-2.0-only */
/* Installs policies in the kernel's maps. One step puts them into force. */
#pragma once

#include <stddef.h>

#include "kern/kernel.h"
#include "policy/ruleset.h"

/*
 * Compile @policies and install them for connections made from now on. The last step is atomic, and
 * nothing changes before it: after a failure, the earlier policies stay in force.
 */
int tcptuned_policies_install(struct tcptuned_kernel *kernel,
			      const struct tcptuned_policy_source *policies, size_t len,
			      struct tcptuned_error *err);
