// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "flows/columns.h"
#include "util/array.h"
#include "util/text.h"

static int compare_local(const struct tcptuned_flow_record *a, const struct tcptuned_flow_record *b)
{
	return a->family - b->family ?:
	       memcmp(a->local, b->local, sizeof(a->local)) ?:
	       a->local_port - b->local_port;
}

static int compare_remote(const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b)
{
	return a->family - b->family ?:
	       memcmp(a->remote, b->remote, sizeof(a->remote)) ?:
	       a->remote_port - b->remote_port;
}

#define FIELD(field) FIELD_OF(tcptuned_flow_record, field)

const struct tcptuned_column tcptuned_columns[] = {
	{"local", "LOCAL", "local", COLUMN_TEXT, true, .help = "local address and port",
	 .compare = compare_local},
	{"remote", "REMOTE", "remote", COLUMN_TEXT, true, .help = "the peer's address and port",
	 .compare = compare_remote},
	{"cc", "CC", "congestion_control", COLUMN_TEXT, true, FIELD(congestion_control),
	 "congestion control"},
	{"policy", "POLICY", "policy", COLUMN_TEXT, true, .help = "the policy that has it"},
	{"state", "STATE", "state", COLUMN_TEXT, false, FIELD(state), "state of the connection",
	 .words = WORDS_TCP_STATE},
	{"netns", "NETNS", "netns", COLUMN_NUMBER, false, FIELD(netns),
	 "network namespace, its inode number"},
	{"rtt", "RTT", "srtt_us", COLUMN_US, true, FIELD(srtt_us), "smoothed round-trip time"},
	{"min-rtt", "MINRTT", "min_rtt_us", COLUMN_US, true, FIELD(min_rtt_us),
	 "the kernel's minimum round-trip time"},
	{"receiver-rtt", "RCVRTT", "receiver_rtt_us", COLUMN_US, false, FIELD(rcv_rtt_us),
	 "the receiver's own estimate of the round-trip time"},
	{"cwnd", "CWND", "cwnd_segments", COLUMN_NUMBER, true, FIELD(cwnd),
	 "congestion window, segments"},
	{"mss", "MSS", "mss_bytes", COLUMN_NUMBER, false, FIELD(mss), "segment size, bytes"},
	{"rate", "RATE", "delivery_rate_bytes_per_s", COLUMN_BYTES_PER_S, false,
	 FIELD(delivery_rate_Bps), "rate of delivery to the peer"},
	{"rwin", "RWIN", "receive.window_bytes", COLUMN_BYTES, true, FIELD(flow.rcv.window),
	 "limit that right-sizing set on the receive window"},
	{"swin", "SWIN", "send.window_bytes", COLUMN_BYTES, true, FIELD(flow.snd.window),
	 "limit that right-sizing set on the send window"},
	{"advertised", "ADVERT", "advertised_window_bytes", COLUMN_BYTES, false, FIELD(rcv_wnd),
	 "receive window advertised to the peer"},
	{"peer-window", "PEERWIN", "send_window_bytes", COLUMN_BYTES, false, FIELD(snd_wnd),
	 "receive window that the peer advertises"},
	{"rcvbuf", "RCVBUF", "receive_buffer_bytes", COLUMN_BYTES, true, FIELD(rcvbuf),
	 "receive buffer, bytes of memory"},
	{"rcvbuf-used", "RCVUSED", "receive_buffer_used_bytes", COLUMN_BYTES, false,
	 FIELD(rmem_alloc), "how much of that is in use"},
	{"sndbuf", "SNDBUF", "send_buffer_bytes", COLUMN_BYTES, true, FIELD(sndbuf),
	 "send buffer, bytes of memory"},
	{"sndbuf-used", "SNDUSED", "send_buffer_used_bytes", COLUMN_BYTES, false,
	 FIELD(wmem_queued), "how much of that is in use"},
	{"received", "RECEIVED", "bytes_received", COLUMN_BYTES, true, FIELD(bytes_received),
	 "bytes received"},
	{"sent", "SENT", "bytes_acked", COLUMN_BYTES, true, FIELD(bytes_acked),
	 "bytes sent and acknowledged"},
	{"retransmitted", "RETRANS", "retransmitted_segments", COLUMN_NUMBER, false,
	 FIELD(retransmits), "segments retransmitted"},
	{"lost", "LOST", "lost_segments", COLUMN_NUMBER, false, FIELD(lost),
	 "segments now thought lost"},
	{"limit", "LIMIT", "limit", COLUMN_TEXT, true, FIELD(limit), "what limits what it sends",
	 .words = WORDS_LIMIT},
	{"receive-limit", "RLIMIT", "receive.limit", COLUMN_TEXT, true, FIELD(receive_limit),
	 "what limits what it receives", .words = WORDS_LIMIT},
	{"rwhy", "RWHY", "receive.reason", COLUMN_TEXT, true, FIELD(flow.rcv_reason),
	 "why the receive window is what it is", .words = WORDS_REASON},
	{"swhy", "SWHY", "send.reason", COLUMN_TEXT, false, FIELD(flow.snd_reason),
	 "why the send window is what it is", .words = WORDS_REASON},
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
		     tcptuned_text_suggest(name, names, "tcptunectl flows --help lists all",
					   suggestion));
}

__u64 tcptuned_column_number(const struct tcptuned_column *column,
			     const struct tcptuned_flow_record *record)
{
	return tcptuned_field(record, column->offset, column->size);
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
static int compare_policy(__u32 a, __u32 b, tcptuned_policy_namer namer,
			  const struct tcptuned_kernel *kernel)
{
	char a_name[TCPTUNED_POLICY_NAME_MAX], b_name[TCPTUNED_POLICY_NAME_MAX];

	return a == b ? 0 : strcmp(namer(kernel, a, a_name), namer(kernel, b, b_name));
}

int tcptuned_column_order(const struct tcptuned_column *column,
			  const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b, tcptuned_policy_namer namer,
			  const struct tcptuned_kernel *kernel)
{
	int order;

	if (column->compare)
		order = column->compare(a, b);
	else if (!column->size)
		order = compare_policy(a->flow.policy, b->flow.policy, namer, kernel);
	else if (column->unit == COLUMN_TEXT)
		order = strcmp(tcptuned_column_text(column, a), tcptuned_column_text(column, b));
	else
		order = largest_first(tcptuned_column_number(column, a),
				      tcptuned_column_number(column, b));
	return order ?: tcptuned_flow_order(a, b) ?: compare_local(a, b) ?: compare_remote(a, b);
}
