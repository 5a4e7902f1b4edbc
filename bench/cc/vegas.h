/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Vegas: Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global
 * Internet", IEEE JSAC 13(8), 1995, with alpha 1, beta 3 and gamma 1 packets, the values of
 * Feng and Tinnakornsrisuphap (Table 1), who compare it with Reno.
 *
 * Once per RTT the packets that the connection keeps in queues are estimated: the window less
 * what of it the path itself holds, Diff = cwnd * (1 - base / rtt), in whole packets. Congestion
 * avoidance adds a packet when Diff is below alpha and takes one away when it is above beta. Slow
 * start grows every other RTT only, for the estimate needs a window at rest, and ends when Diff is
 * above gamma.
 *
 * How it reads the paper. Feng and Tinnakornsrisuphap simulated ns-2's Vegas (tcp-vegas.cc, 1997):
 *
 * - Diff is rounded to the nearest whole packet, as in ns-2: the window grows while it is below
 *   alpha - 1/2, and shrinks from beta + 1/2 on. That decides how many connections a queue can
 *   hold: each wants half a packet of it, not one.
 * - A window that is not used has queued nothing, whatever the round-trip time: it stays as it is.
 *   ns-2 takes what is in flight for the window instead.
 * - The RTT of a round is the least that was measured in it, which delayed ACKs do not touch
 *   and bursts hardly do. The paper times one packet of the round, ns-2 takes the mean of all.
 * - Slow start ends with the window that the path was seen to carry without a queue, and one
 *   packet. The paper leaves open how large the window is then.
 * - At a loss a quarter of the window is given up, as in ns-2; Linux's own halves it. ns-2 halves
 *   it at a timeout and at the loss of a repair; a quarter is given up here, for no engine says
 *   which loss it is. That a loss is noticed by times rather than by three duplicate ACKs is the
 *   engine's matter.
 * - The base RTT is the least of the connection, until it restarts after idle: the path may be
 *   another then. So Linux has it; in ns-2 it may rise when no more than a packet is in flight.
 */
#pragma once

#include "loss_based.h"

#define VEGAS_ALPHA    1u
#define VEGAS_BETA     3u
#define VEGAS_GAMMA    1u
#define VEGAS_DECREASE CONGESTION_SHARE(1, 4)

struct vegas {
	struct congestion c;
	__u32 base_rtt_us;  /* the least since the connection began, or restarted; 0: none yet */
	__u32 round_rtt_us; /* the least of this round; 0: none yet */
	__u32 round_end;    /* the round is over when this is acknowledged */
	__u32 round_cwnd;   /* the window when it began; 0: a round begins with the next ACK */
	__u32 hold;	    /* slow start: the window rests in this round */
	__u32 unused;
};

congestion_fn void vegas_init(struct vegas *st, __u32 cwnd)
{
	congestion_init(&st->c, cwnd);
	st->base_rtt_us = 0;
	st->round_rtt_us = 0;
	st->round_end = 0;
	st->round_cwnd = 0;
	st->hold = 0;
	st->unused = 0;
}

/* A measured round-trip time; 0 and less is none. */
congestion_fn void vegas_on_rtt(struct vegas *st, __s32 rtt_us)
{
	__u32 rtt = (__u32)rtt_us;

	if (rtt_us <= 0)
		return;
	if (!st->base_rtt_us || rtt < st->base_rtt_us)
		st->base_rtt_us = rtt;
	if (!st->round_rtt_us || rtt < st->round_rtt_us)
		st->round_rtt_us = rtt;
}

congestion_fn void vegas_begin_round(struct vegas *st, const struct congestion_ack *ack)
{
	st->round_end = ack->nxt;
	st->round_cwnd = ack->cwnd;
	st->round_rtt_us = 0;
}

/* Diff, to the nearest whole packet; a round-trip time was measured. At most 2^30. */
congestion_fn __u32 vegas_queued(const struct vegas *st)
{
	__u64 rtt = st->round_rtt_us;
	__u64 queued = (__u64)st->round_cwnd * (st->round_rtt_us - st->base_rtt_us);

	return (__u32)((queued + rtt / 2) / rtt);
}

/* Down to @cwnd, which is where slow start is over. */
congestion_fn void vegas_shrink(struct congestion_ack *ack, __u32 cwnd)
{
	if (cwnd < CONGESTION_MIN_SSTHRESH)
		cwnd = CONGESTION_MIN_SSTHRESH;
	if (cwnd < ack->cwnd)
		ack->cwnd = cwnd;
	if (ack->cwnd < ack->ssthresh)
		ack->ssthresh = ack->cwnd;
}

/* A round of slow start is over. */
congestion_fn void vegas_judge_slow_start(struct vegas *st, struct congestion_ack *ack)
{
	st->hold = !st->hold;
	if (vegas_queued(st) <= VEGAS_GAMMA)
		return;
	st->hold = 0;
	vegas_shrink(ack, (__u32)((__u64)st->round_cwnd * st->base_rtt_us / st->round_rtt_us) + 1);
}

/* A round of congestion avoidance is over. */
congestion_fn void vegas_judge(struct vegas *st, struct congestion_ack *ack)
{
	__u32 queued = vegas_queued(st);

	if (queued > VEGAS_BETA)
		vegas_shrink(ack, ack->cwnd - 1);
	else if (queued < VEGAS_ALPHA && ack->cwnd < CONGESTION_MAX_CWND)
		ack->cwnd++;
}

/*
 * After idle the kernel has halved the window once or more, down to an initial one
 * (tcp_cwnd_restart()): seen where it was twice that.
 */
congestion_fn int vegas_restarted(const struct vegas *st, __u32 cwnd)
{
	return st->round_cwnd && cwnd <= st->c.cwnd / 2;
}

congestion_fn void vegas_on_ack(struct vegas *st, struct congestion_ack *ack)
{
	if (!ack->cwnd)
		return;
	if (vegas_restarted(st, ack->cwnd))
		st->base_rtt_us = 0;
	if (congestion_cwnd_changed(&st->c, ack->cwnd) || !st->round_cwnd) {
		vegas_begin_round(st, ack);
	} else if ((__s32)(ack->una - st->round_end) >= 0) {
		if (st->round_rtt_us && ack->limited && ack->cwnd < ack->ssthresh)
			vegas_judge_slow_start(st, ack);
		else if (st->round_rtt_us && ack->limited)
			vegas_judge(st, ack);
		vegas_begin_round(st, ack);
	}
	if (ack->cwnd < ack->ssthresh && !st->hold)
		congestion_slow_start(&st->c, ack);
	st->c.cwnd = ack->cwnd;
}

congestion_fn __u32 vegas_ssthresh(struct vegas *st, __u32 cwnd)
{
	st->round_cwnd = 0;
	st->hold = 0;
	return congestion_reduce(&st->c, cwnd, VEGAS_DECREASE);
}

congestion_fn __u32 vegas_undo(struct vegas *st, __u32 cwnd)
{
	st->round_cwnd = 0;
	return congestion_undo(&st->c, cwnd);
}
