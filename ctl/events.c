// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl events: what is being decided, as it is decided. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "util/cleanup.h"

enum { JSON, NETNS };

static const struct tcptuned_option options[] = {
	[JSON] = { "json", 'j', NULL, "Print each as one JSON object, with its numbers." },
	[NETNS] = { "netns", 0, "INODE",
		    "Only those of the network namespace with this inode number." },
	{ 0 },
};

/* ---- one event ----------------------------------------------------------------------------- */

static void print_time(const json_t *event)
{
	unsigned long long us = ctl_number(event, "time_us");
	time_t seconds = (time_t)(us / 1000000);
	char text[16] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
	printf("%s.%06llu", text, us % 1000000);
}

static void print_event(const json_t *event)
{
	const char *kind = ctl_text(event, "event");

	if (!strcmp(kind, "lost")) {
		printf("%llu events lost: nobody read them fast enough\n",
		       ctl_number(event, "events"));
		return;
	}
	print_time(event);
	printf("  %s - %s  %s%s\n", ctl_text(event, "local"), ctl_text(event, "remote"),
	       *ctl_text(event, "text") ? ctl_text(event, "text") : kind,
	       json_is_true(json_object_get(event, "dry_run")) ? " (dry run)" : "");
}

/* One line of the stream. Returns 0, or a negative errno with @err filled. */
static int handle_line(const char *line, size_t len, bool json, struct tcptuned_error *err)
{
	json_t *event = json_loadb(line, len, 0, NULL);
	const json_t *failed = json_object_get(event, "status");
	int error = 0;

	if (!json_is_object(event))
		error = tcptuned_fail(err, EIO, TCPTUNED_EXIT_DAEMON,
				      "the daemon's answer is no JSON: is it of another version?");
	else if (failed)
		error = tcptuned_fail(err, EIO, (int)json_integer_value(failed), "%s",
				      ctl_text(event, "error"));
	else if (json)
		printf("%.*s\n", (int)len, line);
	else if (strcmp(ctl_text(event, "event"), "listening"))
		print_event(event);
	json_decref(event);
	if (!error && fflush(stdout))
		error = tcptuned_fail(err, errno, TCPTUNED_EXIT_INTERNAL, "standard output: %s",
				      strerror(errno));
	return error;
}

/* ---- from the daemon ----------------------------------------------------------------------- */

static int handle_lines(char *text, size_t *len, bool json, struct tcptuned_error *err)
{
	char *line = text, *newline;
	int error = 0;

	while (!error && (newline = memchr(line, '\n', *len - (size_t)(line - text)))) {
		error = handle_line(line, (size_t)(newline - line), json, err);
		line = newline + 1;
	}
	*len -= (size_t)(line - text);
	memmove(text, line, *len);
	return error;
}

static int stream(int fd, bool json, struct tcptuned_error *err)
{
	struct timeval for_ever = { 0 };
	char text[65536];
	size_t len = 0;
	ssize_t got;
	int error;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof(for_ever));
	for (;;) {
		got = recv(fd, text + len, sizeof(text) - len, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return tcptuned_fail(err, EPIPE, TCPTUNED_EXIT_DAEMON,
					     "the daemon has ended");
		len += (size_t)got;
		error = handle_lines(text, &len, json, err);
		if (error)
			return error;
		if (len == sizeof(text))
			return tcptuned_fail(err, EIO, TCPTUNED_EXIT_DAEMON,
					     "the daemon's answer has no end of line");
	}
}

/* Which events @request asks for. Returns 0, or -EINVAL with @err filled. */
static int set_filter(json_t *request, const char *const *given, char **arguments, int count,
		      struct tcptuned_error *err)
{
	int error = count ? ctl_parse_flow(arguments, count, request, err) : 0;

	if (!error && given[NETNS])
		error = ctl_set_number(request, "netns", "netns", given[NETNS], err);
	return error;
}

static int run(struct ctl *ctl, const char *const *given, char **arguments, int count,
	       struct tcptuned_error *err)
{
	json_t *request = ctl_request("events");
	int error = set_filter(request, given, arguments, count, err);
	_cleanup_close_ int fd = error ? error : ctl_connect(ctl, request, err);

	json_decref(request);
	return fd < 0 ? fd : stream(fd, given[JSON], err);
}

const struct ctl_command ctl_events = {
	.name = "events",
	.arguments = "[LOCAL [-] REMOTE | LOCAL-REMOTE | END]",
	.help = "Print what is decided about connections while it is decided: requests of "
		"applications that are overridden, windows that grow, shrink, are capped or held "
		"small, congestion control, connections that begin and end. Of one connection, or "
		"of those of one end, where that is named as for explain; what is said before "
		"there is a connection is left out then. Ctrl-C ends it.",
	.options = options,
	.arguments_max = 3,
	.run = run,
};
