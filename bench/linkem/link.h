/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One direction of the link: a thread that reads one TUN device, lets queue.h decide, keeps
 * the packets in a circular store until they are due, and writes them to the other device.
 *
 * Without hosts a packet's segments are decided about when it is read, and spaced by queue.h.
 * With hosts each has its line before the bottleneck, in which its segments wait until they have
 * crossed its access link, and they are offered to the queue in the order in which they get there:
 *
 *	line of the sending host -> queue -> delay of the link -> access link of the receiving host
 *
 * Jitter adds to the delay of the link and keeps the order. What is reordered is late by so much
 * when it has everything behind it.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "delay.h"
#include "deliveries.h"
#include "hosts.h"
#include "queue.h"
#include "stats.h"

struct record; /* a packet in the store */

/* A host as one direction sees it; the last one stands for all that are not named. */
struct station {
	struct rate_clock up; /* of its access link, from it and to it */
	struct rate_clock down;
	uint64_t delay_ns;
	struct record *line; /* the packets that wait; the first one is on the access link */
	struct record **line_end;
	uint16_t next_segment; /* of the first packet in line */
	uint64_t arrive_ns;    /* of that segment, at the bottleneck */
	struct delivery run;   /* that grows; .count 0: none */
	uint64_t run_began_ns; /* when its first bit would have been there */
	struct host_stats stats;
};

/* How it waits (--idle). */
enum link_idle { LINK_SLEEPS, LINK_POLLS, LINK_SAVES };

struct link {
	struct queue queue;
	struct delay_line delay;
	uint64_t fastest_bps; /* that the link will ever be; of a trace the mean */
	uint64_t run_ns;      /* longest serialisation time of one delivery */
	bool spin;	      /* slow link: wait actively for the last 50 us */
	uint64_t sleep_min_ns;
	uint64_t sleep_long_ns; /* from which on it wakes early, and spins */
	int in_fd, out_fd;

	uint8_t *store;
	uint64_t store_size; /* positions below are bytes since the start, modulo this */
	uint64_t store_head, store_tail;
	struct deliveries deliveries;
	uint32_t runs; /* deliveries and what grows to be one */

	const struct host *hosts;
	unsigned int host_count;
	struct station *stations; /* one more than hosts */

	uint64_t awake_since_ns;
	bool woke_early;	 /* the next delivery's last 50 us are to be waited for actively */
	uint64_t empty_at_ns;	 /* when the TUN ring was last seen empty; 0: no matter */
	uint64_t judged_from_ns; /* what is late before that makes no run invalid */

	struct direction_stats stats;
	bool realtime;
	bool stop; /* set by another thread, atomically */
	pthread_t thread;
	int tid; /* 0 until it runs */
	bool started;
};

/*
 * Takes all memory that the direction will need, and touches it: to
 * be called before the devices exist, since packets would queue unseen meanwhile. @hosts stays
 * the caller's, as do @config's arrays; with hosts its access rate is that of each. 0 or negative
 * errno.
 */
int link_init(struct link *l, const struct queue_config *config, const struct delay_config *delay,
	      const struct host *hosts, unsigned int host_count, enum link_idle idle);
/*
 * Starts the thread, SCHED_FIFO where that is allowed. @judged_from_ns: lateness before that goes
 * to stats.late_before. 0 or negative errno.
 */
int link_start(struct link *l, int in_fd, int out_fd, uint64_t judged_from_ns);
void link_stop(struct link *l);
void link_free(struct link *l);

uint64_t link_now_ns(void);
