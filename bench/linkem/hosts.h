/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts behind the ends of the link, each with an access link of its own. Their addresses
 * distinguish them. Pure: no system call, no allocation.
 */
#pragma once

#include <stdint.h>
#include <netinet/in.h>

#define HOSTS_MAX 256

struct host {
	char name[INET_ADDRSTRLEN]; /* the address as text */
	struct in_addr address;
	uint64_t delay_ns; /* of its access link, one way */
	uint64_t rate_bps; /* of its access link; 0: the sender's side has the link's access rate */
};

/* Between which hosts a packet goes; the number of hosts stands for all that are not named. */
struct host_pair {
	uint16_t from, to;
};

/* @ip: an IPv4 or IPv6 header, whole. Of several hosts that match the first one counts. */
struct host_pair hosts_of(const struct host *hosts, unsigned int count, const uint8_t *ip);
