/* SPDX-License-Identifier: GPL-2.0-only */
/* Every network namespace of the host: those of processes, and those with a name. */
#ifndef TCPTUNED_NETNS_H
#define TCPTUNED_NETNS_H

/*
 * Call @visit once in each network namespace that can be entered, the caller's own first, and
 * come back to that one. A namespace that vanishes meanwhile is passed over; @ret_refused (may
 * be NULL) counts those that are there but may not be entered. Returns how many were visited,
 * or a negative errno when even the own one cannot be kept hold of.
 */
int tcptuned_netns_for_each(void (*visit)(void *ctx), void *ctx, unsigned int *ret_refused);

#endif
