/* SPDX-License-Identifier: GPL-2.0-only */
/* The exporter: /metrics and a front page, by libmicrohttpd. No function waits. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

struct tcptuned_http;

/* Where metrics are served. */
struct tcptuned_http_listener {
	int fd;		/* negative: nowhere */
	bool elsewhere; /* the host does not have the address; it is served as soon as it exists */
	unsigned int port;
};

/*
 * Listen on @address ("127.0.0.1", "::1", "::": IPv4, too) and @port (0: any free one), or take
 * @passed, a listening socket from systemd, if that is not negative. It is closed if this fails.
 */
int tcptuned_http_listen(struct tcptuned_http_listener *ret, int passed, const char *address,
			 unsigned int port, struct tcptuned_error *error);

struct tcptuned_http_options {
	int listen_fd;
	/* Writes what /metrics shows; after an error of @out the answer is 500. */
	void (*print)(void *ctx, FILE *out);
	void *ctx;
};

/* Serve. @listen_fd is closed by tcptuned_http_stop(), or if this fails. */
int tcptuned_http_start(struct tcptuned_http **ret, const struct tcptuned_http_options *options,
			struct tcptuned_error *error);

/* Accept no connection any more. */
void tcptuned_http_retire(struct tcptuned_http *http);

/* The number of connections that are open. */
unsigned int tcptuned_http_connections(const struct tcptuned_http *http);

/* The descriptor to poll for POLLIN. */
int tcptuned_http_fd(const struct tcptuned_http *http);

/* Milliseconds until tcptuned_http_run() has to be called even without POLLIN; -1: never. */
int tcptuned_http_timeout_ms(const struct tcptuned_http *http);

/* Handle what is pending. */
void tcptuned_http_run(struct tcptuned_http *http);

/* Drop the answer, which is kept for a second for other scrapers: what it shows was changed. */
void tcptuned_http_renew(struct tcptuned_http *http);

/* Close everything. NULL is allowed. */
void tcptuned_http_stop(struct tcptuned_http *http);
