// SPDX-License-Identifier: GPL-2.0-only
#include "hosts.h"

#include <stddef.h>
#include <string.h>
#include <netinet/ip.h>

static uint16_t find(const struct host *hosts, unsigned int count, const uint8_t *address)
{
	for (unsigned int i = 0; i < count; i++)
		if (!memcmp(&hosts[i].address, address, sizeof(hosts[i].address)))
			return i;
	return count;
}

struct host_pair hosts_of(const struct host *hosts, unsigned int count, const uint8_t *ip)
{
	if (ip[0] >> 4 != 4)
		return (struct host_pair){count, count};
	return (struct host_pair){
		.from = find(hosts, count, ip + offsetof(struct iphdr, saddr)),
		.to = find(hosts, count, ip + offsetof(struct iphdr, daddr)),
	};
}
