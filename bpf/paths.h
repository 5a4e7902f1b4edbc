/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Path memory: a connection that ends adds what it measured to its peer's prefix, and a new one
 * begins with what is known there. The arithmetic is in <tcptuned/algo/path.h>.
 */
#ifndef TCPTUNED_BPF_PATHS_H
#define TCPTUNED_BPF_PATHS_H

#include "congestion_control.h"
#include "maps.h"
#include "sock.h"
#include "totals.h"
#include <tcptuned/algo/bitcp.h>
#include <tcptuned/algo/path.h>

/* The kernel drops the least recently used entry when the map is full. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TCPTUNED_PATHS_MAX);
	__type(key, struct tcptuned_path_key);
	__type(value, struct tcptuned_path);
} paths SEC(".maps");

SINGLE_VALUE_MAP(BPF_MAP_TYPE_ARRAY, struct tcptuned_path_settings) path_settings SEC(".maps");

/* NULL: the path memory is off. */
static __always_inline const struct tcptuned_path_settings *enabled_path_settings(void)
{
	const struct tcptuned_path_settings *settings = single_value(&path_settings);

	return settings && settings->enabled ? settings : NULL;
}

static __always_inline __s64 path_now_s(void)
{
	return bpf_ktime_get_boot_ns() / 1000000000;
}

/* Fills @key with the prefix of @remote, which is IPv4 as ::ffff:a.b.c.d. */
static __always_inline void fill_path_key(struct tcptuned_path_key *key, const __be32 remote[4])
{
	__u32 *prefix = (__u32 *)key->prefix, i;
	__be32 word[4] = {remote[0], remote[1], remote[2], remote[3]};

	key->family = AF_INET6;
	key->prefix_len = PATH_IPV6_PREFIX;
	__builtin_memset(key->unused, 0, sizeof(key->unused));
	if (!word[0] && !word[1] && word[2] == bpf_htonl(0xffff)) {
		key->family = AF_INET;
		key->prefix_len = PATH_IPV4_PREFIX;
		word[0] = word[3];
	}
	for (i = 0; i < 4; i++)
		prefix[i] = word[i] & bpf_htonl(path_mask(key->prefix_len, i));
}

/* Returns the peer, as path_host(); 0: it is this host. */
static __always_inline __u32 path_key_of_socket(struct tcptuned_path_key *key, struct tcp_sock *tp)
{
	struct sock_common *skc = &tp->inet_conn.icsk_inet.sk.__sk_common;
	struct endpoints ends;

	sk_endpoints(skc, &ends);
	if (ends.remote[0] == ends.local[0] && ends.remote[1] == ends.local[1] &&
	    ends.remote[2] == ends.local[2] && ends.remote[3] == ends.local[3])
		return 0;
	key->netns_cookie = skc->skc_net.net->net_cookie;
	fill_path_key(key, ends.remote);
	return path_host(ends.remote);
}

__noinline int merge_path(struct tcptuned_path *path, const struct path_sample *sample, __s64 now_s,
			  __u32 expire_s)
{
	return path && sample ? path_merge(path, sample, now_s, expire_s) : 0;
}

/* @seed has the upper limit of max_window, and the peer in slow. Returns whether it was filled. */
__noinline int seed_from_path(struct path_seed *seed, const struct tcptuned_path *path, __s64 now_s,
			      __u32 expire_s, __u32 rtt_us)
{
	if (!seed || !path)
		return 0;
	*seed = path_seed_of(path, seed->slow, now_s, expire_s, rtt_us, seed->max_window);
	return 1;
}

/* ---- a new connection ----------------------------------------------------------------- */

/* True if the peer of a connection that is being established was slow to reach. */
static __always_inline bool path_was_slow(struct bpf_sock_ops *ctx)
{
	const struct tcptuned_path_settings *settings = enabled_path_settings();
	const struct tcptuned_path *path;
	struct tcptuned_path_key key;
	struct endpoints ends;

	if (!settings)
		return false;
	sock_ops_endpoints(ctx, &ends);
	key.netns_cookie = bpf_get_netns_cookie(ctx);
	fill_path_key(&key, ends.remote);
	path = bpf_map_lookup_elem(&paths, &key);
	return path && path->slow == path_host(ends.remote) &&
	       !path_expired(path, path_now_s(), settings->expire_s);
}

/* Returns the peer, as path_host(); 0: nothing is known of the path to it. */
static __always_inline __u32 look_up_path(struct tcp_sock *tp, struct tcptuned_path *ret)
{
	const struct tcptuned_path_settings *settings = enabled_path_settings();
	struct tcptuned_path_key key;
	struct tcptuned_path *known;
	__u32 host;

	if (!settings)
		return 0;
	host = path_key_of_socket(&key, tp);
	known = host ? bpf_map_lookup_elem(&paths, &key) : NULL;
	if (!known || path_expired(known, path_now_s(), settings->expire_s))
		return 0;
	*ret = *known;
	return host;
}

/* A path with this bandwidth-delay product, bytes, may need another congestion control. */
#define PATH_LONG_BYTES (1u << 20)

/*
 * True if a new connection needs its record before it has carried anything: its path is slow, so
 * that the window should be small from the first segment on, or perhaps long.
 */
static __always_inline bool path_is_slow_or_long(struct tcp_sock *tp)
{
	struct tcptuned_path path;
	__u32 host = look_up_path(tp, &path);

	return host &&
	       (path.slow == host || path.max_window || path.snd_per_rtt >= PATH_LONG_BYTES);
}

/*
 * Stores in @flow what is known of the path; called once, before the congestion control is set,
 * since bitcp reads its seed when it begins. A connection that is only observed gets nothing.
 */
static __always_inline void apply_path_memory(struct tcptuned_flow *flow, struct tcp_sock *tp,
					      const struct tcptuned_policy *policy)
{
	const struct tcptuned_path_settings *settings = enabled_path_settings();
	struct tcptuned_path path;
	struct path_seed seed = {0};

	flow->max_window_seed = 0;
	if (!settings || (flow->flags & TCPTUNED_F_OBSERVE) ||
	    tp->bytes_received >= PATH_CARRIED_MIN || tp->bytes_acked >= PATH_CARRIED_MIN)
		return;
	seed.slow = look_up_path(tp, &path);
	seed.max_window = flow->snd_window_max;
	if (!seed.slow)
		return;
	if (!seed_from_path(&seed, &path, path_now_s(), settings->expire_s, sk_min_rtt_us(tp)))
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

/* ---- a connection that ends ------------------------------------------------------------ */

/* A hold below the kernel's usual initial window shows that the path is slow. */
#define PATH_SLOW_WINDOW 65535u

/*
 * The window at which bitcp had its last loss, segments, or the present one if it has grown past
 * that; 0: no loss, or another congestion control.
 */
static __always_inline __u32 path_bitcp_max(struct tcp_sock *tp)
{
	const struct bitcp *st = (const struct bitcp *)tp->inet_conn.icsk_ca_priv;
	char name[TCPTUNED_CC_NAME_MAX] = "";
	__u32 max;

	read_cc_name(name, tp);
	if (!is_bitcp(name))
		return 0;
	max = st->undo_win >> 32;
	if (max && st->max_win == BITCP_MAX_WIN && tp->snd_cwnd > max)
		max = tp->snd_cwnd;
	return max;
}

/* Called once, when a managed connection ends. */
static __always_inline void learn_path(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct tcptuned_path_settings *settings = enabled_path_settings();
	struct tcptuned_path path = {0}, *known;
	__u32 rtt_us = sk_min_rtt_us(tp);
	struct path_sample sample = {0};
	struct tcptuned_path_key key;
	__u32 host;
	__s64 now_s;

	if (!settings ||
	    (tp->bytes_received < PATH_CARRIED_MIN && tp->bytes_acked < PATH_CARRIED_MIN))
		return;
	host = path_key_of_socket(&key, tp);
	if (!host)
		return;
	sample.received = tp->bytes_received;
	sample.acked = tp->bytes_acked;
	sample.sent = sk_segments_sent(tp);
	sample.retransmitted = tp->total_retrans;
	sample.min_rtt_us = rtt_us ? rtt_us : rightsize_min_rtt_us(&flow->rcv);
	sample.rcv_per_rtt = path_per_rtt(&flow->rcv, sample.min_rtt_us);
	sample.snd_per_rtt = path_per_rtt(&flow->snd, sample.min_rtt_us);
	sample.max_window = rightsize_clamp_window((__u64)path_bitcp_max(tp) * tp->mss_cache, 0);
	sample.cwnd = rightsize_clamp_window((__u64)tp->snd_cwnd * tp->mss_cache, 0);
	sample.slow = flow->rcv.held && flow->rcv.held < PATH_SLOW_WINDOW ? host : 0;

	/* The entry is replaced as a whole: of two connections that end at once one may be lost. */
	known = bpf_map_lookup_elem(&paths, &key);
	if (known)
		path = *known;
	now_s = path_now_s();
	if (!merge_path(&path, &sample, now_s, settings->expire_s))
		return;
	path.netns = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net->ns.inum;
	if (bpf_map_update_elem(&paths, &key, &path, BPF_ANY))
		count(TCPTUNED_C_PATH_FAILED);
	else
		count(TCPTUNED_C_PATH_LEARNED);
}

#endif
