/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies: what may be done to a connection, and which connections they apply to. The daemon
 * writes them, the BPF programs read them when a connection is established. What is needed later is
 * copied to the record of the connection.
 *
 * A configuration is compiled (daemon/policy/ruleset.c) into three things, which are searched
 * (bpf/policy.h) in this order:
 *
 *   match     a trie over the peer's address: the longest prefix leads to its first rule
 *   rules     each has the other conditions and the next rule to try: those of one prefix from the
 *             most to the least specific, then those of the prefix that contains it; the last one
 *             takes every connection and belongs to the default policy
 *   policies  what the matching rule leads to
 *
 * A new configuration is written next to the active one, and takes effect when the trie is swapped.
 */
#pragma once

#include <linux/types.h>

#define TCPTUNED_CC_NAME_MAX	 16 /* TCP_CA_NAME_MAX of the kernel, with its NUL */
#define TCPTUNED_POLICY_NAME_MAX 32 /* with its NUL */

/*
 * The id of a policy has the generation of its configuration in the upper half, and its place there
 * in the lower one. Generation 0 is not used, so that ids repeat after 65535 configurations. With
 * the bit HELD_BACK it is that of connections that are left to the kernel for a trial: the same
 * policy, which only observes.
 */
#define TCPTUNED_POLICY_DEFAULT	       0 /* place of the policy of all other connections */
#define TCPTUNED_POLICY_ID(gen, place) ((__u32)(gen) << 16 | (place))
#define TCPTUNED_POLICY_PLACE(id)      ((id)&0x7fff)
#define TCPTUNED_POLICY_GENERATION(id) ((id) >> 16)
#define TCPTUNED_POLICY_HELD_BACK      0x8000

/* The name of a policy whose record is deleted; no section can be named like the latter. */
#define TCPTUNED_POLICY_GONE(id) \
	(TCPTUNED_POLICY_PLACE(id) == TCPTUNED_POLICY_DEFAULT ? "default" : "(earlier)")

#define TCPTUNED_POLICIES_MAX	  257 /* of one configuration: 256 named ones and the default */
#define TCPTUNED_GENERATIONS_KEPT 127 /* whose records stay, since connections refer to them */
#define TCPTUNED_RULES_MAX	  (1u << 20)
#define TCPTUNED_CHAIN_MAX	  4096 /* rules that may have to be tried for one connection */

enum tcptuned_mode {
	TCPTUNED_OFF = 0,     /* manages no connection */
	TCPTUNED_OBSERVE = 1, /* decides and counts, but changes nothing (--observe) */
	TCPTUNED_TUNE = 2,
};

struct tcptuned_policy {
	__u32 mode;	       /* enum tcptuned_mode */
	__u32 override_rcvbuf; /* intercept SO_RCVBUF of applications */
	__u32 override_sndbuf;
	__u32 rcv_window_max;	     /* bytes of window that a receiver may get */
	__u32 snd_window_max;	     /* bytes in flight that a send buffer may hold */
	__u32 rcv_buffer_max;	     /* limit of bpf_setsockopt(SO_RCVBUF): 2 x net.core.rmem_max */
	__u32 snd_buffer_max;	     /* limit of SO_SNDBUF: 2 x net.core.wmem_max */
	__u32 snd_request_max;	     /* the same before tcptuned raised it, for applications */
	__u32 rcv_kernel_max;	     /* tcp_rmem[2] before tcptuned raised it, bytes of memory */
	__u32 disabled;		     /* at run time; no rule leads to it, and its mode is off */
	__u32 cc_auto;		     /* 1: bpf/cc_auto.h; congestion_control is "" then */
	__u32 cc_long_path_segments; /* window from which a path is long */
	__u32 holdback; /* share of connections that are held back, times 2^32; 0: no trial */
	__u32 trial;	/* its number, drawn at random for each; it is also the salt of the draw */
	__u32 harmful;	/* its trial has shown that: its mode is to observe */
	char congestion_control[TCPTUNED_CC_NAME_MAX]; /* "": leave it alone */
	char cc_resume[TCPTUNED_CC_NAME_MAX];	   /* in place of cubic after a pause; "": none */
	char cc_random_loss[TCPTUNED_CC_NAME_MAX]; /* where no queue causes the losses; "": none */
	char name[TCPTUNED_POLICY_NAME_MAX];
};

enum tcptuned_carried {
	TCPTUNED_RECEIVED, /* bytes */
	TCPTUNED_ACKED,	   /* bytes sent and acknowledged */
	TCPTUNED_SEGMENTS, /* sent */
	TCPTUNED_RETRANSMITS,
	TCPTUNED_CARRIED,
};

struct tcptuned_traffic {
	__u64 carried[TCPTUNED_CARRIED];
};

/* Of the policies of one name; by tuned connections, and by observed ones. */
struct tcptuned_policy_traffic {
	struct tcptuned_traffic ended[2];  /* until these ended or left the policy */
	struct tcptuned_traffic before[2]; /* before these, which were open, came to it */
};

/* True if it sets something when a connection is established, however little that will carry. */
static inline int tcptuned_policy_sets_at_once(const struct tcptuned_policy *policy)
{
	return policy->mode == TCPTUNED_TUNE && policy->congestion_control[0];
}

/* The key of the trie. IPv4 addresses are ::ffff:a.b.c.d, their prefixes are 96 bits longer. */
struct tcptuned_match_key {
	__u32 length; /* bits of the prefix; 128 to look up an address */
	__u8 address[16];
};

/* Where a rule is: in one of two arrays, since the active one is not written to. */
#define TCPTUNED_RULE_ARRAY(at) ((at) >> 31)
#define TCPTUNED_RULE_INDEX(at) ((at)&0x7fffffff)
#define TCPTUNED_RULE_NONE	0 /* an index that no rule has */

/*
 * What any policy of the configuration does, for sockets whose policy is not known yet. In the
 * entry of the trie that matches every address.
 */
enum tcptuned_any_policy {
	TCPTUNED_RCVBUF_OVERRIDDEN = 1 << 0, /* by a policy that tunes */
	TCPTUNED_SNDBUF_OVERRIDDEN = 1 << 1,
	TCPTUNED_RCVBUF_OBSERVED = 1 << 2, /* by a policy that only observes */
	TCPTUNED_SNDBUF_OBSERVED = 1 << 3,
	TCPTUNED_ANY_MANAGES = 1 << 4,	  /* a policy is not off */
	TCPTUNED_AT_ESTABLISHED = 1 << 5, /* a policy sets something at once */
	TCPTUNED_ANY_HOLDS_BACK = 1 << 6,
};

struct tcptuned_match {
	__u32 first;	      /* rule */
	__u32 any_policy;     /* enum tcptuned_any_policy */
	__u32 default_policy; /* id */
	/*
	 * First rule for listeners that request SO_RCVBUF, whatever the peer. The first one that
	 * matches decides: the request is honoured, unless its policy is 0. NONE: no policy honours
	 * it.
	 */
	__u32 listener_rcvbuf;
};

enum tcptuned_rule_flags {
	/*
	 * An IPv6 prefix, like ::/0, does not match the mapped addresses of IPv4 that it contains
	 */
	TCPTUNED_RULE_DESTINATION_NOT_IPV4 = 1 << 0,
	TCPTUNED_RULE_SOURCE_NOT_IPV4 = 1 << 1,
	TCPTUNED_RULE_CGROUP = 1 << 2, /* only sockets of the cgroup and those below it */
};

struct tcptuned_rule {
	__u64 cgroup; /* id, the inode number of its directory; 0: it does not exist */
	__u32 policy; /* id */
	__u32 next;   /* index of the rule to try when this one does not match, or NONE */
	__u8 source[16];
	__u8 source_mask[16];	     /* ones where an address has to equal source */
	__u16 local_low, local_high; /* ports, both inclusive, host byte order */
	__u16 remote_low, remote_high;
	__u8 source_length;	 /* bits; 0: any */
	__u8 flags;		 /* enum tcptuned_rule_flags */
	__u8 destination_length; /* bits of the prefix in the trie */
	__u8 reserved[5];
};

/* True if the first @length bits of two addresses are equal. */
static inline int tcptuned_prefix_covers(const __u8 *prefix, __u32 length, const __u8 *address)
{
	__u32 bytes = length / 8, bits = length % 8;

	return !__builtin_memcmp(prefix, address, bytes) &&
	       (!bits || !((prefix[bytes] ^ address[bytes]) & 0xff00 >> bits));
}

/*
 * True for ::ffff:a.b.c.d. This function and the next one have no branches, since older verifiers
 * walk everything behind a branch again, and give up.
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

/* True if the rule matches, apart from its cgroup and its destination, which the trie matches. */
static inline int tcptuned_rule_matches(const struct tcptuned_rule *rule, const __u8 *local,
					const __u8 *remote, __u32 local_port, __u32 remote_port)
{
	if (local_port < rule->local_low || local_port > rule->local_high)
		return 0;
	if (remote_port < rule->remote_low || remote_port > rule->remote_high)
		return 0;
	if ((rule->flags & TCPTUNED_RULE_DESTINATION_NOT_IPV4) && tcptuned_address_is_ipv4(remote))
		return 0;
	if ((rule->flags & TCPTUNED_RULE_SOURCE_NOT_IPV4) && tcptuned_address_is_ipv4(local))
		return 0;
	return tcptuned_source_covers(rule, local);
}
