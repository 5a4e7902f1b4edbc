// SPDX-License-Identifier: GPL-2.0-only
/*
 * An iterator over all connections. It adds them up, and collects those that user space has asked
 * for (<tcptuned/abi/readout.h>).
 */
#include "congestion_control.h"
#include "maps.h"
#include "record.h"
#include "sock.h"
#include <tcptuned/abi/readout.h>
#include <tcptuned/abi/streams.h>
#include <tcptuned/algo/bitcp.h>

SINGLE_VALUE_MAP(BPF_MAP_TYPE_ARRAY, struct readout) readout SEC(".maps");

/* Of struct tcptuned_flow_record. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, READOUT_RING_BYTES);
} collected SEC(".maps");

/*
 * Only user space reads and writes this map; its pin outlives the daemon. When the map is full, the
 * kernel drops entries that were not updated for long.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TCPTUNED_STREAMS_RECORDS_MAX);
	__uint(key_size, sizeof(struct tcptuned_streams_key));
	__uint(value_size, sizeof(struct tcptuned_streams_record));
} streams SEC(".maps");

/* True if the next segment would exceed the peer's window (tcp_snd_wnd_test()). */
static __always_inline bool window_is_full(const struct tcp_sock *tp, __u32 unsent)
{
	__s32 room = tp->snd_una + tp->snd_wnd - tp->snd_nxt;
	__s32 next = unsent < tp->mss_cache ? unsent : tp->mss_cache;

	return room < next;
}

/* A standing RTT: the smallest of the last round, or the smoothed one if that is smaller. */
static __always_inline __u32 standing_rtt_us(const struct rightsize *rs, __u32 smoothed_us)
{
	return rs->last_low_us && rs->last_low_us < smoothed_us ? rs->last_low_us : smoothed_us;
}

/* The kernel forgets its minimum after five minutes (net.ipv4.tcp_min_rtt_wlen). */
static __always_inline __u32 sender_queue(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 min = sk_min_rtt_us(tp), known = flow->snd.min_rtt_us;

	return limit_queue(tp->snd_nxt - tp->snd_una, standing_rtt_us(&flow->snd, tp->srtt_us >> 3),
			   known && known < min ? known : min, tp->mss_cache);
}

static __always_inline __u8 send_limit_of(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u32 unsent = tp->write_seq - tp->snd_nxt;
	struct limit_sender sender = {
		.unsent = unsent,
		.mss = tp->mss_cache,
		.in_flight = tp->packets_out,
		.queue = sender_queue(flow, tp),
		.sndbuf = sk->sk_sndbuf,
		.snd_wnd = tp->snd_wnd,
		.no_space = (sk->sk_socket->flags & (1u << SOCK_NOSPACE)) ||
			    sk->sk_wmem_queued >= sk->sk_sndbuf,
		.rwnd_limited = BPF_CORE_READ_BITFIELD(tp, chrono_type) == TCPTUNED_CHRONO_RWND,
		.cwnd_limited = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) ||
				tp->packets_out >= tp->snd_cwnd,
		/* A reduction that was undone leaves no threshold. */
		.lost = tp->total_retrans && tp->prior_cwnd &&
			tp->snd_ssthresh < TCP_INFINITE_SSTHRESH,
		.pacing = sk->sk_pacing_status,
		.throttled = sk->sk_tsq_flags & TSQF_THROTTLED,
		.window_full = window_is_full(tp, unsent),
	};

	return limit_of_sender(&sender);
}

/* By the last interval, if one has ended: what arrives in bursts may be in either of two rounds. */
static __always_inline __u32 receive_window_used(const struct tcptuned_flow *flow,
						 struct tcp_sock *tp)
{
	if (!flow->rcv.rate)
		return flow->rcv.per_rtt;
	return rightsize_muldiv(flow->rcv.rate, sk_rcv_rtt_us(tp), 1000000);
}

/*
 * A segment echoes the time of the last ACK, and so a sender that paused looks like a longer path.
 * A queue keeps the link busy, so no silence is longer than what waits there.
 */
static __always_inline __u32 receiver_queue(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	__u32 rtt_us = sk_rcv_rtt_us(tp), min_rtt_us = flow->rcv.min_rtt_us;

	if (tcptuned_request(flow, true) != REQUEST_APPLICATION) /* or its samples are not kept */
		rtt_us = standing_rtt_us(&flow->rcv, rtt_us);
	if (flow->rcv.interval_silent_us + min_rtt_us >= rtt_us)
		return 0;
	return limit_queue(receive_window_used(flow, tp), rtt_us, min_rtt_us, tp->mss_cache);
}

static __always_inline __u8 receive_limit_of(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u64 now_us = bpf_ktime_get_ns() / 1000, seen_us = flow->rcv.seen_us;
	struct limit_receiver receiver = {
		.used = receive_window_used(flow, tp),
		.window = tp->rcv_wnd,
		.queue = receiver_queue(flow, tp),
		.rmem = sk->sk_backlog.rmem_alloc.counter,
		.rcvbuf = sk->sk_rcvbuf,
		.silent_us = now_us > seen_us ? now_us - seen_us : 0,
		.rtt_us = sk_rcv_rtt_us(tp),
		.unread = !!flow->reader.since_us,
		.slow_reader = flow->reader.window &&
			       tcptuned_request(flow, true) != REQUEST_APPLICATION,
	};

	return limit_of_receiver(&receiver);
}

/* The state of bitcp is in the kernel's room for congestion controls (bpf/cc/bitcp.bpf.c). */
static __always_inline void copy_bitcp(struct tcptuned_flow_record *r, struct tcp_sock *tp)
{
	const struct bitcp *st = (const struct bitcp *)tp->inet_conn.icsk_ca_priv;

	if (!is_bitcp(r->congestion_control))
		return;
	r->ca_max_win = st->max_win >> 32;
	r->ca_mode = bitcp_mode(st, r->cwnd, r->ssthresh);
}

/* All ones in the socket are no limit. */
static __always_inline void copy_limits(struct tcptuned_flow_record *r, struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u32 lowat = tp->notsent_lowat;

	if (!lowat)
		lowat = sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_notsent_lowat;
	if (lowat != ~0u)
		r->unsent_max = lowat;
	if (sk->sk_max_pacing_rate != ~0ul)
		r->pacing_max_Bps = sk->sk_max_pacing_rate;
	if (sk->sk_pacing_status && sk->sk_pacing_rate != ~0ul)
		r->pacing_rate_Bps = sk->sk_pacing_rate;
}

/* What it has sent and received, and how long it was limited by what. */
static __always_inline void copy_history(struct tcptuned_flow_record *r, struct tcp_sock *tp,
					 const struct readout_socket *socket)
{
	r->jiffies = bpf_jiffies64();
	r->data_sent = tp->data_segs_out;
	r->data_received = tp->data_segs_in;
	r->out_of_order = tp->rcv_ooopack;
	r->rwnd_jiffies = socket->waits.rwnd;
	r->sndbuf_jiffies = socket->waits.sndbuf;
	r->busy_jiffies = socket->waits.busy;
}

static __always_inline void copy_random_loss(struct tcptuned_flow_record *r, struct tcp_sock *tp)
{
	const struct random_loss *l = random_loss_of(tp);

	if (l)
		r->random_loss = *l;
}

static __always_inline void copy_socket(struct tcptuned_flow_record *r, struct tcp_sock *tp,
					const struct readout_socket *socket)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	struct sock_common *skc = &sk->__sk_common;
	__u32 interval_us = tp->rate_interval_us;

	r->family = skc->skc_family;
	r->local_port = skc->skc_num;
	r->remote_port = bpf_ntohs(skc->skc_dport);
	r->state = skc->skc_state;
	r->netns = skc->skc_net.net->ns.inum;
	r->netns_cookie = skc->skc_net.net->net_cookie;
	r->cgroup = BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);
	sk_read_addresses(skc, r->local, r->remote, 0);
	read_cc_name(r->congestion_control, tp);

	r->bytes_received = tp->bytes_received;
	r->bytes_acked = tp->bytes_acked;
	if (interval_us)
		r->delivery_rate_Bps =
			(__u64)tp->rate_delivered * tp->mss_cache * 1000000 / interval_us;
	r->limit = socket->limit;
	r->receive_limit = socket->receive_limit;
	r->snd_queue = sender_queue(&r->flow, tp);
	r->rcv_used = receive_window_used(&r->flow, tp);
	r->rcv_queue = receiver_queue(&r->flow, tp);
	r->cwnd = tp->snd_cwnd;
	r->ssthresh = tp->snd_ssthresh;
	r->mss = tp->mss_cache;
	r->flight = tp->snd_nxt - tp->snd_una;
	r->snd_wnd = tp->snd_wnd;
	r->rcv_wnd = tp->rcv_wnd;
	r->window_clamp = tp->window_clamp;
	r->rcvbuf = sk->sk_rcvbuf;
	r->sndbuf = sk->sk_sndbuf;
	r->rmem_alloc = sk->sk_backlog.rmem_alloc.counter;
	r->wmem_queued = sk->sk_wmem_queued;
	r->unsent = tp->write_seq - tp->snd_nxt;
	r->srtt_us = tp->srtt_us >> 3;
	r->min_rtt_us = sk_min_rtt_us(tp);
	r->rcv_rtt_us = tp->rcv_rtt_est.rtt_us >> 3;
	r->retransmits = tp->total_retrans;
	r->lost = tp->lost_out;
	r->reordering = tp->reordering;
}

/* Adds a connection to the sums, and returns what it read for them. */
static __always_inline void add_to_sums(struct readout_sums *sums, struct tcptuned_flow *flow,
					struct tcp_sock *tp, struct readout_socket *ret)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	struct readout_group *group;

	*ret = (struct readout_socket){
		.ops = (__u64)BPF_CORE_READ(&tp->inet_conn, icsk_ca_ops),
		.rcvbuf = sk->sk_rcvbuf,
		.sndbuf = sk->sk_sndbuf,
		.rmem_alloc = sk->sk_backlog.rmem_alloc.counter,
		.wmem_queued = sk->sk_wmem_queued,
		.rcv_wnd = tp->rcv_wnd,
		.limit = send_limit_of(flow, tp),
		.receive_limit = receive_limit_of(flow, tp),
		.waits = sk_waits(tp, bpf_jiffies64()),
		.traffic = sk_traffic(tp),
	};
	group = readout_add(sums, flow, ret);
	if (group)
		read_cc_name(group->congestion_control, tp);
}

/*
 * True if it has data to send or in flight, or has sent or received some at @since, in jiffies, or
 * later.
 */
static __always_inline bool is_active(const struct tcp_sock *tp, __u32 since)
{
	return tp->packets_out || tp->write_seq != tp->snd_nxt ||
	       (__s32)(tp->lsndtime - since) >= 0 ||
	       (__s32)(tp->inet_conn.icsk_ack.lrcvtime - since) >= 0;
}

static __always_inline bool matches(const struct readout_filter *filter, struct tcp_sock *tp)
{
	struct sock_common *skc = &tp->inet_conn.icsk_inet.sk.__sk_common;
	struct endpoints ends;

	if (!filter->given)
		return true;
	if (filter->active_since && !is_active(tp, filter->active_since))
		return false;
	sk_endpoints(skc, &ends);
	return readout_matches(filter, ends.local, ends.remote, skc->skc_num,
			       bpf_ntohs(skc->skc_dport), skc->skc_net.net->ns.inum);
}

static __always_inline void collect(struct readout *r, struct tcptuned_flow *flow,
				    struct tcp_sock *tp, const struct readout_socket *socket)
{
	struct tcptuned_flow_record *record;

	record = bpf_ringbuf_reserve(&collected, sizeof(*record), 0);
	if (!record) /* does not happen, since the ring buffer is emptied when it is half full */
		return;
	__builtin_memset(record, 0, sizeof(*record));
	record->flow = *flow;
	copy_socket(record, tp, socket);
	copy_limits(record, tp);
	copy_history(record, tp, socket);
	copy_bitcp(record, tp);
	copy_random_loss(record, tp);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	if (bpf_ringbuf_query(&collected, BPF_RB_AVAIL_DATA) > READOUT_RING_BYTES / 2)
		r->until_ns = READOUT_AT_ONCE;
}

/* Ends the read() after this socket, by writing a byte, if the iterator has kept the CPU long. */
static __always_inline void yield_cpu(struct readout *r, struct seq_file *seq)
{
	char byte = 0;
	__u64 now;

	if (r->seen++ % READOUT_LOOK_EVERY)
		return;
	now = bpf_ktime_get_ns();
	if (!r->until_ns) {
		r->until_ns = now + READOUT_SLICE_NS;
	} else if (now >= r->until_ns) {
		r->until_ns = 0;
		bpf_seq_write(seq, &byte, sizeof(byte));
	}
}

static __always_inline void visit(struct readout *r, struct tcptuned_flow *flow,
				  struct tcp_sock *tp, struct seq_file *seq)
{
	struct readout_socket socket;

	yield_cpu(r, seq);
	r->sums.records++;
	if (!r->jiffies)
		r->jiffies = (__u32)bpf_jiffies64() ?: 1;
	if (!tp || !readout_is_live(flow, tp->inet_conn.icsk_inet.sk.__sk_common.skc_state))
		return;
	add_to_sums(&r->sums, flow, tp, &socket);
	if (matches(&r->request.filter, tp) &&
	    readout_add_matched(r, tp->bytes_received + tp->bytes_acked))
		collect(r, flow, tp, &socket);
}

SEC("iter/bpf_sk_storage_map")
int dump_flows(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct readout *r = single_value(&readout);
	struct tcptuned_flow *flow = ctx->value;
	struct sock *sk = ctx->sk;

	if (sk && flow && r)
		visit(r, flow, (struct tcp_sock *)bpf_skc_to_tcp_sock(sk), ctx->meta->seq);
	return 0;
}

/*
 * In place of dump_flows where the kernel refuses iterators over socket storage. It passes all
 * sockets of one network namespace, but those that were closed and are not destroyed yet.
 */
SEC("iter/tcp")
int dump_tcp(struct bpf_iter__tcp *ctx)
{
	struct readout *r = single_value(&readout);
	struct sock_common *skc = ctx->sk_common;
	struct tcp_sock *tp = skc ? (struct tcp_sock *)bpf_skc_to_tcp_sock(skc) : NULL;
	struct tcptuned_flow *flow = tp ? flow_of(tp) : NULL;

	if (flow && r)
		visit(r, flow, tp, ctx->meta->seq);
	return 0;
}

char _license[] SEC("license") = "GPL";
