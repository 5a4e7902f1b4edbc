/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SO_RCVBUF and SO_SNDBUF of applications. A request comes before the connection is known, and
 * with it the policy. It is kept from the kernel if some policy might override it, and handed
 * on as soon as it turns out that the one in charge does not: the socket is then as if it had
 * been obeyed at once.
 */
#ifndef TCPTUNED_BPF_BUFFER_REQUESTS_H
#define TCPTUNED_BPF_BUFFER_REQUESTS_H

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

/* Is there a policy that would let it stand? */
static __always_inline bool is_disputed(const struct tcptuned_match *m, bool receive)
{
	return TCPTUNED_RULE_INDEX(receive ? m->stands_rcvbuf : m->stands_sndbuf) !=
	       TCPTUNED_RULE_NONE;
}

/*
 * An application that asks for less means it: to bound what a client may hold, or the latency.
 * Bytes as setsockopt() takes them.
 */
#define REQUEST_MIN (16u << 10)

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

#endif
