/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers to requests, from what the kernel holds, for the control socket.
 */
#ifndef TCPTUNED_RPC_ANSWER_H
#define TCPTUNED_RPC_ANSWER_H

#include <sys/types.h>

#include "config/config.h"
#include "kern/kernel.h"
#include "rpc/request.h"
#include "util/strbuf.h"

/* Where answers come from; has to outlive nothing but the call. */
struct tcptuned_source {
	const struct tcptuned_kernel *kernel;
	const struct tcptuned_config *config; /* in force */
	const struct tcptuned_config_trouble *trouble;
	pid_t daemon;	/* its process */
	__u64 start_us; /* when it started, since 1970 */
};

/*
 * Write the answer to STATUS, FLOWS, POLICIES, POLICY_TEST or PATHS to @out: one line, a JSON object
 * and a newline. Returns 0, or a negative errno with @err filled; then @out is of no use.
 */
int tcptuned_answer(const struct tcptuned_source *source, const struct tcptuned_request *request,
		    struct tcptuned_buf *out, struct tcptuned_error *err);

/* The answer that says what is wrong. */
void tcptuned_answer_error(struct tcptuned_buf *out, const struct tcptuned_error *err);

/* The name of a policy, into @ret: that of its record, or TCPTUNED_POLICY_GONE(). */
const char *tcptuned_source_policy(const struct tcptuned_source *source, __u32 key,
				   char ret[TCPTUNED_POLICY_NAME_MAX]);

#endif
