// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl detach: have the daemon stop, and restore what it has changed. */
#include <errno.h>

#include "client.h"
#include "commands.h"
#include "util/cleanup.h"

#define STOP_TIMEOUT_S 30

static const struct ctl_option options[] = {0};

static int run(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	_cleanup_fclose_ FILE *stream = NULL;
	json_auto_t *answer = NULL;
	int error = ctl_connect(ctl->socket, request, STOP_TIMEOUT_S, &stream, err)
			    ?: ctl_read_answer(stream, &answer, err);
	int next;

	if (error)
		return error;
	/*
	 * The daemon disconnects when it has restored everything. It sends an error first if it
	 * could not.
	 */
	while ((next = fgetc(stream)) == '\n')
		;
	if (next != EOF && ungetc(next, stream) != EOF) {
		json_decref(answer);
		answer = NULL;
		return ctl_read_answer(stream, &answer, err);
	}
	if (ferror(stream))
		return FAIL(err, ETIMEDOUT, DAEMON,
			    "the daemon has not stopped in time; see its log");
	puts("the daemon has stopped");
	return 0;
}

const struct ctl_command ctl_detach = {
	.name = "detach",
	.arguments = "",
	.help = "Stop the daemon, which restores everything that it has changed; after it was killed, "
		"tcptuned --detach does that. A daemon whose metrics socket systemd holds "
		"(tcptuned.socket) refuses, because the next scrape would start it again; stop both: "
		"systemctl stop tcptuned.socket tcptuned.",
	.options = options,
	.request = "stop",
	.no_daemon = "tcptuned --detach restores what one that was killed has left",
	.run = run,
};
