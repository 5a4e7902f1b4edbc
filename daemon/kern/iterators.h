/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open connections, which the iterators of bpf/manage.bpf.c go through in every network namespace:
 * taken at the start, given another policy, given back at the end.
 */
#ifndef TCPTUNED_KERN_ITERATORS_H
#define TCPTUNED_KERN_ITERATORS_H

#include "kern/kernel.h"

/*
 * Claim, for the policy that is written, the connections that are open and were not claimed,
 * listeners first, in every network namespace that can be entered; what came of it is in
 * k->adoption. Repeated, it finds nothing more. Before the default congestion control is
 * changed: whoever has the default has not chosen. Returns 0 or a negative errno when no
 * namespace could be visited.
 */
int tcptuned_kernel_adopt_flows(struct tcptuned_kernel *k);

/*
 * Give every open connection the policy that it would get if it were made now, those that had
 * none included. Returns 0, or a negative errno as above, and what came of it in @ret.
 */
int tcptuned_kernel_apply_policies(const struct tcptuned_kernel *k, struct tcptuned_adoption *ret);

/*
 * Have connections that were at rest for five seconds give back what of the budget they do not
 * hold, in every network namespace. Returns 0, or a negative errno as above.
 */
int tcptuned_kernel_rest_flows(struct tcptuned_kernel *k);

/*
 * Ask for the callbacks of claimed connections again where another sockops program has taken them
 * away. Before Linux 6.12 nothing comes of it. Returns as above.
 */
int tcptuned_kernel_recall_flows(struct tcptuned_kernel *k);

/*
 * A network namespace whose default congestion control is bitcp has the one that was registered
 * when the name was written, for ever. Have it be the one that is registered now, in every
 * namespace.
 */
void tcptuned_kernel_renew_defaults(void);

/*
 * Give the connections that were tuned back to the kernel: with the buffers that they have, or
 * with as much as its own autotuning may give (tcp_rmem[2], tcp_wmem[2]). @link_fd: the iterator
 * TCPTUNED_LINK_RELEASE of the build that made their records; negative: there are none. In every
 * network namespace; returns how many were visited, or a negative errno, and in @ret_refused how
 * many may not be entered.
 */
int tcptuned_kernel_release_flows(int link_fd, unsigned int *ret_refused);

/*
 * Move connections whose congestion control tcptuned set to the default of their network
 * namespace, as it is now; let a namespace whose own default is bitcp, inherited from when it
 * was made, have that of the caller's; and give listeners the buffers that were asked for.
 */
void tcptuned_kernel_undo_overrides(struct tcptuned_kernel *k);

#endif
