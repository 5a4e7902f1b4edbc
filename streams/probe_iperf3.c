// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "streams/probe.h"

#define CONNECT_TIMEOUT_MS "5000"
/* One allocation: the pointers, and behind them the numbers. */
struct arguments {
	char *argv[16];
	char port[24], streams[24], seconds[24], omit[24];
};

static char **make_arguments(const struct probe_run *run)
{
	struct arguments *a = calloc(1, sizeof(*a));
	char **next;

	if (!a)
		return NULL;
	*a = (struct arguments){.argv = {"iperf3", "--json", "--client", run->destination, a->port,
					 a->streams, a->seconds, a->omit,
					 "--connect-timeout=" CONNECT_TIMEOUT_MS}};
	snprintf(a->port, sizeof(a->port), "--port=%u", run->port);
	snprintf(a->streams, sizeof(a->streams), "--parallel=%u", run->streams);
	snprintf(a->seconds, sizeof(a->seconds), "--time=%u", run->seconds);
	snprintf(a->omit, sizeof(a->omit), "--omit=%u", run->omit_seconds);
	for (next = a->argv; *next; next++)
		;
	if (run->receive)
		*next++ = "--reverse";
	if (run->congestion_control) {
		*next++ = "--congestion";
		*next++ = run->congestion_control;
	}
	return a->argv;
}

static char *make_input(const struct probe_run *run)
{
	return strdup("");
}

static double number(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

/* From 3.16 on each connection has a thread of its own. */
static unsigned int count_threads(const json_t *start, unsigned int streams)
{
	const char *version = json_string_value(json_object_get(start, "version"));
	unsigned int major, minor, cores;

	if (!version || sscanf(version, "iperf %u.%u", &major, &minor) < 2)
		return 1;
	if (major < 3 || (major == 3 && minor < 16))
		return 1;
	cores = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	return streams < cores ? streams : cores;
}

static int read_end(const json_t *end, struct probe_report *ret)
{
	const char *name = json_string_value(json_object_get(end, "sender_tcp_congestion"));
	const json_t *sent = json_object_get(end, "sum_sent");
	const json_t *retransmits = json_object_get(sent, "retransmits");

	ret->rate = number(json_object_get(end, "sum_received"), "bits_per_second");
	ret->bytes = number(sent, "bytes");
	ret->retransmitted = retransmits ? json_number_value(retransmits) : -1;
	ret->cpu = number(json_object_get(end, "cpu_utilization_percent"), "remote_total") / 100;
	snprintf(ret->congestion_control, sizeof(ret->congestion_control), "%s", name ? name : "");
	probe_make_printable(ret->congestion_control);
	return ret->rate > 0 ? 0 : -EPROTO;
}

/*
 * What a server says, or its host, until the test before has ended and it listens again: it closes
 * its listener meanwhile, so that a connection that waits to be accepted is reset.
 */
static int is_busy(const char *complaint)
{
	return strstr(complaint, "server is busy") || strstr(complaint, "Connection refused") ||
	       strstr(complaint, "Connection reset by peer");
}

static int read_report(const struct probe_run *run, const char *output, size_t len,
		       struct probe_report *ret, char *error, size_t error_size)
{
	const char *json = memchr(output, '{', len) ?: output; /* behind what the loader says */
	json_t *root =
		json_loadb(json, len - (size_t)(json - output), JSON_DISABLE_EOF_CHECK, NULL);
	const char *complaint = json_string_value(json_object_get(root, "error"));
	int err = -EPROTO;

	if (complaint)
		snprintf(error, error_size, "iperf3: %s",
			 strncmp(complaint, "error - ", 8) ? complaint : complaint + 8);
	else if (!root)
		snprintf(error, error_size, "iperf3 printed no JSON: %.*s",
			 (int)strcspn(output, "\n"), output);
	else if ((err = read_end(json_object_get(root, "end"), ret)))
		snprintf(error, error_size, "iperf3 measured nothing");
	probe_make_printable(error);
	ret->threads = count_threads(json_object_get(root, "start"), run->streams);
	ret->busy = complaint && is_busy(complaint);
	json_decref(root);
	return err;
}

const struct probe_kind probe_iperf3 = {make_arguments, make_input, read_report};
