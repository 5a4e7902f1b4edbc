// SPDX-License-Identifier: GPL-2.0-only
#include "util/text.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <sys/param.h>

void tcptuned_text_make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

void tcptuned_text_print_wrapped(FILE *out, const char *prefix, const char *text)
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

#define NEAREST_LONGEST 32

/*
 * The edit distance of Damerau and Levenshtein: exchanged neighbours count as one error. Case does
 * not matter. A word longer than NEAREST_LONGEST is far from everything.
 */
static unsigned int distance(const char *a, const char *b)
{
	/* Of the first i letters of @a and the first j of @b. */
	unsigned int d[NEAREST_LONGEST + 1][NEAREST_LONGEST + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > NEAREST_LONGEST || m > NEAREST_LONGEST)
		return NEAREST_LONGEST;
	for (size_t i = 0; i <= n; i++)
		d[i][0] = (unsigned int)i;
	for (size_t j = 0; j <= m; j++)
		d[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= n; i++) {
		for (size_t j = 1; j <= m; j++) {
			int p = tolower((unsigned char)a[i - 1]);
			int q = tolower((unsigned char)b[j - 1]);

			d[i][j] =
				MIN(d[i - 1][j - 1] + (p != q), MIN(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && p == tolower((unsigned char)b[j - 2]) &&
			    q == tolower((unsigned char)a[i - 2]))
				d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

const char *tcptuned_text_nearest(const char *word, const char *const *names)
{
	const char *nearest = NULL;
	size_t length = strlen(word);
	/* Up to a third of the letters may be wrong, two of a short word, none of a single one. */
	unsigned int limit = length < 2 ? 1 : length < 6 ? 3 : (unsigned int)length / 3 + 1;

	for (; *names; names++) {
		unsigned int d = distance(word, *names);

		if (d >= limit || d >= strlen(*names))
			continue;
		limit = d;
		nearest = *names;
	}
	return nearest;
}

const char *tcptuned_text_suggest(const char *word, const char *const *names, const char *otherwise,
				  char ret[TCPTUNED_SUGGESTION])
{
	const char *nearest = tcptuned_text_nearest(word, names);

	if (!nearest)
		return otherwise;
	snprintf(ret, TCPTUNED_SUGGESTION, "did you mean %s?", nearest);
	return ret;
}
