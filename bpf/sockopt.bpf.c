// SPDX-License-Identifier: GPL-2.0-only
/*
 * setsockopt() and getsockopt() of applications: a request for a buffer size is intercepted where a
 * policy overrides it, and reported as if it had been granted.
 */
#include "buffer_requests.h"

#define PAGE_SIZE	4096
#define RCVBUF_MIN	2304 /* SOCK_MIN_RCVBUF of include/net/sock.h on 64 bits, ... */
#define SNDBUF_MIN	4608 /* ... and SOCK_MIN_SNDBUF */

static __always_inline struct tcptuned_flow *flow_of(struct bpf_sock *sk)
{
	return bpf_sk_storage_get(&flows, sk, NULL, 0);
}

static __always_inline enum verdict verdict_of_all(const struct tcptuned_match *m, bool receive)
{
	if (m->wishes & (receive ? TCPTUNED_RCVBUF_OVERRIDDEN : TCPTUNED_SNDBUF_OVERRIDDEN))
		return OVERRIDDEN;
	if (m->wishes & (receive ? TCPTUNED_RCVBUF_OBSERVED : TCPTUNED_SNDBUF_OBSERVED))
		return OBSERVED;
	return STANDS;
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

/* What getsockopt() would say after setsockopt(@request). */
static __always_inline __s32 reported(__u32 request, __u32 min, __u32 max)
{
	if (request > max / 2)
		return max;
	return 2 * request < min ? min : 2 * request;
}

/* A buffer's size, by either option; what the kernel is going to refuse is nobody's business. */
static __always_inline bool sizes(struct bpf_sockopt *ctx, __s32 option, __s32 forced)
{
	return ctx->level == SOL_SOCKET &&
	       (ctx->optname == option || (ctx->optname == forced && kernel_may_force()));
}

/*
 * Congestion control that the application sets from now on is its own, also at the end. (Where
 * the kernel refuses the name, what it has is kept at the end, too.)
 */
static __always_inline void congestion_control_chosen(struct bpf_sock *sk)
{
	struct tcptuned_flow *flow = flow_of(sk);

	if (flow)
		flow->flags &= ~(TCPTUNED_F_CC_SET | TCPTUNED_F_CC_RESTORED);
}

SEC("cgroup/setsockopt")
int tcptuned_setsockopt(struct bpf_sockopt *ctx)
{
	struct bpf_sock *sk = ctx->sk;

	/* Only the first page of a larger option is here; 0: "take the original". */
	if (ctx->optlen > PAGE_SIZE)
		ctx->optlen = 0;
	else if (!sk || sk->protocol != IPPROTO_TCP || sk->type != SOCK_STREAM)
		;
	else if (sizes(ctx, SO_RCVBUF, SO_RCVBUFFORCE))
		override(ctx, true);
	else if (sizes(ctx, SO_SNDBUF, SO_SNDBUFFORCE))
		override(ctx, false);
	else if (ctx->level == SOL_TCP && ctx->optname == TCP_WINDOW_CLAMP)
		hands_off(ctx);
	else if (ctx->level == SOL_TCP && ctx->optname == TCP_CONGESTION)
		congestion_control_chosen(sk);
	return 1; /* never forbid */
}

/*
 * What was asked for is also what the application is told, doubled as the kernel would
 * (sock_setsockopt(); some, like iperf3, check it and give up). The sizes in force are in the
 * metrics.
 */
SEC("cgroup/getsockopt")
int tcptuned_getsockopt(struct bpf_sockopt *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcptuned_flow *flow;
	__s32 *value = ctx->optval;

	if (ctx->optlen > PAGE_SIZE) {
		ctx->optlen = 0;
		return 1;
	}
	if (ctx->level != SOL_SOCKET || (ctx->optname != SO_RCVBUF && ctx->optname != SO_SNDBUF))
		return 1;
	if (!sk || sk->protocol != IPPROTO_TCP || (void *)(value + 1) > ctx->optval_end)
		return 1;
	flow = flow_of(sk);
	if (!flow)
		return 1;
	if (ctx->optname == SO_RCVBUF && (flow->flags & TCPTUNED_F_RCVBUF_SWALLOWED))
		*value = reported(flow->req_rcvbuf, RCVBUF_MIN, flow->rcv_buffer_max);
	if (ctx->optname == SO_SNDBUF && (flow->flags & TCPTUNED_F_SNDBUF_SWALLOWED))
		*value = reported(flow->req_sndbuf, SNDBUF_MIN, flow->snd_buffer_max);
	return 1;
}

char _license[] SEC("license") = "GPL";
