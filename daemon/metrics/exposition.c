// SPDX-License-Identifier: GPL-2.0-only
/* What /metrics shows, from tables of the families. Names follow Prometheus' conventions. */
#include "metrics/exposition.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "flows/words.h"
#include "host/sysctl.h"
#include "policy/lookup.h"
#include "util/array.h"

/* ---- Prometheus' text format, version 0.0.4 --------------------------------------------- */

enum unit {
	PLAIN = 0,    /* printed as it is: bytes, segments, counts */
	MICROSECONDS, /* printed in seconds */
	NANOSECONDS,
};

struct prom {
	FILE *out;
	const char *family; /* name of the last one that was begun; NULL: none */
};

static void print_value(FILE *out, __u64 value, enum unit unit)
{
	uintmax_t number = value;

	if (unit == MICROSECONDS)
		fprintf(out, "%ju.%06ju", number / 1000000, number % 1000000);
	else if (unit == NANOSECONDS)
		fprintf(out, "%ju.%09ju", number / 1000000000, number % 1000000000);
	else
		fprintf(out, "%ju", number);
}

/* Write the comment lines of a family, whose samples are written one after the other. */
static void begin_family(struct prom *prom, const char *name, const char *type, const char *help)
{
	if (prom->family && !strcmp(prom->family, name))
		return;
	prom->family = name;
	fprintf(prom->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Backslash, double quote and line feed are escaped. */
static void print_label(FILE *out, char before, const char *name, const char *value)
{
	fprintf(out, "%c%s=\"", before, name);
	for (; *value; value++) {
		if (strchr("\\\"\n", *value))
			fputc('\\', out);
		fputc(*value == '\n' ? 'n' : *value, out);
	}
	fputc('"', out);
}

/* Labels follow as pairs of name and value, up to NULL; a pair whose value is NULL is left out. */
static __attribute__((sentinel)) void print_sample(struct prom *prom, const char *name,
						   const char *help, __u64 value, enum unit unit,
						   ...)
{
	const char *label, *label_value, *end = strrchr(name, '_');
	char before = '{';
	va_list labels;

	begin_family(prom, name, end && !strcmp(end, "_total") ? "counter" : "gauge", help);
	fputs(name, prom->out);
	va_start(labels, unit);
	while ((label = va_arg(labels, const char *))) {
		label_value = va_arg(labels, const char *);
		if (!label_value)
			continue;
		print_label(prom->out, before, label, label_value);
		before = ',';
	}
	va_end(labels);
	fputs(before == ',' ? "} " : " ", prom->out);
	print_value(prom->out, value, unit);
	fputc('\n', prom->out);
}

/* ---- samples that are in the snapshot --------------------------------------------------- */

/* A sample of a number in a structure. Adjacent rows of one name are one family. */
struct row {
	const char *name;
	const char *label, *label_value; /* NULL: none */
	size_t offset, size;
	const char *help;  /* NULL: as in the row before */
	unsigned int unit; /* enum unit, and perhaps OPTIONAL */
};

#define OPTIONAL 0x10 /* 0 means that the value is unknown: there is no sample */

#define SNAPSHOT(field) FIELD_OF(tcptuned_snapshot, field)
#define COUNTER(id)	SNAPSHOT(totals.counter[TCPTUNED_C_##id])
#define NO_LABEL	NULL, NULL
#define RECEIVE		"direction", "receive"
#define SEND		"direction", "send"

static void print_rows(struct prom *prom, const struct row *rows, size_t len,
		       const struct tcptuned_snapshot *snap)
{
	for (const struct row *row = rows; row < rows + len; row++)
		print_sample(prom, row->name, row->help,
			     tcptuned_field(snap, row->offset, row->size), row->unit, row->label,
			     row->label_value, NULL);
}

static const struct row state[] = {
	{"tcptuned_bitcp_registered", NO_LABEL, SNAPSHOT(bitcp),
	 "Whether the congestion control bitcp can be chosen on this host."},
	{"tcptuned_config_reloads_total", "result", "ok", SNAPSHOT(reloads[true]),
	 "Reloads of the configuration. After a rejected one, the configuration before it stays in "
	 "force."},
	{"tcptuned_config_reloads_total", "result", "rejected", SNAPSHOT(reloads[false])},
	{"tcptuned_config_last_reload_successful", NO_LABEL, SNAPSHOT(config_in_force),
	 "Whether the configuration files are in force: the last reload, if any, was accepted, and "
	 "all of it is applied. A changed key that is read at the start waits for the next one."},
	{"tcptuned_taken_over", NO_LABEL, SNAPSHOT(taken_over),
	 "Whether the programs were pinned by an earlier daemon."},
	{"tcptuned_whole_host", NO_LABEL, SNAPSHOT(whole_host),
	 "Whether the connections of all processes of the host are tuned, not of one control group."},
	{"tcptuned_policy_cgroups_missing", NO_LABEL, SNAPSHOT(cgroups_missing),
	 "Policies without connections because their control group does not exist or is not "
	 "visible."},
	{"tcptuned_adoption_namespaces", "result", "visited", SNAPSHOT(adoption.namespaces),
	 "Network namespaces at the start, by result: searched for open connections, not searched "
	 "to the end, or deleted before the search."},
	{"tcptuned_adoption_namespaces", "result", "failed", SNAPSHOT(adoption.namespaces_failed)},
	{"tcptuned_adoption_namespaces", "result", "vanished",
	 SNAPSHOT(adoption.namespaces_vanished)},
	{"tcptuned_adoption_duration_seconds", NO_LABEL, SNAPSHOT(adoption.ns),
	 "Time that it took to adopt the connections that were open before the start.",
	 NANOSECONDS},
	{"tcptuned_collection_success", "collector", "totals", SNAPSHOT(totals_ok),
	 "Whether this could be read from the kernel."},
	{"tcptuned_collection_success", "collector", "flows", SNAPSHOT(flows_ok)},
	{"tcptuned_collection_success", "collector", "budget", SNAPSHOT(budget_ok)},
};

static const struct row counters[] = {
	{"tcptuned_connections_managed_total", "opened", "here", COUNTER(MANAGED_ACTIVE),
	 "Connections that came under a policy, by who opened them."},
	{"tcptuned_connections_managed_total", "opened", "peer", COUNTER(MANAGED_PASSIVE)},
	{"tcptuned_connections_managed_total", "opened", "before", COUNTER(MANAGED_OPEN)},
	{"tcptuned_adoption_failures_total", NO_LABEL, COUNTER(ADOPT_FAILED),
	 "Sockets open before the start that were left to the kernel, because memory was short or "
	 "because the kernel refused or is too old."},
	{"tcptuned_connections_closed_total", NO_LABEL, COUNTER(CLOSED),
	 "Managed connections that ended."},
	{"tcptuned_callbacks_restored_total", NO_LABEL, COUNTER(CALLBACKS_AGAIN),
	 "Times that a connection's callbacks were requested again, because another sockops "
	 "program had replaced them."},
	{"tcptuned_connections_unrecorded_total", NO_LABEL, COUNTER(STORAGE_FAILED),
	 "Connections that were left to the kernel because there was no memory for a record."},
	{"tcptuned_congestion_control_choices_total", "choice", "set", COUNTER(CC_SET),
	 "Connections by the outcome for the policy's congestion control: set, kept as the "
	 "application or a route had chosen, or refused by the kernel."},
	{"tcptuned_congestion_control_choices_total", "choice", "kept", COUNTER(CC_KEPT)},
	{"tcptuned_congestion_control_choices_total", "choice", "refused", COUNTER(CC_FAILED)},
	{"tcptuned_buffer_requests_overridden_total", "option", "SO_RCVBUF",
	 COUNTER(RCVBUF_OVERRIDDEN),
	 "Requests of applications for a fixed buffer that were overridden, or would be if "
	 "tcptuned did not only observe."},
	{"tcptuned_buffer_requests_overridden_total", "option", "SO_SNDBUF",
	 COUNTER(SNDBUF_OVERRIDDEN)},
#define BOTH_DIRECTIONS(name, id, help)           \
	{name, RECEIVE, COUNTER(RCV_##id), help}, \
	{                                         \
		name, SEND, COUNTER(SND_##id)     \
	}
	BOTH_DIRECTIONS("tcptuned_rightsize_rounds_total", ROUNDS,
			"Round trips that right-sizing measured."),
	BOTH_DIRECTIONS("tcptuned_rightsize_grows_total", GROWS, "Windows that were enlarged."),
	BOTH_DIRECTIONS("tcptuned_rightsize_shrinks_total", SHRINKS, "Windows that were reduced."),
	BOTH_DIRECTIONS("tcptuned_rightsize_caps_total", CAPS,
			"Decisions that the policy's largest window limited."),
	BOTH_DIRECTIONS("tcptuned_rightsize_failures_total", FAILED,
			"Changes of a buffer or window that the kernel refused."),
	BOTH_DIRECTIONS("tcptuned_budget_refusals_total", BUDGET,
			"Decisions that the memory budget, or TCP's memory as a whole, limited."),
	{"tcptuned_memory_short_total", NO_LABEL, COUNTER(MEMORY_SHORT),
	 "Decisions that were limited because TCP as a whole, or the connection's control group, "
	 "was under memory pressure."},
	{"tcptuned_events_lost_total", NO_LABEL, COUNTER(EVENTS_LOST),
	 "Events for which the kernel's ring buffer had no room; what a client misses because it reads "
	 "too slowly is reported to it alone."},
	{"tcptuned_paths_learned_total", "result", "stored", COUNTER(PATH_LEARNED),
	 "Connections whose measurements were added to the path memory."},
	{"tcptuned_paths_learned_total", "result", "failed", COUNTER(PATH_FAILED)},
	{"tcptuned_paths_seeds_total", NO_LABEL, COUNTER(PATH_SEEDS),
	 "Connections that started with what was known of their path."},
};

static const struct row budget[] = {
	{"tcptuned_budget_bytes", NO_LABEL, SNAPSHOT(budget.total),
	 "Memory that all buffers together may use beyond what the kernel alone would give them."},
	{"tcptuned_budget_granted_bytes", NO_LABEL, SNAPSHOT(budget.granted),
	 "Memory that they use beyond that; for a while more than the budget, after it was "
	 "reduced."},
	{"tcptuned_budget_wanted_bytes", NO_LABEL, SNAPSHOT(budget.wanted),
	 "Memory that they could use beyond that, each up to a quarter of the budget."},
};

static const struct row paths[] = {
	{"tcptuned_paths_database_errors_total", NO_LABEL, SNAPSHOT(database_errors),
	 "Times that the database of paths could not be read or written."},
	{"tcptuned_streams_groups", NO_LABEL, SNAPSHOT(groups.groups),
	 "Groups of connections from a control group to a host, in one direction, that carry data."},
	{"tcptuned_streams_windows_total", "result", "measured", SNAPSHOT(groups.measured),
	 "Windows of time in which a group consisted of the same connections: counted as a "
	 "measurement, or refused because one waited for its application or they differ."},
	{"tcptuned_streams_windows_total", "result", "refused", SNAPSHOT(groups.refused)},
};

static const struct row sums[] = {
	{"tcptuned_connections_observed", NO_LABEL, SNAPSHOT(flows.sums.observed),
	 "Open connections that are observed: decisions are made, but nothing is changed."},
	{"tcptuned_connections_rightsized", RECEIVE, SNAPSHOT(flows.sums.rcv_sized),
	 "Open connections whose buffer tcptuned sizes."},
	{"tcptuned_connections_rightsized", SEND, SNAPSHOT(flows.sums.snd_sized)},
	{"tcptuned_connections_overridden", "option", "SO_RCVBUF",
	 SNAPSHOT(flows.sums.rcvbuf_requests),
	 "Open connections whose application's request for a fixed buffer is overridden, or would "
	 "be if tcptuned did not only observe."},
	{"tcptuned_connections_overridden", "option", "SO_SNDBUF",
	 SNAPSHOT(flows.sums.sndbuf_requests)},
	{"tcptuned_buffer_limit_bytes", RECEIVE, SNAPSHOT(flows.sums.rcvbuf_bytes),
	 "Sum of the memory that the buffers of open connections may use."},
	{"tcptuned_buffer_limit_bytes", SEND, SNAPSHOT(flows.sums.sndbuf_bytes)},
	{"tcptuned_buffer_used_bytes", RECEIVE, SNAPSHOT(flows.sums.rmem_bytes),
	 "Sum of the memory that data in the buffers of open connections uses."},
	{"tcptuned_buffer_used_bytes", SEND, SNAPSHOT(flows.sums.wmem_bytes)},
	{"tcptuned_connections_advertised_window_bytes", NO_LABEL,
	 SNAPSHOT(flows.sums.rcv_wnd_bytes), "Sum of the windows that open connections advertise."},
};

static const struct row cost[] = {
	{"process_resident_memory_bytes", NO_LABEL, SNAPSHOT(process.resident_bytes),
	 "Resident memory of the daemon."},
	{"process_open_fds", NO_LABEL, SNAPSHOT(process.open_fds),
	 "Open file descriptors of the daemon."},
	{"process_max_fds", NO_LABEL, SNAPSHOT(process.max_fds), "How many it may have."},
	{"process_cpu_seconds_total", NO_LABEL, SNAPSHOT(process.cpu_ns),
	 "CPU time of the daemon, user and system.", NANOSECONDS},
	{"process_start_time_seconds", NO_LABEL, SNAPSHOT(start_time_us),
	 "Start time of the daemon, since the epoch.", MICROSECONDS},
	{"tcptuned_scrapes_total", NO_LABEL, SNAPSHOT(scrapes),
	 "Answers for Prometheus before this one; each is kept for a second."},
	{"tcptuned_scrape_duration_seconds_total", NO_LABEL, SNAPSHOT(scrapes_ns),
	 "Time that it took to make these answers.", NANOSECONDS},
};

/* The kernel's own clocks, of connections that are open, and that were. */
static void print_limited_time(struct prom *prom, const struct tcptuned_snapshot *snap)
{
	for (int observed = 0; observed < 2; observed++) {
		const struct tcptuned_limited *l = &snap->limited[observed];
		const struct {
			const char *limit;
			__u64 us;
		} rows[] = {{"receiver_window", l->receiver_window},
			    {"send_buffer", l->send_buffer},
			    {"neither", l->neither}};

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			print_sample(
				prom, "tcptuned_limited_seconds_total",
				"Time in which connections had something to send, or in flight, by "
				"what limited them, and by whether tcptuned tuned or observed them.",
				rows[i].us, MICROSECONDS, "limit", rows[i].limit, "tuned",
				observed ? "no" : "yes", NULL);
	}
}

/* In the order of enum tcptuned_counter. */
static void print_tests(struct prom *prom, const char *direction, const __u64 *counts)
{
	static const char *const results[] = {"held", "failed", "abandoned"};

	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		print_sample(prom, "tcptuned_rightsize_tests_total",
			     "Tests of a smaller window that ended: one is held since, or the "
			     "kernel sizes it, or the test was abandoned because of a loss or "
			     "because its window did not take effect.",
			     counts[i], PLAIN, "direction", direction, "result", results[i], NULL);
}

/* ---- histograms ------------------------------------------------------------------------- */

/* Buckets are shown from 2^first to 2^last; smaller values are in the first one. */
static const struct {
	enum tcptuned_histogram_id id;
	const char *name;
	enum unit unit;
	unsigned int first, last;
	const char *help;
} histograms[] = {
	{TCPTUNED_H_SRTT, "tcptuned_srtt_seconds", MICROSECONDS, 6, 24,
	 "Smoothed round-trip time, at one of eight round trips measured by senders."},
	{TCPTUNED_H_QUEUE, "tcptuned_queueing_delay_seconds", MICROSECONDS, 6, 24,
	 "Smoothed round-trip time beyond the connection's minimum, at one of eight round trips "
	 "measured by senders."},
	{TCPTUNED_H_RCV_RTT, "tcptuned_receiver_rtt_seconds", MICROSECONDS, 6, 24,
	 "The receiver's own estimate of the round-trip time, which includes pauses of the sender, "
	 "at one of eight round trips measured by receivers, of those that have one."},
	{TCPTUNED_H_MIN_RTT, "tcptuned_min_rtt_seconds", MICROSECONDS, 6, 24,
	 "Minimum round-trip time of a connection that has measured one, at its end."},
	{TCPTUNED_H_RCV_WINDOW, "tcptuned_advertised_window_bytes", PLAIN, 10, 30,
	 "Window advertised to the peer, at one of eight round trips measured by receivers."},
	{TCPTUNED_H_CWND, "tcptuned_cwnd_segments", PLAIN, 0, 20,
	 "Congestion window, at one of eight round trips measured by senders."},
	{TCPTUNED_H_RETRANSMITS, "tcptuned_retransmitted_segments", PLAIN, 0, 20,
	 "Segments that a connection retransmitted, at its end."},
};

static void print_histogram(struct prom *prom, size_t which,
			    const struct tcptuned_histogram *histogram)
{
	const char *name = histograms[which].name;
	enum unit unit = histograms[which].unit;
	FILE *out = prom->out;
	uintmax_t below = 0;

	begin_family(prom, name, "histogram", histograms[which].help);
	for (unsigned int i = 0; i < TCPTUNED_BUCKETS; i++) {
		below += histogram->bucket[i];
		if (i < histograms[which].first || i > histograms[which].last)
			continue;
		fprintf(out, "%s_bucket{le=\"", name);
		print_value(out, 1ull << i, unit);
		fprintf(out, "\"} %ju\n", below);
	}
	/* The sum of the buckets: other CPUs count meanwhile, so histogram->count may be ahead. */
	fprintf(out, "%s_bucket{le=\"+Inf\"} %ju\n%s_sum ", name, below, name);
	print_value(out, histogram->sum, unit);
	fprintf(out, "\n%s_count %ju\n", name, below);
}

/* ---- open connections, by what they have in common -------------------------------------- */

/* Connections with one pair of labels. */
struct labelled_group {
	char policy[TCPTUNED_POLICY_NAME_MAX];
	const char *congestion_control;
	__u64 flows;
};

static int compare_labels(const void *a, const void *b)
{
	const struct labelled_group *left = a, *right = b;

	return strcmp(left->policy, right->policy)
		       ?: strcmp(left->congestion_control, right->congestion_control);
}

/*
 * Sort groups, and merge those with the same labels: a reload changes keys, and a replacement the
 * address of a congestion control. Returns their number.
 */
static __u32 label_groups(const struct tcptuned_snapshot *snap, struct labelled_group *ret)
{
	const struct readout_group *group = snap->flows.sums.group;
	__u32 i, len = 0, kept = 0;

	for (; group < snap->flows.sums.group + READOUT_GROUPS; group++) {
		if (!group->flows)
			continue;
		snap->policy_name(snap->kernel, group->policy, ret[len].policy);
		ret[len].congestion_control = group->congestion_control;
		ret[len++].flows = group->flows;
	}
	qsort(ret, len, sizeof(*ret), compare_labels);
	for (i = 0; i < len; i++) {
		if (kept && !compare_labels(&ret[kept - 1], &ret[i]))
			ret[kept - 1].flows += ret[i].flows;
		else
			ret[kept++] = ret[i];
	}
	return kept;
}

static void print_groups(struct prom *prom, const struct tcptuned_snapshot *snap)
{
	struct labelled_group groups[READOUT_GROUPS + 1];
	__u64 others = snap->flows.sums.groups_other;
	__u32 len = label_groups(snap, groups);

	if (others || !len)
		groups[len++] = (struct labelled_group){"other", "other", others};
	for (__u32 i = 0; i < len; i++)
		print_sample(prom, "tcptuned_connections",
			     "Open connections by policy and congestion control; other: those of "
			     "further pairs, beyond the number that is counted separately.",
			     groups[i].flows, PLAIN, "policy", groups[i].policy,
			     "congestion_control", groups[i].congestion_control, NULL);
}

static void print_reasons(struct prom *prom, const char *direction, const __u64 *counts)
{
	for (unsigned int i = 0; i < RIGHTSIZE_REASONS; i++)
		print_sample(prom, "tcptuned_connections_rightsize_reason",
			     "Open connections by the reason for their window.", counts[i], PLAIN,
			     "direction", direction, "reason", tcptuned_word(WORDS_REASON, i),
			     NULL);
}

static void print_limited(struct prom *prom, const char *direction, const __u64 *counts,
			  __u32 words)
{
	for (unsigned int i = 0; i < TCPTUNED_LIMITS; i++)
		if (words & 1u << i)
			print_sample(prom, "tcptuned_connections_limited",
				     "Open connections by what limits each direction.", counts[i],
				     PLAIN, "direction", direction, "limit",
				     tcptuned_word(WORDS_LIMIT, i), NULL);
}

static void print_aggregates(struct prom *prom, const struct tcptuned_snapshot *snap)
{
	print_groups(prom, snap);
	print_rows(prom, sums, ARRAY_SIZE(sums), snap);
	print_limited(prom, "receive", snap->flows.sums.receive_limited, TCPTUNED_RECEIVE_LIMITS);
	print_limited(prom, "send", snap->flows.sums.limited, TCPTUNED_SEND_LIMITS);
	print_reasons(prom, "receive", snap->flows.sums.rcv_reason);
	print_reasons(prom, "send", snap->flows.sums.snd_reason);
}

/* ---- the largest connections, one by one ------------------------------------------------ */

#define RECORD(field) FIELD_OF(tcptuned_flow_record, field)

/* What a dashboard draws; tcptunectl shows the rest. */
static const struct row flow_rows[] = {
	{"tcptuned_flow_cwnd_segments", NO_LABEL, RECORD(cwnd), "Congestion window."},
	{"tcptuned_flow_peer_window_bytes", NO_LABEL, RECORD(snd_wnd),
	 "Window that the peer advertises."},
	{"tcptuned_flow_advertised_window_bytes", NO_LABEL, RECORD(rcv_wnd),
	 "Window advertised to the peer."},
	{"tcptuned_flow_rightsize_window_bytes", RECEIVE, RECORD(flow.rcv.window),
	 "Limit of the window that right-sizing has set; 0: none, the kernel decides."},
	{"tcptuned_flow_rightsize_window_bytes", SEND, RECORD(flow.snd.window)},
	{"tcptuned_flow_buffer_limit_bytes", RECEIVE, RECORD(rcvbuf),
	 "Memory that the buffer may use (sk_rcvbuf, sk_sndbuf)."},
	{"tcptuned_flow_buffer_limit_bytes", SEND, RECORD(sndbuf)},
	{"tcptuned_flow_buffer_used_bytes", RECEIVE, RECORD(rmem_alloc),
	 "Memory that the data in the buffer uses."},
	{"tcptuned_flow_buffer_used_bytes", SEND, RECORD(wmem_queued)},
	{"tcptuned_flow_srtt_seconds", NO_LABEL, RECORD(srtt_us), "Smoothed round-trip time.",
	 MICROSECONDS | OPTIONAL},
	{"tcptuned_flow_min_rtt_seconds", NO_LABEL, RECORD(min_rtt_us),
	 "Minimum round-trip time that the kernel has measured.", MICROSECONDS | OPTIONAL},
	{"tcptuned_flow_delivery_rate_bytes_per_second", NO_LABEL, RECORD(delivery_rate_Bps),
	 "Rate at which data was last delivered to the peer.", PLAIN | OPTIONAL},
	{"tcptuned_flow_received_bytes_total", NO_LABEL, RECORD(bytes_received), "Bytes received."},
	{"tcptuned_flow_acked_bytes_total", NO_LABEL, RECORD(bytes_acked),
	 "Bytes sent and acknowledged."},
	{"tcptuned_flow_retransmitted_segments_total", NO_LABEL, RECORD(retransmits),
	 "Segments retransmitted."},
};

/* Labels that identify a connection never change: a series with other labels is another one. */
#define LABELS_OF(ends) "local", (ends).local, "remote", (ends).remote

static void print_flow_row(struct prom *prom, const struct row *row,
			   const struct tcptuned_flow_record *record)
{
	struct tcptuned_ends ends = tcptuned_flow_ends(record);
	__u64 value = tcptuned_field(record, row->offset, row->size);

	if (value || !(row->unit & OPTIONAL))
		print_sample(prom, row->name, row->help, value, row->unit & ~OPTIONAL,
			     LABELS_OF(ends), row->label, row->label_value, NULL);
}

/* All words would be as many series as all else. */
static void print_limit(struct prom *prom, const struct tcptuned_flow_record *record,
			const char *direction, unsigned int limit)
{
	struct tcptuned_ends ends = tcptuned_flow_ends(record);

	print_sample(prom, "tcptuned_flow_limited", "What limits a direction: always 1.", 1, PLAIN,
		     LABELS_OF(ends), "direction", direction, "limit",
		     tcptuned_word(WORDS_LIMIT, limit), NULL);
}

static void print_flows(struct prom *prom, const struct tcptuned_snapshot *snap)
{
	const struct tcptuned_flow_record *top = snap->flows.top, *end = top + snap->flows.top_len;
	const struct tcptuned_flow_record *record;

	for (record = top; record < end; record++) {
		struct tcptuned_ends ends = tcptuned_flow_ends(record);
		char policy[TCPTUNED_POLICY_NAME_MAX];

		snap->policy_name(snap->kernel, record->flow.policy, policy);
		print_sample(prom, "tcptuned_flow_info",
			     "Policy and congestion control of a connection.", 1, PLAIN,
			     LABELS_OF(ends), "policy", policy, "congestion_control",
			     record->congestion_control, NULL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(flow_rows); i++)
		for (record = top; record < end; record++)
			print_flow_row(prom, &flow_rows[i], record);
	for (record = top; record < end; record++) {
		print_limit(prom, record, "receive", record->receive_limit);
		print_limit(prom, record, "send", record->limit);
	}
}

/* ---- policies --------------------------------------------------------------------------- */

static void print_policies(struct prom *prom, const struct tcptuned_snapshot *snap)
{
	const struct tcptuned_policy *p, *end = snap->policies + snap->policies_len;

	for (p = snap->policies; p < end; p++)
		print_sample(prom, "tcptuned_policy_info",
			     "The congestion control of a policy; empty: none.", 1, PLAIN, "policy",
			     p->name, "congestion_control", tcptuned_policy_congestion_control(p),
			     NULL);
	for (p = snap->policies; p < end; p++)
		for (unsigned int mode = 0; mode <= TCPTUNED_TUNE; mode++)
			print_sample(prom, "tcptuned_policy_mode",
				     "What a policy does: 1 for the mode that applies.",
				     mode == p->mode, PLAIN, "policy", p->name, "mode",
				     tcptuned_word(WORDS_MODE, mode), NULL);
}

#define CARRIED(id) FIELD_OF(tcptuned_traffic, carried[TCPTUNED_##id])

static const struct row traffic_rows[] = {
	{"tcptuned_connections_received_bytes_total", NO_LABEL, CARRIED(RECEIVED),
	 "Bytes that connections, open ones and others, have received."},
	{"tcptuned_connections_acked_bytes_total", NO_LABEL, CARRIED(ACKED),
	 "Bytes that connections, open ones and others, have sent, and that were acknowledged."},
	{"tcptuned_connections_sent_segments_total", NO_LABEL, CARRIED(SEGMENTS),
	 "Segments that connections, open ones and others, have sent."},
	{"tcptuned_connections_retransmitted_segments_total", NO_LABEL, CARRIED(RETRANSMITS),
	 "Segments that connections, open ones and others, have retransmitted."},
};

/* A value of a policy: of connections that are tuned (@others is 0), or of the others. */
static void print_part(struct prom *prom, const struct row *row, const struct tcptuned_policy *p,
		       unsigned int others, const void *values)
{
	print_sample(prom, row->name, row->help, tcptuned_field(values, row->offset, row->size),
		     PLAIN, "policy", p->name, "tuned", others ? "no" : "yes", NULL);
}

static void print_traffic(struct prom *prom, const struct tcptuned_snapshot *snap)
{
	for (size_t i = 0; i < ARRAY_SIZE(traffic_rows); i++)
		for (unsigned int n = 0; n < 2 * snap->policies_len; n++)
			print_part(prom, &traffic_rows[i], &snap->policies[n / 2], n % 2,
				   &snap->traffic[n / 2][n % 2]);
}

static const struct row trial_rows[] = {
	{"tcptuned_trial_connections_total", NO_LABEL, FIELD_OF(tcptuned_outcome, connections),
	 "Connections that ended, of policies that hold some back."},
	{"tcptuned_trial_bytes_total", NO_LABEL, FIELD_OF(tcptuned_outcome, bytes),
	 "Bytes of connections that ended, of policies that hold some back."},
	{"tcptuned_trial_sent_segments_total", NO_LABEL, FIELD_OF(tcptuned_outcome, segments),
	 "Segments sent by connections that ended, of policies that hold some back."},
	{"tcptuned_trial_retransmitted_segments_total", NO_LABEL,
	 FIELD_OF(tcptuned_outcome, retransmits),
	 "Segments retransmitted by connections that ended, of policies that hold some back."},
};

static void print_trials(struct prom *prom, const struct tcptuned_snapshot *snap)
{
	for (unsigned int p = 0; p < snap->policies_len; p++)
		print_sample(prom, "tcptuned_policy_harmful",
			     "Whether a trial has shown that tuning does harm: then a policy only "
			     "observes.",
			     snap->policies[p].harmful, PLAIN, "policy", snap->policies[p].name,
			     NULL);
	for (size_t i = 0; i < ARRAY_SIZE(trial_rows); i++)
		for (unsigned int n = 0; n < 2 * snap->policies_len; n++) {
			const struct tcptuned_policy *policy = &snap->policies[n / 2];

			if (policy->holdback || policy->harmful)
				print_part(prom, &trial_rows[i], policy, n % 2,
					   &snap->trials[n / 2][n % 2]);
		}
}

/* ---- the memory budget, the path memory, and what tcptuned costs ------------------------ */

static void print_budget(struct prom *prom, const struct tcptuned_snapshot *snap)
{
	print_rows(prom, budget, ARRAY_SIZE(budget), snap);
	print_sample(prom, "tcptuned_budget_scarce",
		     "Whether connections could use more than the budget.",
		     budget_is_scarce(&snap->budget), PLAIN, NULL);
}

static const struct row program_rows[] = {
	{"tcptuned_program_runs_total", NO_LABEL, FIELD_OF(tcptuned_program_stats, runs),
	 "Runs of a BPF program while statistics were enabled."},
	{"tcptuned_program_run_seconds_total", NO_LABEL,
	 FIELD_OF(tcptuned_program_stats, run_time_ns), "Time that these runs took.", NANOSECONDS},
	{"tcptuned_program_verified_instructions", NO_LABEL,
	 FIELD_OF(tcptuned_program_stats, verified_insns),
	 "Instructions that the verifier processed."},
};

static void print_cost(struct prom *prom, const struct tcptuned_snapshot *snap)
{
	const struct tcptuned_bpfstats *bpf = &snap->bpf;
	/* Without statistics, only the last row is known. */
	size_t first = bpf->enabled ? 0 : ARRAY_SIZE(program_rows) - 1;

	print_sample(prom, "tcptuned_program_statistics_enabled",
		     "Whether the kernel counts runs and run time of BPF programs: "
		     "kernel.bpf_stats_enabled.",
		     bpf->enabled, PLAIN, NULL);
	for (size_t i = first; i < ARRAY_SIZE(program_rows); i++)
		for (unsigned int p = 0; p < bpf->programs_len; p++)
			print_sample(prom, program_rows[i].name, program_rows[i].help,
				     tcptuned_field(&bpf->programs[p], program_rows[i].offset,
						    program_rows[i].size),
				     program_rows[i].unit, "program", bpf->programs[p].name, NULL);
	print_sample(prom, "tcptuned_connection_records_bytes",
		     "Memory of the records of open connections: their number times the size "
		     "that the kernel allocates.",
		     snap->flows.sums.records * TCPTUNED_RECORD_BYTES, PLAIN, NULL);
	print_rows(prom, cost, ARRAY_SIZE(cost), snap);
}

/* ---- the whole -------------------------------------------------------------------------- */

void tcptuned_metrics_format(FILE *out, const struct tcptuned_snapshot *snap)
{
	struct prom prom = {.out = out};

	print_sample(&prom, "tcptuned_build_info",
		     "Version and commit of tcptuned, and the kernel that it runs on.", 1, PLAIN,
		     "version", snap->version, "revision", snap->revision, "kernel",
		     snap->kernel_release, NULL);
	print_rows(&prom, state, ARRAY_SIZE(state), snap);
	for (enum tcptuned_sysctl i = 0; i < TCPTUNED_SYSCTLS; i++)
		print_sample(
			&prom, "tcptuned_sysctl_left_alone",
			"Whether another process has changed the sysctl after tcptuned had set it, "
			"which is kept.",
			snap->left_alone[i], PLAIN, "sysctl", tcptuned_sysctl_name(i), NULL);
	if (snap->limited_ok)
		print_limited_time(&prom, snap);
	if (snap->totals_ok) {
		print_rows(&prom, counters, ARRAY_SIZE(counters), snap);
		print_tests(&prom, "receive", &snap->totals.counter[TCPTUNED_C_RCV_TESTS_HELD]);
		print_tests(&prom, "send", &snap->totals.counter[TCPTUNED_C_SND_TESTS_HELD]);
		for (size_t i = 0; i < ARRAY_SIZE(histograms); i++)
			print_histogram(&prom, i, &snap->totals.histogram[histograms[i].id]);
	}
	if (snap->budget_ok)
		print_budget(&prom, snap);
	print_rows(&prom, paths, ARRAY_SIZE(paths), snap);
	if (snap->flows_ok) {
		print_aggregates(&prom, snap);
		print_flows(&prom, snap);
	}
	print_policies(&prom, snap);
	if (snap->flows_ok)
		print_traffic(&prom, snap);
	print_trials(&prom, snap);
	print_cost(&prom, snap);
}
