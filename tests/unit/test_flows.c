// SPDX-License-Identifier: GPL-2.0-only
/* Reading flows: what the kernel's iterator does with each, and what the daemon makes of them. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "test.h"
#include "flows/choice.h"
#include "flows/scan.h"
#include "flows/words.h"
#include "kern/loader.h"
#include "tcptuned.skel.h"

#define RECORDS 5000

static struct tcptuned_flows flows;
static struct tcptuned_flow_record *records;

static int teardown(void **state)
{
	tcptuned_flows_free(&flows);
	free(records);
	records = NULL;
	return 0;
}

FIXTURE(NULL, teardown)

static const char *const cc_names[] = {"bitcp", "cubic", "bbr", "reno"};

static void random_record(struct tcptuned_flow_record *r)
{
	static __u32 number;

	*r = struct_of(tcptuned_flow_record, .family = AF_INET, .state = TCP_ESTABLISHED,
		       .limit = random64() % TCPTUNED_LIMITS,
		       .receive_limit = random64() % TCPTUNED_LIMITS,
		       .bytes_received = random64() >> (2 + random64() % 40),
		       .bytes_acked = random64() >> (2 + random64() % 40),
		       .data_sent = random64() >> 33, .retransmits = random64() >> 33,
		       .rcvbuf = random64() >> 33, .sndbuf = random64() >> 33,
		       .rmem_alloc = random64() >> 33, .wmem_queued = random64() >> 33,
		       .flow.flags = TCPTUNED_F_MANAGED, .flow.policy = random64() % 3,
		       .flow.rcv_reason = random64() % RIGHTSIZE_REASONS,
		       .flow.snd_reason = random64() % RIGHTSIZE_REASONS);
	if (random64() % 3 == 0)
		r->flow.flags |= TCPTUNED_F_RCV_TUNED;
	if (random64() % 5 == 0)
		tcptuned_set_request(&r->flow, true, random64() % REQUESTS);
	number++;
	memcpy(r->local, &number, sizeof(number)); /* no two are the same */
	strcpy(r->congestion_control, cc_names[random64() % ARRAY_SIZE(cc_names)]);
}

/* As the iterator does: all are added to the sums, some are written to the ring. */
static struct readout readout;
static const struct tcptuned_flow_record *ring[200000];
static size_t collected;

static void begin_reading(__u32 wanted)
{
	memset(&readout, 0, sizeof(readout));
	readout.request.wanted = wanted;
	collected = 0;
}

/* Stands for the address of that congestion control in the kernel. */
static __u64 ops_of(const char *name)
{
	__u64 word = 0;

	memcpy(&word, name, strnlen(name, 7));
	return word << 6;
}

static void pass_by(const struct tcptuned_flow_record *r)
{
	struct readout_socket socket = struct_of(
		readout_socket, .ops = ops_of(r->congestion_control), .rcvbuf = r->rcvbuf,
		.sndbuf = r->sndbuf, .rmem_alloc = r->rmem_alloc, .wmem_queued = r->wmem_queued,
		.rcv_wnd = r->rcv_wnd, .limit = r->limit, .receive_limit = r->receive_limit,
		.traffic = {{r->bytes_received, r->bytes_acked, r->data_sent, r->retransmits}});
	struct readout_group *group;

	readout.sums.records++;
	if (!readout_is_live(&r->flow, r->state))
		return;
	group = readout_add(&readout.sums, &r->flow, &socket);
	if (group)
		memcpy(group->congestion_control, r->congestion_control,
		       sizeof(group->congestion_control));
	if (readout_add_matched(&readout, tcptuned_flow_size(r)))
		ring[collected++] = r;
}

static void read_from(const struct tcptuned_flow_record *from, size_t n)
{
	begin_reading(flows.top_max);
	for (size_t i = 0; i < n; i++)
		pass_by(&from[i]);
	tcptuned_flows_begin(&flows);
	for (size_t i = 0; i < collected; i++)
		assert_int_equal(tcptuned_flows_add(&flows, ring[i]), 0);
	tcptuned_flows_sum_up(&flows, &readout.sums);
	tcptuned_flows_end(&flows);
}

static int by_size_descending(const void *a, const void *b)
{
	__u64 left = tcptuned_flow_size(a), right = tcptuned_flow_size(b);

	return left < right ? 1 : left > right ? -1 : 0;
}

/* Makes @n random records, and a table for the @top largest of them. */
static void begin(size_t n, __u32 top)
{
	records = calloc(n, sizeof(*records));
	assert_non_null(records);
	for (size_t i = 0; i < n; i++)
		random_record(&records[i]);
	assert_int_equal(tcptuned_flows_init(&flows, top), 0);
}

/* The order of arrival does not matter. With this seed no two sizes are equal. */
TEST(top_is_what_a_sort_gives)
{
	static const __u32 tops[] = {1, 2, 3, 100, 1000, RECORDS, RECORDS + 1};
	static struct tcptuned_flow_record orders[3][RECORDS]; /* at random, down, up */

	begin(RECORDS, 0);
	memcpy(orders[0], records, sizeof(orders[0]));
	qsort(records, RECORDS, sizeof(*records), by_size_descending);
	memcpy(orders[1], records, sizeof(orders[1]));
	for (size_t i = 0; i < RECORDS; i++)
		orders[2][i] = records[RECORDS - 1 - i];
	for_each_row (top, tops)
		for (size_t order = 0; order < 3; order++) {
			tcptuned_flows_free(&flows);
			assert_int_equal(tcptuned_flows_init(&flows, *top), 0);
			read_from(orders[order], RECORDS);
			assert_int_equal(flows.top_len, *top < RECORDS ? *top : RECORDS);
			assert_memory_equal(flows.top, records, flows.top_len * sizeof(*records));
		}
}

/* About N log(all / N) connections are written to the ring, and no more than it can hold. */
TEST(little_is_collected)
{
	begin(1000, 100);
	begin_reading(100);
	for (size_t i = 0; i < 200; i++) {
		for (size_t r = 0; r < 1000; r++)
			records[r].bytes_received = random64() >> (8 + random64() % 40);
		for (size_t r = 0; r < 1000; r++)
			pass_by(&records[r]);
	}
	assert_int_equal(readout.sums.matched, 200000);
	assert_true(collected >= 100);
	assert_true(collected < 2000);

	for (size_t i = 0; i < 1000; i++)
		records[i].bytes_received = records[i].bytes_acked = 1;
	begin_reading(100);
	for (size_t i = 0; i < 200000; i++)
		pass_by(&records[i % 1000]);
	assert_true(collected >= 100);
	assert_true(collected <= 2 * (100 + READOUT_SPARE));
}

/* Classes never decrease with the size, are at most 1/64 wide, and stay within the array. */
TEST(classes)
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

/* The iterator may return a connection twice, and Prometheus would refuse such a scrape. */
TEST(doubles_are_dropped)
{
	begin(20, 40);
	tcptuned_flows_begin(&flows);
	for (int i = 0; i < 30; i++) {
		struct tcptuned_flow_record record = records[i % 20];

		record.bytes_received += i / 20; /* it went on */
		assert_int_equal(tcptuned_flows_add(&flows, &record), 0);
	}
	tcptuned_flows_end(&flows);
	assert_int_equal(flows.top_len, 20);
	for (int i = 1; i < 20; i++)
		assert_true(tcptuned_flow_size(&flows.top[i - 1]) >
			    tcptuned_flow_size(&flows.top[i]));
	/* another namespace has the same addresses again */
	tcptuned_flows_begin(&flows);
	assert_int_equal(tcptuned_flows_add(&flows, &records[0]), 0);
	records[0].netns++;
	assert_int_equal(tcptuned_flows_add(&flows, &records[0]), 0);
	tcptuned_flows_end(&flows);
	assert_int_equal(flows.top_len, 2);
}

TEST(sums)
{
	struct readout_sums want = {.records = RECORDS, .live = RECORDS, .matched = RECORDS};
	__u64 bbr1 = 0, carried[TCPTUNED_CARRIED] = {0}, grouped = 0, groups = 0;

	begin(RECORDS, 10);
	for (const struct tcptuned_flow_record *r = records; r < records + RECORDS; r++) {
		want.rcv_sized += !!(r->flow.flags & TCPTUNED_F_RCV_TUNED);
		want.rcvbuf_requests += request_is_overridden(tcptuned_request(&r->flow, true));
		want.rcvbuf_bytes += r->rcvbuf;
		want.sndbuf_bytes += r->sndbuf;
		want.rmem_bytes += r->rmem_alloc;
		want.wmem_bytes += r->wmem_queued;
		want.limited[r->limit]++;
		want.receive_limited[r->receive_limit]++;
		want.rcv_reason[r->flow.rcv_reason]++;
		want.snd_reason[r->flow.snd_reason]++;
		if (r->flow.policy != 1 || strcmp(r->congestion_control, "bbr"))
			continue;
		bbr1++;
		carried[TCPTUNED_RECEIVED] += r->bytes_received;
		carried[TCPTUNED_ACKED] += r->bytes_acked;
		carried[TCPTUNED_SEGMENTS] += r->data_sent;
		carried[TCPTUNED_RETRANSMITS] += r->retransmits;
	}
	/* The second reading forgets the first. */
	read_from(records, 1);
	assert_int_equal(flows.sums.live, 1);
	read_from(records, RECORDS);
	assert_memory_equal(&flows.sums, &want, offsetof(struct readout_sums, groups_other));
	for_each_row (group, flows.sums.group) {
		groups += !!group->flows;
		grouped += group->flows;
		if (group->policy != 1 || strcmp(group->congestion_control, "bbr"))
			continue;
		assert_int_equal(group->flows, bbr1);
		assert_memory_equal(&group->traffic, carried, sizeof(carried));
	}
	assert_int_equal(groups, 12);
	assert_int_equal(grouped, RECORDS);
}

#define GROUPED (3 * READOUT_GROUPS)

TEST(groups_are_bounded)
{
	begin(GROUPED, 0);
	for (__u32 i = 0; i < GROUPED; i++) {
		records[i].flow.policy = i / 2;
		strcpy(records[i].congestion_control, "cubic");
	}
	read_from(records, GROUPED);
	for_each_row (group, flows.sums.group)
		assert_int_equal(group->flows, 2);
	assert_int_equal(flows.sums.groups_other, GROUPED - 2 * READOUT_GROUPS);
	assert_int_equal(flows.top_len, 0);
}

TEST(only_live_connections)
{
	begin(5, 5);
	records[0].state = TCP_LISTEN;
	records[1].state = TCP_CLOSE;
	records[2].flow.flags &= ~TCPTUNED_F_MANAGED;
	records[3].state = TCP_FIN_WAIT2;
	records[4].flow.flags |= TCPTUNED_F_OBSERVE;
	read_from(records, 5);
	assert_int_equal(flows.sums.records, 5);
	assert_int_equal(flows.sums.live, 2);
	assert_int_equal(flows.sums.observed, 1);
	assert_int_equal(flows.top_len, 2);
}

TEST(nonsense_is_an_error)
{
	struct tcptuned_flow_record good, bad[6];

	random_record(&good);
	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	assert_int_equal(tcptuned_flows_add(&flows, &good), 0);
	for_each_row (record, bad)
		*record = good;
	bad[0].family = AF_UNIX;
	bad[1].limit = TCPTUNED_LIMITS;
	memset(bad[2].congestion_control, 'x', sizeof(bad[2].congestion_control));
	bad[3].flow.rcv_reason = RIGHTSIZE_REASONS;
	bad[4].flow.snd_reason = RIGHTSIZE_REASONS;
	bad[5].receive_limit = TCPTUNED_LIMITS;
	for_each_row (record, bad)
		assert_int_equal(tcptuned_flows_add(&flows, record), -EPROTO);
}

TEST(names_are_printable)
{
	struct tcptuned_flow_record record;
	struct readout_group *group;

	random_record(&record);
	strcpy(record.congestion_control, "a\n\x7f\xff\xc3\"b ~");
	assert_int_equal(tcptuned_flows_init(&flows, 5), 0);
	read_from(&record, 1);
	assert_string_equal(flows.top[0].congestion_control, "a????\"b ~");
	group = readout_find_group(&flows.sums, ops_of(record.congestion_control),
				   record.flow.policy);
	assert_string_equal(group->congestion_control, "a????\"b ~");
}

/* Without the kernel's programs a reading fails, and leaves nothing of the one before. */
TEST(nothing_to_read_from)
{
	struct tcptuned_kernel kernel;

	tcptuned_kernel_init(&kernel, "/");
	kernel.bpf = tcptuned_bpf__open();
	begin(5, 5);
	read_from(records, 5);
	assert_int_equal(flows.sums.live, 5);
	assert_int_equal(tcptuned_scan(&flows, &kernel, NULL, NULL), -ENOENT);
	assert_int_equal(flows.sums.live, 0);
	assert_int_equal(flows.top_len, 0);
	tcptuned_bpf__destroy(kernel.bpf);
}

TEST(every_name_is_there)
{
	for (unsigned int i = 0; i <= RIGHTSIZE_HOLDING; i++)
		assert_string_not_equal(tcptuned_word(WORDS_RIGHTSIZE_STATE, i), "unknown");
	for (unsigned int i = 0; i <= TCPTUNED_TUNE; i++)
		assert_string_not_equal(tcptuned_word(WORDS_MODE, i), "unknown");
	assert_string_equal(tcptuned_word(WORDS_TCP_STATE, TCP_CLOSE_WAIT), "close_wait");
	assert_string_equal(tcptuned_word(WORDS_TCP_STATE, 0), "unknown");
	assert_string_equal(tcptuned_word(WORDS_LIMIT, TCPTUNED_LIMITS), "unknown");
}
