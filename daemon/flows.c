// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "flows.h"
#include "text.h"

/* A word of metrics, JSON and columns, and what it means. */
struct word {
	const char *name, *meaning;
};

static const struct word limits[TCPTUNED_LIMITS] = {
	[TCPTUNED_LIMIT_IDLE] = { "idle", "nothing to send, and nothing in flight" },
	[TCPTUNED_LIMIT_APPLICATION] = { "application", "the application sends less than it may" },
	[TCPTUNED_LIMIT_CWND] = { "cwnd", "the congestion window" },
	[TCPTUNED_LIMIT_RWND] = { "receiver_window", "the peer's receive window" },
	[TCPTUNED_LIMIT_SNDBUF] = { "send_buffer",
				    "its send buffer, or the bound on what waits there unsent" },
	[TCPTUNED_LIMIT_PACING] = { "pacing", "its pacing limit" },
	[TCPTUNED_LIMIT_QUEUE] = { "local_queue",
				   "a queue of this host, in front of the network device" },
};

static const struct word reasons[RIGHTSIZE_REASONS] = {
	[RIGHTSIZE_UNMEASURED] = { "unmeasured", "no round trip has been measured yet: the "
						 "kernel's own sizing goes on" },
	[RIGHTSIZE_KERNEL] = { "kernel", "the kernel's autotuning: no standing queue has been "
					 "seen, or a test showed that less window costs rate" },
	[RIGHTSIZE_UNDER_TEST] = { "test", "is the queue the connection's own? What is in flight and "
					   "a quarter, then half for three round trips" },
	[RIGHTSIZE_PROBING] = { "probe_rtt", "half a bandwidth-delay product until the queue is "
					     "empty, to measure the minimum RTT" },
	[RIGHTSIZE_HELD] = { "held", "twice what the path carries in the minimum RTT: a test "
				     "showed that the queue was the connection's own" },
	[RIGHTSIZE_READER] = { "reader", "the application reads slowly: twice what it reads in a "
					 "round trip" },
	[RIGHTSIZE_CAPPED] = { "capped", "the policy's maximum" },
	[RIGHTSIZE_BUDGET] = { "budget", "it would be larger, but for the memory budget, or since "
					 "the kernel has hardly any memory left for TCP" },
};

static const char *const rightsize_states[] = {
	[RIGHTSIZE_FREE] = "free",
	[RIGHTSIZE_PREPARING] = "preparing",
	[RIGHTSIZE_TESTING] = "testing",
	[RIGHTSIZE_PROBE_RTT] = "probe_rtt",
	[RIGHTSIZE_HOLDING] = "holding",
};

static const char *const mode_names[] = {
	[TCPTUNED_OFF] = "off",
	[TCPTUNED_OBSERVE] = "observe",
	[TCPTUNED_TUNE] = "tune",
};

static const char *const state_names[] = {
	[TCP_ESTABLISHED] = "established",
	[TCP_SYN_SENT] = "syn_sent",
	[TCP_SYN_RECV] = "syn_recv",
	[TCP_FIN_WAIT1] = "fin_wait1",
	[TCP_FIN_WAIT2] = "fin_wait2",
	[TCP_TIME_WAIT] = "time_wait",
	[TCP_CLOSE] = "close",
	[TCP_CLOSE_WAIT] = "close_wait",
	[TCP_LAST_ACK] = "last_ack",
	[TCP_LISTEN] = "listen",
	[TCP_CLOSING] = "closing",
};

static const struct word bitcp_modes[TCPTUNED_BITCP_MODES] = {
	[BITCP_SLOW_START] = { "slow_start", "below the slow-start threshold" },
	[BITCP_NORMAL] = { "normal", "as standard TCP, below 14 segments" },
	[BITCP_BINARY_SEARCH] = { "binary_search", "closing in on the window that it heads for" },
	[BITCP_ADDITIVE] = { "additive", "far below that: S_max segments per round trip" },
	[BITCP_SLOW_START_PAST_MAX] = { "slow_start_past_max",
					"beyond it, looking for a new one: 1, 2, 4 ... S_max "
					"segments per round trip" },
};

static const struct {
	const struct word *words;
	size_t len;
} vocabularies[TCPTUNED_VOCABULARIES] = {
	[TCPTUNED_WORDS_LIMIT] = { limits, TCPTUNED_LIMITS },
	[TCPTUNED_WORDS_REASON] = { reasons, RIGHTSIZE_REASONS },
	[TCPTUNED_WORDS_BITCP_MODE] = { bitcp_modes, TCPTUNED_BITCP_MODES },
};

static const struct word *word_of(enum tcptuned_vocabulary vocabulary, unsigned int index)
{
	static const struct word unknown = { "unknown", NULL };
	const struct word *word = &vocabularies[vocabulary].words[index];

	return index < vocabularies[vocabulary].len && word->name ? word : &unknown;
}

const char *tcptuned_word_meaning(enum tcptuned_vocabulary vocabulary, unsigned int index)
{
	return word_of(vocabulary, index)->meaning;
}

#define NAME(table, index)                                                               \
	((index) < sizeof(table) / sizeof((table)[0]) && (table)[index] ? (table)[index] \
									: "unknown")

const char *tcptuned_limit_name(unsigned int limit)
{
	return word_of(TCPTUNED_WORDS_LIMIT, limit)->name;
}

const char *tcptuned_reason_name(unsigned int reason)
{
	return word_of(TCPTUNED_WORDS_REASON, reason)->name;
}

const char *tcptuned_rightsize_state_name(unsigned int state)
{
	return NAME(rightsize_states, state);
}

const char *tcptuned_mode_name(unsigned int mode)
{
	return NAME(mode_names, mode);
}

const char *tcptuned_state_name(unsigned int state)
{
	return NAME(state_names, state);
}

const char *tcptuned_bitcp_mode_name(unsigned int mode)
{
	return word_of(TCPTUNED_WORDS_BITCP_MODE, mode)->name;
}

int tcptuned_flows_init(struct tcptuned_flows *flows, __u32 top_max)
{
	memset(flows, 0, sizeof(*flows));
	if (!top_max)
		return 0;
	flows->top = calloc(top_max, sizeof(*flows->top));
	if (!flows->top)
		return -ENOMEM;
	flows->top_max = top_max;
	return 0;
}

void tcptuned_flows_free(struct tcptuned_flows *flows)
{
	free(flows->top);
	memset(flows, 0, sizeof(*flows));
}

__u64 tcptuned_flow_size(const struct tcptuned_flow_record *record)
{
	return record->bytes_received + record->bytes_acked;
}

void tcptuned_flow_address(const struct tcptuned_flow_record *record, int remote,
			   char text[TCPTUNED_ADDRESS_MAX])
{
	unsigned int port = remote ? record->remote_port : record->local_port;
	const void *addr = remote ? record->remote : record->local;
	char host[INET6_ADDRSTRLEN] = "";

	inet_ntop(record->family, addr, host, sizeof(host));
	snprintf(text, TCPTUNED_ADDRESS_MAX, record->family == AF_INET6 ? "[%s]:%u" : "%s:%u",
		 host, port);
}

/* --- the first of them: a heap with the last of these on top ------------------------------ */

static void swap_records(struct tcptuned_flow_record *a, struct tcptuned_flow_record *b)
{
	struct tcptuned_flow_record c = *a;

	*a = *b;
	*b = c;
}

static bool comes_before(const struct tcptuned_flows *flows, const struct tcptuned_flow_record *a,
			 const struct tcptuned_flow_record *b)
{
	if (flows->choice.order)
		return flows->choice.order(flows->choice.ctx, a, b) < 0;
	return tcptuned_flow_size(a) > tcptuned_flow_size(b);
}

/* Let the record at @i sink to its place among the first @len. */
static void heap_sink(struct tcptuned_flows *flows, __u32 len, __u32 i)
{
	struct tcptuned_flow_record *heap = flows->top;

	for (;;) {
		__u32 last = i, child = 2 * i + 1;

		for (; child < len && child <= 2 * i + 2; child++)
			if (comes_before(flows, &heap[last], &heap[child]))
				last = child;
		if (last == i)
			return;
		swap_records(&heap[i], &heap[last]);
		i = last;
	}
}

static void heap_rise(struct tcptuned_flows *flows, __u32 i)
{
	struct tcptuned_flow_record *heap = flows->top;

	while (i) {
		__u32 parent = (i - 1) / 2;

		if (!comes_before(flows, &heap[parent], &heap[i]))
			return;
		swap_records(&heap[i], &heap[parent]);
		i = parent;
	}
}

static void keep_if_first(struct tcptuned_flows *flows, const struct tcptuned_flow_record *record)
{
	if (flows->top_len < flows->top_max) {
		flows->top[flows->top_len] = *record;
		heap_rise(flows, flows->top_len++);
	} else if (flows->top_len && comes_before(flows, record, &flows->top[0])) {
		flows->top[0] = *record;
		heap_sink(flows, flows->top_len, 0);
	}
}

/* --- one record -------------------------------------------------------------------------- */

/*
 * Whoever registers a congestion control chooses its name. One that is no UTF-8 would make
 * Prometheus refuse the whole scrape.
 */
static void make_printable(char name[TCPTUNED_CC_NAME_MAX])
{
	name[TCPTUNED_CC_NAME_MAX - 1] = '\0';
	tcptuned_make_printable(name);
}

/* Could this be a record at all? Nothing after this looks at a field that was not checked. */
static bool record_valid(const struct tcptuned_flow_record *record)
{
	return (record->family == AF_INET || record->family == AF_INET6) &&
	       record->limit < TCPTUNED_LIMITS && record->state &&
	       record->flow.rcv_reason < RIGHTSIZE_REASONS &&
	       record->flow.snd_reason < RIGHTSIZE_REASONS &&
	       memchr(record->congestion_control, '\0', TCPTUNED_CC_NAME_MAX);
}

int tcptuned_flows_add(struct tcptuned_flows *flows, const struct tcptuned_flow_record *from)
{
	struct tcptuned_flow_record record = *from;

	if (!record_valid(&record))
		return -EPROTO;
	make_printable(record.congestion_control);
	if (flows->choice.wanted && !flows->choice.wanted(flows->choice.ctx, &record))
		return 0;
	flows->wanted++;
	keep_if_first(flows, &record);
	return 0;
}

/* --- all of them ------------------------------------------------------------------------- */

/* The kernel's groups are by where a congestion control is: one replaced has its name twice. */
static void add_group(struct tcptuned_flows *flows, const struct readout_group *from)
{
	struct tcptuned_flow_group *group;
	char name[TCPTUNED_CC_NAME_MAX];
	__u32 i;

	memcpy(name, from->congestion_control, sizeof(name));
	make_printable(name);
	for (i = 0; i < flows->groups_len; i++) {
		group = &flows->groups[i];
		if (group->policy == from->policy && !strcmp(group->congestion_control, name)) {
			group->flows += from->flows;
			return;
		}
	}
	group = &flows->groups[flows->groups_len++];
	group->policy = from->policy;
	strcpy(group->congestion_control, name);
	group->flows = from->flows;
}

void tcptuned_flows_begin(struct tcptuned_flows *flows)
{
	struct tcptuned_flow_choice choice = flows->choice;
	struct tcptuned_flow_record *top = flows->top;
	__u32 top_max = flows->top_max;

	memset(flows, 0, sizeof(*flows));
	flows->choice = choice;
	flows->top = top;
	flows->top_max = top_max;
}

void tcptuned_flows_sum_up(struct tcptuned_flows *flows, const struct readout_sums *sums)
{
	if (!flows->choice.wanted)
		flows->wanted = sums->matched;
	flows->records = sums->records;
	flows->live = sums->live;
	flows->observed = sums->observed;
	flows->rcv_taken = sums->rcv_taken;
	flows->snd_taken = sums->snd_taken;
	flows->rcvbuf_requests = sums->rcvbuf_requests;
	flows->sndbuf_requests = sums->sndbuf_requests;
	flows->rcvbuf_bytes = sums->rcvbuf_bytes;
	flows->sndbuf_bytes = sums->sndbuf_bytes;
	flows->rmem_bytes = sums->rmem_bytes;
	flows->wmem_bytes = sums->wmem_bytes;
	flows->rcv_wnd_bytes = sums->rcv_wnd_bytes;
	memcpy(flows->limited, sums->limited, sizeof(flows->limited));
	memcpy(flows->rcv_reason, sums->rcv_reason, sizeof(flows->rcv_reason));
	memcpy(flows->snd_reason, sums->snd_reason, sizeof(flows->snd_reason));
	flows->groups_other = sums->groups_other;
	for (__u32 i = 0; i < READOUT_GROUPS; i++)
		if (sums->group[i].flows)
			add_group(flows, &sums->group[i]);
}

static int by_identity(const void *a, const void *b)
{
	const struct tcptuned_flow_record *left = a, *right = b;
	int order = memcmp(left->local, right->local, sizeof(left->local));

	if (!order)
		order = memcmp(left->remote, right->remote, sizeof(left->remote));
	if (!order)
		order = (int)left->local_port - (int)right->local_port;
	if (!order)
		order = (int)left->remote_port - (int)right->remote_port;
	if (!order)
		order = (int)left->family - (int)right->family;
	return order ? order : (left->netns > right->netns) - (left->netns < right->netns);
}

/* Where connections come and go while all are read, one may be read twice. */
static void drop_doubles(struct tcptuned_flows *flows)
{
	struct tcptuned_flow_record *top = flows->top;
	__u32 kept = 0;

	qsort(top, flows->top_len, sizeof(*top), by_identity);
	for (__u32 i = 0; i < flows->top_len; i++)
		if (!i || by_identity(&top[i], &top[kept - 1]))
			top[kept++] = top[i];
	flows->top_len = kept;
}

static int by_choice(const void *a, const void *b, void *flows)
{
	return comes_before(flows, a, b) ? -1 : comes_before(flows, b, a);
}

void tcptuned_flows_end(struct tcptuned_flows *flows)
{
	if (!flows->top_len)
		return;
	drop_doubles(flows);
	qsort_r(flows->top, flows->top_len, sizeof(*flows->top), by_choice, flows);
}
