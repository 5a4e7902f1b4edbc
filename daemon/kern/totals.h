/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPTUNED_KERN_TOTALS_H
#define TCPTUNED_KERN_TOTALS_H

#include <tcptuned/abi/totals.h>

/* Add up the counters and histograms of all CPUs in the map @map_fd. Returns 0 or -errno. */
int tcptuned_totals_read(int map_fd, struct tcptuned_totals *ret);

#endif
