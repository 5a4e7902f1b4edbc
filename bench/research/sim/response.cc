// SPDX-License-Identifier: GPL-2.0-only
/*
 * response ALGORITHM P every|random EVENTS SEED
 *
 * The response function in ns-3: one connection over a link that never fills, 100 ms of round
 * trip, packets of 1500 bytes. A data packet is lost after every 1/P of them, or each with
 * probability P. Ends after EVENTS losses; prints CSV lines: packets delivered per round trip over the
 * second half of them (the average window), and how many packets that were. Ends with 1 if the
 * connection ended before that, as it does when a packet is lost seven times.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <ns3/bulk-send-helper.h>
#include <ns3/config.h>
#include <ns3/error-model.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/node-container.h>
#include <ns3/packet-sink-helper.h>
#include <ns3/packet-sink.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/random-variable-stream.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/uinteger.h>

#include "network.h"
#include "tcp_family.h"

using namespace ns3;

static const double rtt = 0.1;

/* Loses data packets; the acknowledgements go the other way. */
class Losses : public ErrorModel
{
      public:
	Losses(double p, bool random, long events) : m_p(p), m_random(random), m_events(events)
	{
		Next();
	}

	Ptr<PacketSink> sink;

	/* Packets per round trip over the second half. */
	double Window() const
	{
		return m_packets / (m_seconds / rtt);
	}

	double Packets() const
	{
		return m_packets;
	}

	long Lost() const
	{
		return m_lost;
	}

      private:
	bool DoCorrupt(Ptr<Packet> packet) override
	{
		if (packet->GetSize() < SEGMENT_SIZE || --m_left)
			return false;
		Next();
		m_lost++;
		if (m_lost == m_events / 2)
			Mark(1);
		if (m_lost >= m_events) {
			Mark(-1);
			Simulator::Stop();
		}
		return true;
	}

	void DoReset() override
	{
	}

	void Next()
	{
		m_left = m_random ? (long)(std::log(m_uniform->GetValue()) / std::log1p(-m_p)) + 1
				  : std::lround(1 / m_p);
	}

	/* Takes from the sums what was before, or adds what is by now. */
	void Mark(int sign)
	{
		m_packets -= sign * (double)sink->GetTotalRx() / SEGMENT_SIZE;
		m_seconds -= sign * Simulator::Now().GetSeconds();
	}

	double m_p;
	bool m_random;
	long m_events, m_left = 0, m_lost = 0;
	double m_packets = 0, m_seconds = 0;
	Ptr<UniformRandomVariable> m_uniform = CreateObject<UniformRandomVariable>();
};

int main(int argc, char **argv)
{
	double p = argc == 6 ? atof(argv[2]) : 0;

	bool random = argc == 6 && !strcmp(argv[3], "random");

	if (!(p > 0 && p < 1) || !(random || !strcmp(argv[3], "every")) || atol(argv[4]) < 2 ||
	    atol(argv[5]) < 1) {
		fprintf(stderr, "usage: response ALGORITHM P every|random EVENTS SEED\n");
		return 2;
	}
	Ptr<TcpCongestionOps> control = CongestionControl(argv[1]);
	if (!control) {
		fprintf(stderr, "response: there is no algorithm %s\n", argv[1]);
		return 2;
	}
	RngSeedManager::SetSeed(1);
	RngSeedManager::SetRun(atol(argv[5]));
	NetworkDefaults(1u << 29);

	NodeContainer nodes(2);
	PointToPointHelper link;
	link.SetDeviceAttribute("DataRate", StringValue("20Gbps"));
	link.SetChannelAttribute("Delay", TimeValue(Seconds(rtt / 2)));
	link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
	NetDeviceContainer devices = link.Install(nodes);

	InternetStackHelper().Install(nodes);
	Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
	Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

	TrafficControlHelper().Uninstall(devices);

	Ptr<Losses> losses = Create<Losses>(p, random, atol(argv[4]));
	DynamicCast<PointToPointNetDevice>(devices.Get(1))->SetReceiveErrorModel(losses);
	losses->sink = Receive(nodes.Get(1), 5000);
	Send(nodes.Get(0), InetSocketAddress(interfaces.GetAddress(1), 5000), control, Seconds(0),
	     64);
	Simulator::Run();
	if (losses->Lost() < atol(argv[4])) {
		fprintf(stderr, "response: the connection ended after %ld of %s losses\n",
			losses->Lost(), argv[4]);
		return 1;
	}
	printf("window,%.6g\npackets,%.0f\n", losses->Window(), losses->Packets());
	Simulator::Destroy();
	return 0;
}
