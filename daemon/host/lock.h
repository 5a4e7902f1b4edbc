/* SPDX-License-Identifier: GPL-2.0-only */
/* One daemon at a time. The kernel frees the locks however their holder ends. */
#ifndef TCPTUNED_HOST_LOCK_H
#define TCPTUNED_HOST_LOCK_H

#include "util/error.h"

/*
 * One daemon per runtime directory, which is made. It must be root's alone to write. Returns the
 * descriptor that holds the lock, or a negative errno with @err filled.
 */
int tcptuned_lock_take(const char *directory, struct tcptuned_error *err);

/*
 * One daemon per BPF file system, if its runtime directory is another one. The lock is on the root of
 * the file system, because the directory of the pins comes and goes. Where others than root can open
 * that root, they could hold the lock themselves: then none is taken, and two daemons with different
 * runtime directories are not kept apart. A missing file system is tcptuned_kernel_attach()'s to
 * report: then @ret_fd is -1. Returns 0, or a negative errno with @err filled.
 */
int tcptuned_lock_pins(const char *bpffs, int *ret_fd, struct tcptuned_error *err);

#endif
