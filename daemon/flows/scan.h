/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading connections out of the kernel: include/tcptuned/abi/readout.h says how. */
#ifndef TCPTUNED_FLOWS_SCAN_H
#define TCPTUNED_FLOWS_SCAN_H

#include "flows/filter.h"
#include "flows/top.h"
#include "kern/kernel.h"

/*
 * Read what @flows is to hold: the sums about all connections, and one by one the first of its
 * choice. @filter, or NULL: only such connections can be among those; it is looked at in the
 * kernel, as far as the kernel understands it, and flows->choice.wanted has to look again.
 *
 * By size, which is when flows->choice has no order, those are read out that are in the same
 * 64th of a power of two as the last one wanted, or above, but not more than a thousand more
 * than wanted: where so many are alike, it is chance which of them are seen.
 *
 * Returns 0, -ENOENT when the iterator is not there, -EBUSY when others have been reading for
 * longer than a second, -EPROTO when records are another build's, -ENOMEM or what the kernel
 * answers.
 */
int tcptuned_readout(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel,
		     const struct tcptuned_filter *filter);

/* What the kernel understands of @filter. */
void tcptuned_readout_filter(const struct tcptuned_filter *filter, struct readout_filter *ret);

#endif
