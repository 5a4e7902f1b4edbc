// SPDX-License-Identifier: GPL-2.0-only
#include "streams/passive.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "util/prefix.h"

#define GROUPS	 512  /* a power of two */
#define PROBES	 8    /* slots in which a group may be */
#define BUSY_MIN 0.95 /* of the time; a sender that has nothing to send for longer waits */
/* A receiver that got nothing for so long waits; a sender's timeout, 200 ms or more, is a loss. */
#define PAUSE_RTTS     4
#define PAUSE_US       250000
#define PAUSES_KNOWN_S 6   /* in longer windows of a receiver, pauses may be forgotten */
#define WINDOW_FULL    0.8 /* a receiver whose window holds what came in an RTT is limited by it */

/* What a group's connections have in common. All bytes are compared. */
struct identity {
	struct tcptuned_path_key host;
	__u64 cgroup;
	__u64 receives;
};

/* Of all its connections, at the time of a scan. Counters only grow while these are the same. */
struct sums {
	__u32 streams;
	bool waits;    /* one of them for its application */
	bool mixed;    /* congestion controls */
	__u64 members; /* a sum of hashes that identifies them */
	__u64 bytes, segments, resent;
	__u64 jiffies, busy, rwnd, sndbuf;
	__u64 window;	  /* that they advertise, bytes */
	double rtt_s;	  /* of all, a sum */
	double rtt_max_s; /* smoothed */
	double rtt_min_s; /* smallest ever; 0: unknown */
};

struct group {
	struct identity identity;
	char congestion_control[TCPTUNED_CC_NAME_MAX]; /* of a sender */
	__u32 netns;
	__u64 scan;	/* in which it was seen last; 0: the slot is free */
	__u64 first_ns; /* when the window began; 0: there is none */
	struct sums first, now;
	double rtt_s; /* smoothed, a sum over the connections and scans since */
	__u32 rtts;
};

struct tcptuned_passive {
	struct tcptuned_passive_stats stats;
	__u64 scan;
	__u64 now_ns;
	struct group group[GROUPS];
};

struct tcptuned_passive *tcptuned_passive_new(void)
{
	return calloc(1, sizeof(struct tcptuned_passive));
}

void tcptuned_passive_free(struct tcptuned_passive *groups)
{
	free(groups);
}

const struct tcptuned_passive_stats *tcptuned_passive_stats(const struct tcptuned_passive *groups)
{
	return &groups->stats;
}

/* ---- a scan ---------------------------------------------------------------------------- */

void tcptuned_passive_begin(struct tcptuned_passive *groups, __u64 now_ns)
{
	groups->scan++;
	groups->now_ns = now_ns;
	groups->stats.groups = 0;
}

void tcptuned_passive_cancel(struct tcptuned_passive *groups)
{
	groups->scan--;
}

/* FNV-1a. */
static __u64 hash(__u64 from, const void *data, size_t len)
{
	const __u8 *byte = data;

	while (len--)
		from = (from ^ *byte++) * 0x100000001b3;
	return from;
}

#define HASH_BEGIN	   0xcbf29ce484222325
#define HASH(from, member) hash(from, &(member), sizeof(member))

static struct identity identify(const struct tcptuned_flow_record *r)
{
	struct tcptuned_prefix prefix = {.length = 128};
	struct identity ret;

	memset(&ret, 0, sizeof(ret));
	tcptuned_prefix_map_address(prefix.address, r->family, r->remote);
	prefix.ipv4 = tcptuned_address_is_ipv4(prefix.address);
	tcptuned_prefix_path_key(&prefix, &ret.host);
	ret.host.netns_cookie = r->netns_cookie;
	ret.cgroup = r->cgroup;
	ret.receives = r->bytes_received > r->bytes_acked;
	return ret;
}

/*
 * The group's slot, or one in place of the group that was not seen for longest; NULL: there is
 * none.
 */
static struct group *find_group(struct tcptuned_passive *groups, const struct identity *identity)
{
	__u64 slot = HASH(HASH_BEGIN, *identity);
	struct group *group, *oldest = NULL;

	for (__u64 i = 0; i < PROBES; i++) {
		group = &groups->group[(slot + i) % GROUPS];
		if (group->scan && !memcmp(&group->identity, identity, sizeof(*identity)))
			return group;
		if (!oldest || group->scan < oldest->scan)
			oldest = group;
	}
	if (oldest->scan == groups->scan)
		return NULL;
	memset(oldest, 0, sizeof(*oldest));
	oldest->identity = *identity;
	return oldest;
}

/*
 * The longest time without data until now, as far back as right-sizing remembers, about a second.
 */
static __u64 longest_pause_us(const struct tcptuned_passive *groups, const struct rightsize *rcv)
{
	__u64 now_us = groups->now_ns / 1000;
	__u64 lasts_us = rcv->seen_us && now_us > rcv->seen_us ? now_us - rcv->seen_us : 0;

	return MAX(lasts_us, rcv->interval_silent_us);
}

/*
 * True if a connection has waited for its application. Of a sender, what is between two scans is
 * seen by the time that it was busy. Of a receiver, only pauses and a slow reader at this host are
 * seen.
 */
static bool waits(const struct tcptuned_passive *groups, const struct tcptuned_flow_record *r,
		  bool receives)
{
	/* The smoothed RTT of a receiver includes the pauses. */
	__u64 min_rtt_us = rightsize_min_rtt_us(&r->flow.rcv);

	if (receives)
		return tcptuned_request(&r->flow, true) == REQUEST_APPLICATION ||
		       r->flow.reader.window ||
		       longest_pause_us(groups, &r->flow.rcv) > PAUSE_RTTS * min_rtt_us + PAUSE_US;
	return r->limit == TCPTUNED_LIMIT_IDLE ||
	       (r->limit == TCPTUNED_LIMIT_APPLICATION && r->unsent < r->mss);
}

static void add(struct sums *sums, const struct tcptuned_flow_record *r, bool receives)
{
	__u32 min_rtt_us = receives ? r->flow.rcv.min_rtt_us : r->min_rtt_us;
	double rtt_s = (receives ? r->rcv_rtt_us : r->srtt_us) / 1e6;

	sums->streams++;
	sums->members += HASH(HASH(HASH(HASH_BEGIN, r->local), r->local_port), r->remote_port);
	sums->bytes += receives ? r->bytes_received : r->bytes_acked;
	sums->segments += receives ? r->data_received : r->data_sent;
	sums->resent += receives ? r->out_of_order : r->retransmits;
	sums->jiffies += r->jiffies;
	sums->busy += r->busy_jiffies;
	sums->rwnd += r->rwnd_jiffies;
	sums->sndbuf += r->sndbuf_jiffies;
	sums->window += r->rcv_wnd;
	sums->rtt_s += rtt_s;
	sums->rtt_max_s = fmax(sums->rtt_max_s, rtt_s);
	if (min_rtt_us && (!(sums->rtt_min_s > 0) || min_rtt_us / 1e6 < sums->rtt_min_s))
		sums->rtt_min_s = min_rtt_us / 1e6;
}

void tcptuned_passive_add(struct tcptuned_passive *groups,
			  const struct tcptuned_flow_record *record)
{
	struct identity identity = identify(record);
	struct group *group;
	bool differs;

	if (!memcmp(record->local, record->remote, sizeof(record->local)))
		return; /* within this host */
	group = find_group(groups, &identity);
	if (!group)
		return;
	differs = !identity.receives &&
		  memcmp(group->congestion_control, record->congestion_control,
			 sizeof(group->congestion_control));
	if (group->scan != groups->scan) {
		if (differs || group->scan + 1 != groups->scan) /* or not seen in the last scan */
			group->first_ns = 0;
		if (differs)
			memcpy(group->congestion_control, record->congestion_control,
			       sizeof(group->congestion_control));
		differs = false;
		group->scan = groups->scan;
		memset(&group->now, 0, sizeof(group->now));
		group->netns = record->netns;
		groups->stats.groups++;
	}
	group->now.mixed |= differs;
	group->now.waits |= waits(groups, record, identity.receives);
	add(&group->now, record, identity.receives);
}

/* ---- windows --------------------------------------------------------------------------- */

static void begin_window(const struct tcptuned_passive *groups, struct group *group)
{
	group->first = group->now;
	group->first_ns = groups->now_ns;
	group->rtt_s = 0;
	group->rtts = 0;
}

/* Describe the window that ends now. Returns false if it is no measurement. */
static bool measure(const struct tcptuned_passive *groups, const struct group *group,
		    struct tcptuned_streams_level *ret)
{
	const struct sums *from = &group->first, *to = &group->now;
	double seconds = (double)(groups->now_ns - group->first_ns) / 1e9;
	double all = (double)(to->jiffies - from->jiffies);

	if (to->waits || to->mixed || to->bytes <= from->bytes || to->segments <= from->segments ||
	    to->resent < from->resent || to->streams > TCPTUNED_STREAMS_MAX || !(all > 0))
		return false;
	*ret = (struct tcptuned_streams_level){
		.streams = to->streams,
		.rate = 8 * (double)(to->bytes - from->bytes) / seconds,
		.loss = (double)(to->resent - from->resent) /
			(double)(to->segments - from->segments),
		.rtt_s = group->rtt_s / group->rtts,
		.rtt_min_s = to->rtt_min_s,
		.receives = (int)group->identity.receives,
	};
	if (ret->receives && seconds > PAUSES_KNOWN_S &&
	    seconds > 2 * TCPTUNED_PASSIVE_WINDOW_RTTS * to->rtt_max_s)
		return false;
	if (ret->receives) {
		ret->receiver_window = ret->rate / 8 * ret->rtt_s >
				       WINDOW_FULL * (double)to->window;
		return true;
	}
	ret->receiver_window = (double)(to->rwnd - from->rwnd) / all;
	ret->send_buffer = (double)(to->sndbuf - from->sndbuf) / all;
	/* as if one alone had been idle for all of that */
	return (all - (double)(to->busy - from->busy)) * to->streams <= (1 - BUSY_MIN) * all;
}

static void end_window(struct tcptuned_passive *groups, struct group *group,
		       tcptuned_passive_measured measured, void *ctx)
{
	struct tcptuned_streams_level window;
	struct tcptuned_streams_key key;

	if (!measure(groups, group, &window)) {
		groups->stats.refused++;
		return;
	}
	groups->stats.measured++;
	memset(&key, 0, sizeof(key));
	key.host = group->identity.host;
	key.receives = (__u32)group->identity.receives;
	key.streams = window.streams;
	memcpy(key.congestion_control, group->congestion_control, sizeof(key.congestion_control));
	measured(ctx, &key, group->netns, &window);
}

static void end_scan_of(struct tcptuned_passive *groups, struct group *group,
			tcptuned_passive_measured measured, void *ctx)
{
	__u64 ns = groups->now_ns - group->first_ns;

	if (!group->first_ns || group->now.streams != group->first.streams ||
	    group->now.members != group->first.members) {
		begin_window(groups, group);
		return;
	}
	group->rtt_s += group->now.rtt_s;
	group->rtts += group->now.streams;
	if (!group->now.waits &&
	    (ns < TCPTUNED_PASSIVE_WINDOW_NS ||
	     (double)ns < TCPTUNED_PASSIVE_WINDOW_RTTS * group->now.rtt_max_s * 1e9))
		return;
	end_window(groups, group, measured, ctx);
	begin_window(groups, group);
}

void tcptuned_passive_end(struct tcptuned_passive *groups, tcptuned_passive_measured measured,
			  void *ctx)
{
	for (size_t i = 0; i < GROUPS; i++)
		if (groups->group[i].scan == groups->scan)
			end_scan_of(groups, &groups->group[i], measured, ctx);
}
