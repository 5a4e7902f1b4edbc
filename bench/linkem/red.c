// SPDX-License-Identifier: GPL-2.0-only
#include "red.h"

#include <math.h>

#include "random.h"

#define NS_PER_SECOND 1e9

/* ns-2's targetdelay_, and the round trip that it assumes at least */
#define TARGET_DELAY_S 0.005
#define RTT_MIN_S      0.1
#define MIN_TH_MIN     5.0

/* "Adaptive RED", section 4: how often and how far max_p moves */
#define ADAPT_NS    500000000ull
#define ADAPT_ALPHA 0.01
#define ADAPT_BETA  0.9

void red_config_resolve(struct red_config *c, uint64_t rate_bps, uint64_t delay_ns,
			uint32_t packet_bytes)
{
	double packets_per_s =
		(double)rate_bps / 8 / (c->mean_bytes > 0 ? c->mean_bytes : packet_bytes);
	double rtt_s = 3 * ((double)delay_ns / NS_PER_SECOND + 1 / packets_per_s);

	if (c->min_th <= 0)
		c->min_th = fmax(MIN_TH_MIN, TARGET_DELAY_S * packets_per_s / 2);
	if (c->max_th <= 0)
		c->max_th = 3 * c->min_th;
	if (c->weight <= 0)
		c->weight = 1 - exp(-1 / (10 * fmax(rtt_s, RTT_MIN_S) * packets_per_s));
}

void red_init(struct red *r, const struct red_config *config, uint64_t packet_ns, uint64_t seed)
{
	*r = (struct red){
		.config = *config,
		.packet_ns = packet_ns,
		.random = seed,
		.max_p = config->max_p,
		.count = -1,
	};
}

/* Figure 2 of the paper of 1993; an idle link counts as one that small queues were seen on. */
static void update_average(struct red *r, uint64_t now_ns, uint32_t queued, uint64_t idle_since_ns)
{
	double w = r->config.weight;

	if (queued)
		r->avg += w * (queued - r->avg);
	else
		r->avg *= pow(1 - w, (double)(now_ns - idle_since_ns) / (double)r->packet_ns);
	if (r->avg > r->avg_max)
		r->avg_max = r->avg;
}

/* Keeps the average in the middle fifth between the thresholds ("Adaptive RED", Figure 3). */
static void adapt(struct red *r, uint64_t now_ns)
{
	const struct red_config *c = &r->config;
	double part = 0.4 * (c->max_th - c->min_th);

	if (!r->adapted_ns)
		r->adapted_ns = now_ns;
	if (now_ns - r->adapted_ns < ADAPT_NS)
		return;
	r->adapted_ns = now_ns;
	if (r->avg > c->max_th - part)
		r->max_p = fmin(c->top, r->max_p + fmin(ADAPT_ALPHA, r->max_p / 4));
	else if (r->avg < c->min_th + part)
		r->max_p = fmax(c->bottom, r->max_p * ADAPT_BETA);
}

double red_probability(const struct red *r)
{
	const struct red_config *c = &r->config;

	if (r->avg < c->min_th)
		return 0;
	if (r->avg < c->max_th)
		return r->max_p * (r->avg - c->min_th) / (c->max_th - c->min_th);
	if (!c->gentle || r->avg >= 2 * c->max_th)
		return 1;
	return r->max_p + (1 - r->max_p) * (r->avg - c->max_th) / c->max_th;
}

/* p_a: makes the distance between two drops uniform rather than geometric. */
static double spread(const struct red *r, double p)
{
	double sum = (double)r->count * p, whole = 1;

	if (r->config.wait) {
		if (sum < 1)
			return 0;
		whole = 2;
	}
	return sum + p < whole ? p / (whole - sum) : 1;
}

enum red_fate red_arrival(struct red *r, uint64_t now_ns, uint32_t queued, uint64_t idle_since_ns)
{
	double p;

	update_average(r, now_ns, queued, idle_since_ns);
	if (r->config.adaptive)
		adapt(r, now_ns);
	p = red_probability(r);
	if (p <= 0) {
		r->count = -1;
		return RED_KEEP;
	}
	if (p >= 1) {
		r->count = 0;
		return RED_FORCED;
	}
	r->count++;
	if (random_uniform(&r->random) >= spread(r, p))
		return RED_KEEP;
	r->count = 0;
	return RED_EARLY;
}
