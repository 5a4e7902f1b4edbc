/* SPDX-License-Identifier: GPL-2.0-only */
/* The client of the control socket. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "format.h"
#include "util/error.h"

/*
 * Connect to the daemon's socket at @path and send @request. @ret: the stream of answers, which
 * fail after @timeout_s (0: never). Returns 0; -ECONNREFUSED: no daemon runs.
 */
int ctl_connect(const char *path, const json_t *request, unsigned int timeout_s, FILE **ret,
		struct tcptuned_error *err);

/* Read one answer, which the caller releases. An error may be the one that the daemon has sent. */
int ctl_read_answer(FILE *stream, json_t **ret, struct tcptuned_error *err);

/* Send @request and read the one answer to it. Returns as both of these. */
int ctl_query(const char *path, const json_t *request, json_t **ret, struct tcptuned_error *err);

/*
 * Set @ret to the first address of the name or address @host. Returns 0, or an error for
 * gai_strerror().
 */
int ctl_resolve(const char *host, char ret[CTL_WORD]);
