/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's structures, reduced to the fields that tcptuned reads. CO-RE relocates each access
 * against the BTF of the running kernel, so only names matter here, not order and size.
 */
#pragma once

#include <linux/tcp.h> /* enum tcp_ca_state */
#include <linux/types.h>
#include <stdbool.h>

#ifdef __bpf__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

enum sk_pacing { SK_PACING_NONE, SK_PACING_NEEDED };
enum tcp_ca_event { CA_EVENT_TX_START, CA_EVENT_CWND_RESTART };

struct sock;
struct ack_sample;

struct socket {
	unsigned long flags;
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
#ifdef HAS_TX_START
	void (*cwnd_event_tx_start)(struct sock *sk); /* from Linux 7.1, in place of TX_START */
#endif
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	char name[16];
	__u32 flags;
};

struct ack_sample {
	__s32 rtt_us; /* negative: not measured */
};

struct net {
	__u64 net_cookie;
	struct {
		unsigned int inum;
	} ns;
	struct {
		int sysctl_tcp_adv_win_scale; /* in use before 6.6 */
		const struct tcp_congestion_ops *tcp_congestion_control;
		int sysctl_tcp_rmem[3];
		int sysctl_tcp_wmem[3];
		unsigned int sysctl_tcp_notsent_lowat; /* all ones: no limit, the default */
		__u8 sysctl_tcp_shrink_window;	       /* since 6.5 */
	} ipv4;
};

struct user_namespace {
	int level; /* 0: the initial namespace */
};

struct cred {
	struct {
		__u32 cap[2]; /* before 6.3; one 64-bit member since */
	} cap_effective;
	struct user_namespace *user_ns;
};

struct task_struct {
	int tgid;
	const struct cred *cred;
};

struct proto {
	void *memory_allocated; /* pages, without the per-CPU reserves */
	long *sysctl_mem;
};

struct kernfs_node {
	__u64 id; /* of a cgroup: the inode number of its directory */
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup *ancestors[1]; /* level + 1 entries, the last is the cgroup itself */
};

struct mem_cgroup {
	struct {
		void *parent;
	} css; /* the first member, so that css.parent is the address of the parent */
	unsigned long socket_pressure; /* jiffies: under pressure until then */
	int tcpmem_pressure;	       /* cgroup version 1 */
};

struct sock_common {
	struct proto *skc_prot;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct {
		struct net *net;
	} skc_net;
	struct {
		__u8 byte[16];
	} skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	struct {
		struct {
			int counter;
		} rmem_alloc;
	} sk_backlog;
	int sk_rcvbuf;
	int sk_sndbuf;
	int sk_rcvlowat;
	int sk_wmem_queued;
	unsigned long sk_max_pacing_rate; /* bytes per second; all ones: none */
	unsigned long sk_pacing_rate;	  /* likewise */
	__u32 sk_pacing_status;		  /* enum sk_pacing */
	unsigned long sk_tsq_flags;
	struct socket *sk_socket;   /* NULL: it is not accepted yet, or closed */
	void *sk_validate_xmit_skb; /* set where a device encrypts (TLS_HW) */
	__u8 sk_userlocks : 4;
	__u32 sk_max_ack_backlog;
	struct {
		struct cgroup *cgroup;
	} sk_cgrp_data;
	struct mem_cgroup *sk_memcg;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	const struct tcp_ulp_ops *icsk_ulp_ops;
	__u8 icsk_ca_state : 5; /* enum tcp_ca_state */
	__u8 icsk_ca_setsockopt : 1;
	__u8 icsk_ca_initialized : 1;
	__u32 icsk_rto; /* jiffies */
	struct {
		__u32 lrcvtime; /* jiffies, when data last arrived in order */
	} icsk_ack;
	__u64 icsk_ca_priv[13];
};

struct bictcp {
	__u32 last_max_cwnd;
};

struct sk_buff {
	char cb[48];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u64 tcp_mstamp;      /* microseconds, refreshed with every segment */
	__u64 tcp_clock_cache; /* ns, the same */
	__u64 tcp_wstamp_ns;   /* when pacing lets the next segment leave */
	__u64 bytes_received;
	__u64 bytes_acked;
	__u32 copied_seq;
	__u32 rcv_nxt;
	__u32 rcv_wnd;
	__u32 rcv_wup;
	__u32 write_seq;
	__u32 rtt_seq;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 snd_wnd;
	__u32 notsent_lowat; /* TCP_NOTSENT_LOWAT; 0: the sysctl applies */
	__u32 window_clamp;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	__u32 high_seq; /* a recovery ends when this is acknowledged */
	__u32 mss_cache;
	__u32 srtt_us; /* eighths of a microsecond */
	__u32 mdev_us; /* mean deviation of the RTT, quarters of a microsecond */
	__u32 packets_out;
	__u32 max_packets_out; /* in flight at most, in the last window of data */
	__u32 delivered;       /* packets, by SACK blocks, too */
	__u32 sacked_out;      /* segments that only SACK blocks have acknowledged */
	__u32 lost_out;
	__u32 total_retrans;
	__u32 dsack_dups; /* segments of which the peer said that they came twice */
	__u32 segs_out;
	__u32 data_segs_out;
	__u32 data_segs_in;
	__u32 rcv_ooopack;
	__u32 lsndtime;	      /* jiffies, when data was last sent */
	__u32 chrono_start;   /* jiffies, since when it is of chrono_type */
	__u32 chrono_stat[3]; /* jiffies, by chrono_type - 1 */
	__u32 reordering;
	__u32 app_limited; /* not 0: the application has not filled the window */
	__u32 rate_delivered;
	__u32 rate_interval_us;
	__u64 delivered_mstamp; /* microseconds, when data was last delivered */
	__u8 bpf_sock_ops_cb_flags;
	__u8 ecn_flags; /* 0: ECN is not in use */
	__u8 is_cwnd_limited : 1;
	__u8 chrono_type : 2;
	__u8 scaling_ratio;   /* since 6.6 */
	bool is_mptcp;	      /* with CONFIG_MPTCP */
	__u8 tcp_usec_ts : 1; /* since 6.7: timestamps tick in microseconds */
	struct {
		__u32 rcv_tsval;
		__u32 rcv_tsecr; /* without the socket's timestamp offset */
		__u16 saw_tstamp : 1;
		__u16 rcv_wscale : 4;
	} rx_opt;
	struct {
		void *rb_node;
	} out_of_order_queue;
	struct sk_buff *ooo_last_skb; /* stale while that queue is empty */
	struct {
		struct {
			__u32 v;
		} s[3];
	} rtt_min; /* microseconds */
	struct {
		__u32 rtt_us; /* microseconds, of the last segment delivered, not smoothed */
	} rack;
	struct {
		__u32 rtt_us; /* eighths of a microsecond */
	} rcv_rtt_est;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct sock *sk;
	void *value;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

#ifdef __bpf__
#pragma clang attribute pop
#endif
