/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the configuration: the file, its drop-ins, and --set from the command line. */
#pragma once

#include <stdbool.h>

#include "config/config.h"

/* Fill in the values that hold if nothing is configured. */
void tcptuned_config_defaults(struct tcptuned_config *ret);

/* Free what the configuration points to. It may be freed twice, and filled again. */
void tcptuned_config_free(struct tcptuned_config *config);

/*
 * Read and check the whole configuration.
 *
 * @path: the file; NULL or "" is TCPTUNED_CONFIG_PATH, which may be missing. Drop-ins are in the
 *	  directory @path + ".d".
 * @set:  "section.key=value" strings, ended by NULL; or NULL
 * @ret:  filled on success, and then for tcptuned_config_free(). What it held before is not freed.
 * @err:  "FILE:LINE: section.key: what is wrong; what to do", with -EINVAL for contents
 */
int tcptuned_config_load(const char *path, const char *const *set, struct tcptuned_config *ret,
			 struct tcptuned_error *err);

/* True if the section of @policy sets the key @name of [policy], and does not inherit it. */
bool tcptuned_config_policy_says(const struct tcptuned_named_policy *policy, const char *name);

/* The policy of that name, or NULL. */
struct tcptuned_named_policy *tcptuned_config_policy(const struct tcptuned_config *config,
						     const char *name);
