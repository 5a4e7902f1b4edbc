// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "config/options.h"
#include "util/text.h"

#define FIRST_VALUE 256 /* getopt_long()'s values of long options begin above every letter */

#define USAGE(err, ...) tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE, __VA_ARGS__)

/* ---- the parser ---------------------------------------------------------------------------- */

void tcptuned_parser_add(struct tcptuned_parser *parser, const struct tcptuned_option *option)
{
	char *p = parser->letters + strlen(parser->letters);

	parser->longs[parser->len] = (struct option){
		.name = option->name,
		.has_arg = !option->argument		? no_argument
			   : option->argument[0] == '[' ? optional_argument
							: required_argument,
		.val = FIRST_VALUE + (int)parser->len,
	};
	parser->options[parser->len++] = option;
	if (!option->letter)
		return;
	*p++ = option->letter;
	if (option->argument)
		*p++ = ':';
	if (option->argument && option->argument[0] == '[')
		*p++ = ':';
	*p = '\0';
}

void tcptuned_parser_init(struct tcptuned_parser *parser, const char *command, const char *order,
			  const struct tcptuned_option *options)
{
	memset(parser, 0, sizeof(*parser));
	parser->command = command;
	/* The colon has a missing argument reported as such. */
	snprintf(parser->letters, sizeof(parser->letters), "%s:", order);
	for (; options->name; options++)
		tcptuned_parser_add(parser, options);
	opterr = 0;
	optind = 0; /* 0, not 1, resets getopt_long() (getopt(3), notes of glibc). */
}

static int find_option(const struct tcptuned_parser *parser, int value)
{
	if (value >= FIRST_VALUE && value < FIRST_VALUE + (int)parser->len)
		return value - FIRST_VALUE;
	for (size_t i = 0; i < parser->len; i++)
		if (value && parser->options[i]->letter == value)
			return (int)i;
	return -1;
}

/* Fail on @word, which getopt_long() does not know, and name the option that is most like it. */
static int fail_unknown(const struct tcptuned_parser *parser, const char *word,
			struct tcptuned_error *err)
{
	const char *names[TCPTUNED_OPTIONS_MAX + 1] = { NULL }, *nearest = NULL;
	char name[64];

	if (!strncmp(word, "--", 2)) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		for (size_t i = 0; i < parser->len; i++)
			names[i] = parser->options[i]->name;
		nearest = tcptuned_nearest(name, names);
	}
	if (nearest)
		return USAGE(err, "%.100s: no such option; did you mean --%s?", word, nearest);
	return USAGE(err, "%.100s: no such option; %s --help lists all", word, parser->command);
}

/* Fail as getopt_long() did, which returned @value, '?' or ':', at @word. */
static int fail_getopt(const struct tcptuned_parser *parser, int value, const char *word,
		       struct tcptuned_error *err)
{
	char letter[3] = { '-', (char)optopt, '\0' };
	int i = find_option(parser, optopt);

	if (i >= 0 && value == ':')
		return USAGE(err, "--%s: its argument is missing; write --%s=%s",
			     parser->options[i]->name, parser->options[i]->name,
			     parser->options[i]->argument);
	if (i >= 0)
		return USAGE(err, "--%s: it takes no argument; leave away what follows the =",
			     parser->options[i]->name);
	return fail_unknown(parser, optopt && optopt < FIRST_VALUE ? letter : word, err);
}

int tcptuned_parser_next(struct tcptuned_parser *parser, int argc, char **argv, int *ret,
			 struct tcptuned_error *err)
{
	int value = getopt_long(argc, argv, parser->letters, parser->longs, NULL);

	*ret = value == -1 ? -1 : find_option(parser, value);
	/* getopt_long() permutes the arguments before this one only at its next call. */
	if (value != -1 && *ret < 0)
		return fail_getopt(parser, value, argv[optind - 1], err);
	return 0;
}

int tcptuned_options_add_set(const char **set, const char *text, struct tcptuned_error *err)
{
	size_t n = 0;

	while (set[n])
		n++;
	if (n == TCPTUNED_SET_MAX)
		return USAGE(err, "--set: given more than %d times; use a configuration file",
			     TCPTUNED_SET_MAX);
	set[n] = text;
	return 0;
}

/* ---- help ---------------------------------------------------------------------------------- */

void tcptuned_option_print(FILE *out, const struct tcptuned_option *option)
{
	const char *argument = option->argument;

	if (option->letter)
		fprintf(out, "  -%c, --%s", option->letter, option->name);
	else
		fprintf(out, "      --%s", option->name);
	if (argument && argument[0] == '[')
		fprintf(out, "[=%s", argument + 1);
	else if (argument)
		fprintf(out, "=%s", argument);
	fputc('\n', out);
	tcptuned_print_wrapped(out, "          ", option->help);
}

void tcptuned_print_man_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputs(*name == '-' ? "\\-" : (char[]){ *name, 0 }, out);
}

void tcptuned_option_print_man(FILE *out, const struct tcptuned_option *option)
{
	fputs(".TP\n", out);
	if (option->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", out);
	tcptuned_print_man_name(out, option->name);
	fputs("\\fR", out);
	if (option->argument && option->argument[0] == '[')
		fprintf(out, "[=\\fI%.*s\\fR]", (int)strlen(option->argument) - 2,
			option->argument + 1);
	else if (option->argument)
		fprintf(out, "=\\fI%s\\fR", option->argument);
	fprintf(out, "\n%s\n", option->help);
}

/* ---- the daemon's options ------------------------------------------------------------------ */

enum { CONFIG, SET, FOREGROUND, DRY_RUN, FIRST_ACTION };

#define ACTION(action) [FIRST_ACTION + (action) - TCPTUNED_CHECK_CONFIG]

static const struct tcptuned_option entries[] = {
	[CONFIG] = { "config", 'c', "FILE",
		     "Read FILE, and drop-ins from FILE.d, in place of " TCPTUNED_CONFIG_PATH "." },
	[SET] = { "set", 's', "SECTION.KEY=VALUE",
		  "Give a key a value that goes before every file's. May be repeated." },
	[FOREGROUND] = { "foreground", 'f', NULL,
			 "Stay in the foreground and log to standard error." },
	[DRY_RUN] = { "dry-run", 'n', NULL,
		      "Decide and report everything, change nothing, neither in the kernel nor on "
		      "disk." },
	ACTION(TCPTUNED_CHECK_CONFIG) = { "check-config", 0, NULL,
	 "Check the configuration, print what the files say, as a reload or start would take it, and "
	 "where each value comes from, and exit. tcptunectl status says whether it is in force." },
	ACTION(TCPTUNED_CHECK_LOAD) = { "check-load", 0, NULL,
	 "Check the configuration, and that this kernel loads the BPF programs of this build, and exit. "
	 "Nothing is attached or pinned, and a daemon that runs is not disturbed: so an upgrade is "
	 "tried before the old build is ended." },
	ACTION(TCPTUNED_HELP_CONFIG) = { "help-config", 0, NULL,
	 "Print a configuration file that explains every key, and exit." },
	ACTION(TCPTUNED_DETACH) = { "detach", 0, NULL,
	 "Take back everything that a tcptuned which was killed has left behind, and exit." },
	ACTION(TCPTUNED_FORGET_PATHS) = { "forget-paths", 0, "PREFIX",
	 "Forget what is known about the way to PREFIX, an address or all, also while a daemon "
	 "runs, and exit." },
	ACTION(TCPTUNED_SHOW_VERSION) = { "version", 'V', NULL, "Print the version and exit." },
	ACTION(TCPTUNED_SHOW_HELP) = { "help", 'h', NULL, "Print this help and exit." },
	{ 0 },
};

static int set_action(struct tcptuned_options *options, enum tcptuned_action action,
		      struct tcptuned_error *err)
{
	if (options->action != TCPTUNED_RUN && options->action != action)
		return USAGE(err, "--%s: not together with --%s; choose one of them",
			     entries[FIRST_ACTION + action - TCPTUNED_CHECK_CONFIG].name,
			     entries[FIRST_ACTION + options->action - TCPTUNED_CHECK_CONFIG].name);
	options->action = action;
	return 0;
}

/* The daemon leaves the directory that it was started in, and a reload reads the path again. */
static int set_config_path(struct tcptuned_options *options, const char *path,
			   struct tcptuned_error *err)
{
	char directory[PATH_MAX];
	int length;

	if (!*path)
		return USAGE(err, "--config: its argument is empty; write --config=FILE");
	if (*path == '/' || !getcwd(directory, sizeof(directory)))
		length = snprintf(options->config_path, PATH_MAX, "%s", path);
	else
		length = snprintf(options->config_path, PATH_MAX, "%s/%s", directory, path);
	if (length >= PATH_MAX)
		return USAGE(err, "--config: the path is too long; name a shorter one");
	return 0;
}

static int apply(struct tcptuned_options *options, int which, struct tcptuned_error *err)
{
	enum tcptuned_action action = TCPTUNED_CHECK_CONFIG + which - FIRST_ACTION;

	switch (which) {
	case CONFIG:
		return set_config_path(options, optarg, err);
	case SET:
		return tcptuned_options_add_set(options->set, optarg, err);
	case FOREGROUND:
		options->foreground = true;
		return 0;
	case DRY_RUN:
		options->dry_run = true;
		return 0;
	}
	if (action == TCPTUNED_FORGET_PATHS)
		options->forget = optarg;
	return set_action(options, action, err);
}

int tcptuned_options_parse(int argc, char **argv, struct tcptuned_options *ret,
			   struct tcptuned_error *err)
{
	struct tcptuned_options options = { 0 };
	struct tcptuned_parser parser;
	int which, error;

	tcptuned_parser_init(&parser, "tcptuned", "+", entries);
	for (;;) {
		error = tcptuned_parser_next(&parser, argc, argv, &which, err);
		if (!error && which < 0)
			break;
		if (!error)
			error = apply(&options, which, err);
		if (error)
			return error;
	}
	if (optind < argc)
		return USAGE(err, "%.100s: unexpected; tcptuned takes options only, "
				  "tcptuned --help lists them",
			     argv[optind]);
	if (options.action == TCPTUNED_DETACH && options.dry_run)
		return USAGE(err, "--detach: not together with --dry-run; choose one of them");
	*ret = options;
	return 0;
}

void tcptuned_options_print_help(FILE *out)
{
	fputs("Usage: tcptuned [OPTION]...\n"
	      "Makes every TCP connection of this host run at the speed of its path.\n\n",
	      out);
	for (const struct tcptuned_option *option = entries; option->name; option++)
		tcptuned_option_print(out, option);
	fputs("\nThe manual pages tcptuned(8) and tcptuned.conf(5) say more.\n", out);
}

void tcptuned_options_print_man(FILE *out)
{
	for (const struct tcptuned_option *option = entries; option->name; option++)
		tcptuned_option_print_man(out, option);
}
