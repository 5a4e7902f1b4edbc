// SPDX-License-Identifier: GPL-2.0-only
/* A connection as JSON. Only one connection at a time is a tree in memory. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "flows/names.h"
#include "rpc/flow_json.h"
#include "util/array.h"

#define RECORD_FIELD(name, field)                                         \
	{                                                                 \
		name, offsetof(struct tcptuned_flow_record, field),       \
			sizeof(((struct tcptuned_flow_record *)0)->field) \
	}
#define RIGHTSIZE_FIELD(name, field)                           \
	{                                                      \
		name, offsetof(struct rightsize, field),       \
			sizeof(((struct rightsize *)0)->field) \
	}

struct number {
	const char *name;
	size_t offset;
	size_t size;
};

static const struct number record_numbers[] = {
	RECORD_FIELD("netns", netns),
	RECORD_FIELD("policy_key", flow.policy),
	RECORD_FIELD("bytes_received", bytes_received),
	RECORD_FIELD("bytes_acked", bytes_acked),
	RECORD_FIELD("delivery_rate_bytes_per_s", delivery_rate_Bps),
	RECORD_FIELD("cwnd_segments", cwnd),
	RECORD_FIELD("mss_bytes", mss),
	RECORD_FIELD("flight_bytes", flight),
	RECORD_FIELD("send_window_bytes", snd_wnd),
	RECORD_FIELD("advertised_window_bytes", rcv_wnd),
	RECORD_FIELD("window_clamp_bytes", window_clamp),
	RECORD_FIELD("receive_buffer_bytes", rcvbuf),
	RECORD_FIELD("receive_buffer_used_bytes", rmem_alloc),
	RECORD_FIELD("send_buffer_bytes", sndbuf),
	RECORD_FIELD("send_buffer_used_bytes", wmem_queued),
	RECORD_FIELD("srtt_us", srtt_us),
	RECORD_FIELD("min_rtt_us", min_rtt_us),
	RECORD_FIELD("receiver_rtt_us", rcv_rtt_us),
	RECORD_FIELD("retransmitted_segments", retransmits),
	RECORD_FIELD("lost_segments", lost),
	RECORD_FIELD("reordering_segments", reordering),
};

static const struct number receive_numbers[] = {
	RECORD_FIELD("window_max_bytes", flow.rcv_window_max),
	RECORD_FIELD("buffer_max_bytes", flow.rcv_buffer_max),
	RECORD_FIELD("kernel_max_bytes", flow.rcv_base),
	RECORD_FIELD("grows", flow.rcv_grows),
	RECORD_FIELD("shrinks", flow.rcv_shrinks),
};

static const struct number send_numbers[] = {
	RECORD_FIELD("window_max_bytes", flow.snd_window_max),
	RECORD_FIELD("buffer_max_bytes", flow.snd_buffer_max),
	RECORD_FIELD("kernel_max_bytes", flow.snd_base),
	RECORD_FIELD("unsent_bytes", unsent),
	RECORD_FIELD("unsent_max_bytes", flow.snd_unsent),
	RECORD_FIELD("grows", flow.snd_grows),
	RECORD_FIELD("shrinks", flow.snd_shrinks),
};

static const struct number rightsize_numbers[] = {
	RIGHTSIZE_FIELD("per_rtt_bytes", per_rtt),
	RIGHTSIZE_FIELD("rate_bytes_per_s", rate),
	RIGHTSIZE_FIELD("rate_best_bytes_per_s", rate_best),
	RIGHTSIZE_FIELD("tests", tests),
	RIGHTSIZE_FIELD("failed_tests", failures),
};

static const struct {
	const char *name;
	__u32 flag;
} flag_names[] = {
	{"observe", TCPTUNED_F_OBSERVE},
	{"passive", TCPTUNED_F_PASSIVE},
	{"adopted", TCPTUNED_F_ADOPTED},
	{"slow_path_remembered", TCPTUNED_F_SLOW_SEED},
	{"so_rcvbuf_overridden", TCPTUNED_F_RCVBUF_REQ},
	{"so_sndbuf_overridden", TCPTUNED_F_SNDBUF_REQ},
	{"so_rcvbuf_obeyed", TCPTUNED_F_RCVBUF_APP},
	{"so_sndbuf_obeyed", TCPTUNED_F_SNDBUF_APP},
	{"receive_rightsized", TCPTUNED_F_RCV_TUNED},
	{"send_rightsized", TCPTUNED_F_SND_TUNED},
	{"congestion_control_set", TCPTUNED_F_CC_SET},
	{"receive_memory_short", TCPTUNED_F_RCV_MEMORY_SHORT},
	{"send_memory_short", TCPTUNED_F_SND_MEMORY_SHORT},
};

static void set_numbers(json_t *object, const struct number *numbers, size_t len,
			const void *from)
{
	size_t i;

	for (i = 0; i < len; i++) {
		const void *field = (const char *)from + numbers[i].offset;
		__u64 value = *(const __u8 *)field;

		if (numbers[i].size == sizeof(__u32))
			value = *(const __u32 *)field;
		else if (numbers[i].size == sizeof(__u64))
			value = *(const __u64 *)field;
		set_number(object, numbers[i].name, value);
	}
}

static json_t *direction_object(const struct tcptuned_flow_record *record, int send)
{
	const struct budget_share *share = send ? &record->flow.snd_share :
						  &record->flow.rcv_share;
	const struct rightsize *rs = send ? &record->flow.snd : &record->flow.rcv;
	json_t *object = json_object();

	set_if(object, "window_bytes", rs->window);
	set_numbers(object, rightsize_numbers, ARRAY_SIZE(rightsize_numbers), rs);
	set_number(object, "min_rtt_us", rightsize_min_rtt_us(rs));
	set_text(object, "state", tcptuned_rightsize_state_name(rs->state));
	set_text(object, "reason", tcptuned_reason_name(send ? record->flow.snd_reason :
							       record->flow.rcv_reason));
	if (send)
		set_numbers(object, send_numbers, ARRAY_SIZE(send_numbers), record);
	else
		set_numbers(object, receive_numbers, ARRAY_SIZE(receive_numbers), record);
	set_number(object, "budget_wanted_bytes", share->wanted);
	set_number(object, "budget_granted_bytes", share->granted);
	if (!send && (record->flow.flags & TCPTUNED_F_RCVBUF_REQ))
		set_number(object, "requested_bytes", record->flow.req_rcvbuf);
	if (send && record->unsent_max != record->flow.snd_unsent)
		set_if(object, "unsent_max_of_others_bytes", record->unsent_max);
	if (send && (record->flow.flags & TCPTUNED_F_SNDBUF_REQ))
		set_number(object, "requested_bytes", record->flow.req_sndbuf);
	return object;
}

static json_t *bitcp_object(const struct tcptuned_flow_record *record)
{
	json_t *object = json_object();

	set_text(object, "mode", tcptuned_bitcp_mode_name(record->ca_mode));
	if (record->ca_max_win < BITCP_MAX_CWND)
		set_number(object, "max_segments", record->ca_max_win);
	return object;
}

static json_t *flags_array(__u32 flags)
{
	json_t *array = json_array();
	size_t i;

	if (flags & TCPTUNED_F_OBSERVE) /* the kernel did what the application asked for */
		flags &= ~(TCPTUNED_F_RCVBUF_REQ | TCPTUNED_F_SNDBUF_REQ);
	for (i = 0; i < ARRAY_SIZE(flag_names); i++)
		if (flags & flag_names[i].flag)
			json_array_append_new(array, json_string(flag_names[i].name));
	return array;
}

static json_t *pacing_object(const struct tcptuned_flow_record *record)
{
	json_t *object = json_object();

	set_if(object, "rate_bytes_per_s", record->pacing_rate_Bps);
	set_if(object, "rate_max_bytes_per_s", record->pacing_max_Bps);
	return object;
}

static json_t *flow_object(const struct tcptuned_flow_record *record, const char *policy,
			   const struct tcptuned_policy *policy_record, const char *rule)
{
	char address[TCPTUNED_ADDRESS_MAX];
	json_t *object = json_object();

	tcptuned_flow_address(record, 0, address);
	set_text(object, "local", address);
	tcptuned_flow_address(record, 1, address);
	set_text(object, "remote", address);
	set_text(object, "state", tcptuned_state_name(record->state));
	set_text(object, "congestion_control", record->congestion_control);
	if (policy)
		set_text(object, "policy", policy);
	if (rule)
		set_text(object, "rule", rule);
	set_text(object, "limit", tcptuned_limit_name(record->limit));
	set_numbers(object, record_numbers, ARRAY_SIZE(record_numbers), record);
	if (record->ssthresh != TCPTUNED_SSTHRESH_NONE)
		set_number(object, "ssthresh_segments", record->ssthresh);
	json_object_set_new(object, "flags", flags_array(record->flow.flags));
	json_object_set_new(object, "receive", direction_object(record, 0));
	json_object_set_new(object, "send", direction_object(record, 1));
	if (record->pacing_rate_Bps || record->pacing_max_Bps)
		json_object_set_new(object, "pacing", pacing_object(record));
	if (record->ca_max_win)
		json_object_set_new(object, "bitcp", bitcp_object(record));
	return object;
}

static int append(const char *text, size_t len, void *buf)
{
	tcptuned_buf_add(buf, text, len);
	return ((struct tcptuned_buf *)buf)->error ? -1 : 0;
}

void tcptuned_json_print(struct tcptuned_buf *out, json_t *object)
{
	if (json_dump_callback(object, append, out, JSON_COMPACT) && !out->error)
		out->error = -ENOMEM;
	json_decref(object);
}

void tcptuned_json_print_line(struct tcptuned_buf *out, json_t *object)
{
	tcptuned_json_print(out, object);
	tcptuned_buf_puts(out, "\n");
}

void tcptuned_json_flow(struct tcptuned_buf *out, const struct tcptuned_flow_record *record,
			const char *policy, const struct tcptuned_policy *policy_record,
			const char *rule)
{
	tcptuned_json_print(out, flow_object(record, policy, policy_record, rule));
}
