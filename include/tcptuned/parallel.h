/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How many parallel TCP connections a transfer should use.
 *
 * Lu, Qiao, Dinda and Bustamante, "Modeling and Taming Parallel TCP on the Wide Area Network" (equations
 * in parentheses): the throughput of n connections is n / sqrt(p'_n) (10), where p'_n, the loss rate
 * times the square of the RTT in units of the path, is a polynomial of n. Two measurements at different
 * n determine the polynomial of (7), and with it the throughput at any other n.
 *
 * Rates may have any unit, the same in all calls. Nothing here allocates memory, blocks or fails
 * otherwise than stated. The structures are complete: later versions do not change them.
 */
#ifndef TCPTUNED_PARALLEL_H
#define TCPTUNED_PARALLEL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TCPTUNED_STREAMS_MAX 1024u
#define TCPTUNED_LEVELS_MAX  64u

enum tcptuned_parallel_model {
	TCPTUNED_PARALLEL_PARTIAL, /* p'_n = a n^2 + c (7) */
	TCPTUNED_PARALLEL_FULL,	   /* p'_n = a n^2 + b n + c (6) */
	TCPTUNED_PARALLEL_LINEAR,  /* p'_n = b n + c (8) */
	TCPTUNED_PARALLEL_BEST,	   /* (6) if there are four levels or more, else (7) */
};

/* A measurement: @streams connections carried @rate together. */
struct tcptuned_parallel_level {
	unsigned int streams;
	double rate;
};

struct tcptuned_parallel_fit {
	double a, b, c;	 /* of p'_n; never negative, so that no rate is infinite */
	double residual; /* root of the mean square of the relative errors of the rates (15) */
	unsigned int streams_min, streams_max; /* between which was measured */
	unsigned int levels;		       /* different numbers of connections */
};

enum tcptuned_confidence {
	TCPTUNED_CONFIDENCE_LOW,
	TCPTUNED_CONFIDENCE_MEDIUM,
	TCPTUNED_CONFIDENCE_HIGH,
};

/*
 * Fit @model to @len measurements by least squares of relative errors; with as many levels as the model
 * has coefficients, exactly: (13), (14). A coefficient that would be negative is 0: with a = 0 the
 * connections do not hinder each other, with c = 0 more of them carry no more.
 *
 * Returns 0; -EINVAL: a rate or a number of connections is not positive, or is not finite, or exceeds
 * TCPTUNED_STREAMS_MAX, or @len exceeds TCPTUNED_LEVELS_MAX; -ENODATA: too few levels for the model,
 * which needs two, and three if it is the full one.
 */
int tcptuned_parallel_fit(enum tcptuned_parallel_model model,
			  const struct tcptuned_parallel_level *levels, size_t len,
			  struct tcptuned_parallel_fit *ret);

/* The throughput of @streams connections together (10). */
double tcptuned_parallel_rate(const struct tcptuned_parallel_fit *fit, unsigned int streams);

/*
 * The fraction by which the throughput of a connection of others falls when we use @to connections
 * instead of @from (18); @from 0: instead of none, with p'_0 = c, which the paper does not test.
 *
 * With (10) this is 1 - (rate(to) / to) / (rate(from) / from): others are assumed to lose what each of
 * our own connections loses. On an empty path it affects no other traffic, and where the host or the
 * application is the limit it is too large. It needs others with our congestion control and RTT, or RED.
 */
double tcptuned_parallel_impact(const struct tcptuned_parallel_fit *fit, unsigned int from,
				unsigned int to);

/* The largest number up to @max whose impact, compared with one connection, is at most @impact. */
unsigned int tcptuned_parallel_within(const struct tcptuned_parallel_fit *fit, double impact,
				      unsigned int max);

/* The smallest number to which another connection would add less than the fraction @gain; at most @max. */
unsigned int tcptuned_parallel_enough(const struct tcptuned_parallel_fit *fit, double gain,
				      unsigned int max);

/*
 * How far to trust a fit: high if it has three levels or more, the largest at least four times the
 * smallest, a residual of at most 10 %, a loss-based congestion control (reno, cubic, bitcp) and RTTs
 * that varied by at most a third; low if its residual exceeds 25 % or the congestion control (NULL:
 * unknown) is another one. @rtt_spread: (largest - smallest) / smallest RTT of the measurements.
 */
enum tcptuned_confidence tcptuned_parallel_confidence(const struct tcptuned_parallel_fit *fit,
						      const char *congestion_control,
						      double rtt_spread);

/*
 * One connection's throughput in units of @mss per second, by @loss, the probability of a loss above 0,
 * and @acked segments for each ACK: Mathis et al. (1), Padhye et al. with the timeout @rto_s (2).
 * Without a loss both are infinite.
 */
double tcptuned_parallel_mathis(double mss, double rtt_s, double loss, double acked);
double tcptuned_parallel_padhye(double mss, double rtt_s, double loss, double acked, double rto_s);

/* Hacker's upper bound of the throughput of @len connections with these probabilities of a loss (3). */
double tcptuned_parallel_hacker(double mss, double rtt_s, const double *loss, size_t len);

/* What ended a search, or 0. */
enum tcptuned_search_end {
	TCPTUNED_SEARCH_GOES_ON,
	TCPTUNED_SEARCH_NO_GAIN, /* the last doubling gained less than was asked for */
	TCPTUNED_SEARCH_IMPACT,	 /* twice as many would harm others more than is allowed */
	TCPTUNED_SEARCH_WANTED,	 /* the rate that was wanted is reached */
	TCPTUNED_SEARCH_MAX,	 /* no more connections are allowed */
	TCPTUNED_SEARCH_CHANGED, /* the path changed between two measurements */
	TCPTUNED_SEARCH_BUDGET,	 /* the seconds or bytes for measurements are used up */
	TCPTUNED_SEARCH_REFUSED, /* the server takes no more connections */
};

/*
 * A search by doubling: 1, 2, 4, 8, ... All zeroes and the first four members: a new one. That a doubling
 * gained little is believed if both measurements are certain, or if the next doubling gains as little.
 */
struct tcptuned_search {
	double gain;		  /* of a doubling that is worth another one: 0.05 is 5 % */
	double impact;		  /* on others that is allowed, 0 to 1; 1: any */
	double wanted;		  /* rate that suffices; 0: as much as there is */
	unsigned int streams_max; /* connections */
	unsigned int len;
	struct tcptuned_parallel_level levels[16];
	double rtt_min, rtt_max; /* of the measurements */
	int uncertain;		 /* the last measurement was */
	int doubted;		 /* a doubling that gained little did not end the search */
};

/*
 * Add a measurement of @rate at the number that tcptuned_search_next() named, with an RTT without the
 * connections' own queue of @rtt_s (0: unknown); @uncertain: the rate varied meanwhile, or was that of
 * a recovery from losses. Returns what ends the search; it is CHANGED if that RTT and an earlier one
 * differ by more than 30 % and a millisecond.
 */
enum tcptuned_search_end tcptuned_search_add(struct tcptuned_search *search, double rate,
					     double rtt_s, int uncertain);

/* The number of connections to measure next. */
unsigned int tcptuned_search_next(const struct tcptuned_search *search);

#ifdef __cplusplus
}
#endif
#endif
