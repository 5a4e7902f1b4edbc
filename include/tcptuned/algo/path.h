/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Path memory: what connections have measured on the way to a destination prefix, for later ones to
 * the same prefix. This is the database of Enable (Weigle and Feng, section 2, technique 5), filled
 * by the connections themselves instead of probes.
 *
 * A remembered path never causes a burst: a sender slow-starts as usual, but knows where to stop
 * (bitcp_seed()), and a receiver on a slow path begins with a small window. To the host that was
 * last reached, a sender goes on with half of what was carried to it, paced, once its first window
 * is acknowledged (RFC 9959; resume.h). Old measurements count less, and in the end nothing.
 *
 * Times are seconds of a clock that does not jump (CLOCK_BOOTTIME), amounts are bytes unless noted
 * otherwise.
 */
#pragma once

#include <linux/types.h>
#include <tcptuned/algo/random_loss.h>
#include <tcptuned/algo/rightsize.h>

/* A connection that carried this many remembered windows had the time to fill the path. */
#define PATH_ROUNDS_ENOUGH 16u

/* Limit of segment counts, which no path reaches, since they are aged. */
#define PATH_COUNT_MAX (1ull << 40)

/* Limits of expire_s, a minute and a year, which keep products in path_aged() below 2^64. */
#define PATH_EXPIRE_MIN_S 60u
#define PATH_EXPIRE_MAX_S (365u * 86400u)

/* All bytes are compared, so the unused ones are 0. */
struct tcptuned_path_key {
	__u8 prefix[16];    /* network byte order, IPv4 in the first four; 0 after the prefix */
	__u64 netns_cookie; /* of the network namespace, unique until the next boot */
	__u8 family;	    /* AF_INET or AF_INET6 */
	__u8 prefix_len;
	__u8 unused[6];
};

/* What the last connection brought that has tried another congestion control (random_loss.h). */
struct path_trial {
	__u32 state;  /* RANDOM_LOSS_KEPT or _DROPPED; 0: none has tried one */
	__u32 before; /* window at the last loss before that, bytes */
	__u32 after;  /* delivered per minimum RTT, bytes */
	__u32 before_rtt_us;
	__u32 after_rtt_us;
	__u32 s; /* when that was added, modulo 2^32 */
};

/* All zeroes: nothing is known. */
struct tcptuned_path {
	__s64 updated_s;     /* when a connection was last added */
	__s64 max_window_s;  /* when max_window was measured */
	__u64 sent;	     /* segments, aged */
	__u64 retransmitted; /* segments, aged */
	__u32 min_rtt_us;
	__u32 rcv_per_rtt; /* largest bytes per minimum RTT received, aged */
	__u32 snd_per_rtt; /* ... delivered */
	__u32 max_window;  /* congestion window at which bitcp lost; 0: none known */
	__u32 connections; /* that were added */
	__u32 slow;	   /* the peer from which the last receiver held less than the kernel's
			    * initial window, as path_host(); 0: it held more */
	__u32 netns;	   /* inode number of the network namespace, which may be reused later */
	/* These are not kept on disk. */
	__u32 host;		/* the peer of the last connection, as path_host(); 0: unknown */
	__u32 host_rcv_per_rtt; /* of connections with it, as above */
	__u32 host_snd_per_rtt;
	__u32 jump_s; /* when a connection to it was last allowed to jump, modulo 2^32 */
	struct path_trial tried;
	__u32 window_s; /* when one from it was last allowed a large first window, likewise */
};

#define TCPTUNED_PATHS_MAX 65536

/* Destinations that agree in this many bits share a path; for IPv6 this is a site. */
#define PATH_IPV4_PREFIX 24
#define PATH_IPV6_PREFIX 48

/* Written by the daemon for the BPF programs. */
struct tcptuned_path_settings {
	__u32 enabled;
	__u32 expire_s;
};

/* What one connection has measured. */
struct path_sample {
	__u64 received; /* bytes carried */
	__u64 acked;
	__u64 sent; /* segments */
	__u32 retransmitted;
	__u32 min_rtt_us;  /* 0: unknown, and then nothing is added */
	__u32 rcv_per_rtt; /* 0: not measured */
	__u32 snd_per_rtt;
	__u32 max_window; /* congestion window at the last loss; 0: no loss */
	__u32 cwnd;	  /* at the end */
	__u32 slow;	  /* as in struct tcptuned_path */
	__u32 host;
	struct path_trial tried;
};

/*
 * A number for the host of an address, never 0: one cell phone or one long line of a prefix does
 * not make the others slow. @address: the words of the address, IPv4 as ::ffff:a.b.c.d.
 */
static inline __u32 path_host(const __be32 address[4])
{
	__u32 host = address[0] ^ address[1] ^ address[2] ^ address[3];

	return host ? host : 1;
}

/* What a new connection begins with; 0: as without path memory. */
struct path_seed {
	__u32 max_window; /* of bitcp, bytes */
	__u32 jump;	  /* window after the first one is acknowledged, bytes */
	__u32 slow;	  /* 1: with the smallest window, as on a slow path */
};

/*
 * One connection in so many seconds may jump to a host: the next one finds the queue of that (RFC
 * 9959, 3.2).
 */
#define PATH_JUMP_S 4u

/* On a shorter path slow start takes little time, and timers are too coarse to pace. */
#define PATH_JUMP_RTT_US 2000u

/* Returns the largest bytes per minimum RTT of a direction; 0: not measured. */
static inline __u32 path_per_rtt(const struct rightsize *rs, __u32 min_rtt_us)
{
	return rightsize_clamp_window(rightsize_muldiv(rs->rate_best, min_rtt_us, 1000000), 0);
}

/* The seconds since @then_s; 0 if that is in the future. */
static inline __u64 path_age_s(__s64 then_s, __s64 now_s)
{
	return now_s > then_s ? (__u64)now_s - (__u64)then_s : 0;
}

/*
 * @value after @age_s: it loses half its weight in each quarter of its lifetime, linearly, and so
 * 15/16 in all of it. @value is at most PATH_COUNT_MAX.
 */
static inline __u64 path_aged(__u64 value, __u64 age_s, __u32 expire_s)
{
	__u32 half_life = expire_s / 4;
	__u64 halvings = age_s / half_life, rest = age_s % half_life;

	if (halvings > 40)
		return 0;
	value >>= halvings;
	return value - value * rest / (2ull * half_life);
}

/* True if nothing is known, or nothing any more. */
static inline int path_expired(const struct tcptuned_path *path, __s64 now_s, __u32 expire_s)
{
	return !path->connections || path_age_s(path->updated_s, now_s) >= expire_s;
}

/* The mask of the 32-bit word @i of a prefix of @bits, in host byte order. */
static inline __u32 path_mask(__u32 bits, __u32 i)
{
	if (bits <= 32 * i)
		return 0;
	bits -= 32 * i;
	return bits >= 32 ? ~0u : ~(~0u >> bits);
}

/*
 * The largest bytes per RTT, of the aged @old value and a connection's @new_ one. Most connections
 * are limited by their application, so that a smaller value means nothing. But one that carried
 * enough moves the old value by a quarter of the difference, since the path may have become slower.
 */
ALGO_APART __u32 path_merge_per_rtt(__u64 old, __u32 new_, __u64 carried)
{
	if (new_ > RIGHTSIZE_WINDOW_MAX)
		new_ = RIGHTSIZE_WINDOW_MAX;
	if (new_ >= old)
		return new_;
	if (new_ && carried >= PATH_ROUNDS_ENOUGH * old)
		old -= (old - new_) / 4;
	return (__u32)old;
}

/* A smaller RTT counts at once, a larger one by a quarter of the difference: it may be a queue. */
static inline __u32 path_merge_rtt(__u32 old, __u32 new_)
{
	if (new_ > RIGHTSIZE_RTT_MAX_US)
		new_ = RIGHTSIZE_RTT_MAX_US;
	if (!old || new_ < old)
		return new_;
	return old + (new_ - old) / 4;
}

/*
 * The maximum is limited to two bandwidth-delay products: when the first slow start detects a loss,
 * its window has doubled since that happened, and a longer queue is not worth filling.
 */
static inline void path_merge_max(struct tcptuned_path *path, const struct path_sample *s,
				  __s64 now_s)
{
	__u32 met = s->max_window, max;

	if (!met) {
		if (s->cwnd > path->max_window) /* larger without a loss */
			path->max_window = 0;
		return;
	}
	if (!s->snd_per_rtt)
		return;
	max = s->snd_per_rtt < RIGHTSIZE_WINDOW_MAX / 2 ? 2 * s->snd_per_rtt : RIGHTSIZE_WINDOW_MAX;
	if (met > max)
		met = max;
	/* A maximum that is too low costs time, so it rises at once and falls by halves. */
	if (path->max_window > met)
		met = path->max_window - (path->max_window - met) / 2;
	path->max_window = met;
	path->max_window_s = now_s;
}

static inline __u64 path_sum(__u64 aged, __u64 more)
{
	return more < PATH_COUNT_MAX - aged ? aged + more : PATH_COUNT_MAX;
}

/*
 * The last peer is remembered by itself: what others of its prefix have carried is not what its
 * line carries.
 */
static inline void path_merge_host(struct tcptuned_path *path, const struct path_sample *s,
				   __u64 age_s, __u32 expire_s)
{
	if (path->host != s->host) {
		path->host = s->host;
		path->host_rcv_per_rtt = path->host_snd_per_rtt = 0;
	}
	path->host_rcv_per_rtt = path_merge_per_rtt(
		path_aged(path->host_rcv_per_rtt, age_s, expire_s), s->rcv_per_rtt, s->received);
	path->host_snd_per_rtt = path_merge_per_rtt(
		path_aged(path->host_snd_per_rtt, age_s, expire_s), s->snd_per_rtt, s->acked);
}

/*
 * What a trial has come to, RANDOM_LOSS_KEPT or _DROPPED; 0: there was none, or it is as old as a
 * path may become.
 */
static inline __u32 path_tried(const struct tcptuned_path *path, __s64 now_s, __u32 expire_s)
{
	return (__u32)now_s - path->tried.s < expire_s ? path->tried.state : 0;
}

/* Adds a connection that has ended. Returns 1, or 0 if it measured too little. */
static inline int path_merge(struct tcptuned_path *path, const struct path_sample *s, __s64 now_s,
			     __u32 expire_s)
{
	__u64 age_s = path_age_s(path->updated_s, now_s);

	if (!s->min_rtt_us || (s->received < CARRIED_MIN && s->acked < CARRIED_MIN))
		return 0;
	if (path_expired(path, now_s, expire_s))
		*path = (struct tcptuned_path){0};
	path->rcv_per_rtt = path_merge_per_rtt(path_aged(path->rcv_per_rtt, age_s, expire_s),
					       s->rcv_per_rtt, s->received);
	path->snd_per_rtt = path_merge_per_rtt(path_aged(path->snd_per_rtt, age_s, expire_s),
					       s->snd_per_rtt, s->acked);
	path->sent = path_sum(path_aged(path->sent, age_s, expire_s), s->sent);
	path->retransmitted =
		path_sum(path_aged(path->retransmitted, age_s, expire_s), s->retransmitted);
	path->min_rtt_us = path_merge_rtt(path->min_rtt_us, s->min_rtt_us);
	path_merge_max(path, s, now_s);
	path_merge_host(path, s, age_s, expire_s);
	if (s->received >= CARRIED_MIN && s->rcv_per_rtt)
		path->slow = s->slow;
	if (s->tried.state) {
		path->tried = s->tried;
		path->tried.s = (__u32)now_s;
	}
	path->connections += path->connections < 0xffffffffu;
	path->updated_s = now_s;
	return 1;
}

/*
 * Returns whether a handshake that took @rtt_us (0: unknown, because a SYN was lost) went the
 * remembered way. One that took less than half or more than twice the remembered RTT went another
 * way, or to another host of the prefix, for which nothing is known.
 */
static inline int path_is_same(const struct tcptuned_path *path, __u32 rtt_us)
{
	__u32 min_rtt = path->min_rtt_us;

	return rtt_us && rtt_us <= 2ull * min_rtt && 2ull * rtt_us >= min_rtt;
}

/*
 * Returns the window to jump to in a connection to @host, bytes; 0: none. It is half of what was
 * carried at most (RFC 9959, 3.3). The path is the same; a handshake that took 5/4 of its minimum
 * RTT has met a queue, and so the path is in use.
 */
static inline __u32 path_jump(const struct tcptuned_path *path, __u32 host, __s64 now_s,
			      __u32 expire_s, __u32 rtt_us)
{
	if (path->host != host || path->min_rtt_us < PATH_JUMP_RTT_US ||
	    4ull * rtt_us > 5ull * path->min_rtt_us || (__u32)now_s - path->jump_s < PATH_JUMP_S)
		return 0;
	return (__u32)(path_aged(path->host_snd_per_rtt, path_age_s(path->updated_s, now_s),
				 expire_s) /
		       2);
}

/*
 * The first receive window of a connection to @host on a path that has not expired, bytes; 0: the
 * kernel's. What was carried at most: the sender may jump to half of that.
 */
static inline __u32 path_first_window(const struct tcptuned_path *path, __u32 host, __s64 now_s,
				      __u32 expire_s)
{
	if (path->host != host)
		return 0;
	return (__u32)path_aged(path->host_rcv_per_rtt, path_age_s(path->updated_s, now_s),
				expire_s);
}

/*
 * What a new connection to @host (path_host()) begins with. @rtt_us: see path_is_same(); @snd_cap:
 * the largest window in flight that its policy allows. A maximum is used for half of the lifetime
 * only, because a wrong one costs time.
 */
static inline struct path_seed path_seed_of(const struct tcptuned_path *path, __u32 host,
					    __s64 now_s, __u32 expire_s, __u32 rtt_us,
					    __u32 snd_cap)
{
	struct path_seed seed = {0};

	if (path_expired(path, now_s, expire_s) || !path_is_same(path, rtt_us))
		return seed;
	seed.slow = path->slow == host;
	seed.jump = path_jump(path, host, now_s, expire_s, rtt_us);
	if (seed.jump > snd_cap)
		seed.jump = snd_cap;
	if (path_age_s(path->max_window_s, now_s) < expire_s / 2)
		seed.max_window = path->max_window < snd_cap ? path->max_window : snd_cap;
	return seed;
}

/*
 * Returns the receive window that a new connection needs: twice the bytes per RTT (DRS III.B),
 * aged. 0: unknown. @rtt_us: of its handshake, as in path_is_same().
 */
static inline __u32 path_receive_window(const struct tcptuned_path *path, __s64 now_s,
					__u32 expire_s, __u32 rtt_us)
{
	__u64 age_s = path_age_s(path->updated_s, now_s);

	if (path_expired(path, now_s, expire_s) || !path_is_same(path, rtt_us))
		return 0;
	return rightsize_clamp_window(2 * path_aged(path->rcv_per_rtt, age_s, expire_s), 0);
}

/*
 * Begins as on a slow path, where an earlier connection held less than the kernel's initial window
 * (DRS V.B: on a link of 56 kbit/s a static window fills the queue and is lost).
 */
static inline void rightsize_begin_held(struct rightsize *rs, __u32 window)
{
	rs->held = rs->window = window;
	rightsize_enter(rs, RIGHTSIZE_HOLDING, 0);
}
