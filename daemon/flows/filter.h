/* SPDX-License-Identifier: GPL-2.0-only */
/* Which connections are meant: by address, port, policy, congestion control. */
#ifndef TCPTUNED_FLOWS_FILTER_H
#define TCPTUNED_FLOWS_FILTER_H

#include <stdbool.h>

#include "flows/top.h"

/* An address or prefix. IPv4 within IPv6 (::ffff:192.0.2.1) is IPv4. */
struct tcptuned_filter_prefix {
	__u16 family; /* 0: any */
	__u8 bits;    /* of the prefix */
	__u8 bytes[16];
};

/* All that is given has to hold; 0 and "" are not given. */
struct tcptuned_filter {
	struct tcptuned_filter_prefix address; /* of either end */
	struct tcptuned_filter_prefix local, remote;
	__u16 port; /* of either end */
	__u16 local_port, remote_port;
	__u32 netns;
	char policy[TCPTUNED_POLICY_NAME_MAX];
	char congestion_control[TCPTUNED_CC_NAME_MAX];
};

/* "192.0.2.1", "192.0.2.0/24", "2001:db8::/32". Returns 0 or -EINVAL. */
int tcptuned_filter_prefix_parse(const char *text, struct tcptuned_filter_prefix *ret);

/* Is @record meant? @policy: the name of its policy. */
bool tcptuned_filter_matches(const struct tcptuned_filter *filter,
			     const struct tcptuned_flow_record *record, const char *policy);

#endif
