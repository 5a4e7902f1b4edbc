/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random Early Detection (Floyd, Jacobson: "Random Early Detection Gateways for Congestion
 * Avoidance", 1993), with what was added to it until the papers of bench/research/papers used it in
 * ns-2: gentle_, wait_ and adaptive max_p (Floyd, Gummadi, Shenker: "Adaptive RED", 2001). Pure:
 * the time is an argument. Everything is in packets, and the queue is that of queue.h: the packet
 * on the wire is in it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct red_config {
	bool on;
	double min_th, max_th; /* packets, of the average queue; 0: automatic */
	double max_p;	       /* drop probability p_b at max_th, where adaptive: at first */
	double weight;	       /* w_q of the average, 0 < w_q < 1; 0: automatic */
	double mean_bytes;     /* what automatic values take a packet for; 0: its largest size */
	bool gentle;	       /* from max_th to twice that, p_b goes from max_p to 1 */
	bool wait;	       /* drops are 1/p_b to 2/p_b packets apart, not 1 to 1/p_b */
	bool adaptive;
	double bottom, top; /* of max_p, where adaptive */
};

#define RED_MAX_P  0.1	/* linterm_ 10 of ns-2 */
#define RED_BOTTOM 0.01 /* "Adaptive RED", section 4 */
#define RED_TOP	   0.5

/*
 * Fills in what is automatic, as ns-2 (queue/red.cc) does: min_th is half of what the link
 * carries in 5 ms but at least 5, max_th three times that, and the weight's time constant ten
 * round trips, for which it takes three link delays but at least 100 ms. What the link carries
 * is counted in packets of @c->mean_bytes, or of @packet_bytes. ns-2 has 500 for that
 * (mean_pktsize_ of ns-default.tcl), whatever the packets' size, and until 2004 counted the queue
 * in packets all the same (queue_in_bytes_): with packets of 1500 bytes its queue is three
 * times as long as the formula means it to be.
 */
void red_config_resolve(struct red_config *c, uint64_t rate_bps, uint64_t delay_ns,
			uint32_t packet_bytes);

struct red {
	struct red_config config;
	uint64_t packet_ns; /* one packet's serialisation time */
	uint64_t random;
	double avg;	/* packets */
	double avg_max; /* for the statistics */
	double max_p;
	int64_t count; /* packets since the last drop; -1: avg was below min_th */
	uint64_t adapted_ns;
};

enum red_fate {
	RED_KEEP,
	RED_EARLY,  /* by chance, between the thresholds */
	RED_FORCED, /* the average is above them */
};

/* @config has nothing automatic in it any more. */
void red_init(struct red *r, const struct red_config *config, uint64_t packet_ns, uint64_t seed);

/*
 * A packet arrives and finds @queued others; if there are none, the link has been idle since
 * @idle_since_ns. Updates the average and says what is to become of the packet.
 */
enum red_fate red_arrival(struct red *r, uint64_t now_ns, uint32_t queued, uint64_t idle_since_ns);

/* p_b at the present average, 0 to 1: before it is made uniform by the count. */
double red_probability(const struct red *r);
