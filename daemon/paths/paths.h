/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The path memory's user-space half: what the kernel learned goes to disk once in a while and
 * comes back at the next start. While the daemon is down the kernel goes on learning. Nothing
 * here is fatal: without a disk, paths are remembered as long as the programs stay.
 */
#ifndef TCPTUNED_PATHS_PATHS_H
#define TCPTUNED_PATHS_PATHS_H

#include "config/config.h"
#include "kern/kernel.h"
#include "paths/store.h"

struct tcptuned_paths;

/* For the metrics. */
struct tcptuned_path_stats {
	bool ok;		/* the map could be read */
	__u32 known;		/* prefixes in the kernel's map; if many, a minute ago */
	__u64 expired;		/* forgotten since the start, for nobody added to them */
	__u64 database_errors;	/* since the start */
};

/*
 * @kernel is looked at with each call, so that it may be attached later; it must live as long.
 * @directory: where paths.db is or will be; copied. NULL: nothing is read from disk, nor written,
 *	       as in a dry run. Returns 0 or -ENOMEM.
 */
int tcptuned_paths_new(struct tcptuned_paths **ret, const struct tcptuned_kernel *kernel,
		       const char *directory);

void tcptuned_paths_free(struct tcptuned_paths *paths);

/* Tell the programs, for connections from now on. 0 or a negative errno. */
int tcptuned_paths_configure(struct tcptuned_paths *paths,
			     const struct tcptuned_path_settings *settings);

/* Go by what the programs were told last, instead. */
void tcptuned_paths_adopt_settings(struct tcptuned_paths *paths);

/*
 * Put into the kernel's map what is on disk, has not expired and is not there yet. Of a map that was
 * taken over (kernel->paths_kept) save what is in it instead. A damaged database is set aside, and
 * that is logged.
 */
void tcptuned_paths_load(struct tcptuned_paths *paths);

/* Call this every few seconds: it saves every ten minutes. */
void tcptuned_paths_tick(struct tcptuned_paths *paths);

/* Replace what is on disk by what is in the map, and forget what has expired. */
void tcptuned_paths_save(struct tcptuned_paths *paths);

/*
 * Write what the map of @kernel has, by the settings that its programs were told last: it is about
 * to go. One of another layout cannot be.
 */
void tcptuned_paths_save_left(const struct tcptuned_kernel *kernel, const char *directory);

void tcptuned_paths_stats(struct tcptuned_paths *paths, struct tcptuned_path_stats *ret);

/* Calls @row for each prefix in the map @map_fd; times are CLOCK_BOOTTIME. 0 or negative errno. */
int tcptuned_paths_each(int map_fd, tcptuned_pathdb_row row, void *ctx);

/*
 * Forget what is known of the prefixes that overlap @prefix, as "192.0.2.0/24" or an address,
 * or of "all": in the map of @kernel (NULL: none) and in @directory's database, also while a
 * daemon runs; with all goes the database that was set aside. @ret_count: prefixes that were
 * known, in either. 0, or a negative errno with @err filled: then nothing is forgotten, or all
 * but what it names.
 */
int tcptuned_paths_forget(const struct tcptuned_kernel *kernel, const char *directory,
			  const char *prefix, unsigned int *ret_count, struct tcptuned_error *err);

/* --forget-paths: @prefix, or "all", in the kernel and on disk, whether a daemon runs or not. */
int tcptuned_daemon_forget_paths(const struct tcptuned_config *config, const char *prefix,
				 struct tcptuned_error *err);

#endif
