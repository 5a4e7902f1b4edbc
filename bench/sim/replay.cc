// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay NAME FILE.csv: the calls and windows of tests/traces. Ends with 1 at the first window
 * that differs, else prints how much was compared.
 *
 * replay NAME: what one connection's congestion control said in the kernel's trace (a build with
 * TCPTUNED_TRACE, bpf/congestion.h), on standard input, against the same calls of ns-3's. Ends
 * with 1 at the first window that differs, else prints how much was compared, and how many ACKs
 * were met with another window than the call before had left, though no loss and no undo came
 * between ("moved"). ns-3 itself does not undo. Segments are of one byte: ns-3 counts windows in
 * bytes.
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
			Begin(Number(text));
		else if (call == "rtt")
			RoundTrip(text);
		else if (call == "ack")
			Acknowledged(text);
		else if (call == "loss")
			Lost(text);
		else if (call == "undo")
			Undone(text);
	}

	/* A line of tests/traces; the window that is to come of it is in column @column. */
	void Recorded(const std::string &line, size_t column)
	{
		std::vector<std::string> field;
		std::istringstream text(line);

		for (std::string value; std::getline(text, value, ',');)
			field.push_back(value);
		m_line = line;
		if (field.size() <= column)
			Fail("too short a line");
		if (field[0] == "begin")
			Begin(std::stoul(field[1]));
		else if (field[0] == "ack")
			RecordedAck(field);
		else if (field[0] == "undo")
			RecordedUndo();
		else if (field[0] == "loss")
			RecordedRecovery();
		else
			RecordedTimeout();
		Compare(field[column]);
	}

	unsigned long acks = 0, losses = 0, undos = 0, moved = 0;

      private:
	/* WINDOW, or WINDOW/SSTHRESH where ssthresh is another than before. */
	void Compare(const std::string &recorded)
	{
		size_t slash;
		uint32_t cwnd = std::stoul(recorded, &slash);

		if (slash < recorded.size())
			m_recorded_ssthresh = std::stoul(recorded.substr(slash + 1));
		if (m_tcb->m_cWnd != cwnd || m_tcb->m_ssThresh != m_recorded_ssthresh)
			Fail("a different window");
	}

	void RecordedAck(const std::vector<std::string> &field)
	{
		EnterState(TcpSocketState::CA_OPEN);
		if (field[2] != "0")
			m_control->PktsAcked(m_tcb, 1, MicroSeconds(std::stoul(field[2])));
		m_tcb->m_lastAckedSeq = SequenceNumber32(std::stoul(field[4]));
		m_tcb->m_nextTxSequence = SequenceNumber32(std::stoul(field[5]));
		m_family->limited = field[3] != "0";
		m_control->IncreaseWindow(m_tcb, std::stoul(field[1]));
		acks++;
	}

	/* As TcpSocketBase::EnterRecovery() does; the recovery is over with the next ACK. */
	void RecordedRecovery()
	{
		m_ssthresh_before = m_tcb->m_ssThresh;
		EnterState(TcpSocketState::CA_RECOVERY);
		m_tcb->m_ssThresh = m_control->GetSsThresh(m_tcb, m_tcb->m_cWnd);
		m_tcb->m_cWnd = m_tcb->m_ssThresh.Get();
		losses++;
	}

	/* As TcpSocketBase::ReTxTimeout() does, "again" in a recovery. */
	void RecordedTimeout()
	{
		if (m_tcb->m_congState != TcpSocketState::CA_RECOVERY) {
			m_ssthresh_before = m_tcb->m_ssThresh;
			losses++;
		}
		m_tcb->m_ssThresh = m_control->GetSsThresh(m_tcb, m_tcb->m_cWnd);
		EnterState(TcpSocketState::CA_LOSS);
		m_tcb->m_cWnd = 1;
	}

	void EnterState(TcpSocketState::TcpCongState_t state)
	{
		m_control->CongestionStateSet(m_tcb, state);
		m_tcb->m_congState = state;
	}

	void RecordedUndo()
	{
		m_tcb->m_cWnd = m_family->Undo(m_tcb->m_cWnd);
		m_tcb->m_ssThresh = m_ssthresh_before;
		undos++;
	}

	/* A new connection: no ssthresh. */
	void Begin(uint32_t cwnd)
	{
		m_tcb->m_cWnd = cwnd;
		m_tcb->m_ssThresh = m_recorded_ssthresh = 0x7fffffff;
		m_set_elsewhere = false;
		m_family->Init(m_tcb);
	}

	static uint32_t Number(std::istringstream &text)
	{
		uint32_t value = 0;

		text >> value;
		return value;
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
		moved += !m_set_elsewhere &&
			 (m_tcb->m_cWnd != cwnd || m_tcb->m_ssThresh != ssthresh);
		m_set_elsewhere = false;
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
		m_set_elsewhere = true;
		losses++;
	}

	void Undone(std::istringstream &text)
	{
		uint32_t was = Number(text), cwnd = Number(text);

		if (m_family->Undo(was) != cwnd)
			Fail("a different window");
		m_set_elsewhere = true;
		undos++;
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
	uint32_t m_ssthresh_before = 0x7fffffff, m_recorded_ssthresh = 0x7fffffff;
	bool m_set_elsewhere = false; /* since the last call, perhaps */
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
	printf("%lu acks, %lu losses, %lu undos, %lu moved\n", replay.acks, replay.losses,
	       replay.undos, replay.moved);
	return 0;
}
