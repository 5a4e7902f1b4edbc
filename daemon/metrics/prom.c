// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>

#include "metrics/prom.h"

void tcptuned_print_value(struct tcptuned_buf *out, __u64 value, enum unit unit)
{
	switch (unit) {
	case PLAIN:
		tcptuned_buf_printf(out, "%" PRIu64, (uint64_t)value);
		break;
	case MICROSECONDS:
		tcptuned_buf_printf(out, "%" PRIu64 ".%06u", (uint64_t)(value / 1000000),
				    (unsigned int)(value % 1000000));
		break;
	case NANOSECONDS:
		tcptuned_buf_printf(out, "%" PRIu64 ".%09u", (uint64_t)(value / 1000000000),
				    (unsigned int)(value % 1000000000));
		break;
	}
}

void tcptuned_begin_family(struct tcptuned_buf *out, struct family *family)
{
	if (family->begun)
		return;
	tcptuned_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help,
			    family->name, family->type);
	family->begun = true;
}

void tcptuned_sample_more(struct tcptuned_buf *out, struct family *family, const char *labels,
			  const char *more, __u64 value, enum unit unit)
{
	tcptuned_begin_family(out, family);
	tcptuned_buf_puts(out, family->name);
	if (labels && *labels) {
		tcptuned_buf_add(out, "{", 1);
		tcptuned_buf_puts(out, labels);
		if (*more)
			tcptuned_buf_add(out, ",", 1);
		tcptuned_buf_puts(out, more);
		tcptuned_buf_add(out, "}", 1);
	}
	tcptuned_buf_add(out, " ", 1);
	tcptuned_print_value(out, value, unit);
	tcptuned_buf_add(out, "\n", 1);
}

void tcptuned_sample(struct tcptuned_buf *out, struct family *family, const char *labels,
		     __u64 value, enum unit unit)
{
	tcptuned_sample_more(out, family, labels, "", value, unit);
}

void tcptuned_single(struct tcptuned_buf *out, const char *name, const char *type, __u64 value,
		     enum unit unit, const char *help)
{
	struct family family = {name, type, help, false};

	tcptuned_sample(out, &family, "", value, unit);
}

void tcptuned_label_value(struct tcptuned_buf *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '\\':
		case '"':
			tcptuned_buf_add(out, "\\", 1);
			tcptuned_buf_add(out, text, 1);
			break;
		case '\n':
			tcptuned_buf_add(out, "\\n", 2);
			break;
		default:
			tcptuned_buf_add(out, text, 1);
		}
	}
}

void tcptuned_label_begin(struct tcptuned_buf *labels)
{
	labels->len = 0;
	tcptuned_buf_add(labels, "", 0);
}

void tcptuned_label(struct tcptuned_buf *labels, const char *name, const char *value)
{
	if (labels->len)
		tcptuned_buf_add(labels, ",", 1);
	tcptuned_buf_puts(labels, name);
	tcptuned_buf_add(labels, "=\"", 2);
	tcptuned_label_value(labels, value);
	tcptuned_buf_add(labels, "\"", 1);
}

void tcptuned_print_states(struct tcptuned_buf *out, struct family *family, const char *labels,
			   const char *more, const char *label_name, unsigned int state,
			   unsigned int len, const char *(*name)(unsigned int))
{
	char text[96];
	unsigned int i;

	for (i = 0; i < len; i++) {
		snprintf(text, sizeof(text), "%s%s%s=\"%s\"", more, *more ? "," : "",
			 label_name, name(i));
		tcptuned_sample_more(out, family, labels, text, i == state, PLAIN);
	}
}
