// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <string.h>

#include "flows/columns.h"
#include "util/array.h"
#include "util/text.h"

static int compare_addresses(const struct tcptuned_flow_record *a,
			     const struct tcptuned_flow_record *b, const __u8 *a_address,
			     const __u8 *b_address)
{
	return a->family - b->family ?: memcmp(a_address, b_address, sizeof(a->local));
}

static int compare_local(const struct tcptuned_flow_record *a, const struct tcptuned_flow_record *b)
{
	return compare_addresses(a, b, a->local, b->local) ?: a->local_port - b->local_port;
}

static int compare_remote(const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b)
{
	return compare_addresses(a, b, a->remote, b->remote) ?: a->remote_port - b->remote_port;
}

#define FIELD(field)                                            \
	.offset = offsetof(struct tcptuned_flow_record, field), \
	.size = sizeof(((struct tcptuned_flow_record *)0)->field)

#define TEXT(name, heading, json, shown, help, ...)                        \
	{                                                                  \
		name, heading, json, COLUMN_TEXT, shown, help, __VA_ARGS__ \
	}
#define NUMBER(name, heading, json, unit, shown, field, help)        \
	{                                                            \
		name, heading, json, unit, shown, help, FIELD(field) \
	}

const struct tcptuned_column tcptuned_columns[] = {
	TEXT("local", "LOCAL", "local", true, "local address and port", .compare = compare_local),
	TEXT("remote", "REMOTE", "remote", true, "the peer's address and port",
	     .compare = compare_remote),
	TEXT("cc", "CC", "congestion_control", true, "congestion control",
	     FIELD(congestion_control)),
	TEXT("policy", "POLICY", "policy", true, "the policy that has it", .size = 0),
	TEXT("state", "STATE", "state", false, "state of the connection", FIELD(state),
	     .words = WORDS_TCP_STATE),
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
	       "limit that right-sizing set on the receive window"),
	NUMBER("swin", "SWIN", "send.window_bytes", COLUMN_BYTES, true, flow.snd.window,
	       "limit that right-sizing set on the send window"),
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
	NUMBER("sndbuf-used", "SNDUSED", "send_buffer_used_bytes", COLUMN_BYTES, false, wmem_queued,
	       "how much of that is in use"),
	NUMBER("received", "RECEIVED", "bytes_received", COLUMN_BYTES, true, bytes_received,
	       "bytes received"),
	NUMBER("sent", "SENT", "bytes_acked", COLUMN_BYTES, true, bytes_acked,
	       "bytes sent and acknowledged"),
	NUMBER("retransmitted", "RETRANS", "retransmitted_segments", COLUMN_NUMBER, false,
	       retransmits, "segments retransmitted"),
	NUMBER("lost", "LOST", "lost_segments", COLUMN_NUMBER, false, lost,
	       "segments now thought lost"),
	TEXT("limit", "LIMIT", "limit", true, "what limits what it sends", FIELD(limit),
	     .words = WORDS_LIMIT),
	TEXT("rwhy", "RWHY", "receive.reason", true, "why the receive window is what it is",
	     FIELD(flow.rcv_reason), .words = WORDS_REASON),
	TEXT("swhy", "SWHY", "send.reason", false, "why the send window is what it is",
	     FIELD(flow.snd_reason), .words = WORDS_REASON),
};

const size_t tcptuned_columns_count = ARRAY_SIZE(tcptuned_columns);

const struct tcptuned_column *tcptuned_column_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tcptuned_columns); i++)
		if (!strcmp(tcptuned_columns[i].name, name))
			return &tcptuned_columns[i];
	return NULL;
}

int tcptuned_column_parse(const char *what, const char *name, const struct tcptuned_column **ret,
			  struct tcptuned_error *err)
{
	const char *names[ARRAY_SIZE(tcptuned_columns) + 1] = {NULL};
	char suggestion[TCPTUNED_SUGGESTION];

	*ret = tcptuned_column_find(name);
	if (*ret)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(tcptuned_columns); i++)
		names[i] = tcptuned_columns[i].name;
	return USAGE(err, "%s: there is no column %.60s; %s", what, name,
		     tcptuned_suggest(name, names, "tcptunectl flows --help lists all",
				      suggestion));
}

__u64 tcptuned_column_number(const struct tcptuned_column *column,
			     const struct tcptuned_flow_record *record)
{
	const void *field = (const char *)record + column->offset;

	switch (column->size) {
	case sizeof(__u64):
		return *(const __u64 *)field;
	case sizeof(__u32):
		return *(const __u32 *)field;
	default:
		return *(const __u8 *)field;
	}
}

const char *tcptuned_column_text(const struct tcptuned_column *column,
				 const struct tcptuned_flow_record *record)
{
	if (column->words)
		return tcptuned_word(column->words,
				     (unsigned int)tcptuned_column_number(column, record));
	return (const char *)record + column->offset;
}

static int largest_first(__u64 a, __u64 b)
{
	return (a < b) - (a > b);
}

/* By name: a reload changes the keys of policies and leaves most names. */
static int compare_policy(__u32 a, __u32 b, tcptuned_policy_namer namer, const void *ctx)
{
	char a_name[TCPTUNED_POLICY_NAME_MAX], b_name[TCPTUNED_POLICY_NAME_MAX];

	return a == b ? 0 : strcmp(namer(ctx, a, a_name), namer(ctx, b, b_name));
}

int tcptuned_column_order(const struct tcptuned_column *column,
			  const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b, tcptuned_policy_namer namer,
			  const void *ctx)
{
	int order;

	if (column->compare)
		order = column->compare(a, b);
	else if (!column->size)
		order = compare_policy(a->flow.policy, b->flow.policy, namer, ctx);
	else if (column->unit == COLUMN_TEXT)
		order = strcmp(tcptuned_column_text(column, a), tcptuned_column_text(column, b));
	else
		order = largest_first(tcptuned_column_number(column, a),
				      tcptuned_column_number(column, b));
	return order ?: tcptuned_flow_order(a, b) ?: compare_local(a, b) ?: compare_remote(a, b);
}
