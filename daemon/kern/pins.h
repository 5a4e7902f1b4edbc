/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPTUNED_KERN_PINS_H
#define TCPTUNED_KERN_PINS_H

#include "util/error.h"

/*
 * Pin @fd at @path of a BPF file system, in place of an older pin. By way of @new next to it, so that
 * a process that is killed, or fails, leaves either the old pin or the new one. Returns 0 or -errno.
 */
int tcptuned_pin_replace(int fd, const char *path, const char *new);

/*
 * Check that a BPF file system is mounted at @bpffs, and that only root can have put anything into it
 * or into @pin_dir, which need not exist; -EPERM: others may. Pins are opened by name and by root: with
 * a symbolic link of another user among them, a stop would detach whatever program it points to.
 */
int tcptuned_pins_check(const char *bpffs, const char *pin_dir, struct tcptuned_error *err);

#endif
