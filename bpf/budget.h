/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory budget, for a connection that needs another buffer size. */
#pragma once

#include "maps.h"
#include "sock.h"
#include "totals.h"

#define MEMCG_LEVELS 16 /* of the hierarchy of memory control groups that are looked at */

/*
 * True if the socket's memory control group or one above it is under pressure, as
 * mem_cgroup_under_socket_pressure() has it. @first: sk_memcg, whose low bits may be flags.
 */
__bpf_global int memcg_under_pressure(__u64 first)
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
 * True if TCP is nearly under memory pressure (tcp_under_memory_pressure(), the middle value of
 * tcp_mem), or the socket's control group is. The kernel then prunes receive queues.
 */
static __always_inline bool tcp_memory_is_short(struct tcp_sock *tp)
{
	struct proto *prot = BPF_CORE_READ(tp, inet_conn.icsk_inet.sk.__sk_common.skc_prot);
	__u64 pressure = 0;
	__s64 allocated = 0;
	long *mem;

	if (bpf_core_field_exists(struct sock, sk_memcg) &&
	    memcg_under_pressure((__u64)BPF_CORE_READ(tp, inet_conn.icsk_inet.sk.sk_memcg)))
		return true;
	bpf_core_read(&mem, sizeof(mem), &prot->sysctl_mem);
	bpf_probe_read_kernel(&allocated, sizeof(allocated), BPF_CORE_READ(prot, memory_allocated));
	if (bpf_probe_read_kernel(&pressure, sizeof(pressure), mem + 1))
		return false;
	return allocated > (__s64)(pressure - pressure / 8);
}

__bpf_global __u32 current_budget_level(__u64 now_us)
{
	struct budget *b = single_value(&budget);

	return b ? budget_level(b, now_us) : BUDGET_NO_LEVEL;
}

/* Returns how much of @want bytes the connection may have, by its prefix and by the level. */
__bpf_global __u32 budget_allowance(struct budget_share *share, __u32 want, __u64 now_us)
{
	struct budget *b = single_value(&budget);
	__u32 level;

	if (!b || !share)
		return 0;
	want = budget_want(b, share, want);
	level = current_budget_level(now_us);
	return want < level ? want : level;
}

/* Makes the grant @bytes, or as much of that as the budget has left. */
__bpf_global int reserve_budget(struct budget_share *share, __u32 bytes)
{
	struct budget *b = single_value(&budget);

	if (!b || !share)
		return 0;
	budget_reserve(b, share, bytes);
	budget_return(b, share, bytes);
	return 0;
}

/*
 * Returns how much of a buffer of @space bytes the connection may have, of which the kernel alone
 * would give @base. Sets @memory_short in @flags if it was refused because TCP's memory is short.
 */
static __always_inline __u32 grant_memory(struct budget_share *share, struct tcp_sock *tp,
					  __u32 base, __u32 space, __u32 *flags, __u32 memory_short)
{
	__u32 want = budget_allowance(share, space > base ? space - base : 0, tp->tcp_mstamp);

	*flags &= ~memory_short;
	if (want > share->granted && tcp_memory_is_short(tp)) {
		count(TCPTUNED_C_MEMORY_SHORT);
		*flags |= memory_short;
		want = share->granted;
	}
	reserve_budget(share, want);
	return base + (want < share->granted ? want : share->granted);
}

/* Call when tcptuned does not size the buffer, or no longer. */
__bpf_global int leave_budget(struct budget_share *share)
{
	struct budget *b = single_value(&budget);

	if (b && share)
		budget_leave(b, share);
	return 0;
}

static __always_inline void leave_budgets(struct tcptuned_flow *flow)
{
	leave_budget(&flow->rcv_share);
	leave_budget(&flow->snd_share);
}

/* The hash of the peer's prefix, which is /24, or /48 for IPv6. */
__bpf_global __u32 peer_prefix_hash(const struct endpoints *ends)
{
	if (!ends)
		return 0;
	if (!ends->remote[0] && !ends->remote[1]) /* IPv4 */
		return budget_prefix_hash(ends->remote[3] & bpf_htonl(0xffffff00));
	return budget_prefix_hash((__u64)ends->remote[0] << 32 |
				  (ends->remote[1] & bpf_htonl(0xffff0000)));
}

/* Counts the connection with those of its peer's prefix, before it is granted anything. */
static __always_inline void join_budget(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct endpoints ends;
	__u32 prefix;

	sk_endpoints(&tp->inet_conn.icsk_inet.sk.__sk_common, &ends);
	prefix = peer_prefix_hash(&ends);
	leave_budgets(flow);
	flow->rcv_share.prefix = prefix;
	flow->snd_share.prefix = prefix;
}
