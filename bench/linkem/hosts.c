// SPDX-License-Identifier: GPL-2.0-only
#include "hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>

static int parse_prefix_len(const char *text, unsigned int max, uint8_t *ret)
{
	unsigned long value;
	char *end;

	value = strtoul(text, &end, 10);
	if (!isdigit(*text) || *end || value > max)
		return -EINVAL;
	*ret = value;
	return 0;
}

int host_parse_address(const char *text, struct host *ret)
{
	char copy[sizeof(ret->name)], *slash;

	*ret = (struct host){0};
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	memcpy(ret->name, copy, sizeof(copy));
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET, copy, ret->address) == 1)
		ret->version = 4;
	else if (inet_pton(AF_INET6, copy, ret->address) == 1)
		ret->version = 6;
	else
		return -EINVAL;
	ret->prefix_len = ret->version == 4 ? 32 : 128;
	return slash ? parse_prefix_len(slash, ret->prefix_len, &ret->prefix_len) : 0;
}

static bool host_has(const struct host *h, const uint8_t *address)
{
	unsigned int bytes = h->prefix_len / 8, bits = h->prefix_len % 8;

	if (memcmp(h->address, address, bytes))
		return false;
	return !bits || !((h->address[bytes] ^ address[bytes]) >> (8 - bits));
}

static uint16_t find(const struct host *hosts, unsigned int count, uint8_t version,
		     const uint8_t *address)
{
	for (unsigned int i = 0; i < count; i++)
		if (hosts[i].version == version && host_has(&hosts[i], address))
			return i;
	return count;
}

struct host_pair hosts_of(const struct host *hosts, unsigned int count, const uint8_t *ip)
{
	uint8_t version = ip[0] >> 4;
	size_t from = version == 4 ? offsetof(struct iphdr, saddr)
				   : offsetof(struct ip6_hdr, ip6_src);
	size_t to = version == 4 ? offsetof(struct iphdr, daddr)
				 : offsetof(struct ip6_hdr, ip6_dst);

	return (struct host_pair){
		.from = find(hosts, count, version, ip + from),
		.to = find(hosts, count, version, ip + to),
	};
}
