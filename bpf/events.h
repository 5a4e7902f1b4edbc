/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports decisions to listeners. While there are none, an event costs one array lookup. */
#pragma once

#include "maps.h"
#include "sock.h"
#include "totals.h"

struct event_args {
	__u64 sk; /* as a number */
	__u64 a, b;
	__u32 kind;
	__u32 policy;
	__u32 flags; /* of struct tcptuned_flow */
	__u32 unused;
};

__bpf_global int emit_event_of(const struct event_args *args)
{
	struct tcptuned_event_gate *gate = single_value(&event_gate);
	struct tcptuned_event *event;
	struct sock_common *skc;
	__u64 now_ns;

	if (!args || !gate || !gate->until_ns)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (now_ns > gate->until_ns)
		return 0;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count(TCPTUNED_C_EVENTS_LOST);
		return 0;
	}
	__builtin_memset(event, 0, sizeof(*event));
	event->time_ns = now_ns;
	event->a = args->a;
	event->b = args->b;
	event->kind = args->kind;
	skc = (struct sock_common *)args->sk;
	event->family = BPF_CORE_READ(skc, skc_family);
	event->local_port = BPF_CORE_READ(skc, skc_num);
	event->remote_port = bpf_ntohs(BPF_CORE_READ(skc, skc_dport));
	event->netns = BPF_CORE_READ(skc, skc_net.net, ns.inum);
	sk_read_addresses(skc, event->local, event->remote, 0);
	event->policy = args->policy;
	if (args->flags & TCPTUNED_F_OBSERVE)
		event->flags |= TCPTUNED_EV_OBSERVE;
	bpf_ringbuf_submit(event, 0);
	return 0;
}

/* The meaning of @a and @b depends on @kind: <tcptuned/abi/event.h>. */
static __always_inline void emit_event(enum tcptuned_event_kind kind, struct tcp_sock *tp,
				       const struct tcptuned_flow *flow, __u64 a, __u64 b)
{
	struct event_args args = {(__u64)tp, a, b, kind, flow->policy, flow->flags, 0};

	emit_event_of(&args);
}

/* An event about the congestion control @name, which is put into the two numbers. */
static __always_inline void emit_cc_event(enum tcptuned_event_kind kind, struct tcp_sock *tp,
					  const struct tcptuned_flow *flow,
					  const char name[TCPTUNED_CC_NAME_MAX])
{
	__u64 halves[2];

	__builtin_memcpy(halves, name, sizeof(halves));
	emit_event(kind, tp, flow, halves[0], halves[1]);
}
