// SPDX-License-Identifier: GPL-2.0-only
/*
 * stochastic CLIENTS INTERVALS SEED [inside|outside [WINDOW]]
 *
 * The stochastic model of paper 002, section 4.
 *
 * In each round trip a client gets a Poisson number of packets (mean 10) and sends what its
 * window allows, (1); the rest waits, (2). All windows grow by the packets sent over the window,
 * (3), or are halved, when all together sent more than the path takes, (4). That is
 * (mu / 8 / 1500 + B) tau in the text, with B the queue, 50 packets, in parentheses with a rate;
 * `outside`: mu tau / 8 / 1500 + B, which has packets on both sides. The receiver's window of 20
 * (Table 1) bounds what is sent; a window that is halved stays at 1. At first it is WINDOW (1): the
 * paper has none, and what waits because of it may never be worked off.
 *
 * Prints CSV lines `what,value` of all but the first 200 intervals: cov and arrivals, as
 * clients.cc.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

/* Table 1 */
static const double tau_s = 0.1, packets_per_second = 100, bottleneck = 50e6 / 8 / 1500;
static const double buffer = 50, most_packets = 20;
static const int warm_up = 200;

struct Client {
	double window, waiting;
};

/* (1) and (2): what is sent. */
static double Send(Client *client, double generated)
{
	double all = client->waiting + generated;
	double sent = std::min({all, client->window, most_packets});

	client->waiting = all - sent;
	return sent;
}

int main(int argc, char **argv)
{
	bool outside = argc >= 5 && !strcmp(argv[4], "outside");
	bool known = argc < 5 || outside || !strcmp(argv[4], "inside");
	double begin = argc == 6 ? atof(argv[5]) : 1;

	if (argc < 4 || argc > 6 || !known || atoi(argv[1]) < 1 || atoi(argv[2]) <= warm_up ||
	    !(begin >= 1)) {
		fprintf(stderr, "usage: stochastic CLIENTS INTERVALS SEED "
				"[inside|outside [WINDOW]]\n");
		return 2;
	}
	double most = outside ? bottleneck * tau_s + buffer : (bottleneck + buffer) * tau_s;
	std::mt19937_64 random(strtoull(argv[3], nullptr, 10));
	std::poisson_distribution<int> generated(packets_per_second * tau_s);
	std::vector<Client> clients(atoi(argv[1]), {begin, 0});
	std::vector<double> sent(clients.size());
	double sum = 0, squares = 0, n = atoi(argv[2]) - warm_up;

	for (int i = 0; i < atoi(argv[2]); i++) {
		double total = 0;

		for (size_t c = 0; c < clients.size(); c++)
			total += sent[c] = Send(&clients[c], generated(random));
		for (size_t c = 0; c < clients.size(); c++) {
			double *window = &clients[c].window;

			if (total > most) /* (4) */
				*window = std::max(*window / 2, 1.0);
			else /* (3) */
				*window = std::min(*window + sent[c] / *window, most_packets);
		}
		if (i < warm_up)
			continue;
		sum += total;
		squares += total * total;
	}
	printf("cov,%.4g\narrivals,%.5g\n", sqrt(n * squares - sum * sum) / sum, sum / n);
	return 0;
}
