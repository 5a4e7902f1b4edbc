// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl paths: what is remembered of the paths to destination prefixes. */
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

static const struct tcptuned_column streams_columns[] = {
	{.heading = "NETNS", .json = "netns", .unit = COLUMN_NUMBER},
	{.heading = "HOST", .json = "host", .unit = COLUMN_TEXT},
	{.heading = "DIRECTION", .json = "direction", .unit = COLUMN_TEXT},
	{.heading = "CC", .json = "congestion_control", .unit = COLUMN_TEXT},
	{.heading = "STREAMS", .json = "numbers", .unit = COLUMN_TEXT},
	{.heading = "WINDOWS", .json = "windows", .unit = COLUMN_NUMBER},
	{.heading = "USED", .json = "used", .unit = COLUMN_TEXT},
	{.heading = "FIT", .json = "fit", .unit = COLUMN_TEXT},
};

/* Set "used": "40s", or "40s, slow". */
static void set_used(json_t *path)
{
	bool slow = json_is_true(json_object_get(path, "slow"));
	char age[CTL_WORD];

	ctl_format_age(ctl_number(path, "age_s"), age);
	json_object_set_new(path, "used", json_sprintf("%s%s", age, slow ? ", slow" : ""));
}

/* Set "numbers", such as "1-8", and "fit": how far it is off, or why there is none. */
static void set_streams(json_t *streams)
{
	const json_t *residual = json_object_get(streams, "residual");
	const json_t *levels = json_object_get(streams, "levels");
	unsigned long long low = ctl_number(json_array_get(levels, 0), "streams");
	unsigned long long high =
		ctl_number(json_array_get(levels, json_array_size(levels) - 1), "streams");

	set_used(streams);
	json_object_set_new(streams, "numbers",
			    low == high ? json_sprintf("%llu", low)
					: json_sprintf("%llu-%llu", low, high));
	json_object_set_new(streams, "fit",
			    residual ? json_sprintf("off by %.0f %%",
						    json_number_value(residual) * 100)
				     : json_sprintf("none: %s", ctl_text(streams, "refused")));
}

/* The first column, the network namespace, is left out if all rows are of one. */
static void print_rows(const json_t *rows, const struct tcptuned_column *all, size_t len)
{
	size_t first = ctl_several_namespaces(rows) ? 0 : 1;
	const struct tcptuned_column *shown[len];

	for (size_t i = first; i < len; i++)
		shown[i - first] = &all[i];
	ctl_print_table(stdout, rows, shown, len - first);
}

static void print_paths(const json_t *answer)
{
	const json_t *paths = json_object_get(answer, "paths");
	const json_t *streams = json_object_get(answer, "streams");
	json_t *row;
	size_t i;

	json_array_foreach (paths, i, row)
		set_used(row);
	json_array_foreach (streams, i, row)
		set_streams(row);
	print_rows(paths, columns, ARRAY_SIZE(columns));
	ctl_print_rest(stdout, answer, "matched", "paths");
	if (!json_array_size(streams))
		return;
	puts("");
	print_rows(streams, streams_columns, ARRAY_SIZE(streams_columns));
	ctl_print_rest(stdout, answer, "streams_matched", "streams");
}

static const struct ctl_template forgotten_texts[] = {
	{"", "forgotten: {forgotten} prefixes\n"},
	{0},
};

static const struct ctl_command subcommands[] = {
	{.name = "forget",
	 .arguments = "PREFIX|all",
	 .arguments_min = 1,
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
		"BI-TCP last lost a segment, loss, and how long ago a connection last added to it; "
		"and what is known of parallel connections to hosts (see streams). "
		"Or forget them, in the kernel and on disk, for which one has to be root.",
	.options = options,
	.subcommands = subcommands,
	.arguments_max = 1,
	.request = "paths",
	.field = "address",
	.print = print_paths,
};
