// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: any bytes as what a client sends to the metrics port. The answer is none, or
 * one of HTTP with a status that we or the library give; afterwards the server answers a good
 * request as before, and holds no connection that has ended.
 *
 *	make fuzz
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "http.h"

#define CHECK(condition)                                             \
	do {                                                         \
		if (!(condition)) {                                  \
			fprintf(stderr, "failed: %s\n", #condition); \
			abort();                                     \
		}                                                    \
	} while (0)

#define TURNS	    4	 /* of the server for each thing that the client does */
#define ASK_EVERY   1024 /* inputs between two good requests */
#define CONNECTIONS 4

static struct tcptuned_http *http;
static unsigned int handled;

/* What the daemon's does with a path is compare it. */
static void handle(void *ctx, const struct tcptuned_http_request *request,
		   struct tcptuned_http_reply *reply)
{
	const char *path = request->path;

	handled++;
	CHECK(strlen(path) < 16384);
	if (strcmp(path, "/metrics"))
		reply->status = 404;
	tcptuned_buf_puts(&reply->body, "tcptuned_up 1\n");
}

static void start(void)
{
	struct tcptuned_http_options options = {
		.listen_fd = -1,
		.address = "127.0.0.1",
		.handler = handle,
		.connections_max = CONNECTIONS,
	};
	struct tcptuned_error error = { 0 };

	CHECK(!tcptuned_http_start(&http, &options, &error));
}

static void run(void)
{
	for (int i = 0; i < TURNS; i++)
		CHECK(!tcptuned_http_run(http));
}

/* Closed with a reset: no port is left waiting, and the server has to bear that as well. */
static int client(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)tcptuned_http_port(http)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct linger at_once = { .l_onoff = 1 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	CHECK(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
	return fd;
}

/* The status of the answer to @data, or 0: none has come. */
static int ask(const void *data, size_t size)
{
	char answer[512] = "";
	int fd = client(), status = 0;

	run();
	/* a server that has had enough may have closed */
	if (size)
		send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	run();
	if (recv(fd, answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0)
		CHECK(sscanf(answer, "HTTP/1.%*1[01] %d ", &status) == 1);
	close(fd);
	run();
	return status;
}

static int status_known(int status)
{
	static const int known[] = { 0, 100, 200, 400, 404, 405, 413, 414, 431, 500, 501, 505 };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == status)
			return 1;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char good[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	static unsigned int inputs;
	unsigned int before;
	int status;

	if (!http)
		start();
	status = ask(data, size);
	if (!status_known(status)) {
		fprintf(stderr, "status %d\n", status);
		abort();
	}
	if (inputs++ % ASK_EVERY)
		return 0;
	before = handled;
	CHECK(ask(good, sizeof(good) - 1) == 200);
	CHECK(handled == before + 1);
	return 0;
}
