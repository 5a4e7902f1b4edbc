// SPDX-License-Identifier: GPL-2.0-only
#include "paths/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "host/lock.h"
#include "kern/loader.h"
#include "kern/pins.h"
#include "streams/memory.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"

#define SAVE_EVERY_S	600
#define BATCH		1024 /* entries per system call; more than any bucket of the map has */
#define STATE_DIRECTORY "tcptuned.state_directory"
#define FILE_TEXT	(TCPTUNED_CONFIG_TEXT + 16)

struct tcptuned_paths {
	const struct tcptuned_kernel *kernel;
	char directory[TCPTUNED_CONFIG_TEXT];
	char file[FILE_TEXT]; /* "": nothing is read or written */
	struct tcptuned_path_settings settings;
	__u64 own_cookie; /* of the daemon's network namespace */
	__u32 own_netns;  /* its inode number */
	/* In memory that processes share, of which one uses it after the other. */
	struct {
		bool loaded;	       /* what is on disk is in the map */
		bool failing;	       /* the last access failed, and this was logged */
		__s64 tried_s;	       /* CLOCK_BOOTTIME of the last access to the database */
		__u64 database_errors; /* since the start */
	} * shared;
};

/* Convert a time from one clock to another. A time in the future becomes now. */
static void change_clock(__s64 *time_s, clockid_t from, clockid_t to)
{
	*time_s = tcptuned_clock_s(to) - (__s64)path_age_s(*time_s, tcptuned_clock_s(from));
}

/* ---- the kernel's map ----------------------------------------------------------------- */

struct batch {
	struct tcptuned_path_key keys[BATCH];
	struct tcptuned_path paths[BATCH];
};

int tcptuned_paths_each(int map_fd, tcptuned_pathdb_row row, void *ctx, struct tcptuned_error *err)
{
	_cleanup_free_ struct batch *batch = malloc(sizeof(*batch));
	__u32 position, count, *from = NULL;
	int error;

	if (!batch)
		return FAIL(err, ENOMEM, INTERNAL, "the map of paths cannot be read: no memory");
	do {
		count = BATCH;
		error = bpf_map_lookup_batch(map_fd, from, &position, batch->keys, batch->paths,
					     &count, NULL);
		if (error && errno != ENOENT) /* ENOENT: this is the last batch */
			return FAIL(err, errno, KERNEL, "the map of paths cannot be read: %s",
				    strerror(errno));
		for (__u32 i = 0; i < count; i++)
			row(ctx, &batch->keys[i], &batch->paths[i]);
		from = &position;
	} while (!error);
	return 0;
}

static int paths_fd(const struct tcptuned_paths *paths)
{
	return bpf_map__fd(paths->kernel->bpf->maps.paths);
}

static int streams_fd(const struct tcptuned_paths *paths)
{
	return bpf_map__fd(paths->kernel->bpf->maps.streams);
}

__u64 tcptuned_paths_database_errors(const struct tcptuned_paths *paths)
{
	return paths->shared->database_errors;
}

int tcptuned_paths_configure(struct tcptuned_paths *paths,
			     const struct tcptuned_path_settings *settings)
{
	int fd = bpf_map__fd(paths->kernel->bpf->maps.path_settings);
	__u32 zero = 0;

	paths->settings = *settings;
	return fd < 0 || bpf_map_update_elem(fd, &zero, settings, BPF_ANY) ? -errno : 0;
}

/* ---- the database --------------------------------------------------------------------- */

typedef int (*database_access)(struct tcptuned_paths *paths, struct tcptuned_pathdb *db,
			       struct tcptuned_error *err);

static int try_access(struct tcptuned_paths *paths, database_access access,
		      struct tcptuned_error *err)
{
	struct tcptuned_pathdb *db = NULL;
	int error;

	if (mkdir(paths->directory, 0700) && errno != EEXIST)
		return FAIL(err, EIO, INTERNAL, STATE_DIRECTORY ": %s cannot be made: %s",
			    paths->directory, strerror(errno));
	error = tcptuned_host_check_directory(STATE_DIRECTORY, paths->directory, err) ?:
		tcptuned_pathdb_open(&db, paths->file, TCPTUNED_PATHDB_LIMIT_MS, err) ?:
		access(paths, db, err);
	tcptuned_pathdb_close(db);
	return error;
}

/* Access the database, or a new one if it is damaged. Of failures in a row, the first is logged. */
static void access_database(struct tcptuned_paths *paths, database_access access)
{
	struct tcptuned_error err = {0};
	int error;

	paths->shared->tried_s = tcptuned_clock_s(CLOCK_BOOTTIME);
	error = try_access(paths, access, &err);
	paths->shared->database_errors += error < 0;
	if (error == -EUCLEAN && !tcptuned_pathdb_set_aside(paths->file)) {
		log_warning("%s; it is now %s" TCPTUNED_PATHDB_DAMAGED
			    ", and a new one is begun, without the paths of the old one",
			    err.text, paths->file);
		error = try_access(paths, access, &err);
	}
	if (error && !paths->shared->failing)
		log_warning("%s; what is learned about paths will not outlive a stop until the "
			    "database can be written (tried every ten minutes)",
			    err.text);
	else if (!error && paths->shared->failing)
		log_info("%s: written again", paths->file);
	paths->shared->failing = error;
}

/* ---- loading -------------------------------------------------------------------------- */

/* On disk, the daemon's own network namespace is 0: its cookie and inode number change. */
static void load_namespace(const struct tcptuned_paths *paths, __u64 *cookie, __u32 *netns)
{
	if (*cookie)
		return;
	*cookie = paths->own_cookie;
	*netns = paths->own_netns;
}

static void save_namespace(const struct tcptuned_paths *paths, __u64 *cookie, __u32 *netns)
{
	if (*cookie == paths->own_cookie)
		*cookie = *netns = 0;
}

static void load_row(void *ctx, const struct tcptuned_path_key *key,
		     const struct tcptuned_path *path)
{
	const struct tcptuned_paths *paths = ctx;
	struct tcptuned_path_key new_key = *key;
	struct tcptuned_path row = *path;

	change_clock(&row.updated_s, CLOCK_REALTIME, CLOCK_BOOTTIME);
	change_clock(&row.max_window_s, CLOCK_REALTIME, CLOCK_BOOTTIME);
	load_namespace(paths, &new_key.netns_cookie, &row.netns);
	/* An entry of the map is newer: an earlier daemon may have read it from here. */
	if (!path_expired(&row, tcptuned_clock_s(CLOCK_BOOTTIME), paths->settings.expire_s))
		bpf_map_update_elem(paths_fd(paths), &new_key, &row, BPF_NOEXIST);
}

static void load_level(void *ctx, const struct tcptuned_streams_key *key,
		       const struct tcptuned_streams_record *level)
{
	const struct tcptuned_paths *paths = ctx;
	struct tcptuned_streams_key new_key = *key;
	struct tcptuned_streams_record row = *level;

	change_clock(&row.updated_s, CLOCK_REALTIME, CLOCK_BOOTTIME);
	load_namespace(paths, &new_key.host.netns_cookie, &row.netns);
	if (path_age_s(row.updated_s, tcptuned_clock_s(CLOCK_BOOTTIME)) < paths->settings.expire_s)
		bpf_map_update_elem(streams_fd(paths), &new_key, &row, BPF_NOEXIST);
}

static int load_rows(struct tcptuned_paths *paths, struct tcptuned_pathdb *db,
		     struct tcptuned_error *err)
{
	return tcptuned_pathdb_read(db, load_row, paths, err)
		       ?: tcptuned_pathdb_read_levels(db, load_level, paths, err);
}

void tcptuned_paths_load(struct tcptuned_paths *paths)
{
	if (paths_fd(paths) < 0 || !paths->file[0])
		return;
	paths->shared->loaded = true; /* not once more, if that ends this process */
	access_database(paths, load_rows);
	paths->shared->loaded = !paths->shared->failing;
	if (paths->kernel->paths_kept)
		tcptuned_paths_save(paths);
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
	struct tcptuned_path_key row_key = *key;
	struct tcptuned_path row = *path;
	struct saving *s = ctx;

	if (path_expired(path, s->now_s, s->paths->settings.expire_s)) {
		bpf_map_delete_elem(paths_fd(s->paths), key);
		return;
	}
	if (s->error)
		return;
	save_namespace(s->paths, &row_key.netns_cookie, &row.netns);
	change_clock(&row.updated_s, CLOCK_BOOTTIME, CLOCK_REALTIME);
	change_clock(&row.max_window_s, CLOCK_BOOTTIME, CLOCK_REALTIME);
	s->error = tcptuned_pathdb_put(s->db, &row_key, &row, s->err);
}

static int save_levels(struct saving *s)
{
	_cleanup_free_ struct tcptuned_streams_row *rows = NULL;
	int fd = streams_fd(s->paths), error;
	size_t len;

	if (fd < 0)
		return 0;
	error = tcptuned_streams_memory_read(fd, &rows, &len, s->err);
	for (size_t i = 0; i < len && !error; i++) {
		struct tcptuned_streams_row *row = &rows[i];

		if (path_age_s(row->level.updated_s, s->now_s) >= s->paths->settings.expire_s) {
			bpf_map_delete_elem(fd, &row->key);
			continue;
		}
		save_namespace(s->paths, &row->key.host.netns_cookie, &row->level.netns);
		change_clock(&row->level.updated_s, CLOCK_BOOTTIME, CLOCK_REALTIME);
		error = tcptuned_pathdb_put_level(s->db, &row->key, &row->level, s->err);
	}
	return error;
}

/* What could not be read at the start is not deleted because it can be written now. */
static int load_what_is_left(struct tcptuned_paths *paths, struct tcptuned_pathdb *db,
			     struct tcptuned_error *err)
{
	int error = paths->shared->loaded ? 0 : load_rows(paths, db, err);

	paths->shared->loaded |= !error;
	return error;
}

/*
 * The maps are read while the database is locked. tcptuned_paths_forget() deletes from them with
 * the same lock, so that no save restores what is being forgotten.
 */
static int save_rows(struct tcptuned_paths *paths, struct tcptuned_pathdb *db,
		     struct tcptuned_error *err)
{
	struct saving s = {
		.paths = paths, .db = db, .err = err, .now_s = tcptuned_clock_s(CLOCK_BOOTTIME)};
	unsigned int before;

	return tcptuned_pathdb_begin(db, err) ?:
	       load_what_is_left(paths, db, err) ?:
	       tcptuned_pathdb_forget(db, NULL, &before, err) ?:
	       tcptuned_paths_each(paths_fd(paths), save_row, &s, err) ?:
	       s.error ?:
	       save_levels(&s) ?:
	       tcptuned_pathdb_commit(db, err);
}

void tcptuned_paths_save(struct tcptuned_paths *paths)
{
	if (paths_fd(paths) >= 0 && paths->settings.expire_s && paths->file[0])
		access_database(paths, save_rows);
}

bool tcptuned_paths_are_saved(const struct tcptuned_paths *paths)
{
	return !paths->shared->failing;
}

void tcptuned_paths_tick(struct tcptuned_paths *paths)
{
	if (tcptuned_clock_s(CLOCK_BOOTTIME) - paths->shared->tried_s >= SAVE_EVERY_S)
		tcptuned_paths_save(paths);
}

void tcptuned_paths_save_left(const struct tcptuned_kernel *kernel, const char *directory)
{
	int fd = bpf_map__fd(kernel->bpf->maps.path_settings);
	struct tcptuned_paths *paths;
	__u32 zero = 0;

	if (fd < 0 || tcptuned_paths_new(&paths, kernel, directory))
		return;
	if (!bpf_map_lookup_elem(fd, &zero, &paths->settings))
		tcptuned_paths_save(paths);
	tcptuned_paths_free(paths);
}

/* ---- forgetting ----------------------------------------------------------------------- */

struct forgetting {
	int map_fd, streams_fd;
	const struct tcptuned_path_key *prefix; /* NULL: all */
	unsigned int in_map, in_file;		/* prefixes that were deleted there */
};

static void forget_row(void *ctx, const struct tcptuned_path_key *key,
		       const struct tcptuned_path *path)
{
	struct forgetting *f = ctx;

	if (!f->prefix || tcptuned_path_key_overlap(key, f->prefix))
		f->in_map += !bpf_map_delete_elem(f->map_fd, key);
}

static int forget_levels(const struct forgetting *f, struct tcptuned_error *err)
{
	_cleanup_free_ struct tcptuned_streams_row *rows = NULL;
	int error;
	size_t len;

	if (f->streams_fd < 0)
		return 0;
	error = tcptuned_streams_memory_read(f->streams_fd, &rows, &len, err);
	for (size_t i = 0; i < len && !error; i++)
		if (!f->prefix || tcptuned_path_key_overlap(&rows[i].key.host, f->prefix))
			bpf_map_delete_elem(f->streams_fd, &rows[i].key);
	return error;
}

static int forget_in_maps(struct forgetting *f, struct tcptuned_error *err)
{
	int error = forget_levels(f, err);

	if (error || f->map_fd < 0)
		return error;
	return tcptuned_paths_each(f->map_fd, forget_row, f, err);
}

static int check_removal(const char *file, int error, struct tcptuned_error *err)
{
	if (!error)
		return 0;
	return FAIL(err, -error, INTERNAL, "%s is damaged and cannot be deleted: %s", file,
		    strerror(-error));
}

/*
 * If the database fails, nothing is forgotten in the map either. A damaged one may contain any
 * prefix: only all of it can be forgotten.
 */
static int forget_in_file(struct forgetting *f, const char *directory, const char *file,
			  struct tcptuned_error *err)
{
	struct tcptuned_pathdb *db = NULL;
	int error;

	if (access(file, F_OK) && errno == ENOENT)
		return forget_in_maps(f, err);
	error = tcptuned_host_check_directory(STATE_DIRECTORY, directory, err) ?:
		tcptuned_pathdb_open(&db, file, TCPTUNED_PATHDB_LIMIT_MS, err) ?:
		tcptuned_pathdb_begin(db, err) ?:
		tcptuned_pathdb_forget(db, f->prefix, &f->in_file, err) ?:
		forget_in_maps(f, err) ?:
		tcptuned_pathdb_commit(db, err);
	tcptuned_pathdb_close(db);
	if (error != -EUCLEAN || f->prefix)
		return error;
	/* The map comes first: a concurrent save writes into the file that is set aside then. */
	return forget_in_maps(f, err) ?: check_removal(file, tcptuned_pathdb_set_aside(file), err);
}

int tcptuned_paths_forget(const struct tcptuned_kernel *kernel, const char *directory,
			  const char *prefix, unsigned int *ret_count, struct tcptuned_error *err)
{
	struct forgetting f = {
		.map_fd = kernel ? bpf_map__fd(kernel->bpf->maps.paths) : -1,
		.streams_fd = kernel ? bpf_map__fd(kernel->bpf->maps.streams) : -1,
	};
	struct tcptuned_path_key key;
	char file[FILE_TEXT];
	int error;

	*ret_count = 0;
	if (strcmp(prefix, "all")) {
		if (tcptuned_path_key_parse(prefix, &key))
			return USAGE(err,
				     "\"%.60s\" is not a prefix; write 192.0.2.0/24, "
				     "2001:db8::/48, an address, or all",
				     prefix);
		f.prefix = &key;
	}
	/* The daemon of that build would write them again. */
	if (kernel && (tcptuned_pins_have_other_layout(kernel, kernel->bpf->maps.paths) ||
		       tcptuned_pins_have_other_layout(kernel, kernel->bpf->maps.streams)))
		return FAIL(err, EPROTO, KERNEL,
			    "nothing is forgotten: the paths in %s are another build's; "
			    "use the tcptuned that loaded them",
			    kernel->pin_dir);
	snprintf(file, sizeof(file), "%s/paths.db", directory);
	error = forget_in_file(&f, directory, file, err);
	*ret_count = MAX(f.in_file, f.in_map);
	if (error || f.prefix)
		return error;
	return check_removal(file, tcptuned_pathdb_remove_damaged(file), err);
}

int tcptuned_paths_forget_as_daemon(const struct tcptuned_config *config, const char *prefix,
				    struct tcptuned_error *err)
{
	struct tcptuned_kernel kernel;
	unsigned int count;
	int error;

	if (geteuid())
		return FAIL(err, EPERM, NOT_PERMITTED,
			    "--forget-paths: only root may have paths forgotten; run it with sudo");
	error = tcptuned_kernel_open(&kernel, config->bpffs, err);
	if (error && error != -ENOENT)
		return error;
	error = tcptuned_paths_forget(error ? NULL : &kernel, config->state_directory, prefix,
				      &count, err);
	tcptuned_kernel_close(&kernel);
	if (!error)
		log_info("forgotten: %u prefixes", count);
	return error;
}

/* The cookie of the daemon's network namespace; 0 before Linux 5.14. */
static __u64 own_netns_cookie(void)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	__u64 cookie = 0;
	socklen_t len = sizeof(cookie);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len))
		return 0;
	return cookie;
}

int tcptuned_paths_new(struct tcptuned_paths **ret, const struct tcptuned_kernel *kernel,
		       const char *directory)
{
	struct tcptuned_paths *paths = calloc(1, sizeof(*paths));
	struct stat netns;

	if (!paths)
		return -ENOMEM;
	paths->shared = mmap(NULL, sizeof(*paths->shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (paths->shared == MAP_FAILED) {
		free(paths);
		return -ENOMEM;
	}
	paths->kernel = kernel;
	if (!stat("/proc/self/ns/net", &netns))
		paths->own_netns = (__u32)netns.st_ino;
	paths->own_cookie = own_netns_cookie();
	if (directory) {
		snprintf(paths->directory, sizeof(paths->directory), "%s", directory);
		snprintf(paths->file, sizeof(paths->file), "%s/paths.db", paths->directory);
		mkdir(paths->directory, 0700); /* the worker may write only below it */
	}
	*ret = paths;
	return 0;
}

void tcptuned_paths_free(struct tcptuned_paths *paths)
{
	if (paths)
		munmap(paths->shared, sizeof(*paths->shared));
	free(paths);
}
