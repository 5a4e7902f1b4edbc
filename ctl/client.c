// SPDX-License-Identifier: GPL-2.0-only
#include "client.h"

#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "format.h"
#include "rpc/request.h"
#include "util/cleanup.h"

int ctl_resolve(const char *host, char ret[CTL_WORD])
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	int error = getaddrinfo(host, NULL, &hints, &found);

	if (error)
		return error;
	getnameinfo(found->ai_addr, found->ai_addrlen, ret, CTL_WORD, NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(found);
	ret[strcspn(ret, "%")] = '\0'; /* what is remembered names no interface */
	return 0;
}

static int fail_daemon(struct tcptuned_error *err, int errnum, const char *what)
{
	return FAIL(err, errnum, DAEMON, "the daemon %s: %s", what,
		    errnum == EAGAIN ? "no answer in time" : strerror(errnum));
}

/* Only root sees pins. */
static const char *what_stays(void)
{
	return access("/sys/fs/bpf/tcptuned/map_meta", F_OK)
		       ? ""
		       : "; connections are still tuned, by the programs pinned in /sys/fs/bpf/tcptuned "
			 "(if a daemon has another socket, name it by --socket)";
}

static int open_socket(const char *path, unsigned int timeout_s, struct tcptuned_error *err)
{
	struct timeval timeout = {.tv_sec = timeout_s};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;

	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >=
	    (int)sizeof(address.sun_path))
		return USAGE(err, "--socket: %s is longer than the path of a socket may be", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return FAIL(err, errno, INTERNAL, "no socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return tcptuned_take_fd(&fd);
	if (errno == ENOENT || errno == ECONNREFUSED)
		return FAIL(err, ECONNREFUSED, DAEMON,
			    "no tcptuned runs: no process listens on %s%s; start it: "
			    "systemctl start tcptuned",
			    address.sun_path, what_stays());
	if (errno == EACCES || errno == EPERM)
		return FAIL(err, EACCES, NOT_PERMITTED,
			    "%s: %s; run tcptunectl as root, or as a member of the group "
			    "that control.group names",
			    address.sun_path, strerror(errno));
	return fail_daemon(err, errno, "cannot be reached");
}

/* As read(2). */
static ssize_t receive(void *fd, char *data, size_t size)
{
	return TEMP_FAILURE_RETRY(recv((int)(intptr_t)fd, data, size, 0));
}

static int close_socket(void *fd)
{
	return close((int)(intptr_t)fd);
}

int ctl_connect(const char *path, const json_t *request, unsigned int timeout_s, FILE **ret,
		struct tcptuned_error *err)
{
	static const cookie_io_functions_t functions = {.read = receive, .close = close_socket};
	char line[TCPTUNED_REQUEST_MAX + 1];
	size_t len = json_dumpb(request, line, TCPTUNED_REQUEST_MAX, JSON_COMPACT);
	_cleanup_close_ int fd = -1;

	if (len > TCPTUNED_REQUEST_MAX)
		return USAGE(err, "the request is longer than %d bytes", TCPTUNED_REQUEST_MAX);
	line[len++] = '\n';
	fd = open_socket(path, timeout_s, err);
	if (fd < 0)
		return fd;
	/* A daemon that refuses a client before it reads the request has sent the reason. */
	if (send(fd, line, len, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		return fail_daemon(err, errno, "does not take the request");
	*ret = fopencookie((void *)(intptr_t)fd, "r", functions);
	if (!*ret)
		return FAIL(err, ENOMEM, INTERNAL, "out of memory");
	tcptuned_take_fd(&fd);
	return 0;
}

/* Fail as the object @answer says, which has a status only if the daemon refused the request. */
static int check_answer(const json_t *answer, struct tcptuned_error *err)
{
	const char *problem = json_string_value(json_object_get(answer, "error"));
	int status = (int)ctl_number(answer, "status");

	if (!json_object_get(answer, "status"))
		return 0;
	if (!tcptuned_error_is_status(status))
		status = TCPTUNED_EXIT_DAEMON;
	return tcptuned_error_fill(err, EIO, status, "%s",
				   problem ? problem : "the daemon refuses, and does not say why");
}

int ctl_read_answer(FILE *stream, json_t **ret, struct tcptuned_error *err)
{
	int error;

	*ret = NULL;
	if (ungetc(fgetc(stream), stream) == EOF)
		return ferror(stream) ? fail_daemon(err, errno, "does not answer")
				      : FAIL(err, EIO, DAEMON,
					     "the daemon ended before it answered; try again");
	*ret = json_loadf(stream, JSON_DISABLE_EOF_CHECK, NULL);
	if (json_is_object(*ret))
		error = check_answer(*ret, err);
	else if (ferror(stream))
		error = fail_daemon(err, errno, "does not answer");
	else
		error = FAIL(err, EIO, DAEMON,
			     "the daemon's answer is not JSON; is it of another version?");
	if (!error)
		return 0;
	json_decref(*ret);
	*ret = NULL;
	return error;
}

int ctl_query(const char *path, const json_t *request, json_t **ret, struct tcptuned_error *err)
{
	_cleanup_fclose_ FILE *stream = NULL;

	return ctl_connect(path, request, TCPTUNED_ANSWER_TIMEOUT_S, &stream, err)
		       ?: ctl_read_answer(stream, ret, err);
}
