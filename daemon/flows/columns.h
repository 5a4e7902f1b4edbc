/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns of `tcptunectl flows`, by which it can also sort. The daemon writes them into a
 * connection's JSON, and tcptunectl prints them from there. Names and JSON are interfaces.
 */
#pragma once

#include <stdbool.h>

#include "flows/words.h"
#include "flows/choice.h"
#include "kern/kernel.h"
#include "util/error.h"

enum tcptuned_column_unit {
	COLUMN_TEXT,
	COLUMN_NUMBER,
	COLUMN_BYTES,
	COLUMN_BYTES_PER_S,
	COLUMN_US,
	COLUMN_KNOWN_BYTES, /* 0: unknown */
	COLUMN_SHARE,	    /* from 0 to 1 */
};

struct tcptuned_column {
	const char *name;
	const char *heading;
	const char *json; /* member of the connection's JSON: "mss_bytes", "receive.window_bytes" */
	enum tcptuned_column_unit unit;
	bool shown;	     /* by default */
	size_t offset, size; /* in the record; size 0: the record does not have it as it is shown */
	const char *help;    /* a phrase, no full stop */
	enum tcptuned_vocabulary words; /* of a text column whose value is a number */
	/* Negative: @a comes before @b. NULL: the values are compared. */
	int (*compare)(const struct tcptuned_flow_record *a, const struct tcptuned_flow_record *b);
};

extern const struct tcptuned_column tcptuned_columns[];
extern const size_t tcptuned_columns_count;

/* The column of that name, or NULL. */
const struct tcptuned_column *tcptuned_column_find(const char *name);

/* The same in @ret. Returns 0 or -EINVAL. @what asks for a column, as "--columns". */
int tcptuned_column_parse(const char *what, const char *name, const struct tcptuned_column **ret,
			  struct tcptuned_error *err);

/* The value of a number's or a text's column in @record; @column has a size. */
__u64 tcptuned_column_number(const struct tcptuned_column *column,
			     const struct tcptuned_flow_record *record);
const char *tcptuned_column_text(const struct tcptuned_column *column,
				 const struct tcptuned_flow_record *record);

/* Write the name of the policy with this key to @ret, and return that: tcptuned_policy_name(). */
typedef const char *(*tcptuned_policy_namer)(const struct tcptuned_kernel *kernel, __u32 key,
					     char ret[TCPTUNED_POLICY_NAME_MAX]);

/*
 * Negative: @a comes before @b by @column: text from A to Z, numbers from the largest down. Equal
 * ones are ordered by size and then by address, so that a table keeps its order when printed again.
 */
int tcptuned_column_order(const struct tcptuned_column *column,
			  const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b, tcptuned_policy_namer namer,
			  const struct tcptuned_kernel *kernel);
