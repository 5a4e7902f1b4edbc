/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory budget, as seen by a connection that wants another buffer size. */
#ifndef TCPTUNED_BPF_BUDGET_H
#define TCPTUNED_BPF_BUDGET_H

#include "kernel.h"
#include "maps.h"

static __always_inline struct budget *budget_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&budget, &zero);
}

/* How deep in the hierarchy of control groups memory is looked at. */
#define MEMCG_LEVELS 16

/*
 * Is there pressure in the memory control group of the socket, or in one above it
 * (mem_cgroup_under_socket_pressure())? @first: sk_memcg, of which the low bits may be flags.
 */
__noinline int memcg_is_short(__u64 first)
{
	const struct mem_cgroup *memcg = (const struct mem_cgroup *)(first & ~3ull);
	__u64 now;

	if (!bpf_core_field_exists(memcg->socket_pressure)) /* no CONFIG_MEMCG */
		return 0;
	now = bpf_jiffies64();
	for (int i = 0; memcg && i < MEMCG_LEVELS; i++) {
		if (bpf_core_field_exists(memcg->tcpmem_pressure) &&
		    BPF_CORE_READ(memcg, tcpmem_pressure))
			return 1;
		if ((__s64)(BPF_CORE_READ(memcg, socket_pressure) - now) > 0)
			return 1;
		memcg = (const struct mem_cgroup *)BPF_CORE_READ(memcg, css.parent);
	}
	return 0;
}

/*
 * Does TCP as a whole hold nearly as much memory as makes the kernel press it (the middle value
 * of tcp_mem; tcp_under_memory_pressure()), or does its control group? From there on the kernel
 * prunes receive queues.
 */
static __always_inline bool memory_is_short(struct tcp_sock *tp)
{
	struct proto *prot = BPF_CORE_READ(tp, inet_conn.icsk_inet.sk.__sk_common.skc_prot);
	__u64 pressure = 0;
	__s64 allocated = 0;
	long *mem;

	if (bpf_core_field_exists(struct sock, sk_memcg) &&
	    memcg_is_short((__u64)BPF_CORE_READ(tp, inet_conn.icsk_inet.sk.sk_memcg)))
		return true;
	bpf_core_read(&mem, sizeof(mem), &prot->sysctl_mem);
	bpf_probe_read_kernel(&allocated, sizeof(allocated),
			      BPF_CORE_READ(prot, memory_allocated));
	if (bpf_probe_read_kernel(&pressure, sizeof(pressure), mem + 1))
		return false;
	return allocated > (__s64)(pressure - pressure / 8);
}

/* The current level. It is a function of its own so that the verifier walks it only once. */
__noinline __u32 budget_level_now(__u64 now_us)
{
	struct budget *b = budget_here();

	return b ? budget_level(b, now_us) : BUDGET_NO_LEVEL;
}

/* Returns how much of @want bytes the connection may have, by its prefix and by the level. */
verified_once __u32 budget_ask(struct budget_share *share, __u32 want, __u64 now_us)
{
	struct budget *b = budget_here();
	__u32 level;

	if (!b || !share)
		return 0;
	want = budget_want(b, share, want);
	level = budget_level_now(now_us);
	return want < level ? want : level;
}

/* Reserves up to @bytes for the connection, or returns what it has beyond that. */
verified_once int budget_grant(struct budget_share *share, __u32 bytes)
{
	struct budget *b = budget_here();

	if (!b || !share)
		return 0;
	budget_reserve(b, share, bytes);
	budget_return(b, share, bytes);
	return 0;
}

/*
 * How much of a buffer of @space bytes the connection may have, of which the kernel alone would
 * give @base. @pressed is set in @flags where the kernel's memory is short, not the budget.
 */
static __always_inline __u32 budget_allow(struct budget_share *share, struct tcp_sock *tp,
					  __u32 base, __u32 space, __u32 *flags, __u32 pressed)
{
	__u32 want = budget_ask(share, space > base ? space - base : 0, tp->tcp_mstamp);

	*flags &= ~pressed;
	if (want > share->granted && memory_is_short(tp)) {
		count(TCPTUNED_C_MEMORY_SHORT);
		*flags |= pressed;
		want = share->granted;
	}
	budget_grant(share, want);
	return base + (want < share->granted ? want : share->granted);
}

/* A buffer that tcptuned does not size, or not any more, has no part in the budget. */
verified_once int budget_give_up(struct budget_share *share)
{
	struct budget *b = budget_here();

	if (b && share)
		budget_leave(b, share);
	return 0;
}

/* The record of a socket, made if need be; NULL: no memory, or there are too many already. */
static __always_inline struct tcptuned_flow *make_record(void *sk)
{
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	struct budget *b = budget_here();

	if (flow || !b)
		return flow;
	if (budget_add_record(b)) {
		flow = bpf_sk_storage_get(&flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
		if (flow)
			return flow;
		__sync_fetch_and_add(&b->records, -1ull);
	}
	count(TCPTUNED_C_STORAGE_FAILED);
	return NULL;
}

static __always_inline void uncount_record(void)
{
	struct budget *b = budget_here();

	if (b)
		__sync_fetch_and_add(&b->records, -1ull);
}

static __always_inline void budget_close(struct tcptuned_flow *flow)
{
	budget_give_up(&flow->rcv_share);
	budget_give_up(&flow->snd_share);
}

/* The first 64 bits of the peer's address, as far as its prefix reaches: /24, or /48 of IPv6. */
static __always_inline __u64 peer_prefix(struct tcp_sock *tp)
{
	struct sock_common *skc = &tp->inet_conn.icsk_inet.sk.__sk_common;
	__be32 remote[4] = {};

	if (skc->skc_family == AF_INET6)
		bpf_core_read(remote, sizeof(remote), &skc->skc_v6_daddr);
	else
		remote[3] = skc->skc_daddr;
	if (!remote[0] && !remote[1]) /* ::ffff:a.b.c.d, too: IPv4 on a socket of both */
		return remote[3] & bpf_htonl(0xffffff00);
	return (__u64)remote[0] << 32 | (remote[1] & bpf_htonl(0xffff0000));
}

/*
 * Before the connection is granted anything: it is counted with those of its peer's prefix for as
 * long as it is open.
 */
static __always_inline void budget_open(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 prefix = budget_prefix_hash(peer_prefix(tp));

	budget_close(flow);
	flow->rcv_share.prefix = prefix;
	flow->snd_share.prefix = prefix;
}

#endif
