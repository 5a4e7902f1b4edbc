// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/prom.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

void tcptuned_print_value(struct tcptuned_buf *out, __u64 value, enum tcptuned_unit unit)
{
	uintmax_t number = value;

	if (unit == MICROSECONDS)
		tcptuned_buf_printf(out, "%ju.%06ju", number / 1000000, number % 1000000);
	else if (unit == NANOSECONDS)
		tcptuned_buf_printf(out, "%ju.%09ju", number / 1000000000, number % 1000000000);
	else
		tcptuned_buf_printf(out, "%ju", number);
}

void tcptuned_begin_family(struct tcptuned_prom *prom, const char *name, const char *type,
			   const char *help)
{
	if (prom->family && !strcmp(prom->family, name))
		return;
	prom->family = name;
	tcptuned_buf_printf(prom->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static const char *type_of(const char *name)
{
	static const char suffix[] = "_total";
	size_t length = strlen(name);

	if (length > strlen(suffix) && !strcmp(name + length - strlen(suffix), suffix))
		return "counter";
	return "gauge";
}

void tcptuned_sample(struct tcptuned_prom *prom, const char *name, const char *help,
		     const char *labels, __u64 value, enum tcptuned_unit unit)
{
	tcptuned_begin_family(prom, name, type_of(name), help);
	tcptuned_buf_puts(prom->out, name);
	if (labels && *labels)
		tcptuned_buf_printf(prom->out, "{%s}", labels);
	tcptuned_buf_add(prom->out, " ", 1);
	tcptuned_print_value(prom->out, value, unit);
	tcptuned_buf_add(prom->out, "\n", 1);
}

void tcptuned_label_value(struct tcptuned_buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\\"\n", *text))
			tcptuned_buf_add(out, "\\", 1);
		tcptuned_buf_add(out, *text == '\n' ? "n" : text, 1);
	}
}

const char *tcptuned_labels(struct tcptuned_prom *prom, ...)
{
	struct tcptuned_buf *labels = &prom->labels;
	const char *name, *value;
	va_list pairs;

	labels->len = 0;
	tcptuned_buf_add(labels, "", 0);
	va_start(pairs, prom);
	while ((name = va_arg(pairs, const char *))) {
		value = va_arg(pairs, const char *);
		if (!value)
			continue;
		tcptuned_buf_printf(labels, "%s%s=\"", labels->len ? "," : "", name);
		tcptuned_label_value(labels, value);
		tcptuned_buf_add(labels, "\"", 1);
	}
	va_end(pairs);
	return labels->data;
}
