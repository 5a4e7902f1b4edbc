/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record that stands beside the pinned programs: which build made them, and what was
 * changed on the host, so that any later tcptuned can take over or take everything back. For
 * that its layout is for ever; what else there will be to remember goes into another map.
 */
#ifndef TCPTUNED_META_H
#define TCPTUNED_META_H

#include <linux/types.h>

enum tcptuned_sysctl {
	TCPTUNED_SYSCTL_TCP_RMEM, /* of these two the last number, the maximum */
	TCPTUNED_SYSCTL_TCP_WMEM,
	TCPTUNED_SYSCTL_WMEM_MAX,
	TCPTUNED_SYSCTL_CONGESTION_CONTROL,
	TCPTUNED_SYSCTLS,
};

#define TCPTUNED_SYSCTL_VALUE 32

/* Both "": not changed. Only @before "": left to the administrator, who changed it since. */
struct tcptuned_saved_sysctl {
	char before[TCPTUNED_SYSCTL_VALUE];
	char ours[TCPTUNED_SYSCTL_VALUE];
};

struct tcptuned_meta {
	__u32 abi;   /* TCPTUNED_ABI of whoever made the maps */
	__u32 build; /* CRC-32 of the BPF objects */
	struct tcptuned_saved_sysctl sysctl[TCPTUNED_SYSCTLS];
};

#endif
