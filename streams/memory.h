/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is remembered of parallel connections to a host, in the kernel's map "streams",
 * and the fit of the model of <tcptuned/streams.h> to it. A level is a number of connections; the
 * levels of one host, direction and congestion control belong together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <tcptuned/abi/streams.h>
#include <tcptuned/streams.h>

#include "util/error.h"

#define TCPTUNED_STREAMS_REFUSAL 128

struct tcptuned_streams_row {
	struct tcptuned_streams_key key;
	struct tcptuned_streams_record level;
};

/* Add a window of time in which @window was measured. */
void tcptuned_streams_memory_average(struct tcptuned_streams_record *level,
				     const struct tcptuned_streams_level *window);

/*
 * Add a window to the level @key in the map @map_fd, which may be new. Returns 0 or a negative
 * errno.
 * @netns: inode number of the network namespace.
 */
int tcptuned_streams_memory_add(int map_fd, const struct tcptuned_streams_key *key, __u32 netns,
				const struct tcptuned_streams_level *window);

/*
 * Read all levels; those that belong together come one after the other, the smallest number first.
 * Times are CLOCK_BOOTTIME. The caller frees @ret.
 */
int tcptuned_streams_memory_read(int map_fd, struct tcptuned_streams_row **ret, size_t *ret_len,
				 struct tcptuned_error *err);

/* How many of the @len levels at @rows belong together with the first one. */
size_t tcptuned_streams_memory_together(const struct tcptuned_streams_row *rows, size_t len);

/* Fit the model to levels that belong together. If it is refused, returns false, and the reason. */
bool tcptuned_streams_memory_fit(const struct tcptuned_streams_row *rows, size_t len,
				 struct tcptuned_streams_fit *ret,
				 char ret_why[TCPTUNED_STREAMS_REFUSAL]);

/*
 * Set @ret, zero but for its size, to the advice from levels that belong together, with the impact
 * on others that a search allows by default. False: it is refused.
 */
bool tcptuned_streams_memory_conclude(const struct tcptuned_streams_row *rows, size_t len,
				      struct tcptuned_streams_result *ret);
