/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is asked through the control socket: one line, one JSON object, as in
 *
 *	{"command":"flows","port":5201,"sort":"rtt","limit":10}
 *
 * One table in request.c says which command takes what.
 */
#ifndef TCPTUNED_RPC_REQUEST_H
#define TCPTUNED_RPC_REQUEST_H

#include <stddef.h>
#include <stdio.h>
#include <sys/un.h>

#include "config/config.h"
#include "flows/columns.h"
#include "flows/filter.h"
#include "util/error.h"

/* The longest line, without its newline. */
#define TCPTUNED_REQUEST_MAX 4096

/* The most that an answer may be, bytes; 10,000 connections have to fit. */
#define TCPTUNED_ANSWER_MAX (64u << 20)

#define TCPTUNED_FLOWS_LIMIT	 100 /* flows in an answer when the request does not say */
#define TCPTUNED_FLOWS_LIMIT_MAX 10000
/* With the rule of each: to find one, thousands may have to be read, and nobody else is served. */
#define TCPTUNED_RULES_LIMIT_MAX 16

enum tcptuned_command {
	TCPTUNED_CMD_STATUS,
	TCPTUNED_CMD_FLOWS,
	TCPTUNED_CMD_POLICIES,
	TCPTUNED_CMD_POLICY_TEST,
	TCPTUNED_CMD_POLICY_ENABLE,
	TCPTUNED_CMD_POLICY_DISABLE,
	TCPTUNED_CMD_POLICY_APPLY,
	TCPTUNED_CMD_PATHS,
	TCPTUNED_CMD_EVENTS,
	TCPTUNED_CMD_PATHS_FORGET,
	TCPTUNED_CMD_STOP,
};

struct tcptuned_request {
	enum tcptuned_command command;
	/*
	 * Of POLICY_TEST: the connection's addresses and ports; of POLICY_ENABLE and _DISABLE: the
	 * policy's name; of PATHS: address and netns; of EVENTS: addresses, ports and netns.
	 */
	struct tcptuned_filter filter;
	char cgroup[TCPTUNED_CONFIG_TEXT]; /* of POLICY_TEST; "": none that a policy names */
	bool rules; /* of FLOWS: say which rule gave each connection its policy; of a few only */
	const struct tcptuned_column *sort; /* NULL: the largest first */
	char path_sort[16]; /* of PATHS: one of tcptuned_path_orders; "": the first */
	char prefix[64];    /* of PATHS_FORGET, or "all" */
	bool reverse;
	__u32 limit;
};

/* The address of the control socket in @directory. Returns 0, or -ENAMETOOLONG. */
int tcptuned_control_address(const char *directory, struct sockaddr_un *ret);

/*
 * Parse @len bytes at @line, which need not end in NUL. Returns 0, or -EINVAL with @err filled:
 * a sentence that names the field, and TCPTUNED_EXIT_USAGE; then @ret is as it was.
 */
int tcptuned_request_parse(const char *line, size_t len, struct tcptuned_request *ret,
			   struct tcptuned_error *err);

/* The commands and what they take, as a section of tcptunectl(8), in man(7) markup. */
void tcptuned_request_print_man(FILE *out);

#endif
