// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "flows.h"

#define RECORDS_PER_READ 64

/*
 * The iterator gives up a read() with EAGAIN after a million sockets of which it had nothing
 * to say (bpf_seq_read(), MAX_ITER_OBJECTS); the next read() goes on from there.
 */
#define READ_AGAIN_MAX 1000

static const char *const limit_names[TCPTUNED_LIMITS] = {
	[TCPTUNED_LIMIT_IDLE] = "idle",		 [TCPTUNED_LIMIT_APPLICATION] = "application",
	[TCPTUNED_LIMIT_CWND] = "cwnd",		 [TCPTUNED_LIMIT_RWND] = "receiver_window",
	[TCPTUNED_LIMIT_SNDBUF] = "send_buffer",
};

static const char *const reason_names[RIGHTSIZE_REASONS] = {
	[RIGHTSIZE_UNMEASURED] = "unmeasured", [RIGHTSIZE_FLOOR] = "floor",
	[RIGHTSIZE_MEASURED] = "measured",     [RIGHTSIZE_GROWING] = "growing",
	[RIGHTSIZE_DRAINING] = "draining",     [RIGHTSIZE_CAPPED] = "capped",
	[RIGHTSIZE_BUDGET] = "budget",
	[RIGHTSIZE_USABLE] = "usable",
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

static const char *const bitcp_mode_names[TCPTUNED_BITCP_MODES] = {
	[BITCP_SLOW_START] = "slow_start",
	[BITCP_NORMAL] = "normal",
	[BITCP_BINARY_SEARCH] = "binary_search",
	[BITCP_ADDITIVE] = "additive",
	[BITCP_SLOW_START_PAST_MAX] = "slow_start_past_max",
};

#define NAME(table, index)                                                               \
	((index) < sizeof(table) / sizeof((table)[0]) && (table)[index] ? (table)[index] \
									: "unknown")

const char *tcptuned_limit_name(unsigned int limit)
{
	return NAME(limit_names, limit);
}

const char *tcptuned_reason_name(unsigned int reason)
{
	return NAME(reason_names, reason);
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
	return NAME(bitcp_mode_names, mode);
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
	return flows->live - flows->top_len;
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

/* Until it needs more than it began with, a connection is the kernel's. */
static __u32 decided(const struct tcptuned_flow *flow, int send)
{
	const struct rightsize *rs = send ? &flow->snd : &flow->rcv;
	__u32 least = send ? TCPTUNED_F_SND_LEAST : TCPTUNED_F_RCV_LEAST;
	__u32 floor = send ? flow->snd_floor : flow->rcv_floor;

	return rs->window > floor || (flow->flags & least) ? rs->window : 0;
}

struct tcptuned_would_set tcptuned_flow_would_set(const struct tcptuned_flow_record *record,
						  const struct tcptuned_policy *policy)
{
	const struct tcptuned_flow *flow = &record->flow;
	struct tcptuned_would_set would = { 0 };

	if (!(flow->flags & TCPTUNED_F_OBSERVE))
		return would;
	if (policy && policy->rcv_buffer)
		would.rcv_buffer = 2 * policy->rcv_buffer;
	else
		would.rcv_window = decided(flow, 0);
	if (policy && policy->snd_buffer)
		would.snd_buffer = 2 * policy->snd_buffer;
	else
		would.snd_window = decided(flow, 1);
	if (!policy)
		return would;
	would.pacing_rate = policy->pacing_rate_max;
	if (flow->flags & TCPTUNED_F_CC_WOULD)
		memcpy(would.congestion_control, policy->congestion_control,
		       sizeof(would.congestion_control));
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

/* The second half of a heap sort: the heap becomes a list, in order. */
static void sort_top(struct tcptuned_flows *flows)
{
	__u32 len;

	for (len = flows->top_len; len > 1; len--) {
		swap_records(&flows->top[0], &flows->top[len - 1]);
		heap_sink(flows, len - 1, 0);
	}
}

/* --- one record -------------------------------------------------------------------------- */

static void count_group(struct tcptuned_flows *flows, const struct tcptuned_flow_record *record)
{
	struct tcptuned_flow_group *group;
	__u32 i;

	for (i = 0; i < flows->groups_len; i++) {
		group = &flows->groups[i];
		if (group->policy == record->flow.policy &&
		    !strcmp(group->congestion_control, record->congestion_control)) {
			group->flows++;
			return;
		}
	}
	if (flows->groups_len == TCPTUNED_FLOW_GROUPS) {
		flows->groups_other++;
		return;
	}
	group = &flows->groups[flows->groups_len++];
	group->policy = record->flow.policy;
	strcpy(group->congestion_control, record->congestion_control);
	group->flows = 1;
}

/*
 * Whoever registers a congestion control chooses its name. One that is no UTF-8 would make
 * Prometheus refuse the whole scrape.
 */
static void make_printable(char *name)
{
	for (; *name; name++)
		if (*name < ' ' || *name > '~')
			*name = '?';
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

/*
 * A listener has a record too (its SO_RCVBUF request), and so has a socket whose connection is
 * over but which its application still holds, perhaps while a new one uses the same addresses.
 */
static bool record_live(const struct tcptuned_flow_record *record)
{
	return (record->flow.flags & TCPTUNED_F_CLAIMED) && record->state != TCP_LISTEN &&
	       record->state != TCP_CLOSE;
}

static void count_record(struct tcptuned_flows *flows,
			 const struct tcptuned_flow_record *record)
{
	__u32 flags = record->flow.flags;

	flows->records++;
	if (!record_live(record))
		return;
	flows->live++;
	flows->observed += !!(flags & TCPTUNED_F_OBSERVE);
	flows->rcv_taken += !!(flags & TCPTUNED_F_RCV_TAKEN);
	flows->snd_taken += !!(flags & TCPTUNED_F_SND_TAKEN);
	flows->rcvbuf_requests += !!(flags & TCPTUNED_F_RCVBUF_REQ);
	flows->sndbuf_requests += !!(flags & TCPTUNED_F_SNDBUF_REQ);
	flows->limited[record->limit]++;
	flows->rcv_reason[record->flow.rcv.reason]++;
	flows->snd_reason[record->flow.snd.reason]++;
	flows->rcvbuf_bytes += record->rcvbuf;
	flows->sndbuf_bytes += record->sndbuf;
	flows->rmem_bytes += record->rmem_alloc;
	flows->wmem_bytes += record->wmem_queued;
	flows->rcv_wnd_bytes += record->rcv_wnd;
	count_group(flows, record);
	if (flows->choice.wanted && !flows->choice.wanted(flows->choice.ctx, record))
		return;
	flows->wanted++;
	keep_if_first(flows, record);
}

/* --- all records ------------------------------------------------------------------------- */

static void flows_reset(struct tcptuned_flows *flows)
{
	struct tcptuned_flow_choice choice = flows->choice;
	struct tcptuned_flow_record *top = flows->top;
	__u32 top_max = flows->top_max;

	memset(flows, 0, sizeof(*flows));
	flows->choice = choice;
	flows->top = top;
	flows->top_max = top_max;
}

/* read(), however often it takes. Returns its result or a negative errno. */
static ssize_t read_some(int fd, void *data, size_t size)
{
	int again = 0;
	ssize_t got;

	for (;;) {
		got = read(fd, data, size);
		if (got >= 0)
			return got;
		if (errno == EAGAIN && again++ < READ_AGAIN_MAX)
			continue;
		if (errno != EINTR)
			return -errno;
	}
}

static int read_records(struct tcptuned_flows *flows, int fd)
{
	struct tcptuned_flow_record records[RECORDS_PER_READ];
	size_t have = 0, done;
	ssize_t got;

	for (;;) {
		got = read_some(fd, (char *)records + have, sizeof(records) - have);
		if (got < 0)
			return (int)got;
		if (!got)
			return have ? -EPROTO : 0;
		have += (size_t)got;
		for (done = 0; (done + 1) * sizeof(records[0]) <= have; done++) {
			if (!record_valid(&records[done]))
				return -EPROTO;
			make_printable(records[done].congestion_control);
			count_record(flows, &records[done]);
		}
		/* A record may be cut in two by the end of a read. */
		have -= done * sizeof(records[0]);
		memmove(records, &records[done], have);
	}
}

int tcptuned_flows_read_fd(struct tcptuned_flows *flows, int fd)
{
	int err;

	flows_reset(flows);
	err = read_records(flows, fd);
	sort_top(flows);
	return err;
}

int tcptuned_flows_read(struct tcptuned_flows *flows, int dump_link_fd)
{
	int fd, err;

	flows_reset(flows);
	fd = bpf_iter_create(dump_link_fd);
	if (fd < 0)
		return fd;
	err = tcptuned_flows_read_fd(flows, fd);
	close(fd);
	return err;
}
