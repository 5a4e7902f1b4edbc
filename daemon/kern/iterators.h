/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open connections, which the iterators of bpf/flows.bpf.c go through: those of one network
 * namespace at a time, so that the daemon visits every namespace.
 */
#ifndef TCPTUNED_KERN_ITERATORS_H
#define TCPTUNED_KERN_ITERATORS_H

#include "kern/kernel.h"

/*
 * Run the iterator of the link @link_fd in every network namespace that can be entered, and add up in
 * @ret (may be NULL) what it has done. Returns 0, -ENOENT for a negative @link_fd, or another negative
 * errno if no namespace could be visited.
 *
 * TCPTUNED_PROG_ADOPT_FLOWS has to run before the default congestion control is changed: a connection
 * that has the default has made no choice. TCPTUNED_PROG_RECALL_FLOWS does nothing before Linux 6.12.
 */
int tcptuned_iterate(int link_fd, struct tcptuned_adoption *ret);

/*
 * A network namespace whose default congestion control is bitcp keeps the one that was registered
 * when the name was written. Write the name again in every namespace, so that it is the one that is
 * registered now.
 */
void tcptuned_kernel_renew_defaults(void);

/*
 * Move connections whose congestion control tcptuned set to the default of their network namespace,
 * and restore the buffers that listeners have requested. A namespace that has inherited bitcp as its
 * default gets the default of the caller's first.
 */
void tcptuned_kernel_undo_overrides(struct tcptuned_kernel *k);

#endif
