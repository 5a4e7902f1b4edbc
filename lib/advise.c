// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <tcptuned/advise.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <jansson.h>

#include "tuner.h"

#define TIMEOUT_S 2

/* The exit statuses of tcptunectl with which the daemon refuses a request that is wrong, or any. */
#define STATUS_USAGE  2
#define STATUS_DAEMON 40

static int connect_to(const char *path)
{
	const struct timeval timeout = {.tv_sec = TIMEOUT_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

/* The default of this network namespace, which may not be the daemon's; "": unknown. */
static void read_congestion_control(char ret[16])
{
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_congestion_control", "re");

	if (!file || fscanf(file, "%15s", ret) != 1)
		ret[0] = '\0';
	if (file)
		fclose(file);
}

/* Set *@ret to the daemon's answer, an object, which the caller releases. */
static int ask(int fd, const char *address, json_t **ret)
{
	char text[4096], congestion_control[16];
	json_t *request;
	ssize_t got;
	size_t len;

	read_congestion_control(congestion_control);
	request = json_pack("{s:s,s:s,s:s*}", "command", "advise", "address", address,
			    "congestion_control",
			    congestion_control[0] ? congestion_control : NULL);
	len = json_dumpb(request, text, sizeof(text) - 1, JSON_COMPACT);
	json_decref(request);
	if (!len || len >= sizeof(text)) /* not UTF-8, or longer than any address */
		return -EINVAL;
	text[len++] = '\n';
	if (send(fd, text, len, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		return -errno;
	for (len = 0; len < sizeof(text); len += (size_t)got) {
		got = TEMP_FAILURE_RETRY(recv(fd, text + len, sizeof(text) - len, 0));
		if (got < 0 && !len)
			return -errno;
		if (got <= 0) /* a daemon that refuses a client has not read what it asked */
			break;
	}
	*ret = json_loadb(text, len, 0, NULL);
	return json_is_object(*ret) ? 0 : -EPROTO;
}

static double number_of(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static void copy_text(char *to, size_t size, const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	snprintf(to, size, "%s", text ? text : "");
}

static void read_direction(struct tcptuned_advice_direction *to, const json_t *one,
			   const json_t *streams)
{
	to->bits_per_second = number_of(one, "bits_per_second");
	to->buffer_bytes = (unsigned long long)number_of(one, "buffer_bytes");
	to->streams = (unsigned int)number_of(streams, "streams");
	to->streams_bits_per_second = number_of(streams, "bits_per_second");
}

static int read_answer(const json_t *answer, struct tcptuned_advice *to)
{
	json_int_t status = json_integer_value(json_object_get(answer, "status"));

	if (status == STATUS_USAGE)
		return -EINVAL;
	if (status == STATUS_DAEMON)
		return -EBUSY;
	if (status)
		return -EIO;
	copy_text(to->prefix, sizeof(to->prefix), answer, "prefix");
	copy_text(to->congestion_control, sizeof(to->congestion_control), answer,
		  "congestion_control");
	to->connections = (unsigned int)number_of(answer, "connections");
	to->age_s = (unsigned long long)number_of(answer, "age_s");
	to->min_rtt_s = number_of(answer, "min_rtt_us") / 1e6;
	to->loss = number_of(answer, "loss");
	read_direction(&to->send, json_object_get(answer, "send"),
		       json_object_get(answer, "send_streams"));
	read_direction(&to->receive, json_object_get(answer, "receive"),
		       json_object_get(answer, "receive_streams"));
	return to->prefix[0] || to->send.streams || to->receive.streams ? 0 : -ENODATA;
}

int tcptuned_advise(const char *control, const char *address, struct tcptuned_advice *ret)
{
	json_t *answer = NULL;
	int fd, error;

	if (ret->size < sizeof(*ret))
		return -EINVAL;
	if (ret->size > sizeof(*ret))
		return -E2BIG;
	memset((char *)ret + sizeof(ret->size), 0, sizeof(*ret) - sizeof(ret->size));
	fd = connect_to(control ? control : TUNER_CONTROL);
	if (fd < 0)
		return fd;
	error = ask(fd, address, &answer);
	close(fd);
	if (!error)
		error = read_answer(answer, ret);
	json_decref(answer);
	return error;
}
