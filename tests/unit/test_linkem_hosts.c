// SPDX-License-Identifier: GPL-2.0-only
/* The host of a packet, and the order in which segments of several hosts are delivered. */
#include <arpa/inet.h>

#include "linkem.h"
#include "deliveries.h"
#include "hosts.h"

static struct host make_host(const char *text)
{
	struct host h = {0};

	assert_int_equal(inet_pton(AF_INET, text, &h.address), 1);
	return h;
}

static void make_ip(uint8_t *ip, const char *from, const char *to)
{
	bool v6 = strchr(from, ':');
	int family = v6 ? AF_INET6 : AF_INET;

	memset(ip, 0, 40);
	ip[0] = v6 ? 0x60 : 0x45;
	assert_int_equal(inet_pton(family, from, ip + (v6 ? 8 : 12)), 1);
	assert_int_equal(inet_pton(family, to, ip + (v6 ? 24 : 16)), 1);
}

TEST(hosts_of)
{
	const struct host hosts[] = {make_host("10.99.0.1"), make_host("10.99.1.64")};
	enum { NONE = ARRAY_SIZE(hosts) };
	static const struct {
		const char *from, *to;
		unsigned int from_host, to_host;
	} rows[] = {
		{"10.99.0.1", "10.99.1.64", 0, 1},
		{"10.99.1.64", "10.99.1.65", 1, NONE},
		{"10.100.0.1", "10.99.0.1", NONE, 0},
		/* it begins as the IPv4 address 10.99.0.1 does */
		{"a63:1::", "a63:1::", NONE, NONE},
	};
	struct host_pair pair;
	uint8_t ip[40];

	for_each_row (r, rows) {
		make_ip(ip, r->from, r->to);
		pair = hosts_of(hosts, ARRAY_SIZE(hosts), ip);
		assert_int_equal(pair.from, r->from_host);
		assert_int_equal(pair.to, r->to_host);
	}
	make_ip(ip, "10.99.1.64", "192.0.2.1");
	assert_int_equal(hosts_of(hosts, 1, ip).from, 1);
}

/* Deliveries come out in the order of their times, whether they went into the ring or the heap. */
TEST(deliveries_in_order)
{
	enum { N = 4096 };
	static struct delivery ring[N], heap[N];
	struct deliveries d = {.ring = ring, .heap = heap, .size = N};
	static uint64_t due[N];

	assert_null(deliveries_first(&d));
	for (unsigned int round = 0; round < 21; round++) {
		uint64_t sum = 0;

		for (unsigned int i = 0; i < N; i++) {
			/* without hosts; with two hosts; in random order */
			due[i] = round % 3 == 0	  ? i
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
