/* SPDX-License-Identifier: GPL-2.0-only */
/* Any sysctl of this network namespace, by its name as in sysctl(8): "net.ipv4.tcp_rmem". */
#pragma once

#include <stdint.h>

/* Returns a file descriptor, or a negative error. @flags: as of open(). */
int tcptuned_sysctl_open(const char *name, int flags);

/* Read one, with one space between numbers. Returns 0; -EOVERFLOW: @value is too small. */
int tcptuned_sysctl_read(const char *name, char *value, int size);

/* Field @index (from 0) of one of numbers, such as net.ipv4.tcp_mem; 0 if unreadable. */
uint64_t tcptuned_sysctl_number(const char *name, int index);
