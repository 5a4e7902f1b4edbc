// SPDX-License-Identifier: GPL-2.0-only
/*
 * BI-TCP as a struct_ops congestion control, "bitcp". The algorithm is tcptuned/bitcp.h; here
 * the socket is read, the algorithm called, the result written.
 *
 * No sndbuf_expand: a window that grows by at most S_max packets per RTT is served by the
 * kernel's own factor of two. No cwnd_event, no set_state: the algorithm sees a window that
 * was set from outside by comparing it with the one that it left.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "maps.h"
#include <tcptuned/bitcp.h>

char LICENSE[] SEC("license") = "GPL";

/* Kernel types: just the fields in use, found by name when the program is loaded. */
struct sock;

struct inet_connection_sock {
	__u64 icsk_ca_priv[13];
} __attribute__((preserve_access_index));

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 mss_cache;
	__u32 max_packets_out;
	__u8 is_cwnd_limited : 1;
} __attribute__((preserve_access_index));

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
	__u32 flags;
};

/* Open to unprivileged processes and to every network namespace. */
#define TCP_CONG_NON_RESTRICTED 0x1

#define TCP_INFINITE_SSTHRESH 0x7fffffff /* include/net/tcp.h */

/* For connections that no policy has; zeroes, as it is made, stand for the defaults. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bitcp_params);
} bitcp_params SEC(".maps");

static __always_inline struct bitcp *bitcp_of(struct tcp_sock *tp)
{
	return (struct bitcp *)tp->inet_conn.icsk_ca_priv;
}

/* The kernel's tcp_is_cwnd_limited(): a window that is not used says nothing about the path. */
static __always_inline int cwnd_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/*
 * Begin with the maximum that the path memory left for this connection (bpf/paths.h), once: a
 * connection that changes over to bitcp later has measured the path itself.
 */
static __always_inline void begin_with_memory(struct sock *sk, struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	__u32 max_win, ssthresh;

	if (!flow || !flow->max_window_seed || !tp->mss_cache)
		return;
	max_win = flow->max_window_seed / tp->mss_cache;
	flow->max_window_seed = 0;
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		return;
	ssthresh = bitcp_seed(bitcp_of(tp), max_win);
	if (ssthresh)
		tp->snd_ssthresh = ssthresh;
}

/* Its policy's: the connection is claimed before its congestion control begins. */
static __always_inline const struct bitcp_params *params_for(struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, tp, NULL, 0);
	struct tcptuned_policy *policy = NULL;
	__u32 zero = 0, key;

	if (flow && (flow->flags & TCPTUNED_F_CLAIMED)) {
		key = flow->policy;
		policy = bpf_map_lookup_elem(&policies, &key);
	}
	return policy ? &policy->bitcp : bpf_map_lookup_elem(&bitcp_params, &zero);
}

SEC("struct_ops/ca_init")
void BPF_PROG(ca_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	const struct bitcp_params *params;

	params = params_for(tp);
	if (!params)
		return;
	bitcp_init(bitcp_of(tp), params, tp->snd_cwnd);
	begin_with_memory(sk, tp);
}

SEC("struct_ops/ca_cong_avoid")
void BPF_PROG(ca_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 cwnd;

	if (!cwnd_limited(tp))
		return;
	cwnd = bitcp_on_ack(bitcp_of(tp), tp->snd_cwnd, tp->snd_ssthresh, acked);
	tp->snd_cwnd = cwnd < tp->snd_cwnd_clamp ? cwnd : tp->snd_cwnd_clamp;
}

SEC("struct_ops/ca_ssthresh")
__u32 BPF_PROG(ca_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	return bitcp_ssthresh(bitcp_of(tp), tp->snd_cwnd);
}

SEC("struct_ops/ca_undo_cwnd")
__u32 BPF_PROG(ca_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	return bitcp_undo(bitcp_of(tp), tp->snd_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops bitcp = {
	.init = (void *)ca_init,
	.cong_avoid = (void *)ca_cong_avoid,
	.ssthresh = (void *)ca_ssthresh,
	.undo_cwnd = (void *)ca_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "bitcp",
};
