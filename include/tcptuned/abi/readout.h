/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scan of all connections: what user space requests of the iterator, what it answers, and how
 * it adds up. Pure: compiled into BPF and into the unit tests.
 *
 * At every read() the kernel's iterator over socket storage walks a bucket from its beginning to
 * where it was (bpf_sk_storage_map_seq_find_next()), and there are only twice as many buckets as
 * CPUs. To write every record through it would take a time that grows with the square of their
 * number. So it writes nothing but a byte, which ends the read(), when it has had the CPU for long
 * enough or the ring buffer is half full. One pass adds everything up in a map, and puts the
 * requested connections, and few others, into the ring buffer.
 */
#pragma once

#include <linux/types.h>
#include <tcptuned/abi/flow.h>
#include <tcptuned/abi/totals.h>
#include <tcptuned/algo/log2.h>

/* Classes of sizes: 64 for each power of two, 1.6 % wide. */
#define READOUT_CLASS_BITS 6
#define READOUT_CLASSES	   ((64 - READOUT_CLASS_BITS + 1) << READOUT_CLASS_BITS)
#define READOUT_SLOTS	   4096 /* the next power of two */

/* Pairs of policy and congestion control that are distinguished; a power of two. */
#define READOUT_GROUPS 1024
#define READOUT_PROBES 16

#define READOUT_RING_BYTES (4u << 20)

#define READOUT_ALL (~0u) /* the value of struct readout_request.wanted */

/* Collected in addition, since sizes change during the scan, and many may be equal. */
#define READOUT_SPARE 1000

/*
 * How long the iterator may keep a CPU (not all kernels are preemptive), and how often it checks.
 */
#define READOUT_SLICE_NS   (20 * 1000000ull)
#define READOUT_LOOK_EVERY 256
#define READOUT_AT_ONCE	   1 /* a time that has passed */

/* Limits a loop, for the verifier; the next connection continues it. */
#define READOUT_STEPS 32

/* In network byte order; IPv4 as ::ffff:a.b.c.d. */
struct readout_prefix {
	__u32 word[4];
	__u32 mask[4]; /* all 0: any */
};

/* All conditions have to hold; 0: no condition. It may let more pass than user space wants. */
struct readout_filter {
	struct readout_prefix any_address; /* of either end */
	struct readout_prefix local, remote;
	__u32 any_port; /* of either end */
	__u32 local_port, remote_port;
	__u32 netns;
	__u32 given;	    /* 0: there is no condition */
	__u32 active_since; /* carried data since then, or has some in flight; jiffies */
};

struct readout_request {
	struct readout_filter filter;
	__u32 wanted; /* this many of the largest, or READOUT_ALL */
	__u32 unused;
};

/* Connections of one policy with one congestion control. */
struct readout_group {
	__u64 ops; /* address of the kernel's struct tcp_congestion_ops */
	__u32 policy;
	__u32 flows; /* 0: the slot is free */
	char congestion_control[TCPTUNED_CC_NAME_MAX];
	struct tcptuned_traffic traffic;
};

struct readout_sums {
	__u64 records; /* sockets with a record */
	__u64 live;    /* of these, managed connections that are open, which all below is about */
	__u64 matched; /* by the filter */
	__u64 observed;
	__u64 rcv_sized, snd_sized;
	__u64 rcvbuf_requests, sndbuf_requests;
	__u64 rcvbuf_bytes, sndbuf_bytes;
	__u64 rmem_bytes, wmem_bytes;
	__u64 rcv_wnd_bytes;
	__u64 limited[TCPTUNED_LIMITS]; /* sending */
	__u64 receive_limited[TCPTUNED_LIMITS];
	__u64 rcv_reason[RIGHTSIZE_REASONS];
	__u64 snd_reason[RIGHTSIZE_REASONS];
	struct tcptuned_waits waits[2]; /* of tuned connections; of observed ones */
	__u64 groups_other;		/* connections for which there was no slot below */
	struct readout_group group[READOUT_GROUPS];
	__u32 class[READOUT_SLOTS]; /* matched connections by readout_class() of their size */
};

/* The map's only value. */
struct readout {
	struct readout_request request;
	__u64 until_ns; /* when the CPU is yielded; 0: not determined yet */
	__u32 seen;	/* sockets since the start */
	__u32 jiffies;	/* when the first of them was seen; 0: there was none */
	__u32 least;	/* class of the smallest connection that may be wanted, so far */
	__u32 above;	/* connections in higher classes */
	struct readout_sums sums;
};

_Static_assert(sizeof(struct readout) == 82536 && sizeof(struct tcptuned_flow) == 424,
	       "the layout of pinned maps has changed: raise TCPTUNED_ABI, then these numbers");

/* What the sums need of a socket in addition to its record. */
struct readout_socket {
	__u64 ops;
	__u32 rcvbuf, sndbuf;
	__u32 rmem_alloc, wmem_queued;
	__u32 rcv_wnd;
	__u32 limit, receive_limit; /* enum tcptuned_limit */
	struct tcptuned_waits waits;
	struct tcptuned_traffic traffic;
};

/*
 * False for a listener, which has a record for its SO_RCVBUF request, and for a socket that its
 * application keeps after the end of the connection. @state: TCP_ESTABLISHED ...
 */
static inline int readout_is_live(const struct tcptuned_flow *flow, __u32 state)
{
	const __u32 close = 7, listen = 10;

	return (flow->flags & TCPTUNED_F_MANAGED) && state != close && state != listen;
}

/* The class of @size, which never decreases with it, and is exact below 128. */
static inline __u32 readout_class(__u64 size)
{
	__u32 shift, class;

	if (size >> READOUT_CLASS_BITS == 0)
		return size;
	shift = (size >> 32 ? 32 + tcptuned_log2(size >> 32) : tcptuned_log2(size)) -
		READOUT_CLASS_BITS;
	class = ((shift + 1) << READOUT_CLASS_BITS) +
		((size >> shift) & ((1u << READOUT_CLASS_BITS) - 1));
	return class < READOUT_CLASSES ? class : READOUT_CLASSES - 1;
}

/* The slot of that group; NULL: there is none left. A new one has no name yet. */
static inline struct readout_group *readout_find_group(struct readout_sums *sums, __u64 ops,
						       __u32 policy)
{
	/*
	 * The lowest bits of the address are left out, since it is aligned. Both halves of the id
	 * enter the hash (2^32 / golden ratio, Knuth).
	 */
	__u32 slot = (ops >> 6) ^ (ops >> 14) ^ (policy * 2654435761u >> 16);
	struct readout_group *group;
	int i;

	for (i = 0; i < READOUT_PROBES; i++) {
		group = &sums->group[(slot + i) & (READOUT_GROUPS - 1)];
		if (!group->flows) {
			group->ops = ops;
			group->policy = policy;
			return group;
		}
		if (group->ops == ops && group->policy == policy)
			return group;
	}
	return 0;
}

/* Counts a live connection. Returns its group if that is new and needs a name, or else NULL. */
static inline struct readout_group *readout_add(struct readout_sums *sums,
						const struct tcptuned_flow *flow,
						const struct readout_socket *socket)
{
	__u32 flags = flow->flags, rcv = flow->rcv_reason, snd = flow->snd_reason;
	__u32 observed = !!(flags & TCPTUNED_F_OBSERVE);
	struct readout_group *group;
	int i;

	sums->live++;
	sums->observed += observed;
	sums->waits[observed].busy += socket->waits.busy;
	sums->waits[observed].rwnd += socket->waits.rwnd;
	sums->waits[observed].sndbuf += socket->waits.sndbuf;
	sums->rcv_sized += !!(flags & TCPTUNED_F_RCV_TUNED);
	sums->snd_sized += !!(flags & TCPTUNED_F_SND_TUNED);
	sums->rcvbuf_requests += request_is_overridden(tcptuned_request(flow, true));
	sums->sndbuf_requests += request_is_overridden(tcptuned_request(flow, false));
	sums->rcvbuf_bytes += socket->rcvbuf;
	sums->sndbuf_bytes += socket->sndbuf;
	sums->rmem_bytes += socket->rmem_alloc;
	sums->wmem_bytes += socket->wmem_queued;
	sums->rcv_wnd_bytes += socket->rcv_wnd;
	if (socket->limit < TCPTUNED_LIMITS)
		sums->limited[socket->limit]++;
	if (socket->receive_limit < TCPTUNED_LIMITS)
		sums->receive_limited[socket->receive_limit]++;
	if (rcv < RIGHTSIZE_REASONS)
		sums->rcv_reason[rcv]++;
	if (snd < RIGHTSIZE_REASONS)
		sums->snd_reason[snd]++;
	group = readout_find_group(sums, socket->ops, flow->policy);
	if (!group) {
		sums->groups_other++;
		return 0;
	}
	for (i = 0; i < TCPTUNED_CARRIED; i++)
		group->traffic.carried[i] += socket->traffic.carried[i];
	return group->flows++ ? 0 : group;
}

/*
 * Counts a live connection that the filter matches. Returns whether it may be among the N largest
 * that are wanted. It is not if as many are already in higher classes, or enough in its own. Of
 * those accepted, some N log(all / N) in random order, user space has to sort out the larger part.
 */
static inline int readout_add_matched(struct readout *r, __u64 size)
{
	__u32 class = readout_class(size) & (READOUT_SLOTS - 1), wanted = r->request.wanted;
	__u32 least = r->least, above = r->above, alike;
	int i;

	r->sums.matched++;
	alike = ++r->sums.class[class];
	if (wanted == READOUT_ALL)
		return 1;
	if (!wanted || class < least)
		return 0;
	if (class == least)
		return above + alike <= wanted + READOUT_SPARE;
	above++;
	/* Ends at the highest class at the latest, above which there is nothing. */
	for (i = 0; i < READOUT_STEPS && above >= wanted; i++)
		above -= r->sums.class[++least & (READOUT_SLOTS - 1)];
	r->least = least;
	r->above = above;
	return 1;
}

static inline int readout_prefix_covers(const struct readout_prefix *prefix, const __u32 address[4])
{
	int i;

	for (i = 0; i < 4; i++)
		if ((address[i] ^ prefix->word[i]) & prefix->mask[i])
			return 0;
	return 1;
}

/*
 * True if a connection between these addresses and ports may be wanted. Always inlined, since a
 * call in BPF has five arguments at most.
 */
static inline __attribute__((always_inline)) int
readout_matches(const struct readout_filter *filter, const __u32 local[4], const __u32 remote[4],
		__u32 local_port, __u32 remote_port, __u32 netns)
{
	if (filter->any_port && filter->any_port != local_port && filter->any_port != remote_port)
		return 0;
	if ((filter->local_port && filter->local_port != local_port) ||
	    (filter->remote_port && filter->remote_port != remote_port))
		return 0;
	if (filter->netns && filter->netns != netns)
		return 0;
	if (!readout_prefix_covers(&filter->any_address, local) &&
	    !readout_prefix_covers(&filter->any_address, remote))
		return 0;
	return readout_prefix_covers(&filter->local, local) &&
	       readout_prefix_covers(&filter->remote, remote);
}
