// SPDX-License-Identifier: GPL-2.0-only
#include "network.h"

#include <limits>
#include <map>

#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/packet-sink-helper.h>
#include <ns3/packet.h>
#include <ns3/simulator.h>
#include <ns3/tcp-socket-factory.h>
#include <ns3/uinteger.h>

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

/* Keeps the buffer of the socket filled, piece by piece. */
static void Fill(uint32_t piece, Ptr<Socket> socket, uint32_t)
{
	while (socket->GetTxAvailable() >= piece)
		if (socket->Send(Create<Packet>(piece)) < 0)
			return;
}

static void Connect(Ptr<Socket> socket, InetSocketAddress to)
{
	socket->Connect(to);
}

static std::map<Socket *, double> given_up; /* in which second */

static void NoteGivenUp(Ptr<Socket> socket)
{
	given_up.emplace(PeekPointer(socket), Simulator::Now().GetSeconds());
}

void WatchGivenUp(Ptr<Socket> socket)
{
	socket->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(),
				   MakeCallback(&NoteGivenUp));
	socket->SetCloseCallbacks(MakeNullCallback<void, Ptr<Socket>>(),
				  MakeCallback(&NoteGivenUp));
}

double GivenUpAt(Ptr<Socket> socket)
{
	auto found = given_up.find(PeekPointer(socket));

	return found == given_up.end() ? std::numeric_limits<double>::infinity() : found->second;
}

size_t GivenUp()
{
	return given_up.size();
}

static void Connected(uint32_t piece, Ptr<Socket> socket)
{
	Fill(piece, socket, 0);
}

Ptr<TcpSocketBase> Send(Ptr<Node> node, const InetSocketAddress &to, Ptr<TcpCongestionOps> control,
			Time start, uint32_t ssthresh, uint32_t buffer)
{
	uint32_t piece = (buffer ? buffer / 8 : 44) * SEGMENT_SIZE;
	Ptr<Socket> socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
	Ptr<TcpSocketBase> tcp = DynamicCast<TcpSocketBase>(socket);

	tcp->SetCongestionControlAlgorithm(control);
	if (ssthresh)
		tcp->SetAttribute("InitialSlowStartThreshold",
				  UintegerValue(ssthresh * SEGMENT_SIZE));
	if (buffer)
		tcp->SetAttribute("SndBufSize", UintegerValue(buffer * SEGMENT_SIZE));
	socket->Bind();
	WatchGivenUp(socket);
	socket->SetConnectCallback(MakeBoundCallback(&Connected, piece),
				   MakeCallback(&NoteGivenUp));
	socket->SetSendCallback(MakeBoundCallback(&Fill, piece));
	Simulator::Schedule(start, &Connect, socket, to);
	return tcp;
}
