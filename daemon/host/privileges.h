/* SPDX-License-Identifier: GPL-2.0-only */
/* The capabilities that this process keeps. */
#ifndef TCPTUNED_HOST_PRIVILEGES_H
#define TCPTUNED_HOST_PRIVILEGES_H

#include "util/error.h"

/*
 * Keep those of the unit file (tcptuned.service), if any, and let no program that is run gain
 * others.
 */
int tcptuned_privileges_drop(struct tcptuned_error *err);

/*
 * Drop all of them for good, and the system calls that a process does not need which only answers:
 * it starts no other process and connects to nothing.
 */
int tcptuned_privileges_drop_all(struct tcptuned_error *err);

#endif
