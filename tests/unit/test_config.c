// SPDX-License-Identifier: GPL-2.0-only
/* The configuration: every key right and wrong, where each value comes from, what is said. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "config/config.h"
#include "config/diff.h"
#include "config/keys.h"
#include "config/load.h"
#include "config/print.h"
#include "numbers.h"
#include "util/log.h"

/* --- a directory with a configuration in it ------------------------------------------- */

static char directory[64];
static char path[128];	  /* directory/tcptuned.conf */
static char drop_in[160]; /* its .d */
static struct tcptuned_config config;
static struct tcptuned_error err;

static void write_file(const char *name, const char *text, size_t length)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void write_config(const char *text)
{
	write_file(path, text, strlen(text));
}

static void write_drop_in(const char *name, const char *text)
{
	char file[512];

	mkdir(drop_in, 0755);
	snprintf(file, sizeof(file), "%s/%s", drop_in, name);
	write_file(file, text, strlen(text));
}

static int setup(void **state)
{
	strcpy(directory, "/tmp/test_config.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/tcptuned.conf", directory);
	snprintf(drop_in, sizeof(drop_in), "%s.d", path);
	memset(&config, 0xa5, sizeof(config));
	memset(&err, 0, sizeof(err));
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command);
}

static void load(const char *text)
{
	write_config(text);
	if (tcptuned_config_load(path, NULL, &config, &err))
		fail_msg("%s", err.text);
}

/* @config was not touched: not one byte of it. */
static void assert_untouched(void)
{
	const unsigned char *bytes = (const unsigned char *)&config;

	for (size_t i = 0; i < sizeof(config); i++)
		assert_int_equal(bytes[i], 0xa5);
}

static void assert_says(const char *part)
{
	if (!strstr(err.text, part))
		fail_msg("\"%s\" is not in: %s", part, err.text);
}

/* One line, and not cut off. */
static void assert_sentence(void)
{
	assert_null(strchr(err.text, '\n'));
	assert_in_range(strlen(err.text), 20, sizeof(err.text) - 2);
}

/* Load what fails: at @line of the file (0: about the file as a whole), and so on. */
static void assert_fails(unsigned int line, const char *part, const char *remedy)
{
	char at[256];

	assert_true(tcptuned_config_load(path, NULL, &config, &err) < 0);
	assert_untouched();
	assert_sentence();
	if (line)
		snprintf(at, sizeof(at), "%s:%u: ", path, line);
	else
		snprintf(at, sizeof(at), "%s: ", path);
	if (strncmp(err.text, at, strlen(at)))
		fail_msg("expected at %s but: %s", at, err.text);
	assert_says(part);
	assert_says(remedy);
	assert_int_equal(err.status, TCPTUNED_EXIT_CONFIG);
}

static void load_fails(const char *text, unsigned int line, const char *part, const char *remedy)
{
	write_config(text);
	assert_fails(line, part, remedy);
}

/* --- defaults -------------------------------------------------------------------------- */

static void assert_defaults(const struct tcptuned_config *c)
{
	struct bitcp_params params = bitcp_params_default();

	assert_string_equal(c->cgroup, "");
	assert_string_equal(c->bpffs, "/sys/fs/bpf");
	assert_string_equal(c->runtime_directory, "/run/tcptuned");
	assert_int_equal(c->log_level, TCPTUNED_LOG_INFO);
	assert_int_equal(c->policy.mode, TCPTUNED_TUNE);
	assert_true(c->policy.override_rcvbuf);
	assert_true(c->policy.override_sndbuf);
	assert_int_equal(c->policy.receive_window_max_bytes, 0);
	assert_int_equal(c->policy.send_window_max_bytes, 0);
	assert_string_equal(c->policy.congestion_control, TCPTUNED_CC_AUTO);
	assert_int_equal(c->policy.long_path_segments, 4096);
	assert_int_equal(c->policies_len, 0);
	assert_memory_equal(&c->bitcp, &params, sizeof(params));
	assert_true(c->metrics_enabled);
	assert_string_equal(c->metrics_address, "127.0.0.1");
	assert_int_equal(c->metrics_port, 9817);
	assert_int_equal(c->metrics_flows, 20);
}

static void test_defaults(void **state)
{
	struct tcptuned_config defaults;

	tcptuned_config_defaults(&defaults);
	assert_defaults(&defaults);
	load("");
	assert_defaults(&config);
	assert_int_equal(tcptuned_config_diff(&defaults, &config, NULL, NULL), 0);
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		assert_string_equal(config.origin[i], "default");
}

/* --- every valid form ------------------------------------------------------------------ */

static void test_bool_forms(void **state)
{
	static const char *const yes[] = {"yes", "true", "1", "on", "Yes", "TRUE"};
	static const char *const no[] = {"no", "false", "0", "off", "No", "OFF"};
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		snprintf(text, sizeof(text), "[metrics]\nenabled = %s\n", yes[i]);
		load(text);
		assert_true(config.metrics_enabled);
		snprintf(text, sizeof(text), "[policy]\noverride_rcvbuf = %s\n", no[i]);
		load(text);
		assert_false(config.policy.override_rcvbuf);
		assert_true(config.policy.override_sndbuf);
	}
}

static void test_size_forms(void **state)
{
	static const struct {
		const char *text;
		uint32_t bytes;
	} sizes[] = {
		{"65536", 65536},
		{"64K", 65536},
		{"64k", 65536},
		{"64KiB", 65536},
		{"64 KiB", 65536},
		{"16M", 16u << 20},
		{"16 MiB", 16u << 20},
		{"16mib", 16u << 20},
		{"1G", 1u << 30},
		{"1GiB", 1u << 30},
		{"1073741824", 1u << 30},
		{"100000", 100000},
		{"0000000000000000065536", 65536},
		{"+64K", 65536},
		{"auto", 0},
	};
	char text[128];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		snprintf(text, sizeof(text),
			 "[policy]\nreceive_window_max = %s\nsend_window_max=%s\n",
			 sizes[i].text, sizes[i].text);
		load(text);
		assert_int_equal(config.policy.receive_window_max_bytes, sizes[i].bytes);
		assert_int_equal(config.policy.send_window_max_bytes, sizes[i].bytes);
	}
}

static void test_fraction_forms(void **state)
{
	static const struct {
		const char *text;
		double value;
	} fractions[] = {
		{"0.01", 0.01},
		{"0.001", 0.001},
		{"0.5", 0.5},
		{"00.25", 0.25},
		{"0.250000000000", 0.25},
		{"0.123456789", 0.123456789},
		{"0.24999999999999999999", 0.25},
	};
	char text[128];

	for (size_t i = 0; i < ARRAY_SIZE(fractions); i++) {
		double want = fractions[i].value * Q32;

		snprintf(text, sizeof(text), "[bitcp]\nbeta = %s\n", fractions[i].text);
		load(text);
		/* Nine decimals are 4.3 units of 2^-32; otherwise rounded to nearest. */
		if (strlen(fractions[i].text) > 20)
			assert_in_range(config.bitcp.beta, want - 5, want);
		else
			assert_int_equal(config.bitcp.beta, (uint64_t)(want + 0.5));
	}
}

/* Two words besides the sizes of a window and the names of a congestion control. */
static void test_words(void **state)
{
	static const struct {
		const char *name, *text;
		uint32_t window;
		const char *wants;
	} words[] = {
		{"receive_window_max", "kernel", TCPTUNED_WINDOW_KERNEL, ", kernel or auto"},
		{"receive_window_max", "auto", 0, ", kernel or auto"},
		{"congestion_control", "auto", 0, ", auto or keep"},
		{"congestion_control", "keep", 0, ", auto or keep"},
	};
	char text[KEY_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		snprintf(text, sizeof(text), "[policy]\n%s = %s\n",
			 words[i].name, words[i].text);
		load(text);
		assert_int_equal(config.policy.receive_window_max_bytes, words[i].window);
		for (size_t k = 0; k < TCPTUNED_CONFIG_KEYS; k++) {
			if (strcmp(tcptuned_keys[k].name, words[i].name))
				continue;
			tcptuned_key_format(&tcptuned_keys[k], &config.policy, text);
			assert_string_equal(text, words[i].text);
			tcptuned_key_wants(&tcptuned_keys[k], text);
			assert_non_null(strstr(text, words[i].wants));
		}
	}
}

static void test_other_forms(void **state)
{
	load("[tcptuned]\ncgroup = /sys/fs/cgroup/a b=c\nbpffs=/x\nruntime_directory  =/run/y\n"
	     "log_level = debug\n[policy]\nmode = observe\ncongestion_control = keep\n"
	     "[metrics]\nenabled = no\naddress = ::1\nport = 65535\nflows = 0\n");
	assert_string_equal(config.cgroup, "/sys/fs/cgroup/a b=c");
	assert_string_equal(config.bpffs, "/x");
	assert_string_equal(config.runtime_directory, "/run/y");
	assert_int_equal(config.log_level, TCPTUNED_LOG_DEBUG);
	assert_int_equal(config.policy.mode, TCPTUNED_OBSERVE);
	assert_string_equal(config.policy.congestion_control, "");
	assert_false(config.metrics_enabled);
	assert_string_equal(config.metrics_address, "::1");
	assert_int_equal(config.metrics_port, 65535);
	assert_int_equal(config.metrics_flows, 0);
	load("[tcptuned]\ncgroup = auto\nlog_level=error\n[policy]\nmode=off\n"
	     "congestion_control=fifteen_letters\n[metrics]\naddress=0.0.0.0\nport=1\nflows="
	     "1000");
	assert_string_equal(config.cgroup, "");
	assert_int_equal(config.log_level, TCPTUNED_LOG_ERROR);
	assert_int_equal(config.policy.mode, TCPTUNED_OFF);
	assert_string_equal(config.policy.congestion_control, "fifteen_letters");
	assert_string_equal(config.metrics_address, "0.0.0.0");
	assert_int_equal(config.metrics_port, 1);
	assert_int_equal(config.metrics_flows, 1000);
}

/* What surrounds keys: comments, blanks, line ends, a byte order mark, sections twice. */
static void test_layout(void **state)
{
	char text[2048];

	load("\xef\xbb\xbf# first\r\n\r\n[metrics] ; here\r\n  port = 1234 ; there\r\n"
	     "\tflows=7\r\n; old\n[policy]\nmode=off\n[metrics]\nenabled=no");
	assert_int_equal(config.metrics_port, 1234);
	assert_int_equal(config.metrics_flows, 7);
	assert_int_equal(config.policy.mode, TCPTUNED_OFF);
	assert_false(config.metrics_enabled);
	/* A line may be as long as it likes. */
	snprintf(text, sizeof(text), "#%01500d\n[metrics]\nport = 5\n", 0);
	load(text);
	assert_int_equal(config.metrics_port, 5);
}

/* --- every key wrong ------------------------------------------------------------------- */

/* What fails, in which line of the file, and what is said about it. */
static const struct {
	const char *section, *key, *value, *remedy;
} wrongs[] = {
	{"tcptuned", "cgroup", "unified", "an absolute path, or auto"},
	{"tcptuned", "bpffs", "auto", "an absolute path"},
	{"tcptuned", "runtime_directory", "", "an absolute path"},
	{"tcptuned", "state_directory", "var/lib", "an absolute path"},
	{"tcptuned", "log_level", "noisy", "error, warning, info or debug"},
	{"policy", "mode", "Tune", "off, observe or tune"},
	{"policy", "override_rcvbuf", "maybe", "yes or no"},
	{"policy", "override_sndbuf", "yes no", "yes or no"},
	{"policy", "receive_window_max", "1.5M", "64K to 1G"},
	{"policy", "receive_window_max", "65535", "64K to 1G"},
	{"policy", "receive_window_max", "1025M", "64K to 1G"},
	{"policy", "receive_window_max", "17179869185G", "64K to 1G"},
	{"policy", "send_window_max", "big", "or auto"},
	{"policy", "send_window_max", "0", "or auto"},
	{"policy", "congestion_control", "bi tcp", "15 letters"},
	{"policy", "long_path_segments", "4K", "1 to 1048576"},
	{"policy", "long_path_segments", "0", "1 to 1048576"},
	{"policy", "congestion_control", "sixteen__letters", "15 letters"},
	{"control", "group", "a.b", "31 letters"},
	{"control", "group", "thirty_two_letters_are_too_many_x", "31 letters"},
	{"policy web", "destination", "10.0.0.0/33", "prefixes"},
	{"policy web", "destination", "10.0.0.1/8", "write 10.0.0.0/8"},
	{"policy web", "destination", "2001:db8::/129", "prefixes"},
	{"policy web", "destination", "10.0.0.0/8, 1.2.3", "has \"1.2.3\" in it"},
	{"policy web", "destination", ",", "has no prefix"},
	{"policy web", "destination_file", "prefixes", "absolute"},
	{"policy web", "source", "::1/0", "write ::/0"},
	{"policy web", "local_port", "http", "1 to 65535"},
	{"policy web", "local_port", "0", "1 to 65535"},
	{"policy web", "remote_port", "1-65536", "1 to 65535"},
	{"policy web", "cgroup", "system.slice", "absolute path"},
	{"bitcp", "beta", "1/8", "from 0.001 to 0.5"},
	{"bitcp", "beta", "0", "from 0.001 to 0.5"},
	{"memory", "budget", "half", "a size in bytes"},
	{"memory", "budget", "1025G", "from 1M to 1024G"},
	{"memory", "budget", "17179869185G", "from 1M to 1024G"},
	{"paths", "remember", "all", "yes or no"},
	{"paths", "expire_s", "1d", "of seconds from 60"},
	{"paths", "expire_s", "59", "of seconds from 60"},
	{"metrics", "enabled", "yess", "yes or no"},
	{"metrics", "address", "localhost", "numeric IPv4"},
	{"metrics", "address", "[::1]", "numeric IPv4"},
	{"metrics", "port", "http", "from 1 to 65535"},
	{"metrics", "port", "0x10", "from 1 to 65535"},
	{"metrics", "port", "0", "from 1 to 65535"},
	{"metrics", "port", "65536", "from 1 to 65535"},
	{"metrics", "port", "18446744073709561433", "from 1 to 65535"},
	{"metrics", "flows", "all", "from 0 to 1000"},
	{"metrics", "flows", "1001", "from 0 to 1000"},
};

static void test_every_key_wrong(void **state)
{
	char text[1024], name[64];

	for (size_t i = 0; i < ARRAY_SIZE(wrongs); i++) {
		snprintf(text, sizeof(text), "# a comment\n\n[%s]\n\n%s = %s\n",
			 wrongs[i].section, wrongs[i].key, wrongs[i].value);
		snprintf(name, sizeof(name), "%s.%s", wrongs[i].section, wrongs[i].key);
		load_fails(text, 5, name, wrongs[i].remedy);
	}
}

/* A section that the key may stand in. */
static const char *section_of(const struct tcptuned_key *key)
{
	return strcmp(key->section, NAMED_POLICY) ? key->section : "policy web";
}

static void test_every_key_is_in_the_list(void **state)
{
	for (size_t k = 0; k < TCPTUNED_CONFIG_KEYS; k++) {
		const struct tcptuned_key *key = &tcptuned_keys[k];
		bool found = false;

		for (size_t i = 0; i < ARRAY_SIZE(wrongs); i++)
			found |= !strcmp(wrongs[i].section, section_of(key)) &&
				 !strcmp(wrongs[i].key, key->name);
		if (!found)
			fail_msg("%s.%s is not tried", key->section, key->name);
	}
}

static void test_every_key_twice(void **state)
{
	char text[1024], remedy[64], name[64];

	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
		const struct tcptuned_key *key = &tcptuned_keys[i];

		if (key->type == KEY_PREFIXES)
			continue; /* these may be repeated */
		snprintf(text, sizeof(text), "[%s]\n%s = %s\n\n[%s]\n%s = %s\n",
			 section_of(key), key->name, key->fallback, section_of(key), key->name,
			 key->fallback);
		snprintf(name, sizeof(name), "%s.%s: given a second time, after line 2",
			 section_of(key), key->name);
		snprintf(remedy, sizeof(remedy), "keep one");
		load_fails(text, 5, name, remedy);
	}
}

/* Two sections have a cgroup. */
static bool has_key(const char *section, const char *name)
{
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		if (!strcmp(tcptuned_keys[i].section, section) && !strcmp(tcptuned_keys[i].name, name))
			return true;
	return false;
}

/* Each key with a letter too many, and each key in each section that it is not of. */
static void test_every_key_unknown(void **state)
{
	char text[256], part[128], remedy[128];

	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
		const struct tcptuned_key *key = &tcptuned_keys[i];

		snprintf(text, sizeof(text), "[%s]\n%sx = %s\n", section_of(key), key->name,
			 key->fallback);
		snprintf(part, sizeof(part), "\"%sx\" in [%s]: no such key", key->name,
			 section_of(key));
		snprintf(remedy, sizeof(remedy), "did you mean %s?", key->name);
		load_fails(text, 2, part, remedy);
		for (size_t s = 0; s < tcptuned_sections_count; s++) {
			if (has_key(tcptuned_sections[s].name, key->name) ||
			    !strcmp(tcptuned_sections[s].name, NAMED_POLICY))
				continue;
			snprintf(text, sizeof(text), "[%s]\n%s = %s\n",
				 tcptuned_sections[s].name, key->name, key->fallback);
			snprintf(remedy, sizeof(remedy), "%s belongs in [%s", key->name,
				 strcmp(key->name, "cgroup") ? key->section : "");
			load_fails(text, 2, "no such key",
				   remedy);
		}
	}
	load_fails("[metrics]\nwibble = 1\n", 2, "wibble",
		   "there are enabled, address, port and flows");
}

static void test_every_mistake(void **state)
{
	static const struct {
		const char *text;
		unsigned int line;
		const char *part, *remedy;
	} files[] = {
		{"\n[polcy]\nmode = tune\n", 2, "polcy", "did you mean policy?"},
		{"[metrics]\n[nonsense]\n\n", 2, "nonsense", "tcptuned, policy, policy NAME, "},
		{"[]\n", 1, "\"\"", "tcptuned, policy"},
		{"[\x1b[2J]\n", 1, "\"?[2J\"", "tcptuned"},
		{"[metrics]\nport 9817\n", 2, "neither a [section]", "write key = value"},
		{"[metrics]\nport\nflows = x\n", 2, "neither", "write key = value"},
		{"[metrics]\nflows = x\nport\n", 2, "metrics.flows", "it takes"},
		{"port = 9817\n", 1, "\"port\" is before", "another section above it"},
		{"[policy\t a]\ndestination = /32\n", 2, "policy a.destination", "is no prefix"},
		{"[metrics\nport = 9817\n", 1, "] of a section", "write [policy]"},
		{"[metrics] port = 9817\n", 1, "text after the section", "a line after the ]"},
		{"[metrics]\nport = 9817\n  9818\n", 3, "neither", "write key = value"},
		{"[policy ]\n", 1, "\"\" is no name", "[policy web]"},
		{"\n[policy a b]\n", 2, "\"a b\" is no name", "31 letters"},
		{"[policy a.b]\n", 1, "\"a.b\" is no name", "letters"},
		{"[policy thirty-two-letters-are-too-many-]\n", 1, "is no name", "31 letters"},
		{"[policy default]\nmode = off\n", 1, "\"default\"", "write [policy]"},
		{"[policyx]\n", 1, "no such section", "did you mean policy?"},
		{"\n[policy a]\nmode = off\n", 2,
		 "policy a: it does not say which connections", "destination"},
		{"[policy a]\ndestination = any\n", 1, "policy a: it does not say", "[policy]"},
		{"[policy]\ndestination = ::/0\n", 2,
		 "policy.destination: no such key", "belongs in [policy NAME]"},
		{"[policy a]\nwibble = 1\n", 2,
		 "wibble", "there are mode, override_rcvbuf,"},
		{"[policy a]\nmod = off\n", 2, "\"mod\"", "did you mean mode?"},
		{"[policy a]\nbeta = 0.1\n", 2, "policy a.beta", "belongs in [bitcp]"},
		{"[policy a]\nmode = off\n[policy b]\nmode = off\n[policy a]\nmode = tune\n", 6,
		 "policy a.mode: given a second time", "after line 2"},
		{"[tcptuned]\n\nruntime_directory = /sys/fs/bpf/run\n", 3,
		 "tcptuned.runtime_directory", "use another"},
		{"[tcptuned]\n\n\nbpffs = /run/\n", 4, "/run/tcptuned is inside", "use another"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		load_fails(files[i].text, files[i].line, files[i].part, files[i].remedy);
	/* A name that only begins alike is another directory. */
	load("[tcptuned]\nruntime_directory = /sys/fs/bpfx\n");
}

static void test_nul(void **state)
{
	static const char text[] = "[metrics]\nport = 98\0"
				   "17\n";

	write_file(path, text, sizeof(text) - 1);
	assert_fails(2, "NUL byte", "no text file");
}

/* --- named policies -------------------------------------------------------------------- */

static struct tcptuned_named_policy *named(const char *name)
{
	for (size_t i = 0; i < config.policies_len; i++)
		if (!strcmp(config.policies[i].name, name))
			return &config.policies[i];
	fail_msg("there is no policy %s", name);
	return NULL;
}

static void assert_prefixes(const struct tcptuned_prefixes *prefixes, const char *text)
{
	char have[4096];

	tcptuned_prefixes_format(prefixes, have, sizeof(have));
	assert_string_equal(have, text);
}

static void test_named_inherits(void **state)
{
	const struct tcptuned_policy_config *web, *far;

	load("[policy web]\nlocal_port = 443\ncongestion_control = cubic\n"
	     "[policy]\nreceive_window_max = 8M\nmode = observe\n"
	     "[policy far-away_1]\nremote_port = 8000-8080\nmode = tune\n"
	     "cgroup = /a/b c\nsend_window_max = 1M\n");
	assert_int_equal(config.policies_len, 2);
	web = &named("web")->set;
	far = &named("far-away_1")->set;
	assert_int_equal(web->mode, TCPTUNED_OBSERVE);
	assert_int_equal(far->mode, TCPTUNED_TUNE);
	assert_int_equal(web->receive_window_max_bytes, 8 << 20);
	assert_int_equal(far->receive_window_max_bytes, 8 << 20);
	assert_string_equal(web->congestion_control, "cubic");
	assert_string_equal(far->congestion_control, TCPTUNED_CC_AUTO);
	assert_int_equal(web->local_port.low, 443);
	assert_int_equal(web->local_port.high, 443);
	assert_int_equal(web->remote_port.low, 0);
	assert_int_equal(far->remote_port.low, 8000);
	assert_int_equal(far->remote_port.high, 8080);
	assert_string_equal(far->cgroup, "/a/b c");
	assert_string_equal(web->cgroup, "");
	assert_int_equal(far->send_window_max_bytes, 1 << 20);
	assert_int_equal(config.policy.send_window_max_bytes, 0);
	tcptuned_config_free(&config);
	assert_int_equal(config.policies_len, 0);
}

static void test_named_prefixes(void **state)
{
	load("[policy a]\ndestination = 10.0.0.0/8,192.0.2.1\t2001:db8::/32 , ::/0\n"
	     "destination = 0.0.0.0/0\nsource=::ffff:192.0.2.0/120\n");
	/* An address alone is the whole of it; IPv4 written as IPv6 is IPv4. */
	assert_prefixes(&named("a")->set.destination,
			"10.0.0.0/8, 192.0.2.1/32, 2001:db8::/32, ::/0, 0.0.0.0/0");
	assert_prefixes(&named("a")->set.source, "192.0.2.0/24");
	assert_int_equal(named("a")->set.destination.list[0].length, 104);
	assert_int_equal(named("a")->set.destination.list[2].length, 32);
	tcptuned_config_free(&config);
	/* In one file it goes on, a later one begins anew, and --set after that. */
	write_drop_in("1.conf", "[policy a]\ndestination = 10.1.0.0/16\ndestination = 10.2.0.0/16\n");
	load("[policy a]\ndestination = 10.0.0.0/8\nmode = off\n");
	assert_prefixes(&named("a")->set.destination, "10.1.0.0/16, 10.2.0.0/16");
	assert_int_equal(named("a")->set.mode, TCPTUNED_OFF);
	tcptuned_config_free(&config);
	{
		const char *const set[] = {"policy a.destination=::1", "policy a.mode=tune", NULL};

		assert_int_equal(tcptuned_config_load(path, set, &config, &err), 0);
		assert_prefixes(&named("a")->set.destination, "::1/128");
		assert_int_equal(named("a")->set.mode, TCPTUNED_TUNE);
		tcptuned_config_free(&config);
	}
}

static void test_prefix_file(void **state)
{
	char file[128], text[512], at[400];

	snprintf(file, sizeof(file), "%s/prefixes", directory);
	snprintf(text, sizeof(text), "[policy a]\n\ndestination_file = %s\n", file);
	write_file(file, "# all\n10.0.0.0/8 # one\r\n\n\t2001:db8::/32\n192.0.2.7", 49);
	load(text);
	assert_prefixes(&named("a")->from_file, "10.0.0.0/8, 2001:db8::/32, 192.0.2.7/32");
	tcptuned_config_free(&config);
	memset(&config, 0xa5, sizeof(config));

	write_file(file, "10.0.0.0/8\n\n10.0.0.9/8\n", 23);
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), -EINVAL);
	snprintf(at, sizeof(at), "%s:3: policy a.destination_file: ", file);
	assert_memory_equal(err.text, at, strlen(at));
	assert_says("\"10.0.0.9/8\"");
	assert_says("write 10.0.0.0/8");
	assert_untouched();
	/* The next one, at its line. */
	write_file(file, "10.0.0.0/8\n10.0.0.0/8 192.0.2.1\n", 32);
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), -EINVAL);
	assert_says("prefixes:2: ");
	assert_says("one prefix per line");

	unlink(file);
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), -ENOENT);
	snprintf(at, sizeof(at), "%s:3: policy a.destination_file: %s: No such file", path, file);
	assert_memory_equal(err.text, at, strlen(at));
	assert_untouched();
	mkdir(file, 0700);
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), -EISDIR);
}

/* The text of policies from the one numbered @from on; freed by the caller. */
static char *policies_text(int from, int n)
{
	size_t size = (size_t)n * 80 + 80, used = 0;
	char *text = malloc(size);

	assert_non_null(text);
	for (int i = from; i < from + n; i++)
		used += (size_t)snprintf(text + used, size - used,
					 "[policy p%d]\nlocal_port = %d\n", i, i + 1);
	return text;
}

static void test_too_many_policies(void **state)
{
	char *text = policies_text(1, 256);

	load(text);
	free(text);
	assert_int_equal(config.policies_len, 256);
	assert_string_equal(config.policies[255].name, "p256");
	assert_int_equal(config.policies[255].set.local_port.low, 257);
	tcptuned_config_free(&config);
	memset(&config, 0xa5, sizeof(config));
	text = policies_text(1, 257);
	load_fails(text, 513, "[policy p257] is one policy too many",
		   "there may be 256");
	free(text);
}

/* --- files ----------------------------------------------------------------------------- */

static void test_missing(void **state)
{
	assert_fails(0, "No such file", "--help-config");
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), -ENOENT);
}

static void test_no_regular_file(void **state)
{
	assert_int_equal(mkdir(path, 0755), 0);
	assert_fails(0, "Is a directory", "regular file");
	assert_int_equal(rmdir(path), 0);
	/* Nobody writes to it: opening it must not wait. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_fails(0, path, "regular file");
}

static void test_too_large(void **state)
{
	char *text = malloc((1 << 24) + 1);

	assert_non_null(text);
	memset(text, '\n', (1 << 24) + 1);
	write_file(path, text, (1 << 24) + 1);
	assert_fails(0, "too large", "16 MiB");
	write_file(path, text, 1 << 24);
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), 0);
	free(text);
}

/* As somebody to whom file modes mean something. */
static void test_no_permission(void **state)
{
	bool root = geteuid() == 0;

	write_config("[metrics]\nport = 1\n");
	assert_int_equal(chmod(directory, 0755), 0);
	assert_int_equal(chmod(path, 0), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	assert_fails(0, "Permission denied", "as root");
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(mkdir(drop_in, 0), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	assert_true(tcptuned_config_load(path, NULL, &config, &err) == -EACCES);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_says(drop_in);
	assert_untouched();
}

/* --- drop-ins -------------------------------------------------------------------------- */

static const char *origin_of(const char *section, const char *name)
{
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		if (!strcmp(tcptuned_keys[i].section, section) && !strcmp(tcptuned_keys[i].name, name))
			return config.origin[i];
	return "no such key";
}

static void test_drop_in_order(void **state)
{
	char origin[256];

	write_drop_in("20-b.conf", "[metrics]\nport = 20\nflows = 20\n");
	write_drop_in("10-a.conf", "[metrics]\nport = 10\nflows = 10\naddress = 127.0.0.10\n");
	write_drop_in("9-z.conf", "\n[metrics]\nport = 9\n");
	write_drop_in("99.conf.bak", "[metrics]\nport = nonsense\n");
	write_drop_in(".99.conf", "[metrics]\nport = nonsense\n");
	write_drop_in(".conf", "[metrics]\nport = nonsense\n");
	load("[metrics]\nport = 1\nflows = 1\naddress = 127.0.0.1\nenabled = no\n");
	assert_int_equal(config.metrics_port, 9); /* by bytes: "9" comes after "20" */
	assert_int_equal(config.metrics_flows, 20);
	assert_string_equal(config.metrics_address, "127.0.0.10");
	assert_false(config.metrics_enabled);
	snprintf(origin, sizeof(origin), "%s/9-z.conf:3", drop_in);
	assert_string_equal(origin_of("metrics", "port"), origin);
}

static void test_drop_in_fails(void **state)
{
	char at[256], file[256];

	write_config("");
	write_drop_in("10.conf", "[metrics]\nport = 10\n");
	write_drop_in("20.conf", "[metrics]\nport = 10\nport = 11\n");
	assert_true(tcptuned_config_load(path, NULL, &config, &err) < 0);
	snprintf(at, sizeof(at), "%s/20.conf:3: ", drop_in);
	assert_memory_equal(err.text, at, strlen(at));
	assert_untouched();
	snprintf(file, sizeof(file), "%s/20.conf", drop_in);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink("/nowhere", file), 0);
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), -ENOENT);
	assert_says(file);
}

/* --- --set ----------------------------------------------------------------------------- */

static void test_set(void **state)
{
	const char *const set[] = {"metrics.port=3", "bitcp.beta=0.25",
				   "tcptuned.cgroup=/a.b=c", "metrics.port=4", NULL};

	write_config("[metrics]\nport = 1\n");
	write_drop_in("1.conf", "[metrics]\nport = 2\n");
	assert_int_equal(tcptuned_config_load(path, set, &config, &err), 0);
	assert_int_equal(config.metrics_port, 4);
	assert_int_equal(config.bitcp.beta, 1u << 30);
	assert_string_equal(config.cgroup, "/a.b=c");
	assert_string_equal(origin_of("metrics", "port"), "--set");
}

static void test_set_fails(void **state)
{
	static const struct {
		const char *text, *remedy;
	} bad[] = {
		{"metrics.port=x", "from 1 to 65535"},
		{"metrics.port=0", "from 1 to 65535"},
		{"metrics.prot=1", "did you mean port?"},
		{"metric.port=1", "did you mean metrics?"},
		{"metrics.port", "SECTION.KEY=VALUE"},
		{"port=1", "SECTION.KEY=VALUE"},
		{"=.", "SECTION.KEY=VALUE"},
		{".=", "tcptuned"},
		{"", "SECTION.KEY=VALUE"},
	};

	write_config("");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *const set[] = {bad[i].text, NULL};

		assert_int_equal(tcptuned_config_load(path, set, &config, &err), -EINVAL);
		assert_memory_equal(err.text, "--set: ", 7);
		assert_int_equal(err.status, TCPTUNED_EXIT_CONFIG);
		assert_says(bad[i].remedy);
		assert_sentence();
		assert_untouched();
	}
}

/* --- what comes out -------------------------------------------------------------------- */

struct difference {
	int count;
	char text[512];
};

static void note_difference(void *context, const char *key, const char *was, const char *now,
			    bool live)
{
	struct difference *d = context;
	size_t used = strlen(d->text);

	d->count++;
	snprintf(d->text + used, sizeof(d->text) - used, "%s:%s>%s%s ", key, was, now,
		 live ? "" : "!");
}

static void test_diff(void **state)
{
	struct tcptuned_config before;
	struct difference d = {0};

	load("[tcptuned]\nbpffs = /a/longer/path\n[policy]\nreceive_window_max = 16M\n");
	before = config;
	load("[tcptuned]\nbpffs = /b\n[policy]\nreceive_window_max = auto\nsend_window_max = "
	     "96K\n"
	     "[bitcp]\nbeta = 0.25\n[metrics]\nenabled = off\n");
	assert_int_equal(tcptuned_config_diff(&before, &config, note_difference, &d), 5);
	assert_int_equal(d.count, 5);
	assert_string_equal(d.text, "tcptuned.bpffs:/a/longer/path>/b! "
				    "policy.receive_window_max:16M>auto "
				    "policy.send_window_max:auto>96K "
				    "bitcp.beta:0.125>0.25 metrics.enabled:yes>no! ");
	/* What needs a restart stays as it was; the rest is new. */
	tcptuned_config_keep_fixed(&config, &before);
	assert_string_equal(config.bpffs, "/a/longer/path");
	assert_true(config.metrics_enabled);
	assert_int_equal(config.policy.send_window_max_bytes, 96 << 10);
	assert_int_equal(tcptuned_config_diff(&before, &config, NULL, NULL), 3);
}

/* Named policies: one gone, one new, one changed, one the same though it moved. */
static void test_diff_of_policies(void **state)
{
	struct tcptuned_config before;
	struct difference d = {0};

	load("[policy gone]\nlocal_port = 1\n[policy same]\nlocal_port = 2\n[policy other]\n"
	     "destination = 10.0.0.0/8\n");
	before = config;
	load("[policy new]\nlocal_port = 1\n[policy other]\ndestination = 10.0.0.0/9, ::1\n"
	     "mode = off\n[policy same]\nlocal_port = 2\n");
	assert_int_equal(tcptuned_config_diff(&before, &config, note_difference, &d), 4);
	assert_string_equal(d.text, "policy gone:defined> policy new:>defined "
				    "policy other.mode:tune>off "
				    "policy other.destination:10.0.0.0/8>10.0.0.0/9, ::1/128 ");
	tcptuned_config_free(&before);
	tcptuned_config_free(&config);
}

static void load_printed(void (*print)(FILE *out))
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	print(file);
	assert_int_equal(fclose(file), 0);
	if (tcptuned_config_load(path, NULL, &config, &err))
		fail_msg("%s", err.text);
}

static struct tcptuned_config printed;

static void print_config(FILE *out)
{
	tcptuned_config_print(&printed, out);
}

/* --check-config prints a configuration that is the same configuration. */
static void test_print_reads_back(void **state)
{
	char text[256];

	load("[tcptuned]\ncgroup = /c\nlog_level = "
	     "warning\n[policy]\nreceive_window_max=100000\n"
	     "send_window_max = 1G\nmode = off\ncongestion_control = keep\n[bitcp]\n"
	     "beta = 0.333333333\n"
	     "[metrics]\naddress = fe80::1\nport = 80\n");
	printed = config;
	load_printed(print_config);
	assert_int_equal(tcptuned_config_diff(&printed, &config, NULL, NULL), 0);
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		if (strcmp(tcptuned_keys[i].section, NAMED_POLICY))
			assert_string_not_equal(config.origin[i], "default");
	snprintf(text, sizeof(text), "[tcptuned]\nbpffs = /%0170d\n", 0);
	load(text);
	printed = config;
	load_printed(print_config);
	assert_int_equal(tcptuned_config_diff(&printed, &config, NULL, NULL), 0);
}

/* With every kind of condition, and a list that takes several lines. */
static void test_print_policies_reads_back(void **state)
{
	char text[16384] = "[policy]\nsend_window_max = 1M\n[policy many]\n", one[64];

	for (int i = 0; i < 100; i++) {
		snprintf(one, sizeof(one), "destination = 2001:db8:%x:ffff:ffff::/80\n", i + 4096);
		strcat(text, one);
	}
	strcat(text, "source = 10.0.0.0/8, ::1\nlocal_port = 80\nremote_port = 1-1023\n"
		     "cgroup = /x/y\n[policy b]\ncgroup = /\nmode = observe\n"
		     "receive_window_max = 100000\n");
	load(text);
	printed = config;
	load_printed(print_config);
	assert_int_equal(tcptuned_config_diff(&printed, &config, NULL, NULL), 0);
	assert_int_equal(config.policies_len, 2);
	assert_int_equal(named("many")->set.destination.len, 100);
	assert_int_equal(named("b")->set.receive_window_max_bytes, 100000);
	tcptuned_config_free(&printed);
	tcptuned_config_free(&config);
}

static void test_example_is_the_default(void **state)
{
	load_printed(tcptuned_config_print_example);
	assert_defaults(&config);
}

/* The example with every key's # taken away says the same, and is where each comes from. */
static void test_example_uncommented(void **state)
{
	char command[512];

	load_printed(tcptuned_config_print_example);
	snprintf(command, sizeof(command), "sed -i 's/^#\\([a-z]\\)/\\1/' '%s'", path);
	assert_int_equal(system(command), 0);
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), 0);
	assert_defaults(&config);
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		if (strcmp(tcptuned_keys[i].section, NAMED_POLICY))
			assert_memory_equal(config.origin[i], path, strlen(path));
}

/* What tcptunectl reads: what it shares with the daemon, past whatever else is wrong. */
static void test_shared_alone(void **state)
{
	struct tcptuned_error warning;

	write_config("[policy web]\nmode = tnue\n[policy files]\ndestination_file = /nonexistent\n"
		     "\n\n[metrics\nport = 1\n[nothing]\n"
		     "[tcptuned]\nstate_directory = /a\n");
	write_drop_in("10.conf", "[tcptuned]\nlog_level = lodu\nruntime_directory = /b\n");
	write_drop_in("20.conf", "[tcptuned]\nnonsense\nbpffs = /c\n");
	assert_true(tcptuned_config_load(path, NULL, &config, &err) < 0);
	assert_int_equal(tcptuned_config_load_shared(path, NULL, &config, &warning, &err), 0);
	assert_non_null(strstr(warning.text, "tcptuned.conf:7: the ] of a section is missing"));
	assert_int_equal(config.policies_len, 0);
	assert_string_equal(config.state_directory, "/a");
	assert_string_equal(config.runtime_directory, "/b");
	assert_string_equal(config.bpffs, "/c");

	write_config("[policy web]\ndestination_file = /nonexistent\n");
	write_drop_in("10.conf", "");
	write_drop_in("20.conf", "");
	assert_int_equal(tcptuned_config_load_shared(path, NULL, &config, &warning, &err), 0);
	assert_string_equal(warning.text, "");
	/* The command line is whose who typed it. */
	assert_int_equal(tcptuned_config_load_shared(path, (const char *[]){"tcptuned.x=1", NULL},
						     &config, &warning, &err), -EINVAL);
	assert_int_equal(remove(path), 0);
	assert_int_equal(tcptuned_config_load_shared(path, NULL, &config, &warning, &err), -ENOENT);
	mkdir(path, 0755);
	assert_int_equal(tcptuned_config_load_shared(path, NULL, &config, &warning, &err), 0);
	assert_non_null(strstr(warning.text, "Is a directory; name a regular file"));
	assert_string_equal(config.runtime_directory, "/run/tcptuned");
	rmdir(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_defaults),
		TEST(test_bool_forms),
		TEST(test_size_forms),
		TEST(test_fraction_forms),
		TEST(test_words),
		TEST(test_other_forms),
		TEST(test_layout),
		TEST(test_every_key_wrong),
		TEST(test_every_key_is_in_the_list),
		TEST(test_every_key_twice),
		TEST(test_every_key_unknown),
		TEST(test_every_mistake),
		TEST(test_nul),
		TEST(test_named_inherits),
		TEST(test_named_prefixes),
		TEST(test_prefix_file),
		TEST(test_too_many_policies),
		TEST(test_missing),
		TEST(test_no_regular_file),
		TEST(test_too_large),
		TEST(test_no_permission),
		TEST(test_drop_in_order),
		TEST(test_drop_in_fails),
		TEST(test_set),
		TEST(test_set_fails),
		TEST(test_diff),
		TEST(test_diff_of_policies),
		TEST(test_print_reads_back),
		TEST(test_print_policies_reads_back),
		TEST(test_example_is_the_default),
		TEST(test_example_uncommented),
		TEST(test_shared_alone),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
