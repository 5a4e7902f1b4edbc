// SPDX-License-Identifier: GPL-2.0-only
/*
 * What /metrics shows. The names follow the practice of Prometheus: base units, "_total" for
 * counters. The tables list the families, and the functions walk the tables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "flows/names.h"
#include "metrics/metrics.h"
#include "metrics/prom.h"
#include "util/array.h"

#define RECEIVE "direction=\"receive\""
#define SEND	"direction=\"send\""

/* The name of policy @key, also where the policy is gone. */
static const char *policy_name(const struct tcptuned_snapshot *snap, __u32 key)
{
	const char *name = snap->policy_name ? snap->policy_name(snap->policy_ctx, key) : NULL;

	return name ? name : TCPTUNED_POLICY_GONE(key);
}

/* --- totals of the host ------------------------------------------------------------------ */

/* Neighbours of one name are one family. */
static const struct {
	enum tcptuned_counter id;
	const char *name;
	const char *labels;
	const char *help;
} counters[] = {
	{TCPTUNED_C_CLAIMED_ACTIVE, "tcptuned_connections_claimed_total", "opened=\"here\"",
	 "Connections that a policy took, by who opened them."},
	{TCPTUNED_C_CLAIMED_PASSIVE, "tcptuned_connections_claimed_total", "opened=\"peer\"",
	 NULL},
	{TCPTUNED_C_CLAIMED_OPEN, "tcptuned_connections_claimed_total", "opened=\"before\"",
	 NULL},
	{TCPTUNED_C_ADOPT_FAILED, "tcptuned_adoption_failures_total", "",
	 "Sockets open before the start that were left alone for lack of memory, or because the "
	 "kernel refused or is too old."},
	{TCPTUNED_C_CLOSED, "tcptuned_connections_closed_total", "",
	 "Claimed connections that ended."},
	{TCPTUNED_C_CALLBACKS_AGAIN, "tcptuned_callbacks_restored_total", "",
	 "Times that a connection's callbacks had to be asked for again, because another sockops "
	 "program had put its own in their place."},
	{TCPTUNED_C_STORAGE_FAILED, "tcptuned_connections_unrecorded_total", "",
	 "Connections left to the kernel because there was no memory for a record."},
	{TCPTUNED_C_CC_SET, "tcptuned_congestion_control_choices_total", "choice=\"set\"",
	 "Connections by what became of the policy's congestion control: set, kept as the "
	 "application or a route had chosen, or refused by the kernel."},
	{TCPTUNED_C_CC_KEPT, "tcptuned_congestion_control_choices_total", "choice=\"kept\"",
	 NULL},
	{TCPTUNED_C_CC_FAILED, "tcptuned_congestion_control_choices_total",
	 "choice=\"refused\"", NULL},
	{TCPTUNED_C_RCVBUF_OVERRIDDEN, "tcptuned_buffer_requests_overridden_total",
	 "option=\"SO_RCVBUF\"",
	 "Requests of applications for a fixed buffer that were overridden; in a dry run, counted "
	 "only."},
	{TCPTUNED_C_SNDBUF_OVERRIDDEN, "tcptuned_buffer_requests_overridden_total",
	 "option=\"SO_SNDBUF\"", NULL},
#define BOTH_DIRECTIONS(what, name, help)                               \
	{TCPTUNED_C_RCV_##what, name, RECEIVE, help},   \
	{                                                               \
		TCPTUNED_C_SND_##what, name, SEND, NULL \
	}
	BOTH_DIRECTIONS(ROUNDS, "tcptuned_rightsize_rounds_total",
			"Round trips measured by right-sizing."),
	BOTH_DIRECTIONS(GROWS, "tcptuned_rightsize_grows_total", "Windows made larger."),
	BOTH_DIRECTIONS(SHRINKS, "tcptuned_rightsize_shrinks_total", "Windows made smaller."),
	BOTH_DIRECTIONS(CAPS, "tcptuned_rightsize_caps_total",
			"Decisions that the largest window allowed held back."),
	BOTH_DIRECTIONS(TESTS, "tcptuned_rightsize_tests_total",
			"Smaller windows tried, to see whether a queue is the connection's own."),
	BOTH_DIRECTIONS(FAILED, "tcptuned_rightsize_failures_total",
			"Changes of a buffer or window that the kernel refused."),
	BOTH_DIRECTIONS(BUDGET, "tcptuned_budget_refusals_total",
			"Decisions that the memory budget, or TCP's memory as a whole, held back."),
	{TCPTUNED_C_MEMORY_SHORT, "tcptuned_memory_short_total", "",
	 "Decisions that were held back because TCP as a whole, or the connection's control group, "
	 "ran short of memory."},
	{TCPTUNED_C_BYTES_RECEIVED, "tcptuned_closed_connections_received_bytes_total", "",
	 "Bytes received by claimed connections that ended."},
	{TCPTUNED_C_BYTES_ACKED, "tcptuned_closed_connections_acked_bytes_total", "",
	 "Bytes sent and acknowledged on claimed connections that ended."},
	{TCPTUNED_C_SEGMENTS_SENT, "tcptuned_closed_connections_sent_segments_total", "",
	 "Segments sent by claimed connections that ended."},
	{TCPTUNED_C_RETRANSMITS, "tcptuned_closed_connections_retransmitted_segments_total", "",
	 "Segments retransmitted by claimed connections that ended."},
	{TCPTUNED_C_EVENTS_LOST, "tcptuned_events_lost_total", "",
	 "Events that nobody read fast enough, while somebody listened."},
	{TCPTUNED_C_PATH_LEARNED, "tcptuned_paths_learned_total", "result=\"stored\"",
	 "Connections whose measurements were added to what is known of a path."},
	{TCPTUNED_C_PATH_FAILED, "tcptuned_paths_learned_total", "result=\"failed\"", NULL},
	{TCPTUNED_C_PATH_SEEDS, "tcptuned_paths_seeds_total", "",
	 "Connections that began with what is known of their path."},
};

static void print_counters(struct tcptuned_buf *out, const struct tcptuned_totals *totals)
{
	struct family family = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		if (counters[i].help)
			family = (struct family){counters[i].name, COUNTER, counters[i].help,
						 false};
		tcptuned_sample(out, &family, counters[i].labels, totals->counter[counters[i].id],
				PLAIN);
	}
}

/* Buckets are shown from 2^first up to 2^last; what is smaller counts in the first. */
static const struct {
	enum tcptuned_histogram_id id;
	const char *name;
	enum unit unit;
	unsigned int first, last;
	const char *help;
} histograms[] = {
	{TCPTUNED_H_SRTT, "tcptuned_srtt_seconds", MICROSECONDS, 6, 24,
	 "Smoothed round-trip time, once per measured round trip of a sender."},
	{TCPTUNED_H_RCV_RTT, "tcptuned_receiver_rtt_seconds", MICROSECONDS, 6, 24,
	 "The receiver's own estimate of the round-trip time, pauses of its sender included, once "
	 "per measured round trip of a receiver that has one."},
	{TCPTUNED_H_MIN_RTT, "tcptuned_min_rtt_seconds", MICROSECONDS, 6, 24,
	 "Minimum round-trip time of a connection that has measured one, at its end."},
	{TCPTUNED_H_RCV_PER_RTT, "tcptuned_received_per_rtt_bytes", PLAIN, 10, 30,
	 "Bytes received per minimum round-trip time, once per measured round trip."},
	{TCPTUNED_H_RCV_WINDOW, "tcptuned_advertised_window_bytes", PLAIN, 10, 30,
	 "Window advertised to the peer, once per measured round trip of a receiver."},
	{TCPTUNED_H_CWND, "tcptuned_cwnd_segments", PLAIN, 0, 20,
	 "Congestion window, once per measured round trip of a sender."},
	{TCPTUNED_H_RETRANSMITS, "tcptuned_retransmitted_segments", PLAIN, 0, 20,
	 "Segments that a connection retransmitted, at its end."},
};

static void print_histogram(struct tcptuned_buf *out, size_t which,
			    const struct tcptuned_histogram *histogram)
{
	const char *name = histograms[which].name;
	enum unit unit = histograms[which].unit;
	struct family family = {name, "histogram", histograms[which].help, false};
	__u64 below = 0;
	unsigned int i;

	tcptuned_begin_family(out, &family);
	for (i = 0; i < TCPTUNED_BUCKETS; i++) {
		below += histogram->bucket[i];
		if (i < histograms[which].first || i > histograms[which].last)
			continue;
		tcptuned_buf_printf(out, "%s_bucket{le=\"", name);
		tcptuned_print_value(out, 1ull << i, unit);
		tcptuned_buf_printf(out, "\"} %" PRIu64 "\n", (uint64_t)below);
	}
	/*
	 * The count is that of the buckets: histogram->count may be a step ahead of them,
	 * since other CPUs go on counting while they are read.
	 */
	tcptuned_buf_printf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum ", name,
			    (uint64_t)below, name);
	tcptuned_print_value(out, histogram->sum, unit);
	tcptuned_buf_printf(out, "\n%s_count %" PRIu64 "\n", name, (uint64_t)below);
}

static void print_totals(struct tcptuned_buf *out, const struct tcptuned_totals *totals)
{
	size_t i;

	print_counters(out, totals);
	for (i = 0; i < ARRAY_SIZE(histograms); i++)
		print_histogram(out, i, &totals->histogram[histograms[i].id]);
}

/* --- live connections, added up ---------------------------------------------------------- */

#define FLOWS_FIELD(field) offsetof(struct tcptuned_flows, field)

static const struct {
	const char *name;
	const char *labels;
	size_t offset;
	const char *help;
} sums[] = {
	{"tcptuned_connections_observed", "", FLOWS_FIELD(observed),
	 "Open connections about which decisions are made but nothing is changed."},
	{"tcptuned_connections_rightsized", RECEIVE, FLOWS_FIELD(rcv_taken),
	 "Open connections whose buffer tcptuned sizes."},
	{"tcptuned_connections_rightsized", SEND, FLOWS_FIELD(snd_taken), NULL},
	{"tcptuned_connections_overridden", "option=\"SO_RCVBUF\"",
	 FLOWS_FIELD(rcvbuf_requests),
	 "Open connections whose application's request for a fixed buffer is overridden; in a dry "
	 "run, counted only."},
	{"tcptuned_connections_overridden", "option=\"SO_SNDBUF\"",
	 FLOWS_FIELD(sndbuf_requests), NULL},
	{"tcptuned_buffer_limit_bytes", RECEIVE, FLOWS_FIELD(rcvbuf_bytes),
	 "Memory that the buffers of open connections may take, added up."},
	{"tcptuned_buffer_limit_bytes", SEND, FLOWS_FIELD(sndbuf_bytes), NULL},
	{"tcptuned_buffer_used_bytes", RECEIVE, FLOWS_FIELD(rmem_bytes),
	 "Memory that data in the buffers of open connections takes, added up."},
	{"tcptuned_buffer_used_bytes", SEND, FLOWS_FIELD(wmem_bytes), NULL},
	{"tcptuned_connections_advertised_window_bytes", "", FLOWS_FIELD(rcv_wnd_bytes),
	 "Windows advertised by open connections, added up."},
};

static void print_sums(struct tcptuned_buf *out, const struct tcptuned_flows *flows)
{
	struct family family = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sums); i++) {
		if (sums[i].help)
			family = (struct family){sums[i].name, GAUGE, sums[i].help, false};
		tcptuned_sample(out, &family, sums[i].labels,
				*(const __u64 *)((const char *)flows + sums[i].offset), PLAIN);
	}
}

/* Connections of one pair of labels. */
struct labelled_group {
	char policy[TCPTUNED_POLICY_NAME_MAX];
	const char *congestion_control;
	__u64 flows;
};

static int by_labels(const void *a, const void *b)
{
	const struct labelled_group *left = a, *right = b;
	int order = strcmp(left->policy, right->policy);

	return order ? order : strcmp(left->congestion_control, right->congestion_control);
}

/*
 * The policies of a reload have new keys and mostly the names that they had: groups that have
 * the same labels are one. Returns how many there are, in their order.
 */
static __u32 label_groups(const struct tcptuned_snapshot *snap, struct labelled_group *ret)
{
	const struct tcptuned_flow_group *groups = snap->flows.groups;
	__u32 i, len = snap->flows.groups_len, kept = 0;

	for (i = 0; i < len; i++) {
		snprintf(ret[i].policy, sizeof(ret[i].policy), "%s",
			 policy_name(snap, groups[i].policy));
		ret[i].congestion_control = groups[i].congestion_control;
		ret[i].flows = groups[i].flows;
	}
	qsort(ret, len, sizeof(*ret), by_labels);
	for (i = 0; i < len; i++) {
		if (kept && !by_labels(&ret[kept - 1], &ret[i]))
			ret[kept - 1].flows += ret[i].flows;
		else
			ret[kept++] = ret[i];
	}
	return kept;
}

static void print_groups(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			 const struct tcptuned_snapshot *snap)
{
	const struct tcptuned_flows *flows = &snap->flows;
	struct family family = {"tcptuned_connections", GAUGE,
				"Open connections that a policy has; other: those of more pairs of "
				"policy and congestion control than are told apart.", false};
	struct labelled_group *groups = calloc(flows->groups_len + 1, sizeof(*groups));
	__u32 i, len;

	if (!groups) {
		out->error = -ENOMEM;
		return;
	}
	len = label_groups(snap, groups);
	for (i = 0; i < len; i++) {
		tcptuned_label_begin(labels);
		tcptuned_label(labels, "policy", groups[i].policy);
		tcptuned_label(labels, "congestion_control", groups[i].congestion_control);
		tcptuned_sample(out, &family, labels->data, groups[i].flows, PLAIN);
	}
	free(groups);
	if (flows->groups_other || !flows->groups_len)
		tcptuned_sample(out, &family, "policy=\"other\",congestion_control=\"other\"",
				flows->groups_other, PLAIN);
}

static void print_by_name(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			  struct family *family, const char *direction, const __u64 *counts,
			  unsigned int len, const char *(*name)(unsigned int),
			  const char *label_name)
{
	unsigned int i;

	for (i = 0; i < len; i++) {
		tcptuned_label_begin(labels);
		if (direction)
			tcptuned_label(labels, "direction", direction);
		tcptuned_label(labels, label_name, name(i));
		tcptuned_sample(out, family, labels->data, counts[i], PLAIN);
	}
}

static void print_aggregates(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			     const struct tcptuned_snapshot *snap)
{
	const struct tcptuned_flows *flows = &snap->flows;
	struct family limits = {"tcptuned_connections_limited", GAUGE,
				"Open connections by what limits their sending.", false};
	struct family reasons = {"tcptuned_connections_rightsize_reason", GAUGE,
				 "Open connections by why their window is what it is.", false};

	print_groups(out, labels, snap);
	print_sums(out, flows);
	print_by_name(out, labels, &limits, NULL, flows->limited, TCPTUNED_LIMITS,
		      tcptuned_limit_name, "limit");
	print_by_name(out, labels, &reasons, "receive", flows->rcv_reason, RIGHTSIZE_REASONS,
		      tcptuned_reason_name, "reason");
	print_by_name(out, labels, &reasons, "send", flows->snd_reason, RIGHTSIZE_REASONS,
		      tcptuned_reason_name, "reason");
}

/* --- the memory budget, and the path memory ---------------------------------------------- */

static void print_budget(struct tcptuned_buf *out, const struct budget *budget)
{
	bool scarce = budget_is_scarce(budget);

	tcptuned_single(out, "tcptuned_budget_bytes", GAUGE, budget->total, PLAIN,
			"Memory that buffers may grow by, all together, beyond what the kernel "
			"alone would give them.");
	tcptuned_single(out, "tcptuned_budget_granted_bytes", GAUGE, budget->granted, PLAIN,
			"What they have grown by; more than all of it for a while after it was "
			"made smaller.");
	tcptuned_single(out, "tcptuned_budget_wanted_bytes", GAUGE, budget->wanted, PLAIN,
			"What they could use, each of them up to a quarter of it.");
	tcptuned_single(out, "tcptuned_budget_scarce", GAUGE, scarce, PLAIN,
			"Whether they could use more than there is.");
	if (scarce)
		tcptuned_single(out, "tcptuned_budget_share_bytes", GAUGE,
				MIN(budget_find_level(budget, budget->total),
				    budget->total / BUDGET_PART), PLAIN,
				"The most that one connection gets of it in one direction, while "
				"it is scarce.");
}

static void print_paths(struct tcptuned_buf *out, const struct tcptuned_path_stats *paths)
{
	if (paths->ok)
		tcptuned_single(out, "tcptuned_paths_known", GAUGE, paths->known, PLAIN,
				"Destination prefixes about which something is known; many are "
				"counted once a minute.");
	tcptuned_single(out, "tcptuned_paths_expired_total", COUNTER, paths->expired, PLAIN,
			"Prefixes forgotten since no connection added to them for too long.");
	tcptuned_single(out, "tcptuned_paths_database_errors_total", COUNTER,
			paths->database_errors, PLAIN,
			"Times that the database of paths could not be read or written.");
}

/* --- what tcptuned itself costs ---------------------------------------------------------- */

static void print_programs(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			   const struct tcptuned_bpfstats *bpf)
{
	struct family runs = {"tcptuned_program_runs_total", COUNTER,
			      "Runs of a BPF program while statistics were on.", false};
	struct family time = {"tcptuned_program_run_seconds_total", COUNTER,
			      "Time that these runs took.", false};
	struct family insns = {"tcptuned_program_verified_instructions", GAUGE,
			       "Instructions that the verifier walked.", false};
	/* One family after the other, as the format wants it. */
	struct family *families[] = {&runs, &time, &insns};
	unsigned int f, i;

	for (f = 0; f < ARRAY_SIZE(families); f++) {
		if (!bpf->enabled && f < 2)
			continue;
		for (i = 0; i < bpf->programs_len; i++) {
			const struct tcptuned_program_stats *program = &bpf->programs[i];
			const __u64 values[] = {program->runs, program->run_time_ns,
						program->verified_insns};

			tcptuned_label_begin(labels);
			tcptuned_label(labels, "program", program->name);
			tcptuned_sample(out, families[f], labels->data, values[f],
					families[f] == &time ? NANOSECONDS : PLAIN);
		}
	}
}

static void print_cost(struct tcptuned_buf *out, struct tcptuned_buf *labels,
		       const struct tcptuned_snapshot *snap)
{
	tcptuned_single(out, "tcptuned_program_statistics_enabled", GAUGE, snap->bpf.enabled, PLAIN,
			"Whether the kernel counts runs and run time of BPF programs: "
			"kernel.bpf_stats_enabled.");
	print_programs(out, labels, &snap->bpf);
	tcptuned_single(out, "tcptuned_connection_records_bytes", GAUGE,
			snap->flows.records * snap->bpf.storage_bytes, PLAIN,
			"Memory of the records of open connections: their number times the size "
			"that the kernel allocates.");
	tcptuned_single(out, "process_resident_memory_bytes", GAUGE, snap->process.resident_bytes,
			PLAIN, "Resident memory of the daemon.");
	tcptuned_single(out, "process_cpu_seconds_total", COUNTER, snap->process.cpu_ns,
			NANOSECONDS, "CPU time of the daemon, user and system.");
	tcptuned_single(out, "process_start_time_seconds", GAUGE, snap->start_time_us,
			MICROSECONDS, "When the daemon started, since the epoch.");
	tcptuned_single(out, "tcptuned_scrapes_total", COUNTER, snap->scrapes, PLAIN,
			"Answers for Prometheus that were made before this one; each is kept for "
			"a second.");
	tcptuned_single(out, "tcptuned_scrape_duration_seconds_total", COUNTER, snap->scrapes_ns,
			NANOSECONDS, "Time that it took to make these.");
}

/* --- the largest connections, one by one ------------------------------------------------- */

#define RECORD_FIELD(field)                           \
	offsetof(struct tcptuned_flow_record, field), \
		sizeof(((struct tcptuned_flow_record *)0)->field)

/* What a dashboard draws; the rest is for tcptunectl. Neighbours of one name are one family. */
static const struct {
	const char *name;
	const char *type;
	enum unit unit;
	const char *more; /* labels besides those of the connection */
	size_t offset, size;
	bool known; /* 0 is a value, too; otherwise it means that there is none yet */
	const char *help;
} flow_fields[] = {
	{"tcptuned_flow_cwnd_segments", GAUGE, PLAIN, "", RECORD_FIELD(cwnd), true,
	 "Congestion window."},
	{"tcptuned_flow_peer_window_bytes", GAUGE, PLAIN, "", RECORD_FIELD(snd_wnd), true,
	 "Window that the peer advertises."},
	{"tcptuned_flow_advertised_window_bytes", GAUGE, PLAIN, "", RECORD_FIELD(rcv_wnd), true,
	 "Window advertised to the peer."},
	{"tcptuned_flow_rightsize_window_bytes", GAUGE, PLAIN, RECEIVE,
	 RECORD_FIELD(flow.rcv.window), true,
	 "Limit that right-sizing set to the window; 0: none, the kernel decides."},
	{"tcptuned_flow_rightsize_window_bytes", GAUGE, PLAIN, SEND,
	 RECORD_FIELD(flow.snd.window), true, NULL},
	{"tcptuned_flow_buffer_limit_bytes", GAUGE, PLAIN, RECEIVE, RECORD_FIELD(rcvbuf), true,
	 "Memory that the buffer may take (sk_rcvbuf, sk_sndbuf)."},
	{"tcptuned_flow_buffer_limit_bytes", GAUGE, PLAIN, SEND, RECORD_FIELD(sndbuf), true, NULL},
	{"tcptuned_flow_buffer_used_bytes", GAUGE, PLAIN, RECEIVE, RECORD_FIELD(rmem_alloc), true,
	 "Memory that the data in the buffer takes."},
	{"tcptuned_flow_buffer_used_bytes", GAUGE, PLAIN, SEND, RECORD_FIELD(wmem_queued), true,
	 NULL},
	{"tcptuned_flow_srtt_seconds", GAUGE, MICROSECONDS, "", RECORD_FIELD(srtt_us), false,
	 "Smoothed round-trip time."},
	{"tcptuned_flow_min_rtt_seconds", GAUGE, MICROSECONDS, "", RECORD_FIELD(min_rtt_us), false,
	 "Minimum round-trip time, as the kernel has it."},
	{"tcptuned_flow_delivery_rate_bytes_per_second", GAUGE, PLAIN, "",
	 RECORD_FIELD(delivery_rate_Bps), false,
	 "Rate at which data was last delivered to the peer."},
	{"tcptuned_flow_received_bytes_total", COUNTER, PLAIN, "", RECORD_FIELD(bytes_received),
	 true, "Bytes received."},
	{"tcptuned_flow_acked_bytes_total", COUNTER, PLAIN, "", RECORD_FIELD(bytes_acked), true,
	 "Bytes sent and acknowledged."},
	{"tcptuned_flow_retransmitted_segments_total", COUNTER, PLAIN, "",
	 RECORD_FIELD(retransmits), true, "Segments retransmitted."},
};

/* Only what is the same for all of its life: a series with other labels is another one. */
static const char *label_flow(struct tcptuned_buf *labels, const struct tcptuned_flow_record *record)
{
	char address[TCPTUNED_ADDRESS_MAX];

	tcptuned_label_begin(labels);
	tcptuned_flow_address(record, 0, address);
	tcptuned_label(labels, "local", address);
	tcptuned_flow_address(record, 1, address);
	tcptuned_label(labels, "remote", address);
	return labels->data;
}

static void print_flow_fields(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			      const struct tcptuned_flows *flows)
{
	struct family family = {};
	size_t i;
	__u32 f;

	for (i = 0; i < ARRAY_SIZE(flow_fields); i++) {
		if (flow_fields[i].help)
			family = (struct family){flow_fields[i].name, flow_fields[i].type,
						 flow_fields[i].help, false};
		for (f = 0; f < flows->top_len; f++) {
			const char *field = (const char *)&flows->top[f] + flow_fields[i].offset;
			__u64 value = flow_fields[i].size == sizeof(__u64) ? *(const __u64 *)field
									   : *(const __u32 *)field;

			if (value || flow_fields[i].known)
				tcptuned_sample_more(out, &family,
						     label_flow(labels, &flows->top[f]),
						     flow_fields[i].more, value,
						     flow_fields[i].unit);
		}
	}
}

static void print_flows(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			const struct tcptuned_snapshot *snap)
{
	struct family info = {"tcptuned_flow_info", GAUGE,
			      "Policy and congestion control of a connection.", false};
	struct family limited = {"tcptuned_flow_limited", GAUGE,
				 "What limits sending: 1 for the one that holds.", false};
	const struct tcptuned_flow_record *record, *end = snap->flows.top + snap->flows.top_len;

	for (record = snap->flows.top; record < end; record++) {
		label_flow(labels, record);
		tcptuned_label(labels, "policy", policy_name(snap, record->flow.policy));
		tcptuned_label(labels, "congestion_control", record->congestion_control);
		tcptuned_sample(out, &info, labels->data, 1, PLAIN);
	}
	print_flow_fields(out, labels, &snap->flows);
	for (record = snap->flows.top; record < end; record++)
		tcptuned_print_states(out, &limited, label_flow(labels, record), "", "limit",
				      record->limit, TCPTUNED_LIMITS, tcptuned_limit_name);
}
/* --- what is configured ------------------------------------------------------------------ */

static void label_policy(struct tcptuned_buf *labels, const struct tcptuned_snapshot *snap,
			 unsigned int which)
{
	tcptuned_label_begin(labels);
	tcptuned_label(labels, "policy", policy_name(snap, snap->policies[which].key));
}

static void print_policies(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			   const struct tcptuned_snapshot *snap)
{
	struct family info = {"tcptuned_policy_info", GAUGE,
			      "The congestion control that a policy gives; empty: none. Of the "
			      "first 256 policies.",
			      false};
	struct family mode = {"tcptuned_policy_mode", GAUGE,
			      "What a policy does: 1 for the one that holds.", false};
	struct family window = {"tcptuned_policy_window_max_bytes", GAUGE,
				"Largest window that right-sizing may decide on.", false};
	unsigned int p;

	for (p = 0; p < snap->policies_len; p++) {
		label_policy(labels, snap, p);
		tcptuned_label(labels, "congestion_control",
			       snap->policies[p].policy.congestion_control);
		tcptuned_sample(out, &info, labels->data, 1, PLAIN);
	}
	for (p = 0; p < snap->policies_len; p++) {
		label_policy(labels, snap, p);
		tcptuned_print_states(out, &mode, labels->data, "", "mode",
				      snap->policies[p].policy.mode, TCPTUNED_TUNE + 1,
				      tcptuned_mode_name);
	}
	for (p = 0; p < snap->policies_len; p++) {
		label_policy(labels, snap, p);
		tcptuned_sample_more(out, &window, labels->data, RECEIVE,
				     snap->policies[p].policy.rcv_window_max, PLAIN);
		tcptuned_sample_more(out, &window, labels->data, SEND,
				     snap->policies[p].policy.snd_window_max, PLAIN);
	}
}

/* --- everything -------------------------------------------------------------------------- */

static void print_state(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			const struct tcptuned_snapshot *snap)
{
	struct family build = {"tcptuned_build_info", GAUGE,
			       "Version of tcptuned, and the kernel that it runs on.", false};
	struct family reloads = {"tcptuned_config_reloads_total", COUNTER,
				 "Reloads of the configuration: taken, or rejected, the one before "
				 "staying in force.",
				 false};
	struct family namespaces = {"tcptuned_adoption_namespaces", GAUGE,
				    "Network namespaces searched for open connections at the "
				    "start, those that could not be searched to the end, and names "
				    "whose namespace had gone before its turn came.",
				    false};
	struct family success = {"tcptuned_collection_success", GAUGE,
				 "Whether this could be read from the kernel.", false};

	tcptuned_label_begin(labels);
	tcptuned_label(labels, "version", snap->version);
	tcptuned_label(labels, "kernel", snap->kernel_release);
	tcptuned_sample(out, &build, labels->data, 1, PLAIN);
	tcptuned_single(out, "tcptuned_bitcp_registered", GAUGE, snap->bitcp, PLAIN,
			"Whether the congestion control bitcp can be chosen on this host.");
	tcptuned_sample(out, &reloads, "result=\"ok\"", snap->reloads[true], PLAIN);
	tcptuned_sample(out, &reloads, "result=\"rejected\"", snap->reloads[false], PLAIN);
	tcptuned_single(out, "tcptuned_config_last_reload_successful", GAUGE, snap->config_in_force,
			PLAIN,
			"Whether the last reload was taken, or there was none, and what the "
			"configuration says is in force.");
	tcptuned_single(out, "tcptuned_taken_over", GAUGE, snap->taken_over, PLAIN,
			"Whether the programs were pinned by a daemon before this one.");
	tcptuned_single(out, "tcptuned_policy_cgroups_missing", GAUGE, snap->cgroups_missing, PLAIN,
			"Policies without connections: their control group is not there, or not to "
			"be seen.");
	tcptuned_sample(out, &namespaces, "result=\"visited\"", snap->adoption.namespaces, PLAIN);
	tcptuned_sample(out, &namespaces, "result=\"failed\"", snap->adoption.namespaces_failed,
			PLAIN);
	tcptuned_sample(out, &namespaces, "result=\"vanished\"", snap->adoption.namespaces_vanished,
			PLAIN);
	tcptuned_single(out, "tcptuned_adoption_duration_seconds", GAUGE, snap->adoption.ns,
			NANOSECONDS,
			"How long it took to adopt the connections that were open before the "
			"start.");
	tcptuned_sample(out, &success, "collector=\"totals\"", snap->totals_ok, PLAIN);
	tcptuned_sample(out, &success, "collector=\"flows\"", snap->flows_ok, PLAIN);
	tcptuned_sample(out, &success, "collector=\"budget\"", snap->budget_ok, PLAIN);
}

void tcptuned_metrics_format(struct tcptuned_buf *out, const struct tcptuned_snapshot *snap)
{
	struct tcptuned_buf labels;

	tcptuned_buf_init(&labels, out->limit);
	print_state(out, &labels, snap);
	if (snap->totals_ok)
		print_totals(out, &snap->totals);
	if (snap->budget_ok)
		print_budget(out, &snap->budget);
	print_paths(out, &snap->paths);
	if (snap->flows_ok) {
		print_aggregates(out, &labels, snap);
		print_flows(out, &labels, snap);
	}
	print_policies(out, &labels, snap);
	print_cost(out, &labels, snap);
	if (labels.error)
		out->error = labels.error;
	tcptuned_buf_free(&labels);
}
