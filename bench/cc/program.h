/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison congestion control as struct_ops, on bpf/cc/engine.h; its init needs no map. */
#pragma once

#include "cc/engine.h"

#define CONGESTION_CONTROL(INIT, ON_ACK, SSTHRESH, UNDO)     \
	SEC("struct_ops/ca_init")                            \
	void BPF_PROG(ca_init, struct sock *sk)              \
	{                                                    \
		struct tcp_sock *tp = (struct tcp_sock *)sk; \
                                                             \
		INIT(state_of(tp), tp->snd_cwnd);            \
	}                                                    \
                                                             \
	CONGESTION_CONTROL_ACK(ON_ACK)                       \
	CONGESTION_CONTROL_LOSS(SSTHRESH, UNDO)
