/* SPDX-License-Identifier: GPL-2.0-only */
/* The record of a connection, when a policy begins to manage it or another one takes its place. */
#pragma once

#include "budget.h"
#include "maps.h"
#include "sock.h"
#include <tcptuned/algo/rightsize.h>

/* The flag of either buffer; that of the send buffer is the next bit (<tcptuned/abi/flow.h>). */
#define flag_of(receive, rcv_flag) ((__u32)(rcv_flag) << !(receive))

/* The record of a socket, as any pointer that bpf_sk_storage_get() takes; NULL: it has none. */
static __always_inline struct tcptuned_flow *flow_of(void *sk)
{
	return bpf_sk_storage_get(&flows, sk, NULL, 0);
}

/* The record of a socket, created if it has none; NULL: no memory, or there are too many. */
static __always_inline struct tcptuned_flow *get_record(void *sk)
{
	struct tcptuned_flow *flow = flow_of(sk);
	struct budget *b = single_value(&budget);

	if (flow || !b)
		return flow;
	if (budget_add_record(b)) {
		flow = bpf_sk_storage_get(&flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
		if (flow)
			return flow;
		budget_remove_record(b);
	}
	count(TCPTUNED_C_STORAGE_FAILED);
	return NULL;
}

/* What is known of a socket's losses; NULL: its slow start is not over, or none is watched. */
static __always_inline struct random_loss *random_loss_of(void *sk)
{
	return bpf_sk_storage_get(&random_losses, sk, NULL, 0);
}

static __always_inline void delete_record(void *sk)
{
	struct budget *b = single_value(&budget);

	bpf_sk_storage_delete(&random_losses, sk);
	if (b && !bpf_sk_storage_delete(&flows, sk))
		budget_remove_record(b);
}

/* sk_userlocks without those that come from sizing its buffers here. */
static __always_inline __u32 application_locks(const struct tcptuned_flow *flow,
					       struct tcp_sock *tp)
{
	__u32 locks = sk_buffer_locks(tp);

	if ((flow->flags & TCPTUNED_F_RCV_LOCKED) && tcptuned_request(flow, true) != REQUEST_LIFTED)
		locks &= ~SOCK_RCVBUF_LOCK;
	if ((flow->flags & TCPTUNED_F_SND_LOCKED) &&
	    tcptuned_request(flow, false) != REQUEST_LIFTED)
		locks &= ~SOCK_SNDBUF_LOCK;
	return locks;
}

/*
 * The most that the kernel alone would give, bytes: @max of tcp_rmem or tcp_wmem, or what is
 * locked, or would be if it had not been withheld, if that is more.
 */
static __always_inline __u32 kernel_max_buffer(const struct tcptuned_flow *flow, __u32 max,
					       bool receive)
{
	__u32 asked = 2 * (receive ? flow->req_rcvbuf : flow->req_sndbuf);
	enum request request = tcptuned_request(flow, receive);

	if (request == REQUEST_LIFTED)
		return asked;
	if (request == REQUEST_WITHHELD || request == REQUEST_LISTENER)
		return max > asked ? max : asked;
	return max;
}

/* Copies what will be needed of @policy; its requests for buffer sizes are already resolved. */
static __always_inline void copy_policy(struct tcptuned_flow *flow, struct tcp_sock *tp,
					const struct tcptuned_policy *policy, __u32 id)
{
	flow->policy = id;
	flow->flags &= ~TCPTUNED_F_OBSERVE;
	if (policy->mode == TCPTUNED_OBSERVE)
		flow->flags |= TCPTUNED_F_OBSERVE;
	flow->rcv_window_max = policy->rcv_window_max;
	flow->snd_window_max = policy->snd_window_max;
	flow->rcv_buffer_max = policy->rcv_buffer_max;
	flow->snd_buffer_max = policy->snd_buffer_max;
	flow->rcv_base = kernel_max_buffer(flow, policy->rcv_kernel_max, true);
	flow->snd_base = kernel_max_buffer(flow, sk_max_sndbuf(tp), false);
}

/* Begins to manage a connection. The application's earlier requests stay in the record. */
static __always_inline void init_record(struct tcptuned_flow *flow, struct tcp_sock *tp,
					const struct tcptuned_policy *policy, __u32 id)
{
	join_budget(flow, tp);
	/* A socket that was disconnected measures again with its next connection. */
	__builtin_memset(&flow->rcv, 0, sizeof(flow->rcv));
	__builtin_memset(&flow->snd, 0, sizeof(flow->snd));
	__builtin_memset(&flow->reader, 0, sizeof(flow->reader));
	flow->flags = (flow->flags & TCPTUNED_F_KEPT_ON_CONNECT) | TCPTUNED_F_MANAGED;
	copy_policy(flow, tp, policy, id);
	flow->snd_unsent = flow->rcv_clamp = flow->rcv_allowed = 0;
	flow->snd_writer = flow->snd_late = 0;
	flow->snd.seen_bytes = (__u32)tp->bytes_acked;
	rightsize_rtt_sample(&flow->rcv, sk_min_rtt_us(tp));
	rightsize_rtt_sample(&flow->snd, sk_min_rtt_us(tp));
}

/* Removes the limit of unsent data, unless the application has set another one since. */
static __always_inline void clear_unsent_limit(void *ctx, struct tcptuned_flow *flow,
					       struct tcp_sock *tp)
{
	if (flow->snd_unsent && BPF_CORE_READ(tp, notsent_lowat) == flow->snd_unsent)
		set_option(ctx, SOL_TCP, TCP_NOTSENT_LOWAT, 0);
	flow->snd_unsent = 0;
}
