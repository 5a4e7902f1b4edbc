// SPDX-License-Identifier: GPL-2.0-only
/*
 * Vegas as a struct_ops congestion control, "tt_vegas", for the kernel has a vegas. The
 * algorithm is tcptuned/vegas.h.
 */
#include "congestion.h"
#include "tcptuned/vegas.h"

CONGESTION_CONTROL(vegas_init, vegas_on_ack, vegas_ssthresh, vegas_undo)

/* Before ca_cong_avoid() of the same ACK. */
SEC("struct_ops/ca_pkts_acked")
void BPF_PROG(ca_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	vegas_on_rtt(state_of((struct tcp_sock *)sk), sample->rtt_us);
	trace("rtt %d", sample->rtt_us);
}

SEC(".struct_ops")
struct tcp_congestion_ops tt_vegas = {
	CONGESTION_CONTROL_CALLS,
	.pkts_acked = (void *)ca_pkts_acked,
	.name = "tt_vegas",
};
