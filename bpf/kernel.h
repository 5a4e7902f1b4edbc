/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's types as far as tcptuned reads them. Each access is relocated at load time
 * against the running kernel's BTF (CO-RE): order and size here mean nothing, names do.
 */
#ifndef TCPTUNED_KERNEL_H
#define TCPTUNED_KERNEL_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

/* From uapi headers that clash with the declarations below, or that are not uapi. */
#define SOL_SOCKET		1
#define SO_SNDBUF		7
#define SO_RCVBUF		8
#define SO_SNDBUFFORCE		32
#define SO_RCVBUFFORCE		33
#define SOCK_STREAM		1
#define IPPROTO_TCP		6
#define SOL_TCP			6
#define TCP_WINDOW_CLAMP	10
#define TCP_CONGESTION		13
#define TCP_BPF_SOCK_OPS_CB_FLAGS 1008 /* Linux 6.12 */
#define TCP_NOTSENT_LOWAT	25
#define TCP_CA_OPEN		0 /* enum tcp_ca_state */
#define AF_INET			2
#define AF_INET6		10
#define SOCK_SNDBUF_LOCK	1 /* include/uapi/linux/socket.h */
#define SOCK_RCVBUF_LOCK	2
#define TSQF_THROTTLED		1 /* include/linux/tcp.h, enum tsq_flags */
#define CAP_NET_ADMIN		12

/*
 * Functions that are not static are verified once, and not again on each way that leads to them:
 * that keeps the programs far below the verifier's limit. No pointer to a socket can be handed
 * to them; they take it as a number, out of a structure.
 */
#define verified_once __attribute__((noinline))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct ns_common {
	unsigned int inum;
};

struct tcp_congestion_ops {
	char name[16];
};

struct netns_ipv4 {
	int sysctl_tcp_adv_win_scale; /* in use before 6.6 */
	const struct tcp_congestion_ops *tcp_congestion_control;
	int sysctl_tcp_rmem[3];
	int sysctl_tcp_wmem[3];
	unsigned int sysctl_tcp_notsent_lowat; /* all ones: no bound, the default */
	__u8 sysctl_tcp_shrink_window; /* since 6.5 */
};

struct net {
	__u64 net_cookie;
	struct ns_common ns;
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct nsproxy {
	struct net *net_ns;
};

struct user_namespace {
	int level; /* 0: the first one */
};

struct cred {
	struct {
		__u32 cap[2]; /* before 6.3; one of 64 bits since */
	} cap_effective;
	struct user_namespace *user_ns;
};

struct task_struct {
	int tgid;
	const struct cred *cred;
	struct nsproxy *nsproxy;
};

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

typedef struct {
	__s64 counter;
} atomic_long_t;

struct proto {
	atomic_long_t *memory_allocated; /* pages, but for what CPUs keep in hand */
	long *sysctl_mem;
};

struct kernfs_node {
	__u64 id; /* of a cgroup: its directory's inode */
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup *ancestors[1]; /* as many as level says, and itself */
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct mem_cgroup {
	struct cgroup_subsys_state css; /* the first member: css.parent is the parent's address */
	unsigned long socket_pressure;	/* jiffies: there is until then */
	int tcpmem_pressure;		/* of version 1 */
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct sock_common {
	struct proto *skc_prot;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	__u32 skc_hash;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	struct {
		atomic_t rmem_alloc;
	} sk_backlog;
	int sk_rcvbuf;
	int sk_sndbuf;
	int sk_wmem_queued;
	unsigned long sk_max_pacing_rate; /* bytes per second; all ones: none */
	unsigned long sk_pacing_rate;	  /* the same */
	__u32 sk_pacing_status;		  /* enum sk_pacing */
	unsigned long sk_tsq_flags;
	void *sk_validate_xmit_skb; /* what a device encrypts comes through it */
	__u8 sk_userlocks : 4;
	__u32 sk_max_ack_backlog;
	struct sock_cgroup_data sk_cgrp_data;
	struct mem_cgroup *sk_memcg;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	const struct tcp_ulp_ops *icsk_ulp_ops;
	__u8 icsk_ca_state : 5;
	__u8 icsk_ca_setsockopt : 1;
	__u64 icsk_ca_priv[13];
};

struct tcp_options_received {
	__u32 rcv_tsecr; /* less the socket's own offset */
	__u16 saw_tstamp : 1;
	__u16 rcv_wscale : 4;
};

struct minmax_sample {
	__u32 t;
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_rcv_rtt {
	__u32 rtt_us;
};

struct rb_node {
	unsigned long __rb_parent_color;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct sk_buff {
	char cb[48];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u64 tcp_mstamp;	/* microseconds, refreshed with every segment */
	__u64 bytes_received;
	__u64 bytes_acked;
	__u32 copied_seq;
	__u32 rcv_nxt;
	__u32 rcv_wnd;
	__u32 rcv_wup;
	__u32 write_seq;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 snd_wnd;
	__u32 max_window;	/* the largest that the peer ever offered */
	__u32 notsent_lowat;	/* of TCP_NOTSENT_LOWAT; 0: the sysctl's */
	__u32 window_clamp;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 mss_cache;
	__u32 srtt_us;		/* eighths of a microsecond */
	__u32 packets_out;
	__u32 sacked_out;	/* segments acknowledged selectively only */
	__u32 lost_out;
	__u32 total_retrans;
	__u32 segs_out;
	__u32 reordering;
	__u32 rate_delivered;
	__u32 rate_interval_us;
	__u8 bpf_sock_ops_cb_flags;
	__u8 is_cwnd_limited : 1;
	__u8 chrono_type : 2;
	__u8 scaling_ratio;	/* since 6.6 */
	bool is_mptcp;		/* with CONFIG_MPTCP */
	__u8 tcp_usec_ts : 1;	/* since 6.7: timestamps of microseconds */
	struct tcp_options_received rx_opt;
	struct rb_root out_of_order_queue;
	struct sk_buff *ooo_last_skb;	/* stale while that queue is empty */
	struct minmax rtt_min;
	struct {
		__u32 rtt_us;	/* microseconds, of the segment delivered last: unsmoothed */
	} rack;
	struct {
		__u32 rtt_us;	/* eighths of a microsecond */
		__u32 seq;
		__u64 time;
	} rcv_rtt_est;
};

struct seq_file {
	int unused;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_map;

struct bpf_iter__bpf_sk_storage_map {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct bpf_map *map;
	};
	union {
		struct sock *sk;
	};
	union {
		void *value;
	};
};

struct bpf_iter__tcp {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct sock_common *sk_common;
	};
};

#pragma clang attribute pop

/* tcp_min_rtt(): the kernel's windowed minimum; all ones while there is none. */
static __always_inline __u32 kernel_min_rtt_us(const struct tcp_sock *tp)
{
	__u32 rtt = tp->rtt_min.s[0].v;

	return rtt == ~0u ? 0 : rtt;
}

/*
 * The receiver's own estimate, in microseconds; the sender's smoothed one while there is no
 * other (DRS section IV.A has it the other way round, from times when a receiver's estimate
 * was the coarser of the two; here the last data this host sent may be long ago).
 */
static __always_inline __u32 kernel_rcv_rtt_us(const struct tcp_sock *tp)
{
	__u32 rtt = tp->rcv_rtt_est.rtt_us >> 3;

	if (!rtt)
		return tp->srtt_us >> 3;
	/* In ticks of a millisecond, rounded down: 1.9 ms would pass for 1. */
	return rtt < 10000 ? rtt + 1000 : rtt;
}

/*
 * One RTT as the segment that came last tells it by the timestamp that it echoes
 * (tcp_rcv_rtt_measure_ts()), not smoothed; 0: none. In milliseconds, at least one.
 */
static __always_inline __u32 kernel_rcv_rtt_sample_us(const struct tcp_sock *tp)
{
	__u64 now = tp->tcp_mstamp;
	__u32 unit = 1000, ticks;

	if (!BPF_CORE_READ_BITFIELD(tp, rx_opt.saw_tstamp) || !tp->rx_opt.rcv_tsecr)
		return kernel_rcv_rtt_us(tp);
	if (bpf_core_field_exists(tp->tcp_usec_ts) && BPF_CORE_READ_BITFIELD(tp, tcp_usec_ts))
		unit = 1;
	ticks = (__u32)(now / unit) - tp->rx_opt.rcv_tsecr;
	if (ticks > (1u << 26) / unit)
		return 0;
	return ticks ? ticks * unit : unit;
}

/*
 * The highest sequence number seen (DRS section IV): after a loss it is ahead of rcv_nxt, which
 * stands still and jumps. Behind the last segment that came out of order, struct tcp_skb_cb.
 */
static __always_inline __u32 kernel_highest_seen(const struct tcp_sock *tp)
{
	__u32 cb[2], seen = tp->rcv_nxt; /* cb: seq, end_seq */

	barrier_var(seen); /* or clang loads either through one pointer of two kinds */
	if (tp->out_of_order_queue.rb_node &&
	    !bpf_core_read(cb, sizeof(cb), &tp->ooo_last_skb->cb))
		seen = cb[1];
	return seen;
}

/*
 * tcp_win_from_space() and tcp_space_from_win(): memory to window and back, in 1/256. Before 6.6
 * there is no measured ratio, but net.ipv4.tcp_adv_win_scale: half by default.
 */
static __always_inline __u32 kernel_scaling_ratio(const struct tcp_sock *tp)
{
	__u32 ratio;
	int scale;

	if (bpf_core_field_exists(tp->scaling_ratio)) {
		ratio = tp->scaling_ratio;
	} else {
		scale = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net->ipv4
				.sysctl_tcp_adv_win_scale; /* from -31 to 31 */
		ratio = scale > 0 ? 256 - (256u >> (scale & 31)) : 256u >> (-scale & 31);
	}
	return ratio ? ratio : 1;
}

static __always_inline __u32 kernel_win_from_space(const struct tcp_sock *tp, __u32 space)
{
	return ((__u64)space * kernel_scaling_ratio(tp)) >> 8;
}

static __always_inline __u64 kernel_space_from_win(const struct tcp_sock *tp, __u32 win)
{
	return ((__u64)win << 8) / kernel_scaling_ratio(tp);
}

/* The window that was promised and is not used up: tcp_receive_window(). */
static __always_inline __u32 kernel_receive_window(const struct tcp_sock *tp)
{
	__s32 window = tp->rcv_wup + tp->rcv_wnd - tp->rcv_nxt;

	return window < 0 ? 0 : window;
}

/*
 * The least that TCP_WINDOW_CLAMP may be set to, bytes: a promise is kept by the kernel itself, and
 * may be larger than its clamp, but not where net.ipv4.tcp_shrink_window is set.
 */
static __always_inline __u32 kernel_least_clamp(const struct tcp_sock *tp)
{
	const struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;

	if (bpf_core_field_exists(net->ipv4.sysctl_tcp_shrink_window) &&
	    net->ipv4.sysctl_tcp_shrink_window)
		return kernel_receive_window(tp);
	return 0;
}

/*
 * Does a device encrypt what it sends (TLS_HW; tls_is_sk_tx_device_offloaded())? Then the call
 * that wakes its application, sk_write_space(), may itself send the rest of a record.
 */
static __always_inline bool kernel_device_encrypts(const struct tcp_sock *tp)
{
	const struct sock *sk = &tp->inet_conn.icsk_inet.sk;

	return bpf_core_field_exists(sk->sk_validate_xmit_skb) && sk->sk_validate_xmit_skb &&
	       tp->inet_conn.icsk_ulp_ops;
}

/*
 * May the calling process use SO_RCVBUFFORCE and SO_SNDBUFFORCE (sockopt_capable())? 64 bits of
 * capabilities have their lower half first or last; there are 41, so that no other has this bit.
 */
static __always_inline bool kernel_may_force(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const struct cred *cred = BPF_CORE_READ(task, cred);
	__u32 caps[2] = {};

	bpf_core_read(caps, sizeof(caps), &cred->cap_effective);
	return ((caps[0] | caps[1]) & (1u << CAP_NET_ADMIN)) &&
	       !BPF_CORE_READ(cred, user_ns, level);
}

/* A window is told in units of its scale, and the kernel rounds up (__tcp_select_window()). */
static __always_inline __u32 kernel_window_unit(const struct tcp_sock *tp)
{
	return 1u << BPF_CORE_READ_BITFIELD(tp, rx_opt.rcv_wscale);
}

/*
 * What data costs at least that came in small segments: one page each, as tcp_collapse() packs it
 * (SKB_MAX_ORDER(0, 0)), and the memory that is counted for that.
 */
#define KERNEL_COLLAPSED_DATA 3776u
#define KERNEL_COLLAPSED_SKB  4352u

static __always_inline __u64 kernel_collapsed_space(__u32 bytes)
{
	return (__u64)bytes * KERNEL_COLLAPSED_SKB / KERNEL_COLLAPSED_DATA;
}

/* The memory for what is queued, and for what was promised, at the measured ratio; bytes. */
static __always_inline __u64 kernel_space_held(const struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.sk_backlog.rmem_alloc.counter +
	       kernel_space_from_win(tp, kernel_receive_window(tp));
}

/*
 * The memory that a receive queue needs beyond what it holds, bytes: for what the peer was told it
 * may send, rounded up once more. The measured ratio may be one of large segments; so at least at
 * the price of collapsed ones, with one that is just being packed and one that comes.
 */
static __always_inline __u64 kernel_space_promised(const struct tcp_sock *tp)
{
	__u32 window = kernel_receive_window(tp) + kernel_window_unit(tp);
	__u64 space = kernel_space_from_win(tp, window);
	__u64 packed = kernel_collapsed_space(window);

	return (space > packed ? space : packed) + 2 * KERNEL_COLLAPSED_SKB;
}

/*
 * Of its receive buffer, what a connection cannot do without, bytes. A kernel that cannot queue
 * what it promised to take closes the window, and so pulls the right edge back (ICSK_ACK_NOMEM;
 * one that sizes the buffer itself would enlarge it, tcp_clamp_window()).
 */
static __always_inline __u32 kernel_rcvbuf_least(const struct tcp_sock *tp)
{
	const struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u64 space = sk->sk_backlog.rmem_alloc.counter + kernel_space_promised(tp);

	return space < (__u32)sk->sk_rcvbuf ? space : sk->sk_rcvbuf;
}

#endif
