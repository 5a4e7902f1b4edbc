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
	[RIGHTSIZE_FLOOR] = { "floor", "the path needs no more than the least that it is given" },
	[RIGHTSIZE_MEASURED] = { "measured",
				 "twice what the best rate so far carries in the minimum RTT" },
	[RIGHTSIZE_GROWING] = { "growing", "the last round trip carried more than any before: "
					   "twice that, and room to grow" },
	[RIGHTSIZE_DRAINING] = { "draining",
				 "held small for a few round trips, to measure the minimum RTT again" },
	[RIGHTSIZE_CAPPED] = { "capped", "it would be larger, but for the policy's maximum or the "
					 "window scale of the handshake" },
	[RIGHTSIZE_BUDGET] = { "budget", "it would be larger, but for the memory budget, or since "
					 "the kernel has hardly any memory left for TCP" },
	[RIGHTSIZE_USABLE] = { "usable", "twice the congestion window, or the peer's window, lets "
					 "it use no more" },
	[RIGHTSIZE_SHORT_QUEUE] = { "short_queue", "the path is slow, and its queue did not hold a "
						   "window of twice what the path carries" },
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
	[BITCP_NORMAL] = { "normal", "as standard TCP, below bitcp.low_window" },
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

__u64 tcptuned_flows_left_out(const struct tcptuned_flows *flows)
{
	return flows->live > flows->top_len ? flows->live - flows->top_len : 0;
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

/* Either direction of a record, by one name. */
struct direction {
	const struct rightsize *rs;
	__u32 floor;   /* bytes */
	__u32 changes; /* decisions that made the window another */
	bool least;    /* the policy has it begin with more than the kernel */
	bool stands;   /* its application sizes it, or clamps it */
};

static struct direction direction_of(const struct tcptuned_flow *flow, int send)
{
	if (send)
		return (struct direction){
			.rs = &flow->snd,
			.floor = flow->snd_floor,
			.changes = flow->snd_grows + flow->snd_shrinks,
			.least = flow->flags & TCPTUNED_F_SND_LEAST,
			.stands = flow->flags & TCPTUNED_F_SNDBUF_APP,
		};
	return (struct direction){
		.rs = &flow->rcv,
		.floor = flow->rcv_floor,
		.changes = flow->rcv_grows + flow->rcv_shrinks,
		.least = flow->flags & TCPTUNED_F_RCV_LEAST,
		.stands = flow->flags & TCPTUNED_F_RCVBUF_APP,
	};
}

/*
 * While it needs what it began with, neither more nor less, a connection is the kernel's; and it
 * is not given back when it comes to need that again (on_ack_out(), on_rtt()).
 */
static __u32 decided(const struct direction *its)
{
	if (its->stands || (its->rs->window == its->floor && !its->changes && !its->least))
		return 0;
	return its->rs->window;
}

/* What a policy fixes the buffer to, bytes of memory; 0: it does not (may_fix()). */
static __u32 fixed(const struct direction *its, __u32 buffer, __u32 override)
{
	return its->stands && !override ? 0 : 2 * buffer;
}

/*
 * It stands in the SYN, so that there is none where the connection was accepted or was open
 * before; nor where its application bounds what its window can be (open_first_window()).
 */
static __u32 first_window(const struct tcptuned_flow *flow, const struct tcptuned_policy *policy)
{
	__u32 without = TCPTUNED_F_PASSIVE | TCPTUNED_F_ADOPTED | TCPTUNED_F_RCVBUF_APP;

	return flow->flags & without ? 0 : policy->first_window;
}

/* unsent_max() of the kernel side, of a connection whose send buffer would be sized. */
static __u32 unsent_max(const struct tcptuned_flow_record *record)
{
	if (record->unsent_max)
		return 0;
	return record->flow.snd_unsent_max ? record->flow.snd_unsent_max :
					     rightsize_unsent(&record->flow.snd);
}

/* An application may go slower than it is told to. */
static __u32 pacing_rate(const struct tcptuned_flow_record *record,
			 const struct tcptuned_policy *policy)
{
	if (record->pacing_max_Bps && record->pacing_max_Bps <= policy->pacing_rate_max)
		return 0;
	return policy->pacing_rate_max;
}

/* What is left of the path memory's where the policy says how to begin, and with what. */
static void put_remembered(struct tcptuned_would_set *would, const struct tcptuned_flow *flow)
{
	if (!would->rcv_buffer)
		would->remembered_window = flow->rcv_seed;
	if (!would->rcv_buffer && !would->first_window)
		would->slow_path = !!(flow->flags & TCPTUNED_F_SLOW_SEED);
	if (!strcmp(would->congestion_control, "bitcp"))
		would->remembered_max = flow->max_window_seed;
}

static void put_budget(const struct budget_share *share, __u32 *ret_wanted, __u32 *ret_refused)
{
	*ret_wanted = share->wanted;
	*ret_refused = share->wanted > share->granted ? share->wanted - share->granted : 0;
}

struct tcptuned_would_set tcptuned_flow_would_set(const struct tcptuned_flow_record *record,
						  const struct tcptuned_policy *policy)
{
	const struct tcptuned_flow *flow = &record->flow;
	struct direction rcv = direction_of(flow, 0), snd = direction_of(flow, 1);
	struct tcptuned_would_set would = { 0 };

	if (!(flow->flags & TCPTUNED_F_OBSERVE))
		return would;
	if (policy) {
		would.rcv_buffer = fixed(&rcv, policy->rcv_buffer, policy->override_rcvbuf);
		would.snd_buffer = fixed(&snd, policy->snd_buffer, policy->override_sndbuf);
		would.pacing_rate = pacing_rate(record, policy);
	}
	if (policy && !would.rcv_buffer)
		would.first_window = first_window(flow, policy);
	if (!would.rcv_buffer)
		would.rcv_window = decided(&rcv);
	if (!would.snd_buffer)
		would.snd_window = decided(&snd);
	if (would.snd_window)
		would.unsent_max = unsent_max(record);
	if (would.rcv_window)
		put_budget(&flow->rcv_share, &would.rcv_budget, &would.rcv_refused);
	if (would.snd_window)
		put_budget(&flow->snd_share, &would.snd_budget, &would.snd_refused);
	if (policy && flow->flags & TCPTUNED_F_CC_WOULD)
		memcpy(would.congestion_control, policy->congestion_control,
		       sizeof(would.congestion_control));
	put_remembered(&would, flow);
	return would;
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
	       record->flow.rcv.reason < RIGHTSIZE_REASONS &&
	       record->flow.snd.reason < RIGHTSIZE_REASONS &&
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

void tcptuned_flows_begin(struct tcptuned_flows *flows, const struct readout_sums *sums)
{
	struct tcptuned_flow_choice choice = flows->choice;
	struct tcptuned_flow_record *top = flows->top;
	__u32 top_max = flows->top_max;

	memset(flows, 0, sizeof(*flows));
	flows->choice = choice;
	flows->top = top;
	flows->top_max = top_max;
	if (!sums)
		return;
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

__u32 tcptuned_flows_least_class(const struct readout_sums *sums, __u64 wanted, __u64 *ret_above)
{
	__u32 class = READOUT_CLASSES - 1;
	__u64 above = 0;

	while (class && above + sums->class[class] < wanted)
		above += sums->class[class--];
	*ret_above = above;
	return class;
}
