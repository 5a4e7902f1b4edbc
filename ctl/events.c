// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl events: what is decided, while it is decided. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "client.h"
#include "commands.h"
#include "explain.h"
#include "format.h"
#include "util/cleanup.h"

static const struct ctl_option options[] = {
	{OPTION(CTL_JSON, "Print each as one JSON object, with its numbers.")},
	{OPTION("netns", 0, "INODE", "Only those of the network namespace with this inode number."),
	 .field = "netns", .number = true},
	{OPTION(0)},
};

static const struct ctl_template texts[] = {
	{"event=lost", "{events} events lost: they were not read fast enough\n"},
	{"!event=lost", "{local} - {remote}  "},
	{"!event=lost text", "{text}"},
	{"!event=lost !text", "{event}"},
	{"!event=lost observe", " (observed)"},
	{"!event=lost", "\n"},
	{0},
};

static void print_event(const json_t *event)
{
	unsigned long long us = ctl_number(event, "time_us");
	time_t seconds = (time_t)(us / 1000000);
	char text[16];

	if (!strcmp(ctl_text(event, "event"), "listening"))
		return;
	strftime(text, sizeof(text), "%H:%M:%S", localtime(&seconds));
	if (us)
		printf("%s.%06llu  ", text, us % 1000000);
	ctl_print(stdout, event, texts);
}

/* Print events until the daemon, or a signal, ends this. */
static int run(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	_cleanup_fclose_ FILE *stream = NULL;
	json_t *event;
	int error = ctl_connect(ctl->socket, request, 0, &stream, err);

	while (!error) {
		error = ctl_read_answer(stream, &event, err);
		if (error && feof(stream))
			return FAIL(err, EPIPE, DAEMON, "the daemon has exited");
		if (error)
			break;
		if (ctl->json)
			ctl_print_json(event);
		else
			print_event(event);
		json_decref(event);
		if (fflush(stdout))
			error = FAIL(err, errno, INTERNAL, "standard output: %s", strerror(errno));
	}
	return error;
}

const struct ctl_command ctl_events = {
	.name = "events",
	.arguments = "[LOCAL [-] REMOTE | LOCAL-REMOTE | END]",
	.help = "Print decisions about connections while they are made: requests of applications "
		"that are overridden, windows that are grown, shrunk, capped or tested, congestion "
		"control, connections that begin and end. LOCAL, REMOTE and END select connections "
		"as for explain, and then what is decided before there is a connection is left out. "
		"Ctrl-C ends it.",
	.options = options,
	.arguments_max = 3,
	.request = "events",
	.add_arguments = ctl_add_flow,
	.run = run,
};
