// SPDX-License-Identifier: GPL-2.0-only
/*
 * Iterators over all connections: manage those that were open before, let each follow its policy,
 * and give them back to the kernel.
 */
#include "budget.h"
#include "buffer_requests.h"
#include "callbacks.h"
#include "claim.h"
#include "kernel.h"
#include "maps.h"
#include "names.h"
#include "policy.h"

#define TCP_STATE_ESTABLISHED 1
#define TCP_STATE_FIN_WAIT1   4
#define TCP_STATE_FIN_WAIT2   5
#define TCP_STATE_CLOSE_WAIT  8

/* ---- adopt -------------------------------------------------------------------------- */

/* In which a connection still carries data, and is not its closing handshake alone. */
#define CARRIES_DATA	    (1 << TCP_STATE_ESTABLISHED | 1 << TCP_STATE_FIN_WAIT1 |               \
			     1 << TCP_STATE_FIN_WAIT2 | 1 << TCP_STATE_CLOSE_WAIT)

/* The cgroup to which the programs are attached: callbacks fire in it and below it only. */
const volatile __u64 cgroup_id SEC(".rodata.cgroup") = 1;

/* The socket that an iterator is at, if it is a full one in one of these @states, bits; or NULL. */
static __always_inline struct tcp_sock *socket_of(struct bpf_iter__tcp *ctx, __u32 states)
{
	struct sock_common *skc = ctx->sk_common;

	if (!skc || !(1u << (skc->skc_state & 15) & states))
		return NULL;
	return (struct tcp_sock *)bpf_skc_to_tcp_sock(skc);
}

/* The record of a connection that a policy has; NULL: it has none, or @tp is no socket. */
static __always_inline struct tcptuned_flow *claimed_flow(struct tcp_sock *tp)
{
	struct tcptuned_flow *flow = tp ? bpf_sk_storage_get(&flows, tp, NULL, 0) : NULL;

	return flow && (flow->flags & TCPTUNED_F_CLAIMED) ? flow : NULL;
}

static __always_inline __u8 tcp_state_of(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;
}

static __always_inline bool in_our_cgroup(struct sock *sk)
{
	return is_in_cgroup(sk, cgroup_id);
}

/* Fails before Linux 6.12. */
static __always_inline int set_callbacks(struct tcp_sock *tp, int flags)
{
	return bpf_setsockopt(tp, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags));
}

static __always_inline int call_back(struct tcp_sock *tp, __u32 which)
{
	return set_callbacks(tp, tp->bpf_sock_ops_cb_flags | which);
}

/* Another program may have taken some away, with no call left in which that would be seen. */
static __always_inline void restore_callbacks_of(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 has = tp->bpf_sock_ops_cb_flags;

	if ((has & CALLBACKS) == CALLBACKS || call_back(tp, CALLBACKS))
		return;
	callbacks_note(flow, has, CALLBACKS);
	count(TCPTUNED_C_CALLBACKS_AGAIN);
}

/* Each is a cost with every ACK, and other programs are called for it, too. */
static __always_inline void call_no_more(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 ours = callbacks_ours(flow);

	if (ours && !set_callbacks(tp, tp->bpf_sock_ops_cb_flags & ~ours))
		flow->flags &= ~TCPTUNED_F_CALLBACKS;
}

/*
 * The default of its namespace, or what a tcptuned before this one set and could not tell this
 * one about, its records being of another layout: nobody else brings a bitcp.
 */
static __always_inline bool congestion_control_to_adopt(struct tcptuned_flow *flow,
							struct tcp_sock *tp,
							const struct tcptuned_policy *policy,
							char ret[TCPTUNED_CC_NAME_MAX])
{
	char now[TCPTUNED_CC_NAME_MAX] = {};

	BPF_CORE_READ_STR_INTO(&now, &tp->inet_conn, icsk_ca_ops, name);
	if (!is_bitcp(now) || policy->mode != TCPTUNED_TUNE)
		return congestion_control_is_ours(flow, tp, policy, ret);
	__builtin_memcpy(ret, policy->congestion_control[0] ? policy->congestion_control : now,
			 sizeof(now));
	return true;
}

/* Another build's BI-TCP has the same name: connections keep the old one until told. */
static __always_inline void follow_bitcp(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	char name[TCPTUNED_CC_NAME_MAX] = {};

	if (!(flow->flags & TCPTUNED_F_CC_SET))
		return;
	BPF_CORE_READ_STR_INTO(&name, &tp->inet_conn, icsk_ca_ops, name);
	if (is_bitcp(name))
		bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
}

/* Not looked at until it has carried more: nothing of it is fixed, by anybody. */
static __always_inline bool is_short(struct tcp_sock *tp, const struct tcptuned_policy *policy)
{
	__u32 locks = BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_inet.sk.sk_userlocks);

	return tp->bytes_received < CLAIM_BYTES && tp->bytes_acked < CLAIM_BYTES &&
	       !tcptuned_policy_sets_at_once(policy) &&
	       !(locks & (SOCK_RCVBUF_LOCK | SOCK_SNDBUF_LOCK));
}

static __always_inline int adopt_connection(struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	const struct tcptuned_policy *policy;
	char name[TCPTUNED_CC_NAME_MAX];
	__u32 had = tp->bpf_sock_ops_cb_flags, key;
	struct tcptuned_flow *flow;

	flow = claimed_flow(tp);
	if (flow) {
		restore_callbacks_of(flow, tp);
		follow_bitcp(flow, tp);
		return 0;
	}
	policy = policy_for(tp, &key);
	if (!policy || !in_our_cgroup(sk))
		return 0;
	if (is_short(tp, policy)) {
		if ((had & CALLBACKS_EARLY) == CALLBACKS_EARLY)
			return 0;
		return call_back(tp, CALLBACKS_EARLY) ? TCPTUNED_ADOPTED_TOO_OLD :
							TCPTUNED_ADOPTED_CONNECTION;
	}
	if (call_back(tp, CALLBACKS))
		return TCPTUNED_ADOPTED_TOO_OLD;
	flow = make_record(tp);
	if (!flow)
		return TCPTUNED_ADOPTED_FAILED;
	callbacks_note(flow, had, CALLBACKS);
	take_note(flow, tp, policy);
	claim_flow(flow, tp, policy, key);
	flow->flags |= TCPTUNED_F_ADOPTED;
	if (congestion_control_to_adopt(flow, tp, policy, name))
		congestion_control_set(flow, tp, name,
				       bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, name,
						      sizeof(name)));
	count(TCPTUNED_C_CLAIMED_OPEN);
	return TCPTUNED_ADOPTED_CONNECTION;
}

/* ---- give back ---------------------------------------------------------------------- */

/* The larger of what there is and what the kernel's autotuning may reach; bytes of memory. */
static __always_inline __u32 room_for(__u32 have, __u32 kernels_max)
{
	return have > kernels_max ? have : kernels_max;
}

static __always_inline void set_receive_buffer(struct tcptuned_flow *flow, struct tcp_sock *tp,
					       __u32 space, __u32 window)
{
	__u32 least = kernel_least_clamp(tp), have = tp->inet_conn.icsk_inet.sk.sk_rcvbuf;
	int value = space / 2; /* the kernel doubles it: sock_set_rcvbuf() */

	if (flow->flags & TCPTUNED_F_RCVBUF_APP) /* it set the clamp since: hands_off() */
		window = tp->window_clamp; /* Linux 7 moves it with the buffer */
	if (window < least)
		window = least;
	/* Else net.core.rmem_max was lowered since, and would cut it. */
	if (have <= flow->rcv_buffer_max || space <= flow->rcv_buffer_max)
		bpf_setsockopt(tp, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
	value = window;
	if (tp->window_clamp != window)
		bpf_setsockopt(tp, SOL_TCP, TCP_WINDOW_CLAMP, &value, sizeof(value));
}

/*
 * A buffer that tcptuned sized is locked: the kernel will not tune it again. So that nothing
 * is slower afterwards than it would have been without tcptuned, the connection is left with
 * as much room as the kernel might have given it. Not with as much as tcptuned might have:
 * applications fill send buffers, whatever the path needs.
 *
 * One whose application had fixed its buffer before tcptuned came gets that one back: as its
 * window at once, as memory when what was promised to its peer does not need more.
 */
static __always_inline void release_receive_buffer(struct tcptuned_flow *flow,
						   struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u32 space, least;

	if (flow->flags & TCPTUNED_F_RCVBUF_OBEYED) {
		least = kernel_rcvbuf_least(tp);
		space = 2 * flow->req_rcvbuf;
		set_receive_buffer(flow, tp, least > space ? sk->sk_rcvbuf : space,
				   kernel_win_from_space(tp, space));
		return;
	}
	space = room_for(sk->sk_rcvbuf, sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_rmem[2]);
	set_receive_buffer(flow, tp, space, kernel_win_from_space(tp, space));
}

static __always_inline void release_send_buffer(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	int value;

	if (flow->flags & TCPTUNED_F_SNDBUF_OBEYED)
		value = flow->req_sndbuf;
	else
		value = room_for(sk->sk_sndbuf,
				 sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_wmem[2]) / 2;
	bpf_setsockopt(tp, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value));
}

/* All but the congestion control, which the kernel's default has to come before. */
static __always_inline void give_back(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	int window = kernel_win_from_space(tp, sk->sk_rcvbuf);

	if (flow->flags & TCPTUNED_F_RCV_LOCKED)
		release_receive_buffer(flow, tp);
	else if (flow->rcv_clamp)
		bpf_setsockopt(tp, SOL_TCP, TCP_WINDOW_CLAMP, &window, sizeof(window));
	flow->rcv_clamp = 0;
	if (flow->flags & TCPTUNED_F_SND_SIZED)
		release_send_buffer(flow, tp);
	lift_unsent(tp, flow, tp);
}

/* What is left of it is nobody's. */
static __always_inline void unclaim(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	call_no_more(flow, tp);
	flow->flags &= ~TCPTUNED_F_CLAIMED;
}

/* Delete the record of a listener: what it accepts from now on is not managed. */
static __always_inline void forget_listening(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	call_no_more(flow, tp);
	if (!bpf_sk_storage_delete(&flows, tp))
		uncount_record();
}

SEC("iter/tcp")
int release_flows(struct bpf_iter__tcp *ctx)
{
	struct tcptuned_flow *flow;
	struct tcp_sock *tp;

	tp = socket_of(ctx, ~(1u << TCP_STATE_CLOSE));
	if (!tp)
		return 0;
	flow = bpf_sk_storage_get(&flows, tp, NULL, 0);
	if (!flow)
		return 0;
	if (tcp_state_of(tp) == TCP_STATE_LISTEN) {
		forget_listening(flow, tp);
		return 0;
	}
	give_back(flow, tp);
	unclaim(flow, tp);
	return 0;
}

/* bitcp, or one of its family: nobody else brings those. */
static __always_inline bool has_ours(struct tcp_sock *tp)
{
	char name[TCPTUNED_CC_NAME_MAX] = {};

	BPF_CORE_READ_STR_INTO(&name, tp, inet_conn.icsk_ca_ops, name);
	return is_bitcp(name) || is_name(name, "aimd\0\0\0") || is_name(name, "hstcp\0\0") ||
	       is_name(name, "stcp\0\0\0") || is_name(name, "tt_reno") ||
	       is_name(name, "tt_vegas");
}

/*
 * Made while one of those was the default, and not claimed: one whose handshake is not over, say.
 * (A listener's own does not matter: what it accepts has the default of then.)
 */
static __always_inline bool has_ours_by_default(struct tcp_sock *tp)
{
	return !BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_setsockopt) && has_ours(tp);
}

/*
 * Neither what the policy named nor ours: another program has chosen it since, with
 * bpf_setsockopt(), which no hook tells of. Then it is that one's.
 */
static __always_inline void disown_congestion_control(struct tcptuned_flow *flow,
						      struct tcp_sock *tp)
{
	const struct tcptuned_policy *was = policy_of(flow->policy);
	char now[TCPTUNED_CC_NAME_MAX] = {};

	if (!was || !(flow->flags & TCPTUNED_F_CC_SET))
		return;
	BPF_CORE_READ_STR_INTO(&now, tp, inet_conn.icsk_ca_ops, name);
	if (!is_same_name(now, was->congestion_control) && !has_ours(tp))
		flow->flags &= ~(TCPTUNED_F_CC_SET | TCPTUNED_F_CC_RESTORED);
}

/*
 * A listener at a clean stop, too: what it accepts from now on is nobody's, and inherits the
 * buffers that its application asked for.
 */
static __always_inline void hand_requests_on(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	hand_on(tp, flow, true, 0);
	hand_on(tp, flow, false, 0);
}

/*
 * Takes back what stood in place of the default congestion control, and of what listeners asked
 * for. Buffers that were sized are release_flows()'s to give back.
 */
SEC("iter/tcp")
int undo_overrides(struct bpf_iter__tcp *ctx)
{
	struct tcptuned_flow *flow;
	struct tcp_sock *tp;

	tp = socket_of(ctx, ~(1u << TCP_STATE_CLOSE));
	if (!tp)
		return 0;
	flow = bpf_sk_storage_get(&flows, tp, NULL, 0);
	if (tcp_state_of(tp) == TCP_STATE_LISTEN) {
		if (flow)
			hand_requests_on(flow, tp);
		return 0;
	}
	if (flow)
		disown_congestion_control(flow, tp);
	if (flow && (flow->flags & TCPTUNED_F_CC_SET))
		restore_congestion_control(tp, flow, tp);
	else if (has_ours_by_default(tp))
		set_default_congestion_control(tp, tp);
	return 0;
}

/* ---- the policy that is theirs now --------------------------------------------------- */

/* Nothing of what was set stays; the requests of its application do, as when it was made. */
static __always_inline void take_hands_off(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	give_back(flow, tp);
	disown_congestion_control(flow, tp);
	restore_congestion_control(tp, flow, tp);
	budget_close(flow);
	flow->snd_unsent = 0;
	flow->flags &= ~(TCPTUNED_F_RCV_TAKEN | TCPTUNED_F_SND_TAKEN | TCPTUNED_F_SLOW_SEED);
}

static __always_inline void follow_congestion_control(struct tcptuned_flow *flow,
						      struct tcp_sock *tp,
						      const struct tcptuned_policy *policy)
{
	char now[TCPTUNED_CC_NAME_MAX] = {}, name[TCPTUNED_CC_NAME_MAX] = {};
	int error;

	if (!policy->congestion_control[0]) {
		restore_congestion_control(tp, flow, tp);
		return;
	}
	if (!congestion_control_is_ours(flow, tp, policy, name))
		return;
	BPF_CORE_READ_STR_INTO(&now, &tp->inet_conn, icsk_ca_ops, name);
	if (is_same_name(now, name))
		return;
	error = bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
	congestion_control_set(flow, tp, name, error);
	if (error) /* what the policy before had set is not this one's */
		restore_congestion_control(tp, flow, tp);
}

/* In place: what was measured stays, and buffers are sized on from what they are. */
static __always_inline void move_flow(struct tcptuned_flow *flow, struct tcp_sock *tp,
				      const struct tcptuned_policy *policy, __u32 key)
{
	disown_congestion_control(flow, tp);
	flow->policy = key;
	flow->flags &= ~TCPTUNED_F_OBSERVE;
	if (policy->mode == TCPTUNED_OBSERVE)
		flow->flags |= TCPTUNED_F_OBSERVE;
	settle_observed(flow, policy, true);
	settle_observed(flow, policy, false);
	flow->rcv_base = base_of(flow, policy, true);
	flow->snd_base = base_of(flow, policy, false);
	flow->rcv_window_max = policy->rcv_window_max;
	flow->snd_window_max = policy->snd_window_max;
	flow->rcv_buffer_max = policy->rcv_buffer_max;
	flow->snd_buffer_max = policy->snd_buffer_max;
	follow_congestion_control(flow, tp, policy);
}

static __always_inline int follow_policy(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct tcptuned_policy *policy;
	__u32 key = 0;

	policy = policy_for(tp, &key);
	if (policy)
		restore_callbacks_of(flow, tp);
	if (policy && key == flow->policy)
		return 0;
	if (!policy || (policy->mode == TCPTUNED_OBSERVE && !(flow->flags & TCPTUNED_F_OBSERVE)))
		take_hands_off(flow, tp);
	if (!policy) {
		unclaim(flow, tp);
		return TCPTUNED_ADOPTED_LET_GO;
	}
	move_flow(flow, tp, policy, key);
	return TCPTUNED_ADOPTED_MOVED;
}

/*
 * Gives each open connection the policy that it would get if it were made now. Listeners and
 * what applications asked for stay as they were settled.
 */
SEC("iter/tcp")
int apply_policies(struct bpf_iter__tcp *ctx)
{
	struct tcptuned_flow *flow;
	struct tcp_sock *tp;
	char what;

	tp = socket_of(ctx, CARRIES_DATA);
	if (!tp)
		return 0;
	flow = claimed_flow(tp);
	if (flow)
		what = follow_policy(flow, tp);
	else
		what = adopt_connection(tp);
	if (what)
		bpf_seq_write(ctx->meta->seq, &what, sizeof(what));
	return 0;
}

/* ---- idle --------------------------------------------------------------------------- */

#define IDLE_US 5000000u

/*
 * Decisions follow ACKs, and an idle connection has none: what it was granted it would keep for
 * ever while others are refused. What is neither queued nor advertised is returned, and not wanted
 * any more, also by a connection that was granted nothing; the next round trip asks again.
 */
static __always_inline void return_grants(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 queued = tp->inet_conn.icsk_inet.sk.sk_wmem_queued, unread, value;
	__u64 held = kernel_space_held(tp);
	struct budget *b = budget_here();

	if (!b || bpf_ktime_get_ns() / 1000 - tp->tcp_mstamp < IDLE_US)
		return;
	queued = queued > flow->snd_base ? queued - flow->snd_base : 0;
	budget_want(b, &flow->snd_share, queued);
	budget_return(b, &flow->snd_share, queued);
	held = held > flow->rcv_base ? held - flow->rcv_base : 0;
	budget_want(b, &flow->rcv_share, held);
	if (!flow->rcv_share.granted || (flow->flags & TCPTUNED_F_RCVBUF_APP))
		return;
	budget_return(b, &flow->rcv_share, held);
	flow->rcv_allowed = kernel_win_from_space(tp, flow->rcv_base);
	unread = tp->rcv_nxt - tp->copied_seq;
	value = rightsize_offer(flow->rcv_allowed, unread, 2 * tp->mss_cache);
	if (value >= tp->window_clamp || value < kernel_least_clamp(tp))
		return;
	if (!bpf_setsockopt(tp, SOL_TCP, TCP_WINDOW_CLAMP, &value, sizeof(value)))
		flow->rcv_clamp = value;
}

SEC("iter/tcp")
int rest_flows(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = socket_of(ctx, CARRIES_DATA);
	struct tcptuned_flow *flow = claimed_flow(tp);

	if (flow && !(flow->flags & TCPTUNED_F_OBSERVE))
		return_grants(flow, tp);
	return 0;
}

/* ---- not called for ----------------------------------------------------------------- */

SEC("iter/tcp")
int recall_flows(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tp = socket_of(ctx, CARRIES_DATA);
	struct tcptuned_flow *flow = claimed_flow(tp);

	if (flow)
		restore_callbacks_of(flow, tp);
	return 0;
}

/* ---- at the start ------------------------------------------------------------------- */

/*
 * The tcptuned before this one was killed, and had another cgroup: nothing calls here any more
 * for what is there, not when it closes either. As at a clean stop, then.
 */
static __always_inline int let_go(struct tcptuned_flow *flow, struct tcp_sock *tp, __u8 state)
{
	__u32 changed = TCPTUNED_F_RCVBUF_SWALLOWED | TCPTUNED_F_SNDBUF_SWALLOWED;

	if (state == TCP_STATE_LISTEN) {
		changed &= flow->flags;
		hand_requests_on(flow, tp);
		forget_listening(flow, tp);
		return changed ? TCPTUNED_ADOPTED_LET_GO : 0;
	}
	if (!(flow->flags & TCPTUNED_F_CLAIMED))
		return 0;
	take_hands_off(flow, tp);
	unclaim(flow, tp);
	return TCPTUNED_ADOPTED_LET_GO;
}

/*
 * Of a connection in its opening handshake the sockops program hears by itself, and of what a
 * listener accepts, whose buffers stay as they are. Writes one enum tcptuned_adopted for each socket adopted, or
 * let go.
 */
SEC("iter/tcp")
int adopt_flows(struct bpf_iter__tcp *ctx)
{
	struct tcptuned_flow *flow;
	struct tcp_sock *tp;
	char what = 0;

	tp = socket_of(ctx, ~0u);
	if (!tp)
		return 0;
	flow = bpf_sk_storage_get(&flows, tp, NULL, 0);
	if (flow && !in_our_cgroup((struct sock *)tp))
		what = let_go(flow, tp, tcp_state_of(tp));
	else if (1 << (tcp_state_of(tp) & 15) & CARRIES_DATA)
		what = adopt_connection(tp);
	if (what == TCPTUNED_ADOPTED_FAILED || what == TCPTUNED_ADOPTED_TOO_OLD)
		count(TCPTUNED_C_ADOPT_FAILED);
	if (what)
		bpf_seq_write(ctx->meta->seq, &what, sizeof(what));
	return 0;
}

char _license[] SEC("license") = "GPL";
