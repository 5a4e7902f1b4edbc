// SPDX-License-Identifier: GPL-2.0-only
/* Which host a packet belongs to, and in which order segments of several hosts are delivered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deliveries.h"
#include "hosts.h"

static struct host make_host(const char *text)
{
	struct host h;

	assert_int_equal(host_parse_address(text, &h), 0);
	assert_string_equal(h.name, text);
	return h;
}

static void make_ip(uint8_t *ip, const char *from, const char *to)
{
	memset(ip, 0, 40);
	if (strchr(from, ':')) {
		ip[0] = 0x60;
		assert_int_equal(inet_pton(AF_INET6, from, ip + 8), 1);
		assert_int_equal(inet_pton(AF_INET6, to, ip + 24), 1);
	} else {
		ip[0] = 0x45;
		assert_int_equal(inet_pton(AF_INET, from, ip + 12), 1);
		assert_int_equal(inet_pton(AF_INET, to, ip + 16), 1);
	}
}

static void expect_pair(const struct host *hosts, unsigned int count, const char *from,
			const char *to, unsigned int want_from, unsigned int want_to)
{
	struct host_pair pair;
	uint8_t ip[40];

	make_ip(ip, from, to);
	pair = hosts_of(hosts, count, ip);
	if (pair.from != want_from || pair.to != want_to)
		fail_msg("%s to %s: %u and %u, expected %u and %u", from, to, pair.from, pair.to,
			 want_from, want_to);
}

static void test_hosts_of(void **state)
{
	struct host hosts[] = {
		make_host("10.99.0.1"),	     make_host("10.99.1.64/26"),
		make_host("10.99.0.0/16"),   make_host("fd99::1"),
		make_host("fd99:0:0:8::/61"),
	};
	enum {
		N = sizeof(hosts) / sizeof(hosts[0])
	};

	expect_pair(hosts, N, "10.99.0.1", "10.99.1.64", 0, 1);
	expect_pair(hosts, N, "10.99.1.127", "10.99.0.1", 1, 0);
	expect_pair(hosts, N, "10.99.1.128", "10.99.1.63", 2, 2);
	expect_pair(hosts, N, "10.100.0.1", "192.0.2.1", N, N);
	expect_pair(hosts, N, "fd99::1", "fd99::2", 3, N);
	expect_pair(hosts, N, "fd99:0:0:f::9", "fd99:0:0:7::9", 4, N);
	expect_pair(hosts, N, "fd99:0:0:10::9", "fd99::1", N, 3);
	/* an IPv6 address that begins as an IPv4 one does */
	expect_pair(hosts, N, "a63:1::", "a63:1::", N, N);
	expect_pair(hosts, 1, "10.99.1.64", "10.99.0.1", 1, 0);
	hosts[0] = make_host("0.0.0.0/0");
	expect_pair(hosts, N, "10.99.1.64", "192.0.2.1", 0, 0);
}

static void test_bad_addresses(void **state)
{
	static const char *const bad[] = {"",	       "10.99.0",     "10.99.0.1/33", "10.99.0.1/",
					  "/8",	       "10.99.0.1/x", "fd99::/129",   "fd99::/-1",
					  "10.0.0.1 ", "localhost"};
	struct host h;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(host_parse_address(bad[i], &h), -EINVAL);
	assert_int_equal(host_parse_address("0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000"
					    ":0000:0000",
					    &h),
			 -EINVAL);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* As much as is added comes out again, the first due first, however the two are mixed. */
static void test_deliveries_in_order(void **state)
{
	enum {
		N = 4096
	};
	static struct delivery ring[N], heap[N];
	struct deliveries d = {.ring = ring, .heap = heap, .size = N};
	static uint64_t due[N];

	assert_null(deliveries_first(&d));
	for (unsigned int round = 0; round < 21; round++) {
		uint64_t sum = 0;

		for (unsigned int i = 0; i < N; i++) {
			/* as without hosts; two hosts; and as it must never come */
			due[i] = round % 3 == 0   ? i
				 : round % 3 == 1 ? i + (i % 2) * 1000
						  : (uint64_t)random() % 1000;
			sum += i;
			deliveries_add(&d, &(struct delivery){.due_ns = due[i], .at = i});
		}
		if (round % 3 == 0)
			assert_int_equal(d.heaped, 0);
		if (round % 3 == 1)
			assert_int_equal(d.heaped, N / 2 - 1);
		qsort(due, N, sizeof(due[0]), compare);
		for (unsigned int i = 0; i < N; i++) {
			const struct delivery *first = deliveries_first(&d);

			assert_int_equal(first->due_ns, due[i]);
			sum -= first->at;
			deliveries_drop_first(&d);
		}
		assert_int_equal(sum, 0);
		assert_null(deliveries_first(&d));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts_of),
		cmocka_unit_test(test_bad_addresses),
		cmocka_unit_test(test_deliveries_in_order),
	};

	srandom(20022);
	return cmocka_run_group_tests_name("linkem hosts", tests, NULL, NULL);
}
