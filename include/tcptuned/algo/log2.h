/* SPDX-License-Identifier: GPL-2.0-only */
/* The binary logarithm, rounded down: the position of the highest bit. */
#pragma once

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

/* log2(@value) times 1024, by a parabola between two powers of two: at most 11 off; 0 for 0. */
static inline __u32 tcptuned_log2_fixed(__u64 value)
{
	__u32 whole, part;

	if (!value)
		return 0;
	whole = value >> 32 ? 32 + tcptuned_log2((__u32)(value >> 32))
			    : tcptuned_log2((__u32)value);
	part = (__u32)(whole > 10 ? value >> (whole - 10) : value << (10 - whole)) & 1023;
	return 1024 * whole + part + 355 * part * (1024 - part) / (1u << 20);
}
