/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BI-TCP: Binary Increase TCP congestion control.
 *
 * Xu, Harfoush, Rhee, "Binary Increase Congestion Control for Fast, Long Distance Networks",
 * INFOCOM 2004. The pseudo-code of section VI-A is the specification; this file is its integer
 * form, in the order in which a connection meets it. No globals, no libc, no kernel call: it
 * compiles as BPF, C and C++.
 *
 * Windows are in packets (MSS-sized segments). "Q32" is a __u64 of packets times 2^32. The
 * kernel keeps whole packets in snd_cwnd; the state keeps the other 32 bits.
 *
 * How it reads the paper:
 *
 * - The pseudo-code sets min_win to the window on every ACK, so min_win is not stored, and
 *   target_win - cwnd is (max_win - cwnd) / 2. The text lets the distance to the maximum halve
 *   per RTT; the pseudo-code, moving target_win with each ACK, shrinks it by e^-1/2 (0.61) per
 *   RTT. The pseudo-code holds here.
 * - S_min is a floor under the growth per RTT of the binary search. The text ends the search
 *   when maximum and minimum are within S_min, and the N_2 = log2(d / S_min) + 2 of section
 *   VI-B.1 counts increments d/2, d/4, ... S_min; the pseudo-code, which does not name S_min,
 *   would come ever closer to max_win and never pass it.
 * - Slips mended. (1) Entering the slow start past the maximum, the text makes the window the
 *   new minimum and takes the midpoint to the default maximum; the pseudo-code leaves
 *   target_win behind, and after that slow start one ACK would shrink the window. Deriving the
 *   target mends it. (2) A loss during that slow start makes the maximum known, which by the
 *   text ends it; the pseudo-code leaves is_BITCP_ss set, with an ss_target above the window.
 * - Not mended: passing the maximum sets it to default_max_win, so the next loss (and a
 *   connection's first) finds a "previous maximum" above the window and applies fast
 *   convergence, although the window has not fallen.
 *
 * One thing is added to the paper: a connection can begin with the maximum that an earlier one
 * on its path met (bitcp_seed()). The paper's connections begin with the default maximum.
 */
#ifndef TCPTUNED_BITCP_H
#define TCPTUNED_BITCP_H

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
 * The defaults are the paper's choice (VI-B.3, VII). It names no ranges, but says which way
 * each goes: a larger S_max or a smaller S_min makes the response steeper, and so less fair
 * between RTTs, where W_max * beta <= 2 * S_max; a smaller beta uses the path better and
 * converges more slowly. What bounds them: S_min <= S_max; the slow start past the maximum
 * begins at 1 packet per RTT, so S_max >= 1; normal TCP's beta is 0.5; the least window after
 * a loss is 2 packets. The outermost limits keep the arithmetic below exact.
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
	__u64 s_max;	  /* most growth per RTT, Q32 packets */
	__u64 s_min;	  /* least growth per RTT in binary search, Q32 packets */
	__u32 beta;	  /* share of the window given up at a loss, times 2^32 */
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

/* default_max_win, in packets, and the most that any window becomes: TCP's largest window is
 * 2^30 bytes, so no window in packets can pass it.
 */
#define BITCP_MAX_CWND 0x40000000u
#define BITCP_MAX_WIN  ((__u64)BITCP_MAX_CWND << 32)

/*
 * One connection. Lives in the kernel's icsk_ca_priv (13 u64), where an iterator can read it.
 * Carries its parameters, so that new ones leave open connections alone. All zero, which it is
 * while the handshake runs, means normal TCP.
 */
struct bitcp {
	struct bitcp_params params;
	__u64 max_win;	 /* Q32 */
	__u64 ss_target; /* Q32; counts while ss_cwnd is not 0 */
	__u32 ss_cwnd;	 /* packets per RTT in the slow start past the maximum; 0: not in it */
	__u32 cwnd;	 /* window as left here; a different snd_cwnd was set from outside */
	__u32 frac;	 /* of cwnd, 2^-32 packets */
	__u32 undo_ss_cwnd;
	__u64 carry; /* remainder of the last division in bitcp_step() */
	/* Before the last reduction; undo_win 0: nothing to undo. */
	__u64 undo_win;
	__u64 undo_max_win;
	__u64 undo_ss_target;
	__u32 seed_step; /* packets per RTT towards a remembered maximum; 0: there is none */
	__u32 unused;
};

bitcp_assert(sizeof(struct bitcp) <= 96, "icsk_ca_priv, and bpf/cc/congestion.h keeps 8 of 104");
bitcp_assert(sizeof(struct bitcp) % 8 == 0, "icsk_ca_priv is an array of u64");

enum bitcp_mode {
	BITCP_SLOW_START,	   /* the standard one, below ssthresh */
	BITCP_NORMAL,		   /* below low_window: plain TCP */
	BITCP_BINARY_SEARCH,	   /* closing in on the maximum */
	BITCP_ADDITIVE,		   /* S_max per RTT */
	BITCP_SLOW_START_PAST_MAX, /* looking for a new maximum: 1, 2, 4 ... S_max per RTT */
};

/* A new connection, or one that changes over to BI-TCP, with a window of cwnd packets. Invalid
 * parameters (an empty map entry, one half written) become the defaults.
 */
bitcp_fn void bitcp_init(struct bitcp *st, const struct bitcp_params *params, __u32 cwnd)
{
	struct bitcp_params p = *params;

	if (!bitcp_params_valid(&p))
		p = bitcp_params_default();
	st->params = p;
	st->max_win = BITCP_MAX_WIN;
	st->ss_target = 0;
	st->ss_cwnd = 0;
	st->cwnd = cwnd;
	st->frac = 0;
	st->undo_ss_cwnd = 0;
	st->carry = 0;
	st->undo_win = 0;
	st->undo_max_win = 0;
	st->undo_ss_target = 0;
	st->seed_step = 0;
	st->unused = 0;
}

/* A remembered maximum smaller than this, or than two initial windows, is not worth minding. */
#define BITCP_SEED_LEAST 32u
/* The window grows from 14/16 of a remembered maximum by 1/16 of it per RTT. */
#define BITCP_SEED_PARTS 16u

/*
 * Begin with the maximum, in packets, that another connection met on this path not long ago.
 * Returns the ssthresh at which slow start is to end, or 0: no use can be made of it.
 *
 * A maximum that is right spares the loss of a whole window with which a first slow start
 * ends. One that is too low must not cost more than it can spare: two round trips after
 * ssthresh the window is at the maximum, and when it passes that without a loss it grows by
 * 1, 2, 4 ... sixteenths of it per RTT, with no bound by S_max, until that is slow start again.
 */
bitcp_fn __u32 bitcp_seed(struct bitcp *st, __u32 max_win)
{
	if (max_win < BITCP_SEED_LEAST || max_win / 2 < st->cwnd || max_win > BITCP_MAX_CWND ||
	    !st->params.low_window || max_win / 2 < st->params.low_window)
		return 0;
	st->max_win = (__u64)max_win << 32;
	st->seed_step = max_win / BITCP_SEED_PARTS;
	return max_win - 2 * st->seed_step;
}

/* --- the window ---------------------------------------------------------------------- */

/* The window as this file left it, Q32. */
bitcp_fn __u64 bitcp_win(const struct bitcp *st)
{
	return (__u64)st->cwnd << 32 | st->frac;
}

/* The window moved other than by the growth below (win in Q32): what was counted towards the
 * old one is void, and a slow start past the maximum begins its RTT anew from here. The maximum
 * is a fact about the path and stays.
 */
bitcp_fn void bitcp_set_win(struct bitcp *st, __u64 win)
{
	st->cwnd = (__u32)(win >> 32);
	st->frac = (__u32)win;
	st->carry = 0;
	st->ss_target = win + ((__u64)st->ss_cwnd << 32);
}

/* Takes note of the kernel's snd_cwnd: rate reduction, restart after idle, timeout, the clamp
 * or a socket option may have set it since.
 */
bitcp_fn void bitcp_cwnd_changed(struct bitcp *st, __u32 cwnd)
{
	if (cwnd != st->cwnd)
		bitcp_set_win(st, (__u64)cwnd << 32);
}

/* Whether a window of that many packets is BI-TCP's, or normal TCP's. */
bitcp_fn int bitcp_engaged(const struct bitcp *st, __u32 cwnd)
{
	return st->params.low_window && cwnd >= st->params.low_window;
}

/* Growth per RTT that the present window allows, Q32 packets, outside the first slow start. */
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

/* What the connection is doing, for those who watch: its state, snd_cwnd and snd_ssthresh. */
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

/* One ACK may stand for many packets. They are taken one by one up to BITCP_STEPS, and beyond
 * that in as many equal parts; the increment is constant within a part.
 */
#define BITCP_STEPS	 16
#define BITCP_MOST_ACKED 65536u

/* cwnd += increment / cwnd, for n <= 2^12 packets acknowledged at once.
 *
 * The dividend has 9 bits more than Q32 (increment <= 2^42 * 2^9 * n <= 2^63), the divisor is
 * the window in Q9, and what the division leaves is carried to the next: 0.01 / 2^20 packets
 * per ACK is 41 units of 2^-32, and losing up to one of them each time would be 2 percent.
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
 * Growth about and past a remembered maximum, for n <= 2^16 packets acknowledged at once: a step
 * for the packets of one RTT, as many as the window had when it began.
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
 * acked packets newly acknowledged, outside fast recovery, by a sender that uses its window.
 * Returns the new cwnd, never below the one given, never above BITCP_MAX_CWND unless the one
 * given is. Below ssthresh this is the kernel's tcp_slow_start(); what that leaves of acked
 * goes on to congestion avoidance. There one ACK counts for one window at most: no path
 * delivers more, and it bounds what an absurd ACK can do to one RTT's growth.
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
	if (acked > BITCP_MOST_ACKED)
		acked = BITCP_MOST_ACKED;
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
 * "When entering fast recovery" (VI-A), and at a timeout or an ECN mark just the same; after a
 * timeout the kernel slow-starts from its own small window up to the value returned. That is
 * the new ssthresh in whole packets, at least 2, to which the kernel brings snd_cwnd; if it
 * does so exactly, the fraction goes on counting.
 */
bitcp_fn __u32 bitcp_ssthresh(struct bitcp *st, __u32 cwnd)
{
	__u64 win, prev_max = st->max_win;

	bitcp_cwnd_changed(st, cwnd);
	win = bitcp_win(st);
	if (st->seed_step) { /* measured now; its steps are not S_max's */
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

/* The last reduction was spurious: back to the maximum, mode and window from before it. Returns
 * the cwnd to set, not below the one given (it may have grown past the old one since).
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

#endif /* TCPTUNED_BITCP_H */
