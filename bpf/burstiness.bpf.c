// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the TCP segments with data that the host sends, by congestion control, in intervals of
 * one round-trip time: <tcptuned/burstiness.h>. Attached to the control group only while it is
 * asked for, and held by the daemon alone: nothing is pinned, and who does not read does not pay.
 *
 * Here, where a packet has been given its route and goes to the queueing discipline, each TCP
 * packet of the group's sockets passes once, with its socket, before segmentation: 64 KB at a
 * time. TCP's own hooks see only connections of some congestion control, or only what comes in.
 *
 * Not counted: what stays on the host (loopback), and segments without data: in the paper
 * acknowledgments go the other way. A short packet in which something else comes before the TCP
 * header (IPv6 extension headers, IPsec) may be one of these, and is not counted either.
 */
#include "kernel.h"
#include <tcptuned/burstiness.h>

#define LOOPBACK_IFINDEX 1
#define ETH_P_IP	 0x0800
#define IPV4_HEADER	 20
#define IPV6_HEADER	 40
#define TCP_HEADER	 20
#define LONGEST_HEADERS	 120 /* of IPv4 and TCP with all options that fit in */

const volatile __u64 interval_ns = 1;

struct name {
	__u64 word[2]; /* of TCP_CA_NAME_MAX characters, padded with NULs by the kernel */
};

/* A ring for each congestion control and CPU. The one without a name takes the rest. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, BURSTINESS_NAMES);
	__type(key, struct name);
	__type(value, struct burstiness_ring);
} rings SEC(".maps");

const struct burstiness_ring empty = {};

static __always_inline bool carries_data(struct __sk_buff *skb)
{
	__u8 *ip = (void *)(long)skb->data, *end = (void *)(long)skb->data_end, *tcp, protocol;
	__u32 header = IPV6_HEADER;

	if (skb->len > LONGEST_HEADERS)
		return true;
	if (ip + IPV4_HEADER > end)
		return false;
	protocol = ip[6];
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		protocol = ip[9];
		header = (ip[0] & 15) * 4;
	}
	if (protocol != IPPROTO_TCP)
		return false;
	tcp = ip + header;
	return tcp + TCP_HEADER <= end && skb->len > header + (tcp[12] >> 4) * 4;
}

static __always_inline struct burstiness_ring *ring_of(struct tcp_sock *tp)
{
	const __u64 *ops = (const __u64 *)tp->inet_conn.icsk_ca_ops->name;
	struct name name = { { ops[0], ops[1] } };
	struct burstiness_ring *ring = bpf_map_lookup_elem(&rings, &name);

	if (ring)
		return ring;
	bpf_map_update_elem(&rings, &name, &empty, BPF_NOEXIST);
	ring = bpf_map_lookup_elem(&rings, &name);
	if (ring)
		return ring;
	name = (struct name){ 0 };
	return bpf_map_lookup_elem(&rings, &name);
}

SEC("cgroup_skb/egress")
int tcptuned_burstiness(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;
	struct burstiness_ring *ring;
	struct tcp_sock *tp;

	if (!sk || skb->ifindex == LOOPBACK_IFINDEX || !carries_data(skb))
		return 1;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || tp->inet_conn.icsk_inet.sk.sk_type != SOCK_STREAM)
		return 1;
	ring = ring_of(tp);
	if (ring)
		burstiness_count(ring,
				 burstiness_interval(skb->tstamp, tp->tcp_mstamp * 1000,
						     interval_ns),
				 skb->gso_segs ? skb->gso_segs : 1);
	return 1; /* never drop */
}

char _license[] SEC("license") = "GPL";
