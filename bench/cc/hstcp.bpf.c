// SPDX-License-Identifier: GPL-2.0-only
/* HighSpeed TCP as a struct_ops congestion control, "hstcp". The algorithm is hstcp.h. */
#include "program.h"
#include "hstcp.h"

CONGESTION_CONTROL(congestion_init, hstcp_on_ack, hstcp_ssthresh, congestion_undo)

SEC(".struct_ops")
struct tcp_congestion_ops hstcp = {
	CONGESTION_CONTROL_CALLS,
	.name = "hstcp",
};
