// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prometheus text format, version 0.0.4. Names follow the practice of Prometheus: base units,
 * "_total" for counters. The tables say what there is; the functions below only walk them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "metrics.h"

#define COUNTER "counter"
#define GAUGE	"gauge"

enum unit {
	PLAIN = 0,    /* printed as it is: bytes, segments, counts */
	MICROSECONDS, /* printed in seconds */
	NANOSECONDS,
	MILLIONTHS,
};

/* Written out with its first sample only: a family without samples does not appear. */
struct family {
	const char *name;
	const char *type;
	const char *help;
	bool begun;
};

/* --- samples ----------------------------------------------------------------------------- */

static void print_value(struct tcptuned_buf *out, __u64 value, enum unit unit)
{
	switch (unit) {
	case PLAIN:
		tcptuned_buf_printf(out, "%" PRIu64, (uint64_t)value);
		break;
	case MICROSECONDS:
	case MILLIONTHS:
		tcptuned_buf_printf(out, "%" PRIu64 ".%06u", (uint64_t)(value / 1000000),
				    (unsigned int)(value % 1000000));
		break;
	case NANOSECONDS:
		tcptuned_buf_printf(out, "%" PRIu64 ".%09u", (uint64_t)(value / 1000000000),
				    (unsigned int)(value % 1000000000));
		break;
	}
}

static void begin_family(struct tcptuned_buf *out, struct family *family)
{
	if (family->begun)
		return;
	tcptuned_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help,
			    family->name, family->type);
	family->begun = true;
}

/*
 * name{labels,more} value. @labels, @more: "" or ready-made 'name="value"', commas between;
 * @more only after @labels.
 */
static void sample_more(struct tcptuned_buf *out, struct family *family, const char *labels,
			const char *more, __u64 value, enum unit unit)
{
	begin_family(out, family);
	tcptuned_buf_puts(out, family->name);
	if (labels && *labels) {
		tcptuned_buf_add(out, "{", 1);
		tcptuned_buf_puts(out, labels);
		if (*more)
			tcptuned_buf_add(out, ",", 1);
		tcptuned_buf_puts(out, more);
		tcptuned_buf_add(out, "}", 1);
	}
	tcptuned_buf_add(out, " ", 1);
	print_value(out, value, unit);
	tcptuned_buf_add(out, "\n", 1);
}

static void sample(struct tcptuned_buf *out, struct family *family, const char *labels,
		   __u64 value, enum unit unit)
{
	sample_more(out, family, labels, "", value, unit);
}

/* A family of one sample without labels. */
static void single(struct tcptuned_buf *out, const char *name, const char *type, __u64 value,
		   enum unit unit, const char *help)
{
	struct family family = {name, type, help, false};

	sample(out, &family, "", value, unit);
}

void tcptuned_metrics_label_value(struct tcptuned_buf *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '\\':
		case '"':
			tcptuned_buf_add(out, "\\", 1);
			tcptuned_buf_add(out, text, 1);
			break;
		case '\n':
			tcptuned_buf_add(out, "\\n", 2);
			break;
		default:
			tcptuned_buf_add(out, text, 1);
		}
	}
}

/* Labels are put together in a buffer of their own, which this empties. */
static void label_begin(struct tcptuned_buf *labels)
{
	labels->len = 0;
	tcptuned_buf_add(labels, "", 0);
}

/* Add one label to the set that is being put together. */
static void label(struct tcptuned_buf *labels, const char *name, const char *value)
{
	if (labels->len && labels->data[labels->len - 1] != '\0')
		tcptuned_buf_add(labels, ",", 1);
	tcptuned_buf_puts(labels, name);
	tcptuned_buf_add(labels, "=\"", 2);
	tcptuned_metrics_label_value(labels, value);
	tcptuned_buf_add(labels, "\"", 1);
}

static const char *policy_name(const struct tcptuned_snapshot *snap, __u32 key)
{
	const char *name =
		snap->policy_name ? snap->policy_name(snap->policy_ctx, key) : NULL;

	return name ? name : TCPTUNED_POLICY_GONE(key);
}

static void label_policy(struct tcptuned_buf *labels, const struct tcptuned_snapshot *snap,
			 __u32 key)
{
	label(labels, "policy", policy_name(snap, key));
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
	 "Requests of applications for a fixed buffer that were not obeyed, or would not have been "
	 "but for a dry run."},
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
	BOTH_DIRECTIONS(DRAINS, "tcptuned_rightsize_drains_total",
			"Windows held small for a while to measure the minimum RTT again."),
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
	{TCPTUNED_C_PATH_SEEDS, "tcptuned_paths_seeds_total", "result=\"given\"",
	 "Connections to a known path: they began with what is known, or would have, but for a "
	 "dry run."},
	{TCPTUNED_C_PATH_SEEDS_WITHHELD, "tcptuned_paths_seeds_total", "result=\"withheld\"",
	 NULL},
};

static void print_counters(struct tcptuned_buf *out, const struct tcptuned_totals *totals)
{
	struct family family = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		if (counters[i].help)
			family = (struct family){counters[i].name, COUNTER, counters[i].help,
						 false};
		sample(out, &family, counters[i].labels, totals->counter[counters[i].id],
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

	begin_family(out, &family);
	for (i = 0; i < TCPTUNED_BUCKETS; i++) {
		below += histogram->bucket[i];
		if (i < histograms[which].first || i > histograms[which].last)
			continue;
		tcptuned_buf_printf(out, "%s_bucket{le=\"", name);
		print_value(out, 1ull << i, unit);
		tcptuned_buf_printf(out, "\"} %" PRIu64 "\n", (uint64_t)below);
	}
	/*
	 * The count is that of the buckets: histogram->count may be a step ahead of them,
	 * since other CPUs go on counting while they are read.
	 */
	tcptuned_buf_printf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum ", name,
			    (uint64_t)below, name);
	print_value(out, histogram->sum, unit);
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
	{"tcptuned_connections_rightsized", "direction=\"receive\"", FLOWS_FIELD(rcv_taken),
	 "Open connections whose buffer tcptuned sizes."},
	{"tcptuned_connections_rightsized", "direction=\"send\"", FLOWS_FIELD(snd_taken), NULL},
	{"tcptuned_connections_overridden", "option=\"SO_RCVBUF\"",
	 FLOWS_FIELD(rcvbuf_requests),
	 "Open connections whose application's request for a fixed buffer is not obeyed, or would "
	 "not be but for a dry run."},
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
		sample(out, &family, sums[i].labels,
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
		label_begin(labels);
		label(labels, "policy", groups[i].policy);
		label(labels, "congestion_control", groups[i].congestion_control);
		sample(out, &family, labels->data, groups[i].flows, PLAIN);
	}
	free(groups);
	if (flows->groups_other || !flows->groups_len)
		sample(out, &family, "policy=\"other\",congestion_control=\"other\"",
		       flows->groups_other, PLAIN);
}

static void print_by_name(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			  struct family *family, const char *direction, const __u64 *counts,
			  unsigned int len, const char *(*name)(unsigned int),
			  const char *label_name)
{
	unsigned int i;

	for (i = 0; i < len; i++) {
		label_begin(labels);
		if (direction)
			label(labels, "direction", direction);
		label(labels, label_name, name(i));
		sample(out, family, labels->data, counts[i], PLAIN);
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
	single(out, "tcptuned_flows_shown", GAUGE, flows->top_len, PLAIN,
	       "Open connections that this scrape shows one by one, the largest ones.");
	single(out, "tcptuned_flows_left_out", GAUGE, tcptuned_flows_left_out(flows), PLAIN,
	       "Open connections that this scrape only adds up.");
}

/* --- the largest connections, one by one ------------------------------------------------- */

#define RECORD_FIELD(field)                           \
	offsetof(struct tcptuned_flow_record, field), \
		sizeof(((struct tcptuned_flow_record *)0)->field)
#define ALWAYS UINT64_MAX

static const struct {
	const char *name;
	const char *type;
	enum unit unit;
	size_t offset;
	size_t size;
	__u64 none; /* this value means that there is none */
	__u32 flag; /* shown only with it, if not 0 */
	const char *help;
} flow_fields[] = {
	{"tcptuned_flow_cwnd_segments", GAUGE, PLAIN, RECORD_FIELD(cwnd), ALWAYS, 0,
	 "Congestion window."},
	{"tcptuned_flow_ssthresh_segments", GAUGE, PLAIN, RECORD_FIELD(ssthresh),
	 TCPTUNED_SSTHRESH_NONE, 0, "Slow start threshold, once there is one."},
	{"tcptuned_flow_mss_bytes", GAUGE, PLAIN, RECORD_FIELD(mss), ALWAYS, 0,
	 "Size of a full segment sent."},
	{"tcptuned_flow_flight_bytes", GAUGE, PLAIN, RECORD_FIELD(flight), ALWAYS, 0,
	 "Bytes sent and not yet acknowledged."},
	{"tcptuned_flow_send_window_bytes", GAUGE, PLAIN, RECORD_FIELD(snd_wnd), ALWAYS, 0,
	 "Window that the peer advertises."},
	{"tcptuned_flow_advertised_window_bytes", GAUGE, PLAIN, RECORD_FIELD(rcv_wnd), ALWAYS,
	 0, "Window advertised to the peer."},
	{"tcptuned_flow_window_clamp_bytes", GAUGE, PLAIN, RECORD_FIELD(window_clamp), ALWAYS,
	 0, "Largest window that may be advertised."},
	{"tcptuned_flow_receive_buffer_bytes", GAUGE, PLAIN, RECORD_FIELD(rcvbuf), ALWAYS, 0,
	 "Memory that the receive buffer may take (sk_rcvbuf)."},
	{"tcptuned_flow_receive_buffer_used_bytes", GAUGE, PLAIN, RECORD_FIELD(rmem_alloc),
	 ALWAYS, 0, "Memory that received data takes."},
	{"tcptuned_flow_send_buffer_bytes", GAUGE, PLAIN, RECORD_FIELD(sndbuf), ALWAYS, 0,
	 "Memory that the send buffer may take (sk_sndbuf)."},
	{"tcptuned_flow_send_buffer_used_bytes", GAUGE, PLAIN, RECORD_FIELD(wmem_queued),
	 ALWAYS, 0, "Memory that data to send takes."},
	{"tcptuned_flow_requested_receive_buffer_bytes", GAUGE, PLAIN,
	 RECORD_FIELD(flow.req_rcvbuf), ALWAYS, TCPTUNED_F_RCVBUF_REQ,
	 "SO_RCVBUF that the application asked for and did not get."},
	{"tcptuned_flow_requested_send_buffer_bytes", GAUGE, PLAIN,
	 RECORD_FIELD(flow.req_sndbuf), ALWAYS, TCPTUNED_F_SNDBUF_REQ,
	 "SO_SNDBUF that the application asked for and did not get."},
	{"tcptuned_flow_srtt_seconds", GAUGE, MICROSECONDS, RECORD_FIELD(srtt_us), 0, 0,
	 "Smoothed round-trip time."},
	{"tcptuned_flow_min_rtt_seconds", GAUGE, MICROSECONDS, RECORD_FIELD(min_rtt_us), 0, 0,
	 "Minimum round-trip time, as the kernel has it."},
	{"tcptuned_flow_receiver_rtt_seconds", GAUGE, MICROSECONDS, RECORD_FIELD(rcv_rtt_us), 0,
	 0, "Round-trip time as estimated by the receiver of data."},
	{"tcptuned_flow_delivery_rate_bytes_per_second", GAUGE, PLAIN,
	 RECORD_FIELD(delivery_rate_Bps), 0, 0,
	 "Rate at which data was last delivered to the peer."},
	{"tcptuned_flow_received_bytes_total", COUNTER, PLAIN, RECORD_FIELD(bytes_received),
	 ALWAYS, 0, "Bytes received."},
	{"tcptuned_flow_acked_bytes_total", COUNTER, PLAIN, RECORD_FIELD(bytes_acked), ALWAYS,
	 0, "Bytes sent and acknowledged."},
	{"tcptuned_flow_retransmitted_segments_total", COUNTER, PLAIN,
	 RECORD_FIELD(retransmits), ALWAYS, 0, "Segments retransmitted."},
	{"tcptuned_flow_lost_segments", GAUGE, PLAIN, RECORD_FIELD(lost), ALWAYS, 0,
	 "Segments in flight that are now thought lost."},
	{"tcptuned_flow_reordering_segments", GAUGE, PLAIN, RECORD_FIELD(reordering), ALWAYS, 0,
	 "How far segments are believed to be reordered on the path."},
};

static __u64 rightsize_field_min_rtt(const struct rightsize *rs)
{
	return rightsize_min_rtt_us(rs);
}

static __u64 rightsize_field_per_rtt(const struct rightsize *rs)
{
	return rs->per_rtt;
}

static __u64 rightsize_field_rate(const struct rightsize *rs)
{
	return rs->rate_best;
}

static __u64 rightsize_field_window(const struct rightsize *rs)
{
	return rs->window;
}

static __u64 rightsize_field_drains(const struct rightsize *rs)
{
	return rs->drains;
}

/* Of one direction that right-sizing has measured. */
static const struct {
	const char *name;
	const char *type;
	enum unit unit;
	__u64 (*get)(const struct rightsize *rs);
	const char *help;
} rightsize_fields[] = {
	{"tcptuned_flow_rightsize_min_rtt_seconds", GAUGE, MICROSECONDS,
	 rightsize_field_min_rtt,
	 "Minimum round-trip time of the sliding interval that right-sizing uses."},
	{"tcptuned_flow_rightsize_per_rtt_bytes", GAUGE, PLAIN, rightsize_field_per_rtt,
	 "Bytes per minimum round-trip time, as measured in the last round trip."},
	{"tcptuned_flow_rightsize_rate_bytes_per_second", GAUGE, PLAIN, rightsize_field_rate,
	 "Largest rate measured."},
	{"tcptuned_flow_rightsize_window_bytes", GAUGE, PLAIN, rightsize_field_window,
	 "Window that right-sizing decided on."},
	{"tcptuned_flow_rightsize_drains_total", COUNTER, PLAIN, rightsize_field_drains,
	 "How often the window was held small to measure the minimum RTT again."},
};

static const struct rightsize *direction_of(const struct tcptuned_flow_record *record, int send)
{
	return send ? &record->flow.snd : &record->flow.rcv;
}

static const char *const direction_labels[] = {"direction=\"receive\"", "direction=\"send\""};

/*
 * The labels of all flows, made once: as many strings as there are flows, each with its NUL,
 * one behind the other.
 */
static void label_flows(struct tcptuned_buf *labels, const struct tcptuned_snapshot *snap)
{
	char address[TCPTUNED_ADDRESS_MAX], number[16];
	__u32 i;

	label_begin(labels);
	for (i = 0; i < snap->flows.top_len; i++) {
		const struct tcptuned_flow_record *record = &snap->flows.top[i];

		tcptuned_flow_address(record, 0, address);
		label(labels, "local", address);
		tcptuned_flow_address(record, 1, address);
		label(labels, "remote", address);
		snprintf(number, sizeof(number), "%u", record->netns);
		label(labels, "netns", number);
		label(labels, "congestion_control", record->congestion_control);
		label_policy(labels, snap, record->flow.policy);
		tcptuned_buf_add(labels, "", 1);
	}
}

/* What the functions below print for one flow: its record and its labels. */
struct shown_flow {
	const struct tcptuned_flow_record *record;
	const char *labels;
};

#define for_each_flow(flow, snap, all_labels)                                        \
	for (flow = (struct shown_flow){(snap)->flows.top, (all_labels)->data};      \
	     flow.record && flow.record < (snap)->flows.top + (snap)->flows.top_len; \
	     flow.record++, flow.labels += strlen(flow.labels) + 1)

static __u64 record_field(const struct tcptuned_flow_record *record, size_t offset, size_t size)
{
	const char *field = (const char *)record + offset;

	return size == sizeof(__u64) ? *(const __u64 *)field : *(const __u32 *)field;
}

static void print_flow_field(struct tcptuned_buf *out, const struct tcptuned_snapshot *snap,
			     const struct tcptuned_buf *labels, size_t which)
{
	struct family family = {flow_fields[which].name, flow_fields[which].type,
				flow_fields[which].help, false};
	__u32 flag = flow_fields[which].flag;
	struct shown_flow flow;

	for_each_flow (flow, snap, labels) {
		__u64 value = record_field(flow.record, flow_fields[which].offset,
					   flow_fields[which].size);

		if (value == flow_fields[which].none ||
		    (flag && !(flow.record->flow.flags & flag)))
			continue;
		sample(out, &family, flow.labels, value, flow_fields[which].unit);
	}
}

static void print_rightsize_field(struct tcptuned_buf *out,
				  const struct tcptuned_snapshot *snap,
				  const struct tcptuned_buf *labels, size_t which)
{
	struct family family = {rightsize_fields[which].name, rightsize_fields[which].type,
				rightsize_fields[which].help, false};
	struct shown_flow flow;
	int send;

	for_each_flow (flow, snap, labels) {
		for (send = 0; send < 2; send++) {
			const struct rightsize *rs = direction_of(flow.record, send);

			if (rs->reason == RIGHTSIZE_UNMEASURED)
				continue;
			sample_more(out, &family, flow.labels, direction_labels[send],
				    rightsize_fields[which].get(rs),
				    rightsize_fields[which].unit);
		}
	}
}

/* How often a window was changed: these counters stand beside struct rightsize. */
static void print_changes(struct tcptuned_buf *out, const struct tcptuned_snapshot *snap,
			  const struct tcptuned_buf *labels)
{
	struct family grows = {"tcptuned_flow_rightsize_grows_total", COUNTER,
			       "How often the window was made larger.", false};
	struct family shrinks = {"tcptuned_flow_rightsize_shrinks_total", COUNTER,
				 "How often the window was made smaller.", false};
	struct shown_flow flow;
	int send;

	for (send = 0; send < 2; send++)
		for_each_flow (flow, snap, labels)
			if (direction_of(flow.record, send)->reason != RIGHTSIZE_UNMEASURED)
				sample_more(out, &grows, flow.labels, direction_labels[send],
					    send ? flow.record->flow.snd_grows
						 : flow.record->flow.rcv_grows,
					    PLAIN);
	for (send = 0; send < 2; send++)
		for_each_flow (flow, snap, labels)
			if (direction_of(flow.record, send)->reason != RIGHTSIZE_UNMEASURED)
				sample_more(out, &shrinks, flow.labels, direction_labels[send],
					    send ? flow.record->flow.snd_shrinks
						 : flow.record->flow.rcv_shrinks,
					    PLAIN);
}

static const struct tcptuned_policy *policy_of(const struct tcptuned_snapshot *snap, __u32 key)
{
	return snap->policy ? snap->policy(snap->policy_ctx, key) : NULL;
}

/* What a connection would have got; 0 is nothing. */
static const struct {
	const char *name;
	size_t offset[2]; /* receive and send, or the one that there is */
	bool directed;
	const char *help;
} would_fields[] = {
#define WOULD(field) offsetof(struct tcptuned_would_set, field)
	{"tcptuned_flow_would_set_window_bytes", {WOULD(rcv_window), WOULD(snd_window)}, true,
	 "Window that an observed connection would have been given."},
	{"tcptuned_flow_would_set_buffer_bytes", {WOULD(rcv_buffer), WOULD(snd_buffer)}, true,
	 "Memory that an observed connection's buffer would have been fixed to."},
	{"tcptuned_flow_would_set_first_window_bytes", {WOULD(first_window)}, false,
	 "Window that an observed connection would have begun with, at most."},
	{"tcptuned_flow_would_set_unsent_max_bytes", {WOULD(unsent_max)}, false,
	 "Bytes that would have been let wait unsent of an observed connection."},
	{"tcptuned_flow_would_set_pacing_rate_bytes_per_second", {WOULD(pacing_rate)}, false,
	 "Rate that an observed connection would have been held to."},
	{"tcptuned_flow_would_set_budget_wanted_bytes", {WOULD(rcv_budget), WOULD(snd_budget)},
	 true, "Memory of the budget that an observed connection would have wanted, about."},
	{"tcptuned_flow_would_set_budget_refused_bytes", {WOULD(rcv_refused), WOULD(snd_refused)},
	 true, "What of that it would not get, if it alone were tuned from now on."},
	{"tcptuned_flow_would_set_remembered_window_bytes", {WOULD(remembered_window)}, false,
	 "Receive window that an observed connection would have had of the path memory."},
	{"tcptuned_flow_would_set_remembered_max_window_bytes", {WOULD(remembered_max)}, false,
	 "Maximum of bitcp that an observed connection would have had of the path memory."},
	{"tcptuned_flow_would_set_slow_path", {WOULD(slow_path)}, false,
	 "1: an observed connection would have begun small, for its path is remembered as slow."},
};

static struct tcptuned_would_set would_set(const struct tcptuned_snapshot *snap,
					   const struct tcptuned_flow_record *record)
{
	bool observed = record->flow.flags & TCPTUNED_F_OBSERVE;

	return tcptuned_flow_would_set(record,
				       observed ? policy_of(snap, record->flow.policy) : NULL);
}

static void print_would_field(struct tcptuned_buf *out, const struct tcptuned_snapshot *snap,
			      const struct tcptuned_buf *labels, size_t which)
{
	struct family family = {would_fields[which].name, GAUGE, would_fields[which].help, false};
	bool directed = would_fields[which].directed;
	struct shown_flow flow;
	__u32 value;
	int i;

	for_each_flow (flow, snap, labels) {
		struct tcptuned_would_set would = would_set(snap, flow.record);

		for (i = 0; i <= directed; i++) {
			memcpy(&value, (char *)&would + would_fields[which].offset[i],
			       sizeof(value));
			if (value)
				sample_more(out, &family, flow.labels,
					    directed ? direction_labels[i] : "", value, PLAIN);
		}
	}
}

static void print_would_congestion_control(struct tcptuned_buf *out,
					   const struct tcptuned_snapshot *snap,
					   const struct tcptuned_buf *labels)
{
	struct family family = {"tcptuned_flow_would_set_congestion_control", GAUGE,
				"Congestion control that an observed connection would have got: 1.",
				false};
	struct shown_flow flow;
	struct tcptuned_buf more;

	tcptuned_buf_init(&more, 256);
	for_each_flow (flow, snap, labels) {
		struct tcptuned_would_set would = would_set(snap, flow.record);

		if (!would.congestion_control[0])
			continue;
		label_begin(&more);
		label(&more, "would_set", would.congestion_control);
		sample_more(out, &family, flow.labels, more.error ? "" : more.data, 1, PLAIN);
	}
	tcptuned_buf_free(&more);
}

/* One state out of several: a sample for each, 1 for the one that holds. */
static void print_states(struct tcptuned_buf *out, struct family *family, const char *labels,
			 const char *more, const char *label_name, unsigned int state,
			 unsigned int len, const char *(*name)(unsigned int))
{
	char text[96];
	unsigned int i;

	for (i = 0; i < len; i++) {
		snprintf(text, sizeof(text), "%s%s%s=\"%s\"", more, *more ? "," : "",
			 label_name, name(i));
		sample_more(out, family, labels, text, i == state, PLAIN);
	}
}

static void print_flow_states(struct tcptuned_buf *out, const struct tcptuned_snapshot *snap,
			      const struct tcptuned_buf *labels)
{
	struct family limited = {"tcptuned_flow_limited", GAUGE,
				 "What limits sending: 1 for the one that holds.", false};
	struct family reason = {"tcptuned_flow_rightsize_reason", GAUGE,
				"Why the window is what it is: 1 for the one that holds.",
				false};
	struct shown_flow flow;
	int send;

	for_each_flow (flow, snap, labels)
		print_states(out, &limited, flow.labels, "", "limit", flow.record->limit,
			     TCPTUNED_LIMITS, tcptuned_limit_name);
	for_each_flow (flow, snap, labels) {
		for (send = 0; send < 2; send++) {
			const struct rightsize *rs = direction_of(flow.record, send);

			/* Nothing was ever measured in this direction: a line a reason too many. */
			if (rs->reason == RIGHTSIZE_UNMEASURED && !rs->round_start_us)
				continue;
			print_states(out, &reason, flow.labels, direction_labels[send],
				     "reason", rs->reason, RIGHTSIZE_REASONS,
				     tcptuned_reason_name);
		}
	}
}

/* Only connections that bitcp drives. */
static void print_bitcp(struct tcptuned_buf *out, const struct tcptuned_snapshot *snap,
			const struct tcptuned_buf *labels)
{
	struct family mode = {"tcptuned_flow_bitcp_mode", GAUGE,
			      "What bitcp is doing: 1 for the one that holds.", false};
	struct family max = {"tcptuned_flow_bitcp_max_segments", GAUGE,
			     "Window that bitcp's binary search heads for, once one is known.",
			     false};
	struct shown_flow flow;

	for_each_flow (flow, snap, labels)
		if (flow.record->ca_max_win)
			print_states(out, &mode, flow.labels, "", "mode", flow.record->ca_mode,
				     TCPTUNED_BITCP_MODES, tcptuned_bitcp_mode_name);
	for_each_flow (flow, snap, labels)
		if (flow.record->ca_max_win && flow.record->ca_max_win < BITCP_MAX_CWND)
			sample(out, &max, flow.labels, flow.record->ca_max_win, PLAIN);
}

static void print_flows(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			const struct tcptuned_snapshot *snap)
{
	size_t i;

	label_flows(labels, snap);
	if (labels->error)
		return;
	for (i = 0; i < ARRAY_SIZE(flow_fields); i++)
		print_flow_field(out, snap, labels, i);
	for (i = 0; i < ARRAY_SIZE(rightsize_fields); i++)
		print_rightsize_field(out, snap, labels, i);
	print_changes(out, snap, labels);
	for (i = 0; i < ARRAY_SIZE(would_fields); i++)
		print_would_field(out, snap, labels, i);
	print_would_congestion_control(out, snap, labels);
	print_flow_states(out, snap, labels);
	print_bitcp(out, snap, labels);
}

/* --- how bursty it is ---------------------------------------------------------------------- */

static void label_row(struct tcptuned_buf *labels, const struct tcptuned_burstiness_row *row)
{
	label_begin(labels);
	label(labels, "congestion_control", row->congestion_control);
}

static void print_burstiness(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			     const struct tcptuned_burstiness_stats *stats)
{
	const struct tcptuned_burstiness_row *row, *end = stats->rows + stats->rows_len;
	struct family cov = {"tcptuned_burstiness_cov", GAUGE,
			     "Coefficient of variation of the number of TCP segments with data "
			     "sent to other hosts in an interval, over the last intervals; all: "
			     "of their sum.",
			     false};
	struct family mean = {"tcptuned_burstiness_segments_per_interval", GAUGE,
			      "Mean of the same number.", false};

	single(out, "tcptuned_burstiness_interval_seconds", GAUGE, stats->interval_us,
	       MICROSECONDS, "Length of these intervals.");
	if (!stats->ok)
		return;
	single(out, "tcptuned_burstiness_intervals", GAUGE, stats->intervals, PLAIN,
	       "How many of them there are so far, up to 960.");
	for (row = stats->rows; row < end; row++) {
		if (!row->sent.segments || row->sent.intervals < 2) /* one does not vary */
			continue;
		label_row(labels, row);
		sample(out, &cov, labels->data, burstiness_cov(&row->sent), MILLIONTHS);
	}
	for (row = stats->rows; row < end; row++) {
		label_row(labels, row);
		sample(out, &mean, labels->data, burstiness_mean(&row->sent), MILLIONTHS);
	}
}

/* --- what is configured ------------------------------------------------------------------ */

#define POLICY_FIELD(field) offsetof(struct tcptuned_policy, field)

static const struct {
	const char *name;
	const char *more;
	size_t offset;
	const char *help;
} policy_fields[] = {
	{"tcptuned_policy_window_max_bytes", "direction=\"receive\"",
	 POLICY_FIELD(rcv_window_max), "Largest window that right-sizing may decide on."},
	{"tcptuned_policy_window_max_bytes", "direction=\"send\"", POLICY_FIELD(snd_window_max),
	 NULL},
	{"tcptuned_policy_buffer_max_bytes", "direction=\"receive\"",
	 POLICY_FIELD(rcv_buffer_max), "Largest buffer that the kernel lets tcptuned set."},
	{"tcptuned_policy_buffer_max_bytes", "direction=\"send\"", POLICY_FIELD(snd_buffer_max),
	 NULL},
	{"tcptuned_policy_overrides", "option=\"SO_RCVBUF\"", POLICY_FIELD(override_rcvbuf),
	 "Whether requests of applications for a fixed buffer are overridden."},
	{"tcptuned_policy_overrides", "option=\"SO_SNDBUF\"", POLICY_FIELD(override_sndbuf),
	 NULL},
};

static void print_policy_fields(struct tcptuned_buf *out, struct tcptuned_buf *labels,
				const struct tcptuned_snapshot *snap)
{
	struct family family = {};
	unsigned int p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(policy_fields); i++) {
		if (policy_fields[i].help)
			family = (struct family){policy_fields[i].name, GAUGE,
						 policy_fields[i].help, false};
		for (p = 0; p < snap->policies_len; p++) {
			const char *policy = (const char *)&snap->policies[p].policy;

			label_begin(labels);
			label_policy(labels, snap, snap->policies[p].key);
			sample_more(out, &family, labels->data, policy_fields[i].more,
				    *(const __u32 *)(policy + policy_fields[i].offset), PLAIN);
		}
	}
}

static void print_policies(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			   const struct tcptuned_snapshot *snap)
{
	struct family info = {"tcptuned_policy_info", GAUGE,
			      "The congestion control that a policy gives; empty: none.",
			      false};
	struct family mode = {"tcptuned_policy_mode", GAUGE,
			      "What a policy does: 1 for the one that holds.", false};
	unsigned int p;

	for (p = 0; p < snap->policies_len; p++) {
		label_begin(labels);
		label_policy(labels, snap, snap->policies[p].key);
		label(labels, "congestion_control",
		      snap->policies[p].policy.congestion_control);
		sample(out, &info, labels->data, 1, PLAIN);
	}
	for (p = 0; p < snap->policies_len; p++) {
		label_begin(labels);
		label_policy(labels, snap, snap->policies[p].key);
		print_states(out, &mode, labels->data, "", "mode",
			     snap->policies[p].policy.mode, TCPTUNED_TUNE + 1,
			     tcptuned_mode_name);
	}
	print_policy_fields(out, labels, snap);
	single(out, "tcptuned_policies_shown", GAUGE, snap->policies_len, PLAIN,
	       "Policies that this scrape shows one by one, the first ones of the configuration.");
	single(out, "tcptuned_policies_left_out", GAUGE, snap->policies_left_out, PLAIN,
	       "Policies in force of which this scrape shows no tcptuned_policy_ metric.");
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

			label_begin(labels);
			label(labels, "program", program->name);
			sample(out, families[f], labels->data, values[f],
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
		label_begin(labels);
		label(labels, "map", bpf->maps[i].name);
		sample(out, &memory, labels->data, bpf->maps[i].memory_bytes, PLAIN);
	}
}

static void print_cost(struct tcptuned_buf *out, struct tcptuned_buf *labels,
		       const struct tcptuned_snapshot *snap)
{
	single(out, "tcptuned_program_statistics_enabled", GAUGE, snap->bpf.enabled, PLAIN,
	       "Whether the kernel counts runs and run time of BPF programs.");
	print_programs(out, labels, &snap->bpf);
	print_maps(out, labels, &snap->bpf);
	single(out, "tcptuned_connection_records_bytes", GAUGE,
	       snap->flows.records * snap->bpf.storage_bytes, PLAIN,
	       "Memory of the records of open connections: their number times the size "
	       "that the kernel allocates.");
	single(out, "tcptuned_daemon_resident_memory_bytes", GAUGE,
	       snap->process.resident_bytes, PLAIN, "Resident memory of the daemon.");
	single(out, "tcptuned_daemon_cpu_seconds_total", COUNTER, snap->process.cpu_ns,
	       NANOSECONDS, "CPU time of the daemon, user and system.");
	single(out, "tcptuned_scrapes_total", COUNTER, snap->scrapes, PLAIN,
	       "Scrapes answered before this one.");
	single(out, "tcptuned_scrape_duration_seconds_total", COUNTER, snap->scrapes_ns,
	       NANOSECONDS, "Time that these scrapes took, reading and writing.");
	if (snap->last_scrape_ns)
		single(out, "tcptuned_last_scrape_duration_seconds", GAUGE,
		       snap->last_scrape_ns, NANOSECONDS, "Time that the scrape before took.");
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

	label_begin(labels);
	label(labels, "version", snap->version);
	label(labels, "kernel", snap->kernel_release);
	sample(out, &build, labels->data, 1, PLAIN);
	single(out, "tcptuned_start_time_seconds", GAUGE, snap->start_time_us, MICROSECONDS,
	       "When the daemon started, since the epoch.");
	single(out, "tcptuned_bitcp_registered", GAUGE, snap->bitcp, PLAIN,
	       "Whether the congestion control bitcp can be chosen on this host.");
	sample(out, &reloads, "result=\"ok\"", snap->reloads[true], PLAIN);
	sample(out, &reloads, "result=\"rejected\"", snap->reloads[false], PLAIN);
	single(out, "tcptuned_config_last_reload_successful", GAUGE, snap->config_in_force, PLAIN,
	       "Whether the last reload was taken, or there was none, and what the configuration "
	       "says is in force.");
	single(out, "tcptuned_taken_over", GAUGE, snap->taken_over, PLAIN,
	       "Whether the programs were pinned by a daemon before this one.");
	single(out, "tcptuned_policy_cgroups_missing", GAUGE, snap->cgroups_missing, PLAIN,
	       "Policies without connections: their control group is not there, or not to be seen.");
	sample(out, &namespaces, "result=\"visited\"", snap->adoption.namespaces, PLAIN);
	sample(out, &namespaces, "result=\"failed\"", snap->adoption.namespaces_failed, PLAIN);
	sample(out, &namespaces, "result=\"vanished\"", snap->adoption.namespaces_vanished, PLAIN);
	single(out, "tcptuned_adoption_duration_seconds", GAUGE, snap->adoption.ns, NANOSECONDS,
	       "How long it took to adopt the connections that were open before the start.");
	sample(out, &success, "collector=\"totals\"", snap->totals_ok, PLAIN);
	sample(out, &success, "collector=\"flows\"", snap->flows_ok, PLAIN);
	sample(out, &success, "collector=\"budget\"", snap->budget_ok, PLAIN);
	if (snap->burstiness.on)
		sample(out, &success, "collector=\"burstiness\"", snap->burstiness.ok, PLAIN);
}

static void print_paths(struct tcptuned_buf *out, const struct tcptuned_path_stats *paths)
{
	if (paths->ok)
		single(out, "tcptuned_paths_known", GAUGE, paths->known, PLAIN,
		       "Destination prefixes about which something is known; many are counted once "
		       "a minute.");
	single(out, "tcptuned_paths_loaded_total", COUNTER, paths->loaded, PLAIN,
	       "Prefixes read from disk at the start.");
	single(out, "tcptuned_paths_saved_total", COUNTER, paths->saved, PLAIN,
	       "Prefixes written to disk, each time counted.");
	single(out, "tcptuned_paths_expired_total", COUNTER, paths->expired, PLAIN,
	       "Prefixes forgotten since no connection added to them for too long.");
	single(out, "tcptuned_paths_evicted_total", COUNTER, paths->evicted, PLAIN,
	       "Prefixes dropped from disk, those longest without a connection, for there were more "
	       "than paths.entries_max.");
	single(out, "tcptuned_paths_clock_corrected_total", COUNTER, paths->clock_corrected, PLAIN,
	       "Prefixes read from disk with a time to come, for the clock was or is wrong: taken "
	       "for new.");
	single(out, "tcptuned_paths_database_errors_total", COUNTER, paths->database_errors, PLAIN,
	       "Times that the database of paths could not be read or written.");
}

static void print_budget(struct tcptuned_buf *out, const struct budget *budget)
{
	bool scarce = budget_is_scarce(budget);

	single(out, "tcptuned_budget_bytes", GAUGE, budget->total, PLAIN,
	       "Memory that buffers may grow by, all together, beyond what connections begin "
	       "with.");
	single(out, "tcptuned_budget_granted_bytes", GAUGE, budget->granted, PLAIN,
	       "What they have grown by; more than all of it where the kernel had given that "
	       "before.");
	single(out, "tcptuned_budget_wanted_bytes", GAUGE, budget->wanted, PLAIN,
	       "What they could use.");
	single(out, "tcptuned_budget_scarce", GAUGE, scarce, PLAIN,
	       "Whether they could use more than there is.");
	if (scarce)
		single(out, "tcptuned_budget_share_bytes", GAUGE,
		       budget_find_level(budget, budget->total), PLAIN,
		       "The most that one connection gets of it in one direction, while it is "
		       "scarce.");
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
	if (snap->burstiness.on)
		print_burstiness(out, &labels, &snap->burstiness);
	print_policies(out, &labels, snap);
	print_cost(out, &labels, snap);
	if (labels.error)
		out->error = labels.error;
	tcptuned_buf_free(&labels);
}
