/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdint.h>

#define RANDOM_STEP 0x9e3779b97f4a7c15ull

/* SplitMix64 (Steele, Lea, Flood 2014): one multiply-shift step per segment is enough here. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += RANDOM_STEP;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* A seed for one purpose of several, so that none repeats the draws of another. */
static inline uint64_t random_seed_for(uint64_t seed, uint64_t purpose)
{
	uint64_t state = seed ^ purpose * 0xd1342543de82ef95ull;

	return random_next(&state);
}

/* In [0, 1), with the 53 bits that a double can hold. */
static inline double random_uniform(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}
