/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What tcptuned remembers of the path to a host, for programs that size their own buffers or choose
 * their number of connections: the call of Enable (Weigle and Feng, section 2, technique 5),
 * without privileges.
 */
#ifndef TCPTUNED_ADVISE_H
#define TCPTUNED_ADVISE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0: not measured. */
struct tcptuned_advice_direction {
	double bits_per_second; /* the highest of one connection */
	unsigned long long
		buffer_bytes; /* for SO_SNDBUF, SO_RCVBUF: two such bandwidth-delay products */
	unsigned int streams; /* parallel connections that carry most, if others lose up to 10 % */
	double streams_bits_per_second; /* of all of them */
};

struct tcptuned_advice {
	size_t size;	 /* of this structure, set by the caller */
	char prefix[64]; /* of the connections, as in 192.0.2.0/24; "": nothing is known of it */
	unsigned int connections;
	unsigned long long age_s; /* since the last one ended */
	double min_rtt_s;
	double loss;		     /* part of the segments that were retransmitted */
	char congestion_control[16]; /* that a new connection gets */
	struct tcptuned_advice_direction send, receive;
};

/*
 * Ask the daemon, by its socket @control (NULL: /run/tcptuned/control), about @address, IPv4 or
 * IPv6, in the network namespace of this process; it takes a millisecond, and each step two seconds
 * at most. Returns 0; -ENODATA: nothing is known; -EINVAL: no address, or no size; -E2BIG: the size
 * of a later version; -ENOENT, -ECONNREFUSED: no daemon runs; -EBUSY: it has too many clients;
 * -EIO: it could not read what it knows; -EPROTO: it is of another version; other errors of the
 * system.
 */
int tcptuned_advise(const char *control, const char *address, struct tcptuned_advice *ret);

#ifdef __cplusplus
}
#endif

#endif
