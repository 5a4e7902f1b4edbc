/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of the connections of a policy that holds some of them back (holdback). It is counted
 * when they end, tuned ones and others apart. Their sizes are strata, within which the two are
 * compared (daemon/policy/trial.c): what an application sends rarely depends on how fast it goes.
 */
#pragma once

#include <linux/types.h>
#include <tcptuned/abi/policy.h>
#include <tcptuned/algo/log2.h>

enum tcptuned_measure {
	TCPTUNED_RATE, /* logarithm of bytes per jiffy, with data to send or while data came */
	TCPTUNED_RTT,  /* logarithm of the smoothed RTT at the end, us; a receiver's own estimate */
	TCPTUNED_RETRANSMITTED, /* of the segments that a sender sent, times 2^16 */
	TCPTUNED_LIMITED, /* of a sender's time, by the peer's window or its buffer, times 2^16 */
	TCPTUNED_MEASURES,
};

#define TCPTUNED_OUTCOME_LOG_ONE   1024 /* the logarithm of 2 */
#define TCPTUNED_OUTCOME_BYTES_MIN (128u << 10)
#define TCPTUNED_OUTCOME_SIZES	   4 /* from 128 KiB, 1, 8 and 64 MiB */

struct tcptuned_outcome_key {
	__u32 trial;	 /* of the policy */
	__u32 held_back; /* 0, 1 */
	__u32 sends;	 /* 1: it sent more than it received */
	__u32 size;	 /* tcptuned_outcome_size() */
};

struct tcptuned_moments {
	__s64 sum;
	__u64 squares;
};

struct tcptuned_outcome {
	__u64 connections;
	__u64 bytes;
	__u64 segments; /* sent */
	__u64 retransmits;
	struct tcptuned_moments of[TCPTUNED_MEASURES];
};

static inline __u32 tcptuned_outcome_size(__u64 bytes)
{
	__u32 size = (tcptuned_log2_fixed(bytes / TCPTUNED_OUTCOME_BYTES_MIN) /
		      TCPTUNED_OUTCOME_LOG_ONE) /
		     3;

	return size < TCPTUNED_OUTCOME_SIZES ? size : TCPTUNED_OUTCOME_SIZES - 1;
}
