// SPDX-License-Identifier: GPL-2.0-only
/*
 * What bpf/receiver.h and bpf/sender.h write to a socket, in any state in which they may find one:
 * a right edge that was advertised stays, no connection has less than is owed, and the record says
 * what was set.
 */
#include "test.h"
#include "programs.h"

#undef BPF_CORE_READ
#define READ_1(s, a)		    ((s)->a)
#define READ_2(s, a, b)		    ((s)->a->b)
#define READ_OF(a, b, read, ...)    read
#define BPF_CORE_READ(s, fields...) READ_OF(fields, READ_2, READ_1, 0)(s, fields)
#undef bpf_core_field_offset
#define bpf_core_field_offset(field...) 0
#undef bpf_core_read
#define bpf_core_read			      read_kernel
#define bpf_probe_read_kernel		      read_kernel
#define bpf_ktime_get_tai_ns()		      (the_clock_us * 1000)
#define bpf_ktime_get_ns()		      (the_clock_us * 1000)
#define bpf_jiffies64()			      (the_clock_us / 4000)
#define bpf_ringbuf_reserve(map, size, flags) ((void *)NULL)
#define bpf_ringbuf_submit(event, flags)      ((void)(event))
#define bpf_setsockopt(ctx, level, option, value, size) \
	set_socket(level, option, (const void *)(value), size)
#define bpf_map_lookup_elem(map, key)		    ((void)(key), find_value(map))
#define bpf_map_update_elem(map, key, value, flags) ((void)(key), (void)(value))

#define bpf_sk_storage_get(map, sk, value, flags) record_of(map, sk, flags)
#define bpf_sk_storage_delete(map, sk)		  delete_of(map, sk)

static __u64 the_clock_us;
static void *record_of(const void *map, const void *sk, __u64 flags);
static long delete_of(const void *map, void *sk);
static long read_kernel(void *ret, size_t size, const void *at);
static long set_socket(int level, int option, const void *value, int size);
static void *find_value(const void *map);

#include <tcptuned/algo/path.h>
#include "../../bpf/receiver.h"
#include "../../bpf/record.h"
#include "../../bpf/sender.h"

static struct tcptuned_totals the_totals;
static struct budget the_budget;
static struct tcp_sock sock;
static struct tcptuned_flow flow, before;
static __u64 the_tai_offset_us;
static struct rightsize_peer the_peer;
static struct tcp_sock was;
static int options; /* set by the last call */

static void *find_value(const void *map)
{
	if (map == &tai_offset)
		return &the_tai_offset_us;
	if (map == &peers)
		return random() % 4 ? &the_peer : NULL;
	return map == &totals ? (void *)&the_totals : map == &budget ? (void *)&the_budget : NULL;
}

static long read_kernel(void *ret, size_t size, const void *at)
{
	memcpy(ret, at, size);
	return 0;
}

/* As the kernel does: sk_setsockopt(), tcp_set_window_clamp(). Fails at times. */
static long set_socket(int level, int option, const void *value, int size)
{
	struct sock *sk = &sock.inet_conn.icsk_inet.sk;
	int number = *(const int *)value;

	assert_int_equal(size, sizeof(number));
	assert_true(number >= 0 || option == SO_MAX_PACING_RATE);
	options++;
	if (random() % 16 == 0)
		return -ENOMEM;
	if (level == SOL_TCP && option == TCP_WINDOW_CLAMP) {
		sock.window_clamp = number;
	} else if (level == SOL_TCP) {
		assert_int_equal(option, TCP_NOTSENT_LOWAT);
		sock.notsent_lowat = number;
	} else if (option == SO_RCVBUF) {
		sk->sk_rcvbuf = 2 * number;
		sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	} else if (option == SO_MAX_PACING_RATE) {
		/* after a buffer, once, and above any rate that it is set for */
		assert_true(sk->sk_pacing_status == SK_PACING_NONE || number < 0);
		assert_true(number < 0 || (__u64)number > flow.snd.rate);
		sk->sk_pacing_status = SK_PACING_NEEDED;
	} else {
		assert_int_equal(option, SO_SNDBUF);
		sk->sk_sndbuf = 2 * number;
		sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
	}
	return 0;
}

/* Any number below 2^@bits, small ones as often as large ones. */
static __u32 any(unsigned int bits)
{
	return ((__u64)random() << 1 | (random() & 1)) >> (32 - bits) >> random() % bits;
}

static struct proto proto;
static struct net net;
static struct sk_buff last_segment;

/* A connection of any path, buffers, locks and limits; its record may be of a hold. */
static void any_connection(void)
{
	static long pages[3] = {1000, 2000, 3000}, allocated;
	struct sock *sk = &sock.inet_conn.icsk_inet.sk;

	allocated = any(12);
	proto = (struct proto){.memory_allocated = &allocated, .sysctl_mem = pages};
	net.ipv4.sysctl_tcp_notsent_lowat = random() % 4 ? ~0u : any(20);
	net.ipv4.sysctl_tcp_shrink_window = random() % 4 == 0;
	net.ipv4.sysctl_tcp_wmem[2] = 1 << 22;
	sock = struct_of(tcp_sock, .mss_cache = 536 + any(14), .scaling_ratio = any(8),
			 .rx_opt.rcv_wscale = random() % 15,
			 .rtt_min.s[0].v = random() % 8 ? any(20) : ~0u,
			 .ooo_last_skb = &last_segment);
	*sk = struct_of(sock, .__sk_common.skc_net.net = &net, .__sk_common.skc_prot = &proto,
			.sk_rcvbuf = 4096 + any(27), .sk_sndbuf = 4608 + any(27),
			.sk_rcvlowat = 1 + any(24), .sk_userlocks = random() % 4,
			.sk_pacing_status = random() % 2 ? SK_PACING_NEEDED : SK_PACING_NONE);
	sock.window_clamp = sk_window_from_space(&sock, sk->sk_rcvbuf);
	sock.write_seq = sock.snd_una = sock.rcv_nxt = sock.copied_seq = (__u32)random() << 1;
	flow = struct_of(tcptuned_flow, .rcv_base = 4096 + any(24),
			 .snd_base = 4608 + 2 * any(23), /* set by half of it */
			 .rcv_window_max = random() % 2 ? ~0u : 1 + any(28),
			 .snd_window_max = 1 + any(28), .req_sndbuf = 16384 + any(20));
	flow.rcv_buffer_max = flow.rcv_base + any(28);
	flow.snd_buffer_max = random() % 4 ? (1 << 22) + any(28) : flow.snd_base;
	flow.flags = random() % 8 ? 0 : TCPTUNED_F_OBSERVE;
	tcptuned_set_request(&flow, true, random() % REQUESTS);
	tcptuned_set_request(&flow, false, random() % REQUESTS);
	if (random() % 2)
		rightsize_begin_held(&flow.rcv, min_window(&sock) + any(26));
	if (random() % 2 && may_shrink_sndbuf(&flow, &sock))
		rightsize_begin_held(&flow.snd, MIN_WINDOW_SEGMENTS * sock.mss_cache + any(26));
}

/*
 * Time passes, data come and leave, the application reads, the kernel resizes what is not locked.
 */
static void anything_happens(void)
{
	struct sock *sk = &sock.inet_conn.icsk_inet.sk;
	__u32 used = any(20), offered = sk_offered_window(&sock);

	the_clock_us = sock.tcp_mstamp += any(random() % 8 ? 14 : 24);
	sock.rcv_nxt += used < offered ? used : offered;
	sock.rcv_wup = sock.rcv_nxt;
	sock.rcv_wnd = sk_offered_window(&sock) - (used < offered ? used : offered) + any(22);
	sock.copied_seq = sock.rcv_nxt - any(20);
	sock.out_of_order_queue.rb_node = random() % 4 ? NULL : &sock;
	memcpy(last_segment.cb + 4, &(__u32){sock.rcv_nxt + any(20)}, 4);
	sock.rcv_rtt_est.rtt_us = any(23);
	sock.rx_opt.saw_tstamp = random() % 4 != 0;
	sock.rx_opt.rcv_tsecr = (__u32)(the_clock_us / 1000) - any(10);
	sock.rx_opt.rcv_tsval = any(32);
	sk->sk_backlog.rmem_alloc.counter = any(20);
	sock.srtt_us = any(23);
	sock.rack.rtt_us = any(20);
	sock.snd_cwnd = 1 + any(16);
	sock.snd_ssthresh = any(17);
	sock.bytes_acked += used;
	sock.write_seq += used;
	sock.snd_una = sock.write_seq - any(22);
	sk->sk_wmem_queued = any(24);
	sock.inet_conn.icsk_ca_state = random() % 4 ? TCP_CA_Open : random() % 5;
	if (!(sk->sk_userlocks & SOCK_RCVBUF_LOCK) && random() % 8 == 0) {
		sk->sk_rcvbuf = 4096 + any(28);
		sock.window_clamp = sk_window_from_space(&sock, sk->sk_rcvbuf);
	}
	if (!(sk->sk_userlocks & SOCK_SNDBUF_LOCK) && random() % 8 == 0)
		sk->sk_sndbuf = 4608 + any(28);
	if (random() % 64 == 0)
		sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	was = sock;
	before = flow;
	options = 0;
}

static bool is_left_alone(bool receive)
{
	return (before.flags & TCPTUNED_F_OBSERVE) ||
	       tcptuned_request(&before, receive) == REQUEST_APPLICATION;
}

static void expect_receiver(void)
{
	int had = was.inet_conn.icsk_inet.sk.sk_rcvbuf, has = sock.inet_conn.icsk_inet.sk.sk_rcvbuf;
	__u32 held = flow.rcv.window, wanted = sock.inet_conn.icsk_inet.sk.sk_rcvlowat;
	__u32 unread = sock.rcv_nxt - sock.copied_seq;

	if (is_left_alone(true))
		assert_int_equal(options, 0);
	/* a right edge stays, also with net.ipv4.tcp_shrink_window */
	if (sock.window_clamp != was.window_clamp && net.ipv4.sysctl_tcp_shrink_window)
		assert_true(sock.window_clamp >= sk_offered_window(&was));
	/* a buffer that is written has grown, within the policy and the budget */
	assert_true(has >= had);
	if (has != had)
		assert_true((__u32)has <= flow.rcv_base + flow.rcv_share.granted &&
			    (__u32)has <= flow.rcv_buffer_max);
	/* a locked buffer is tcptuned's to size, and only the budget refuses it anything */
	if (flow.rcv_allowed != before.rcv_allowed &&
	    (was.inet_conn.icsk_inet.sk.sk_userlocks & SOCK_RCVBUF_LOCK))
		assert_false(flow.flags & TCPTUNED_F_RCV_UNEARNED);
	/* during a gap only windows of a slow path are held */
	if (!is_left_alone(true) && sock.out_of_order_queue.rb_node &&
	    flow.rcv.window > INITIAL_WINDOW_BYTES && flow.rcv_window_max == ~0u &&
	    !flow.rcv_allowed && !flow.reader.window)
		assert_int_equal(flow.rcv_clamp, 0);
	/* the reason is that of what was set */
	if (!options || flow.flags & TCPTUNED_F_OBSERVE)
		return;
	assert_int_equal(!(flow.flags & TCPTUNED_F_RCV_TUNED), !flow.rcv_clamp);
	if (flow.rcv_reason == RIGHTSIZE_HELD && !net.ipv4.sysctl_tcp_shrink_window) {
		if (held < 2 * wanted)
			held = 2 * wanted;
		assert_true(flow.rcv_clamp >= held - held / 8 && flow.rcv_clamp <= held + held / 8);
	}
	/* what is unread takes nothing of a window that was earned */
	if (flow.rcv_clamp && flow.rcv_reason == RIGHTSIZE_EARNED)
		assert_true(flow.rcv_clamp >= flow.rcv_allowed - flow.rcv_allowed / 8);
	/* an application that waits for an amount gets it */
	if (flow.rcv_clamp && !flow.rcv_allowed && flow.rcv_window_max == ~0u)
		assert_true(flow.rcv_clamp + unread >= 2 * wanted - wanted / 4);
	if (flow.rcv_reason == RIGHTSIZE_CAPPED && flow.rcv_clamp && !sk_min_clamp(&was))
		assert_true(flow.rcv_clamp <= flow.rcv_window_max + flow.rcv_window_max / 16);
}

static void expect_sender(void)
{
	int had = was.inet_conn.icsk_inet.sk.sk_sndbuf, has = sock.inet_conn.icsk_inet.sk.sk_sndbuf;
	bool limited = flow.snd_reason == RIGHTSIZE_CAPPED || flow.snd_reason == RIGHTSIZE_BUDGET;

	if (is_left_alone(false))
		assert_int_equal(options, 0);
	if (net.ipv4.sysctl_tcp_notsent_lowat != ~0u)
		assert_int_equal(sock.notsent_lowat, was.notsent_lowat);
	/* who asked for a small buffer does not let more wait */
	if (sock.notsent_lowat != was.notsent_lowat &&
	    request_is_overridden(tcptuned_request(&flow, false)) &&
	    rightsize_asked_for_little(flow.req_sndbuf))
		assert_true(sock.notsent_lowat <= flow.req_sndbuf);
	if (has == had)
		return;
	/* what exceeds the kernel's own maximum is earned */
	if (has > had && !flow.snd.window && (__u32)has > flow.snd_base)
		assert_true((__u32)has <= earned_send_space(&flow, &sock));
	assert_true((__u32)has <= flow.snd_buffer_max &&
		    (__u32)has <= flow.snd_base + flow.snd_share.granted);
	if (has > had)
		return;
	/* the kernel can split what is queued (tcp_fragment()) */
	if (flow.snd_reason != RIGHTSIZE_BUDGET)
		assert_true(has + 1 >= was.inet_conn.icsk_inet.sk.sk_wmem_queued / 2 ||
			    (__u32)has + 1 >= flow.snd_buffer_max);
	/* who asked for no less has what the kernel alone would give */
	if (!flow.snd.window && (__u32)has < flow.snd_base)
		assert_true(2ull * flow.snd_window_max <= (__u32)had ||
			    flow.snd_buffer_max <= flow.snd_base);
	if (!is_sndbuf_fixed(&flow) && flow.snd_buffer_max < (__u32)net.ipv4.sysctl_tcp_wmem[2])
		assert_true((__u32)had > flow.snd_buffer_max);
	if (flow.snd.window && sk_is_recovering(&was) && !limited && (__u32)has != flow.snd_base)
		assert_true((__u32)had > flow.snd_buffer_max);
}

TEST(any_socket_keeps_what_it_is_owed)
{
	for (int connection = 0; connection < 2000; connection++) {
		memset(&the_budget, 0, sizeof(the_budget));
		the_budget.total = any(28);
		any_connection();
		for (int i = 0; i < 100; i++) {
			struct bpf_sock_ops ctx = {.data_segs_out = random() % 2000};

			test_row = connection * 100 + i;
			anything_happens();
			on_ack_out(&ctx, &flow, &sock);
			expect_receiver();
			was = sock;
			before = flow;
			options = 0;
			on_sending(&ctx, &flow, &sock, random() % 2);
			expect_sender();
			assert_int_equal(the_budget.granted,
					 (__u64)flow.rcv_share.granted + flow.snd_share.granted);
			assert_true(!the_budget.total || the_budget.granted <= the_budget.total);
		}
	}
}

/*
 * A sender without a queue has RTT_CB only; not after its last data, as it may receive from then
 * on.
 */
TEST(segments_are_examined_where_a_queue_may_stand)
{
	struct {
		__u32 min_rtt_us, rtt_us, data_segs_in, write_seq;
		__u8 state;
		bool segments;
	} rows[] = {{20000, 30000, 0, 8, RIGHTSIZE_FREE, false},
		    {20000, 50000, 0, 8, RIGHTSIZE_FREE, true},
		    {200, 3900, 0, 8, RIGHTSIZE_FREE, false},
		    {20000, 20000, 0, 8, RIGHTSIZE_HOLDING, true},
		    {20000, 20000, 200, 8, RIGHTSIZE_FREE, true},
		    {20000, 20000, 0, 5, RIGHTSIZE_FREE, true}};

	for_each_row (r, rows) {
		any_connection();
		sock.rtt_seq = 5;
		sock.write_seq = r->write_seq;
		sock.data_segs_out = 1000;
		sock.data_segs_in = r->data_segs_in;
		sock.srtt_us = 8 * r->rtt_us;
		flow.snd.min_rtt_us = r->min_rtt_us;
		flow.snd.state = r->state;
		assert_int_equal(callbacks_of(&flow, &sock),
				 r->segments ? CALLBACKS : CB_STATE_RTT);
	}
}

/* A test of any path, at any time, with the RTTs and the rate that were measured in it. */
static struct rightsize any_test(__u64 now_us)
{
	struct rightsize rs = {.state = RIGHTSIZE_TESTING,
			       .tests = 1,
			       .waiting = random() % 2,
			       .failures = random() % 2 ? 0 : random() % 256,
			       .test_rtt_us = 4001 + any(18),
			       .window = 4000 + any(22),
			       .held = random() % 2 ? 1 + any(22) : 0};

	rs.rate = rs.window * 2000000ull / rs.test_rtt_us;
	rs.carried = rs.window * (random() % 256) / 128;
	rs.samples = random() % 4;
	rs.low_us = rs.samples ? rs.test_rtt_us / 4 + any(17) : 0;
	rs.rtt_sum_us = rs.samples * rs.low_us;
	rs.min_rtt_us = 1 + any(16);
	rs.round_low_us = rs.low_us;
	rs.silent_us = any(18);
	rs.stage_us = now_us - rs.test_rtt_us * (random() % 256) / 12;
	rs.interval_us = now_us - rs.test_rtt_us;
	rs.round_us = now_us - any(19);
	return rs;
}

/*
 * What became of a test can be seen in a copy without a window to return to: a failure is counted
 * on, a test that was passed begins to count again.
 */
TEST(ends_of_tests_are_counted)
{
	enum { HELD, FAILED, ABANDONED, LET_GO_AT_ONCE, GOES_ON, ENDS } end;
	unsigned int seen[ENDS] = {0};

	for (int i = 0; i < 1000000; i++) {
		struct rightsize_ack ack = {.now_us = 1ull << 40, .min = 1 + any(14)};
		struct rightsize rs = any_test(ack.now_us), copy = rs;
		bool sends = random() % 2;
		const __u64 *c = &the_totals.counter[sends ? TCPTUNED_C_SND_TESTS_HELD
							   : TCPTUNED_C_RCV_TESTS_HELD];

		ack.offered = random() % 8 ? any(24) : RIGHTSIZE_WINDOW_MAX;
		ack.bytes = any(26);
		ack.rtt_us = any(18);
		ack.sample_us = random() % 2 ? any(20) : 0;
		copy.held = 0;
		copy.failures = 100;
		rightsize_on_ack(&copy, &ack);
		memset(&the_totals, 0, sizeof(the_totals));
		decide(&rs, &ack, sends);
		if (copy.state == RIGHTSIZE_TESTING)
			end = GOES_ON;
		else if (copy.failures >= 100)
			end = copy.failures == 100 ? ABANDONED : FAILED;
		else
			end = copy.state == RIGHTSIZE_HOLDING ? HELD : LET_GO_AT_ONCE;
		seen[end]++;
		test_row = i;
		assert_int_equal(rs.state == RIGHTSIZE_TESTING, end == GOES_ON);
		assert_int_equal(c[0], end == HELD);
		assert_int_equal(c[1], end == FAILED || end == LET_GO_AT_ONCE);
		assert_int_equal(c[2], end == ABANDONED);
	}
	for (end = 0; end < ENDS; end++)
		assert_in_range(seen[end], 100, 999999);
}

/* Where the delay varies, two thirds of the buffer hold the whole window. */
TEST(a_writer_is_woken_in_time)
{
	struct {
		__u8 state;
		__u32 mdev_us, space;
	} rows[] = {{RIGHTSIZE_HOLDING, 0, 300000},
		    {RIGHTSIZE_HOLDING, 20000, 300000},
		    {RIGHTSIZE_HOLDING, 20001, 450000},
		    {RIGHTSIZE_TESTING, 90000, 300000},
		    {RIGHTSIZE_FREE, 0, 300000}};

	for_each_row (r, rows) {
		struct rightsize rs = {.state = r->state, .min_rtt_us = 20000};
		struct tcp_sock tp = {.mdev_us = r->mdev_us};

		assert_int_equal(wake_space(&rs, &tp, 300000), r->space);
	}
}

/* NTP daemons set different offsets of the only clock that programs can read. */
TEST(hosts_share_a_clock)
{
	the_clock_us = 1700000000000037;
	the_tai_offset_us = 0;
	assert_int_equal(utc_us(), 1700000000000037);
	the_clock_us += 37000000;
	the_tai_offset_us = 37000000;
	assert_int_equal(utc_us(), 1700000000000037);
	the_tai_offset_us = 0;
}

/*
 * Late is who had waited for room and writes after all was sent. An answer to the peer may be
 * another one, and counts a quarter.
 */
TEST(a_late_writer_is_counted)
{
	struct socket socket = {0};
	struct {
		bool waits;
		__u32 unsent, heard, late;
	} rows[] = {{true, 1000, 0, 0},	 {false, 1000, 0, 0}, {false, 0, 0, 0}, {false, 0, 0, 0},
		    {false, 1000, 0, 4}, {false, 0, 0, 4},    {false, 9, 0, 4}, /* had not waited */
		    {true, 9, 0, 4},	 {false, 0, 0, 4},    {false, 9, 1, 5}, /* an answer */
		    {true, 9, 1, 5},	 {false, 0, 1, 5},    {true, 0, 1, 9},	{false, 0, 1, 9},
		    {true, 0, 2, 10},	 {false, 0, 2, 10},   {true, 0, 2, 14}, {false, 0, 2, 14},
		    {true, 0, 2, 18},	 {false, 0, 2, 18},   {true, 0, 2, 18}};

	memset(&flow, 0, sizeof(flow));
	flow.snd_unsent = RIGHTSIZE_UNSENT_MIN;
	memset(&sock, 0, sizeof(sock));
	sock.inet_conn.icsk_inet.sk.sk_socket = &socket;
	for_each_row (r, rows) {
		socket.flags = r->waits << SOCK_NOSPACE;
		sock.write_seq = sock.snd_nxt + r->unsent;
		sock.data_segs_in = r->heard;
		count_late_writer(&flow, &sock);
		assert_int_equal(flow.snd_late, r->late);
	}
	/* without a limit of tcptuned's it is not tcptuned's fault */
	memset(&flow, 0, sizeof(flow));
	for_each_row (r, rows) {
		socket.flags = r->waits << SOCK_NOSPACE;
		sock.write_seq = sock.snd_nxt + r->unsent;
		count_late_writer(&flow, &sock);
	}
	assert_int_equal(flow.snd_late, 0);
}

/* By cwnd, until a round trip has shown the rate; before a jump only a small request is a limit. */
TEST(unsent_data_are_limited_by_the_rate)
{
	struct {
		__u32 per_rtt, flags, req_sndbuf, limit;
	} rows[] = {{0, 0, 0, 500000},
		    {0, 0, 20000, 20000},
		    {1600000, 0, 0, 400000},
		    {4000, 0, 0, RIGHTSIZE_UNSENT_MIN},
		    {4000000, TCPTUNED_F_JUMPS, 0, 0},
		    {4000000, TCPTUNED_F_JUMPS, 20000, 20000}};

	for_each_row (r, rows) {
		any_connection();
		net.ipv4.sysctl_tcp_notsent_lowat = ~0u;
		sock.srtt_us = 8 * 100000;
		sock.mss_cache = 1000;
		sock.snd_cwnd = 4000;
		flow = struct_of(tcptuned_flow, .flags = r->flags, .snd.per_rtt = r->per_rtt,
				 .req_sndbuf = r->req_sndbuf);
		tcptuned_set_request(&flow, false, r->req_sndbuf ? REQUEST_LIFTED : REQUEST_NONE);
		assert_int_equal(unsent_limit(&flow, &sock), r->limit);
	}
}

/* A socket of this test says whether it has a record. */
static void *record_of(const void *map, const void *sk, __u64 flags)
{
	if (map != &flows) /* its slow start is not over */
		return NULL;
	return *(const bool *)sk || (flags && (*(bool *)(uintptr_t)sk = true)) ? &flow : NULL;
}

static long delete_of(const void *map, void *sk)
{
	if (map == &flows)
		*(bool *)sk = false;
	return 0;
}

TEST(too_many_records_are_refused_and_counted)
{
	bool socks[3] = {};

	memset(&the_totals, 0, sizeof(the_totals));
	the_budget = (struct budget){.records_max = 2};
	for (int i = 0; i < 3; i++)
		assert_int_equal(get_record(&socks[i]) != NULL, i < 2);
	assert_ptr_equal(get_record(&socks[0]), &flow);
	assert_int_equal(the_totals.counter[TCPTUNED_C_STORAGE_FAILED], 1);
	delete_record(&socks[0]);
	assert_ptr_equal(get_record(&socks[2]), &flow);
	assert_int_equal(the_budget.records, 2);
	the_budget.records_max = 0; /* no bound */
	assert_ptr_equal(get_record(&socks[0]), &flow);
	assert_int_equal(the_budget.records, 3);
}
