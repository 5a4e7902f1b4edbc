/* SPDX-License-Identifier: GPL-2.0-only */
/* One daemon at a time. The kernel frees the locks however their holder ends. */
#pragma once

#include "util/error.h"

/*
 * Take the lock of the runtime directory, which is created, and which only root may be able to
 * write. The caller closes @ret_fd, the descriptor that holds the lock, also after a failure.
 */
int tcptuned_lock_take(const char *directory, int *ret_fd, struct tcptuned_error *err);

/* Fails with -EPERM unless root alone may write to @path, a directory, which @key names. */
int tcptuned_host_check_directory(const char *key, const char *path, struct tcptuned_error *err);

/*
 * Take the lock of the BPF file system, which daemons with other runtime directories share. It is
 * on the root of the file system, because the directory of the pins comes and goes. None is taken
 * if others than root can open that root, and could hold the lock themselves. @ret_fd is -1 if
 * there is no file system, which tcptuned_kernel_attach() reports.
 */
int tcptuned_lock_pins(const char *bpffs, int *ret_fd, struct tcptuned_error *err);
