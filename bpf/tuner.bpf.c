// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic Right-Sizing on the wire: the life of a connection as its programs see it.
 *
 *   setsockopt()    an application fixes its buffers: the call is intercepted, autotuning goes on
 *   getsockopt()    returns what the application asked for
 *   connect()       the policy is known: what an earlier connection of the socket had goes
 *   listen()
 *   SYN, SYN-ACK    small first windows on paths that are remembered as slow
 *   established     callbacks are asked for, and nothing else: a short connection costs nothing
 *   an ACK leaves   once the connection has carried enough, its policy is looked up and its record
 *                   made; then at most once per millisecond: measure, and clamp the window
 *   a segment leaves  at most once per millisecond, and when a round trip ends: the same for the send
 *                   buffer and the congestion control
 *   closed          add up, remember the path
 *   destroyed       the same, where no callback reported the end
 *
 * The kernel sizes the buffers, unlocked. <tcptuned/algo/rightsize.h> decides where less window is
 * worth a try; here the socket is read and the result written.
 */
#include "buffer_requests.h"
#include "callbacks.h"
#include "claim.h"
#include "events.h"
#include "kernel.h"
#include "maps.h"
#include "paths.h"
#include "policy.h"
#include "receiver.h"
#include "sender.h"

static __always_inline struct tcptuned_flow *flow_of(struct bpf_sock *sk)
{
	return bpf_sk_storage_get(&flows, sk, NULL, 0);
}

/* ---- the first window --------------------------------------------------------------- */

/* The policy of a connection that has no socket yet; NULL: none, or its cgroup would decide. */
static __always_inline const struct tcptuned_policy *policy_by_ends(struct bpf_sock_ops *ctx)
{
	struct search_result r = { 0 };
	struct search s = {
		.local_port = ctx->local_port,
		.remote_port = bpf_ntohl(ctx->remote_port),
	};
	__u32 *local = (__u32 *)s.local, *remote = (__u32 *)s.remote;

	if (ctx->family == AF_INET6) {
		local[0] = ctx->local_ip6[0];
		local[1] = ctx->local_ip6[1];
		local[2] = ctx->local_ip6[2];
		local[3] = ctx->local_ip6[3];
		remote[0] = ctx->remote_ip6[0];
		remote[1] = ctx->remote_ip6[1];
		remote[2] = ctx->remote_ip6[2];
		remote[3] = ctx->remote_ip6[3];
		barrier(); /* or both ways are made one, with a pointer that the verifier refuses */
	} else {
		local[2] = remote[2] = bpf_htonl(0xffff);
		local[3] = ctx->local_ip4;
		remote[3] = ctx->remote_ip4;
	}
	return search_ends(&r, &s) ? policy_of(r.policy) : NULL;
}

/* Of one that is about to be opened here; NULL: none, or the window is its application's. */
static __always_inline const struct tcptuned_policy *policy_of_opened(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	const struct tcptuned_policy *policy;
	struct tcptuned_flow *flow;
	__u32 key, locks;

	if (!tp)
		return NULL;
	policy = policy_for(tp, &key);
	flow = flow_of(sk);
	if (!policy || (flow && (flow->flags & TCPTUNED_F_RCVBUF_APP)))
		return NULL;
	locks = flow ? locks_of_application(flow, tp) :
		       BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_inet.sk.sk_userlocks);
	return policy->override_rcvbuf || !(locks & SOCK_RCVBUF_LOCK) ? policy : NULL;
}

/* Does the policy of the connection to come tune? */
static __always_inline bool first_window_is_ours(struct bpf_sock_ops *ctx)
{
	const struct tcptuned_policy *policy;

	policy = ctx->is_fullsock ? policy_of_opened(ctx) : policy_by_ends(ctx);
	return policy && policy->mode == TCPTUNED_TUNE;
}

/* Start small on a path that was slow, before there is a socket that could be asked. */
verified_once int first_window(struct bpf_sock_ops *ctx)
{
	if (path_was_slow(ctx) && first_window_is_ours(ctx))
		ctx->reply = LEAST_WINDOW;
	return 0;
}

/* ---- connect(), listen() ------------------------------------------------------------- */

/* Of a connection that the socket had before: its end may not have been told (AF_UNSPEC). */
static __always_inline void end_untold(struct tcptuned_flow *flow)
{
	budget_close(flow);
	flow->flags &= ~TCPTUNED_F_CLAIMED;
}

/* What no policy has any more keeps neither a record nor the calls that it has from here. */
static __always_inline void forget(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
				   struct tcptuned_flow *flow)
{
	__u32 ours = callbacks_ours(flow);

	if (ours)
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags & ~ours);
	end_untold(flow);
	if (!bpf_sk_storage_delete(&flows, sk))
		uncount_record();
}

static __always_inline void on_connect(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
				       struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = flow_of(sk);
	const struct tcptuned_policy *policy;
	__u32 key;

	if (!flow)
		return;
	policy = policy_for(tp, &key);
	lift_unsent(ctx, flow, tp);
	settle(ctx, flow, policy, 0);
	/* Before its new route may have one of its own (tcp_ca_dst_init()). */
	restore_congestion_control(ctx, flow, tp);
	if (!policy) {
		forget(ctx, sk, flow);
		return;
	}
	flow->policy = key;
	flow->flags |= TCPTUNED_F_PLANNED;
}

/* ---- established -------------------------------------------------------------------- */

/* What a connection that no policy claims has of its listener, or of its time before. */
static __always_inline void leave_alone(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
					struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = flow_of(sk);

	if (!flow)
		return;
	settle(ctx, flow, NULL, kernel_rcvbuf_least(tp));
	forget(ctx, sk, flow);
}

/* A reload between SYN and SYN-ACK must not make a connection half one policy's, half another's. */
static __always_inline const struct tcptuned_policy *
policy_begun(struct tcptuned_flow *flow, struct tcp_sock *tp, bool passive, __u32 *ret_key)
{
	const struct tcptuned_policy *policy = NULL;

	if (flow && !passive && (flow->flags & TCPTUNED_F_PLANNED)) {
		*ret_key = flow->policy;
		policy = policy_of(*ret_key);
	}
	return policy ? policy : policy_for(tp, ret_key);
}

/* Reads what the application asked for, takes the record over, and sets the congestion control. */
static __always_inline struct tcptuned_flow *claim(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
						   struct tcp_sock *tp, bool passive)
{
	const struct tcptuned_policy *policy;
	char name[TCPTUNED_CC_NAME_MAX];
	struct tcptuned_flow *flow;
	__u32 key;

	policy = policy_begun(flow_of(sk), tp, passive, &key);
	if (!policy) {
		leave_alone(ctx, sk, tp);
		return NULL;
	}
	flow = make_record(sk);
	if (!flow)
		return NULL;
	take_note(flow, tp, policy);
	claim_flow(flow, tp, policy, key);
	if (passive)
		flow->flags |= TCPTUNED_F_PASSIVE;
	/* Before the congestion control is set: bitcp looks for its maximum when it begins. */
	path_seed(flow, tp, policy);
	if (flow->flags & TCPTUNED_F_SLOW_SEED)
		rightsize_begin_held(&flow->rcv, least_window(tp));
	event(TCPTUNED_EV_CLAIMED, tp, flow, passive, 0);
	callbacks_note(flow, ctx->bpf_sock_ops_cb_flags, CALLBACKS);
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | CALLBACKS);
	if (congestion_control_is_ours(flow, tp, policy, name) ||
	    ((flow->flags & TCPTUNED_F_LONG_PATH) &&
	     auto_congestion_control_is_ours(flow, tp, policy, name)))
		congestion_control_set(flow, tp, name,
				       bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name,
						      sizeof(name)));
	clamp_window(ctx, flow, tp, flow->rcv.window);
	count(passive ? TCPTUNED_C_CLAIMED_PASSIVE : TCPTUNED_C_CLAIMED_ACTIVE);
	return flow;
}

/*
 * A connection that has just been established costs two callbacks and nothing else, unless its
 * application's request was intercepted, a policy sets something from the start, or its path is
 * known to be slow or long. Returns whether it is to be claimed.
 */
verified_once int on_established(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	const struct tcptuned_match *m = match_anywhere();
	__u32 has = ctx->bpf_sock_ops_cb_flags;
	struct tcptuned_flow *flow;

	if (!tp)
		return 0;
	flow = flow_of(sk);
	if (!m || !(m->wishes & TCPTUNED_ANY_CLAIMS)) {
		if (flow)
			leave_alone(ctx, sk, tp);
		return 0;
	}
	if (flow || (m->wishes & TCPTUNED_AT_ESTABLISHED) || path_is_remarkable(tp))
		return 1;
	/* STATE_CB, which nothing needs yet, says that WRITE_HDR_OPT is somebody else's, too. */
	if (has & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)
		has |= BPF_SOCK_OPS_STATE_CB_FLAG;
	bpf_sock_ops_cb_flags_set(ctx, has | CALLBACKS_EARLY);
	return 0;
}

/* What listen() set is copied to all that the listener accepts (sk_clone_lock()). */
static __always_inline bool is_accepted(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.sk_max_ack_backlog;
}

/* The ACKs of an answer show how long it is: its segments, twenty more calls for 100 KB, need not. */
static __always_inline void watch_acks_only(struct bpf_sock_ops *ctx, struct tcp_sock *tp)
{
	const __u32 both = BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_STATE_CB_FLAG;
	__u32 has = ctx->bpf_sock_ops_cb_flags;

	if ((has & both) == BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG && is_accepted(tp) &&
	    ctx->bytes_acked > ctx->bytes_received + ANSWER_BYTES)
		bpf_sock_ops_cb_flags_set(ctx, has & ~BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/* Has the connection carried enough to have a record? */
static __always_inline bool is_long(struct bpf_sock_ops *ctx, struct tcp_sock *tp)
{
	if (ctx->bytes_received >= CLAIM_BYTES || ctx->bytes_acked >= CLAIM_BYTES)
		return true;
	if (ctx->op == BPF_SOCK_OPS_RTT_CB)
		watch_acks_only(ctx, tp);
	return false;
}

/*
 * Hands the connection to its policy. One that has carried enough and has no policy does without
 * its callbacks from now on.
 */
verified_once int claim_connection(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	bool passive = ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
	bool established = passive || ctx->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB;

	if (!tp)
		return 0;
	if (!established)
		passive = is_accepted(tp);
	if (!claim(ctx, sk, tp, passive) && !established)
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags & ~CALLBACKS_EARLY);
	return 0;
}

/* ---- closed ------------------------------------------------------------------------- */

static __always_inline void on_close(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct tcptuned_totals *t = totals_here();

	budget_close(flow);
	if (!t)
		return;
	count_more(t, TCPTUNED_C_CLOSED, 1);
	count_more(t, TCPTUNED_C_BYTES_RECEIVED, tp->bytes_received);
	count_more(t, TCPTUNED_C_BYTES_ACKED, tp->bytes_acked);
	count_more(t, TCPTUNED_C_SEGMENTS_SENT, tp->segs_out);
	count_more(t, TCPTUNED_C_RETRANSMITS, tp->total_retrans);
	event(TCPTUNED_EV_CLOSED, tp, flow, tp->bytes_received, tp->bytes_acked);
	count_known(t, TCPTUNED_H_MIN_RTT, kernel_min_rtt_us(tp));
	count_in(t, TCPTUNED_H_RETRANSMITS, tp->total_retrans);
	path_learn(flow, tp);
	flow->flags &= ~TCPTUNED_F_CLAIMED;
}

/* ---- the callbacks ------------------------------------------------------------------ */

/*
 * A segment leaves, or a round trip ends. Returns whether the connection is to be claimed. Like the
 * other handlers this is a function of its own, which the verifier walks once, and whose stack is
 * gone when claim_connection() needs its own.
 */
verified_once int on_traffic(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	bool segment = ctx->op == BPF_SOCK_OPS_HDR_OPT_LEN_CB;
	struct tcptuned_flow *flow;

	if (!tp)
		return 0;
	flow = flow_of(sk);
	/* A request that was intercepted once the connection was established made a record, too. */
	if (!flow || !(flow->flags & TCPTUNED_F_CLAIMED))
		return ctx->state != TCP_STATE_CLOSE && is_long(ctx, tp);
	if (segment && !(ctx->skb_len && mostly_sends(ctx))) {
		on_ack_out(ctx, flow, tp);
		return 0;
	}
	if (!segment)
		call_again(ctx, flow);
	on_sending(ctx, flow, tp, segment);
	return 0;
}

/* The socket changes its state, or a callback comes that another program asked for. */
verified_once int on_state_change(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct tcp_sock *tp = sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
	struct tcptuned_flow *flow;
	__u32 op = ctx->op;

	if (!tp)
		return 0;
	if (op == BPF_SOCK_OPS_TCP_CONNECT_CB) {
		on_connect(ctx, sk, tp);
		return 0;
	}
	flow = flow_of(sk);
	if (!flow)
		return 0;
	if (op == BPF_SOCK_OPS_TCP_LISTEN_CB) {
		end_untold(flow);
		settle_listener(ctx, flow, (struct sock *)tp);
		return 0;
	}
	/*
	 * Nothing is written before this on STATE_CB: a child whose set-up fails is closed without
	 * its lock, and may have the callback from its listener (CVE-2026-74268: 4.16 to 7.1).
	 */
	if (!(flow->flags & TCPTUNED_F_CLAIMED))
		return 0;
	if (op == BPF_SOCK_OPS_STATE_CB && ctx->args[1] == TCP_STATE_CLOSE)
		on_close(flow, tp);
	else
		call_again(ctx, flow);
	return 0;
}

SEC("sockops")
int tcptuned_sockops(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB: /* for each segment */
		/* A sender has two for each segment: this one is only to know the MSS. */
		if (ctx->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS)
			break;
		/* fall through */
	case BPF_SOCK_OPS_RTT_CB: /* for each ACK of new data */
		if (on_traffic(ctx))
			claim_connection(ctx);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (on_established(ctx))
			claim_connection(ctx);
		break;
	case BPF_SOCK_OPS_RWND_INIT:
		first_window(ctx);
		break;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
	case BPF_SOCK_OPS_STATE_CB:
	case BPF_SOCK_OPS_RETRANS_CB:
	case BPF_SOCK_OPS_RTO_CB:
		on_state_change(ctx);
		break;
	}
	return 1;
}

/*
 * The socket goes, whether or not its end was told above: its callbacks may have been taken away,
 * and nothing is attached in the midst of a stop that is killed. What it was granted comes back.
 */
SEC("tp_btf/tcp_destroy_sock")
int tcptuned_destroyed(__u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	struct tcptuned_flow *flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	struct tcp_sock *tp;

	if (!flow)
		return 0;
	tp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (tp && (flow->flags & TCPTUNED_F_CLAIMED))
		on_close(flow, tp);
	else
		budget_close(flow);
	uncount_record();
	return 0;
}

char _license[] SEC("license") = "GPL";
