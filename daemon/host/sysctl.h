/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few sysctls that tcptuned sets. Their previous values are in the pinned meta map, from which
 * any later tcptuned can restore them. One that an administrator changes meanwhile is left alone
 * from then on. All changes are logged.
 *
 * Each network namespace has its own values, and the meta map has those of the daemon's. The
 * maximum of net.ipv4.tcp_rmem is set, and restored, in every namespace that has the same three
 * numbers as the daemon's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tcptuned/abi/meta.h>

#include "util/sysctl.h"

/* The name as in sysctl(8): "net.ipv4.tcp_rmem". */
const char *tcptuned_sysctl_name(enum tcptuned_sysctl which);

/*
 * Set @which in this network namespace, unless an administrator's value is kept. Returns 0 or
 * -errno.
 */
int tcptuned_sysctl_set(int meta_fd, enum tcptuned_sysctl which, const char *wanted);

/* The same for its last number, bytes; tcp_rmem is set in every network namespace. */
int tcptuned_sysctl_set_maximum(int meta_fd, enum tcptuned_sysctl which, uint64_t bytes);

/* The value of @which (of TCPTUNED_SYSCTL_VALUE bytes) without tcptuned. Returns 0 or -errno. */
int tcptuned_sysctl_before(int meta_fd, enum tcptuned_sysctl which, char *value);

/* The last number of that, bytes; 0: it cannot be read. */
uint64_t tcptuned_sysctl_maximum_before(int meta_fd, enum tcptuned_sysctl which);

/*
 * Find the sysctls that another process has changed after tcptuned set them, and neither set nor
 * restore them from now on; in other network namespaces a maximum is restored. Returns whether
 * there was one.
 */
bool tcptuned_sysctls_overruled(int meta_fd);

/* True if that happened to @which at any time since tcptuned was attached. */
bool tcptuned_sysctl_left_alone(int meta_fd, enum tcptuned_sysctl which);

/* Write @to in every network namespace where the value is @from. */
void tcptuned_sysctl_replace(enum tcptuned_sysctl which, const char *from, const char *to);

/* Restore one sysctl, unless another process has changed it: that is remembered. */
void tcptuned_sysctl_restore(int meta_fd, enum tcptuned_sysctl which);

/* The same of all. What others have changed is forgotten. Returns 0, or a negative errno. */
int tcptuned_sysctls_restore(int meta_fd);

/* A sysctl that limits every connection, and that tcptuned leaves as it is. */
struct tcptuned_sysctl_limit {
	const char *name;   /* as in sysctl(8); its value is 0 */
	const char *effect; /* the rest of a sentence: "no window exceeds 64 KB" */
};

#define TCPTUNED_SYSCTL_LIMITS_MAX 8

/*
 * Copy those that limit connections of this network namespace to @ret, which has room for
 * TCPTUNED_SYSCTL_LIMITS_MAX. Returns how many.
 */
size_t tcptuned_sysctls_limiting(struct tcptuned_sysctl_limit *ret);
