/* SPDX-License-Identifier: GPL-2.0-only */
/* What both directions of a connection have in common: the call of the algorithm, and counters. */
#ifndef TCPTUNED_BPF_RIGHTSIZING_H
#define TCPTUNED_BPF_RIGHTSIZING_H

#include "callbacks.h"
#include "sock.h"
#include "totals.h"
#include <tcptuned/algo/earned.h>
#include <tcptuned/algo/peer.h>

#define PEERS_MAX 4096u

#define MIN_WINDOW_SEGMENTS 10u /* no sender begins with more (RFC 6928) */

/* A receiver measures silences and RTTs in milliseconds, as its timestamps tick. */
#define ACK_TICK_US 1000u

/* UTC, us, which hosts share if NTP keeps their clocks. Programs have CLOCK_TAI only. */
static __always_inline __u64 utc_us(void)
{
	__u64 *tai_offset_us = single_value(&tai_offset);

	return bpf_ktime_get_tai_ns() / 1000 - (tai_offset_us ? *tai_offset_us : 0);
}

struct peer_key {
	__be32 address[4]; /* IPv4 as ::ffff:a.b.c.d */
	__u32 sends;
};

/*
 * Of peers whose connections have a queue. Processors may write at once: a silence is lost, or seen
 * twice.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PEERS_MAX);
	__type(key, struct peer_key);
	__type(value, struct rightsize_peer);
} peers SEC(".maps");

__bpf_global int ask_peer(const struct endpoints *ends, struct rightsize_ack *ack,
			  struct rightsize *rs, bool sends)
{
	struct peer_key key = {.sends = sends};
	struct rightsize_peer none = {0}, *peer;

	if (!ends || !ack || !rs)
		return 0;
	__builtin_memcpy(key.address, ends->remote, sizeof(key.address));
	peer = bpf_map_lookup_elem(&peers, &key);
	if (peer)
		rightsize_look_at_peer(peer, rs, ack);
	else if (rightsize_minds_silence(rs, ack->rtt_us))
		bpf_map_update_elem(&peers, &key, &none, BPF_NOEXIST);
	return 0;
}

/* What the connection and the others with its peer know together. */
static __always_inline void look_at_peer(struct rightsize_ack *ack, struct rightsize *rs,
					 struct tcp_sock *tp, bool sends)
{
	struct endpoints ends;

	if (!rightsize_minds_peer(rs, ack))
		return;
	sk_endpoints(&tp->inet_conn.icsk_inet.sk.__sk_common, &ends);
	ask_peer(&ends, ack, rs, sends);
}

/* decide() returns an event of the receive direction (event.h) or 0, and whether a round ended. */
#define ROUND_ENDED   0x100
#define DECIDED(what) ((what)&0xff)
#define SEND_EVENTS   (TCPTUNED_EV_SND_GROWN - TCPTUNED_EV_RCV_GROWN)
#define SEND_COUNTERS (TCPTUNED_C_SND_ROUNDS - TCPTUNED_C_RCV_ROUNDS)

/* Apart from decide(), so that the verifier does not walk through that for each way out of here. */
__bpf_global int decide_window(struct rightsize *rs, const struct rightsize_ack *ack)
{
	__u32 before, after, tests, kind = 0;
	int ended;

	if (!rs || !ack)
		return 0;
	/* 0 is no limit, and so the largest window. */
	before = rs->window - 1;
	tests = rs->tests;
	ended = rightsize_on_ack(rs, ack);
	after = rs->window - 1;
	if (rs->tests != tests)
		kind = TCPTUNED_EV_RCV_TEST;
	else if (after != before)
		kind = after > before ? TCPTUNED_EV_RCV_GROWN : TCPTUNED_EV_RCV_SHRUNK;
	return kind | (ended ? ROUND_ENDED : 0);
}

/* @kind: an event of the receive direction; @result: a counter of it. 0: none. */
static __always_inline void count_decision(__u32 kind, __u32 result, __u32 counters)
{
	if (kind)
		count(counters + (kind == TCPTUNED_EV_RCV_GROWN ? TCPTUNED_C_RCV_GROWS
								: TCPTUNED_C_RCV_SHRINKS));
	if (result)
		count(counters + result);
}

__bpf_global int decide(struct rightsize *rs, const struct rightsize_ack *ack, bool sends)
{
	bool tested, abandons;
	__u32 result = 0;
	int did;

	if (!rs || !ack)
		return 0;
	tested = rs->state == RIGHTSIZE_TESTING;
	/* A test that ends now has no result before its window took effect, or at a loss. */
	abandons = rs->waiting || ack->offered == RIGHTSIZE_WINDOW_MAX;
	did = decide_window(rs, ack);
	if (tested && rs->state != RIGHTSIZE_TESTING)
		result = abandons			  ? TCPTUNED_C_RCV_TESTS_ABANDONED
			 : rs->state == RIGHTSIZE_HOLDING ? TCPTUNED_C_RCV_TESTS_HELD
							  : TCPTUNED_C_RCV_TESTS_FAILED;
	if (sends)
		count_decision(DECIDED(did), result, SEND_COUNTERS);
	else
		count_decision(DECIDED(did), result, 0);
	return did;
}

#endif
