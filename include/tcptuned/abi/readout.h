/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the records of all connections are read out: what user space asks of the iterator over
 * them, what it answers, and how it adds up. Pure: compiled into BPF and into the unit tests.
 *
 * The kernel's iterator over socket storage goes through a bucket from its beginning at every
 * read(), to where it was (bpf_sk_storage_map_seq_find_next()), and there are only twice as many
 * buckets as CPUs: to write every record through it takes a time that grows with the square of
 * their number. So nothing is written through it, but for a byte when a CPU was kept for long
 * enough or the ring buffer is half full, which ends the read(). One pass adds everything up in a
 * map, and puts what may be wanted, and little else, into the ring buffer.
 */
#ifndef TCPTUNED_READOUT_H
#define TCPTUNED_READOUT_H

#include <linux/types.h>
#include <tcptuned/abi/flow.h>

/* By size, to either side of which so many fall: 64 classes for each power of two, 1.6 % wide. */
#define READOUT_CLASS_BITS 6
#define READOUT_CLASSES	   ((64 - READOUT_CLASS_BITS + 1) << READOUT_CLASS_BITS)
#define READOUT_SLOTS	   4096 /* as many, but a power of two */

/* Pairs of policy and congestion control that are told apart; a power of two. */
#define READOUT_GROUPS	   1024
#define READOUT_PROBES	   16

#define READOUT_RING_BYTES (4u << 20)

#define READOUT_ALL	   (~0u) /* the value of struct readout_request.wanted */

/* More than wanted, since connections go on while they are read, and many may be alike. */
#define READOUT_SPARE	   1000

/* So long the iterator may keep a CPU: kernels are not all preemptive. Looked at now and then. */
#define READOUT_SLICE_NS   (20 * 1000000ull)
#define READOUT_LOOK_EVERY 256
#define READOUT_AT_ONCE	   1 /* a time that is over */

/* At a time, for the verifier's sake; the next connection takes the next ones. */
#define READOUT_STEPS	   32

/* Words as they are in memory, network byte order; IPv4 as ::ffff:a.b.c.d. */
struct readout_prefix {
	__u32 word[4];
	__u32 mask[4]; /* all 0: any */
};

/* All that is given has to hold; 0 is not given. May be wider than what is wanted. */
struct readout_filter {
	struct readout_prefix any_address; /* of either end */
	struct readout_prefix local, remote;
	__u32 any_port; /* of either end */
	__u32 local_port, remote_port;
	__u32 netns;
	__u32 given; /* 0: nothing is */
	__u32 unused;
};

struct readout_request {
	struct readout_filter filter;
	__u32 wanted; /* so many of the largest, or READOUT_ALL */
	__u32 unused;
};

/* Connections of one policy with one congestion control. */
struct readout_group {
	__u64 ops; /* where the kernel has its struct tcp_congestion_ops */
	__u32 policy;
	__u32 flows; /* 0: the slot is free */
	char congestion_control[TCPTUNED_CC_NAME_MAX];
};

struct readout_sums {
	__u64 records; /* sockets with a record */
	__u64 live;    /* of these: claimed connections that are open; all below is about them */
	__u64 matched; /* what the filter lets through */
	__u64 observed;
	__u64 rcv_taken, snd_taken;
	__u64 rcvbuf_requests, sndbuf_requests;
	__u64 rcvbuf_bytes, sndbuf_bytes;
	__u64 rmem_bytes, wmem_bytes;
	__u64 rcv_wnd_bytes;
	__u64 limited[TCPTUNED_LIMITS];
	__u64 rcv_reason[RIGHTSIZE_REASONS];
	__u64 snd_reason[RIGHTSIZE_REASONS];
	__u64 groups_other; /* connections that found no slot below */
	struct readout_group group[READOUT_GROUPS];
	__u32 class[READOUT_SLOTS]; /* matched ones by readout_class() of their size */
};

/* The map's only value. */
struct readout {
	struct readout_request request;
	__u64 until_ns; /* then it is the turn of others; 0: not settled yet */
	__u32 seen;	/* sockets since the start */
	__u32 unused;
	/* Of those so far, the least class that seems wanted, and ... */
	__u32 least;
	__u32 above; /* ... how many are above it */
	struct readout_sums sums;
};

_Static_assert(sizeof(struct readout) == 49600 && sizeof(struct tcptuned_flow) == 392,
	       "pinned maps of another layout: raise TCPTUNED_ABI, and then these");

/* What a sum needs to know of a socket besides its record. */
struct readout_socket {
	__u64 ops;
	__u32 rcvbuf, sndbuf;
	__u32 rmem_alloc, wmem_queued;
	__u32 rcv_wnd;
	__u32 limit; /* enum tcptuned_limit */
};

/* What the kernel has written down about a sender. */
struct readout_sender {
	__u32 unsent;	 /* bytes written that were never sent */
	__u32 mss;	 /* bytes */
	__u32 in_flight; /* segments */
	__u8 chrono;	 /* enum tcp_chrono */
	__u8 cwnd_limited;
	__u8 pacing;	 /* enum sk_pacing */
	__u8 throttled;	 /* TSQ_THROTTLED: a queue of this host holds as much of it as may be */
	__u8 window_full; /* of the peer's window, less than the next segment is left */
};

#define READOUT_CHRONO_RWND   2 /* include/linux/tcp.h, enum tcp_chrono */
#define READOUT_CHRONO_SNDBUF 3
#define READOUT_PACING_FQ     2 /* include/net/sock.h, enum sk_pacing; 0: none */

/*
 * Enum tcptuned_limit. Of windows and send buffer the kernel keeps books (tcp_chrono_start(),
 * tcp_cwnd_validate()). It keeps none of the two others that end tcp_write_xmit(),
 * tcp_pacing_check() and tcp_small_queue_check(): these are told by data that wait and that
 * nothing else holds. (Pacing is checked first: of a paced sender the books say little.) Less
 * than a segment may wait for its rest while others are in flight (tcp_nagle_test()): that is up
 * to the application. Where the queue of this host is fq, it paces.
 */
static inline __u32 readout_limit(const struct readout_sender *s)
{
	int waits = s->unsent && (s->unsent >= s->mss || !s->in_flight);

	if (s->chrono == READOUT_CHRONO_RWND)
		return TCPTUNED_LIMIT_RWND;
	if (s->chrono == READOUT_CHRONO_SNDBUF)
		return TCPTUNED_LIMIT_SNDBUF;
	if (s->cwnd_limited && s->in_flight)
		return TCPTUNED_LIMIT_CWND;
	if (waits && s->throttled && s->pacing != READOUT_PACING_FQ)
		return TCPTUNED_LIMIT_QUEUE;
	if (waits && s->pacing)
		return s->window_full ? TCPTUNED_LIMIT_RWND : TCPTUNED_LIMIT_PACING;
	return s->unsent || s->in_flight ? TCPTUNED_LIMIT_APPLICATION : TCPTUNED_LIMIT_IDLE;
}

/*
 * A listener has a record too (its SO_RCVBUF request), and so has a socket whose connection is
 * over but which its application still holds, perhaps while a new one uses the same addresses.
 * @state: TCP_ESTABLISHED ...
 */
static inline int readout_is_live(const struct tcptuned_flow *flow, __u32 state)
{
	const __u32 close = 7, listen = 10;

	return (flow->flags & TCPTUNED_F_CLAIMED) && state != close && state != listen;
}

/* The position of the highest bit of @value, which is not 0: BPF has no instruction for it. */
static inline __u32 readout_log2(__u64 value)
{
	__u32 bit = 0;

	if (value >> 32) {
		bit += 32;
		value >>= 32;
	}
	if (value >> 16) {
		bit += 16;
		value >>= 16;
	}
	if (value >> 8) {
		bit += 8;
		value >>= 8;
	}
	if (value >> 4) {
		bit += 4;
		value >>= 4;
	}
	if (value >> 2) {
		bit += 2;
		value >>= 2;
	}
	return bit + (value >> 1);
}

/* The class of @size: never less for a larger size, exact below 128. Below READOUT_CLASSES. */
static inline __u32 readout_class(__u64 size)
{
	__u32 shift, class;

	if (size >> READOUT_CLASS_BITS == 0)
		return size;
	shift = readout_log2(size) - READOUT_CLASS_BITS;
	class = ((shift + 1) << READOUT_CLASS_BITS) +
		((size >> shift) & ((1u << READOUT_CLASS_BITS) - 1));
	return class < READOUT_CLASSES ? class : READOUT_CLASSES - 1;
}

/* The slot of that group, or NULL: there is none left. A new one has no name yet. */
static inline struct readout_group *readout_find_group(struct readout_sums *sums, __u64 ops,
						       __u32 policy)
{
	/*
	 * Structures of a kernel are aligned: the lowest bits say nothing. Of a policy's id the
	 * place and the generation, in the upper half, both have to (2^32 / golden ratio, Knuth).
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

/*
 * Count a live connection. Returns its group if that is new, for its name to be written, or
 * else NULL.
 */
static inline struct readout_group *readout_add(struct readout_sums *sums,
						const struct tcptuned_flow *flow,
						const struct readout_socket *socket)
{
	__u32 flags = flow->flags, rcv = flow->rcv_reason, snd = flow->snd_reason;
	struct readout_group *group;

	sums->live++;
	sums->observed += !!(flags & TCPTUNED_F_OBSERVE);
	sums->rcv_taken += !!(flags & TCPTUNED_F_RCV_TAKEN);
	sums->snd_taken += !!(flags & TCPTUNED_F_SND_TAKEN);
	sums->rcvbuf_requests += !!(flags & TCPTUNED_F_RCVBUF_REQ);
	sums->sndbuf_requests += !!(flags & TCPTUNED_F_SNDBUF_REQ);
	sums->rcvbuf_bytes += socket->rcvbuf;
	sums->sndbuf_bytes += socket->sndbuf;
	sums->rmem_bytes += socket->rmem_alloc;
	sums->wmem_bytes += socket->wmem_queued;
	sums->rcv_wnd_bytes += socket->rcv_wnd;
	if (socket->limit < TCPTUNED_LIMITS)
		sums->limited[socket->limit]++;
	if (rcv < RIGHTSIZE_REASONS)
		sums->rcv_reason[rcv]++;
	if (snd < RIGHTSIZE_REASONS)
		sums->snd_reason[snd]++;
	group = readout_find_group(sums, socket->ops, flow->policy);
	if (!group) {
		sums->groups_other++;
		return 0;
	}
	return group->flows++ ? 0 : group;
}

/*
 * Count one of those live connections that the filter lets through. Returns whether it may be
 * among the largest wanted: it is not when there are as many already in higher classes, or
 * enough in the same one. What is refused is none of them; of what is not, the better part has
 * to be sorted out afterwards, some N log (all / N) where they come in no order.
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
	/* ends at the highest class, for there is none above it */
	for (i = 0; i < READOUT_STEPS && above >= wanted; i++)
		above -= r->sums.class[++least & (READOUT_SLOTS - 1)];
	r->least = least;
	r->above = above;
	return 1;
}

static inline int readout_prefix_covers(const struct readout_prefix *prefix,
					const __u32 address[4])
{
	int i;

	for (i = 0; i < 4; i++)
		if ((address[i] ^ prefix->word[i]) & prefix->mask[i])
			return 0;
	return 1;
}

/* May a connection between these addresses and ports be one that is wanted? */
static inline int readout_matches(const struct readout_filter *filter, const __u32 local[4],
				  const __u32 remote[4], __u32 local_port, __u32 remote_port,
				  __u32 netns)
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

#endif
