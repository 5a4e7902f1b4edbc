// SPDX-License-Identifier: GPL-2.0-only
#include "told.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_lines(char ***lines, size_t *len)
{
	for (size_t i = 0; i < *len; i++)
		free((*lines)[i]);
	free(*lines);
	*lines = NULL;
	*len = 0;
}

void tcptuned_told_begin(struct tcptuned_told *told, bool anew)
{
	free_lines(&told->before, &told->before_len);
	if (anew)
		free_lines(&told->lines, &told->lines_len);
	told->before = told->lines;
	told->before_len = told->lines_len;
	told->lines = NULL;
	told->lines_len = 0;
}

static bool was_told(const struct tcptuned_told *told, const char *line)
{
	for (size_t i = 0; i < told->before_len; i++)
		if (!strcmp(told->before[i], line))
			return true;
	return false;
}

/* What there is no memory for is told once more. */
static void remember(struct tcptuned_told *told, const char *line)
{
	char **lines = realloc(told->lines, (told->lines_len + 1) * sizeof(*lines));

	if (!lines)
		return;
	told->lines = lines;
	lines[told->lines_len] = strdup(line);
	if (lines[told->lines_len])
		told->lines_len++;
}

void tcptuned_told_log(struct tcptuned_told *told, enum tcptuned_log_level level, const char *fmt,
		       ...)
{
	char line[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (!was_told(told, line))
		tcptuned_log(level, "%s", line);
	remember(told, line);
}

void tcptuned_told_free(struct tcptuned_told *told)
{
	free_lines(&told->lines, &told->lines_len);
	free_lines(&told->before, &told->before_len);
}
