// SPDX-License-Identifier: GPL-2.0-only
/*
 * setsockopt() and getsockopt() of applications. A request for a buffer size is intercepted where a
 * policy may override it, since it would end the kernel's autotuning; that for a receive buffer is
 * withheld, since it would limit the window scale. The application reads back what it requested.
 * Window clamp and congestion control, once set by the application, are left to it.
 */
#include "buffer_requests.h"
#include "events.h"

#define PAGE_SIZE   4096
#define SOL_TLS	    282
#define SO_BUF_LOCK 72 /* since 5.14 */
#define TLS_TX	    1

/* A pointer by which bpf_probe_read_kernel() can read more than the fields of struct bpf_sock. */
static __always_inline struct sock *sock_of(struct bpf_sockopt *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct sock *ret = NULL;

	bpf_probe_read_kernel(&ret, sizeof(ret), &sk);
	return ret;
}

/* True if the socket, or what it accepts, has no policy yet. */
static __always_inline bool is_unconnected(struct bpf_sockopt *ctx)
{
	return ctx->sk->state == BPF_TCP_CLOSE || ctx->sk->state == BPF_TCP_LISTEN;
}

static __always_inline enum request_action action_of_any_policy(const struct tcptuned_match *m,
								bool receive)
{
	if (m->any_policy & (receive ? TCPTUNED_RCVBUF_OVERRIDDEN : TCPTUNED_SNDBUF_OVERRIDDEN))
		return REQUEST_OVERRIDDEN;
	if (m->any_policy & (receive ? TCPTUNED_RCVBUF_OBSERVED : TCPTUNED_SNDBUF_OBSERVED))
		return REQUEST_OBSERVED;
	return REQUEST_HONOURED;
}

/* What becomes of a request on this socket, by all that is known now. */
static __always_inline enum request_action
current_action(struct sock *sk, const struct tcptuned_match *m, bool receive)
{
	__u8 state = BPF_CORE_READ(sk, __sk_common.skc_state);
	__u32 id;

	if (receive && state == BPF_TCP_LISTEN && listener_may_honour(sk, m))
		return REQUEST_HONOURED;
	if (state == BPF_TCP_LISTEN || state == BPF_TCP_CLOSE)
		return action_of_any_policy(m, receive);
	return action_of(policy_of_socket((struct tcp_sock *)sk, &id), receive);
}

/*
 * By SO_RCVBUFFORCE or SO_SNDBUFFORCE, which only an administrator's program may use, as CRIU does
 * to restore full queues.
 */
static __always_inline bool is_forced(const struct bpf_sockopt *ctx)
{
	return ctx->optname == SO_RCVBUFFORCE || ctx->optname == SO_SNDBUFFORCE;
}

/*
 * The kernel gets the request, also if tcptuned was sizing the buffer: the application sizes it
 * from now on, and a request before this one does not matter any more.
 */
static __always_inline void leave_buffer_to_application(struct bpf_sockopt *ctx, bool receive)
{
	struct tcptuned_flow *flow = is_forced(ctx) ? get_record(ctx->sk) : flow_of(ctx->sk);
	bool managed;

	if (!flow)
		return;
	managed = flow->flags & TCPTUNED_F_MANAGED;
	advance_request(flow, receive, managed || is_forced(ctx) ? REQUEST_TAKEN : REQUEST_SET,
			REQUEST_HONOURED);
	flow->flags &= ~flag_of(receive, TCPTUNED_F_RCV_SIZED);
	if (!managed) /* sized, if at all, for an earlier connection */
		return;
	if (receive && flow->rcv_clamp)
		set_option(ctx->sk, SOL_TCP, TCP_WINDOW_CLAMP, WINDOW_CLAMP_MAX);
	if (receive)
		flow->rcv_clamp = 0;
	else /* nothing will adapt it from now on */
		clear_unsent_limit(ctx->sk, flow, (struct tcp_sock *)sock_of(ctx));
	leave_budget(receive ? &flow->rcv_share : &flow->snd_share);
}

/*
 * True if an earlier SO_RCVBUF was honoured. The kernel then does not size the buffer, and would
 * not learn of the next one if that was withheld.
 */
static __always_inline bool is_rcvbuf_locked_by_application(struct bpf_sockopt *ctx)
{
	struct tcptuned_flow *flow = flow_of(ctx->sk);

	return (BPF_CORE_READ_BITFIELD_PROBED(sock_of(ctx), sk_userlocks) & SOCK_RCVBUF_LOCK) &&
	       (!flow || !(request_is_hidden(tcptuned_request(flow, true)) ||
			   (flow->flags & TCPTUNED_F_RCV_SIZED)));
}

/* True for a request that is honoured although its policy overrides requests. */
static __always_inline bool must_honour(struct bpf_sockopt *ctx, bool receive, __u32 bytes,
					enum request_action action)
{
	return bytes < REQUEST_MIN || is_forced(ctx) ||
	       (receive && action == REQUEST_OVERRIDDEN && is_rcvbuf_locked_by_application(ctx));
}

static __always_inline void emit_request_event(struct bpf_sockopt *ctx, bool receive,
					       __u32 policy_id, bool observe, __u32 bytes)
{
	struct event_args args = {
		.sk = (__u64)sock_of(ctx),
		.a = bytes,
		.b = bpf_get_current_task_btf()->tgid,
		.kind = receive ? TCPTUNED_EV_RCVBUF_OVERRIDDEN : TCPTUNED_EV_SNDBUF_OVERRIDDEN,
		.policy = policy_id,
		.flags = observe ? TCPTUNED_F_OBSERVE : 0,
	};

	emit_event_of(&args);
}

/* The kernel ignores the sign, and limits the request (sk_setsockopt()). */
static __always_inline __u32 limit_request(__s32 value, __u32 buffer_max)
{
	return (__u32)value < buffer_max / 2 ? (__u32)value : buffer_max / 2;
}

/*
 * Linux 7.1 and later set the clamp with the buffer. Before a connection this must not decide the
 * window scale, and a clamp of ours stays. A clamp of an open one would not follow the buffer until
 * the kernel enlarges that: at least what was requested may be offered.
 */
static __always_inline void set_clamp(struct bpf_sockopt *ctx, const struct tcptuned_flow *flow,
				      __u32 before)
{
	__u32 now = BPF_CORE_READ((struct tcp_sock *)sock_of(ctx), window_clamp), want = before;

	if (!is_unconnected(ctx) && !flow->rcv_clamp) {
		want = before > flow->req_rcvbuf ? before : flow->req_rcvbuf;
		want = want > now ? want : now;
	}
	if (want == now)
		return;
	if (!want && ctx->sk->state != BPF_TCP_CLOSE)
		want = WINDOW_CLAMP_MAX;
	set_option(ctx->sk, SOL_TCP, TCP_WINDOW_CLAMP, want);
}

/*
 * Gives the receive buffer that was requested at once, if it is larger than the present one.
 * bpf_setsockopt() also locks it; so the call becomes the one that takes this lock away
 * (SO_BUF_LOCK). Returns false if the kernel is to skip the call.
 */
static __always_inline bool enlarge_buffer(struct bpf_sockopt *ctx, struct tcptuned_flow *flow,
					   __s32 *request)
{
	const __u32 both = SOCK_RCVBUF_LOCK | SOCK_SNDBUF_LOCK;
	struct sock *sk = sock_of(ctx);
	__u32 bytes = flow->req_rcvbuf;
	__u32 clamp = BPF_CORE_READ((struct tcp_sock *)sk, window_clamp);
	__u32 locks = BPF_CORE_READ_BITFIELD_PROBED(sk, sk_userlocks) & both;

	if (flow->rcv_base < 2 * bytes)
		flow->rcv_base = 2 * bytes;
	if ((locks & SOCK_RCVBUF_LOCK) || 2 * bytes <= (__u32)BPF_CORE_READ(sk, sk_rcvbuf) ||
	    set_option(ctx->sk, SOL_SOCKET, SO_RCVBUF, bytes))
		return false;
	set_clamp(ctx, flow, clamp);
	ctx->optname = SO_BUF_LOCK;
	*request = locks;
	return true;
}

/*
 * Intercepts a request, unless it has to be honoured: the call succeeds for the application, and
 * the record keeps the request. The kernel does not get an SO_RCVBUF, and any SO_SNDBUF as if
 * tcptuned had not raised net.core.wmem_max.
 */
static __always_inline void handle_request(struct bpf_sockopt *ctx, bool receive)
{
	const struct tcptuned_match *m = default_match();
	const struct tcptuned_policy *policy;
	__s32 *request = ctx->optval;
	enum request_action action;
	struct tcptuned_flow *flow;
	__u32 bytes;

	if (!m || ctx->optlen < (__s32)sizeof(*request) || (void *)(request + 1) > ctx->optval_end)
		return;
	action = action_of_any_policy(m, receive);
	if (action != REQUEST_HONOURED)
		action = current_action(sock_of(ctx), m, receive);
	policy = policy_by_id(m->default_policy); /* all policies have the same buffer_max */
	if (!policy)
		return;
	bytes = limit_request(*request, receive ? policy->rcv_buffer_max : policy->snd_request_max);
	if (ctx->optname == SO_SNDBUF)
		*request = bytes;
	if (action == REQUEST_HONOURED || must_honour(ctx, receive, bytes, action)) {
		leave_buffer_to_application(ctx, receive);
		return;
	}
	flow = get_record(ctx->sk);
	if (!flow)
		return;
	if (tcptuned_request(flow, receive) == REQUEST_APPLICATION) {
		flow->flags &= ~flag_of(receive, TCPTUNED_F_RCV_SIZED);
		return;
	}
	store_request(flow, policy, receive, bytes);
	advance_request(flow, receive, receive ? REQUEST_SET : REQUEST_FOUND, action);
	if (receive && tcptuned_request(flow, true) == REQUEST_LIFTED) /* the kernel's is older */
		flow->flags |= TCPTUNED_F_RCV_LOCKED;
	if (!counts_at_connect(m, receive) || !is_unconnected(ctx))
		count_request(receive);
	emit_request_event(ctx, receive, m->default_policy, action != REQUEST_OVERRIDDEN, bytes);
	if (action != REQUEST_OVERRIDDEN)
		return;
	if (!receive) {
		flow->snd_base = 2 * bytes;
		return;
	}
	if (ctx->sk->state == BPF_TCP_LISTEN)
		keep_listener(flow, &sock_of(ctx)->__sk_common);
	if (!enlarge_buffer(ctx, flow, request))
		ctx->optlen = -1;
}

/* The whole receive buffer of an open connection, which holds data and has advertised a window. */
static __always_inline __u32 rcvbuf_in_use(struct bpf_sockopt *ctx)
{
	return is_unconnected(ctx) ? 0 : BPF_CORE_READ(sock_of(ctx), sk_rcvbuf);
}

/*
 * An application that sets the window clamp sizes its window itself from now on. It also gets the
 * SO_RCVBUF that was intercepted, or the kernel's autotuning would move the clamp.
 */
static __always_inline void on_window_clamp_set(struct bpf_sockopt *ctx)
{
	const struct tcptuned_match *m = default_match();
	struct tcptuned_flow *flow;

	if (!m || !(m->any_policy & TCPTUNED_ANY_MANAGES) || ctx->optlen < (__s32)sizeof(__s32))
		return;
	flow = get_record(ctx->sk);
	if (!flow)
		return;
	flow->rcv_clamp = 0;
	leave_budget(&flow->rcv_share);
	if (tcptuned_request(flow, true) == REQUEST_WITHHELD)
		pass_request_on(ctx->sk, flow, true, rcvbuf_in_use(ctx));
	advance_request(flow, true, REQUEST_TAKEN, REQUEST_HONOURED);
}

/*
 * The application's congestion control is its own, also at the end. If the kernel refuses the name,
 * the present one is kept at the end, too.
 */
static __always_inline void on_congestion_control_set(struct bpf_sock *sk)
{
	struct tcptuned_flow *flow = flow_of(sk);

	if (flow)
		flow->flags &= ~(TCPTUNED_F_CC_OURS | TCPTUNED_F_CC_RESTORED | TCPTUNED_F_JUMPS);
}

/* A network device may encrypt from now on, and then the sender is left to the kernel. */
static __always_inline void on_tls_set(struct bpf_sockopt *ctx)
{
	struct tcptuned_flow *flow = flow_of(ctx->sk);

	if (flow)
		clear_unsent_limit(ctx->sk, flow, (struct tcp_sock *)sock_of(ctx));
}

/*
 * True if the calling process may use SO_RCVBUFFORCE and SO_SNDBUFFORCE (sockopt_capable()). The
 * low word of a 64-bit capability mask may come first or last; no capability of the high word has
 * that bit.
 */
static __always_inline bool caller_may_force(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const struct cred *cred = BPF_CORE_READ(task, cred);
	__u32 caps[2] = {};

	bpf_core_read(caps, sizeof(caps), &cred->cap_effective);
	return ((caps[0] | caps[1]) & (1u << CAP_NET_ADMIN)) &&
	       !BPF_CORE_READ(cred, user_ns, level);
}

/* True for @option, and for @forced if the caller may use it. A call that will fail is ignored. */
static __always_inline bool is_buffer_size(struct bpf_sockopt *ctx, __s32 option, __s32 forced)
{
	return ctx->level == SOL_SOCKET &&
	       (ctx->optname == option || (ctx->optname == forced && caller_may_force()));
}

SEC("cgroup/setsockopt")
int tcptuned_setsockopt(struct bpf_sockopt *ctx)
{
	struct bpf_sock *sk = ctx->sk;

	/* Only the first page of a larger option is here; 0 lets the kernel use the original. */
	if (ctx->optlen > PAGE_SIZE)
		ctx->optlen = 0;
	else if (!sk || sk->protocol != IPPROTO_TCP || sk->type != SOCK_STREAM)
		;
	else if (is_buffer_size(ctx, SO_RCVBUF, SO_RCVBUFFORCE))
		handle_request(ctx, true);
	else if (is_buffer_size(ctx, SO_SNDBUF, SO_SNDBUFFORCE))
		handle_request(ctx, false);
	else if (ctx->level == SOL_TCP && ctx->optname == TCP_WINDOW_CLAMP)
		on_window_clamp_set(ctx);
	else if (ctx->level == SOL_TCP && ctx->optname == TCP_CONGESTION)
		on_congestion_control_set(sk);
	else if (ctx->level == SOL_TLS && ctx->optname == TLS_TX)
		on_tls_set(ctx);
	return 1; /* the call is never refused */
}

/*
 * Applications read back what they requested, doubled as by the kernel, since some, like iperf3,
 * check it and give up.
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
	if (ctx->optname == SO_RCVBUF && request_is_hidden(tcptuned_request(flow, true)))
		*value = 2 * flow->req_rcvbuf;
	if (ctx->optname == SO_SNDBUF && request_is_hidden(tcptuned_request(flow, false)))
		*value = 2 * flow->req_sndbuf;
	return 1;
}

char _license[] SEC("license") = "GPL";
