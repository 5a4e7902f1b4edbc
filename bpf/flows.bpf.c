// SPDX-License-Identifier: GPL-2.0-only
/*
 * Iterators over all connections: read them out, and give them back to the kernel.
 */
#include "kernel.h"
#include "maps.h"
#include <tcptuned/bitcp.h>

#define TCP_STATE_CLOSE	 7
#define TCP_STATE_LISTEN 10

/* ---- read out ----------------------------------------------------------------------- */

/* The kernel's own bookkeeping of what a sender waits for (tcp_chrono_start()). */
static __always_inline __u8 limit_of(struct tcp_sock *tp)
{
	switch (BPF_CORE_READ_BITFIELD(tp, chrono_type)) {
	case TCP_CHRONO_RWND_LIMITED:
		return TCPTUNED_LIMIT_RWND;
	case TCP_CHRONO_SNDBUF_LIMITED:
		return TCPTUNED_LIMIT_SNDBUF;
	}
	if (!tp->packets_out)
		return TCPTUNED_LIMIT_IDLE;
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) ? TCPTUNED_LIMIT_CWND
							    : TCPTUNED_LIMIT_APPLICATION;
}

static __always_inline void copy_addresses(struct tcptuned_flow_record *r, struct sock_common *skc)
{
	if (r->family == AF_INET6) {
		bpf_core_read(r->local, sizeof(r->local), &skc->skc_v6_rcv_saddr);
		bpf_core_read(r->remote, sizeof(r->remote), &skc->skc_v6_daddr);
		return;
	}
	__builtin_memcpy(r->local, &(__be32){ skc->skc_rcv_saddr }, sizeof(__be32));
	__builtin_memcpy(r->remote, &(__be32){ skc->skc_daddr }, sizeof(__be32));
}

/* BI-TCP's state is where the kernel gives a congestion control room (bpf/bitcp.bpf.c). */
static __always_inline void copy_bitcp(struct tcptuned_flow_record *r, struct tcp_sock *tp)
{
	const struct bitcp *st = (const struct bitcp *)tp->inet_conn.icsk_ca_priv;
	__u64 name;

	__builtin_memcpy(&name, r->congestion_control, sizeof(name));
	if (name != *(const __u64 *)"bitcp\0\0")
		return;
	r->ca_max_win = st->max_win >> 32;
	r->ca_mode = bitcp_mode(st, r->cwnd, r->ssthresh);
}

static __always_inline void copy_socket(struct tcptuned_flow_record *r, struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	struct sock_common *skc = &sk->__sk_common;
	__u32 interval_us = tp->rate_interval_us;

	r->family = skc->skc_family;
	r->local_port = skc->skc_num;
	r->remote_port = bpf_ntohs(skc->skc_dport);
	r->state = skc->skc_state;
	r->netns = skc->skc_net.net->ns.inum;
	copy_addresses(r, skc);
	BPF_CORE_READ_STR_INTO(&r->congestion_control, &tp->inet_conn, icsk_ca_ops, name);

	r->bytes_received = tp->bytes_received;
	r->bytes_acked = tp->bytes_acked;
	if (interval_us)
		r->delivery_rate_Bps = (__u64)tp->rate_delivered * tp->mss_cache * 1000000 /
				       interval_us;
	r->limit = limit_of(tp);
	r->cwnd = tp->snd_cwnd;
	r->ssthresh = tp->snd_ssthresh;
	r->mss = tp->mss_cache;
	r->snd_wnd = tp->snd_wnd;
	r->rcv_wnd = tp->rcv_wnd;
	r->window_clamp = tp->window_clamp;
	r->rcvbuf = sk->sk_rcvbuf;
	r->sndbuf = sk->sk_sndbuf;
	r->rmem_alloc = sk->sk_backlog.rmem_alloc.counter;
	r->wmem_queued = sk->sk_wmem_queued;
	r->srtt_us = tp->srtt_us >> 3;
	r->min_rtt_us = kernel_min_rtt_us(tp);
	r->rcv_rtt_us = tp->rcv_rtt_est.rtt_us >> 3;
	r->retransmits = tp->total_retrans;
	r->lost = tp->lost_out;
	r->reordering = tp->reordering;
}

/*
 * One struct tcptuned_flow_record per claimed connection, of every network namespace. Written in
 * two parts, for the whole of it does not fit on a BPF program's stack: what its storage holds,
 * from where it is, and the rest.
 */
SEC("iter/bpf_sk_storage_map")
int dump_flows(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct tcptuned_flow *flow = ctx->value;
	struct tcptuned_flow_record record = {};
	struct sock *sk = ctx->sk;
	struct tcp_sock *tp;

	if (!sk || !flow || !(flow->flags & TCPTUNED_F_CLAIMED))
		return 0;
	tp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	copy_socket(&record, tp);
	copy_bitcp(&record, tp);
	bpf_seq_write(seq, flow, sizeof(*flow));
	bpf_seq_write(seq, &record, sizeof(record));
	return 0;
}

/* ---- give back ---------------------------------------------------------------------- */

/* The larger of what there is and what the kernel's autotuning may reach; bytes of memory. */
static __always_inline __u32 room_for(__u32 have, __u32 kernels_max)
{
	return have > kernels_max ? have : kernels_max;
}

/*
 * A buffer that tcptuned sized is locked: the kernel will not tune it again. So that nothing
 * is slower afterwards than it would have been without tcptuned, the connection is left with
 * as much room as the kernel might have given it. Not with as much as tcptuned might have:
 * applications fill send buffers, whatever the path needs. Congestion control stays.
 */
SEC("iter/tcp")
int release_flows(struct bpf_iter__tcp *ctx)
{
	struct sock_common *skc = ctx->sk_common;
	struct tcptuned_flow *flow;
	struct tcp_sock *tp;
	struct sock *sk;
	struct net *net;
	__u32 space;
	int value;

	if (!skc || skc->skc_state == TCP_STATE_LISTEN || skc->skc_state == TCP_STATE_CLOSE)
		return 0;
	tp = (struct tcp_sock *)bpf_skc_to_tcp_sock(skc);
	if (!tp)
		return 0;
	flow = bpf_sk_storage_get(&flows, tp, NULL, 0);
	if (!flow)
		return 0;
	sk = &tp->inet_conn.icsk_inet.sk;
	net = sk->__sk_common.skc_net.net;
	if (flow->flags & TCPTUNED_F_RCV_TAKEN) {
		space = room_for(sk->sk_rcvbuf, net->ipv4.sysctl_tcp_rmem[2]);
		value = space / 2; /* the kernel doubles it: sock_set_rcvbuf() */
		bpf_setsockopt(tp, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
		value = kernel_win_from_space(tp, space);
		bpf_setsockopt(tp, SOL_TCP, TCP_WINDOW_CLAMP, &value, sizeof(value));
	}
	if (flow->flags & TCPTUNED_F_SND_TAKEN) {
		value = room_for(sk->sk_sndbuf, net->ipv4.sysctl_tcp_wmem[2]) / 2;
		bpf_setsockopt(tp, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value));
	}
	if (flow->snd_unsent && tp->notsent_lowat == flow->snd_unsent) {
		value = 0; /* the sysctl's again */
		bpf_setsockopt(tp, SOL_TCP, TCP_NOTSENT_LOWAT, &value, sizeof(value));
	}
	flow->flags &= ~TCPTUNED_F_CLAIMED;
	return 0;
}

char _license[] SEC("license") = "GPL";
