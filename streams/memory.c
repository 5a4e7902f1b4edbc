// SPDX-License-Identifier: GPL-2.0-only
#include "streams/memory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <bpf/bpf.h>

#include "util/cleanup.h"
#include "util/clock.h"

#define WINDOWS_COUNTED 16 /* the mean of so many; older ones fade */

/* A fit is refused with less than this. */
#define LEVELS_MIN   3
#define WINDOWS_MIN  8
#define SPREAD_MIN   4 /* the largest number of connections by the smallest */
#define RESIDUAL_MAX 0.25

void tcptuned_streams_memory_average(struct tcptuned_streams_record *level,
				     const struct tcptuned_streams_level *window)
{
	double weight = 1.0 / MIN(level->windows + 1, WINDOWS_COUNTED);

#define AVERAGE(field) level->field += weight * (window->field - level->field)
	AVERAGE(rate);
	AVERAGE(loss);
	AVERAGE(rtt_s);
	AVERAGE(rtt_min_s);
	AVERAGE(receiver_window);
	AVERAGE(send_buffer);
#undef AVERAGE
	level->rate_peak += weight * (level->rate - level->rate_peak);
	level->rate_peak = fmax(level->rate_peak, window->rate);
	level->windows += level->windows < UINT32_MAX;
}

int tcptuned_streams_memory_add(int map_fd, const struct tcptuned_streams_key *key, __u32 netns,
				const struct tcptuned_streams_level *window)
{
	struct tcptuned_streams_record level;

	if (bpf_map_lookup_elem(map_fd, key, &level))
		memset(&level, 0, sizeof(level));
	tcptuned_streams_memory_average(&level, window);
	level.netns = netns;
	level.updated_s = tcptuned_clock_s(CLOCK_BOOTTIME);
	return bpf_map_update_elem(map_fd, key, &level, BPF_ANY) ? -errno : 0;
}

/* By all that belongs together, and then by number. */
static int compare(const void *a, const void *b)
{
	const struct tcptuned_streams_key *x = a, *y = b;

	return memcmp(x, y, offsetof(struct tcptuned_streams_key, streams))
		       ?: (x->streams > y->streams) - (x->streams < y->streams);
}

int tcptuned_streams_memory_read(int map_fd, struct tcptuned_streams_row **ret, size_t *ret_len,
				 struct tcptuned_error *err)
{
	_cleanup_free_ struct tcptuned_streams_key *keys =
		calloc(TCPTUNED_STREAMS_RECORDS_MAX, sizeof(*keys));
	_cleanup_free_ struct tcptuned_streams_record *levels =
		calloc(TCPTUNED_STREAMS_RECORDS_MAX, sizeof(*levels));
	struct tcptuned_streams_row *rows = calloc(TCPTUNED_STREAMS_RECORDS_MAX, sizeof(*rows));
	__u32 position, count = TCPTUNED_STREAMS_RECORDS_MAX;

	if (!keys || !levels || !rows ||
	    (bpf_map_lookup_batch(map_fd, NULL, &position, keys, levels, &count, NULL) &&
	     errno != ENOENT)) { /* ENOENT: this is all of the map */
		free(rows);
		return FAIL(err, errno, KERNEL,
			    "the map of parallel connections cannot be read: %s", strerror(errno));
	}
	for (__u32 i = 0; i < count; i++)
		rows[i] = (struct tcptuned_streams_row){keys[i], levels[i]};
	qsort(rows, count, sizeof(*rows), compare);
	*ret = rows;
	*ret_len = count;
	return 0;
}

size_t tcptuned_streams_memory_together(const struct tcptuned_streams_row *rows, size_t len)
{
	size_t n = 0;

	while (n < len &&
	       !memcmp(&rows[n].key, &rows[0].key, offsetof(struct tcptuned_streams_key, streams)))
		n++;
	return n;
}

static struct tcptuned_streams_level level_of(const struct tcptuned_streams_row *row)
{
	return (struct tcptuned_streams_level){
		.streams = row->key.streams,
		.rate = row->level.rate,
		.rate_peak = row->level.rate_peak,
		.loss = row->level.loss,
		.rtt_s = row->level.rtt_s,
		.rtt_min_s = row->level.rtt_min_s,
		.receiver_window = row->level.receiver_window,
		.send_buffer = row->level.send_buffer,
		.receives = (int)row->key.receives,
	};
}

bool tcptuned_streams_memory_fit(const struct tcptuned_streams_row *rows, size_t len,
				 struct tcptuned_streams_fit *ret,
				 char ret_why[TCPTUNED_STREAMS_REFUSAL])
{
	struct tcptuned_streams_level levels[TCPTUNED_STREAMS_LEVELS_MAX];
	unsigned long long windows = 0;

#define REFUSE(...) (snprintf(ret_why, TCPTUNED_STREAMS_REFUSAL, __VA_ARGS__), false)
	len = MIN(len, TCPTUNED_STREAMS_LEVELS_MAX);
	for (size_t i = 0; i < len; i++) {
		levels[i] = level_of(&rows[i]);
		windows += rows[i].level.windows;
	}
	if (len < LEVELS_MIN)
		return REFUSE("%zu number%s of connections seen, and %d are needed", len,
			      len == 1 ? "" : "s", LEVELS_MIN);
	if (windows < WINDOWS_MIN)
		return REFUSE("only %llu measurement intervals so far; %d are needed", windows,
			      WINDOWS_MIN);
	if (levels[len - 1].streams < SPREAD_MIN * levels[0].streams)
		return REFUSE("from %u to %u connections seen, and the largest number has to be "
			      "%d times the smallest",
			      levels[0].streams, levels[len - 1].streams, SPREAD_MIN);
	if (tcptuned_streams_fit(TCPTUNED_STREAMS_MODEL_BEST, levels, len, ret))
		return REFUSE("the model cannot be fitted");
	if (ret->residual > RESIDUAL_MAX)
		return REFUSE("the fit is off by %.0f %%, and by at most %.0f %% is needed",
			      ret->residual * 100, RESIDUAL_MAX * 100);
	return true;
#undef REFUSE
}

bool tcptuned_streams_memory_conclude(const struct tcptuned_streams_row *rows, size_t len,
				      struct tcptuned_streams_result *ret)
{
	const struct tcptuned_streams_options options = {
		.size = sizeof(options), .streams_max = TCPTUNED_STREAMS_SEARCH_MAX};
	char why_not[TCPTUNED_STREAMS_REFUSAL];
	struct tcptuned_streams_fit fit;

	len = MIN(len, TCPTUNED_STREAMS_LEVELS_MAX);
	if (!tcptuned_streams_memory_fit(rows, len, &fit, why_not))
		return false;
	for (size_t i = 0; i < len; i++)
		ret->levels[i] = level_of(&rows[i]);
	ret->levels_len = (unsigned int)len;
	memcpy(ret->congestion_control, rows[0].key.congestion_control,
	       sizeof(ret->congestion_control));
	return !tcptuned_streams_conclude(&options, ret);
}
