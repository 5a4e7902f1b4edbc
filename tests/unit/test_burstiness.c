// SPDX-License-Identifier: GPL-2.0-only
/*
 * The measure of burstiness against closed forms (constant, Poisson, on and off), against a model
 * in doubles, and at its edges: what is skipped, late, ahead, too much, or written by two at once.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "array.h"
#include "burstiness.h"
#include "numbers.h"

#define MS 1000000ull /* ns */
#define S  1000000000ull

static __u64 rng_state = 0x9e3779b97f4a7c15ull;

static __u64 rng(void) /* xorshift64* */
{
	rng_state ^= rng_state >> 12;
	rng_state ^= rng_state << 25;
	rng_state ^= rng_state >> 27;
	return rng_state * 0x2545f4914f6cdd1dull;
}

static double rng_uniform(void) /* above 0, up to 1 */
{
	return (double)((rng() >> 11) + 1) / 9007199254740992.0;
}

static double cov_of(const struct burstiness *b)
{
	return (double)burstiness_cov(b) / BURSTINESS_ONE;
}

static double mean_of(const struct burstiness *b)
{
	return (double)burstiness_mean(b) / BURSTINESS_ONE;
}

/* What a reader makes of the rings of @cpus at that time. */
static struct burstiness judge(const struct burstiness_ring *rings, int cpus, __u64 start_ns,
			       __u64 now_ns, __u64 interval_ns)
{
	struct burstiness b = {0};
	__u64 first;
	__u32 len = burstiness_window(start_ns, now_ns, interval_ns, &first);

	for (__u32 i = 0; i < len; i++) {
		__u64 segments = 0;

		for (int cpu = 0; cpu < cpus; cpu++)
			segments += burstiness_segments(&rings[cpu], first + i);
		burstiness_add(&b, segments);
	}
	return b;
}

/* --- closed forms ---------------------------------------------------------------------- */

static void test_constant_rate(void **state)
{
	static struct burstiness_ring ring;
	struct burstiness b;
	__u64 t;

	/* a segment of 7 each 20 ms: 35 per 100 ms */
	for (t = 0; t < 200 * S; t += 20 * MS)
		burstiness_count(&ring, burstiness_interval(t, t, 100 * MS), 7);
	b = judge(&ring, 1, 0, t, 100 * MS);
	assert_int_equal(b.intervals, BURSTINESS_WINDOW);
	assert_int_equal(burstiness_mean(&b), 35 * BURSTINESS_ONE);
	assert_int_equal(burstiness_cov(&b), 0);
}

/* Independent arrivals of @rate per interval from @clients, each with a CPU of its own. */
static struct burstiness poisson(int clients, double rate)
{
	struct burstiness_ring *rings = calloc((size_t)clients, sizeof(*rings));
	const __u64 interval_ns = 100 * MS, end_ns = (BURSTINESS_WINDOW + 2) * interval_ns;
	struct burstiness b;

	assert_non_null(rings);
	for (int client = 0; client < clients; client++) {
		double t = 0;

		while ((t -= log(rng_uniform()) / rate * (double)interval_ns) < (double)end_ns)
			burstiness_count(&rings[client],
					 burstiness_interval(0, (__u64)t, interval_ns), 1);
	}
	b = judge(rings, clients, 0, end_ns, interval_ns);
	free(rings);
	return b;
}

/*
 * Section 3.2: n clients of 100 packets per second and an RTT of 100 ms make 1 / sqrt(10 n). The
 * standard deviation of what 960 intervals show of it is 2.3 % (1 / sqrt(2 * 960)).
 */
static void test_poisson(void **state)
{
	static const int clients[] = {1, 4, 10, 38};

	for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
		struct burstiness b = poisson(clients[i], 10);
		double cov = 1 / sqrt(10.0 * clients[i]);

		assert_near(mean_of(&b), 10.0 * clients[i], 0.6 * sqrt(clients[i]));
		assert_near(cov_of(&b), cov, 0.09 * cov);
	}
}

/* On for one interval of each @of, and silent for the others: sqrt(of - 1). */
static void on_and_off(unsigned int of, __u32 segments)
{
	static struct burstiness_ring ring;
	struct burstiness b;

	memset(&ring, 0, sizeof(ring));
	for (__u64 i = 1; i <= BURSTINESS_WINDOW; i++)
		if (i % of == 0)
			burstiness_count(&ring, i, segments);
	b = judge(&ring, 1, 0, (BURSTINESS_WINDOW + 2) * S, S);
	assert_int_equal(b.intervals, BURSTINESS_WINDOW);
	assert_near(mean_of(&b), (double)segments / of, 1e-6);
	assert_near(cov_of(&b), sqrt(of - 1.0), 1e-6);
}

static void test_on_and_off(void **state)
{
	on_and_off(1, 10);
	on_and_off(2, 1);
	on_and_off(5, 1000000);
	on_and_off(10, 3);
	on_and_off(BURSTINESS_WINDOW, 44);
}

/* Two that take turns are as smooth as can be, whatever each is by itself: moments do not add. */
static void test_cpus_are_added_before_they_are_squared(void **state)
{
	static struct burstiness_ring rings[2];
	struct burstiness both, one;

	for (__u64 i = 1; i <= BURSTINESS_WINDOW; i++)
		burstiness_count(&rings[i % 2], i, 50);
	both = judge(rings, 2, 0, (BURSTINESS_WINDOW + 2) * MS, MS);
	one = judge(rings, 1, 0, (BURSTINESS_WINDOW + 2) * MS, MS);
	assert_int_equal(burstiness_cov(&both), 0);
	assert_int_equal(burstiness_mean(&both), 50 * BURSTINESS_ONE);
	assert_int_equal(burstiness_cov(&one), BURSTINESS_ONE);
	assert_int_equal(burstiness_mean(&one), 25 * BURSTINESS_ONE);
}

/* --- time -------------------------------------------------------------------------------- */

static void test_silence_counts_as_nothing_sent(void **state)
{
	static struct burstiness_ring ring;
	__u64 i = 1, last;
	struct burstiness b;

	/* laps of the ring with less and less in them; what is left of earlier ones is not read */
	for (int lap = 0; lap < 5; lap++)
		for (__u64 end = i + BURSTINESS_SLOTS; i < end; i++)
			if (lap < 4 || i % 4 == 0)
				burstiness_count(&ring, i, 9);
	b = judge(&ring, 1, 0, (i + 1) * S, S);
	assert_int_equal(b.segments, 9 * BURSTINESS_WINDOW / 4);
	assert_near(cov_of(&b), sqrt(3), 1e-6);

	/* ten laps of silence, then one segment, at whatever place of the ring */
	for (last = i, i += 10 * BURSTINESS_SLOTS; i < last + 12 * BURSTINESS_SLOTS; i += 97) {
		struct burstiness_ring copy = ring;

		burstiness_count(&copy, i, 1);
		b = judge(&copy, 1, 0, (i + 2) * S, S);
		assert_int_equal(b.segments, 1);
		assert_near(cov_of(&b), sqrt(BURSTINESS_WINDOW - 1.0), 1e-6);
	}

	b = judge(&ring, 1, 0, (i + 50 * BURSTINESS_SLOTS) * S, S);
	assert_int_equal(b.intervals, BURSTINESS_WINDOW);
	assert_int_equal(burstiness_mean(&b), 0);
	assert_int_equal(burstiness_cov(&b), 0);
}

static __u32 window(__u64 start_ns, __u64 now_ns, __u64 want_first)
{
	__u64 first;
	__u32 len = burstiness_window(start_ns, now_ns, 10, &first);

	if (len)
		assert_int_equal(first, want_first);
	return len;
}

static void test_window(void **state)
{
	/* began in interval 10: the first whole one is 11; at 130 the 13th has just begun */
	assert_int_equal(window(100, 130, 11), 1);
	assert_int_equal(window(109, 139, 11), 1);
	assert_int_equal(window(100, 129, 11), 0);
	assert_int_equal(window(100, 100, 11), 0);
	assert_int_equal(window(0, 0, 1), 0);
	assert_int_equal(window(100, 5, 11), 0);
	assert_int_equal(window(0, 10 * (BURSTINESS_WINDOW + 2), 1), BURSTINESS_WINDOW);
	assert_int_equal(window(0, 10 * (BURSTINESS_WINDOW + 3), 2), BURSTINESS_WINDOW);
	assert_int_equal(window(0, 10 * (BURSTINESS_WINDOW + 1), 1), BURSTINESS_WINDOW - 1);
	assert_int_equal(window(777, 10000000, 1000000 - 1 - BURSTINESS_WINDOW),
			 BURSTINESS_WINDOW);
}

/* A reader who took too long is told so as soon as the first of what it reads is another's. */
static void test_in_time(void **state)
{
	static struct burstiness_ring ring;
	__u64 now, first;

	for (now = 0; now < 5000 * MS; now += MS)
		burstiness_count(&ring, now / MS, 3);
	assert_int_equal(burstiness_window(0, now, MS, &first), BURSTINESS_WINDOW);
	assert_int_equal(first, 5000 - 1 - BURSTINESS_WINDOW);
	for (; burstiness_in_time(first, now, MS); now += MS) {
		assert_int_equal(burstiness_segments(&ring, first), 3);
		/* as far ahead as anything may leave */
		burstiness_count(&ring, burstiness_interval(now + S, now, MS), 5);
	}
	assert_int_equal(burstiness_segments(&ring, first), 3);
	burstiness_count(&ring, burstiness_interval(now + S, now, MS), 5);
	assert_int_equal(burstiness_segments(&ring, first), 0);
	assert_int_equal(now / MS, first + BURSTINESS_SLOTS - BURSTINESS_AHEAD);
}

/* Numbers of intervals are kept as 32 bits. */
static void test_after_2_to_the_32_intervals(void **state)
{
	static struct burstiness_ring ring;
	const __u64 begin = (1ull << 32) - 300;
	struct burstiness b;

	for (__u64 i = begin; i < begin + 600; i++)
		burstiness_count(&ring, i, i % 2 ? 4 : 2);
	b = judge(&ring, 1, (begin - 1) * S, (begin + 601) * S, S);
	assert_int_equal(b.intervals, 600);
	assert_int_equal(burstiness_mean(&b), 3 * BURSTINESS_ONE);
	assert_near(cov_of(&b), 1.0 / 3, 1e-6);
}

static void test_departure(void **state)
{
	/* without a departure time, or with one that is over: now */
	assert_int_equal(burstiness_interval(0, 55, 10), 5);
	assert_int_equal(burstiness_interval(54, 55, 10), 5);
	assert_int_equal(burstiness_interval(60, 55, 10), 6);
	assert_int_equal(burstiness_interval(199, 55, 10), 19);
	/* and no further ahead than the ring has room for */
	assert_int_equal(burstiness_interval(100000, 55, 10), 5 + BURSTINESS_AHEAD);
	assert_int_equal(burstiness_interval(~0ull, 55, 10), 5 + BURSTINESS_AHEAD);
}

/* What leaves ahead pushes nothing out of the window, and is found when its time has come. */
static void test_ahead_of_time(void **state)
{
	static struct burstiness_ring ring;
	const __u64 end = BURSTINESS_SLOTS + 500;
	struct burstiness b;

	for (__u64 i = 1; i < end; i++)
		burstiness_count(&ring, i, 6);
	for (__u64 i = end; i < end + BURSTINESS_AHEAD; i++)
		burstiness_count(&ring, burstiness_interval(i * MS, (end - 1) * MS, MS), 6);
	b = judge(&ring, 1, 0, end * MS, MS);
	assert_int_equal(b.segments, 6 * BURSTINESS_WINDOW);
	assert_int_equal(burstiness_cov(&b), 0);
	b = judge(&ring, 1, 0, (end + BURSTINESS_AHEAD) * MS, MS);
	assert_int_equal(b.segments, 6 * BURSTINESS_WINDOW);
	assert_int_equal(burstiness_cov(&b), 0);
}

/* --- too much ---------------------------------------------------------------------------- */

static void test_a_slot_does_not_run_over(void **state)
{
	static struct burstiness_ring ring;

	burstiness_count(&ring, 5, 0xfffffff0u);
	burstiness_count(&ring, 5, 15);
	assert_int_equal(burstiness_segments(&ring, 5), 0xffffffffu);
	burstiness_count(&ring, 5, 1);
	assert_int_equal(burstiness_segments(&ring, 5), 0xffffffffu);
	burstiness_count(&ring, 5, 0xffffffffu);
	assert_int_equal(burstiness_segments(&ring, 5), 0xffffffffu);
	assert_int_equal(burstiness_segments(&ring, 6), 0);
	burstiness_count(&ring, 5 + BURSTINESS_SLOTS, 3);
	assert_int_equal(burstiness_segments(&ring, 5), 0);
	assert_int_equal(burstiness_segments(&ring, 5 + BURSTINESS_SLOTS), 3);
}

static void test_sums_do_not_run_over(void **state)
{
	struct burstiness all = {0}, half = {0}, one = {0};

	for (unsigned int i = 0; i < 2 * BURSTINESS_MOST_INTERVALS; i++) {
		burstiness_add(&all, ~0ull);
		burstiness_add(&half, i % 2 ? ~0ull : 0);
		burstiness_add(&one, i == 9 ? 1ull << 40 : 0);
	}
	assert_int_equal(all.intervals, BURSTINESS_MOST_INTERVALS);
	assert_int_equal(burstiness_mean(&all),
			 (__u64)BURSTINESS_MOST_SEGMENTS * BURSTINESS_ONE);
	assert_int_equal(burstiness_cov(&all), 0);
	assert_int_equal(burstiness_cov(&half), BURSTINESS_ONE);
	assert_near(cov_of(&one), sqrt(BURSTINESS_MOST_INTERVALS - 1.0), 1e-6);
}

static void test_nothing(void **state)
{
	struct burstiness b = {0};

	assert_int_equal(burstiness_mean(&b), 0);
	assert_int_equal(burstiness_cov(&b), 0);
	burstiness_add(&b, 0);
	assert_int_equal(burstiness_mean(&b), 0);
	assert_int_equal(burstiness_cov(&b), 0);
	burstiness_add(&b, 1);
	assert_int_equal(burstiness_cov(&b), BURSTINESS_ONE);
}

/* --- against doubles --------------------------------------------------------------------- */

static void test_random_against_doubles(void **state)
{
	double counts[BURSTINESS_WINDOW];

	for (int run = 0; run < 3000; run++) {
		unsigned int n = 1 + rng() % BURSTINESS_WINDOW, bits = rng() % 26;
		struct burstiness b = {0};
		double mean = 0, squares = 0, cov;

		for (unsigned int i = 0; i < n; i++) {
			__u64 segments = rng() & ((1ull << bits) - 1);

			if (run % 3 == 1 && rng() % 8)
				segments = 0;
			if (run % 3 == 2) /* hardly anything that varies */
				segments = (1ull << bits) + rng() % 2;
			burstiness_add(&b, segments);
			counts[i] = (double)segments;
			mean += counts[i] / n;
		}
		for (unsigned int i = 0; i < n; i++)
			squares += (counts[i] - mean) * (counts[i] - mean) / n;
		cov = mean ? sqrt(squares) / mean : 0;
		assert_near(mean_of(&b), mean, 1.1e-6 + mean * 1e-12);
		assert_near(cov_of(&b), cov, 1.1e-6 + cov * 1e-9);
	}
}

static void test_square_root(void **state)
{
	for (int run = 0; run < 100000; run++) {
		__u64 value = rng() >> rng() % 64, root = burstiness_sqrt(value);

		assert_true(root * root <= value);
		assert_true(root >= 0xffffffffu || (root + 1) * (root + 1) > value);
	}
	assert_int_equal(burstiness_sqrt(0), 0);
	assert_int_equal(burstiness_sqrt(~0ull), 0xffffffffu);
}

/* --- writers at once --------------------------------------------------------------------- */

#define WRITERS	   4
#define EACH	   200000
#define PER_SLOT   800u

static struct burstiness_ring shared;
static __u64 ticks;

static void *write_shared(void *unused)
{
	for (int i = 0; i < EACH; i++)
		burstiness_count(&shared, 1 + __sync_fetch_and_add(&ticks, 1) / PER_SLOT, 3);
	return NULL;
}

/* As an interrupt's is: no segment is lost or counted twice, also where an interval begins. */
static void test_writers_that_interrupt_each_other(void **state)
{
	pthread_t threads[WRITERS];

	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_shared, NULL), 0);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (__u64 i = 1; i <= WRITERS * EACH / PER_SLOT; i++)
		assert_int_equal(burstiness_segments(&shared, i), 3 * PER_SLOT);
}

/* ---- the rows of a scrape ------------------------------------------------------------------ */

/* Whoever registers a congestion control chooses its name. */
static void test_each_name_is_one_row(void **state)
{
	static const char *const names[][2] = {
		{ "cubic", "cubic" }, { "all", "all~2" }, { "other", "other~2" },
		{ "b\xe9", "b?" }, { "b\xea", "b?~2" }, { "b?~2", "b?~2~2" },
		{ "fifteen_letters", "fifteen_letters" }, { "fifteen_lettert", "fifteen_lettert" },
		{ "fifteen_letter\xe9", "fifteen_letter?" },
		{ "fifteen_letter\xea", "fifteen_lett~2" },
	};
	struct tcptuned_burstiness_stats stats = { .rows_len = 1 };
	struct burstiness sent = { 0 };

	strcpy(stats.rows[0].congestion_control, "all");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		sent.segments = i;
		tcptuned_burstiness_add_row(&stats, names[i][0], &sent);
		assert_int_equal(stats.rows_len, i + 2);
		assert_int_equal(stats.rows[i + 1].sent.segments, i);
		assert_string_equal(stats.rows[i + 1].congestion_control, names[i][1]);
	}
}

/* As many as there are places, and all of one name. */
static void test_as_many_rows_as_may_be(void **state)
{
	struct tcptuned_burstiness_stats stats = { .rows_len = 1 };
	struct burstiness sent = { 0 };

	for (int i = 0; i < BURSTINESS_NAMES; i++)
		tcptuned_burstiness_add_row(&stats, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
						    "\xff\xff\xff\xff\xff", &sent);
	for (unsigned int i = 0; i < stats.rows_len; i++)
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(stats.rows[i].congestion_control,
						stats.rows[j].congestion_control);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constant_rate),
		cmocka_unit_test(test_poisson),
		cmocka_unit_test(test_on_and_off),
		cmocka_unit_test(test_cpus_are_added_before_they_are_squared),
		cmocka_unit_test(test_silence_counts_as_nothing_sent),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_in_time),
		cmocka_unit_test(test_after_2_to_the_32_intervals),
		cmocka_unit_test(test_departure),
		cmocka_unit_test(test_ahead_of_time),
		cmocka_unit_test(test_a_slot_does_not_run_over),
		cmocka_unit_test(test_sums_do_not_run_over),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_random_against_doubles),
		cmocka_unit_test(test_square_root),
		cmocka_unit_test(test_writers_that_interrupt_each_other),
		cmocka_unit_test(test_each_name_is_one_row),
		cmocka_unit_test(test_as_many_rows_as_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
