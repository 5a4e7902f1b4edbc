// SPDX-License-Identifier: GPL-2.0-only
/*
 * parallel [--OPTION=VALUE...]
 *
 * Parallel connections and others share a bottleneck (paper 004, Figures 1, 2 and 15). Six nodes:
 *
 *	N1, others ----- L1 --.             .-- L4 ----- N5
 *	                       N3 -- L3 -- N4
 *	N2, parallel --- L2 --'             '-- L5 ----- N6
 *
 * SCENARIO 1 to 6 are the rows of Figure 2. 7 is Figure 15, with a second group of others over two
 * more links, L6 and L7; the paper gives no rates of the access links there, which are those of
 * scenario 4, as is its bottleneck. Each node has a queue of 25 packets towards each link. With
 * RED, the bottleneck's is RED with the parameters that ns-2 had then: thresholds of 5 and 15
 * packets, weight 0.002, max_p 0.1, gentle. The paper does not give them.
 *
 * All connections are Reno without SACK, each packet is acknowledged, as ns-2 did. The others begin
 * at random within 8 s, the parallel ones together after 10 s.
 *
 * Prints CSV lines `what,value`, of the time from the 10th second on:
 *	parallel_mbps	of all parallel connections, as received
 *	cross_mbps	of all others of the first group
 *	cross2_mbps	of all of the second group, in scenario 7
 *	utilisation	bits that the bottleneck carried, of what it could have
 *	drops		packets that did not get into a queue towards the bottleneck
 *	given_up	connections that ns-3 gave up, only where there are any
 */
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <ns3/boolean.h>
#include <ns3/command-line.h>
#include <ns3/config.h>
#include <ns3/data-rate.h>
#include <ns3/double.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-global-routing-helper.h>
#include <ns3/node-container.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/queue.h>
#include <ns3/random-variable-stream.h>
#include <ns3/red-queue-disc.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/traffic-control-layer.h>
#include <ns3/uinteger.h>

#include "network.h"
#include "tcp_family.h"

using namespace ns3;

#define QUEUE_PACKETS	25u
#define PARALLEL_STARTS 10.0 /* s */
#define CROSS_STARTS	8.0  /* at the latest */

/* Delays in ms, rates in Mbit/s. */
struct Scenario {
	double delay, mbps, access_mbps;
	double cross_delays[2], parallel_delays[2]; /* before and behind the bottleneck */
	uint32_t buffer;			    /* packets; 0: never the limit */
};

static const Scenario scenarios[] = {
	{20, 1.5, 10, {4, 5}, {4, 5}, 0},      {20, 100, 1000, {4, 5}, {4, 5}, 0},
	{50, 100, 1000, {4, 5}, {4, 5}, 0},    {50, 1000, 10000, {4, 5}, {4, 5}, 0},
	{50, 1000, 10000, {4, 5}, {4, 5}, 41}, {20, 100, 1000, {4, 5}, {4, 5}, 41},
	{50, 1000, 10000, {3, 3}, {6, 6}, 0},
};
static const double second_group_delays[] = {10, 10};

struct Options {
	unsigned scenario = 2, parallel = 8, cross = 5, cross2 = 0, seed = 1;
	std::string queue = "droptail", algorithm = "ns3-reno";
	double seconds = 100;
};

typedef std::vector<Ptr<PacketSink>> Group;

static uint64_t carried_bits, dropped;

static void Carried(Ptr<const Packet> packet)
{
	if (Simulator::Now().GetSeconds() >= PARALLEL_STARTS)
		carried_bits += 8 * packet->GetSize();
}

static void Dropped(Ptr<const Packet>)
{
	dropped += Simulator::Now().GetSeconds() >= PARALLEL_STARTS;
}

static void DroppedByDisc(Ptr<const QueueDiscItem>)
{
	Dropped(nullptr);
}

static double Bits(const Group &group)
{
	return std::accumulate(group.begin(), group.end(), 0.0, [](double sum, auto &sink) {
		return sum + 8.0 * sink->GetTotalRx();
	});
}

static void NoteBits(const Group *groups, double *bits)
{
	for (int i = 0; i < 3; i++)
		bits[i] = Bits(groups[i]);
}

static NetDeviceContainer Connect(Ptr<Node> from, Ptr<Node> to, double mbps, double delay_ms)
{
	PointToPointHelper link;

	link.SetDeviceAttribute("DataRate", DataRateValue(DataRate((uint64_t)(mbps * 1e6))));
	link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(delay_ms * 1e3)));
	link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
		      StringValue(std::to_string(QUEUE_PACKETS) + "p"));
	return link.Install(from, to);
}

/* A full device queue is met where packets would enter it. */
static void WatchDrops(Ptr<Node> node)
{
	node->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop",
									   MakeCallback(&Dropped));
}

static void InstallRed(Ptr<NetDevice> device, double mbps)
{
	TrafficControlHelper red;

	/* what the device holds is being sent, or next: the queue is the discipline's */
	DynamicCast<PointToPointNetDevice>(device)->GetQueue()->SetMaxSize(QueueSize("2p"));
	red.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize",
			     StringValue(std::to_string(QUEUE_PACKETS) + "p"), "MinTh",
			     DoubleValue(5), "MaxTh", DoubleValue(15), "QW", DoubleValue(0.002),
			     "LInterm", DoubleValue(10), "Gentle", BooleanValue(true),
			     "MeanPktSize", UintegerValue(1500), "LinkBandwidth",
			     DataRateValue(DataRate((uint64_t)(mbps * 1e6))));
	red.Install(device).Get(0)->TraceConnectWithoutContext("Drop",
							       MakeCallback(&DroppedByDisc));
}

class Network
{
      public:
	explicit Network(const Options &o)
		: m_options(o), m_scenario(scenarios[o.scenario - 1]),
		  m_addresses("10.0.0.0", "255.255.255.0")
	{
		bool red = o.queue == "red";

		m_near = CreateObject<Node>();
		m_far = CreateObject<Node>();
		NetDeviceContainer devices =
			::Connect(m_near, m_far, m_scenario.mbps, m_scenario.delay);
		InternetStackHelper().Install(NodeContainer(m_near, m_far));
		if (red)
			InstallRed(devices.Get(0), m_scenario.mbps);
		m_addresses.Assign(devices);
		TrafficControlHelper().Uninstall(devices.Get(1));
		if (!red) {
			TrafficControlHelper().Uninstall(devices.Get(0));
			WatchDrops(m_near);
		}
		DynamicCast<PointToPointNetDevice>(devices.Get(0))
			->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Carried));
	}

	/* @n connections of a node at the near end to one at the far end, over links of @delays. */
	Group AddGroup(unsigned n, const double *delays, bool parallel)
	{
		Ptr<UniformRandomVariable> uniform = CreateObject<UniformRandomVariable>();
		Ptr<Node> from = Attach(m_near, delays[0]), to = Attach(m_far, delays[1]);
		Ipv4Address address = to->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
		Group group;

		for (unsigned i = 0; i < n; i++) {
			uint16_t port = 5000 + i;
			double start = parallel ? PARALLEL_STARTS
						: uniform->GetValue(0, CROSS_STARTS);

			group.push_back(Receive(to, port));
			::Send(from, InetSocketAddress(address, port),
			       CongestionControl(m_options.algorithm), Seconds(start), 0,
			       m_scenario.buffer);
		}
		return group;
	}

      private:
	/* A node and its link to @router. Hosts drop what does not fit into their queues, too. */
	Ptr<Node> Attach(Ptr<Node> router, double delay_ms)
	{
		Ptr<Node> node = CreateObject<Node>();
		NetDeviceContainer devices =
			::Connect(node, router, m_scenario.access_mbps, delay_ms);

		InternetStackHelper().Install(node);
		m_addresses.NewNetwork();
		m_addresses.Assign(devices);
		TrafficControlHelper().Uninstall(devices);
		if (router == m_near)
			WatchDrops(node);
		return node;
	}

	const Options &m_options;
	const Scenario &m_scenario;
	Ipv4AddressHelper m_addresses;
	Ptr<Node> m_near, m_far;
};

/* What is wrong with the options; nothing if they can be simulated. */
static std::string Wrong(const Options &o)
{
	if (o.scenario < 1 || o.scenario > std::size(scenarios))
		return "scenarios are 1 to 7";
	if (o.cross2 && o.scenario != 7)
		return "only scenario 7 has a second group";
	if (o.queue != "droptail" && o.queue != "red")
		return "queue is droptail or red";
	if (!CongestionControl(o.algorithm))
		return "there is no algorithm " + o.algorithm;
	if (!(o.seconds >= PARALLEL_STARTS + 1))
		return "at least 11 s";
	if (o.seed < 1)
		return "seeds are from 1 on";
	return "";
}

static void Report(const Options &o, const Group *groups, const double *before)
{
	static const char *const names[] = {"parallel", "cross", "cross2"};
	double seconds = o.seconds - PARALLEL_STARTS;

	for (int i = 0; i < (o.scenario == 7 ? 3 : 2); i++)
		printf("%s_mbps,%.5g\n", names[i], (Bits(groups[i]) - before[i]) / 1e6 / seconds);
	printf("utilisation,%.5g\n",
	       carried_bits / (scenarios[o.scenario - 1].mbps * 1e6 * seconds));
	printf("drops,%llu\n", (unsigned long long)dropped);
	if (GivenUp())
		printf("given_up,%zu\n", GivenUp());
}

int main(int argc, char **argv)
{
	double before[3];
	CommandLine options;
	Options o;

	options.AddValue("scenario", "1 to 7", o.scenario);
	options.AddValue("parallel", "connections that begin together", o.parallel);
	options.AddValue("cross", "others, which began before", o.cross);
	options.AddValue("cross2", "others of the second group", o.cross2);
	options.AddValue("queue", "of the bottleneck, droptail or red", o.queue);
	options.AddValue("algorithm", "of all connections", o.algorithm);
	options.AddValue("seconds", "to simulate", o.seconds);
	options.AddValue("seed", "of all random numbers", o.seed);
	options.Parse(argc, argv);
	std::string wrong = Wrong(o);
	if (!wrong.empty()) {
		fprintf(stderr, "parallel: %s; see --PrintHelp\n", wrong.c_str());
		return 2;
	}
	RngSeedManager::SetRun(o.seed);
	NetworkDefaults(1u << 26);
	Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
	Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));

	const Scenario &scenario = scenarios[o.scenario - 1];
	Network network(o);
	Group groups[] = {
		network.AddGroup(o.parallel, scenario.parallel_delays, true),
		network.AddGroup(o.cross, scenario.cross_delays, false),
		network.AddGroup(o.cross2, second_group_delays, false),
	};
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();
	Simulator::Schedule(Seconds(PARALLEL_STARTS), &NoteBits, groups, before);
	Simulator::Stop(Seconds(o.seconds));
	Simulator::Run();
	Report(o, groups, before);
	Simulator::Destroy();
	return 0;
}
