/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What follows from the measurements of a search: limits, the two numbers, the impact on others. */
#pragma once

#include <tcptuned/streams.h>

/*
 * Whether the rate of @level is uncertain: it varied meanwhile, or connections recovered from
 * losses on a path that was not full.
 */
int verdict_is_uncertain(const struct tcptuned_streams_level *level);

/* Set what limits each of the levels of @result. */
void verdict_find_limits(struct tcptuned_streams_result *result);

/* Set the advice of @result: all that follows from its levels. */
void verdict_conclude(const struct tcptuned_streams_options *options,
		      struct tcptuned_streams_result *result);

/* Copy what @to has room for, by its size; what @from does not have is zero. */
void verdict_copy(struct tcptuned_streams_result *to, const struct tcptuned_streams_result *from);
