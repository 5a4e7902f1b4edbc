// SPDX-License-Identifier: GPL-2.0-only
#include "paths/database.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sqlite3.h>

#include <tcptuned/streams.h>

#include "util/sysctl.h"
#include "util/text.h"

#define SCHEMA_VERSION 1
#define STEPS_PER_MS   20000 /* of SQLite's machine: less than a processor does */
#define VALUE_BYTES    65536 /* a value, or a row; a longer one is not read */

struct tcptuned_pathdb {
	sqlite3 *db;
	sqlite3_stmt *put, *put_level;
	char file[PATH_MAX];
	char boot[64]; /* the kernel's id of this boot */
};

/* The columns of numbers. X(column, field of struct tcptuned_path, largest valid value) */
#define COLUMNS(X)                                               \
	X(updated, updated_s, INT64_MAX / 2)                     \
	X(min_rtt_us, min_rtt_us, RIGHTSIZE_RTT_MAX_US)          \
	X(received_per_rtt, rcv_per_rtt, RIGHTSIZE_WINDOW_MAX)   \
	X(sent_per_rtt, snd_per_rtt, RIGHTSIZE_WINDOW_MAX)       \
	X(max_window, max_window, RIGHTSIZE_WINDOW_MAX)          \
	X(max_window_updated, max_window_s, INT64_MAX / 2)       \
	X(segments_sent, sent, PATH_COUNT_MAX)                   \
	X(segments_retransmitted, retransmitted, PATH_COUNT_MAX) \
	X(connections, connections, UINT32_MAX)                  \
	X(slow, slow, UINT32_MAX)                                \
	X(netns, netns, UINT32_MAX)

/* Those of levels of parallel connections. */
#define LEVEL_INTEGERS(X)                    \
	X(updated, updated_s, INT64_MAX / 2) \
	X(windows, windows, UINT32_MAX)      \
	X(netns, netns, UINT32_MAX)
#define LEVEL_REALS(X)                            \
	X(bits_per_second, rate)                  \
	X(peak_bits_per_second, rate_peak)        \
	X(loss, loss)                             \
	X(rtt_seconds, rtt_s)                     \
	X(rtt_min_seconds, rtt_min_s)             \
	X(receiver_window_share, receiver_window) \
	X(send_buffer_share, send_buffer)

#define DECLARATION(column, ...)      ", " #column " INTEGER NOT NULL"
#define REAL_DECLARATION(column, ...) ", " #column " REAL NOT NULL"
#define NAME(column, ...)	      ", " #column
#define PARAMETER(...)		      ",?"

/*
 * cookie identifies a network namespace until the next boot, whose id is in boot. Both are empty
 * for the daemon's own, which is the same after every boot. netns is the inode number, for people.
 */
static const char schema[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS paths"
	" (prefix TEXT NOT NULL, cookie INTEGER NOT NULL, boot TEXT NOT NULL" COLUMNS(
		DECLARATION) ", PRIMARY KEY (prefix, cookie, boot)) WITHOUT ROWID;"
			     "PRAGMA user_version = 1; COMMIT;";

static const char insert[] = "INSERT OR REPLACE INTO paths (prefix, cookie, boot" COLUMNS(
	NAME) ") VALUES (?,?,?" COLUMNS(PARAMETER) ")";

static const char select_rows[] =
	"SELECT prefix, cookie" COLUMNS(NAME) " FROM paths WHERE (boot = '' AND cookie = 0)"
					      " OR boot = ?1 ORDER BY updated LIMIT ?2";

/* Files of earlier builds have the same format without this table. */
static const char level_schema[] =
	"CREATE TABLE IF NOT EXISTS streams"
	" (host TEXT NOT NULL, cookie INTEGER NOT NULL, boot TEXT NOT NULL,"
	" congestion_control TEXT NOT NULL, receives INTEGER NOT NULL,"
	" streams INTEGER NOT NULL" LEVEL_INTEGERS(DECLARATION) LEVEL_REALS(
		REAL_DECLARATION) ", PRIMARY KEY (host, cookie, boot, congestion_control, receives,"
				  " streams)) WITHOUT ROWID";

static const char insert_level[] =
	"INSERT OR REPLACE INTO streams (host, cookie, boot, congestion_control, receives,"
	" streams" LEVEL_INTEGERS(NAME)
		LEVEL_REALS(NAME) ") VALUES (?,?,?,?,?,?" LEVEL_INTEGERS(PARAMETER)
			LEVEL_REALS(PARAMETER) ")";

static const char select_levels[] =
	"SELECT host, cookie, congestion_control, receives, streams" LEVEL_INTEGERS(NAME)
		LEVEL_REALS(NAME) " FROM streams WHERE (boot = '' AND cookie = 0) OR boot = ?1"
				  " ORDER BY updated LIMIT ?2";

static void finalizep(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

#define _cleanup_stmt_ __attribute__((cleanup(finalizep)))

static int fail(const struct tcptuned_pathdb *db, struct tcptuned_error *err)
{
	int code = sqlite3_errcode(db->db) & 0xff;
	/*
	 * SQLITE_READONLY: the file may be written, but claims to be of a later version of SQLite.
	 */
	bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ||
		       code == SQLITE_INTERRUPT || code == SQLITE_TOOBIG ||
		       (code == SQLITE_READONLY && !access(db->file, W_OK));

	return FAIL(err, damaged ? EUCLEAN : EIO, INTERNAL, "%s: %s", db->file,
		    code == SQLITE_INTERRUPT ? "it takes too long to read"
					     : sqlite3_errmsg(db->db));
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

int tcptuned_path_key_parse(const char *text, struct tcptuned_path_key *ret)
{
	struct tcptuned_prefix prefix;

	if (tcptuned_prefix_of(text, &prefix))
		return -EINVAL;
	tcptuned_prefix_path_key(&prefix, ret);
	return 0;
}

void tcptuned_path_key_format(const struct tcptuned_path_key *key, char ret[TCPTUNED_PREFIX_TEXT])
{
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(key->family, key->prefix, address, sizeof(address));
	snprintf(ret, TCPTUNED_PREFIX_TEXT, "%s/%u", address, key->prefix_len);
}

bool tcptuned_path_key_overlap(const struct tcptuned_path_key *a, const struct tcptuned_path_key *b)
{
	return a->family == b->family &&
	       tcptuned_prefix_covers(a->prefix, MIN(a->prefix_len, b->prefix_len), b->prefix);
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
	if (!version) /* a new file, or another program's */
		return execute(db, schema, err);
	if (version != SCHEMA_VERSION)
		return FAIL(err, EUCLEAN, INTERNAL,
			    "%s: it has format %d, and this tcptuned knows format %d", db->file,
			    version, SCHEMA_VERSION);
	return 0;
}

/*
 * A view, a trigger, an index or a virtual table would run what the author of the file wrote.
 * tcptuned makes none.
 */
static int check_tables(struct tcptuned_pathdb *db, struct tcptuned_error *err)
{
	static const char others[] =
		"SELECT 1 FROM sqlite_master WHERE sql NOT LIKE 'CREATE TABLE%'";
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	int error = prepare(db, others, &stmt, err), step;

	if (error)
		return error;
	step = sqlite3_step(stmt);
	if (step == SQLITE_ROW)
		return FAIL(err, EUCLEAN, INTERNAL, "%s: it has more than tables", db->file);
	return step == SQLITE_DONE ? 0 : fail(db, err);
}

static int end_statement(void *ctx)
{
	return 1;
}

static int open_file(struct tcptuned_pathdb *db, unsigned int limit_ms, struct tcptuned_error *err)
{
	struct stat st;
	int error;

	if (!lstat(db->file, &st) && !S_ISREG(st.st_mode))
		return FAIL(err, EIO, INTERNAL, "%s: it is not a regular file; remove it",
			    db->file);
	if (sqlite3_open_v2(db->file, &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
		return fail(db, err);
	sqlite3_busy_timeout(db->db, (int)limit_ms);
	sqlite3_progress_handler(db->db, (int)limit_ms * STEPS_PER_MS, end_statement, NULL);
	sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES);
	/* Deleted rows are overwritten: what is forgotten must not stay in the file. */
	sqlite3_exec(db->db,
		     "PRAGMA secure_delete = ON; PRAGMA synchronous = OFF;"
		     "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON",
		     NULL, NULL, NULL);
	error = check_tables(db, err) ?:
		check_version(db, err) ?:
		execute(db, level_schema, err) ?:
		prepare(db, insert, &db->put, err) ?:
		prepare(db, insert_level, &db->put_level, err);
	/* SQLITE_ERROR: a table has other columns, so that it is another program's. */
	return error && (sqlite3_errcode(db->db) & 0xff) == SQLITE_ERROR ? -EUCLEAN : error;
}

int tcptuned_pathdb_open(struct tcptuned_pathdb **ret, const char *file, unsigned int limit_ms,
			 struct tcptuned_error *err)
{
	struct tcptuned_pathdb *db = calloc(1, sizeof(*db));
	mode_t before;
	int error;

	if (!db)
		return FAIL(err, EIO, INTERNAL, "%s: out of memory", file);
	snprintf(db->file, sizeof(db->file), "%s", file);
	if (tcptuned_sysctl_read("kernel.random.boot_id", db->boot, sizeof(db->boot)))
		strcpy(db->boot, "unknown");
	before = umask(077); /* only root may learn with whom this host communicates */
	error = open_file(db, limit_ms, err);
	umask(before);
	if (error)
		tcptuned_pathdb_close(db);
	else
		*ret = db;
	return error;
}

void tcptuned_pathdb_close(struct tcptuned_pathdb *db)
{
	if (!db)
		return;
	sqlite3_finalize(db->put);
	sqlite3_finalize(db->put_level);
	sqlite3_close(db->db);
	free(db);
}

static int remove_file(const char *file, const char *suffix)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s%s", file, suffix);
	return unlink(name) && errno != ENOENT ? -errno : 0;
}

int tcptuned_pathdb_remove_damaged(const char *file)
{
	return remove_file(file, TCPTUNED_PATHDB_DAMAGED);
}

/* The journal is deleted, because it would be rolled back into the next file of this name. */
int tcptuned_pathdb_set_aside(const char *file)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s" TCPTUNED_PATHDB_DAMAGED, file);
	return rename(file, name) ? -errno : remove_file(file, "-journal");
}

/* Read a number; one that is out of range becomes the nearest valid one. */
static __u64 read_number(sqlite3_stmt *stmt, int i, __u64 max)
{
	sqlite3_int64 value = sqlite3_column_int64(stmt, i);

	return value < 0 ? 0 : MIN((__u64)value, max);
}

#define READ_INTEGER(column, field, max) \
	row->field = (typeof(row->field))read_number(stmt, i++, max);
#define READ_REAL(column, field)                       \
	row->field = sqlite3_column_double(stmt, i++); \
	valid &= isfinite(row->field) && row->field >= 0;

static bool read_row(sqlite3_stmt *stmt, struct tcptuned_path_key *key, struct tcptuned_path *row)
{
	const char *prefix = (const char *)sqlite3_column_text(stmt, 0);
	int i = 2;

	if (!prefix || tcptuned_path_key_parse(prefix, key))
		return false;
	key->netns_cookie = read_number(stmt, 1, INT64_MAX);
	memset(row, 0, sizeof(*row));
	COLUMNS(READ_INTEGER)
	return row->connections && row->min_rtt_us;
}

static bool read_level(sqlite3_stmt *stmt, struct tcptuned_streams_key *key,
		       struct tcptuned_streams_record *row)
{
	const char *host = (const char *)sqlite3_column_text(stmt, 0);
	const char *name = (const char *)sqlite3_column_text(stmt, 2);
	bool valid = true;
	int i = 5;

	memset(key, 0, sizeof(*key));
	memset(row, 0, sizeof(*row));
	if (!host || !name || strlen(name) >= sizeof(key->congestion_control) ||
	    tcptuned_path_key_parse(host, &key->host))
		return false;
	key->host.netns_cookie = read_number(stmt, 1, INT64_MAX);
	strcpy(key->congestion_control, name);
	tcptuned_text_make_printable(key->congestion_control);
	key->receives = (__u32)read_number(stmt, 3, 1);
	key->streams = (__u32)read_number(stmt, 4, TCPTUNED_STREAMS_MAX);
	LEVEL_INTEGERS(READ_INTEGER)
	LEVEL_REALS(READ_REAL)
	return valid && key->streams && row->windows && row->rate > 0;
}

int tcptuned_pathdb_read_levels(struct tcptuned_pathdb *db, tcptuned_pathdb_level row, void *ctx,
				struct tcptuned_error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct tcptuned_streams_record level;
	struct tcptuned_streams_key key;
	int error = prepare(db, select_levels, &stmt, err), step;

	if (error)
		return error;
	sqlite3_bind_text(stmt, 1, db->boot, -1, SQLITE_STATIC);
	sqlite3_bind_int(stmt, 2, TCPTUNED_STREAMS_RECORDS_MAX);
	while ((step = sqlite3_step(stmt)) == SQLITE_ROW)
		if (read_level(stmt, &key, &level))
			row(ctx, &key, &level);
	return step == SQLITE_DONE ? 0 : fail(db, err);
}

int tcptuned_pathdb_read(struct tcptuned_pathdb *db, tcptuned_pathdb_row row, void *ctx,
			 struct tcptuned_error *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = NULL;
	struct tcptuned_path_key key;
	struct tcptuned_path path;
	int error = prepare(db, select_rows, &stmt, err), step;

	if (error)
		return error;
	sqlite3_bind_text(stmt, 1, db->boot, -1, SQLITE_STATIC);
	sqlite3_bind_int(stmt, 2, TCPTUNED_PATHS_MAX);
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
	return execute(db, "COMMIT", err);
}

/* Bind the first parameters: prefix, cookie and boot. Returns the index of the next one. */
static int bind_key(struct tcptuned_pathdb *db, sqlite3_stmt *stmt,
		    const struct tcptuned_path_key *key)
{
	char prefix[TCPTUNED_PREFIX_TEXT];

	tcptuned_path_key_format(key, prefix);
	sqlite3_bind_text(stmt, 1, prefix, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)key->netns_cookie);
	sqlite3_bind_text(stmt, 3, key->netns_cookie ? db->boot : "", -1, SQLITE_STATIC);
	return 4;
}

static int put(struct tcptuned_pathdb *db, sqlite3_stmt *stmt, struct tcptuned_error *err)
{
	int step = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return step == SQLITE_DONE ? 0 : fail(db, err);
}

#define BIND_INTEGER(column, field, max) sqlite3_bind_int64(stmt, i++, (sqlite3_int64)row->field);
#define BIND_REAL(column, field)	 sqlite3_bind_double(stmt, i++, row->field);

int tcptuned_pathdb_put(struct tcptuned_pathdb *db, const struct tcptuned_path_key *key,
			const struct tcptuned_path *row, struct tcptuned_error *err)
{
	sqlite3_stmt *stmt = db->put;
	int i = bind_key(db, stmt, key);

	COLUMNS(BIND_INTEGER)
	return put(db, stmt, err);
}

int tcptuned_pathdb_put_level(struct tcptuned_pathdb *db, const struct tcptuned_streams_key *key,
			      const struct tcptuned_streams_record *row, struct tcptuned_error *err)
{
	sqlite3_stmt *stmt = db->put_level;
	int i = bind_key(db, stmt, &key->host);

	sqlite3_bind_text(stmt, i++, key->congestion_control, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(stmt, i++, key->receives);
	sqlite3_bind_int64(stmt, i++, key->streams);
	LEVEL_INTEGERS(BIND_INTEGER)
	LEVEL_REALS(BIND_REAL)
	return put(db, stmt, err);
}

/*
 * The SQL function overlaps(prefix): tcptuned_path_key_overlap() with the prefix to be forgotten.
 */
static void sql_overlaps(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[0]);
	struct tcptuned_path_key key;

	sqlite3_result_int(ctx, text && !tcptuned_path_key_parse(text, &key) &&
					tcptuned_path_key_overlap(&key, sqlite3_user_data(ctx)));
}

int tcptuned_pathdb_forget(struct tcptuned_pathdb *db, const struct tcptuned_path_key *prefix,
			   unsigned int *ret_count, struct tcptuned_error *err)
{
	int error;

	*ret_count = 0;
	if (prefix && sqlite3_create_function(db->db, "overlaps", 1, SQLITE_UTF8, (void *)prefix,
					      sql_overlaps, NULL, NULL))
		return fail(db, err);
	error = execute(db,
			prefix ? "DELETE FROM streams WHERE overlaps(host);"
				 "DELETE FROM paths WHERE overlaps(prefix)"
			       : "DELETE FROM streams; DELETE FROM paths",
			err);
	if (!error)
		*ret_count = (unsigned int)sqlite3_changes(db->db);
	return error;
}
