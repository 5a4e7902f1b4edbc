/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BI-TCP: Binary Increase TCP congestion control.
 *
 * Xu, Harfoush, Rhee, "Binary Increase Congestion Control for Fast, Long Distance Networks",
 * INFOCOM 2004. The pseudo-code of section VI-A is the specification; this file is its integer
 * form, in the order of a connection's life. No globals, no libc, no kernel call: it compiles as
 * BPF, C and C++.
 *
 * Windows are in packets (MSS-sized segments). "Q32" is a __u64 of packets times 2^32. The
 * kernel keeps whole packets in snd_cwnd; the state keeps the other 32 bits.
 *
 * How the paper is interpreted:
 *
 * - The pseudo-code sets min_win to the window on every ACK, so min_win is not stored, and
 *   target_win - cwnd is (max_win - cwnd) / 2. In the text the distance to the maximum halves per
 *   RTT. In the pseudo-code, which moves target_win with each ACK, it shrinks by e^-1/2 (0.61) per
 *   RTT. The pseudo-code is followed.
 * - S_min is a lower bound of the growth per RTT in the binary search. In the text the search ends
 *   when maximum and minimum are within S_min, and N_2 = log2(d / S_min) + 2 of section VI-B.1
 *   counts the increments d/2, d/4, ... S_min. The pseudo-code, which does not name S_min, would
 *   approach max_win for ever without passing it.
 * - Two slips are corrected. (1) At the beginning of the slow start past the maximum, the text
 *   makes the window the new minimum and takes the midpoint to the default maximum. The pseudo-code
 *   leaves target_win behind, so that one ACK after that slow start would shrink the window. Here
 *   the target is derived. (2) A loss during that slow start makes the maximum known, which in the
 *   text ends it. The pseudo-code leaves is_BITCP_ss set, with an ss_target above the window.
 * - One is kept. Passing the maximum sets it to default_max_win, so the next loss (and the first
 *   one of a connection) finds a "previous maximum" above the window and applies fast convergence,
 *   although the window has not fallen.
 *
 * One thing is added: a connection can begin with the maximum that an earlier one found on its path
 * (bitcp_seed()), instead of the default maximum.
 */
#pragma once

#include <linux/types.h>

#define bitcp_fn static inline __attribute__((always_inline))

#ifdef __cplusplus
#define bitcp_assert static_assert
#else
#define bitcp_assert _Static_assert
#endif

/* num/den packets as Q32, rounded to nearest; num below 2^32. */
#define BITCP_PACKETS(num, den) ((((__u64)(num) << 32) + (den) / 2) / (den))

/* --- parameters ---------------------------------------------------------------------- */

/*
 * The defaults are the paper's (VI-B.3, VII). It gives no ranges, but the effect of each parameter:
 * a larger S_max or a smaller S_min makes the response steeper, and so less fair between RTTs,
 * where W_max * beta <= 2 * S_max; a smaller beta uses the path better and converges more slowly.
 * The ranges follow from S_min <= S_max; from the slow start past the maximum, which begins at 1
 * packet per RTT, so that S_max >= 1; from the beta of normal TCP, 0.5; and from the smallest
 * window after a loss, 2 packets. The remaining limits keep the arithmetic below exact.
 */
#define BITCP_S_MAX_DEFAULT	 BITCP_PACKETS(32, 1)
#define BITCP_S_MAX_LOWEST	 BITCP_PACKETS(1, 1)
#define BITCP_S_MAX_HIGHEST	 BITCP_PACKETS(1024, 1)
#define BITCP_S_MIN_DEFAULT	 BITCP_PACKETS(1, 100)
#define BITCP_S_MIN_LOWEST	 BITCP_PACKETS(1, 10000)
#define BITCP_S_MIN_HIGHEST	 BITCP_PACKETS(1, 1)
#define BITCP_BETA_DEFAULT	 BITCP_PACKETS(1, 8)
#define BITCP_BETA_LOWEST	 BITCP_PACKETS(1, 1000)
#define BITCP_BETA_HIGHEST	 BITCP_PACKETS(1, 2)
#define BITCP_LOW_WINDOW_DEFAULT 14
#define BITCP_LOW_WINDOW_LOWEST	 2
#define BITCP_LOW_WINDOW_HIGHEST 65536

struct bitcp_params {
	__u64 s_max;	  /* maximum growth per RTT, Q32 packets */
	__u64 s_min;	  /* minimum growth per RTT in binary search, Q32 packets */
	__u32 beta;	  /* share of the window that a loss costs, times 2^32 */
	__u32 low_window; /* packets; below it, normal TCP */
};

bitcp_fn struct bitcp_params bitcp_params_default(void)
{
	struct bitcp_params p;

	p.s_max = BITCP_S_MAX_DEFAULT;
	p.s_min = BITCP_S_MIN_DEFAULT;
	p.beta = (__u32)BITCP_BETA_DEFAULT;
	p.low_window = BITCP_LOW_WINDOW_DEFAULT;
	return p;
}

/* 1 when every parameter is in its range (then also s_min <= s_max), else 0. */
bitcp_fn int bitcp_params_valid(const struct bitcp_params *p)
{
	return p->s_max >= BITCP_S_MAX_LOWEST && p->s_max <= BITCP_S_MAX_HIGHEST &&
	       p->s_min >= BITCP_S_MIN_LOWEST && p->s_min <= BITCP_S_MIN_HIGHEST &&
	       p->beta >= BITCP_BETA_LOWEST && p->beta <= BITCP_BETA_HIGHEST &&
	       p->low_window >= BITCP_LOW_WINDOW_LOWEST &&
	       p->low_window <= BITCP_LOW_WINDOW_HIGHEST;
}

/* --- state --------------------------------------------------------------------------- */

/* default_max_win, packets: no window exceeds it, since TCP's largest one is 2^30 bytes. */
#define BITCP_MAX_CWND 0x40000000u
#define BITCP_MAX_WIN  ((__u64)BITCP_MAX_CWND << 32)

/*
 * One connection, in the kernel's icsk_ca_priv (13 u64). Its copy of the parameters keeps a change
 * from open connections. All zeroes, as during the handshake, is normal TCP.
 */
struct bitcp {
	struct bitcp_params params;
	__u64 max_win;	 /* Q32 */
	__u64 ss_target; /* Q32; used while ss_cwnd is not 0 */
	__u32 ss_cwnd;	 /* packets per RTT in the slow start past the maximum; 0: not in it */
	__u32 cwnd;	 /* as returned last; a different snd_cwnd was set from outside */
	__u32 frac;	 /* of cwnd, 2^-32 packets */
	__u32 undo_ss_cwnd;
	__u64 carry; /* remainder of the last division in bitcp_step() */
	/* Before the last reduction; undo_win 0: nothing to undo. */
	__u64 undo_win;
	__u64 undo_max_win;
	__u64 undo_ss_target;
	__u32 seed_step; /* packets per RTT towards a remembered maximum; 0: there is none */
	__u32 others;	 /* the first 4 of the last 12 bytes of icsk_ca_priv: bpf/cc/engine.h */
};

bitcp_assert(__builtin_offsetof(struct bitcp, others) <= 92, "104 bytes without these 12");
bitcp_assert(sizeof(struct bitcp) % 8 == 0, "icsk_ca_priv is an array of u64");

enum bitcp_mode {
	BITCP_SLOW_START,	   /* the standard one, below ssthresh */
	BITCP_NORMAL,		   /* below low_window: plain TCP */
	BITCP_BINARY_SEARCH,	   /* approaching the maximum */
	BITCP_ADDITIVE,		   /* S_max per RTT */
	BITCP_SLOW_START_PAST_MAX, /* probing for a new maximum: 1, 2, 4 ... S_max per RTT */
};

/*
 * A new connection, or one that changes to BI-TCP, with a window of @cwnd packets. Invalid
 * parameters (of an empty or half-written map entry) become the defaults.
 */
bitcp_fn void bitcp_init(struct bitcp *st, const struct bitcp_params *params, __u32 cwnd)
{
	struct bitcp_params p = *params;

	if (!bitcp_params_valid(&p))
		p = bitcp_params_default();
	__builtin_memset(st, 0, sizeof(*st));
	st->params = p;
	st->max_win = BITCP_MAX_WIN;
	st->cwnd = cwnd;
}

/* A remembered maximum smaller than this, or than two initial windows, is ignored. */
#define BITCP_SEED_MIN 32u
/* The window grows from 14/16 of a remembered maximum by 1/16 of it per RTT. */
#define BITCP_SEED_PARTS 16u

/*
 * Begins with the maximum, in packets, that another connection has found on this path recently.
 * Returns the ssthresh at which slow start ends, or 0: the maximum is not usable.
 *
 * A correct maximum avoids the loss of a whole window with which a first slow start ends. One that
 * is too low must not cost more than that: two round trips after ssthresh the window is at the
 * maximum, and if it passes that without a loss it grows by 1, 2, 4 ... sixteenths of it per RTT,
 * not limited by S_max, until it is in slow start again.
 */
bitcp_fn __u32 bitcp_seed(struct bitcp *st, __u32 max_win)
{
	if (max_win < BITCP_SEED_MIN || max_win / 2 < st->cwnd || max_win > BITCP_MAX_CWND ||
	    !st->params.low_window || max_win / 2 < st->params.low_window)
		return 0;
	st->max_win = (__u64)max_win << 32;
	st->seed_step = max_win / BITCP_SEED_PARTS;
	return max_win - 2 * st->seed_step;
}

/* --- the window ---------------------------------------------------------------------- */

/* The window with its fraction, Q32. */
bitcp_fn __u64 bitcp_win(const struct bitcp *st)
{
	return (__u64)st->cwnd << 32 | st->frac;
}

/*
 * Sets the window (Q32) other than by the growth below. The remainder is discarded, and a slow
 * start past the maximum begins another RTT here. The maximum, which belongs to the path, stays.
 */
bitcp_fn void bitcp_set_win(struct bitcp *st, __u64 win)
{
	st->cwnd = (__u32)(win >> 32);
	st->frac = (__u32)win;
	st->carry = 0;
	st->ss_target = win + ((__u64)st->ss_cwnd << 32);
}

/* Adopts a snd_cwnd that rate reduction, restart after idle, timeout, clamp or options have set. */
bitcp_fn void bitcp_cwnd_changed(struct bitcp *st, __u32 cwnd)
{
	if (cwnd != st->cwnd)
		bitcp_set_win(st, (__u64)cwnd << 32);
}

/* True if a window of @cwnd packets is BI-TCP's, and not normal TCP's. */
bitcp_fn int bitcp_engaged(const struct bitcp *st, __u32 cwnd)
{
	return st->params.low_window && cwnd >= st->params.low_window;
}

/* Growth per RTT of the present window, Q32 packets, outside the first slow start. */
bitcp_fn __u64 bitcp_increment(const struct bitcp *st)
{
	__u64 win = bitcp_win(st), gap;

	if (!bitcp_engaged(st, st->cwnd))
		return BITCP_PACKETS(1, 1);
	if (st->ss_cwnd)
		return (__u64)st->ss_cwnd << 32;
	gap = st->max_win > win ? (st->max_win - win) / 2 : 0; /* target_win - cwnd */
	if (gap >= st->params.s_max)
		return st->params.s_max;
	return gap > st->params.s_min ? gap : st->params.s_min;
}

/* The mode of a connection, by its state, snd_cwnd and snd_ssthresh, for monitoring. */
bitcp_fn enum bitcp_mode bitcp_mode(const struct bitcp *st, __u32 cwnd, __u32 ssthresh)
{
	if (cwnd < ssthresh)
		return BITCP_SLOW_START;
	if (!bitcp_engaged(st, cwnd))
		return BITCP_NORMAL;
	if (st->ss_cwnd)
		return BITCP_SLOW_START_PAST_MAX;
	if (st->seed_step)
		return BITCP_BINARY_SEARCH;
	return bitcp_increment(st) == st->params.s_max ? BITCP_ADDITIVE : BITCP_BINARY_SEARCH;
}

/* --- an ACK -------------------------------------------------------------------------- */

/*
 * One ACK may acknowledge many packets. They count one by one up to BITCP_STEPS, and otherwise in
 * that many equal parts; the increment is constant within a part.
 */
#define BITCP_STEPS	16
#define BITCP_ACKED_MAX 65536u

/*
 * cwnd += increment / cwnd, for n <= 2^12 packets acknowledged at once.
 *
 * The dividend has 9 bits more than Q32 (increment <= 2^42 * 2^9 * n <= 2^63), the divisor is the
 * window in Q9, and the remainder is carried to the next division: 0.01 / 2^20 packets per ACK is
 * 41 units of 2^-32, of which losing up to one each time would be 2 percent.
 */
bitcp_fn void bitcp_grow(struct bitcp *st, __u32 n)
{
	__u64 win = bitcp_win(st);
	__u64 dividend = (bitcp_increment(st) << 9) * n + st->carry;
	__u64 divisor = win >> 23;

	win += dividend / divisor;
	st->carry = dividend % divisor;
	st->cwnd = (__u32)(win >> 32);
	st->frac = (__u32)win;
}

/* "When not in fast recovery and an acknowledgment for a new packet arrives" (VI-A). */
bitcp_fn void bitcp_step(struct bitcp *st, __u32 n)
{
	int engaged = bitcp_engaged(st, st->cwnd);

	bitcp_grow(st, n);
	if (!engaged)
		return;
	if (!st->ss_cwnd) {
		if (bitcp_win(st) < st->max_win)
			return;
		st->ss_cwnd = 1;
		st->ss_target = bitcp_win(st) + BITCP_PACKETS(1, 1);
		st->max_win = BITCP_MAX_WIN;
		return;
	}
	if (bitcp_win(st) >= st->ss_target) {
		st->ss_cwnd *= 2;
		st->ss_target = bitcp_win(st) + ((__u64)st->ss_cwnd << 32);
	}
	if ((__u64)st->ss_cwnd << 32 >= st->params.s_max)
		st->ss_cwnd = 0;
}

/*
 * Growth near and past a remembered maximum, for n <= 2^16 packets acknowledged at once: one step
 * for the packets of an RTT, as many as the window had when it began.
 */
bitcp_fn void bitcp_seed_step(struct bitcp *st, __u32 n)
{
	__u32 step = st->ss_cwnd ? st->ss_cwnd : st->seed_step;
	__u32 begun = (__u32)((st->ss_cwnd ? st->ss_target : st->max_win) >> 32) -
		      (st->ss_cwnd ? step : 2 * step);
	__u64 win;

	if (step > begun) /* slow start: as much as was acknowledged */
		step = begun;
	win = bitcp_win(st) + ((__u64)step << 32) / begun * n;
	if (win > BITCP_MAX_WIN)
		win = BITCP_MAX_WIN;
	st->cwnd = (__u32)(win >> 32);
	st->frac = (__u32)win;
	if (!st->ss_cwnd && win >= st->max_win) {
		st->max_win = BITCP_MAX_WIN;
		st->ss_cwnd = st->seed_step;
		st->ss_target = win + ((__u64)st->ss_cwnd << 32);
	} else if (st->ss_cwnd && win >= st->ss_target) {
		st->ss_cwnd = 2 * step < st->cwnd ? 2 * step : st->cwnd;
		st->ss_target = win + ((__u64)st->ss_cwnd << 32);
	}
}

/*
 * @acked packets are newly acknowledged outside fast recovery, by a sender that uses its window.
 * Returns the new cwnd, never below the one given, and never above BITCP_MAX_CWND unless the one
 * given is. Below ssthresh this is the kernel's tcp_slow_start(), which leaves the rest of @acked
 * to congestion avoidance. There one ACK counts for at most one window: no path delivers more, and
 * an absurd ACK causes at most the growth of one RTT.
 */
bitcp_fn __u32 bitcp_on_ack(struct bitcp *st, __u32 cwnd, __u32 ssthresh, __u32 acked)
{
	__u32 part, i;

	if (!cwnd || cwnd >= BITCP_MAX_CWND)
		return cwnd;
	bitcp_cwnd_changed(st, cwnd);
	if (cwnd < ssthresh) {
		__u32 top = ssthresh < BITCP_MAX_CWND ? ssthresh : BITCP_MAX_CWND;
		__u32 grown = acked < top - cwnd ? acked : top - cwnd;

		bitcp_set_win(st, bitcp_win(st) + ((__u64)grown << 32));
		acked -= grown;
	}
	if (acked > st->cwnd)
		acked = st->cwnd;
	if (acked > BITCP_ACKED_MAX)
		acked = BITCP_ACKED_MAX;
	if (st->seed_step && bitcp_engaged(st, st->cwnd)) {
		bitcp_seed_step(st, acked);
		return st->cwnd;
	}
	part = (acked + BITCP_STEPS - 1) / BITCP_STEPS;
	for (i = 0; i < BITCP_STEPS && acked; i++) {
		__u32 n = acked < part ? acked : part;

		bitcp_step(st, n);
		acked -= n;
	}
	return st->cwnd;
}

/* --- a loss -------------------------------------------------------------------------- */

/*
 * "When entering fast recovery" (VI-A), and also at a timeout or an ECN mark. Returns the new
 * ssthresh, at least 2 packets, to which the kernel reduces snd_cwnd, or slow-starts after a
 * timeout. If snd_cwnd gets exactly that value, the fraction is kept. VI-A does not mention
 * timeouts; after one the maximum is kept as after any loss, whereas Linux's tcp_bic forgets it
 * (bictcp_state()).
 */
bitcp_fn __u32 bitcp_ssthresh(struct bitcp *st, __u32 cwnd)
{
	__u64 win, prev_max = st->max_win;

	bitcp_cwnd_changed(st, cwnd);
	win = bitcp_win(st);
	if (st->seed_step) { /* the maximum is now measured; the steps are not S_max's */
		st->seed_step = 0;
		st->ss_cwnd = 0;
	}
	st->undo_win = win;
	st->undo_max_win = st->max_win;
	st->undo_ss_target = st->ss_target;
	st->undo_ss_cwnd = st->ss_cwnd;

	if (bitcp_engaged(st, cwnd)) {
		st->max_win = win;
		win -= (__u64)st->cwnd * st->params.beta +
		       ((__u64)st->frac * st->params.beta >> 32);
		if (prev_max > st->max_win) /* fast convergence */
			st->max_win = win + (st->max_win - win) / 2;
		st->ss_cwnd = 0;
	} else {
		win /= 2;
	}
	if (win < BITCP_PACKETS(2, 1))
		win = BITCP_PACKETS(2, 1);
	bitcp_set_win(st, win);
	return st->cwnd;
}

/*
 * The last reduction was spurious: restores maximum, mode and window. Returns the cwnd to set, not
 * below the one given, which may have grown past the old one since.
 */
bitcp_fn __u32 bitcp_undo(struct bitcp *st, __u32 cwnd)
{
	if (!st->undo_win)
		return cwnd;
	st->max_win = st->undo_max_win;
	st->ss_cwnd = st->undo_ss_cwnd;
	bitcp_set_win(st, st->undo_win);
	st->ss_target = st->undo_ss_target;
	st->undo_win = 0;
	if (cwnd > st->cwnd)
		bitcp_cwnd_changed(st, cwnd);
	return st->cwnd;
}
