/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is amiss with a thing that is tried again every few seconds: a line about it is logged when
 * it is new, and not at each try.
 */
#ifndef TCPTUNED_TOLD_H
#define TCPTUNED_TOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "log.h"

/* Begins as { 0 }. */
struct tcptuned_told {
	char **lines; /* of this try */
	size_t lines_len;
	char **before; /* of the try before it */
	size_t before_len;
};

/* A try begins. @anew: somebody has asked for it, who is told all that is amiss. */
void tcptuned_told_begin(struct tcptuned_told *told, bool anew);

/* Log a line, printf-like, unless the try before this one has had the same. */
void tcptuned_told_log(struct tcptuned_told *told, enum tcptuned_log_level level, const char *fmt,
		       ...) __attribute__((format(printf, 3, 4)));

void tcptuned_told_free(struct tcptuned_told *told);

#endif
