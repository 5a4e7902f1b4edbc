/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockops programs of others on this host: they share a socket's callbacks with tcptuned's. */
#ifndef TCPTUNED_HOST_OTHER_BPF_H
#define TCPTUNED_HOST_OTHER_BPF_H

#include <stdbool.h>
#include <linux/bpf.h>

/* All zeroes: nothing was looked at yet. */
struct tcptuned_neighbours {
	__u32 seen; /* id of the latest program that was looked at */
	bool any;
	char name[BPF_OBJ_NAME_LEN]; /* of the first; "" where programs may not be looked at */
};

/*
 * Is there a sockops program on this host that is not a tcptuned's, or was there one? Looks at the
 * programs that were loaded since the last call. That needs CAP_SYS_ADMIN: without, the answer is
 * yes, for nobody knows.
 */
bool tcptuned_neighbours_look(struct tcptuned_neighbours *n);

#endif
