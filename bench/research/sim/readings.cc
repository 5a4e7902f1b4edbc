// SPDX-License-Identifier: GPL-2.0-only
/*
 * readings ack|rtt default|last P EVENTS
 *
 * Which reading of paper 003 do its equations (1.3) and (1.5) describe? BI-TCP in floating
 * point, in a window without a network as in model.cc, a loss event after every 1/P packets.
 *
 *   ack, rtt	   the target moves with each ACK, as in the pseudo-code of section VI-A, so that
 *		   the distance to the maximum shrinks by e^-1/2 per round trip; or once per round
 *		   trip, as in the text and in equation (1.2), which has it halved
 *   default, last fast convergence compares with max_win, which is the default maximum once the
 *		   window has passed it, as in the pseudo-code; or with the window at the loss before
 *
 * "ack default" is what include/tcptuned/algo/bitcp.h does.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const double s_max = 32, s_min = 0.01, beta = 0.125, low_window = 14, default_max = 1e9;

class BiTcp
{
      public:
	BiTcp(bool per_rtt, bool last) : m_per_rtt(per_rtt), m_last(last)
	{
	}

	double cwnd = 10;

	void acknowledged()
	{
		if (cwnd < low_window)
			cwnd += 1 / cwnd;
		else if (m_ss_cwnd > 0)
			slow_start();
		else
			binary_increase();
	}

	void lost()
	{
		double before = m_last ? m_last_max : m_max;

		if (cwnd >= low_window) {
			m_max = m_last_max = cwnd;
			cwnd *= 1 - beta;
			if (before > m_max)
				m_max = (m_max + cwnd) / 2;
			m_ss_cwnd = 0;
		} else {
			cwnd /= 2;
		}
		cwnd = std::max(cwnd, 2.0);
		m_round = 1;
	}

      private:
	void binary_increase()
	{
		if (!m_per_rtt || m_round >= 1) {
			m_increment = std::clamp((m_max - cwnd) / 2, s_min, s_max);
			m_round = 0;
		}
		m_round += 1 / cwnd;
		cwnd += m_increment / cwnd;
		if (cwnd < m_max)
			return;
		m_ss_cwnd = 1;
		m_ss_target = cwnd + 1;
		m_max = default_max;
		m_round = 1;
	}

	void slow_start()
	{
		cwnd += m_ss_cwnd / cwnd;
		if (cwnd >= m_ss_target) {
			m_ss_cwnd *= 2;
			m_ss_target = cwnd + m_ss_cwnd;
		}
		if (m_ss_cwnd >= s_max)
			m_ss_cwnd = 0;
	}

	bool m_per_rtt, m_last;
	double m_max = default_max, m_last_max = default_max;
	double m_ss_cwnd = 0, m_ss_target = 0;
	double m_increment = 0, m_round = 1; /* of this round trip, the share that is over */
};

int main(int argc, char **argv)
{
	double p = argc == 5 ? atof(argv[3]) : 0, packets = 0, round_trips = 0;
	long events = argc == 5 ? atol(argv[4]) : 0;

	if (!(p > 0 && p < 1) || events < 2 || (strcmp(argv[1], "ack") && strcmp(argv[1], "rtt")) ||
	    (strcmp(argv[2], "default") && strcmp(argv[2], "last"))) {
		fprintf(stderr, "usage: readings ack|rtt default|last P EVENTS\n");
		return 2;
	}
	BiTcp connection(!strcmp(argv[1], "rtt"), !strcmp(argv[2], "last"));

	for (long event = 0; event < events; event++) {
		for (long i = 0; i < std::lround(1 / p); i++) {
			if (event >= events / 2) {
				packets++;
				round_trips += 1 / connection.cwnd;
			}
			connection.acknowledged();
		}
		connection.lost();
	}
	printf("window,%.6g\n", packets / round_trips);
	return 0;
}
