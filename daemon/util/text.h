/* SPDX-License-Identifier: GPL-2.0-only */
/* Text for a terminal: wrapping, "did you mean", and what is safe to print. */
#ifndef TCPTUNED_UTIL_TEXT_H
#define TCPTUNED_UTIL_TEXT_H

#include <stdio.h>

#define TCPTUNED_TEXT_COLUMNS 78

/* Print @text in lines of @prefix and words, which end before TCPTUNED_TEXT_COLUMNS if possible. */
void tcptuned_print_wrapped(FILE *out, const char *prefix, const char *text);

/* Replace each byte that is not printable ASCII by a question mark. */
void tcptuned_make_printable(char *text);

/* The one of @names (NULL at the end) that is most similar to @word; NULL: none is similar. */
const char *tcptuned_nearest(const char *word, const char *const *names);

/* "did you mean X?", by the most similar of @names, in @ret; or @otherwise. */
#define TCPTUNED_SUGGESTION 64
const char *tcptuned_suggest(const char *word, const char *const *names, const char *otherwise,
			     char ret[TCPTUNED_SUGGESTION]);

#endif
