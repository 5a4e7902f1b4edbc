// SPDX-License-Identifier: GPL-2.0-only
/* The command line: every option, and what is said about a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "config/options.h"

static struct tcptuned_options options;
static struct tcptuned_error err;

/* Parse the words after the program's name; the last one is NULL. */
static int parse_words(const char *const *words)
{
	char *argv[128] = {"tcptuned"};
	int argc = 1;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	argv[argc] = NULL;
	memset(&options, 0xa5, sizeof(options));
	memset(&err, 0, sizeof(err));
	return tcptuned_options_parse(argc, argv, &options, &err);
}

#define parse(...) parse_words((const char *const[]){__VA_ARGS__, NULL})

static void assert_fails_with(int error, const char *part, const char *remedy)
{
	assert_true(error < 0);
	assert_int_equal(err.status, TCPTUNED_EXIT_USAGE);
	if (!strstr(err.text, part) || !strstr(err.text, remedy))
		fail_msg("\"%s\" and \"%s\" not in: %s", part, remedy, err.text);
	for (size_t i = 0; i < sizeof(options); i++)
		assert_int_equal(((unsigned char *)&options)[i], 0xa5);
}

static void test_none(void **state)
{
	assert_int_equal(parse_words((const char *const[]){NULL}), 0);
	assert_int_equal(options.action, TCPTUNED_RUN);
	assert_string_equal(options.config_path, "");
	assert_null(options.set[0]);
	assert_false(options.foreground);
	assert_false(options.dry_run);
}

static void test_actions(void **state)
{
	static const struct {
		const char *word;
		enum tcptuned_action action;
	} actions[] = {
		{"--check-config", TCPTUNED_CHECK_CONFIG},
		{"--check-load", TCPTUNED_CHECK_LOAD},
		{"--help-config", TCPTUNED_HELP_CONFIG},
		{"--detach", TCPTUNED_DETACH},
		{"--version", TCPTUNED_SHOW_VERSION},
		{"-V", TCPTUNED_SHOW_VERSION},
		{"--help", TCPTUNED_SHOW_HELP},
		{"-h", TCPTUNED_SHOW_HELP},
		{"--det", TCPTUNED_DETACH}, /* getopt's abbreviation */
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		assert_int_equal(parse(actions[i].word), 0);
		assert_int_equal(options.action, actions[i].action);
		assert_int_equal(parse(actions[i].word, actions[i].word), 0);
	}
}

static void test_values(void **state)
{
	assert_int_equal(parse("--config", "/a", "--foreground", "--dry-run", "--set", "a.b=c",
			       "--set=d.e=f"),
			 0);
	assert_string_equal(options.config_path, "/a");
	assert_true(options.foreground);
	assert_true(options.dry_run);
	assert_string_equal(options.set[0], "a.b=c");
	assert_string_equal(options.set[1], "d.e=f");
	assert_null(options.set[2]);
	assert_int_equal(parse("-fnc/b", "-s", "x"), 0);
	assert_string_equal(options.config_path, "/b");
	assert_true(options.foreground);
	assert_true(options.dry_run);
	assert_string_equal(options.set[0], "x");
	assert_int_equal(parse("--config=/c"), 0);
	assert_string_equal(options.config_path, "/c");
}

/* The daemon moves to /, where a relative path would be another file at a reload. */
static void test_relative_path(void **state)
{
	char *directory = get_current_dir_name();
	char expected[PATH_MAX + 16], longer[PATH_MAX + 2];

	assert_non_null(directory);
	assert_int_equal(chdir("/usr"), 0);
	assert_int_equal(parse("-c", "a/b.conf"), 0);
	assert_string_equal(options.config_path, "/usr/a/b.conf");
	assert_int_equal(chdir(directory), 0);
	snprintf(expected, sizeof(expected), "%s/b.conf", directory);
	assert_int_equal(parse("--config=b.conf"), 0);
	assert_string_equal(options.config_path, expected);
	free(directory);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_fails_with(parse("-c", longer), "--config: the path is too long", "shorter");
	assert_fails_with(parse("--config="), "--config: its argument is empty",
			  "--config=FILE");
}

static void test_wrong(void **state)
{
	assert_fails_with(parse("--forground"), "--forground", "did you mean --foreground?");
	assert_fails_with(parse("--conifg=/x"), "--conifg=/x", "did you mean --config?");
	assert_fails_with(parse("--dryrun"), "--dryrun", "did you mean --dry-run?");
	assert_fails_with(parse("-f", "--zzz"), "--zzz: no such option", "--help");
	assert_fails_with(parse("-x"), "-x: no such option", "--help");
	assert_fails_with(parse("-fx"), "-x: no such option", "--help");
	assert_fails_with(parse("--config"), "--config", "write --config=FILE");
	assert_fails_with(parse("-f", "-s"), "--set", "write --set=SECTION.KEY=VALUE");
	assert_fails_with(parse("--help=all"), "--help", "takes no argument");
	assert_fails_with(parse("--foreground=yes"), "--foreground", "takes no argument");
	assert_fails_with(parse("start"), "start: unexpected", "--help");
	assert_fails_with(parse("-f", "--", "-n"), "-n: unexpected", "--help");
	assert_fails_with(parse(""), ": unexpected", "--help");
	assert_fails_with(parse("--check-config", "--detach"), "--check-config", "choose one");
	assert_fails_with(parse("--dry-run", "--detach"), "--detach", "--dry-run");
}

static void test_too_many_sets(void **state)
{
	const char *words[TCPTUNED_SET_MAX + 2] = {NULL};

	for (int i = 0; i < TCPTUNED_SET_MAX; i++)
		words[i] = "-sa.b=c";
	assert_int_equal(parse_words(words), 0);
	assert_non_null(options.set[TCPTUNED_SET_MAX - 1]);
	assert_null(options.set[TCPTUNED_SET_MAX]);
	words[TCPTUNED_SET_MAX] = "-sa.b=c";
	assert_fails_with(parse_words(words), "--set", "use a configuration file");
}

/* Every option is in the help and in the man page. */
static void test_help(void **state)
{
	static const char *const names[] = {"config",  "set",	       "foreground",
					    "dry-run", "check-config", "check-load", "help-config",
					    "detach",  "version",      "help"};
	static void (*const print[])(FILE *) = {tcptuned_options_print_help,
						tcptuned_options_print_man};

	for (size_t p = 0; p < 2; p++) {
		char *text = NULL, plain[16384];
		size_t size, n = 0;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		print[p](out);
		fclose(out);
		for (const char *c = text; *c; c++)
			if (*c != '\\')
				plain[n++] = *c;
		plain[n] = '\0';
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			char name[32];

			snprintf(name, sizeof(name), "--%s", names[i]);
			assert_non_null(strstr(plain, name));
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),	      cmocka_unit_test(test_actions),
		cmocka_unit_test(test_values),	      cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_relative_path), cmocka_unit_test(test_too_many_sets),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
