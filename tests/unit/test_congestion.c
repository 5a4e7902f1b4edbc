// SPDX-License-Identifier: GPL-2.0-only
/* Congestion controls that the kernel has, and one that it has not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "host/cc.h"

/* Of this network namespace, as the kernel lists them: reno is always there. */
static void test_what_the_kernel_offers(void **state)
{
	char names[TCPTUNED_CONGESTION_NAMES], line[TCPTUNED_CONGESTION_NAMES - 2] = "";
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "r");

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	tcptuned_congestion_offered(names);
	assert_int_equal(strlen(names), strlen(line) + 2);
	assert_memory_equal(names + 1, line, strlen(line));
	assert_true(tcptuned_congestion_is_offered(names, "reno"));
}

static void test_names_are_whole_words(void **state)
{
	static const char offered[] = " reno tt_reno bbr ";

	assert_true(tcptuned_congestion_is_offered(offered, "reno"));
	assert_true(tcptuned_congestion_is_offered(offered, "tt_reno"));
	assert_true(tcptuned_congestion_is_offered(offered, "bbr"));
	assert_false(tcptuned_congestion_is_offered(offered, "ren"));
	assert_false(tcptuned_congestion_is_offered(offered, "bb"));
	assert_false(tcptuned_congestion_is_offered(offered, "bbr2"));
	assert_false(tcptuned_congestion_is_offered(offered, "cubic"));
	assert_false(tcptuned_congestion_is_offered("", "reno"));
}

static void test_load(void **state)
{
	assert_int_equal(tcptuned_congestion_load("reno"), 0);
	assert_int_equal(tcptuned_congestion_load("nonesuch"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_kernel_offers),
		cmocka_unit_test(test_names_are_whole_words),
		cmocka_unit_test(test_load),
	};

	return cmocka_run_group_tests_name("congestion", tests, NULL, NULL);
}
