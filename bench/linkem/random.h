/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LINKEM_RANDOM_H
#define LINKEM_RANDOM_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood 2014): one multiply-shift step per segment is enough here. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* In [0, 1), with the 53 bits that a double can hold. */
static inline double random_uniform(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

#endif
