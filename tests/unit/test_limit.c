// SPDX-License-Identifier: GPL-2.0-only
/* What limits a sender and a receiver: a table of situations, and no answer without its cause. */
#include "test.h"
#include "tcptuned/algo/limit.h"

#define MSS	 1448
#define BIG	 (4u << 20)
#define LARGE	 .sndbuf = BIG, .snd_wnd = BIG
#define LIMIT(l) TCPTUNED_LIMIT_##l

/* A sender of which the other members are 0: its send buffer and the window are small, too. */
#define SENDER(...) struct_of(limit_sender, .mss = MSS, __VA_ARGS__)

enum { UNPACED, NEEDED, FQ }; /* enum sk_pacing */

TEST(what_limits_a_sender)
{
	const struct {
		struct limit_sender sender;
		enum tcptuned_limit limit;
	} cases[] = {
		{SENDER(.unsent = 0), LIMIT(IDLE)},
		{SENDER(.cwnd_limited = 1, .pacing = NEEDED), LIMIT(IDLE)},
		{SENDER(.no_space = 1), LIMIT(IDLE)},
		{SENDER(.in_flight = 9), LIMIT(APPLICATION)},
		{SENDER(.in_flight = 9, .queue = 99999), LIMIT(APPLICATION)},
		{SENDER(.in_flight = 9, .pacing = NEEDED, .window_full = 1), LIMIT(APPLICATION)},
		{SENDER(.in_flight = 9, .pacing = FQ, .throttled = 1), LIMIT(APPLICATION)},
		/* cwnd: large enough, or reduced */
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1), LIMIT(CWND)},
		{SENDER(.in_flight = 9, .cwnd_limited = 1),
		 LIMIT(APPLICATION)}, /* it was, before */
		{SENDER(.unsent = 1448, .in_flight = 9, .cwnd_limited = 1), LIMIT(CWND)},
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1, .pacing = NEEDED,
			.throttled = 1, .window_full = 1),
		 LIMIT(CWND)},
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1, .lost = 1),
		 LIMIT(LOSS)},
		{SENDER(.unsent = 84000, .in_flight = 9, .lost = 1), LIMIT(APPLICATION)},
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1, .queue = 1),
		 LIMIT(PATH)},
		{SENDER(.unsent = 84000, .in_flight = 9, .cwnd_limited = 1, .lost = 1, .queue = 1),
		 LIMIT(PATH)},
		/* the peer's window, also a closed one */
		{SENDER(.unsent = 84000, .in_flight = 9, .rwnd_limited = 1, .cwnd_limited = 1),
		 LIMIT(RWND)},
		{SENDER(.unsent = 84000, .rwnd_limited = 1, .queue = 1), LIMIT(RWND)},
		{SENDER(.unsent = 84000, .in_flight = 9, .rwnd_limited = 1, .queue = 1, LARGE),
		 LIMIT(PATH)},
		{SENDER(.unsent = 84000, .in_flight = 9, .rwnd_limited = 1, .queue = 1,
			.snd_wnd = 32768),
		 LIMIT(PATH)},
		{SENDER(.unsent = 84000, .in_flight = 9, .rwnd_limited = 1, .queue = 1,
			.snd_wnd = 32767),
		 LIMIT(RWND)},
		/* all of the buffer is in flight, but for what Nagle's algorithm keeps */
		{SENDER(.in_flight = 9, .no_space = 1, .cwnd_limited = 1, .lost = 1),
		 LIMIT(SNDBUF)},
		{SENDER(.unsent = 1447, .in_flight = 9, .no_space = 1), LIMIT(SNDBUF)},
		{SENDER(.unsent = 1448, .in_flight = 9, .no_space = 1, .cwnd_limited = 1),
		 LIMIT(CWND)},
		{SENDER(.in_flight = 9, .no_space = 1, .queue = 1, LARGE), LIMIT(PATH)},
		{SENDER(.in_flight = 9, .no_space = 1, .queue = 1, .sndbuf = 32768), LIMIT(PATH)},
		{SENDER(.in_flight = 9, .no_space = 1, .queue = 1, .sndbuf = 16384), LIMIT(SNDBUF)},
		/* bulk, as far as the buffer or TCP_NOTSENT_LOWAT lets it be written */
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = NEEDED, .no_space = 1),
		 LIMIT(PACING)},
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = FQ), LIMIT(PACING)},
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = FQ, .throttled = 1),
		 LIMIT(PACING)},
		{SENDER(.unsent = 1448, .in_flight = 1, .pacing = NEEDED), LIMIT(PACING)},
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = NEEDED, .throttled = 1),
		 LIMIT(QUEUE)},
		{SENDER(.unsent = 84000, .in_flight = 9, .throttled = 1), LIMIT(QUEUE)},
		/* paced, and the peer's window holds it all the same */
		{SENDER(.unsent = 84000, .in_flight = 9, .pacing = NEEDED, .window_full = 1),
		 LIMIT(RWND)},
		{SENDER(.unsent = 84000, .in_flight = 9, .window_full = 1), LIMIT(APPLICATION)},
		/* less than a segment: Nagle's algorithm, but not where nothing is in flight */
		{SENDER(.unsent = 1447, .in_flight = 1, .pacing = NEEDED), LIMIT(APPLICATION)},
		{SENDER(.unsent = 100, .pacing = NEEDED), LIMIT(PACING)},
		/* written just now */
		{SENDER(.unsent = 84000, .in_flight = 9), LIMIT(APPLICATION)},
		{SENDER(.unsent = 100), LIMIT(APPLICATION)},
	};

	for_each_row (c, cases)
		assert_int_equal(limit_of_sender(&c->sender), c->limit);
}

/* Each answer needs what it says, whatever else holds. */
TEST(no_answer_without_its_cause)
{
	static const __u32 unsent[] = {0, 1447, 84000};

	for (unsigned int bits = 0; bits < 3 << 12; bits++) {
		struct limit_sender s =
			SENDER(.unsent = unsent[bits >> 12], .in_flight = bits & 1 ? 9 : 0,
			       .queue = bits & 2, .no_space = !!(bits & 4),
			       .rwnd_limited = !!(bits & 8), .cwnd_limited = !!(bits & 16),
			       .lost = !!(bits & 32), .pacing = bits >> 6 & 3,
			       .throttled = !!(bits & 256), .window_full = !!(bits & 512),
			       .sndbuf = bits & 1024 ? 16384 : BIG,
			       .snd_wnd = bits & 2048 ? 0 : BIG);
		bool holds[TCPTUNED_LIMITS] = {
			[LIMIT(IDLE)] = !s.unsent && !s.in_flight,
			[LIMIT(APPLICATION)] =
				!s.rwnd_limited && (s.unsent || s.in_flight) &&
				!(s.cwnd_limited && s.in_flight && s.unsent >= s.mss),
			[LIMIT(CWND)] = s.cwnd_limited && !s.lost && !s.queue && s.in_flight &&
					s.unsent >= s.mss,
			[LIMIT(LOSS)] = s.cwnd_limited && s.lost && !s.queue && s.in_flight &&
					s.unsent >= s.mss,
			[LIMIT(RWND)] = s.rwnd_limited || (s.window_full && s.pacing && s.unsent),
			[LIMIT(SNDBUF)] = s.no_space && s.in_flight && s.unsent < s.mss,
			[LIMIT(PATH)] = s.queue && (s.rwnd_limited || s.in_flight) &&
					(s.rwnd_limited || s.no_space || s.cwnd_limited),
			[LIMIT(PACING)] = s.pacing && s.unsent,
			[LIMIT(QUEUE)] = s.throttled && s.unsent,
		};

		test_row = bits;
		assert_true(holds[limit_of_sender(&s)]);
	}
}

TEST(queue_of_the_path)
{
	static const struct {
		__u32 bytes, rtt_us, min_us, queue;
	} rows[] = {
		{1000000, 150000, 100000, 333333}, {1000000, 149999, 100000, 0},
		{1000000, 1000000, 50000, 950000}, {1000000, 150000, 0, 0}, /* unknown */
		{1000000, 2999, 100, 0},				    /* below 2 ms */
		{1000000, 4000, 100, 500000},	   {28960, 200000, 100000, 14480},
		{28959, 200000, 100000, 0}, /* fewer than ten segments */
		{~0u, ~0u, 1, 4294965295},
	};

	for_each_row (r, rows)
		assert_int_equal(limit_queue(r->bytes, r->rtt_us, r->min_us, MSS), r->queue);
}

TEST(what_limits_a_receiver)
{
	static const struct {
		struct limit_receiver receiver;
		enum tcptuned_limit limit;
	} cases[] = {
		/* used, window, queue, rmem, rcvbuf, silent, rtt, unread, slow reader */
		{{0, 65536, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(IDLE)},
		{{50000, 65536, 0, 0, BIG, 1079999, 20000, 0, 0}, LIMIT(RWND)},
		{{50000, 65536, 0, 0, BIG, 1080000, 20000, 0, 0}, LIMIT(IDLE)},
		{{40959, 65536, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(SENDER)},
		{{40960, 65536, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(RWND)},
		{{~0u, ~0u, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(RWND)},
		{{1, 0, 0, 0, BIG, 0, 20000, 0, 0}, LIMIT(RWND)},
		{{40960, 65536, 1, 0, BIG, 0, 20000, 0, 0}, LIMIT(PATH)},
		{{100, 65536, 1, 0, BIG, 0, 20000, 0, 0}, LIMIT(PATH)},
		/* unread: for a moment, for long, also when nothing can arrive any more */
		{{50000, 65536, 0, BIG / 2 + 1, BIG, 49999, 20000, 0, 0}, LIMIT(RWND)},
		{{50000, 65536, 0, BIG / 2 + 1, BIG, 50000, 20000, 0, 0}, LIMIT(APPLICATION)},
		{{50000, 65536, 1, BIG / 2 + 1, BIG, 0, 20000, 1, 0}, LIMIT(APPLICATION)},
		{{50000, 65536, 0, BIG / 2, BIG, 0, 20000, 1, 0}, LIMIT(RWND)},
		{{0, 0, 0, BIG, BIG, 9000000, 20000, 1, 0}, LIMIT(APPLICATION)},
		{{100, 65536, 0, 0, BIG, 0, 20000, 0, 1}, LIMIT(APPLICATION)},
	};

	for_each_row (c, cases)
		assert_int_equal(limit_of_receiver(&c->receiver), c->limit);
}
