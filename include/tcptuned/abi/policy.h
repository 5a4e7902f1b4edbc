/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies: what may be done to a connection, and which connections that is about. Written by
 * the daemon, read by the BPF programs when a connection is made; the parts that matter later
 * are copied into the connection's own record, so that a change of policy leaves live
 * connections alone.
 *
 * A configuration is compiled into three things (daemon/policy/compile.c), looked at in this order
 * (bpf/policy.h):
 *
 *   match     a trie over the peer's address: the longest prefix names its first rule
 *   rules     each with the other conditions and with the rule to try next: those of one prefix
 *             by how specific they are, then those of the prefix that covers it; the last one
 *             of all takes every connection and is the default policy's
 *   policies  what the rule that matches leads to
 *
 * The next configuration is laid beside this one, and begins with the swap of the trie.
 */
#ifndef TCPTUNED_POLICY_H
#define TCPTUNED_POLICY_H

#include <linux/types.h>

#define TCPTUNED_CC_NAME_MAX	 16 /* TCP_CA_NAME_MAX of the kernel, with its NUL */
#define TCPTUNED_POLICY_NAME_MAX 32 /* with its NUL */

/*
 * A policy's id: the generation of its configuration in the upper half, in the lower its place
 * there. No two configurations share an id until 65535 later: generation 0 is left out.
 */
#define TCPTUNED_POLICY_DEFAULT	       0 /* place of the policy that takes what no other takes */
#define TCPTUNED_POLICY_ID(gen, place) ((__u32)(gen) << 16 | (place))
#define TCPTUNED_POLICY_PLACE(id)      ((id)&0xffff)
#define TCPTUNED_POLICY_GENERATION(id) ((id) >> 16)

/* What a policy is called whose record is gone; no section can be named like the latter. */
#define TCPTUNED_POLICY_GONE(id) \
	(TCPTUNED_POLICY_PLACE(id) == TCPTUNED_POLICY_DEFAULT ? "default" : "(earlier)")

#define TCPTUNED_POLICIES_MAX 257 /* of one configuration: 256 named ones, and the default */
#define TCPTUNED_GENERATIONS_KEPT 128 /* whose records stay: connections name their policy */
#define TCPTUNED_RULES_MAX    (1u << 20)
#define TCPTUNED_CHAIN_MAX    4096 /* rules that may have to be tried for one connection */

enum tcptuned_mode {
	TCPTUNED_OFF = 0,     /* claims nothing: no connection is touched */
	TCPTUNED_OBSERVE = 1, /* decides and counts everything, changes nothing (--dry-run) */
	TCPTUNED_TUNE = 2,
};

struct tcptuned_policy {
	__u32 mode;	       /* enum tcptuned_mode */
	__u32 override_rcvbuf; /* take SO_RCVBUF of applications for a hint, not an order */
	__u32 override_sndbuf;
	__u32 rcv_window_max; /* bytes of window that a receiver may get */
	__u32 snd_window_max; /* bytes in flight that a send buffer may allow for */
	__u32 rcv_buffer_max; /* what bpf_setsockopt(SO_RCVBUF) can reach: 2 x net.core.rmem_max */
	__u32 snd_buffer_max; /* the same of SO_SNDBUF and net.core.wmem_max */
	__u32 rcv_kernel_max; /* tcp_rmem[2] before tcptuned raised it, bytes of memory */
	__u32 snd_kernel_max; /* tcp_wmem[2], likewise */
	__u32 disabled;	       /* at run time: no rule leads to it; its mode is off */
	__u32 cc_auto;	       /* 1: bitcp on long paths only; congestion_control is "" then */
	__u32 cc_long_path_segments; /* bandwidth-delay product from which a path is long */
	char congestion_control[TCPTUNED_CC_NAME_MAX]; /* "": leave it alone */
	char name[TCPTUNED_POLICY_NAME_MAX];
};

/* Has it something to set when a connection is established, however little that will carry? */
static inline int tcptuned_policy_sets_at_once(const struct tcptuned_policy *policy)
{
	return policy->mode == TCPTUNED_TUNE && policy->congestion_control[0];
}

/* The trie's key. IPv4 addresses stand as ::ffff:a.b.c.d, a prefix of theirs is 96 longer. */
struct tcptuned_match_key {
	__u32 length; /* bits of the prefix; 128 to look an address up */
	__u8 address[16];
};

/* Where a rule is: in one of two arrays, for the one in force is not written to. */
#define TCPTUNED_RULE_ARRAY(at) ((at) >> 31)
#define TCPTUNED_RULE_INDEX(at) ((at)&0x7fffffff)
#define TCPTUNED_RULE_NONE	0 /* index of none */

/*
 * SO_RCVBUF and SO_SNDBUF come before the connection, and so before its policy is known; these
 * say what can be known. In the entry of the trie that takes every address.
 */
enum tcptuned_wishes {
	TCPTUNED_RCVBUF_OVERRIDDEN = 1 << 0, /* by some policy that tunes ... */
	TCPTUNED_SNDBUF_OVERRIDDEN = 1 << 1,
	TCPTUNED_RCVBUF_OBSERVED = 1 << 2,   /* ... or would be, by some that observes */
	TCPTUNED_SNDBUF_OBSERVED = 1 << 3,
	TCPTUNED_ANY_CLAIMS = 1 << 4,	     /* there is a policy that is not off ... */
	TCPTUNED_AT_ESTABLISHED = 1 << 5,    /* ... and one with something to set by then */
};

struct tcptuned_match {
	__u32 first;	      /* the rule to begin with */
	__u32 wishes;	      /* enum tcptuned_wishes, of the whole configuration */
	__u32 default_policy; /* id */
	/*
	 * Rules of the policies that let SO_RCVBUF (SO_SNDBUF) stand, whatever the peer: a
	 * listener that one of these may concern keeps what its application asked for.
	 */
	__u32 stands_rcvbuf;
	__u32 stands_sndbuf;
};

enum tcptuned_rule_flags {
	/* The prefix is IPv6's own, although IPv4's mapped addresses lie in it: ::/0 */
	TCPTUNED_RULE_DESTINATION_NOT_IPV4 = 1 << 0,
	TCPTUNED_RULE_SOURCE_NOT_IPV4 = 1 << 1,
	TCPTUNED_RULE_CGROUP = 1 << 2, /* only sockets of the cgroup, or of one below it */
};

struct tcptuned_rule {
	__u64 cgroup; /* id, as the inode number of its directory; 0: it is not there */
	__u32 policy; /* id */
	__u32 next;   /* index of the rule to try when this one does not match, or NONE */
	__u8 source[16];
	__u8 source_mask[16]; /* ones where an address has to be as source is */
	__u16 local_low, local_high; /* ports, both inclusive, host byte order */
	__u16 remote_low, remote_high;
	__u8 source_length; /* bits; 0: any */
	__u8 flags;	    /* enum tcptuned_rule_flags */
	__u8 destination_length; /* bits, as in the trie: with the peer's address, the prefix */
	__u8 reserved[5];
};

/* Are the first @length bits of two addresses the same? */
static inline int tcptuned_prefix_covers(const __u8 *prefix, __u32 length, const __u8 *address)
{
	__u32 i;

	for (i = 0; i < 16; i++) {
		__u8 mask = length >= 8 * i + 8 ? 0xff :
			    length <= 8 * i	? 0 :
						  (__u8)(0xff00 >> (length - 8 * i));

		if ((prefix[i] ^ address[i]) & mask)
			return 0;
	}
	return 1;
}

/*
 * Is it ::ffff:a.b.c.d? This and what follows decides nothing on the way: the verifiers of older
 * kernels walk all that comes behind a branch anew, and give up.
 */
static inline int tcptuned_address_is_ipv4(const __u8 *address)
{
	__u32 i, differs = (address[10] ^ 0xff) | (address[11] ^ 0xff);

	for (i = 0; i < 10; i++)
		differs |= address[i];
	return !differs;
}

static inline int tcptuned_source_covers(const struct tcptuned_rule *rule, const __u8 *local)
{
	__u32 i, differs = 0;

	for (i = 0; i < 16; i++)
		differs |= (rule->source[i] ^ local[i]) & rule->source_mask[i];
	return !differs;
}

/*
 * Does the rule match, but for its destination prefix, which the trie has looked at, and its
 * cgroup? One function, for the kernel and for the tests. Addresses as in the trie.
 */
static inline int tcptuned_rule_matches(const struct tcptuned_rule *rule, const __u8 *local,
					const __u8 *remote, __u32 local_port, __u32 remote_port)
{
	if (local_port < rule->local_low || local_port > rule->local_high)
		return 0;
	if (remote_port < rule->remote_low || remote_port > rule->remote_high)
		return 0;
	if ((rule->flags & TCPTUNED_RULE_DESTINATION_NOT_IPV4) &&
	    tcptuned_address_is_ipv4(remote))
		return 0;
	if ((rule->flags & TCPTUNED_RULE_SOURCE_NOT_IPV4) && tcptuned_address_is_ipv4(local))
		return 0;
	return tcptuned_source_covers(rule, local);
}

#endif
