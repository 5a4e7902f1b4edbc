/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPTUNED_PIN_H
#define TCPTUNED_PIN_H

/*
 * Pins @fd at @path of a BPF file system, in place of what may be there. In one step, by way of
 * @new beside it: whoever is killed here leaves the old one or the new, and so does a failure.
 * Returns 0 or -errno.
 */
int tcptuned_pin_replace(int fd, const char *path, const char *new);

#endif
