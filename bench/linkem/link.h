/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One direction of the link: a thread that reads one TUN device, lets queue.h decide, keeps
 * the packets in a circular store until they are due, and writes them to the other device.
 */
#ifndef LINKEM_LINK_H
#define LINKEM_LINK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "queue.h"
#include "stats.h"

/* Adjacent segments of one packet that reach the far end together. */
struct delivery {
	uint64_t due_ns;
	uint64_t at;	  /* where in the store its packet begins */
	uint64_t release; /* the store is free up to here once this is delivered; 0: not yet */
	uint16_t first, count;
};

struct link {
	struct queue queue;
	uint64_t delay_ns;
	uint64_t run_ns; /* longest serialisation time of one delivery */
	bool spin;	 /* slow link: wait actively for the last 50 us */
	int in_fd, out_fd;

	uint8_t *store;
	uint64_t store_size; /* positions below are bytes since the start, modulo this */
	uint64_t store_head, store_tail;
	struct delivery *deliveries;
	uint32_t delivery_size; /* a power of two */
	uint32_t delivery_head, delivery_tail;

	uint64_t awake_since_ns;
	bool woke_early;      /* the next delivery's last 50 us are to be waited for actively */
	uint64_t empty_at_ns; /* when the TUN ring was last seen empty; 0: no matter */

	struct direction_stats stats;
	bool realtime;
	bool stop; /* set by another thread, atomically */
	pthread_t thread;
	int tid; /* 0 until it runs */
	bool started;
};

/*
 * Takes all memory that the direction will need for packets of @mtu bytes, and touches it: to
 * be called before the devices exist, since packets would queue unseen meanwhile. 0 or negative
 * errno.
 */
int link_init(struct link *l, const struct queue_config *config, uint64_t delay_ns,
	      uint32_t mtu);
/* Starts the thread, SCHED_FIFO where that is allowed. */
int link_start(struct link *l, int in_fd, int out_fd);
void link_stop(struct link *l);
void link_free(struct link *l);

uint64_t link_now_ns(void);

#endif
