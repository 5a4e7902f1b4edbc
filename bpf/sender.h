/* SPDX-License-Identifier: GPL-2.0-only */
/* The send buffer, adjusted when a segment leaves and when a round trip ends. */
#ifndef TCPTUNED_BPF_SENDER_H
#define TCPTUNED_BPF_SENDER_H

#include "budget.h"
#include "claim.h"
#include "events.h"
#include "kernel.h"
#include "rightsizing.h"
#include <tcptuned/algo/unsent.h>

/*
 * Memory that a byte in the send queue costs, in 1/256: as measured on this queue, and the
 * kernel's own cautious guess (tcp_sndbuf_expand(): two) while it is too short to tell.
 */
static __always_inline __u32 send_cost_256(const struct tcp_sock *tp)
{
	__u32 bytes = tp->write_seq - tp->snd_una;
	__u64 cost = (__u64)(__u32)tp->inet_conn.icsk_inet.sk.sk_wmem_queued << 8;

	if (bytes < LEAST_WINDOW * tp->mss_cache)
		return 512;
	cost /= bytes;
	return cost < 256 ? 256 : cost > 1024 ? 1024 : cost;
}

/*
 * What may wait unsent, bytes: what the path needs. 0, which is the namespace's
 * net.ipv4.tcp_notsent_lowat, where an administrator has set that one.
 */
static __always_inline __u32 unsent_max(struct tcp_sock *tp)
{
	struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;
	__u32 rtt_us = tp->srtt_us >> 3;

	if (net->ipv4.sysctl_tcp_notsent_lowat != ~0u)
		return 0;
	return rightsize_unsent(rightsize_muldiv((__u64)tp->snd_cwnd * tp->mss_cache, 1000000,
						 rtt_us), rtt_us);
}

/*
 * What waits unsent is held to that, unless the application has set a bound itself: what is set
 * there now is then not what was set here.
 */
static __always_inline int set_unsent(struct bpf_sock_ops *ctx, struct tcp_sock *tp,
				      struct tcptuned_flow *flow)
{
	int value;

	if (tp->notsent_lowat != flow->snd_unsent)
		return 0;
	value = unsent_max(tp);
	if (!differs(flow->snd_unsent, value))
		return 0;
	if (bpf_setsockopt(ctx, SOL_TCP, TCP_NOTSENT_LOWAT, &value, sizeof(value)))
		return -1;
	flow->snd_unsent = value;
	return 0;
}

static __always_inline bool is_recovering(struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_state) != TCP_CA_OPEN;
}

/*
 * What makes a buffer smaller locks it, so that this is done only where net.core.wmem_max lets the
 * buffer be made as large again as the kernel alone would have it.
 */
static __always_inline bool may_hold_sender(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;

	return flow->snd_buffer_max >= (__u32)net->ipv4.sysctl_tcp_wmem[2];
}

/*
 * The send buffer, bytes of memory; 0: the kernel's. Held: room for the window, and no less during
 * a recovery, when nothing leaves the queue. A buffer that is locked because it was held once, or
 * because the application had fixed it before tcptuned saw it, follows cwnd as the kernel would
 * have it (tcp_sndbuf_expand()), twice that in slow start. More than @max is the policy's to cut.
 */
static __always_inline __u64 send_space(struct tcptuned_flow *flow, struct tcp_sock *tp, __u64 max)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_sndbuf;
	__u64 space = (__u64)flow->snd.window * send_cost_256(tp) >> 8;

	if (flow->snd.window)
		return is_recovering(tp) && space < have ? have : space;
	if (!is_locked(tp, SOCK_SNDBUF_LOCK)) {
		/* The kernel sizes it; what tcp_wmem was raised by is the budget's. */
		return have > flow->snd_base || have > max ? have : 0;
	}
	space = 4ull * tp->snd_cwnd * tp->mss_cache;
	if (tp->snd_cwnd < tp->snd_ssthresh)
		space *= 2;
	return space > have ? space : have;
}

static __always_inline void set_send_buffer(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					    struct tcp_sock *tp)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_sndbuf, allowed;
	__u64 max = may_hold_sender(flow, tp) ? 2ull * flow->snd_window_max : ~0ull;
	__u64 space = send_space(flow, tp, max);
	int value;

	if (!space)
		return;
	if (space > max) {
		count(TCPTUNED_C_SND_CAPS);
		flow->snd_reason = RIGHTSIZE_CAPPED;
		space = max;
	}
	if (space > flow->snd_buffer_max)
		space = flow->snd_buffer_max;
	allowed = budget_allow(&flow->snd_share, tp, flow->snd_base, space, &flow->flags,
			       TCPTUNED_F_SND_PRESSED);
	if (allowed < space) {
		count(TCPTUNED_C_SND_BUDGET);
		flow->snd_reason = RIGHTSIZE_BUDGET;
		event(TCPTUNED_EV_SND_BUDGET, tp, flow, space, allowed);
		space = allowed;
	}
	if (!differs(have, space))
		return;
	if (flow->snd_reason == RIGHTSIZE_CAPPED)
		event(TCPTUNED_EV_SND_CAPPED, tp, flow, have, space);
	value = space / 2; /* the kernel doubles it: sk_setsockopt() */
	if (bpf_setsockopt(ctx, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value))) {
		count(TCPTUNED_C_SND_FAILED);
		event(TCPTUNED_EV_SND_FAILED, tp, flow, space, 0);
		return;
	}
	flow->flags |= TCPTUNED_F_SND_SIZED;
}

/*
 * BI-TCP for a long path (policy.h, cc_auto): once the bandwidth-delay product is so large that a
 * loss costs seconds, where the host's congestion control is one that a kernel is built with.
 */
static __always_inline void choose_congestion_control(struct bpf_sock_ops *ctx,
						      struct tcptuned_flow *flow,
						      struct tcp_sock *tp)
{
	const struct tcptuned_policy *policy = policy_of(flow->policy);
	__u64 bdp = rightsize_muldiv(flow->snd.rate, flow->snd.min_rtt_us, 1000000);
	char name[TCPTUNED_CC_NAME_MAX];

	if (!policy || !policy->cc_auto || (flow->flags & TCPTUNED_F_CC_SET) ||
	    bdp < (__u64)policy->cc_long_path_segments * tp->mss_cache)
		return;
	if (auto_congestion_control_is_ours(flow, tp, policy, name))
		congestion_control_set(flow, tp, name,
				       bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name,
						      sizeof(name)));
}

/* Does hardly any data come back? Then the ACKs on its data segments need no care. */
static __always_inline bool mostly_sends(struct bpf_sock_ops *ctx)
{
	return ctx->data_segs_in < ctx->data_segs_out / 64;
}

/*
 * Bytes acknowledged, and during a recovery, when that stands still, those of segments that are
 * acknowledged selectively. These may be smaller than the MSS: the sum does not go back.
 */
static __always_inline void count_delivered(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 bytes = (__u32)tp->bytes_acked + tp->sacked_out * tp->mss_cache;

	if ((__s32)(bytes - flow->snd_bytes) > 0)
		flow->snd_bytes = bytes;
}

/*
 * @segment: a segment leaves; else a round trip ends. One RTT in each round trip would be too few to
 * tell a queue from a delay that varies: the smallest of some is needed. Between two ends of round
 * trips only the buffer of a test or a hold is set.
 */
static __always_inline void on_sending(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				       struct tcp_sock *tp, bool segment)
{
	struct rightsize_ack ack = { .now_us = tp->tcp_mstamp, .rtt_us = tp->srtt_us >> 3 };
	struct tcptuned_totals *t;
	__u32 was = flow->snd.window, did;

	if (segment && ack.now_us - flow->snd.seen_us < ACK_TICK_US)
		return;
	t = totals_here();
	count_delivered(flow, tp);
	if (!t || (flow->flags & TCPTUNED_F_SNDBUF_APP) || kernel_device_encrypts(tp))
		return;
	ack.clock_us = bpf_ktime_get_tai_ns() / 1000;
	ack.bytes = flow->snd_bytes;
	ack.sample_us = tp->rack.rtt_us;
	ack.min = LEAST_WINDOW * tp->mss_cache;
	ack.offered = is_recovering(tp) ? RIGHTSIZE_WINDOW_MAX : 0;
	/* Of a connection with data both ways, segments are not seen: silences are not, either. */
	if (!segment && !mostly_sends(ctx))
		flow->snd.seen_us = ack.now_us;
	if (!may_hold_sender(flow, tp))
		ack.sample_us = 0;
	did = decide(&flow->snd, &ack, true);
	if (did & ROUND_ENDED) {
		count_more(t, TCPTUNED_C_SND_ROUNDS, 1);
		count_in(t, TCPTUNED_H_SRTT, ack.rtt_us);
		count_in(t, TCPTUNED_H_CWND, tp->snd_cwnd);
	}
	if (segment && !DECIDED(did))
		return;
	flow->snd_reason = flow->snd.reason;
	if (DECIDED(did)) {
		flow->snd_grows += DECIDED(did) == TCPTUNED_EV_RCV_GROWN;
		flow->snd_shrinks += DECIDED(did) != TCPTUNED_EV_RCV_GROWN;
		event(DECIDED(did) + SENDS, tp, flow, was, flow->snd.window);
	}
	if (flow->flags & TCPTUNED_F_OBSERVE)
		return;
	choose_congestion_control(ctx, flow, tp);
	set_send_buffer(ctx, flow, tp);
	if (set_unsent(ctx, tp, flow))
		count(TCPTUNED_C_SND_FAILED);
}

#endif
