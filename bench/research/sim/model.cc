// SPDX-License-Identifier: GPL-2.0-only
/*
 * model ALGORITHM P every|random EVENTS SEED [S_MAX S_MIN]
 *
 * The numeric model of paper 003, section VI-B.1, around the algorithm of the header itself: a
 * window without a network. Packets are acknowledged one by one, each is one cwnd-th of a round
 * trip, and a loss event comes after every 1/P packets ("every", the paper's assumption), or
 * with probability P at each packet ("random"). Fast recovery takes no time. Prints CSV lines: the
 * average window in packets (packets per round trip), and W_max, the mean window just before a
 * loss event. The first half of the loss events is not counted. With S_MAX and S_MIN bitcp has these
 * in the place of the paper's choice: Figures 6 and 7.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "family.h"

struct result {
	double packets, round_trips, w_max;
};

class Connection
{
      public:
	Connection(const family_member &member, const bitcp_params *params) : m(member)
	{
		m.init(&state, ack.cwnd);
		if (params)
			bitcp_init(&state.bitcp, params, ack.cwnd);
	}

	__u32 window() const
	{
		return ack.cwnd;
	}

	void acknowledged()
	{
		ack.acked = 1;
		ack.una++;
		ack.nxt = ack.una + ack.cwnd;
		m.on_ack(&state, &ack);
	}

	void lost()
	{
		ack.cwnd = ack.ssthresh = m.ssthresh(&state, ack.cwnd);
	}

      private:
	const family_member &m;
	family_state state = {};
	congestion_ack ack = {10, 2, 0, 1, 0, 0};
};

static result simulate(const family_member &member, const bitcp_params *params, double p,
		       bool random, long events, unsigned seed)
{
	std::mt19937_64 generator(seed);
	std::geometric_distribution<long> gap(p);
	Connection connection(member, params);
	result sum = {};

	for (long event = 0; event < events; event++) {
		long packets = random ? gap(generator) + 1 : lround(1 / p);
		double round_trips = 0;

		for (long i = 0; i < packets; i++) {
			round_trips += 1.0 / connection.window();
			connection.acknowledged();
		}
		if (event >= events / 2) {
			sum.packets += packets;
			sum.round_trips += round_trips;
			sum.w_max += connection.window();
		}
		connection.lost();
	}
	sum.w_max /= events - events / 2;
	return sum;
}

static const family_member *find(const char *name)
{
	for (const family_member &member : family_members)
		if (!strcmp(member.name, name))
			return &member;
	return nullptr;
}

int main(int argc, char **argv)
{
	double p = argc == 6 || argc == 8 ? atof(argv[2]) : 0;
	bitcp_params params = bitcp_params_default();
	const family_member *member;
	result r;

	bool random = p > 0 && !strcmp(argv[3], "random");

	if (argc == 8) {
		params.s_max = (__u64)std::llround(atof(argv[6]) * 4294967296.0);
		params.s_min = (__u64)std::llround(atof(argv[7]) * 4294967296.0);
	}
	if (!(p > 0 && p < 1) || !(random || !strcmp(argv[3], "every")) || atol(argv[4]) < 2 ||
	    atol(argv[5]) < 1 || !bitcp_params_valid(&params) ||
	    (argc == 8 && strcmp(argv[1], "bitcp"))) {
		fprintf(stderr, "usage: model ALGORITHM P every|random EVENTS SEED\n"
				"       model bitcp P every|random EVENTS SEED S_MAX S_MIN\n");
		return 2;
	}
	member = find(argv[1]);
	if (!member) {
		fprintf(stderr, "model: there is no algorithm %s\n", argv[1]);
		return 2;
	}
	r = simulate(*member, argc == 8 ? &params : nullptr, p, random, atol(argv[4]),
		     (unsigned)atol(argv[5]));
	printf("window,%.6g\nw_max,%.6g\n", r.packets / r.round_trips, r.w_max);
	return 0;
}
