// SPDX-License-Identifier: GPL-2.0-only
/* What is made fit to be shown or handed on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "array.h"
#include "exit.h"
#include "text.h"

static void becomes(const char *text, const char *wanted)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%s", text);
	tcptuned_make_utf8(copy);
	assert_string_equal(copy, wanted);
}

static void stays(const char *text)
{
	becomes(text, text);
}

static void test_utf8(void **state)
{
	stays("");
	stays("plain\t\x7f");
	stays("\xc2\x80 \xdf\xbf");
	stays("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf");
	stays("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf");
	becomes("caf\xe9", "caf?");
	becomes("\x80 \xbf", "? ?");
	becomes("\xc0\xaf \xc1\xbf", "?? ??"); /* longer than need be */
	becomes("\xe0\x9f\xbf \xf0\x8f\xbf\xbf", "??? ????");
	becomes("\xed\xa0\x80", "???"); /* a surrogate */
	becomes("\xf4\x90\x80\x80 \xf5\x80\x80\x80 \xff", "???? ???? ?");
	becomes("\xe2\x82 \xc3", "?? ?"); /* cut short, also by the end */
	becomes("\xe2\x82\xe2\x82\xac", "??\xe2\x82\xac");
}

/* Nothing is left that JSON would not take, and nothing is touched that it would. */
static void test_utf8_as_json_has_it(void **state)
{
	static const unsigned char edges[] = { 'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
					       0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
					       0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff };
	unsigned int seed = 1;

	for (int i = 0; i < 200000; i++) {
		char text[9] = "", copy[9];
		json_t *before, *after;

		for (int j = 0; j < 1 + i % 8; j++)
			text[j] = (char)edges[rand_r(&seed) % ARRAY_SIZE(edges)];
		strcpy(copy, text);
		tcptuned_make_utf8(copy);
		before = json_string(text);
		after = json_string(copy);
		assert_non_null(after);
		assert_int_equal(!strcmp(text, copy), !!before);
		json_decref(before);
		json_decref(after);
	}
}

static void test_printable(void **state)
{
	char text[] = " az~\n\x1f\x7f\xc3\xa9";

	tcptuned_make_printable(text);
	assert_string_equal(text, " az~?????");
}

/* As answers and the log have it: what somebody wrote, or a cut through a character. */
static void test_errors_are_utf8(void **state)
{
	struct tcptuned_error err;
	char path[TCPTUNED_ERROR_TEXT + 10];

	tcptuned_fail(&err, EINVAL, TCPTUNED_EXIT_USAGE, "no %s", "caf\xe9");
	assert_string_equal(err.text, "no caf?");
	tcptuned_fail(&err, EINVAL, TCPTUNED_EXIT_USAGE, "no %.4s; see", "caf\xc3\xa9");
	assert_string_equal(err.text, "no caf?; see");
	tcptuned_fail(&err, EINVAL, TCPTUNED_EXIT_USAGE, "no %.5s; see", "caf\xc3\xa9");
	assert_string_equal(err.text, "no caf\xc3\xa9; see");
	memset(path, 'x', sizeof(path));
	memcpy(path + TCPTUNED_ERROR_TEXT - 2, "\xc3\xa9", 3);
	tcptuned_fail(&err, EINVAL, TCPTUNED_EXIT_USAGE, "%s", path);
	assert_int_equal(strlen(err.text), TCPTUNED_ERROR_TEXT - 1);
	assert_int_equal(err.text[TCPTUNED_ERROR_TEXT - 2], '?');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_utf8_as_json_has_it),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_errors_are_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
