/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SO_RCVBUF and SO_SNDBUF requests of applications. The policy of a socket is known only when it
 * connects. Until then an SO_RCVBUF, which would limit the window scale, is withheld if any policy
 * might override it; when the policy is known, the request is dropped or passed on to the kernel.
 * The kernel gets an SO_SNDBUF in any case, and tcptuned enlarges the buffer later.
 *
 * @receive: SO_RCVBUF, or else SO_SNDBUF. @ctx: whatever bpf_setsockopt() takes.
 */
#pragma once

#include "maps.h"
#include "policy.h"
#include "record.h"
#include "sock.h"
#include "totals.h"

static __always_inline enum request_action action_of(const struct tcptuned_policy *policy,
						     bool receive)
{
	if (!policy || !(receive ? policy->override_rcvbuf : policy->override_sndbuf))
		return REQUEST_HONOURED;
	return policy->mode == TCPTUNED_TUNE ? REQUEST_OVERRIDDEN : REQUEST_OBSERVED;
}

/* True if a request does not count before its connection's policy is known. */
static __always_inline bool counts_at_connect(const struct tcptuned_match *m, bool receive)
{
	return !receive || TCPTUNED_RULE_INDEX(m->listener_rcvbuf) != TCPTUNED_RULE_NONE;
}

static __always_inline void count_request(bool receive)
{
	count(receive ? TCPTUNED_C_RCVBUF_OVERRIDDEN : TCPTUNED_C_SNDBUF_OVERRIDDEN);
}

static __always_inline void store_request(struct tcptuned_flow *flow,
					  const struct tcptuned_policy *policy, bool receive,
					  __u32 bytes)
{
	if (receive) {
		flow->req_rcvbuf = bytes;
		flow->rcv_buffer_max = policy->rcv_buffer_max;
	} else {
		flow->req_sndbuf = bytes;
	}
}

static __always_inline enum request advance_request(struct tcptuned_flow *flow, bool receive,
						    enum request_event event,
						    enum request_action action)
{
	enum request next = request_next(tcptuned_request(flow, receive), event, action);

	tcptuned_set_request(flow, receive, next);
	return next;
}

/* Gives the kernel an intercepted request. @min: sk_min_rcvbuf(); 0: no window is advertised. */
static __always_inline void pass_request_on(void *ctx, struct tcptuned_flow *flow, bool receive,
					    __u32 min)
{
	enum request request = tcptuned_request(flow, receive);
	__u32 locked = flag_of(receive, TCPTUNED_F_RCV_LOCKED);
	int value = receive ? flow->req_rcvbuf : flow->req_sndbuf;

	if (!request_is_hidden(request))
		return;
	if (receive && value < (int)(min / 2))
		value = min / 2;
	/*
	 * The kernel has had one that was lifted, but the buffer may have been sized since. Where
	 * net.core.rmem_max is less than what is advertised, it would close that window.
	 */
	if ((request == REQUEST_WITHHELD || (flow->flags & locked)) &&
	    (!receive || min <= flow->rcv_buffer_max)) {
		set_option(ctx, SOL_SOCKET, receive ? SO_RCVBUF : SO_SNDBUF, value);
		flow->flags &= ~locked;
	}
	advance_request(flow, receive, REQUEST_RESTORED, REQUEST_HONOURED);
}

static __always_inline void record_request(struct tcptuned_flow *flow,
					   const struct tcptuned_policy *policy, bool receive,
					   __u32 buffer)
{
	enum request before = tcptuned_request(flow, receive), now;
	bool small = buffer / 2 < REQUEST_MIN && !request_is_hidden(before);

	now = advance_request(flow, receive, REQUEST_FOUND,
			      small ? REQUEST_HONOURED : action_of(policy, receive));
	if (now == REQUEST_APPLICATION) {
		flow->flags &= ~flag_of(receive, TCPTUNED_F_RCV_LOCKED);
	} else if (now != before) {
		store_request(flow, policy, receive, buffer / 2); /* the kernel doubled it */
		if (before != REQUEST_PASSED_ON)
			count_request(receive);
	}
}

/* @locks: application_locks(); @rcvbuf, @sndbuf: the sizes that the socket has, bytes of memory */
__bpf_global int record_requests(struct tcptuned_flow *flow, const struct tcptuned_policy *policy,
				 __u32 locks, __u32 rcvbuf, __u32 sndbuf)
{
	if (!flow || !policy)
		return 0;
	if (locks & SOCK_RCVBUF_LOCK)
		record_request(flow, policy, true, rcvbuf);
	if (locks & SOCK_SNDBUF_LOCK)
		record_request(flow, policy, false, sndbuf);
	return 0;
}

static __always_inline struct tcptuned_listener_key listener_key(const struct sock_common *skc)
{
	return (struct tcptuned_listener_key){
		.netns_cookie = BPF_CORE_READ(skc, skc_net.net, net_cookie),
		.port = BPF_CORE_READ(skc, skc_num),
	};
}

static __always_inline void read_local_address(const struct sock_common *skc, __be32 ret[4])
{
	if (BPF_CORE_READ(skc, skc_family) != AF_INET6)
		bpf_core_read(&ret[3], 4, &skc->skc_rcv_saddr);
	else
		bpf_core_read(ret, 16, &skc->skc_v6_rcv_saddr);
	if (!ret[0] && !ret[1] && ret[2] == bpf_htonl(0xffff))
		ret[2] = 0;
}

/* True if both may accept connections to one address. */
static __always_inline bool overlap(const __be32 a[4], const __be32 b[4])
{
	return !(a[0] | a[1] | a[2] | a[3]) || !(b[0] | b[1] | b[2] | b[3]) ||
	       !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]));
}

/* Keeps what was withheld of a listener (NULL: one without a record), for what it will accept. */
static __always_inline void keep_listener(const struct tcptuned_flow *flow,
					  const struct sock_common *skc)
{
	struct tcptuned_listener_key key = listener_key(skc);
	const struct tcptuned_listener *before;
	struct tcptuned_listener l = {};

	read_local_address(skc, l.address);
	if (flow && request_is_hidden(tcptuned_request(flow, true)))
		l.req_rcvbuf = flow->req_rcvbuf;
	before = bpf_map_lookup_elem(&listeners, &key);
	if (l.req_rcvbuf)
		bpf_map_update_elem(&listeners, &key, &l, BPF_ANY);
	else if (before && overlap(before->address, l.address))
		bpf_map_delete_elem(&listeners, &key);
}

/* What was withheld from the listener that accepted the connection; NULL: nothing. */
static __always_inline const struct tcptuned_listener *listener_of(struct tcp_sock *tp)
{
	const struct sock_common *skc = &tp->inet_conn.icsk_inet.sk.__sk_common;
	struct tcptuned_listener_key key = listener_key(skc);
	const struct tcptuned_listener *l = bpf_map_lookup_elem(&listeners, &key);
	__be32 local[4] = {};

	read_local_address(skc, local);
	return l && overlap(l->address, local) ? l : NULL;
}

/* Records what was withheld from the listener of an accepted connection. */
static __always_inline void record_listener(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct tcptuned_listener *l = listener_of(tp);

	if (l && l->req_rcvbuf && tcptuned_request(flow, true) == REQUEST_NONE) {
		flow->req_rcvbuf = l->req_rcvbuf;
		advance_request(flow, true, REQUEST_ACCEPTED, REQUEST_OVERRIDDEN);
	}
}

/* Passes on what was withheld from the listener, for a connection that is held back. */
static __always_inline void honour_listener(void *ctx, struct tcptuned_flow *flow, __u32 min)
{
	if (tcptuned_request(flow, true) != REQUEST_LISTENER)
		return;
	advance_request(flow, true, REQUEST_SET, REQUEST_OVERRIDDEN);
	pass_request_on(ctx, flow, true, min);
}

/* Records requests that the kernel honoured before tcptuned could intercept them. */
static __always_inline void record_earlier_requests(struct tcptuned_flow *flow, struct tcp_sock *tp,
						    const struct tcptuned_policy *policy)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;

	record_requests(flow, policy, application_locks(flow, tp), sk->sk_rcvbuf, sk->sk_sndbuf);
}

static __always_inline void resolve_request(void *ctx, struct tcptuned_flow *flow,
					    const struct tcptuned_match *m,
					    const struct tcptuned_policy *policy, bool receive,
					    __u32 min)
{
	enum request_action action = action_of(policy, receive);

	if (action != REQUEST_OVERRIDDEN)
		pass_request_on(ctx, flow, receive, min);
	advance_request(flow, receive, REQUEST_CONNECT, action);
	if (request_is_overridden(tcptuned_request(flow, receive)) && m &&
	    counts_at_connect(m, receive) && !(flow->flags & TCPTUNED_F_POLICY_CHOSEN))
		count_request(receive);
}

/*
 * Applies @policy (NULL: none) to the requests of a socket that connects or has connected. One that
 * tries again after it was refused is counted once. @min: see pass_request_on().
 */
__bpf_global int resolve_requests(struct bpf_sock_ops *ctx, struct tcptuned_flow *flow,
				  const struct tcptuned_policy *policy, __u32 min)
{
	const struct tcptuned_match *m = default_match();

	if (!flow)
		return 0;
	resolve_request(ctx, flow, m, policy, true, min);
	resolve_request(ctx, flow, m, policy, false, 0);
	return 0;
}
