// SPDX-License-Identifier: GPL-2.0-only
/* Of all connections together, and of tcptuned itself. The tables say what there is. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "array.h"
#include "metrics_parts.h"

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
	{TCPTUNED_C_LISTENERS_RAISED, "tcptuned_listeners_adopted_total", "",
	 "Listeners with a fixed SO_RCVBUF, open before the start, that were given more room for "
	 "what they accept."},
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
	{TCPTUNED_C_RCV_##what, name, "direction=\"receive\"", help},   \
	{                                                               \
		TCPTUNED_C_SND_##what, name, "direction=\"send\"", NULL \
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

void tcptuned_metrics_totals(struct tcptuned_buf *out, const struct tcptuned_totals *totals)
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
	{"tcptuned_connections_rightsized", "direction=\"receive\"", FLOWS_FIELD(rcv_taken),
	 "Open connections whose buffer tcptuned sizes."},
	{"tcptuned_connections_rightsized", "direction=\"send\"", FLOWS_FIELD(snd_taken), NULL},
	{"tcptuned_connections_overridden", "option=\"SO_RCVBUF\"",
	 FLOWS_FIELD(rcvbuf_requests),
	 "Open connections whose application's request for a fixed buffer is overridden; in a dry "
	 "run, counted only."},
	{"tcptuned_connections_overridden", "option=\"SO_SNDBUF\"",
	 FLOWS_FIELD(sndbuf_requests), NULL},
	{"tcptuned_buffer_limit_bytes", "direction=\"receive\"", FLOWS_FIELD(rcvbuf_bytes),
	 "Memory that the buffers of open connections may take, added up."},
	{"tcptuned_buffer_limit_bytes", "direction=\"send\"", FLOWS_FIELD(sndbuf_bytes), NULL},
	{"tcptuned_buffer_used_bytes", "direction=\"receive\"", FLOWS_FIELD(rmem_bytes),
	 "Memory that data in the buffers of open connections takes, added up."},
	{"tcptuned_buffer_used_bytes", "direction=\"send\"", FLOWS_FIELD(wmem_bytes), NULL},
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
			 tcptuned_metrics_policy_name(snap, groups[i].policy));
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

void tcptuned_metrics_aggregates(struct tcptuned_buf *out, struct tcptuned_buf *labels,
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
	tcptuned_single(out, "tcptuned_flows_shown", GAUGE, flows->top_len, PLAIN,
			"Open connections that this scrape shows one by one, the largest ones.");
	tcptuned_single(out, "tcptuned_flows_left_out", GAUGE, tcptuned_flows_left_out(flows),
			PLAIN,
			"Open connections that this scrape only adds up.");
}

/* --- the memory budget, and the path memory ---------------------------------------------- */

void tcptuned_metrics_budget(struct tcptuned_buf *out, const struct budget *budget)
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

void tcptuned_metrics_paths(struct tcptuned_buf *out, const struct tcptuned_path_stats *paths)
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
	struct family code = {"tcptuned_program_code_bytes", GAUGE,
			      "Size of the machine code of a BPF program.", false};
	/* One family after the other, as the format wants it. */
	struct family *families[] = {&runs, &time, &insns, &code};
	unsigned int f, i;

	for (f = 0; f < ARRAY_SIZE(families); f++) {
		if (!bpf->enabled && f < 2)
			continue;
		for (i = 0; i < bpf->programs_len; i++) {
			const struct tcptuned_program_stats *program = &bpf->programs[i];
			const __u64 values[] = {program->runs, program->run_time_ns,
						program->verified_insns, program->jited_bytes};

			tcptuned_label_begin(labels);
			tcptuned_label(labels, "program", program->name);
			tcptuned_sample(out, families[f], labels->data, values[f],
					families[f] == &time ? NANOSECONDS : PLAIN);
		}
	}
}

static void print_maps(struct tcptuned_buf *out, struct tcptuned_buf *labels,
		       const struct tcptuned_bpfstats *bpf)
{
	struct family memory = {"tcptuned_map_memory_bytes", GAUGE,
				"Memory of a BPF map, by the kernel's account; records of "
				"connections are not in it.",
				false};
	unsigned int i;

	for (i = 0; i < bpf->maps_len; i++) {
		tcptuned_label_begin(labels);
		tcptuned_label(labels, "map", bpf->maps[i].name);
		tcptuned_sample(out, &memory, labels->data, bpf->maps[i].memory_bytes, PLAIN);
	}
}

void tcptuned_metrics_cost(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			   const struct tcptuned_snapshot *snap)
{
	tcptuned_single(out, "tcptuned_program_statistics_enabled", GAUGE, snap->bpf.enabled, PLAIN,
			"Whether the kernel counts runs and run time of BPF programs: "
			"kernel.bpf_stats_enabled.");
	print_programs(out, labels, &snap->bpf);
	print_maps(out, labels, &snap->bpf);
	tcptuned_single(out, "tcptuned_connection_records_bytes", GAUGE,
			snap->flows.records * snap->bpf.storage_bytes, PLAIN,
			"Memory of the records of open connections: their number times the size "
			"that the kernel allocates.");
	tcptuned_single(out, "tcptuned_daemon_resident_memory_bytes", GAUGE,
			snap->process.resident_bytes, PLAIN, "Resident memory of the daemon.");
	tcptuned_single(out, "tcptuned_daemon_cpu_seconds_total", COUNTER, snap->process.cpu_ns,
			NANOSECONDS, "CPU time of the daemon, user and system.");
	tcptuned_single(out, "tcptuned_scrapes_total", COUNTER, snap->scrapes, PLAIN,
			"Scrapes answered before this one.");
	tcptuned_single(out, "tcptuned_scrape_duration_seconds_total", COUNTER, snap->scrapes_ns,
			NANOSECONDS, "Time that these scrapes took, reading and writing.");
	if (snap->last_scrape_ns)
		tcptuned_single(out, "tcptuned_last_scrape_duration_seconds", GAUGE,
				snap->last_scrape_ns, NANOSECONDS,
				"Time that the scrape before took.");
}
