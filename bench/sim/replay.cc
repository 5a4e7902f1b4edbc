// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay NAME: what one connection's congestion control said in the kernel's trace (a build with
 * TCPTUNED_TRACE, bpf/congestion.h), on standard input, against the same calls of ns-3's. Ends
 * with 1 at the first window that differs, or at an undo, which ns-3 does not have; else prints
 * how much was compared. Segments are of one byte: ns-3 counts windows in bytes.
 */
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "tcp_family.h"

using namespace ns3;

class Replay
{
      public:
	explicit Replay(Ptr<TcpCongestionOps> control) : m_control(control)
	{
		m_tcb->m_segmentSize = 1;
		m_family = DynamicCast<TcpFamily>(control);
	}

	void Line(const std::string &line)
	{
		std::istringstream text(line.substr(line.find("tcptuned ") + 9));
		std::string call;

		m_line = line;
		text >> call;
		if (call == "init")
			Begin(text);
		else if (call == "rtt")
			RoundTrip(text);
		else if (call == "ack")
			Acknowledged(text);
		else if (call == "loss")
			Lost(text);
		else if (call == "undo")
			Fail("ns-3 has no undo");
	}

	unsigned long acks = 0, losses = 0;

      private:
	void Begin(std::istringstream &text)
	{
		uint32_t cwnd;

		text >> cwnd;
		m_tcb->m_cWnd = cwnd;
		m_family->Init(m_tcb);
	}

	void RoundTrip(std::istringstream &text)
	{
		int64_t us;

		text >> us;
		m_control->PktsAcked(m_tcb, 1, MicroSeconds(us));
	}

	void Acknowledged(std::istringstream &text)
	{
		uint32_t cwnd, ssthresh, acked, limited, una, nxt, new_cwnd, new_ssthresh;

		text >> cwnd >> ssthresh >> acked >> limited >> una >> nxt >> new_cwnd >>
			new_ssthresh;
		m_tcb->m_cWnd = cwnd;
		m_tcb->m_ssThresh = ssthresh;
		m_tcb->m_lastAckedSeq = SequenceNumber32(una);
		m_tcb->m_nextTxSequence = SequenceNumber32(nxt);
		m_family->limited = limited;
		m_control->IncreaseWindow(m_tcb, acked);
		if (m_tcb->m_cWnd != new_cwnd || m_tcb->m_ssThresh != new_ssthresh)
			Fail("a different window");
		acks++;
	}

	void Lost(std::istringstream &text)
	{
		uint32_t cwnd, ssthresh;

		text >> cwnd >> ssthresh;
		m_tcb->m_cWnd = cwnd;
		if (m_control->GetSsThresh(m_tcb, cwnd) != ssthresh)
			Fail("a different ssthresh");
		losses++;
	}

	void Fail(const std::string &why)
	{
		std::cerr << "replay: " << why << ": cwnd " << m_tcb->m_cWnd << ", ssthresh "
			  << m_tcb->m_ssThresh << " here; " << m_line << "\n";
		exit(1);
	}

	Ptr<TcpSocketState> m_tcb = Create<TcpSocketState>();
	Ptr<TcpCongestionOps> m_control;
	Ptr<TcpFamily> m_family;
	std::string m_line;
};

int main(int argc, char **argv)
{
	Ptr<TcpCongestionOps> control = argc == 2 ? CongestionControl(argv[1]) : nullptr;

	if (!control || !DynamicCast<TcpFamily>(control)) {
		std::cerr << "usage: replay NAME <TRACE\n";
		return 2;
	}
	Replay replay(control);
	for (std::string line; std::getline(std::cin, line);)
		if (line.find("tcptuned ") != std::string::npos)
			replay.Line(line);
	printf("%lu acks, %lu losses\n", replay.acks, replay.losses);
	return 0;
}
