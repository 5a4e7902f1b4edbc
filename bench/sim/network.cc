// SPDX-License-Identifier: GPL-2.0-only
#include "network.h"

#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/packet-sink-helper.h>
#include <ns3/packet.h>
#include <ns3/simulator.h>
#include <ns3/tcp-socket-factory.h>
#include <ns3/uinteger.h>

#include "tcp_family.h"

using namespace ns3;

void NetworkDefaults(uint32_t buffer_bytes)
{
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT_SIZE));
	Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer_bytes));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer_bytes));
	Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
}

Ptr<PacketSink> Receive(Ptr<Node> node, uint16_t port)
{
	PacketSinkHelper helper("ns3::TcpSocketFactory",
				InetSocketAddress(Ipv4Address::GetAny(), port));

	return DynamicCast<PacketSink>(helper.Install(node).Get(0));
}

/* Keeps the buffer of the socket filled. */
static void Fill(Ptr<Socket> socket, uint32_t)
{
	static const uint32_t piece = 44 * SEGMENT_SIZE;

	while (socket->GetTxAvailable() >= piece)
		if (socket->Send(Create<Packet>(piece)) < 0)
			return;
}

static void Connect(Ptr<Socket> socket, InetSocketAddress to)
{
	socket->Connect(to);
}

static void Connected(Ptr<Socket> socket)
{
	Fill(socket, 0);
}

Ptr<TcpSocketBase> Send(Ptr<Node> node, const InetSocketAddress &to, const std::string &algorithm,
			Time start, uint32_t ssthresh)
{
	Ptr<Socket> socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
	Ptr<TcpSocketBase> tcp = DynamicCast<TcpSocketBase>(socket);
	Ptr<TcpCongestionOps> control = CongestionControl(algorithm);

	if (!control)
		return nullptr;
	tcp->SetCongestionControlAlgorithm(control);
	if (ssthresh)
		tcp->SetAttribute("InitialSlowStartThreshold",
				  UintegerValue(ssthresh * SEGMENT_SIZE));
	socket->Bind();
	socket->SetConnectCallback(MakeCallback(&Connected), MakeNullCallback<void, Ptr<Socket>>());
	socket->SetSendCallback(MakeCallback(&Fill));
	Simulator::Schedule(start, &Connect, socket, to);
	return tcp;
}
