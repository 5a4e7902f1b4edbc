// SPDX-License-Identifier: GPL-2.0-only
/* The database of paths: what goes in comes out, and what must not come in does not. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sqlite3.h>

#include "test.h"
#include "paths/paths.h"
#include "paths/store.h"

static char file[80];
static struct tcptuned_error err;

static int setup(void **state)
{
	int error = make_directory(state);

	snprintf(file, sizeof(file), "%s/paths.db", test_directory);
	return error;
}

FIXTURE(setup, remove_directory)

static struct tcptuned_pathdb *opened(void)
{
	struct tcptuned_pathdb *db = NULL;

	if (tcptuned_pathdb_open(&db, file, &err))
		fail_msg("%s", err.text);
	return db;
}

static void sql(const char *text)
{
	char *problem = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, &problem))
		fail_msg("%s: %s", text, problem);
	sqlite3_close(db);
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
	return (struct tcptuned_path){
		.updated_s = updated_s,
		.max_window_s = updated_s - 5,
		.sent = PATH_COUNT_MAX - 1,
		.retransmitted = 17,
		.min_rtt_us = 41234,
		.rcv_per_rtt = 250001,
		.snd_per_rtt = 250002,
		.max_window = 375003,
		.connections = 4,
		.slow = 1,
	};
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

/* @netns: the cookie; of 7, 1007 and so on the inode number is the same */
static void put(const char *prefix, __u64 netns, __s64 updated_s)
{
	struct tcptuned_path_key k = key(prefix, netns);
	struct tcptuned_pathdb *db = opened();
	struct tcptuned_path p = path(updated_s);

	p.netns = netns % 1000;
	assert_int_equal(tcptuned_pathdb_begin(db, &err), 0);
	assert_int_equal(tcptuned_pathdb_put(db, &k, &p, &err), 0);
	assert_int_equal(tcptuned_pathdb_commit(db, &err), 0);
	tcptuned_pathdb_close(db);
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
		tcptuned_prefix_format(&k, text);
		assert_string_equal(text, r->prefix);
	}
}

TEST(prefixes_overlap)
{
	static const struct {
		const char *a, *b;
		bool overlap;
	} rows[] = {
		{"192.0.2.0/24", "192.0.2.200", true},
		{"192.0.2.0/24", "192.0.3.200", false},
		{"10.0.0.0/8", "10.99.1.0/24", true},
		{"0.0.0.0/0", "10.99.1.0/24", true},
		{"::/0", "10.99.1.0/24", false},
		{"2001:db8::/32", "2001:db8:1::/48", true},
		{"2001:db8::/48", "2001:db8:1::/48", false},
	};

	for_each_row (r, rows) {
		struct tcptuned_path_key a = key(r->a, 1), b = key(r->b, 2);

		assert_int_equal(tcptuned_prefix_overlap(&a, &b), r->overlap);
		assert_int_equal(tcptuned_prefix_overlap(&b, &a), r->overlap);
	}
}

TEST(what_goes_in_comes_out)
{
	struct tcptuned_path_key k = key("10.1.2.0/24", 0);
	struct tcptuned_path p = path(1700000000);
	struct rows rows;

	put("2001:db8::/48", 5000000000000007, 1700000100);
	put("10.1.2.0/24", 0, 1600000000);
	put("10.1.2.0/24", 0, 1700000000); /* in place of the one before */
	put("10.1.2.0/24", 7, 1700000200);
	put("10.1.2.0/24", 1007, 1700000300); /* another namespace, which got the same number */
	rows = all_rows();
	assert_int_equal(rows.n, 4);
	assert_memory_equal(&rows.keys[0], &k, sizeof(k)); /* the oldest first */
	assert_memory_equal(&rows.paths[0], &p, sizeof(p));
	assert_int_equal(rows.keys[1].family, AF_INET6);
	assert_int_equal(rows.keys[1].netns_cookie, 5000000000000007);
	assert_int_equal(rows.paths[1].netns, 7);
	assert_int_equal(rows.keys[2].netns_cookie, 7);
	assert_int_equal(rows.keys[3].netns_cookie, 1007);
}

TEST(only_the_owner_can_read_it)
{
	struct stat st;

	put("10.1.2.0/24", 0, 1);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

TEST(nothing_is_kept_without_a_commit)
{
	struct tcptuned_path_key k = key("10.1.2.0/24", 0);
	struct tcptuned_pathdb *db = opened();
	struct tcptuned_path p = path(1);

	assert_int_equal(tcptuned_pathdb_begin(db, &err), 0);
	assert_int_equal(tcptuned_pathdb_put(db, &k, &p, &err), 0);
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

TEST(forgotten_by_prefix)
{
	struct tcptuned_path_key k = key("10.1.0.0/16", 0);
	struct tcptuned_pathdb *db;
	unsigned int count;

	put("10.1.1.0/24", 0, 1);
	put("10.1.2.0/24", 9, 1);
	put("10.2.1.0/24", 0, 1);
	put("2001:db8::/48", 0, 1);
	db = opened();
	assert_int_equal(tcptuned_pathdb_forget(db, &k, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(tcptuned_pathdb_forget(db, NULL, &count, &err), 0);
	assert_int_equal(count, 2);
	tcptuned_pathdb_close(db);
	assert_int_equal(all_rows().n, 0);
}

TEST(hostile_rows_are_bounded_or_left_out)
{
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
	assert_int_equal(rows.paths[0].updated_s, 0);
	assert_int_equal(rows.paths[0].min_rtt_us, RIGHTSIZE_RTT_MAX_US);
	assert_int_equal(rows.paths[0].rcv_per_rtt, RIGHTSIZE_WINDOW_MAX);
	assert_int_equal(rows.paths[0].snd_per_rtt, 0);
	assert_int_equal(rows.paths[0].max_window, RIGHTSIZE_WINDOW_MAX);
	assert_int_equal(rows.paths[0].slow, 1);
	assert_true(rows.paths[0].sent == PATH_COUNT_MAX);
	assert_true(rows.paths[0].retransmitted == 0);
}

/* The file is refused, and @why says so; set aside, it leaves the place to a new one. */
static void assert_refused(const char *why)
{
	struct tcptuned_pathdb *db = NULL;
	struct rows rows = {0};
	char name[200];
	int error;

	error = tcptuned_pathdb_open(&db, file, &err);
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

TEST(any_other_file_is_refused)
{
	char noise[4096];
	FILE *f;

	memset(noise, 0xa5, sizeof(noise));
	write_file(file, noise, sizeof(noise));
	assert_refused("not a database");

	put("10.1.1.0/24", 0, 1);
	f = fopen(file, "r+");
	assert_int_equal(fseek(f, 4096, SEEK_SET), 0);
	assert_int_equal(fwrite(noise, sizeof(noise), 1, f), 1);
	fclose(f);
	assert_refused("");

	tcptuned_pathdb_close(opened());
	sql("PRAGMA user_version = 4");
	assert_refused("format 4");

	sql("CREATE TABLE paths (a); PRAGMA user_version = 1");
	assert_refused("");
}

/* The damaged one itself, too, and without a map: no daemon has run since the boot. */
TEST(all_are_forgotten_with_the_one_set_aside)
{
	unsigned int count = 7;
	char noise[4096], aside[120];

	memset(noise, 0xa5, sizeof(noise));
	snprintf(aside, sizeof(aside), "%s.damaged", file);
	write_file(file, noise, sizeof(noise));
	assert_int_equal(tcptuned_paths_forget(NULL, test_directory, "10.1.1.0/24", &count, &err),
			 -EUCLEAN);
	assert_int_equal(count, 0);
	assert_int_equal(tcptuned_paths_forget(NULL, test_directory, "all", &count, &err), 0);
	assert_int_equal(access(file, F_OK), -1);

	write_file(file, noise, sizeof(noise));
	assert_int_equal(tcptuned_pathdb_set_aside(file), 0);
	put("10.1.1.0/24", 0, 1);
	put("10.1.2.0/24", 0, 1);
	assert_int_equal(tcptuned_paths_forget(NULL, test_directory, "10.1.1.7", &count, &err), 0);
	assert_int_equal(count, 1);
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(tcptuned_paths_forget(NULL, test_directory, "all", &count, &err), 0);
	assert_int_equal(count, 1);
	assert_int_equal(all_rows().n, 0);
	assert_int_equal(access(aside, F_OK), -1);
}

TEST(an_unwritable_place_is_another_error)
{
	struct tcptuned_pathdb *db = NULL;

	assert_int_equal(tcptuned_pathdb_open(&db, "/nowhere/paths.db", &err), -EIO);
	assert_string_equal(err.text, "/nowhere/paths.db: unable to open database file");
	assert_int_equal(tcptuned_pathdb_open(&db, test_directory, &err), -EIO);
	assert_null(db);
}
