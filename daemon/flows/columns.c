// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "flows/columns.h"
#include "flows/names.h"
#include "util/text.h"

/* ---- order of text ----------------------------------------------------------------------- */

static int compare_endpoints(const __u8 *a, const __u8 *b, unsigned int a_port,
			     unsigned int b_port)
{
	int order = memcmp(a, b, 16);

	return order ? order : (int)a_port - (int)b_port;
}

static int compare_local(const struct tcptuned_flow_record *a, const struct tcptuned_flow_record *b)
{
	if (a->family != b->family)
		return (int)a->family - (int)b->family;
	return compare_endpoints(a->local, b->local, a->local_port, b->local_port);
}

static int compare_remote(const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b)
{
	if (a->family != b->family)
		return (int)a->family - (int)b->family;
	return compare_endpoints(a->remote, b->remote, a->remote_port, b->remote_port);
}

static int compare_state(const struct tcptuned_flow_record *a, const struct tcptuned_flow_record *b)
{
	return strcmp(tcptuned_state_name(a->state), tcptuned_state_name(b->state));
}

static int compare_congestion_control(const struct tcptuned_flow_record *a,
				      const struct tcptuned_flow_record *b)
{
	return strcmp(a->congestion_control, b->congestion_control);
}

static int compare_limit(const struct tcptuned_flow_record *a, const struct tcptuned_flow_record *b)
{
	return strcmp(tcptuned_limit_name(a->limit), tcptuned_limit_name(b->limit));
}

static int compare_receive_reason(const struct tcptuned_flow_record *a,
				  const struct tcptuned_flow_record *b)
{
	return strcmp(tcptuned_reason_name(a->flow.rcv_reason),
		      tcptuned_reason_name(b->flow.rcv_reason));
}

static int compare_send_reason(const struct tcptuned_flow_record *a,
			       const struct tcptuned_flow_record *b)
{
	return strcmp(tcptuned_reason_name(a->flow.snd_reason),
		      tcptuned_reason_name(b->flow.snd_reason));
}

/* ---- the table --------------------------------------------------------------------------- */

#define TEXT(name, heading, json, shown, compare, help) \
	{ name, heading, json, COLUMN_TEXT, shown, compare, 0, 0, help }
#define NUMBER(name, heading, json, unit, shown, field, help)           \
	{                                                               \
		name, heading, json, unit, shown, NULL,                 \
			offsetof(struct tcptuned_flow_record, field),   \
			sizeof(((struct tcptuned_flow_record *)0)->field), help \
	}

const struct tcptuned_column tcptuned_columns[] = {
	TEXT("local", "LOCAL", "local", true, compare_local, "local address and port"),
	TEXT("remote", "REMOTE", "remote", true, compare_remote, "the peer's address and port"),
	TEXT("cc", "CC", "congestion_control", true, compare_congestion_control,
	     "congestion control"),
	TEXT("policy", "POLICY", "policy", true, NULL, "the policy that claimed it"),
	TEXT("state", "STATE", "state", false, compare_state, "state of the connection"),
	NUMBER("netns", "NETNS", "netns", COLUMN_NUMBER, false, netns,
	       "network namespace, its inode number"),
	NUMBER("rtt", "RTT", "srtt_us", COLUMN_US, true, srtt_us, "smoothed round-trip time"),
	NUMBER("min-rtt", "MINRTT", "min_rtt_us", COLUMN_US, true, min_rtt_us,
	       "the kernel's minimum round-trip time"),
	NUMBER("receiver-rtt", "RCVRTT", "receiver_rtt_us", COLUMN_US, false, rcv_rtt_us,
	       "the receiver's own estimate of the round-trip time"),
	NUMBER("cwnd", "CWND", "cwnd_segments", COLUMN_NUMBER, true, cwnd,
	       "congestion window, segments"),
	NUMBER("mss", "MSS", "mss_bytes", COLUMN_NUMBER, false, mss, "segment size, bytes"),
	NUMBER("rate", "RATE", "delivery_rate_bytes_per_s", COLUMN_BYTES_PER_S, false,
	       delivery_rate_Bps, "rate of delivery to the peer"),
	NUMBER("rwin", "RWIN", "receive.window_bytes", COLUMN_BYTES, true, flow.rcv.window,
	       "limit that right-sizing set to the receive window"),
	NUMBER("swin", "SWIN", "send.window_bytes", COLUMN_BYTES, true, flow.snd.window,
	       "limit that right-sizing set to the send window"),
	NUMBER("advertised", "ADVERT", "advertised_window_bytes", COLUMN_BYTES, false, rcv_wnd,
	       "receive window advertised to the peer"),
	NUMBER("peer-window", "PEERWIN", "send_window_bytes", COLUMN_BYTES, false, snd_wnd,
	       "receive window that the peer advertises"),
	NUMBER("rcvbuf", "RCVBUF", "receive_buffer_bytes", COLUMN_BYTES, true, rcvbuf,
	       "receive buffer, bytes of memory"),
	NUMBER("rcvbuf-used", "RCVUSED", "receive_buffer_used_bytes", COLUMN_BYTES, false,
	       rmem_alloc, "how much of that is in use"),
	NUMBER("sndbuf", "SNDBUF", "send_buffer_bytes", COLUMN_BYTES, true, sndbuf,
	       "send buffer, bytes of memory"),
	NUMBER("sndbuf-used", "SNDUSED", "send_buffer_used_bytes", COLUMN_BYTES, false,
	       wmem_queued, "how much of that is in use"),
	NUMBER("received", "RECEIVED", "bytes_received", COLUMN_BYTES, true, bytes_received,
	       "bytes received"),
	NUMBER("sent", "SENT", "bytes_acked", COLUMN_BYTES, true, bytes_acked,
	       "bytes sent and acknowledged"),
	NUMBER("retransmitted", "RETRANS", "retransmitted_segments", COLUMN_NUMBER, false,
	       retransmits, "segments retransmitted"),
	NUMBER("lost", "LOST", "lost_segments", COLUMN_NUMBER, false, lost,
	       "segments now thought lost"),
	TEXT("limit", "LIMIT", "limit", true, compare_limit, "what limits what it sends"),
	TEXT("rwhy", "RWHY", "receive.reason", true, compare_receive_reason,
	     "why the receive window is what it is"),
	TEXT("swhy", "SWHY", "send.reason", false, compare_send_reason,
	     "why the send window is what it is"),
};

const size_t tcptuned_columns_count = sizeof(tcptuned_columns) / sizeof(tcptuned_columns[0]);

#define COLUMNS (sizeof(tcptuned_columns) / sizeof(tcptuned_columns[0]))

const struct tcptuned_column *tcptuned_column_find(const char *name)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (!strcmp(tcptuned_columns[i].name, name))
			return &tcptuned_columns[i];
	return NULL;
}

const char *tcptuned_column_nearest(const char *name)
{
	const char *names[COLUMNS + 1] = { NULL };

	for (size_t i = 0; i < COLUMNS; i++)
		names[i] = tcptuned_columns[i].name;
	return tcptuned_nearest(name, names);
}

/* ---- order ------------------------------------------------------------------------------- */

static __u64 number_of(const struct tcptuned_column *column,
		       const struct tcptuned_flow_record *record)
{
	const char *field = (const char *)record + column->offset;

	return column->size == sizeof(__u64) ? *(const __u64 *)field : *(const __u32 *)field;
}

static int largest_first(__u64 a, __u64 b)
{
	return (a < b) - (a > b);
}

/* The keys follow the configuration, and a reload gives new ones. */
static int compare_policy(__u32 a, __u32 b, tcptuned_policy_namer namer, const void *ctx)
{
	char of_a[TCPTUNED_POLICY_NAME_MAX], of_b[TCPTUNED_POLICY_NAME_MAX];

	return a == b ? 0 : strcmp(namer(ctx, a, of_a), namer(ctx, b, of_b));
}

int tcptuned_column_order(const struct tcptuned_column *column,
			  const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b, tcptuned_policy_namer namer,
			  const void *ctx)
{
	int order;

	if (column->compare)
		order = column->compare(a, b);
	else if (column->unit == COLUMN_TEXT)
		order = compare_policy(a->flow.policy, b->flow.policy, namer, ctx);
	else
		order = largest_first(number_of(column, a), number_of(column, b));
	if (!order)
		order = largest_first(tcptuned_flow_size(a), tcptuned_flow_size(b));
	if (!order)
		order = compare_local(a, b);
	return order ? order : compare_remote(a, b);
}
