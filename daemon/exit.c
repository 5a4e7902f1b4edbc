// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>

#include "exit.h"
#include "text.h"

int tcptuned_fail(struct tcptuned_error *err, int errnum, enum tcptuned_exit status,
		  const char *fmt, ...)
{
	va_list args;

	if (err) {
		err->status = status;
		va_start(args, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, args);
		va_end(args);
		/* What somebody wrote may be in it, and a cut through the middle of a character. */
		tcptuned_make_utf8(err->text);
	}
	return -errnum;
}

const char *tcptuned_exit_meaning(int status)
{
	switch (status) {
#define TCPTUNED_EXIT_CASE(name, number, meaning) \
	case number:                              \
		return meaning;
		TCPTUNED_EXIT_TABLE(TCPTUNED_EXIT_CASE)
		TCPTUNED_CTL_EXIT_TABLE(TCPTUNED_EXIT_CASE)
#undef TCPTUNED_EXIT_CASE
	}
	return NULL;
}
