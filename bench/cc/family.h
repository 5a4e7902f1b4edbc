/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The family behind one table, for an engine that takes its congestion control by name: a
 * simulator, a test. What the functions do, and when they are called, is in
 * tcptuned/algo/congestion.h. The kernel has a program for each instead (hstcp.bpf.c ...).
 */
#pragma once

#include "aimd.h"
#include "tcptuned/algo/bitcp.h"
#include "hstcp.h"
#include "reno.h"
#include "stcp.h"
#include "vegas.h"

union family_state {
	struct congestion loss_based; /* reno, aimd, stcp, hstcp */
	struct bitcp bitcp;
	struct vegas vegas;
};

struct family_member {
	const char *name; /* as the kernel has it */
	void (*init)(union family_state *st, __u32 cwnd);
	void (*on_rtt)(union family_state *st, __s32 rtt_us);
	void (*on_ack)(union family_state *st, struct congestion_ack *ack);
	__u32 (*ssthresh)(union family_state *st, __u32 cwnd);
	__u32 (*undo)(union family_state *st, __u32 cwnd);
};

static inline void family_no_rtt(union family_state *st, __s32 rtt_us)
{
	(void)st;
	(void)rtt_us;
}

static inline void family_init(union family_state *st, __u32 cwnd)
{
	congestion_init(&st->loss_based, cwnd);
}

static inline __u32 family_undo(union family_state *st, __u32 cwnd)
{
	return congestion_undo(&st->loss_based, cwnd);
}

#define FAMILY_LOSS_BASED(name)                                                          \
	static inline void family_##name##_on_ack(union family_state *st,                \
						  struct congestion_ack *ack)            \
	{                                                                                \
		name##_on_ack(&st->loss_based, ack);                                     \
	}                                                                                \
	static inline __u32 family_##name##_ssthresh(union family_state *st, __u32 cwnd) \
	{                                                                                \
		return name##_ssthresh(&st->loss_based, cwnd);                           \
	}

FAMILY_LOSS_BASED(reno)
FAMILY_LOSS_BASED(aimd)
FAMILY_LOSS_BASED(stcp)
FAMILY_LOSS_BASED(hstcp)

#undef FAMILY_LOSS_BASED

static inline void family_vegas_init(union family_state *st, __u32 cwnd)
{
	vegas_init(&st->vegas, cwnd);
}

static inline void family_vegas_on_rtt(union family_state *st, __s32 rtt_us)
{
	vegas_on_rtt(&st->vegas, rtt_us);
}

static inline void family_vegas_on_ack(union family_state *st, struct congestion_ack *ack)
{
	vegas_on_ack(&st->vegas, ack);
}

static inline __u32 family_vegas_ssthresh(union family_state *st, __u32 cwnd)
{
	return vegas_ssthresh(&st->vegas, cwnd);
}

static inline __u32 family_vegas_undo(union family_state *st, __u32 cwnd)
{
	return vegas_undo(&st->vegas, cwnd);
}

/* With the paper's parameters; for others, bitcp_init() it after this. */
static inline void family_bitcp_init(union family_state *st, __u32 cwnd)
{
	struct bitcp_params params = bitcp_params_default();

	bitcp_init(&st->bitcp, &params, cwnd);
}

static inline void family_bitcp_on_ack(union family_state *st, struct congestion_ack *ack)
{
	if (ack->limited)
		ack->cwnd = bitcp_on_ack(&st->bitcp, ack->cwnd, ack->ssthresh, ack->acked);
}

static inline __u32 family_bitcp_ssthresh(union family_state *st, __u32 cwnd)
{
	return bitcp_ssthresh(&st->bitcp, cwnd);
}

static inline __u32 family_bitcp_undo(union family_state *st, __u32 cwnd)
{
	return bitcp_undo(&st->bitcp, cwnd);
}

#define FAMILY_MEMBERS 6

static const struct family_member family_members[FAMILY_MEMBERS] = {
	{"bitcp", family_bitcp_init, family_no_rtt, family_bitcp_on_ack, family_bitcp_ssthresh,
	 family_bitcp_undo},
	{"hstcp", family_init, family_no_rtt, family_hstcp_on_ack, family_hstcp_ssthresh,
	 family_undo},
	{"stcp", family_init, family_no_rtt, family_stcp_on_ack, family_stcp_ssthresh, family_undo},
	{"aimd", family_init, family_no_rtt, family_aimd_on_ack, family_aimd_ssthresh, family_undo},
	{"tt_vegas", family_vegas_init, family_vegas_on_rtt, family_vegas_on_ack,
	 family_vegas_ssthresh, family_vegas_undo},
	{"tt_reno", family_init, family_no_rtt, family_reno_on_ack, family_reno_ssthresh,
	 family_undo},
};
