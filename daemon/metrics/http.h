/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exporter: /metrics and a front page over HTTP, by libmicrohttpd, driven by the daemon's own
 * poll loop. Nothing here waits.
 */
#ifndef TCPTUNED_METRICS_HTTP_H
#define TCPTUNED_METRICS_HTTP_H

#include <stdbool.h>

#include "util/error.h"
#include "util/strbuf.h"

struct tcptuned_http;

struct tcptuned_http_options {
	int listen_fd;	     /* a listening socket inherited from systemd, or -1: then ... */
	const char *address; /* ... listen here: "127.0.0.1", "::1", "::" (IPv4 too) */
	unsigned int port;   /* 0: any free one */
	/* Writes what /metrics shows; an error in @out makes the answer 500. */
	void (*print)(void *ctx, struct tcptuned_buf *out);
	void *ctx;
};

/*
 * Listen and be ready to answer. @listen_fd is taken over, also when this fails. Returns 0, or
 * a negative errno with @error filled (TCPTUNED_EXIT_IN_USE, _ADDRESS, ...).
 */
int tcptuned_http_start(struct tcptuned_http **ret, const struct tcptuned_http_options *options,
			struct tcptuned_error *error);

/* The descriptor to poll for POLLIN. */
int tcptuned_http_fd(const struct tcptuned_http *http);

/* Milliseconds until tcptuned_http_run() has to be called even without POLLIN; -1: never. */
int tcptuned_http_timeout_ms(const struct tcptuned_http *http);

/* Do what can be done without waiting. */
void tcptuned_http_run(struct tcptuned_http *http);

/*
 * An answer is kept for a second, so that a crowd of scrapers costs one reading. Call this when
 * something was changed on demand: the next answer is a new one.
 */
void tcptuned_http_renew(struct tcptuned_http *http);

/* The port listened on. */
unsigned int tcptuned_http_port(const struct tcptuned_http *http);

/* The address was not one of this host at the start; as soon as it is, it is listened on. */
bool tcptuned_http_is_elsewhere(const struct tcptuned_http *http);

/* Close everything. NULL is fine. */
void tcptuned_http_stop(struct tcptuned_http *http);
void tcptuned_http_stopp(struct tcptuned_http **http);

#endif
