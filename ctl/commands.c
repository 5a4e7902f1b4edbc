// SPDX-License-Identifier: GPL-2.0-only
/* The command line: tcptunectl [OPTION]... COMMAND [OPTION]... [ARGUMENT]... */
#include <errno.h>
#include <string.h>

#include "config/load.h"
#include "config/options.h"
#include "ctl.h"
#include "flows/names.h"
#include "util/log.h"
#include "util/text.h"

const struct ctl_command *const ctl_commands[] = {
	&ctl_status, &ctl_flows, &ctl_explain, &ctl_policy, &ctl_paths, &ctl_events,
	&ctl_detach, NULL,
};

enum global { GLOBAL_CONFIG, GLOBAL_SET, GLOBAL_VERSION, GLOBAL_HELP };

const struct tcptuned_option ctl_global_options[] = {
	[GLOBAL_CONFIG] = { "config", 'c', "FILE",
			    "Find the daemon by the configuration in FILE, in place of "
			    TCPTUNED_CONFIG_PATH ". Only [tcptuned] and [paths] are read; what "
			    "is wrong in it is passed over, and told." },
	[GLOBAL_SET] = { "set", 's', "SECTION.KEY=VALUE",
			 "Give a key a value that goes before every file's. May be repeated." },
	[GLOBAL_VERSION] = { "version", 'V', NULL, "Print the version and exit." },
	[GLOBAL_HELP] = { "help", 'h', NULL,
			  "Print this help, or that of the command before it, and exit." },
	{ 0 },
};

static const struct tcptuned_option help_option = { "help", 'h', NULL, "Print this help and exit." };

/* ---- help ---------------------------------------------------------------------------------- */

static void print_options(FILE *out, const struct tcptuned_option *options)
{
	for (; options->name; options++)
		tcptuned_option_print(out, options);
}

static void print_help(FILE *out)
{
	fputs("Usage: tcptunectl [OPTION]... COMMAND [OPTION]... [ARGUMENT]...\n"
	      "Shows what tcptuned does to the TCP connections of this host, and why.\n\n",
	      out);
	for (const struct ctl_command *const *command = ctl_commands; *command; command++) {
		fprintf(out, "  %s%s%s\n", (*command)->name, *(*command)->arguments ? " " : "",
			(*command)->arguments);
		tcptuned_print_wrapped(out, "          ", (*command)->help);
	}
	fputs("\nOptions before the command:\n\n", out);
	print_options(out, ctl_global_options);
	fputs("\ntcptunectl COMMAND --help lists a command's own; tcptunectl(8) says more.\n", out);
}

static void print_columns(FILE *out)
{
	fputs("\nColumns (* shown without being asked for):\n\n", out);
	for (size_t i = 0; i < tcptuned_columns_count; i++)
		fprintf(out, "  %c %-14s %s\n", tcptuned_columns[i].shown ? '*' : ' ',
			tcptuned_columns[i].name, tcptuned_columns[i].help);
}

static void print_command_help(FILE *out, const struct ctl_command *command)
{
	fprintf(out, "Usage: tcptunectl %s [OPTION]...%s%s\n", command->name,
		*command->arguments ? " " : "", command->arguments);
	tcptuned_print_wrapped(out, "", command->help);
	fputc('\n', out);
	print_options(out, command->options);
	tcptuned_option_print(out, &help_option);
	if (command == &ctl_flows)
		print_columns(out);
}

void ctl_print_man(FILE *out)
{
	for (const struct ctl_command *const *command = ctl_commands; *command; command++) {
		fprintf(out, ".SS %s%s%s\n%s\n", (*command)->name,
			*(*command)->arguments ? " " : "", (*command)->arguments, (*command)->help);
		for (const struct tcptuned_option *option = (*command)->options; option->name; option++)
			tcptuned_option_print_man(out, option);
	}
}

void ctl_print_man_columns(FILE *out)
{
	for (size_t i = 0; i < tcptuned_columns_count; i++) {
		fputs(".TP\n.B ", out);
		tcptuned_print_man_name(out, tcptuned_columns[i].name);
		fprintf(out, "\n%s%s\n", tcptuned_columns[i].help,
			tcptuned_columns[i].shown ? " (shown)" : "");
	}
}

void ctl_print_man_words(FILE *out)
{
	static const struct {
		const char *what;
		const char *(*name)(unsigned int index);
	} words[TCPTUNED_VOCABULARIES] = {
		[TCPTUNED_WORDS_LIMIT] = { "Column\n.BR limit ,\nin JSON and as a label\n.IR limit :",
					   tcptuned_limit_name },
		[TCPTUNED_WORDS_REASON] = { "Columns\n.BR rwhy \" and\" \" swhy\" ,\nin JSON and as a "
					    "label\n.IR reason :",
					    tcptuned_reason_name },
		[TCPTUNED_WORDS_BITCP_MODE] = { "What\n.B bitcp\nis doing, in JSON and as a "
						"label\n.IR mode :",
						tcptuned_bitcp_mode_name },
	};

	for (int v = 0; v < TCPTUNED_VOCABULARIES; v++) {
		const char *meaning;

		fprintf(out, ".PP\n%s\n", words[v].what);
		for (unsigned int i = 0; (meaning = tcptuned_word_meaning(v, i)); i++)
			fprintf(out, ".TP\n.B %s\n%s\n", words[v].name(i), meaning);
	}
}

/* ---- parsing ------------------------------------------------------------------------------- */

#define USAGE(err, ...) tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE, __VA_ARGS__)

struct global_options {
	const char *config;
	const char *set[TCPTUNED_SET_MAX + 1];
	bool help, version;
};

static int take_global(struct global_options *global, int which, struct tcptuned_error *err)
{
	switch (which) {
	case GLOBAL_CONFIG:
		global->config = optarg;
		break;
	case GLOBAL_SET:
		return tcptuned_options_add_set(global->set, optarg, err);
	case GLOBAL_VERSION:
		global->version = true;
		break;
	case GLOBAL_HELP:
		global->help = true;
		break;
	}
	return 0;
}

static int parse_global(int argc, char **argv, struct global_options *global,
			struct tcptuned_error *err)
{
	struct tcptuned_parser parser;
	int which, error;

	tcptuned_parser_init(&parser, "tcptunectl", "+", ctl_global_options);
	for (;;) {
		error = tcptuned_parser_next(&parser, argc, argv, &which, err);
		if (!error && which >= 0)
			error = take_global(global, which, err);
		if (error || which < 0)
			return error;
	}
}

static int find_command(const char *name, const struct ctl_command **ret,
			struct tcptuned_error *err)
{
	const char *names[sizeof(ctl_commands) / sizeof(ctl_commands[0])] = { NULL }, *nearest;

	for (size_t i = 0; ctl_commands[i]; i++) {
		names[i] = ctl_commands[i]->name;
		if (strcmp(names[i], name))
			continue;
		*ret = ctl_commands[i];
		return 0;
	}
	nearest = tcptuned_nearest(name, names);
	if (nearest)
		return USAGE(err, "%.100s: no such command; did you mean %s?", name, nearest);
	return USAGE(err, "%.100s: no such command; tcptunectl --help lists all", name);
}

static int check_arguments(const struct ctl_command *command, char **arguments, int count,
			   struct tcptuned_error *err)
{
	if (count > command->arguments_max)
		return USAGE(err, "%.100s: unexpected; the usage is tcptunectl %s%s%s",
			     arguments[command->arguments_max], command->name,
			     *command->arguments ? " " : "", command->arguments);
	if (count < command->arguments_min)
		return USAGE(err, "an argument is missing; the usage is tcptunectl %s %s",
			     command->name, command->arguments);
	return 0;
}

/* ---- running ------------------------------------------------------------------------------- */

/* The daemon runs on while its files are edited, and may be asked what goes on and be stopped. */
static int load_config(const struct global_options *global, struct tcptuned_config *ret,
		       struct tcptuned_error *err)
{
	struct tcptuned_error warning;
	int error = tcptuned_config_load_shared(global->config, global->set, ret, &warning, err);

	if (!error && warning.text[0])
		fprintf(stderr, "tcptunectl: passed over: %s\n", warning.text);
	return error;
}

static int run_command(const struct ctl_command *command, const struct global_options *global,
		       int argc, char **argv, struct tcptuned_error *err)
{
	const char *given[TCPTUNED_OPTIONS_MAX] = { NULL };
	struct tcptuned_parser parser;
	struct ctl ctl = { 0 };
	char name[64];
	int which, error;

	snprintf(name, sizeof(name), "tcptunectl %s", command->name);
	tcptuned_parser_init(&parser, name, "", command->options);
	tcptuned_parser_add(&parser, &help_option);
	for (;;) {
		error = tcptuned_parser_next(&parser, argc, argv, &which, err);
		if (error)
			return error;
		if (which < 0)
			break;
		if (parser.options[which] == &help_option) {
			print_command_help(stdout, command);
			return 0;
		}
		given[which] = optarg ? optarg : "";
	}
	error = check_arguments(command, argv + optind, argc - optind, err);
	if (!error)
		error = load_config(global, &ctl.config, err);
	return error ? error : command->run(&ctl, given, argv + optind, argc - optind, err);
}

/* "help" and "help COMMAND", as other programs have it, are --help and COMMAND --help. */
static int help(const char *name, struct tcptuned_error *err)
{
	const struct ctl_command *command = NULL;
	int error = name ? find_command(name, &command, err) : 0;

	if (error)
		return error;
	if (command)
		print_command_help(stdout, command);
	else
		print_help(stdout);
	return 0;
}

static int run(int argc, char **argv, struct tcptuned_error *err)
{
	struct global_options global = { 0 };
	const struct ctl_command *command = NULL;
	int error;

	error = parse_global(argc, argv, &global, err);
	if (error)
		return error;
	if (global.version) {
		printf("tcptunectl %s\n", TCPTUNED_VERSION);
		return 0;
	}
	if (global.help) {
		print_help(stdout);
		return 0;
	}
	if (optind >= argc)
		return USAGE(err, "a command is missing; tcptunectl --help lists all");
	if (!strcmp(argv[optind], "help"))
		return help(argv[optind + 1], err);
	error = find_command(argv[optind], &command, err);
	if (error)
		return error;
	return run_command(command, &global, argc - optind, argv + optind, err);
}

int ctl_main(int argc, char **argv)
{
	struct tcptuned_error err = { .status = TCPTUNED_EXIT_INTERNAL };
	int error = run(argc, argv, &err);

	if (!error && fflush(stdout))
		error = tcptuned_fail(&err, errno, TCPTUNED_EXIT_INTERNAL,
				      "standard output: %s", strerror(errno));
	if (!error)
		return TCPTUNED_EXIT_OK;
	fflush(stdout);
	fprintf(stderr, "tcptunectl: %s\n", err.text);
	return err.status;
}
