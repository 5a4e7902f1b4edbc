/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Room on a path: the window is full, and larger than at the last loss, and still there is no
 * queue. What the path can carry is not known then. cubic needs tens of seconds to find out on a
 * long path if a loss has ended its slow start early, or if the path has become faster; BI-TCP,
 * which knows no maximum yet, grows by S_max in each round trip (VI). It takes nothing from others
 * as long as there is no queue. Before the first loss cubic grows by 5 % in each round trip
 * (bictcp_update()), which is more from 640 segments on.
 */
#pragma once

#include <linux/types.h>
#include <tcptuned/algo/random_loss.h>

/* So many round trips in a row: a slow start takes fewer, so that others' are over, too. */
#define ROOM_ROUNDS 32u

/* @rounds: in a row with room, before this one. Returns the same after it. */
static inline __u8 room_round(__u8 rounds, const struct random_loss_round *r)
{
	__u32 at_loss = r->prior_cwnd ? r->prior_cwnd : ~0u; /* 0: nothing was lost */

	if (!r->full || r->cwnd <= at_loss || random_loss_is_queued(r))
		return 0;
	return rounds < ROOM_ROUNDS ? rounds + 1 : rounds;
}
