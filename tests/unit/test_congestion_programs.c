// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs of the congestion controls (bpf/cc/engine.h) on a socket of the test: when a
 * window grows, how it is written, which one counts at a loss, what an undone loss restores, and
 * how a connection goes on after a pause.
 */
#include "test.h"
#include "programs.h"

/* Most of these connections have no record, and zeroes stand for the default parameters. */
static __u64 no_params[8];
static void *record;
#define bpf_sk_storage_get(map, sk, value, flags) record
#define bpf_map_lookup_elem(map, key)		  ((void)(key), (void *)no_params)
static __u64 now_ns;
#define bpf_ktime_get_ns() now_ns
#define bpf_jiffies64()	   (now_ns / 1000000) /* as with HZ=1000 */
#include "../../bpf/cc/bitcp.bpf.c"
#include "../../bpf/cc/cubic_resume.bpf.c"

/* A connection with a window of @cwnd of which no more than @used was ever used. */
static struct tcp_sock connection(__u32 cwnd, __u32 used)
{
	struct tcp_sock tp = struct_of(tcp_sock, .snd_cwnd = cwnd, .snd_cwnd_clamp = ~0u,
				       .snd_ssthresh = 2 * cwnd, .packets_out = used,
				       .max_packets_out = used, .is_cwnd_limited = used == cwnd);

	ca_init((struct sock *)&tp);
	return tp;
}

/* As the kernel does (tcp_enter_loss(), tcp_init_cwnd_reduction()). Returns ssthresh. */
static __u32 lose(struct tcp_sock *tp)
{
	tp->prior_cwnd = tp->snd_cwnd;
	tp->snd_ssthresh = ca_ssthresh((struct sock *)tp);
	tp->snd_cwnd = tp->snd_ssthresh;
	return tp->snd_ssthresh;
}

/*
 * RFC 5681, 3.1: a loss is met with FlightSize, where cwnd was not the limit; but with an initial
 * window at least. bitcp gives up an eighth of that, and below its low window a half.
 */
TEST(a_loss_is_met_with_the_window_in_use)
{
	static const struct {
		__u32 cwnd, ssthresh, out, max, limited, used;
	} cases[] = {
		{160, 320, 160, 160, 1, 160}, {100, 50, 60, 60, 0, 60},	 {100, 50, 60, 80, 0, 80},
		{100, 50, 80, 60, 0, 80},     {100, 50, 60, 60, 1, 100}, {100, 100, 60, 60, 1, 100},
		{100, 101, 60, 60, 1, 60},   /* slow start has doubled it since */
		{160, 320, 120, 80, 0, 120}, /* slow start: more than in any round before */
		{100, 50, 120, 60, 0, 100},  /* never more than cwnd */
		{100, 50, 0, 60, 0, 100},    /* a segment was dropped before it left the host */
		{400, 50, 3, 2, 0, 10},	      {400, 50, 9, 2, 0, 10},	 {400, 50, 11, 2, 0, 11},
		{10, 50, 3, 3, 0, 10},	      {6, 50, 3, 3, 0, 6},	 {6, 50, 3, 3, 1, 6},
	};

	for_each_row (c, cases) {
		struct tcp_sock tp = connection(c->cwnd, c->max);

		tp.snd_ssthresh = c->ssthresh;
		tp.packets_out = c->out;
		tp.is_cwnd_limited = c->limited;
		assert_int_equal(congestion_window_in_use(c->cwnd, c->ssthresh, c->out, c->max,
							  c->limited),
				 c->used);
		assert_int_equal(lose(&tp), c->used < 14 ? c->used / 2 : c->used * 7 / 8);
	}
}

/* tcp_is_cwnd_limited(): in slow start a window counts as used of which more than half is. */
TEST(a_window_grows_when_it_is_used)
{
	static const struct {
		__u32 cwnd, ssthresh, used;
		__u8 limited;
		__u32 clamp, after; /* clamp, as of the route's `cwnd`; 0: none */
	} cases[] = {
		{160, 320, 80, 0, 0, 160},
		{160, 320, 81, 0, 0, 163},
		{160, 320, 80, 1, 0, 163},
		{160, 320, 160, 1, 162, 162},
		{162, 320, 162, 1, 162, 162},
		/*
		 * in avoidance the flag decides; bitcp adds 32 per RTT, of which 100 ACKs are part
		 */
		{160, 100, 159, 0, 0, 160},
		{160, 100, 80, 1, 0, 178},
		{160, 160, 81, 0, 0, 160},
	};

	for_each_row (c, cases) {
		struct tcp_sock tp = connection(c->cwnd, c->used);

		tp.snd_ssthresh = c->ssthresh;
		tp.is_cwnd_limited = c->limited;
		if (c->clamp)
			tp.snd_cwnd_clamp = c->clamp;
		ca_cong_avoid((struct sock *)&tp, tp.snd_una, c->cwnd < c->ssthresh ? 3 : 100);
		assert_int_equal(tp.snd_cwnd, c->after);
	}
}

TEST(ssthresh_is_written_too)
{
	struct tcp_sock tp = connection(160, 160);
	struct congestion_ack ack = {.cwnd = 150, .ssthresh = 150};

	write_window(&tp, &ack);
	assert_int_equal(tp.snd_cwnd, 150);
	assert_int_equal(tp.snd_ssthresh, 150);
}

TEST(an_undone_reduction_is_undone_whole)
{
	static const struct {
		__u32 used, grown; /* the window before the undo; 0: as the loss left it */
		__u32 cwnd;
	} rows[] = {{160, 0, 160}, {80, 0, 160}, {80, 200, 200}};

	for_each_row (r, rows) {
		struct tcp_sock tp = connection(160, r->used);

		lose(&tp);
		if (r->grown)
			tp.snd_cwnd = r->grown;
		assert_int_equal(ca_undo_cwnd((struct sock *)&tp), r->cwnd);
	}
}

/* ---- after a pause --------------------------------------------------------------------- */

/* In place of the kernel's functions: slow start, and a packet per window; a loss takes 3/10. */
static int cubic_inits, cubic_events, cubic_samples;

void cubictcp_init(struct sock *sk)
{
	(void)sk;
	cubic_inits++;
}

void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 *counted = state_of(tp);

	(void)ack;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		tp->snd_cwnd += acked;
		return;
	}
	*counted += acked;
	if (*counted >= tp->snd_cwnd) {
		*counted = 0;
		tp->snd_cwnd++;
	}
}

__u32 cubictcp_recalc_ssthresh(struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd * 7 / 10;
}

void cubictcp_state(struct sock *sk, __u8 new_state)
{
	if (new_state == TCP_CA_Loss)
		*(__u32 *)state_of((struct tcp_sock *)sk) = 0;
}

void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	(void)sk;
	cubic_events += event == CA_EVENT_TX_START;
}

void cubictcp_acked(struct sock *sk, const struct ack_sample *sample)
{
	(void)sk;
	(void)sample;
	cubic_samples++;
}

__u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

#define RTT_US 100000u
#define MSS    1000u

/*
 * Before a pause: the window is @cwnd, and the path has carried @pipe in a round trip. Half of all
 * sequence numbers are negative.
 */
static struct tcp_sock before_a_pause(__u32 cwnd, __u32 pipe)
{
	struct tcp_sock tp =
		struct_of(tcp_sock, .snd_cwnd = cwnd, .snd_cwnd_clamp = ~0u, .mss_cache = MSS,
			  .snd_ssthresh = TCP_INFINITE_SSTHRESH, .max_packets_out = cwnd,
			  .rate_delivered = pipe, .rate_interval_us = RTT_US,
			  .srtt_us = RTT_US << 3, .snd_una = 0x90000000, .snd_nxt = 0x90000000,
			  .delivered_mstamp = now_ns / 1000, .lsndtime = now_ns / 1000000);

	tp.rtt_min.s[0].v = RTT_US;
	tp.inet_conn.icsk_inet.sk.sk_max_pacing_rate = ~0ul;
	tp.inet_conn.icsk_rto = 300;
	return tp;
}

/* As tcp_cwnd_restart() does; the connection was silent for 2 s. */
static void restart(struct tcp_sock *tp)
{
	now_ns += 2000000000;
	if (tp->snd_ssthresh < tp->snd_cwnd / 2 + tp->snd_cwnd / 4)
		tp->snd_ssthresh = tp->snd_cwnd / 2 + tp->snd_cwnd / 4;
	tp->snd_cwnd = 10;
}

struct calls {
	void (*init)(struct sock *sk);
	void (*event)(struct sock *sk, enum tcp_ca_event event);
	void (*ack)(struct sock *sk, __u32 una, __u32 acked);
	__u32 (*ssthresh)(struct sock *sk);
	__u32 (*undo)(struct sock *sk);
	void (*release)(struct sock *sk);
	__u32 left_of_50; /* packets that a loss leaves of a window of 50 */
};

static const struct calls both[] = {
	{ca_init, ca_cwnd_event, ca_cong_avoid, ca_ssthresh, ca_undo_cwnd, ca_release, 43},
	{resume_init, resume_cwnd_event, resume_cong_avoid, resume_ssthresh, resume_undo_cwnd,
	 resume_release, 35},
};

static void acknowledge(const struct calls *calls, struct tcp_sock *tp, __u32 packets)
{
	tp->snd_una += packets * MSS;
	tp->packets_out -= packets;
	tp->delivered += packets;
	calls->ack((struct sock *)tp, tp->snd_una, packets);
}

static void send_packets(struct tcp_sock *tp, __u32 packets)
{
	tp->snd_nxt += packets * MSS;
	tp->packets_out += packets;
}

/*
 * A connection that was silent sends the @packets of its window. The kernel may cut that twice
 * before the first segment.
 */
static struct tcp_sock resumes(const struct calls *calls, __u32 packets)
{
	struct tcp_sock tp = before_a_pause(packets, packets);
	struct sock *sk = (struct sock *)&tp;

	calls->init(sk);
	for (int i = 0; i < 2; i++) {
		calls->event(sk, CA_EVENT_CWND_RESTART);
		restart(&tp);
	}
	calls->event(sk, CA_EVENT_TX_START);
	assert_int_equal(tp.snd_cwnd, packets);
	assert_int_equal(sk->sk_pacing_status, SK_PACING_NEEDED);
	send_packets(&tp, packets);
	return tp;
}

/* The window of before is sent within a round trip, and paced until that is acknowledged. */
TEST(a_connection_resumes)
{
	for_each_row (calls, both) {
		struct tcp_sock tp = resumes(calls, 200);
		struct sock *sk = (struct sock *)&tp;

		assert_int_equal(sk->sk_pacing_rate, 200 * MSS * 12); /* per second, 120 % */
		acknowledge(calls, &tp, 2);
		assert_in_range(tp.snd_cwnd, 200, 202);
		send_packets(&tp, 2);
		acknowledge(calls, &tp, 197);
		assert_int_equal(sk->sk_pacing_status, SK_PACING_NEEDED);
		tp.snd_ssthresh = 100;
		acknowledge(calls, &tp, 1);
		assert_int_equal(sk->sk_pacing_status, SK_PACING_NONE);
		assert_true(tp.snd_cwnd >= 200);
		tp = resumes(calls, 50);
		assert_int_equal(sk->sk_pacing_rate, 200 * MSS * 10);
	}
}

/* A slow start that goes on is paced until it ends, is not used, or has no congestion control. */
TEST(a_slow_start_stays_paced)
{
	static const struct {
		__u32 ssthresh, used, paced;
	} rows[] = {{TCP_INFINITE_SSTHRESH, 400, 1},
		    {TCP_INFINITE_SSTHRESH, 200, 0},
		    {600, 400, 1},
		    {400, 400, 0}};

	for_each_row (calls, both)
		for_each_row (r, rows) {
			struct tcp_sock tp = resumes(calls, 200);
			struct sock *sk = (struct sock *)&tp;

			acknowledge(calls, &tp, 200);
			assert_int_equal(sk->sk_pacing_status, SK_PACING_NEEDED);
			tp.snd_cwnd = 400;
			tp.snd_ssthresh = r->ssthresh;
			tp.max_packets_out = r->used;
			for (int round = 0; round < 3; round++) {
				send_packets(&tp, 1);
				acknowledge(calls, &tp, 1);
				assert_int_equal(sk->sk_pacing_status, r->paced);
			}
			calls->release(sk);
			assert_int_equal(sk->sk_pacing_status, SK_PACING_NONE);
		}
}

/*
 * Pacing ends after a loss, too: when all that was sent before the loss is acknowledged, and two
 * rounds later at the latest.
 */
TEST(a_loss_when_a_connection_resumes)
{
	for_each_row (calls, both)
		for (int acked = 0; acked <= 20; acked += 20) {
			struct tcp_sock tp = resumes(calls, 200);
			struct sock *sk = (struct sock *)&tp;

			if (acked)
				acknowledge(calls, &tp, 20);
			tp.snd_wnd = 1 << 30;
			tp.sacked_out = 50 - acked;
			tp.delivered += tp.sacked_out;
			assert_int_equal(calls->ssthresh(sk), calls->left_of_50);
			tp.sacked_out = 0;
			tp.snd_cwnd = tp.snd_ssthresh = calls->left_of_50;
			for (int round = 0; round < 4; round++) {
				acknowledge(calls, &tp, tp.packets_out);
				send_packets(&tp, 20);
			}
			assert_int_equal(sk->sk_pacing_status, SK_PACING_NONE);
		}
}

TEST(a_pace_of_the_applications_is_not_exceeded)
{
	for_each_row (calls, both) {
		struct tcp_sock tp = before_a_pause(200, 200);
		struct sock *sk = (struct sock *)&tp;

		calls->init(sk);
		/* Paced since a loss before; the application has set a maximum meanwhile. */
		resume_of(&tp)->paced = 1;
		sk->sk_pacing_status = SK_PACING_NEEDED;
		sk->sk_max_pacing_rate = sk->sk_pacing_rate = 5000;
		calls->event(sk, CA_EVENT_CWND_RESTART);
		restart(&tp);
		calls->event(sk, CA_EVENT_TX_START);
		assert_int_equal(sk->sk_pacing_rate, 5000);
	}
}

/*
 * The kernel's functions decide all but that round trip: after it the windows are theirs, ACK by
 * ACK.
 */
TEST(cubic_stays_cubic)
{
	struct tcp_sock kernel = before_a_pause(200, 200), ours = kernel;
	struct sock *sk = (struct sock *)&ours;
	struct ack_sample sample = {.rtt_us = RTT_US};

	cubic_inits = cubic_events = cubic_samples = 0;
	resume_init(sk);
	assert_int_equal(cubic_inits, 1);
	kernel.snd_ssthresh = ours.snd_ssthresh = 100;
	for (int i = 0; i < 1000; i++) {
		send_packets(&ours, 5);
		acknowledge(&both[1], &ours, 5);
		resume_pkts_acked(sk, &sample);
		cubictcp_cong_avoid((struct sock *)&kernel, 0, 5);
		assert_int_equal(ours.snd_cwnd, kernel.snd_cwnd);
		if (i % 100 == 99) {
			resume_cwnd_event(sk, CA_EVENT_TX_START);
			ours.snd_cwnd = ours.snd_ssthresh = resume_ssthresh(sk);
			kernel.snd_cwnd = kernel.snd_ssthresh =
				cubictcp_recalc_ssthresh((struct sock *)&kernel);
		}
		if (i % 70 == 69) {
			resume_set_state(sk, TCP_CA_Loss);
			cubictcp_state((struct sock *)&kernel, TCP_CA_Loss);
		}
	}
	assert_int_equal(cubic_events, 10);
	assert_int_equal(cubic_samples, 1000);
	ours.prior_cwnd = 5000;
	assert_int_equal(resume_undo_cwnd(sk), 5000);
	assert_int_equal(sk->sk_pacing_status, SK_PACING_NONE);
}

/*
 * With the first segment after a pause, and never in the midst of traffic: as much as was in flight
 * lately, twice that in slow start, which is ended by @ssthresh; 0: by nothing yet.
 */
TEST(cubic_is_replaced_after_a_pause)
{
	static const struct {
		__u32 cwnd, pipe, lately, out, ssthresh, window, rtt_us;
	} rows[] = {
		{200, 200, 200, 0, 1, 200, RTT_US}, {200, 60, 200, 0, 1, 120, RTT_US},
		{200, 200, 200, 3, 1, 10, RTT_US},  {200, 4, 200, 0, 1, 10, RTT_US},
		{200, 200, 200, 0, 1, 10, 999},	    {200, 200, 200, 0, 200, 200, RTT_US},
		{200, 200, 30, 0, 200, 10, RTT_US}, {200, 200, 100, 0, 0, 200, RTT_US},
	};

	for_each_row (r, rows) {
		struct tcp_sock tp = before_a_pause(r->cwnd, r->pipe);

		tp.max_packets_out = r->lately;
		tp.snd_ssthresh = r->ssthresh ? r->ssthresh : TCP_INFINITE_SSTHRESH;
		tp.rtt_min.s[0].v = tp.rate_interval_us = r->rtt_us;
		restart(&tp);
		tp.packets_out = r->out;
		tp.prior_cwnd = 321;
		resume_init((struct sock *)&tp);
		assert_int_equal(tp.snd_cwnd, 10);
		assert_int_equal(((struct bictcp *)state_of(&tp))->last_max_cwnd, r->out ? 0 : 321);
		resume_cwnd_event((struct sock *)&tp, CA_EVENT_TX_START);
		assert_int_equal(tp.snd_cwnd, r->window);
		resume_release((struct sock *)&tp);
		assert_int_equal(((struct sock *)&tp)->sk_pacing_status, SK_PACING_NONE);
	}
}

/*
 * BBR, which was tried, leaves twice what the path carries, pacing, and perhaps no threshold. Other
 * congestion controls are replaced after a pause, or by another build of the same.
 */
TEST(cubic_is_replaced_after_bbr)
{
	static const struct {
		__u32 flags, cwnd, ssthresh, window;
	} rows[] = {
		{TCPTUNED_F_CC_RESTORED, 200, 0, 100},
		{TCPTUNED_F_CC_RESTORED, 200, 110, 100},
		{TCPTUNED_F_CC_RESTORED, 200, 90, 90},
		{TCPTUNED_F_CC_RESTORED, 200, 300, 100},
		{TCPTUNED_F_CC_RESTORED, 20, 0, 10},
		{TCPTUNED_F_CC_RESTORED, 19, 0, 19},
		{0, 200, 0, 200},
		{0, 200, 110, 200},
		{TCPTUNED_F_CC_RESTORED | TCPTUNED_F_CC_RESUMES, 200, 110, 200},
	};

	for_each_row (r, rows) {
		bool follows = r->flags == TCPTUNED_F_CC_RESTORED;
		struct tcptuned_flow flow = {.flags = r->flags};
		struct tcp_sock tp = before_a_pause(r->cwnd, r->cwnd);
		struct sock *sk = (struct sock *)&tp;

		tp.packets_out = r->cwnd;
		tp.snd_ssthresh = r->ssthresh ? r->ssthresh : TCP_INFINITE_SSTHRESH;
		sk->sk_pacing_status = SK_PACING_NEEDED;
		record = &flow;
		resume_init(sk);
		record = NULL;
		assert_int_equal(tp.snd_cwnd, r->window);
		assert_int_equal(tp.snd_ssthresh, r->window < r->cwnd ? r->window
						  : r->ssthresh	      ? r->ssthresh
								      : TCP_INFINITE_SSTHRESH);
		/* as soon as nothing waits for its time */
		tp.snd_ssthresh = 1;
		tp.tcp_wstamp_ns = 1;
		acknowledge(&both[1], &tp, 1);
		assert_int_equal(sk->sk_pacing_status, SK_PACING_NEEDED);
		tp.tcp_wstamp_ns = 0;
		acknowledge(&both[1], &tp, 1);
		assert_int_equal(sk->sk_pacing_status, follows ? SK_PACING_NONE : SK_PACING_NEEDED);
	}
}

/* ---- on a known path ------------------------------------------------------------------- */

/*
 * A new connection, of which the path memory says that it may jump to 196 packets. It has sent its
 * first ten. A client has sent nothing before (tcp_finish_connect() sets lsndtime last).
 */
static struct tcp_sock new_connection(const struct calls *calls)
{
	struct tcptuned_flow flow = {.jump_seed = 12}; /* of 16 KB */
	struct tcp_sock tp = before_a_pause(10, 0);

	tp.lsndtime = 0;
	now_ns += 1000000000;

	tp.is_cwnd_limited = 1;
	tp.tcp_mstamp = 7000000;
	tp.rack.rtt_us = tp.rtt_min.s[0].v;
	tp.write_seq = tp.snd_nxt + (1 << 30);
	record = &flow;
	calls->init((struct sock *)&tp);
	record = NULL;
	assert_int_equal(flow.jump_seed, 0);
	tp.delivered = 1; /* the SYN */
	send_packets(&tp, 10);
	return tp;
}

static struct tcp_sock jumps(const struct calls *calls)
{
	struct tcp_sock tp = new_connection(calls);

	acknowledge(calls, &tp, 10);
	assert_int_equal(tp.snd_cwnd, 196);
	return tp;
}

/*
 * RFC 9959: the initial window is acknowledged, the jump is paced, its first ACK leaves what is in
 * flight, and slow start goes on from there.
 */
TEST(a_connection_jumps_on_a_known_path)
{
	for_each_row (calls, both) {
		struct tcp_sock tp = new_connection(calls);
		struct sock *sk = (struct sock *)&tp;

		acknowledge(calls, &tp, 8);
		assert_int_equal(tp.snd_cwnd, 18);
		assert_int_equal(sk->sk_pacing_status, SK_PACING_NONE);
		send_packets(&tp, 16);
		acknowledge(calls, &tp, 2);
		assert_int_equal(tp.snd_cwnd, 196);
		assert_int_equal(tp.snd_ssthresh, 196);
		assert_int_equal(sk->sk_pacing_status, SK_PACING_NEEDED);
		send_packets(&tp, 134);
		acknowledge(calls, &tp, 16); /* sent before the jump */
		assert_int_equal(tp.snd_cwnd, 196);
		acknowledge(calls, &tp, 4);
		assert_int_equal(tp.snd_cwnd, 134 + 4);
		assert_true(tp.snd_ssthresh >= TCP_INFINITE_SSTHRESH);
		acknowledge(calls, &tp, 130);
		assert_int_equal(tp.snd_cwnd, 134 + 134);
		assert_int_equal(sk->sk_pacing_status, SK_PACING_NEEDED);
	}
}

/* The next congestion control does not send what is left of a jump as one burst. */
TEST(a_jump_is_not_passed_on)
{
	for_each_row (calls, both) {
		struct tcp_sock tp = jumps(calls);

		send_packets(&tp, 25);
		calls->release((struct sock *)&tp);
		assert_int_equal(tp.snd_cwnd, 25);
		assert_true(tp.snd_ssthresh >= TCP_INFINITE_SSTHRESH);
	}
}

/*
 * A loss of the jump leaves a share of what was delivered since; one of the first ten ends what is
 * known.
 */
TEST(a_loss_on_a_known_path)
{
	for_each_row (calls, both) {
		struct tcp_sock tp = jumps(calls);

		send_packets(&tp, 196);
		acknowledge(calls, &tp, 20);
		tp.sacked_out = 30;
		tp.delivered += 30;
		assert_int_equal(calls->ssthresh((struct sock *)&tp), calls->left_of_50);

		tp = new_connection(calls);
		tp.prior_cwnd = tp.snd_cwnd;
		tp.snd_ssthresh = tp.snd_cwnd = calls->ssthresh((struct sock *)&tp);
		acknowledge(calls, &tp, 10);
		assert_true(tp.snd_cwnd <= 18);
	}
}

/* A loss before anything of a jump is acknowledged ends slow start, also after a pause. */
TEST(a_lost_jump_ends_slow_start)
{
	for_each_row (calls, both) {
		struct tcp_sock tp = jumps(calls);
		__u32 left;

		send_packets(&tp, 196);
		left = calls->ssthresh((struct sock *)&tp);
		tp.snd_ssthresh = tp.snd_cwnd = left;
		acknowledge(calls, &tp, 196);
		assert_int_equal(tp.snd_ssthresh, left);
		calls->event((struct sock *)&tp, CA_EVENT_CWND_RESTART);
		assert_int_equal(tp.snd_ssthresh, left);
	}
}

/* A loss that the kernel undoes (tcp_enter_recovery(), tcp_undo_cwnd_reduction()). */
static void lose_nothing(const struct calls *calls, struct tcp_sock *tp)
{
	__u32 prior_ssthresh = tp->snd_ssthresh;

	tp->prior_cwnd = tp->snd_cwnd;
	tp->snd_ssthresh = tp->snd_cwnd = calls->ssthresh((struct sock *)tp);
	tp->snd_cwnd = calls->undo((struct sock *)tp);
	if (prior_ssthresh > tp->snd_ssthresh)
		tp->snd_ssthresh = prior_ssthresh;
}

/* ... also of a jump, with the slow start that was to follow. */
TEST(a_spurious_loss_on_a_known_path)
{
	for_each_row (calls, both)
		for (int acked = 0; acked <= 20; acked += 20) {
			struct tcp_sock tp = jumps(calls);

			send_packets(&tp, 196);
			if (acked)
				acknowledge(calls, &tp, 20);
			lose_nothing(calls, &tp);
			assert_true(tp.snd_cwnd >= 196);
			assert_true(tp.snd_ssthresh >= TCP_INFINITE_SSTHRESH);
			/* the next loss has nothing to do with that */
			tp.snd_ssthresh = 500;
			lose_nothing(calls, &tp);
			assert_int_equal(tp.snd_ssthresh, 500);
		}
}

/* The window that the undo restores is paced like that before. */
TEST(an_undone_loss_of_what_is_not_validated_is_paced)
{
	for_each_row (calls, both) {
		struct tcp_sock tp = resumes(calls, 200);
		struct sock *sk = (struct sock *)&tp;

		tp.snd_ssthresh = 100;
		tp.snd_wnd = 1 << 30;
		lose_nothing(calls, &tp);
		assert_true(tp.snd_cwnd >= 200);
		for (int round = 0; round < 3; round++) {
			assert_int_equal(sk->sk_pacing_status, SK_PACING_NEEDED);
			acknowledge(calls, &tp, tp.packets_out);
			send_packets(&tp, 200);
		}
		assert_int_equal(sk->sk_pacing_status, SK_PACING_NONE);
	}
}

/* An end of slow start that was known before is kept. */
TEST(a_finite_ssthresh_on_a_known_path)
{
	for_each_row (calls, both) {
		struct tcp_sock tp = new_connection(calls);

		tp.snd_ssthresh = 300;
		acknowledge(calls, &tp, 10);
		assert_int_equal(tp.snd_cwnd, 196);
		send_packets(&tp, 196);
		lose_nothing(calls, &tp);
		assert_int_equal(tp.snd_ssthresh, 300);
	}
}

/* Nothing is sent with a jump before a pause: slow start goes on after it. */
TEST(a_pause_on_a_known_path)
{
	for_each_row (calls, both) {
		struct tcp_sock tp = jumps(calls);

		calls->event((struct sock *)&tp, CA_EVENT_CWND_RESTART);
		assert_true(tp.snd_ssthresh >= TCP_INFINITE_SSTHRESH);
		/* One RTO: what the kernel leaves is paced. */
		tp.snd_cwnd = 98;
		((struct sock *)&tp)->sk_pacing_rate = 0;
		calls->event((struct sock *)&tp, CA_EVENT_TX_START);
		assert_int_equal(tp.snd_cwnd, 98);
		assert_in_range(((struct sock *)&tp)->sk_pacing_rate, 1, 1 << 30);
	}
}
