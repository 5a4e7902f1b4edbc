// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "iperf3.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#define CONNECT_TIMEOUT_MS "5000"

extern char **environ;

static int spawn(char *const argv[], int output, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	err = posix_spawnp(pid, argv[0], &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

int iperf3_start(const struct iperf3_run *run, pid_t *pid, int *output)
{
	char port[16], streams[16], seconds[16], omit[16];
	char *argv[] = {"iperf3",
			"--json",
			"--client",
			(char *)run->host,
			"--port",
			port,
			"--parallel",
			streams,
			"--time",
			seconds,
			"--omit",
			omit,
			"--connect-timeout",
			CONNECT_TIMEOUT_MS,
			run->reverse ? "--reverse" : NULL,
			NULL};
	int ends[2], err;

	snprintf(port, sizeof(port), "%u", run->port);
	snprintf(streams, sizeof(streams), "%u", run->streams);
	snprintf(seconds, sizeof(seconds), "%u", run->seconds);
	snprintf(omit, sizeof(omit), "%u", run->omit_seconds);
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = spawn(argv, ends[1], pid);
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return err;
	}
	*output = ends[0];
	fcntl(*output, F_SETFL, O_NONBLOCK);
	return 0;
}

static double number(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static double rtt_min(const json_t *streams)
{
	double least = 0;
	json_t *stream;
	size_t i;

	json_array_foreach(streams, i, stream)
	{
		double us = number(json_object_get(stream, "sender"), "min_rtt");

		if (us > 0 && (!least || us < least))
			least = us;
	}
	return least / 1e6;
}

static int read_end(const json_t *root, struct iperf3_result *ret)
{
	const json_t *end = json_object_get(root, "end"), *sent, *received, *retransmits;
	const char *name = json_string_value(json_object_get(end, "sender_tcp_congestion"));

	sent = json_object_get(end, "sum_sent");
	received = json_object_get(end, "sum_received");
	retransmits = json_object_get(sent, "retransmits");
	*ret = (struct iperf3_result){
		.bits_per_second = number(received, "bits_per_second"),
		.bytes = number(sent, "bytes"),
		.rtt_min_s = rtt_min(json_object_get(end, "streams")),
		.retransmits = retransmits ? json_number_value(retransmits) : -1,
	};
	snprintf(ret->congestion_control, sizeof(ret->congestion_control), "%s", name ? name : "");
	return ret->bits_per_second > 0 ? 0 : -EPROTO;
}

int iperf3_read(const char *output, size_t len, struct iperf3_result *ret, char *error,
		size_t error_size)
{
	json_t *root = json_loadb(output, len, JSON_DISABLE_EOF_CHECK, NULL);
	const char *complaint = json_string_value(json_object_get(root, "error"));
	int err = -EPROTO;

	if (complaint)
		snprintf(error, error_size, "%s", complaint);
	else if (!root)
		snprintf(error, error_size, "iperf3 printed no JSON");
	else if ((err = read_end(root, ret)))
		snprintf(error, error_size, "iperf3 measured nothing");
	json_decref(root);
	return err;
}
