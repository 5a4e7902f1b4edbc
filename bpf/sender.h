/* SPDX-License-Identifier: GPL-2.0-only */
/* The send buffer, adjusted when segments leave and round trips end. */
#ifndef TCPTUNED_BPF_SENDER_H
#define TCPTUNED_BPF_SENDER_H

#include "budget.h"
#include "events.h"
#include "record.h"
#include "rightsizing.h"
#include <tcptuned/algo/unsent.h>

/* Bytes per second from which each packet takes a whole skb of 64 KB. */
#define UNPACED_RATE (64u << 20)

/*
 * Memory for each byte in the send queue, in 1/256: as measured on this queue, or the kernel's own
 * guess while it is short (tcp_sndbuf_expand(): two).
 */
static __always_inline __u32 send_cost_256(const struct tcp_sock *tp)
{
	__u32 bytes = tp->write_seq - tp->snd_una;
	__u64 cost = (__u64)(__u32)tp->inet_conn.icsk_inet.sk.sk_wmem_queued << 8;

	if (bytes < MIN_WINDOW_SEGMENTS * tp->mss_cache)
		return 512;
	cost /= bytes;
	return cost < 256 ? 256 : cost > 1024 ? 1024 : cost;
}

/*
 * What may wait unsent, bytes; 0: the administrator has set net.ipv4.tcp_notsent_lowat. The rate is
 * that of cwnd, but at most twice that of the last round trip, as cwnd also grows where something
 * else is the limit, or of the fastest one, if the application had no more to send, once there was
 * one. cwnd says nothing while a jump is expected or under way, and then there is no limit but that
 * of an application that asked for a small buffer.
 */
static __always_inline __u32 unsent_limit(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;
	__u64 flight = (__u64)tp->snd_cwnd * tp->mss_cache, carried = flow->snd.per_rtt;
	__u32 rtt_us = tp->srtt_us >> 3;

	if (net->ipv4.sysctl_tcp_notsent_lowat != ~0u)
		return 0;
	if (tp->app_limited)
		carried = rightsize_muldiv(flow->snd.rate_best, rtt_us, 1000000);
	if (carried && flight > 2 * carried)
		flight = 2 * carried;
	return rightsize_unsent(
		rightsize_muldiv(flight, 1000000, rtt_us), rtt_us,
		request_is_overridden(tcptuned_request(flow, false)) ? flow->req_sndbuf : 0,
		flow->flags & TCPTUNED_F_JUMPS ? RIGHTSIZE_LATE_MAX : flow->snd_late / 4);
}

/*
 * Counts how often tcptuned's limit of unsent data left a sender with nothing to send: its
 * application had waited for room, and got the CPU too late, when all was sent. One that has only
 * finished an answer writes again after the peer has sent something. So has the peer of a late one
 * at times (a WINDOW_UPDATE of HTTP/2), so that this counts a quarter.
 */
static __always_inline void count_late_writer(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct socket *socket = tp->inet_conn.icsk_inet.sk.sk_socket;
	bool waits = socket && (BPF_CORE_READ(socket, flags) & (1u << SOCK_NOSPACE));
	bool unsent = tp->write_seq != tp->snd_nxt;
	__u8 heard = tp->data_segs_in;

	if (flow->snd_writer == TCPTUNED_WRITER_RAN_OUT && (unsent || waits)) {
		if (flow->snd_late < 4 * RIGHTSIZE_LATE_MAX)
			flow->snd_late += heard == flow->snd_heard ? 4 : 1;
		flow->snd_writer = TCPTUNED_WRITER_WRITES;
	}
	if (waits && flow->snd_unsent) {
		flow->snd_writer = TCPTUNED_WRITER_WAITED;
		flow->snd_heard = heard;
	} else if (flow->snd_writer == TCPTUNED_WRITER_WAITED && !unsent) {
		flow->snd_writer = TCPTUNED_WRITER_RAN_OUT;
	}
}

/* Limits unsent data. If the present limit is not tcptuned's, the application has set its own. */
static __always_inline void set_unsent_limit(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					     struct tcp_sock *tp)
{
	__u32 value;

	if (tp->notsent_lowat != flow->snd_unsent)
		return;
	value = unsent_limit(flow, tp);
	if (!rightsize_differs(flow->snd_unsent, value))
		return;
	if (set_option(ctx, SOL_TCP, TCP_NOTSENT_LOWAT, value))
		count(TCPTUNED_C_SND_FAILED);
	else
		flow->snd_unsent = value;
}

static __always_inline bool is_sndbuf_fixed(const struct tcptuned_flow *flow)
{
	return tcptuned_request(flow, false) == REQUEST_LIFTED;
}

/*
 * A smaller buffer is a locked one, so this is done only where net.core.wmem_max allows to make it
 * as large again as the kernel alone would, which was allowed to what the application asked for.
 */
static __always_inline bool may_shrink_sndbuf(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	return is_sndbuf_fixed(flow) || flow->snd_buffer_max >= sk_max_sndbuf(tp);
}

/* By the kernel's mean deviation, of which it keeps four times. */
static __always_inline bool delay_varies(const struct rightsize *rs, const struct tcp_sock *tp)
{
	return tp->mdev_us > rightsize_min_rtt_us(rs);
}

/*
 * The memory for the window of a jump, which will follow (resume_may_jump()), bytes; 0: none will,
 * or the application does not fill what there is.
 */
static __always_inline __u64 jump_space(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct sock *sk = &tp->inet_conn.icsk_inet.sk;

	if (!(flow->flags & TCPTUNED_F_JUMPS) || resume_of(tp)->state != RESUME_KNOWN ||
	    2 * sk->sk_wmem_queued < sk->sk_sndbuf)
		return 0;
	return 2ull * resume_of(tp)->packets * tp->mss_cache;
}

/*
 * The memory for a window of @space bytes. A writer is woken when a third of the buffer is free
 * (sk_stream_is_writeable()), so less than the window is in flight at times. On a constant path
 * that only shortens the queue. Where the delay varies, it may leave the link idle, so the window
 * there is what remains when the writer is woken.
 */
static __always_inline __u64 wake_space(const struct rightsize *rs, struct tcp_sock *tp,
					__u64 space)
{
	if (rs->state == RIGHTSIZE_HOLDING && delay_varies(rs, tp))
		space += space / 2;
	return space;
}

/*
 * The send buffer, bytes of memory; 0: the kernel's. A held one has room for the window, and does
 * not shrink during a recovery, when nothing leaves the queue. One that has reached the maximum of
 * tcp_wmem, or is locked, because it was sized once or because the application fixed it, follows
 * cwnd as the kernel's would (tcp_sndbuf_expand()), twice that in slow start; and so does one for a
 * jump, before it begins. The caller limits the result to @max.
 */
static __always_inline __u64 send_space(struct tcptuned_flow *flow, struct tcp_sock *tp, __u64 max)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_sndbuf;
	__u64 space = wake_space(&flow->snd, tp, (__u64)flow->snd.window * send_cost_256(tp) >> 8);
	__u64 jump = jump_space(flow, tp);

	if (flow->snd.window)
		return sk_is_recovering(tp) && space < have ? have : space;
	if (!(sk_buffer_locks(tp) & SOCK_SNDBUF_LOCK) &&
	    ((have < sk_max_sndbuf(tp) && jump <= sk_max_sndbuf(tp)) ||
	     !may_shrink_sndbuf(flow, tp)))
		return have > max ? have : 0;
	space = 4ull * tp->snd_cwnd * tp->mss_cache;
	if (tp->snd_cwnd < tp->snd_ssthresh)
		space *= 2;
	if (space < jump)
		space = jump;
	return space > have ? space : have;
}

/*
 * The memory that the connection may use: what the kernel had by itself, and beyond that what it
 * has earned, or an earlier one to the same host if it jumps, and what keeps data fresh. It does
 * not shrink during a recovery.
 */
static __always_inline __u64 earned_send_space(const struct tcptuned_flow *flow,
					       struct tcp_sock *tp)
{
	__u64 space = rightsize_earned(&flow->snd, sk_min_rtt_us(tp));
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_sndbuf;
	__u32 most = RIGHTSIZE_WINDOW_MAX;

	if (!may_shrink_sndbuf(flow, tp))
		return ~0ull;
	if (is_sndbuf_fixed(flow) && rightsize_asked_for_little(flow->req_sndbuf))
		most = rightsize_fresh(&flow->snd, tp->srtt_us >> 3);
	if (space > most || (flow->flags & TCPTUNED_F_JUMPS))
		space = most;
	space = space * send_cost_256(tp) >> 8;
	if (space < flow->snd_base)
		space = flow->snd_base;
	/* An administrator may have raised it since. */
	if (!(sk_buffer_locks(tp) & SOCK_SNDBUF_LOCK) && space < sk_max_sndbuf(tp))
		space = sk_max_sndbuf(tp);
	return sk_is_recovering(tp) && space < have ? have : space;
}

/*
 * Paces a connection from now on, at the kernel's rate (tcp_update_pacing_rate()). Otherwise a long
 * write() or sendfile() would exceed the buffer, as nothing looks at the buffer's size while there
 * is room in the last skb (tcp_sendmsg_locked()), and there is after each packet that is shorter
 * than an skb (tcp_push_one()): at less than 64 KB per millisecond (tcp_tso_autosize()). Where the
 * delay varies, pacing would keep the sender from making up for a silence.
 */
static __always_inline void bound_writes(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					 struct tcp_sock *tp)
{
	if (flow->snd.rate >= UNPACED_RATE || tp->inet_conn.icsk_inet.sk.sk_pacing_status ||
	    delay_varies(&flow->snd, tp))
		return;
	set_option(ctx, SOL_SOCKET, SO_MAX_PACING_RATE, 0x7fffffff);
	set_option(ctx, SOL_SOCKET, SO_MAX_PACING_RATE, -1); /* no maximum; pacing stays on */
}

static __always_inline void set_send_buffer(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					    struct tcp_sock *tp)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_sndbuf, allowed;
	__u32 queued = tp->inet_conn.icsk_inet.sk.sk_wmem_queued;
	__u64 max = may_shrink_sndbuf(flow, tp) ? 2ull * flow->snd_window_max : ~0ull;
	__u64 space = send_space(flow, tp, max), earned;

	if (!space)
		return;
	earned = earned_send_space(flow, tp);
	if (space > earned) {
		flow->snd_reason = RIGHTSIZE_EARNED;
		space = earned;
	}
	if (space > max) {
		count(TCPTUNED_C_SND_CAPS);
		flow->snd_reason = RIGHTSIZE_CAPPED;
		space = max;
	}
	/* With more than twice that in the queue the kernel splits no segments (tcp_fragment()). */
	if (space < have && space < queued / 2)
		space = queued / 2 < have ? queued / 2 : have;
	if (space > flow->snd_buffer_max)
		space = flow->snd_buffer_max;
	allowed = grant_memory(&flow->snd_share, tp, flow->snd_base, space, &flow->flags,
			       TCPTUNED_F_SND_MEMORY_SHORT);
	if (allowed < space) {
		count(TCPTUNED_C_SND_BUDGET);
		flow->snd_reason = RIGHTSIZE_BUDGET;
		emit_event(TCPTUNED_EV_SND_BUDGET, tp, flow, space, allowed);
		space = allowed;
	}
	if (!rightsize_differs(have, space))
		return;
	if (flow->snd_reason == RIGHTSIZE_CAPPED)
		emit_event(TCPTUNED_EV_SND_CAPPED, tp, flow, have, space);
	/* The kernel doubles it: sk_setsockopt(). */
	if (set_option(ctx, SOL_SOCKET, SO_SNDBUF, space / 2)) {
		count(TCPTUNED_C_SND_FAILED);
		emit_event(TCPTUNED_EV_SND_FAILED, tp, flow, space, 0);
		return;
	}
	flow->flags |= TCPTUNED_F_SND_SIZED;
	if (flow->snd.window)
		bound_writes(ctx, flow, tp);
}

/*
 * The bytes delivered, modulo 2^32. During a recovery, when bytes_acked stands still, segments that
 * SACK blocks acknowledge count as an MSS each. They may be smaller, so the sum is kept from
 * decreasing.
 */
static __always_inline __u32 delivered_bytes(const struct tcptuned_flow *flow,
					     const struct tcp_sock *tp)
{
	__u32 bytes = (__u32)tp->bytes_acked + tp->sacked_out * tp->mss_cache;

	return (__s32)(bytes - flow->snd.seen_bytes) > 0 ? bytes : flow->snd.seen_bytes;
}

/* By how much the smoothed RTT exceeds the minimum. */
static __always_inline __u32 queueing_delay_us(const struct tcp_sock *tp)
{
	__u32 rtt_us = tp->srtt_us >> 3, min_us = sk_min_rtt_us(tp);

	return rtt_us > min_us ? rtt_us - min_us : 0;
}

/*
 * @segment: a segment leaves, or else a round trip ends. Once in a round trip is too seldom to see
 * silences, so segments are looked at, too, where a queue may stand (callbacks_of()); but then only
 * the buffer of a test or a hold is set. Where data goes both ways they are not, and so the kernel
 * sizes the buffer.
 */
static __always_inline void on_sending(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				       struct tcp_sock *tp, bool segment)
{
	struct rightsize_ack ack = {.now_us = tp->tcp_mstamp, .rtt_us = tp->srtt_us >> 3};
	struct tcptuned_totals *t;
	__u32 before = flow->snd.window, did;

	if (segment && ack.now_us - flow->snd.seen_us < ACK_TICK_US)
		return;
	t = single_value(&totals);
	if (!t || tcptuned_request(flow, false) == REQUEST_APPLICATION || sk_device_encrypts(tp))
		return;
	ack.clock_us = utc_us();
	ack.bytes = delivered_bytes(flow, tp);
	ack.sample_us = tp->rack.rtt_us;
	ack.delay_us = sk_forward_delay_us(tp, true);
	ack.min = MIN_WINDOW_SEGMENTS * tp->mss_cache;
	ack.offered = sk_is_recovering(tp) ? RIGHTSIZE_WINDOW_MAX : 0;
	if (!ack.delay_us && ack.sample_us > flow->snd.min_rtt_us)
		ack.sample_us = flow->snd.min_rtt_us; /* as at a receiver (on_ack_out()) */
	if (!may_shrink_sndbuf(flow, tp))
		ack.sample_us = 0;
	look_at_peer(&ack, &flow->snd, tp, true);
	/* RTT_CB comes once in a round trip, at times a little early. */
	if (!segment)
		ack.rtt_us -= ack.rtt_us / 4;
	did = decide(&flow->snd, &ack, true);
	if ((did & ROUND_ENDED) && count_round(t, TCPTUNED_C_SND_ROUNDS)) {
		histogram_add(&t->histogram[TCPTUNED_H_SRTT], tp->srtt_us >> 3);
		histogram_add(&t->histogram[TCPTUNED_H_QUEUE], queueing_delay_us(tp));
		histogram_add(&t->histogram[TCPTUNED_H_CWND], tp->snd_cwnd);
	}
	if (segment && !DECIDED(did))
		return;
	flow->snd_reason = rightsize_reason(&flow->snd);
	if (DECIDED(did)) {
		flow->snd_grows += DECIDED(did) == TCPTUNED_EV_RCV_GROWN;
		flow->snd_shrinks += DECIDED(did) != TCPTUNED_EV_RCV_GROWN;
		emit_event(DECIDED(did) + SEND_EVENTS, tp, flow, before, flow->snd.window);
	}
	if (flow->flags & TCPTUNED_F_OBSERVE)
		return;
	set_send_buffer(ctx, flow, tp);
	count_late_writer(flow, tp);
	set_unsent_limit(ctx, flow, tp);
}

#endif
