/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The path memory on disk: one SQLite file, one row per prefix. Times are Unix time there, for
 * the kernel's clocks begin anew with each boot. What is read back is checked field by field:
 * the file may be anybody's.
 */
#ifndef TCPTUNED_PATHS_STORE_H
#define TCPTUNED_PATHS_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include <tcptuned/algo/path.h>

#include "util/error.h"
#include "util/ip_prefix.h"

struct tcptuned_pathdb;

#define TCPTUNED_PATHDB_DAMAGED ".damaged" /* is appended to the name of one that is set aside */

/*
 * Open @file, make it if it is missing. Damage is found where it is met, by any of the functions
 * below. Returns 0, or with @err filled a negative errno: -EUCLEAN when what is there is no (or a
 * damaged) database of this version, which tcptuned_pathdb_set_aside() mends; else -EIO, and it may
 * be better another time.
 */
int tcptuned_pathdb_open(struct tcptuned_pathdb **ret, const char *file,
			 struct tcptuned_error *err);

void tcptuned_pathdb_close(struct tcptuned_pathdb *db);

/* Rename @file to FILE.damaged, in place of an earlier one. Returns 0 or a negative errno. */
int tcptuned_pathdb_set_aside(const char *file);

/* Delete the one that was set aside, if there is one. Returns 0 or a negative errno. */
int tcptuned_pathdb_remove_damaged(const char *file);

/*
 * Delete @file and its journal, if they are there; a process that has it open goes on with a file
 * that has no name. Returns 0 or a negative errno.
 */
int tcptuned_pathdb_remove(const char *file);

/*
 * @key.netns_cookie and @path.netns are 0 for the network namespace of the daemon; times are Unix
 * time.
 */
typedef void (*tcptuned_pathdb_row)(void *ctx, const struct tcptuned_path_key *key,
				    const struct tcptuned_path *path);

/*
 * Every row of this boot's network namespaces and of the daemon's own, the oldest first.
 * Returns 0, -EUCLEAN or -EIO as above.
 */
int tcptuned_pathdb_read(struct tcptuned_pathdb *db, tcptuned_pathdb_row row, void *ctx,
			 struct tcptuned_error *err);

/* Nothing between these two is kept unless the second one succeeds; others have to wait. */
int tcptuned_pathdb_begin(struct tcptuned_pathdb *db, struct tcptuned_error *err);
int tcptuned_pathdb_commit(struct tcptuned_pathdb *db, struct tcptuned_error *err);

/* Add a row, or replace the one of that prefix. */
int tcptuned_pathdb_put(struct tcptuned_pathdb *db, const struct tcptuned_path_key *key,
			const struct tcptuned_path *path, struct tcptuned_error *err);

/* Delete the rows that overlap @prefix (NULL: all), in all network namespaces. */
int tcptuned_pathdb_forget(struct tcptuned_pathdb *db, const struct tcptuned_path_key *prefix,
			   unsigned int *ret_count, struct tcptuned_error *err);

/* "192.0.2.0/24", "2001:db8::/48"; an address alone has all its bits. 0 or -EINVAL. */
int tcptuned_path_key_parse(const char *text, struct tcptuned_path_key *ret);
void tcptuned_path_key_of(const struct tcptuned_prefix *prefix, struct tcptuned_path_key *ret);

void tcptuned_prefix_format(const struct tcptuned_path_key *key,
			    char ret[TCPTUNED_PREFIX_TEXT]);

/* Does one of the two prefixes contain the other? Network namespaces do not count. */
bool tcptuned_prefix_overlap(const struct tcptuned_path_key *a,
			     const struct tcptuned_path_key *b);

#endif
