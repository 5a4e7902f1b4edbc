/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON of the control socket: members of an object, an object as text, a connection. */
#ifndef TCPTUNED_RPC_FLOW_JSON_H
#define TCPTUNED_RPC_FLOW_JSON_H

#include <stdio.h>

#include <jansson.h>

#include "flows/top.h"

/* jansson rejects a NULL value, so that a lack of memory shows at the latest in the text. */
static inline void set_number(json_t *object, const char *name, __u64 value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

static inline void set_if(json_t *object, const char *name, __u64 value)
{
	if (value)
		set_number(object, name, value);
}

/* Text that is not UTF-8, such as a kernel module's name may be, becomes null. */
static inline void set_text(json_t *object, const char *name, const char *text)
{
	json_t *string = json_string(text);

	json_object_set_new(object, name, string ? string : json_null());
}

/* Print @object without line breaks, and release it. Without memory, what is printed is no JSON. */
void tcptuned_json_print(FILE *out, json_t *object);

/* The same, followed by a newline. */
void tcptuned_json_print_line(FILE *out, json_t *object);

/* A connection. @policy: the name of its policy; @rule: the rule that gave it that; or NULL. */
json_t *tcptuned_json_flow(const struct tcptuned_flow_record *record, const char *policy,
			   const char *rule);

#endif
