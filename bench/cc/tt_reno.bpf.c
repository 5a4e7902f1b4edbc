// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reno as a struct_ops congestion control, "tt_reno", because the kernel has a reno. The
 * algorithm is reno.h.
 */
#include "program.h"
#include "reno.h"

CONGESTION_CONTROL(congestion_init, reno_on_ack, reno_ssthresh, congestion_undo)

SEC(".struct_ops")
struct tcp_congestion_ops tt_reno = {
	CONGESTION_CONTROL_CALLS,
	.name = "tt_reno",
};
