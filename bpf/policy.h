/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which policy a connection gets, by the match trie and the rules of <tcptuned/abi/policy.h>.
 * Sockets are read by bpf_core_read() here, so that a pointer of any kind to one will do.
 */
#pragma once

#include "maps.h"
#include "sock.h"
#include <tcptuned/algo/trial_draw.h>

#define CGROUP_DEPTH_MAX 32 /* levels of cgroups that are searched */

/* What is compared with the rules, the next rule, and the result. */
struct rule_search {
	struct endpoints ends;
	__u64 sk; /* the struct sock as a number, since callbacks take no pointers to kernel memory;
		   * 0: there is none yet, and the search fails where the cgroup would decide */
	__u32 local_port;
	__u32 remote_port;
	__u32 array; /* of the rules */
	__u32 next;  /* the rule to try */
	__u32 policy;
	__u32 found;
};

static __always_inline const struct tcptuned_policy *policy_by_id(__u32 id)
{
	return bpf_map_lookup_elem(&policies, &id);
}

/* The entry for @length bits of @address; NULL: there is no configuration yet. */
static __always_inline const struct tcptuned_match *look_up_match(const void *address, __u32 length)
{
	struct tcptuned_match_key key = {.length = length};
	void *trie = single_value(&match);

	if (!trie)
		return NULL;
	if (length)
		__builtin_memcpy(key.address, address, sizeof(key.address));
	return bpf_map_lookup_elem(trie, &key);
}

/* The entry for connections to any address. */
static __always_inline const struct tcptuned_match *default_match(void)
{
	return look_up_match(NULL, 0);
}

static __always_inline bool is_in_cgroup(struct sock *sk, __u64 id)
{
	struct cgroup *cgroup = BPF_CORE_READ(sk, sk_cgrp_data.cgroup), *ancestor;
	__u32 offset = bpf_core_field_offset(struct cgroup, ancestors);
	int i, level;

	if (!cgroup || !id)
		return false;
	level = BPF_CORE_READ(cgroup, level);
	for (i = 0; i < CGROUP_DEPTH_MAX && i <= level; i++) {
		if (bpf_probe_read_kernel(&ancestor, sizeof(ancestor),
					  (char *)cgroup + offset + i * sizeof(ancestor)))
			return false;
		if (BPF_CORE_READ(ancestor, kn, id) == id)
			return true;
	}
	return false;
}

__bpf_global int rule_matches(const struct tcptuned_rule *rule, const struct rule_search *s)
{
	if (!rule || !s)
		return 0;
	if (!tcptuned_rule_matches(rule, (const __u8 *)s->ends.local, (const __u8 *)s->ends.remote,
				   s->local_port, s->remote_port))
		return 0;
	return !(rule->flags & TCPTUNED_RULE_CGROUP) || !s->sk ||
	       is_in_cgroup((struct sock *)s->sk, rule->cgroup);
}

/* A callback of bpf_loop(), which 1 ends. */
static long try_rule(__u32 i, struct rule_search *s)
{
	__u32 array = s->array, next = s->next;
	const struct tcptuned_rule *rule;
	void *current;

	current = bpf_map_lookup_elem(&rules, &array);
	rule = current ? bpf_map_lookup_elem(current, &next) : NULL;
	if (!rule)
		return 1;
	if (rule_matches(rule, s)) {
		s->policy = rule->policy;
		s->found = s->sk || !(rule->flags & TCPTUNED_RULE_CGROUP);
		return 1;
	}
	s->next = rule->next;
	return s->next == TCPTUNED_RULE_NONE;
}

static __always_inline void init_search(struct rule_search *s, struct sock *sk)
{
	s->sk = (__u64)sk;
	sk_endpoints(&sk->__sk_common, &s->ends);
	s->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	s->remote_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
}

/* True if a rule of the chain that starts with @first matches. */
static __always_inline bool search_from(struct rule_search *s, __u32 first)
{
	s->array = TCPTUNED_RULE_ARRAY(first);
	s->next = TCPTUNED_RULE_INDEX(first);
	if (s->next != TCPTUNED_RULE_NONE)
		bpf_loop(TCPTUNED_CHAIN_MAX, try_rule, s, 0);
	return s->found;
}

static __always_inline bool search_by_remote(struct rule_search *s)
{
	const struct tcptuned_match *m = look_up_match(s->ends.remote, 128);

	return m && search_from(s, m->first);
}

/* Multipath TCP sizes the buffers of its subflows and of its listeners itself. */
static __always_inline bool is_multipath(struct tcp_sock *tp)
{
	return bpf_core_field_exists(tp->is_mptcp) && BPF_CORE_READ(tp, is_mptcp);
}

/*
 * The id of the policy that was found; of those that are held back, that which leaves them alone.
 */
static __always_inline __u32 found_policy(const struct rule_search *s)
{
	const struct tcptuned_policy *policy = policy_by_id(s->policy);

	if (policy && policy->holdback &&
	    trial_draw(policy->trial, policy->holdback, s->ends.local, s->ends.remote,
		       s->local_port, s->remote_port))
		return s->policy | TCPTUNED_POLICY_HELD_BACK;
	return s->policy;
}

/* Argument and result of the searches below, which are global functions. */
struct search_result {
	__u64 sk;
	__u32 policy;
};

/* Returns 1 with the id of the policy in @r, also if that policy is off. */
__bpf_global int search_policy(struct search_result *r)
{
	struct rule_search s = {0};

	if (!r)
		return 0;
	if (is_multipath((struct tcp_sock *)r->sk))
		return 0;
	init_search(&s, (struct sock *)r->sk);
	if (!search_by_remote(&s))
		return 0;
	r->policy = found_policy(&s);
	return 1;
}

/* The same with the id in @ends, by addresses and ports, where there is no socket yet. */
__bpf_global int search_ends(struct rule_search *ends)
{
	struct rule_search s;

	if (!ends)
		return 0;
	s = *ends;
	if (!search_by_remote(&s))
		return 0;
	ends->policy = found_policy(&s);
	return 1;
}

/* The policy that manages this connection, and its id; NULL: none does. */
static __always_inline const struct tcptuned_policy *policy_of_socket(struct tcp_sock *tp,
								      __u32 *ret_id)
{
	struct search_result r = {.sk = (__u64)tp};
	const struct tcptuned_policy *policy;

	if (!search_policy(&r))
		return NULL;
	policy = policy_by_id(r.policy);
	*ret_id = r.policy;
	return policy && policy->mode != TCPTUNED_OFF ? policy : NULL;
}

/*
 * A connection has ended or left the policy @id (@ended), or will come to it though it is open. A
 * reader, which reads "ended", open connections, and then "before", counts nothing twice.
 */
static __always_inline void add_traffic(__u32 id, struct tcp_sock *tp, bool ended)
{
	const struct tcptuned_policy *policy = policy_by_id(id);
	struct tcptuned_traffic its = sk_traffic(tp), *sum;
	struct tcptuned_policy_traffic *t;
	int i;

	t = policy ? bpf_map_lookup_elem(&traffic, policy->name) : NULL;
	if (!t)
		return;
	sum = (ended ? t->ended : t->before) + (policy->mode == TCPTUNED_OBSERVE);
	for (i = 0; i < TCPTUNED_CARRIED; i++)
		__sync_fetch_and_add(&sum->carried[i], its.carried[i]);
}

/* Returns 1 if by the chain at @first the request of this listener is honoured. */
__bpf_global int search_listener(struct search_result *r, __u32 first)
{
	struct rule_search s = {0};

	if (!r)
		return 0;
	init_search(&s, (struct sock *)r->sk);
	return search_from(&s, first) && s.policy;
}

/*
 * True if this listener may accept a connection whose policy honours SO_RCVBUF. Its peers are not
 * known, and often not its address either.
 */
static __always_inline bool listener_may_honour(struct sock *sk, const struct tcptuned_match *m)
{
	struct search_result r = {.sk = (__u64)sk};

	return search_listener(&r, m->listener_rcvbuf);
}
