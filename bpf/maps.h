/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps that programs share. The linker makes those of all parts of tcptuned.bpf.o one, and the
 * loader gives them to the congestion controls.
 */
#pragma once

#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <tcptuned/abi/event.h>
#include <tcptuned/abi/flow.h>
#include <tcptuned/abi/meta.h>
#include <tcptuned/abi/policy.h>
#include <tcptuned/abi/totals.h>
#include <tcptuned/algo/budget.h>
#include <tcptuned/algo/random_loss.h>

#define SHARED_MAP __weak SEC(".maps")

#define SINGLE_VALUE_MAP(map_type, value_type) \
	struct {                               \
		__uint(type, map_type);        \
		__uint(max_entries, 1);        \
		__type(key, __u32);            \
		__type(value, value_type);     \
	}

static __always_inline void *single_value(void *map)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(map, &zero);
}

/* Which build loaded this, and what was changed on the host. */
SINGLE_VALUE_MAP(BPF_MAP_TYPE_ARRAY, struct tcptuned_meta) meta SHARED_MAP;

/*
 * The policies in force and those of earlier configurations, whose names connections still show.
 * Each may have one for what it holds back. Memory is allocated as records are added. A record is
 * never written to once a rule names it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TCPTUNED_GENERATIONS_KEPT * 2 * TCPTUNED_POLICIES_MAX);
	__type(key, __u32);
	__type(value, struct tcptuned_policy);
} policies SHARED_MAP;

/* Sizes instead of types, because clang leaves the types of an inner map out of its BTF. */
struct match_trie {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct tcptuned_match_key));
	__uint(value_size, sizeof(struct tcptuned_match));
};

/* The trie in force. A configuration takes effect when its trie is put here. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct match_trie);
} match SHARED_MAP;

struct rule_array {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP); /* of any length */
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct tcptuned_rule));
};

/* The rules of that trie, and those of the trie before it or of the next one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct rule_array);
} rules SHARED_MAP;

/* Not cloned to accepted sockets: without memory, accept() would fail (bpf_sk_storage_clone()). */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tcptuned_flow);
} flows SHARED_MAP;

/* Of connections whose slow start is over, where cc_auto chooses (random_loss.h, room.h). */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct random_loss);
} random_losses SHARED_MAP;

/*
 * An entry is replaced or removed by the next listen() on its port, or dropped if the map is full.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct tcptuned_listener_key);
	__type(value, struct tcptuned_listener);
} listeners SHARED_MAP;

SINGLE_VALUE_MAP(BPF_MAP_TYPE_PERCPU_ARRAY, struct tcptuned_totals) totals SHARED_MAP;

/* The daemon makes an entry for each name of a policy, as long as there is room. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, char[TCPTUNED_POLICY_NAME_MAX]);
	__type(value, struct tcptuned_policy_traffic);
} traffic SHARED_MAP;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct budget);
} budget SHARED_MAP;

/* Which events are wanted. */
SINGLE_VALUE_MAP(BPF_MAP_TYPE_ARRAY, struct tcptuned_event_gate) event_gate SHARED_MAP;

/* By how much CLOCK_TAI is ahead of UTC, us. */
SINGLE_VALUE_MAP(BPF_MAP_TYPE_ARRAY, __u64) tai_offset SHARED_MAP;

/* Of struct tcptuned_event. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, TCPTUNED_EVENTS_BYTES);
} events SHARED_MAP;
