// SPDX-License-Identifier: GPL-2.0-only
/* AIMD(32, 0.125) as a struct_ops congestion control, "aimd". The algorithm is aimd.h. */
#include "program.h"
#include "aimd.h"

CONGESTION_CONTROL(congestion_init, aimd_on_ack, aimd_ssthresh, congestion_undo)

SEC(".struct_ops")
struct tcp_congestion_ops aimd = {
	CONGESTION_CONTROL_CALLS,
	.name = "aimd",
};
