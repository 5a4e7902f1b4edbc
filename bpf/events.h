/* SPDX-License-Identifier: GPL-2.0-only */
/* Tell whoever listens what was decided. While nobody does, it is one look into an array. */
#ifndef TCPTUNED_BPF_EVENTS_H
#define TCPTUNED_BPF_EVENTS_H

#include "kernel.h"
#include "maps.h"
#include <tcptuned/abi/event.h>

/* An event begun: kind, time, numbers. NULL: nobody listens, or the ring is full. */
static __always_inline struct tcptuned_event *event_begin(enum tcptuned_event_kind kind, __u64 a,
							  __u64 b)
{
	struct tcptuned_event_gate *gate;
	struct tcptuned_event *event;
	__u64 now_ns;
	__u32 zero = 0;

	gate = bpf_map_lookup_elem(&event_gate, &zero);
	if (!gate || !gate->until_ns)
		return NULL;
	now_ns = bpf_ktime_get_ns();
	if (now_ns > gate->until_ns)
		return NULL;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count(TCPTUNED_C_EVENTS_LOST);
		return NULL;
	}
	__builtin_memset(event, 0, sizeof(*event));
	event->time_ns = now_ns;
	event->a = a;
	event->b = b;
	event->kind = kind;
	return event;
}

/* What there is to tell, and about which connection. */
struct happening {
	__u64 sk; /* as a number */
	__u64 a, b;
	__u32 kind;
	__u32 policy;
	__u32 flags; /* of the connection's record */
	__u32 unused;
};

/* The verifier walks it once, and not for each event and each state that leads to one. */
verified_once int event_of(const struct happening *what)
{
	struct tcptuned_event *event;
	struct sock_common *skc;

	if (!what)
		return 0;
	event = event_begin(what->kind, what->a, what->b);
	if (!event)
		return 0;
	skc = (struct sock_common *)what->sk;
	event->family = BPF_CORE_READ(skc, skc_family);
	event->local_port = BPF_CORE_READ(skc, skc_num);
	event->remote_port = bpf_ntohs(BPF_CORE_READ(skc, skc_dport));
	event->netns = BPF_CORE_READ(skc, skc_net.net, ns.inum);
	if (event->family == AF_INET6) {
		bpf_core_read(event->local, sizeof(event->local), &skc->skc_v6_rcv_saddr);
		bpf_core_read(event->remote, sizeof(event->remote), &skc->skc_v6_daddr);
	} else {
		bpf_core_read(event->local, sizeof(__be32), &skc->skc_rcv_saddr);
		bpf_core_read(event->remote, sizeof(__be32), &skc->skc_daddr);
	}
	event->policy = what->policy;
	if (what->flags & TCPTUNED_F_OBSERVE)
		event->flags |= TCPTUNED_EV_DRY_RUN;
	bpf_ringbuf_submit(event, 0);
	return 0;
}

/* @a, @b: by kind, <tcptuned/abi/event.h>; policy and dry run are the connection's own. */
static __always_inline void event(enum tcptuned_event_kind kind, struct tcp_sock *tp,
				  const struct tcptuned_flow *flow, __u64 a, __u64 b)
{
	struct happening what = { (__u64)tp, a, b, kind, flow->policy, flow->flags, 0 };

	event_of(&what);
}

/* A name of up to 16 characters in the two numbers. */
static __always_inline void event_name(enum tcptuned_event_kind kind, struct tcp_sock *tp,
				       const struct tcptuned_flow *flow,
				       const char name[TCPTUNED_CC_NAME_MAX])
{
	__u64 halves[2];

	__builtin_memcpy(halves, name, sizeof(halves));
	event(kind, tp, flow, halves[0], halves[1]);
}

/*
 * From a setsockopt() program, which may look at no tcp_sock. The network namespace is the
 * caller's, in which nearly every socket is used that was made there.
 * @a: what was asked for; the other number is the process that asked
 */
static __noinline __attribute__((unused)) int
event_of_call(enum tcptuned_event_kind kind, struct bpf_sock *sk, __u32 policy_key, bool dry_run,
	      __u64 a)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tcptuned_event *event = event_begin(kind, a, task->tgid);

	if (!event)
		return 0;
	event->family = sk->family;
	event->local_port = sk->src_port;
	event->remote_port = bpf_ntohs(sk->dst_port);
	event->netns = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
	event->policy = policy_key;
	if (dry_run)
		event->flags |= TCPTUNED_EV_DRY_RUN;
	if (event->family == AF_INET6) {
		__builtin_memcpy(event->local, (__u32[]){ sk->src_ip6[0], sk->src_ip6[1],
				 sk->src_ip6[2], sk->src_ip6[3] }, 16);
		__builtin_memcpy(event->remote, (__u32[]){ sk->dst_ip6[0], sk->dst_ip6[1],
				 sk->dst_ip6[2], sk->dst_ip6[3] }, 16);
	} else {
		__builtin_memcpy(event->local, &(__u32){ sk->src_ip4 }, 4);
		__builtin_memcpy(event->remote, &(__u32){ sk->dst_ip4 }, 4);
	}
	bpf_ringbuf_submit(event, 0);
	return 0;
}

#endif
