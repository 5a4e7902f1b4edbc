/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's counters and histograms, all CPUs together. */
#ifndef TCPTUNED_KERN_TOTALS_H
#define TCPTUNED_KERN_TOTALS_H

#include <tcptuned/abi/totals.h>

/* Add the copies of all CPUs of the map @map_fd up. Returns 0 or a negative errno. */
int tcptuned_totals_read(int map_fd, struct tcptuned_totals *ret);

#endif
