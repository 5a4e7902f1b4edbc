// SPDX-License-Identifier: GPL-2.0-only
/* Text for people to read in a terminal, and what is fit to be shown or handed on. */
#include <string.h>

#include "text.h"

void tcptuned_make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

void tcptuned_print_wrapped(FILE *out, const char *prefix, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column && column + 1 + word > TCPTUNED_TEXT_COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		if (!column)
			column = (size_t)fprintf(out, "%s%.*s", prefix, (int)word, text);
		else
			column += (size_t)fprintf(out, " %.*s", (int)word, text);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}
