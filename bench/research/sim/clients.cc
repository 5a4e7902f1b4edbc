// SPDX-License-Identifier: GPL-2.0-only
/*
 * clients [--OPTION=VALUE...]
 *
 * Many clients send to one server through a gateway (paper 002, Figure 1 and Table 1): access
 * links of 10 Mbit/s and 25 ms, a bottleneck of 50 Mbit/s and 25 ms, packets of 1500 bytes,
 * windows of at most 20. Each client hands single packets to its TCP (or UDP) at exponentially
 * distributed times, 100 a second. With background, so many clients with Reno send beside them.
 *
 * As in ns-2, which the paper used, delayed ACKs wait for 100 ms. As in Linux, there are
 * selective ACKs, initial windows of 10, retransmission timeouts of at least the round trip and
 * 200 ms, and a window that is not used does not grow, unless an option says otherwise.
 *
 * Prints CSV lines `what,value`, all of the time after the first 10 s:
 *   cov			coefficient of variation of the packets that arrive at the gateway
 *			in each 100 ms, the round-trip propagation delay
 *   arrivals		mean of the same, packets
 *   mbps		delivered to the server: whole packets of 1500 bytes, each counted once
 *   loss_percent	dropped at the gateway, of what arrived there
 *   timeouts		how often one entered loss recovery by a timeout, per second: another one
 *			before the end of that is not counted
 *   recoveries		how often one entered fast recovery, per second
 *   queue		mean length, packets
 *   given_up		how many ns-3 gave up, which it does after six retransmissions in a row; only
 *			where there are any
 *   mbps_background, loss_percent_background	where there is background: it is not in mbps and
 *			loss_percent, nor in timeouts and recoveries; it is in cov and arrivals
 */
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include <ns3/boolean.h>
#include <ns3/command-line.h>
#include <ns3/config.h>
#include <ns3/data-rate.h>
#include <ns3/double.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-global-routing-helper.h>
#include <ns3/ipv4-queue-disc-item.h>
#include <ns3/node-container.h>
#include <ns3/packet-sink-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/queue.h>
#include <ns3/queue-disc.h>
#include <ns3/random-variable-stream.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/tcp-socket-factory.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/udp-socket-factory.h>
#include <ns3/uinteger.h>

#include "network.h"
#include "tcp_family.h"

using namespace ns3;

/* Table 1 */
static const double access_mbps = 10, bottleneck_mbps = 50;
static const unsigned link_delay_ms = 25, most_packets = 20, packet_bytes = 1500;
static const double packets_per_second = 100;
static const double rtt_s = 4 * link_delay_ms / 1e3;

static const uint16_t client_port = 5000, background_port = 5001;
static const double warm_up_s = 10;
static const unsigned udp_data = packet_bytes - 28;

struct Options {
	std::string algorithm = "tt_reno", queue = "fifo", growth = "used";
	unsigned clients = 20, background = 0, buffer = 50, seed = 1;
	double min_th = 10, max_th = 40, seconds = 200;
	bool delayed_acks = false, sack = true;
};

/* What is counted of the clients, and again of the background. */
struct Group {
	uint64_t arrived = 0, dropped = 0, timeouts = 0, recoveries = 0;
	Ptr<PacketSink> sink;
	uint64_t warm_up_bytes = 0;
};

static Group groups[2];			     /* clients, background */
static std::map<uint32_t, Group *> group_of; /* by address */

static bool Counting()
{
	return Simulator::Now() >= Seconds(warm_up_s);
}

/*
 * A header of include/tcptuned for a sender that may have nothing to send. A window counts as
 * used, like in the kernel (tcp_is_cwnd_limited()), for the round trip after the flight filled
 * it, and in slow start when more than half of it was. ns-2's grow in any case, to the receiver's.
 */
class ClientControl : public TcpFamily
{
      public:
	ClientControl(const family_member *member, bool as_ns2)
		: TcpFamily(member), m_as_ns2(as_ns2)
	{
	}

	void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t acked) override
	{
		uint32_t cwnd = tcb->GetCwndInSegments(), flight = FlightBefore(tcb, acked);

		if (tcb->m_lastAckedSeq > m_round_end) {
			m_round_end = tcb->m_nextTxSequence;
			m_most_flight = m_filled = 0;
		}
		m_most_flight = std::max(m_most_flight, flight);
		m_filled |= flight >= cwnd;
		if (m_as_ns2)
			limited = cwnd < most_packets;
		else if (cwnd < tcb->GetSsThreshInSegments())
			limited = cwnd < 2 * m_most_flight;
		else
			limited = m_filled;
		TcpFamily::IncreaseWindow(tcb, acked);
	}

	/* A loss is met with the window that was in use (window_in_use() in bpf/cc/engine.h). */
	uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t in_flight) override
	{
		uint32_t out = tcb->m_nextTxSequence.Get() - tcb->m_lastAckedSeq;
		Ptr<TcpSocketState> in_use = CopyObject<TcpSocketState>(tcb);

		in_use->m_cWnd =
			tcb->m_segmentSize * congestion_window_in_use(tcb->GetCwndInSegments(),
								      tcb->GetSsThreshInSegments(),
								      out / tcb->m_segmentSize,
								      m_most_flight, m_filled);
		return TcpFamily::GetSsThresh(in_use, in_flight);
	}

      private:
	/* What was in flight when this ACK came, in packets. */
	static uint32_t FlightBefore(Ptr<TcpSocketState> tcb, uint32_t acked)
	{
		uint32_t after = tcb->m_nextTxSequence.Get() - tcb->m_lastAckedSeq;

		return after / tcb->m_segmentSize + acked;
	}

	const bool m_as_ns2;
	bool m_filled = false;
	uint32_t m_most_flight = 0;
	SequenceNumber32 m_round_end{0};
};

/* Hands single packets to its socket, at the times of a Poisson process. */
class Client
{
      public:
	Client(Ptr<Socket> socket, uint32_t bytes, Group *group)
		: m_socket(socket), m_bytes(bytes), m_group(group),
		  m_gap(CreateObject<ExponentialRandomVariable>())
	{
		m_gap->SetAttribute("Mean", DoubleValue(1 / packets_per_second));
	}

	void Start(InetSocketAddress to)
	{
		m_socket->Connect(to);
		Next();
	}

	void StateChanged(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
	{
		if (!Counting())
			return;
		m_group->timeouts += now == TcpSocketState::CA_LOSS;
		m_group->recoveries += now == TcpSocketState::CA_RECOVERY;
	}

      private:
	void Next()
	{
		Simulator::Schedule(Seconds(m_gap->GetValue()), &Client::Submit, this);
	}

	void Submit()
	{
		m_socket->Send(Create<Packet>(m_bytes));
		Next();
	}

	Ptr<Socket> m_socket;
	uint32_t m_bytes;
	Group *m_group;
	Ptr<ExponentialRandomVariable> m_gap;
};

/* --- at the gateway ------------------------------------------------------------------ */

static Ptr<QueueDisc> gateway_queue;
static uint64_t arrived_in_interval;
static std::vector<uint64_t> arrivals; /* of each interval */
static uint64_t queue_sum;	       /* of the lengths at the ends of intervals */

static void Arrived(Group *group, Ptr<const Packet>)
{
	arrived_in_interval++;
	group->arrived += Counting();
}

static void Dropped(Ptr<const QueueDiscItem> item)
{
	auto packet = DynamicCast<const Ipv4QueueDiscItem>(item);

	if (Counting())
		group_of.at(packet->GetHeader().GetSource().Get())->dropped++;
}

static void IntervalOver()
{
	if (Counting()) {
		arrivals.push_back(arrived_in_interval);
		queue_sum += gateway_queue->GetNPackets();
	}
	arrived_in_interval = 0;
	Simulator::Schedule(Seconds(rtt_s), &IntervalOver);
}

static void WarmUpOver()
{
	arrived_in_interval = 0;
	for (Group &group : groups)
		if (group.sink)
			group.warm_up_bytes = group.sink->GetTotalRx();
	Simulator::Schedule(Seconds(rtt_s), &IntervalOver);
}

/* --- the network --------------------------------------------------------------------- */

static PointToPointHelper Link(double mbps, const std::string &queue)
{
	PointToPointHelper link;

	link.SetDeviceAttribute("DataRate", DataRateValue(DataRate((uint64_t)(mbps * 1e6))));
	link.SetChannelAttribute("Delay", TimeValue(MilliSeconds(link_delay_ms)));
	link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(queue));
	return link;
}

/* RED as ns-2 had it then: neither gentle nor adaptive, weight 0.002, max_p 0.1, wait. */
static void InstallQueue(Ptr<NetDevice> device, const Options &o)
{
	TrafficControlHelper helper;
	std::string size = std::to_string(o.buffer) + "p";

	/* what the device holds is being sent, or next: the queue is the discipline's */
	DynamicCast<PointToPointNetDevice>(device)->GetQueue()->SetMaxSize(QueueSize("1p"));
	if (o.queue == "red")
		helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue(size), "MinTh",
					DoubleValue(o.min_th), "MaxTh", DoubleValue(o.max_th), "QW",
					DoubleValue(0.002), "LInterm", DoubleValue(10), "Gentle",
					BooleanValue(false), "Wait", BooleanValue(true),
					"LinkBandwidth",
					DataRateValue(DataRate((uint64_t)(bottleneck_mbps * 1e6))),
					"LinkDelay", TimeValue(MilliSeconds(link_delay_ms)),
					"MeanPktSize", UintegerValue(packet_bytes));
	else
		helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(size));
	gateway_queue = helper.Install(device).Get(0);
	gateway_queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
}

static const family_member *Member(const std::string &name)
{
	for (const family_member &member : family_members)
		if (name == member.name)
			return &member;
	return nullptr;
}

/* A node behind an access link of the gateway, and what it sends with. */
static Ptr<Socket> Attach(Ptr<Node> gateway, const std::string &algorithm, Group *group,
			  const Options &o, Ipv4AddressHelper *addresses)
{
	Ptr<Node> node = CreateObject<Node>();
	NetDeviceContainer devices = Link(access_mbps, "1000000p").Install(node, gateway);
	Ptr<Socket> socket;

	InternetStackHelper().Install(node);
	Ipv4Address address = addresses->Assign(devices).GetAddress(0);
	addresses->NewNetwork();
	TrafficControlHelper().Uninstall(devices);
	group_of[address.Get()] = group;
	devices.Get(1)->TraceConnectWithoutContext("MacRx", MakeBoundCallback(&Arrived, group));

	if (algorithm == "udp")
		return Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
	socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
	WatchGivenUp(socket);
	if (Member(algorithm))
		DynamicCast<TcpSocketBase>(socket)->SetCongestionControlAlgorithm(
			Create<ClientControl>(Member(algorithm), o.growth == "ns2"));
	else
		DynamicCast<TcpSocketBase>(socket)->SetCongestionControlAlgorithm(
			CongestionControl(algorithm));
	return socket;
}

static std::vector<std::unique_ptr<Client>> all_clients;

/* @count clients that send to @to, where they are received. They start within a second. */
static void AddClients(unsigned count, const std::string &algorithm, Group *group,
		       Ptr<Node> gateway, Ptr<Node> server, InetSocketAddress to, const Options &o,
		       Ipv4AddressHelper *addresses)
{
	static Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
	bool udp = algorithm == "udp";
	PacketSinkHelper sink(udp ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory",
			      InetSocketAddress(Ipv4Address::GetAny(), to.GetPort()));

	group->sink = DynamicCast<PacketSink>(sink.Install(server).Get(0));
	for (unsigned i = 0; i < count; i++) {
		Ptr<Socket> socket = Attach(gateway, algorithm, group, o, addresses);

		all_clients.push_back(
			std::make_unique<Client>(socket, udp ? udp_data : SEGMENT_SIZE, group));
		if (!udp)
			socket->TraceConnectWithoutContext("CongState",
							   MakeCallback(&Client::StateChanged,
									all_clients.back().get()));
		Simulator::Schedule(Seconds(start->GetValue()), &Client::Start,
				    all_clients.back().get(), to);
	}
}

/* --- results ------------------------------------------------------------------------- */

static void ReportArrivals()
{
	double sum = 0, squares = 0, n = arrivals.size();

	for (double a : arrivals) {
		sum += a;
		squares += a * a;
	}
	printf("cov,%.4g\n", sum > 0 ? sqrt(n * squares - sum * sum) / sum : 0);
	printf("arrivals,%.5g\n", sum / n);
	printf("queue,%.4g\n", queue_sum / n);
}

static void ReportGroup(const Group &group, const char *suffix, unsigned data, double seconds)
{
	double packets = (group.sink->GetTotalRx() - group.warm_up_bytes) / (double)data;

	printf("mbps%s,%.5g\n", suffix, packets * packet_bytes * 8 / 1e6 / seconds);
	printf("loss_percent%s,%.4g\n", suffix, 100.0 * group.dropped / group.arrived);
}

static int Usage(const std::string &what)
{
	fprintf(stderr, "clients: %s; see --PrintHelp\n", what.c_str());
	return 2;
}

static void Parse(Options *o, int argc, char **argv)
{
	CommandLine options;

	options.AddValue("algorithm", "of the clients; or udp", o->algorithm);
	options.AddValue("clients", "how many", o->clients);
	options.AddValue("background", "clients with tt_reno beside them", o->background);
	options.AddValue("queue", "fifo or red", o->queue);
	options.AddValue("buffer", "of the gateway, packets", o->buffer);
	options.AddValue("min_th", "of RED, packets", o->min_th);
	options.AddValue("max_th", "of RED, packets", o->max_th);
	options.AddValue("delayed_acks", "whether the server delays ACKs", o->delayed_acks);
	options.AddValue("sack", "whether there are selective ACKs", o->sack);
	options.AddValue("growth", "of a window that is not used: used (none) or ns2", o->growth);
	options.AddValue("seconds", "to simulate", o->seconds);
	options.AddValue("seed", "of all random numbers", o->seed);
	options.Parse(argc, argv);
}

static void SetDefaults(const Options &o)
{
	RngSeedManager::SetRun(o.seed);
	NetworkDefaults(1u << 29);
	Config::SetDefault("ns3::TcpSocket::RcvBufSize",
			   UintegerValue(most_packets * SEGMENT_SIZE));
	Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(o.delayed_acks ? 2 : 1));
	Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(100)));
	Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(300)));
	Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(o.sack));
}

int main(int argc, char **argv)
{
	Options o;

	Parse(&o, argc, argv);
	if (o.queue != "fifo" && o.queue != "red")
		return Usage("queue is fifo or red");
	if (o.growth != "used" && o.growth != "ns2")
		return Usage("growth is used or ns2");
	if (o.algorithm != "udp" && !CongestionControl(o.algorithm))
		return Usage(o.algorithm + " is no congestion control");
	if (!(o.seconds >= warm_up_s + 1) || !o.clients)
		return Usage("at least 11 s, and a client");
	if (!o.buffer || (o.queue == "red" && !(o.min_th > 0 && o.max_th > o.min_th)))
		return Usage(
			"a queue of a packet or more, and of RED's thresholds the upper is above");
	if (o.seed < 1)
		return Usage("seeds are from 1 on");
	SetDefaults(o);

	Ptr<Node> gateway = CreateObject<Node>(), server = CreateObject<Node>();
	NetDeviceContainer bottleneck =
		Link(bottleneck_mbps, std::to_string(o.buffer) + "p").Install(gateway, server);
	Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");

	InternetStackHelper().Install(NodeContainer(gateway, server));
	InstallQueue(bottleneck.Get(0), o);
	Ipv4Address to = addresses.Assign(bottleneck).GetAddress(1);
	addresses.NewNetwork();
	TrafficControlHelper().Uninstall(bottleneck.Get(1));
	AddClients(o.clients, o.algorithm, &groups[0], gateway, server,
		   InetSocketAddress(to, client_port), o, &addresses);
	if (o.background)
		AddClients(o.background, "tt_reno", &groups[1], gateway, server,
			   InetSocketAddress(to, background_port), o, &addresses);
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();

	Simulator::Schedule(Seconds(warm_up_s), &WarmUpOver);
	Simulator::Stop(Seconds(o.seconds));
	Simulator::Run();

	double counted_s = o.seconds - warm_up_s;
	ReportArrivals();
	ReportGroup(groups[0], "", o.algorithm == "udp" ? udp_data : SEGMENT_SIZE, counted_s);
	if (o.algorithm != "udp") {
		printf("timeouts,%.4g\n", groups[0].timeouts / counted_s);
		printf("recoveries,%.4g\n", groups[0].recoveries / counted_s);
	}
	if (GivenUp())
		printf("given_up,%zu\n", GivenUp());
	if (o.background)
		ReportGroup(groups[1], "_background", SEGMENT_SIZE, counted_s);
	Simulator::Destroy();
	return 0;
}
