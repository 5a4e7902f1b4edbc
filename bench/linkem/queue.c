// SPDX-License-Identifier: GPL-2.0-only
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define SMALLEST_PACKET 40u
#define RING_MIN	1024u
#define RING_MAX	(1u << 22)

uint64_t queue_fastest_bps(const struct queue_config *config)
{
	uint64_t fastest = config->rate_bps;

	for (unsigned int i = 0; i < config->schedule.count && !config->trace; i++)
		if (config->schedule.steps[i].rate_bps > fastest)
			fastest = config->schedule.steps[i].rate_bps;
	return fastest;
}

/* What holds at @now_ns. */
static struct step step_at(const struct queue *q, uint64_t now_ns)
{
	const struct queue_config *c = &q->config;

	if (c->schedule.count)
		return *schedule_at(&c->schedule, now_ns - q->start_ns);
	return (struct step){.limit_bytes = c->limit_bytes, .limit_packets = c->limit_packets};
}

/* When the last bit of the segment is out, behind all before it. */
static uint64_t serialise(struct queue *q, uint64_t ready_ns, uint32_t bytes)
{
	const struct queue_config *c = &q->config;
	uint64_t ready = ready_ns - q->start_ns;

	if (c->trace)
		return q->start_ns + trace_send(c->trace, &q->trace, ready, bytes);
	if (c->schedule.count)
		return q->start_ns + schedule_send(&c->schedule, &q->link, ready, bytes);
	return rate_clock_send(&q->link, ready_ns, bytes);
}

static uint64_t most_packets(uint64_t limit_bytes, uint32_t limit_packets)
{
	uint64_t small = limit_bytes / SMALLEST_PACKET;

	return limit_packets && (!limit_bytes || limit_packets < small) ? limit_packets : small;
}

static uint32_t ring_size_for(const struct queue_config *config)
{
	uint64_t need = most_packets(config->limit_bytes, config->limit_packets);
	uint32_t size = RING_MIN;

	for (unsigned int i = 0; i < config->schedule.count; i++) {
		const struct step *step = &config->schedule.steps[i];
		uint64_t own = most_packets(step->limit_bytes, step->limit_packets);

		need = own > need ? own : need;
	}
	while (size <= need && size < RING_MAX)
		size *= 2;
	return size;
}

static size_t policer_count(const struct queue_config *config)
{
	return config->police_flows ? UINT16_MAX + 1 : 1;
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
		.bursts = config->bursts,
	};
	q->bursts.random = random_seed_for(config->seed, 1);
	if (config->red.on)
		red_init(&q->red, &config->red,
			 config->packet_bytes * 8ull * NS_PER_SECOND / config->rate_bps,
			 ~config->seed); /* not the draws of random loss once more */
	q->ring = malloc(q->ring_size * sizeof(*q->ring));
	q->policers = config->police_bps ? malloc(policer_count(config) * sizeof(*q->policers))
					 : NULL;
	if (!q->ring || (config->police_bps && !q->policers)) {
		queue_free(q);
		return -ENOMEM;
	}
	memset(q->ring, 0xff, q->ring_size * sizeof(*q->ring));
	for (size_t i = 0; q->policers && i < policer_count(config); i++)
		q->policers[i] = (struct rate_clock){.rate_bps = config->police_bps};
	return 0;
}

void queue_free(struct queue *q)
{
	free(q->ring);
	free(q->policers);
	q->ring = NULL;
	q->policers = NULL;
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
	return verdicts[red_arrival(&q->red, now_ns, packets, q->idle_from_ns)];
}

/* Whether the bucket holds enough tokens for the segment; takes them if so. */
static bool is_policed(struct queue *q, uint64_t now_ns, uint32_t bytes, uint16_t flow)
{
	struct rate_clock *bucket, charged;
	uint64_t full_ns;

	if (!q->policers)
		return false;
	bucket = &q->policers[q->config.police_flows ? flow : 0];
	charged = *bucket;
	full_ns = (uint64_t)((double)q->config.police_bytes * 8 * NS_PER_SECOND /
			     (double)charged.rate_bps);
	if (rate_clock_send(&charged, now_ns, bytes) - now_ns > full_ns)
		return true;
	*bucket = charged;
	return false;
}

static bool wants_mark(const struct queue_config *c, uint64_t bytes, uint32_t packets)
{
	return (c->mark_bytes && bytes > c->mark_bytes) ||
	       (c->mark_packets && packets > c->mark_packets);
}

enum verdict queue_offer(struct queue *q, uint64_t now_ns, uint32_t bytes, bool data, uint16_t flow,
			 struct offer *ret)
{
	enum verdict verdict;
	uint32_t packets;
	struct step step;

	ret->arrive_ns = rate_clock_send(&q->access, now_ns, bytes);
	if (!q->start_ns)
		q->start_ns = ret->arrive_ns;
	drain(q, ret->arrive_ns);
	packets = q->tail - q->head;
	if (lost_by_choice(q, data))
		return VERDICT_CHOSEN;
	if (lost_by_chance(q))
		return VERDICT_LOST;
	if (bursts_lose(&q->bursts))
		return VERDICT_BURST;
	if (is_policed(q, ret->arrive_ns, bytes, flow))
		return VERDICT_POLICED;
	verdict = ask_red(q, ret->arrive_ns, packets);
	if (verdict != VERDICT_PASS)
		return verdict;
	step = step_at(q, ret->arrive_ns);
	if ((step.limit_packets && packets >= step.limit_packets) ||
	    (step.limit_bytes && q->bytes + bytes > step.limit_bytes))
		return VERDICT_FULL;
	if (packets == q->ring_size)
		return VERDICT_NO_ROOM;
	ret->depart_ns = serialise(q, ret->arrive_ns, bytes);
	q->idle_from_ns = ret->depart_ns;
	q->ring[q->tail++ & (q->ring_size - 1)] = (struct waiting){ret->depart_ns, bytes};
	q->bytes += bytes;
	ret->queued_bytes = q->bytes;
	ret->queued_packets = packets + 1;
	ret->mark = wants_mark(&q->config, q->bytes, packets + 1);
	return VERDICT_PASS;
}
