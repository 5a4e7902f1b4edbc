// SPDX-License-Identifier: GPL-2.0-only
/* room.h: when a path has room. */
#include "test.h"
#include "tcptuned/algo/room.h"

static const struct random_loss_round with_room = {
	.min_rtt_us = 100000, .srtt_us = 100000, .prior_cwnd = 5000, .cwnd = 5001, .full = 1};

/* Each of these conditions, once, ends it. */
TEST(room_is_a_full_window_without_a_queue)
{
	struct random_loss_round rows[] = {with_room, with_room, with_room};

	rows[0].full = 0;
	rows[1].cwnd = rows[1].prior_cwnd;
	rows[2].srtt_us = 104001;
	for_each_row (row, rows) {
		__u8 rounds = 0;

		for (__u32 i = 1; i <= 300; i++) {
			rounds = room_round(rounds, &with_room);
			assert_int_equal(rounds, i < ROOM_ROUNDS ? i : ROOM_ROUNDS);
		}
		assert_int_equal(room_round(rounds, row), 0);
	}
}

/* cubic itself grows fast then. */
TEST(no_room_before_the_first_loss)
{
	struct random_loss_round round = with_room;

	round.prior_cwnd = 0;
	assert_int_equal(room_round(ROOM_ROUNDS, &round), 0);
}

TEST(an_rtt_that_is_a_little_longer_is_no_queue)
{
	struct random_loss_round round = with_room;

	round.srtt_us = 104000;
	assert_int_equal(room_round(ROOM_ROUNDS - 1, &round), ROOM_ROUNDS);
}
