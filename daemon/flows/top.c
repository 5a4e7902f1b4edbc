// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "flows/top.h"
#include "util/text.h"

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
