// SPDX-License-Identifier: GPL-2.0-only
#include "delay.h"

#include <math.h>

#include "random.h"

static uint64_t jitter_max_ns(const struct jitter *j)
{
	return j->kind == JITTER_EXPONENTIAL ? j->amount_ns * JITTER_EXPONENTIAL_MAX : j->amount_ns;
}

void delay_line_init(struct delay_line *l, const struct delay_config *config)
{
	const struct schedule *s = &config->schedule;

	*l = (struct delay_line){
		.config = *config,
		.min_ns = config->delay_ns,
		.max_ns = config->delay_ns,
		.jitter_seed = random_seed_for(config->seed, 2),
		.random = random_seed_for(config->seed, 3),
	};
	for (unsigned int i = 0; i < s->count; i++) {
		if (s->steps[i].delay_ns < l->min_ns)
			l->min_ns = s->steps[i].delay_ns;
		if (s->steps[i].delay_ns > l->max_ns)
			l->max_ns = s->steps[i].delay_ns;
	}
	l->max_ns += jitter_max_ns(&config->jitter) + config->reorder_ns;
}

/* SplitMix64's state is a counter: this is draw @number of the sequence of @seed. */
static double draw(uint64_t seed, uint64_t number)
{
	uint64_t state = seed + number * RANDOM_STEP;

	return random_uniform(&state);
}

uint64_t delay_line_jitter_ns(const struct delay_line *l, uint64_t ns)
{
	const struct jitter *j = &l->config.jitter;
	double amount = (double)j->amount_ns, extra;

	switch (j->kind) {
	case JITTER_NONE:
		break;
	case JITTER_UNIFORM:
		return (uint64_t)(amount * draw(l->jitter_seed, ns / j->every_ns));
	case JITTER_EXPONENTIAL:
		extra = -amount * log1p(-draw(l->jitter_seed, ns / j->every_ns));
		return (uint64_t)fmin(extra, amount * JITTER_EXPONENTIAL_MAX);
	case JITTER_ONOFF:
		return ns % j->every_ns < j->on_ns ? j->amount_ns : 0;
	}
	return 0;
}

uint64_t delay_line_send(struct delay_line *l, uint64_t ns)
{
	const struct schedule *s = &l->config.schedule;
	uint64_t due = ns + delay_line_jitter_ns(l, ns);

	due += s->count ? schedule_at(s, ns)->delay_ns : l->config.delay_ns;
	/* a delay that shrinks lets nothing overtake */
	if (due > l->last_due_ns)
		l->last_due_ns = due;
	return l->last_due_ns;
}

uint64_t delay_line_reorder_ns(struct delay_line *l)
{
	double p = l->config.reorder;

	return p > 0 && random_uniform(&l->random) < p ? l->config.reorder_ns : 0;
}
