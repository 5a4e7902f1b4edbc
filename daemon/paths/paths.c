// SPDX-License-Identifier: GPL-2.0-only
#include "paths/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kern/loader.h"
#include "util/cleanup.h"
#include "util/log.h"

#define SAVE_EVERY_S 600
#define COUNT_NS     5000000 /* of processor time: a count that takes longer is made no more ... */
#define COUNT_S	     60 /* ... often than this */
#define BATCH	     1024 /* entries per system call; more than any bucket of the map has */
#define FILE_TEXT    (TCPTUNED_CONFIG_TEXT + 16)

struct tcptuned_paths {
	const struct tcptuned_kernel *kernel;
	char directory[TCPTUNED_CONFIG_TEXT];
	char file[FILE_TEXT]; /* "": nothing is read or written */
	struct tcptuned_path_settings settings;
	__u64 own_cookie; /* of the daemon's network namespace, ... */
	__u32 own_netns;  /* ... and its inode number */
	__s64 tried_s; /* CLOCK_BOOTTIME: when saving was last tried */
	bool failing;  /* and said so */
	__s64 counted_s; /* when stats.known was counted, ... */
	__s64 count_ns;	 /* ... and how long that took */
	struct tcptuned_path_stats stats;
};

/* ---- clocks --------------------------------------------------------------------------- */

static __s64 clock_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec;
}

/* The same moment as before on another clock; one that is to come becomes now. */
static __s64 on_clock(__s64 then_s, __s64 now_s, __s64 other_now_s)
{
	return other_now_s - (__s64)path_age_s(then_s, now_s);
}

static void change_clock(struct tcptuned_path *path, clockid_t from, clockid_t to)
{
	__s64 from_now = clock_s(from), to_now = clock_s(to);

	path->updated_s = on_clock(path->updated_s, from_now, to_now);
	path->max_window_s = on_clock(path->max_window_s, from_now, to_now);
}

/* ---- the kernel's map ----------------------------------------------------------------- */

struct batch {
	struct tcptuned_path_key keys[BATCH];
	struct tcptuned_path paths[BATCH];
};

int tcptuned_paths_each(int map_fd, tcptuned_pathdb_row row, void *ctx)
{
	_cleanup_free_ struct batch *batch = malloc(sizeof(*batch));
	__u32 position, count, *from = NULL;
	int error;

	if (!batch)
		return -ENOMEM;
	do {
		count = BATCH;
		error = bpf_map_lookup_batch(map_fd, from, &position, batch->keys, batch->paths,
					     &count, NULL);
		if (error && errno != ENOENT) /* which is the end */
			return -errno;
		for (__u32 i = 0; i < count; i++)
			row(ctx, &batch->keys[i], &batch->paths[i]);
		from = &position;
	} while (!error);
	return 0;
}

static int paths_fd(const struct tcptuned_paths *paths)
{
	return paths->kernel->map_fd[TCPTUNED_MAP_PATHS];
}

static void count_row(void *ctx, const struct tcptuned_path_key *key,
		      const struct tcptuned_path *path)
{
	__u32 *count = ctx;

	++*count;
}

/* The kernel does not say how many entries a map has: all of it has to be read. */
static void count_known(struct tcptuned_paths *paths)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	paths->stats.known = 0;
	paths->stats.ok = paths_fd(paths) >= 0 &&
			  !tcptuned_paths_each(paths_fd(paths), count_row, &paths->stats.known);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	paths->count_ns = (__s64)(end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec -
			  begin.tv_nsec;
	paths->counted_s = clock_s(CLOCK_BOOTTIME);
}

void tcptuned_paths_stats(struct tcptuned_paths *paths, struct tcptuned_path_stats *ret)
{
	if (!paths->stats.ok || paths->count_ns <= COUNT_NS ||
	    clock_s(CLOCK_BOOTTIME) - paths->counted_s >= COUNT_S)
		count_known(paths);
	*ret = paths->stats;
}

int tcptuned_paths_configure(struct tcptuned_paths *paths,
			     const struct tcptuned_path_settings *settings)
{
	int fd = paths->kernel->map_fd[TCPTUNED_MAP_PATH_SETTINGS];
	__u32 zero = 0;

	paths->settings = *settings;
	return fd < 0 || bpf_map_update_elem(fd, &zero, settings, BPF_ANY) ? -errno : 0;
}

void tcptuned_paths_adopt_settings(struct tcptuned_paths *paths)
{
	int fd = paths->kernel->map_fd[TCPTUNED_MAP_PATH_SETTINGS];
	__u32 zero = 0;

	if (fd < 0 || bpf_map_lookup_elem(fd, &zero, &paths->settings))
		memset(&paths->settings, 0, sizeof(paths->settings));
}

/* ---- the database --------------------------------------------------------------------- */

/* Logged once until it works again. */
static void failed(struct tcptuned_paths *paths, const char *text)
{
	paths->stats.database_errors++;
	if (!paths->failing)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%s; what is learned about paths will not outlive a stop until it "
			     "can be written (tried every ten minutes)",
			     text);
	paths->failing = true;
}

static void worked(struct tcptuned_paths *paths)
{
	if (paths->failing)
		tcptuned_log(TCPTUNED_LOG_INFO, "%s: written again", paths->file);
	paths->failing = false;
}

static int set_aside(struct tcptuned_paths *paths, const char *why)
{
	paths->stats.database_errors++;
	if (tcptuned_pathdb_set_aside(paths->file))
		return -EUCLEAN;
	tcptuned_log(TCPTUNED_LOG_WARNING,
		     "%s; it is now %s" TCPTUNED_PATHDB_DAMAGED ", and a new one is begun: paths are "
		     "learned anew",
		     why, paths->file);
	return 0;
}

/* Open it, or a new one in place of one that is damaged. */
static int open_database(struct tcptuned_paths *paths, struct tcptuned_pathdb **ret,
			 struct tcptuned_error *err)
{
	int error;

	if (mkdir(paths->directory, 0700) && errno != EEXIST)
		return tcptuned_fail(err, EIO, TCPTUNED_EXIT_INTERNAL, "%s cannot be made: %s",
				     paths->directory, strerror(errno));
	error = tcptuned_pathdb_open(ret, paths->file, err);
	if (error == -EUCLEAN && !set_aside(paths, err->text))
		error = tcptuned_pathdb_open(ret, paths->file, err);
	return error;
}

/* ---- loading -------------------------------------------------------------------------- */

/* The row as the map has it; false: it is of no use there. */
static bool bring_up(const struct tcptuned_paths *paths, struct tcptuned_path_key *key,
		     struct tcptuned_path *path)
{
	change_clock(path, CLOCK_REALTIME, CLOCK_BOOTTIME);
	if (!key->netns_cookie) {
		key->netns_cookie = paths->own_cookie;
		path->netns = paths->own_netns;
	}
	return !path_expired(path, clock_s(CLOCK_BOOTTIME), paths->settings.expire_s);
}

static void load_row(void *ctx, const struct tcptuned_path_key *key,
		     const struct tcptuned_path *path)
{
	struct tcptuned_path_key here = *key;
	const struct tcptuned_paths *paths = ctx;
	struct tcptuned_path now = *path;

	/* What is there was learned since the programs were attached: it is newer. */
	if (bring_up(paths, &here, &now))
		bpf_map_update_elem(paths_fd(paths), &here, &now, BPF_NOEXIST);
}

void tcptuned_paths_load(struct tcptuned_paths *paths)
{
	struct tcptuned_error err = { 0 };
	struct tcptuned_pathdb *db = NULL;
	int error;

	if (paths_fd(paths) < 0 || !paths->file[0])
		return;
	/* A map of a daemon that was killed has had what is on disk: it is ahead of that. */
	if (paths->kernel->paths_kept) {
		tcptuned_paths_save(paths);
		return;
	}
	paths->tried_s = clock_s(CLOCK_BOOTTIME);
	error = open_database(paths, &db, &err);
	if (!error)
		error = tcptuned_pathdb_read(db, load_row, paths, &err);
	tcptuned_pathdb_close(db);
	if (error == -EUCLEAN)
		error = set_aside(paths, err.text);
	if (error)
		failed(paths, err.text);
}

/* ---- saving --------------------------------------------------------------------------- */

struct saving {
	struct tcptuned_paths *paths;
	struct tcptuned_pathdb *db;
	struct tcptuned_error *err;
	int error;
	__s64 now_s;
};

static void save_row(void *ctx, const struct tcptuned_path_key *key,
		     const struct tcptuned_path *path)
{
	struct tcptuned_path_key there = *key;
	struct tcptuned_path row = *path;
	struct saving *s = ctx;

	if (path_expired(path, s->now_s, s->paths->settings.expire_s)) {
		if (!bpf_map_delete_elem(paths_fd(s->paths), key))
			s->paths->stats.expired++;
		return;
	}
	if (s->error)
		return;
	if (there.netns_cookie == s->paths->own_cookie)
		there.netns_cookie = row.netns = 0;
	change_clock(&row, CLOCK_BOOTTIME, CLOCK_REALTIME);
	s->error = tcptuned_pathdb_put(s->db, &there, &row, s->err);
}

/*
 * Replace what is on disk by what is in the map. The map is read with the database locked for
 * writing, and a prefix that is to be forgotten is deleted in the map with that lock held, so that
 * it does not come back.
 */
static int save_rows(struct saving *s)
{
	struct tcptuned_paths *paths = s->paths;
	int error = tcptuned_pathdb_begin(s->db, s->err);
	unsigned int before;

	if (!error)
		error = tcptuned_pathdb_forget(s->db, NULL, &before, s->err);
	if (error)
		return error;
	error = tcptuned_paths_each(paths_fd(paths), save_row, s);
	if (error)
		return tcptuned_fail(s->err, -error, TCPTUNED_EXIT_INTERNAL,
				     "the map of paths cannot be read: %s", strerror(-error));
	return s->error ? s->error : tcptuned_pathdb_commit(s->db, s->err);
}

static int save(struct tcptuned_paths *paths, struct tcptuned_error *err)
{
	struct saving s = { .paths = paths, .err = err, .now_s = clock_s(CLOCK_BOOTTIME) };
	int error;

	paths->tried_s = s.now_s;
	error = open_database(paths, &s.db, err);
	if (!error)
		error = save_rows(&s);
	tcptuned_pathdb_close(s.db); /* rolls back what was not committed */
	return error;
}

void tcptuned_paths_save(struct tcptuned_paths *paths)
{
	struct tcptuned_error err = { 0 };
	int error;

	if (paths_fd(paths) < 0 || !paths->settings.expire_s || !paths->file[0])
		return;
	error = save(paths, &err);
	if (error == -EUCLEAN && !set_aside(paths, err.text))
		error = save(paths, &err); /* all of it */
	if (error)
		failed(paths, err.text);
	else
		worked(paths);
}

void tcptuned_paths_tick(struct tcptuned_paths *paths)
{
	if (clock_s(CLOCK_BOOTTIME) - paths->tried_s >= SAVE_EVERY_S)
		tcptuned_paths_save(paths);
}

/* ---- what others have left ------------------------------------------------------------- */

void tcptuned_paths_save_left(const struct tcptuned_kernel *kernel, const char *directory)
{
	struct tcptuned_paths *paths;

	if (tcptuned_paths_new(&paths, kernel, directory))
		return;
	tcptuned_paths_adopt_settings(paths);
	tcptuned_paths_save(paths);
	tcptuned_paths_free(paths);
}

/* ---- forgetting ----------------------------------------------------------------------- */

struct forgetting {
	int map_fd;
	const struct tcptuned_path_key *prefix; /* NULL: all */
	unsigned int count;
};

static void forget_row(void *ctx, const struct tcptuned_path_key *key,
		       const struct tcptuned_path *path)
{
	struct forgetting *f = ctx;

	if (f->prefix && !tcptuned_prefix_overlap(key, f->prefix))
		return;
	f->count += !bpf_map_delete_elem(f->map_fd, key);
}

static int forget_in_map(struct forgetting *f, struct tcptuned_error *err)
{
	int error = f->map_fd >= 0 ? tcptuned_paths_each(f->map_fd, forget_row, f) : 0;

	return error ? tcptuned_fail(err, -error, TCPTUNED_EXIT_INTERNAL,
				     "the map of paths cannot be read: %s", strerror(-error))
		     : 0;
}

/* In both, or where the database refuses, in neither. */
static int forget_in_both(struct forgetting *f, struct tcptuned_pathdb *db, unsigned int *rows,
			  struct tcptuned_error *err)
{
	int error = tcptuned_pathdb_begin(db, err);

	if (!error)
		error = tcptuned_pathdb_forget(db, f->prefix, rows, err);
	if (!error)
		error = forget_in_map(f, err);
	return error ? error : tcptuned_pathdb_commit(db, err);
}

static int removed(int error, const char *file, struct tcptuned_error *err)
{
	return error ? tcptuned_fail(err, -error, TCPTUNED_EXIT_INTERNAL,
				     "%s is damaged and cannot be deleted: %s", file,
				     strerror(-error))
		     : 0;
}

/* Of a damaged database all is forgotten, or nothing: any prefix may be in it. */
static int forget_in_file(struct forgetting *f, const char *file, unsigned int *rows,
			  struct tcptuned_error *err)
{
	struct tcptuned_pathdb *db = NULL;
	int error;

	if (access(file, F_OK) && errno == ENOENT)
		return forget_in_map(f, err);
	error = tcptuned_pathdb_open(&db, file, err);
	if (!error)
		error = forget_in_both(f, db, rows, err);
	tcptuned_pathdb_close(db);
	if (error != -EUCLEAN || f->prefix)
		return error;
	/* The map comes first: a save at the same time writes into the file that goes. */
	error = forget_in_map(f, err);
	return error ? error : removed(tcptuned_pathdb_remove(file), file, err);
}

int tcptuned_paths_forget(const struct tcptuned_kernel *kernel, const char *directory,
			  const char *prefix, unsigned int *ret_count, struct tcptuned_error *err)
{
	struct forgetting f = { .map_fd = kernel ? kernel->map_fd[TCPTUNED_MAP_PATHS] : -1 };
	struct tcptuned_path_key key;
	unsigned int rows = 0;
	char file[FILE_TEXT];
	int error;

	*ret_count = 0;
	if (strcmp(prefix, "all")) {
		if (tcptuned_path_key_parse(prefix, &key))
			return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
					     "\"%.60s\" is not a prefix; write 192.0.2.0/24, "
					     "2001:db8::/48, an address, or all",
					     prefix);
		f.prefix = &key;
	}
	/* The daemon of that build would write them again. */
	if (kernel && (kernel->other_layout >> TCPTUNED_MAP_PATHS & 1))
		return tcptuned_fail(err, EPROTO, TCPTUNED_EXIT_KERNEL,
				     "nothing is forgotten: the paths in %s are another build's; "
				     "use the tcptuned that loaded them",
				     kernel->pin_dir);
	snprintf(file, sizeof(file), "%s/paths.db", directory);
	error = forget_in_file(&f, file, &rows, err);
	*ret_count = rows > f.count ? rows : f.count;
	if (error || f.prefix)
		return error;
	return removed(tcptuned_pathdb_remove_damaged(file), file, err);
}

int tcptuned_daemon_forget_paths(const struct tcptuned_config *config, const char *prefix,
				 struct tcptuned_error *err)
{
	struct tcptuned_kernel kernel;
	unsigned int count;
	int error;

	if (geteuid())
		return tcptuned_fail(err, EPERM, TCPTUNED_EXIT_NOT_PERMITTED,
				     "--forget-paths: only root may have paths forgotten; run it "
				     "with sudo");
	error = tcptuned_kernel_open(&kernel, config->bpffs, err);
	if (error && error != -ENOENT)
		return error;
	error = tcptuned_paths_forget(&kernel, config->state_directory, prefix, &count, err);
	tcptuned_kernel_close(&kernel);
	if (!error)
		tcptuned_log(TCPTUNED_LOG_INFO, "forgotten: %u prefixes", count);
	return error;
}

/* The kernel tells it of a socket's network namespace, since 5.14. */
static __u64 own_netns_cookie(void)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	__u64 cookie = 0;
	socklen_t len = sizeof(cookie);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len))
		return 0;
	return cookie;
}

/* ---- making and unmaking -------------------------------------------------------------- */

int tcptuned_paths_new(struct tcptuned_paths **ret, const struct tcptuned_kernel *kernel,
		       const char *directory)
{
	struct tcptuned_paths *paths = calloc(1, sizeof(*paths));
	struct stat netns;

	if (!paths)
		return -ENOMEM;
	paths->kernel = kernel;
	if (!stat("/proc/self/ns/net", &netns))
		paths->own_netns = (__u32)netns.st_ino;
	paths->own_cookie = own_netns_cookie();
	snprintf(paths->directory, sizeof(paths->directory), "%s", directory ? directory : "");
	if (directory)
		snprintf(paths->file, sizeof(paths->file), "%s/paths.db", paths->directory);
	*ret = paths;
	return 0;
}

void tcptuned_paths_free(struct tcptuned_paths *paths)
{
	free(paths);
}
