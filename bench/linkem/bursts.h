/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bursts of loss: the model of Gilbert (1960) and Elliott (1963), a Markov chain with a good state,
 * in which nothing is lost, and a bad one, in which everything is. A burst is 1 / leave segments
 * long on average, and the share of the segments in one is enter / (enter + leave).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "random.h"

struct bursts {
	double enter; /* probability per segment to become bad; 0: never */
	double leave; /* to become good */
	bool bad;
	uint64_t random;
};

/* Takes the next step of the chain; returns whether the segment is lost. */
static inline bool bursts_lose(struct bursts *b)
{
	double change = b->bad ? b->leave : b->enter;

	if (change > 0 && random_uniform(&b->random) < change)
		b->bad = !b->bad;
	return b->bad;
}
