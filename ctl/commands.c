// SPDX-License-Identifier: GPL-2.0-only
/* The command line: tcptunectl [OPTION]... COMMAND [OPTION]... [ARGUMENT]... */
#include "commands.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "client.h"
#include "flows/words.h"
#include "format.h"
#include "lib/tuner.h"
#include "util/array.h"
#include "util/stdio.h"
#include "util/text.h"
#include "util/version.h"

static const struct ctl_command *const commands[] = {
	&ctl_status, &ctl_top,	   &ctl_flows, &ctl_explain, &ctl_policy, &ctl_paths,  &ctl_advise,
	&ctl_events, &ctl_streams, &ctl_trial, &ctl_doctor,  &ctl_report, &ctl_detach,
};

enum { SOCKET, VERSION, HELP };

static const struct tcptuned_option global_options[] = {
	[SOCKET] = {"socket", 's', "PATH",
		    "Reach the daemon by the socket PATH, in place of " TUNER_CONTROL
		    ": \"control\" in its tcptuned.runtime_directory."},
	[VERSION] = {"version", 'V', NULL, "Print the version and exit."},
	[HELP] = {"help", 'h', NULL,
		  "Print this help, or that of the command before it, and exit."},
	{0},
};

static const struct tcptuned_option help_option = {"help", 'h', NULL, "Print this help and exit."};
static const struct tcptuned_option no_options[] = {{0}};

const struct ctl_option ctl_json_option[] = {
	{OPTION(CTL_JSON, "Print one JSON object.")},
	{OPTION(0)},
};

/* ---- help ---------------------------------------------------------------------------------- */

static const char *space_before(const char *text)
{
	return *text ? " " : "";
}

static void print_help(FILE *out)
{
	fputs("Usage: tcptunectl [OPTION]... COMMAND [OPTION]... [ARGUMENT]...\n"
	      "Shows what tcptuned does to the TCP connections of this host, and why.\n\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		fprintf(out, "  %s%s%s\n", commands[i]->name, space_before(commands[i]->arguments),
			commands[i]->arguments);
		tcptuned_text_print_wrapped(out, "          ", commands[i]->help);
	}
	fputs("\nOptions before the command:\n\n", out);
	for (const struct tcptuned_option *option = global_options; option->name; option++)
		tcptuned_option_print(out, option);
	fputs("\n`tcptunectl COMMAND --help` lists the options of a command. See also tcptunectl(8).\n",
	      out);
}

static void print_command_help(FILE *out, const struct ctl_command *command)
{
	fprintf(out, "Usage: tcptunectl %s [OPTION]...%s%s\n", command->name,
		space_before(command->arguments), command->arguments);
	tcptuned_text_print_wrapped(out, "", command->help);
	fputc('\n', out);
	for (const struct ctl_option *o = command->options; o->option.name; o++)
		tcptuned_option_print(out, &o->option);
	tcptuned_option_print(out, &help_option);
	if (command != &ctl_flows)
		return;
	fputs("\nColumns (*: shown by default):\n\n", out);
	for (size_t i = 0; i < tcptuned_columns_count; i++)
		fprintf(out, "  %c %-14s %s\n", tcptuned_columns[i].shown ? '*' : ' ',
			tcptuned_columns[i].name, tcptuned_columns[i].help);
}

void ctl_print_man(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		fprintf(out, ".SS %s%s%s\n%s\n", commands[i]->name,
			space_before(commands[i]->arguments), commands[i]->arguments,
			commands[i]->help);
		for (const struct ctl_option *o = commands[i]->options; o->option.name; o++)
			tcptuned_option_print_man(out, &o->option);
	}
}

void ctl_print_man_columns(FILE *out)
{
	for (size_t i = 0; i < tcptuned_columns_count; i++) {
		fputs(".TP\n.B ", out);
		tcptuned_option_print_man_name(out, tcptuned_columns[i].name);
		fprintf(out, "\n%s; in JSON\n.I %s%s\n", tcptuned_columns[i].help,
			tcptuned_columns[i].json, tcptuned_columns[i].shown ? "\n(default)" : "");
	}
}

void ctl_print_man_words(FILE *out)
{
	static const char *const titles[] = {
		[WORDS_LIMIT] = "Column\n.BR limit ,\nin JSON and as a label\n.IR limit :",
		[WORDS_REASON] = "Columns\n.BR rwhy \" and\" \" swhy\" ,\nin JSON and as a label\n"
				 ".IR reason :",
		[WORDS_BITCP_MODE] = "The state of\n.BR bitcp ,\nin JSON\n.IR mode :",
	};
	const char *meaning;

	for (unsigned int v = WORDS_LIMIT; v < ARRAY_SIZE(titles); v++) {
		fprintf(out, ".PP\n%s\n", titles[v]);
		for (unsigned int i = 0; (meaning = tcptuned_word_meaning(v, i)); i++)
			fprintf(out, ".TP\n.B %s\n%s\n", tcptuned_word(v, i), meaning);
	}
}

/* ---- parsing ------------------------------------------------------------------------------- */

static int find_command(const char *name, const struct ctl_command **ret,
			struct tcptuned_error *err)
{
	const char *names[ARRAY_SIZE(commands) + 1] = {NULL};
	char suggestion[TCPTUNED_SUGGESTION];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		names[i] = commands[i]->name;
		if (strcmp(names[i], name))
			continue;
		*ret = commands[i];
		return 0;
	}
	return USAGE(err, "%.100s: no such command; %s", name,
		     tcptuned_text_suggest(name, names, "tcptunectl --help lists all", suggestion));
}

/* Parse the options of @command into @ctl, and set *@ret_help if --help is among them. */
static int parse_options(struct ctl *ctl, const struct ctl_command *command, int argc, char **argv,
			 bool *ret_help, struct tcptuned_error *err)
{
	struct tcptuned_parser parser;
	char name[64];
	int which, error;

	snprintf(name, sizeof(name), "tcptunectl %s", command->name);
	tcptuned_option_parser_init(&parser, name, "", no_options);
	for (const struct ctl_option *o = command->options; o->option.name; o++)
		tcptuned_option_parser_add(&parser, &o->option);
	tcptuned_option_parser_add(&parser, &help_option);
	for (;;) {
		error = tcptuned_option_parser_next(&parser, argc, argv, &which, err);
		if (error || which < 0)
			break;
		*ret_help = parser.options[which] == &help_option;
		if (*ret_help)
			break;
		ctl->given[which] = optarg ? optarg : "";
		ctl->json |= !strcmp(parser.options[which]->name, "json");
	}
	ctl->arguments = argv + optind;
	ctl->count = argc - optind;
	return error;
}

/* Set *@ret to the subcommand that the first argument names, and remove that; or to @command. */
static int find_subcommand(struct ctl *ctl, const struct ctl_command *command,
			   const struct ctl_command **ret, struct tcptuned_error *err)
{
	const struct ctl_command *sub = command->subcommands;

	while (sub && sub->name && (!ctl->count || strcmp(sub->name, ctl->arguments[0])))
		sub++;
	*ret = sub && sub->name ? sub : command;
	if (*ret == sub) {
		ctl->arguments++;
		ctl->count--;
	} else if (sub && !command->request && ctl->count) {
		return USAGE(err, "%s: there is no %.60s; the usage is tcptunectl %s %s",
			     command->name, ctl->arguments[0], command->name, command->arguments);
	}
	return 0;
}

/* JSON has no other text. */
static bool is_utf8(const char *text)
{
	json_auto_t *json = json_string(text);

	return json;
}

/* @command may be @parent itself, or one of its subcommands. */
static int check_usage(const struct ctl *ctl, const struct ctl_command *parent,
		       const struct ctl_command *command, struct tcptuned_error *err)
{
	const char *sub = command == parent ? "" : command->name;
	int max = MAX(command->arguments_min, command->arguments_max);
	const struct ctl_option *options = parent->options;

	if (ctl->count > max)
		return USAGE(err, "%.100s: unexpected; the usage is tcptunectl %s%s%s%s%s",
			     ctl->arguments[max], parent->name, space_before(sub), sub,
			     space_before(command->arguments), command->arguments);
	if (ctl->count < command->arguments_min)
		return USAGE(err, "an argument is missing; the usage is tcptunectl %s%s%s %s",
			     parent->name, space_before(sub), sub, command->arguments);
	for (int i = 0; i < ctl->count; i++)
		if (!is_utf8(ctl->arguments[i]))
			return USAGE(err, "%.80s: not UTF-8", ctl->arguments[i]);
	for (size_t i = 0; options[i].option.name; i++) {
		if (ctl->given[i] && options[i].only && strcmp(options[i].only, sub))
			return USAGE(err, "--%s: not with %s %s", options[i].option.name,
				     parent->name, sub);
		if (ctl->given[i] && options[i].field && !is_utf8(ctl->given[i]))
			return USAGE(err, "--%s: %.60s: not UTF-8", options[i].option.name,
				     ctl->given[i]);
	}
	return 0;
}

/* ---- requests ------------------------------------------------------------------------------ */

static int set_number(json_t *request, const struct ctl_option *option, const char *text,
		      struct tcptuned_error *err)
{
	const char *name = option->option.name;
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || number > UINT32_MAX)
		return USAGE(err, "--%s: %.60s is not a whole number; write --%s=1, for example",
			     name, text, name);
	json_object_set_new(request, option->field, json_integer((json_int_t)number));
	return 0;
}

/* Set the fields of the options that were given. */
static int add_options(const struct ctl *ctl, const struct ctl_option *options, json_t *request,
		       struct tcptuned_error *err)
{
	int error = 0;

	for (size_t i = 0; options[i].option.name && !error; i++) {
		if (!ctl->given[i] || !options[i].field)
			continue;
		if (options[i].number)
			error = set_number(request, &options[i], ctl->given[i], err);
		else if (options[i].option.argument)
			json_object_set_new(request, options[i].field, json_string(ctl->given[i]));
		else
			json_object_set_new(request, options[i].field, json_true());
	}
	return error;
}

static int print_answer(const struct ctl *ctl, const struct ctl_command *command,
			const json_t *request, struct tcptuned_error *err)
{
	json_auto_t *answer = NULL;
	int error = ctl_query(ctl->socket, request, &answer, err);

	if (error)
		return error;
	if (ctl->json)
		ctl_print_json(answer);
	else if (command->print)
		command->print(answer);
	else
		ctl_print(stdout, answer, command->texts);
	return 0;
}

static int execute(struct ctl *ctl, const struct ctl_command *parent, struct tcptuned_error *err)
{
	const struct ctl_command *command;
	json_auto_t *request = NULL;
	int error;

	error = find_subcommand(ctl, parent, &command, err)
			?: check_usage(ctl, parent, command, err);
	if (error)
		return error;
	request = json_pack("{s:s}", "command", command->request);
	error = add_options(ctl, parent->options, request, err);
	if (command->field && ctl->count)
		json_object_set_new(request, command->field, json_string(ctl->arguments[0]));
	if (!error && command->add_arguments)
		error = command->add_arguments(ctl, request, err);
	if (!error)
		error = command->run ? command->run(ctl, request, err)
				     : print_answer(ctl, command, request, err);
	if (error == -ECONNREFUSED && command->no_daemon)
		FAIL(err, ECONNREFUSED, DAEMON, "no tcptuned runs; %s", command->no_daemon);
	return error;
}

/* ---- running ------------------------------------------------------------------------------- */

struct global {
	const char *socket;
	bool help, version;
};

static int parse_global(int argc, char **argv, struct global *global, struct tcptuned_error *err)
{
	struct tcptuned_parser parser;
	int which, error;

	tcptuned_option_parser_init(&parser, "tcptunectl", "+", global_options);
	for (;;) {
		error = tcptuned_option_parser_next(&parser, argc, argv, &which, err);
		if (error || which < 0)
			return error;
		if (which == SOCKET)
			global->socket = optarg;
		global->version |= which == VERSION;
		global->help |= which == HELP;
	}
}

static int run_command(const struct ctl_command *command, const struct global *global, int argc,
		       char **argv, struct tcptuned_error *err)
{
	struct ctl ctl = {.socket = global->socket};
	bool help = false;
	int error = parse_options(&ctl, command, argc, argv, &help, err);

	if (error)
		return error;
	if (help) {
		print_command_help(stdout, command);
		return 0;
	}
	return execute(&ctl, command, err);
}

/* As in other programs, "help" and "help COMMAND" are --help and COMMAND --help. */
static int help(const char *name, struct tcptuned_error *err)
{
	const struct ctl_command *command = NULL;
	int error = name ? find_command(name, &command, err) : 0;

	if (command)
		print_command_help(stdout, command);
	else if (!error)
		print_help(stdout);
	return error;
}

static int run(int argc, char **argv, struct tcptuned_error *err)
{
	const struct ctl_command *command = NULL;
	struct global global = {.socket = TUNER_CONTROL};
	int error = parse_global(argc, argv, &global, err);

	if (error)
		return error;
	if (global.version) {
		tcptuned_version_print("tcptunectl");
		return 0;
	}
	if (global.help)
		return help(NULL, err);
	if (optind >= argc)
		return USAGE(err, "a command is missing; tcptunectl --help lists all");
	if (!strcmp(argv[optind], "help"))
		return help(argv[optind + 1], err);
	return find_command(argv[optind], &command, err)
		       ?: run_command(command, &global, argc - optind, argv + optind, err);
}

int ctl_main(int argc, char **argv)
{
	struct tcptuned_error err = {.status = TCPTUNED_EXIT_INTERNAL};
	int error = run(argc, argv, &err);

	error = error ?: tcptuned_stdio_flush(&err);
	if (!error)
		return TCPTUNED_EXIT_OK;
	fflush(stdout);
	fprintf(stderr, "tcptunectl: %s\n", err.text);
	return err.status;
}
