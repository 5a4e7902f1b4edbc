/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bitcp.h and the headers of bench/cc as ns-3 congestion controls. What runs in the kernel is what
 * is simulated, called as the kernel calls it: one reduction for a recovery and the timeouts in it,
 * no round-trip time while losses are repaired. Not so: ns-3 undoes no reduction, and the window
 * of a loss is cwnd, which is in use where there is data at all times (else see clients.cc).
 */
#pragma once

#include <string>

#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-socket-state.h>

#include "family.h"

class TcpFamily : public ns3::TcpCongestionOps
{
      public:
	static ns3::TypeId GetTypeId();

	explicit TcpFamily(const family_member *member = nullptr);

	/* Whether the sender uses its window: true where it has data at all times. */
	bool limited = true;

	const family_state &State() const
	{
		return m_state;
	}

	std::string GetName() const override;
	void Init(ns3::Ptr<ns3::TcpSocketState> tcb) override;
	void PktsAcked(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t acked,
		       const ns3::Time &rtt) override;
	void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t acked) override;
	void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> tcb,
				const ns3::TcpSocketState::TcpCongState_t state) override;
	uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t inFlight) override;
	ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

      private:
	void Begin(uint32_t cwnd);

	const family_member *m_member;
	bool m_begun = false, m_enters_recovery = false;
	family_state m_state = {};
};

/*
 * A congestion control by name: bitcp, hstcp ... of this project; ns3-bic, ns3-highspeed,
 * ns3-scalable, ns3-vegas, ns3-reno of ns-3. Null if there is none of that name.
 */
ns3::Ptr<ns3::TcpCongestionOps> CongestionControl(const std::string &name);
