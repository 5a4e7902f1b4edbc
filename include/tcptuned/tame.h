/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How many parallel connections to a host, found by measuring: the call of Lu, Qiao, Dinda and
 * Bustamante, "Modeling and Taming Parallel TCP on the Wide Area Network", section V, with probes
 * that double instead of two fixed ones. The connections are those of iperf3, to a server of it, or
 * of curl, which reads ranges of a file. Either runs as a child process; sock_diag(7) shows what
 * limits its connections.
 *
 * No threads, no globals. A search that is freed leaves no process behind.
 *
 * The caller sets the member size of options and results to that of the structure that it was
 * compiled with. Later versions of the library append members: those that a caller does not know
 * have their defaults, and -E2BIG says that the library does not know one that is set.
 */
#ifndef TCPTUNED_TAME_H
#define TCPTUNED_TAME_H

#include <stddef.h>

#include <tcptuned/parallel.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TCPTUNED_TAME_LEVELS TCPTUNED_LEVELS_MAX

enum tcptuned_tame_probe {
	TCPTUNED_TAME_IPERF3, /* the destination is a name or an address */
	TCPTUNED_TAME_HTTP,   /* the destination is a URL that curl can read, of http or https */
};

#define TCPTUNED_TAME_NO_IMPACT 1e-9 /* as impact_max: others may lose nothing */

/* All zeroes but for size: the defaults. */
struct tcptuned_tame_options {
	size_t size; /* of this structure */
	enum tcptuned_tame_probe probe;
	unsigned int port;		/* of iperf3; 0: 5201 */
	unsigned int streams_max;	/* 0: 16; at most 128 */
	unsigned int probe_seconds;	/* that each probe measures; 0: 5 */
	unsigned int seconds_max;	/* by which each probe but the first has to end; 0: 60 */
	double bytes_max;		/* of all probes together; 0: any */
	double impact_max;		/* on others, from 0 to 1; 0: 0.1; 1: any */
	double bits_per_second;		/* that suffice; 0: as much as there is */
	double gain_min;		/* of a doubling that is worth another one; 0: 0.05 */
	int receive;			/* of iperf3, 1: the destination sends */
	const char *congestion_control; /* of iperf3's sender; NULL: the host's default */
};

/* What limits the connections of a measurement. */
enum tcptuned_tame_limit {
	TCPTUNED_TAME_LIMIT_UNKNOWN,
	TCPTUNED_TAME_LIMIT_APPLICATION,     /* they had nothing to send most of the time */
	TCPTUNED_TAME_LIMIT_RECEIVER_WINDOW, /* the receiver's window */
	TCPTUNED_TAME_LIMIT_SEND_BUFFER,     /* the sender's buffer */
	TCPTUNED_TAME_LIMIT_LOSS,	     /* congestion windows, losses without a queue */
	TCPTUNED_TAME_LIMIT_QUEUE,	     /* congestion windows, with a queue on the path */
	TCPTUNED_TAME_LIMIT_CWND,	     /* congestion windows, neither losses nor a queue */
	TCPTUNED_TAME_LIMIT_PATH,	/* the rate of the path: more connections carry no more */
	TCPTUNED_TAME_LIMIT_CONNECTION, /* something limits each connection, not their sum */
	TCPTUNED_TAME_LIMIT_PROCESSOR,	/* a core at one of the ends is busy */
};

/* A measurement of some connections at the same time. */
struct tcptuned_tame_level {
	unsigned int streams;
	double rate;	  /* bits per second, together */
	double rate_peak; /* the highest of a second; 0: unknown */
	double loss; /* retransmitted segments of those sent; of a receiver: those that arrived out of
			     order; -1: unknown */
	double segments;  /* of which that is a fraction; 0: unknown */
	double rtt_s;	  /* mean smoothed RTT; 0: unknown */
	double rtt_min_s; /* smallest RTT; 0: unknown */
	double receiver_window, send_buffer,
		application; /* limited it, shares of the time, 0 to 1 */
	int receives;	     /* 1: this host received, so that the sender's limits are not seen */
	double processor; /* share of a core that each thread of the probe used at its busier end */
	enum tcptuned_tame_limit limit;
	double reserved[4]; /* zeroes; later versions have members here */
};

/* How the impact on others is known. */
enum tcptuned_tame_impact {
	TCPTUNED_TAME_IMPACT_NONE,  /* one connection, or each of several carries what one does */
	TCPTUNED_TAME_IMPACT_MODEL, /* (18): others lose what each of ours loses */
	/* None was seen, so that (18) would affect no other traffic: */
	TCPTUNED_TAME_IMPACT_UNCONGESTED, /* each carries less, but without more loss or queue */
	TCPTUNED_TAME_IMPACT_ALONE, /* one connection met neither loss nor a queue of others */
};

struct tcptuned_tame_result {
	size_t size;						 /* of this structure */
	struct tcptuned_tame_level levels[TCPTUNED_TAME_LEVELS]; /* in the order of measurement */
	unsigned int levels_len;
	unsigned int fastest; /* number whose doubling gains less than gain_min, of those measured */
	unsigned int within;  /* largest number up to fastest whose impact is at most impact_max */
	double fastest_rate, within_rate;     /* bits per second; measured, or by (10) */
	double fastest_impact, within_impact; /* on others, compared with one connection */
	enum tcptuned_tame_impact impact;     /* how they are known */
	double model_impact;		      /* of fastest, by (18), whatever it means */
	unsigned int wanted; /* smallest number with bits_per_second, measured or by (10); 0: none */
	double bytes, seconds;	     /* that the search took */
	double file_bytes;	     /* of HTTP: size of the file; 0: unknown */
	char congestion_control[16]; /* of the sender; "": unknown */
	enum tcptuned_search_end end;
	enum tcptuned_confidence confidence;
	struct tcptuned_parallel_fit fit; /* levels 0: a single level was measured */
};

struct tcptuned_tame;

/*
 * Start a search. @destination is copied. Returns 0; -EINVAL: an option is out of its range, or the
 * destination is empty or begins with "-", or a size is missing; -E2BIG: an option is of a later
 * version; -ENOENT: no iperf3 or curl; other errors of the system.
 */
int tcptuned_tame_start(const char *destination, const struct tcptuned_tame_options *options,
			struct tcptuned_tame **ret);

/* A descriptor that can be read (poll()) when tcptuned_tame_step() has something to do. */
int tcptuned_tame_fd(const struct tcptuned_tame *tame);

/*
 * Go on without waiting. Returns 1 while the search goes on; 0: it has ended. Errors end it, too:
 * -EPROTO: the child or the server failed; -ETIMEDOUT: the server is silent; -ENODATA: what was measured
 * is too little for a number; -ESTALE: the path changed, so that there is no number; others are the
 * system's. tcptuned_tame_error() says what happened.
 */
int tcptuned_tame_step(struct tcptuned_tame *tame);

/* Set @ret, but for its size, to what was measured so far, or the result of a search that ended. */
void tcptuned_tame_result(const struct tcptuned_tame *tame, struct tcptuned_tame_result *ret);

/* The number of connections that are being measured (0: none), and the bits per second of now. */
unsigned int tcptuned_tame_probing(const struct tcptuned_tame *tame, double *ret_rate);

/* One line without a newline; "": no error. */
const char *tcptuned_tame_error(const struct tcptuned_tame *tame);

/*
 * Set what follows from the levels of @result, whose other members are zero but for its size and
 * the congestion control: for levels that were not measured by a search, the smallest number first.
 * Returns 0; -EINVAL: an option or the number of levels is out of its range; -E2BIG: as above.
 */
int tcptuned_tame_conclude(const struct tcptuned_tame_options *options,
			   struct tcptuned_tame_result *result);

/* End the search, and the probe that runs. NULL is none. */
void tcptuned_tame_free(struct tcptuned_tame *tame);

/* --- as in the paper ----------------------------------------------------------------------------- */

struct ParallelTCPChar {
	int num_flows;
	double max_nondisruptive_thru; /* bits per second */
	double cross_traffic_impact;   /* 0 to 1 */
};

/*
 * Search with the defaults and an impact of at most @maximpact (0: none), and wait. free() releases
 * the result; NULL and errno are as of tcptuned_tame_start() and tcptuned_tame_step().
 */
struct ParallelTCPChar *TameParallelTCP(const char *dest, double maximpact);

#ifdef __cplusplus
}
#endif
#endif
