/* SPDX-License-Identifier: GPL-2.0-only */
/* Selects connections by address, port, policy, congestion control. */
#ifndef TCPTUNED_FLOWS_FILTER_H
#define TCPTUNED_FLOWS_FILTER_H

#include <stdbool.h>

#include "flows/top.h"
#include "util/ip_prefix.h"

/* A connection has to match every field; 0, ::/0 and "" match all. */
struct tcptuned_filter {
	struct tcptuned_prefix address; /* of one of the ends */
	struct tcptuned_prefix local, remote;
	__u16 port; /* of one of the ends */
	__u16 local_port, remote_port;
	__u32 netns;
	__u32 active_since; /* struct tcptuned_flows.jiffies of an earlier scan */
	char policy[TCPTUNED_POLICY_NAME_MAX];
	char congestion_control[TCPTUNED_CC_NAME_MAX];
};

/* The part of @filter that the kernel applies: all but policy and congestion control. */
void tcptuned_filter_compile(const struct tcptuned_filter *filter, struct readout_filter *ret);

/* True if @record matches. @policy: the name of its policy. */
bool tcptuned_filter_matches(const struct tcptuned_filter *filter,
			     const struct tcptuned_flow_record *record, const char *policy);

#endif
