/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of one connection: what lives in its socket storage, and what the iterator
 * hands out about it.
 */
#ifndef TCPTUNED_FLOW_H
#define TCPTUNED_FLOW_H

#include <linux/types.h>
#include <tcptuned/algo/budget.h>
#include <tcptuned/abi/policy.h>
#include <tcptuned/algo/reader.h>
#include <tcptuned/algo/rightsize.h>

/* Raised whenever a record that lives in a pinned map changes its layout or meaning. */
#define TCPTUNED_ABI 1

enum tcptuned_flow_flags {
	TCPTUNED_F_CLAIMED = 1 << 0,	   /* established, and a policy has it */
	TCPTUNED_F_OBSERVE = 1 << 1,	   /* nothing may be changed */
	TCPTUNED_F_PASSIVE = 1 << 2,	   /* accepted here, not opened here */
	TCPTUNED_F_RCVBUF_REQ = 1 << 3,	   /* the application asked for req_rcvbuf, overridden */
	TCPTUNED_F_SNDBUF_REQ = 1 << 4,
	TCPTUNED_F_RCVBUF_APP = 1 << 5,	   /* the application's SO_RCVBUF stands: hands off */
	TCPTUNED_F_SNDBUF_APP = 1 << 6,
	TCPTUNED_F_RCV_TAKEN = 1 << 7,	   /* tcptuned sizes the receive buffer */
	TCPTUNED_F_SND_TAKEN = 1 << 8,	   /* tcptuned sizes the send buffer */
	TCPTUNED_F_CC_SET = 1 << 9,	   /* its congestion control came from the policy */
	TCPTUNED_F_RCVBUF_SWALLOWED = 1 << 10, /* getsockopt() answers with req_rcvbuf */
	TCPTUNED_F_SNDBUF_SWALLOWED = 1 << 11,
	TCPTUNED_F_ADOPTED = 1 << 16,	   /* it was open before tcptuned came */
	TCPTUNED_F_RCVBUF_OBEYED = 1 << 17, /* but the kernel did see req_rcvbuf, before that */
	TCPTUNED_F_SNDBUF_OBEYED = 1 << 18,
	TCPTUNED_F_LONG_PATH = 1 << 20,	   /* its path is remembered as long: policy.h, cc_auto */
	TCPTUNED_F_PLANNED = 1 << 22,	   /* not established, but its policy is decided on */
	TCPTUNED_F_CC_RESTORED = 1 << 23, /* its default congestion control was put back here */
	TCPTUNED_F_SLOW_SEED = 1 << 24,	   /* its path is remembered as slow */
	TCPTUNED_F_RCV_LOCKED = 1 << 25,   /* its SOCK_RCVBUF_LOCK is tcptuned's doing */
	TCPTUNED_F_SND_LOCKED = 1 << 26,
	TCPTUNED_F_RCV_PRESSED = 1 << 27,   /* what it was refused last: tcp_mem, or its memcg */
	TCPTUNED_F_SND_PRESSED = 1 << 28,
	TCPTUNED_F_CB_STATE = 1 << 29,	    /* callbacks that it has from tcptuned alone: */
	TCPTUNED_F_CB_RTT = 1 << 30,	    /* bpf/callbacks.h */
	TCPTUNED_F_CB_WRITE_HDR_OPT = 1u << 31,
};

#define TCPTUNED_F_CALLBACKS                                                                   \
	(TCPTUNED_F_CB_STATE | TCPTUNED_F_CB_RTT | TCPTUNED_F_CB_WRITE_HDR_OPT)

/* What was said of a socket before its connection was made, and done to it in one before that. */
#define TCPTUNED_F_WISHES                                                                      \
	(TCPTUNED_F_RCVBUF_REQ | TCPTUNED_F_SNDBUF_REQ | TCPTUNED_F_RCVBUF_APP |               \
	 TCPTUNED_F_SNDBUF_APP | TCPTUNED_F_RCVBUF_SWALLOWED | TCPTUNED_F_SNDBUF_SWALLOWED |                           \
	 TCPTUNED_F_RCVBUF_OBEYED | TCPTUNED_F_SNDBUF_OBEYED |                                 \
	 TCPTUNED_F_CC_SET | TCPTUNED_F_CC_RESTORED | TCPTUNED_F_RCV_LOCKED |                  \
	 TCPTUNED_F_SND_LOCKED | TCPTUNED_F_CALLBACKS)

/* What setting a buffer leaves behind, for as long as there is the socket. */
#define TCPTUNED_F_RCV_SIZED (TCPTUNED_F_RCV_TAKEN | TCPTUNED_F_RCV_LOCKED)
#define TCPTUNED_F_SND_SIZED (TCPTUNED_F_SND_TAKEN | TCPTUNED_F_SND_LOCKED)

/* What the iterators that adopt and apply say of a socket, one byte each; of others nothing. */
enum tcptuned_adopted {
	TCPTUNED_ADOPTED_CONNECTION = 'c',
	TCPTUNED_ADOPTED_MOVED = 'm',	/* another policy has it now */
	TCPTUNED_ADOPTED_LET_GO = 'g',	/* no policy has it any more */
	TCPTUNED_ADOPTED_FAILED = 'f',	/* no memory, or the kernel refused */
	TCPTUNED_ADOPTED_TOO_OLD = 'o', /* the kernel has no TCP_BPF_SOCK_OPS_CB_FLAGS: 6.12 */
};

/* In BPF_MAP_TYPE_SK_STORAGE: born with the connection, gone with the socket. */
struct tcptuned_flow {
	struct rightsize rcv;
	struct rightsize snd;
	struct rightsize_reader reader;
	__u32 flags;
	__u32 policy;		/* key of its policy */
	__u32 req_rcvbuf;	/* what the application asked for and could get, bytes */
	__u32 req_sndbuf;
	__u32 rcv_window_max;	/* of the policy, as of when the connection was made */
	__u32 snd_window_max;
	__u32 rcv_buffer_max;
	__u32 snd_buffer_max;
	__u32 rcv_clamp;	/* TCP_WINDOW_CLAMP as tcptuned set it, bytes; 0: it has not */
	__u32 rcv_allowed;	/* by the budget, bytes offered and unread; 0: no limit */
	__u32 rcv_grows;
	__u32 rcv_shrinks;
	__u32 snd_grows;
	__u32 snd_shrinks;
	__u32 snd_bytes;	/* delivered to the peer, modulo 2^32 */
	__u32 rcv_base;		/* the most that the kernel alone would give, bytes of memory, ... */
	__u32 snd_base;
	struct budget_share rcv_share; /* ... and what the budget granted beyond */
	struct budget_share snd_share;
	__u32 snd_unsent;	/* TCP_NOTSENT_LOWAT as tcptuned set it, bytes; 0: it has not */
	__u8 rcv_reason;	/* enum rightsize_reason: why the window is what it is */
	__u8 snd_reason;
	__u32 max_window_seed;	/* bitcp's maximum that it gave, bytes; 0: none */
};

/*
 * The kernel takes memory in powers of two, and puts 72 bytes of its own before the record (struct
 * bpf_local_storage_elem and _data): together no more than 512 for each connection.
 */
_Static_assert(sizeof(struct tcptuned_flow) <= 432, "a record takes a slab of 512 bytes");

/* What limits the sending direction: readout_limit(). */
enum tcptuned_limit {
	TCPTUNED_LIMIT_IDLE = 0,    /* nothing in flight, nothing to send */
	TCPTUNED_LIMIT_APPLICATION, /* it sends less than it may */
	TCPTUNED_LIMIT_CWND,
	TCPTUNED_LIMIT_RWND,	    /* the peer's receive window */
	TCPTUNED_LIMIT_SNDBUF,
	TCPTUNED_LIMIT_PACING,
	TCPTUNED_LIMIT_QUEUE,	    /* of a device of this host */
	TCPTUNED_LIMITS,
};

/* What the iterator hands out about one, host byte order unless said otherwise. */
struct tcptuned_flow_record {
	struct tcptuned_flow flow;
	__u8 local[16];		/* network byte order; IPv4 in the first four bytes */
	__u8 remote[16];
	__u64 bytes_received;
	__u64 bytes_acked;
	__u64 delivery_rate_Bps; /* bytes per second, tcp_compute_delivery_rate() */
	__u64 pacing_rate_Bps;	/* at which it is paced now; 0: it is not */
	__u64 pacing_max_Bps;	/* SO_MAX_PACING_RATE, whoever set it; 0: none */
	__u64 netns_cookie;	/* of the network namespace: path.h */
	__u32 netns;		/* inode number of the network namespace */
	__u16 family;		/* AF_INET or AF_INET6 */
	__u16 local_port;
	__u16 remote_port;
	__u8 state;		/* TCP_ESTABLISHED ... */
	__u8 limit;		/* enum tcptuned_limit */
	char congestion_control[TCPTUNED_CC_NAME_MAX];
	__u32 cwnd;		/* segments */
	__u32 ssthresh;		/* segments; 0x7fffffff: none yet */
	__u32 mss;		/* bytes */
	__u32 flight;		/* sent and not yet acknowledged, bytes */
	__u32 snd_wnd;		/* the peer's window, bytes */
	__u32 rcv_wnd;		/* the window advertised to the peer, bytes */
	__u32 window_clamp;	/* bytes */
	__u32 rcvbuf;		/* sk_rcvbuf, bytes of memory */
	__u32 sndbuf;
	__u32 rmem_alloc;	/* memory now held by received data */
	__u32 wmem_queued;	/* memory now held by data to send */
	__u32 unsent;		/* bytes written that were never sent */
	__u32 unsent_max;	/* TCP_NOTSENT_LOWAT, whoever set it; 0: none */
	__u32 srtt_us;
	__u32 min_rtt_us;	/* the kernel's, tcp_min_rtt() */
	__u32 rcv_rtt_us;	/* the receiver's own estimate */
	__u32 retransmits;	/* segments, total */
	__u32 lost;		/* segments now thought lost */
	__u32 reordering;
	__u32 ca_max_win;	/* of bitcp: the maximum it searches, segments; 0: not bitcp */
	__u32 ca_mode;		/* enum bitcp_mode, where ca_max_win is not 0 */
};

#endif
