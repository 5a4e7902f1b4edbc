/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads connections, all or a choice of them, as include/tcptuned/abi/readout.h describes. */
#pragma once

#include <stdbool.h>

#include "flows/choice.h"
#include "kern/kernel.h"
#include "util/error.h"
#include "util/prefix.h"

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

/* True if @record matches. @policy: the name of its policy. */
bool tcptuned_scan_matches(const struct tcptuned_filter *filter,
			   const struct tcptuned_flow_record *record, const char *policy);

/*
 * Read into @flows the sums about all connections, and those connections that come first in its
 * choice. @filter (may be NULL) is applied in the kernel, which knows neither policies nor
 * congestion controls by name.
 *
 * By size, if flows->choice has neither an order nor a condition, the kernel copies only
 * connections in the same 64th of a power of two as the last one wanted, or above, and at most a
 * thousand more than wanted: among more of the same size it is random which ones are seen.
 *
 * Returns 0 or a negative errno; -ENOENT: there is no iterator, -EPROTO: another build's records.
 */
int tcptuned_scan(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel,
		  const struct tcptuned_filter *filter, struct tcptuned_error *err);
