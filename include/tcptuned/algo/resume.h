/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The congestion window after a pause. A kernel that sent nothing for longer than its RTO forgets the window, and slow
 * start begins again (RFC 2861). RFC 7661 keeps it for five minutes if the path has carried half of it in a round trip
 * (pipeACK), because within one more round trip it is known whether the path still does. Until then what is sent is
 * unvalidated; it is paced, so that no queue gets it as one burst.
 *
 * RFC 9959 says how that ends: with the first ACK the window is what was in flight by then, and from there the
 * congestion control goes on. At a loss or a CE mark before all of that is acknowledged, it is what was acknowledged
 * so far, of which the congestion control keeps its share.
 *
 * Packets and seconds. Pure: no globals, no calls, integers only.
 */
#ifndef TCPTUNED_RESUME_H
#define TCPTUNED_RESUME_H

#include <tcptuned/algo/congestion.h>

/* RFC 7661: the longest nonvalidated period. After so long a pause half of the window is left. */
#define RESUME_HALF_LIFE_S 300u

/* Slow start has a smaller window after two round trips. */
#define RESUME_WINDOW_MIN (4 * CONGESTION_INITIAL_WINDOW)

enum resume_state {
	RESUME_NORMAL, /* the congestion control decides */
	RESUME_READY,  /* a pause has ended: the next segment begins with the window of before */
	RESUME_UNVALIDATED, /* none of that is acknowledged */
	RESUME_VALIDATING,  /* not all of it is */
};

/* One connection. All zeroes: normal. */
struct resume {
	__u32 packets; /* ready: the window to resume with; later: what was delivered before, all packets */
	__u32 end;     /* the sequence number that ends the round: of validation, or of pacing */
	__u8 state;    /* enum resume_state */
	__u8 paced;    /* rounds of pacing that remain, of the caller (bpf/cc/congestion.h) */
	__u16 restart; /* the window that the kernel has left, at most 65535 */
};

/*
 * A pause of @pause_s ends, before which the window was @cwnd; the path has carried @pipe in a round trip. Returns
 * whether resume_begin() is to follow with the first segment.
 */
congestion_fn int resume_after_pause(struct resume *r, __u32 pause_s, __u32 cwnd, __u32 pipe)
{
	__u32 halvings = pause_s / RESUME_HALF_LIFE_S, window = pipe < cwnd / 2 ? 2 * pipe : cwnd;

	window = halvings < 32 ? window >> halvings : 0;
	r->state = window < RESUME_WINDOW_MIN ? RESUME_NORMAL : RESUME_READY;
	r->packets = window;
	return r->state;
}

/*
 * The first segment leaves, with the window @restart that the kernel has left (tcp_cwnd_restart()), and @delivered
 * packets were delivered before. Returns the window.
 */
congestion_fn __u32 resume_begin(struct resume *r, __u32 restart, __u32 delivered)
{
	__u32 window = r->packets > restart ? r->packets : restart;

	r->state = RESUME_UNVALIDATED;
	r->packets = delivered;
	r->restart = restart < 0xffff ? restart : 0xffff;
	return window;
}

/*
 * An ACK outside of a recovery: @delivered packets are by now, and @flight are not. Returns the window from which the
 * congestion control goes on, not less than the kernel's.
 */
congestion_fn __u32 resume_on_ack(struct resume *r, const struct congestion_ack *a, __u32 delivered,
				  __u32 flight)
{
	__u32 cwnd = a->cwnd, sent = delivered - r->packets + flight;

	if (r->state < RESUME_UNVALIDATED) {
		r->state = RESUME_NORMAL;
		return cwnd;
	}
	if (r->state == RESUME_UNVALIDATED) {
		if (sent < r->restart)
			sent = r->restart;
		cwnd = sent < cwnd ? sent : cwnd;
		r->state = RESUME_VALIDATING;
		r->end = a->nxt;
	}
	if ((__s32)(a->una - r->end) >= 0)
		r->state = RESUME_NORMAL;
	return cwnd;
}

/*
 * A loss or a CE mark, when @delivered packets are delivered. Returns the window that the path has carried since the
 * pause, of which the congestion control keeps its share, or 0: the one in use.
 */
congestion_fn __u32 resume_retreat(struct resume *r, __u32 delivered)
{
	__u32 carried = delivered - r->packets;

	if (r->state < RESUME_UNVALIDATED)
		return 0;
	r->state = RESUME_NORMAL;
	return carried > CONGESTION_INITIAL_WINDOW ? carried : CONGESTION_INITIAL_WINDOW;
}

#endif
