// SPDX-License-Identifier: GPL-2.0-only
/* tcptune-run: what it parses, and which requests it withholds. */
#include "run/notify.h"
#include "run/options.h"

#include "test.h"

TEST(rates_have_units_of_bits)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"800", 100},
		    {"8bit", 1},
		    {"80kbit", 10000},
		    {"100Mbit", 12500000},
		    {"2.5gbit/s", 312500000},
		    {"1e6", 125000}};
	static const char *const bad[] = {"",	 "fast", "10MB", "10 Mbit", "-1", "0",
					  "nan", "inf",	 "1e30", "5/s/s",   "7"};
	uint64_t rate;

	for_each_row (r, good) {
		assert_int_equal(run_parse_rate(r->text, &rate), 0);
		assert_int_equal(rate, r->bytes);
	}
	for_each_row (text, bad)
		assert_int_equal(run_parse_rate(*text, &rate), -EINVAL);
}

static const char *parse(const char *words, struct run_options *ret)
{
	static struct tcptuned_error err;
	static char text[200];
	char *argv[16], *save;
	int argc = 0;

	snprintf(text, sizeof(text), "tcptune-run %s", words);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	err.text[0] = '\0';
	run_options_parse(argc, argv, ret, &err);
	return err.text;
}

TEST(options_of_the_command_are_its_own)
{
	struct run_options options;

	assert_string_equal(parse("--watch ls --why -t", &options), "");
	assert_true(options.watch);
	assert_false(options.why || options.tune);
	assert_string_equal(options.command[1], "--why");
	assert_string_equal(parse("--cc reno -- ls", &options), "");
	assert_true(options.tune);
	assert_string_equal(options.command[0], "ls");
	assert_string_equal(parse("--why", &options),
			    "a command is missing; write tcptune-run [OPTION]... COMMAND");
	assert_non_null(strstr(parse("--why --rate 1Mbit ls", &options), "choose one of them"));
}

TEST(requests_are_withheld_where_autotuning_can_reach_more)
{
	struct tuner_limits limits = {.rcvbuf = 8 << 20,
				      .sndbuf = 8 << 20,
				      .tuned_rcvbuf = 32 << 20,
				      .tuned_sndbuf = 4 << 20};

	assert_false(notify_withholds(&limits, true, 16383));
	assert_true(notify_withholds(&limits, true, 16384));
	/* Whatever is requested, the kernel gives 8 MiB. */
	assert_true(notify_withholds(&limits, true, 1 << 30));
	assert_true(notify_withholds(&limits, true, -1));
	assert_true(notify_withholds(&limits, false, (2 << 20) - 1));
	assert_false(notify_withholds(&limits, false, 2 << 20));
	/* In a network namespace where net.core.rmem_max cannot be read. */
	limits.rcvbuf = 0;
	assert_true(notify_withholds(&limits, true, 65536));
	assert_false(notify_withholds(&limits, true, 1 << 30));
}
