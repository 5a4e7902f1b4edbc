/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SO_RCVBUF and SO_SNDBUF of applications. A request comes before the connection is known, and
 * with it the policy. It is kept from the kernel if some policy might override it, and handed
 * on as soon as it turns out that the one in charge does not: the socket is then as if it had
 * been obeyed at once.
 */
#ifndef TCPTUNED_WISHES_H
#define TCPTUNED_WISHES_H

#include "budget.h"
#include "claim.h"
#include "events.h"
#include "kernel.h"
#include "maps.h"
#include "policy.h"

#define TCP_STATE_CLOSE	 7 /* BPF_TCP_CLOSE, BPF_TCP_LISTEN */
#define TCP_STATE_LISTEN 10

enum verdict {
	STANDS,	    /* the kernel gets it */
	OBSERVED,   /* so it does, and it is counted */
	OVERRIDDEN, /* the kernel does not get it */
};

/* The flags of either buffer's request (struct tcptuned_flow). */
struct request_flags {
	__u32 asked;	 /* the application has called */
	__u32 swallowed; /* the kernel does not have it */
	__u32 obeyed;	 /* ... but had it once */
	__u32 apps;	 /* the buffer is the application's */
	__u32 locked;	 /* the buffer's lock is tcptuned's doing */
	__u32 ours;	 /* tcptuned has set its size, either of these */
};

static __always_inline struct request_flags flags_of(bool receive)
{
	struct request_flags rcvbuf = { TCPTUNED_F_RCVBUF_REQ, TCPTUNED_F_RCVBUF_SWALLOWED,
					TCPTUNED_F_RCVBUF_OBEYED, TCPTUNED_F_RCVBUF_APP,
					TCPTUNED_F_RCV_LOCKED, TCPTUNED_F_RCV_SIZED };
	struct request_flags sndbuf = { TCPTUNED_F_SNDBUF_REQ, TCPTUNED_F_SNDBUF_SWALLOWED,
					TCPTUNED_F_SNDBUF_OBEYED, TCPTUNED_F_SNDBUF_APP,
					TCPTUNED_F_SND_LOCKED, TCPTUNED_F_SND_SIZED };

	return receive ? rcvbuf : sndbuf;
}

static __always_inline enum verdict verdict_of(const struct tcptuned_policy *policy, bool receive)
{
	if (!policy || !(receive ? policy->override_rcvbuf : policy->override_sndbuf))
		return STANDS;
	return policy->mode == TCPTUNED_TUNE ? OVERRIDDEN : OBSERVED;
}

static __always_inline enum verdict verdict_of_all(const struct tcptuned_match *m, bool receive)
{
	if (m->wishes & (receive ? TCPTUNED_RCVBUF_OVERRIDDEN : TCPTUNED_SNDBUF_OVERRIDDEN))
		return OVERRIDDEN;
	if (m->wishes & (receive ? TCPTUNED_RCVBUF_OBSERVED : TCPTUNED_SNDBUF_OBSERVED))
		return OBSERVED;
	return STANDS;
}

/* Is there a policy that would let it stand? */
static __always_inline bool is_disputed(const struct tcptuned_match *m, bool receive)
{
	return TCPTUNED_RULE_INDEX(receive ? m->stands_rcvbuf : m->stands_sndbuf) !=
	       TCPTUNED_RULE_NONE;
}

/* What is to become of a request on this socket, by all that is known now. */
static __always_inline enum verdict verdict_now(struct sock *sk, const struct tcptuned_match *m,
						bool receive)
{
	__u8 state = BPF_CORE_READ(sk, __sk_common.skc_state);
	__u32 key;

	if (state == TCP_STATE_LISTEN && may_stand_at_listener(sk, m, receive))
		return STANDS;
	if (state == TCP_STATE_LISTEN || state == TCP_STATE_CLOSE)
		return verdict_of_all(m, receive);
	return verdict_of(policy_for((struct tcp_sock *)sk, &key), receive);
}

/* The kernel's memory can be read through a number, of a context's socket only fields. */
static __always_inline struct sock *sock_of(struct bpf_sockopt *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct sock *ret = NULL;

	bpf_probe_read_kernel(&ret, sizeof(ret), &sk);
	return ret;
}

/* Where it is disputed it is counted when it is settled. */
static __always_inline void count_request(const struct tcptuned_match *m, bool receive)
{
	if (!is_disputed(m, receive))
		count(receive ? TCPTUNED_C_RCVBUF_OVERRIDDEN : TCPTUNED_C_SNDBUF_OVERRIDDEN);
}

/* The largest that TCP can express: the buffer alone says then what the window may be. */
static __always_inline void lift_clamp(struct bpf_sockopt *ctx)
{
	int none = 65535 << 14;

	bpf_setsockopt(ctx->sk, SOL_TCP, TCP_WINDOW_CLAMP, &none, sizeof(none));
}

/*
 * The kernel gets it, also of a connection that is being sized: from now on it is left alone, and
 * a request before it, which was intercepted, is of no account.
 */
static __always_inline void stands(struct bpf_sockopt *ctx, bool receive)
{
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, ctx->sk, NULL, 0);
	struct request_flags its = flags_of(receive);

	if (!flow)
		return;
	flow->flags &= ~(its.asked | its.swallowed | its.obeyed);
	if (!(flow->flags & TCPTUNED_F_CLAIMED)) { /* of a connection before, if at all */
		flow->flags &= ~its.ours;
		return;
	}
	if (receive && !(flow->flags & TCPTUNED_F_RCVBUF_APP) &&
	    flow->rcv_clamp)
		lift_clamp(ctx);
	flow->flags &= ~its.ours;
	flow->flags |= its.apps;
	budget_give_up(receive ? &flow->rcv_share : &flow->snd_share);
}

/* The kernel takes it without its sign, and up to its limit (sk_setsockopt()). */
static __always_inline __u32 request_of(__s32 value, __u32 buffer_max)
{
	return (__u32)value < buffer_max / 2 ? (__u32)value : buffer_max / 2;
}

/*
 * SO_RCVBUFFORCE and SO_SNDBUFFORCE may ask for more than could be handed on later, by the plain
 * option: where a policy may let it stand, it does at once.
 */
static __always_inline bool is_beyond(const struct bpf_sockopt *ctx, const struct tcptuned_match *m,
				      bool receive, __u32 request, __u32 buffer_max)
{
	return ctx->optname == (receive ? SO_RCVBUFFORCE : SO_SNDBUFFORCE) &&
	       request > buffer_max / 2 && is_disputed(m, receive);
}

/*
 * An application that asks for less means it: to bound what a client may hold, or the latency.
 * Bytes as setsockopt() takes them.
 */
#define REQUEST_MIN (16u << 10)

/*
 * Has the application fixed the buffer with a request that stood? The kernel does not size it any
 * more, and would not learn of the next request if that was intercepted.
 */
static __always_inline bool is_fixed_by_application(struct bpf_sockopt *ctx, bool receive)
{
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, ctx->sk, NULL, 0);
	__u32 lock = receive ? SOCK_RCVBUF_LOCK : SOCK_SNDBUF_LOCK;
	struct request_flags its = flags_of(receive);

	return (BPF_CORE_READ_BITFIELD_PROBED(sock_of(ctx), sk_userlocks) & lock) &&
	       (!flow || !(flow->flags & (its.swallowed | its.ours)));
}

/*
 * An application's SO_RCVBUF would end the kernel's autotuning of that socket and bound its
 * window scale. Skipping the call (optlen -1) leaves the socket as it was and tells the
 * application that it succeeded. The request is kept in the socket's record.
 */
static __always_inline void override(struct bpf_sockopt *ctx, bool receive)
{
	const struct tcptuned_match *m = match_anywhere();
	const struct tcptuned_policy *policy;
	__s32 *request = ctx->optval;
	struct tcptuned_flow *flow;
	enum verdict verdict;
	__u32 asked;

	if (!m || ctx->optlen < (__s32)sizeof(*request) ||
	    (void *)(request + 1) > ctx->optval_end)
		return;
	verdict = verdict_of_all(m, receive);
	if (verdict != STANDS)
		verdict = verdict_now(sock_of(ctx), m, receive);
	policy = policy_of(m->default_policy); /* any: all have the same buffer_max */
	if (verdict == STANDS || !policy || (*request >= 0 && (__u32)*request < REQUEST_MIN) ||
	    is_beyond(ctx, m, receive, *request,
		      receive ? policy->rcv_buffer_max : policy->snd_buffer_max) ||
	    (verdict == OVERRIDDEN && is_fixed_by_application(ctx, receive))) {
		stands(ctx, receive);
		return;
	}
	flow = make_record(ctx->sk);
	if (!flow)
		return;
	if (receive && (flow->flags & TCPTUNED_F_RCVBUF_APP)) {
		flow->flags &= ~flags_of(receive).ours;
		return;
	}
	if (receive) {
		asked = request_of(*request, policy->rcv_buffer_max);
		flow->req_rcvbuf = asked;
		flow->rcv_buffer_max = policy->rcv_buffer_max;
	} else {
		asked = request_of(*request, policy->snd_buffer_max);
		flow->req_sndbuf = asked;
		flow->snd_buffer_max = policy->snd_buffer_max;
	}
	flow->flags |= flags_of(receive).asked;
	count_request(m, receive);
	event_of_call(receive ? TCPTUNED_EV_RCVBUF_OVERRIDDEN : TCPTUNED_EV_SNDBUF_OVERRIDDEN,
		      ctx->sk, m->default_policy, verdict != OVERRIDDEN, asked);
	if (verdict != OVERRIDDEN)
		return;
	flow->flags |= flags_of(receive).swallowed;
	ctx->optlen = -1;
}

/*
 * Let the kernel have what it did not get. @ctx: whatever bpf_setsockopt() takes. @least:
 * kernel_rcvbuf_least() of a receive buffer; 0: nothing was promised yet.
 */
static __always_inline void hand_on(void *ctx, struct tcptuned_flow *flow, bool receive,
				    __u32 least)
{
	struct request_flags its = flags_of(receive);
	int value = receive ? flow->req_rcvbuf : flow->req_sndbuf;

	if (receive && value < (int)(least / 2))
		value = least / 2;
	/* What was sized since is not what the kernel once had. */
	if ((flow->flags & its.swallowed) &&
	    (!(flow->flags & its.obeyed) || (flow->flags & its.locked))) {
		bpf_setsockopt(ctx, SOL_SOCKET, receive ? SO_RCVBUF : SO_SNDBUF, &value,
			       sizeof(value));
		flow->flags &= ~its.locked;
	}
	flow->flags &= ~its.swallowed;
}

/* Overridden from now on, though the kernel did get it: its policy, if any, only observed then. */
static __always_inline void override_late(struct tcptuned_flow *flow, bool receive)
{
	flow->flags |= flags_of(receive).swallowed | flags_of(receive).obeyed;
}

static __always_inline void take_note_of_one(struct tcptuned_flow *flow,
					     const struct tcptuned_policy *policy, bool receive,
					     __u32 has)
{
	struct request_flags its = flags_of(receive);

	if (!(receive ? policy->override_rcvbuf : policy->override_sndbuf) ||
	    (flow->flags & (its.asked | its.apps)))
		return;
	if (has / 2 < REQUEST_MIN) {
		flow->flags |= its.apps;
		return;
	}
	if (receive) {
		flow->req_rcvbuf = has / 2; /* the kernel doubled it */
		flow->rcv_buffer_max = policy->rcv_buffer_max;
	} else {
		flow->req_sndbuf = has / 2;
		flow->snd_buffer_max = policy->snd_buffer_max;
	}
	flow->flags |= its.asked;
	if (policy->mode == TCPTUNED_TUNE)
		override_late(flow, receive);
	count(receive ? TCPTUNED_C_RCVBUF_OVERRIDDEN : TCPTUNED_C_SNDBUF_OVERRIDDEN);
}

/* @locks: locks_of_application(); @rcvbuf, @sndbuf: what the socket has, bytes of memory */
verified_once int take_note_of_requests(struct tcptuned_flow *flow,
					const struct tcptuned_policy *policy, __u32 locks,
					__u32 rcvbuf, __u32 sndbuf)
{
	if (!flow || !policy)
		return 0;
	if (locks & SOCK_RCVBUF_LOCK)
		take_note_of_one(flow, policy, true, rcvbuf);
	if (locks & SOCK_SNDBUF_LOCK)
		take_note_of_one(flow, policy, false, sndbuf);
	return 0;
}

/* What the application asked for of @tp before tcptuned could see it. */
static __always_inline void take_note(struct tcptuned_flow *flow, struct tcp_sock *tp,
				      const struct tcptuned_policy *policy)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;

	take_note_of_requests(flow, policy, locks_of_application(flow, tp), sk->sk_rcvbuf,
			      sk->sk_sndbuf);
}

static __always_inline void settle_one(void *ctx, struct tcptuned_flow *flow,
				       const struct tcptuned_match *m,
				       const struct tcptuned_policy *policy, bool receive,
				       __u32 least)
{
	struct request_flags its = flags_of(receive);
	enum verdict verdict = verdict_of(policy, receive);

	if (!(flow->flags & its.asked))
		return;
	if (verdict != OVERRIDDEN)
		hand_on(ctx, flow, receive, least);
	else if (!(flow->flags & its.swallowed))
		override_late(flow, receive);
	if (verdict == STANDS)
		flow->flags &= ~its.asked;
	else if (m && is_disputed(m, receive) && !(flow->flags & TCPTUNED_F_PLANNED))
		count(receive ? TCPTUNED_C_RCVBUF_OVERRIDDEN : TCPTUNED_C_SNDBUF_OVERRIDDEN);
}

/*
 * The connection is @policy's (NULL: nobody's): what does that one say to its requests? A socket
 * that is refused and tries again is settled again, but counted once. @least: as for hand_on().
 */
verified_once int settle(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
			 const struct tcptuned_policy *policy, __u32 least)
{
	const struct tcptuned_match *m = match_anywhere();

	if (!flow)
		return 0;
	settle_one(ctx, flow, m, policy, true, least);
	settle_one(ctx, flow, m, policy, false, 0);
	return 0;
}

/* A request that was only observed, of a connection whose policy tunes now. */
static __always_inline void settle_observed(struct tcptuned_flow *flow,
					    const struct tcptuned_policy *policy, bool receive)
{
	struct request_flags its = flags_of(receive);

	if ((flow->flags & (its.asked | its.swallowed)) != its.asked)
		return;
	switch (verdict_of(policy, receive)) {
	case OVERRIDDEN:
		override_late(flow, receive);
		break;
	case STANDS:
		flow->flags &= ~its.asked;
		flow->flags |= its.apps;
		break;
	case OBSERVED:
		break;
	}
}

/*
 * A listener's buffer decides on the window scale of what it accepts, before it is known whose
 * that will be. Where any policy of its connections lets the request stand, it stands.
 */
static __always_inline void settle_listener(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					    struct sock *sk)
{
	const struct tcptuned_match *m = match_anywhere();

	if (!m || may_stand_at_listener(sk, m, true))
		hand_on(ctx, flow, true, 0);
	if (!m || may_stand_at_listener(sk, m, false))
		hand_on(ctx, flow, false, 0);
}

/* Of an open connection's receive buffer, all: it has promised some, and holds some. */
static __always_inline __u32 rcvbuf_promised(struct bpf_sock *sk)
{
	int have = 0;

	if (sk->state == BPF_TCP_CLOSE || sk->state == BPF_TCP_LISTEN ||
	    bpf_getsockopt(sk, SOL_SOCKET, SO_RCVBUF, &have, sizeof(have)))
		return 0;
	return have;
}

/*
 * An application that sets its window clamp knows what it wants: leave its window alone, and
 * give it the SO_RCVBUF that it was refused, or the kernel's autotuning would move the clamp.
 */
static __always_inline void hands_off(struct bpf_sockopt *ctx)
{
	const struct tcptuned_match *m = match_anywhere();
	struct tcptuned_flow *flow;

	if (!m || !(m->wishes & TCPTUNED_ANY_CLAIMS) || ctx->optlen < (__s32)sizeof(__s32))
		return;
	flow = make_record(ctx->sk);
	if (!flow)
		return;
	flow->flags |= TCPTUNED_F_RCVBUF_APP;
	flow->rcv_clamp = 0;
	budget_give_up(&flow->rcv_share);
	if (!(flow->flags & TCPTUNED_F_RCVBUF_SWALLOWED))
		return;
	if (!(flow->flags & TCPTUNED_F_RCVBUF_OBEYED))
		hand_on(ctx->sk, flow, true, rcvbuf_promised(ctx->sk));
	flow->flags &= ~(TCPTUNED_F_RCVBUF_REQ | TCPTUNED_F_RCVBUF_SWALLOWED |
			 TCPTUNED_F_RCVBUF_OBEYED);
}

#endif
