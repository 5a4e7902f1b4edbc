/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading connections out of the kernel: include/tcptuned/abi/readout.h says how. */
#ifndef TCPTUNED_FLOWS_SCAN_H
#define TCPTUNED_FLOWS_SCAN_H

#include "flows/filter.h"
#include "flows/top.h"
#include "kern/kernel.h"

/*
 * Read what @flows is to hold: the sums about all connections, and one by one the first of its
 * choice. @filter, or NULL: only connections that it lets through in the kernel, which knows
 * neither policies nor congestion controls by name, can be among those.
 *
 * By size, which is when flows->choice has neither an order nor a condition, only those are copied
 * that are in the same 64th of a power of two as the last one wanted, or above, and not more than
 * a thousand more than wanted: where so many are alike, it is chance which of them are seen.
 *
 * Returns 0, -ENOENT when the iterator is not there, -EPROTO when records are another build's,
 * -ENOMEM or what the kernel answers.
 */
int tcptuned_readout(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel,
		     const struct tcptuned_filter *filter);

#endif
