/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads connections from the kernel, as include/tcptuned/abi/readout.h describes. */
#ifndef TCPTUNED_FLOWS_SCAN_H
#define TCPTUNED_FLOWS_SCAN_H

#include "flows/filter.h"
#include "flows/top.h"
#include "kern/kernel.h"
#include "util/error.h"

/*
 * Read into @flows the sums about all connections, and those connections that come first in its
 * choice. @filter (may be NULL) is applied in the kernel, which knows neither policies nor congestion
 * controls by name.
 *
 * By size, if flows->choice has neither an order nor a condition, the kernel copies only connections
 * in the same 64th of a power of two as the last one wanted, or above, and at most a thousand more than
 * wanted: among more of the same size it is random which ones are seen.
 *
 * Returns 0 or a negative errno; -ENOENT: there is no iterator, -EPROTO: another build's records.
 */
int tcptuned_readout(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel,
		     const struct tcptuned_filter *filter, struct tcptuned_error *err);

#endif
