/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much memory the connection of an application that reads slowly may hold.
 *
 * DRS section II: acknowledged data has to be kept until the application reads it, so that a slow
 * one holds memory for as long as it likes. By the rule of section III.B it may hold twice what it
 * reads in a round trip.
 */
#pragma once

#include <tcptuned/algo/rightsize.h>

/* An application is slow, not only busy, if its unread data stays high for this long. */
#define RIGHTSIZE_SLOW_ROUNDS 8u
#define RIGHTSIZE_SLOW_US     250000u

/* The application at the receiving end; all zeroes: a new one. */
struct rightsize_reader {
	__u64 since_us; /* when its unread data became high; 0: it is not */
	__u32 read;	/* the counter of bytes read at that time */
	__u32 rounds;	/* since then; while it is not: rounds in a row with hardly any */
	__u32 window;	/* bytes; 0: no limit, it reads fast enough */
};

/*
 * Call once a round, with the ACK that ended it.
 *
 * @read:   a counter of the bytes that the application has read, modulo 2^32
 * @unread: bytes that arrived in order and are not read
 * @offer:  the offered window, bytes
 *
 * The window is reduced by at most half at a time, after the unread data has exceeded half of the
 * window for eight rounds in which the application has read: one that pauses, and then reads all of
 * it, is not slow, and what was offered cannot be taken back. While nearly all data has been read
 * at the ends of rounds in a row it doubles with each but the first, since an application that
 * reads large blocks reads all of it now and then; after eight it is the kernel's again.
 */
static inline void rightsize_weigh_reader(struct rightsize_reader *reader,
					  const struct rightsize_ack *ack, __u32 read, __u32 unread,
					  __u32 offer)
{
	__u64 elapsed = ack->now_us - reader->since_us, window = (__u64)unread + offer;

	if (reader->window && window > reader->window)
		window = reader->window;
	if (unread <= window / 2) {
		if (reader->since_us || unread > reader->window / 8)
			reader->rounds = 0;
		else if (++reader->rounds >= RIGHTSIZE_SLOW_ROUNDS)
			reader->window = 0;
		else if (reader->window && reader->rounds > 1)
			reader->window =
				rightsize_clamp_window(2 * (__u64)reader->window, ack->min);
		reader->since_us = 0;
		return;
	}
	if (reader->since_us) {
		reader->rounds++;
		if (reader->rounds < RIGHTSIZE_SLOW_ROUNDS || elapsed < RIGHTSIZE_SLOW_US)
			return;
		window /= 2;
		elapsed = 2 * rightsize_muldiv(rightsize_rate(read - reader->read, elapsed),
					       ack->rtt_us, 1000000);
		if (window < elapsed)
			window = elapsed;
		if (read != reader->read && (!reader->window || window < reader->window))
			reader->window = rightsize_clamp_window(window, ack->min);
	}
	reader->since_us = ack->now_us;
	reader->read = read;
	reader->rounds = 0;
}

/*
 * The window to offer where offered and unread bytes together may be @limit. It is at least @min,
 * so that the sender need not probe a closed window.
 */
static inline __u32 rightsize_offer(__u32 limit, __u32 unread, __u32 min)
{
	return limit > unread && limit - unread > min ? limit - unread : min;
}
