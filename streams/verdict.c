// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "streams/verdict.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define MOST_OF_TIME 0.5
#define MUCH_OF_TIME \
	0.2		/* if there are no losses: a window limits once per RTT, not all the time */
#define BUSY	    0.9 /* of a core */
#define LINEAR	    0.9 /* of n times the rate of one connection */
#define CONSTANT    1.2 /* times the mean, the highest rate of a second */
#define LOSS_NONE   1e-6 /* fewer retransmissions are no sign of a congested path */
#define LOSS_RISES  1.5	 /* times that of one connection */
#define QUEUE_RISES 1.25 /* times the RTT of one connection */
#define RATE_RISES  1.25 /* times the rate of fewer connections, on a path that is not full */
#define PARTLY_MIN  1.1	 /* of a doubling; less may be chance */
#define PARTLY_MAX  1.6	 /* on a path that has room it is 2, and varies */
#define IMPACT_NONE 0.01 /* below the precision of any measurement */
#define STANDING    0.5	 /* of the minimum RTT: more than bursts of one connection */
#define REACHES	    0.9	 /* of the highest rate, by one connection in its best second */

static double queue_s(const struct tcptuned_streams_level *level)
{
	return level->rtt_s > 0 && level->rtt_min_s > 0 ? level->rtt_s - level->rtt_min_s : 0;
}

/* A tenth of the RTT, and a millisecond, are noise. */
static int has_queue(const struct tcptuned_streams_level *level)
{
	return queue_s(level) > fmax(0.1 * level->rtt_min_s, 1e-3);
}

static int has_losses(const struct tcptuned_streams_level *level)
{
	return level->loss > LOSS_NONE;
}

/*
 * The order is that of the kernel's own account: what a window limits is not limited by the path. A
 * queue that doubles the RTT fills whatever window there is, so that it comes first.
 */
static enum tcptuned_streams_limit limit_of(const struct tcptuned_streams_level *level)
{
	double windows = has_losses(level) ? MOST_OF_TIME : MUCH_OF_TIME;

	if (level->processor > BUSY)
		return TCPTUNED_STREAMS_LIMIT_PROCESSOR;
	if (queue_s(level) > level->rtt_min_s && has_queue(level))
		return TCPTUNED_STREAMS_LIMIT_QUEUE;
	if (level->receiver_window > windows && level->receiver_window > level->send_buffer)
		return TCPTUNED_STREAMS_LIMIT_RECEIVER_WINDOW;
	if (level->send_buffer > windows)
		return TCPTUNED_STREAMS_LIMIT_SEND_BUFFER;
	if (level->application > MOST_OF_TIME)
		return TCPTUNED_STREAMS_LIMIT_APPLICATION;
	if (has_queue(level))
		return TCPTUNED_STREAMS_LIMIT_QUEUE;
	if (has_losses(level))
		return TCPTUNED_STREAMS_LIMIT_LOSS;
	if (level->receives || !(level->rtt_s > 0))
		return TCPTUNED_STREAMS_LIMIT_UNKNOWN;
	return TCPTUNED_STREAMS_LIMIT_CWND;
}

static int varies(const struct tcptuned_streams_level *level)
{
	return level->rate_peak >= CONSTANT * level->rate;
}

/*
 * Whether more are lost than chance explains: by 1.5 times what is two standard deviations above
 * @less.
 */
static int loses_more(const struct tcptuned_streams_level *less,
		      const struct tcptuned_streams_level *more)
{
	double chance = less->segments > 0 ? 2 * sqrt(fmax(0, less->loss) / less->segments) : 0;

	return more->loss > fmax(LOSS_RISES * (less->loss + chance), LOSS_NONE);
}

int verdict_is_uncertain(const struct tcptuned_streams_level *level)
{
	return varies(level) || level->limit == TCPTUNED_STREAMS_LIMIT_LOSS;
}

/* Nothing at this end of the connection limits it. */
static int is_limited_elsewhere(const struct tcptuned_streams_level *one)
{
	return one->limit == TCPTUNED_STREAMS_LIMIT_QUEUE ||
	       one->limit == TCPTUNED_STREAMS_LIMIT_CWND ||
	       (one->limit == TCPTUNED_STREAMS_LIMIT_UNKNOWN && one->receives);
}

/*
 * Each connection has a shaper, a policer or a pacer of its own if its rate is constant, and two
 * carry twice as much as one, with the queue that one has. Of one that is received, the sender's
 * buffer is such a limit, too.
 */
static int is_limit_per_connection(const struct tcptuned_streams_level *one,
				   const struct tcptuned_streams_level *more)
{
	double part = more->rate / more->streams / (one->rate / one->streams);

	return is_limited_elsewhere(one) && !varies(one) && part > LINEAR && part < 1 / LINEAR &&
	       more->rtt_s > 0.5 * one->rtt_s && more->rtt_s < 2 * one->rtt_s;
}

void verdict_find_limits(struct tcptuned_streams_result *r)
{
	struct tcptuned_streams_level one;

	for (unsigned int i = 0; i < r->levels_len; i++)
		r->levels[i].limit = limit_of(&r->levels[i]);
	one = r->levels[0];
	for (unsigned int i = 1; i < r->levels_len; i++)
		if (r->levels[i].streams > one.streams &&
		    is_limit_per_connection(&one, &r->levels[i]))
			r->levels[0].limit = r->levels[i].limit = TCPTUNED_STREAMS_LIMIT_CONNECTION;
}

/* The first measurement of @streams; NULL: none. */
static const struct tcptuned_streams_level *level_of(const struct tcptuned_streams_result *r,
						     unsigned int streams)
{
	for (unsigned int i = 0; i < r->levels_len; i++)
		if (r->levels[i].streams == streams)
			return &r->levels[i];
	return NULL;
}

/* Measured, the mean if several times; or by (10). */
static double rate_at(const struct tcptuned_streams_result *r, unsigned int streams)
{
	unsigned int count = 0;
	double sum = 0;

	for (unsigned int i = 0; i < r->levels_len; i++) {
		if (r->levels[i].streams != streams)
			continue;
		sum += r->levels[i].rate;
		count++;
	}
	return count ? sum / count : tcptuned_streams_rate(&r->fit, streams);
}

static void find_fastest(const struct tcptuned_streams_options *options,
			 struct tcptuned_streams_result *r)
{
	r->fastest = r->levels[0].streams;
	for (unsigned int i = 1; i < r->levels_len; i++)
		if (r->levels[i].rate >= (1 + options->gain_min) * rate_at(r, r->fastest) &&
		    r->levels[i].streams > r->fastest)
			r->fastest = r->levels[i].streams;
	r->fastest_rate = rate_at(r, r->fastest);
}

static void find_wanted(const struct tcptuned_streams_options *options,
			struct tcptuned_streams_result *r)
{
	unsigned int n = r->fit.levels ? 1 : r->levels[0].streams;

	if (!(options->bits_per_second > 0))
		return;
	while (r->fit.levels && n < options->streams_max &&
	       rate_at(r, n) < options->bits_per_second)
		n++;
	if (rate_at(r, n) >= options->bits_per_second)
		r->wanted = n;
}

static void fit(struct tcptuned_streams_result *r)
{
	double rtt_min = 0, rtt_max = 0;

	for (unsigned int i = 0; i < r->levels_len; i++) {
		double rtt = r->levels[i].rtt_min_s;

		if (rtt > 0 && (!rtt_min || rtt < rtt_min))
			rtt_min = rtt;
		rtt_max = fmax(rtt_max, rtt);
	}
	if (!tcptuned_streams_fit(TCPTUNED_STREAMS_MODEL_BEST, r->levels, r->levels_len, &r->fit))
		r->confidence = tcptuned_streams_confidence(
			&r->fit, r->congestion_control, rtt_min > 0 ? rtt_max / rtt_min - 1 : 0);
}

/*
 * Whether twice as many carry more without a loss, but not by as much as on a path that has room.
 */
static int gains_partly(const struct tcptuned_streams_level *less,
			const struct tcptuned_streams_level *more)
{
	return more->streams == 2 * less->streams && !has_losses(less) && !has_losses(more) &&
	       is_limited_elsewhere(less) && is_limited_elsewhere(more) &&
	       more->rate >= PARTLY_MIN * less->rate && more->rate <= PARTLY_MAX * less->rate;
}

/*
 * Whether others give way on a full path. Either @more carried more than the next smaller number
 * although both lost segments, and the more, the more connections there were; without others the
 * rate no longer rises. Or each doubling gained a part, three in a row, without a loss, as n / (n +
 * m) does next to m others; alone at most the one or two do that fill the path.
 */
static int others_give_way(const struct tcptuned_streams_result *r,
			   const struct tcptuned_streams_level *more)
{
	unsigned int partly = 0;

	for (const struct tcptuned_streams_level *l = &r->levels[1];
	     l < &r->levels[r->levels_len] && l->streams > l[-1].streams; l++) {
		if (l == more && has_losses(l - 1) && loses_more(l - 1, l) &&
		    l->rate > RATE_RISES * l[-1].rate)
			return 1;
		partly = gains_partly(l - 1, l) ? partly + 1 : 0;
		if (partly == 3)
			return 1;
	}
	return 0;
}

/*
 * Whether the fall of the rate per connection between @one and the fastest number says anything
 * about others. (18) cannot know: on an empty path, too, connections share what one had alone.
 *
 * Others that use what is left would have filled the queue, or lost segments, while one connection
 * was measured, unless that was too short for the few losses of RED. If that one reached the rate
 * of all, losses and queue were its own. Losses without a queue, while more connections cause a
 * long one, are those of a policer, or of the medium.
 */
static enum tcptuned_streams_impact find_evidence(const struct tcptuned_streams_result *r,
						  const struct tcptuned_streams_level *one)
{
	const struct tcptuned_streams_level *more = level_of(r, r->fastest);
	int known = one->loss >= 0 && one->rtt_s > 0 && more->loss >= 0 && more->rtt_s > 0;

	if (!known)
		return TCPTUNED_STREAMS_IMPACT_MODEL;
	if (!loses_more(one, more) &&
	    more->rtt_s <= fmax(QUEUE_RISES * one->rtt_s, one->rtt_s + 1e-3))
		return TCPTUNED_STREAMS_IMPACT_UNCONGESTED;
	if (!has_losses(one) && queue_s(one) < STANDING * one->rtt_min_s &&
	    !others_give_way(r, more))
		return TCPTUNED_STREAMS_IMPACT_ALONE;
	if (!has_queue(one) && more->rtt_s > (1 + STANDING) * one->rtt_s)
		return TCPTUNED_STREAMS_IMPACT_ALONE;
	if (one->rate_peak >= REACHES * more->rate)
		return TCPTUNED_STREAMS_IMPACT_ALONE;
	return TCPTUNED_STREAMS_IMPACT_MODEL;
}

/* All measurements of one connection: others may have been idle during one of them. */
static struct tcptuned_streams_level merge_ones(const struct tcptuned_streams_result *r)
{
	struct tcptuned_streams_level one = r->levels[0];

	for (unsigned int i = 1; i < r->levels_len; i++) {
		const struct tcptuned_streams_level *l = &r->levels[i];

		if (l->streams > 1)
			continue;
		if (l->loss > one.loss) {
			one.loss = l->loss;
			one.segments = l->segments;
		}
		one.rtt_s = fmax(one.rtt_s, l->rtt_s);
		one.rate_peak = fmax(one.rate_peak, l->rate_peak);
	}
	return one;
}

static void find_within(const struct tcptuned_streams_options *options,
			struct tcptuned_streams_result *r)
{
	struct tcptuned_streams_level one = merge_ones(r);

	r->model_impact = tcptuned_streams_impact(&r->fit, 1, r->fastest);
	if (r->model_impact > IMPACT_NONE)
		r->impact = TCPTUNED_STREAMS_IMPACT_MODEL;
	if (r->model_impact > options->impact_max && one.streams == 1)
		r->impact = find_evidence(r, &one);
	if (r->impact != TCPTUNED_STREAMS_IMPACT_MODEL)
		return;
	r->within = tcptuned_streams_within(&r->fit, options->impact_max, r->fastest);
	r->fastest_impact = r->model_impact;
	r->within_impact = tcptuned_streams_impact(&r->fit, 1, r->within);
}

void verdict_conclude(const struct tcptuned_streams_options *options,
		      struct tcptuned_streams_result *r)
{
	verdict_find_limits(r);
	find_fastest(options, r);
	fit(r);
	if (r->fit.levels && r->fastest == r->levels[0].streams &&
	    (is_limited_elsewhere(&r->levels[0]) ||
	     r->levels[0].limit == TCPTUNED_STREAMS_LIMIT_LOSS))
		r->levels[0].limit = TCPTUNED_STREAMS_LIMIT_PATH;
	r->within = r->fastest;
	if (r->fit.levels && r->fastest > 1)
		find_within(options, r);
	r->within_rate = rate_at(r, r->within);
	find_wanted(options, r);
}

void verdict_copy(struct tcptuned_streams_result *to, const struct tcptuned_streams_result *from)
{
	size_t size = to->size;

	memset(to, 0, size);
	memcpy(to, from, size < from->size ? size : from->size);
	to->size = size;
}
