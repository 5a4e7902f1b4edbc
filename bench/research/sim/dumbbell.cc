// SPDX-License-Identifier: GPL-2.0-only
/*
 * dumbbell [--OPTION=VALUE...]
 *
 * Connections share a bottleneck (paper 003, sections II and VII). The router before it has one
 * access link per sender, 10 times as fast, which makes that sender's round-trip time; the
 * receivers are at its far end. Its queue holds BUFFER ms of its rate, drop-tail or RED; that of
 * the way back as much, drop-tail. Background: on-off sources without congestion control
 * (exponential, 0.5 s on and off on average), eight each way; and SMALL Reno connections each way
 * whose windows end at 64 packets, over round-trip times of 20 to 120 ms, which begin and end at
 * random.
 *
 * Prints CSV lines `what,value`, all but the trace of the second half of the run:
 *   mbps_N		of connection N, as received
 *   loss_events_N	how often it entered fast recovery, or loss recovery by a timeout: another
 *			timeout before the end of either is not counted
 *   given_up_N		the second in which ns-3 gave it up, which it does after six
 *			retransmissions in a row; given_up: how many of all; only where there are any
 *   background_mbps	of all background towards the far end, as received
 *   utilisation	bits that the bottleneck carried, of what it could have
 *   drops		packets that did not get into its queue
 *   drops_back		and not into that of the way back: acknowledgements, background, small ones
 *   fairness_T		Jain's index of all connections over T seconds: mean of the worst fifth
 *   fairness_100th_T	mean of the worst hundredth
 *   loss_seconds	how many seconds had a loss event
 *   synchronised_N	share of these in which at least N connections had one
 *   trace_N		every TRACE seconds from the start, SECONDS/WINDOW/MODE: the window in
 *			packets, and of a bitcp enum bitcp_mode
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <sstream>
#include <vector>

#include <ns3/boolean.h>
#include <ns3/command-line.h>
#include <ns3/data-rate.h>
#include <ns3/double.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-global-routing-helper.h>
#include <ns3/node-container.h>
#include <ns3/on-off-helper.h>
#include <ns3/packet-sink-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/queue.h>
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

struct Options {
	std::string flows = "bitcp:40,bitcp:120"; /* ALGORITHM:RTT in ms[:START in s] */
	double mbps = 100, buffer = 40, seconds = 100, background = 0.1, trace = 0;
	std::string queue = "droptail";
	unsigned seed = 1, small = 0, red_mean = 500;
};

class Flow
{
      public:
	Ptr<TcpSocketBase> tcp;
	Ptr<PacketSink> sink;
	std::vector<double> bits; /* received by the end of each second */
	std::vector<bool> lost;	  /* whether that second had a loss event */
	unsigned loss_events = 0; /* of the second half */
	Ptr<TcpCongestionOps> control;
	uint32_t window = 0, ssthresh = 0; /* packets */
	std::string trace;

	void StateChanged(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
	{
		double at = Simulator::Now().GetSeconds();

		if (now != TcpSocketState::CA_RECOVERY && now != TcpSocketState::CA_LOSS)
			return;
		loss_events += at >= lost.size() / 2.0;
		if (at < lost.size())
			lost[(size_t)at] = true;
	}

	void WindowChanged(uint32_t, uint32_t bytes)
	{
		window = bytes / SEGMENT_SIZE;
	}

	void SsthreshChanged(uint32_t, uint32_t bytes)
	{
		ssthresh = bytes / SEGMENT_SIZE;
	}

	/* Appends where the window is, and of a bitcp what it does. */
	void Sample()
	{
		Ptr<TcpFamily> family = DynamicCast<TcpFamily>(control);
		std::ostringstream sample;

		sample << (trace.empty() ? "" : " ") << Simulator::Now().GetSeconds() << '/'
		       << window << '/';
		if (family && family->GetName() == "bitcp")
			sample << bitcp_mode(&family->State().bitcp, window, ssthresh);
		trace += sample.str();
	}

	/* Bits received in seconds [from, to). */
	double Between(size_t from, size_t to) const
	{
		return bits[to - 1] - (from ? bits[from - 1] : 0);
	}
};

typedef std::vector<std::unique_ptr<Flow>> Flows;

static uint64_t bottleneck_bits, dropped, dropped_back;
static std::vector<Ptr<PacketSink>> background_sinks; /* at the far end */
static double background_before;		      /* bits, by half time */

static void Carried(Ptr<const Packet> packet)
{
	bottleneck_bits += 8 * packet->GetSize();
}

static void Dropped(Ptr<const Packet>)
{
	dropped++;
}

static void DroppedBack(Ptr<const Packet>)
{
	dropped_back++;
}

static void DroppedByDisc(Ptr<const QueueDiscItem>)
{
	dropped++;
}

static double BackgroundBits()
{
	return std::accumulate(background_sinks.begin(), background_sinks.end(), 0.0,
			       [](double sum, auto &sink) {
				       return sum + 8.0 * sink->GetTotalRx();
			       });
}

static void EverySecond(const Flows *flows, double half)
{
	for (auto &flow : *flows)
		flow->bits.push_back(8.0 * flow->sink->GetTotalRx());
	if (Simulator::Now().GetSeconds() == half) {
		bottleneck_bits = dropped = dropped_back = 0;
		background_before = BackgroundBits();
	}
	Simulator::Schedule(Seconds(1), &EverySecond, flows, half);
}

static void Trace(const Flows *flows, double interval)
{
	for (auto &flow : *flows)
		flow->Sample();
	Simulator::Schedule(Seconds(interval), &Trace, flows, interval);
}

static PointToPointHelper Link(double mbps, double delay_ms, const std::string &queue)
{
	PointToPointHelper link;

	link.SetDeviceAttribute("DataRate", DataRateValue(DataRate((uint64_t)(mbps * 1e6))));
	link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(delay_ms * 1e3)));
	link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(queue));
	return link;
}

/* A node and its link to @router; the address of the router's end is not needed. */
static Ptr<Node> Attach(Ptr<Node> router, double mbps, double delay_ms,
			Ipv4AddressHelper *addresses)
{
	Ptr<Node> node = CreateObject<Node>();
	NetDeviceContainer devices = Link(mbps, delay_ms, "1000000p").Install(node, router);

	InternetStackHelper().Install(node);
	addresses->Assign(devices);
	addresses->NewNetwork();
	TrafficControlHelper().Uninstall(devices);
	return node;
}

/*
 * Paper 003, section II: adaptive RED whose max_p goes down to 0.001. Thresholds and weight, which it
 * does not give, are the automatic ones, for packets of @mean bytes (bench/linkem/red.h), and max_p
 * begins where ns-2's does. As there, the slope above the upper threshold is that of the max_p at
 * the start, 1 / LInterm, and does not follow it.
 */
static void InstallRed(Ptr<NetDevice> device, unsigned packets, double mbps, unsigned mean)
{
	TrafficControlHelper red;

	/* what the device holds is being sent, or next: the queue is the discipline's */
	DynamicCast<PointToPointNetDevice>(device)->GetQueue()->SetMaxSize(QueueSize("5p"));
	red.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize",
			     StringValue(std::to_string(packets) + "p"), "LinkBandwidth",
			     DataRateValue(DataRate((uint64_t)(mbps * 1e6))), "LinkDelay",
			     TimeValue(MilliSeconds(10)), "ARED", BooleanValue(true), "LInterm",
			     DoubleValue(10), "Bottom", DoubleValue(0.001), "MeanPktSize",
			     UintegerValue(mean));
	red.Install(device).Get(0)->TraceConnectWithoutContext("Drop",
							       MakeCallback(&DroppedByDisc));
}

/* Returns where it arrives. */
static std::vector<Ptr<PacketSink>> Background(Ptr<Node> from, Ptr<Node> to, Ipv4Address address,
					       double mbps, double until)
{
	static const int sources = 8;
	std::vector<Ptr<PacketSink>> sinks;

	for (int i = 0; i < sources; i++) {
		uint16_t port = 9000 + i;
		OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(address, port));
		PacketSinkHelper sink("ns3::UdpSocketFactory",
				      InetSocketAddress(Ipv4Address::GetAny(), port));

		source.SetAttribute("OnTime",
				    StringValue("ns3::ExponentialRandomVariable[Mean=0.5]"));
		source.SetAttribute("OffTime",
				    StringValue("ns3::ExponentialRandomVariable[Mean=0.5]"));
		source.SetAttribute("DataRate",
				    DataRateValue(DataRate((uint64_t)(mbps * 2e6 / sources))));
		source.SetAttribute("PacketSize", UintegerValue(1000));
		source.Install(from).Stop(Seconds(until));
		sinks.push_back(DynamicCast<PacketSink>(sink.Install(to).Get(0)));
		sinks.back()->SetStopTime(Seconds(until));
	}
	return sinks;
}

static void Close(Ptr<TcpSocketBase> socket)
{
	socket->Close();
}

/* One connection whose window ends at 64 packets, and which begins and ends at random. */
static void SmallFlow(Ptr<Node> from, const InetSocketAddress &to, double until)
{
	Ptr<UniformRandomVariable> uniform = CreateObject<UniformRandomVariable>();
	double start = uniform->GetValue(0, until), end = uniform->GetValue(start, until);
	Ptr<TcpSocketBase> tcp =
		::Send(from, to, CongestionControl("tt_reno"), Seconds(start), 0, 64);

	Simulator::Schedule(Seconds(end), &Close, tcp);
}

static void SmallFlows(unsigned n, Ptr<Node> router, Ptr<Node> far_end, Ipv4Address to,
		       const Options &o, Ipv4AddressHelper *addresses)
{
	for (unsigned i = 0; i < n; i++) {
		uint16_t port = 7000 + i;
		Ptr<Node> node = Attach(router, 10 * o.mbps, 50.0 * i / n, addresses);
		Ipv4Address back = node->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();

		background_sinks.push_back(Receive(far_end, port));
		Receive(node, port);
		SmallFlow(node, InetSocketAddress(to, port), o.seconds);
		SmallFlow(far_end, InetSocketAddress(back, port), o.seconds);
	}
}

static double Jain(const std::vector<double> &shares)
{
	double sum = std::accumulate(shares.begin(), shares.end(), 0.0), squares = 0;

	for (double share : shares)
		squares += share * share;
	return squares > 0 ? sum * sum / (shares.size() * squares) : 1;
}

/* Over intervals of @scale seconds in the second half: the mean of the worst 1/@part. */
static double Fairness(const Flows &flows, size_t scale, size_t seconds, size_t part)
{
	std::vector<double> samples;
	size_t worst;

	for (size_t at = seconds / 2; at + scale <= seconds; at += scale) {
		std::vector<double> shares;

		for (auto &flow : flows)
			shares.push_back(flow->Between(at, at + scale));
		samples.push_back(Jain(shares));
	}
	std::sort(samples.begin(), samples.end());
	worst = std::max<size_t>(1, samples.size() / part);
	return std::accumulate(samples.begin(), samples.begin() + worst, 0.0) / worst;
}

static void ReportSynchronised(const Flows &flows, size_t seconds)
{
	std::vector<unsigned> at_least(flows.size() + 1);

	for (size_t at = seconds / 2; at < seconds; at++) {
		size_t n = std::count_if(flows.begin(), flows.end(),
					 [at](auto &flow) { return flow->lost[at]; });

		for (size_t i = 1; i <= n; i++)
			at_least[i]++;
	}
	printf("loss_seconds,%u\n", at_least[1]);
	for (size_t i = 1; i <= flows.size() && at_least[1]; i++)
		printf("synchronised_%zu,%.4g\n", i, (double)at_least[i] / at_least[1]);
}

static void Report(const Flows &flows, const Options &o)
{
	size_t seconds = (size_t)o.seconds, half = seconds / 2;

	for (size_t i = 0; i < flows.size(); i++) {
		printf("mbps_%zu,%.5g\n", i + 1,
		       flows[i]->Between(half, seconds) / 1e6 / (seconds - half));
		printf("loss_events_%zu,%u\n", i + 1, flows[i]->loss_events);
		if (std::isfinite(GivenUpAt(flows[i]->tcp)))
			printf("given_up_%zu,%.4g\n", i + 1, GivenUpAt(flows[i]->tcp));
	}
	if (GivenUp())
		printf("given_up,%zu\n", GivenUp());
	printf("utilisation,%.5g\n", bottleneck_bits / (o.mbps * 1e6 * (seconds - half)));
	printf("drops,%llu\n", (unsigned long long)dropped);
	printf("drops_back,%llu\n", (unsigned long long)dropped_back);
	printf("background_mbps,%.5g\n",
	       (BackgroundBits() - background_before) / 1e6 / (seconds - half));
	for (size_t scale : {1, 5, 25, 50, 100})
		if (2 * scale <= seconds) {
			printf("fairness_%zu,%.4g\n", scale, Fairness(flows, scale, seconds, 5));
			printf("fairness_100th_%zu,%.4g\n", scale,
			       Fairness(flows, scale, seconds, 100));
		}
	ReportSynchronised(flows, seconds);
	for (size_t i = 0; i < flows.size() && o.trace > 0; i++)
		printf("trace_%zu,%s\n", i + 1, flows[i]->trace.c_str());
}

/* A number and nothing else, 0 if there is none. False if it is no such number. */
static bool Number(const std::string &text, double *number)
{
	char *end;

	*number = strtod(text.c_str(), &end);
	return !*end && std::isfinite(*number) && *number >= 0;
}

/* One of the connections. False if @text does not describe one. */
static bool AddFlow(Flows *flows, const std::string &text, const Options &o, Ptr<Node> router,
		    Ptr<Node> receiver, Ipv4Address to, Ipv4AddressHelper *addresses)
{
	std::istringstream fields(text);
	std::string algorithm, rtt, start;
	double rtt_ms, start_s;
	uint16_t port = 5000 + flows->size();

	std::getline(fields, algorithm, ':');
	std::getline(fields, rtt, ':');
	std::getline(fields, start, ':');
	Ptr<TcpCongestionOps> control = CongestionControl(algorithm);
	if (!control || !Number(rtt, &rtt_ms) || rtt_ms < 20 || !Number(start, &start_s))
		return false;

	/* 10 ms of the bottleneck, the rest before it; slow start ends below the BDP */
	double share = o.mbps * 1e6 * rtt_ms / 1e3 / 8 / 1500;
	Ptr<Node> node = Attach(router, 10 * o.mbps, rtt_ms / 2 - 10, addresses);
	Ptr<TcpSocketBase> tcp = ::Send(node, InetSocketAddress(to, port), control,
					Seconds(start_s) + MilliSeconds(37 * flows->size()),
					std::max(16u, (unsigned)(share / 4)));
	flows->push_back(std::make_unique<Flow>());
	Flow *flow = flows->back().get();
	flow->tcp = tcp;
	flow->sink = Receive(receiver, port);
	flow->lost.resize((size_t)o.seconds);
	flow->control = control;
	tcp->TraceConnectWithoutContext("CongState", MakeCallback(&Flow::StateChanged, flow));
	tcp->TraceConnectWithoutContext("CongestionWindow",
					MakeCallback(&Flow::WindowChanged, flow));
	tcp->TraceConnectWithoutContext("SlowStartThreshold",
					MakeCallback(&Flow::SsthreshChanged, flow));
	return true;
}

static int Usage(const std::string &what)
{
	fprintf(stderr, "dumbbell: %s; see --PrintHelp\n", what.c_str());
	return 2;
}

static unsigned QueuePackets(const Options &o)
{
	return (unsigned)(o.mbps * 1e6 * o.buffer / 1e3 / 8 / 1500);
}

/* What is wrong with the options; nothing if they can be simulated. */
static std::string Wrong(const Options &o)
{
	if (o.queue != "droptail" && o.queue != "red")
		return "queue is droptail or red";
	if (!(o.seconds >= 2))
		return "at least 2 s";
	if (!(o.mbps > 0) || !(o.buffer > 0) || !QueuePackets(o))
		return "a rate, and a queue of a packet or more";
	if (!(o.background >= 0) || !(o.trace >= 0))
		return "background and trace are 0 or more";
	if (!o.red_mean)
		return "red_mean is 1 or more";
	if (o.seed < 1)
		return "seeds are from 1 on";
	return "";
}

static Options Parse(int argc, char **argv)
{
	Options o;
	CommandLine options;

	options.AddValue("flows", "ALGORITHM:RTT[:START],... in ms and s", o.flows);
	options.AddValue("mbps", "rate of the bottleneck", o.mbps);
	options.AddValue("buffer", "of the bottleneck, ms of its rate", o.buffer);
	options.AddValue("seconds", "to simulate", o.seconds);
	options.AddValue("background", "share of the rate, each way", o.background);
	options.AddValue("small", "connections of at most 64 packets, each way", o.small);
	options.AddValue("trace", "seconds between samples of the windows, 0: none", o.trace);
	options.AddValue("queue", "droptail or red", o.queue);
	options.AddValue("red_mean", "bytes of a packet, for RED's automatic thresholds",
			 o.red_mean);
	options.AddValue("seed", "of all random numbers", o.seed);
	options.Parse(argc, argv);
	return o;
}

/* Joins the two by the bottleneck and counts its losses. Returns the address of the far end. */
static Ipv4Address JoinBottleneck(const Options &o, Ptr<Node> router, Ptr<Node> far_end,
				  Ipv4AddressHelper *addresses)
{
	unsigned packets = QueuePackets(o);
	bool red = o.queue == "red";
	NetDeviceContainer bottleneck =
		Link(o.mbps, 10, std::to_string(packets) + "p").Install(router, far_end);
	InternetStackHelper().Install(NodeContainer(router, far_end));
	if (red)
		InstallRed(bottleneck.Get(0), packets, o.mbps, o.red_mean);
	Ipv4Address to = addresses->Assign(bottleneck).GetAddress(1);
	addresses->NewNetwork();
	TrafficControlHelper().Uninstall(bottleneck.Get(1));
	if (!red)
		TrafficControlHelper().Uninstall(bottleneck.Get(0));
	Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0));
	device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Carried));
	if (!red) /* a full device queue is met where packets would enter it */
		router->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
			"TcDrop", MakeCallback(&Dropped));
	far_end->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
		"TcDrop", MakeCallback(&DroppedBack));
	return to;
}

int main(int argc, char **argv)
{
	Options o = Parse(argc, argv);
	std::string wrong = Wrong(o);
	if (!wrong.empty())
		return Usage(wrong);
	RngSeedManager::SetRun(o.seed);
	NetworkDefaults(1u << 29);

	Ptr<Node> router = CreateObject<Node>(), far_end = CreateObject<Node>();
	Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
	Ipv4Address to = JoinBottleneck(o, router, far_end, &addresses);

	Flows flows;
	std::istringstream list(o.flows);
	for (std::string flow; std::getline(list, flow, ',');)
		if (!AddFlow(&flows, flow, o, router, far_end, to, &addresses))
			return Usage(flow + " is not ALGORITHM:RTT with an RTT of 20 ms or more");
	if (flows.empty())
		return Usage("no flows");

	if (o.background > 0) {
		Ptr<Node> other = Attach(router, 10 * o.mbps, 5, &addresses);
		Ipv4Address back = other->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();

		background_sinks = Background(other, far_end, to, o.background * o.mbps, o.seconds);
		Background(far_end, other, back, o.background * o.mbps, o.seconds);
	}
	SmallFlows(o.small, router, far_end, to, o, &addresses);
	if (o.trace > 0)
		Trace(&flows, o.trace);
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();
	Simulator::Schedule(Seconds(1), &EverySecond, &flows, (double)((size_t)o.seconds / 2));
	Simulator::Stop(Seconds(o.seconds) + MicroSeconds(1));
	Simulator::Run();
	Report(flows, o);
	Simulator::Destroy();
	return 0;
}
