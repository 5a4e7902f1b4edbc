// SPDX-License-Identifier: GPL-2.0-only
#include "flows/choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "util/text.h"

int tcptuned_flows_init(struct tcptuned_flows *flows, __u32 top_max)
{
	memset(flows, 0, sizeof(*flows));
	if (!top_max)
		return 0;
	flows->top = calloc(2 * (size_t)top_max, sizeof(*flows->top));
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

int tcptuned_flow_order(const struct tcptuned_flow_record *a, const struct tcptuned_flow_record *b)
{
	__u64 a_size = tcptuned_flow_size(a), b_size = tcptuned_flow_size(b);

	return (a_size < b_size) - (a_size > b_size);
}

static int by_choice(const void *a, const void *b, void *ctx)
{
	const struct tcptuned_flow_choice *choice = ctx;

	return choice->order ? choice->order(choice->ctx, a, b) : tcptuned_flow_order(a, b);
}

/* Sort those that were kept, and drop what is not among the first. */
static void sort_and_cut(struct tcptuned_flows *flows)
{
	qsort_r(flows->top, flows->top_len, sizeof(*flows->top), by_choice, &flows->choice);
	if (flows->top_len > flows->top_max)
		flows->top_len = flows->top_max;
}

/* A congestion control's name that is not UTF-8 would make Prometheus reject the whole scrape. */
static void make_printable(char name[TCPTUNED_CC_NAME_MAX])
{
	name[TCPTUNED_CC_NAME_MAX - 1] = '\0';
	tcptuned_text_make_printable(name);
}

/* Checks every field that is used as an index or as a string. */
static bool is_valid(const struct tcptuned_flow_record *record)
{
	return (record->family == AF_INET || record->family == AF_INET6) &&
	       record->limit < TCPTUNED_LIMITS && record->receive_limit < TCPTUNED_LIMITS &&
	       record->state && record->flow.rcv_reason < RIGHTSIZE_REASONS &&
	       record->flow.snd_reason < RIGHTSIZE_REASONS &&
	       memchr(record->congestion_control, '\0', TCPTUNED_CC_NAME_MAX);
}

int tcptuned_flows_add(struct tcptuned_flows *flows, const struct tcptuned_flow_record *from)
{
	struct tcptuned_flow_record record = *from;

	if (!is_valid(&record))
		return -EPROTO;
	make_printable(record.congestion_control);
	if (flows->choice.wanted && !flows->choice.wanted(flows->choice.ctx, &record))
		return 0;
	flows->wanted++;
	/* There is room for twice as many as wanted, so that as many records follow each sort. */
	if (flows->top_len == 2 * flows->top_max)
		sort_and_cut(flows);
	if (flows->top_max)
		flows->top[flows->top_len++] = record;
	return 0;
}

void tcptuned_flows_begin(struct tcptuned_flows *flows)
{
	flows->top_len = 0;
	flows->jiffies = 0;
	flows->wanted = 0;
	memset(&flows->sums, 0, sizeof(flows->sums));
}

void tcptuned_flows_sum_up(struct tcptuned_flows *flows, const struct readout_sums *sums)
{
	flows->sums = *sums;
	if (!flows->choice.wanted)
		flows->wanted = sums->matched;
	for (__u32 i = 0; i < READOUT_GROUPS; i++)
		make_printable(flows->sums.group[i].congestion_control);
}

static int by_identity(const void *a, const void *b)
{
	const struct tcptuned_flow_record *left = a, *right = b;

	return memcmp(left->local, right->local, sizeof(left->local)) ?:
	       memcmp(left->remote, right->remote, sizeof(left->remote)) ?:
	       left->local_port - right->local_port ?:
	       left->remote_port - right->remote_port ?:
	       left->family - right->family ?:
	       (left->netns > right->netns) - (left->netns < right->netns);
}

/* If connections come and go meanwhile, one may be read twice. */
void tcptuned_flows_end(struct tcptuned_flows *flows)
{
	struct tcptuned_flow_record *top = flows->top;
	__u32 kept = 0;

	if (!flows->top_len)
		return;
	qsort(top, flows->top_len, sizeof(*top), by_identity);
	for (__u32 i = 0; i < flows->top_len; i++)
		if (!i || by_identity(&top[i], &top[kept - 1]))
			top[kept++] = top[i];
	flows->top_len = kept;
	sort_and_cut(flows);
}
