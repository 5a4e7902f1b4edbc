/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockops programs of others on this host, which share a socket's callback flags with tcptuned's. */
#ifndef TCPTUNED_HOST_OTHER_BPF_H
#define TCPTUNED_HOST_OTHER_BPF_H

#include <stdbool.h>
#include <linux/bpf.h>

/* All zeroes: no program was examined yet. */
struct tcptuned_other_sockops {
	__u32 last_id; /* of the latest program that was examined */
	bool found;
	char name[BPF_OBJ_NAME_LEN]; /* of the first; "" if programs may not be examined */
};

/*
 * Examine the programs that were loaded since the last call. Returns whether there is, or was, a
 * sockops program that is not a tcptuned's. Without CAP_SYS_ADMIN, which that needs, the answer is
 * yes, to be on the safe side.
 */
bool tcptuned_other_sockops_find(struct tcptuned_other_sockops *other);

#endif
