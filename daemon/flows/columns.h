/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be said about a connection in one word: the columns of `tcptunectl flows`, by which
 * it can also be sorted. One table; the names are an interface.
 */
#ifndef TCPTUNED_FLOWS_COLUMNS_H
#define TCPTUNED_FLOWS_COLUMNS_H

#include <stdbool.h>

#include "flows/top.h"

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
	/* Which comes first; NULL: text is the policy's name, and of numbers ... */
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

/* The name of the policy with this key, which may be put into @ret; @ctx is the caller's. */
typedef const char *(*tcptuned_policy_namer)(const void *ctx, __u32 key,
					     char ret[TCPTUNED_POLICY_NAME_MAX]);

/*
 * By @column: text from A to Z, numbers from the largest down; equal ones by size and then by
 * address, so that a table that is drawn again keeps its order. Records have the keys of their
 * policies, and @namer the names. Negative: @a comes before @b.
 */
int tcptuned_column_order(const struct tcptuned_column *column,
			  const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b, tcptuned_policy_namer namer,
			  const void *ctx);

#endif
