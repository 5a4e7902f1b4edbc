/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes Prometheus' text format, version 0.0.4. Errors stay in the buffer. */
#ifndef TCPTUNED_METRICS_PROM_H
#define TCPTUNED_METRICS_PROM_H

#include <linux/types.h>

#include "util/strbuf.h"

enum tcptuned_unit {
	PLAIN = 0,    /* printed as it is: bytes, segments, counts */
	MICROSECONDS, /* printed in seconds */
	NANOSECONDS,
};

struct tcptuned_prom {
	struct tcptuned_buf *out;
	struct tcptuned_buf labels; /* the last ones that tcptuned_labels() made */
	const char *family;	    /* name of the last one that was begun; NULL: none */
};

/*
 * Write the comment lines of a family, if @name differs from the last one: samples of a family are
 * written one after the other. A family without samples is not begun.
 */
void tcptuned_begin_family(struct tcptuned_prom *prom, const char *name, const char *type,
			   const char *help);

/*
 * Write name{labels} value, and begin the family, which is a counter if its name ends in _total and
 * a gauge otherwise. @labels: "", NULL, or what tcptuned_labels() returned.
 */
void tcptuned_sample(struct tcptuned_prom *prom, const char *name, const char *help,
		     const char *labels, __u64 value, enum tcptuned_unit unit);

/* Format pairs of name and value, up to a name that is NULL. A pair without a value is left out. */
const char *tcptuned_labels(struct tcptuned_prom *prom, ...) __attribute__((sentinel));

/* Append a value as it is in a sample. */
void tcptuned_print_value(struct tcptuned_buf *out, __u64 value, enum tcptuned_unit unit);

/* Append the value of a label, with backslash, double quote and line feed escaped. */
void tcptuned_label_value(struct tcptuned_buf *out, const char *text);

#endif
