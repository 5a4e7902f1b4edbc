/* SPDX-License-Identifier: GPL-2.0-only */
/* One daemon at a time. The kernel frees the locks however their holder ends. */
#ifndef TCPTUNED_LOCK_H
#define TCPTUNED_LOCK_H

#include "exit.h"

/*
 * One daemon per runtime directory, which is made. Returns the descriptor that holds the lock, or a
 * negative errno with @err filled.
 */
int tcptuned_lock_take(const char *directory, struct tcptuned_error *err);

/*
 * One daemon per set of pins, whatever its runtime directory. On the file system's root: the
 * directory of the pins comes and goes. A missing one is tcptuned_kernel_attach()'s to tell: then
 * @ret_fd is -1. Returns 0, or a negative errno with @err filled.
 */
int tcptuned_lock_pins(const char *bpffs, int *ret_fd, struct tcptuned_error *err);

#endif
