// SPDX-License-Identifier: GPL-2.0-only
#include "trace.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define NS_PER_MS 1000000ull
#define MS_MAX	  1000000000ull /* 11 days */

static int append(struct trace *t, uint64_t at_ns)
{
	/* a power of two is a full array */
	if (!(t->count & (t->count - 1))) {
		size_t room = t->count ? 2 * (size_t)t->count : 1;
		uint64_t *more = reallocarray(t->at_ns, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->at_ns = more;
	}
	t->at_ns[t->count++] = at_ns;
	return 0;
}

static int append_line(struct trace *t, const char *line)
{
	unsigned long long ms;
	char *end;

	ms = strtoull(line, &end, 10);
	if (!isdigit((unsigned char)*line) || (*end && !isspace((unsigned char)*end)) ||
	    ms > MS_MAX)
		return -EINVAL;
	if (t->count && ms * NS_PER_MS < t->at_ns[t->count - 1])
		return -EINVAL;
	return append(t, ms * NS_PER_MS);
}

int trace_read(FILE *in, struct trace *ret)
{
	char line[64];
	int err = 0;

	*ret = (struct trace){0};
	while (!err && fgets(line, sizeof(line), in))
		err = append_line(ret, line);
	if (!err && ret->count)
		ret->period_ns = ret->at_ns[ret->count - 1];
	if (!err && (ferror(in) || !ret->period_ns))
		err = -EINVAL;
	if (err)
		trace_free(ret);
	return err;
}

void trace_free(struct trace *t)
{
	free(t->at_ns);
	*t = (struct trace){0};
}

static uint64_t opportunity_ns(const struct trace *t, uint64_t index)
{
	return index / t->count * t->period_ns + t->at_ns[index % t->count];
}

/* The first opportunity that is not before @ns. */
static uint64_t first_opportunity(const struct trace *t, uint64_t ns)
{
	uint64_t in_period = ns % t->period_ns;
	unsigned int low = 0, high = t->count - 1; /* the last one is at the end of the period */

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (t->at_ns[middle] < in_period)
			low = middle + 1;
		else
			high = middle;
	}
	return ns / t->period_ns * t->count + low;
}

uint64_t trace_send(const struct trace *t, struct trace_clock *c, uint64_t ready_ns, uint32_t bytes)
{
	if (opportunity_ns(t, c->index) < ready_ns)
		*c = (struct trace_clock){.index = first_opportunity(t, ready_ns)};
	while (bytes > TRACE_BYTES - c->used) {
		bytes -= TRACE_BYTES - c->used;
		*c = (struct trace_clock){.index = c->index + 1};
	}
	c->used += bytes;
	return opportunity_ns(t, c->index);
}

uint64_t trace_mean_bps(const struct trace *t)
{
	double bps = t->count * 8.0 * TRACE_BYTES * NS_PER_SECOND / (double)t->period_ns;

	return bps < 1 ? 1 : (uint64_t)bps;
}

uint64_t trace_max_bytes(const struct trace *t, uint64_t window_ns)
{
	uint64_t first = 0, most = 0;

	/* two periods, so that windows over the end of the first one are seen */
	for (uint64_t i = 0; i < 2ull * t->count; i++) {
		while (opportunity_ns(t, i) - opportunity_ns(t, first) > window_ns)
			first++;
		if (i - first + 1 > most)
			most = i - first + 1;
	}
	return most * TRACE_BYTES;
}
