/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every unit test includes. A test is written TEST(name) { ... }; the program runs all tests
 * of its file in their order. Assertions are cmocka's and those below. The actual value comes
 * first, the expected one after it, and the message of a failure names the value and the row of its
 * table.
 */
#pragma once

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "util/array.h"

#define Q32 4294967296.0 /* 1 in fixed point with 32 bits after the point */

/* The sanitizers make a run up to 20 times as long. */
#define SANITIZED 0
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef SANITIZED
#define SANITIZED 1
#endif
#endif

/* For a record of many fields, several of which fit on a line. */
#define struct_of(name, fields...) ((struct name){fields})

/* --- tests ----------------------------------------------------------------------------- */

static struct CMUnitTest all_tests[64]; /* cmocka skips the empty ones at the end */
static size_t all_tests_len;
static CMFixtureFunction setup_of_each, teardown_of_each;
static long test_row = -1; /* of the table that the test goes through; -1: none */

#define TEST(title)                                                     \
	static void test_##title(void **state);                         \
	static __attribute__((constructor)) void register_##title(void) \
	{                                                               \
		all_tests[all_tests_len].name = #title;                 \
		all_tests[all_tests_len++].test_func = test_##title;    \
	}                                                               \
	static void test_##title(__attribute__((unused)) void **state)

/* Runs @setup before and @teardown after each test of the file; NULL: nothing. */
#define FIXTURE(setup, teardown)                                        \
	static __attribute__((constructor)) void register_fixture(void) \
	{                                                               \
		setup_of_each = setup;                                  \
		teardown_of_each = teardown;                            \
	}

/* A loop over @table whose failures say in which row, counted from 0, they are. */
#define for_each_row(row, table)                    \
	for (__typeof__(&(table)[0]) row = (table); \
	     (test_row = row < (table) + ARRAY_SIZE(table) ? row - (table) : -1) >= 0; row++)

static int begin_test(void **state)
{
	test_row = -1;
	return setup_of_each ? setup_of_each(state) : 0;
}

int main(void)
{
	srandom(20026);
	for (size_t i = 0; i < all_tests_len; i++) {
		all_tests[i].setup_func = begin_test;
		all_tests[i].teardown_func = teardown_of_each;
	}
	return cmocka_run_group_tests_name(program_invocation_short_name, all_tests, NULL, NULL);
}

/* --- assertions ------------------------------------------------------------------------ */

struct place {
	const char *file;
	int line;
	const char *actual; /* the expression */
};

#define PLACE(actual) ((struct place){__FILE__, __LINE__, #actual})

static inline __attribute__((format(printf, 2, 3))) void fail_at(struct place at,
								 const char *format, ...)
{
	char text[4096];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (test_row >= 0)
		print_error("row %ld: ", test_row);
	test_row = -1;
	print_error("%s %s\n", at.actual, text);
	_fail(at.file, at.line);
}

static inline void check_int(struct place at, long long actual, long long expected)
{
	if (actual != expected)
		fail_at(at, "is %lld, expected %lld", actual, expected);
}

static inline void check_range(struct place at, unsigned long long actual, unsigned long long min,
			       unsigned long long max)
{
	if (actual < min || actual > max)
		fail_at(at, "is %llu, expected %llu to %llu", actual, min, max);
}

static inline void check_near(struct place at, double actual, double expected, double tolerance)
{
	if (!(fabs(actual - expected) <= tolerance))
		fail_at(at, "is %.9g, expected %.9g within %g", actual, expected, tolerance);
}

static inline void check_string(struct place at, const char *actual, const char *expected)
{
	if (!actual || strcmp(actual, expected))
		fail_at(at, "is \"%s\", expected \"%s\"", actual, expected);
}

static inline void check_part(struct place at, const char *actual, const char *part, bool expected)
{
	if (!strstr(actual, part) == expected)
		fail_at(at, "is \"%s\", expected %s \"%s\" in it", actual, expected ? "" : "no",
			part);
}

/* These replace cmocka's, whose messages do not name the value. */
#undef assert_true
#undef assert_false
#undef assert_int_equal
#undef assert_in_range
#undef assert_string_equal
#define assert_true(actual)		   check_int(PLACE(actual), (bool)(actual), true)
#define assert_false(actual)		   check_int(PLACE(actual), (bool)(actual), false)
#define assert_int_equal(actual, expected) check_int(PLACE(actual), actual, expected)
#define assert_in_range(actual, min, max)  check_range(PLACE(actual), actual, min, max)
#define assert_near(actual, expected, tolerance) \
	check_near(PLACE(actual), actual, expected, tolerance)
#define assert_string_equal(actual, expected) check_string(PLACE(actual), actual, expected)
#define assert_contains(actual, part)	      check_part(PLACE(actual), actual, part, true)
#define assert_lacks(actual, part)	      check_part(PLACE(actual), actual, part, false)

/* What @statement prints to the stream @out; the caller frees it. */
#define text_printed(out, statement)                        \
	({                                                  \
		char *text_ = NULL;                         \
		size_t size_;                               \
		FILE *out = open_memstream(&text_, &size_); \
		assert_non_null(out);                       \
		statement;                                  \
		fclose(out);                                \
		text_;                                      \
	})

/* --- files and commands ---------------------------------------------------------------- */

static inline void write_file(const char *name, const void *data, size_t size)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Returns the exit status of @command, which reads @text. */
static inline int pipe_to(const char *command, const char *text)
{
	FILE *pipe = popen(command, "w");

	assert_non_null(pipe);
	fputs(text, pipe);
	return pclose(pipe);
}

/* --- whole texts ----------------------------------------------------------------------- */

#define GOLDEN_HEADER "# SPDX-License-Identifier: GPL-2.0-only\n"

static char *golden_text;
static size_t golden_size;

/* A stream for the text that assert_golden() compares and closes. */
static inline FILE *open_golden(void)
{
	FILE *out = open_memstream(&golden_text, &golden_size);

	assert_non_null(out);
	fputs(GOLDEN_HEADER, out);
	return out;
}

static inline void check_golden(struct place at, FILE *out, const char *name)
{
	char path[128], command[256];

	fclose(out);
	snprintf(path, sizeof(path), "tests/unit/golden/%s.txt", name);
	if (getenv("UPDATE_GOLDEN"))
		write_file(path, golden_text, golden_size);
	snprintf(command, sizeof(command), "diff -u %s - >&2", path);
	if (pipe_to(command, golden_text))
		fail_at(at, "differs from %s", path);
	free(golden_text);
}

/* Compares with tests/unit/golden/NAME.txt; with UPDATE_GOLDEN in the environment, writes it. */
#define assert_golden(out, name) check_golden(PLACE(out), out, name)

/* Prints to @out the lines of @text that @base does not have. */
static inline void print_new_lines(FILE *out, const char *base, const char *text)
{
	for (size_t len; *text; text += len) {
		char line[512];

		len = strcspn(text, "\n");
		len += text[len] == '\n';
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		if (!strstr(base, line))
			fputs(line, out);
	}
}

/* --- a directory of the test's own ------------------------------------------------------ */

static char test_directory[32];

static inline int make_directory(void **state)
{
	strcpy(test_directory, "/tmp/tcptuned-test-XXXXXX");
	return mkdtemp(test_directory) ? 0 : -1;
}

static inline int remove_directory(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", test_directory);
	return system(command);
}

/* --- JSON ------------------------------------------------------------------------------- */

/* Returns @text with " for ', valid until the next call: C would need a \ before each ". */
static inline const char *quoted(const char *text)
{
	static char json[2048];

	assert_true(strlen(text) < sizeof(json));
	strcpy(json, text);
	for (char *at = json; (at = strchr(at, '\''));)
		*at = '"';
	return json;
}

/* --- random numbers, the same on every machine ------------------------------------------ */

static uint64_t random_state = 88172645463325252ull;

static inline uint64_t random64(void) /* xorshift64* */
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

static inline uint64_t random_between(uint64_t min, uint64_t max)
{
	return min + random64() % (max - min + 1);
}

static inline double random_real(double low, double high)
{
	return low + (high - low) * (double)random() / (double)RAND_MAX;
}

/* Small and large alike: the number of bits is uniform. */
static inline uint32_t random_scaled(uint32_t min, uint32_t max)
{
	uint64_t value = random64() & ((2ull << random_between(0, 31)) - 1);

	return value < min ? min : value > max ? max : (uint32_t)value;
}
