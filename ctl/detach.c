// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl detach: have the daemon stop, and restore what it has changed. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl.h"
#include "util/cleanup.h"

static const struct tcptuned_option options[] = { { 0 } };

/* Read until the daemon has ended. Returns 0 once it has, having agreed to. */
static int wait_for_end(int fd, struct tcptuned_error *err)
{
	char answer[4096];
	size_t len = 0;
	ssize_t got;
	json_t *root;
	int error = 0;

	while (len < sizeof(answer)) {
		got = recv(fd, answer + len, sizeof(answer) - len, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tcptuned_fail(err, errno, TCPTUNED_EXIT_DAEMON,
					     "the daemon has not stopped in time; see its log");
		if (!got)
			break;
		len += (size_t)got;
	}
	root = json_loadb(answer, len, 0, NULL);
	if (!json_is_true(json_object_get(root, "stopping")))
		error = tcptuned_fail(err, EIO, TCPTUNED_EXIT_DAEMON,
				      "the daemon does not stop: %s", ctl_text(root, "error"));
	json_decref(root);
	return error;
}

static int run(struct ctl *ctl, const char *const *given, char **arguments, int count,
	       struct tcptuned_error *err)
{
	json_t *request = ctl_request("stop");
	_cleanup_close_ int fd = ctl_connect(ctl, request, err);
	int error;

	json_decref(request);
	if (fd == -ECONNREFUSED)
		return tcptuned_fail(err, ECONNREFUSED, TCPTUNED_EXIT_DAEMON,
				     "no tcptuned runs; what one that was killed has left is taken "
				     "back by tcptuned --detach");
	error = fd < 0 ? fd : wait_for_end(fd, err);
	if (!error)
		puts("the daemon has stopped, and has taken everything back");
	return error;
}

const struct ctl_command ctl_detach = {
	.name = "detach",
	.arguments = "",
	.help = "Stop the daemon, which takes everything back that it has changed; where it was "
		"killed, tcptuned --detach does that in its place. A daemon whose metrics socket systemd holds "
		"(tcptuned.socket) refuses, for the next scrape would start it again; stop both: "
		"systemctl stop tcptuned.socket tcptuned.",
	.options = options,
	.run = run,
};
