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

#include "util/error.h"
#include "util/text.h"

static void test_printable(void **state)
{
	char text[] = " az~\n\x1f\x7f\xc3\xa9";

	tcptuned_make_printable(text);
	assert_string_equal(text, " az~?????");
}

/* As answers and the log have it: what somebody wrote. */
static void test_errors_are_printable(void **state)
{
	struct tcptuned_error err;

	tcptuned_fail(&err, EINVAL, TCPTUNED_EXIT_USAGE, "no %s", "caf\xe9\n");
	assert_string_equal(err.text, "no caf??");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_errors_are_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
