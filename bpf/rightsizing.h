/* SPDX-License-Identifier: GPL-2.0-only */
/* What both directions of a connection have in common. */
#ifndef TCPTUNED_BPF_RIGHTSIZING_H
#define TCPTUNED_BPF_RIGHTSIZING_H

#include "kernel.h"
#include "maps.h"
#include <tcptuned/algo/rightsize.h>

#define LEAST_WINDOW	10u  /* segments: no sender begins with more (RFC 6928) */

/* A receiver's clock for silences and RTTs ticks in milliseconds, as its timestamps do. */
#define ACK_TICK_US 1000u

/* Does @now differ from @then by more than a sixteenth? */
static __always_inline bool differs(__u32 then, __u32 now)
{
	__u32 gap = now > then ? now - then : then - now;

	return gap > then / 16;
}

/* Does the kernel not size the buffer any more? @lock: SOCK_RCVBUF_LOCK or SOCK_SNDBUF_LOCK */
static __always_inline bool is_locked(struct tcp_sock *tp, __u32 lock)
{
	return BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_inet.sk.sk_userlocks) & lock;
}

/* What decide() returns: an event of a receive window (event.h), or 0, and whether a round ended. */
#define ROUND_ENDED   0x100
#define DECIDED(what) ((what) & 0xff)
#define SENDS	      (TCPTUNED_EV_SND_GROWN - TCPTUNED_EV_RCV_GROWN)

static __always_inline void count_decision(__u32 kind, __u32 from)
{
	count(from + (kind == TCPTUNED_EV_RCV_GROWN ? TCPTUNED_C_RCV_GROWS : TCPTUNED_C_RCV_SHRINKS));
	if (kind == TCPTUNED_EV_RCV_TEST)
		count(from + TCPTUNED_C_RCV_TESTS);
}

/* Verified once, and not for every state of either direction that calls it. */
__noinline int decide(struct rightsize *rs, const struct rightsize_ack *ack, bool sends)
{
	__u32 was, is, tests, kind = 0;
	int ended;

	if (!rs || !ack)
		return 0;
	/* No limit, 0, is the largest window. */
	was = rs->window - 1;
	tests = rs->tests;
	ended = rightsize_on_ack(rs, ack);
	is = rs->window - 1;
	if (rs->tests != tests)
		kind = TCPTUNED_EV_RCV_TEST;
	else if (is != was)
		kind = is > was ? TCPTUNED_EV_RCV_GROWN : TCPTUNED_EV_RCV_SHRUNK;
	if (kind && sends)
		count_decision(kind, TCPTUNED_C_SND_ROUNDS - TCPTUNED_C_RCV_ROUNDS);
	else if (kind)
		count_decision(kind, 0);
	return kind | (ended ? ROUND_ENDED : 0);
}

#endif
