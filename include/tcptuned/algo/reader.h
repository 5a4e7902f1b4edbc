/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A receiving application that reads slowly: how much memory may its connection hold?
 *
 * DRS section II: data that was acknowledged must be kept until the application takes it, so that
 * one which reads slowly holds memory for as long as it likes. By the rule of section III.B it may
 * hold twice what it reads in a round trip.
 */
#ifndef TCPTUNED_READER_H
#define TCPTUNED_READER_H

#include <tcptuned/algo/rightsize.h>

/* An application is slow, and not just busy, whose unread data stays high for this long. */
#define RIGHTSIZE_SLOW_ROUNDS 8u
#define RIGHTSIZE_SLOW_US     250000u

/* The application at the receiving end. All zeroes is a new one. */
struct rightsize_reader {
	__u64 since_us; /* since when its unread data has been high; 0: it is not */
	__u32 read;	/* the counter of bytes read then */
	__u32 rounds;	/* rounds since */
	__u32 window;	/* what it is given, bytes; 0: it reads fast enough */
};

/*
 * Weigh the application that reads, once a round.
 *
 * @read:   a counter of the bytes that it has read, modulo 2^32
 * @unread: bytes that arrived in order and wait for it
 * @offer:  the window that the sender has, bytes
 * @min:    the smallest window allowed
 *
 * Its window comes down by at most half at a time, once its unread data has been more than half of
 * the window for eight rounds, and is the kernel's again when the data has been read.
 */
static inline void rightsize_weigh_reader(struct rightsize_reader *reader, __u64 now_us,
					  __u32 rtt_us, __u32 read, __u32 unread, __u32 offer,
					  __u32 min)
{
	__u64 elapsed = now_us - reader->since_us, window = (__u64)unread + offer;

	if (reader->window && window > reader->window)
		window = reader->window;
	if (unread <= window / 2) {
		reader->since_us = 0;
		if (unread <= reader->window / 8)
			reader->window = 0;
		return;
	}
	if (reader->since_us) {
		reader->rounds++;
		if (reader->rounds < RIGHTSIZE_SLOW_ROUNDS || elapsed < RIGHTSIZE_SLOW_US)
			return;
		window /= 2;
		elapsed = 2 * rightsize_muldiv(rightsize_rate(read - reader->read, elapsed),
					       rtt_us, 1000000);
		if (window < elapsed)
			window = elapsed;
		if (!reader->window || window < reader->window)
			reader->window = rightsize_clamp_window(window, min);
	}
	reader->since_us = now_us;
	reader->read = read;
	reader->rounds = 0;
}

/*
 * The window to offer where at most @limit bytes may be offered and wait unread together: the rest
 * of it, but at least @min, so that the sender goes on asking.
 */
static inline __u32 rightsize_offer(__u32 limit, __u32 unread, __u32 min)
{
	return limit > unread && limit - unread > min ? limit - unread : min;
}

#endif
