// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "ctl.h"
#include "rpc/request.h"
#include "util/cleanup.h"

#define PATIENCE_S 30

json_t *ctl_request(const char *command)
{
	json_t *request = json_object();

	json_object_set_new(request, "command", json_string(command));
	return request;
}

int ctl_set_number(json_t *request, const char *option, const char *field, const char *text,
		   struct tcptuned_error *err)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || number > UINT32_MAX)
		return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
				     "--%s: %.60s is no whole number; write --%s=1, for example",
				     option, text, option);
	json_object_set_new(request, field, json_integer((json_int_t)number));
	return 0;
}

void ctl_print_json(const json_t *answer)
{
	json_dumpf(answer, stdout, JSON_COMPACT);
	putchar('\n');
}

/* ---- the daemon ---------------------------------------------------------------------------- */

static int daemon_failed(struct tcptuned_error *err, int errnum, const char *doing)
{
	return tcptuned_fail(err, errnum, TCPTUNED_EXIT_DAEMON, "the daemon %s: %s", doing,
			     errnum == EAGAIN ? "no answer in time" : strerror(errnum));
}

static int send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		data += sent;
		len -= (size_t)sent;
	}
	return 0;
}

static int open_socket(struct ctl *ctl, struct tcptuned_error *err)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un address;
	_cleanup_close_ int fd = -1;

	if (tcptuned_control_address(ctl->config.runtime_directory, &address))
		return tcptuned_fail(err, ENAMETOOLONG, TCPTUNED_EXIT_CONFIG,
				     "tcptuned.runtime_directory: %s is too long for a socket in "
				     "it",
				     ctl->config.runtime_directory);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return tcptuned_fail(err, errno, TCPTUNED_EXIT_INTERNAL, "no socket: %s",
				     strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return tcptuned_take_fd(&fd);
	if (errno == ENOENT || errno == ECONNREFUSED)
		return tcptuned_fail(err, ECONNREFUSED, TCPTUNED_EXIT_DAEMON,
				     "no tcptuned runs: nobody listens on %s; start it: systemctl "
				     "start tcptuned",
				     address.sun_path);
	if (errno == EACCES || errno == EPERM)
		return tcptuned_fail(err, EACCES, TCPTUNED_EXIT_NOT_PERMITTED,
				     "%s: %s; run tcptunectl as root, or as a member of the group "
				     "that control.group names",
				     address.sun_path, strerror(errno));
	return daemon_failed(err, errno, "cannot be reached");
}

int ctl_connect(struct ctl *ctl, const json_t *request, struct tcptuned_error *err)
{
	_cleanup_free_ char *text = json_dumps(request, JSON_COMPACT);
	_cleanup_close_ int fd = -1;
	int error;

	if (!text)
		return tcptuned_fail(err, ENOMEM, TCPTUNED_EXIT_INTERNAL, "out of memory");
	fd = open_socket(ctl, err);
	if (fd < 0)
		return fd;
	error = send_all(fd, text, strlen(text));
	if (!error)
		error = send_all(fd, "\n", 1);
	/* Refused before it was read: the reason is there to be read all the same. */
	if (error && error != -EPIPE)
		return daemon_failed(err, -error, "does not take the request");
	return tcptuned_take_fd(&fd);
}

static int read_answer(int fd, struct tcptuned_buf *out, struct tcptuned_error *err)
{
	char piece[65536];
	ssize_t got;

	for (;;) {
		got = recv(fd, piece, sizeof(piece), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && !(errno == ECONNRESET && out->len))
			return daemon_failed(err, errno, "does not answer");
		if (got <= 0)
			return 0;
		tcptuned_buf_add(out, piece, (size_t)got);
		if (out->error)
			return daemon_failed(err, -out->error, "answers too much");
	}
}

/* ---- answers ------------------------------------------------------------------------------- */

/* A status is there where something went wrong, and nowhere else; with it the reason, if it can be. */
int ctl_parse_answer(const struct tcptuned_buf *text, json_t **ret, struct tcptuned_error *err)
{
	json_t *root = json_loadb(text->data ? text->data : "", text->len, 0, NULL);
	const char *problem = json_string_value(json_object_get(root, "error"));
	const json_t *failed = json_object_get(root, "status");
	int status = (int)json_integer_value(failed);

	if (json_is_object(root) && !failed) {
		*ret = root;
		return 0;
	}
	if (failed)
		tcptuned_fail(err, EIO, tcptuned_exit_meaning(status) ? status : TCPTUNED_EXIT_DAEMON,
			      "%s", problem ? problem : "the daemon refuses, and does not say why");
	else
		tcptuned_fail(err, EIO, TCPTUNED_EXIT_DAEMON, "the daemon's answer is no JSON: is "
							     "it of another version?");
	json_decref(root);
	return -EIO;
}

static int ask(struct ctl *ctl, const json_t *request, struct tcptuned_buf *out,
	       struct tcptuned_error *err)
{
	_cleanup_close_ int fd = ctl_connect(ctl, request, err);

	return fd < 0 ? fd : read_answer(fd, out, err);
}

int ctl_ask(struct ctl *ctl, json_t *request, json_t **ret, struct tcptuned_error *err)
{
	struct tcptuned_buf out;
	int error;

	tcptuned_buf_init(&out, TCPTUNED_ANSWER_MAX);
	error = ask(ctl, request, &out, err);
	json_decref(request);
	if (!error)
		error = ctl_parse_answer(&out, ret, err);
	tcptuned_buf_free(&out);
	return error;
}
