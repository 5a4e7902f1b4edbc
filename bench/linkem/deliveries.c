// SPDX-License-Identifier: GPL-2.0-only
#include "deliveries.h"

static void heap_add(struct deliveries *d, const struct delivery *one)
{
	uint32_t at = d->heaped++;

	while (at) {
		uint32_t parent = (at - 1) / 2;

		if (d->heap[parent].due_ns <= one->due_ns)
			break;
		d->heap[at] = d->heap[parent];
		at = parent;
	}
	d->heap[at] = *one;
}

static void heap_drop_first(struct deliveries *d)
{
	const struct delivery *last = &d->heap[--d->heaped];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= d->heaped)
			break;
		if (child + 1 < d->heaped && d->heap[child + 1].due_ns < d->heap[child].due_ns)
			child++;
		if (last->due_ns <= d->heap[child].due_ns)
			break;
		d->heap[at] = d->heap[child];
		at = child;
	}
	d->heap[at] = *last;
}

void deliveries_add(struct deliveries *d, const struct delivery *one)
{
	if (d->head != d->tail && one->due_ns < deliveries_ring_at(d, d->tail - 1)->due_ns)
		heap_add(d, one);
	else
		d->ring[d->tail++ & (d->size - 1)] = *one;
}

void deliveries_drop_first(struct deliveries *d)
{
	if (deliveries_first(d) == d->heap)
		heap_drop_first(d);
	else
		d->head++;
}
