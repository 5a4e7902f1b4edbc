// SPDX-License-Identifier: GPL-2.0-only
#include "config/keys.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <tcptuned/algo/path.h>

#include "util/array.h"
#include "util/log.h"
#include "util/text.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

#define FRACTION_ONE (1ull << 32) /* as in struct bitcp_params */

static const char *const modes[] = {
	[TCPTUNED_OFF] = "off",
	[TCPTUNED_OBSERVE] = "observe",
	[TCPTUNED_TUNE] = "tune",
	NULL,
};

const struct tcptuned_section tcptuned_sections[] = {
	{"tcptuned", "The daemon itself. Under systemd, directories other than the defaults need "
		     "ReadWritePaths= in a drop-in of the unit."},
	{"policy", "What is done to the connections of this host that no named policy has."},
	{NAMED_POLICY,
	 "A policy of its own for some connections; there may be 256 of them. The name consists of "
	 "letters, digits, _ and -. A policy applies to the connections that fulfil all of its "
	 "conditions, and needs at least one condition. If several policies apply, the connection "
	 "comes under the one with the longest destination prefix; if that does not decide, under "
	 "the one with the longest source prefix, the fewest ports, the deepest control group, or "
	 "the first place in the file. It also has every key of [policy], and inherits from there "
	 "what it does not set. mode = observe decides and changes nothing for this policy alone, and "
	 "mode = off manages none of its connections."},
	{"memory", "The memory that all connections together may use."},
	{"bitcp",
	 "BI-TCP, the congestion control that is registered as bitcp. The other parameters are "
	 "those of the paper: Xu, Harfoush and Rhee, Binary Increase Congestion Control for Fast, "
	 "Long Distance Networks, section VI."},
	{"control", "The socket through which tcptunectl talks to the daemon."},
	{"paths",
	 "What is remembered about the path to a destination: the largest amount of data per "
	 "round-trip time, the minimum round-trip time, the window at which bitcp had its last "
	 "loss, the share of segments that were retransmitted, and whether the path was slow. A "
	 "connection adds to it when it ends, and a new connection to a known destination starts "
	 "with it. It is kept in state_directory across restarts. tcptunectl paths lists it; "
	 "tcptunectl paths forget and tcptuned --forget-paths delete it."},
	{"metrics", "The endpoint that Prometheus scrapes, http://ADDRESS:PORT/metrics."},
	{0},
};

#define GLOBAL(field) FIELD_OF(tcptuned_config, field)
#define POLICY(field) FIELD_OF(tcptuned_policy_config, field)

#define LIVE	 true
#define AT_START false

/* The arguments that every key has, in the order of the struct; others follow by name. */
#define KEY(section_, name_, type_, field, fallback_, live_, help_, ...)                         \
	{                                                                                        \
		.section = section_, .name = name_, .type = type_, field, .fallback = fallback_, \
		.live = live_, .help = help_, ##__VA_ARGS__                                      \
	}

const struct tcptuned_key tcptuned_keys[TCPTUNED_CONFIG_KEYS] = {
	KEY("tcptuned", "cgroup", KEY_PATH, GLOBAL(cgroup), "auto", AT_START,
	    "The control group whose connections are tuned, a directory of the cgroup2 tree. auto "
	    "is the root of the tree, wherever it is mounted: every connection of the host and of "
	    "its containers.",
	    .special = "auto"),
	KEY("tcptuned", "bpffs", KEY_PATH, GLOBAL(bpffs), "/sys/fs/bpf", AT_START,
	    "The mount point of the BPF file system. Programs and maps are pinned in its directory "
	    "tcptuned, so that they survive a restart of the daemon. Only root may have write "
	    "access (mode 0700). Stop tcptuned before changing this, because a restart would not "
	    "find the pins."),
	KEY("tcptuned", "runtime_directory", KEY_PATH, GLOBAL(runtime_directory), "/run/tcptuned",
	    AT_START,
	    "The directory of the lock file, which prevents a second tcptuned, and of the socket "
	    "that tcptunectl uses."),
	KEY("tcptuned", "state_directory", KEY_PATH, GLOBAL(state_directory), "/var/lib/tcptuned",
	    AT_START,
	    "The directory of the database paths.db, see [paths]. It is created if necessary. If "
	    "that fails, or others than root may write to it, paths are remembered only until "
	    "tcptuned stops. With --observe it is neither read nor written."),
	KEY("tcptuned", "log_level", KEY_CHOICE, GLOBAL(log_level), "info", LIVE,
	    "The least important messages that are logged.", .choices = tcptuned_log_levels),
	KEY("policy", "mode", KEY_CHOICE, POLICY(mode), "tune", LIVE,
	    "tune: size buffers and choose the congestion control. observe: make and count the "
	    "same decisions, but change nothing. off: manage no connection.",
	    .choices = modes),
	KEY("policy", "override_rcvbuf", KEY_BOOL, POLICY(override_rcvbuf), "yes", LIVE,
	    "Override an application's SO_RCVBUF, which would fix the receive buffer and end its "
	    "tuning. The call succeeds, getsockopt() returns twice the requested size, as always, "
	    "and the metrics count the request, but the buffer only starts with that size, if it was smaller, and "
	    "then follows the path. no: honour the request. SO_RCVBUFFORCE, which takes "
	    "CAP_NET_ADMIN, is honoured in any case."),
	KEY("policy", "override_sndbuf", KEY_BOOL, POLICY(override_sndbuf), "yes", LIVE,
	    "The same for SO_SNDBUF and the send buffer. The kernel gets the request, and the buffer "
	    "becomes larger where the path needs more. A request for less than 128 KiB is to keep "
	    "data fresh: where a queue stands, the buffer is what was requested, or 5/4 of what the "
	    "path carries, if that is more. SO_SNDBUFFORCE is honoured."),
	KEY("policy", "receive_window_max", KEY_SIZE, POLICY(receive_window_max_bytes), "auto",
	    LIVE,
	    "The largest receive window. The kernel needs a buffer of twice that size: while a "
	    "policy tunes, the maximum of net.ipv4.tcp_rmem, its last number, is raised to it, in "
	    "each network namespace whose numbers were those of tcptuned's own. auto: 32 MiB "
	    "(buffers of 64 MiB), which 1 Gbit/s needs at 250 ms, but at most a quarter of the "
	    "memory at which TCP comes under memory pressure (the middle value of "
	    "net.ipv4.tcp_mem), at least 4 MiB, and no less than the kernel's own maximum allows. "
	    "A single connection of 10 Gbit/s at 100 ms needs 256M here, and send_window_max = "
	    "256M at its sender. kernel: what the kernel's own maximum allows, which is not raised "
	    "for this policy. The unit in which windows are advertised grows with the maximum (or "
	    "with net.core.rmem_max if that is larger): 1 KiB for 32M, 8 KiB for 256M. Large units "
	    "are too coarse for the small window of a slow path.",
	    .lowest = 64 * KIB, .highest = GIB, .special = "auto", .word = "kernel",
	    .word_value = TCPTUNED_WINDOW_KERNEL),
	KEY("policy", "send_window_max", KEY_SIZE, POLICY(send_window_max_bytes), "auto", LIVE,
	    "The largest amount of data in flight for which a send buffer is sized. "
	    "net.core.wmem_max is raised to it, and net.ipv4.tcp_wmem is not changed: a connection "
	    "that needs more than its maximum gets a buffer of its own. auto and kernel are as for "
	    "receive_window_max. If the maximum of net.ipv4.tcp_wmem is larger than twice the window "
	    "of a connection's policy, the send buffer is limited to the latter, provided that "
	    "net.core.wmem_max is at least half of that maximum.",
	    .lowest = 64 * KIB, .highest = GIB, .special = "auto", .word = "kernel",
	    .word_value = TCPTUNED_WINDOW_KERNEL),
	KEY("policy", "congestion_control", KEY_NAME, POLICY(congestion_control), TCPTUNED_CC_AUTO,
	    LIVE,
	    "The congestion control of new connections whose application chooses none. auto: the "
	    "default, net.ipv4.tcp_congestion_control. If that is cubic or reno, a connection has bitcp "
	    "while its path is long (see long_path_segments) and has room, cubic resumes its window "
	    "after a pause (cubic_resume), and where no queue causes the "
	    "losses, auto tries bbr, or bitcp on a kernel without it, and keeps what carries more. "
	    "The kernel's module is loaded for that, and not unloaded. auto never replaces "
	    "another default, such as bbr or dctcp, because the administrator chose it. bitcp, or any "
	    "other congestion control of the kernel: every connection gets it, whatever the default "
	    "is. If it is a module, the module is loaded and not unloaded. keep: leave the congestion "
	    "control as it is. bitcp and cubic_resume are registered where the kernel takes them (not with "
	    "--observe), so that applications can choose them.",
	    .special = "keep", .word = TCPTUNED_CC_AUTO),
	KEY("policy", "long_path_segments", KEY_INTEGER, POLICY(long_path_segments), "4096", LIVE,
	    "The window from which congestion_control = auto lets bitcp search for more, while the "
	    "window is full, larger than at the last loss, and there is no queue; 1 Gbit/s at 50 ms is "
	    "4300 segments. To grow by so much, reno needs 4096 round trips, and cubic 22 seconds (the "
	    "cube root of 4096 / 0.4), whatever the path could carry. As soon as one of these ends, "
	    "the connection has the default again: next to others BI-TCP takes more than its share.",
	    .lowest = 1, .highest = 1 << 20, .unit = "segments"),
	KEY("policy", "holdback", KEY_FRACTION, POLICY(holdback), "none", LIVE,
	    "The share of new connections that are left to the kernel, drawn by a hash of their ends, so "
	    "that the others can be compared with them: tcptunectl trial. Maxima of sysctls that "
	    "tcptuned has raised hold for them, too. If tuned connections are shown to be slower, or "
	    "those that send to have longer round trips without being faster, the policy only observes "
	    "new ones, also without holdback, until tcptunectl policy enable or a stop: see there.",
	    .lowest = FRACTION_ONE / 1000, .highest = FRACTION_ONE / 2, .special = "none"),
	KEY("memory", "budget", KEY_SIZE, GLOBAL(budget_bytes), "auto", LIVE,
	    "The memory that receive and send buffers together may use beyond what the kernel "
	    "alone would give them: the maximum of net.ipv4.tcp_rmem or net.ipv4.tcp_wmem before "
	    "tcptuned raised it, or the size that an application had fixed before the start. If "
	    "the budget does not suffice, small demands are met in full and the rest is shared "
	    "equally; a connection that gets less has a smaller window. One connection has at most "
	    "a quarter in each direction, and all connections to one network (/24, or /48 for IPv6) "
	    "have at most half. Buffers that an application fixes do not count. While more than half "
	    "of the budget is wanted, connections that have been idle for five seconds return what "
	    "they do not use. A reload applies it to open connections, too. auto: three quarters of "
	    "the memory at which TCP comes under memory pressure (the middle value of "
	    "net.ipv4.tcp_mem).",
	    .lowest = MIB, .highest = 1024 * GIB, .special = "auto"),
	KEY(NAMED_POLICY, "destination", KEY_PREFIXES, POLICY(destination), "any", LIVE,
	    "Condition: the peer's address, whichever side opened the connection. The key may be "
	    "repeated. An IPv4 peer of an IPv6 socket counts as IPv4, and ::/0 is every IPv6 "
	    "address only.",
	    .special = "any"),
	KEY(NAMED_POLICY, "destination_file", KEY_PATH, POLICY(destination_file), "none", LIVE,
	    "A file of further destinations, one prefix per line, with comments after #, of at "
	    "most 16 MiB. A reload reads it again. Under systemd, the daemon does not see /home, "
	    "/root and /tmp; /etc/tcptuned is a suitable place.",
	    .special = "none"),
	KEY(NAMED_POLICY, "source", KEY_PREFIXES, POLICY(source), "any", LIVE,
	    "Condition: this host's address in the connection. The key may be repeated.",
	    .special = "any"),
	KEY(NAMED_POLICY, "local_port", KEY_PORTS, POLICY(local_port), "any", LIVE,
	    "Condition: this host's port: that of the service if the connection is accepted.",
	    .special = "any"),
	KEY(NAMED_POLICY, "remote_port", KEY_PORTS, POLICY(remote_port), "any", LIVE,
	    "Condition: the peer's port.", .special = "any"),
	KEY(NAMED_POLICY, "cgroup", KEY_PATH, POLICY(cgroup), "any", LIVE,
	    "Condition: the control group in which the socket was created (for an accepted one, "
	    "its listener), or an ancestor of that; as a path from the root of the cgroup2 tree, "
	    "such as /system.slice/nginx.service. While the group does not exist, the policy has "
	    "no connections.",
	    .special = "any"),
	KEY("bitcp", "beta", KEY_FRACTION, GLOBAL(bitcp.beta), "0.125", LIVE,
	    "The share of the window that is given up at a loss. The paper's value is 0.125, which "
	    "keeps a path about 94 % utilised; that of standard TCP is 0.5. A smaller share "
	    "utilises the path better, and converges to a fair share later.",
	    .lowest = BITCP_BETA_LOWEST, .highest = BITCP_BETA_HIGHEST),
	KEY("control", "group", KEY_NAME, GLOBAL(control_group), "root", AT_START,
	    "The group whose members may use tcptunectl, in addition to root. They see every "
	    "connection of the host, may disable and enable policies, apply them to open "
	    "connections, and stop the daemon. Only root may delete remembered paths, and any user may "
	    "ask for advice (tcptunectl advise). The socket "
	    "is runtime_directory/control. Under systemd, the unit needs SupplementaryGroups= with "
	    "that group.",
	    .special = "root"),
	KEY("paths", "remember", KEY_BOOL, GLOBAL(paths_enabled), "yes", LIVE,
	    "Learn from connections that end, and let new ones start with the result. no: do "
	    "neither; what is known stays until it expires."),
	KEY("paths", "expire_s", KEY_INTEGER, GLOBAL(paths_expire_s), "86400", LIVE,
	    "A path is forgotten if no connection has added to it for this time. A quarter of this "
	    "time halves the weight of what is remembered, and after half of it bitcp's last "
	    "maximum is no longer used.",
	    .lowest = PATH_EXPIRE_MIN_S, .highest = PATH_EXPIRE_MAX_S, .unit = "seconds"),
	KEY("paths", "streams", KEY_BOOL, GLOBAL(paths_streams), "yes", LIVE,
	    "Also remember how much parallel connections to a host carry, by their number, so that "
	    "tcptunectl streams --probe none can advise how many are worth it. Connections that "
	    "processes of one control group have to one host are watched for this every two seconds, "
	    "or less often, so that it takes at most 0.1 % of a processor. Needs remember."),
	KEY("metrics", "enabled", KEY_BOOL, GLOBAL(metrics_enabled), "yes", AT_START,
	    "Serve metrics."),
	KEY("metrics", "address", KEY_ADDRESS, GLOBAL(metrics_address), "127.0.0.1", AT_START,
	    "The local address to listen on. :: is every address, including IPv4. If the host does "
	    "not have the address yet, for example because DHCP assigns it later, tcptuned serves "
	    "metrics as soon as it exists, and logs that. Unused if systemd passes a socket."),
	KEY("metrics", "port", KEY_INTEGER, GLOBAL(metrics_port), "9817", AT_START,
	    "The TCP port to listen on. Unused if systemd passes a socket.", .lowest = 1,
	    .highest = UINT16_MAX),
	KEY("metrics", "flows", KEY_INTEGER, GLOBAL(metrics_flows), "0", LIVE,
	    "The number of connections that are shown one by one, those that carried most first. "
	    "Each adds about twenty time series: for one host, not for a fleet. They are "
	    "connections of this host's own network namespace, which every user can list in "
	    "/proc/net/tcp. tcptunectl shows those of all namespaces.",
	    .lowest = 0, .highest = 1000, .unit = "connections"),
};

bool tcptuned_key_is_of_policy(const struct tcptuned_key *key)
{
	return !strcmp(key->section, "policy") || !strcmp(key->section, NAMED_POLICY);
}

void *tcptuned_key_values(const struct tcptuned_key *key, const struct tcptuned_config *config,
			  const struct tcptuned_policy_config *policy)
{
	if (!tcptuned_key_is_of_policy(key))
		return (void *)config;
	return (void *)(policy ? policy : &config->policy);
}

static bool is_text(const struct tcptuned_key *key)
{
	return key->type == KEY_PATH || key->type == KEY_NAME || key->type == KEY_ADDRESS;
}

/* ---- numbers --------------------------------------------------------------------------- */

static void set_number(const struct tcptuned_key *key, void *value, uint64_t number)
{
	if (key->size == sizeof(bool))
		*(bool *)value = number;
	else if (key->size == sizeof(uint32_t))
		*(uint32_t *)value = (uint32_t)number;
	else
		*(uint64_t *)value = number;
}

/* Every number within a range is an integer below 2^53, so that a double is exact. */
static const char *check_range(const struct tcptuned_key *key, double number)
{
	if (number < (double)key->lowest)
		return "is too small";
	return number > (double)key->highest ? "is too large" : NULL;
}

/* ---- parsing: each returns NULL or what is wrong ---------------------------------------- */

/* Booleans have several words, in upper or lower case. */
static const char *parse_word(const struct tcptuned_key *key, const char *text, void *value,
			      char *buffer)
{
	static const char *const booleans[] = {"no", "yes", "false", "true", "0",
					       "1",  "off", "on",    NULL};
	const char *const *words = key->choices ? key->choices : booleans;

	for (uint32_t i = 0; words[i]; i++) {
		if (key->choices ? strcmp(text, words[i]) : strcasecmp(text, words[i]))
			continue;
		set_number(key, value, key->choices ? i : i % 2);
		return NULL;
	}
	return "is not one of its values";
}

/* The factor of a unit; 0: no such unit. KB is rejected because it may mean 1000 or 1024. */
static double size_factor(const char *unit)
{
	static const char *const units[] = {"", "", "K", "KiB", "M", "MiB", "G", "GiB"};

	unit += strspn(unit, " \t");
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcasecmp(unit, units[i]))
			return (double)(1ull << 10 * (i / 2));
	return 0;
}

/* The same of a time in seconds. */
static double time_factor(const char *unit)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(unit + strspn(unit, " \t"), units[i].unit))
			return units[i].seconds;
	return 0;
}

static bool is_time(const struct tcptuned_key *key)
{
	return key->unit && !strcmp(key->unit, "seconds");
}

static const char *parse_integer(const struct tcptuned_key *key, const char *text, void *value,
				 char *buffer)
{
	const char *problem;
	double number, factor;
	char *end;

	number = (double)strtoll(text, &end, 10);
	if (end == text || (*end && key->type != KEY_SIZE && !is_time(key)))
		return key->type == KEY_SIZE ? "is not a size" : "is not a whole number";
	factor = is_time(key) ? time_factor(end) : size_factor(end);
	if (!factor)
		return is_time(key) ? "is not a whole number of seconds, m, h or d"
				    : "is not a whole number of bytes, K, M or G";
	number *= factor;
	problem = check_range(key, number);
	if (!problem)
		set_number(key, value, (uint64_t)number);
	return problem;
}

/* Nine decimals are kept, so that a value is printed as it was written. */
static const char *parse_fraction(const struct tcptuned_key *key, const char *text, void *value,
				  char *buffer)
{
	uint64_t billionths;
	const char *problem;
	double number;
	char *end;

	number = strtod(text, &end);
	/* strtod() also accepts exponents, hexadecimal digits and nan. */
	if (end == text || end != text + strspn(text, "+-.0123456789") ||
	    (*end && strcmp(end, "%")))
		return "is not a decimal number";
	if (*end)
		number /= 100;
	problem = check_range(key, number * (double)FRACTION_ONE);
	if (problem)
		return problem;
	billionths = (uint64_t)(number * 1e9 + 0.5);
	set_number(key, value, (billionths * FRACTION_ONE + 500000000) / 1000000000);
	return NULL;
}

static const char *parse_prefixes(const struct tcptuned_key *key, const char *text, void *value,
				  char *buffer)
{
	return tcptuned_prefixes_add(value, text, buffer, KEY_TEXT) ? buffer : NULL;
}

/* A port, a range of them, or a service of /etc/services. */
static const char *parse_range(const char *text, struct tcptuned_port_range *ret)
{
	const struct servent *service;
	unsigned long low, high;
	char *end;

	if (!isdigit((unsigned char)*text)) {
		service = getservbyname(text, "tcp");
		if (!service)
			return "is neither a port, a range of ports nor a service of /etc/services";
		ret->low = ret->high = ntohs((uint16_t)service->s_port);
		return NULL;
	}
	low = high = strtoul(text, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		high = strtoul(end + 1, &end, 10);
	if (*end)
		return "is neither a port nor a range of ports";
	if (!low || high > UINT16_MAX || low > high)
		return "is not from 1 to 65535, the lower one first";
	ret->low = (uint16_t)low;
	ret->high = (uint16_t)high;
	return NULL;
}

static const char *parse_ports(const struct tcptuned_key *key, const char *text, void *value,
			       char *buffer)
{
	struct tcptuned_ports ports = {0};
	char *rest = buffer, *word;

	if (snprintf(buffer, KEY_TEXT, "%s", text) >= KEY_TEXT)
		return "is too long";
	while ((word = strsep(&rest, ","))) {
		const char *problem;

		if (ports.len == TCPTUNED_PORT_RANGES_MAX)
			return "has more than eight ports or ranges";
		word += strspn(word, " \t");
		for (char *end = strchr(word, '\0'); end > word && strchr(" \t", end[-1]);)
			*--end = '\0';
		problem = parse_range(word, &ports.list[ports.len++]);
		if (problem)
			return problem;
	}
	memcpy(value, &ports, sizeof(ports));
	return NULL;
}

/* Clears the rest of the value, too: values are compared with memcmp(). */
static const char *parse_text(const struct tcptuned_key *key, const char *text, void *value,
			      char *buffer)
{
	struct in6_addr address;

	if (key->type == KEY_PATH && *text != '/')
		return "is not an absolute path";
	if (key->type == KEY_ADDRESS && inet_pton(AF_INET, text, &address) != 1 &&
	    inet_pton(AF_INET6, text, &address) != 1)
		return "is not a numeric IP address";
	if (key->type == KEY_NAME && text[strspn(text, NAME_CHARACTERS)])
		return "is not a name";
	for (const char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			return "contains a control character";
	if (strlen(text) >= key->size)
		return "is too long";
	strncpy(value, text, key->size);
	return NULL;
}

const char *tcptuned_key_parse(const struct tcptuned_key *key, const char *text, void *values,
			       char *buffer)
{
	static const char *(*const parsers[])(const struct tcptuned_key *, const char *, void *,
					      char *) = {
		[KEY_BOOL] = parse_word,	 [KEY_INTEGER] = parse_integer,
		[KEY_SIZE] = parse_integer,	 [KEY_FRACTION] = parse_fraction,
		[KEY_CHOICE] = parse_word,	 [KEY_PATH] = parse_text,
		[KEY_NAME] = parse_text,	 [KEY_ADDRESS] = parse_text,
		[KEY_PREFIXES] = parse_prefixes, [KEY_PORTS] = parse_ports,
	};
	void *value = (char *)values + key->offset;

	if (!*text)
		return "is not a value";
	if (key->special && !strcmp(text, key->special)) {
		if (key->type == KEY_PREFIXES)
			tcptuned_prefixes_free(value);
		memset(value, 0, key->size);
		return NULL;
	}
	if (key->word && !is_text(key) && !strcmp(text, key->word)) {
		set_number(key, value, key->word_value);
		return NULL;
	}
	return parsers[key->type](key, text, value, buffer);
}

/* ---- formatting ------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void append(char *ret, const char *format, ...)
{
	size_t used = strlen(ret);
	va_list args;

	va_start(args, format);
	vsnprintf(ret + used, KEY_TEXT - used, format, args);
	va_end(args);
}

static void format_size(uint64_t bytes, char *ret)
{
	static const char *const suffixes[] = {"", "K", "M", "G"};
	size_t i = 0;

	for (; i + 1 < ARRAY_SIZE(suffixes) && bytes && !(bytes % KIB); i++)
		bytes /= KIB;
	snprintf(ret, KEY_TEXT, "%ju%s", (uintmax_t)bytes, suffixes[i]);
}

static void format_fraction(uint64_t number, char *ret)
{
	int length = snprintf(ret, KEY_TEXT, "%.9f", (double)number / (double)FRACTION_ONE);

	while (ret[length - 1] == '0')
		length--;
	if (ret[length - 1] == '.')
		length--;
	ret[length] = '\0';
}

static void format_number(const struct tcptuned_key *key, uint64_t number, char *ret)
{
	if (key->type == KEY_SIZE)
		format_size(number, ret);
	else if (key->type == KEY_FRACTION)
		format_fraction(number, ret);
	else if (key->type == KEY_CHOICE)
		snprintf(ret, KEY_TEXT, "%s", key->choices[number]);
	else if (key->type == KEY_BOOL)
		snprintf(ret, KEY_TEXT, "%s", number ? "yes" : "no");
	else
		snprintf(ret, KEY_TEXT, "%ju", (uintmax_t)number);
}

static void format_ports(const struct tcptuned_ports *ports, char *ret)
{
	*ret = '\0';
	for (uint32_t i = 0; i < ports->len; i++) {
		const struct tcptuned_port_range *range = &ports->list[i];

		append(ret, range->low == range->high ? "%s%u" : "%s%u-%u", i ? ", " : "",
		       range->low, range->high);
	}
}

/* True if the special word stands for this value: all of it is zero. */
static bool is_special(const struct tcptuned_key *key, const void *value)
{
	static const char zeroes[TCPTUNED_CONFIG_TEXT];

	return key->special && !memcmp(value, zeroes, key->size);
}

void tcptuned_key_format(const struct tcptuned_key *key, const void *values, char *ret)
{
	const void *value = (const char *)values + key->offset;

	if (is_special(key, value))
		snprintf(ret, KEY_TEXT, "%s", key->special);
	else if (is_text(key))
		snprintf(ret, KEY_TEXT, "%.*s", (int)key->size, (const char *)value);
	else if (key->type == KEY_PREFIXES)
		tcptuned_prefixes_format(value, ret, KEY_TEXT);
	else if (key->type == KEY_PORTS)
		format_ports(value, ret);
	else if (key->word && tcptuned_field(value, 0, key->size) == key->word_value)
		snprintf(ret, KEY_TEXT, "%s", key->word);
	else
		format_number(key, tcptuned_field(value, 0, key->size), ret);
}

/* Append @names, with @last between the last two, and else commas. */
static void append_names(char *ret, const char *const *names, const char *last)
{
	for (; *names; names++) {
		const char *separator = names[1] && names[2] ? ", " : last;

		append(ret, "%s%s", *names, names[1] ? separator : "");
	}
}

void tcptuned_key_suggest(const char *word, const char *const *names, char *ret)
{
	if (tcptuned_text_suggest(word, names, NULL, ret))
		return;
	strcpy(ret, "there are ");
	append_names(ret, names, " and ");
}

void tcptuned_key_wants(const struct tcptuned_key *key, char *ret)
{
	static const char *const types[] = {
		[KEY_BOOL] = "yes or no",
		[KEY_INTEGER] = "a whole number",
		[KEY_SIZE] = "a size in bytes",
		[KEY_FRACTION] = "a decimal number",
		[KEY_CHOICE] = "",
		[KEY_PATH] = "an absolute path",
		[KEY_NAME] = "a name",
		[KEY_ADDRESS] = "a numeric IPv4 or IPv6 address",
		[KEY_PREFIXES] = "prefixes of IPv4 or IPv6, as 192.0.2.0/24, separated by commas",
		[KEY_PORTS] =
			"ports from 1 to 65535, ranges as 8000-8080 or names of services, separated "
			"by commas",
	};
	char lowest[KEY_TEXT], highest[KEY_TEXT];

	snprintf(ret, KEY_TEXT, "%s", types[key->type]);
	if (key->choices)
		append_names(ret, key->choices, " or ");
	if (key->type == KEY_NAME)
		append(ret, " of at most %zu letters, digits, _ and -", key->size - 1);
	if (key->unit)
		append(ret, " of %s", key->unit);
	if (key->highest) {
		format_number(key, key->lowest, lowest);
		format_number(key, key->highest, highest);
		append(ret, " from %s to %s", lowest, highest);
	}
	if (key->type == KEY_SIZE)
		append(ret, " (K, M, G: powers of 1024)");
	if (is_time(key))
		append(ret, " (m, h, d: minutes, hours, days)");
	if (key->word)
		append(ret, ", %s or %s", key->word, key->special);
	else if (key->special)
		append(ret, ", or %s", key->special);
}

bool tcptuned_key_equal(const struct tcptuned_key *key, const void *a, const void *b)
{
	a = (const char *)a + key->offset;
	b = (const char *)b + key->offset;
	return key->type == KEY_PREFIXES ? tcptuned_prefixes_equal(a, b) : !memcmp(a, b, key->size);
}
