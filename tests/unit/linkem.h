/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of linkem's queue share. */
#pragma once

#include "test.h"
#include "queue.h"

#define START_NS 123456789012345ull
#define MS	 1000000ull

static struct queue queues_made[16];
static size_t queues_len;

/* A queue that is freed at the end of the test. */
static inline struct queue make_queue(struct queue_config config)
{
	assert_true(queues_len < ARRAY_SIZE(queues_made));
	assert_int_equal(queue_init(&queues_made[queues_len], &config), 0);
	return queues_made[queues_len++];
}

#define queue_of(fields...) make_queue((struct queue_config){fields})

static int free_queues(void **state)
{
	while (queues_len)
		queue_free(&queues_made[--queues_len]);
	return 0;
}

FIXTURE(NULL, free_queues)

static struct offer offered; /* by the last call of offer() */

/* Offers a segment that carries data. */
static inline enum verdict offer(struct queue *q, uint64_t now_ns, uint32_t bytes)
{
	return queue_offer(q, now_ns, bytes, true, 1, &offered);
}

static inline int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}
