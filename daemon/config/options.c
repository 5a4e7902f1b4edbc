// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "config/options.h"
#include "util/array.h"
#include "util/text.h"

/* What an option does to struct tcptuned_options. */
enum effect {
	EFFECT_ACTION,
	EFFECT_CONFIG,
	EFFECT_SET,
	EFFECT_FOREGROUND,
	EFFECT_DRY_RUN,
	EFFECT_FORGET
};

static const struct option_entry {
	const char *name;
	char letter; /* or 0 */
	enum effect effect;
	enum tcptuned_action action; /* of EFFECT_ACTION */
	const char *argument;	     /* its name in the help, or NULL */
	const char *help;
} entries[] = {
	{"config", 'c', EFFECT_CONFIG, 0, "FILE",
	 "Read FILE, and drop-ins from FILE.d, in place of " TCPTUNED_CONFIG_PATH "."},
	{"set", 's', EFFECT_SET, 0, "SECTION.KEY=VALUE",
	 "Give a key a value that goes before every file's. May be repeated."},
	{"foreground", 'f', EFFECT_FOREGROUND, 0, NULL,
	 "Stay in the foreground and log to standard error."},
	{"dry-run", 'n', EFFECT_DRY_RUN, 0, NULL,
	 "Decide and report everything, change nothing, neither in the kernel nor on disk."},
	{"check-config", 0, EFFECT_ACTION, TCPTUNED_CHECK_CONFIG, NULL,
	 "Check the configuration, print what the files say, as a reload or start would take it, and "
	 "where each value comes from, and exit. tcptunectl status says whether it is in force."},
	{"check-load", 0, EFFECT_ACTION, TCPTUNED_CHECK_LOAD, NULL,
	 "Check the configuration, and that this kernel loads the BPF programs of this build, and exit. "
	 "Nothing is attached or pinned, and a daemon that runs is not disturbed: so an upgrade is "
	 "tried before the old build is ended."},
	{"help-config", 0, EFFECT_ACTION, TCPTUNED_HELP_CONFIG, NULL,
	 "Print a configuration file that explains every key, and exit."},
	{"detach", 0, EFFECT_ACTION, TCPTUNED_DETACH, NULL,
	 "Take back everything that a tcptuned which was killed has left behind, and exit."},
	{"forget-paths", 0, EFFECT_FORGET, TCPTUNED_FORGET_PATHS, "PREFIX",
	 "Forget what is known about the way to PREFIX, an address or all, also while a daemon "
	 "runs, and exit."},
	{"version", 'V', EFFECT_ACTION, TCPTUNED_SHOW_VERSION, NULL,
	 "Print the version and exit."},
	{"help", 'h', EFFECT_ACTION, TCPTUNED_SHOW_HELP, NULL, "Print this help and exit."},
};

#define OPTIONS ARRAY_SIZE(entries)

/* getopt_long()'s view of the table; its values begin above every letter. */
#define FIRST_VALUE 256

static void build_getopt(struct option longs[OPTIONS + 1], char letters[2 * OPTIONS + 3])
{
	char *p = letters;

	*p++ = '+'; /* nothing but options is expected: no permutation */
	*p++ = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < OPTIONS; i++) {
		longs[i] = (struct option){
			.name = entries[i].name,
			.has_arg = entries[i].argument ? required_argument : no_argument,
			.val = FIRST_VALUE + i,
		};
		if (!entries[i].letter)
			continue;
		*p++ = entries[i].letter;
		if (entries[i].argument)
			*p++ = ':';
	}
	*p = '\0';
	longs[OPTIONS] = (struct option){0};
}

static const struct option_entry *find_entry(int value)
{
	if (value >= FIRST_VALUE && value < FIRST_VALUE + (int)OPTIONS)
		return &entries[value - FIRST_VALUE];
	for (size_t i = 0; i < OPTIONS; i++)
		if (value && entries[i].letter == value)
			return &entries[i];
	return NULL;
}

/* "did you mean" for an option that getopt_long() does not know; @word as it was given. */
static int fail_unknown(const char *word, struct tcptuned_error *err)
{
	const char *names[OPTIONS + 1] = {NULL}, *nearest = NULL;
	char name[64];

	if (!strncmp(word, "--", 2)) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		for (size_t i = 0; i < OPTIONS; i++)
			names[i] = entries[i].name;
		nearest = tcptuned_nearest(name, names);
	}
	if (nearest)
		return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
				     "%.100s: no such option; did you mean --%s?", word,
				     nearest);
	return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
			     "%.100s: no such option; tcptuned --help lists all", word);
}

/* getopt_long() returned '?' or ':'. @word: the argument that it was at. */
static int fail_getopt(int value, const char *word, struct tcptuned_error *err)
{
	const struct option_entry *entry = find_entry(optopt);
	char letter[3] = {'-', (char)optopt, '\0'};

	if (value == ':' && entry)
		return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
				     "--%s: its argument is missing; write --%s=%s",
				     entry->name, entry->name, entry->argument);
	if (entry && !strncmp(word, "--", 2))
		return tcptuned_fail(
			err, EINVAL, TCPTUNED_EXIT_USAGE,
			"--%s: it takes no argument; leave away what follows the =",
			entry->name);
	return fail_unknown(optopt ? letter : word, err);
}

static int set_action(struct tcptuned_options *options, const struct option_entry *entry,
		      struct tcptuned_error *err)
{
	const struct option_entry *other;

	if (options->action == TCPTUNED_RUN || options->action == entry->action) {
		options->action = entry->action;
		return 0;
	}
	for (other = entries; other->action != options->action; other++)
		;
	return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
			     "--%s: not together with --%s; choose one of them", entry->name,
			     other->name);
}

static int add_set(struct tcptuned_options *options, const char *text,
		   struct tcptuned_error *err)
{
	size_t n = 0;

	while (options->set[n])
		n++;
	if (n == TCPTUNED_SET_MAX)
		return tcptuned_fail(
			err, EINVAL, TCPTUNED_EXIT_USAGE,
			"--set: given more than %d times; use a configuration file",
			TCPTUNED_SET_MAX);
	options->set[n] = text;
	return 0;
}

/* The daemon leaves the directory that it was started in, and a reload reads the path again. */
static int set_config_path(struct tcptuned_options *options, const char *path,
			   struct tcptuned_error *err)
{
	char directory[PATH_MAX];
	int length;

	if (!*path)
		return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
				     "--config: its argument is empty; write --config=FILE");
	if (*path == '/' || !getcwd(directory, sizeof(directory)))
		length = snprintf(options->config_path, PATH_MAX, "%s", path);
	else
		length = snprintf(options->config_path, PATH_MAX, "%s/%s", directory, path);
	if (length >= PATH_MAX)
		return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
				     "--config: the path is too long; name a shorter one");
	return 0;
}

static int apply(struct tcptuned_options *options, const struct option_entry *entry,
		 struct tcptuned_error *err)
{
	switch (entry->effect) {
	case EFFECT_ACTION:
		return set_action(options, entry, err);
	case EFFECT_CONFIG:
		return set_config_path(options, optarg, err);
	case EFFECT_SET:
		return add_set(options, optarg, err);
	case EFFECT_FOREGROUND:
		options->foreground = true;
		return 0;
	case EFFECT_DRY_RUN:
		options->dry_run = true;
		return 0;
	case EFFECT_FORGET:
		options->forget = optarg;
		return set_action(options, entry, err);
	}
	return 0;
}

int tcptuned_options_parse(int argc, char **argv, struct tcptuned_options *ret,
			   struct tcptuned_error *err)
{
	struct tcptuned_options options = {0};
	const struct option_entry *entry;
	struct option longs[OPTIONS + 1];
	char letters[2 * OPTIONS + 3];
	int value, at, r;

	build_getopt(longs, letters);
	opterr = 0;
	/* 0, not 1: start anew, also after an earlier call (getopt(3), notes of glibc). */
	for (optind = 0;;) {
		at = optind ? optind : 1;
		value = getopt_long(argc, argv, letters, longs, NULL);
		if (value == -1)
			break;
		entry = find_entry(value);
		if (!entry)
			return fail_getopt(value, argv[at], err);
		r = apply(&options, entry, err);
		if (r < 0)
			return r;
	}
	if (optind < argc)
		return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
				     "%.100s: unexpected; tcptuned takes options only, "
				     "tcptuned --help lists them",
				     argv[optind]);
	if (options.action == TCPTUNED_DETACH && options.dry_run)
		return tcptuned_fail(
			err, EINVAL, TCPTUNED_EXIT_USAGE,
			"--detach: not together with --dry-run; choose one of them");
	*ret = options;
	return 0;
}

void tcptuned_options_print_help(FILE *out)
{
	fputs("Usage: tcptuned [OPTION]...\n"
	      "Makes every TCP connection of this host run at the speed of its path.\n\n",
	      out);
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_entry *e = &entries[i];

		if (e->letter)
			fprintf(out, "  -%c, ", e->letter);
		else
			fputs("      ", out);
		fprintf(out, "--%s%s%s\n", e->name, e->argument ? "=" : "",
			e->argument ? e->argument : "");
		tcptuned_print_wrapped(out, "          ", e->help);
	}
	fputs("\nThe manual pages tcptuned(8) and tcptuned.conf(5) say more.\n", out);
}

/* A minus of roff is \-, also within a name. */
static void print_long_name(FILE *out, const char *name)
{
	fputs("\\fB\\-\\-", out);
	for (; *name; name++)
		fputs(*name == '-' ? "\\-" : (char[]){*name, 0}, out);
	fputs("\\fR", out);
}

void tcptuned_options_print_man(FILE *out)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option_entry *e = &entries[i];

		fputs(".TP\n", out);
		if (e->letter)
			fprintf(out, "\\fB\\-%c\\fR, ", e->letter);
		print_long_name(out, e->name);
		if (e->argument)
			fprintf(out, "=\\fI%s\\fR", e->argument);
		fprintf(out, "\n%s\n", e->help);
	}
}
