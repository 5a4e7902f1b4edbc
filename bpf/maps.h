/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps that the programs share. Each object declares them; the loader makes them one. */
#ifndef TCPTUNED_MAPS_H
#define TCPTUNED_MAPS_H

#include <tcptuned/budget.h>
#include <tcptuned/event.h>
#include <tcptuned/flow.h>
#include <tcptuned/meta.h>
#include <tcptuned/policy.h>
#include <tcptuned/totals.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tcptuned_meta);
} meta SEC(".maps");

/* A hash and not an array: an element is replaced as a whole, never seen half-written. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tcptuned_policy);
} policies SEC(".maps");

/* Cloned from a listener to its connections: they inherit what the application asked for. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
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

/*
 * Where a listener has a larger buffer than its application asked for: the first window that
 * it offers must not be as large. Only the port is known of a connection that is so young.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct tcptuned_listener);
	__type(value, __u32);
} listeners SEC(".maps");

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

static __always_inline void count(enum tcptuned_counter which)
{
	struct tcptuned_totals *t = totals_here();

	if (t)
		t->counter[which]++;
}

static __always_inline void count_in(struct tcptuned_totals *t, enum tcptuned_histogram_id which,
				     __u64 value)
{
	struct tcptuned_histogram *h = &t->histogram[which];

	h->count++;
	h->sum += value;
	h->bucket[tcptuned_bucket(value) & (TCPTUNED_BUCKETS - 1)]++;
}

#endif
