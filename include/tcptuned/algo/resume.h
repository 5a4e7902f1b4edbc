/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The congestion window after a pause, and on a known path. A kernel that sent nothing for longer
 * than its RTO forgets the window, and starts again with slow start (RFC 2861). RFC 7661 keeps it
 * for five minutes if the path has carried half of it in a round trip (pipeACK), because within one
 * more round trip it is known whether the path still does. Until then what is sent is unvalidated;
 * it is paced, so that no queue gets it as one burst.
 *
 * RFC 9959 says how that ends: with the first ACK the window is what was sent with it by then, and
 * from there the congestion control goes on. At a loss or a CE mark before all of that is
 * acknowledged, it is what was acknowledged so far, of which the congestion control keeps its
 * share. A new connection whose path is known (path.h) goes the same way, once its initial window
 * is acknowledged without a loss.
 *
 * Windows are packets.
 */
#pragma once

#include <tcptuned/algo/congestion.h>

/* RFC 7661: the longest nonvalidated period. After so long a pause half of the window is left. */
#define RESUME_HALF_LIFE_S 300u

/* Slow start has a smaller window after two round trips. */
#define RESUME_WINDOW_MIN (4 * CONGESTION_INITIAL_WINDOW)

/*
 * What is known of a path holds for the next 2 to 3 x 2^20 us; then another connection may use it
 * (PATH_JUMP_S).
 */
#define RESUME_KNOWN_SHIFT 20u
#define RESUME_KNOWN_MAX   2u

enum resume_state {
	RESUME_NORMAL, /* the congestion control decides */
	RESUME_READY,  /* a pause has ended: the next segment begins with the window of before */
	RESUME_KNOWN,  /* a known path: its window follows the first (RFC 9959, Reconnaissance) */
	RESUME_UNVALIDATED, /* nothing that was sent with it is acknowledged */
	RESUME_VALIDATING,  /* not all of it is */
};

/* One connection. All zeroes: normal. */
struct resume {
	__u32 packets; /* ready, known: the window to go on with; later: delivered before, in all */
	__u32 end;     /* sequence number: the end of validation, or of pacing; known: since when */
	__u8 state;    /* enum resume_state */
	__u8 paced : 5;	 /* rounds of pacing that remain, of the caller (bpf/cc/engine.h) */
	__u8 finite : 1; /* ... which has made ssthresh finite for a jump */
	__u8 jumps : 1;	 /* on a known path, not after a pause, until it is validated or lost */
	__u8 slower : 1; /* that carries less than it did */
	__u16 restart;	 /* the window that the kernel has left, at most 65535 */
};

/* The next segment goes on with a window of @packets, or with a larger one that the kernel left. */
congestion_fn void resume_ready(struct resume *r, __u32 packets)
{
	r->state = RESUME_READY;
	r->packets = packets;
	r->finite = r->jumps = r->slower = 0;
}

/*
 * A pause of @pause_s ends, before which the window was @cwnd; the path has carried @pipe in a
 * round trip. Returns whether resume_begin() is to follow with the first segment.
 */
congestion_fn int resume_after_pause(struct resume *r, __u32 pause_s, __u32 cwnd, __u32 pipe)
{
	__u32 halvings = pause_s / RESUME_HALF_LIFE_S, window = pipe < cwnd / 2 ? 2 * pipe : cwnd;

	window = halvings < 32 ? window >> halvings : 0;
	resume_ready(r, window);
	if (window < RESUME_WINDOW_MIN)
		r->state = RESUME_NORMAL;
	return r->state;
}

/* A new connection on a path that is known to carry twice @window in a round trip. */
congestion_fn void resume_known(struct resume *r, __u32 window, __u64 now_us)
{
	r->state = window < RESUME_WINDOW_MIN ? RESUME_NORMAL : RESUME_KNOWN;
	r->packets = window;
	r->jumps = r->state == RESUME_KNOWN;
	r->end = (__u32)(now_us >> RESUME_KNOWN_SHIFT);
}

/* What is known of a path holds no longer. */
congestion_fn void resume_expire(struct resume *r, __u64 now_us)
{
	if (r->state != RESUME_KNOWN ||
	    (__u32)(now_us >> RESUME_KNOWN_SHIFT) - r->end <= RESUME_KNOWN_MAX)
		return;
	r->state = RESUME_NORMAL;
	r->jumps = 0;
}

/*
 * Whether an ACK allows to jump: with a SYN the initial window is @delivered (0: nothing waits to
 * be sent), slow start goes on, and the window is used. The first one left as one train of packets,
 * so that the last one of them (@rtt_us) is later than the first one could be (@min_rtt_us) by as
 * long as the path needs for them: a path that has become slower is noticed, and the jump is what
 * it carries in an RTT. Without SACK the kernel does not measure @rtt_us (0), and there is no jump.
 */
congestion_fn int resume_may_jump(struct resume *r, const struct congestion_ack *a, __u32 delivered,
				  __u32 rtt_us, __u32 min_rtt_us, __u64 now_us)
{
	__u32 spread_us = rtt_us > min_rtt_us ? rtt_us - min_rtt_us : 0;

	resume_expire(r, now_us);
	if (r->state != RESUME_KNOWN || delivered <= CONGESTION_INITIAL_WINDOW || !a->limited)
		return 0;
	r->slower = (__u64)r->packets * spread_us > (__u64)CONGESTION_INITIAL_WINDOW * min_rtt_us;
	if (r->slower)
		r->packets = CONGESTION_INITIAL_WINDOW * min_rtt_us / spread_us;
	if (!rtt_us || r->packets <= a->cwnd || a->cwnd >= a->ssthresh) {
		r->state = RESUME_NORMAL;
		r->jumps = 0;
	}
	return r->state == RESUME_KNOWN;
}

congestion_fn __u16 resume_limit(__u32 window)
{
	return window < 0xffff ? (__u16)window : 0xffff;
}

/*
 * The first segment leaves after a pause, or with a jump, in place of the window @restart of the
 * kernel (tcp_cwnd_restart(), slow start); @nxt is the next sequence number, and @delivered packets
 * were delivered before. Returns the window.
 */
congestion_fn __u32 resume_begin(struct resume *r, __u32 restart, __u32 nxt, __u32 delivered)
{
	__u32 window = r->packets > restart ? r->packets : restart;

	r->state = RESUME_UNVALIDATED;
	r->packets = delivered;
	r->end = nxt;
	r->restart = resume_limit(restart);
	return window;
}

/*
 * An ACK outside of a recovery, after which @flight packets are in flight. Returns the window from
 * which the congestion control goes on, not less than the kernel's.
 */
congestion_fn __u32 resume_on_ack(struct resume *r, const struct congestion_ack *a, __u32 flight)
{
	__u32 cwnd = a->cwnd, sent = a->acked + flight;

	if (r->state < RESUME_UNVALIDATED) {
		if (r->state == RESUME_READY)
			r->state = RESUME_NORMAL;
		return cwnd;
	}
	if (r->state == RESUME_UNVALIDATED) {
		if ((__s32)(a->una - r->end) <= 0) {
			/* slow start would grow */
			r->restart = resume_limit(r->restart + (r->jumps ? a->acked : 0));
			return cwnd;
		}
		if (sent < r->restart)
			sent = r->restart;
		cwnd = sent < cwnd ? sent : cwnd;
		r->state = RESUME_VALIDATING;
		r->end = a->nxt;
	}
	if ((__s32)(a->una - r->end) >= 0) {
		r->state = RESUME_NORMAL;
		r->jumps = 0;
	}
	return cwnd;
}

/*
 * A loss or a CE mark, when @delivered packets are delivered. Returns the window that the path has
 * carried since the pause, of which the congestion control keeps its share, or 0: the one in use.
 */
congestion_fn __u32 resume_retreat(struct resume *r, __u32 delivered)
{
	__u32 carried = delivered - r->packets;
	int validates = r->state >= RESUME_UNVALIDATED;

	r->jumps &= r->state >= RESUME_KNOWN;
	r->state = RESUME_NORMAL;
	if (!validates) {
		r->finite = 0;
		return 0;
	}
	return carried > CONGESTION_INITIAL_WINDOW ? carried : CONGESTION_INITIAL_WINDOW;
}
