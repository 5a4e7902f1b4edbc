/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is under way to the far end, the first one due on top. What comes in the order of its due
 * times (all, without hosts and reordering) stands in a ring; hosts with different delays overtake
 * one another, and what is due earlier than the last one in the ring goes to a binary heap. Pure,
 * in memory of the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adjacent segments of one packet that reach the far end together. */
struct delivery {
	uint64_t due_ns;
	uint64_t at; /* where their packet is, from the store's beginning */
	uint16_t first, count;
	bool mark; /* with CE */
};

struct deliveries {
	struct delivery *ring, *heap; /* each of so many */
	uint32_t size;		      /* a power of two */
	uint32_t head, tail;	      /* of the ring */
	uint32_t heaped;
};

static inline const struct delivery *deliveries_ring_at(const struct deliveries *d, uint32_t index)
{
	return &d->ring[index & (d->size - 1)];
}

/* The next one; NULL if there is none. */
static inline const struct delivery *deliveries_first(const struct deliveries *d)
{
	const struct delivery *ring = deliveries_ring_at(d, d->head);

	if (d->head == d->tail)
		return d->heaped ? d->heap : NULL;
	return d->heaped && d->heap->due_ns < ring->due_ns ? d->heap : ring;
}

/* There must be room: fewer than the size in all. */
void deliveries_add(struct deliveries *d, const struct delivery *one);
/* There must be a first. */
void deliveries_drop_first(struct deliveries *d);
