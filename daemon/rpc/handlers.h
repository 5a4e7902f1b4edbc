/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that change nothing: one function for each, named after it, in a file of its own. */
#ifndef TCPTUNED_RPC_HANDLERS_H
#define TCPTUNED_RPC_HANDLERS_H

#include <stdio.h>
#include <sys/types.h>

#include "config/config.h"
#include "flows/top.h"
#include "kern/kernel.h"
#include "rpc/request.h"

/* What the answers are made from. */
struct tcptuned_source {
	const struct tcptuned_kernel *kernel;
	const struct tcptuned_config *config; /* in force */
	const struct tcptuned_config_trouble *trouble;
	pid_t daemon;	/* the daemon's process */
	__u64 start_us; /* when it started, since 1970 */
};

/* Print the answer to @request: one line, a JSON object and a newline. Nothing, if it fails. */
typedef int tcptuned_handler(const struct tcptuned_source *source,
			     const struct tcptuned_request *request, FILE *out,
			     struct tcptuned_error *err);

tcptuned_handler tcptuned_handle_status, tcptuned_handle_flows, tcptuned_handle_policies,
	tcptuned_handle_policy_test, tcptuned_handle_paths;

/* ---- flows.c ------------------------------------------------------------------------------ */

/* Read all connections, and keep those that @request (NULL: none) asks for. The caller frees @ret. */
int tcptuned_source_flows(const struct tcptuned_source *source,
			  const struct tcptuned_request *request, struct tcptuned_flows *ret,
			  struct tcptuned_error *err);

/* ---- policies.c --------------------------------------------------------------------------- */

/* The congestion control of new connections under @policy, or "auto"; "": it sets none. */
const char *tcptuned_policy_congestion_control(const struct tcptuned_policy *policy);

/* Describe the rule that gave @record the policy @name. The caller frees the text; NULL: unknown. */
char *tcptuned_source_rule(const struct tcptuned_source *source,
			   const struct tcptuned_flow_record *record, const char *name);

#endif
