/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies laid into the kernel's maps, with one step that makes them hold. */
#ifndef TCPTUNED_POLICY_INSTALL_H
#define TCPTUNED_POLICY_INSTALL_H

#include <stddef.h>

#include "kern/kernel.h"
#include "policy/compile.h"

/*
 * Compile @policies and have them hold for connections made from now on. Until the last step
 * nothing changes; that one cannot be seen half done. Returns 0 or a negative errno with @err
 * filled, and then what held before goes on; in @kernel the new generation and its length.
 */
int tcptuned_policies_install(struct tcptuned_kernel *kernel,
			      const struct tcptuned_policy_source *policies, size_t len,
			      struct tcptuned_error *err);

#endif
