/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes Prometheus' text format, version 0.0.4. Errors stay in the stream. */
#ifndef TCPTUNED_METRICS_PROM_H
#define TCPTUNED_METRICS_PROM_H

#include <stdio.h>
#include <linux/types.h>

enum tcptuned_unit {
	PLAIN = 0,    /* printed as it is: bytes, segments, counts */
	MICROSECONDS, /* printed in seconds */
	NANOSECONDS,
};

struct tcptuned_prom {
	FILE *out;
	const char *family; /* name of the last one that was begun; NULL: none */
};

/*
 * Write the comment lines of a family, if @name differs from the last one: samples of a family are
 * written one after the other. A family without samples is not begun.
 */
void tcptuned_begin_family(struct tcptuned_prom *prom, const char *name, const char *type,
			   const char *help);

/*
 * Write a sample, and begin its family, which is a counter if its name ends in _total and a gauge
 * otherwise. Labels follow as pairs of name and value, up to a name that is NULL; a pair without a
 * value is left out.
 */
void tcptuned_sample(struct tcptuned_prom *prom, const char *name, const char *help, __u64 value,
		     enum tcptuned_unit unit, ...) __attribute__((sentinel));

/* Write a value as it is in a sample. */
void tcptuned_print_value(FILE *out, __u64 value, enum tcptuned_unit unit);

#endif
