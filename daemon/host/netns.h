/* SPDX-License-Identifier: GPL-2.0-only */
/* Every network namespace of the host: those of processes, and those with a name. */
#pragma once

#include <stdbool.h>

struct tcptuned_netns_missed {
	unsigned int refused;  /* names and processes that are there, but could not be entered: */
	int error;	       /* why the last one could not (negative errno) */
	unsigned int vanished; /* names that no longer had a namespace when their turn came */
};

/*
 * Call @visit once in each network namespace that can be entered within five seconds: any user may
 * make thousands. The caller's own is the first. Returns 0, or -errno if that one cannot be opened
 * or entered again. @ret_missed may be NULL.
 */
int tcptuned_netns_for_each(void (*visit)(void *ctx), void *ctx,
			    struct tcptuned_netns_missed *ret_missed);

/*
 * False if the network namespace of the caller has no TCP socket. An iterator over TCP sockets
 * would pass the table of the whole host to find none, which takes several times as long.
 */
bool tcptuned_netns_has_sockets(void);
