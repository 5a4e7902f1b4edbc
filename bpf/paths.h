/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Path memory in the kernel: a finished connection adds what it learned to its peer's prefix,
 * a new one begins with what is known there. The arithmetic is in <tcptuned/algo/path.h>.
 */
#ifndef TCPTUNED_BPF_PATHS_H
#define TCPTUNED_BPF_PATHS_H

#include "kernel.h"
#include "maps.h"
#include <tcptuned/algo/bitcp.h>
#include <tcptuned/algo/path.h>

/* The kernel drops the least recently used beyond the size. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TCPTUNED_PATHS_MAX);
	__type(key, struct tcptuned_path_key);
	__type(value, struct tcptuned_path);
} paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tcptuned_path_settings);
} path_settings SEC(".maps");

/* NULL: the memory is off. */
static __always_inline const struct tcptuned_path_settings *path_settings_now(void)
{
	const struct tcptuned_path_settings *settings;
	__u32 zero = 0;

	settings = bpf_map_lookup_elem(&path_settings, &zero);
	return settings && settings->enabled ? settings : NULL;
}

static __always_inline __s64 path_now_s(void)
{
	return bpf_ktime_get_boot_ns() / 1000000000;
}

/* Who talks to whom: addresses in network byte order, IPv4 in the first word. */
struct path_ends {
	__be32 remote[4];
	__be32 local[4];
	__u32 family;
};

/* The prefix of the peer. False: the peer is this host. */
static __always_inline bool path_key_from(struct tcptuned_path_key *key, struct path_ends *ends)
{
	__be32 *remote = ends->remote, *local = ends->local;
	__u32 *prefix = (__u32 *)key->prefix, i;

	key->family = ends->family;
	__builtin_memset(key->unused, 0, sizeof(key->unused));
	/* ::ffff:a.b.c.d: IPv4 on a socket of both */
	if (ends->family == AF_INET6 && !remote[0] && !remote[1] &&
	    remote[2] == bpf_htonl(0xffff)) {
		key->family = AF_INET;
		remote[0] = remote[3];
		local[0] = local[3];
		remote[1] = remote[2] = remote[3] = 0;
		local[1] = local[2] = local[3] = 0;
	}
	if (remote[0] == local[0] && remote[1] == local[1] && remote[2] == local[2] &&
	    remote[3] == local[3])
		return false;
	key->prefix_len = key->family == AF_INET ? PATH_IPV4_PREFIX : PATH_IPV6_PREFIX;
	for (i = 0; i < 4; i++)
		prefix[i] = remote[i] & bpf_htonl(path_mask(key->prefix_len, i));
	return true;
}

static __always_inline bool path_key_of(struct tcptuned_path_key *key, struct tcp_sock *tp)
{
	struct sock_common *skc = &tp->inet_conn.icsk_inet.sk.__sk_common;
	struct path_ends ends = { .family = skc->skc_family };

	key->netns_cookie = skc->skc_net.net->net_cookie;
	if (ends.family == AF_INET6) {
		bpf_core_read(ends.remote, sizeof(ends.remote), &skc->skc_v6_daddr);
		bpf_core_read(ends.local, sizeof(ends.local), &skc->skc_v6_rcv_saddr);
	} else {
		ends.remote[0] = skc->skc_daddr;
		ends.local[0] = skc->skc_rcv_saddr;
	}
	return path_key_from(key, &ends);
}

/*
 * The arithmetic as functions of their own, with their own pass of the verifier: inlined, each
 * of their branches would double what is to be walked behind them.
 */
__noinline int path_merged(struct tcptuned_path *path, const struct path_sample *sample,
			   __s64 now_s, __u32 expire_s)
{
	return path && sample ? path_merge(path, sample, now_s, expire_s) : 0;
}

/* @seed: max_window is its cap when called. Returns whether @seed was filled. */
__noinline int path_seeded(struct path_seed *seed, const struct tcptuned_path *path, __s64 now_s,
			   __u32 expire_s, __u32 rtt_us)
{
	if (!seed || !path)
		return 0;
	*seed = path_seed_of(path, now_s, expire_s, rtt_us, seed->max_window);
	return 1;
}

/* ---- a new connection ----------------------------------------------------------------- */

/*
 * Was the path slow, to the peer of a connection that is about to be made? Then no more should
 * be offered to it at first than any sender begins with: a window cannot be taken back.
 */
static __always_inline bool path_was_slow(struct bpf_sock_ops *ctx)
{
	const struct tcptuned_path_settings *settings = path_settings_now();
	struct path_ends ends = { .family = ctx->family };
	struct tcptuned_path_key key;
	const struct tcptuned_path *path;

	if (!settings)
		return false;
	if (ends.family == AF_INET6) {
		ends.remote[0] = ctx->remote_ip6[0];
		ends.remote[1] = ctx->remote_ip6[1];
		ends.remote[2] = ctx->remote_ip6[2];
		ends.remote[3] = ctx->remote_ip6[3];
		barrier(); /* as in policy_by_ends() */
	} else {
		ends.remote[0] = ctx->remote_ip4;
	}
	key.netns_cookie = bpf_get_netns_cookie(ctx);
	if (!path_key_from(&key, &ends))
		return false;
	path = bpf_map_lookup_elem(&paths, &key);
	return path && path->slow && !path_expired(path, path_now_s(), settings->expire_s);
}

/* What is remembered of the way to the peer; false: nothing. */
static __always_inline bool path_recall(struct tcp_sock *tp, struct tcptuned_path *ret)
{
	const struct tcptuned_path_settings *settings = path_settings_now();
	struct tcptuned_path_key key;
	struct tcptuned_path *known;

	if (!settings || !path_key_of(&key, tp))
		return false;
	known = bpf_map_lookup_elem(&paths, &key);
	if (!known || path_expired(known, path_now_s(), settings->expire_s))
		return false;
	*ret = *known;
	return true;
}

/* The bandwidth-delay product that makes a path worth a look before anything is carried, bytes. */
#define PATH_REMARKABLE (1u << 20)

/*
 * Is the path known to be slow, so that the window should be small from the first segment on, or
 * to be perhaps long enough for another congestion control?
 */
static __always_inline bool path_is_remarkable(struct tcp_sock *tp)
{
	struct tcptuned_path path;

	return path_recall(tp, &path) &&
	       (path.slow || path.max_window || path.snd_per_rtt >= PATH_REMARKABLE);
}

/*
 * Leaves in @flow what the connection may begin with; called once, when it is claimed and before
 * its congestion control begins. A connection that is only observed gets nothing.
 */
static __always_inline void path_seed(struct tcptuned_flow *flow, struct tcp_sock *tp,
				      const struct tcptuned_policy *policy)
{
	const struct tcptuned_path_settings *settings = path_settings_now();
	struct tcptuned_path path;
	struct path_seed seed = { 0 };

	flow->max_window_seed = 0;
	if (!settings || flow->flags & TCPTUNED_F_OBSERVE || tp->bytes_received >= PATH_CARRIED_MIN ||
	    tp->bytes_acked >= PATH_CARRIED_MIN || !path_recall(tp, &path))
		return;
	seed.max_window = flow->snd_window_max;
	if (!path_seeded(&seed, &path, path_now_s(), settings->expire_s, kernel_min_rtt_us(tp)))
		return;
	if (flow->flags & TCPTUNED_F_RCVBUF_APP)
		seed.slow = 0;
	flow->max_window_seed = seed.max_window;
	if (policy->cc_auto &&
	    path.snd_per_rtt >= (__u64)policy->cc_long_path_segments * tp->mss_cache)
		flow->flags |= TCPTUNED_F_LONG_PATH;
	if (seed.slow)
		flow->flags |= TCPTUNED_F_SLOW_SEED;
	if (seed.slow || seed.max_window)
		count(TCPTUNED_C_PATH_SEEDS);
}

/* ---- a finished connection ------------------------------------------------------------ */

/* A hold below the kernel's usual first window says that the path is slow. */
#define PATH_SLOW_WINDOW 65535u

static __always_inline __u32 path_per_rtt(const struct rightsize *rs, __u32 min_rtt_us)
{
	__u64 bytes = rightsize_muldiv(rs->rate_best, min_rtt_us, 1000000);

	return bytes < RIGHTSIZE_WINDOW_MAX ? bytes : RIGHTSIZE_WINDOW_MAX;
}

/* @segments in bytes, as far as TCP has such windows. */
static __always_inline __u32 path_bytes(__u64 segments, __u32 mss)
{
	__u64 bytes = segments * mss;

	return bytes < RIGHTSIZE_WINDOW_MAX ? bytes : RIGHTSIZE_WINDOW_MAX;
}

/*
 * The window at which bitcp met its last loss, segments; or the one that it has grown to
 * since, when it is past that. 0: no loss, or another congestion control.
 */
static __always_inline __u32 path_bitcp_max(struct tcp_sock *tp)
{
	const struct bitcp *st = (const struct bitcp *)tp->inet_conn.icsk_ca_priv;
	char name[TCPTUNED_CC_NAME_MAX] = "";
	__u32 met;

	BPF_CORE_READ_STR_INTO(&name, &tp->inet_conn, icsk_ca_ops, name);
	if (*(const __u64 *)name != *(const __u64 *)"bitcp\0\0")
		return 0;
	met = st->undo_win >> 32;
	if (met && st->max_win == BITCP_MAX_WIN && tp->snd_cwnd > met)
		met = tp->snd_cwnd;
	return met;
}

/* Called once, when a claimed connection ends. */
static __always_inline void path_learn(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct tcptuned_path_settings *settings = path_settings_now();
	struct tcptuned_path path = { 0 }, *known;
	__u32 rtt_us = kernel_min_rtt_us(tp);
	struct path_sample sample = { 0 };
	struct tcptuned_path_key key;
	__s64 now_s;

	if (!settings ||
	    (tp->bytes_received < PATH_CARRIED_MIN && tp->bytes_acked < PATH_CARRIED_MIN) ||
	    !path_key_of(&key, tp))
		return;
	sample.received = tp->bytes_received;
	sample.acked = tp->bytes_acked;
	sample.sent = tp->segs_out;
	sample.retransmitted = tp->total_retrans;
	sample.min_rtt_us = rtt_us ? rtt_us : rightsize_min_rtt_us(&flow->rcv);
	sample.rcv_per_rtt = path_per_rtt(&flow->rcv, sample.min_rtt_us);
	sample.snd_per_rtt = path_per_rtt(&flow->snd, sample.min_rtt_us);
	sample.max_window = path_bytes(path_bitcp_max(tp), tp->mss_cache);
	sample.cwnd = path_bytes(tp->snd_cwnd, tp->mss_cache);
	sample.slow = flow->rcv.held && flow->rcv.held < PATH_SLOW_WINDOW;

	/* Replaced as a whole: of two that end at once one is lost, but none is half-written. */
	known = bpf_map_lookup_elem(&paths, &key);
	if (known)
		path = *known;
	now_s = path_now_s();
	if (!path_merged(&path, &sample, now_s, settings->expire_s))
		return;
	path.netns = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net->ns.inum;
	if (bpf_map_update_elem(&paths, &key, &path, BPF_ANY))
		count(TCPTUNED_C_PATH_FAILED);
	else
		count(TCPTUNED_C_PATH_LEARNED);
}

#endif
