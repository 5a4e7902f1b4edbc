/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts behind the ends of the link, each with an access link of its own. Their addresses
 * distinguish them. Pure: no system call, no allocation.
 */
#ifndef LINKEM_HOSTS_H
#define LINKEM_HOSTS_H

#include <stdint.h>

#define HOSTS_MAX 256

struct host {
	char name[64]; /* as it was given */
	uint8_t address[16];
	uint8_t version; /* 4 or 6 */
	uint8_t prefix_len;
	uint64_t delay_ns; /* of its access link, one way */
	uint64_t rate_bps; /* of its access link; 0: the sender's side has --access-rate */
};

/* Reads "ADDRESS" or "ADDRESS/N" into @ret, whose delay and rate become 0. 0 or -EINVAL. */
int host_parse_address(const char *text, struct host *ret);

/* Between which hosts a packet goes; the number of hosts stands for all that are not named. */
struct host_pair {
	uint16_t from, to;
};

/* @ip: an IPv4 or IPv6 header, whole. Of several hosts that match the first one counts. */
struct host_pair hosts_of(const struct host *hosts, unsigned int count, const uint8_t *ip);

#endif
