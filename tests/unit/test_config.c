// SPDX-License-Identifier: GPL-2.0-only
/* The configuration: valid and invalid values of every key, the origin of each, error messages. */
#include <sys/stat.h>

#include "test.h"
#include "config/config.h"
#include "config/diff.h"
#include "config/keys.h"
#include "config/load.h"
#include "config/print.h"
#include "util/log.h"

static char path[128];	  /* directory/tcptuned.conf */
static char drop_in[160]; /* its .d */
static struct tcptuned_config config;
static struct tcptuned_error err;

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
	if (make_directory(state))
		return -1;
	snprintf(path, sizeof(path), "%s/tcptuned.conf", test_directory);
	snprintf(drop_in, sizeof(drop_in), "%s.d", path);
	memset(&config, 0xa5, sizeof(config));
	memset(&err, 0, sizeof(err));
	return 0;
}

FIXTURE(setup, remove_directory)

static void load(const char *text)
{
	write_config(text);
	if (tcptuned_config_load(path, NULL, &config, &err))
		fail_msg("%s", err.text);
}

/*
 * Loads what is invalid, with @set. The message is one whole line, begins with @at, and has @part
 * and @remedy in it; @config is not touched. Returns the error.
 */
static int assert_refused(const char *const *set, const char *at, const char *part,
			  const char *remedy)
{
	unsigned char filled[sizeof(config)];
	int error;

	memset(filled, 0xa5, sizeof(filled));
	memcpy(&config, filled, sizeof(config));
	error = tcptuned_config_load(path, set, &config, &err);
	assert_true(error < 0);
	assert_memory_equal(&config, filled, sizeof(filled));
	assert_null(strchr(err.text, '\n'));
	assert_in_range(strlen(err.text), 20, sizeof(err.text) - 2);
	if (strncmp(err.text, at, strlen(at)))
		fail_msg("expected at %s but: %s", at, err.text);
	assert_contains(err.text, part);
	assert_contains(err.text, remedy);
	assert_int_equal(err.status, TCPTUNED_EXIT_CONFIG);
	return error;
}

/* The error is in @line of @file, or 0: in the file as a whole. */
static int assert_fails_in(const char *file, unsigned int line, const char *part,
			   const char *remedy)
{
	char at[512];

	if (line)
		snprintf(at, sizeof(at), "%s:%u: ", file, line);
	else
		snprintf(at, sizeof(at), "%s: ", file);
	return assert_refused(NULL, at, part, remedy);
}

static int assert_fails(unsigned int line, const char *part, const char *remedy)
{
	return assert_fails_in(path, line, part, remedy);
}

static void load_fails(const char *text, unsigned int line, const char *part, const char *remedy)
{
	write_config(text);
	assert_fails(line, part, remedy);
}

TEST(forms)
{
	static const struct {
		const char *section, *name, *forms; /* with | between them */
		const char *value;		    /* that is printed; NULL: as the form */
	} rows[] = {
		{"tcptuned", "cgroup", "auto|/sys/fs/cgroup/a b=c", NULL},
		{"tcptuned", "runtime_directory", "/run/y", NULL},
		{"tcptuned", "log_level", "warning|error", NULL},
		{"policy", "mode", "observe|off", NULL},
		{"policy", "override_rcvbuf", "no|false|0|off|No|OFF", "no"},
		{"policy", "receive_window_max",
		 "65536|64K|64k|64KiB|64 KiB|0000000000000000065536|+64K", "64K"},
		{"policy", "receive_window_max", "16M|16 MiB|16mib", "16M"},
		{"policy", "receive_window_max", "auto|kernel", NULL},
		{"policy", "send_window_max", "1G|1GiB|1073741824", "1G"},
		{"policy", "send_window_max", "100000|auto", NULL},
		{"policy", "congestion_control", "auto|keep|fifteen_letters", NULL},
		{"metrics", "enabled", "yes|true|1|on|Yes|TRUE", "yes"},
		{"metrics", "address", "::1|0.0.0.0", NULL},
		{"metrics", "port", "65535|1", NULL},
		{"metrics", "flows", "0|1000", NULL},
	};

	for_each_row (r, rows) {
		char forms[128], text[256], *rest = forms, *form;

		snprintf(forms, sizeof(forms), "%s", r->forms);
		while ((form = strsep(&rest, "|"))) {
			char *all;

			snprintf(text, sizeof(text), "[%s]\n%s = %s\n", r->section, r->name, form);
			load(text);
			all = text_printed(out, tcptuned_config_print(&config, out));
			snprintf(text, sizeof(text), "\n%s = %s ", r->name,
				 r->value ? r->value : form);
			assert_contains(all, text);
			free(all);
		}
	}
}

/* As numbers; what is printed above could be wrong in the same way. */
TEST(numbers)
{
	static const char *const fractions[] = {"0.01",	 "0.001",	   "0.5",
						"00.25", "0.250000000000", "0.123456789"};
	char text[128];

	for_each_row (r, fractions) {
		snprintf(text, sizeof(text), "[bitcp]\nbeta = %s\n", *r);
		load(text);
		assert_int_equal(config.bitcp.beta, strtod(*r, NULL) * Q32 + 0.5); /* to nearest */
	}
	load("[bitcp]\nbeta = 0.24999999999999999999\n");
	assert_in_range(config.bitcp.beta, (1 << 30) - 5, 1 << 30); /* nine decimals count */
	load("[policy]\nreceive_window_max = kernel\nsend_window_max = 64K\nmode = off\n"
	     "override_rcvbuf = no\ncongestion_control = keep\n[tcptuned]\nlog_level = warning\n");
	assert_int_equal(config.policy.receive_window_max_bytes, TCPTUNED_WINDOW_KERNEL);
	assert_int_equal(config.policy.send_window_max_bytes, 65536);
	assert_int_equal(config.policy.mode, TCPTUNED_OFF);
	assert_false(config.policy.override_rcvbuf);
	assert_true(config.policy.override_sndbuf);
	assert_string_equal(config.policy.congestion_control, "");
	assert_int_equal(config.log_level, TCPTUNED_LOG_WARNING);
}

/* What surrounds keys: comments, blanks, line ends, a byte order mark, sections twice. */
TEST(layout)
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

static const struct {
	const char *section, *key, *values, *remedy; /* values with | between them */
} wrongs[] = {
	{"tcptuned", "cgroup", "unified", "an absolute path, or auto"},
	{"tcptuned", "bpffs", "auto", "an absolute path"},
	{"tcptuned", "runtime_directory", "", "an absolute path"},
	{"tcptuned", "state_directory", "var/lib", "an absolute path"},
	{"tcptuned", "log_level", "noisy", "error, warning or info"},
	{"policy", "mode", "Tune", "off, observe or tune"},
	{"policy", "override_rcvbuf", "maybe", "yes or no"},
	{"policy", "override_sndbuf", "yes no", "yes or no"},
	{"policy", "receive_window_max", "1.5M", ", kernel or auto"},
	{"policy", "receive_window_max", "65535|1025M|17179869185G", "64K to 1G"},
	{"policy", "send_window_max", "big|0", "or auto"},
	{"policy", "congestion_control", "bi tcp", "15 letters"},
	{"policy", "long_path_segments", "4K|0", "1 to 1048576"},
	{"policy", "holdback", "half|0|60%|0.6", "0.001 to 0.5"},
	{"policy", "congestion_control", "sixteen__letters", ", auto or keep"},
	{"control", "group", "a.b|thirty_two_letters_are_too_many_x", "31 letters"},
	{"policy web", "destination", "10.0.0.0/33|2001:db8::/129", "prefixes"},
	{"policy web", "destination", "10.0.0.1/8", "write 10.0.0.0/8"},
	{"policy web", "destination", "10.0.0.0/8, 1.2.3", "has \"1.2.3\" in it"},
	{"policy web", "destination", ",", "has no prefix"},
	{"policy web", "destination_file", "prefixes", "absolute"},
	{"policy web", "source", "::1/0", "write ::/0"},
	{"policy web", "local_port", "no-such-service|0|80,|80 443|80 - 90|1,2,3,4,5,6,7,8,9",
	 "from 1 to 65535"},
	{"policy web", "remote_port", "1-65536|80,90-80", "1 to 65535"},
	{"policy web", "cgroup", "system.slice", "absolute path"},
	{"bitcp", "beta", "1/8|0|60%|1e1%", "from 0.001 to 0.5"},
	{"memory", "budget", "half|1025G|17179869185G", "a size in bytes from 1M to 1024G"},
	{"paths", "remember", "all", "yes or no"},
	{"paths", "expire_s", "1w|59|1.5h", "(m, h, d: minutes, hours, days)"},
	{"paths", "streams", "maybe", "yes or no"},
	{"metrics", "enabled", "yess", "yes or no"},
	{"metrics", "address", "localhost|[::1]", "numeric IPv4"},
	{"metrics", "port", "http|0x10|0|65536|18446744073709561433", "from 1 to 65535"},
	{"metrics", "flows", "all|1001", "from 0 to 1000"},
};

/* The section in which the tests write the key. */
static const char *section_of(const struct tcptuned_key *key)
{
	return strcmp(key->section, NAMED_POLICY) ? key->section : "policy web";
}

/* Returns the key of that name: two sections have a cgroup. */
static const struct tcptuned_key *find_key(const char *section, const char *name)
{
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		if (!strcmp(section_of(&tcptuned_keys[i]), section) &&
		    !strcmp(tcptuned_keys[i].name, name))
			return &tcptuned_keys[i];
	return NULL;
}

TEST(every_key_wrong)
{
	bool found[TCPTUNED_CONFIG_KEYS] = {false};
	char values[128], text[1024], name[64], *rest, *value;

	for_each_row (r, wrongs) {
		rest = strcpy(values, r->values);
		while ((value = strsep(&rest, "|"))) {
			snprintf(text, sizeof(text), "# a comment\n\n[%s]\n\n%s = %s\n", r->section,
				 r->key, value);
			snprintf(name, sizeof(name), "%s.%s", r->section, r->key);
			load_fails(text, 5, name, r->remedy);
		}
		found[find_key(r->section, r->key) - tcptuned_keys] = true;
	}
	for_each_row (key, found)
		assert_true(*key);
}

TEST(every_key_twice)
{
	char text[1024], name[64];

	for_each_row (key, tcptuned_keys) {
		if (key->type == KEY_PREFIXES)
			continue; /* these may be repeated */
		snprintf(text, sizeof(text), "[%s]\n%s = %s\n\n[%s]\n%s = %s\n", section_of(key),
			 key->name, key->fallback, section_of(key), key->name, key->fallback);
		snprintf(name, sizeof(name), "%s.%s: given a second time, after line 2",
			 section_of(key), key->name);
		load_fails(text, 5, name, "keep one");
	}
}

/* Each key with a letter too many, and each key in each section that it is not of. */
TEST(every_key_unknown)
{
	char text[256], part[128], remedy[128];

	for_each_row (key, tcptuned_keys) {
		snprintf(text, sizeof(text), "[%s]\n%sx = %s\n", section_of(key), key->name,
			 key->fallback);
		snprintf(part, sizeof(part), "\"%sx\" in [%s]: no such key", key->name,
			 section_of(key));
		snprintf(remedy, sizeof(remedy), "did you mean %s?", key->name);
		load_fails(text, 2, part, remedy);
		for_each_section (section) {
			if (find_key(section->name, key->name) ||
			    !strcmp(section->name, NAMED_POLICY))
				continue;
			snprintf(text, sizeof(text), "[%s]\n%s = %s\n", section->name, key->name,
				 key->fallback);
			snprintf(remedy, sizeof(remedy), "%s belongs in [%s", key->name,
				 strcmp(key->name, "cgroup") ? key->section : "");
			load_fails(text, 2, "no such key", remedy);
		}
	}
	load_fails("[metrics]\nwibble = 1\n", 2, "wibble",
		   "there are enabled, address, port and flows");
}

TEST(every_mistake)
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
		{"[policy\t a]\ndestination = /32\n", 2, "policy a.destination", "is not a prefix"},
		{"[metrics\nport = 9817\n", 1, "] of a section", "write [policy]"},
		{"[metrics] port = 9817\n", 1, "text after the section", "a line after the ]"},
		{"[metrics]\nport = 9817\n  9818\n", 3, "neither", "write key = value"},
		{"[policy ]\n", 1, "\"\" is not a policy name", "[policy web]"},
		{"\n[policy a b]\n", 2, "\"a b\" is not a policy name", "31 letters"},
		{"[policy a.b]\n", 1, "\"a.b\" is not a policy name", "letters"},
		{"[policy thirty-two-letters-are-too-many-]\n", 1, "is not a policy name",
		 "31 letters"},
		{"[policy default]\nmode = off\n", 1, "\"default\"", "write [policy]"},
		{"[policyx]\n", 1, "no such section", "did you mean policy?"},
		{"\n[policy a]\nmode = off\n", 2, "policy a: it does not say which connections",
		 "destination"},
		{"[policy a]\ndestination = any\n", 1, "policy a: it does not say", "[policy]"},
		{"[policy]\ndestination = ::/0\n", 2, "policy.destination: no such key",
		 "belongs in [policy NAME]"},
		{"[policy a]\nwibble = 1\n", 2, "wibble", "there are mode, override_rcvbuf,"},
		{"[policy a]\nmod = off\n", 2, "\"mod\"", "did you mean mode?"},
		{"[policy a]\nbeta = 0.1\n", 2, "policy a.beta", "belongs in [bitcp]"},
		{"[policy a]\nmode = off\n[policy b]\nmode = off\n[policy a]\nmode = tune\n", 6,
		 "policy a.mode: given a second time", "after line 2"},
	};

	for_each_row (r, files)
		load_fails(r->text, r->line, r->part, r->remedy);
}

TEST(nul)
{
	static const char text[] = "[metrics]\nport = 98\0"
				   "17\n";

	write_file(path, text, sizeof(text) - 1);
	assert_fails(2, "NUL byte", "not a text file");
}

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

TEST(named_inherits)
{
	const struct tcptuned_policy_config *web, *far;

	load("[policy web]\nlocal_port = 443\ncongestion_control = cubic\n"
	     "[policy]\nreceive_window_max = 8M\nmode = observe\n"
	     "[policy far-away_1]\nremote_port = 22 , 8000-8080\nmode = tune\n"
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
	assert_int_equal(web->local_port.len, 1);
	assert_int_equal(web->local_port.list[0].low, 443);
	assert_int_equal(web->local_port.list[0].high, 443);
	assert_int_equal(web->remote_port.len, 0);
	assert_int_equal(far->remote_port.len, 2);
	assert_int_equal(far->remote_port.list[0].low, 22);
	assert_int_equal(far->remote_port.list[1].low, 8000);
	assert_int_equal(far->remote_port.list[1].high, 8080);
	assert_string_equal(far->cgroup, "/a/b c");
	assert_string_equal(web->cgroup, "");
	assert_int_equal(far->send_window_max_bytes, 1 << 20);
	assert_int_equal(config.policy.send_window_max_bytes, 0);
	tcptuned_config_free(&config);
	assert_int_equal(config.policies_len, 0);
}

TEST(named_prefixes)
{
	static const char *const set[] = {"policy a.destination=::1", "policy a.mode=tune", NULL};

	load("[policy a]\ndestination = 10.0.0.0/8,192.0.2.1\t2001:db8::/32 , ::/0\n"
	     "destination = 0.0.0.0/0\nsource=::ffff:192.0.2.0/120\n");
	/* An address alone is the whole of it; IPv4 written as IPv6 is IPv4. */
	assert_prefixes(&named("a")->set.destination,
			"10.0.0.0/8, 192.0.2.1/32, 2001:db8::/32, ::/0, 0.0.0.0/0");
	assert_prefixes(&named("a")->set.source, "192.0.2.0/24");
	assert_int_equal(named("a")->set.destination.list[0].length, 104);
	assert_int_equal(named("a")->set.destination.list[2].length, 32);
	tcptuned_config_free(&config);
	/* One file continues the list, a later one replaces it, and --set replaces that. */
	write_drop_in("1.conf",
		      "[policy a]\ndestination = 10.1.0.0/16\ndestination = 10.2.0.0/16\n");
	load("[policy a]\ndestination = 10.0.0.0/8\nmode = off\n");
	assert_prefixes(&named("a")->set.destination, "10.1.0.0/16, 10.2.0.0/16");
	assert_int_equal(named("a")->set.mode, TCPTUNED_OFF);
	tcptuned_config_free(&config);
	assert_int_equal(tcptuned_config_load(path, set, &config, &err), 0);
	assert_prefixes(&named("a")->set.destination, "::1/128");
	assert_int_equal(named("a")->set.mode, TCPTUNED_TUNE);
	tcptuned_config_free(&config);
}

TEST(prefix_file)
{
	char file[128], text[512], part[400];

	snprintf(file, sizeof(file), "%s/prefixes", test_directory);
	snprintf(text, sizeof(text), "[policy a]\n\ndestination_file = %s\n", file);
	write_file(file, "# all\n10.0.0.0/8 # one\r\n\n\t2001:db8::/32\n192.0.2.7", 49);
	load(text);
	assert_prefixes(&named("a")->from_file, "10.0.0.0/8, 2001:db8::/32, 192.0.2.7/32");
	tcptuned_config_free(&config);

	write_file(file, "10.0.0.0/8\n\n10.0.0.9/8\n", 23);
	assert_fails_in(file, 3, "policy a.destination_file: ", "write 10.0.0.0/8");
	assert_contains(err.text, "\"10.0.0.9/8\"");
	write_file(file, "10.0.0.0/8\n10.0.0.0/8 192.0.2.1\n", 32);
	assert_fails_in(file, 2, "policy a.destination_file: ", "one prefix per line");
	write_file(file, "root:$y$secret:20228:0:99999:7:::\n", 34);
	assert_fails_in(file, 1,
			"policy a.destination_file: ", "the line is not a prefix; write one");
	assert_lacks(err.text, "root");
	unlink(file);
	snprintf(part, sizeof(part), "policy a.destination_file: %s: ", file);
	assert_int_equal(assert_fails(3, part, "No such file"), -ENOENT);
	mkdir(file, 0700);
	assert_int_equal(assert_fails(3, part, "Is a directory"), -EISDIR);
}

TEST(too_many_policies)
{
	char text[257 * 40], *end = text, *last = text;

	for (int i = 1; i <= 257; i++) {
		last = end;
		end += sprintf(end, "[policy p%d]\nlocal_port = %d\n", i, i);
	}
	load_fails(text, 513, "[policy p257] is one policy too many", "there may be 256");
	*last = '\0';
	load(text);
	assert_int_equal(config.policies_len, 256);
	assert_string_equal(config.policies[255].name, "p256");
	assert_int_equal(config.policies[255].set.local_port.list[0].low, 256);
	tcptuned_config_free(&config);
}

TEST(no_regular_file)
{
	assert_int_equal(assert_fails(0, "No such file", "--help-config"), -ENOENT);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_fails(0, "Is a directory", "regular file");
	assert_int_equal(rmdir(path), 0);
	/* No process writes to it: opening it must not wait. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_fails(0, path, "regular file");
}

TEST(too_large)
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

static void become(uid_t user)
{
	if (getuid() == 0)
		assert_int_equal(seteuid(user), 0);
}

/* As a user whom file modes restrict, unlike root. */
TEST(no_permission)
{
	write_config("[metrics]\nport = 1\n");
	assert_int_equal(chmod(test_directory, 0755), 0);
	assert_int_equal(chmod(path, 0), 0);
	become(65534);
	assert_fails(0, "Permission denied", "as root");
	become(0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(mkdir(drop_in, 0), 0);
	become(65534);
	assert_int_equal(assert_refused(NULL, "", drop_in, "Permission denied"), -EACCES);
	become(0);
}

static const char *origin_of(const char *section, const char *name)
{
	return config.origin[find_key(section, name) - tcptuned_keys];
}

TEST(drop_in_order)
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

TEST(drop_in_fails)
{
	char file[256];

	write_config("");
	write_drop_in("10.conf", "[metrics]\nport = 10\n");
	write_drop_in("20.conf", "[metrics]\nport = 10\nport = 11\n");
	snprintf(file, sizeof(file), "%s/20.conf", drop_in);
	assert_fails_in(file, 3, "metrics.port", "keep one");
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink("/nowhere", file), 0);
	assert_int_equal(assert_fails_in(file, 0, "No such file", ""), -ENOENT);
}

TEST(set)
{
	const char *const set[] = {"metrics.port=3", "bitcp.beta=0.25", "tcptuned.cgroup=/a.b=c",
				   "metrics.port=4", NULL};

	write_config("[metrics]\nport = 1\n");
	write_drop_in("1.conf", "[metrics]\nport = 2\n");
	assert_int_equal(tcptuned_config_load(path, set, &config, &err), 0);
	assert_int_equal(config.metrics_port, 4);
	assert_int_equal(config.bitcp.beta, 1u << 30);
	assert_string_equal(config.cgroup, "/a.b=c");
	assert_string_equal(origin_of("metrics", "port"), "--set");
}

TEST(set_fails)
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
	for_each_row (r, bad) {
		const char *const set[] = {r->text, NULL};

		assert_int_equal(assert_refused(set, "--set: ", "", r->remedy), -EINVAL);
	}
}

static void note_difference(void *context, const char *key, const char *was, const char *now,
			    bool live)
{
	char *text = context;
	size_t used = strlen(text);

	snprintf(text + used, 512 - used, "%s:%s>%s%s ", key, was, now, live ? "" : "!");
}

TEST(diff)
{
	struct tcptuned_config before;
	char text[512] = "";

	load("[tcptuned]\nbpffs = /a/longer/path\n[policy]\nreceive_window_max = 16M\n");
	before = config;
	load("[tcptuned]\nbpffs = /b\n[policy]\nreceive_window_max = auto\nsend_window_max = 96K\n"
	     "[bitcp]\nbeta = 0.25\n[metrics]\nenabled = off\n");
	assert_int_equal(tcptuned_config_diff(&before, &config, note_difference, text), 5);
	assert_string_equal(text, "tcptuned.bpffs:/a/longer/path>/b! "
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
TEST(diff_of_policies)
{
	struct tcptuned_config before;
	char text[512] = "";

	load("[policy gone]\nlocal_port = 1\n[policy same]\nlocal_port = 2\n[policy other]\n"
	     "destination = 10.0.0.0/8\n");
	before = config;
	load("[policy new]\nlocal_port = 1\n[policy other]\ndestination = 10.0.0.0/9, ::1\n"
	     "mode = off\n[policy same]\nlocal_port = 2\n");
	assert_int_equal(tcptuned_config_diff(&before, &config, note_difference, text), 4);
	assert_string_equal(text, "policy gone:defined> policy new:>defined "
				  "policy other.mode:tune>off "
				  "policy other.destination:10.0.0.0/8>10.0.0.0/9, ::1/128 ");
	tcptuned_config_free(&before);
	before = config;
	load("[policy other]\ndestination = 10.0.0.0/9, ::1\nmode = off\n[policy new]\nlocal_port = 1\n"
	     "[policy same]\nlocal_port = 2\n");
	text[0] = '\0';
	assert_int_equal(tcptuned_config_diff(&before, &config, note_difference, text), 1);
	assert_string_equal(text, "order of the policies:as it was>another ");
	tcptuned_config_free(&before);
	tcptuned_config_free(&config);
}

/*
 * What --check-config prints is the same configuration: here with other values than the defaults,
 * with every kind of condition, and with a list of prefixes that takes several lines.
 */
TEST(print_reads_back)
{
	char text[16384], *printed, *end = text;
	struct tcptuned_config before;

	end += sprintf(end,
		       "[tcptuned]\ncgroup = /c\nlog_level = warning\nbpffs = /%0170d\n[policy]\n"
		       "receive_window_max=100000\nsend_window_max = 1G\nmode = off\n"
		       "congestion_control = keep\n[bitcp]\nbeta = 0.333333333\n[metrics]\n"
		       "address = fe80::1\nport = 80\n[policy many]\n",
		       0);
	for (int i = 0; i < 100; i++)
		end += sprintf(end, "destination = 2001:db8:%x:ffff:ffff::/80\n", i + 4096);
	strcpy(end, "source = 10.0.0.0/8, ::1\nlocal_port = 80, 443\nremote_port = 1-1023\n"
		    "cgroup = /x/y\n[policy b]\ncgroup = /\nmode = observe\n");
	load(text);
	before = config;
	printed = text_printed(out, tcptuned_config_print(&config, out));
	load(printed);
	assert_int_equal(tcptuned_config_diff(&before, &config, NULL, NULL), 0);
	for_each_row (key, tcptuned_keys)
		if (strcmp(key->section, NAMED_POLICY))
			assert_string_not_equal(config.origin[test_row], "default");
	assert_int_equal(config.policies_len, 2);
	assert_int_equal(named("many")->set.destination.len, 100);
	free(printed);
	tcptuned_config_free(&before);
	tcptuned_config_free(&config);
}

/* The example is the default; with every key's # taken away it still is, and names each origin. */
TEST(example)
{
	FILE *file = fopen(path, "w");
	struct tcptuned_config defaults;
	char command[512];

	tcptuned_config_defaults(&defaults);
	tcptuned_config_print_example(file);
	fclose(file);
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), 0);
	assert_int_equal(tcptuned_config_diff(&defaults, &config, NULL, NULL), 0);
	for_each_row (origin, config.origin)
		assert_string_equal(*origin, "default");
	snprintf(command, sizeof(command), "sed -i 's/^#\\([a-z]\\)/\\1/' '%s'", path);
	assert_int_equal(system(command), 0);
	assert_int_equal(tcptuned_config_load(path, NULL, &config, &err), 0);
	assert_int_equal(tcptuned_config_diff(&defaults, &config, NULL, NULL), 0);
	for_each_row (key, tcptuned_keys)
		if (strcmp(key->section, NAMED_POLICY))
			assert_memory_equal(config.origin[test_row], path, strlen(path));
}
