// SPDX-License-Identifier: GPL-2.0-only
/*
 * Vegas as a struct_ops congestion control, "tt_vegas", because the kernel has a vegas.
 * The algorithm is vegas.h.
 */
#include "program.h"
#include "vegas.h"

CONGESTION_CONTROL(vegas_init, vegas_on_ack, vegas_ssthresh, vegas_undo)

/*
 * Before ca_cong_avoid() of the same ACK. What an ACK says that ends the repair of a loss is
 * measured by time stamps of milliseconds, up to one too short (tcp_ack_update_rtt()), and the
 * least stays.
 */
SEC("struct_ops/ca_pkts_acked")
void BPF_PROG(ca_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_state) >= TCP_CA_Recovery)
		return;
	vegas_on_rtt(state_of(tp), sample->rtt_us);
}

SEC(".struct_ops")
struct tcp_congestion_ops tt_vegas = {
	CONGESTION_CONTROL_CALLS,
	.pkts_acked = (void *)ca_pkts_acked,
	.name = "tt_vegas",
};
