/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small HTTP server over libmicrohttpd, driven by the daemon's own poll loop: no thread, one
 * request per connection, everything bounded.
 */
#ifndef TCPTUNED_HTTP_H
#define TCPTUNED_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "exit.h"

struct tcptuned_http;

/* What a handler answers. */
struct tcptuned_http_reply {
	unsigned int status;	  /* 200 unless the handler says otherwise */
	const char *content_type; /* static; "text/plain; charset=utf-8" unless ... */
	struct tcptuned_buf body; /* to be filled in; an error in it makes the answer 500 */
};

/* A GET, or the GET that a HEAD stands for. */
struct tcptuned_http_request {
	const char *path; /* without a query string */
	int fd;		  /* the connection that it came by, for who asks; -1: not known */
};

typedef void (*tcptuned_http_handler)(void *ctx, const struct tcptuned_http_request *request,
				      struct tcptuned_http_reply *reply);

struct tcptuned_http_options {
	int listen_fd;	     /* a listening socket inherited from systemd, or -1: then ... */
	const char *address; /* ... listen here: "127.0.0.1", "::1", "::" (IPv4 too) */
	unsigned int port;   /* 0: any free one */
	tcptuned_http_handler handler;
	void *ctx;
	/* Limits; 0 stands for the default in parentheses. */
	unsigned int connections_max; /* at a time (64); others wait in the kernel's queue, but */
				      /* not for who has been silent for 0.1 s: that one is ended */
	unsigned int idle_timeout_s;  /* without a byte moved, and for a whole request (5) */
	unsigned int total_timeout_s; /* from the request to the close, whatever moves (30) */
	size_t body_max_bytes;	      /* of all answers in flight together (160 MB) */
};

/*
 * Listen and be ready to answer. @listen_fd is taken over, also when this fails. Returns 0, or
 * a negative errno with @error filled (TCPTUNED_EXIT_PORT_IN_USE, _ADDRESS, ...).
 */
int tcptuned_http_start(struct tcptuned_http **ret, const struct tcptuned_http_options *options,
			struct tcptuned_error *error);

/* The descriptor to poll for POLLIN. */
int tcptuned_http_fd(const struct tcptuned_http *http);

/* Milliseconds until tcptuned_http_run() has to be called even without POLLIN; -1: never. */
int tcptuned_http_timeout_ms(const struct tcptuned_http *http);

/* Do what can be done without waiting. Returns 0 or a negative errno. */
int tcptuned_http_run(struct tcptuned_http *http);

/* The port listened on. */
unsigned int tcptuned_http_port(const struct tcptuned_http *http);

/* The address was not one of this host at the start; as soon as it is, it is listened on. */
bool tcptuned_http_is_elsewhere(const struct tcptuned_http *http);

/* Close everything. NULL is fine. */
void tcptuned_http_stop(struct tcptuned_http *http);
void tcptuned_http_stopp(struct tcptuned_http **http);

#endif
