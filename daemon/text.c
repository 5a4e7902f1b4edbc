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

/* The bytes of the character that @text begins with (RFC 3629); 0: that is none. */
static size_t character(const unsigned char *text)
{
	unsigned char first = text[0], lowest = 0x80, highest = 0xbf;
	size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	if (length > 1 && (first < 0xc2 || first > 0xf4))
		return 0;
	/* Not longer than need be, no surrogate, nothing after U+10FFFF. */
	if (first == 0xe0)
		lowest = 0xa0;
	else if (first == 0xf0)
		lowest = 0x90;
	else if (first == 0xed)
		highest = 0x9f;
	else if (first == 0xf4)
		highest = 0x8f;
	for (size_t i = 1; i < length; i++, lowest = 0x80, highest = 0xbf)
		if (text[i] < lowest || text[i] > highest)
			return 0;
	return length;
}

void tcptuned_make_utf8(char *text)
{
	size_t length;

	for (; *text; text += length) {
		length = character((const unsigned char *)text);
		if (length)
			continue;
		*text = '?';
		length = 1;
	}
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
