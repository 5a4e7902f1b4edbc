// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl report: what to attach to an issue, without addresses. */
#include "report.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#include "client.h"
#include "commands.h"
#include "doctor.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/prefix.h"
#include "util/sysctl.h"
#include "util/version.h"

#define EVENTS_MAX 1000
#define EVENTS_S   3 /* at most */
#define SILENCE_S  1 /* after which no more are awaited */

/* Those that tcptuned sets or reads, and others on which windows and rates depend. */
static const char *const sysctls[] = {
	"net.core.default_qdisc",
	"net.core.rmem_max",
	"net.core.wmem_max",
	"net.ipv4.tcp_allowed_congestion_control",
	"net.ipv4.tcp_available_congestion_control",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_ecn",
	"net.ipv4.tcp_mem",
	"net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_no_metrics_save",
	"net.ipv4.tcp_no_ssthresh_metrics_save",
	"net.ipv4.tcp_notsent_lowat",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_wmem",
};

/* ---- addresses ----------------------------------------------------------------------------- */

/* Returns the length of the longest address that @text starts with; 0: with none. */
static size_t parse_address(const char *text, struct tcptuned_prefix *ret)
{
	char word[INET6_ADDRSTRLEN];
	size_t length = MIN(strspn(text, "0123456789abcdefABCDEF:."), sizeof(word) - 1);

	for (; length; length--) {
		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		if (!tcptuned_prefix_of(word, ret))
			break;
	}
	return length;
}

/* Unspecified, or of the loopback. */
static bool is_of_every_host(const struct tcptuned_prefix *prefix)
{
	const uint8_t *ipv4 = prefix->address + 12;

	if (prefix->ipv4)
		return *ipv4 == 127 || !memcmp(ipv4, &in6addr_any, 4);
	return !memcmp(prefix->address, &in6addr_any, 16) ||
	       !memcmp(prefix->address, &in6addr_loopback, 16);
}

static unsigned int find_token(json_t *tokens, const uint8_t address[16])
{
	char key[INET6_ADDRSTRLEN];
	json_t *token;
	uint32_t number;

	inet_ntop(AF_INET6, address, key, sizeof(key));
	token = json_object_get(tokens, key);
	if (token)
		return (unsigned int)json_integer_value(token);
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		abort();
	json_object_set_new(tokens, key, json_integer(number));
	return number;
}

/* "v4-" or "v6-", and a number each for the prefix of the path memory and for the address. */
static void print_token(FILE *out, json_t *tokens, const struct tcptuned_prefix *address)
{
	struct tcptuned_prefix path = *address;

	tcptuned_prefix_of_path(&path);
	fprintf(out, "v%d-%08x-%08x", path.ipv4 ? 4 : 6, find_token(tokens, path.address),
		find_token(tokens, address->address));
}

static json_t *hide_in_text(const char *text, json_t *tokens)
{
	_cleanup_free_ char *hidden = NULL;
	struct tcptuned_prefix address;
	size_t size, length;
	FILE *out = open_memstream(&hidden, &size);

	if (!out)
		return NULL;
	for (; *text; text += length) {
		length = parse_address(text, &address);
		if (length && !is_of_every_host(&address)) {
			print_token(out, tokens, &address);
			continue;
		}
		length = MAX(length, 1);
		fwrite(text, 1, length, out);
	}
	fclose(out);
	return json_string(hidden);
}

json_t *ctl_report_hide_addresses(const json_t *value, json_t *tokens)
{
	json_t *copy, *member;
	const char *name;
	size_t i;

	if (json_is_string(value))
		return hide_in_text(json_string_value(value), tokens);
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach (value, i, member)
			json_array_append_new(copy, ctl_report_hide_addresses(member, tokens));
		return copy;
	}
	if (!json_is_object(value))
		return json_incref((json_t *)value);
	copy = json_object();
	json_object_foreach ((json_t *)value, name, member) {
		json_auto_t *hidden = hide_in_text(name, tokens);

		json_object_set_new(copy, json_string_value(hidden),
				    ctl_report_hide_addresses(member, tokens));
	}
	return copy;
}

/* ---- the report ---------------------------------------------------------------------------- */

static json_t *ask(const struct ctl *ctl, const char *command)
{
	json_auto_t *request = json_pack("{s:s}", "command", command);
	struct tcptuned_error err;
	json_t *answer;

	if (ctl_query(ctl->socket, request, &answer, &err))
		return json_pack("{s:s}", "error", err.text);
	return answer;
}

/* Return the events of @stream until there are none for a while. */
static json_t *collect_events(FILE *stream)
{
	json_t *events = json_array(), *event;
	time_t end = time(NULL) + EVENTS_S;
	struct tcptuned_error err;

	while (json_array_size(events) < EVENTS_MAX && time(NULL) < end &&
	       !ctl_read_answer(stream, &event, &err))
		json_array_append_new(events, event);
	return events;
}

static void add_sysctl(json_t *values, const char *name)
{
	char value[256];

	if (!tcptuned_sysctl_read(name, value, sizeof(value)))
		json_object_set_new(values, name, json_string(value));
}

static json_t *describe_host(void)
{
	json_t *values = json_object();
	struct utsname name;

	uname(&name);
	for (size_t i = 0; i < ARRAY_SIZE(sysctls); i++)
		add_sysctl(values, sysctls[i]);
	return json_pack("{s:s,s:s,s:o,s:o}", "version", TCPTUNED_VERSION, "revision",
			 tcptuned_version_revision, "kernel",
			 json_sprintf("%s %s %s", name.release, name.version, name.machine),
			 "sysctls", values);
}

static void add(json_t *report, const char *name, json_t *value, json_t *tokens)
{
	json_object_set_new(report, name, ctl_report_hide_addresses(value, tokens));
	json_decref(value);
}

static int run(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	static const char *const questions[] = {"status", "policies", "flows", "paths", "trial"};
	json_auto_t *report = describe_host(), *tokens = json_object();
	_cleanup_fclose_ FILE *events = NULL;
	struct tcptuned_error refusal;
	int error = ctl_connect(ctl->socket, request, SILENCE_S, &events, &refusal);

	add(report, "findings", ctl_doctor_examine(ctl->socket), tokens);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		add(report, questions[i], ask(ctl, questions[i]), tokens);
	add(report, "events",
	    error ? json_pack("{s:s}", "error", refusal.text) : collect_events(events), tokens);
	json_dumpf(report, stdout, JSON_INDENT(1));
	putchar('\n');
	return 0;
}

static const struct ctl_option options[] = {0};

const struct ctl_command ctl_report = {
	.name = "report",
	.arguments = "",
	.help = "Print what to attach to an issue, as one JSON object: versions, findings of doctor, sysctls, "
		"what status, policy list, flows, paths and trial print as JSON, and events of at least a "
		"second; the error in place of what the daemon refuses, and of all of it if none runs. "
		"Addresses, except for unspecified ones and those of the loopback, are replaced by "
		"v4-NETWORK-HOST or v6-NETWORK-HOST: random numbers, the same wherever this report has the "
		"address, and different in each report. NETWORK stands for its /24 or /48, as in the path "
		"memory. The name of the host is not in it. Ports, lengths of prefixes, names of policies, "
		"control groups and files, and numbers of processes and network namespaces are: read it "
		"before you publish it.",
	.options = options,
	.request = "events",
	.run = run,
};
