// SPDX-License-Identifier: GPL-2.0-only
/* Reading flows: what the kernel's iterator does with each, and what the daemon makes of it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "flows/filter.h"
#include "flows/names.h"
#include "flows/scan.h"
#include "flows/top.h"
#include "kern/loader.h"
#include "util/array.h"

#define RECORDS	      5000

/* A generator of our own, so that a failure can be repeated. */
static __u64 random_state = 88172645463325252ull;

static __u64 random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static const char *const cc_names[] = {"bitcp", "cubic", "bbr", "reno"};

static void random_record(struct tcptuned_flow_record *r)
{
	static __u32 number;

	memset(r, 0, sizeof(*r));
	r->flow.flags = TCPTUNED_F_MANAGED;
	if (random64() % 3 == 0)
		r->flow.flags |= TCPTUNED_F_RCV_TUNED;
	if (random64() % 5 == 0)
		r->flow.flags |= TCPTUNED_F_RCVBUF_REQ;
	r->flow.policy = random64() % 3;
	r->flow.rcv_reason = random64() % RIGHTSIZE_REASONS;
	r->flow.snd_reason = random64() % RIGHTSIZE_REASONS;
	r->family = AF_INET;
	number++;
	memcpy(r->local, &number, sizeof(number)); /* no two are the same */
	r->state = TCP_ESTABLISHED;
	r->limit = random64() % TCPTUNED_LIMITS;
	r->bytes_received = random64() >> (2 + random64() % 40);
	r->bytes_acked = random64() >> (2 + random64() % 40);
	r->rcvbuf = random64() >> 33;
	r->sndbuf = random64() >> 33;
	r->rmem_alloc = random64() >> 33;
	r->wmem_queued = random64() >> 33;
	strcpy(r->congestion_control, cc_names[random64() % ARRAY_SIZE(cc_names)]);
}

/* What the iterator does with them: all into the sums, some into the ring. */
struct reader {
	struct readout readout;
	struct tcptuned_flow_record *ring;
	size_t collected;
};

static struct reader *reader_new(size_t room, __u32 wanted)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	assert_non_null(reader);
	reader->ring = calloc(room, sizeof(*reader->ring));
	assert_non_null(reader->ring);
	reader->readout.request.wanted = wanted;
	return reader;
}

static void reader_free(struct reader *reader)
{
	free(reader->ring);
	free(reader);
}

/* Where the kernel would have that congestion control. */
static __u64 ops_of(const char *name)
{
	__u64 word = 0;

	memcpy(&word, name, strnlen(name, 7));
	return word << 6;
}

static void pass_by(struct reader *reader, const struct tcptuned_flow_record *r)
{
	struct readout_socket socket = {
		.ops = ops_of(r->congestion_control),
		.rcvbuf = r->rcvbuf,
		.sndbuf = r->sndbuf,
		.rmem_alloc = r->rmem_alloc,
		.wmem_queued = r->wmem_queued,
		.rcv_wnd = r->rcv_wnd,
		.limit = r->limit,
	};
	struct readout_group *group;

	reader->readout.sums.records++;
	if (!readout_is_live(&r->flow, r->state))
		return;
	group = readout_add(&reader->readout.sums, &r->flow, &socket);
	if (group)
		memcpy(group->congestion_control, r->congestion_control,
		       sizeof(group->congestion_control));
	if (readout_add_matched(&reader->readout, tcptuned_flow_size(r)))
		reader->ring[reader->collected++] = *r;
}

static void read_all(struct reader *reader, struct tcptuned_flows *flows,
		     const struct tcptuned_flow_record *records, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		pass_by(reader, &records[i]);
	tcptuned_flows_begin(flows);
	for (i = 0; i < reader->collected; i++)
		assert_int_equal(tcptuned_flows_add(flows, &reader->ring[i]), 0);
	tcptuned_flows_sum_up(flows, &reader->readout.sums);
	tcptuned_flows_end(flows);
}

/* Returns how many came into the ring. */
static size_t read_from(struct tcptuned_flows *flows, const struct tcptuned_flow_record *records,
			size_t n)
{
	struct reader *reader = reader_new(n, flows->top_max);
	size_t collected;

	read_all(reader, flows, records, n);
	collected = reader->collected;
	reader_free(reader);
	return collected;
}

static int by_size_descending(const void *a, const void *b)
{
	__u64 left = tcptuned_flow_size(a), right = tcptuned_flow_size(b);

	return left < right ? 1 : left > right ? -1 : 0;
}

static struct tcptuned_flow_record *random_records(size_t n)
{
	struct tcptuned_flow_record *records = calloc(n, sizeof(*records));
	size_t i;

	assert_non_null(records);
	for (i = 0; i < n; i++)
		random_record(&records[i]);
	return records;
}

static void check_top(struct tcptuned_flow_record *records,
		      const struct tcptuned_flow_record *sorted, __u32 top)
{
	__u32 i, want = top < RECORDS ? top : RECORDS;
	struct tcptuned_flows flows;

	assert_int_equal(tcptuned_flows_init(&flows, top), 0);
	read_from(&flows, records, RECORDS);
	assert_int_equal(flows.top_len, want);
	/* With this seed no two sizes are alike: the records must be the same. */
	for (i = 0; i < want; i++)
		assert_memory_equal(&flows.top[i], &sorted[i], sizeof(sorted[i]));
	tcptuned_flows_free(&flows);
}

/* In whatever order they come. */
static void test_top_is_what_a_sort_gives(void **state)
{
	static const __u32 tops[] = {1, 2, 3, 100, 1000, RECORDS, RECORDS + 1};
	struct tcptuned_flow_record *records = random_records(RECORDS);
	struct tcptuned_flow_record *sorted = malloc(RECORDS * sizeof(*sorted));
	struct tcptuned_flow_record *backwards = malloc(RECORDS * sizeof(*backwards));
	size_t t, i;

	memcpy(sorted, records, RECORDS * sizeof(*sorted));
	qsort(sorted, RECORDS, sizeof(*sorted), by_size_descending);
	for (i = 0; i < RECORDS; i++)
		backwards[i] = sorted[RECORDS - 1 - i];
	for (t = 0; t < ARRAY_SIZE(tops); t++) {
		check_top(records, sorted, tops[t]);
		check_top(sorted, sorted, tops[t]);
		check_top(backwards, sorted, tops[t]);
	}
	free(backwards);
	free(sorted);
	free(records);
}

/* Of ever so many only some come into the ring: N log(all / N), and no more than are spare. */
static void test_little_is_collected(void **state)
{
	struct tcptuned_flow_record *records = random_records(1000);
	struct reader *reader = reader_new(200000, 100);
	struct tcptuned_flows flows;
	size_t i;

	assert_int_equal(tcptuned_flows_init(&flows, 100), 0);
	for (i = 0; i < 200; i++) {
		size_t r;

		for (r = 0; r < 1000; r++)
			records[r].bytes_received = random64() >> (8 + random64() % 40);
		for (r = 0; r < 1000; r++)
			pass_by(reader, &records[r]);
	}
	assert_int_equal(reader->readout.sums.matched, 200000);
	assert_true(reader->collected >= 100);
	assert_true(reader->collected < 2000);
	reader_free(reader);

	for (i = 0; i < 1000; i++)
		records[i].bytes_received = records[i].bytes_acked = 1;
	reader = reader_new(200000, 100);
	for (i = 0; i < 200000; i++)
		pass_by(reader, &records[i % 1000]);
	assert_true(reader->collected >= 100);
	assert_true(reader->collected <= 2 * (100 + READOUT_SPARE));
	reader_free(reader);
	tcptuned_flows_free(&flows);
	free(records);
}

/* Never less for what is larger, 1/64 wide at most, and within the array. */
static void test_classes(void **state)
{
	__u32 last = 0, class, bit;
	__u64 size;

	for (size = 0; size < 128; size++)
		assert_int_equal(readout_class(size), size);
	for (size = 0; size < 1000000; size++) {
		class = readout_class(size);
		assert_true(class == last || class == last + 1);
		last = class;
	}
	for (bit = 7; bit < 64; bit++) {
		size = 1ull << bit;
		class = readout_class(size);
		assert_int_equal(readout_class(size - 1), class - 1);
		assert_int_equal(readout_class(size + (size >> 6) - 1), class);
		assert_int_equal(readout_class(size + (size >> 6)), class + 1);
	}
	assert_int_equal(readout_class(UINT64_MAX), READOUT_CLASSES - 1);
}

/* Few different addresses, ports and prefixes, so that all can happen. */
static void random_ends(struct tcptuned_flow_record *r, unsigned int *ret_local,
			unsigned int *ret_remote)
{
	static const char *const addresses[] = {"192.0.2.1", "192.0.2.130", "198.51.100.1",
						"2001:db8::1", "2001:db8:8000::1",
						"::ffff:192.0.2.1"};
	const char *local, *remote;

	memset(r->local, 0, 16);
	memset(r->remote, 0, 16);
	do {
		*ret_local = random64() % 6;
		*ret_remote = random64() % 6;
		local = addresses[*ret_local];
		remote = addresses[*ret_remote];
	} while (!strchr(remote, ':') != !strchr(local, ':'));
	r->family = strchr(local, ':') ? AF_INET6 : AF_INET;
	inet_pton(r->family, local, r->local);
	inet_pton(r->family, remote, r->remote);
	r->local_port = 1 + random64() % 2;
	r->remote_port = 1 + random64() % 2;
	r->netns = 1 + random64() % 2;
}

/* A filter is the same in the kernel and here; now and then something has to pass, and not. */
static void test_filter(void **state)
{
	static const char *const prefixes[] = {"0.0.0.0/0", "192.0.2.0/25", "192.0.2.1", "::/0",
					       "2001:db8::/33", "2001:db8::1",
					       "::ffff:192.0.2.0/121"};
	/* of random_ends()'s addresses, a bit for each one that is in the prefix */
	static const unsigned int covered[] = {0x27, 0x21, 0x21, 0x3f, 0x08, 0x08, 0x21};
	struct tcptuned_flow_record r;

	for (int i = 0; i < 20000; i++) {
		struct tcptuned_filter filter = {0};
		unsigned int prefix = random64() % 7, local, remote;
		bool expected;

		random_record(&r);
		random_ends(&r, &local, &remote);
		filter.port = random64() % 4 == 0;
		filter.local_port = random64() % 4 == 0;
		filter.netns = random64() % 4 == 0;
		expected = (!filter.port || r.local_port == 1 || r.remote_port == 1) &&
			   (!filter.local_port || r.local_port == 1) &&
			   (!filter.netns || r.netns == 1);
		if (i % 2) {
			assert_int_equal(tcptuned_prefix_of(prefixes[prefix], &filter.address), 0);
			expected &= (covered[prefix] >> local & 1) || (covered[prefix] >> remote & 1);
		} else {
			assert_int_equal(tcptuned_prefix_of(prefixes[prefix], &filter.remote), 0);
			expected &= covered[prefix] >> remote & 1;
		}
		assert_int_equal(tcptuned_filter_matches(&filter, &r, ""), expected);
	}
}

/* Read twice because others came and went meanwhile: Prometheus would refuse the whole. */
static void test_doubles_are_dropped(void **state)
{
	struct tcptuned_flow_record *records = random_records(20);
	struct tcptuned_flows flows;
	int i;

	assert_int_equal(tcptuned_flows_init(&flows, 40), 0);
	tcptuned_flows_begin(&flows);
	for (i = 0; i < 30; i++) {
		struct tcptuned_flow_record record = records[i % 20];

		record.bytes_received += i / 20; /* it went on */
		assert_int_equal(tcptuned_flows_add(&flows, &record), 0);
	}
	tcptuned_flows_end(&flows);
	assert_int_equal(flows.top_len, 20);
	for (i = 1; i < 20; i++)
		assert_true(tcptuned_flow_size(&flows.top[i - 1]) >
			    tcptuned_flow_size(&flows.top[i]));
	/* another namespace has the same addresses again */
	tcptuned_flows_begin(&flows);
	assert_int_equal(tcptuned_flows_add(&flows, &records[0]), 0);
	records[0].netns++;
	assert_int_equal(tcptuned_flows_add(&flows, &records[0]), 0);
	tcptuned_flows_end(&flows);
	assert_int_equal(flows.top_len, 2);
	tcptuned_flows_free(&flows);
	free(records);
}

static void test_sums(void **state)
{
	struct tcptuned_flow_record *records = random_records(RECORDS);
	__u64 rcvbuf = 0, wmem = 0, taken = 0, asked = 0, bbr1 = 0, capped = 0, cwnd = 0;
	struct tcptuned_flows flows;
	__u64 grouped = 0;
	__u32 i;

	for (i = 0; i < RECORDS; i++) {
		rcvbuf += records[i].rcvbuf;
		wmem += records[i].wmem_queued;
		taken += !!(records[i].flow.flags & TCPTUNED_F_RCV_TUNED);
		asked += !!(records[i].flow.flags & TCPTUNED_F_RCVBUF_REQ);
		bbr1 += records[i].flow.policy == 1 &&
			!strcmp(records[i].congestion_control, "bbr");
		capped += records[i].flow.snd_reason == RIGHTSIZE_CAPPED;
		cwnd += records[i].limit == TCPTUNED_LIMIT_CWND;
	}
	assert_int_equal(tcptuned_flows_init(&flows, 10), 0);
	/* Twice: what was read before must be forgotten. */
	read_from(&flows, records, 1);
	assert_int_equal(flows.sums.live, 1);
	read_from(&flows, records, RECORDS);
	assert_int_equal(flows.sums.records, RECORDS);
	assert_int_equal(flows.sums.live, RECORDS);
	assert_int_equal(flows.sums.rcvbuf_bytes, rcvbuf);
	assert_int_equal(flows.sums.wmem_bytes, wmem);
	assert_int_equal(flows.sums.rcv_taken, taken);
	assert_int_equal(flows.sums.rcvbuf_requests, asked);
	assert_int_equal(flows.sums.snd_reason[RIGHTSIZE_CAPPED], capped);
	assert_int_equal(flows.sums.limited[TCPTUNED_LIMIT_CWND], cwnd);
	assert_int_equal(flows.groups_len, 12);
	for (i = 0; i < flows.groups_len; i++) {
		grouped += flows.groups[i].flows;
		if (flows.groups[i].policy == 1 &&
		    !strcmp(flows.groups[i].congestion_control, "bbr"))
			assert_int_equal(flows.groups[i].flows, bbr1);
	}
	assert_int_equal(grouped, RECORDS);
	tcptuned_flows_free(&flows);
	free(records);
}

/* So that each policy has its own count: more than there were once places for here. */
static void test_many_groups_are_told_apart(void **state)
{
	const __u32 len = 600;
	struct tcptuned_flow_record *records = random_records(len);
	struct tcptuned_flows flows;
	__u32 i;

	for (i = 0; i < len; i++) {
		records[i].flow.policy = TCPTUNED_POLICY_ID(3, i + 1);
		strcpy(records[i].congestion_control, "reno");
	}
	assert_int_equal(tcptuned_flows_init(&flows, 0), 0);
	read_from(&flows, records, len);
	assert_int_equal(flows.sums.groups_other, 0);
	assert_int_equal(flows.groups_len, len);
	for (i = 0; i < len; i++)
		assert_int_equal(flows.groups[i].flows, 1);
	tcptuned_flows_free(&flows);
	free(records);
}

#define GROUPED (3 * TCPTUNED_FLOW_GROUPS)

static void test_groups_are_bounded(void **state)
{
	struct tcptuned_flow_record *records = random_records(GROUPED);
	struct tcptuned_flows flows;
	__u32 i;

	for (i = 0; i < GROUPED; i++) {
		records[i].flow.policy = i / 2;
		strcpy(records[i].congestion_control, "cubic");
	}
	assert_int_equal(tcptuned_flows_init(&flows, 0), 0);
	read_from(&flows, records, GROUPED);
	assert_int_equal(flows.groups_len, TCPTUNED_FLOW_GROUPS);
	assert_int_equal(flows.groups[0].flows, 2);
	assert_int_equal(flows.sums.groups_other, GROUPED - 2 * TCPTUNED_FLOW_GROUPS);
	assert_int_equal(flows.top_len, 0);
	tcptuned_flows_free(&flows);
	free(records);
}

static void test_only_live_connections(void **state)
{
	struct tcptuned_flow_record *records = random_records(5);
	struct tcptuned_flows flows;

	records[0].state = TCP_LISTEN;
	records[1].state = TCP_CLOSE;
	records[2].flow.flags &= ~TCPTUNED_F_MANAGED;
	records[3].state = TCP_FIN_WAIT2;
	records[4].flow.flags |= TCPTUNED_F_OBSERVE;
	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	read_from(&flows, records, 5);
	assert_int_equal(flows.sums.records, 5);
	assert_int_equal(flows.sums.live, 2);
	assert_int_equal(flows.sums.observed, 1);
	assert_int_equal(flows.top_len, 2);
	tcptuned_flows_free(&flows);
	free(records);
}

static void test_nonsense_is_an_error(void **state)
{
	struct tcptuned_flow_record good, bad;
	struct tcptuned_flows flows;
	int which;

	random_record(&good);
	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	assert_int_equal(tcptuned_flows_add(&flows, &good), 0);
	for (which = 0; which < 5; which++) {
		bad = good;
		if (which == 0)
			bad.family = AF_UNIX;
		else if (which == 1)
			bad.limit = TCPTUNED_LIMITS;
		else if (which == 2)
			memset(bad.congestion_control, 'x', sizeof(bad.congestion_control));
		else if (which == 3)
			bad.flow.rcv_reason = RIGHTSIZE_REASONS;
		else
			bad.flow.snd_reason = RIGHTSIZE_REASONS;
		assert_int_equal(tcptuned_flows_add(&flows, &bad), -EPROTO);
	}
	tcptuned_flows_free(&flows);
}

static void test_names_are_printable(void **state)
{
	struct tcptuned_flow_record record;
	struct tcptuned_flows flows;

	random_record(&record);
	strcpy(record.congestion_control, "a\n\x7f\xff\xc3\"b ~");
	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	read_from(&flows, &record, 1);
	assert_string_equal(flows.top[0].congestion_control, "a????\"b ~");
	assert_string_equal(flows.groups[0].congestion_control, "a????\"b ~");
	tcptuned_flows_free(&flows);
}

/* No kernel side at all: an error, and nothing of what was read before. */
static void test_nothing_to_read_from(void **state)
{
	struct tcptuned_flow_record *records = random_records(5);
	struct tcptuned_kernel kernel;
	struct tcptuned_flows flows;

	tcptuned_kernel_init(&kernel, "/nowhere");
	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	read_from(&flows, records, 5);
	assert_int_equal(flows.sums.live, 5);
	assert_int_equal(tcptuned_readout(&flows, &kernel, NULL), -ENOENT);
	assert_int_equal(flows.sums.live, 0);
	assert_int_equal(flows.top_len, 0);
	tcptuned_flows_free(&flows);
	free(records);
}

/* What the kernel says of a sender, and what that means: readout_limit(). */
static void test_limits(void **state)
{
	enum { NONE, BUSY, RWND, SNDBUF }; /* enum tcp_chrono */
	enum { UNPACED, NEEDED, FQ };	   /* enum sk_pacing */
	static const struct {
		struct readout_sender sender;
		enum tcptuned_limit limit;
	} cases[] = {
		/* unsent, mss, in flight, chrono, cwnd limited, pacing, throttled, window full */
		{ { 0, 1448, 0, NONE, 0, UNPACED, 0, 0 }, TCPTUNED_LIMIT_IDLE },
		{ { 0, 1448, 0, NONE, 1, NEEDED, 0, 0 }, TCPTUNED_LIMIT_IDLE },
		{ { 0, 1448, 9, BUSY, 0, UNPACED, 0, 0 }, TCPTUNED_LIMIT_APPLICATION },
		{ { 0, 1448, 9, BUSY, 0, NEEDED, 0, 0 }, TCPTUNED_LIMIT_APPLICATION },
		{ { 0, 1448, 9, BUSY, 0, FQ, 1, 0 }, TCPTUNED_LIMIT_APPLICATION },
		{ { 84000, 1448, 9, BUSY, 1, UNPACED, 0, 0 }, TCPTUNED_LIMIT_CWND },
		{ { 84000, 1448, 9, BUSY, 1, NEEDED, 1, 0 }, TCPTUNED_LIMIT_CWND },
		{ { 84000, 1448, 9, RWND, 1, NEEDED, 0, 0 }, TCPTUNED_LIMIT_RWND },
		{ { 84000, 1448, 0, RWND, 0, UNPACED, 0, 0 }, TCPTUNED_LIMIT_RWND },
		{ { 0, 1448, 9, SNDBUF, 0, NEEDED, 0, 0 }, TCPTUNED_LIMIT_SNDBUF },
		/* bulk, as far as the buffer or TCP_NOTSENT_LOWAT lets it be written */
		{ { 84000, 1448, 9, BUSY, 0, NEEDED, 0, 0 }, TCPTUNED_LIMIT_PACING },
		{ { 84000, 1448, 9, BUSY, 0, FQ, 0, 0 }, TCPTUNED_LIMIT_PACING },
		{ { 84000, 1448, 9, BUSY, 0, FQ, 1, 0 }, TCPTUNED_LIMIT_PACING },
		{ { 1448, 1448, 1, BUSY, 0, NEEDED, 0, 0 }, TCPTUNED_LIMIT_PACING },
		{ { 84000, 1448, 9, BUSY, 0, NEEDED, 1, 0 }, TCPTUNED_LIMIT_QUEUE },
		{ { 84000, 1448, 9, BUSY, 0, UNPACED, 1, 0 }, TCPTUNED_LIMIT_QUEUE },
		/* paced, and the peer's window holds it all the same */
		{ { 84000, 1448, 9, BUSY, 0, NEEDED, 0, 1 }, TCPTUNED_LIMIT_RWND },
		{ { 84000, 1448, 9, BUSY, 0, UNPACED, 0, 1 }, TCPTUNED_LIMIT_APPLICATION },
		{ { 0, 1448, 9, BUSY, 0, NEEDED, 0, 1 }, TCPTUNED_LIMIT_APPLICATION },
		{ { 84000, 1448, 9, BUSY, 1, NEEDED, 0, 1 }, TCPTUNED_LIMIT_CWND },
		/* less than a segment: Nagle's algorithm, but not where nothing is in flight */
		{ { 1447, 1448, 1, BUSY, 0, NEEDED, 0, 0 }, TCPTUNED_LIMIT_APPLICATION },
		{ { 100, 1448, 0, BUSY, 0, NEEDED, 0, 0 }, TCPTUNED_LIMIT_PACING },
		/* written just now */
		{ { 84000, 1448, 9, BUSY, 0, UNPACED, 0, 0 }, TCPTUNED_LIMIT_APPLICATION },
		{ { 100, 1448, 0, BUSY, 0, UNPACED, 0, 0 }, TCPTUNED_LIMIT_APPLICATION },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (readout_limit(&cases[i].sender) != cases[i].limit)
			fail_msg("case %zu: %s", i,
				 tcptuned_limit_name(readout_limit(&cases[i].sender)));
}

static void test_addresses(void **state)
{
	struct tcptuned_flow_record r = {
		.family = AF_INET, .local_port = 5201, .remote_port = 65535};
	char text[TCPTUNED_ADDRESS_MAX];

	inet_pton(AF_INET, "192.0.2.1", r.local);
	inet_pton(AF_INET, "255.255.255.255", r.remote);
	tcptuned_flow_address(&r, 0, text);
	assert_string_equal(text, "192.0.2.1:5201");
	tcptuned_flow_address(&r, 1, text);
	assert_string_equal(text, "255.255.255.255:65535");

	r.family = AF_INET6;
	inet_pton(AF_INET6, "2001:db8::1", r.local);
	inet_pton(AF_INET6, "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", r.remote);
	tcptuned_flow_address(&r, 0, text);
	assert_string_equal(text, "[2001:db8::1]:5201");
	tcptuned_flow_address(&r, 1, text);
	assert_string_equal(text, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
}

static void test_every_name_is_there(void **state)
{
	unsigned int i;

	for (i = 0; i < TCPTUNED_LIMITS; i++)
		assert_string_not_equal(tcptuned_limit_name(i), "unknown");
	for (i = 0; i < RIGHTSIZE_REASONS; i++)
		assert_string_not_equal(tcptuned_reason_name(i), "unknown");
	for (i = 0; i <= RIGHTSIZE_HOLDING; i++)
		assert_string_not_equal(tcptuned_rightsize_state_name(i), "unknown");
	for (i = 0; i < TCPTUNED_BITCP_MODES; i++)
		assert_string_not_equal(tcptuned_bitcp_mode_name(i), "unknown");
	for (i = 0; i <= TCPTUNED_TUNE; i++)
		assert_string_not_equal(tcptuned_mode_name(i), "unknown");
	assert_string_equal(tcptuned_state_name(TCP_CLOSE_WAIT), "close_wait");
	assert_string_equal(tcptuned_state_name(0), "unknown");
	assert_string_equal(tcptuned_limit_name(TCPTUNED_LIMITS), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_is_what_a_sort_gives),
		cmocka_unit_test(test_little_is_collected),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_doubles_are_dropped),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_many_groups_are_told_apart),
		cmocka_unit_test(test_groups_are_bounded),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_only_live_connections),
		cmocka_unit_test(test_nonsense_is_an_error),
		cmocka_unit_test(test_names_are_printable),
		cmocka_unit_test(test_nothing_to_read_from),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_every_name_is_there),
	};

	return cmocka_run_group_tests_name("flows", tests, NULL, NULL);
}
