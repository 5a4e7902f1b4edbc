// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl paths: what is remembered of the paths to destination prefixes. */
#include <string.h>

#include "commands.h"
#include "format.h"
#include "util/array.h"

#define LIST_ONLY .only = "" /* not with forget */

static const struct ctl_option options[] = {
	{OPTION(CTL_JSON, "Print JSON."), LIST_ONLY},
	{OPTION("sort", 'S', "ORDER",
		"By use (the last used first, the default), prefix, connections, receive or send (bytes "
		"per round-trip time), rtt, max-window or loss; numbers from the largest down."),
	 .field = "path_sort", LIST_ONLY},
	{OPTION("reverse", 'r', NULL, "In reverse order."), .field = "reverse", LIST_ONLY},
	{OPTION("limit", 'n', "NUMBER", "List at most so many; 100 by default."), .field = "limit",
	 .number = true, LIST_ONLY},
	{OPTION("netns", 0, "INODE",
		"Only those of the network namespace with this inode number. If paths of several are "
		"listed, a column names the namespace."),
	 .field = "netns", .number = true, LIST_ONLY},
	{OPTION(0)},
};

static const struct tcptuned_column columns[] = {
	{.heading = "NETNS", .json = "netns", .unit = COLUMN_NUMBER},
	{.heading = "PREFIX", .json = "prefix", .unit = COLUMN_TEXT},
	{.heading = "CONNS", .json = "connections", .unit = COLUMN_NUMBER},
	{.heading = "MINRTT", .json = "min_rtt_us", .unit = COLUMN_US},
	{.heading = "RECV/RTT", .json = "receive_per_rtt_bytes", .unit = COLUMN_KNOWN_BYTES},
	{.heading = "SEND/RTT", .json = "send_per_rtt_bytes", .unit = COLUMN_KNOWN_BYTES},
	{.heading = "MAXWIN", .json = "max_window_bytes", .unit = COLUMN_KNOWN_BYTES},
	{.heading = "LOSS", .json = "loss", .unit = COLUMN_SHARE},
	{.heading = "USED", .json = "used", .unit = COLUMN_TEXT},
};

/* Set "used": "3d", "5h", "12m", "40s", or "40s, slow". */
static void set_used(json_t *path)
{
	static const struct {
		unsigned int seconds;
		char letter;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	unsigned long long age_s = ctl_number(path, "age_s");
	bool slow = json_is_true(json_object_get(path, "slow"));
	size_t i = 0;

	while (units[i].seconds > 1 && age_s < units[i].seconds)
		i++;
	json_object_set_new(path, "used",
			    json_sprintf("%llu%c%s", age_s / units[i].seconds, units[i].letter,
					 slow ? ", slow" : ""));
}

static void print_paths(const json_t *answer)
{
	const struct tcptuned_column *shown[ARRAY_SIZE(columns)];
	const json_t *paths = json_object_get(answer, "paths");
	size_t first = ctl_several_namespaces(paths) ? 0 : 1, i;
	json_t *path;

	json_array_foreach(paths, i, path) set_used(path);
	for (i = first; i < ARRAY_SIZE(columns); i++)
		shown[i - first] = &columns[i];
	ctl_print_table(stdout, paths, shown, ARRAY_SIZE(columns) - first, 0);
	ctl_print_rest(stdout, answer, "paths");
}

static const struct ctl_template forgotten_texts[] = {
	{"", "forgotten: {forgotten} prefixes\n"},
	{0},
};

static const struct ctl_command subcommands[] = {
	{.name = "forget",
	 .arguments = "PREFIX|all",
	 .arguments_min = 1,
	 .arguments_max = 1,
	 .request = "paths_forget",
	 .field = "prefix",
	 .texts = forgotten_texts,
	 .no_daemon = "without it, write tcptuned --forget-paths=PREFIX, or =all"},
	{0},
};

const struct ctl_command ctl_paths = {
	.name = "paths",
	.arguments = "[PREFIX | forget PREFIX | forget all]",
	.help = "List what is remembered of the paths to destination prefixes, or to those that "
		"overlap PREFIX (192.0.2.0/24, or an address): how many connections it is made of, "
		"minimum round-trip time, largest bytes per round-trip time, the window at which "
		"BI-TCP last lost a segment, loss, and how long ago a connection last added to it. "
		"Or forget them, in the kernel and on disk, for which one has to be root.",
	.options = options,
	.subcommands = subcommands,
	.arguments_max = 1,
	.request = "paths",
	.field = "address",
	.print = print_paths,
};
