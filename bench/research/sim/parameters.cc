// SPDX-License-Identifier: GPL-2.0-only
/*
 * parameters S_MAX S_MIN P EVENTS
 *
 * The numeric model of model.cc, a loss event after every 1/P packets, around bitcp.h with other
 * parameters than the paper's choice: Figures 6 and 7 of paper 003. Prints a line of CSV, the
 * average window in packets. The first half of the loss events is not counted.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tcptuned/algo/bitcp.h"

static double average_window(const bitcp_params &params, long packets, long events)
{
	const __u32 slow_start_ended = 2;
	double round_trips = 0;
	__u32 cwnd = 10;
	bitcp state;

	bitcp_init(&state, &params, cwnd);
	for (long event = 0; event < events; event++) {
		for (long i = 0; i < packets; i++) {
			if (event >= events / 2)
				round_trips += 1.0 / cwnd;
			cwnd = bitcp_on_ack(&state, cwnd, slow_start_ended, 1);
		}
		cwnd = bitcp_ssthresh(&state, cwnd);
	}
	return packets * (events - events / 2) / round_trips;
}

int main(int argc, char **argv)
{
	double p = argc == 5 ? atof(argv[3]) : 0;
	long events = argc == 5 ? atol(argv[4]) : 0;
	bitcp_params params = bitcp_params_default();

	if (argc == 5) {
		params.s_max = (__u64)std::llround(atof(argv[1]) * 4294967296.0);
		params.s_min = (__u64)std::llround(atof(argv[2]) * 4294967296.0);
	}
	if (p <= 0 || p >= 1 || events < 2 || !bitcp_params_valid(&params)) {
		fprintf(stderr, "usage: parameters S_MAX S_MIN P EVENTS\n");
		return 2;
	}
	printf("window,%.6g\n", average_window(params, std::lround(1 / p), events));
	return 0;
}
