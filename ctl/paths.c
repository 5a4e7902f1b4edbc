// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl paths: what is remembered of the ways to destination prefixes. */
#include <errno.h>
#include <string.h>

#include "ctl.h"

enum { JSON, SORT, REVERSE, LIMIT, NETNS };

static const struct tcptuned_option options[] = {
	[JSON] = { "json", 'j', NULL, "Print JSON." },
	[SORT] = { "sort", 'S', "ORDER",
		   "By use (the last used first, the default), prefix, connections, receive or "
		   "send (bytes per round-trip time), rtt, max-window or loss; numbers from the "
		   "largest down." },
	[REVERSE] = { "reverse", 'r', NULL, "The other way round." },
	[LIMIT] = { "limit", 'n', "NUMBER", "So many at most, 100 unless said otherwise." },
	[NETNS] = { "netns", 0, "INODE",
		    "Only those of the network namespace with this inode number. Where paths of "
		    "more than one are listed, each says of which it is." },
	{ 0 },
};

#define USAGE(err, ...) tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE, __VA_ARGS__)
#define ROW "%5s %8s %8s %8s %8s %7s %8s\n"

/* "3d", "5h", "12m", "40s" */
static void format_age(unsigned long long seconds, char ret[CTL_WORD])
{
	if (seconds >= 86400)
		snprintf(ret, CTL_WORD, "%llud", seconds / 86400);
	else if (seconds >= 3600)
		snprintf(ret, CTL_WORD, "%lluh", seconds / 3600);
	else if (seconds >= 60)
		snprintf(ret, CTL_WORD, "%llum", seconds / 60);
	else
		snprintf(ret, CTL_WORD, "%llus", seconds);
}

/* "-": not measured, none met */
static void format_amount(const json_t *path, const char *name, char ret[CTL_WORD])
{
	unsigned long long bytes = ctl_number(path, name);

	snprintf(ret, CTL_WORD, "-");
	if (bytes)
		ctl_format_bytes(bytes, ret);
}

static void print_start(bool several, const char *netns, const char *prefix)
{
	if (several)
		printf("%-10s  ", netns);
	printf("%-24s ", prefix);
}

static void print_path(const json_t *path, bool several)
{
	char netns[CTL_WORD];

	char connections[CTL_WORD], rtt[CTL_WORD], receive[CTL_WORD], send[CTL_WORD];
	char max[CTL_WORD], loss[CTL_WORD], age[CTL_WORD];

	snprintf(connections, sizeof(connections), "%llu", ctl_number(path, "connections"));
	ctl_format_us(ctl_number(path, "min_rtt_us"), rtt);
	format_amount(path, "receive_per_rtt_bytes", receive);
	format_amount(path, "send_per_rtt_bytes", send);
	format_amount(path, "max_window_bytes", max);
	snprintf(loss, sizeof(loss), "%.2f%%",
		 100 * json_number_value(json_object_get(path, "loss")));
	format_age(ctl_number(path, "age_s"), age);
	if (json_is_true(json_object_get(path, "slow")))
		strcat(age, ", slow");
	snprintf(netns, sizeof(netns), "%llu", ctl_number(path, "netns"));
	print_start(several, netns, ctl_text(path, "prefix"));
	printf(ROW, connections, rtt, receive, send, max, loss, age);
}

void ctl_print_paths(const json_t *answer)
{
	const json_t *paths = json_object_get(answer, "paths");
	unsigned long long matched = ctl_number(answer, "matched");
	bool several = ctl_several_namespaces(paths);
	json_t *path;
	size_t i;

	print_start(several, "NETNS", "PREFIX");
	printf(ROW, "CONNS", "MINRTT", "RECV/RTT", "SEND/RTT", "MAXWIN", "LOSS", "USED");
	json_array_foreach(paths, i, path)
		print_path(path, several);
	if (matched > json_array_size(paths))
		printf("and %llu more (--limit)\n", matched - json_array_size(paths));
}

static int list(struct ctl *ctl, const char *const *given, const char *prefix,
		struct tcptuned_error *err)
{
	json_t *request = ctl_request("paths"), *answer;
	int error = 0;

	if (prefix)
		json_object_set_new(request, "address", json_string(prefix));
	if (given[SORT])
		json_object_set_new(request, "path_sort", json_string(given[SORT]));
	if (given[REVERSE])
		json_object_set_new(request, "reverse", json_true());
	if (given[LIMIT])
		error = ctl_set_number(request, "limit", "limit", given[LIMIT], err);
	if (!error && given[NETNS])
		error = ctl_set_number(request, "netns", "netns", given[NETNS], err);
	if (error) {
		json_decref(request);
		return error;
	}
	error = ctl_ask(ctl, request, &answer, err);
	if (error)
		return error;
	if (given[JSON])
		ctl_print_json(answer);
	else
		ctl_print_paths(answer);
	json_decref(answer);
	return 0;
}

/* Both in the kernel and on disk. */
static int forget(struct ctl *ctl, const char *prefix, struct tcptuned_error *err)
{
	json_t *request = ctl_request("paths_forget"), *answer;
	int error;

	json_object_set_new(request, "prefix", json_string(prefix));
	error = ctl_ask(ctl, request, &answer, err);
	if (error == -ECONNREFUSED)
		return tcptuned_fail(err, ECONNREFUSED, TCPTUNED_EXIT_DAEMON,
				     "no tcptuned runs; without it, write tcptuned "
				     "--forget-paths=%.60s",
				     prefix);
	if (error)
		return error;
	printf("forgotten: %llu prefixes\n", ctl_number(answer, "forgotten"));
	json_decref(answer);
	return 0;
}

static int run(struct ctl *ctl, const char *const *given, char **arguments, int count,
	       struct tcptuned_error *err)
{
	if (count && !strcmp(arguments[0], "forget")) {
		if (count != 2)
			return USAGE(err, "paths forget: a prefix is missing; write 192.0.2.0/24, "
					  "an address, or all");
		for (size_t i = 0; options[i].name; i++)
			if (given[i])
				return USAGE(err, "--%s: not with paths forget, which takes a "
						  "prefix alone",
					     options[i].name);
		return forget(ctl, arguments[1], err);
	}
	if (count > 1)
		return USAGE(err, "paths %.60s %.60s: it takes one prefix, or forget and one",
			     arguments[0], arguments[1]);
	return list(ctl, given, count ? arguments[0] : NULL, err);
}

const struct ctl_command ctl_paths = {
	.name = "paths",
	.arguments = "[PREFIX | forget PREFIX | forget all]",
	.help = "List what is remembered of the ways to destination prefixes, or to those that "
		"overlap PREFIX (192.0.2.0/24, an address): connections it is made of, minimum "
		"round-trip time, largest bytes per round-trip time, the window at which BI-TCP "
		"last lost, loss, and when it was last added to. Or forget them, in the kernel "
		"and on disk, which takes root.",
	.options = options,
	.arguments_min = 0,
	.arguments_max = 2,
	.run = run,
};
