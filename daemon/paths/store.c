// SPDX-License-Identifier: GPL-2.0-only
#include "paths/store.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sqlite3.h>

#include "util/cleanup.h"

#define SCHEMA_VERSION 1
#define BUSY_MS	       2000 /* for whoever else has it open: --forget-paths, a person */
#define BOOT_TEXT      64
#define DAMAGED	       TCPTUNED_PATHDB_DAMAGED

struct tcptuned_pathdb {
	sqlite3 *db;
	sqlite3_stmt *put;
	char *file;
	char boot[BOOT_TEXT]; /* the kernel's id of this boot */
};

/*
 * boot: '' for the daemon's own network namespace, which is the same after every boot; else of
 * the boot in which the namespace has that cookie. netns is its inode number, for people.
 */
#define TABLE                                                                               \
	"CREATE TABLE IF NOT EXISTS paths ("                                                \
	" prefix TEXT NOT NULL, cookie INTEGER NOT NULL, boot TEXT NOT NULL,"               \
	" updated INTEGER NOT NULL, min_rtt_us INTEGER NOT NULL,"                           \
	" received_per_rtt INTEGER NOT NULL, sent_per_rtt INTEGER NOT NULL,"                \
	" max_window INTEGER NOT NULL, max_window_updated INTEGER NOT NULL,"                \
	" segments_sent INTEGER NOT NULL, segments_retransmitted INTEGER NOT NULL,"         \
	" connections INTEGER NOT NULL, slow INTEGER NOT NULL, netns INTEGER NOT NULL,"     \
	" PRIMARY KEY (prefix, cookie, boot)) WITHOUT ROWID;"

static const char schema[] = "BEGIN IMMEDIATE;" TABLE "PRAGMA user_version = 1; COMMIT;";

#define COLUMNS                                                                             \
	"prefix, cookie, updated, min_rtt_us, received_per_rtt, sent_per_rtt, max_window, " \
	"max_window_updated, segments_sent, segments_retransmitted, connections, slow, netns"

static void finalizep(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

#define _cleanup_stmt_ __attribute__((cleanup(finalizep)))

/* ---- errors --------------------------------------------------------------------------- */

static int fail(const struct tcptuned_pathdb *db, struct tcptuned_error *err)
{
	int code = sqlite3_errcode(db->db) & 0xff;
	bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;

	return tcptuned_fail(err, damaged ? EUCLEAN : EIO, TCPTUNED_EXIT_INTERNAL, "%s: %s",
			     db->file, sqlite3_errmsg(db->db));
}

static int execute(struct tcptuned_pathdb *db, const char *sql, struct tcptuned_error *err)
{
	return sqlite3_exec(db->db, sql, NULL, NULL, NULL) ? fail(db, err) : 0;
}

static int prepare(struct tcptuned_pathdb *db, const char *sql, sqlite3_stmt **ret,
		   struct tcptuned_error *err)
{
	return sqlite3_prepare_v2(db->db, sql, -1, ret, NULL) ? fail(db, err) : 0;
}

/* ---- prefixes ------------------------------------------------------------------------- */

/* Clear what is behind the prefix. */
static void mask(struct tcptuned_path_key *key)
{
	__u32 words[4];

	memcpy(words, key->prefix, sizeof(words));
	for (__u32 i = 0; i < 4; i++)
		words[i] &= htonl(path_mask(key->prefix_len, i));
	memcpy(key->prefix, words, sizeof(words));
}

void tcptuned_path_key_of(const struct tcptuned_prefix *prefix, struct tcptuned_path_key *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->family = prefix->ipv4 ? AF_INET : AF_INET6;
	ret->prefix_len = prefix->ipv4 ? prefix->length - 96 : prefix->length;
	memcpy(ret->prefix, prefix->address + (prefix->ipv4 ? 12 : 0), prefix->ipv4 ? 4 : 16);
}

int tcptuned_path_key_parse(const char *text, struct tcptuned_path_key *ret)
{
	struct tcptuned_prefix prefix;

	if (tcptuned_prefix_of(text, &prefix))
		return -EINVAL;
	tcptuned_path_key_of(&prefix, ret);
	return 0;
}

void tcptuned_prefix_format(const struct tcptuned_path_key *key, char ret[TCPTUNED_PREFIX_TEXT])
{
	char address[INET6_ADDRSTRLEN];

	if (!inet_ntop(key->family, key->prefix, address, sizeof(address)))
		strcpy(address, "?");
	snprintf(ret, TCPTUNED_PREFIX_TEXT, "%s/%u", address, key->prefix_len);
}

bool tcptuned_prefix_overlap(const struct tcptuned_path_key *a,
			     const struct tcptuned_path_key *b)
{
	struct tcptuned_path_key shorter = *a, other = *b;

	if (a->family != b->family)
		return false;
	if (a->prefix_len > b->prefix_len)
		shorter.prefix_len = b->prefix_len;
	other.prefix_len = shorter.prefix_len;
	mask(&shorter);
	mask(&other);
	return !memcmp(shorter.prefix, other.prefix, sizeof(shorter.prefix));
}

/* ---- opening -------------------------------------------------------------------------- */

static void read_boot_id(char ret[BOOT_TEXT])
{
	_cleanup_fclose_ FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(ret, BOOT_TEXT, file))
		strcpy(ret, "unknown");
	ret[strcspn(ret, "\n")] = '\0';
}

static int check_version(struct tcptuned_pathdb *db, struct tcptuned_error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	int error = prepare(db, "PRAGMA user_version", &stmt, err), version;

	if (error)
		return error;
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return fail(db, err);
	version = sqlite3_column_int(stmt, 0);
	sqlite3_reset(stmt);
	if (!version) /* new, or somebody else's */
		return execute(db, schema, err);
	if (version != SCHEMA_VERSION)
		return tcptuned_fail(err, EUCLEAN, TCPTUNED_EXIT_INTERNAL,
				     "%s: it has format %d, and this tcptuned knows format %d",
				     db->file, version, SCHEMA_VERSION);
	return 0;
}

static int prepare_put(struct tcptuned_pathdb *db, struct tcptuned_error *err)
{
	int error = prepare(db,
			    "INSERT OR REPLACE INTO paths (" COLUMNS ", boot)"
			    " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
			    &db->put, err);

	/* A table of that name with other columns is none of ours. */
	return error == -EIO && (sqlite3_errcode(db->db) & 0xff) == SQLITE_ERROR ? -EUCLEAN : error;
}

static int open_file(struct tcptuned_pathdb *db, const char *file, struct tcptuned_error *err)
{
	db->file = strdup(file);
	if (!db->file)
		return tcptuned_fail(err, EIO, TCPTUNED_EXIT_INTERNAL, "%s: no memory", file);
	if (sqlite3_open_v2(file, &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
		return fail(db, err);
	sqlite3_busy_timeout(db->db, BUSY_MS);
	read_boot_id(db->boot);
	/* What is forgotten is to be gone: overwritten, not only unlinked. */
	sqlite3_exec(db->db, "PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL", NULL, NULL,
		     NULL);
	return 0;
}

int tcptuned_pathdb_open(struct tcptuned_pathdb **ret, const char *file,
			 struct tcptuned_error *err)
{
	struct tcptuned_pathdb *db = calloc(1, sizeof(*db));
	mode_t before;
	int error;

	if (!db)
		return tcptuned_fail(err, EIO, TCPTUNED_EXIT_INTERNAL, "%s: no memory", file);
	before = umask(077); /* whom this host talks to is nobody else's business */
	error = open_file(db, file, err);
	if (!error)
		error = check_version(db, err);
	if (!error)
		error = prepare_put(db, err);
	umask(before);
	if (error) {
		tcptuned_pathdb_close(db);
		return error;
	}
	*ret = db;
	return 0;
}

void tcptuned_pathdb_close(struct tcptuned_pathdb *db)
{
	if (!db)
		return;
	sqlite3_finalize(db->put);
	sqlite3_close(db->db);
	free(db->file);
	free(db);
}

/* ---- damaged ones --------------------------------------------------------------------- */

static int unlink_beside(const char *file, const char *suffix)
{
	_cleanup_free_ char *name = NULL;

	if (asprintf(&name, "%s%s", file, suffix) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	return unlink(name) && errno != ENOENT ? -errno : 0;
}

int tcptuned_pathdb_remove_damaged(const char *file)
{
	return unlink_beside(file, DAMAGED);
}

int tcptuned_pathdb_remove(const char *file)
{
	int error = unlink_beside(file, "");

	return error ? error : unlink_beside(file, "-journal");
}

int tcptuned_pathdb_set_aside(const char *file)
{
	_cleanup_free_ char *name = NULL;

	if (asprintf(&name, "%s" DAMAGED, file) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	/* The journal would be rolled back into the file that comes after. */
	return rename(file, name) ? -errno : unlink_beside(file, "-journal");
}

/* ---- rows ----------------------------------------------------------------------------- */

/* A number as it may be; what is out of range becomes the nearest that is not. */
static __u64 column(sqlite3_stmt *stmt, int i, __u64 most)
{
	sqlite3_int64 value = sqlite3_column_int64(stmt, i);

	if (value < 0)
		return 0;
	return (__u64)value < most ? (__u64)value : most;
}

static bool read_row(sqlite3_stmt *stmt, struct tcptuned_path_key *key,
		     struct tcptuned_path *path)
{
	const char *prefix = (const char *)sqlite3_column_text(stmt, 0);

	if (!prefix || tcptuned_path_key_parse(prefix, key))
		return false;
	key->netns_cookie = column(stmt, 1, INT64_MAX);
	memset(path, 0, sizeof(*path));
	path->updated_s = (__s64)column(stmt, 2, INT64_MAX / 2);
	path->min_rtt_us = (__u32)column(stmt, 3, RIGHTSIZE_RTT_MAX_US);
	path->rcv_per_rtt = (__u32)column(stmt, 4, RIGHTSIZE_WINDOW_MAX);
	path->snd_per_rtt = (__u32)column(stmt, 5, RIGHTSIZE_WINDOW_MAX);
	path->max_window = (__u32)column(stmt, 6, RIGHTSIZE_WINDOW_MAX);
	path->max_window_s = (__s64)column(stmt, 7, INT64_MAX / 2);
	path->sent = column(stmt, 8, PATH_COUNT_MAX);
	path->retransmitted = column(stmt, 9, PATH_COUNT_MAX);
	path->connections = (__u32)column(stmt, 10, UINT32_MAX);
	path->slow = (__u32)column(stmt, 11, 1);
	path->netns = (__u32)column(stmt, 12, UINT32_MAX);
	return path->connections && path->min_rtt_us;
}

int tcptuned_pathdb_read(struct tcptuned_pathdb *db, tcptuned_pathdb_row row, void *ctx,
			 struct tcptuned_error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct tcptuned_path_key key;
	struct tcptuned_path path;
	int error, step;

	error = prepare(db,
			"SELECT " COLUMNS " FROM paths WHERE (boot = '' AND cookie = 0) OR boot = ?1"
			" ORDER BY updated",
			&stmt, err);
	if (error)
		return error;
	sqlite3_bind_text(stmt, 1, db->boot, -1, SQLITE_STATIC);
	while ((step = sqlite3_step(stmt)) == SQLITE_ROW)
		if (read_row(stmt, &key, &path))
			row(ctx, &key, &path);
	return step == SQLITE_DONE ? 0 : fail(db, err);
}

int tcptuned_pathdb_begin(struct tcptuned_pathdb *db, struct tcptuned_error *err)
{
	return execute(db, "BEGIN IMMEDIATE", err);
}

int tcptuned_pathdb_commit(struct tcptuned_pathdb *db, struct tcptuned_error *err)
{
	int error = execute(db, "COMMIT", err);

	if (error)
		sqlite3_exec(db->db, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

int tcptuned_pathdb_put(struct tcptuned_pathdb *db, const struct tcptuned_path_key *key,
			const struct tcptuned_path *path, struct tcptuned_error *err)
{
	char prefix[TCPTUNED_PREFIX_TEXT];
	int step;

	tcptuned_prefix_format(key, prefix);
	sqlite3_reset(db->put);
	sqlite3_bind_text(db->put, 1, prefix, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(db->put, 2, (sqlite3_int64)key->netns_cookie);
	sqlite3_bind_int64(db->put, 3, path->updated_s);
	sqlite3_bind_int64(db->put, 4, path->min_rtt_us);
	sqlite3_bind_int64(db->put, 5, path->rcv_per_rtt);
	sqlite3_bind_int64(db->put, 6, path->snd_per_rtt);
	sqlite3_bind_int64(db->put, 7, path->max_window);
	sqlite3_bind_int64(db->put, 8, path->max_window_s);
	sqlite3_bind_int64(db->put, 9, (sqlite3_int64)path->sent);
	sqlite3_bind_int64(db->put, 10, (sqlite3_int64)path->retransmitted);
	sqlite3_bind_int64(db->put, 11, path->connections);
	sqlite3_bind_int64(db->put, 12, path->slow);
	sqlite3_bind_int64(db->put, 13, path->netns);
	sqlite3_bind_text(db->put, 14, key->netns_cookie ? db->boot : "", -1, SQLITE_STATIC);
	step = sqlite3_step(db->put);
	sqlite3_reset(db->put);
	return step == SQLITE_DONE ? 0 : fail(db, err);
}

/* ---- forgetting ----------------------------------------------------------------------- */

static int forget_all(struct tcptuned_pathdb *db, unsigned int *ret_count,
		      struct tcptuned_error *err)
{
	int error = execute(db, "DELETE FROM paths", err);

	if (!error)
		*ret_count = (unsigned int)sqlite3_changes(db->db);
	return error;
}

/* SQL's view of tcptuned_prefix_overlap(): overlaps(prefix), the other one is the context. */
static void sql_overlaps(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[0]);
	struct tcptuned_path_key key;

	sqlite3_result_int(ctx, text && !tcptuned_path_key_parse(text, &key) &&
				       tcptuned_prefix_overlap(&key, sqlite3_user_data(ctx)));
}

int tcptuned_pathdb_forget(struct tcptuned_pathdb *db, const struct tcptuned_path_key *prefix,
			   unsigned int *ret_count, struct tcptuned_error *err)
{
	struct tcptuned_path_key copy;
	int error;

	*ret_count = 0;
	if (!prefix)
		return forget_all(db, ret_count, err);
	copy = *prefix;
	if (sqlite3_create_function(db->db, "overlaps", 1, SQLITE_UTF8, &copy, sql_overlaps, NULL,
				    NULL))
		return fail(db, err);
	error = execute(db, "DELETE FROM paths WHERE overlaps(prefix)", err);
	if (!error)
		*ret_count = (unsigned int)sqlite3_changes(db->db);
	sqlite3_create_function(db->db, "overlaps", 1, SQLITE_UTF8, NULL, NULL, NULL, NULL);
	return error;
}
