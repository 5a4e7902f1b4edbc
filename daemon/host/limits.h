/* SPDX-License-Identifier: GPL-2.0-only */
/* Sysctls of the host that limit every connection, and that tcptuned leaves as they are. */
#ifndef TCPTUNED_HOST_LIMITS_H
#define TCPTUNED_HOST_LIMITS_H

#include <stddef.h>

struct tcptuned_host_limit {
	const char *name;   /* as in sysctl(8); its value is 0 */
	const char *effect; /* the rest of a sentence: "no window exceeds 64 KB" */
};

#define TCPTUNED_HOST_LIMITS_MAX 8

/* Copy those that limit connections of this network namespace to @ret. Returns how many. */
size_t tcptuned_host_limits(struct tcptuned_host_limit ret[static TCPTUNED_HOST_LIMITS_MAX]);

#endif
