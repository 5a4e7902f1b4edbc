// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "flows/filter.h"
#include "util/ip_prefix.h"

#define MAPPED_BYTES 12 /* of ::ffff:0:0/96 */
#define MAPPED_BITS  (8 * MAPPED_BYTES)

static bool is_mapped(unsigned int family, const __u8 *bytes)
{
	static const __u8 prefix[MAPPED_BYTES] = { [10] = 0xff, [11] = 0xff };

	return family == AF_INET6 && !memcmp(bytes, prefix, sizeof(prefix));
}

int tcptuned_filter_prefix_parse(const char *text, struct tcptuned_filter_prefix *ret)
{
	struct tcptuned_prefix prefix;

	if (tcptuned_prefix_of(text, &prefix))
		return -EINVAL;
	memset(ret, 0, sizeof(*ret));
	ret->family = prefix.ipv4 ? AF_INET : AF_INET6;
	ret->bits = prefix.ipv4 ? prefix.length - MAPPED_BITS : prefix.length;
	memcpy(ret->bytes, prefix.address + (prefix.ipv4 ? MAPPED_BYTES : 0),
	       prefix.ipv4 ? 4 : 16);
	return 0;
}

static bool prefix_covers(const struct tcptuned_filter_prefix *prefix, unsigned int family,
			  const __u8 *bytes)
{
	unsigned int whole = prefix->bits / 8, rest = prefix->bits % 8;

	if (!prefix->family)
		return true;
	if (prefix->family == AF_INET && is_mapped(family, bytes)) {
		family = AF_INET;
		bytes += MAPPED_BYTES;
	}
	if (prefix->family != family || memcmp(prefix->bytes, bytes, whole))
		return false;
	return !rest || !((prefix->bytes[whole] ^ bytes[whole]) >> (8 - rest));
}

bool tcptuned_filter_matches(const struct tcptuned_filter *filter,
			     const struct tcptuned_flow_record *r, const char *policy)
{
	if (!prefix_covers(&filter->address, r->family, r->local) &&
	    !prefix_covers(&filter->address, r->family, r->remote))
		return false;
	if (!prefix_covers(&filter->local, r->family, r->local) ||
	    !prefix_covers(&filter->remote, r->family, r->remote))
		return false;
	if (filter->port && filter->port != r->local_port && filter->port != r->remote_port)
		return false;
	if ((filter->local_port && filter->local_port != r->local_port) ||
	    (filter->remote_port && filter->remote_port != r->remote_port))
		return false;
	if (filter->netns && filter->netns != r->netns)
		return false;
	if (filter->policy[0] && strcmp(filter->policy, policy))
		return false;
	return !filter->congestion_control[0] ||
	       !strcmp(filter->congestion_control, r->congestion_control);
}
