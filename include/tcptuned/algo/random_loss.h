/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Losses that no queue causes, as on radio links and long lines: a congestion control that halves
 * its window at each of them does not fill the path. Another one is tried, and kept if it carries
 * more and loses no more.
 *
 * A queue that overflows, or a policer, drops what is left of a burst: many segments in a round
 * trip, at about the same window each time, or as the queue is full, at a long RTT. So losses count
 * as random if in a row each recovery was from few of them, out of a window of many, at an RTT
 * without a queue, while the window fell to half of the one that the path had carried before
 * without a queue.
 *
 * Windows are segments, times microseconds.
 */
#pragma once

#include <linux/types.h>
#include <tcptuned/algo/amounts.h>

/*
 * Of a smaller window, a full queue may drop one segment: bursts are of at most 64 KB, 44 segments.
 */
#define RANDOM_LOSS_WINDOW_MIN 128u

/*
 * Few are two, in one recovery or in two that follow at once, and another one for each so many
 * segments of the window.
 */
#define RANDOM_LOSS_FEW	       2u
#define RANDOM_LOSS_PER_WINDOW 1024u

/*
 * So many recoveries from few losses in a row; on a path that has shown it before, the first one is
 * enough.
 */
#define RANDOM_LOSS_IN_A_ROW 3u

/*
 * An RTT of more than an eighth above the minimum is a queue, and so is one of CoDel, which drops
 * from 5 ms on (RFC 8289).
 */
#define RANDOM_LOSS_RTT_SHIFT 3u
#define RANDOM_LOSS_RTT_US    4000u

/* On a shorter path a window grows again within milliseconds. */
#define RANDOM_LOSS_PATH_US 2000u

/*
 * Of a trial, the rounds until the new congestion control has found its rate, and those that are
 * measured then.
 */
#define RANDOM_LOSS_ROUNDS 16u

/*
 * It is kept if it carries 5/8 of the largest of these windows, and loses at most a segment of 512:
 * BBR loses more in a queue.
 */
#define RANDOM_LOSS_CARRIED_8 5u
#define RANDOM_LOSS_SEGMENTS  512u

/* ... which is looked at again each time that so many have arrived. */
#define RANDOM_LOSS_JUDGED (8u * RANDOM_LOSS_SEGMENTS)

enum random_loss_state {
	RANDOM_LOSS_WATCHED = 0,
	RANDOM_LOSS_TRIED,
	RANDOM_LOSS_KEPT,
	RANDOM_LOSS_DROPPED, /* for the rest of the connection */
};

/* All zeroes: a new one. */
struct random_loss {
	__u32 retransmitted; /* at the last look; since a trial has begun, at the mark */
	__u32 delivered;     /* at the mark */
	__u32 mark_us;	     /* when that was, modulo 2^32 */
	__u32 dsacks;	     /* likewise */
	__u32 high_seq;	     /* of the last recovery */
	__u32 best;	     /* the largest window of the losses in a row */
	__u32 window;	     /* of the last one */
	__u32 before_rtt_us; /* smoothed, at that */
	__u32 after; /* delivered per minimum RTT by the one that was tried; 0: not measured */
	__u32 after_rtt_us;
	__u8 state;
	__u8 few;    /* recoveries in a row */
	__u8 rounds; /* since the trial began, or since the mark */
	__u8 marked;
	__u8 known; /* the path has shown it before */
	__u8 room;  /* round trips with room in a row, while nothing is tried: room.h */
	__u8 path_is_long;
	__u8 unused;
};

/* A round trip that has ended. */
struct random_loss_round {
	__u32 retransmitted; /* segments, in all, modulo 2^32 */
	__u32 delivered;     /* likewise */
	__u32 dsacks;	     /* segments of which the peer said that they came twice, modulo 2^32 */
	__u32 high_seq;	     /* at which the last recovery ends, or has ended */
	__u32 prior_cwnd;    /* before that */
	__u32 in_flight;     /* segments at most, in the last window of data */
	__u32 srtt_us;
	__u32 min_rtt_us;
	__u32 now_us;	   /* modulo 2^32 */
	__u32 recovering;  /* 1: losses are being repaired */
	__u32 app_limited; /* 1: the application has not filled the window */
	__u32 cwnd;
	__u32 full; /* 1: cwnd is the limit, and past slow start */
};

enum random_loss_did {
	RANDOM_LOSS_NOTHING = 0,
	RANDOM_LOSS_TRY,  /* another congestion control */
	RANDOM_LOSS_KEEP, /* it, for now */
	RANDOM_LOSS_DROP, /* it, for good */
};

/* Returns whether another congestion control is being tried, or was kept. */
static inline int random_loss_has_another(const struct random_loss *l)
{
	return l->state == RANDOM_LOSS_TRIED || l->state == RANDOM_LOSS_KEPT;
}

/* Returns whether a queue stands on the path. */
static inline int random_loss_is_queued(const struct random_loss_round *r)
{
	__u32 most = r->min_rtt_us >> RANDOM_LOSS_RTT_SHIFT;

	if (most > RANDOM_LOSS_RTT_US)
		most = RANDOM_LOSS_RTT_US;
	return r->srtt_us > r->min_rtt_us + most;
}

/*
 * Returns whether a recovery from @lost segments was from few, of a window that was in use, without
 * a queue.
 */
static inline int random_loss_is_one(const struct random_loss_round *r, __u32 lost)
{
	return lost <= RANDOM_LOSS_FEW + r->prior_cwnd / RANDOM_LOSS_PER_WINDOW &&
	       r->prior_cwnd >= RANDOM_LOSS_WINDOW_MIN && r->prior_cwnd / 2 <= r->in_flight &&
	       r->min_rtt_us >= RANDOM_LOSS_PATH_US && !random_loss_is_queued(r);
}

/* Counts the losses of a recovery. Returns RANDOM_LOSS_TRY or RANDOM_LOSS_NOTHING. */
static inline enum random_loss_did random_loss_watch(struct random_loss *l,
						     const struct random_loss_round *r)
{
	__u32 lost = r->retransmitted - l->retransmitted;
	int recovered = r->high_seq != l->high_seq;

	if (r->recovering)
		return RANDOM_LOSS_NOTHING;
	if (r->dsacks != l->dsacks) /* it was late, and not lost */
		l->few = l->best = 0;
	l->dsacks = r->dsacks;
	l->retransmitted = r->retransmitted;
	l->high_seq = r->high_seq;
	if (!lost || !recovered) /* or it was only a probe (RFC 8985) */
		return RANDOM_LOSS_NOTHING;
	if (!random_loss_is_one(r, lost)) {
		l->few = l->best = 0;
		return RANDOM_LOSS_NOTHING;
	}
	if (r->prior_cwnd > l->best) {
		l->best = r->prior_cwnd;
		l->few = 0;
	}
	l->few += l->few < RANDOM_LOSS_IN_A_ROW;
	l->window = r->prior_cwnd;
	l->before_rtt_us = r->srtt_us;
	if (!l->known && (l->few < RANDOM_LOSS_IN_A_ROW || l->window > l->best / 2))
		return RANDOM_LOSS_NOTHING;
	l->state = RANDOM_LOSS_TRIED;
	l->rounds = l->marked = 0;
	return RANDOM_LOSS_TRY;
}

static inline void random_loss_mark(struct random_loss *l, const struct random_loss_round *r)
{
	l->marked = 1;
	l->rounds = 0;
	l->retransmitted = r->retransmitted;
	l->dsacks = r->dsacks;
	l->delivered = r->delivered;
	l->mark_us = r->now_us;
}

/* Returns whether more was lost since the mark than may be. */
static inline int random_loss_is_too_much(const struct random_loss *l,
					  const struct random_loss_round *r)
{
	__u32 sent_again = r->retransmitted - l->retransmitted, late = r->dsacks - l->dsacks;
	__u32 lost = late < sent_again ? sent_again - late : 0;

	return (__u64)lost * RANDOM_LOSS_SEGMENTS > r->delivered - l->delivered;
}

/*
 * What was tried or kept goes on, and is measured from now on, or is dropped. Returns whether it
 * goes on.
 */
static inline int random_loss_goes_on(struct random_loss *l, const struct random_loss_round *r,
				      int keep)
{
	l->state = keep ? RANDOM_LOSS_KEPT : RANDOM_LOSS_DROPPED;
	if (keep)
		random_loss_mark(l, r);
	return keep;
}

/* The end of a trial: did it carry enough, and lose little? */
static inline enum random_loss_did random_loss_judge(struct random_loss *l,
						     const struct random_loss_round *r)
{
	l->after = (__u32)rightsize_muldiv(r->delivered - l->delivered, r->min_rtt_us,
					   r->now_us - l->mark_us);
	l->after_rtt_us = r->srtt_us;
	return random_loss_goes_on(l, r,
				   !random_loss_is_too_much(l, r) &&
					   8ull * l->after >=
						   (__u64)RANDOM_LOSS_CARRIED_8 * l->best)
		       ? RANDOM_LOSS_KEEP
		       : RANDOM_LOSS_DROP;
}

/*
 * Looks at the losses since, once enough was carried: others may have come, and the application may
 * send less now.
 */
static inline enum random_loss_did random_loss_judge_again(struct random_loss *l,
							   const struct random_loss_round *r)
{
	if (r->delivered - l->delivered < RANDOM_LOSS_JUDGED ||
	    random_loss_goes_on(l, r, !random_loss_is_too_much(l, r)))
		return RANDOM_LOSS_NOTHING;
	return RANDOM_LOSS_DROP;
}

/* Called at the end of each round trip. */
static inline enum random_loss_did random_loss_round(struct random_loss *l,
						     const struct random_loss_round *r)
{
	if (l->state == RANDOM_LOSS_WATCHED)
		return random_loss_watch(l, r);
	if (l->state == RANDOM_LOSS_KEPT)
		return random_loss_judge_again(l, r);
	if (l->state == RANDOM_LOSS_DROPPED)
		return RANDOM_LOSS_NOTHING;
	/*
	 * A round that the application has not filled says nothing of the rate: the measurement
	 * begins again.
	 */
	if (l->marked && r->app_limited) {
		random_loss_mark(l, r);
		return RANDOM_LOSS_NOTHING;
	}
	if (++l->rounds < RANDOM_LOSS_ROUNDS)
		return RANDOM_LOSS_NOTHING;
	if (l->marked)
		return random_loss_judge(l, r);
	random_loss_mark(l, r);
	return RANDOM_LOSS_NOTHING;
}
