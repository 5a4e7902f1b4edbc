/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The path memory in user space: what the kernel learned is written to disk from time to time, and
 * loaded at the next start. While the daemon is down the kernel continues to learn. No failure is
 * fatal: without a disk, paths are remembered as long as the programs stay.
 */
#pragma once

#include "config/config.h"
#include "kern/kernel.h"
#include "paths/database.h"

struct tcptuned_paths;

/*
 * Processes that are forked later share what one leaves to the next. @kernel is read at each call,
 * so that it may be attached later. @directory: of paths.db; copied. NULL: nothing is read from
 * disk or written, as with --observe. Returns 0 or -ENOMEM.
 */
int tcptuned_paths_new(struct tcptuned_paths **ret, const struct tcptuned_kernel *kernel,
		       const char *directory);

void tcptuned_paths_free(struct tcptuned_paths *paths);

/* Pass the settings to the programs, for new connections. Returns 0 or a negative errno. */
int tcptuned_paths_configure(struct tcptuned_paths *paths,
			     const struct tcptuned_path_settings *settings);

/*
 * Put into the kernel's map what is on disk, has not expired and is not in the map. A map that was
 * taken over (kernel->paths_kept) is saved then. A damaged database is set aside and logged.
 */
void tcptuned_paths_load(struct tcptuned_paths *paths);

/* Save if the last attempt was ten minutes ago. */
void tcptuned_paths_tick(struct tcptuned_paths *paths);

/* Replace what is on disk by what is in the map, without what has expired. */
void tcptuned_paths_save(struct tcptuned_paths *paths);

/* False: the last access to the database failed, of this process or of another one. */
bool tcptuned_paths_are_saved(const struct tcptuned_paths *paths);

/* Save the map of @kernel, which is about to be removed, with the settings of its programs. */
void tcptuned_paths_save_left(const struct tcptuned_kernel *kernel, const char *directory);

/* Times since the start that the database could not be read or written. */
__u64 tcptuned_paths_database_errors(const struct tcptuned_paths *paths);

/* Call @row for each prefix in the map @map_fd; times are CLOCK_BOOTTIME. */
int tcptuned_paths_each(int map_fd, tcptuned_pathdb_row row, void *ctx, struct tcptuned_error *err);

/*
 * Forget the prefixes that overlap @prefix ("192.0.2.0/24" or an address), or "all", in the map of
 * @kernel (NULL: none) and in the database of @directory, whether a daemon runs or not. "all" also
 * deletes a database that was set aside. @ret_count: prefixes that were known, in either place.
 * After a failure nothing is forgotten, or everything but what @err names.
 */
int tcptuned_paths_forget(const struct tcptuned_kernel *kernel, const char *directory,
			  const char *prefix, unsigned int *ret_count, struct tcptuned_error *err);

/* --forget-paths. */
int tcptuned_paths_forget_as_daemon(const struct tcptuned_config *config, const char *prefix,
				    struct tcptuned_error *err);
