/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few sysctls that tcptuned sets. What they were is kept in the pinned meta map, so that
 * whoever stops tcptuned can put them back; one that an administrator changes meanwhile is
 * left alone from then on.
 *
 * Each network namespace has its own values, and the meta map has those of the daemon's. The maxima
 * of net.ipv4.tcp_rmem and net.ipv4.tcp_wmem are set, and put back, in every namespace that has the
 * same three numbers as the daemon's.
 */
#ifndef TCPTUNED_HOST_SYSCTL_H
#define TCPTUNED_HOST_SYSCTL_H

#include <stdbool.h>
#include <stdint.h>

#include <tcptuned/abi/meta.h>

/* The name as sysctl(8) has it: "net.ipv4.tcp_rmem". */
const char *tcptuned_sysctl_name(enum tcptuned_sysctl which);

/*
 * Read any sysctl, one space between its numbers; returns 0, -EOVERFLOW when @value, of @size, is
 * too small, or another negative errno.
 */
int tcptuned_sysctl_read(const char *name, char *value, int size);

/* Field @index (from 0) of a sysctl of numbers, such as net.ipv4.tcp_mem; 0 if unreadable. */
uint64_t tcptuned_sysctl_number(const char *name, int index);

/*
 * Set @which to @wanted, in this network namespace. Returns 1 when it was changed (and remembered in
 * the meta map), 0 when nothing had to be done or the administrator has the last word, or a
 * negative errno. @value, of TCPTUNED_SYSCTL_VALUE, is the value that it has afterwards.
 */
int tcptuned_sysctl_set(int meta_fd, enum tcptuned_sysctl which, const char *wanted, char *value);

/* The same for the last number of tcp_rmem or tcp_wmem, in bytes, in every network namespace. */
int tcptuned_sysctl_set_maximum(int meta_fd, enum tcptuned_sysctl which, uint64_t bytes,
				char *value);

/*
 * What @which is without tcptuned: before tcptuned set it, or now. Returns 0 or a negative errno;
 * @value is as above.
 */
int tcptuned_sysctl_before(int meta_fd, enum tcptuned_sysctl which, char *value);

/* The last number of that, bytes; 0: it cannot be read. */
uint64_t tcptuned_sysctl_maximum_before(int meta_fd, enum tcptuned_sysctl which);

/*
 * Has somebody else changed what tcptuned had set? Then leave it alone from now on (it is
 * neither set again nor put back), fill @ours and @now, and return true; once only. In other network
 * namespaces a maximum is put back.
 */
bool tcptuned_sysctl_overruled(int meta_fd, enum tcptuned_sysctl which, char *ours, char *now);

/* Was that so, at any time since tcptuned was attached? */
bool tcptuned_sysctl_left_alone(int meta_fd, enum tcptuned_sysctl which);

/* In the network namespace that the process is in: write @to if the value is @from. */
void tcptuned_sysctl_replace(enum tcptuned_sysctl which, const char *from, const char *to);

/*
 * Put back what is remembered and still as tcptuned set it: one, or all. @restored is called
 * for each: error 0, or the negative errno of a failed attempt. What somebody else has changed is
 * left alone; of one alone that is remembered, of all nothing is.
 */
void tcptuned_sysctl_restore(int meta_fd, enum tcptuned_sysctl which,
			     void (*restored)(const char *name, const char *value, int error));
void tcptuned_sysctls_restore(int meta_fd,
			      void (*restored)(const char *name, const char *value, int error));

/* Log that the sysctl @name was put back to @value, or, with a negative errno, that it was not. */
void tcptuned_log_restored(const char *name, const char *value, int error);

/*
 * An administrator who changes what tcptuned set has the last word. Has one? True once, for what
 * was changed is left alone from then on, which is logged.
 */
bool tcptuned_sysctls_overruled(int meta_fd);

#endif
