/* SPDX-License-Identifier: GPL-2.0-only */
/* Prometheus text format, version 0.0.4: families, samples, labels. Errors stay in the buffer. */
#ifndef TCPTUNED_METRICS_PROM_H
#define TCPTUNED_METRICS_PROM_H

#include <stdbool.h>
#include <linux/types.h>

#include "util/strbuf.h"

#define COUNTER "counter"
#define GAUGE	"gauge"

enum unit {
	PLAIN = 0,    /* printed as it is: bytes, segments, counts */
	MICROSECONDS, /* printed in seconds */
	NANOSECONDS,
};

/* Written out with its first sample only: a family without samples does not appear. */
struct family {
	const char *name;
	const char *type;
	const char *help;
	bool begun;
};

/* As it stands in a sample. */
void tcptuned_print_value(struct tcptuned_buf *out, __u64 value, enum unit unit);

/* Its two comment lines, unless they are written. */
void tcptuned_begin_family(struct tcptuned_buf *out, struct family *family);

/*
 * name{labels,more} value. @labels, @more: "" or ready-made 'name="value"', commas between;
 * @more only after @labels.
 */
void tcptuned_sample_more(struct tcptuned_buf *out, struct family *family, const char *labels,
			  const char *more, __u64 value, enum unit unit);

void tcptuned_sample(struct tcptuned_buf *out, struct family *family, const char *labels,
		     __u64 value, enum unit unit);

/* A family of one sample without labels. */
void tcptuned_single(struct tcptuned_buf *out, const char *name, const char *type, __u64 value,
		     enum unit unit, const char *help);

/* One state out of several: a sample for each, 1 for the one that holds. */
void tcptuned_print_states(struct tcptuned_buf *out, struct family *family, const char *labels,
			   const char *more, const char *label_name, unsigned int state,
			   unsigned int len, const char *(*name)(unsigned int));

/* Labels are put together in a buffer of their own, which this empties. */
void tcptuned_label_begin(struct tcptuned_buf *labels);

/* Add one label to the set that is being put together. */
void tcptuned_label(struct tcptuned_buf *labels, const char *name, const char *value);

/* @text as the value of a label: backslash, double quote and line feed escaped. */
void tcptuned_label_value(struct tcptuned_buf *out, const char *text);

#endif
