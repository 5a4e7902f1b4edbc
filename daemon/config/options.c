// SPDX-License-Identifier: GPL-2.0-only
#include "config/options.h"

#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "util/text.h"

/* The value of a long option without a letter begins above every letter. */
#define FIRST_VALUE 256

void tcptuned_option_parser_add(struct tcptuned_parser *parser,
				const struct tcptuned_option *option)
{
	struct option *entry = &parser->longs[parser->len];

	entry->name = option->name;
	entry->val = option->letter ? option->letter : FIRST_VALUE + (int)parser->len;
	entry->has_arg = option->argument ? required_argument : no_argument;
	parser->options[parser->len++] = option;
	if (option->letter)
		sprintf(parser->letters + strlen(parser->letters), "%c%s", option->letter,
			option->argument ? ":" : "");
}

void tcptuned_option_parser_init(struct tcptuned_parser *parser, const char *command,
				 const char *order, const struct tcptuned_option *options)
{
	memset(parser, 0, sizeof(*parser));
	parser->command = command;
	/* With the colon, getopt_long() distinguishes a missing argument from an unknown option. */
	snprintf(parser->letters, sizeof(parser->letters), "%s:", order);
	for (; options->name; options++)
		tcptuned_option_parser_add(parser, options);
	opterr = 0;
	optind = 0; /* 0, not 1, resets getopt_long() (getopt(3), notes of glibc). */
}

/* The index of the option for which getopt_long() returned @value, or -1. */
static int find_option(const struct tcptuned_parser *parser, int value)
{
	for (size_t i = 0; i < parser->len; i++)
		if (parser->longs[i].val == value)
			return (int)i;
	return -1;
}

/* Fail because of an unknown option, @word, and suggest the one that is most like it. */
static int fail_unknown(const struct tcptuned_parser *parser, const char *word,
			struct tcptuned_error *err)
{
	const char *names[TCPTUNED_OPTIONS_MAX + 1] = {NULL}, *nearest = NULL;
	char name[64];

	if (!strncmp(word, "--", 2)) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		for (size_t i = 0; i < parser->len; i++)
			names[i] = parser->options[i]->name;
		nearest = tcptuned_text_nearest(name, names);
	}
	if (nearest)
		return USAGE(err, "%.100s: no such option; did you mean --%s?", word, nearest);
	return USAGE(err, "%.100s: no such option; %s --help lists all", word, parser->command);
}

/* Fail as getopt_long() did, which returned @value, '?' or ':', at @word. */
static int fail_getopt(const struct tcptuned_parser *parser, int value, const char *word,
		       struct tcptuned_error *err)
{
	char letter[3] = {'-', (char)optopt, '\0'};
	int i = find_option(parser, optopt);

	if (i < 0)
		return fail_unknown(parser, optopt ? letter : word, err);
	if (value == ':')
		return USAGE(err, "--%s: its argument is missing; write --%s=%s",
			     parser->options[i]->name, parser->options[i]->name,
			     parser->options[i]->argument);
	return USAGE(err, "--%s: it takes no argument; remove what follows the =",
		     parser->options[i]->name);
}

int tcptuned_option_parser_next(struct tcptuned_parser *parser, int argc, char **argv, int *ret,
				struct tcptuned_error *err)
{
	int value = getopt_long(argc, argv, parser->letters, parser->longs, NULL);

	*ret = value == -1 ? -1 : find_option(parser, value);
	/* getopt_long() permutes the arguments before this one only at its next call. */
	if (value != -1 && *ret < 0)
		return fail_getopt(parser, value, argv[optind - 1], err);
	return 0;
}

void tcptuned_option_print(FILE *out, const struct tcptuned_option *option)
{
	if (option->letter)
		fprintf(out, "  -%c, --%s", option->letter, option->name);
	else
		fprintf(out, "      --%s", option->name);
	if (option->argument)
		fprintf(out, "=%s", option->argument);
	fputc('\n', out);
	tcptuned_text_print_wrapped(out, "          ", option->help);
}

void tcptuned_option_print_man_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fprintf(out, "%s%c", *name == '-' ? "\\" : "", *name);
}

void tcptuned_option_print_man(FILE *out, const struct tcptuned_option *option)
{
	fputs(".TP\n", out);
	if (option->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", out);
	tcptuned_option_print_man_name(out, option->name);
	fputs("\\fR", out);
	if (option->argument)
		fprintf(out, "=\\fI%s\\fR", option->argument);
	fprintf(out, "\n%s\n", option->help);
}

enum { CONFIG, SET, FOREGROUND, OBSERVE, FIRST_ACTION };

#define ACTION(action) (FIRST_ACTION + (action)-TCPTUNED_CHECK_CONFIG)

static const struct tcptuned_option entries[] = {
	[CONFIG] = {"config", 'c', "FILE",
		    "Read FILE, and drop-ins from FILE.d, instead of " TCPTUNED_CONFIG_PATH "."},
	[SET] = {"set", 's', "SECTION.KEY=VALUE",
		 "Set a key to a value that takes precedence over every file. May be repeated."},
	[FOREGROUND] = {"foreground", 'f', NULL,
			"Stay in the foreground and log to standard error."},
	[OBSERVE] =
		{"observe", 'o', NULL,
		 "Decide and report everything, and change no connection, no setting of the kernel, "
		 "and nothing on disk."},
	[ACTION(TCPTUNED_CHECK_CONFIG)] =
		{"check-config", 0, NULL,
		 "Check the configuration, print each value with its origin, and exit. A start or a reload "
		 "would use these values; tcptunectl status says whether they are in force. Sysctls of the "
		 "host that limit every connection are named on standard error."},
	[ACTION(TCPTUNED_CHECK_LOAD)] =
		{"check-load", 0, NULL,
		 "Check the configuration, and that this kernel loads the BPF programs of this build, and "
		 "exit. Nothing is attached or pinned, and a running daemon is not disturbed, so that an "
		 "upgrade can be tested before the old build is stopped."},
	[ACTION(TCPTUNED_HELP_CONFIG)] =
		{"help-config", 0, NULL,
		 "Print a configuration file that explains every key, and exit."},
	[ACTION(TCPTUNED_DETACH)] =
		{"detach", 0, NULL,
		 "Release everything that a killed tcptuned has left behind, and exit. Of a "
		 "configuration that is not valid, the default directories are used."},
	[ACTION(TCPTUNED_FORGET_PATHS)] =
		{"forget-paths", 0, "PREFIX",
		 "Delete what is remembered about the paths to PREFIX, an address or all, whether a daemon "
		 "runs or not, and exit."},
	[ACTION(TCPTUNED_SHOW_VERSION)] = {"version", 'V', NULL, "Print the version and exit."},
	[ACTION(TCPTUNED_SHOW_HELP)] = {"help", 'h', NULL, "Print this help and exit."},
	{0},
};

/* The path becomes absolute: the daemon changes its directory, and reloads read the file again. */
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

static int add_set(const char **set, const char *text, struct tcptuned_error *err)
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

static int set_option(struct tcptuned_options *options, int which, struct tcptuned_error *err)
{
	switch (which) {
	case CONFIG:
		return set_config_path(options, optarg, err);
	case SET:
		return add_set(options->set, optarg, err);
	case FOREGROUND:
		options->foreground = true;
		return 0;
	case OBSERVE:
		options->observe = true;
		return 0;
	case ACTION(TCPTUNED_FORGET_PATHS):
		options->forget = optarg;
	}
	if (options->action != TCPTUNED_RUN && (int)ACTION(options->action) != which)
		return USAGE(err, "--%s: not together with --%s; choose one of them",
			     entries[which].name, entries[ACTION(options->action)].name);
	options->action = TCPTUNED_CHECK_CONFIG + which - FIRST_ACTION;
	return 0;
}

int tcptuned_options_parse(int argc, char **argv, struct tcptuned_options *ret,
			   struct tcptuned_error *err)
{
	struct tcptuned_options options = {0};
	struct tcptuned_parser parser;
	int which, error;

	tcptuned_option_parser_init(&parser, "tcptuned", "+", entries);
	do {
		error = tcptuned_option_parser_next(&parser, argc, argv, &which, err);
		if (!error && which >= 0)
			error = set_option(&options, which, err);
		if (error)
			return error;
	} while (which >= 0);
	if (optind < argc)
		return USAGE(err,
			     "%.100s: unexpected; tcptuned takes options only, "
			     "tcptuned --help lists them",
			     argv[optind]);
	if (options.observe &&
	    (options.action == TCPTUNED_DETACH || options.action == TCPTUNED_FORGET_PATHS))
		return USAGE(err, "--%s: not together with --observe; choose one of them",
			     entries[ACTION(options.action)].name);
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
