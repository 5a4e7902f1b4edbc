/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of congestion controls. */
#ifndef TCPTUNED_BPF_NAMES_H
#define TCPTUNED_BPF_NAMES_H

#include "kernel.h"
#include <tcptuned/abi/policy.h>

static __always_inline bool is_same_name(const char a[TCPTUNED_CC_NAME_MAX],
					 const char b[TCPTUNED_CC_NAME_MAX])
{
	__u64 halves[2][2];

	__builtin_memcpy(halves[0], a, sizeof(halves[0]));
	__builtin_memcpy(halves[1], b, sizeof(halves[1]));
	return halves[0][0] == halves[1][0] && halves[0][1] == halves[1][1];
}

/* @literal: seven characters, or eight */
static __always_inline bool is_name(const char name[TCPTUNED_CC_NAME_MAX], const char *literal)
{
	__u64 first;

	__builtin_memcpy(&first, name, sizeof(first));
	return first == *(const __u64 *)literal;
}

static __always_inline bool is_bitcp(const char name[TCPTUNED_CC_NAME_MAX])
{
	return is_name(name, "bitcp\0\0");
}

#endif
