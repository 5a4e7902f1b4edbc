// SPDX-License-Identifier: GPL-2.0-only
/* Reading flows: what the kernel's iterator does with each, and what the daemon makes of them. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "test.h"
#include "flows/words.h"
#include "flows/scan.h"
#include "flows/top.h"
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
	struct tcptuned_kernel kernel = {.bpf = tcptuned_bpf__open()};

	begin(5, 5);
	read_from(records, 5);
	assert_int_equal(flows.sums.live, 5);
	assert_int_equal(tcptuned_scan(&flows, &kernel, NULL, NULL), -ENOENT);
	assert_int_equal(flows.sums.live, 0);
	assert_int_equal(flows.top_len, 0);
	tcptuned_bpf__destroy(kernel.bpf);
}

#define MSS	 1448
#define BIG	 (4u << 20)
#define LARGE	 .sndbuf = BIG, .snd_wnd = BIG
#define LIMIT(l) TCPTUNED_LIMIT_##l

/* A sender of which the other members are 0: its send buffer and the window are small, too. */
#define SENDER(...) struct_of(readout_sender, .mss = MSS, __VA_ARGS__)

enum { UNPACED, NEEDED, FQ }; /* enum sk_pacing */

TEST(what_limits_a_sender)
{
	const struct {
		struct readout_sender sender;
		enum tcptuned_limit limit;
	} cases[] = {
		{SENDER(.unsent = 0), LIMIT(IDLE)},
		{SENDER(.cwnd_limited = 1, .pacing = NEEDED), LIMIT(IDLE)},
		{SENDER(.no_space = 1), LIMIT(IDLE)},
		{SENDER(.in_flight = 9), LIMIT(APPLICATION)},
		{SENDER(.in_flight = 9, .queue = 99999), LIMIT(APPLICATION)},
		{SENDER(.in_flight = 9, .pacing = NEEDED, .window_full = 1), LIMIT(APPLICATION)},
		{SENDER(.in_flight = 9, .pacing = FQ, .throttled = 1), LIMIT(APPLICATION)},
		/* cwnd: large enough, or reduced */
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1), LIMIT(CWND)},
		{SENDER(.in_flight = 9, .cwnd_limited = 1),
		 LIMIT(APPLICATION)}, /* it was, before */
		{SENDER(.unsent = 1448, .in_flight = 9, .cwnd_limited = 1), LIMIT(CWND)},
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1, .pacing = NEEDED,
			.throttled = 1, .window_full = 1),
		 LIMIT(CWND)},
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1, .lost = 1),
		 LIMIT(LOSS)},
		{SENDER(.unsent = 84000, .in_flight = 9, .lost = 1), LIMIT(APPLICATION)},
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1, .queue = 1),
		 LIMIT(PATH)},
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1, .lost = 1, .queue = 1),
		 LIMIT(PATH)},
		/* the peer's window, also a closed one */
		{SENDER(.unsent = 84000, .in_flight = 9, .rwnd_limited = 1, .cwnd_limited = 1),
		 LIMIT(RWND)},
		{SENDER(.unsent = 84000, .rwnd_limited = 1, .queue = 1), LIMIT(RWND)},
		{SENDER(.unsent = 84000, .in_flight = 9, .rwnd_limited = 1, .queue = 1, LARGE),
		 LIMIT(PATH)},
		{SENDER(.unsent = 84000, .in_flight = 9, .rwnd_limited = 1, .queue = 1,
			.snd_wnd = 32768),
		 LIMIT(PATH)},
		{SENDER(.unsent = 84000, .in_flight = 9, .rwnd_limited = 1, .queue = 1,
			.snd_wnd = 32767),
		 LIMIT(RWND)},
		/* all of the buffer is in flight, but for what Nagle's algorithm keeps */
		{SENDER(.in_flight = 9, .no_space = 1, .cwnd_limited = 1, .lost = 1),
		 LIMIT(SNDBUF)},
		{SENDER(.unsent = 1447, .in_flight = 9, .no_space = 1), LIMIT(SNDBUF)},
		{SENDER(.unsent = 1448, .in_flight = 9, .no_space = 1, .cwnd_limited = 1),
		 LIMIT(CWND)},
		{SENDER(.in_flight = 9, .no_space = 1, .queue = 1, LARGE), LIMIT(PATH)},
		{SENDER(.in_flight = 9, .no_space = 1, .queue = 1, .sndbuf = 32768), LIMIT(PATH)},
		{SENDER(.in_flight = 9, .no_space = 1, .queue = 1, .sndbuf = 16384), LIMIT(SNDBUF)},
		/* bulk, as far as the buffer or TCP_NOTSENT_LOWAT lets it be written */
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = NEEDED, .no_space = 1),
		 LIMIT(PACING)},
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = FQ), LIMIT(PACING)},
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = FQ, .throttled = 1),
		 LIMIT(PACING)},
		{SENDER(.unsent = 1448, .in_flight = 1, .pacing = NEEDED), LIMIT(PACING)},
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = NEEDED, .throttled = 1),
		 LIMIT(QUEUE)},
		{SENDER(.unsent = 84000, .in_flight = 9, .throttled = 1), LIMIT(QUEUE)},
		/* paced, and the peer's window holds it all the same */
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = NEEDED, .window_full = 1),
		 LIMIT(RWND)},
		{SENDER(.unsent = 84000, .in_flight = 9, .window_full = 1), LIMIT(APPLICATION)},
		/* less than a segment: Nagle's algorithm, but not where nothing is in flight */
		{SENDER(.unsent = 1447, .in_flight = 1, .pacing = NEEDED), LIMIT(APPLICATION)},
		{SENDER(.unsent = 100, .pacing = NEEDED), LIMIT(PACING)},
		/* written just now */
		{SENDER(.unsent = 84000, .in_flight = 9), LIMIT(APPLICATION)},
		{SENDER(.unsent = 100), LIMIT(APPLICATION)},
	};

	for_each_row (c, cases)
		assert_int_equal(readout_send_limit(&c->sender), c->limit);
}

/* Each answer needs what it says, whatever else holds. */
TEST(no_answer_without_its_cause)
{
	static const __u32 unsent[] = {0, 1447, 84000};

	for (unsigned int bits = 0; bits < 3 << 12; bits++) {
		struct readout_sender s =
			SENDER(.unsent = unsent[bits >> 12], .in_flight = bits & 1 ? 9 : 0,
			       .queue = bits & 2, .no_space = !!(bits & 4),
			       .rwnd_limited = !!(bits & 8), .cwnd_limited = !!(bits & 16),
			       .lost = !!(bits & 32), .pacing = bits >> 6 & 3,
			       .throttled = !!(bits & 256), .window_full = !!(bits & 512),
			       .sndbuf = bits & 1024 ? 16384 : BIG,
			       .snd_wnd = bits & 2048 ? 0 : BIG);
		bool holds[TCPTUNED_LIMITS] = {
			[LIMIT(IDLE)] = !s.unsent && !s.in_flight,
			[LIMIT(APPLICATION)] =
				!s.rwnd_limited && (s.unsent || s.in_flight) &&
				!(s.cwnd_limited && s.in_flight && s.unsent >= s.mss),
			[LIMIT(CWND)] = s.cwnd_limited && !s.lost && !s.queue && s.in_flight &&
					s.unsent >= s.mss,
			[LIMIT(LOSS)] = s.cwnd_limited && s.lost && !s.queue && s.in_flight &&
					s.unsent >= s.mss,
			[LIMIT(RWND)] = s.rwnd_limited || (s.window_full && s.pacing && s.unsent),
			[LIMIT(SNDBUF)] = s.no_space && s.in_flight && s.unsent < s.mss,
			[LIMIT(PATH)] = s.queue && (s.rwnd_limited || s.in_flight) &&
					(s.rwnd_limited || s.no_space || s.cwnd_limited),
			[LIMIT(PACING)] = s.pacing && s.unsent,
			[LIMIT(QUEUE)] = s.throttled && s.unsent,
		};

		test_row = bits;
		assert_true(holds[readout_send_limit(&s)]);
	}
}

TEST(queue_of_the_path)
{
	static const struct {
		__u32 bytes, rtt_us, min_us, queue;
	} rows[] = {
		{1000000, 150000, 100000, 333333}, {1000000, 149999, 100000, 0},
		{1000000, 1000000, 50000, 950000}, {1000000, 150000, 0, 0}, /* unknown */
		{1000000, 2999, 100, 0},				    /* below 2 ms */
		{1000000, 4000, 100, 500000},	   {28960, 200000, 100000, 14480},
		{28959, 200000, 100000, 0}, /* fewer than ten segments */
		{~0u, ~0u, 1, 4294965295},
	};

	for_each_row (r, rows)
		assert_int_equal(readout_queue(r->bytes, r->rtt_us, r->min_us, MSS), r->queue);
}

TEST(what_limits_a_receiver)
{
	static const struct {
		struct readout_receiver receiver;
		enum tcptuned_limit limit;
	} cases[] = {
		/* used, window, queue, rmem, rcvbuf, silent, rtt, unread, slow reader */
		{{0, 65536, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(IDLE)},
		{{50000, 65536, 0, 0, BIG, 1079999, 20000, 0, 0}, LIMIT(RWND)},
		{{50000, 65536, 0, 0, BIG, 1080000, 20000, 0, 0}, LIMIT(IDLE)},
		{{40959, 65536, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(SENDER)},
		{{40960, 65536, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(RWND)},
		{{~0u, ~0u, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(RWND)},
		{{1, 0, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(RWND)},
		{{40960, 65536, 1, 0, BIG, 0, 20000, 0, 0}, LIMIT(PATH)},
		{{100, 65536, 1, 0, BIG, 0, 20000, 0, 0}, LIMIT(PATH)},
		/* unread: for a moment, for long, also when nothing can arrive any more */
		{{50000, 65536, 0, BIG / 2 + 1, BIG, 49999, 20000, 0, 0}, LIMIT(RWND)},
		{{50000, 65536, 0, BIG / 2 + 1, BIG, 50000, 20000, 0, 0}, LIMIT(APPLICATION)},
		{{50000, 65536, 1, BIG / 2 + 1, BIG, 0, 20000, 1, 0}, LIMIT(APPLICATION)},
		{{50000, 65536, 0, BIG / 2, BIG, 0, 20000, 1, 0}, LIMIT(RWND)},
		{{0, 0, 0, BIG, BIG, 9000000, 20000, 1, 0}, LIMIT(APPLICATION)},
		{{100, 65536, 0, 0, BIG, 0, 20000, 0, 1}, LIMIT(APPLICATION)},
	};

	for_each_row (c, cases)
		assert_int_equal(readout_receive_limit(&c->receiver), c->limit);
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
