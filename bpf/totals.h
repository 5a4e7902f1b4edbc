/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters and histograms of the host, one copy for each CPU. */
#pragma once

#include "maps.h"

/* Atomic, because an interrupt on the same CPU may count between a load and a store. */
static __always_inline void add_count(struct tcptuned_totals *t, enum tcptuned_counter which,
				      __u64 n)
{
	__sync_fetch_and_add(&t->counter[which], n);
}

static __always_inline void count(enum tcptuned_counter which)
{
	struct tcptuned_totals *t = single_value(&totals);

	if (t)
		add_count(t, which, 1);
}

/*
 * The histograms take one round of so many on a CPU: to add to them costs as much as the rule
 * itself.
 */
#define ROUNDS_OBSERVED 8

/* Counts a round, and returns whether the histograms take it. */
static __always_inline bool count_round(struct tcptuned_totals *t, enum tcptuned_counter which)
{
	add_count(t, which, 1);
	return t->counter[which] % ROUNDS_OBSERVED == 0;
}

/* A global function, since the search for the bucket has many ends. */
__bpf_global int histogram_add(struct tcptuned_histogram *h, __u64 value)
{
	if (!h)
		return 0;
	__sync_fetch_and_add(&h->count, 1);
	__sync_fetch_and_add(&h->sum, value);
	__sync_fetch_and_add(&h->bucket[tcptuned_bucket(value) & (TCPTUNED_BUCKETS - 1)], 1);
	return 0;
}
