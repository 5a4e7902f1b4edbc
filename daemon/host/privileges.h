/* SPDX-License-Identifier: GPL-2.0-only */
/* The capabilities that this process keeps. */
#pragma once

#include <stdbool.h>

#include "util/error.h"

/*
 * Keep those of the unit file (tcptuned.service), if any, and let no program that is run gain
 * others.
 */
int tcptuned_privileges_drop(struct tcptuned_error *err);

/*
 * Drop all of them for good, and the system calls that a process does not need which only answers:
 * it starts no other process and connects to nothing. Of files it reads those in /proc, /sys and
 * @cgroups, and changes those in @state, which has to exist by now (Landlock).
 */
int tcptuned_privileges_drop_all(const char *cgroups, const char *state,
				 struct tcptuned_error *err);

/* False if the kernel cannot: it has no Landlock (Linux 5.13, in its list of security modules). */
bool tcptuned_privileges_confine_files(void);
