/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What cc_auto chooses in place of the default: another congestion control where no queue causes
 * the losses (<tcptuned/algo/random_loss.h>), and bitcp while a long path has room
 * (<tcptuned/algo/room.h>). Only connections whose slow start is over have a record of this.
 */
#pragma once

#include "congestion_control.h"
#include "maps.h"
#include "paths.h"
#include "policy.h"
#include "record.h"
#include <tcptuned/algo/room.h>

/* Takes the path's experience into a new record. */
static __always_inline void remember_random_loss(struct random_loss *l, struct tcp_sock *tp,
						 const struct tcptuned_policy *policy)
{
	const struct tcptuned_path_settings *settings = enabled_path_settings();
	const struct tcptuned_path *path;
	__u32 host, state;

	path = look_up_path(tp, &host);
	if (!path || !settings)
		return;
	state = path_tried(path, path_now_s(), settings->expire_s);
	l->known = state == RANDOM_LOSS_KEPT;
	if (state == RANDOM_LOSS_DROPPED)
		l->state = state;
	l->path_is_long = path->snd_per_rtt >= (__u64)policy->cc_long_path_segments * tp->mss_cache;
}

static __always_inline bool has_started(const struct tcp_sock *tp)
{
	return tp->total_retrans || tp->snd_cwnd >= tp->snd_ssthresh;
}

/* NULL: it is in its first slow start, or there is no memory. */
static __always_inline struct random_loss *get_random_loss(struct tcp_sock *tp,
							   const struct tcptuned_policy *policy)
{
	struct random_loss *l = random_loss_of(tp);

	if (l || !has_started(tp))
		return l;
	l = bpf_sk_storage_get(&random_losses, tp, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!l)
		return NULL;
	remember_random_loss(l, tp, policy);
	if (tp->ecn_flags) /* BBR does not answer marks */
		l->state = RANDOM_LOSS_DROPPED;
	return l;
}

/*
 * The ACK of the last segment that was sent before a recovery is seen here before the kernel ends
 * it (tcp_ack()).
 */
static __always_inline bool is_repairing(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_state) >= TCP_CA_Recovery &&
	       (__s32)(tp->snd_una - tp->high_seq) < 0;
}

static __always_inline void fill_round(struct random_loss_round *round, struct tcp_sock *tp)
{
	round->retransmitted = tp->total_retrans;
	round->delivered = tp->delivered;
	round->dsacks = tp->dsack_dups;
	round->high_seq = tp->high_seq;
	round->prior_cwnd = tp->prior_cwnd;
	round->in_flight = tp->max_packets_out;
	round->srtt_us = tp->srtt_us >> 3;
	round->min_rtt_us = sk_min_rtt_us(tp);
	round->now_us = (__u32)tp->tcp_mstamp;
	round->recovering = is_repairing(tp);
	round->app_limited = !!tp->app_limited;
	round->cwnd = tp->snd_cwnd;
	round->full = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) &&
		      tp->snd_cwnd >= tp->snd_ssthresh;
}

/*
 * True while a window from before a pause, or for a known path, is sent, or a burst after a loss is
 * paced.
 */
static __always_inline bool is_resuming(struct tcp_sock *tp)
{
	return resume_of(tp)->paced || resume_of(tp)->state >= RESUME_UNVALIDATED;
}

/*
 * Returns whether another congestion control is to be set, and its name in @ret, which is empty
 * before; "": the default. bitcp that was set without a trial goes when the room is filled, but not
 * with the ACK that ends a recovery, which the kernel may be about to undo
 * (tcp_undo_cwnd_reduction()).
 */
static __always_inline bool next_cc(char ret[TCPTUNED_CC_NAME_MAX],
				    const struct tcptuned_flow *flow, struct tcp_sock *tp,
				    const struct tcptuned_policy *policy, struct random_loss *l,
				    const struct random_loss_round *round)
{
	enum random_loss_did did = random_loss_round(l, round);

	if (did != RANDOM_LOSS_NOTHING || random_loss_has_another(l)) {
		l->room = 0;
		if (did == RANDOM_LOSS_TRY)
			__builtin_memcpy(ret, policy->cc_random_loss, TCPTUNED_CC_NAME_MAX);
		return did == RANDOM_LOSS_TRY || did == RANDOM_LOSS_DROP;
	}
	l->room = room_round(l->room, round);
	if (flow->flags & TCPTUNED_F_CC_SET) {
		char now[TCPTUNED_CC_NAME_MAX] = {};

		read_cc_name(now, tp);
		return !l->room && is_bitcp(now) && !is_resuming(tp) && !sk_is_recovering(tp);
	}
	if (l->room < ROOM_ROUNDS ||
	    (!l->path_is_long && tp->snd_cwnd < policy->cc_long_path_segments))
		return false;
	__builtin_memcpy(ret, CC_NAME("bitcp"), TCPTUNED_CC_NAME_MAX);
	return true;
}

/*
 * Sets it in place of the default, or of bitcp, which was chosen before. If that cannot be, there
 * is no trial any more.
 */
static __always_inline void set_next_cc(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
					struct tcp_sock *tp, const struct tcptuned_policy *policy,
					struct random_loss *l, char name[TCPTUNED_CC_NAME_MAX])
{
	char now[TCPTUNED_CC_NAME_MAX] = {};

	read_cc_name(now, tp);
	if (!is_same_name(now, name) &&
	    ((flow->flags & TCPTUNED_F_CC_SET) || may_set_auto_cc(flow, tp, policy, now)) &&
	    !set_cc(ctx, flow, tp, name))
		return;
	l->room = 0;
	if (l->state != RANDOM_LOSS_TRIED)
		return;
	l->state = RANDOM_LOSS_DROPPED;
	l->window = 0; /* there was none */
}

/*
 * A round trip ends of a connection whose slow start is over. Returns whether BBR was dropped: the
 * kernel's CUBIC would go on with its window (resume_cubic(), which the caller calls, because then
 * this function's stack is free).
 */
__bpf_global int choose_cc(struct bpf_sock_ops *ctx)
{
	struct tcp_sock *tp = tcp_sock_of(ctx);
	struct tcptuned_flow *flow = tp ? flow_of(tp) : NULL;
	const struct tcptuned_policy *policy;
	char name[TCPTUNED_CC_NAME_MAX] = {};
	struct random_loss_round round = {};
	struct random_loss *l;

	if (!flow || (flow->flags & TCPTUNED_F_JUMPS))
		return 0;
	policy = policy_by_id(flow->policy);
	if (!policy || !policy->cc_auto || policy->mode != TCPTUNED_TUNE ||
	    !policy->cc_random_loss[0])
		return 0;
	l = get_random_loss(tp, policy);
	if (!l)
		return 0;
	if (random_loss_has_another(l) &&
	    !(flow->flags & TCPTUNED_F_CC_SET)) { /* another one was set since */
		bpf_sk_storage_delete(&random_losses, tp);
		return 0;
	}
	fill_round(&round, tp);
	if (!next_cc(name, flow, tp, policy, l, &round))
		return 0;
	if (name[0]) {
		set_next_cc(ctx, flow, tp, policy, l, name);
		return 0;
	}
	read_cc_name(name, tp);
	restore_cc(ctx, flow, tp);
	return l->state == RANDOM_LOSS_DROPPED && !is_bitcp(name);
}
