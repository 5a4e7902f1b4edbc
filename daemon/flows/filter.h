/* SPDX-License-Identifier: GPL-2.0-only */
/* Which connections are meant: by address, port, policy, congestion control. */
#ifndef TCPTUNED_FLOWS_FILTER_H
#define TCPTUNED_FLOWS_FILTER_H

#include <stdbool.h>

#include "flows/top.h"
#include "util/ip_prefix.h"

/* All that is given has to hold; 0, ::/0 and "" are not given. */
struct tcptuned_filter {
	struct tcptuned_prefix address; /* of either end */
	struct tcptuned_prefix local, remote;
	__u16 port; /* of either end */
	__u16 local_port, remote_port;
	__u32 netns;
	char policy[TCPTUNED_POLICY_NAME_MAX];
	char congestion_control[TCPTUNED_CC_NAME_MAX];
};

/* What the kernel can tell of @filter: all but its policy and congestion control. */
void tcptuned_filter_compile(const struct tcptuned_filter *filter, struct readout_filter *ret);

/* Is @record meant? @policy: the name of its policy. */
bool tcptuned_filter_matches(const struct tcptuned_filter *filter,
			     const struct tcptuned_flow_record *record, const char *policy);

#endif
