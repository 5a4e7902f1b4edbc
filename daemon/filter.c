// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "filter.h"

#define MAPPED_BYTES 12 /* of ::ffff:0:0/96 */
#define MAPPED_BITS  (8 * MAPPED_BYTES)

static bool is_mapped(unsigned int family, const __u8 *bytes)
{
	static const __u8 prefix[MAPPED_BYTES] = { [10] = 0xff, [11] = 0xff };

	return family == AF_INET6 && !memcmp(bytes, prefix, sizeof(prefix));
}

/* The decimal digits at @text, alone and at most @most; -1: they are not. */
static int parse_bits(const char *text, int most)
{
	int bits = 0;

	if (!*text || strlen(text) > 3)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		bits = 10 * bits + *text - '0';
	}
	return bits <= most ? bits : -1;
}

int tcptuned_prefix_parse(const char *text, struct tcptuned_prefix *ret)
{
	const char *slash = strchr(text, '/');
	struct tcptuned_prefix prefix = { 0 };
	char host[INET6_ADDRSTRLEN];
	int most, bits;

	if (snprintf(host, sizeof(host), "%.*s", slash ? (int)(slash - text) : (int)strlen(text),
		     text) >= (int)sizeof(host))
		return -EINVAL;
	if (inet_pton(AF_INET, host, prefix.bytes) == 1)
		prefix.family = AF_INET;
	else if (inet_pton(AF_INET6, host, prefix.bytes) == 1)
		prefix.family = AF_INET6;
	else
		return -EINVAL;
	most = prefix.family == AF_INET ? 32 : 128;
	bits = slash ? parse_bits(slash + 1, most) : most;
	if (bits < 0)
		return -EINVAL;
	if (is_mapped(prefix.family, prefix.bytes) && bits >= MAPPED_BITS) {
		memmove(prefix.bytes, prefix.bytes + MAPPED_BYTES, 4);
		memset(prefix.bytes + 4, 0, MAPPED_BYTES);
		prefix.family = AF_INET;
		bits -= MAPPED_BITS;
	}
	prefix.bits = (__u8)bits;
	*ret = prefix;
	return 0;
}

static bool prefix_covers(const struct tcptuned_prefix *prefix, unsigned int family,
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
