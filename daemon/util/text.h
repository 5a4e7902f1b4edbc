/* SPDX-License-Identifier: GPL-2.0-only */
/* Text for people to read in a terminal, and what is fit to be shown or handed on. */
#ifndef TCPTUNED_UTIL_TEXT_H
#define TCPTUNED_UTIL_TEXT_H

#include <stdio.h>

#define TCPTUNED_TEXT_COLUMNS 78

/*
 * Print the words of @text in lines that begin with @prefix and have at most
 * TCPTUNED_TEXT_COLUMNS columns, where no word is longer than that.
 */
void tcptuned_print_wrapped(FILE *out, const char *prefix, const char *text);

/* Whatever is not printable ASCII becomes a question mark, byte for byte. */
void tcptuned_make_printable(char *text);

/* The nearest of @names (ended by NULL) to @word, for "did you mean"; NULL: none is near. */
const char *tcptuned_nearest(const char *word, const char *const *names);

#endif
