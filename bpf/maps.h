/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps that the programs share. Each object declares them; the loader makes them one. */
#ifndef TCPTUNED_MAPS_H
#define TCPTUNED_MAPS_H

#include <tcptuned/algo/budget.h>
#include <tcptuned/abi/event.h>
#include <tcptuned/abi/flow.h>
#include <tcptuned/abi/meta.h>
#include <tcptuned/abi/policy.h>
#include <tcptuned/abi/totals.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tcptuned_meta);
} meta SEC(".maps");

/*
 * The records of the configuration in force and of those before it, whose names connections still
 * show. Memory is taken as records come. A record is never written to once a rule names it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TCPTUNED_GENERATIONS_KEPT * TCPTUNED_POLICIES_MAX);
	__type(key, __u32);
	__type(value, struct tcptuned_policy);
} policies SEC(".maps");

/* Sizes and not types: clang leaves the types of an inner map out of its BTF. */
struct match_trie {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct tcptuned_match_key));
	__uint(value_size, sizeof(struct tcptuned_match));
};

/* The trie in force; putting another one here is how a configuration begins to hold. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct match_trie);
} match SEC(".maps");

struct rule_array {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP); /* of any length */
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct tcptuned_rule));
};

/* Its rules, and those of the trie before or the one to come. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct rule_array);
} rules SEC(".maps");

/*
 * Not cloned from a listener to what it accepts: where there is no memory for the copy, accept()
 * would fail (bpf_sk_storage_clone()).
 */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tcptuned_flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tcptuned_totals);
} totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct budget);
} budget SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tcptuned_event_gate);
} event_gate SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, TCPTUNED_EVENTS_BYTES);
} events SEC(".maps");

static __always_inline struct tcptuned_totals *totals_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&totals, &zero);
}

/*
 * Interrupts are writers of the same CPU: what one of them counts between a load and a store would
 * be lost, and a scrape of that moment would see a counter go back.
 */
static __always_inline void count_more(struct tcptuned_totals *t, enum tcptuned_counter which,
				       __u64 more)
{
	__sync_fetch_and_add(&t->counter[which], more);
}

static __always_inline void count(enum tcptuned_counter which)
{
	struct tcptuned_totals *t = totals_here();

	if (t)
		count_more(t, which, 1);
}

/*
 * Adds @value to the histogram. This is a function of its own, which the verifier walks once,
 * since the search for a bucket has many ends.
 */
__noinline int histogram_add(struct tcptuned_histogram *h, __u64 value)
{
	if (!h)
		return 0;
	__sync_fetch_and_add(&h->count, 1);
	__sync_fetch_and_add(&h->sum, value);
	__sync_fetch_and_add(&h->bucket[tcptuned_bucket(value) & (TCPTUNED_BUCKETS - 1)], 1);
	return 0;
}

static __always_inline void count_in(struct tcptuned_totals *t, enum tcptuned_histogram_id which,
				     __u64 value)
{
	histogram_add(&t->histogram[which], value);
}

/* @value of what was measured, if it was; 0: it was not */
static __always_inline void count_known(struct tcptuned_totals *t, enum tcptuned_histogram_id which,
					__u64 value)
{
	if (value)
		count_in(t, which, value);
}

#endif
