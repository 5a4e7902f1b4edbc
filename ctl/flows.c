// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl flows: the connections, as a table. */
#include <string.h>

#include "client.h"
#include "commands.h"
#include "explain.h"
#include "format.h"
#include "util/cleanup.h"

#define COLUMNS_MAX 32

enum { COLUMNS };

static const struct ctl_option options[] = {
	[COLUMNS] = {OPTION("columns", 'o', "COLUMN,...", "Show these columns.")},
	{OPTION(CTL_JSON, "Print all that is known about each as one JSON object.")},
	{OPTION("address", 'a', "ADDRESS[/BITS]",
		"Only connections with this address, or one of this prefix, at either end."),
	 .field = "address"},
	{OPTION("port", 'p', "PORT", "Only those with this port at either end."), .field = "port",
	 .number = true},
	{OPTION("local-address", 0, "ADDRESS[/BITS]",
		"Only those with this address at the local end."),
	 .field = "local_address"},
	{OPTION("local-port", 0, "PORT", "Only those with this port at the local end."),
	 .field = "local_port", .number = true},
	{OPTION("remote-address", 0, "ADDRESS[/BITS]", "Only those with this address of the peer."),
	 .field = "remote_address"},
	{OPTION("remote-port", 0, "PORT", "Only those with this port of the peer."),
	 .field = "remote_port", .number = true},
	{OPTION("netns", 0, "INODE", "Only those of the network namespace with this inode number."),
	 .field = "netns", .number = true},
	{OPTION("policy", 0, "NAME", "Only those of this policy."), .field = "policy"},
	{OPTION("cc", 0, "NAME", "Only those with this congestion control."),
	 .field = "congestion_control"},
	{OPTION("cgroup", 'g', "PATH", "Only those of this control group, and of those below it."),
	 .field = "cgroup"},
	{OPTION("sort", 'S', "COLUMN",
		"Order them by a column: numbers from the largest down, text from A to Z. By default "
		"those that have carried most come first."),
	 .field = "sort"},
	{OPTION("reverse", 'r', NULL, "In reverse order."), .field = "reverse"},
	{OPTION("limit", 'n', "NUMBER", "Show at most so many, 1 to 10000; by default 100."),
	 .field = "limit", .number = true},
	{OPTION(0)},
};

struct view {
	const struct tcptuned_column *columns[COLUMNS_MAX];
	size_t columns_len;
};

static int add_column(struct view *view, const char *name, struct tcptuned_error *err)
{
	const struct tcptuned_column *column;
	int error = tcptuned_column_parse("--columns", name, &column, err);

	if (error)
		return error;
	if (view->columns_len == COLUMNS_MAX)
		return USAGE(err, "--columns: more than %d of them; name fewer", COLUMNS_MAX);
	view->columns[view->columns_len++] = column;
	return 0;
}

static int choose_columns(struct view *view, const char *names, struct tcptuned_error *err)
{
	_cleanup_free_ char *copy = strdup(names ? names : "");
	char *rest = copy, *name;
	int error = 0;

	for (size_t i = 0; !names && i < tcptuned_columns_count; i++)
		if (tcptuned_columns[i].shown)
			view->columns[view->columns_len++] = &tcptuned_columns[i];
	while (!error && (name = strsep(&rest, ",")))
		if (*name)
			error = add_column(view, name, err);
	if (!error && !view->columns_len)
		return USAGE(err, "--columns: none is named; write --columns=local,remote,rtt");
	return error;
}

static int run(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	json_auto_t *answer = NULL;
	struct view view = {0};
	int error;

	error = choose_columns(&view, ctl->given[COLUMNS], err)
			?: ctl_query(ctl->socket, request, &answer, err);
	if (error)
		return error;
	if (ctl->json) {
		ctl_print_json(answer);
		return 0;
	}
	ctl_print_table(stdout, json_object_get(answer, "flows"), view.columns, view.columns_len);
	ctl_print_rest(stdout, answer, "matched", "flows");
	return 0;
}

const struct ctl_command ctl_flows = {
	.name = "flows",
	.arguments = "[LOCAL [-] REMOTE | LOCAL-REMOTE | END]",
	.help = "List the connections that tcptuned manages, in every network namespace. LOCAL, REMOTE and "
		"END select some, as for explain.",
	.options = options,
	.arguments_max = 3,
	.request = "flows",
	.add_arguments = ctl_add_flow,
	.run = run,
};
