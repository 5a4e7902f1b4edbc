/* SPDX-License-Identifier: GPL-2.0-only */
/* What the simulated networks have in common. */
#pragma once

#include <ns3/inet-socket-address.h>
#include <ns3/node.h>
#include <ns3/nstime.h>
#include <ns3/packet-sink.h>
#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-socket-base.h>

/* Bytes of data in a packet of 1500, without TCP options. */
#define SEGMENT_SIZE 1460u

/* Before the first node: segments, and socket buffers that never hold a sender up. */
void NetworkDefaults(uint32_t buffer_bytes);

ns3::Ptr<ns3::PacketSink> Receive(ns3::Ptr<ns3::Node> node, uint16_t port);

/*
 * A connection that sends from @start on for as long as the simulation lasts. In packets, 0 as
 * the default: ssthresh, and the send buffer, which no window can be larger than. It is watched.
 */
ns3::Ptr<ns3::TcpSocketBase> Send(ns3::Ptr<ns3::Node> node, const ns3::InetSocketAddress &to,
				  ns3::Ptr<ns3::TcpCongestionOps> control, ns3::Time start,
				  uint32_t ssthresh = 0, uint32_t buffer = 0);

/*
 * Takes note if ns-3's TCP gives the connection up, as it does after six retransmissions of a
 * segment (DataRetries), or six SYNs, without an answer.
 */
void WatchGivenUp(ns3::Ptr<ns3::Socket> socket);

/* The second in which that happened; infinity if it did not. And to how many that are watched. */
double GivenUpAt(ns3::Ptr<ns3::Socket> socket);
size_t GivenUp();
