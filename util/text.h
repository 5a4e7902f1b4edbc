/* SPDX-License-Identifier: GPL-2.0-only */
/* Text for a terminal: wrapping, "did you mean", and what is safe to print. */
#pragma once

#include <stdio.h>

#define TCPTUNED_TEXT_COLUMNS 78

/*
 * Print the words of @text in lines that begin with @prefix and have at most
 * TCPTUNED_TEXT_COLUMNS columns, where no word is longer than that.
 */
void tcptuned_text_print_wrapped(FILE *out, const char *prefix, const char *text);

/* Replace each byte that is not printable ASCII by a question mark. */
void tcptuned_text_make_printable(char *text);

/* The one of @names (NULL at the end) that is most similar to @word; NULL: none is similar. */
const char *tcptuned_text_nearest(const char *word, const char *const *names);

/*
 * What to write in place of @word: "did you mean X?" with the one of @names that is most similar,
 * or @otherwise. Returns @ret or @otherwise.
 */
#define TCPTUNED_SUGGESTION 64
const char *tcptuned_text_suggest(const char *word, const char *const *names, const char *otherwise,
				  char ret[TCPTUNED_SUGGESTION]);
