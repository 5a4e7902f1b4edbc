// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the segments that a control group sends in each interval of 100 ms, for the burstiness of
 * paper 002: the coefficient of variation of these numbers (section 3), with the round-trip
 * propagation delay as the interval (bench_clients.sh). Attached where a packet goes to the
 * queueing discipline, before segmentation. Everything counts, therefore only senders of TCP data
 * belong in the group.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define INTERVAL_NS 100000000ull
#define INTERVALS   8192

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, INTERVALS);
	__type(key, __u32);
	__type(value, __u64);
} segments SEC(".maps");

__u64 first; /* the number of the interval that segments[0] is of; 0: none yet */

SEC("cgroup_skb/egress")
int burstiness(struct __sk_buff *skb)
{
	__u64 now = bpf_ktime_get_ns(), *count, interval;
	__u32 index;

	/* A paced segment leaves at its departure time, not when it is queued. */
	interval = (skb->tstamp > now ? skb->tstamp : now) / INTERVAL_NS;
	__sync_val_compare_and_swap(&first, 0, interval);
	index = interval - first;
	count = bpf_map_lookup_elem(&segments, &index);
	if (count)
		__sync_fetch_and_add(count, skb->gso_segs ? skb->gso_segs : 1);
	return 1; /* never drop */
}

char _license[] SEC("license") = "GPL";
