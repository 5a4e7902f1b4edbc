// SPDX-License-Identifier: GPL-2.0-only
/*
 * coarse TICK_US RTT_US SENDERS SEED	paper 001, section IV.B: bounds (1) to (6) for coarse timers
 *
 * The paper's estimator, without a network: a receiver whose clock moves every TICK_US measures one
 * round trip of a sender that repeats its window every RTT_US, in one burst, spread at random or
 * evenly, by turns.
 *
 * Prints CSV lines `what,value`, least and most over the senders: d, the bytes of the period that
 * passes for a round trip, and rounds, the round trips that it touches ((2), (5)); per_rtt, what the
 * estimator makes of d, and window, twice that. All but rounds as multiples of the sender's
 * window.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "tcptuned/algo/rightsize.h"

static const unsigned segments = 16, segment_bytes = 1000;
static const __u64 begin_us = 1000000000;

struct Span {
	double least = INFINITY, most = 0;

	void Add(double x)
	{
		least = std::min(least, x);
		most = std::max(most, x);
	}

	void Print(const char *what) const
	{
		printf("%s_least,%.4g\n%s_most,%.4g\n", what, least, what, most);
	}
};

struct Spans {
	Span d, rounds, per_rtt, window;
};

class Sender
{
      public:
	Sender(__u32 rtt, unsigned kind, std::mt19937_64 *random) : rtt_us(rtt)
	{
		__u32 first = (__u32)((*random)() % rtt_us);

		for (unsigned i = 0; i < segments; i++)
			offset.push_back(kind == 0   ? first
					 : kind == 1 ? (__u32)((*random)() % rtt_us)
						     : (first + i * rtt_us / segments) % rtt_us);
	}

	/* Bytes up to @t_us */
	__u64 Sent(__u64 t_us) const
	{
		__u64 count = t_us / rtt_us * segments;

		for (__u32 o : offset)
			count += o < t_us % rtt_us;
		return count * segment_bytes;
	}

      private:
	__u32 rtt_us;
	std::vector<__u32> offset;
};

static void Measure(const Sender &sender, __u32 tick_us, __u32 rtt_us, __u64 start_us, Spans *spans)
{
	const double w = segments * segment_bytes;
	__u64 now_us = start_us, elapsed;
	__u32 d, per_rtt;

	/* "If more than the RTT has passed": with a clock of ticks, one tick more. */
	do {
		now_us += 100;
		elapsed = now_us / tick_us * tick_us - start_us / tick_us * tick_us;
	} while (elapsed < rtt_us + tick_us);
	d = (__u32)(sender.Sent(now_us) - sender.Sent(start_us));
	spans->d.Add(d / w);
	spans->rounds.Add((double)((now_us - 1) / rtt_us - start_us / rtt_us + 1));
	per_rtt = (__u32)rightsize_muldiv(d, rtt_us, elapsed);
	spans->per_rtt.Add(per_rtt / w);
	spans->window.Add(2 * per_rtt / w); /* DRS III.B */
}

int main(int argc, char **argv)
{
	__u32 tick_us = argc == 5 ? (__u32)atol(argv[1]) : 0;
	__u32 rtt_us = argc == 5 ? (__u32)atol(argv[2]) : 0;
	long senders = argc == 5 ? atol(argv[3]) : 0;
	Spans spans;

	if (!tick_us || !rtt_us || senders < 1) {
		fprintf(stderr, "usage: coarse TICK_US RTT_US SENDERS SEED\n");
		return 2;
	}
	std::mt19937_64 random(strtoull(argv[4], nullptr, 10));
	for (long i = 0; i < senders; i++) {
		Sender sender(rtt_us, i % 3, &random);

		Measure(sender, tick_us, rtt_us, begin_us + random() % 1000000, &spans);
	}
	spans.d.Print("d");
	spans.rounds.Print("rounds");
	spans.per_rtt.Print("per_rtt");
	spans.window.Print("window");
	return 0;
}
