// SPDX-License-Identifier: GPL-2.0-only
/* The command line: every option, and the messages about invalid ones. */
#include "test.h"
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

static void assert_refused(int error, const char *part, const char *remedy)
{
	unsigned char filled[sizeof(options)];

	memset(filled, 0xa5, sizeof(filled));
	assert_true(error < 0);
	assert_int_equal(err.status, TCPTUNED_EXIT_USAGE);
	assert_contains(err.text, part);
	assert_contains(err.text, remedy);
	assert_memory_equal(&options, filled, sizeof(filled));
}

TEST(none)
{
	assert_int_equal(parse_words((const char *const[]){NULL}), 0);
	assert_int_equal(options.action, TCPTUNED_RUN);
	assert_string_equal(options.config_path, "");
	assert_null(options.set[0]);
	assert_false(options.foreground);
	assert_false(options.observe);
}

TEST(actions)
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

	for_each_row (r, actions) {
		assert_int_equal(parse(r->word, r->word), 0);
		assert_int_equal(parse(r->word), 0);
		assert_int_equal(options.action, r->action);
	}
}

TEST(values)
{
	assert_int_equal(parse("--config", "/a", "--foreground", "--observe", "--set", "a.b=c",
			       "--set=d.e=f"),
			 0);
	assert_string_equal(options.config_path, "/a");
	assert_true(options.foreground);
	assert_true(options.observe);
	assert_string_equal(options.set[0], "a.b=c");
	assert_string_equal(options.set[1], "d.e=f");
	assert_null(options.set[2]);
	assert_int_equal(parse("-foc/b", "-s", "x"), 0);
	assert_string_equal(options.config_path, "/b");
	assert_true(options.foreground);
	assert_true(options.observe);
	assert_string_equal(options.set[0], "x");
	assert_int_equal(parse("--config=/c"), 0);
	assert_string_equal(options.config_path, "/c");
}

/* The daemon changes to /, where a relative path would name another file at a reload. */
TEST(relative_path)
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
	assert_refused(parse("-c", longer), "--config: the path is too long", "shorter");
	assert_refused(parse("--config="), "--config: its argument is empty", "--config=FILE");
}

TEST(wrong)
{
	assert_refused(parse("--forground"), "--forground", "did you mean --foreground?");
	assert_refused(parse("--conifg=/x"), "--conifg=/x", "did you mean --config?");
	assert_refused(parse("--obsreve"), "--obsreve", "did you mean --observe?");
	assert_refused(parse("-f", "--zzz"), "--zzz: no such option", "--help");
	assert_refused(parse("-x"), "-x: no such option", "--help");
	assert_refused(parse("-fx"), "-x: no such option", "--help");
	assert_refused(parse("--config"), "--config", "write --config=FILE");
	assert_refused(parse("-f", "-s"), "--set", "write --set=SECTION.KEY=VALUE");
	assert_refused(parse("--help=all"), "--help", "takes no argument");
	assert_refused(parse("--foreground=yes"), "--foreground", "takes no argument");
	assert_refused(parse("start"), "start: unexpected", "--help");
	assert_refused(parse("-f", "--", "-n"), "-n: unexpected", "--help");
	assert_refused(parse(""), ": unexpected", "--help");
	assert_refused(parse("--check-config", "--detach"), "--check-config", "choose one");
	assert_refused(parse("--observe", "--detach"), "--detach", "--observe");
	assert_refused(parse("--observe", "--forget-paths=all"), "--forget-paths", "--observe");
}

TEST(too_many_sets)
{
	const char *words[TCPTUNED_SET_MAX + 2] = {NULL};

	for (int i = 0; i < TCPTUNED_SET_MAX; i++)
		words[i] = "-sa.b=c";
	assert_int_equal(parse_words(words), 0);
	assert_non_null(options.set[TCPTUNED_SET_MAX - 1]);
	assert_null(options.set[TCPTUNED_SET_MAX]);
	words[TCPTUNED_SET_MAX] = "-sa.b=c";
	assert_refused(parse_words(words), "--set", "use a configuration file");
}

/* Every option is in the help and in the man page. */
TEST(help)
{
	static const char *const names[] = {
		"--config",	"--set",	 "--foreground", "--observe", "--check-config",
		"--check-load", "--help-config", "--detach",	 "--version", "--help",
	};
	static void (*const print[])(FILE *) = {tcptuned_options_print_help,
						tcptuned_options_print_man};

	for (size_t p = 0; p < 2; p++) {
		char *text = text_printed(out, print[p](out)), plain[16384];
		size_t n = 0;

		for (const char *c = text; *c; c++)
			if (*c != '\\')
				plain[n++] = *c;
		plain[n] = '\0';
		for_each_row (name, names)
			assert_contains(plain, *name);
		free(text);
	}
}
