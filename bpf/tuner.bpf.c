// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a connection, as the sockops program sees it:
 *
 *   connect()       the policy is known; what an earlier connection has left is removed
 *   listen()        an SO_RCVBUF that was withheld is passed on, or kept for what is accepted
 *   SYN, SYN-ACK    a small initial window on a path that is remembered as slow; a large one to ask
 *                   a host that has sent much
 *   established     two callbacks are requested, and nothing else: a short connection takes no
 *                   memory
 *   an ACK leaves   once the connection has carried enough, its policy is looked up and its record
 *                   created; then, at most once per millisecond, the receive window is adjusted
 *   a round trip ends
 *                   likewise for the send buffer and the congestion control; while a queue may
 *                   stand, also when a segment leaves (callbacks.h)
 *   closed          totals are added up, and the path is remembered
 *   destroyed       the same, if no callback has reported the end
 *
 * The kernel sizes the buffers. <tcptuned/algo/rightsize.h> decides where less window is worth a
 * test; these programs read the socket and write the result.
 */
#include "buffer_requests.h"
#include "callbacks.h"
#include "cc_auto.h"
#include "congestion_control.h"
#include "events.h"
#include "outcomes.h"
#include "paths.h"
#include "policy.h"
#include "receiver.h"
#include "record.h"
#include "sender.h"

/* ---- the initial window -------------------------------------------------------------- */

/* The policy of a connection that has no socket yet; NULL: none, or its cgroup would decide. */
static __always_inline const struct tcptuned_policy *policy_by_addresses(struct bpf_sock_ops *ctx)
{
	struct rule_search s = {
		.local_port = ctx->local_port,
		.remote_port = bpf_ntohl(ctx->remote_port),
	};

	sock_ops_endpoints(ctx, &s.ends);
	return search_ends(&s) ? policy_by_id(s.policy) : NULL;
}

/* The policy of a socket that connects; NULL: none, or the application sizes the window. */
static __always_inline const struct tcptuned_policy *policy_of_connecting(struct bpf_sock_ops *ctx)
{
	struct tcp_sock *tp = tcp_sock_of(ctx);
	const struct tcptuned_policy *policy;
	struct tcptuned_flow *flow;
	__u32 id, locks;

	if (!tp)
		return NULL;
	policy = policy_of_socket(tp, &id);
	flow = flow_of(tp);
	if (!policy || (flow && tcptuned_request(flow, true) == REQUEST_APPLICATION))
		return NULL;
	locks = flow ? application_locks(flow, tp) : sk_buffer_locks(tp);
	return policy->override_rcvbuf || !(locks & SOCK_RCVBUF_LOCK) ? policy : NULL;
}

/*
 * Makes the receive buffer larger, without a lock (tcp_set_rcvlowat()), before the handshake
 * derives the first window from it (tcp_select_initial_window()). Later a receiver opens by twice
 * what arrives, and a jump would have to wait for that.
 */
static __always_inline void open_window(struct bpf_sock_ops *ctx, struct tcp_sock *tp,
					const struct tcptuned_policy *policy, __u32 window)
{
	int before = tp->inet_conn.icsk_inet.sk.sk_rcvlowat;

	window = min_limit(window, min_limit(policy->rcv_kernel_max / 2, policy->rcv_window_max));
	if (window <= INITIAL_WINDOW_BYTES || tp->window_clamp || tcp_memory_is_short(tp))
		return;
	set_option(ctx, SOL_SOCKET, SO_RCVLOWAT, window);
	set_option(ctx, SOL_SOCKET, SO_RCVLOWAT, before);
	/* Kernels before 6.18 set the clamp, too, from which the window scale would follow. */
	if (tp->window_clamp)
		set_option(ctx, SOL_TCP, TCP_WINDOW_CLAMP, WINDOW_CLAMP_MAX);
}

/*
 * Begins with a small window on a path that was slow, where the policy tunes. No sender begins with
 * more, and an advertised window could not be shrunk later. A client begins with a large one if the
 * host has sent much before.
 */
__bpf_global int set_initial_window(struct bpf_sock_ops *ctx)
{
	const struct tcptuned_policy *policy;
	struct tcp_sock *tp = ctx->is_fullsock ? tcp_sock_of(ctx) : NULL;
	__u32 window = path_window(ctx);

	if (!window)
		return 0;
	policy = tp ? policy_of_connecting(ctx) : policy_by_addresses(ctx);
	if (!policy || policy->mode != TCPTUNED_TUNE)
		return 0;
	if (window == PATH_WINDOW_SLOW)
		ctx->reply = MIN_WINDOW_SEGMENTS;
	else if (tp)
		open_window(ctx, tp, policy, window);
	return 0;
}

/* ---- connect(), listen() ------------------------------------------------------------- */

/* Ends an earlier connection of the socket, whose end may not have been reported (AF_UNSPEC). */
static __always_inline void end_earlier_connection(struct tcptuned_flow *flow)
{
	leave_budgets(flow);
	flow->flags &= ~TCPTUNED_F_MANAGED;
}

/* Removes the record and tcptuned's callbacks from a socket that no policy manages any more. */
static __always_inline void stop_managing(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					  struct tcp_sock *tp)
{
	__u32 own = own_callbacks(flow);

	if (own)
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags & ~own);
	end_earlier_connection(flow);
	delete_record(tp);
}

static __always_inline void on_connect(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				       struct tcp_sock *tp)
{
	const struct tcptuned_policy *policy;
	__u32 id;

	policy = policy_of_socket(tp, &id);
	clear_unsent_limit(ctx, flow, tp);
	resolve_requests(ctx, flow, policy, 0);
	/* The new route may have a congestion control of its own (tcp_ca_dst_init()). */
	restore_cc(ctx, flow, tp);
	bpf_sk_storage_delete(&random_losses, tp);
	if (!policy) {
		stop_managing(ctx, flow, tp);
		return;
	}
	flow->policy = id;
	flow->flags |= TCPTUNED_F_POLICY_CHOSEN;
}

/*
 * A listener's buffer determines the window scale of what it accepts, before the policy of that is
 * known. So a request is honoured if any policy of its connections honours it.
 */
static __always_inline void on_listen(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				      struct tcp_sock *tp)
{
	const struct tcptuned_match *m = default_match();

	if (flow)
		end_earlier_connection(flow);
	if (flow && (!m || listener_may_honour((struct sock *)tp, m)))
		pass_request_on(ctx, flow, true, 0);
	keep_listener(flow, &tp->inet_conn.icsk_inet.sk.__sk_common);
}

/* ---- established -------------------------------------------------------------------- */

/* Leaves a connection to the kernel, with the requests of its application: no policy manages it. */
static __always_inline void leave_to_kernel(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					    struct tcp_sock *tp)
{
	if (!flow)
		return;
	resolve_requests(ctx, flow, NULL, sk_min_rcvbuf(tp));
	stop_managing(ctx, flow, tp);
}

/* The policy that connect() has chosen, so that a reload during the handshake does not mix two. */
static __always_inline const struct tcptuned_policy *
policy_of_handshake(struct tcptuned_flow *flow, struct tcp_sock *tp, bool passive, __u32 *ret_id)
{
	const struct tcptuned_policy *policy = NULL;

	if (flow && !passive && (flow->flags & TCPTUNED_F_POLICY_CHOSEN)) {
		*ret_id = flow->policy;
		policy = policy_by_id(*ret_id);
	}
	return policy ? policy : policy_of_socket(tp, ret_id);
}

/* The kernel's CUBIC becomes that of cc/cubic_resume.bpf.c, if the policy's choice is automatic. */
__bpf_global int resume_cubic(struct bpf_sock_ops *ctx)
{
	struct tcp_sock *tp = tcp_sock_of(ctx);
	struct tcptuned_flow *flow = tp ? flow_of(tp) : NULL;
	const struct tcptuned_policy *policy;
	char name[TCPTUNED_CC_NAME_MAX] = {};

	if (!flow)
		return 0;
	policy = policy_by_id(flow->policy);
	read_cc_name(name, tp);
	if (!policy || policy->mode != TCPTUNED_TUNE || !policy->cc_resume[0] ||
	    !is_same_name(name, CC_NAME("cubic")) || is_cc_chosen(flow, tp))
		return 0;
	__builtin_memcpy(name, policy->cc_resume, sizeof(name));
	if (!set_cc(ctx, flow, tp, name)) /* not for good: the path may have room */
		flow->flags ^= TCPTUNED_F_CC_OURS;
	return 0;
}

/* An ACK arrives after a jump may have begun. */
__bpf_global int after_jump(struct bpf_sock_ops *ctx)
{
	struct tcp_sock *tp = tcp_sock_of(ctx);
	struct tcptuned_flow *flow = tp ? flow_of(tp) : NULL;

	if (flow)
		settle_jump(flow, tp);
	return 0;
}

/* True for the first segment after a pause if the kernel's window is less than the path carried. */
static __always_inline bool forgets_window(const struct tcptuned_flow *flow,
					   const struct tcp_sock *tp)
{
	return sk_paused(tp) && !(flow->flags & TCPTUNED_F_CC_OURS) && sk_pipe(tp) > tp->snd_cwnd;
}

/* Where it is the default, bitcp begins, and takes the jump, after this (tcp_init_transfer()). */
static __always_inline bool is_bitcp_to_begin(struct tcp_sock *tp)
{
	char now[TCPTUNED_CC_NAME_MAX] = {};

	read_cc_name(now, tp);
	return is_bitcp(now) && !BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_initialized);
}

/*
 * Creates the record, requests callbacks beside those that the socket @has, and sets the congestion
 * control. False: no policy.
 */
static __always_inline bool manage(struct bpf_sock_ops *ctx, struct tcp_sock *tp, bool passive,
				   __u32 has)
{
	struct tcptuned_flow *flow = flow_of(tp);
	const struct tcptuned_policy *policy;
	char name[TCPTUNED_CC_NAME_MAX];
	__u32 id;

	policy = policy_of_handshake(flow, tp, passive, &id);
	if (!policy) {
		leave_to_kernel(ctx, flow, tp);
		return false;
	}
	flow = get_record(tp);
	if (!flow)
		return false;
	if (passive)
		record_listener(flow, tp);
	record_earlier_requests(flow, tp, policy);
	init_record(flow, tp, policy, id);
	if (passive)
		flow->flags |= TCPTUNED_F_PASSIVE;
	if (id & TCPTUNED_POLICY_HELD_BACK)
		honour_listener(ctx, flow, sk_min_rcvbuf(tp));
	begin_trial(tp, policy, id);
	apply_path_memory(flow, tp);
	if (flow->flags & TCPTUNED_F_SLOW_SEED)
		rightsize_begin_held(&flow->rcv, min_window(tp));
	emit_event(TCPTUNED_EV_MANAGED, tp, flow, passive, 0);
	note_callbacks(flow, has, CALLBACKS);
	bpf_sock_ops_cb_flags_set(ctx, has | CALLBACKS);
	if (may_set_policy_cc(flow, tp, policy, name))
		set_cc(ctx, flow, tp, name);
	else if (flow->jump_seed)
		resume_cubic(ctx);
	/* The congestion control is one that does not jump. */
	if (flow->jump_seed && !is_bitcp_to_begin(tp)) {
		flow->jump_seed = 0;
		flow->flags &= ~TCPTUNED_F_JUMPS;
	}
	clamp_window(ctx, flow, tp, flow->rcv.window);
	count(passive ? TCPTUNED_C_MANAGED_PASSIVE : TCPTUNED_C_MANAGED_ACTIVE);
	return true;
}

/*
 * Returns whether a connection that has just been established needs its record at once: its
 * application's request, or its listener's, was intercepted, a policy sets something from the
 * start, another program has requested callbacks, or its path is remembered as slow or long. Any
 * other one gets two callbacks, and nothing else.
 */
__bpf_global int on_established(struct bpf_sock_ops *ctx)
{
	struct tcp_sock *tp = tcp_sock_of(ctx);
	const struct tcptuned_match *m = default_match();
	struct tcptuned_flow *flow;

	if (!tp)
		return 0;
	flow = flow_of(tp);
	if (!m || !(m->any_policy & TCPTUNED_ANY_MANAGES)) {
		leave_to_kernel(ctx, flow, tp);
		return 0;
	}
	if (flow || ctx->bpf_sock_ops_cb_flags || (m->any_policy & TCPTUNED_AT_ESTABLISHED) ||
	    path_needs_record(tp))
		return 1;
	if ((m->any_policy & TCPTUNED_ANY_HOLDS_BACK) &&
	    ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB && listener_of(tp))
		return 1; /* which is honoured if the connection is held back */
	bpf_sock_ops_cb_flags_set(ctx, with_early(ctx->bpf_sock_ops_cb_flags));
	return 0;
}

/* Whatever listen() set is copied to the sockets that the listener accepts (sk_clone_lock()). */
static __always_inline bool is_accepted(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.sk_max_ack_backlog;
}

/* An accepted connection that has sent so much more than it received answers requests. */
#define ANSWER_BYTES 4096u

/*
 * The ACKs of an answer show how long it is, so that its segments, twenty more callbacks for 100
 * KB, need not be examined while more of it leaves (sends_more()): an upload may follow. STATE_CB
 * marks a WRITE_HDR_OPT that is another program's.
 */
static __always_inline void watch_acks_only(struct bpf_sock_ops *ctx, struct tcp_sock *tp)
{
	__u32 has = ctx->bpf_sock_ops_cb_flags, wanted = has | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;

	if ((has & BPF_SOCK_OPS_STATE_CB_FLAG) || !is_accepted(tp))
		return;
	if (sends_more(tp) && ctx->bytes_acked > ctx->bytes_received + ANSWER_BYTES)
		wanted &= ~BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	if (wanted != has)
		bpf_sock_ops_cb_flags_set(ctx, wanted);
}

/* True if the connection has carried enough to have a record. */
static __always_inline bool has_carried_enough(struct bpf_sock_ops *ctx, struct tcp_sock *tp)
{
	if ((ctx->bpf_sock_ops_cb_flags & CB_STATE_RTT) == BPF_SOCK_OPS_STATE_CB_FLAG)
		return false; /* manage_connection() has left it to another program */
	if (ctx->bytes_received >= CARRIED_MIN || ctx->bytes_acked >= CARRIED_MIN)
		return true;
	if (ctx->op == BPF_SOCK_OPS_RTT_CB)
		watch_acks_only(ctx, tp);
	return false;
}

/*
 * Manages the connection, or removes the early callbacks if no policy wants it; another program's
 * WRITE_HDR_OPT stays, and so does its mark.
 */
__bpf_global int manage_connection(struct bpf_sock_ops *ctx)
{
	struct tcp_sock *tp = tcp_sock_of(ctx);
	bool passive = ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
	bool established = passive || ctx->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB;
	__u32 has = ctx->bpf_sock_ops_cb_flags;

	if (!tp)
		return 0;
	if (!established) {
		passive = is_accepted(tp);
		has = without_early(has);
	}
	if (!manage(ctx, tp, passive, has) && !established)
		bpf_sock_ops_cb_flags_set(ctx, has & ~BPF_SOCK_OPS_RTT_CB_FLAG);
	return 0;
}

/* ---- closed ------------------------------------------------------------------------- */

static __always_inline void on_close(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct tcptuned_waits waits = sk_waits(tp, bpf_jiffies64());
	struct tcptuned_totals *t = single_value(&totals);
	bool observed = flow->flags & TCPTUNED_F_OBSERVE;
	enum tcptuned_counter first = observed ? TCPTUNED_C_WAITS_OBSERVED : TCPTUNED_C_WAITS;

	leave_budgets(flow);
	if (!t)
		return;
	add_count(t, TCPTUNED_C_CLOSED, 1);
	add_count(t, first, waits.busy);
	add_count(t, first + 1, waits.rwnd);
	add_count(t, first + 2, waits.sndbuf);
	emit_event(TCPTUNED_EV_CLOSED, tp, flow, tp->bytes_received, tp->bytes_acked);
	if (sk_min_rtt_us(tp))
		histogram_add(&t->histogram[TCPTUNED_H_MIN_RTT], sk_min_rtt_us(tp));
	histogram_add(&t->histogram[TCPTUNED_H_RETRANSMITS], tp->total_retrans);
	learn_path(flow, tp);
	end_trial(flow, tp, &waits);
	flow->flags &= ~TCPTUNED_F_MANAGED;
	add_traffic(flow->policy, tp, true);
}

/* ---- the callbacks ------------------------------------------------------------------ */

/* Requests the callbacks that are needed now, and those again that another program has removed. */
__bpf_global int update_callbacks(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow)
{
	__u32 has = ctx->bpf_sock_ops_cb_flags, wanted, unused;
	struct tcp_sock *tp = tcp_sock_of(ctx);

	if (!tp || !flow)
		return 0;
	wanted = callbacks_of(flow, tp);
	unused = own_callbacks(flow) & ~wanted;	    /* WRITE_HDR_OPT at most: ... */
	flow->flags &= ~(unused << CB_WRITE_SHIFT); /* ... the next one is another program's */
	if ((has & (wanted | unused)) == wanted)
		return 0;
	note_callbacks(flow, has, wanted);
	bpf_sock_ops_cb_flags_set(ctx, (has | wanted) & ~unused);
	if ((has & CB_STATE_RTT) != CB_STATE_RTT)
		count(TCPTUNED_C_CALLBACKS_AGAIN);
	return 0;
}

/*
 * A segment leaves, or a round trip ends. Returns whether the connection is to be managed from now
 * on. It is a global function also because its stack is free when manage_connection() needs one.
 */
__bpf_global int on_traffic(struct bpf_sock_ops *ctx)
{
	struct tcp_sock *tp = tcp_sock_of(ctx);
	bool segment = ctx->op == BPF_SOCK_OPS_HDR_OPT_LEN_CB;
	struct tcptuned_flow *flow;

	if (!tp)
		return 0;
	flow = flow_of(tp);
	/* A request that was intercepted after the handshake has created a record, too. */
	if (!flow || !(flow->flags & TCPTUNED_F_MANAGED))
		return ctx->state != BPF_TCP_CLOSE && has_carried_enough(ctx, tp);
	if (segment && ctx->skb_len && forgets_window(flow, tp))
		resume_cubic(ctx);
	if (!segment && (flow->flags & TCPTUNED_F_JUMPS))
		after_jump(ctx);
	if (!segment && !(flow->flags & TCPTUNED_F_OBSERVE) &&
	    (has_started(tp) || (flow->flags & TCPTUNED_F_CC_SET)) && choose_cc(ctx))
		resume_cubic(ctx);
	if (!segment || (ctx->skb_len && mostly_sends(tp)))
		on_sending(ctx, flow, tp, segment);
	else if (!on_ack_out(ctx, flow, tp))
		return 0;
	update_callbacks(ctx, flow);
	return 0;
}

/* The socket changes its state, or a callback arrives that another program has requested. */
__bpf_global int on_state_change(struct bpf_sock_ops *ctx)
{
	struct tcp_sock *tp = tcp_sock_of(ctx);
	struct tcptuned_flow *flow = tp ? flow_of(tp) : NULL;
	__u32 op = ctx->op;

	if (tp && op == BPF_SOCK_OPS_TCP_LISTEN_CB)
		on_listen(ctx, flow, tp);
	if (!flow || op == BPF_SOCK_OPS_TCP_LISTEN_CB)
		return 0;
	if (op == BPF_SOCK_OPS_TCP_CONNECT_CB) {
		on_connect(ctx, flow, tp);
		return 0;
	}
	/*
	 * Nothing is written before this on STATE_CB: a child whose set-up fails is closed without
	 * its lock, and may have the callback from its listener (CVE-2026-74268: 4.16 to 7.1).
	 */
	if (!(flow->flags & TCPTUNED_F_MANAGED))
		return 0;
	if (op == BPF_SOCK_OPS_STATE_CB && ctx->args[1] == BPF_TCP_CLOSE)
		on_close(flow, tp);
	else
		update_callbacks(ctx, flow);
	return 0;
}

SEC("sockops")
int tcptuned_sockops(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB: /* for each segment */
		/* A sender gets two of them for each segment: this one only computes the MSS. */
		if (ctx->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS || !ctx->is_fullsock)
			break;
		/* fall through */
	case BPF_SOCK_OPS_RTT_CB: /* for each ACK of new data */
		if (on_traffic(ctx))
			manage_connection(ctx);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (on_established(ctx))
			manage_connection(ctx);
		break;
	case BPF_SOCK_OPS_RWND_INIT:
		set_initial_window(ctx);
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
 * A socket is destroyed, whether or not its end was reported: its callbacks may have been removed,
 * and a stop that was killed leaves no program attached. Its grants are returned to the budget.
 * During an upgrade two of these programs run one after the other; the second one finds no record.
 */
SEC("tp_btf/tcp_destroy_sock")
int tcptuned_destroyed(__u64 *args)
{
	struct sock *sk = (struct sock *)args[0];
	struct tcptuned_flow *flow = flow_of(sk);
	struct tcp_sock *tp;

	if (!flow)
		return 0;
	tp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	if (tp && (flow->flags & TCPTUNED_F_MANAGED))
		on_close(flow, tp);
	else
		leave_budgets(flow);
	delete_record(sk);
	return 0;
}

char _license[] SEC("license") = "GPL";
