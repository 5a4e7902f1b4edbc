/* SPDX-License-Identifier: GPL-2.0-only */
/* TUN devices in other network namespaces, set up without help from any program. */
#pragma once

#include <stdint.h>
#include <net/if.h>

#include "stats.h"

struct tun_config {
	const char *netns;  /* a name under /run/netns; NULL: this one */
	const char *device; /* "tun0" */
	const char *addr4;  /* "10.99.0.1/30" */
	const char *addr6;  /* "fd99::1/64" */
};

struct tun {
	int fd; /* non-blocking; IFF_VNET_HDR with 10 bytes */
	int netns_fd;
	char device[IFNAMSIZ];
};

#define TUN_INIT                         \
	{                                \
		.fd = -1, .netns_fd = -1 \
	}

/*
 * Makes the device, gives it its addresses and queue length, and brings it up. On error
 * returns negative errno and leaves in *@ret_what the step that failed.
 */
int tun_open(const struct tun_config *config, struct tun *ret, const char **ret_what);
void tun_close(struct tun *tun);
int tun_counters(const struct tun *tun, struct device_counters *ret);
