// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/options.h"
#include "util/array.h"
#include "util/version.h"

enum { WHY, WATCH, JSON, OUTPUT, TUNE, CC, RATE, SHOW_VERSION, SHOW_HELP };

static const struct tcptuned_option entries[] = {
	[WHY] = {"why", 0, NULL,
		 "Change nothing. At the end print one line for each connection: what limited it, and for "
		 "how long."},
	[WATCH] = {"watch", 'w', NULL,
		   "Print these lines for open connections once per second, too."},
	[JSON] = {"json", 'j', NULL, "Print the report as JSON, one object per line."},
	[OUTPUT] = {"output", 'o', "FILE", "Write the report to FILE instead of standard error."},
	[TUNE] = {"tune", 't', NULL,
		  "Right-size the window of receivers, and limit the unsent data of senders."},
	[CC] = {"cc", 0, "NAME",
		"Let connections use the congestion control NAME, which must be among "
		"net.ipv4.tcp_allowed_congestion_control. Implies --tune."},
	[RATE] = {"rate", 0, "RATE",
		  "Let no connection send faster than RATE, for example 100Mbit. Implies --tune."},
	[SHOW_VERSION] = {"version", 'V', NULL, "Print the version and exit."},
	[SHOW_HELP] = {"help", 'h', NULL, "Print this help and exit."},
	{0},
};

int run_parse_rate(const char *text, uint64_t *ret)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {{"", 1}, {"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
	size_t length;
	double value;
	char *end;

	value = strtod(text, &end);
	length = strlen(end);
	if (length > 2 && !strcasecmp(end + length - 2, "/s"))
		length -= 2;
	if (end == text || !isfinite(value))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double bytes = value * units[i].factor / 8;

		if (strlen(units[i].name) != length || strncasecmp(end, units[i].name, length))
			continue;
		if (bytes < 1 || bytes > 1e12)
			return -EINVAL;
		*ret = (uint64_t)bytes;
		return 0;
	}
	return -EINVAL;
}

void run_options_print_man(FILE *out)
{
	for (const struct tcptuned_option *option = entries; option->name; option++)
		tcptuned_option_print_man(out, option);
}

static void print_help(void)
{
	fputs("Usage: tcptune-run [OPTION]... COMMAND [ARGUMENT]...\n"
	      "Runs COMMAND with TCP at the speed of its path, or finds out what limits it; needs no "
	      "privilege.\n\n",
	      stdout);
	for (const struct tcptuned_option *option = entries; option->name; option++)
		tcptuned_option_print(stdout, option);
	fputs("\nThe manual page tcptune-run(1) says more.\n", stdout);
}

static int set_option(struct run_options *options, int which, struct tcptuned_error *err)
{
	switch (which) {
	case WHY:
		options->why = true;
		break;
	case WATCH:
		options->watch = true;
		break;
	case JSON:
		options->json = true;
		break;
	case OUTPUT:
		options->output = optarg;
		break;
	case CC:
		options->cc = optarg;
		break;
	case RATE:
		if (run_parse_rate(optarg, &options->rate))
			return USAGE(err, "--rate: %.100s is not a rate; write for example 100Mbit",
				     optarg);
		break;
	case SHOW_VERSION:
		tcptuned_version_print("tcptune-run");
		exit(0);
	case SHOW_HELP:
		print_help();
		exit(0);
	}
	options->tune |= which == TUNE || which == CC || which == RATE;
	return 0;
}

int run_options_parse(int argc, char **argv, struct run_options *ret, struct tcptuned_error *err)
{
	struct tcptuned_parser parser;
	int which, error;

	*ret = (struct run_options){0};
	tcptuned_option_parser_init(&parser, "tcptune-run", "+", entries);
	for (;;) {
		error = tcptuned_option_parser_next(&parser, argc, argv, &which, err);
		if (!error && which >= 0)
			error = set_option(ret, which, err);
		if (error)
			return error;
		if (which < 0)
			break;
	}
	if (ret->why && ret->tune)
		return USAGE(err, "--why: it changes nothing, so not together with --tune, --cc or "
				  "--rate; choose one of them");
	if (optind >= argc)
		return USAGE(err, "a command is missing; write tcptune-run [OPTION]... COMMAND");
	ret->command = argv + optind;
	return 0;
}
