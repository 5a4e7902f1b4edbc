/* SPDX-License-Identifier: GPL-2.0-only */
/* What a reload of the configuration changes, and what of it has to wait for a restart. */
#ifndef TCPTUNED_CONFIG_DIFF_H
#define TCPTUNED_CONFIG_DIFF_H

#include <stdbool.h>

#include "config/config.h"

/*
 * One key that differs, "policy.mode" or "policy NAME.mode", or a whole "policy NAME", which was
 * or is "". @live: a reload brings it about; else it needs a restart.
 */
typedef void (*tcptuned_config_differ)(void *context, const char *key, const char *was,
				       const char *now, bool live);

/* Calls @differ (may be NULL) for each key whose value differs; returns how many there are. */
int tcptuned_config_diff(const struct tcptuned_config *was, const struct tcptuned_config *now,
			 tcptuned_config_differ differ, void *context);

/* Take over from @from every value that needs a restart, so that @config says what is true. */
void tcptuned_config_keep_fixed(struct tcptuned_config *config,
				const struct tcptuned_config *from);

#endif
