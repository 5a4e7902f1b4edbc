// SPDX-License-Identifier: GPL-2.0-only
/*
 * Iterators over the sockets of a network namespace, run by the daemon:
 *
 *   adopt_flows     at the start: manages connections that were open before
 *   apply_policies  after a change: gives open connections the policy that they would get now
 *   reclaim_idle    returns what idle connections do not use to the budget
 *   recall_flows    requests callbacks again that another program has removed
 *   undo_overrides, release_flows
 *                   at a clean stop: give connections back to the kernel
 */
#include "budget.h"
#include "buffer_requests.h"
#include "callbacks.h"
#include "congestion_control.h"
#include "policy.h"
#include "record.h"
#include "sock.h"
#include <tcptuned/algo/bitcp.h>
#include <tcptuned/algo/reader.h>
#include <tcptuned/algo/unsent.h>

#define ANY_STATE  (~0u)
#define NOT_CLOSED (~(1u << BPF_TCP_CLOSE))
/* States in which a connection still carries data, not only its closing handshake. */
#define CARRIES_DATA                                                                  \
	(1 << BPF_TCP_ESTABLISHED | 1 << BPF_TCP_FIN_WAIT1 | 1 << BPF_TCP_FIN_WAIT2 | \
	 1 << BPF_TCP_CLOSE_WAIT)

/* The cgroup to which the programs are attached. Callbacks come from it and those below only. */
const volatile __u64 cgroup_id SEC(".rodata.cgroup") = 1;

/*
 * That of cc/bitcp.bpf.c. It is also here, so that the daemon has it among the others, and without
 * bitcp, too.
 */
SINGLE_VALUE_MAP(BPF_MAP_TYPE_ARRAY, struct bitcp_params) bitcp_params SHARED_MAP;

/* The socket of an iterator; NULL: it is not a full one in one of these @states, a bit each. */
static __always_inline struct tcp_sock *socket_of(struct bpf_iter__tcp *ctx, __u32 states)
{
	struct sock_common *skc = ctx->sk_common;

	if (!skc || !(1u << (skc->skc_state & 15) & states))
		return NULL;
	return (struct tcp_sock *)bpf_skc_to_tcp_sock(skc);
}

/* The record of a managed connection; NULL: it is not managed, or @tp is NULL. */
static __always_inline struct tcptuned_flow *managed_flow(struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = tp ? flow_of(tp) : NULL;

	return flow && (flow->flags & TCPTUNED_F_MANAGED) ? flow : NULL;
}

static __always_inline __u8 tcp_state_of(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;
}

/* Fails before Linux 6.12. */
static __always_inline int set_callbacks(struct tcp_sock *tp, int flags)
{
	return set_option(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, flags);
}

/* Requests callbacks again that another program has removed, even if it has removed all. */
static __always_inline void restore_callbacks(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 has = tp->bpf_sock_ops_cb_flags, wanted = callbacks_of(flow, tp);

	if ((has & wanted) == wanted || set_callbacks(tp, has | wanted))
		return;
	note_callbacks(flow, has, wanted);
	if ((has & CB_STATE_RTT) != CB_STATE_RTT)
		count(TCPTUNED_C_CALLBACKS_AGAIN);
}

/* Removes tcptuned's own callbacks, each of which costs something with every ACK. */
static __always_inline void remove_callbacks(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 own = own_callbacks(flow);

	if (own && !set_callbacks(tp, tp->bpf_sock_ops_cb_flags & ~own))
		flow->flags &= ~TCPTUNED_F_CALLBACKS;
}

/* ---- adopt -------------------------------------------------------------------------- */

/*
 * Copies the congestion control to set to @ret. Besides the policy's this may be that of a previous
 * tcptuned whose records had another layout: no other program brings a bitcp or cubic_resume.
 */
static __always_inline bool choose_adopted_cc(struct tcptuned_flow *flow, struct tcp_sock *tp,
					      const struct tcptuned_policy *policy,
					      char ret[TCPTUNED_CC_NAME_MAX])
{
	char now[TCPTUNED_CC_NAME_MAX] = {};

	read_cc_name(now, tp);
	if ((!is_bitcp(now) && !is_same_name(now, policy->cc_resume)) ||
	    policy->mode != TCPTUNED_TUNE)
		return may_set_policy_cc(flow, tp, policy, ret);
	__builtin_memcpy(ret, policy->congestion_control[0] ? policy->congestion_control : now,
			 sizeof(now));
	return true;
}

/* Another build's has the same name; connections keep the old one until it is set again. */
static __always_inline void move_to_current_cc(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	char name[TCPTUNED_CC_NAME_MAX] = {};

	if (!(flow->flags & TCPTUNED_F_CC_OURS))
		return;
	read_cc_name(name, tp);
	if (is_bitcp(name) || (flow->flags & TCPTUNED_F_CC_RESUMES))
		bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
}

/*
 * True for a connection that has not carried enough to need a record. A locked receive buffer may
 * keep it from that; a locked send buffer is what its application or listener asked for.
 */
static __always_inline bool is_short(struct tcp_sock *tp, const struct tcptuned_policy *policy)
{
	return tp->bytes_received < CARRIED_MIN && tp->bytes_acked < CARRIED_MIN &&
	       !tcptuned_policy_sets_at_once(policy) && !(sk_buffer_locks(tp) & SOCK_RCVBUF_LOCK);
}

static __always_inline int adopt_connection(struct tcp_sock *tp)
{
	const struct tcptuned_policy *policy;
	char name[TCPTUNED_CC_NAME_MAX];
	__u32 has = without_early(tp->bpf_sock_ops_cb_flags), id;
	struct tcptuned_flow *flow;

	flow = managed_flow(tp);
	if (flow) {
		restore_callbacks(flow, tp);
		move_to_current_cc(flow, tp);
		return 0;
	}
	policy = policy_of_socket(tp, &id);
	if (!policy || !is_in_cgroup((struct sock *)tp, cgroup_id))
		return 0;
	if (is_short(tp, policy)) {
		if ((tp->bpf_sock_ops_cb_flags & CALLBACKS_EARLY) == CALLBACKS_EARLY)
			return 0;
		return set_callbacks(tp, with_early(has)) ? TCPTUNED_ADOPTED_TOO_OLD
							  : TCPTUNED_ADOPTED_CONNECTION;
	}
	if (set_callbacks(tp, has | CALLBACKS))
		return TCPTUNED_ADOPTED_TOO_OLD;
	flow = get_record(tp);
	if (!flow) {
		set_callbacks(tp, has);
		return TCPTUNED_ADOPTED_FAILED;
	}
	note_callbacks(flow, has, CALLBACKS);
	record_earlier_requests(flow, tp, policy);
	add_traffic(id, tp, false);
	init_record(flow, tp, policy, id);
	flow->flags |= TCPTUNED_F_ADOPTED;
	if (choose_adopted_cc(flow, tp, policy, name))
		set_cc(tp, flow, tp, name);
	count(TCPTUNED_C_MANAGED_OPEN);
	return TCPTUNED_ADOPTED_CONNECTION;
}

/* ---- release ------------------------------------------------------------------------ */

static __always_inline __u32 max_buffer(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

/*
 * Gives back a buffer that tcptuned has sized. It is locked, so the kernel will not tune it again.
 * It gets what the kernel's autotuning might have reached, so that nothing is slower than without
 * tcptuned; and no more, because applications fill send buffers whatever the path needs.
 *
 * A buffer that the application had fixed before returns to that size: the window at once, the
 * memory if the advertised window does not need more.
 */
static __always_inline void release_receive_buffer(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u32 have = sk->sk_rcvbuf, min = sk_min_clamp(tp), space, window;
	bool fixed = tcptuned_request(flow, true) == REQUEST_LIFTED;

	space = fixed ? 2 * flow->req_rcvbuf
		      : max_buffer(have, sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_rmem[2]);
	window = sk_window_from_space(tp, space);
	if (fixed && sk_min_rcvbuf(tp) > space)
		space = have;
	if (tcptuned_request(flow, true) ==
	    REQUEST_APPLICATION)	   /* the application has set the clamp since, ... */
		window = tp->window_clamp; /* ... which Linux 7 moves with the buffer */
	if (window < min)
		window = min;
	/* Otherwise net.core.rmem_max, which was lowered since, would reduce the buffer. */
	if (have <= flow->rcv_buffer_max || space <= flow->rcv_buffer_max)
		set_option(tp, SOL_SOCKET, SO_RCVBUF, space / 2); /* the kernel doubles it */
	if (tp->window_clamp != window)
		set_option(tp, SOL_TCP, TCP_WINDOW_CLAMP, window);
}

static __always_inline void release_send_buffer(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 have = tp->inet_conn.icsk_inet.sk.sk_sndbuf;
	bool fixed = request_is_overridden(tcptuned_request(flow, false));

	set_option(tp, SOL_SOCKET, SO_SNDBUF,
		   fixed ? flow->req_sndbuf : max_buffer(have, sk_max_sndbuf(tp)) / 2);
}

/*
 * A window that was held is the kernel's again, up to what the kernel alone would have given; more
 * stays if it was earned.
 */
static __always_inline void release_clamp(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 rcvbuf = tp->inet_conn.icsk_inet.sk.sk_rcvbuf;
	__u32 window = sk_window_from_space(tp, rcvbuf < flow->rcv_base ? rcvbuf : flow->rcv_base);

	if (flow->rcv_clamp && tp->window_clamp < window)
		set_option(tp, SOL_TCP, TCP_WINDOW_CLAMP, window);
}

/* Restores all but the congestion control, before which the namespace's default is restored. */
static __always_inline void release_buffers(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	if (flow->flags & TCPTUNED_F_RCV_LOCKED)
		release_receive_buffer(flow, tp);
	else
		release_clamp(flow, tp);
	flow->rcv_clamp = 0;
	if (flow->flags & TCPTUNED_F_SND_SIZED)
		release_send_buffer(flow, tp);
	clear_unsent_limit(tp, flow, tp);
}

static __always_inline void stop_managing(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	remove_callbacks(flow, tp);
	flow->flags &= ~TCPTUNED_F_MANAGED;
	add_traffic(flow->policy, tp, true);
}

/* What the listener accepts from now on is not managed. */
static __always_inline void release_listener(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	remove_callbacks(flow, tp);
	delete_record(tp);
}

SEC("iter/tcp")
int release_flows(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = socket_of(ctx, NOT_CLOSED);
	struct tcptuned_flow *flow = tp ? flow_of(tp) : NULL;

	if (!flow)
		return 0;
	if (tcp_state_of(tp) == BPF_TCP_LISTEN) {
		release_listener(flow, tp);
		return 0;
	}
	release_buffers(flow, tp);
	stop_managing(flow, tp);
	return 0;
}

/*
 * True if the socket was created while bitcp was the default, and is not managed: its handshake is
 * not over, for example. (Sockets that a listener accepts have the default of that time.)
 */
static __always_inline bool has_bitcp_by_default(struct tcp_sock *tp)
{
	char name[TCPTUNED_CC_NAME_MAX] = {};

	read_cc_name(name, tp);
	return !BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_setsockopt) && is_bitcp(name);
}

/*
 * Leaves a congestion control alone that is neither the policy's nor tcptuned's: another program
 * has set it since by bpf_setsockopt(), which no hook reports.
 */
static __always_inline void release_foreign_cc(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct tcptuned_policy *policy = policy_by_id(flow->policy);
	char now[TCPTUNED_CC_NAME_MAX] = {};

	if (!policy || !(flow->flags & TCPTUNED_F_CC_OURS))
		return;
	read_cc_name(now, tp);
	if (!is_same_name(now, policy->congestion_control) &&
	    !is_same_name(now, policy->cc_resume) && !is_same_name(now, policy->cc_random_loss) &&
	    !is_bitcp(now))
		flow->flags &= ~(TCPTUNED_F_CC_OURS | TCPTUNED_F_CC_RESTORED);
}

/* What a listener accepts from now on inherits the buffers that its application requested. */
static __always_inline void pass_requests_on(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	pass_request_on(tp, flow, true, 0);
	pass_request_on(tp, flow, false, 0);
}

/* Restores the congestion control of connections and the requests of listeners, no buffers. */
SEC("iter/tcp")
int undo_overrides(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = socket_of(ctx, NOT_CLOSED);
	struct tcptuned_flow *flow = tp ? flow_of(tp) : NULL;

	if (!tp)
		return 0;
	if (tcp_state_of(tp) == BPF_TCP_LISTEN) {
		if (flow)
			pass_requests_on(flow, tp);
		return 0;
	}
	if (flow)
		release_foreign_cc(flow, tp);
	if (flow && (flow->flags & TCPTUNED_F_CC_OURS))
		restore_cc(tp, flow, tp);
	else if (has_bitcp_by_default(tp))
		set_default_cc(tp, tp);
	return 0;
}

/* ---- apply policies ------------------------------------------------------------------ */

/* Undoes everything that was set. */
static __always_inline void undo_tuning(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	release_buffers(flow, tp);
	release_foreign_cc(flow, tp);
	restore_cc(tp, flow, tp);
	leave_budgets(flow);
	flow->flags &= ~(TCPTUNED_F_RCV_TUNED | TCPTUNED_F_SND_TUNED | TCPTUNED_F_SLOW_SEED);
}

static __always_inline void sync_cc(struct tcptuned_flow *flow, struct tcp_sock *tp,
				    const struct tcptuned_policy *policy)
{
	char now[TCPTUNED_CC_NAME_MAX] = {}, name[TCPTUNED_CC_NAME_MAX] = {};

	if (!policy->congestion_control[0]) {
		if ((flow->flags & TCPTUNED_F_CC_SET) || !policy->cc_resume[0])
			restore_cc(tp, flow, tp);
		return;
	}
	if (!may_set_policy_cc(flow, tp, policy, name))
		return;
	read_cc_name(now, tp);
	if (is_same_name(now, name))
		return;
	if (set_cc(tp, flow, tp, name)) /* what the previous policy had set is not this one's */
		restore_cc(tp, flow, tp);
}

/* undo_tuning() has restored a lifted request that is honoured again, and its lock. */
static __always_inline void change_request(struct tcptuned_flow *flow,
					   const struct tcptuned_policy *policy, bool receive)
{
	bool lifted = tcptuned_request(flow, receive) == REQUEST_LIFTED;

	advance_request(flow, receive, REQUEST_CHANGE, action_of(policy, receive));
	if (lifted && tcptuned_request(flow, receive) != REQUEST_LIFTED)
		flow->flags &= ~flag_of(receive, TCPTUNED_F_RCV_LOCKED);
}

/* True if both choose by themselves among the same, so that what has been chosen stays. */
static __always_inline bool is_same_auto(const struct tcptuned_policy *was,
					 const struct tcptuned_policy *policy)
{
	return was && was->cc_auto && policy->cc_auto &&
	       is_same_name(was->cc_random_loss, policy->cc_random_loss);
}

/* Keeps the measurements, and continues from the present sizes of the buffers. */
static __always_inline void change_policy(struct tcptuned_flow *flow, struct tcp_sock *tp,
					  const struct tcptuned_policy *policy, __u32 id)
{
	__u32 before = flow->policy;
	bool same_auto = is_same_auto(policy_by_id(before), policy);

	release_foreign_cc(flow, tp);
	change_request(flow, policy, true);
	change_request(flow, policy, false);
	add_traffic(id, tp, false);
	copy_policy(flow, tp, policy, id);
	add_traffic(before, tp, true);
	if (!same_auto)
		sync_cc(flow, tp, policy);
}

static __always_inline int sync_policy(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct tcptuned_policy *policy;
	__u32 id = 0;

	policy = policy_of_socket(tp, &id);
	if (policy)
		restore_callbacks(flow, tp);
	if (policy && id == flow->policy)
		return 0;
	if (!policy || (policy->mode == TCPTUNED_OBSERVE && !(flow->flags & TCPTUNED_F_OBSERVE)))
		undo_tuning(flow, tp);
	if (!policy) {
		stop_managing(flow, tp);
		return TCPTUNED_ADOPTED_DETACHED;
	}
	change_policy(flow, tp, policy, id);
	return TCPTUNED_ADOPTED_MOVED;
}

/* Writes one enum tcptuned_adopted for each connection that is adopted, moved or detached. */
SEC("iter/tcp")
int apply_policies(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = socket_of(ctx, CARRIES_DATA);
	struct tcptuned_flow *flow = managed_flow(tp);
	char result;

	if (!tp)
		return 0;
	result = flow ? sync_policy(flow, tp) : adopt_connection(tp);
	if (result)
		bpf_seq_write(ctx->meta->seq, &result, sizeof(result));
	return 0;
}

/* ---- idle connections ---------------------------------------------------------------- */

#define IDLE_US 5000000u

/*
 * How much of its grant a connection uses that holds @in_use, of which the kernel alone gives
 * @base.
 */
static __always_inline __u32 grant_in_use(const struct budget_share *share, __u64 in_use,
					  __u32 base)
{
	in_use = in_use > base ? in_use - base : 0;
	return in_use < share->granted ? in_use : share->granted;
}

/*
 * Returns to the budget what is neither queued nor advertised, and the demand for it: an idle
 * connection decides nothing without ACKs, and others would be refused. It demands again later.
 */
static __always_inline void reclaim_budget(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u32 queued = sk->sk_wmem_queued, in_use, unread, value;
	struct budget *b = single_value(&budget);

	if (!b || bpf_ktime_get_ns() / 1000 - tp->tcp_mstamp < IDLE_US)
		return;
	queued = grant_in_use(&flow->snd_share, queued, flow->snd_base);
	budget_want(b, &flow->snd_share, queued);
	budget_return(b, &flow->snd_share, queued);
	if ((flow->flags & TCPTUNED_F_SND_SIZED) && (__u32)sk->sk_sndbuf > flow->snd_base + queued)
		set_option(tp, SOL_SOCKET, SO_SNDBUF, (flow->snd_base + queued) / 2);
	in_use = grant_in_use(&flow->rcv_share, sk_space_in_use(tp), flow->rcv_base);
	budget_want(b, &flow->rcv_share, in_use);
	if (!flow->rcv_share.granted || tcptuned_request(flow, true) == REQUEST_APPLICATION)
		return;
	budget_return(b, &flow->rcv_share, in_use);
	flow->rcv_allowed = sk_window_from_space(tp, flow->rcv_base);
	unread = tp->rcv_nxt - tp->copied_seq;
	value = rightsize_offer(flow->rcv_allowed, unread, 2 * tp->mss_cache);
	if (value >= tp->window_clamp || value < sk_min_clamp(tp))
		return;
	if (!set_option(tp, SOL_TCP, TCP_WINDOW_CLAMP, value))
		flow->rcv_clamp = value;
}

SEC("iter/tcp")
int reclaim_idle(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = socket_of(ctx, CARRIES_DATA);
	struct tcptuned_flow *flow = managed_flow(tp);

	if (flow && !(flow->flags & TCPTUNED_F_OBSERVE))
		reclaim_budget(flow, tp);
	return 0;
}

SEC("iter/tcp")
int recall_flows(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = socket_of(ctx, CARRIES_DATA);
	struct tcptuned_flow *flow = managed_flow(tp);

	if (flow)
		restore_callbacks(flow, tp);
	return 0;
}

/* ---- the start ----------------------------------------------------------------------- */

/*
 * Detaches a socket outside the cgroup, as a clean stop would: the previous tcptuned had another
 * cgroup and was killed, so that no callback comes from this socket, not when it closes either.
 */
static __always_inline int detach_flow(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	bool changed;

	if (tcp_state_of(tp) == BPF_TCP_LISTEN) {
		changed = request_is_hidden(tcptuned_request(flow, true));
		pass_requests_on(flow, tp);
		release_listener(flow, tp);
		return changed ? TCPTUNED_ADOPTED_DETACHED : 0;
	}
	if (!(flow->flags & TCPTUNED_F_MANAGED))
		return 0;
	undo_tuning(flow, tp);
	stop_managing(flow, tp);
	return TCPTUNED_ADOPTED_DETACHED;
}

/*
 * Writes one enum tcptuned_adopted for each socket that is adopted or detached. Connections in
 * their handshake and sockets that a listener accepts reach the sockops program by themselves.
 */
SEC("iter/tcp")
int adopt_flows(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = socket_of(ctx, ANY_STATE);
	struct tcptuned_flow *flow = tp ? flow_of(tp) : NULL;
	char result = 0;

	if (!tp)
		return 0;
	if (flow && !is_in_cgroup((struct sock *)tp, cgroup_id))
		result = detach_flow(flow, tp);
	else if (1 << (tcp_state_of(tp) & 15) & CARRIES_DATA)
		result = adopt_connection(tp);
	if (result == TCPTUNED_ADOPTED_FAILED || result == TCPTUNED_ADOPTED_TOO_OLD)
		count(TCPTUNED_C_ADOPT_FAILED);
	if (result)
		bpf_seq_write(ctx->meta->seq, &result, sizeof(result));
	return 0;
}

char _license[] SEC("license") = "GPL";
