// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/keys.h"
#include "util/log.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

#define FRACTION_BITS 32 /* of struct bitcp_params */

static const char *const log_levels[] = {
	[TCPTUNED_LOG_ERROR] = "error",
	[TCPTUNED_LOG_WARNING] = "warning",
	[TCPTUNED_LOG_INFO] = "info",
	[TCPTUNED_LOG_DEBUG] = "debug",
	NULL,
};

static const char *const modes[] = {
	[TCPTUNED_OFF] = "off",
	[TCPTUNED_OBSERVE] = "observe",
	[TCPTUNED_TUNE] = "tune",
	NULL,
};

const struct tcptuned_section tcptuned_sections[] = {
	{"tcptuned", "The daemon itself."},
	{"policy", "What is done to the connections of this host, unless a named policy has them."},
	{NAMED_POLICY,
	 "Up to 256 policies of their own names, letters, digits, _ and -, each for the "
	 "connections that fulfil all of its conditions, of which it needs one at least. "
	 "Where several would do, the one with the longest destination prefix has the "
	 "connection; among those the one with the longest source prefix, the fewest ports, "
	 "the deepest control group, the one that comes first. It has every key of [policy], "
	 "and what it leaves out is as in [policy]. Of mode, observe is a dry run of this policy, and off leaves its connections as "
	 "they would be without tcptuned."},
	{"memory", "The memory that all connections together may be granted."},
	{"bitcp",
	 "BI-TCP, the congestion control that is registered as bitcp, for connections made from "
	 "then on. Its other parameters are those of the paper: Xu, Harfoush and Rhee, "
	 "Binary Increase Congestion Control for Fast, Long Distance Networks, section VI."},
	{"control", "The socket through which tcptunectl talks to the daemon."},
	{"paths",
	 "What is remembered about the way to a destination: the largest amount of data per "
	 "round-trip time, the minimum round-trip time, the window at which bitcp met its last "
	 "loss, the share of segments sent again, and whether it was slow. Connections that end "
	 "add to it; a new one to a known destination begins with it. It is kept in "
	 "state_directory over restarts; tcptunectl paths lists it, and tcptunectl paths forget "
	 "or tcptuned --forget-paths deletes it."},
	{"metrics", "The endpoint that Prometheus scrapes, http://ADDRESS:PORT/metrics."},
};

const size_t tcptuned_sections_count = sizeof(tcptuned_sections) / sizeof(tcptuned_sections[0]);

#define FIELD(field)                                       \
	.offset = offsetof(struct tcptuned_config, field), \
	.size = sizeof(((struct tcptuned_config *)0)->field)

const struct tcptuned_key tcptuned_keys[TCPTUNED_CONFIG_KEYS] = {
	{
		.section = "tcptuned",
		.name = "cgroup",
		.type = KEY_PATH,
		FIELD(cgroup),
		.special = "auto",
		.fallback = "auto",
		.help = "The control group whose processes' connections are tuned, a directory "
			"of the cgroup2 tree. auto is the root of the tree, wherever it is "
			"mounted: every connection of the host and of its containers.",
	},
	{
		.section = "tcptuned",
		.name = "bpffs",
		.type = KEY_PATH,
		FIELD(bpffs),
		.fallback = "/sys/fs/bpf",
		.help = "Where the BPF file system is mounted. Programs and maps are pinned in "
			"its directory tcptuned, which is how they outlive a restart of the "
			"daemon. Only root may write there: mode 0700. To change it, stop and "
			"start; a restart would not find the pins. Under systemd, another one "
			"needs ReadWritePaths= in a drop-in of the unit.",
	},
	{
		.section = "tcptuned",
		.name = "runtime_directory",
		.type = KEY_PATH,
		FIELD(runtime_directory),
		.fallback = "/run/tcptuned",
		.help = "Where the lock is kept that refuses a second tcptuned, and the socket "
			"that tcptunectl uses. Under systemd, another one needs ReadWritePaths= in "
			"a drop-in of the unit.",
	},
	{
		.section = "tcptuned",
		.name = "state_directory",
		.type = KEY_PATH,
		FIELD(state_directory),
		.fallback = "/var/lib/tcptuned",
		.help = "Where the database paths.db is kept, see [paths]. It is made if it is "
			"missing. Where it cannot be, that is logged, and paths are remembered "
			"until the stop only. Under systemd, another one needs ReadWritePaths= in a "
			"drop-in of the unit. A dry run neither reads nor writes it.",
	},
	{
		.section = "tcptuned",
		.name = "log_level",
		.type = KEY_CHOICE,
		FIELD(log_level),
		.choices = log_levels,
		.fallback = "info",
		.live = true,
		.help = "The least important messages that are still logged.",
	},
	{
		.section = "policy",
		.name = "mode",
		.type = KEY_CHOICE,
		FIELD(policy.mode),
		.choices = modes,
		.fallback = "tune",
		.live = true,
		.help = "tune: size buffers and choose the congestion control. observe: decide "
			"and "
			"count as if tuning, but change nothing. off: claim no connection at "
			"all. "
			"A change holds for connections made after it.",
	},
	{
		.section = "policy",
		.name = "override_rcvbuf",
		.type = KEY_BOOL,
		FIELD(policy.override_rcvbuf),
		.fallback = "yes",
		.live = true,
		.help = "Do not let an application fix its receive buffer with SO_RCVBUF, "
			"which "
			"would end all tuning of it: the call succeeds and getsockopt() shows "
			"that size, which is also counted in the metrics, but the buffer "
			"follows "
			"the path. no: what the application asks for stands.",
	},
	{
		.section = "policy",
		.name = "override_sndbuf",
		.type = KEY_BOOL,
		FIELD(policy.override_sndbuf),
		.fallback = "yes",
		.live = true,
		.help = "The same for SO_SNDBUF and the send buffer.",
	},
	{
		.section = "policy",
		.name = "receive_window_max",
		.type = KEY_SIZE,
		FIELD(policy.receive_window_max_bytes),
		.lowest = 64 * KIB,
		.highest = GIB,
		.special = "auto",
		.fallback = "auto",
		.live = true,
		.word = "kernel",
		.word_value = TCPTUNED_WINDOW_KERNEL,
		.help = "The largest window that a receiver may be given. The kernel needs twice "
			"as much buffer for it: while a policy tunes, the maximum of "
			"net.ipv4.tcp_rmem, its last number, is raised to that, in each network "
			"namespace whose numbers were those of tcptuned's own. auto: 32 MiB "
			"(buffers of 64 MB), which 1 Gbit/s needs at 250 ms, but at most a quarter "
			"of the memory at which the kernel presses TCP (the middle value of "
			"net.ipv4.tcp_mem), at least 4 MiB, and no less than the kernel's own "
			"maximum allows. One connection of 10 Gbit/s at 100 ms needs 256M here, "
			"and send_window_max = 256M at its sender. kernel: as far as the kernel's "
			"own maximum goes; it is not raised for this policy. Windows are "
			"advertised in units that grow with the maximum, 1 KiB for 32M and 8 KiB "
			"for 256M (or with net.core.rmem_max, where that is larger), and the small "
			"window of a slow path can hardly be made smaller in large units.",
	},
	{
		.section = "policy",
		.name = "send_window_max",
		.type = KEY_SIZE,
		FIELD(policy.send_window_max_bytes),
		.lowest = 64 * KIB,
		.highest = GIB,
		.special = "auto",
		.fallback = "auto",
		.live = true,
		.word = "kernel",
		.word_value = TCPTUNED_WINDOW_KERNEL,
		.help = "The most data in flight that a send buffer may be made for; the maximum "
			"of net.ipv4.tcp_wmem is raised to twice that. auto, kernel: as for "
			"receive_window_max. Where that maximum is larger, as another policy's, or "
			"the kernel's own, the send buffer of a connection is limited to twice its "
			"policy's window, if net.core.wmem_max is at least half of that maximum.",
	},
	{
		.section = "policy",
		.name = "congestion_control",
		.type = KEY_NAME,
		FIELD(policy.congestion_control),
		.special = "keep",
		.word = TCPTUNED_CC_AUTO,
		.fallback = TCPTUNED_CC_AUTO,
		.live = true,
		.help = "The congestion control of new connections whose application chooses none "
			"itself. auto: bitcp on long paths (see long_path_segments) where the "
			"default, net.ipv4.tcp_congestion_control, is cubic or reno; every other "
			"connection keeps the default. Another default, as bbr or dctcp, is the "
			"administrator's choice, which auto never replaces. bitcp, or any other "
			"that the kernel has: each connection gets it, whatever the default is. One "
			"that the kernel has as a module is loaded, and stays. keep: leave it as "
			"it is. bitcp is registered in any case, for applications that choose it.",
	},
	{
		.section = "policy",
		.name = "long_path_segments",
		.type = KEY_INTEGER,
		FIELD(policy.long_path_segments),
		.lowest = 1,
		.highest = 1 << 20,
		.fallback = "4096",
		.unit = "segments",
		.live = true,
		.help = "The bandwidth-delay product from which congestion_control = auto moves a "
			"connection to bitcp; 1 Gbit/s at 50 ms is 4300 segments. At 4096 segments "
			"one loss costs reno 2048 round trips until its window is what it was, and "
			"cubic 14 seconds (the cube root of 0.3 x 4096 / 0.4), whatever the path "
			"could carry meanwhile. On shorter paths both recover soon, and there BI-TCP "
			"takes more than its share: in the simulations of the paper (section VII, "
			"TCP-friendliness) at 20 Mbit/s standard TCP has a little less beside "
			"BI-TCP than beside HighSpeed or Scalable TCP, while at 500 Mbit/s and "
			"above it is mostly its own limit that keeps it from its share.",
	},
	{
		.section = "memory",
		.name = "budget",
		.type = KEY_SIZE,
		FIELD(budget_bytes),
		.lowest = MIB,
		.highest = 1024 * GIB,
		.special = "auto",
		.fallback = "auto",
		.live = true,
		.help = "What receive and send buffers may take, all together, beyond what the "
			"kernel alone would give them: the maximum of net.ipv4.tcp_rmem or "
			"net.ipv4.tcp_wmem before tcptuned raised it, or the size that an "
			"application had fixed before the start. Where that is not enough for "
			"all, small wants are met whole and the rest is shared equally: a "
			"connection that gets less has a smaller window. One connection has a "
			"quarter at most, and all to one network (/24, or /48 of IPv6) have half. "
			"Buffers that an application fixes do not count. auto: three quarters of "
			"the memory at which the kernel presses TCP (the middle value of "
			"net.ipv4.tcp_mem). A connection that has been idle for some seconds "
			"gives back what it does not hold.",
	},
	{
		.section = NAMED_POLICY,
		.name = "destination",
		.type = KEY_PREFIXES,
		FIELD(policy.destination),
		.special = "any",
		.fallback = "any",
		.live = true,
		.help = "Condition: the peer's address, whoever opened the connection. The key "
			"may be repeated. An IPv6 socket's IPv4 peer counts as IPv4, and ::/0 is "
			"every address of IPv6 only.",
	},
	{
		.section = NAMED_POLICY,
		.name = "destination_file",
		.type = KEY_PATH,
		FIELD(policy.destination_file),
		.special = "none",
		.fallback = "none",
		.live = true,
		.help = "A file with more of these, one prefix a line, # before a comment, at "
			"most 16 MiB. It is read again at a reload. Under systemd, the daemon sees "
			"nothing of /home, /root and /tmp: /etc/tcptuned is a place for it.",
	},
	{
		.section = NAMED_POLICY,
		.name = "source",
		.type = KEY_PREFIXES,
		FIELD(policy.source),
		.special = "any",
		.fallback = "any",
		.live = true,
		.help = "Condition: this host's own address in the connection. The key may be "
			"repeated.",
	},
	{
		.section = NAMED_POLICY,
		.name = "local_port",
		.type = KEY_PORTS,
		FIELD(policy.local_port),
		.special = "any",
		.fallback = "any",
		.live = true,
		.help = "Condition: this host's port, which is the service's where a connection "
			"is accepted.",
	},
	{
		.section = NAMED_POLICY,
		.name = "remote_port",
		.type = KEY_PORTS,
		FIELD(policy.remote_port),
		.special = "any",
		.fallback = "any",
		.live = true,
		.help = "Condition: the peer's port.",
	},
	{
		.section = NAMED_POLICY,
		.name = "cgroup",
		.type = KEY_PATH,
		FIELD(policy.cgroup),
		.special = "any",
		.fallback = "any",
		.live = true,
		.help = "Condition: the control group in which the socket was made (of an "
			"accepted one, its listener), or one below that; the path from the root "
			"of the cgroup2 tree, as /system.slice/nginx.service. While there is no "
			"such group the policy has no connection; it is looked for every few "
			"seconds.",
	},
	{
		.section = "bitcp",
		.name = "beta",
		.type = KEY_FRACTION,
		FIELD(bitcp.beta),
		.lowest = BITCP_BETA_LOWEST,
		.highest = BITCP_BETA_HIGHEST,
		.fallback = "0.125",
		.live = true,
		.help = "The share of the window that is given up at a loss. The paper takes "
			"0.125, which keeps a path about 94 % used; standard TCP's is 0.5. "
			"Less "
			"uses the path better, and takes longer to reach a fair share.",
	},
	{
		.section = "control",
		.name = "group",
		.type = KEY_NAME,
		FIELD(control_group),
		.special = "root",
		.fallback = "root",
		.help = "The group whose members may use tcptunectl, besides root: they see every "
			"connection of the host, may switch policies off and on, apply them to "
			"open connections, and may stop the daemon. To have paths forgotten takes "
			"root. The socket is control in runtime_directory. Under systemd, the unit needs SupplementaryGroups= with "
			"that group.",
	},
	{
		.section = "paths",
		.name = "remember",
		.type = KEY_BOOL,
		FIELD(paths_enabled),
		.fallback = "yes",
		.live = true,
		.help = "Learn from connections that end, and let new ones begin with it. no: "
			"neither; what is known stays until it expires.",
	},
	{
		.section = "paths",
		.name = "expire_s",
		.type = KEY_INTEGER,
		FIELD(paths_expire_s),
		.lowest = PATH_EXPIRE_MIN_S,
		.highest = PATH_EXPIRE_MAX_S,
		.fallback = "86400",
		.unit = "seconds",
		.live = true,
		.help = "What no connection has added to for so long is forgotten. A quarter of "
			"this halves what a memory counts; after half of it bitcp's maximum is "
			"no longer used.",
	},
	{
		.section = "metrics",
		.name = "enabled",
		.type = KEY_BOOL,
		FIELD(metrics_enabled),
		.fallback = "yes",
		.help = "Serve metrics at all.",
	},
	{
		.section = "metrics",
		.name = "address",
		.type = KEY_ADDRESS,
		FIELD(metrics_address),
		.fallback = "127.0.0.1",
		.help = "The local address to listen on. :: is every address, IPv4 included. One "
			"that the host does not have yet, as of DHCP at boot, is listened on once "
			"it is there; the log says so. Unused when systemd passes a socket.",
	},
	{
		.section = "metrics",
		.name = "port",
		.type = KEY_INTEGER,
		FIELD(metrics_port),
		.lowest = 1,
		.highest = UINT16_MAX,
		.fallback = "9817",
		.help = "The TCP port to listen on. Unused when systemd passes a socket.",
	},
	{
		.section = "metrics",
		.name = "flows",
		.type = KEY_INTEGER,
		FIELD(metrics_flows),
		.lowest = 0,
		.highest = 1000,
		.fallback = "20",
		.unit = "connections",
		.live = true,
		.help = "So many connections, those that carried most, are shown one by one; "
			"the rest only in the totals. Each makes some twenty time series. They "
			"are connections of this host's own network namespace, which every user "
			"can list in /proc/net/tcp. tcptunectl shows those of all namespaces.",
	},
};

static void *field(const struct tcptuned_key *key, struct tcptuned_config *config)
{
	return (char *)config + key->offset;
}

static void store(const struct tcptuned_key *key, struct tcptuned_config *config,
		  uint64_t value)
{
	uint16_t half = (uint16_t)value;
	uint32_t word = (uint32_t)value;

	if (key->size == sizeof(half))
		memcpy(field(key, config), &half, sizeof(half));
	else if (key->size == sizeof(word))
		memcpy(field(key, config), &word, sizeof(word));
	else
		memcpy(field(key, config), &value, sizeof(value));
}

static uint64_t fetch(const struct tcptuned_key *key, const struct tcptuned_config *config)
{
	const char *from = (const char *)config + key->offset;
	uint64_t value;
	uint32_t word;
	uint16_t half;

	if (key->size == sizeof(half)) {
		memcpy(&half, from, sizeof(half));
		return half;
	}
	if (key->size == sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		return word;
	}
	memcpy(&value, from, sizeof(value));
	return value;
}

static bool is_text(const struct tcptuned_key *key)
{
	return key->type == KEY_PATH || key->type == KEY_NAME || key->type == KEY_ADDRESS;
}

static int problem(char *ret, int errnum, const char *text)
{
	snprintf(ret, KEY_TEXT, "%s", text);
	return -errnum;
}

/* --- one parser for each type -------------------------------------------------------- */

/*
 * Decimal digits at *@text, which moves past them; huge numbers become one above 2^40, the largest
 * that any key may have. -EINVAL when there is none.
 */
static int parse_digits(const char **text, uint64_t *ret)
{
	const char *p = *text;
	uint64_t value = 0;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		if (value <= 1ull << 40)
			value = value * 10 + (uint64_t)(*p - '0');
	*text = p;
	*ret = value;
	return 0;
}

/* "-5" is a number, and out of every range here; "-x" is none. */
static bool is_negative(const char **text)
{
	const char *p = *text;

	if (*p != '-' && *p != '+')
		return false;
	if (!isdigit((unsigned char)p[1]))
		return false;
	*text = p + 1;
	return *p == '-';
}

static int parse_bool(const struct tcptuned_key *key, const char *text,
		      struct tcptuned_config *config, char *ret_problem)
{
	static const char *const words[] = {"no", "yes", "false", "true",
					    "0",  "1",	 "off",	  "on"};
	bool value;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(text, words[i]))
			continue;
		value = i % 2;
		memcpy(field(key, config), &value, sizeof(value));
		return 0;
	}
	return problem(ret_problem, EINVAL, "is neither yes nor no");
}

static int parse_choice(const struct tcptuned_key *key, const char *text,
			struct tcptuned_config *config, char *ret_problem)
{
	for (uint32_t i = 0; key->choices[i]; i++) {
		if (strcmp(text, key->choices[i]))
			continue;
		store(key, config, i);
		return 0;
	}
	return problem(ret_problem, EINVAL, "is not one of the values that it can have");
}

static int store_in_range(const struct tcptuned_key *key, struct tcptuned_config *config,
			  uint64_t value, bool negative, char *ret_problem)
{
	if (value < key->lowest || (negative && value))
		return problem(ret_problem, ERANGE, "is too small");
	if (value > key->highest)
		return problem(ret_problem, ERANGE, "is too large");
	store(key, config, value);
	return 0;
}

static int parse_integer(const struct tcptuned_key *key, const char *text,
			 struct tcptuned_config *config, char *ret_problem)
{
	bool negative = is_negative(&text);
	uint64_t value;

	if (parse_digits(&text, &value) < 0 || *text)
		return problem(ret_problem, EINVAL, "is not a whole number");
	return store_in_range(key, config, value, negative, ret_problem);
}

struct unit {
	const char *suffix;
	uint64_t factor;
};

/* A whole number of one of the @units, which end with one that has no suffix. */
static int parse_quantity(const struct tcptuned_key *key, const char *text,
			  struct tcptuned_config *config, const struct unit *units,
			  const char *no_number, const char *no_unit, char *ret_problem)
{
	bool negative = is_negative(&text);
	uint64_t value;

	if (parse_digits(&text, &value) < 0)
		return problem(ret_problem, EINVAL, no_number);
	text += strspn(text, " \t");
	for (; units->suffix; units++) {
		if (strcasecmp(text, units->suffix))
			continue;
		if (value > key->highest / units->factor) /* the product might pass 2^64 */
			value = key->highest + 1;
		else
			value *= units->factor;
		return store_in_range(key, config, value, negative, ret_problem);
	}
	return problem(ret_problem, EINVAL, no_unit);
}

/* K, M, G and KiB, MiB, GiB are the same. KB is refused: some mean 1000 by it, some 1024. */
static int parse_size(const struct tcptuned_key *key, const char *text,
		      struct tcptuned_config *config, char *ret_problem)
{
	static const struct unit units[] = {{"", 1},	  {"K", KIB},   {"KiB", KIB}, {"M", MIB},
					    {"MiB", MIB}, {"G", GIB}, {"GiB", GIB},   {0}};

	return parse_quantity(key, text, config, units, "is not a size",
			      "is not a whole number of bytes, K, M or G", ret_problem);
}

/* Decimals after the ninth are not looked at. */
static int parse_fraction(const struct tcptuned_key *key, const char *text,
			  struct tcptuned_config *config, char *ret_problem)
{
	bool negative = is_negative(&text);
	uint64_t whole, decimals = 0, place = 100000000;

	if (parse_digits(&text, &whole) < 0)
		return problem(ret_problem, EINVAL, "is not a decimal number");
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return problem(ret_problem, EINVAL, "is not a decimal number");
		for (; isdigit((unsigned char)*text); text++, place /= 10)
			decimals += place * (uint64_t)(*text - '0');
	}
	if (*text)
		return problem(ret_problem, EINVAL, "is not a decimal number");
	if (whole >= 1ull << 31) /* above every range, and the shift stays below 2^64 */
		whole = (1ull << 31) - 1;
	return store_in_range(key, config,
			      (whole << FRACTION_BITS) +
				      ((decimals << FRACTION_BITS) + 500000000) / 1000000000,
			      negative, ret_problem);
}

static int parse_prefixes(const struct tcptuned_key *key, const char *text,
			  struct tcptuned_config *config, char *ret_problem)
{
	return tcptuned_prefixes_add(field(key, config), text, ret_problem, KEY_TEXT);
}

static int parse_ports(const struct tcptuned_key *key, const char *text,
		       struct tcptuned_config *config, char *ret_problem)
{
	int error = tcptuned_ports_parse(text, field(key, config));

	if (error == -ERANGE)
		return problem(ret_problem, ERANGE, "is not from 1 to 65535, the lower one first");
	return error ? problem(ret_problem, EINVAL, "is neither a port nor a range of ports") : 0;
}

static int parse_path(const struct tcptuned_key *key, const char *text,
		      struct tcptuned_config *config, char *ret_problem)
{
	if (*text != '/')
		return problem(ret_problem, EINVAL, "is not an absolute path");
	for (const char *p = text; *p; p++)
		if (iscntrl((unsigned char)*p))
			return problem(ret_problem, EINVAL, "has a control character in it");
	if (strlen(text) >= key->size)
		return problem(ret_problem, ERANGE, "is too long");
	strcpy(field(key, config), text);
	return 0;
}

static int parse_name(const struct tcptuned_key *key, const char *text,
		      struct tcptuned_config *config, char *ret_problem)
{
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
			return problem(ret_problem, EINVAL, "is not a name");
	if (strlen(text) >= key->size)
		return problem(ret_problem, ERANGE, "is too long");
	strcpy(field(key, config), text);
	return 0;
}

static int parse_address(const struct tcptuned_key *key, const char *text,
			 struct tcptuned_config *config, char *ret_problem)
{
	struct in6_addr address;

	if (inet_pton(AF_INET, text, &address) != 1 && inet_pton(AF_INET6, text, &address) != 1)
		return problem(ret_problem, EINVAL, "is not a numeric IP address");
	snprintf(field(key, config), key->size, "%s", text);
	return 0;
}

int tcptuned_key_parse(const struct tcptuned_key *key, const char *text,
		       struct tcptuned_config *config, char *ret_problem)
{
	static int (*const parsers[])(const struct tcptuned_key *, const char *,
				      struct tcptuned_config *, char *) = {
		[KEY_BOOL] = parse_bool,     [KEY_INTEGER] = parse_integer,
		[KEY_SIZE] = parse_size,     [KEY_FRACTION] = parse_fraction,
		[KEY_CHOICE] = parse_choice, [KEY_PATH] = parse_path,
		[KEY_NAME] = parse_name,     [KEY_ADDRESS] = parse_address,
		[KEY_PREFIXES] = parse_prefixes,
		[KEY_PORTS] = parse_ports,
	};

	if (!*text)
		return problem(ret_problem, EINVAL, "is no value");
	if (key->special && !strcmp(text, key->special)) {
		if (key->type == KEY_PREFIXES)
			tcptuned_prefixes_free(field(key, config));
		memset(field(key, config), 0, key->size);
		return 0;
	}
	if (key->word && !is_text(key) && !strcmp(text, key->word)) {
		store(key, config, key->word_value);
		return 0;
	}
	/* No rest of an earlier, longer text: values are compared with memcmp(). */
	if (is_text(key))
		memset(field(key, config), 0, key->size);
	return parsers[key->type](key, text, config, ret_problem);
}

/* --- and back to text ---------------------------------------------------------------- */

static void format_size(uint64_t bytes, char *ret)
{
	static const char suffixes[] = {'G', 'M', 'K'};
	uint64_t factor = GIB;

	for (size_t i = 0; i < sizeof(suffixes); i++, factor /= 1024) {
		if (bytes % factor)
			continue;
		snprintf(ret, KEY_TEXT, "%ju%c", (uintmax_t)(bytes / factor), suffixes[i]);
		return;
	}
	snprintf(ret, KEY_TEXT, "%ju", (uintmax_t)bytes);
}

/*
 * The error of 2^-33 is less than half of the ninth decimal: what was read from nine decimals
 * or less comes out as it was.
 */
static void format_fraction(uint64_t value, char *ret)
{
	uint64_t whole = value >> FRACTION_BITS, rest = value & UINT32_MAX;
	uint64_t decimals = (rest * 1000000000 + (1ull << 31)) >> FRACTION_BITS;
	size_t length;

	length = (size_t)snprintf(ret, KEY_TEXT, "%ju.%09ju",
				  (uintmax_t)(whole + decimals / 1000000000),
				  (uintmax_t)(decimals % 1000000000));
	while (ret[length - 1] == '0')
		ret[--length] = '\0';
	if (ret[length - 1] == '.')
		ret[--length] = '\0';
}

static void format_ports(const struct tcptuned_ports *ports, char *ret)
{
	if (ports->low == ports->high)
		snprintf(ret, KEY_TEXT, "%u", ports->low);
	else
		snprintf(ret, KEY_TEXT, "%u-%u", ports->low, ports->high);
}

/* Is it what the special word stands for? */
static bool is_special(const struct tcptuned_key *key, const struct tcptuned_config *config)
{
	const char *from = (const char *)config + key->offset;

	if (!key->special)
		return false;
	if (key->type == KEY_PREFIXES)
		return !((const struct tcptuned_prefixes *)from)->len;
	if (key->type == KEY_PORTS)
		return !((const struct tcptuned_ports *)from)->low;
	return is_text(key) ? !*from : !fetch(key, config);
}

/* A number as this key would have it written. */
static void format_number(const struct tcptuned_key *key, uint64_t value, char *ret)
{
	if (key->type == KEY_SIZE)
		format_size(value, ret);
	else if (key->type == KEY_FRACTION)
		format_fraction(value, ret);
	else
		snprintf(ret, KEY_TEXT, "%ju", (uintmax_t)value);
}

void tcptuned_key_format(const struct tcptuned_key *key, const struct tcptuned_config *config,
			 char *ret)
{
	const char *from = (const char *)config + key->offset;

	if (is_special(key, config))
		snprintf(ret, KEY_TEXT, "%s", key->special);
	else if (key->word && !is_text(key) && fetch(key, config) == key->word_value)
		snprintf(ret, KEY_TEXT, "%s", key->word);
	else if (is_text(key))
		snprintf(ret, KEY_TEXT, "%.*s", (int)key->size, from);
	else if (key->type == KEY_BOOL)
		snprintf(ret, KEY_TEXT, "%s", *(const bool *)from ? "yes" : "no");
	else if (key->type == KEY_PREFIXES)
		tcptuned_prefixes_format((const struct tcptuned_prefixes *)from, ret, KEY_TEXT);
	else if (key->type == KEY_PORTS)
		format_ports((const struct tcptuned_ports *)from, ret);
	else if (key->type == KEY_CHOICE)
		snprintf(ret, KEY_TEXT, "%s", key->choices[fetch(key, config)]);
	else
		format_number(key, fetch(key, config), ret);
}

static void append(char *ret, const char *text)
{
	size_t used = strlen(ret);

	snprintf(ret + used, KEY_TEXT - used, "%s", text);
}

static void append_range(const struct tcptuned_key *key, char *ret)
{
	char number[KEY_TEXT];

	append(ret, " from ");
	format_number(key, key->lowest, number);
	append(ret, number);
	append(ret, " to ");
	format_number(key, key->highest, number);
	append(ret, number);
}

void tcptuned_key_wants(const struct tcptuned_key *key, char *ret)
{
	static const char *const what[] = {
		[KEY_BOOL] = "yes or no",
		[KEY_INTEGER] = "a whole number",
		[KEY_SIZE] = "a size in bytes",
		[KEY_FRACTION] = "a decimal number",
		[KEY_CHOICE] = "",
		[KEY_PATH] = "an absolute path",
		[KEY_NAME] = "a name of at most ",
		[KEY_ADDRESS] = "a numeric IPv4 or IPv6 address",
		[KEY_PREFIXES] = "prefixes of IPv4 or IPv6, as 192.0.2.0/24, with commas between",
		[KEY_PORTS] = "a port, or a range of ports as 8000-8080, from 1 to 65535",
	};

	if (key->type == KEY_NAME)
		snprintf(ret, KEY_TEXT, "%s%zu letters, digits, _ and -", what[KEY_NAME],
			 key->size - 1);
	else
		snprintf(ret, KEY_TEXT, "%s", what[key->type]);
	for (size_t i = 0; key->choices && key->choices[i]; i++) {
		append(ret, !i ? "" : key->choices[i + 1] ? ", " : " or ");
		append(ret, key->choices[i]);
	}
	if (key->unit) {
		append(ret, " of ");
		append(ret, key->unit);
	}
	if (key->type == KEY_INTEGER || key->type == KEY_SIZE || key->type == KEY_FRACTION)
		append_range(key, ret);
	if (key->type == KEY_SIZE)
		append(ret, " (K, M, G: powers of 1024)");
	if (key->word) {
		append(ret, ", ");
		append(ret, key->word);
	}
	if (key->special) {
		append(ret, key->word ? " or " : ", or ");
		append(ret, key->special);
	}
}

bool tcptuned_key_equal(const struct tcptuned_key *key, const struct tcptuned_config *a,
			const struct tcptuned_config *b)
{
	const char *p = (const char *)a + key->offset, *q = (const char *)b + key->offset;

	if (key->type == KEY_PREFIXES)
		return tcptuned_prefixes_equal((const struct tcptuned_prefixes *)p,
					       (const struct tcptuned_prefixes *)q);
	return !memcmp(p, q, key->size);
}

void tcptuned_policy_view(const struct tcptuned_named_policy *policy,
			  struct tcptuned_config *ret_view)
{
	ret_view->policy = policy->set;
}
