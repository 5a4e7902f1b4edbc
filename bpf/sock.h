/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs read of a socket, in the terms of RFC 9293, and constants of the kernel. */
#pragma once

#include <asm/socket.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/in.h>
#include <linux/socket.h>
#include <linux/tcp.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include "kernel_types.h"
#include <tcptuned/abi/policy.h>
#include <tcptuned/abi/totals.h>
#include <tcptuned/algo/resume.h>

/* Of the kernel's include/linux and include/net, which are not uapi. */
#define SOL_TCP			  6
#define TCP_BPF_SOCK_OPS_CB_FLAGS 1008 /* Linux 6.12 */
#define SOCK_STREAM		  1
#define AF_INET			  2
#define AF_INET6		  10
#define TSQF_THROTTLED		  1 /* enum tsq_flags */
#define SOCK_NOSPACE		  2 /* bit of struct socket.flags */
#define TCP_INFINITE_SSTHRESH	  0x7fffffff

/*
 * A global function. The verifier walks it once, and not again for each state in which it is
 * called, which keeps the programs far below the instruction limit. Pointers to sockets cannot be
 * passed to it; they are passed as numbers within a structure. It is weak, as several parts of an
 * object have it.
 */
#define __bpf_global __attribute__((noinline)) __weak

/* Not of a request (is_fullsock), of which some kernels return @ctx itself (CVE-2026-53078). */
static __always_inline struct tcp_sock *tcp_sock_of(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;

	return sk ? (struct tcp_sock *)bpf_skc_to_tcp_sock(sk) : NULL;
}

/* Sets an option of type int. @ctx: whatever bpf_setsockopt() takes. */
static __always_inline int set_option(void *ctx, int level, int option, int value)
{
	return bpf_setsockopt(ctx, level, option, &value, sizeof(value));
}

/* The kernel's windowed minimum RTT (tcp_min_rtt()); 0: none yet. */
static __always_inline __u32 sk_min_rtt_us(const struct tcp_sock *tp)
{
	__u32 rtt = tp->rtt_min.s[0].v;

	return rtt == ~0u ? 0 : rtt;
}

static __always_inline struct tcptuned_waits sk_waits(const struct tcp_sock *tp, __u32 now)
{
	__u32 type = BPF_CORE_READ_BITFIELD(tp, chrono_type);
	__u32 running = type ? now - tp->chrono_start : 0;

	return (struct tcptuned_waits){
		.busy = (__u64)tp->chrono_stat[0] + tp->chrono_stat[1] + tp->chrono_stat[2] +
			running,
		.rwnd = tp->chrono_stat[1] + (type == TCPTUNED_CHRONO_RWND ? running : 0),
		.sndbuf = tp->chrono_stat[2] + (type == TCPTUNED_CHRONO_SNDBUF ? running : 0),
	};
}

/*
 * True before the first segment after a pause for which the kernel forgets cwnd
 * (tcp_slow_start_after_idle_check()).
 */
static __always_inline bool sk_paused(const struct tcp_sock *tp)
{
	return !tp->packets_out && (__u32)bpf_jiffies64() - tp->lsndtime > tp->inet_conn.icsk_rto;
}

/*
 * The last bytes of icsk_ca_priv, after the state of the algorithm, if the congestion control is
 * tcptuned's.
 */
static __always_inline struct resume *resume_of(struct tcp_sock *tp)
{
	return (struct resume *)((__u32 *)&tp->inet_conn.icsk_ca_priv[11] + 1);
}

_Static_assert(sizeof(struct resume) == 3 * sizeof(__u32), "it fits there");

/* On a shorter path timers are too coarse to pace, and slow start takes little time. */
#define PACED_RTT_MIN_US 1000u

/*
 * What the path has carried in a round trip, as the kernel measured it last (tcp_rate_gen()),
 * packets; 0: that is not known, or the path is too short to be paced.
 */
static __always_inline __u32 sk_pipe(const struct tcp_sock *tp)
{
	__u32 rtt_us = sk_min_rtt_us(tp);

	if (rtt_us < PACED_RTT_MIN_US || !tp->rate_interval_us)
		return 0;
	return (__u64)tp->rate_delivered * rtt_us / tp->rate_interval_us;
}

/*
 * The receiver's RTT estimate, or else the sender's smoothed RTT. DRS section IV.A prefers the
 * latter; here the receiver's comes first, since this host may have sent its last data long ago.
 */
static __always_inline __u32 sk_rcv_rtt_us(const struct tcp_sock *tp)
{
	__u32 rtt = tp->rcv_rtt_est.rtt_us >> 3;

	if (!rtt)
		return tp->srtt_us >> 3;
	/* The estimate counts ticks of a millisecond, rounded down: 1.9 ms would pass for 1. */
	return rtt < 10000 ? rtt + 1000 : rtt;
}

/*
 * Returns whether both hosts use timestamps (RFC 7323), and this one those of milliseconds, as
 * nearly all do.
 */
static __always_inline bool sk_has_timestamps(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, rx_opt.saw_tstamp) && tp->rx_opt.rcv_tsecr &&
	       !(bpf_core_field_exists(tp->tcp_usec_ts) && BPF_CORE_READ_BITFIELD(tp, tcp_usec_ts));
}

/*
 * One RTT sample by the timestamp that the last segment echoed (tcp_rcv_rtt_measure_ts()), if there
 * are timestamps; 0: none. Its unit is a millisecond, which is also its minimum.
 */
static __always_inline __u32 sk_rcv_rtt_sample_us(const struct tcp_sock *tp)
{
	__u32 ticks = (__u32)(tp->tcp_mstamp / 1000) - tp->rx_opt.rcv_tsecr;

	if (ticks > (1u << 26) / 1000)
		return 0;
	return ticks ? ticks * 1000 : 1000;
}

/*
 * How long the last segment that arrived here (@sends: that the last ACK confirms there) was under
 * way, us, by the clocks of two hosts: only differences between such delays mean something. 0:
 * there are no timestamps.
 */
static __always_inline __u32 sk_forward_delay_us(const struct tcp_sock *tp, bool sends)
{
	__u32 ticks = sends ? tp->rx_opt.rcv_tsval - tp->rx_opt.rcv_tsecr
			    : (__u32)(tp->tcp_mstamp / 1000) - tp->rx_opt.rcv_tsval;

	return sk_has_timestamps(tp) ? ticks * 1000 ?: 1 : 0;
}

/*
 * Segments sent. The kernel's counter begins again after 2^32 of them, 6 TB; then at least as many
 * were sent as hold the delivered bytes.
 */
__bpf_global __u64 segments_sent(__u64 bytes_acked, __u32 mss, __u32 segs_out)
{
	__u64 full = mss ? bytes_acked / mss : 0;

	return full >> 32 ? full : segs_out;
}

static __always_inline __u64 sk_segments_sent(const struct tcp_sock *tp)
{
	return segments_sent(tp->bytes_acked, tp->mss_cache, tp->segs_out);
}

static __always_inline struct tcptuned_traffic sk_traffic(const struct tcp_sock *tp)
{
	return (struct tcptuned_traffic){
		{tp->bytes_received, tp->bytes_acked, sk_segments_sent(tp), tp->total_retrans}};
}

/*
 * The highest sequence number received (DRS section IV). After a loss it is ahead of rcv_nxt, which
 * stands still and then jumps: it is the end of the last segment in the out-of-order queue.
 */
static __always_inline __u32 sk_highest_seen(const struct tcp_sock *tp)
{
	__u32 cb[2], seen = tp->rcv_nxt; /* cb: seq and end_seq of struct tcp_skb_cb */

	barrier_var(seen); /* or clang loads either value through one pointer of two types */
	if (tp->out_of_order_queue.rb_node && !bpf_core_read(cb, sizeof(cb), &tp->ooo_last_skb->cb))
		seen = cb[1];
	return seen;
}

/*
 * Payload per memory of received data, in 1/256. Before 6.6 the kernel does not measure it, and
 * net.ipv4.tcp_adv_win_scale applies: a half by default.
 */
static __always_inline __u32 sk_scaling_ratio(const struct tcp_sock *tp)
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

/* tcp_win_from_space() */
static __always_inline __u32 sk_window_from_space(const struct tcp_sock *tp, __u32 space)
{
	return ((__u64)space * sk_scaling_ratio(tp)) >> 8;
}

/* tcp_space_from_win() */
static __always_inline __u64 sk_space_from_window(const struct tcp_sock *tp, __u32 win)
{
	return ((__u64)win << 8) / sk_scaling_ratio(tp);
}

/* The part of the advertised window that the peer has not used: tcp_receive_window(). */
static __always_inline __u32 sk_offered_window(const struct tcp_sock *tp)
{
	__s32 window = tp->rcv_wup + tp->rcv_wnd - tp->rcv_nxt;

	return window < 0 ? 0 : window;
}

/*
 * Lower bound for TCP_WINDOW_CLAMP, bytes. Normally 0, since the kernel never shrinks a window that
 * it has advertised, whatever the clamp. With net.ipv4.tcp_shrink_window it would.
 */
static __always_inline __u32 sk_min_clamp(const struct tcp_sock *tp)
{
	const struct net *net = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net;

	if (bpf_core_field_exists(net->ipv4.sysctl_tcp_shrink_window) &&
	    net->ipv4.sysctl_tcp_shrink_window)
		return sk_offered_window(tp);
	return 0;
}

/*
 * True if a device encrypts what the socket sends (tls_is_sk_tx_device_offloaded()). The call that
 * wakes its application, sk_write_space(), may then send the rest of a record itself.
 */
static __always_inline bool sk_device_encrypts(const struct tcp_sock *tp)
{
	const struct sock *sk = &tp->inet_conn.icsk_inet.sk;

	return bpf_core_field_exists(sk->sk_validate_xmit_skb) && sk->sk_validate_xmit_skb &&
	       tp->inet_conn.icsk_ulp_ops;
}

/* True while losses, or marks, are answered. */
static __always_inline bool sk_is_recovering(struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_state) != TCP_CA_Open;
}

/* SOCK_RCVBUF_LOCK, SOCK_SNDBUF_LOCK: the kernel does not size that buffer any more. */
static __always_inline __u32 sk_buffer_locks(struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_inet.sk.sk_userlocks);
}

/* The largest send buffer that the kernel gives by itself, bytes: the maximum of tcp_wmem. */
static __always_inline __u32 sk_max_sndbuf(const struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net->ipv4.sysctl_tcp_wmem[2];
}

/* The kernel rounds the window that it advertises up to this unit (__tcp_select_window()). */
static __always_inline __u32 sk_window_unit(const struct tcp_sock *tp)
{
	return 1u << BPF_CORE_READ_BITFIELD(tp, rx_opt.rcv_wscale);
}

/*
 * Memory for data that came in small segments, at the price of tcp_collapse(): one page each
 * (SKB_MAX_ORDER(0, 0)), and what is accounted for it.
 */
#define COLLAPSED_DATA 3776u
#define COLLAPSED_SKB  4352u

/* Memory for the queued data and the offered window, at the measured ratio, bytes. */
static __always_inline __u64 sk_space_in_use(const struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_inet.sk.sk_backlog.rmem_alloc.counter +
	       sk_space_from_window(tp, sk_offered_window(tp));
}

/*
 * The smallest receive buffer that keeps the advertised window honest, bytes. A kernel that cannot
 * queue what it offered closes the window, and so shrinks it (ICSK_ACK_NOMEM; autotuning would
 * enlarge the buffer, tcp_clamp_window()). The measured ratio may be that of large segments, so the
 * offer counts at least at the price of collapsed ones, with one being collapsed and one arriving.
 */
static __always_inline __u32 sk_min_rcvbuf(const struct tcp_sock *tp)
{
	const struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u32 window = sk_offered_window(tp) + sk_window_unit(tp);
	__u64 space = sk_space_from_window(tp, window);
	__u64 collapsed = (__u64)window * COLLAPSED_SKB / COLLAPSED_DATA;

	space = (space > collapsed ? space : collapsed) + 2 * COLLAPSED_SKB;
	space += sk->sk_backlog.rmem_alloc.counter;
	return space < (__u32)sk->sk_rcvbuf ? space : (__u32)sk->sk_rcvbuf;
}

/* Reads the name of the congestion control, or of the namespace's default, to a zeroed array. */
#define read_cc_name(ret, tp) BPF_CORE_READ_STR_INTO(&(ret), tp, inet_conn.icsk_ca_ops, name)
#define read_default_cc(ret, tp)                                                           \
	BPF_CORE_READ_STR_INTO(&(ret), tp, inet_conn.icsk_inet.sk.__sk_common.skc_net.net, \
			       ipv4.tcp_congestion_control, name)

/* Copies the addresses of both ends, in network byte order; IPv4 to the bytes from @ipv4_at on. */
static __always_inline void sk_read_addresses(const struct sock_common *skc, void *local,
					      void *remote, __u32 ipv4_at)
{
	if (BPF_CORE_READ(skc, skc_family) == AF_INET6) {
		bpf_core_read(local, 16, &skc->skc_v6_rcv_saddr);
		bpf_core_read(remote, 16, &skc->skc_v6_daddr);
	} else {
		bpf_core_read(local + ipv4_at, 4, &skc->skc_rcv_saddr);
		bpf_core_read(remote + ipv4_at, 4, &skc->skc_daddr);
	}
}

/* The addresses of both ends in network byte order, IPv4 as ::ffff:a.b.c.d. */
struct endpoints {
	__be32 local[4];
	__be32 remote[4];
};

static __always_inline void sk_endpoints(const struct sock_common *skc, struct endpoints *ret)
{
	__builtin_memset(ret, 0, sizeof(*ret));
	ret->local[2] = ret->remote[2] = bpf_htonl(0xffff);
	sk_read_addresses(skc, ret->local, ret->remote, 12);
}

/* The same of a connection that may have no socket yet. */
static __always_inline void sock_ops_endpoints(struct bpf_sock_ops *ctx, struct endpoints *ret)
{
	__builtin_memset(ret, 0, sizeof(*ret));
	if (ctx->family == AF_INET6) {
		ret->local[0] = ctx->local_ip6[0];
		ret->local[1] = ctx->local_ip6[1];
		ret->local[2] = ctx->local_ip6[2];
		ret->local[3] = ctx->local_ip6[3];
		ret->remote[0] = ctx->remote_ip6[0];
		ret->remote[1] = ctx->remote_ip6[1];
		ret->remote[2] = ctx->remote_ip6[2];
		ret->remote[3] = ctx->remote_ip6[3];
		barrier(); /* or clang merges the branches, and the verifier rejects the pointer */
	} else {
		ret->local[2] = ret->remote[2] = bpf_htonl(0xffff);
		ret->local[3] = ctx->local_ip4;
		ret->remote[3] = ctx->remote_ip4;
	}
}
