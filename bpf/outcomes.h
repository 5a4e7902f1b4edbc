/* SPDX-License-Identifier: GPL-2.0-only */
/* Outcomes of connections whose policy holds some back: <tcptuned/abi/outcome.h>. */
#pragma once

#include "maps.h"
#include "policy.h"
#include "sock.h"
#include <tcptuned/abi/outcome.h>

/* A connection that takes part, when its record was created: it is new then. */
struct participant {
	__u64 received, acked; /* bytes */
	__u64 busy;	       /* jiffies */
	__u32 jiffies;
	__u32 policy; /* id */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct participant);
} participants SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TCPTUNED_POLICIES_MAX * 4 * TCPTUNED_OUTCOME_SIZES);
	__type(key, struct tcptuned_outcome_key);
	__type(value, struct tcptuned_outcome);
} outcomes SEC(".maps");

static __always_inline void begin_trial(struct tcp_sock *tp, const struct tcptuned_policy *policy,
					__u32 id)
{
	struct participant *p;
	__u32 now = bpf_jiffies64();

	if (!policy->holdback)
		return;
	p = bpf_sk_storage_get(&participants, tp, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!p)
		return;
	p->received = tp->bytes_received;
	p->acked = tp->bytes_acked;
	p->busy = sk_waits(tp, now).busy;
	p->jiffies = now;
	p->policy = id;
}

/* What is counted of one connection. */
struct result {
	struct tcptuned_outcome_key key;
	__u64 bytes, jiffies;
	__u64 segments, retransmits;
	__u64 busy, limited; /* jiffies, since it was made */
	__u32 rtt_us;
};

static __always_inline __u64 share_of(__u64 part, __u64 all)
{
	return all ? (part << 16) / all : 0;
}

static __always_inline void add_moments(struct tcptuned_moments *m, __s64 value)
{
	__sync_fetch_and_add(&m->sum, value);
	__sync_fetch_and_add(&m->squares, (__u64)(value * value));
}

__bpf_global int add_result(const struct result *r)
{
	struct tcptuned_outcome zero = {}, *o;
	struct tcptuned_outcome_key key;

	if (!r)
		return 0;
	key = r->key;
	o = bpf_map_lookup_elem(&outcomes, &key);
	if (!o) {
		bpf_map_update_elem(&outcomes, &key, &zero, BPF_NOEXIST);
		o = bpf_map_lookup_elem(&outcomes, &key);
	}
	if (!o)
		return 0;
	__sync_fetch_and_add(&o->connections, 1);
	__sync_fetch_and_add(&o->bytes, r->bytes);
	__sync_fetch_and_add(&o->segments, r->segments);
	__sync_fetch_and_add(&o->retransmits, r->retransmits);
	add_moments(&o->of[TCPTUNED_RATE],
		    (__s64)tcptuned_log2_fixed(r->bytes) - (__s64)tcptuned_log2_fixed(r->jiffies));
	add_moments(&o->of[TCPTUNED_RTT], tcptuned_log2_fixed(r->rtt_us));
	add_moments(&o->of[TCPTUNED_RETRANSMITTED], share_of(r->retransmits, r->segments));
	add_moments(&o->of[TCPTUNED_LIMITED], share_of(r->limited, r->busy));
	return 0;
}

/* A connection ends: it counts if it has the policy with which it began, and has carried enough. */
static __always_inline void end_trial(const struct tcptuned_flow *flow, struct tcp_sock *tp,
				      const struct tcptuned_waits *waits)
{
	const struct participant *p = bpf_sk_storage_get(&participants, tp, NULL, 0);
	const struct tcptuned_policy *policy = p ? policy_by_id(p->policy) : NULL;
	struct result r = {};
	__u64 received, acked;

	if (!policy || p->policy != flow->policy)
		return;
	received = tp->bytes_received - p->received;
	acked = tp->bytes_acked - p->acked;
	r.key.trial = policy->trial;
	r.key.held_back = !!(p->policy & TCPTUNED_POLICY_HELD_BACK);
	r.key.sends = acked >= received;
	r.bytes = r.key.sends ? acked : received;
	if (r.bytes < TCPTUNED_OUTCOME_BYTES_MIN)
		return;
	r.key.size = tcptuned_outcome_size(r.bytes);
	r.jiffies = r.key.sends ? waits->busy - p->busy
				: tp->inet_conn.icsk_ack.lrcvtime - p->jiffies;
	if (!r.jiffies)
		r.jiffies = 1;
	r.segments = sk_segments_sent(tp);
	r.retransmits = tp->total_retrans;
	r.busy = waits->busy;
	r.limited = waits->rwnd + waits->sndbuf;
	r.rtt_us = (r.key.sends ? tp->srtt_us : tp->rcv_rtt_est.rtt_us) >> 3;
	add_result(&r);
}
