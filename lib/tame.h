/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How many parallel connections to a host, found by measuring: the call of Lu, Qiao, Dinda and Bustamante,
 * "Modeling and Taming Parallel TCP on the Wide Area Network", section V, with probes that double instead
 * of two fixed ones. iperf3 measures, so that a server of it has to run at the destination.
 *
 * No threads, no globals. A search that is freed leaves no process behind.
 */
#ifndef TCPTUNED_TAME_H
#define TCPTUNED_TAME_H

#include <stddef.h>

#include "parallel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zeroes: the defaults. */
struct tcptuned_tame_options {
	unsigned int port;	    /* of iperf3; 0: 5201 */
	unsigned int streams_max;   /* 0: 16; at most 128, as of iperf3 */
	unsigned int probe_seconds; /* that each probe measures; 0: 5 */
	unsigned int seconds_max;   /* of the whole search; 0: 120 */
	double bytes_max;	    /* of all probes; no further one begins beyond; 0: any */
	double impact_max;	    /* on others, from 0 to 1; 0: 0.1; 1: any */
	double bits_per_second;	    /* that suffice; 0: as much as there is */
	double gain_min;	    /* of a doubling that is worth another one; 0: 0.05 */
	int receive;		    /* 1: the destination sends */
};

struct tcptuned_tame_result {
	struct tcptuned_parallel_level levels[16]; /* that were measured, bits per second */
	unsigned int levels_len;
	unsigned int fastest; /* number whose doubling gains less than gain_min, of those measured */
	unsigned int within;  /* largest number whose impact is at most impact_max */
	double fastest_rate, within_rate; /* bits per second; measured, or by (10) */
	double impact_of_fastest, impact; /* on others, compared with one connection (18) */
	double bytes, seconds;		  /* that the search took */
	double rtt_min_s;		  /* smallest smoothed RTT; 0: unknown */
	char congestion_control[16];
	enum tcptuned_search_end end;
	enum tcptuned_confidence confidence;
	struct tcptuned_parallel_fit fit; /* levels 0: a single level was measured */
};

struct tcptuned_tame;

/*
 * Start a search. @host: a name or an address, which is copied. Returns 0; -EINVAL: an option is out of
 * its range, or the host is empty or begins with "-"; -ENOENT: iperf3 is not installed; other errors of
 * the system.
 */
int tcptuned_tame_start(const char *host, const struct tcptuned_tame_options *options,
			struct tcptuned_tame **ret);

/* A descriptor that can be read (poll()) when tcptuned_tame_step() has something to do. */
int tcptuned_tame_fd(const struct tcptuned_tame *tame);

/*
 * Go on without waiting. Returns 1 while the search goes on; 0: it has ended; -EPROTO: iperf3 or its
 * server failed, -ETIMEDOUT: it took too long; other errors of the system. tcptuned_tame_error() says what happened.
 */
int tcptuned_tame_step(struct tcptuned_tame *tame);

/* What was measured so far, and the result when the search has ended. */
const struct tcptuned_tame_result *tcptuned_tame_result(const struct tcptuned_tame *tame);

/* The number of connections that are being measured; 0: none. */
unsigned int tcptuned_tame_probing(const struct tcptuned_tame *tame);

/* One line without a newline; "": no error. */
const char *tcptuned_tame_error(const struct tcptuned_tame *tame);

/* End the search, and the probe that runs. */
void tcptuned_tame_free(struct tcptuned_tame *tame);

/* --- as in the paper ----------------------------------------------------------------------------- */

struct ParallelTCPChar {
	int num_flows;
	double max_nondisruptive_thru; /* bits per second */
	double cross_traffic_impact;   /* 0 to 1 */
};

/*
 * Search with the defaults, and wait. Returns what the caller frees with free(); NULL and errno, as of
 * tcptuned_tame_start() and tcptuned_tame_step().
 */
struct ParallelTCPChar *TameParallelTCP(const char *dest, double maximpact);

#ifdef __cplusplus
}
#endif
#endif
