// SPDX-License-Identifier: GPL-2.0-only
/* Windows of time in which connections to a host stay the same, and what is averaged of them. */
#include <sys/socket.h>

#include "test.h"
#include "streams/passive.h"
#include "streams/memory.h"

#define HZ	  250
#define START_NS  1000000000000ull
#define MBIT	  1e6
#define WINDOWS	  4096
#define CONNS	  24
#define SCANS	  4000
#define HOSTS	  3
#define CONGESTED TCPTUNED_LIMIT_CWND

struct measured {
	struct tcptuned_streams_key key;
	__u32 netns;
	struct tcptuned_streams_level level;
};

static struct tcptuned_passive *groups;
static struct measured windows[WINDOWS];
static size_t windows_len;
static __u64 now_ns;
static __u32 jiffies;

static int setup(void **state)
{
	groups = tcptuned_passive_new();
	windows_len = 0;
	now_ns = START_NS;
	jiffies = 1000;
	return groups ? 0 : -1;
}

static int teardown(void **state)
{
	tcptuned_passive_free(groups);
	return 0;
}

FIXTURE(setup, teardown)

static void take(void *ctx, const struct tcptuned_streams_key *key, __u32 netns,
		 const struct tcptuned_streams_level *level)
{
	assert_true(windows_len < WINDOWS);
	windows[windows_len++] = (struct measured){*key, netns, *level};
}

static void pass(double seconds)
{
	now_ns += (__u64)(seconds * 1e9);
	jiffies += (__u32)(seconds * HZ);
}

static void begin_scan(void)
{
	tcptuned_passive_begin(groups, now_ns);
}

static void end_scan(void)
{
	tcptuned_passive_end(groups, take, NULL);
}

static const struct tcptuned_passive_stats *stats(void)
{
	return tcptuned_passive_stats(groups);
}

/* A sender to 10.0.0.@host that is limited by its congestion window, 20 ms away. */
static struct tcptuned_flow_record sender(unsigned int host, __u16 port)
{
	return struct_of(tcptuned_flow_record, .family = AF_INET, .remote = {10, 0, 0, (__u8)host},
			 .local = {10, 0, 0, 100}, .local_port = port, .remote_port = 443,
			 .cgroup = 7, .netns = 5, .netns_cookie = 9, .limit = CONGESTED,
			 .mss = 1448, .unsent = 100000, .srtt_us = 20000, .min_rtt_us = 19000,
			 .congestion_control = "cubic");
}

/* What it has done by now, at that rate since the start. */
static void carry(struct tcptuned_flow_record *r, double rate)
{
	double seconds = (double)(now_ns - START_NS) / 1e9;

	r->bytes_acked = (__u64)(rate / 8 * seconds);
	r->data_sent = (__u32)(r->bytes_acked / r->mss);
	r->jiffies = jiffies;
	r->busy_jiffies = (__u32)(seconds * HZ);
}

/* Scans @n of @all, and lets two seconds pass. */
static void scan(const struct tcptuned_flow_record *all, size_t n)
{
	begin_scan();
	for (size_t i = 0; i < n; i++)
		tcptuned_passive_add(groups, &all[i]);
	end_scan();
	pass(2);
}

/* Scans every two seconds while @n of @all carry 10 Mbit/s each. */
static void scan_some(struct tcptuned_flow_record *all, size_t n, unsigned int times)
{
	while (times--) {
		for (size_t i = 0; i < n; i++)
			carry(&all[i], 10 * MBIT);
		scan(all, n);
	}
}

TEST(a_window_is_what_they_carried_together)
{
	struct tcptuned_flow_record all[] = {sender(1, 1), sender(1, 2), sender(1, 3)};
	struct tcptuned_streams_key key = struct_of(
		tcptuned_streams_key,
		.host = {{10, 0, 0, 1}, .family = AF_INET, .prefix_len = 32, .netns_cookie = 9},
		.streams = 2, .congestion_control = "cubic");

	scan_some(all, 2, 3);
	assert_int_equal(windows_len, 2);
	for (size_t i = 0; i < windows_len; i++) {
		assert_memory_equal(&windows[i].key, &key, sizeof(key));
		assert_int_equal(windows[i].netns, 5);
		assert_int_equal(windows[i].level.streams, 2);
		assert_near(windows[i].level.rate, 20 * MBIT, 100);
		assert_near(windows[i].level.rtt_s, 0.02, 1e-9);
		assert_near(windows[i].level.rtt_min_s, 0.019, 1e-9);
		assert_near(windows[i].level.loss, 0, 0);
	}
	scan_some(all, 3, 2); /* one is new: the window that it begins in does not count */
	assert_int_equal(windows_len, 3);
	assert_int_equal(windows[2].key.streams, 3);
	assert_near(windows[2].level.rate, 30 * MBIT, 100);
	assert_int_equal(stats()->measured, 3);
	assert_int_equal(stats()->refused, 0);
	assert_int_equal(stats()->groups, 1);
}

TEST(a_scan_that_does_not_take_place_makes_the_window_longer)
{
	struct tcptuned_flow_record one = sender(1, 1);

	scan_some(&one, 1, 1);
	begin_scan();
	tcptuned_passive_cancel(groups);
	pass(2);
	scan_some(&one, 1, 1);
	assert_int_equal(windows_len, 1);
	assert_near(windows[0].level.rate, 10 * MBIT, 100);
}

TEST(what_is_a_group)
{
	struct tcptuned_flow_record all[] = {sender(1, 1), sender(2, 2), sender(1, 3), sender(1, 4),
					     sender(1, 5)};

	all[2].cgroup = 8;
	all[3].netns_cookie = 10;
	/* The same host by an IPv6 socket. */
	all[4].family = AF_INET6;
	memset(all[4].remote, 0, 16);
	memcpy(all[4].remote + 10, "\xff\xff\x0a\x00\x00\x01", 6);
	scan_some(all, 5, 2);
	assert_int_equal(stats()->groups, 4);
	assert_int_equal(windows_len, 4);
	for (size_t i = 0, twos = 0; i < windows_len; i++) {
		twos += windows[i].key.streams == 2;
		assert_int_equal(windows[i].key.streams == 2,
				 windows[i].key.host.prefix[3] == 1 &&
					 windows[i].key.host.netns_cookie == 9 && twos == 1 &&
					 windows[i].level.rate > 15 * MBIT);
	}
}

TEST(long_round_trips_make_long_windows)
{
	struct tcptuned_flow_record one = sender(1, 1);

	one.srtt_us = 250000; /* 5 s */
	scan_some(&one, 1, 3);
	assert_int_equal(windows_len, 0);
	scan_some(&one, 1, 1);
	assert_int_equal(windows_len, 1);
	assert_near(windows[0].level.rate, 10 * MBIT, 100);
	scan_some(&one, 1, 2);
	assert_int_equal(windows_len, 1);
}

TEST(who_waits_for_its_application_is_no_window)
{
	static const struct {
		__u8 limit;
		__u32 unsent;
		unsigned int idle; /* percent of the time */
		bool measured;
	} rows[] = {
		{CONGESTED, 100000, 0, true},
		{TCPTUNED_LIMIT_SNDBUF, 0, 0, true},
		{TCPTUNED_LIMIT_APPLICATION, 100000, 0, true}, /* just after a loss */
		{TCPTUNED_LIMIT_APPLICATION, 100, 0, false},
		{TCPTUNED_LIMIT_IDLE, 0, 0, false},
		/* between the scans, both: together at most 5 % of the time */
		{CONGESTED, 100000, 2, true},
		{CONGESTED, 100000, 3, false},
	};

	for_each_row (r, rows) {
		struct tcptuned_flow_record all[] = {sender(1, 1), sender(1, 2)};
		size_t before = windows_len;
		__u64 refused = stats()->refused;

		all[1].limit = r->limit;
		all[1].unsent = r->unsent;
		for (int scans = 0; scans < 2; scans++) {
			for (int i = 0; i < 2; i++) {
				carry(&all[i], 10 * MBIT);
				all[i].busy_jiffies -= all[i].busy_jiffies * r->idle / 100;
			}
			scan(all, 2);
		}
		assert_int_equal(windows_len - before, r->measured);
		assert_int_equal(stats()->refused - refused, !r->measured);
		scan_some(NULL, 0, 1);
	}
}

TEST(connections_within_this_host_are_no_group)
{
	struct tcptuned_flow_record one = sender(1, 1);

	memcpy(one.local, one.remote, sizeof(one.local));
	scan_some(&one, 1, 3);
	assert_int_equal(stats()->groups, 0);
	assert_int_equal(windows_len, 0);
}

TEST(different_congestion_controls_are_no_window)
{
	struct tcptuned_flow_record all[] = {sender(1, 1), sender(1, 2)};

	strcpy(all[1].congestion_control, "bbr");
	scan_some(all, 2, 3);
	assert_int_equal(windows_len, 0);
	assert_int_equal(stats()->refused, 2);
	strcpy(all[0].congestion_control, "bbr");
	scan_some(all, 2, 1);
	assert_int_equal(windows_len, 0);
	scan_some(all, 2, 1);
	assert_int_equal(windows_len, 1);
	assert_string_equal(windows[0].key.congestion_control, "bbr");
}

TEST(what_limits_senders)
{
	struct tcptuned_flow_record one = sender(1, 1);

	scan_some(&one, 1, 1);
	one.rwnd_jiffies = HZ / 2; /* of two seconds */
	one.sndbuf_jiffies = HZ;
	one.retransmits = 17;
	scan_some(&one, 1, 1);
	assert_int_equal(windows_len, 1);
	assert_near(windows[0].level.receiver_window, 0.25, 1e-9);
	assert_near(windows[0].level.send_buffer, 0.5, 1e-9);
	assert_near(windows[0].level.loss, 17 / (10 * MBIT / 8 * 2 / 1448), 1e-5);
}

/*
 * A pause is long if it exceeds four round-trip times and 250 ms. Nothing is known of when the
 * application of one whose buffer it sizes reads.
 */
TEST(receivers)
{
	static const struct {
		__u32 lasts_us, pause_us, reader, window;
		enum request request;
		bool measured;
		double limited;
	} rows[] = {
		{0, 0, 0, 1 << 20, 0, true, 0},
		{330000, 0, 0, 1 << 20, 0, true, 0},
		{330001, 0, 0, 1 << 20, 0, false, 0},
		{0, 330000, 0, 1 << 20, 0, true, 0},
		{0, 330001, 0, 1 << 20, 0, false, 0},
		{0, 0, 50000, 1 << 20, 0, false, 0},
		{0, 0, 0, 1 << 20, REQUEST_APPLICATION, false, 0},
		{0, 0, 0, 30000, 0, true, 1}, /* 25,000 bytes come in 20 ms */
	};

	for_each_row (r, rows) {
		struct tcptuned_flow_record one = sender(1, 1);
		size_t before = windows_len;
		__u64 refused = stats()->refused;

		tcptuned_set_request(&one.flow, true, r->request);
		one.limit = TCPTUNED_LIMIT_IDLE;
		one.flow.reader.window = r->reader;
		one.rcv_wnd = r->window;
		one.rcv_rtt_us = 20000;
		one.flow.rcv.min_rtt_us = 20000;
		one.flow.rcv.interval_silent_us = r->pause_us;
		for (int scans = 0; scans < 2; scans++) {
			one.jiffies = jiffies;
			one.flow.rcv.seen_us = now_ns / 1000 - r->lasts_us;
			one.bytes_received =
				(__u64)((double)(now_ns - START_NS + 1) / 1e9 * 1.25e6) + 1;
			one.data_received = (__u32)(one.bytes_received / 1448);
			scan(&one, 1);
		}
		assert_int_equal(windows_len - before, r->measured);
		assert_int_equal(stats()->refused - refused, !r->measured);
		scan_some(NULL, 0, 1);
		if (!r->measured)
			continue;
		assert_int_equal(windows[before].key.receives, 1);
		assert_int_equal(windows[before].level.receives, 1);
		assert_string_equal(windows[before].key.congestion_control, "");
		assert_near(windows[before].level.rate, 10 * MBIT, 100);
		assert_near(windows[before].level.receiver_window, r->limited, 0);
	}
}

/* ---- random connections, against a table of all of them -------------------------------- */

struct conn {
	struct tcptuned_flow_record record;
	unsigned int host;
	bool open;
};

/* What one group should do: bytes of each connection when the window began; 0: it was not there. */
struct expected {
	__u64 bytes[CONNS];
	__u64 ns;
	bool began;
};

static struct conn conns[CONNS];
static struct expected expected[HOSTS];

static void change_conns(void)
{
	for (unsigned int i = 0; i < CONNS; i++) {
		struct conn *c = &conns[i];

		if (random64() % 12)
			continue;
		c->open = !c->open;
		c->host = (unsigned int)(random64() % HOSTS);
		c->record = sender(c->host, (__u16)random_between(1024, 65535));
		c->record.bytes_acked = random64() >> 40;
	}
}

/* Returns whether one of the host's connections waits. */
static bool add_conns(unsigned int host, double seconds)
{
	bool waiting = false;

	for (unsigned int i = 0; i < CONNS; i++) {
		struct tcptuned_flow_record *r = &conns[i].record;

		if (!conns[i].open || conns[i].host != host)
			continue;
		r->bytes_acked += 1 + random64() % (1 << 24);
		r->data_sent += 1 + (__u32)(random64() % 1000);
		r->busy_jiffies += (__u32)(seconds * HZ);
		r->jiffies = jiffies;
		r->limit = random64() % 30 ? CONGESTED : TCPTUNED_LIMIT_IDLE;
		waiting |= r->limit == TCPTUNED_LIMIT_IDLE;
		tcptuned_passive_add(groups, r);
	}
	return waiting;
}

/* Compares with the windows that were measured in this scan. */
static void check_host(unsigned int host, bool waiting)
{
	struct expected *e = &expected[host];
	__u64 bytes = 0, streams = 0, found = 0;
	bool same = e->began, ends;

	for (unsigned int i = 0; i < CONNS; i++) {
		bool member = conns[i].open && conns[i].host == host;

		same &= member == !!e->bytes[i] &&
			(!member || conns[i].record.bytes_acked > e->bytes[i]);
		streams += member;
		bytes += member ? conns[i].record.bytes_acked - e->bytes[i] : 0;
	}
	ends = same && streams && (waiting || now_ns - e->ns >= TCPTUNED_PASSIVE_WINDOW_NS);
	for (size_t i = 0; i < windows_len; i++) {
		if (windows[i].key.host.prefix[3] != host)
			continue;
		found++;
		assert_int_equal(windows[i].key.streams, streams);
		assert_near(windows[i].level.rate,
			    8 * (double)bytes / ((double)(now_ns - e->ns) / 1e9), 1);
	}
	assert_int_equal(found, ends && !waiting);
	if (same && streams && !ends)
		return;
	e->began = streams > 0;
	e->ns = now_ns;
	for (unsigned int i = 0; i < CONNS; i++)
		e->bytes[i] = conns[i].open && conns[i].host == host ? conns[i].record.bytes_acked
								     : 0;
}

TEST(random_connections_against_a_table)
{
	bool waiting[HOSTS];
	size_t total = 0;

	memset(conns, 0, sizeof(conns));
	memset(expected, 0, sizeof(expected));
	for (int scans = 0; scans < SCANS; scans++) {
		double seconds = (double)random_between(1, 16) / 4;

		pass(seconds);
		windows_len = 0;
		if (random64() % 3 == 0)
			change_conns();
		begin_scan();
		for (unsigned int host = 0; host < HOSTS; host++)
			waiting[host] = add_conns(host, seconds);
		end_scan();
		for (unsigned int host = 0; host < HOSTS; host++)
			check_host(host, waiting[host]);
		total += windows_len;
	}
	assert_in_range(total, SCANS / 4, HOSTS * SCANS);
}

/*
 * More hosts than there is room for: those that are followed are right, and memory does not grow.
 */
TEST(many_hosts)
{
	for (int scans = 0; scans < 3; scans++) {
		begin_scan();
		for (unsigned int host = 0; host < 5000; host++) {
			struct tcptuned_flow_record one = sender(host % 256, 1);

			one.remote[2] = (__u8)(host / 256);
			carry(&one, 10 * MBIT);
			tcptuned_passive_add(groups, &one);
		}
		end_scan();
		pass(2);
	}
	assert_in_range(stats()->groups, 400, 512);
	assert_int_equal(windows_len, 2 * stats()->groups);
	for (size_t i = 0; i < windows_len; i++) {
		assert_int_equal(windows[i].key.streams, 1);
		assert_near(windows[i].level.rate, 10 * MBIT, 100);
	}
}

/* ---- what is averaged ------------------------------------------------------------------ */

TEST(a_mean_that_follows)
{
	struct tcptuned_streams_record level = {0};
	double low = 100 * MBIT, high = 200 * MBIT;

	for (int i = 0; i < 16; i++)
		tcptuned_streams_memory_average(
			&level,
			&struct_of(tcptuned_streams_level, .rate = i % 2 ? high : low,
				   .loss = 0.01 * (i % 2), .rtt_s = 0.02, .rtt_min_s = 0.01));
	assert_int_equal(level.windows, 16);
	assert_near(level.rate, 150 * MBIT, 1);
	assert_near(level.loss, 0.005, 1e-9);
	assert_near(level.rtt_s, 0.02, 1e-9);
	assert_near(level.rtt_min_s, 0.01, 1e-9);
	assert_near(level.rate_peak, high, 1);
	for (int i = 0; i < 100; i++)
		tcptuned_streams_memory_average(
			&level, &(struct tcptuned_streams_level){.rate = 10 * MBIT});
	assert_int_equal(level.windows, 116);
	assert_near(level.rate, 10 * MBIT, MBIT);
	assert_near(level.rate_peak, 10 * MBIT, 3 * MBIT);
}

/* (10) with a = 1, c = 9 */
static double rate_of(unsigned int streams)
{
	return MBIT * streams / sqrt(1.0 * streams * streams + 9);
}

TEST(what_is_refused)
{
	static const struct {
		unsigned int streams[8];
		__u32 windows;
		double factor;	 /* of the rate at the second number */
		const char *why; /* "": it is not */
	} rows[] = {
		{{1, 2, 4, 8}, 2, 1, ""},
		{{1, 2, 4}, 3, 1, ""},
		{{4}, 50, 1, "1 number of connections seen, and 3 are needed"},
		{{1, 8}, 50, 1, "2 numbers of connections seen, and 3 are needed"},
		{{1, 2, 4}, 2, 1, "only 6 measurement intervals so far; 8 are needed"},
		{{2, 4, 7},
		 3,
		 1,
		 "from 2 to 7 connections seen, and the largest number has to be 4 times the "
		 "smallest"},
		{{1, 2, 4}, 3, 3, "the fit is off by "},
	};

	for_each_row (r, rows) {
		struct tcptuned_streams_row levels[8];
		size_t len = 0;
		char why[TCPTUNED_STREAMS_REFUSAL] = "";
		struct tcptuned_streams_fit fit;

		for (const unsigned int *n = r->streams; *n; n++)
			levels[len++] = struct_of(tcptuned_streams_row, .key.streams = *n,
						  .level.windows = r->windows,
						  .level.rate = rate_of(*n));
		levels[1].level.rate *= r->factor;
		assert_int_equal(tcptuned_streams_memory_fit(levels, len, &fit, why), !*r->why);
		assert_contains(why, r->why);
		if (*r->why)
			continue;
		assert_int_equal(tcptuned_streams_memory_together(levels, len), len);
		for (unsigned int n = 1; n < 100; n++)
			assert_near(tcptuned_streams_rate(&fit, n), rate_of(n), 10);
	}
}

/* Of more numbers of connections than a result has room for, the first ones count. */
TEST(advice_of_many_levels)
{
	struct tcptuned_streams_row rows[TCPTUNED_STREAMS_LEVELS_MAX + 1];
	struct tcptuned_streams_result result = {.size = sizeof(result)};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = struct_of(tcptuned_streams_row, .key.streams = i + 1, .level.windows = 1,
				    .level.rate = rate_of(i + 1));
	assert_true(tcptuned_streams_memory_conclude(rows, ARRAY_SIZE(rows), &result));
	assert_int_equal(result.levels_len, TCPTUNED_STREAMS_LEVELS_MAX);
}
