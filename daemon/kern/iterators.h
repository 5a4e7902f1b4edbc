/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the iterators of bpf/manage.bpf.c, each of which sees one network namespace at a time. */
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

#endif
