/* SPDX-License-Identifier: GPL-2.0-only */
/* How far down the host's limits of one socket's buffers may go while connections are open. */
#ifndef TCPTUNED_BUFLIMIT_H
#define TCPTUNED_BUFLIMIT_H

#include <stdint.h>

#include <tcptuned/meta.h>

#include "loader.h"

/*
 * Lower @which, net.core.rmem_max or wmem_max, where tcptuned raised it further than to @window
 * bytes: to that, or to what it was before, whichever is more. Not below what an open connection
 * has: a buffer that bpf_setsockopt() changes is cut to the limit (sk_setsockopt(), SO_RCVBUF),
 * whatever the connection was promised. What was done, or why not, is logged.
 */
void tcptuned_limit_lower(const struct tcptuned_kernel *kernel, enum tcptuned_sysctl which,
			  uint32_t window);

#endif
