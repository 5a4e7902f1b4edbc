/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON of the control socket: members of an object, and an object as text. */
#pragma once

#include <stdio.h>
#include <linux/types.h>

#include <jansson.h>

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
static inline void tcptuned_json_print(FILE *out, json_t *object)
{
	json_dumpf(object, out, JSON_COMPACT);
	json_decref(object);
}

/* The same, followed by a newline. */
static inline void tcptuned_json_print_line(FILE *out, json_t *object)
{
	tcptuned_json_print(out, object);
	fputc('\n', out);
}
