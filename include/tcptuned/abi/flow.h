/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of a connection, in its socket storage and as the iterator reports it. */
#pragma once

#include <linux/types.h>
#include <tcptuned/algo/budget.h>
#include <tcptuned/algo/limit.h>
#include <tcptuned/algo/random_loss.h>
#include <tcptuned/abi/policy.h>
#include <tcptuned/algo/reader.h>
#include <tcptuned/algo/reason.h>
#include <tcptuned/algo/request_state.h>

/* Raised whenever a record in a pinned map changes its layout or meaning. */
#define TCPTUNED_ABI 17

/* Of a pair of flags the send direction has the next bit (bpf/record.h). */
enum tcptuned_flow_flags {
	TCPTUNED_F_MANAGED = 1 << 0,	/* established, and a policy manages it */
	TCPTUNED_F_OBSERVE = 1 << 1,	/* nothing is changed */
	TCPTUNED_F_PASSIVE = 1 << 2,	/* accepted here, not opened here */
	TCPTUNED_F_REQUESTS = 077 << 3, /* see tcptuned_request() */
	TCPTUNED_F_RCV_TUNED = 1 << 9,	/* tcptuned sizes the window or buffer at present */
	TCPTUNED_F_SND_TUNED = 1 << 10,
	TCPTUNED_F_CC_SET = 1 << 11, /* tcptuned has set the congestion control */
	TCPTUNED_F_RCV_UNEARNED =
		1 << 14, /* rcv_allowed is what it has earned, and not the budget's limit */
	TCPTUNED_F_JUMPS = 1 << 15,	 /* jump_seed was set, and what came of it is not known */
	TCPTUNED_F_ADOPTED = 1 << 16,	 /* open before tcptuned started */
	TCPTUNED_F_CC_RESUMES = 1 << 21, /* tcptuned has replaced cubic by policy.h, cc_resume */
	TCPTUNED_F_POLICY_CHOSEN = 1 << 22, /* by connect(), before the connection is established */
	TCPTUNED_F_CC_RESTORED = 1 << 23, /* tcptuned has restored the default congestion control */
	TCPTUNED_F_SLOW_SEED = 1 << 24,	  /* the path is remembered as slow */
	TCPTUNED_F_RCV_LOCKED = 1 << 25,  /* buffer or lock is not the application's */
	TCPTUNED_F_SND_LOCKED = 1 << 26,
	TCPTUNED_F_RCV_MEMORY_SHORT = 1 << 27, /* last refused because of tcp_mem or the memcg */
	TCPTUNED_F_SND_MEMORY_SHORT = 1 << 28,
	TCPTUNED_F_CB_STATE = 1 << 29, /* callbacks that only tcptuned has requested */
	TCPTUNED_F_CB_RTT = 1 << 30,
	TCPTUNED_F_CB_WRITE_HDR_OPT = 1u << 31,
};

#define TCPTUNED_F_CC_OURS   (TCPTUNED_F_CC_SET | TCPTUNED_F_CC_RESUMES)
#define TCPTUNED_F_CALLBACKS (TCPTUNED_F_CB_STATE | TCPTUNED_F_CB_RTT | TCPTUNED_F_CB_WRITE_HDR_OPT)

/* Set before the connection was established, or left by an earlier connection of the socket. */
#define TCPTUNED_F_KEPT_ON_CONNECT                                           \
	(TCPTUNED_F_REQUESTS | TCPTUNED_F_CC_OURS | TCPTUNED_F_CC_RESTORED | \
	 TCPTUNED_F_RCV_LOCKED | TCPTUNED_F_SND_LOCKED | TCPTUNED_F_CALLBACKS)

/* A size that tcptuned has set remains as long as the socket does. */
#define TCPTUNED_F_RCV_SIZED (TCPTUNED_F_RCV_TUNED | TCPTUNED_F_RCV_LOCKED)
#define TCPTUNED_F_SND_SIZED (TCPTUNED_F_SND_TUNED | TCPTUNED_F_SND_LOCKED)

/* What the iterators that adopt and apply policies report of a socket, one byte each. */
enum tcptuned_adopted {
	TCPTUNED_ADOPTED_CONNECTION = 'c',
	TCPTUNED_ADOPTED_MOVED = 'm',	 /* another policy manages it now */
	TCPTUNED_ADOPTED_DETACHED = 'g', /* no policy manages it any more */
	TCPTUNED_ADOPTED_FAILED = 'f',	 /* no memory, or the kernel refused */
	TCPTUNED_ADOPTED_TOO_OLD = 'o',	 /* no TCP_BPF_SOCK_OPS_CB_FLAGS before Linux 6.12 */
};

/* The application of a sender that tcptuned limits: bpf/sender.h, count_late_writer(). */
enum tcptuned_writer {
	TCPTUNED_WRITER_WRITES = 0,
	TCPTUNED_WRITER_WAITED,	 /* for room */
	TCPTUNED_WRITER_RAN_OUT, /* ... and nothing is left to send */
};

#define TCPTUNED_MAX_WINDOW_UNIT (1u << 10)  /* bytes: 2^20 of them are RIGHTSIZE_WINDOW_MAX */
#define TCPTUNED_JUMP_UNIT	 (16u << 10) /* 2^12 are 64 MB, half of 10 Gbit/s at 100 ms */

/* In the socket storage, so that it disappears with the socket. */
struct tcptuned_flow {
	struct rightsize rcv;
	struct rightsize snd;
	struct rightsize_reader reader;
	__u32 flags;
	__u32 policy;	  /* id */
	__u32 req_rcvbuf; /* requested by the application or its listener, and allowed, bytes */
	__u32 req_sndbuf;
	__u32 rcv_window_max; /* these four: copied from the policy */
	__u32 snd_window_max;
	__u32 rcv_buffer_max;
	__u32 snd_buffer_max;
	__u32 rcv_clamp;   /* TCP_WINDOW_CLAMP that tcptuned set, bytes; 0: none */
	__u32 rcv_allowed; /* bytes offered; if the budget limits, with those unread; 0: no limit */
	__u32 rcv_grows;
	__u32 rcv_shrinks;
	__u32 snd_grows;
	__u32 snd_shrinks;
	__u32 rcv_base; /* the largest buffer that the kernel alone would give, bytes */
	__u32 snd_base;
	struct budget_share rcv_share; /* what the budget has granted beyond that */
	struct budget_share snd_share;
	__u32 snd_unsent; /* TCP_NOTSENT_LOWAT that tcptuned set, bytes; 0: none */
	__u8 rcv_reason;  /* enum rightsize_reason: why the window is what it is */
	__u8 snd_reason;
	__u8 snd_writer : 2; /* enum tcptuned_writer */
	__u8 snd_late : 6;   /* how often the application wrote too late, quarters: unsent.h */
	__u8 snd_heard;	     /* segments with data that had arrived when it waited, modulo 256 */
	/*
	 * From the path memory, in units; 0: none. They are used once, when a congestion control is
	 * set.
	 */
	__u32 max_window_seed : 20; /* bitcp's maximum */
	__u32 jump_seed : 12;	    /* the window that follows the first one */
};

_Static_assert(REQUESTS <= 8, "a request is three bits of the flags");

/* What became of req_rcvbuf, or of req_sndbuf. */
static inline enum request tcptuned_request(const struct tcptuned_flow *flow, int receive)
{
	return (enum request)(flow->flags >> (receive ? 3 : 6) & 7);
}

static inline void tcptuned_set_request(struct tcptuned_flow *flow, int receive,
					enum request request)
{
	flow->flags &= ~(7u << (receive ? 3 : 6));
	flow->flags |= (__u32)request << (receive ? 3 : 6);
}

/*
 * The kernel allocates powers of two, and adds 72 bytes of its own to the record (struct
 * bpf_local_storage_elem and _data). A socket with any record has a struct bpf_local_storage, too.
 */
_Static_assert(sizeof(struct tcptuned_flow) <= 432, "a record fits into a slab of 512 bytes");
#define TCPTUNED_RECORD_BYTES (512 + 192)

/*
 * What was withheld from listeners, the last one of each port: an accepted socket does not lead to
 * its listener, and the kernel would copy the record of that for every connection, and refuse those
 * that get no memory.
 */
struct tcptuned_listener_key {
	__u64 netns_cookie;
	__u64 port;
};

struct tcptuned_listener {
	__u32 req_rcvbuf;  /* bytes */
	__be32 address[4]; /* IPv4 is the last; all zeroes: any */
};

/* What the iterator reports of a connection, in host byte order unless noted otherwise. */
struct tcptuned_flow_record {
	struct tcptuned_flow flow;
	struct random_loss random_loss; /* all zeroes: slow start, or none is watched */
	__u8 local[16];			/* network byte order; IPv4 in the first four bytes */
	__u8 remote[16];
	__u64 bytes_received;
	__u64 bytes_acked;
	__u64 delivery_rate_Bps; /* bytes per second, tcp_compute_delivery_rate() */
	__u64 pacing_rate_Bps;	 /* the present rate; 0: not paced */
	__u64 pacing_max_Bps;	 /* SO_MAX_PACING_RATE; 0: none */
	__u64 netns_cookie;	 /* of the network namespace: path.h */
	__u64 cgroup;		 /* id of the control group in which the socket was created */
	__u32 netns;		 /* inode number of the network namespace */
	__u16 family;		 /* AF_INET or AF_INET6 */
	__u16 local_port;
	__u16 remote_port;
	__u8 state; /* TCP_ESTABLISHED ... */
	__u8 limit; /* enum tcptuned_limit, of sending */
	char congestion_control[TCPTUNED_CC_NAME_MAX];
	__u32 cwnd;	    /* segments */
	__u32 ssthresh;	    /* segments; 0x7fffffff: none yet */
	__u32 mss;	    /* bytes */
	__u32 flight;	    /* sent and not yet acknowledged, bytes */
	__u32 snd_wnd;	    /* the peer's window, bytes */
	__u32 rcv_wnd;	    /* the window advertised to the peer, bytes */
	__u32 window_clamp; /* bytes */
	__u32 rcvbuf;	    /* sk_rcvbuf, bytes of memory */
	__u32 sndbuf;
	__u32 rmem_alloc;  /* memory of received data, bytes */
	__u32 wmem_queued; /* memory of data to send, bytes */
	__u32 unsent;	   /* bytes written and never sent */
	__u32 unsent_max;  /* TCP_NOTSENT_LOWAT or the sysctl, bytes; 0: none */
	__u32 srtt_us;
	__u32 min_rtt_us;  /* the kernel's, tcp_min_rtt() */
	__u32 rcv_rtt_us;  /* the receiver's own estimate */
	__u32 retransmits; /* segments, total */
	__u32 lost;	   /* segments now considered lost */
	__u32 reordering;
	__u32 data_sent;      /* segments with data, total; modulo 2^32, as those below */
	__u32 data_received;  /* likewise */
	__u32 out_of_order;   /* segments that arrived out of order, total */
	__u32 jiffies;	      /* now */
	__u32 busy_jiffies;   /* with data to send or in flight, total */
	__u32 rwnd_jiffies;   /* of these, limited by the peer's window */
	__u32 sndbuf_jiffies; /* of these, limited by the send buffer */
	__u32 ca_max_win;     /* the maximum that bitcp searches, segments; 0: not bitcp */
	__u32 ca_mode;	      /* enum bitcp_mode, where ca_max_win is not 0 */
	__u32 receive_limit;  /* enum tcptuned_limit */
	__u32 rcv_used;	      /* of the window in a round trip, bytes */
	__u32 rcv_queue;      /* of these, waiting in the queue of the path; 0: it has none */
	__u32 snd_queue;      /* of the bytes in flight, likewise */
};
