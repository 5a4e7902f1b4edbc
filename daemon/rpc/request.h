/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests on the control socket: a line with one JSON object, such as
 *
 *	{"command":"flows","port":5201,"sort":"rtt","limit":10}
 *
 * One table in request.c says which command takes which fields.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/un.h>

#include "config/config.h"
#include "flows/columns.h"
#include "flows/scan.h"
#include "kern/kernel.h"
#include "util/error.h"

#define TCPTUNED_REQUEST_MAX 4096 /* bytes of a line, without its newline */

#define TCPTUNED_ANSWER_TIMEOUT_S 30 /* until an answer is read; what tcptunectl waits for one */

#define TCPTUNED_FLOWS_LIMIT	 100 /* connections in an answer by default */
#define TCPTUNED_FLOWS_LIMIT_MAX 10000
/* To find one rule, thousands may be read, and meanwhile no other client is served. */
#define TCPTUNED_RULES_LIMIT_MAX 16

#define TCPTUNED_COMMANDS(X)                \
	X(STATUS, "status")                 \
	X(FLOWS, "flows")                   \
	X(POLICIES, "policies")             \
	X(POLICY_TEST, "policy_test")       \
	X(POLICY_ENABLE, "policy_enable")   \
	X(POLICY_DISABLE, "policy_disable") \
	X(POLICY_APPLY, "policy_apply")     \
	X(PATHS, "paths")                   \
	X(ADVISE, "advise")                 \
	X(TRIAL, "trial")                   \
	X(EVENTS, "events")                 \
	X(PATHS_FORGET, "paths_forget")     \
	X(STOP, "stop")

enum tcptuned_command {
#define TCPTUNED_COMMAND_ENUM(command, name) TCPTUNED_CMD_##command,
	TCPTUNED_COMMANDS(TCPTUNED_COMMAND_ENUM)
#undef TCPTUNED_COMMAND_ENUM
};

struct tcptuned_request {
	enum tcptuned_command command;
	struct tcptuned_filter filter; /* its fields that the command takes */
	__u64 netns_cookie; /* ADVISE: of the client's network namespace, which it does not say */
	/* POLICY_TEST; "": one that no policy names. FLOWS; "": any. */
	char cgroup[TCPTUNED_CONFIG_TEXT];
	bool rules; /* FLOWS: add to each connection the rule that gave it its policy */
	const struct tcptuned_column *sort; /* FLOWS; NULL: by size */
	char path_sort[16];		    /* PATHS: an order; "": the default */
	char prefix[64];		    /* PATHS_FORGET; or "all" */
	bool reverse;
	__u32 limit;
};

/* What the answers are made from. */
struct tcptuned_source {
	const struct tcptuned_kernel *kernel;
	const struct tcptuned_config *config; /* in force */
	const struct tcptuned_config_trouble *trouble;
	pid_t daemon;	/* the daemon's process */
	__u64 start_us; /* when it started, since 1970 */
};

/*
 * Print the answer to @request: one line, a JSON object and a newline. Nothing, if it fails.
 * Requests that change nothing have a function of this type each, in a file named after them.
 */
typedef int tcptuned_handler(const struct tcptuned_source *source,
			     const struct tcptuned_request *request, FILE *out,
			     struct tcptuned_error *err);
extern tcptuned_handler tcptuned_status_handle, tcptuned_flows_handle, tcptuned_policies_handle,
	tcptuned_policies_handle_test, tcptuned_paths_handle, tcptuned_advise_handle,
	tcptuned_trial_handle;

/* Parse @len bytes at @line, which need not end in NUL. After a failure @ret is unchanged. */
int tcptuned_request_parse(const char *line, size_t len, struct tcptuned_request *ret,
			   struct tcptuned_error *err);

/* Print the commands and their fields as a section of tcptunectl(8), in man(7) markup. */
void tcptuned_request_print_man(FILE *out);
