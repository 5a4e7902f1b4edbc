// SPDX-License-Identifier: GPL-2.0-only
/*
 * random_loss.h: which losses no queue has caused, and what becomes of the congestion control that
 * is tried then.
 */
#include "test.h"
#include "tcptuned/algo/random_loss.h"

#define RTT 100000u

/* Counters begin anywhere. */
static struct random_loss_round round_now;
static struct random_loss l;

static int begin(void **state)
{
	l = (struct random_loss){.retransmitted = ~0u, .dsacks = ~0u};
	round_now = (struct random_loss_round){.retransmitted = ~0u,
					       .delivered = ~0u - 5,
					       .dsacks = ~0u,
					       .srtt_us = RTT,
					       .min_rtt_us = RTT,
					       .now_us = ~0u - RTT};
	return 0;
}

FIXTURE(begin, NULL)

/* A round in which @delivered segments arrive and @lost are sent again. */
static enum random_loss_did next(__u32 delivered, __u32 lost)
{
	round_now.delivered += delivered;
	round_now.retransmitted += lost;
	round_now.now_us += RTT;
	round_now.high_seq += lost ? 1448 : 0;
	return random_loss_round(&l, &round_now);
}

/* A recovery from @lost segments, at a window of @window. */
static enum random_loss_did lose(__u32 window, __u32 lost)
{
	round_now.prior_cwnd = window;
	round_now.in_flight = window * 7 / 10;
	return next(window, lost);
}

/* Few at a time, without a queue, and the window falls to half of the largest one. */
TEST(losses_that_no_queue_causes)
{
	static const struct {
		__u32 window[6], lost[6];
		int tried; /* the loss at which another one is tried, from 1; 0: none */
		__u32 min_rtt_us, queue_us;
	} rows[] = {
		{{2000, 1400, 1000, 990}, {1, 1, 1, 1}, 3, RTT, 0},
		{{2000, 1400, 1001, 1000}, {1, 1, 1, 1}, 4, RTT, 0},
		/* three in a row at least, since the largest window */
		{{2000, 900, 900}, {1, 1, 1}, 3, RTT, 0},
		{{900, 2000, 1500, 1000}, {1, 1, 1, 1}, 4, RTT, 0},
		/* two segments, and one for 1,024 of the window */
		{{2000, 1400, 1000}, {3, 2, 2}, 3, RTT, 0},
		{{2000, 1400, 900, 700}, {4, 1, 1, 1}, 4, RTT, 0},
		/* a burst: from the beginning */
		{{2000, 1400, 900, 800, 700}, {1, 1, 3, 1, 1}, 0, RTT, 0},
		/* a short queue */
		{{2000, 1990, 1980, 1970, 1960, 1950}, {1, 1, 1, 1, 1, 1}, 0, RTT, 0},
		/* a full queue may drop one of so few */
		{{256, 180, 128}, {1, 1, 1}, 3, RTT, 0},
		{{254, 180, 127}, {1, 1, 1}, 0, RTT, 0},
		/* CoDel's, and another queue */
		{{2000, 1400, 1000}, {1, 1, 1}, 3, RTT, 4000},
		{{2000, 1400, 1000}, {1, 1, 1}, 0, RTT, 4001},
		{{2000, 1400, 1000}, {1, 1, 1}, 3, 16000, 2000},
		{{2000, 1400, 1000}, {1, 1, 1}, 0, 16000, 2001},
		/* a short path */
		{{2000, 1400, 1000}, {1, 1, 1}, 3, 2000, 0},
		{{2000, 1400, 1000}, {1, 1, 1}, 0, 1999, 0},
	};

	for_each_row (row, rows) {
		begin(NULL);
		round_now.min_rtt_us = row->min_rtt_us;
		round_now.srtt_us = row->min_rtt_us + row->queue_us;
		for (int i = 0; i < 6 && row->window[i]; i++) {
			assert_int_equal(lose(row->window[i], row->lost[i]),
					 i + 1 == row->tried ? RANDOM_LOSS_TRY
							     : RANDOM_LOSS_NOTHING);
			if (i + 1 == row->tried)
				break;
			assert_int_equal(next(row->window[i], 0), RANDOM_LOSS_NOTHING);
		}
	}
}

/* A segment that was late is reported twice (RFC 2883), one round trip after it was sent again. */
TEST(late_segments_are_none)
{
	for (int i = 0; i < 8; i++) {
		assert_int_equal(lose(2000 >> i % 4, 1), RANDOM_LOSS_NOTHING);
		round_now.dsacks++;
	}
}

/* What is sent again during a recovery is seen as a whole. */
TEST(a_recovery_counts_once)
{
	lose(2000, 1);
	lose(1400, 1);
	round_now.recovering = 1;
	for (int i = 0; i < 3; i++)
		assert_int_equal(lose(1000, 1), RANDOM_LOSS_NOTHING);
	round_now.recovering = 0;
	assert_int_equal(next(1000, 0), RANDOM_LOSS_NOTHING);
	assert_int_equal(l.few, 0);
}

/* The path has shown it before: one loss is enough. */
TEST(a_known_path)
{
	l.known = 1;
	assert_int_equal(next(2000, 0), RANDOM_LOSS_NOTHING);
	assert_int_equal(lose(2000, 4), RANDOM_LOSS_NOTHING);
	assert_int_equal(lose(2000, 1), RANDOM_LOSS_TRY);
}

static void try_it(void)
{
	begin(NULL);
	lose(2000, 1);
	lose(1400, 1);
	assert_int_equal(lose(1000, 1), RANDOM_LOSS_TRY);
	/* While it finds its rate it may lose anything. */
	for (unsigned int i = 0; i < RANDOM_LOSS_ROUNDS; i++)
		assert_int_equal(next(1, 1000), RANDOM_LOSS_NOTHING);
}

/*
 * In the rounds after that it has to carry 5/8 of what the path has carried, and to lose at most
 * one of 512.
 */
TEST(what_is_tried_is_kept_or_dropped)
{
	static const struct {
		__u32 delivered, lost; /* in 16 rounds */
		enum random_loss_did did;
	} rows[] = {
		{16 * 1250, 0, RANDOM_LOSS_KEEP},
		{16 * 1250, 39, RANDOM_LOSS_KEEP},
		{16 * 1250, 40, RANDOM_LOSS_DROP},
		{16 * 1249, 0, RANDOM_LOSS_DROP},
		{16 * 80000, 2500, RANDOM_LOSS_KEEP},
		{16 * 80000, 2501, RANDOM_LOSS_DROP},
		{0, 0, RANDOM_LOSS_DROP},
	};

	for_each_row (row, rows) {
		try_it();
		for (unsigned int i = 1; i < RANDOM_LOSS_ROUNDS; i++)
			assert_int_equal(next(0, 0), RANDOM_LOSS_NOTHING);
		assert_int_equal(next(row->delivered, row->lost), row->did);
		assert_int_equal(l.after, row->delivered / 16);
		assert_int_equal(l.state, row->did == RANDOM_LOSS_KEEP ? RANDOM_LOSS_KEPT
								       : RANDOM_LOSS_DROPPED);
	}
}

/*
 * A probe of a tail (RFC 8985) is sent again without a recovery; and of a window that is not in use
 * nothing is known.
 */
TEST(what_says_nothing_of_the_path)
{
	for (int i = 0; i < 8; i++) {
		assert_int_equal(lose(2000 >> i % 4, 1), RANDOM_LOSS_NOTHING);
		round_now.retransmitted++;
		assert_int_equal(random_loss_round(&l, &round_now), RANDOM_LOSS_NOTHING);
		round_now.dsacks++;
	}
	begin(NULL);
	for (int i = 0; i < 8; i++) {
		round_now.prior_cwnd = 2000 >> i % 4;
		round_now.in_flight = round_now.prior_cwnd / 2 - 1;
		assert_int_equal(next(100, 1), RANDOM_LOSS_NOTHING);
	}
}

/* The rate counts only while the application fills the window. */
TEST(a_trial_waits_for_the_application)
{
	try_it();
	for (unsigned int i = 0; i <= 100; i++) {
		round_now.app_limited = i % 10 == 0;
		assert_int_equal(next(10, 0), RANDOM_LOSS_NOTHING);
	}
	round_now.app_limited = 0;
	for (unsigned int i = 1; i < RANDOM_LOSS_ROUNDS; i++)
		assert_int_equal(next(1250, 0), RANDOM_LOSS_NOTHING);
	assert_int_equal(next(1250, 0), RANDOM_LOSS_KEEP);
}

/*
 * What is kept goes on being judged by its losses, of 4096 segments at least: the application may
 * send less later, but others who come share the queue, and there it loses more. Late segments are
 * none.
 */
TEST(what_is_kept_is_watched)
{
	try_it();
	for (unsigned int i = 1; i < RANDOM_LOSS_ROUNDS; i++)
		next(2000, 0);
	assert_int_equal(next(2000, 0), RANDOM_LOSS_KEEP);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(next(64, i % 8 == 0), RANDOM_LOSS_NOTHING);
	for (unsigned int i = 0; i < 1000; i++) {
		assert_int_equal(next(64, 1), RANDOM_LOSS_NOTHING);
		round_now.dsacks++;
	}
	for (unsigned int i = 0; l.state == RANDOM_LOSS_KEPT; i++) {
		assert_in_range(i, 0, 2 * RANDOM_LOSS_JUDGED / 64);
		next(64, i % 4 == 0);
	}
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(lose(2000 >> i % 4, 1), RANDOM_LOSS_NOTHING);
	assert_int_equal(l.state, RANDOM_LOSS_DROPPED);
}

/* CUBIC's and BI-TCP's reductions, and slow growth between them, as a model. */
static __u32 reduced(__u32 window, bool bitcp)
{
	return bitcp ? window - window / 8 : window * 7 / 10;
}

/*
 * A queue of any length drops whenever the window exceeds what path and queue hold, one segment or
 * many; that is at least 7/8 of the largest window of it that fitted, whatever its congestion
 * control.
 */
TEST(an_own_queue_is_never_taken_for_it)
{
	for (unsigned int seed = 0; seed < 500; seed++) {
		__u32 holds = 150 + (__u32)random() % 20000, window = holds;

		begin(NULL);
		for (unsigned int i = 0; i < 300; i++) {
			window = reduced(window, seed % 2);
			while (window <= holds - holds / 8 * (__u32)(random() % 2)) {
				window += 1 + (__u32)random() % 32;
				assert_int_equal(next(window, 0), RANDOM_LOSS_NOTHING);
			}
			assert_int_equal(lose(window, 1 + (__u32)random() % 3),
					 RANDOM_LOSS_NOTHING);
		}
	}
}

/*
 * Where each segment is lost with a probability of 1e-4, whatever the window, the window falls from
 * what slow start had to half within a few recoveries, at most two of which in three rows are
 * spoiled by more losses than few.
 */
TEST(random_losses_are_found)
{
	unsigned int found = 0, rounds = 0;

	for (unsigned int seed = 0; seed < 500; seed++) {
		__u32 window = 8000;

		begin(NULL);
		for (unsigned int i = 0; i < 300; i++) {
			__u32 lost = 0;

			for (__u32 segment = 0; segment < window; segment++)
				lost += random() % 10000 == 0;
			if (lost ? lose(window, lost) == RANDOM_LOSS_TRY
				 : next(window, 0) == RANDOM_LOSS_TRY) {
				found++;
				rounds += i;
				break;
			}
			window = lost ? reduced(window, seed % 2) : window + 1;
		}
	}
	assert_int_equal(found, 500);
	assert_in_range(rounds / found, 3, 100);
}
