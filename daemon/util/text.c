// SPDX-License-Identifier: GPL-2.0-only
/* Text for people to read in a terminal, and what is fit to be shown or handed on. */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"

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

/* --- "did you mean" ------------------------------------------------------------------ */

#define NEAREST_LONGEST 32

/*
 * Levenshtein's distance, case aside, with two neighbours that changed places as one slip. A
 * word longer than NEAREST_LONGEST is far from everything.
 */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int rows[3][NEAREST_LONGEST + 1];
	unsigned int *before = rows[0], *above = rows[1], *row = rows[2], *next;
	size_t n = strlen(a), m = strlen(b);

	if (n > NEAREST_LONGEST || m > NEAREST_LONGEST)
		return NEAREST_LONGEST;
	for (size_t j = 0; j <= m; j++) {
		before[j] = 0;
		above[j] = (unsigned int)j;
	}
	for (size_t i = 1; i <= n; i++) {
		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= m; j++) {
			int p = tolower((unsigned char)a[i - 1]);
			int q = tolower((unsigned char)b[j - 1]);
			unsigned int best = above[j - 1] + (p != q);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && p == tolower((unsigned char)b[j - 2]) &&
			    q == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		next = before;
		before = above;
		above = row;
		row = next;
	}
	return above[m];
}

const char *tcptuned_nearest(const char *word, const char *const *names)
{
	const char *nearest = NULL;
	size_t length = strlen(word);
	/* A third of it mistyped, or two letters of a short word; never a word of one letter.
	 */
	unsigned int least = length < 2 ? 1 : length < 6 ? 3 : (unsigned int)length / 3 + 1;

	for (; *names; names++) {
		unsigned int d = distance(word, *names);

		if (d >= least || d >= strlen(*names))
			continue;
		least = d;
		nearest = *names;
	}
	return nearest;
}
