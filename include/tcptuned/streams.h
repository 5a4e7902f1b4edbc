/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How many parallel TCP connections a transfer should use.
 *
 * Lu, Qiao, Dinda and Bustamante, "Modeling and Taming Parallel TCP on the Wide Area Network"
 * (equations in parentheses): the throughput of n connections is n / sqrt(p'_n) (10), where p'_n,
 * the loss rate times the square of the RTT in units of the path, is a polynomial of n. Two
 * measurements at different n determine the polynomial of (7), and with it the throughput at any
 * other n.
 */
#ifndef TCPTUNED_STREAMS_H
#define TCPTUNED_STREAMS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TCPTUNED_STREAMS_MAX	    1024u
#define TCPTUNED_STREAMS_SEARCH_MAX 128u /* of a search */
#define TCPTUNED_STREAMS_LEVELS_MAX 64u

/* What limits the connections of a measurement. */
enum tcptuned_streams_limit {
	TCPTUNED_STREAMS_LIMIT_UNKNOWN,
	TCPTUNED_STREAMS_LIMIT_APPLICATION,	/* they had nothing to send most of the time */
	TCPTUNED_STREAMS_LIMIT_RECEIVER_WINDOW, /* the receiver's window */
	TCPTUNED_STREAMS_LIMIT_SEND_BUFFER,	/* the sender's buffer */
	TCPTUNED_STREAMS_LIMIT_LOSS,		/* congestion windows, losses without a queue */
	TCPTUNED_STREAMS_LIMIT_QUEUE,		/* congestion windows, with a queue on the path */
	TCPTUNED_STREAMS_LIMIT_CWND,		/* congestion windows, neither losses nor a queue */
	TCPTUNED_STREAMS_LIMIT_PATH, /* the rate of the path: more connections carry no more */
	TCPTUNED_STREAMS_LIMIT_CONNECTION, /* something limits each connection, not their sum */
	TCPTUNED_STREAMS_LIMIT_PROCESSOR,  /* a core at one of the ends is busy */
};

/* A measurement of some connections at the same time. */
struct tcptuned_streams_level {
	unsigned int streams; /* connections */
	double rate;	      /* bits per second, together */
	double rate_peak;     /* the highest of a second; 0: unknown */
	double loss; /* retransmitted, of segments sent; of a receiver: out of order; -1: unknown */
	double segments;  /* of which that is a fraction; 0: unknown */
	double rtt_s;	  /* mean smoothed RTT; 0: unknown */
	double rtt_min_s; /* smallest RTT; 0: unknown */
	double receiver_window, send_buffer,
		application; /* limited it, shares of the time, 0 to 1 */
	int receives;	     /* 1: this host received, so that the sender's limits are not seen */
	double processor; /* share of a core that each thread of the probe used at its busier end */
	enum tcptuned_streams_limit limit;
	double reserved[4]; /* zeroes; later versions have members here */
};

/* --- the model -------------------------------------------------------------------------- */
/*
 * Of a level, the model reads the members streams and rate. Rates may have any unit, the same in
 * all calls. Nothing of the model allocates memory, blocks or fails otherwise than stated. Its
 * structures are complete: later versions do not change them.
 */

enum tcptuned_streams_model {
	TCPTUNED_STREAMS_MODEL_PARTIAL, /* p'_n = a n^2 + c (7) */
	TCPTUNED_STREAMS_MODEL_FULL,	/* p'_n = a n^2 + b n + c (6) */
	TCPTUNED_STREAMS_MODEL_LINEAR,	/* p'_n = b n + c (8) */
	TCPTUNED_STREAMS_MODEL_BEST,	/* (6) if there are four levels or more, else (7) */
};

struct tcptuned_streams_fit {
	double a, b, c;	 /* of p'_n; never negative, so that no rate is infinite */
	double residual; /* root of the mean square of the relative errors of the rates (15) */
	unsigned int streams_min, streams_max; /* between which was measured */
	unsigned int levels;		       /* different numbers of connections */
};

enum tcptuned_streams_confidence {
	TCPTUNED_STREAMS_CONFIDENCE_LOW,
	TCPTUNED_STREAMS_CONFIDENCE_MEDIUM,
	TCPTUNED_STREAMS_CONFIDENCE_HIGH,
};

/*
 * Fit @model to @len measurements by least squares of relative errors; with as many levels as the
 * model has coefficients, exactly: (13), (14). A coefficient that would be negative is 0: with a =
 * 0 the connections do not hinder each other, with c = 0 more of them carry no more.
 *
 * Returns 0; -EINVAL: a rate or a number of connections is not positive, or is not finite, or
 * exceeds TCPTUNED_STREAMS_MAX, or @len exceeds TCPTUNED_STREAMS_LEVELS_MAX; -ENODATA: too few
 * levels for the model, which needs two, and three if it is the full one.
 */
int tcptuned_streams_fit(enum tcptuned_streams_model model,
			 const struct tcptuned_streams_level *levels, size_t len,
			 struct tcptuned_streams_fit *ret);

/* The throughput of @streams connections together (10). */
double tcptuned_streams_rate(const struct tcptuned_streams_fit *fit, unsigned int streams);

/*
 * The fraction by which the throughput of a connection of others falls when we use @to connections
 * instead of @from (18); @from 0: instead of none, with p'_0 = c, which the paper does not test.
 *
 * With (10) this is 1 - (rate(to) / to) / (rate(from) / from): others are assumed to lose what each
 * of our own connections loses. On an empty path it affects no other traffic, and where the host or
 * the application is the limit it is too large. It needs others with our congestion control and
 * RTT, or RED.
 */
double tcptuned_streams_impact(const struct tcptuned_streams_fit *fit, unsigned int from,
			       unsigned int to);

/* The largest number up to @max whose impact, compared with one connection, is at most @impact. */
unsigned int tcptuned_streams_within(const struct tcptuned_streams_fit *fit, double impact,
				     unsigned int max);

/*
 * The smallest number to which another connection would add less than the fraction @gain; at most
 * @max.
 */
unsigned int tcptuned_streams_enough(const struct tcptuned_streams_fit *fit, double gain,
				     unsigned int max);

/*
 * How far to trust a fit: high if it has three levels or more, the largest at least four times the
 * smallest, a residual of at most 10 %, a loss-based congestion control (reno, cubic, bitcp) and
 * RTTs that varied by at most a third; low if its residual exceeds 25 % or the congestion control
 * (NULL: unknown) is another one. @rtt_spread: (largest - smallest) / smallest RTT of the
 * measurements.
 */
enum tcptuned_streams_confidence tcptuned_streams_confidence(const struct tcptuned_streams_fit *fit,
							     const char *congestion_control,
							     double rtt_spread);

/*
 * One connection's throughput in units of @mss per second, by @loss, the probability of a loss
 * above 0, and @acked segments for each ACK: Mathis et al. (1), Padhye et al. with the timeout
 * @rto_s (2). Without a loss both are infinite.
 */
double tcptuned_streams_mathis(double mss, double rtt_s, double loss, double acked);
double tcptuned_streams_padhye(double mss, double rtt_s, double loss, double acked, double rto_s);

/*
 * Hacker's upper bound of the throughput of @len connections with these probabilities of a loss
 * (3).
 */
double tcptuned_streams_hacker(double mss, double rtt_s, const double *loss, size_t len);

/* What ended a search, or 0. */
enum tcptuned_streams_end {
	TCPTUNED_STREAMS_END_GOES_ON,
	TCPTUNED_STREAMS_END_NO_GAIN, /* the last doubling gained less than was asked for */
	TCPTUNED_STREAMS_END_IMPACT,  /* twice as many would harm others more than is allowed */
	TCPTUNED_STREAMS_END_WANTED,  /* the rate that was wanted is reached */
	TCPTUNED_STREAMS_END_MAX,     /* no more connections are allowed */
	TCPTUNED_STREAMS_END_CHANGED, /* the path changed between two measurements */
	TCPTUNED_STREAMS_END_BUDGET,  /* the seconds, the bytes or the file are used up */
	TCPTUNED_STREAMS_END_REFUSED, /* the server takes no more connections */
};

/*
 * A search by doubling: 1, 2, 4, 8, ... All zeroes and the first four members: a new one. If
 * either measurement is uncertain, a doubling that gained little does not end the search, once.
 */
struct tcptuned_streams_doubling {
	double gain;		  /* of a doubling that is worth another one: 0.05 is 5 % */
	double impact;		  /* on others that is allowed, 0 to 1; 1: any */
	double wanted;		  /* rate that suffices; 0: as much as there is */
	unsigned int streams_max; /* connections */
	unsigned int len;
	struct tcptuned_streams_level levels[16];
	double rtt_min, rtt_max; /* of the measurements */
	int uncertain;		 /* the last measurement was */
	int doubted;		 /* a doubling that gained little did not end the search */
};

/*
 * Add a measurement of @rate at the number that tcptuned_streams_doubling_next() named, with an RTT
 * without the connections' own queue of @rtt_s (0: unknown); @uncertain: the rate varied meanwhile,
 * or was that of a recovery from losses. Returns what ends the search; it is CHANGED if that RTT
 * and an earlier one differ by more than 30 % and a millisecond.
 */
enum tcptuned_streams_end tcptuned_streams_doubling_add(struct tcptuned_streams_doubling *search,
							double rate, double rtt_s, int uncertain);

/* The number of connections to measure next. */
unsigned int tcptuned_streams_doubling_next(const struct tcptuned_streams_doubling *search);

/* --- the search ------------------------------------------------------------------------- */
/*
 * The number for a host, found by measuring: the call of section V, with probes that double instead
 * of two fixed ones. The connections are those of iperf3, to a server of it, or of curl, which
 * reads ranges of a file. Either runs as a child process; sock_diag(7) shows what limits its
 * connections.
 *
 * No threads, no globals. A search that is freed leaves no process behind.
 *
 * The caller sets the member size of options and results to that of the structure that it was
 * compiled with. Later versions of the library append members: those that a caller does not know
 * have their defaults, and -E2BIG says that the library does not know one that is set.
 */

enum tcptuned_streams_probe {
	TCPTUNED_STREAMS_IPERF3, /* the destination is a name or an address */
	TCPTUNED_STREAMS_HTTP,	 /* the destination is a URL that curl can read, of http or https */
};

#define TCPTUNED_STREAMS_NO_IMPACT 1e-9 /* as impact_max: others may lose nothing */

/* All zeroes but for size: the defaults. */
struct tcptuned_streams_options {
	size_t size; /* of this structure */
	enum tcptuned_streams_probe probe;
	unsigned int port;		/* of iperf3; 0: 5201 */
	unsigned int streams_max;	/* 0: 16; at most TCPTUNED_STREAMS_SEARCH_MAX */
	unsigned int probe_seconds;	/* that each probe measures; 0: 5 */
	unsigned int seconds_max;	/* by which each probe but the first has to end; 0: 60 */
	double bytes_max;		/* of all probes together; 0: any */
	double impact_max;		/* on others, from 0 to 1; 0: 0.1; 1: any */
	double bits_per_second;		/* that suffice; 0: as much as there is */
	double gain_min;		/* of a doubling that is worth another one; 0: 0.05 */
	int receive;			/* of iperf3, 1: the destination sends */
	const char *congestion_control; /* of iperf3's sender; NULL: the host's default */
};

/* How the impact on others is known. */
enum tcptuned_streams_impact {
	TCPTUNED_STREAMS_IMPACT_NONE, /* one connection, or each of several carries what one does */
	TCPTUNED_STREAMS_IMPACT_MODEL, /* (18): others lose what each of ours loses */
	/* None was seen, so that (18) would affect no other traffic: */
	TCPTUNED_STREAMS_IMPACT_UNCONGESTED, /* each carries less, but without more loss or queue */
	TCPTUNED_STREAMS_IMPACT_ALONE, /* one connection met neither loss nor a queue of others */
};

struct tcptuned_streams_result {
	size_t size; /* of this structure */
	struct tcptuned_streams_level
		levels[TCPTUNED_STREAMS_LEVELS_MAX]; /* in the order of measurement */
	unsigned int levels_len;
	unsigned int fastest; /* measured number whose doubling gains less than gain_min */
	unsigned int within;  /* largest number up to fastest whose impact is at most impact_max */
	double fastest_rate, within_rate;     /* bits per second; measured, or by (10) */
	double fastest_impact, within_impact; /* on others, compared with one connection */
	enum tcptuned_streams_impact impact;  /* how they are known */
	double model_impact;		      /* of fastest, by (18), whatever it means */
	unsigned int wanted;   /* smallest with bits_per_second, measured or by (10); 0: none */
	double bytes, seconds; /* that the search took */
	double file_bytes;     /* of HTTP: size of the file; 0: unknown */
	char congestion_control[16]; /* of the sender; "": unknown */
	enum tcptuned_streams_end end;
	enum tcptuned_streams_confidence confidence;
	struct tcptuned_streams_fit fit; /* levels 0: a single level was measured */
};

struct tcptuned_streams;

/*
 * Start a search. @destination is copied. Returns 0; -EINVAL: an option is out of its range, or the
 * destination is empty or begins with "-", or a size is missing; -E2BIG: an option is of a later
 * version; -ENOENT: no iperf3 or curl; other errors of the system.
 */
int tcptuned_streams_start(const char *destination, const struct tcptuned_streams_options *options,
			   struct tcptuned_streams **ret);

/* A descriptor that can be read (poll()) when tcptuned_streams_step() has something to do. */
int tcptuned_streams_fd(const struct tcptuned_streams *search);

/*
 * Go on without waiting. Returns 1 while the search goes on; 0: it has ended. Errors end it, too:
 * -EPROTO: the child or the server failed; -ETIMEDOUT: the server is silent; -ENODATA: what was
 * measured is too little for a number; -ESTALE: the path changed, so that there is no number;
 * others are the system's. tcptuned_streams_error() says what happened.
 */
int tcptuned_streams_step(struct tcptuned_streams *search);

/* Set @ret, but for its size, to what was measured so far, or the result of a search that ended. */
void tcptuned_streams_result(const struct tcptuned_streams *search,
			     struct tcptuned_streams_result *ret);

/* The number of connections that are being measured (0: none), and the bits per second of now. */
unsigned int tcptuned_streams_probing(const struct tcptuned_streams *search, double *ret_rate);

/* One line without a newline; "": no error. */
const char *tcptuned_streams_error(const struct tcptuned_streams *search);

/*
 * Set what follows from the levels of @result, whose other members are zero but for its size and
 * the congestion control: for levels that were not measured by a search, the smallest number first.
 * Returns 0; -EINVAL: an option or the number of levels is out of its range; -E2BIG: as above.
 */
int tcptuned_streams_conclude(const struct tcptuned_streams_options *options,
			      struct tcptuned_streams_result *result);

/* End the search, and the probe that runs. NULL is none. */
void tcptuned_streams_free(struct tcptuned_streams *search);

/* --- as in the paper -------------------------------------------------------------------- */

struct ParallelTCPChar {
	int num_flows;
	double max_nondisruptive_thru; /* bits per second */
	double cross_traffic_impact;   /* 0 to 1 */
};

/*
 * Search with the defaults and an impact of at most @maximpact (0: none), and wait. free() releases
 * the result; NULL and errno are as of tcptuned_streams_start() and tcptuned_streams_step().
 */
struct ParallelTCPChar *tcptuned_streams_advise(const char *dest, double maximpact);
#define TameParallelTCP tcptuned_streams_advise

#ifdef __cplusplus
}
#endif
#endif
