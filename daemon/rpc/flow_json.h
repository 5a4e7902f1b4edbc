/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing JSON: one object at a time is ever a tree in memory. */
#ifndef TCPTUNED_RPC_FLOW_JSON_H
#define TCPTUNED_RPC_FLOW_JSON_H

#include <jansson.h>

#include "flows/top.h"
#include "util/strbuf.h"

/* jansson ignores a NULL value and says so; lack of memory shows when the text is made. */
static inline void set_number(json_t *object, const char *name, __u64 value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

static inline void set_if(json_t *object, const char *name, __u64 value)
{
	if (value)
		set_number(object, name, value);
}

/* Text that is not UTF-8 becomes null: only a policy's name or a module's could be that. */
static inline void set_text(json_t *object, const char *name, const char *text)
{
	json_t *string = json_string(text);

	json_object_set_new(object, name, string ? string : json_null());
}

/* Write @object out on one line, and let go of it. Lack of memory shows in @out. */
void tcptuned_json_print(struct tcptuned_buf *out, json_t *object);

/* The same, with a newline after it. */
void tcptuned_json_print_line(struct tcptuned_buf *out, json_t *object);

/*
 * One connection, as the control socket shows it. @policy: its name, or NULL;
 * @policy_record: what it says, or NULL where that is not there any more; @rule: which of its
 * rules took the connection, in words, or NULL
 */
void tcptuned_json_flow(struct tcptuned_buf *out, const struct tcptuned_flow_record *record,
			const char *policy, const struct tcptuned_policy *policy_record,
			const char *rule);

#endif
