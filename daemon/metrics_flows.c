// SPDX-License-Identifier: GPL-2.0-only
/* Of the largest connections, one by one. The tables say what there is. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "metrics_parts.h"

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
	return rs->rate;
}

static __u64 rightsize_field_window(const struct rightsize *rs)
{
	return rs->window;
}

static __u64 rightsize_field_tests(const struct rightsize *rs)
{
	return rs->tests;
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
	 "Minimum round-trip time that right-sizing knows of the path."},
	{"tcptuned_flow_rightsize_per_rtt_bytes", GAUGE, PLAIN, rightsize_field_per_rtt,
	 "Bytes of the last round trip."},
	{"tcptuned_flow_rightsize_rate_bytes_per_second", GAUGE, PLAIN, rightsize_field_rate,
	 "Rate between the last two marks of the clock, a quarter of a second apart or more."},
	{"tcptuned_flow_rightsize_window_bytes", GAUGE, PLAIN, rightsize_field_window,
	 "Limit that right-sizing set to the window; 0: none, it is the kernel's."},
	{"tcptuned_flow_rightsize_tests_total", COUNTER, PLAIN, rightsize_field_tests,
	 "How often a smaller window was tried, to see whether a queue is the connection's own."},
};

static const struct rightsize *direction_of(const struct tcptuned_flow_record *record, int send)
{
	return send ? &record->flow.snd : &record->flow.rcv;
}

static unsigned int reason_of(const struct tcptuned_flow_record *record, int send)
{
	return send ? record->flow.snd_reason : record->flow.rcv_reason;
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

	tcptuned_label_begin(labels);
	for (i = 0; i < snap->flows.top_len; i++) {
		const struct tcptuned_flow_record *record = &snap->flows.top[i];

		tcptuned_flow_address(record, 0, address);
		tcptuned_label(labels, "local", address);
		tcptuned_flow_address(record, 1, address);
		tcptuned_label(labels, "remote", address);
		snprintf(number, sizeof(number), "%u", record->netns);
		tcptuned_label(labels, "netns", number);
		tcptuned_label(labels, "congestion_control", record->congestion_control);
		tcptuned_metrics_label_policy(labels, snap, record->flow.policy);
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
		tcptuned_sample(out, &family, flow.labels, value, flow_fields[which].unit);
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
			tcptuned_sample_more(out, &family, flow.labels, direction_labels[send],
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
				tcptuned_sample_more(out, &grows, flow.labels,
						     direction_labels[send],
						     send ? flow.record->flow.snd_grows
							  : flow.record->flow.rcv_grows,
						     PLAIN);
	for (send = 0; send < 2; send++)
		for_each_flow (flow, snap, labels)
			if (direction_of(flow.record, send)->reason != RIGHTSIZE_UNMEASURED)
				tcptuned_sample_more(out, &shrinks, flow.labels,
						     direction_labels[send],
						     send ? flow.record->flow.snd_shrinks
							  : flow.record->flow.rcv_shrinks,
						     PLAIN);
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
		tcptuned_print_states(out, &limited, flow.labels, "", "limit", flow.record->limit,
				      TCPTUNED_LIMITS, tcptuned_limit_name);
	for_each_flow (flow, snap, labels) {
		for (send = 0; send < 2; send++) {
			const struct rightsize *rs = direction_of(flow.record, send);

			/* Nothing was ever measured in this direction: a line a reason too many. */
			if (rs->reason == RIGHTSIZE_UNMEASURED && !rs->round_us)
				continue;
			tcptuned_print_states(out, &reason, flow.labels, direction_labels[send],
					      "reason", reason_of(flow.record, send),
					      RIGHTSIZE_REASONS,
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
			tcptuned_print_states(out, &mode, flow.labels, "", "mode",
					      flow.record->ca_mode,
					      TCPTUNED_BITCP_MODES, tcptuned_bitcp_mode_name);
	for_each_flow (flow, snap, labels)
		if (flow.record->ca_max_win && flow.record->ca_max_win < BITCP_MAX_CWND)
			tcptuned_sample(out, &max, flow.labels, flow.record->ca_max_win, PLAIN);
}

void tcptuned_metrics_flows(struct tcptuned_buf *out, struct tcptuned_buf *labels,
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
	print_flow_states(out, snap, labels);
	print_bitcp(out, snap, labels);
}
