// SPDX-License-Identifier: GPL-2.0-only
/* Scalable TCP as a struct_ops congestion control, "stcp". The algorithm is stcp.h. */
#include "program.h"
#include "stcp.h"

CONGESTION_CONTROL(congestion_init, stcp_on_ack, stcp_ssthresh, congestion_undo)

SEC(".struct_ops")
struct tcp_congestion_ops stcp = {
	CONGESTION_CONTROL_CALLS,
	.name = "stcp",
};
