// SPDX-License-Identifier: GPL-2.0-only
#include "flows/filter.h"

#include <string.h>

static void compile_prefix(const struct tcptuned_prefix *from, struct readout_prefix *ret)
{
	memcpy(ret->word, from->address, sizeof(ret->word));
	memset(ret->mask, 0xff, sizeof(ret->mask));
	tcptuned_mask_address((__u8 *)ret->mask, from->length);
}

void tcptuned_filter_compile(const struct tcptuned_filter *filter, struct readout_filter *ret)
{
	memset(ret, 0, sizeof(*ret));
	compile_prefix(&filter->address, &ret->any_address);
	compile_prefix(&filter->local, &ret->local);
	compile_prefix(&filter->remote, &ret->remote);
	ret->any_port = filter->port;
	ret->local_port = filter->local_port;
	ret->remote_port = filter->remote_port;
	ret->netns = filter->netns;
	ret->active_since = filter->active_since;
	ret->given = 1;
}

bool tcptuned_filter_matches(const struct tcptuned_filter *filter,
			     const struct tcptuned_flow_record *r, const char *policy)
{
	struct readout_filter compiled;
	__u32 local[4], remote[4];

	tcptuned_filter_compile(filter, &compiled);
	tcptuned_map_address(local, r->family, r->local);
	tcptuned_map_address(remote, r->family, r->remote);
	return readout_matches(&compiled, local, remote, r->local_port, r->remote_port, r->netns) &&
	       (!filter->policy[0] || !strcmp(filter->policy, policy)) &&
	       (!filter->congestion_control[0] ||
		!strcmp(filter->congestion_control, r->congestion_control));
}
