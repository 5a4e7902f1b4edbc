// SPDX-License-Identifier: GPL-2.0-only
/* The model of rightsize_model.h itself, where its path varies: what no receiver of ours changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "numbers.h"
#include "rightsize_model.h"

#define MBIT 125000.0

static struct delay_line jitter_of(enum jitter_kind kind, double amount_ms, double every_ms)
{
	struct delay_config config = {
		.seed = 1,
		.jitter = {.kind = kind, .amount_ns = (uint64_t)(amount_ms * MS),
			   .every_ns = (uint64_t)(every_ms * MS)}};
	struct delay_line line;

	delay_line_init(&line, &config);
	return line;
}

static double goodput_of(enum receiver kind, const struct delay_line *jitter, uint32_t window)
{
	struct model *m = model_new(100 * MBIT, 20, 4000000);
	struct model_flow *f = model_add(m, kind, WINDOW_LIMITED, 0);
	double goodput;

	m->jitter = jitter;
	if (window)
		f->initial_window = window;
	model_run(m, 5);
	goodput = model_goodput(m, 25);
	model_free(m);
	return goodput;
}

/*
 * A window of 200 KB takes 16 ms to send. Over 20 ms of delay it goes once a round trip. An extra
 * delay of 40 ms on average makes the round trip at least that much longer, and at most the longest
 * draw, since what is sent later waits for what was sent before.
 */
static void test_jitter_lengthens_the_round_trip(void **state)
{
	struct delay_line jitter = jitter_of(JITTER_UNIFORM, 80, 20);
	double constant = goodput_of(FIXED, NULL, 200000);
	double varying = goodput_of(FIXED, &jitter, 200000);

	assert_near(constant, 200000 / 0.020, 0.03 * constant);
	assert_true(varying < 200000 / 0.060);
	assert_true(varying > 200000 / 0.100);
}

/* A receiver that only grows fills the link all the same: that is what others are compared with. */
static void test_kernel_fills_the_link_under_jitter(void **state)
{
	struct delay_line uniform = jitter_of(JITTER_UNIFORM, 80, 20);
	struct delay_line exponential = jitter_of(JITTER_EXPONENTIAL, 40, 20);

	assert_true(goodput_of(KERNEL, &uniform, 0) > 0.95 * 100 * MBIT);
	assert_true(goodput_of(KERNEL, &exponential, 0) > 0.95 * 100 * MBIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jitter_lengthens_the_round_trip),
		cmocka_unit_test(test_kernel_fills_the_link_under_jitter),
	};

	return cmocka_run_group_tests_name("rightsize model", tests, NULL, NULL);
}
