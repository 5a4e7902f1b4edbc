// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths on disk: what the database keeps, refuses and forgets, and what is kept of the kernel's
 * map. A process without the right to make maps skips the tests that need them.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sqlite3.h>
#include <tcptuned/abi/flow.h>

#include "test.h"
#include "kern/loader.h"
#include "paths/paths.h"
#include "paths/database.h"
#include "streams/memory.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"

#define EXPIRE_S 86400
#define LIMIT_MS 100

static char file[80];
static struct tcptuned_error err;
static struct tcptuned_kernel kernel;
static int paths_fd, streams_fd, settings_fd; /* maps of it */
static struct tcptuned_paths *paths;

static time_t realtime_set_by_s;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int error = (int)syscall(SYS_clock_gettime, clock, ret);

	if (clock == CLOCK_REALTIME)
		ret->tv_sec += realtime_set_by_s;
	return error;
}

static __s64 now_s(clockid_t clock)
{
	return (__s64)(tcptuned_clock_ns(clock) / 1000000000);
}

/*
 * Make the map, as the kernel has it while the programs run. Returns its descriptor, negative: no
 * right to.
 */
static int make_map(struct bpf_map *map)
{
	int fd = bpf_map_create(bpf_map__type(map), bpf_map__name(map), bpf_map__key_size(map),
				bpf_map__value_size(map), bpf_map__max_entries(map), NULL);

	if (fd >= 0 && bpf_map__reuse_fd(map, fd))
		return -1;
	return fd;
}

static int setup(void **state)
{
	struct tcptuned_path_settings settings = {1, EXPIRE_S};

	realtime_set_by_s = 0;
	if (make_directory(state))
		return -1;
	snprintf(file, sizeof(file), "%s/paths.db", test_directory);
	tcptuned_log_set_level(TCPTUNED_LOG_ERROR);
	tcptuned_kernel_init(&kernel, test_directory);
	kernel.bpf = tcptuned_bpf__open();
	paths_fd = make_map(kernel.bpf->maps.paths);
	streams_fd = make_map(kernel.bpf->maps.streams);
	settings_fd = make_map(kernel.bpf->maps.path_settings);
	if (tcptuned_paths_new(&paths, &kernel, test_directory))
		return -1;
	tcptuned_paths_configure(paths, &settings);
	return 0;
}

static int teardown(void **state)
{
	tcptuned_paths_free(paths);
	tcptuned_kernel_close(&kernel);
	tcptuned_closep(&paths_fd);
	tcptuned_closep(&streams_fd);
	tcptuned_closep(&settings_fd);
	return remove_directory(state);
}

FIXTURE(setup, teardown)

static void need_maps(void)
{
	if (paths_fd < 0 || streams_fd < 0 || settings_fd < 0)
		skip();
}

static struct tcptuned_pathdb *opened(void)
{
	struct tcptuned_pathdb *db = NULL;

	if (tcptuned_pathdb_open(&db, file, LIMIT_MS, &err))
		fail_msg("%s", err.text);
	return db;
}

/* Runs one statement. Returns the first number of its first row; -1: it has no row. */
static long long sql(const char *text)
{
	sqlite3_stmt *stmt = NULL;
	long long answer = -1;
	sqlite3 *db;
	int error;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	error = sqlite3_prepare_v2(db, text, -1, &stmt, NULL);
	if (!error)
		error = sqlite3_step(stmt);
	if (error == SQLITE_ROW)
		answer = sqlite3_column_int64(stmt, 0);
	else if (error != SQLITE_DONE)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return answer;
}

static long long count_rows(void)
{
	return sql("SELECT count(*) FROM paths");
}

static struct tcptuned_path_key key(const char *prefix, __u64 netns)
{
	struct tcptuned_path_key k;

	assert_int_equal(tcptuned_path_key_parse(prefix, &k), 0);
	k.netns_cookie = netns;
	return k;
}

static struct tcptuned_path path(__s64 updated_s)
{
	return struct_of(tcptuned_path, .updated_s = updated_s, .max_window_s = updated_s - 5,
			 .sent = PATH_COUNT_MAX - 1, .retransmitted = 17, .min_rtt_us = 41234,
			 .rcv_per_rtt = 250001, .snd_per_rtt = 250002, .max_window = 375003,
			 .connections = 4, .slow = 1);
}

/* Collects what is read. */
struct rows {
	unsigned int n;
	struct tcptuned_path_key keys[64];
	struct tcptuned_path paths[64];
};

static void collect(void *ctx, const struct tcptuned_path_key *k, const struct tcptuned_path *p)
{
	struct rows *rows = ctx;

	assert_true(rows->n < 64);
	rows->keys[rows->n] = *k;
	rows->paths[rows->n++] = *p;
}

static struct rows all_rows(void)
{
	struct tcptuned_pathdb *db = opened();
	struct rows rows = {0};

	assert_int_equal(tcptuned_pathdb_read(db, collect, &rows, &err), 0);
	tcptuned_pathdb_close(db);
	return rows;
}

static struct tcptuned_pathdb *begin(void)
{
	struct tcptuned_pathdb *db = opened();

	assert_int_equal(tcptuned_pathdb_begin(db, &err), 0);
	return db;
}

/* @netns: the cookie; of 7, 1007 and so on the inode number is the same */
static void put_row(struct tcptuned_pathdb *db, const char *prefix, __u64 netns, __s64 updated_s)
{
	struct tcptuned_path_key k = key(prefix, netns);
	struct tcptuned_path p = path(updated_s);

	p.netns = netns % 1000;
	assert_int_equal(tcptuned_pathdb_put(db, &k, &p, &err), 0);
}

static void commit(struct tcptuned_pathdb *db)
{
	assert_int_equal(tcptuned_pathdb_commit(db, &err), 0);
	tcptuned_pathdb_close(db);
}

static void put(const char *prefix, __u64 netns, __s64 updated_s)
{
	struct tcptuned_pathdb *db = begin();

	put_row(db, prefix, netns, updated_s);
	commit(db);
}

TEST(prefixes_are_read_and_written)
{
	static const struct {
		const char *text, *prefix; /* NULL: refused */
	} rows[] = {
		{"192.0.2.0/24", "192.0.2.0/24"},
		{"0.0.0.0/0", "0.0.0.0/0"},
		{"192.0.2.77/24", "192.0.2.0/24"},
		{"192.0.2.77", "192.0.2.77/32"},
		{"2001:db8::/48", "2001:db8::/48"},
		{"::/0", "::/0"},
		{"192.0.2.0/33", NULL},
		{"1.2.3.4/8/8", NULL},
		{"1111:2222:3333:4444:5555:6666:7777:8888:9999:0/64", NULL},
	};
	char text[TCPTUNED_PREFIX_TEXT];
	struct tcptuned_path_key k;

	for_each_row (r, rows) {
		assert_int_equal(tcptuned_path_key_parse(r->text, &k), r->prefix ? 0 : -EINVAL);
		if (!r->prefix)
			continue;
		tcptuned_path_key_format(&k, text);
		assert_string_equal(text, r->prefix);
	}
}

TEST(prefixes_overlap)
{
	static const struct {
		const char *a, *b;
		bool overlap;
	} rows[] = {
		{"192.0.2.0/24", "192.0.3.200", false},
		{"10.0.0.0/8", "10.99.1.0/24", true},
		{"::/0", "10.99.1.0/24", false},
		{"2001:db8::/48", "2001:db8:1::/48", false},
	};

	for_each_row (r, rows) {
		struct tcptuned_path_key a = key(r->a, 1), b = key(r->b, 2);

		assert_int_equal(tcptuned_path_key_overlap(&a, &b), r->overlap);
		assert_int_equal(tcptuned_path_key_overlap(&b, &a), r->overlap);
	}
}

TEST(what_goes_in_comes_out)
{
	/* the oldest first */
	struct tcptuned_path_key keys[] = {key("10.1.2.0/24", 0),
					   key("2001:db8::/48", 5000000000000007),
					   key("10.1.2.0/24", 7), key("10.1.2.0/24", 1007)};
	struct tcptuned_path p = path(1700000000);
	struct rows rows;
	struct stat st;

	put("2001:db8::/48", 5000000000000007, 1700000100);
	put("10.1.2.0/24", 0, 1600000000);
	put("10.1.2.0/24", 0, 1700000000); /* in place of the one before */
	put("10.1.2.0/24", 7, 1700000200);
	put("10.1.2.0/24", 1007, 1700000300); /* another namespace, which got the same number */
	rows = all_rows();
	assert_int_equal(rows.n, 4);
	assert_memory_equal(rows.keys, keys, sizeof(keys));
	assert_memory_equal(&rows.paths[0], &p, sizeof(p));
	assert_int_equal(rows.paths[1].netns, 7);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

TEST(nothing_is_kept_without_a_commit)
{
	struct tcptuned_pathdb *db = begin();

	put_row(db, "10.1.2.0/24", 0, 1);
	tcptuned_pathdb_close(db);
	assert_int_equal(all_rows().n, 0);
}

/* Cookies of network namespaces mean nothing after a boot, but for the daemon's own. */
TEST(other_boots_are_not_read)
{
	put("10.1.1.0/24", 0, 100);
	put("10.1.2.0/24", 7, 100);
	sql("UPDATE paths SET boot = 'another' WHERE netns = 7");
	assert_int_equal(all_rows().n, 1);
}

TEST(hostile_rows_are_bounded_or_left_out)
{
	struct tcptuned_path bounded =
		struct_of(tcptuned_path, .min_rtt_us = RIGHTSIZE_RTT_MAX_US,
			  .rcv_per_rtt = RIGHTSIZE_WINDOW_MAX, .max_window = RIGHTSIZE_WINDOW_MAX,
			  .sent = PATH_COUNT_MAX, .connections = UINT32_MAX, .slow = UINT32_MAX);
	struct rows rows;

	tcptuned_pathdb_close(opened());
	sql("INSERT INTO paths VALUES"
	    " ('10.1.1.0/24', 0, '', -5, 9e18, 9e18, -9, 99999999999, -1, 9e18, 'x', 9e18, 9e18, -1),"
	    " ('nonsense', 0, '', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
	    " ('10.1.2.0/99', 0, '', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
	    " (x'00ff', 0, '', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
	    " ('10.1.3.0/24', 0, '', 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),"
	    " ('10.1.4.0/24', 0, '', 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0),"
	    " ('10.1.5.0/24', 7, '', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0)");
	rows = all_rows();
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.keys[0].netns_cookie, 0);
	assert_memory_equal(&rows.paths[0], &bounded, sizeof(bounded));
}

/* The file is refused with @why, and a new one takes its place once it is set aside. */
static void assert_refused(const char *why)
{
	struct tcptuned_pathdb *db = NULL;
	struct rows rows = {0};
	char name[200];
	int error;

	error = tcptuned_pathdb_open(&db, file, LIMIT_MS, &err);
	if (!error)
		error = tcptuned_pathdb_read(db, collect, &rows, &err);
	tcptuned_pathdb_close(db);
	assert_int_equal(error, -EUCLEAN);
	assert_contains(err.text, why);
	assert_memory_equal(err.text, file, strlen(file));
	assert_lacks(err.text, "\n");
	assert_int_equal(tcptuned_pathdb_set_aside(file), 0);
	snprintf(name, sizeof(name), "%s.damaged", file);
	assert_int_equal(access(name, F_OK), 0);
	assert_int_equal(access(file, F_OK), -1);
	tcptuned_pathdb_close(opened()); /* a new one can be begun */
	assert_int_equal(all_rows().n, 0);
	unlink(file);
}

static const char noise[4096] = {1};

static void overwrite(long at, const void *data, size_t size)
{
	FILE *f = fopen(file, "r+");

	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

TEST(any_other_file_is_refused)
{
	write_file(file, noise, sizeof(noise));
	assert_refused("not a database");

	put("10.1.1.0/24", 0, 1);
	overwrite(4096, noise, sizeof(noise));
	assert_refused("");

	tcptuned_pathdb_close(opened());
	sql("PRAGMA user_version = 4");
	assert_refused("format 4");

	sql("CREATE TABLE paths (a)");
	sql("PRAGMA user_version = 1");
	assert_refused("");
}

/* What a file of another author would have SQLite do, or hold in memory. */
TEST(a_hostile_file_is_refused)
{
	static const char endless[] =
		"CREATE VIEW paths AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
		" SELECT i AS prefix, i AS cookie, '' AS boot, i AS updated, i AS min_rtt_us,"
		" i AS received_per_rtt, i AS sent_per_rtt, i AS max_window,"
		" i AS max_window_updated, i AS segments_sent, i AS segments_retransmitted,"
		" i AS connections, i AS slow, i AS netns FROM n WHERE i < 0";
	struct tcptuned_path_key k = key("10.1.2.0/24", 0);
	struct tcptuned_path p = path(1);
	struct tcptuned_pathdb *db;

	tcptuned_pathdb_close(opened());
	sql("DROP TABLE paths");
	sql(endless);
	sql("CREATE TRIGGER t INSTEAD OF INSERT ON paths BEGIN SELECT 1; END");
	assert_refused("more than tables");

	tcptuned_pathdb_close(opened());
	sql("CREATE TRIGGER t AFTER INSERT ON paths BEGIN SELECT 1; END");
	assert_refused("more than tables");

	tcptuned_pathdb_close(opened());
	sql("DROP TABLE streams");
	sql("CREATE VIRTUAL TABLE streams USING fts5(host)");
	assert_refused("more than tables");

	put("10.1.1.0/24", 0, 1);
	sql("UPDATE paths SET prefix = zeroblob(100000)");
	assert_refused("too big");

	put("10.1.1.0/24", 0, 1);
	overwrite(18, "\3", 1); /* the version that may write it */
	db = begin();
	assert_int_equal(tcptuned_pathdb_put(db, &k, &p, &err), -EUCLEAN);
	assert_contains(err.text, "readonly");
	tcptuned_pathdb_close(db);
}

TEST(a_link_is_not_followed)
{
	struct tcptuned_pathdb *db = NULL;
	char victim[120];

	snprintf(victim, sizeof(victim), "%s/victim", test_directory);
	assert_int_equal(symlink(victim, file), 0);
	assert_int_equal(tcptuned_pathdb_open(&db, file, LIMIT_MS, &err), -EIO);
	assert_contains(err.text, "paths.db: it is not a regular file");
	assert_int_equal(access(victim, F_OK), -1);
}

/* Returns how many were forgotten. */
static unsigned int forget(const struct tcptuned_kernel *of, const char *prefix)
{
	unsigned int count;

	assert_int_equal(tcptuned_paths_forget(of, test_directory, prefix, &count, &err), 0);
	return count;
}

/* `forget all` also deletes the file that was set aside, here without a map. */
TEST(forgotten_by_prefix_and_with_the_one_set_aside)
{
	unsigned int count = 7;
	char aside[120];

	snprintf(aside, sizeof(aside), "%s.damaged", file);
	write_file(file, noise, sizeof(noise));
	assert_int_equal(tcptuned_paths_forget(NULL, test_directory, "10.1.1.0/24", &count, &err),
			 -EUCLEAN);
	assert_int_equal(count, 0);
	forget(NULL, "all");
	assert_int_equal(access(file, F_OK), -1);

	write_file(file, noise, sizeof(noise));
	assert_int_equal(tcptuned_pathdb_set_aside(file), 0);
	put("10.1.1.0/24", 0, 1);
	put("10.1.2.0/24", 9, 1);
	put("10.2.1.0/24", 0, 1);
	put("10.3.1.0/24", 0, 1);
	put("2001:db8::/48", 0, 1);
	assert_int_equal(forget(NULL, "10.3.1.7"), 1);
	assert_int_equal(forget(NULL, "10.1.0.0/16"), 2);
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(forget(NULL, "all"), 2);
	assert_int_equal(all_rows().n, 0);
	assert_int_equal(access(aside, F_OK), -1);
}

TEST(an_unwritable_place_is_another_error)
{
	struct tcptuned_pathdb *db = NULL;

	assert_int_equal(tcptuned_pathdb_open(&db, "/nowhere/paths.db", LIMIT_MS, &err), -EIO);
	assert_string_equal(err.text, "/nowhere/paths.db: unable to open database file");
	assert_int_equal(tcptuned_pathdb_open(&db, test_directory, LIMIT_MS, &err), -EIO);
	assert_null(db);
}

/* The @i-th prefix of 10.0.0.0/8, 11.0.0.0/8 and so on. */
static const char *prefix_of(unsigned int network, unsigned int i)
{
	static char text[TCPTUNED_PREFIX_TEXT];

	snprintf(text, sizeof(text), "%u.%u.%u.0/24", network, i >> 8, i & 255);
	return text;
}

/* The kernel learns @count prefixes, in another network namespace than that of those on disk. */
static void learn(unsigned int network, unsigned int count, __s64 age_s)
{
	for (unsigned int i = 0; i < count; i++) {
		struct tcptuned_path_key k = key(prefix_of(network, i), 1ull << 40);
		struct tcptuned_path p = path(now_s(CLOCK_BOOTTIME) - age_s);

		assert_int_equal(bpf_map_update_elem(paths_fd, &k, &p, BPF_ANY), 0);
	}
}

/*
 * Puts @count prefixes on disk, each as old as the one before it or younger; the last is of @age_s.
 */
static void put_many(unsigned int network, unsigned int count, __s64 age_s)
{
	struct tcptuned_pathdb *db = begin();

	for (unsigned int i = 0; i < count; i++)
		put_row(db, prefix_of(network, i), 0,
			now_s(CLOCK_REALTIME) - age_s - (count - 1 - i) / 2);
	commit(db);
}

static unsigned int seen[256]; /* in the map, by network */

static void see(void *ctx, const struct tcptuned_path_key *k, const struct tcptuned_path *p)
{
	seen[k->prefix[0]]++;
}

/* Loads from disk, and counts what is in the map then. */
static void load(void)
{
	tcptuned_paths_load(paths);
	memset(seen, 0, sizeof(seen));
	assert_int_equal(tcptuned_paths_each(paths_fd, see, NULL, NULL), 0);
}

/* A statement ends after a number of steps that fits the limit. */
TEST(a_long_statement_is_ended)
{
	struct tcptuned_pathdb *db = NULL;
	struct rows rows = {0};

	put_many(11, 5000, 100);
	assert_int_equal(tcptuned_pathdb_open(&db, file, 1, &err), 0);
	assert_int_equal(tcptuned_pathdb_read(db, collect, &rows, &err), -EUCLEAN);
	assert_contains(err.text, "too long");
	assert_int_equal(rows.n, 0);
	tcptuned_pathdb_close(db);
}

/* Saves the map; @rows are on disk then. */
static void save(long long rows)
{
	tcptuned_paths_save(paths);
	assert_int_equal(count_rows(), rows);
}

TEST(what_is_in_the_map_is_on_disk)
{
	need_maps();
	learn(10, 3, 1000);
	save(3);
	learn(11, 1, 0);
	save(4);
	forget(&kernel, "11.0.0.0/8");
	assert_int_equal(count_rows(), 3);
	save(3);
}

/* The file may be missing, damaged, or of another format. */
TEST(a_new_database_is_begun)
{
	need_maps();
	learn(10, 3, 1000);
	tcptuned_paths_save(paths);
	unlink(file);
	save(3);
	overwrite(0, "no database", strlen("no database"));
	save(3);
	sql("PRAGMA user_version = 99");
	save(3);
}

/* A host may boot in the past, and learn the time later. */
TEST(a_clock_that_is_set)
{
	need_maps();
	realtime_set_by_s = -10 * 365 * 86400;
	learn(10, 3, 1000);
	tcptuned_paths_save(paths);
	realtime_set_by_s = 0;
	save(3);
	assert_in_range(sql("SELECT unixepoch() - min(updated) FROM paths"), 999, 1060);
	assert_in_range(sql("SELECT unixepoch() - max(updated) FROM paths"), 999, 1060);
}

/* The map of a killed daemon is saved, beside what that one may not have been able to read. */
TEST(a_map_that_was_kept_is_saved)
{
	need_maps();
	learn(10, 5, 10);
	put_many(11, 3, 100);
	kernel.paths_kept = true;
	load();
	assert_int_equal(seen[10], 5);
	assert_int_equal(seen[11], 3);
	assert_int_equal(count_rows(), 8);
}

TEST(loading_into_a_new_map)
{
	need_maps();
	put_many(11, 300, 100);
	put_many(12, 10, EXPIRE_S + 1);
	load();
	assert_int_equal(seen[11], 300);
	assert_int_equal(seen[12], 0);
	learn(10, 1, 0);
	save(301);
}

/* ... because others than root could write there, for example, until the administrator saw that. */
TEST(what_could_not_be_read_is_not_deleted)
{
	need_maps();
	put_many(11, 3, 100);
	chmod(test_directory, 0770);
	load();
	assert_int_equal(seen[11], 0);
	chmod(test_directory, 0700);
	learn(10, 2, 0);
	save(5);
}

/* ---- parallel connections -------------------------------------------------------------- */

static void see_window(const char *host, __u64 netns, unsigned int streams, double rate)
{
	struct tcptuned_streams_key k = {
		.host = key(host, netns), .streams = streams, .congestion_control = "reno"};
	struct tcptuned_streams_level window = {
		.streams = streams, .rate = rate, .loss = 0.01, .rtt_s = 0.02, .rtt_min_s = 0.01};

	assert_int_equal(tcptuned_streams_memory_add(streams_fd, &k, 5, &window), 0);
}

static struct tcptuned_streams_row *levels;
static size_t levels_len;

static void read_levels(void)
{
	free(levels);
	assert_int_equal(tcptuned_streams_memory_read(streams_fd, &levels, &levels_len, &err), 0);
}

/* Loads the levels from disk into an empty map. */
static void load_levels(void)
{
	read_levels();
	for (size_t i = 0; i < levels_len; i++)
		bpf_map_delete_elem(streams_fd, &levels[i].key);
	read_levels();
	assert_int_equal(levels_len, 0);
	tcptuned_paths_load(paths);
	read_levels();
}

TEST(levels_come_in_order)
{
	need_maps();
	see_window("192.0.2.7", 1, 300, 3e9);
	see_window("192.0.2.8", 1, 2, 1e6);
	see_window("192.0.2.7", 1, 2, 1e6);
	see_window("192.0.2.7", 1, 2, 2e6);
	see_window("192.0.2.7", 1, 16, 1e9);
	read_levels();
	assert_int_equal(levels_len, 4);
	assert_int_equal(tcptuned_streams_memory_together(levels, levels_len), 3);
	assert_int_equal(tcptuned_streams_memory_together(levels + 3, 1), 1);
	assert_int_equal(levels[0].key.streams, 2);
	assert_int_equal(levels[1].key.streams, 16);
	assert_int_equal(levels[2].key.streams, 300);
	assert_int_equal(levels[0].level.windows, 2);
	assert_near(levels[0].level.rate, 1.5e6, 1e-3);
	assert_int_equal(levels[0].level.netns, 5);
}

/* The daemon's own network namespace has another cookie after a boot, and no cookie on disk. */
TEST(levels_outlive_the_map)
{
	__u64 own;
	socklen_t size = sizeof(own);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	need_maps();
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &own, &size), 0);
	close(fd);
	see_window("2001:db8::7", own, 2, 1e6);
	see_window("192.0.2.7", own + 1, 4, 2e6);
	save(0);
	assert_int_equal(sql("SELECT count(*) FROM streams WHERE host = '2001:db8::7/128' AND "
			     "cookie = 0 AND boot = '' AND congestion_control = 'reno'"),
			 1);
	assert_int_equal(sql("SELECT count(*) FROM streams WHERE cookie != 0 AND boot != ''"), 1);
	load_levels();
	assert_int_equal(levels_len, 2);
	for (size_t i = 0; i < 2; i++) {
		bool first = levels[i].key.streams == 2;

		assert_int_equal(levels[i].key.host.netns_cookie, first ? own : own + 1);
		assert_near(levels[i].level.rate, first ? 1e6 : 2e6, 0);
		assert_near(levels[i].level.loss, 0.01, 0);
		assert_near(levels[i].level.rtt_min_s, 0.01, 0);
		assert_in_range(now_s(CLOCK_BOOTTIME) - levels[i].level.updated_s, 0, 20);
	}
	sql("UPDATE streams SET updated = updated - 86400");
	load_levels();
	assert_int_equal(levels_len, 0);
}

TEST(levels_are_forgotten)
{
	need_maps();
	see_window("192.0.2.7", 1, 2, 1e6);
	see_window("198.51.100.1", 1, 2, 1e6);
	tcptuned_paths_save(paths);
	forget(&kernel, "192.0.2.0/24");
	read_levels();
	assert_int_equal(levels_len, 1);
	assert_int_equal(levels[0].key.host.prefix[0], 198);
	assert_int_equal(sql("SELECT count(*) FROM streams"), 1);
	forget(&kernel, "all");
	read_levels();
	assert_int_equal(levels_len, 0);
	assert_int_equal(sql("SELECT count(*) FROM streams"), 0);
}

/*
 * A file of an earlier build has the same format without the table; others' rows may have anything.
 */
TEST(levels_on_disk_are_checked)
{
	static const char *const rows[] = {
		"('192.0.2.1/32', 0, '', 'reno', 0, 0, unixepoch(), 1, 0, 1e6, 1e6, 0, 0, 0, 0, 0)",
		"('192.0.2.2/32', 0, '', 'reno', 0, 1, unixepoch(), 0, 0, 1e6, 1e6, 0, 0, 0, 0, 0)",
		"('192.0.2.3/32', 0, '', 'reno', 0, 1, unixepoch(), 1, 0, 0, 1e6, 0, 0, 0, 0, 0)",
		"('192.0.2.4/32', 0, '', 'reno', 0, 1, unixepoch(), 1, 0, 9e999, 1e6, 0, 0, 0, 0, 0)",
		"('192.0.2.5/32', 0, '', 'a name of many letters', 0, 1, unixepoch(), 1, 0, 1e6, 1e6, 0, "
		"0, 0, 0, 0)",
		"('192.0.2.6/32', 0, '', 'reno', 0, 1, unixepoch(), 1, 0, 1e6, 1e6, -1, 0, 0, 0, 0)",
		"('nowhere', 0, '', 'reno', 0, 1, unixepoch(), 1, 0, 1e6, 1e6, 0, 0, 0, 0, 0)",
		"('192.0.2.7/32', 0, '', 'reno', 1, 3, unixepoch(), 1, 0, 1e6, 1e6, 0, 0, 0, 0, 0)",
	};
	char text[512];

	need_maps();
	tcptuned_pathdb_close(opened());
	sql("DROP TABLE streams");
	tcptuned_pathdb_close(opened());
	assert_int_equal(sql("SELECT count(*) FROM streams"), 0);
	for_each_row (row, rows) {
		snprintf(text, sizeof(text), "INSERT INTO streams VALUES %s", *row);
		sql(text);
	}
	load_levels();
	assert_int_equal(levels_len, 1);
	assert_int_equal(levels[0].key.host.prefix[3], 7);
	assert_int_equal(levels[0].key.receives, 1);
	assert_int_equal(levels[0].key.streams, 3);
}
