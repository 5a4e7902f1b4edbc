/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be said about a connection in one word: the columns of `tcptunectl flows`, by which
 * it can also be sorted. One table; the names are an interface.
 */
#ifndef TCPTUNED_COLUMNS_H
#define TCPTUNED_COLUMNS_H

#include <stdbool.h>

#include "flows.h"

enum tcptuned_column_unit {
	COLUMN_TEXT,
	COLUMN_NUMBER,
	COLUMN_BYTES,
	COLUMN_BYTES_PER_S,
	COLUMN_US,
};

struct tcptuned_column {
	const char *name;
	const char *heading;
	const char *json; /* where it is in a flow's JSON: "cwnd_segments", "receive.window_bytes" */
	enum tcptuned_column_unit unit;
	bool shown; /* without being asked for */
	/* Of text: which comes first; else NULL, and ... */
	int (*compare)(const struct tcptuned_flow_record *a,
		       const struct tcptuned_flow_record *b);
	size_t offset, size; /* ... the number in the record, of four or eight bytes */
	const char *help;    /* a phrase, no full stop */
};

extern const struct tcptuned_column tcptuned_columns[];
extern const size_t tcptuned_columns_count;

/* The column of that name, or NULL. */
const struct tcptuned_column *tcptuned_column_find(const char *name);

/* The name that is nearest to @name, for "did you mean"; or NULL. */
const char *tcptuned_column_nearest(const char *name);

/*
 * By @column: text from A to Z, numbers from the largest down; equal ones by size and then by
 * address, so that a table that is drawn again keeps its order. Negative: @a comes before @b.
 */
int tcptuned_column_order(const struct tcptuned_column *column,
			  const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b);

#endif
