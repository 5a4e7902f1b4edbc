/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts that /metrics is made of (metrics.h); @labels is a buffer for those of any of them. */
#ifndef TCPTUNED_METRICS_PARTS_H
#define TCPTUNED_METRICS_PARTS_H

#include "exposition.h"
#include "metrics.h"

/* ---- metrics.c ---- */

/* The name of policy @key, also where it is gone. */
const char *tcptuned_metrics_policy_name(const struct tcptuned_snapshot *snap, __u32 key);

void tcptuned_metrics_label_policy(struct tcptuned_buf *labels,
				   const struct tcptuned_snapshot *snap, __u32 key);

/* ---- metrics_host.c: of all connections together, and of tcptuned itself ---- */

void tcptuned_metrics_totals(struct tcptuned_buf *out, const struct tcptuned_totals *totals);

/* Live connections, added up. */
void tcptuned_metrics_aggregates(struct tcptuned_buf *out, struct tcptuned_buf *labels,
				 const struct tcptuned_snapshot *snap);

void tcptuned_metrics_budget(struct tcptuned_buf *out, const struct budget *budget);

void tcptuned_metrics_paths(struct tcptuned_buf *out, const struct tcptuned_path_stats *paths);

void tcptuned_metrics_cost(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			   const struct tcptuned_snapshot *snap);

/* ---- metrics_flows.c: of the largest connections, one by one ---- */

void tcptuned_metrics_flows(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			    const struct tcptuned_snapshot *snap);

#endif
