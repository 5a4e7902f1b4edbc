/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the configuration: the file, its drop-ins, and what the command line sets. */
#ifndef TCPTUNED_CONFIG_LOAD_H
#define TCPTUNED_CONFIG_LOAD_H

#include <stdbool.h>

#include "config/config.h"

/* What holds when nothing is configured. */
void tcptuned_config_defaults(struct tcptuned_config *ret);

/* Let go of what it points to; it can be freed again, and filled. */
void tcptuned_config_free(struct tcptuned_config *config);

/*
 * Read, check and cross-check the whole configuration.
 *
 * @path: the file; NULL or "" is TCPTUNED_CONFIG_PATH, and then it may be missing. Drop-ins
 *	  are looked for in the directory @path + ".d".
 * @set:  "section.key=value" strings, ended by NULL; or NULL
 * @ret:  filled on success only: a failed reload leaves it as it was. What it held is not
 *	  freed; tcptuned_config_free() is for the one that is filled
 * @err:  on failure one sentence, "FILE:LINE: section.key: what is wrong; what to do", and
 *	  the exit status
 *
 * Returns 0, or negative: -ENOENT, -EACCES ... of the file system, -EINVAL for contents.
 */
int tcptuned_config_load(const char *path, const char *const *set, struct tcptuned_config *ret,
			 struct tcptuned_error *err);

/*
 * What a program needs that looks for the daemon: [tcptuned] alone, as far as it can be
 * read. What cannot be read is passed over, the other sections are not looked at, nor are
 * files that they name: a mistake in a policy must not keep anybody from the daemon that runs.
 *
 * @ret_warning: its text is that of the first fault that was passed over, or ""
 *
 * Returns 0, or negative with @err filled: a file that was named and is not there, or @set.
 */
int tcptuned_config_load_shared(const char *path, const char *const *set,
				struct tcptuned_config *ret, struct tcptuned_error *ret_warning,
				struct tcptuned_error *err);

/* Does the section of @policy have the key @name of [policy] itself? Else it is inherited. */
bool tcptuned_policy_says(const struct tcptuned_named_policy *policy, const char *name);

/* The policy of that name, or NULL. */
struct tcptuned_named_policy *tcptuned_config_policy(const struct tcptuned_config *config,
						     const char *name);

#endif
