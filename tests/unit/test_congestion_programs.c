// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs of the congestion controls (bpf/cc/congestion.h) on a socket of the test: when a
 * window grows, how it is written, which one counts at a loss, and what an undone loss restores.
 */
#include "test.h"
#include "programs.h"

/* These connections have no record, and zeroes stand for the default parameters. */
static __u64 no_params[8];
#define bpf_sk_storage_get(map, sk, value, flags) ((void *)NULL)
#define bpf_map_lookup_elem(map, key)		  ((void)(key), (void *)no_params)
#include "../../bpf/cc/bitcp.bpf.c"

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
 * RFC 5681, 3.1: a loss is met with FlightSize, where cwnd was not the limit; but with an initial window
 * at least. bitcp gives up an eighth of that, and below its low window a half.
 */
TEST(a_loss_is_met_with_the_window_in_use)
{
	static const struct {
		__u32 cwnd, ssthresh, out, max, limited, used;
	} cases[] = {
		{160, 320, 160, 160, 1, 160}, {100, 50, 60, 60, 0, 60},	 {100, 50, 60, 80, 0, 80},
		{100, 50, 80, 60, 0, 80},     {100, 50, 60, 60, 1, 100}, {100, 100, 60, 60, 1, 100},
		{100, 101, 60, 60, 1, 60},   /* slow start has doubled it since */
		{160, 320, 120, 80, 0, 120}, /* slow start: more than in any round trip that ended */
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
		/* in avoidance the flag decides; bitcp adds 32 per RTT, of which 100 ACKs are part */
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
