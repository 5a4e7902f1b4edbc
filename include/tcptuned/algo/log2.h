/* SPDX-License-Identifier: GPL-2.0-only */
/* The binary logarithm, rounded down: the position of the highest bit. */
#ifndef TCPTUNED_LOG2_H
#define TCPTUNED_LOG2_H

#include <linux/types.h>

/* @value is not 0. A binary search, since BPF has no instruction for it. */
static inline __u32 tcptuned_log2(__u32 value)
{
	__u32 bit = 0;

	if (value >> 16) {
		bit += 16;
		value >>= 16;
	}
	if (value >> 8) {
		bit += 8;
		value >>= 8;
	}
	if (value >> 4) {
		bit += 4;
		value >>= 4;
	}
	if (value >> 2) {
		bit += 2;
		value >>= 2;
	}
	return bit + (value >> 1);
}

#endif
