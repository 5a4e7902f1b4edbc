/* SPDX-License-Identifier: GPL-2.0-only */
/* What limits a direction of a connection, by what its socket holds: the answer of explain. */
#pragma once

#include <linux/types.h>
#include <tcptuned/algo/rightsize.h>

enum tcptuned_limit {
	TCPTUNED_LIMIT_IDLE = 0,    /* nothing in flight, nothing to send; or nothing arrives */
	TCPTUNED_LIMIT_APPLICATION, /* sends or reads less than it may */
	TCPTUNED_LIMIT_CWND,	    /* that no loss has reduced */
	TCPTUNED_LIMIT_LOSS,	    /* cwnd, which losses have reduced, and no queue */
	TCPTUNED_LIMIT_RWND,	    /* the receiver's window */
	TCPTUNED_LIMIT_SNDBUF,
	TCPTUNED_LIMIT_PATH, /* its queue: any of the windows above is large enough */
	TCPTUNED_LIMIT_PACING,
	TCPTUNED_LIMIT_QUEUE,  /* the queue of a device of this host */
	TCPTUNED_LIMIT_SENDER, /* of a receiver, whose window is not used up */
	TCPTUNED_LIMITS,
};

/* Bits of those that can limit a direction. */
#define TCPTUNED_SEND_LIMITS ((1u << TCPTUNED_LIMIT_SENDER) - 1)
#define TCPTUNED_RECEIVE_LIMITS                                         \
	(1u << TCPTUNED_LIMIT_IDLE | 1u << TCPTUNED_LIMIT_APPLICATION | \
	 1u << TCPTUNED_LIMIT_RWND | 1u << TCPTUNED_LIMIT_PATH | 1u << TCPTUNED_LIMIT_SENDER)

/* What is known of a sender. */
struct limit_sender {
	__u32 unsent;	 /* bytes written and never sent */
	__u32 mss;	 /* bytes */
	__u32 in_flight; /* segments */
	__u32 queue;	 /* limit_queue() */
	__u32 sndbuf;	 /* bytes of memory */
	__u32 snd_wnd;	 /* bytes */
	__u8 no_space;	 /* the send buffer is full, or had no room for its writer (SOCK_NOSPACE) */
	__u8 rwnd_limited; /* TCP_CHRONO_RWND_LIMITED */
	__u8 cwnd_limited; /* cwnd was full in this round trip or the last one */
	__u8 lost;	   /* segments were lost, and cwnd reduced */
	__u8 pacing;	   /* enum sk_pacing */
	__u8 throttled;	   /* TSQ_THROTTLED: a queue of this host holds as much as it may */
	__u8 window_full;  /* less of the peer's window is left than the next segment needs */
};

/* What is known of a receiver. */
struct limit_receiver {
	__u32 used;	    /* bytes that arrive in a round trip; 0: none, or not measured */
	__u32 window;	    /* advertised, bytes */
	__u32 queue;	    /* limit_queue() */
	__u32 rmem, rcvbuf; /* memory in use, and allowed, bytes */
	__u64 silent_us;    /* since an ACK left */
	__u32 rtt_us;
	__u8 unread;	  /* much was unread at the end of the last round trip, too */
	__u8 slow_reader; /* its window follows what it reads: reader.h */
};

#define LIMIT_PACING_FQ 2 /* include/net/sock.h, enum sk_pacing; 0: none */

/*
 * A queue of fewer segments is not a path's: no sender begins with less. The RTT of a window below
 * LIMIT_SMALL, which is that of a buffer that is always honoured, may be that of a delayed ACK.
 */
#define LIMIT_QUEUE_SEGMENTS 10u
#define LIMIT_SMALL	     (32u << 10)

/*
 * A receiver is idle after this time and four round trips, and its application slow after the
 * other.
 */
#define LIMIT_IDLE_US	1000000u
#define LIMIT_UNREAD_US 50000u

/*
 * How many of the @bytes that the path carries in a round trip of @rtt_us wait in its queue; 0: the
 * RTT is less than 3/2 of its minimum, or the queue short. Below 2 ms the RTT is no measure of
 * queues.
 */
static inline __u32 limit_queue(__u32 bytes, __u32 rtt_us, __u32 min_rtt_us, __u32 mss)
{
	__u64 min = min_rtt_us < RIGHTSIZE_BASE_MIN_US ? RIGHTSIZE_BASE_MIN_US : min_rtt_us;
	__u64 queue;

	if (!min_rtt_us || 2ull * rtt_us < 3 * min)
		return 0;
	queue = rightsize_muldiv(bytes, rtt_us - min, rtt_us);
	return queue < (__u64)LIMIT_QUEUE_SEGMENTS * mss ? 0 : (__u32)queue;
}

/*
 * Returns an enum tcptuned_limit. The kernel records when the peer's window and cwnd limit a sender
 * (tcp_chrono_start(), tcp_cwnd_validate()). For a full send buffer it often does not: with all of
 * it in flight, that no room is left, or that an application waits for room, is its sign. Where the
 * path has a queue, more of any of the three would only wait there.
 *
 * The two other ends of tcp_write_xmit(), tcp_pacing_check() and tcp_small_queue_check(), are
 * inferred from data that waits though nothing else holds it. Less than a segment may wait for more
 * while others are in flight (tcp_nagle_test()), which is up to the application. Where the queue of
 * this host is fq, it paces.
 */
static inline __u32 limit_of_sender(const struct limit_sender *s)
{
	int waits = s->unsent && (s->unsent >= s->mss || !s->in_flight);

	if (s->rwnd_limited)
		return s->queue && s->snd_wnd >= LIMIT_SMALL ? TCPTUNED_LIMIT_PATH
							     : TCPTUNED_LIMIT_RWND;
	if (s->no_space && s->in_flight && !waits)
		return s->queue && s->sndbuf >= LIMIT_SMALL ? TCPTUNED_LIMIT_PATH
							    : TCPTUNED_LIMIT_SNDBUF;
	if (s->cwnd_limited && s->in_flight && waits)
		return s->queue	 ? TCPTUNED_LIMIT_PATH
		       : s->lost ? TCPTUNED_LIMIT_LOSS
				 : TCPTUNED_LIMIT_CWND;
	if (waits && s->throttled && s->pacing != LIMIT_PACING_FQ)
		return TCPTUNED_LIMIT_QUEUE;
	if (waits && s->pacing)
		return s->window_full ? TCPTUNED_LIMIT_RWND : TCPTUNED_LIMIT_PACING;
	return s->unsent || s->in_flight ? TCPTUNED_LIMIT_APPLICATION : TCPTUNED_LIMIT_IDLE;
}

/*
 * Likewise, of what is received. Data may be unread for a moment because a small window arrives at
 * once, so it counts if none arrives meanwhile, or if it was there a round trip ago. The kernel and
 * right-sizing offer twice of what a round trip carries: with 5/8 of it, a window is used up.
 */
static inline __u32 limit_of_receiver(const struct limit_receiver *r)
{
	if (r->slow_reader ||
	    (r->rmem > r->rcvbuf / 2 && (r->unread || r->silent_us >= LIMIT_UNREAD_US)))
		return TCPTUNED_LIMIT_APPLICATION;
	if (!r->used || r->silent_us >= LIMIT_IDLE_US + 4ull * r->rtt_us)
		return TCPTUNED_LIMIT_IDLE;
	if (r->queue)
		return TCPTUNED_LIMIT_PATH;
	return 8ull * r->used >= 5ull * r->window ? TCPTUNED_LIMIT_RWND : TCPTUNED_LIMIT_SENDER;
}
