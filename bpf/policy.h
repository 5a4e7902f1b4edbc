/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which policy a connection comes under: <tcptuned/abi/policy.h> says what is looked at. Sockets
 * are read through bpf_core_read() here, so that any pointer to one will do.
 */
#ifndef TCPTUNED_BPF_POLICY_H
#define TCPTUNED_BPF_POLICY_H

#include "kernel.h"
#include "maps.h"

#define CGROUP_DEPTH_MAX 32 /* levels of cgroups that are looked at */

/* One connection, or one listener, on its way through the rules. */
struct search {
	__u8 local[16]; /* IPv4 as ::ffff:a.b.c.d */
	__u8 remote[16];
	__u64 sk; /* the struct sock, as a number: callbacks take no pointers to kernel memory;
		   * 0: there is none yet, and where its cgroup would decide nothing is found */
	__u32 local_port;
	__u32 remote_port;
	__u32 array; /* of the rules */
	__u32 next;  /* the rule to try */
	__u32 policy;
	__u32 found;
};

static __always_inline const struct tcptuned_policy *policy_of(__u32 key)
{
	return bpf_map_lookup_elem(&policies, &key);
}

/* The entry for @length bits of @address; NULL while there is no configuration. */
static __always_inline const struct tcptuned_match *match_of(const __u8 *address, __u32 length)
{
	struct tcptuned_match_key key = { .length = length };
	__u32 zero = 0;
	void *trie;

	trie = bpf_map_lookup_elem(&match, &zero);
	if (!trie)
		return NULL;
	if (length)
		__builtin_memcpy(key.address, address, sizeof(key.address));
	return bpf_map_lookup_elem(trie, &key);
}

/* What holds for connections to anywhere. */
static __always_inline const struct tcptuned_match *match_anywhere(void)
{
	return match_of(NULL, 0);
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

/* Both ways of searching come here, and each is verified with all that it calls. */
verified_once int rule_takes(const struct tcptuned_rule *rule, const struct search *s)
{
	if (!rule || !s)
		return 0;
	if (!tcptuned_rule_matches(rule, s->local, s->remote, s->local_port, s->remote_port))
		return 0;
	return !(rule->flags & TCPTUNED_RULE_CGROUP) || !s->sk ||
	       is_in_cgroup((struct sock *)s->sk, rule->cgroup);
}

/* A callback of bpf_loop(): 1 ends it. */
static long try_rule(__u32 i, struct search *s)
{
	__u32 array = s->array, next = s->next;
	const struct tcptuned_rule *rule;
	void *here;

	here = bpf_map_lookup_elem(&rules, &array);
	rule = here ? bpf_map_lookup_elem(here, &next) : NULL;
	if (!rule)
		return 1;
	if (rule_takes(rule, s)) {
		s->policy = rule->policy;
		s->found = s->sk || !(rule->flags & TCPTUNED_RULE_CGROUP);
		return 1;
	}
	s->next = rule->next;
	return s->next == TCPTUNED_RULE_NONE;
}

static __always_inline void copy_address(__u8 *to, __u16 family, const void *ipv4,
					 const void *ipv6)
{
	if (family == AF_INET6) {
		bpf_core_read(to, 16, ipv6);
		return;
	}
	to[10] = to[11] = 0xff;
	bpf_core_read(to + 12, 4, ipv4);
}

static __always_inline void search_begin(struct search *s, struct sock *sk)
{
	struct sock_common *skc = &sk->__sk_common;
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	copy_address(s->local, family, &skc->skc_rcv_saddr, &skc->skc_v6_rcv_saddr);
	copy_address(s->remote, family, &skc->skc_daddr, &skc->skc_v6_daddr);
	s->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	s->remote_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
}

/* Does a rule match, of the @most that begin with the one at @first? */
static __always_inline bool search_from(struct search *s, __u32 first, __u32 most)
{
	s->array = TCPTUNED_RULE_ARRAY(first);
	s->next = TCPTUNED_RULE_INDEX(first);
	if (s->next != TCPTUNED_RULE_NONE)
		bpf_loop(most, try_rule, s, 0);
	return s->found;
}

/* Multipath TCP sizes the buffers of its subflows together, and its listeners' with them. */
static __always_inline bool is_multipath(struct tcp_sock *tp)
{
	return bpf_core_field_exists(tp->is_mptcp) && BPF_CORE_READ(tp, is_mptcp);
}

/* What a search is given, and gives back. */
struct search_result {
	__u64 sk;
	__u32 policy;
};

/* 1: @r->policy is the id of the policy whose connection it is, also if that one is off. */
verified_once int search_policy(struct search_result *r)
{
	const struct tcptuned_match *m;
	struct tcp_sock *tp;
	struct search s = { 0 };

	if (!r)
		return 0;
	tp = (struct tcp_sock *)r->sk;
	if (is_multipath(tp))
		return 0;
	s.sk = r->sk;
	search_begin(&s, (struct sock *)tp);
	m = match_of(s.remote, 128);
	if (!m || !search_from(&s, m->first, TCPTUNED_CHAIN_MAX))
		return 0;
	r->policy = s.policy;
	return 1;
}

/* The same by addresses and ports, where there is no socket yet. */
verified_once int search_ends(struct search_result *r, const struct search *ends)
{
	const struct tcptuned_match *m;
	struct search s;

	if (!r || !ends)
		return 0;
	s = *ends;
	m = match_of(s.remote, 128);
	if (!m || !search_from(&s, m->first, TCPTUNED_CHAIN_MAX))
		return 0;
	r->policy = s.policy;
	return 1;
}

/* The policy that claims this connection, and its key; NULL: none does. */
static __always_inline const struct tcptuned_policy *policy_for(struct tcp_sock *tp, __u32 *ret_key)
{
	struct search_result r = { .sk = (__u64)tp };
	const struct tcptuned_policy *policy;

	if (!search_policy(&r))
		return NULL;
	policy = policy_of(r.policy);
	*ret_key = r.policy;
	return policy && policy->mode != TCPTUNED_OFF ? policy : NULL;
}

/* 1: a rule of the chain at @first matches this listener. */
verified_once int search_listener(struct search_result *r, __u32 first)
{
	struct search s = { 0 };

	if (!r)
		return 0;
	s.sk = r->sk;
	search_begin(&s, (struct sock *)r->sk);
	return search_from(&s, first, TCPTUNED_POLICIES_MAX);
}

/*
 * May this listener accept a connection whose policy lets its SO_RCVBUF (@receive: or its
 * SO_SNDBUF) stand? Its peers are not known, and often not its address.
 */
static __always_inline bool may_stand_at_listener(struct sock *sk, const struct tcptuned_match *m,
						  bool receive)
{
	struct search_result r = { .sk = (__u64)sk };

	return search_listener(&r, receive ? m->stands_rcvbuf : m->stands_sndbuf);
}

#endif
