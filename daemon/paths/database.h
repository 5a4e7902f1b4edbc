/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The path memory on disk: one SQLite file with a row per prefix, and in another table one per
 * level of parallel connections. Times are Unix time, because other clocks restart with each boot.
 * Every field is checked when it is read, as anything may have written the file.
 */
#pragma once

#include <stdbool.h>

#include <tcptuned/abi/streams.h>
#include <tcptuned/algo/path.h>

#include "util/error.h"
#include "util/prefix.h"

struct tcptuned_pathdb;

#define TCPTUNED_PATHDB_DAMAGED ".damaged" /* is appended to the name of a file that is set aside */

/* What daemon and tcptune-run wait for a statement, or another process. */
#define TCPTUNED_PATHDB_LIMIT_MS 2000

/*
 * Open @file, and create it if it does not exist. @limit_ms is how long to wait for another process
 * that has locked it, and about how long a processor may be busy with one statement. This and the
 * functions below fail with -EUCLEAN if the file is damaged, of another format, no database, or
 * takes longer, so that it should be set aside; otherwise with -EIO, which may be temporary.
 */
int tcptuned_pathdb_open(struct tcptuned_pathdb **ret, const char *file, unsigned int limit_ms,
			 struct tcptuned_error *err);

/* Close the database (NULL: none) and roll back what was not committed. */
void tcptuned_pathdb_close(struct tcptuned_pathdb *db);

/* Rename @file to FILE.damaged, in place of an earlier one. Returns 0 or a negative errno. */
int tcptuned_pathdb_set_aside(const char *file);

/* Delete FILE.damaged, if it exists. Returns 0 or a negative errno. */
int tcptuned_pathdb_remove_damaged(const char *file);

/*
 * @key.netns_cookie and @path.netns are 0 for the daemon's network namespace; times are Unix time.
 */
typedef void (*tcptuned_pathdb_row)(void *ctx, const struct tcptuned_path_key *key,
				    const struct tcptuned_path *path);

/* Call @row for the rows of the daemon's network namespace and of others of this boot, by age. */
int tcptuned_pathdb_read(struct tcptuned_pathdb *db, tcptuned_pathdb_row row, void *ctx,
			 struct tcptuned_error *err);

/* A transaction. It locks the database against other writers; closing the database undoes it. */
int tcptuned_pathdb_begin(struct tcptuned_pathdb *db, struct tcptuned_error *err);
int tcptuned_pathdb_commit(struct tcptuned_pathdb *db, struct tcptuned_error *err);

/* Insert a row, or replace the row of that prefix. */
int tcptuned_pathdb_put(struct tcptuned_pathdb *db, const struct tcptuned_path_key *key,
			const struct tcptuned_path *path, struct tcptuned_error *err);

/* The same of levels of parallel connections (streams.h). */
typedef void (*tcptuned_pathdb_level)(void *ctx, const struct tcptuned_streams_key *key,
				      const struct tcptuned_streams_record *level);
int tcptuned_pathdb_read_levels(struct tcptuned_pathdb *db, tcptuned_pathdb_level row, void *ctx,
				struct tcptuned_error *err);
int tcptuned_pathdb_put_level(struct tcptuned_pathdb *db, const struct tcptuned_streams_key *key,
			      const struct tcptuned_streams_record *level,
			      struct tcptuned_error *err);

/*
 * Delete the rows that overlap @prefix (NULL: all), in all namespaces. @ret_count: those of paths.
 */
int tcptuned_pathdb_forget(struct tcptuned_pathdb *db, const struct tcptuned_path_key *prefix,
			   unsigned int *ret_count, struct tcptuned_error *err);

/* Parse "192.0.2.0/24" or "2001:db8::/48"; an address is a prefix of full length. 0 or -EINVAL. */
int tcptuned_path_key_parse(const char *text, struct tcptuned_path_key *ret);

void tcptuned_path_key_format(const struct tcptuned_path_key *key, char ret[TCPTUNED_PREFIX_TEXT]);

/* True if one of the two prefixes contains the other, in whatever network namespaces. */
bool tcptuned_path_key_overlap(const struct tcptuned_path_key *a,
			       const struct tcptuned_path_key *b);
