// SPDX-License-Identifier: GPL-2.0-only
#include "tcp_family.h"

#include <ns3/tcp-bic.h>
#include <ns3/tcp-highspeed.h>
#include <ns3/tcp-linux-reno.h>
#include <ns3/tcp-scalable.h>
#include <ns3/tcp-vegas.h>

using namespace ns3;

TypeId TcpFamily::GetTypeId()
{
	static TypeId tid = TypeId("TcpFamily").SetParent<TcpCongestionOps>();

	return tid;
}

TcpFamily::TcpFamily(const family_member *member) : m_member(member)
{
}

std::string TcpFamily::GetName() const
{
	return m_member->name;
}

/* ns-3 calls this before it has set the first window. */
void TcpFamily::Init(Ptr<TcpSocketState>)
{
	m_begun = false;
}

void TcpFamily::Begin(uint32_t cwnd)
{
	if (!m_begun)
		m_member->init(&m_state, cwnd);
	m_begun = true;
}

/* As the kernel's programs do (bench/cc/tt_vegas.bpf.c). */
void TcpFamily::PktsAcked(Ptr<TcpSocketState> tcb, uint32_t, const Time &rtt)
{
	Begin(tcb->GetCwndInSegments());
	if (tcb->m_congState != TcpSocketState::CA_RECOVERY &&
	    tcb->m_congState != TcpSocketState::CA_LOSS)
		m_member->on_rtt(&m_state, (__s32)rtt.GetMicroSeconds());
}

void TcpFamily::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t acked)
{
	congestion_ack ack;

	Begin(tcb->GetCwndInSegments());
	ack.cwnd = tcb->GetCwndInSegments();
	ack.ssthresh = tcb->GetSsThreshInSegments();
	ack.acked = acked;
	ack.limited = limited;
	ack.una = tcb->m_lastAckedSeq.GetValue();
	ack.nxt = tcb->m_nextTxSequence.Get().GetValue();
	m_member->on_ack(&m_state, &ack);
	tcb->m_cWnd = ack.cwnd * tcb->m_segmentSize;
	if (ack.ssthresh != tcb->GetSsThreshInSegments())
		tcb->m_ssThresh = ack.ssthresh * tcb->m_segmentSize;
}

/* Called before ssthresh is asked for. */
void TcpFamily::CongestionStateSet(Ptr<TcpSocketState>, const TcpSocketState::TcpCongState_t state)
{
	m_enters_recovery = state == TcpSocketState::CA_RECOVERY;
}

/*
 * ns-3 asks again when a timeout strikes in a recovery; for the kernel (tcp_enter_loss()) that is
 * still the same loss.
 */
uint32_t TcpFamily::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t)
{
	Begin(tcb->GetCwndInSegments());
	if (tcb->m_congState == TcpSocketState::CA_RECOVERY && !m_enters_recovery)
		return tcb->m_ssThresh;
	m_enters_recovery = false;
	return m_member->ssthresh(&m_state, tcb->GetCwndInSegments()) * tcb->m_segmentSize;
}

Ptr<TcpCongestionOps> TcpFamily::Fork()
{
	return CopyObject<TcpFamily>(this);
}

Ptr<TcpCongestionOps> CongestionControl(const std::string &name)
{
	for (const family_member &member : family_members)
		if (name == member.name)
			return Create<TcpFamily>(&member);
	if (name == "ns3-bic")
		return CreateObject<TcpBic>();
	if (name == "ns3-highspeed")
		return CreateObject<TcpHighSpeed>();
	if (name == "ns3-scalable")
		return CreateObject<TcpScalable>();
	if (name == "ns3-vegas")
		return CreateObject<TcpVegas>();
	if (name == "ns3-reno")
		return CreateObject<TcpLinuxReno>();
	return nullptr;
}
