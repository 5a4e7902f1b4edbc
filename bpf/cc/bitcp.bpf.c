// SPDX-License-Identifier: GPL-2.0-only
/*
 * BI-TCP as a struct_ops congestion control, "bitcp". The algorithm is tcptuned/algo/bitcp.h.
 * It has no sndbuf_expand: the kernel's factor of two is enough for at most S_max packets per RTT.
 */
#include "engine.h"
#include "tcptuned/algo/bitcp.h"

/* The section [bitcp] of the configuration. Zeroes, the initial content, stand for the defaults. */
SINGLE_VALUE_MAP(BPF_MAP_TYPE_ARRAY, struct bitcp_params) bitcp_params SEC(".maps");

/*
 * Begins with the maximum that the path memory has left for this connection (bpf/paths.h). That is
 * used once, since a connection that changes to bitcp later has measured the path itself.
 */
static __always_inline void apply_seed(struct sock *sk, struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	__u32 max_win, ssthresh;

	if (!flow || !flow->max_window_seed || !tp->mss_cache)
		return;
	max_win = TCPTUNED_MAX_WINDOW_UNIT * flow->max_window_seed / tp->mss_cache;
	flow->max_window_seed = 0;
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		return;
	ssthresh = bitcp_seed(state_of(tp), max_win);
	if (ssthresh)
		tp->snd_ssthresh = ssthresh;
}

SEC("struct_ops/ca_init")
void BPF_PROG(ca_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	const struct bitcp_params *params = single_value(&bitcp_params);

	if (!params)
		return;
	bitcp_init(state_of(tp), params, tp->snd_cwnd);
	apply_seed(sk, tp);
	expect_jump(sk, tp);
}

/* bitcp.h does not know whether the window is used. */
static __always_inline void on_ack(struct bitcp *st, struct congestion_ack *ack)
{
	if (ack->limited)
		ack->cwnd = bitcp_on_ack(st, ack->cwnd, ack->ssthresh, ack->acked);
}

CONGESTION_CONTROL_ACK(on_ack)
CONGESTION_CONTROL_LOSS(bitcp_ssthresh, bitcp_undo)

SEC("struct_ops/ca_cwnd_event")
void BPF_PROG(ca_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	on_cwnd_event(sk, event);
}

#ifdef HAS_TX_START
SEC("struct_ops/ca_tx_start")
void BPF_PROG(ca_tx_start, struct sock *sk)
{
	on_cwnd_event(sk, CA_EVENT_TX_START);
}
#endif

SEC(".struct_ops")
struct tcp_congestion_ops bitcp = {
	CONGESTION_CONTROL_CALLS,
	.cwnd_event = (void *)ca_cwnd_event,
#ifdef HAS_TX_START
	.cwnd_event_tx_start = (void *)ca_tx_start,
#endif
	.name = "bitcp",
};
