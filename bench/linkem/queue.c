// SPDX-License-Identifier: GPL-2.0-only
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define NS_PER_SECOND	1000000000ull
#define SMALLEST_PACKET 40u
#define RING_MIN	1024u
#define RING_MAX	(1u << 22)

uint64_t rate_clock_send(struct rate_clock *c, uint64_t ready_ns, uint32_t bytes)
{
	uint64_t work;

	if (!c->rate_bps)
		return ready_ns;
	if (c->busy_until_ns < ready_ns) {
		c->busy_until_ns = ready_ns;
		c->remainder = 0;
	}
	work = bytes * 8ull * NS_PER_SECOND + c->remainder;
	c->busy_until_ns += work / c->rate_bps;
	c->remainder = work % c->rate_bps;
	return c->busy_until_ns;
}

static uint32_t ring_size_for(const struct queue_config *config)
{
	uint64_t need = config->limit_packets;
	uint32_t size = RING_MIN;

	if (!need || (config->limit_bytes && config->limit_bytes / SMALLEST_PACKET < need))
		need = config->limit_bytes / SMALLEST_PACKET;
	while (size <= need && size < RING_MAX)
		size *= 2;
	return size;
}

int queue_init(struct queue *q, const struct queue_config *config)
{
	if (!config->rate_bps || (!config->limit_bytes && !config->limit_packets) ||
	    (config->red.on && !config->packet_bytes))
		return -EINVAL;
	*q = (struct queue){
		.config = *config,
		.access.rate_bps = config->access_bps,
		.link.rate_bps = config->rate_bps,
		.ring_size = ring_size_for(config),
		.random = config->seed,
	};
	if (config->red.on)
		red_init(&q->red, &config->red,
			 config->packet_bytes * 8ull * NS_PER_SECOND / config->rate_bps,
			 ~config->seed); /* not the draws of random loss once more */
	q->ring = malloc(q->ring_size * sizeof(*q->ring));
	if (!q->ring)
		return -ENOMEM;
	memset(q->ring, 0xff, q->ring_size * sizeof(*q->ring));
	return 0;
}

void queue_free(struct queue *q)
{
	free(q->ring);
	q->ring = NULL;
}

static void drain(struct queue *q, uint64_t now_ns)
{
	while (q->head != q->tail) {
		const struct waiting *w = &q->ring[q->head & (q->ring_size - 1)];

		if (w->depart_ns > now_ns)
			return;
		q->bytes -= w->bytes;
		q->head++;
	}
}

static bool lost_by_chance(struct queue *q)
{
	double p = q->config.loss;

	/* drawn only where there is loss at all */
	return p > 0 && random_uniform(&q->random) < p;
}

static bool lost_by_choice(struct queue *q, bool data)
{
	unsigned int next = q->lost_by_choice;

	if (!data)
		return false;
	q->data_segments++;
	if (next == q->config.lose_count || q->config.lose[next] != q->data_segments)
		return false;
	q->lost_by_choice++;
	return true;
}

static enum verdict ask_red(struct queue *q, uint64_t now_ns, uint32_t packets)
{
	static const enum verdict verdicts[] = {
		[RED_KEEP] = VERDICT_PASS,
		[RED_EARLY] = VERDICT_EARLY,
		[RED_FORCED] = VERDICT_FORCED,
	};

	if (!q->config.red.on)
		return VERDICT_PASS;
	return verdicts[red_arrival(&q->red, now_ns, packets, q->link.busy_until_ns)];
}

enum verdict queue_offer(struct queue *q, uint64_t now_ns, uint32_t bytes, bool data,
			 struct offer *ret)
{
	const struct queue_config *config = &q->config;
	enum verdict verdict;
	uint32_t packets;

	ret->arrive_ns = rate_clock_send(&q->access, now_ns, bytes);
	drain(q, ret->arrive_ns);
	packets = q->tail - q->head;
	if (lost_by_choice(q, data))
		return VERDICT_CHOSEN;
	if (lost_by_chance(q))
		return VERDICT_LOST;
	verdict = ask_red(q, ret->arrive_ns, packets);
	if (verdict != VERDICT_PASS)
		return verdict;
	if ((config->limit_packets && packets >= config->limit_packets) ||
	    (config->limit_bytes && q->bytes + bytes > config->limit_bytes))
		return VERDICT_FULL;
	if (packets == q->ring_size)
		return VERDICT_NO_ROOM;
	ret->depart_ns = rate_clock_send(&q->link, ret->arrive_ns, bytes);
	q->ring[q->tail++ & (q->ring_size - 1)] = (struct waiting){ret->depart_ns, bytes};
	q->bytes += bytes;
	ret->queued_bytes = q->bytes;
	ret->queued_packets = packets + 1;
	return VERDICT_PASS;
}
