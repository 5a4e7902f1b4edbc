/* SPDX-License-Identifier: GPL-2.0-only */
/* The draw of a trial: which connections are left to the kernel, to compare the others with. */
#pragma once

#include <linux/types.h>

/*
 * splitmix64's finalizer: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators
 * (2014), with Stafford's constants.
 */
static inline __u64 trial_mix(__u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/*
 * True for @share (times 2^32) of all connections, the same ones throughout @trial. Addresses in
 * network byte order, ports in that of the host. Always inlined, since a call in BPF has five
 * arguments at most.
 */
static inline __attribute__((always_inline)) int trial_draw(__u32 trial, __u32 share,
							    const __u32 local[4],
							    const __u32 remote[4], __u32 local_port,
							    __u32 remote_port)
{
	__u64 x = trial_mix((__u64)trial << 32 | local_port << 16 | remote_port);
	__u32 i;

	for (i = 0; i < 4; i++)
		x = trial_mix(x ^ ((__u64)local[i] << 32 | remote[i]));
	return (__u32)x < share;
}
