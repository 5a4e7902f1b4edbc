/* SPDX-License-Identifier: GPL-2.0-only */
/* Output: numbers, templates, tables. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "flows/columns.h"

#define CTL_WORD 80 /* any address */

/* "64K", "12.4M": powers of 1024, at most five characters. */
void ctl_format_bytes(unsigned long long bytes, char ret[CTL_WORD]);

/* "50.1ms", "3.2s"; "-" for 0, which means none. */
void ctl_format_us(unsigned long long us, char ret[CTL_WORD]);

/* "812 Mbit/s". */
void ctl_format_rate(double bits_per_second, char ret[CTL_WORD]);

/* "3d", "5h", "12m", "40s". */
void ctl_format_age(unsigned long long age_s, char ret[CTL_WORD]);

/* Member @path of @object, as in "receive.window_bytes" or "flags.observe"; NULL: none. */
const json_t *ctl_member(const json_t *object, const char *path);

/* The same as a number, 0 if there is none; as text, "" if there is none. */
unsigned long long ctl_number(const json_t *object, const char *path);
double ctl_real(const json_t *object, const char *path);
const char *ctl_text(const json_t *object, const char *path);

/* Print @answer on one line of standard output. */
void ctl_print_json(const json_t *answer);

/*
 * Text with members of an object: "{path}", or "{path:FORMAT}", where FORMAT is one of
 *	bytes	"12400000 bytes (11.8M)"
 *	size	"11.8M"
 *	us	"50.1ms"
 *	yes	"yes" or "no"
 * A missing number is 0. The text is printed if all terms of the condition hold, which are
 * separated by spaces: "path" if it is neither missing nor null, false, 0 or ""; "!path" if it is;
 * and "path=text". An empty condition holds.
 */
struct ctl_template {
	const char *condition;
	const char *text; /* NULL: the end of an array */
};

/* Does the condition of a template hold? */
bool ctl_holds(const json_t *object, const char *condition);

/* Print all texts whose conditions hold. */
void ctl_print(FILE *out, const json_t *object, const struct ctl_template *texts);

/* Do the elements of @rows have more than one "netns"? */
bool ctl_several_namespaces(const json_t *rows);

/* Print @rows, an array of objects, under headings. */
void ctl_print_table(FILE *out, const json_t *rows, const struct tcptuned_column *const *columns,
		     size_t columns_len);

/* Print how many rows the daemon has left out of the array @name of @answer, which has the
 * number of all as @all. */
void ctl_print_rest(FILE *out, const json_t *answer, const char *all, const char *name);
