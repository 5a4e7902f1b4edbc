/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares two configurations: what a reload changes, and what has to wait for a restart. */
#pragma once

#include <stdbool.h>

#include "config/config.h"

/*
 * One difference: of a key, as "policy.mode" or "policy NAME.mode", or of a whole "policy NAME",
 * which was or is "". @live: a reload applies it; otherwise it needs a restart.
 */
typedef void (*tcptuned_config_differ)(void *context, const char *key, const char *was,
				       const char *now, bool live);

/* Call @differ (may be NULL) for each difference; returns their number. */
int tcptuned_config_diff(const struct tcptuned_config *was, const struct tcptuned_config *now,
			 tcptuned_config_differ differ, void *context);

/* Copy from @from every value that only a restart can change, and its origin. */
void tcptuned_config_keep_fixed(struct tcptuned_config *config, const struct tcptuned_config *from);
