// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/prom.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

void tcptuned_print_value(FILE *out, __u64 value, enum tcptuned_unit unit)
{
	uintmax_t number = value;

	if (unit == MICROSECONDS)
		fprintf(out, "%ju.%06ju", number / 1000000, number % 1000000);
	else if (unit == NANOSECONDS)
		fprintf(out, "%ju.%09ju", number / 1000000000, number % 1000000000);
	else
		fprintf(out, "%ju", number);
}

void tcptuned_begin_family(struct tcptuned_prom *prom, const char *name, const char *type,
			   const char *help)
{
	if (prom->family && !strcmp(prom->family, name))
		return;
	prom->family = name;
	fprintf(prom->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static const char *type_of(const char *name)
{
	static const char suffix[] = "_total";
	size_t length = strlen(name);

	if (length > strlen(suffix) && !strcmp(name + length - strlen(suffix), suffix))
		return "counter";
	return "gauge";
}

/* Backslash, double quote and line feed are escaped. */
static void print_label(FILE *out, char before, const char *name, const char *value)
{
	fprintf(out, "%c%s=\"", before, name);
	for (; *value; value++) {
		if (strchr("\\\"\n", *value))
			fputc('\\', out);
		fputc(*value == '\n' ? 'n' : *value, out);
	}
	fputc('"', out);
}

void tcptuned_sample(struct tcptuned_prom *prom, const char *name, const char *help, __u64 value,
		     enum tcptuned_unit unit, ...)
{
	const char *label, *label_value;
	char before = '{';
	va_list labels;

	tcptuned_begin_family(prom, name, type_of(name), help);
	fputs(name, prom->out);
	va_start(labels, unit);
	while ((label = va_arg(labels, const char *))) {
		label_value = va_arg(labels, const char *);
		if (!label_value)
			continue;
		print_label(prom->out, before, label, label_value);
		before = ',';
	}
	va_end(labels);
	fputs(before == ',' ? "} " : " ", prom->out);
	tcptuned_print_value(prom->out, value, unit);
	fputc('\n', prom->out);
}
