/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which build loaded the pinned programs, and what was changed on the host, for a later tcptuned to
 * take over or undo. Its layout therefore never changes; anything new goes to another map.
 */
#pragma once

#include <linux/types.h>

enum tcptuned_sysctl {
	TCPTUNED_SYSCTL_TCP_RMEM, /* of these two the third number, the maximum */
	TCPTUNED_SYSCTL_TCP_WMEM,
	TCPTUNED_SYSCTL_WMEM_MAX,
	TCPTUNED_SYSCTL_CONGESTION_CONTROL,
	TCPTUNED_SYSCTLS,
};

#define TCPTUNED_SYSCTL_VALUE 32

/* Both "": not changed. Only @before "": the administrator has changed it since, and it is kept. */
struct tcptuned_saved_sysctl {
	char before[TCPTUNED_SYSCTL_VALUE];
	char ours[TCPTUNED_SYSCTL_VALUE];
};

struct tcptuned_meta {
	__u32 abi;   /* TCPTUNED_ABI of the build that created the maps */
	__u32 build; /* CRC-32 of the BPF objects */
	struct tcptuned_saved_sysctl sysctl[TCPTUNED_SYSCTLS];
};
