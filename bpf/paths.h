/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Path memory: a connection that ends adds what it measured to its peer's prefix, and a new one
 * begins with what is known there. The arithmetic is in <tcptuned/algo/path.h>.
 */
#pragma once

#include "congestion_control.h"
#include "maps.h"
#include "record.h"
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

/* @seed has the upper limit of max_window, and the peer in slow. */
__noinline int seed_from_path(struct path_seed *seed, const struct tcptuned_path *path, __s64 now_s,
			      __u32 expire_s, __u32 rtt_us)
{
	if (seed && path)
		*seed = path_seed_of(path, seed->slow, now_s, expire_s, rtt_us, seed->max_window);
	return 0;
}

/* path_first_window() */
__noinline __u32 first_window(const struct tcptuned_path *path, __u32 host, __s64 now_s,
			      __u32 expire_s)
{
	return path ? path_first_window(path, host, now_s, expire_s) : 0;
}

/* ---- a new connection ----------------------------------------------------------------- */

/* Lets one connection jump, or open its window for that, and none of the same host for a while. */
static __always_inline bool take_turn(__u32 *last_s)
{
	__u32 now_s = (__u32)path_now_s(), before = *last_s;

	return now_s - before >= PATH_JUMP_S &&
	       __sync_val_compare_and_swap(last_s, before, now_s) == before;
}

/* A number that is no window. */
#define PATH_WINDOW_SLOW ~0u

/*
 * What is known of the peer of a connection that is being established: PATH_WINDOW_SLOW, or the
 * window that it has filled before, bytes; 0: nothing, or another connection has it: what is
 * offered cannot be taken back, and the sender lets one jump.
 */
static __always_inline __u32 path_window(struct bpf_sock_ops *ctx)
{
	const struct tcptuned_path_settings *settings = enabled_path_settings();
	struct tcptuned_path_key key;
	struct tcptuned_path *path;
	struct endpoints ends;
	__u32 host, window;

	if (!settings)
		return 0;
	sock_ops_endpoints(ctx, &ends);
	key.netns_cookie = bpf_get_netns_cookie(ctx);
	fill_path_key(&key, ends.remote);
	path = bpf_map_lookup_elem(&paths, &key);
	if (!path || path_expired(path, path_now_s(), settings->expire_s))
		return 0;
	host = path_host(ends.remote);
	if (path->slow == host)
		return PATH_WINDOW_SLOW;
	window = first_window(path, host, path_now_s(), settings->expire_s);
	return window && ctx->is_fullsock && take_turn(&path->window_s) ? window : 0;
}

/* Returns what is known of the path to the peer, and that, as path_host(); NULL: nothing. */
static __always_inline struct tcptuned_path *look_up_path(struct tcp_sock *tp, __u32 *ret_host)
{
	const struct tcptuned_path_settings *settings = enabled_path_settings();
	struct tcptuned_path_key key;
	struct tcptuned_path *known;

	if (!settings)
		return NULL;
	*ret_host = path_key_of_socket(&key, tp);
	known = *ret_host ? bpf_map_lookup_elem(&paths, &key) : NULL;
	return known && !path_expired(known, path_now_s(), settings->expire_s) ? known : NULL;
}

/* Below this one, a jump is hardly larger than what slow start has after two round trips. */
#define PATH_JUMP_MIN ((RESUME_WINDOW_MIN * 1448u / TCPTUNED_JUMP_UNIT + 1) * TCPTUNED_JUMP_UNIT)

/*
 * True if a new connection needs its record before it has carried anything: its path is slow, so
 * that the window should be small from the first segment on, or bitcp has had a loss on it, or it
 * may jump.
 */
static __always_inline bool path_needs_record(struct tcp_sock *tp)
{
	const struct tcptuned_path *path;
	__u32 host;

	path = look_up_path(tp, &host);
	if (!path)
		return false;
	return path->slow == host || path->max_window ||
	       (path->host == host && path->host_snd_per_rtt >= 2 * PATH_JUMP_MIN &&
		path->min_rtt_us >= PATH_JUMP_RTT_US &&
		(__u32)path_now_s() - path->jump_s >= PATH_JUMP_S);
}

/* At most @max units. */
static __always_inline __u32 seed_units(__u32 bytes, __u32 unit, __u32 max)
{
	return bytes / unit < max ? bytes / unit : max;
}

/*
 * Stores in @flow what is known of the path; called once, before the congestion control is set,
 * since bitcp reads its seed when it begins. A connection that is only observed gets nothing.
 */
static __always_inline void apply_path_memory(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct tcptuned_path_settings *settings = enabled_path_settings();
	struct path_seed seed = {0};
	struct tcptuned_path *path;

	flow->max_window_seed = flow->jump_seed = 0;
	if (!settings || (flow->flags & TCPTUNED_F_OBSERVE) || tp->bytes_received >= CARRIED_MIN ||
	    tp->bytes_acked >= CARRIED_MIN)
		return;
	path = look_up_path(tp, &seed.slow);
	seed.max_window = flow->snd_window_max;
	if (!path)
		return;
	seed_from_path(&seed, path, path_now_s(), settings->expire_s, sk_min_rtt_us(tp));
	if (tcptuned_request(flow, true) == REQUEST_APPLICATION)
		seed.slow = 0;
	flow->max_window_seed = seed_units(seed.max_window, TCPTUNED_MAX_WINDOW_UNIT, 0xfffff);
	if (seed.jump >= PATH_JUMP_MIN && !tp->total_retrans && take_turn(&path->jump_s)) {
		flow->jump_seed = seed_units(seed.jump, TCPTUNED_JUMP_UNIT, 0xfff);
		flow->flags |= TCPTUNED_F_JUMPS;
	}
	if (seed.slow)
		flow->flags |= TCPTUNED_F_SLOW_SEED;
	if (seed.slow || seed.max_window || flow->jump_seed)
		count(TCPTUNED_C_PATH_SEEDS);
}

/* ---- a connection that ends ------------------------------------------------------------ */

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

/*
 * True if a jump, or the window before it, was lost or marked in part: then nothing is known of the
 * path any more (RFC 9959, 3.5).
 */
static __always_inline bool lost_jump(const struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	const struct resume *r = resume_of(tp);

	return (flow->flags & TCPTUNED_F_JUMPS) && r->jumps &&
	       (tp->total_retrans || r->state == RESUME_NORMAL);
}

/* Looks what has come of a jump. */
static __always_inline void settle_jump(struct tcptuned_flow *flow, struct tcp_sock *tp)
{
	struct tcptuned_path *path;
	__u32 host;

	if (!tp->total_retrans && resume_of(tp)->state != RESUME_NORMAL)
		return;
	path = lost_jump(flow, tp) ? look_up_path(tp, &host) : NULL;
	if (path && path->host == host)
		path->host = 0;
	flow->flags &= ~TCPTUNED_F_JUMPS;
}

/* What another congestion control has brought, if one was tried. */
static __always_inline void fill_trial(struct path_trial *trial, struct tcp_sock *tp)
{
	const struct random_loss *l = random_loss_of(tp);

	if (!l || !l->after || l->state < RANDOM_LOSS_KEPT)
		return;
	trial->state = l->state;
	trial->before = rightsize_clamp_window((__u64)l->window * tp->mss_cache, 0);
	trial->after = rightsize_clamp_window((__u64)l->after * tp->mss_cache, 0);
	trial->before_rtt_us = l->before_rtt_us;
	trial->after_rtt_us = l->after_rtt_us;
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

	if (!settings || (tp->bytes_received < CARRIED_MIN && tp->bytes_acked < CARRIED_MIN))
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
	sample.host = host;
	/* A hold below the initial window shows that the path is slow. */
	sample.slow = flow->rcv.held && flow->rcv.held < INITIAL_WINDOW_BYTES ? host : 0;

	fill_trial(&sample.tried, tp);

	/* The entry is replaced as a whole: of two connections that end at once one may be lost. */
	known = bpf_map_lookup_elem(&paths, &key);
	if (known)
		path = *known;
	if (lost_jump(flow, tp) && path.host == host)
		path.host = 0;
	now_s = path_now_s();
	if (!merge_path(&path, &sample, now_s, settings->expire_s))
		return;
	path.netns = tp->inet_conn.icsk_inet.sk.__sk_common.skc_net.net->ns.inum;
	if (bpf_map_update_elem(&paths, &key, &path, BPF_ANY))
		count(TCPTUNED_C_PATH_FAILED);
	else
		count(TCPTUNED_C_PATH_LEARNED);
}
