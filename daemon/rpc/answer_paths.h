/* SPDX-License-Identifier: GPL-2.0-only */
/* The answer to PATHS: what is remembered of destination prefixes. */
#ifndef TCPTUNED_RPC_ANSWER_PATHS_H
#define TCPTUNED_RPC_ANSWER_PATHS_H

#include "kern/kernel.h"
#include "rpc/request.h"
#include "util/strbuf.h"

/* Where --sort of paths may point, ended by NULL; the first is the default. */
extern const char *const tcptuned_path_orders[];

/*
 * As tcptuned_answer(). Paths come in the order asked for, numbers from the largest down,
 * prefixes up; those that overlap request->filter.address, and request->limit of them.
 */
int tcptuned_answer_paths(const struct tcptuned_kernel *kernel,
			  const struct tcptuned_request *request, struct tcptuned_buf *out,
			  struct tcptuned_error *err);

#endif
