// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is kept of the kernel's map of paths on disk, and what comes back: over a database that is
 * replaced, and a clock that is set. The maps are the kernel's: without the right to make some,
 * nothing is tested.
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
#include "util/log.h"

#define EXPIRE_S 86400

static char file[96];
static struct tcptuned_kernel kernel;
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
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec;
}

static int make_map(enum bpf_map_type type, const char *name, size_t key, size_t value,
		    unsigned int entries)
{
	return bpf_map_create(type, name, (__u32)key, (__u32)value, entries, NULL);
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
	kernel.map_fd[TCPTUNED_MAP_PATHS] =
		make_map(BPF_MAP_TYPE_LRU_HASH, "test_paths", sizeof(struct tcptuned_path_key),
			 sizeof(struct tcptuned_path), TCPTUNED_PATHS_MAX);
	kernel.map_fd[TCPTUNED_MAP_PATH_SETTINGS] =
		make_map(BPF_MAP_TYPE_ARRAY, "test_settings", sizeof(__u32), sizeof(settings), 1);
	if (tcptuned_paths_new(&paths, &kernel, test_directory))
		return -1;
	tcptuned_paths_configure(paths, &settings);
	return 0;
}

static int teardown(void **state)
{
	tcptuned_paths_free(paths);
	tcptuned_kernel_close(&kernel);
	return remove_directory(state);
}

static void need_maps(void)
{
	if (kernel.map_fd[TCPTUNED_MAP_PATHS] < 0 || kernel.map_fd[TCPTUNED_MAP_PATH_SETTINGS] < 0)
		skip();
}

/* 10.@which.x.0/24, by its number; of the daemon's own network namespace, as it is on disk. */
static struct tcptuned_path_key key(unsigned int which, unsigned int i)
{
	struct tcptuned_path_key k = {.family = AF_INET, .prefix_len = 24};

	k.prefix[0] = (__u8)(10 + which);
	k.prefix[1] = (__u8)(i >> 8);
	k.prefix[2] = (__u8)i;
	return k;
}

static struct tcptuned_path path(__s64 updated_s)
{
	return (struct tcptuned_path){
		.updated_s = updated_s, .sent = 100, .min_rtt_us = 40000, .connections = 1};
}

/* The kernel learns @count of them, in another network namespace so that they are apart. */
static void learn(unsigned int which, unsigned int count, __s64 age_s)
{
	for (unsigned int i = 0; i < count; i++) {
		struct tcptuned_path p = path(now_s(CLOCK_BOOTTIME) - age_s);
		struct tcptuned_path_key k = key(which, i);

		k.netns_cookie = 1ull << 40;
		assert_int_equal(
			bpf_map_update_elem(kernel.map_fd[TCPTUNED_MAP_PATHS], &k, &p, BPF_ANY), 0);
	}
}

static unsigned int seen[4]; /* in the map, by which */

static void see(void *ctx, const struct tcptuned_path_key *k, const struct tcptuned_path *p)
{
	seen[k->prefix[0] - 10]++;
}

/* Loads from disk, and counts what is in the map then. */
static void load(void)
{
	tcptuned_paths_load(paths);
	memset(seen, 0, sizeof(seen));
	assert_int_equal(tcptuned_paths_each(kernel.map_fd[TCPTUNED_MAP_PATHS], see, NULL, NULL), 0);
}

static long long ask(const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	long long answer;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	answer = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return answer;
}

static long long rows(void)
{
	return ask("SELECT count(*) FROM paths");
}

/* @count rows: a higher number is a younger one, the last of them @age_s. */
static void on_disk(unsigned int which, unsigned int count, __s64 age_s)
{
	struct tcptuned_error err = {0};
	struct tcptuned_pathdb *db;

	assert_int_equal(tcptuned_pathdb_open(&db, file, &err), 0);
	assert_int_equal(tcptuned_pathdb_begin(db, &err), 0);
	for (unsigned int i = 0; i < count; i++) {
		struct tcptuned_path p = path(now_s(CLOCK_REALTIME) - age_s - (count - 1 - i) / 2);
		struct tcptuned_path_key k = key(which, i);

		assert_int_equal(tcptuned_pathdb_put(db, &k, &p, &err), 0);
	}
	assert_int_equal(tcptuned_pathdb_commit(db, &err), 0);
	tcptuned_pathdb_close(db);
}

static void damage(void)
{
	FILE *f = fopen(file, "r+");

	assert_non_null(f);
	assert_int_equal(fwrite("no database", 1, 11, f), 11);
	fclose(f);
}

FIXTURE(setup, teardown)

TEST(what_is_in_the_map_is_on_disk)
{
	struct tcptuned_error err = {0};
	unsigned int count;

	need_maps();
	learn(0, 3, 1000);
	tcptuned_paths_save(paths);
	assert_int_equal(rows(), 3);
	learn(1, 1, 0);
	tcptuned_paths_save(paths);
	assert_int_equal(rows(), 4);
	assert_int_equal(tcptuned_paths_forget(&kernel, test_directory, "11.0.0.0/8", &count, &err),
			 0);
	assert_int_equal(rows(), 3);
	tcptuned_paths_save(paths);
	assert_int_equal(rows(), 3);
}

/* The file may be gone, no database, or one of another format. */
TEST(a_new_database_is_begun)
{
	need_maps();
	learn(0, 3, 1000);
	tcptuned_paths_save(paths);
	unlink(file);
	tcptuned_paths_save(paths);
	assert_int_equal(rows(), 3);
	damage();
	tcptuned_paths_save(paths);
	assert_int_equal(rows(), 3);
	ask("PRAGMA user_version = 99");
	tcptuned_paths_save(paths);
	assert_int_equal(rows(), 3);
}

/* A host may boot in the past, and learn the time later. */
TEST(a_clock_that_is_set)
{
	need_maps();
	realtime_set_by_s = -10 * 365 * 86400;
	learn(0, 3, 1000);
	tcptuned_paths_save(paths);
	realtime_set_by_s = 0;
	tcptuned_paths_save(paths);
	assert_int_equal(rows(), 3);
	assert_in_range(ask("SELECT unixepoch() - min(updated) FROM paths"), 999, 1060);
	assert_in_range(ask("SELECT unixepoch() - max(updated) FROM paths"), 999, 1060);
}

/* Of a daemon that was killed: the map is saved, and not filled up with what the kernel evicted. */
TEST(a_map_that_was_kept_is_saved)
{
	need_maps();
	learn(0, 5, 10);
	on_disk(1, 3, 100);
	kernel.paths_kept = true;
	load();
	assert_int_equal(seen[0], 5);
	assert_int_equal(seen[1], 0);
	assert_int_equal(rows(), 5);
}

TEST(loading_into_a_new_map)
{
	need_maps();
	on_disk(1, 300, 100);
	on_disk(2, 10, EXPIRE_S + 1);
	load();
	assert_int_equal(seen[1], 300);
	assert_int_equal(seen[2], 0);
	learn(0, 1, 0);
	tcptuned_paths_save(paths);
	assert_int_equal(rows(), 301);
}
