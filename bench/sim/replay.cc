// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay NAME FILE.csv: the calls and windows of tests/traces. Ends with 1 at the first window
 * that differs, else prints how much was compared.
 *
 * replay NAME: what one connection's congestion control said in the kernel's trace (a build with
 * TCPTUNED_TRACE, bpf/congestion.h), on standard input, against the same calls of ns-3's. Ends
 * with 1 at the first window that differs, or at an undo, which ns-3 does not have; else prints
 * how much was compared. Segments are of one byte: ns-3 counts windows in bytes.
 */
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

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

	/* A line of tests/traces; the window that is to come of it is in column @column. */
	void Recorded(const std::string &line, size_t column)
	{
		std::vector<std::string> field;
		std::istringstream text(line);

		for (std::string value; std::getline(text, value, ',');)
			field.push_back(value);
		if (field.size() <= column)
			Fail("too short a line");
		m_line = line;
		if (field[0] == "ack")
			RecordedAck(field);
		else
			RecordedLoss(field[0] == "timeout");
		if (m_tcb->m_cWnd != std::stoul(field[column]))
			Fail("a different window");
	}

	/* As the recording begins: 10 packets, no ssthresh. */
	void Reset()
	{
		m_tcb->m_cWnd = 10;
		m_tcb->m_ssThresh = 0x7fffffff;
	}

	unsigned long acks = 0, losses = 0;

      private:
	void RecordedAck(const std::vector<std::string> &field)
	{
		if (field[2] != "0")
			m_control->PktsAcked(m_tcb, 1, MicroSeconds(std::stoul(field[2])));
		m_tcb->m_lastAckedSeq = SequenceNumber32(std::stoul(field[4]));
		m_tcb->m_nextTxSequence = SequenceNumber32(std::stoul(field[5]));
		m_family->limited = field[3] != "0";
		m_control->IncreaseWindow(m_tcb, std::stoul(field[1]));
		acks++;
	}

	void RecordedLoss(bool timeout)
	{
		m_tcb->m_ssThresh = m_control->GetSsThresh(m_tcb, m_tcb->m_cWnd);
		m_tcb->m_cWnd = timeout ? 1 : m_tcb->m_ssThresh.Get();
		losses++;
	}

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

static bool ReplayFile(Replay *replay, const std::string &name, const char *path)
{
	std::ifstream file(path);
	std::string line, column;
	size_t n = 0;

	std::getline(file, line);
	for (std::istringstream head(line); std::getline(head, column, ',') && column != name; n++)
		;
	if (column != name)
		return false;
	replay->Reset();
	while (std::getline(file, line))
		replay->Recorded(line, n);
	return true;
}

int main(int argc, char **argv)
{
	Ptr<TcpCongestionOps> control =
		argc == 2 || argc == 3 ? CongestionControl(argv[1]) : nullptr;

	if (!control || !DynamicCast<TcpFamily>(control)) {
		std::cerr << "usage: replay NAME <TRACE, replay NAME FILE.csv\n";
		return 2;
	}
	Replay replay(control);
	if (argc == 3) {
		if (!ReplayFile(&replay, argv[1], argv[2])) {
			std::cerr << "replay: " << argv[2] << " has no column " << argv[1] << "\n";
			return 2;
		}
	} else {
		for (std::string line; std::getline(std::cin, line);)
			if (line.find("tcptuned ") != std::string::npos)
				replay.Line(line);
	}
	printf("%lu acks, %lu losses\n", replay.acks, replay.losses);
	return 0;
}
