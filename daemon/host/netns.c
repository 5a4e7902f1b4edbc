// SPDX-License-Identifier: GPL-2.0-only
#include "host/netns.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "util/cleanup.h"
#include "util/clock.h"

#define WALK_MS 5000 /* a stop has five walks, and 30 s (TimeoutStopSec=) */

struct walk {
	void (*visit)(void *ctx);
	void *ctx;
	ino_t *inodes; /* of the namespaces so far, also of those that may not be entered */
	size_t len, size;
	uint64_t end_ms; /* until which namespaces are entered */
	bool moved;	 /* this process is in another one than its own */
	struct tcptuned_netns_missed missed;
};

/* Remember @inode. Returns false if it was known, or there is no memory to remember it. */
static bool is_new(struct walk *walk, ino_t inode)
{
	for (size_t i = 0; i < walk->len; i++)
		if (walk->inodes[i] == inode)
			return false;
	if (walk->len == walk->size) {
		size_t size = walk->size ? 2 * walk->size : 64;
		ino_t *inodes = reallocarray(walk->inodes, size, sizeof(*inodes));

		if (!inodes)
			return false;
		walk->inodes = inodes;
		walk->size = size;
	}
	walk->inodes[walk->len++] = inode;
	return true;
}

/* Returns 0 or a negative errno. O_NONBLOCK: the name may be that of a FIFO without a writer. */
static int visit_one(struct walk *walk, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!is_new(walk, st.st_ino))
		return 0;
	if (tcptuned_monotonic_ms() >= walk->end_ms)
		return -ETIME;
	if (setns(fd, CLONE_NEWNET))
		return -errno;
	walk->moved = true;
	walk->visit(walk->ctx);
	return 0;
}

/*
 * A process that has ended has no namespace any more, and does not count; neither does a name
 * without one, as ip-netns(8) leaves it for a moment on deletion (setns(): EINVAL).
 */
static void count_missed(struct walk *walk, const char *path, bool is_process, int error)
{
	struct stat st;

	if (is_process && (error == -ENOENT || error == -ESRCH || lstat(path, &st)))
		return;
	if (!is_process && (error == -ENOENT || error == -EINVAL))
		walk->missed.vanished++;
	else {
		walk->missed.refused++;
		walk->missed.error = error;
	}
}

static void visit_all(struct walk *walk, const char *dir_path, const char *suffix, bool processes)
{
	_cleanup_closedir_ DIR *dir = opendir(dir_path);
	struct dirent *entry;
	char path[512];
	int error;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || (processes && !isdigit(entry->d_name[0])))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", dir_path, entry->d_name, suffix);
		error = visit_one(walk, path);
		if (error)
			count_missed(walk, path, processes, error);
	}
}

int tcptuned_netns_for_each(void (*visit)(void *ctx), void *ctx,
			    struct tcptuned_netns_missed *ret_missed)
{
	_cleanup_close_ int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct walk walk = {
		.visit = visit, .ctx = ctx, .end_ms = tcptuned_monotonic_ms() + WALK_MS};
	struct stat st;

	if (own < 0 || fstat(own, &st))
		return -errno;
	is_new(&walk, st.st_ino);
	visit(ctx);
	visit_all(&walk, "/run/netns", "", false);
	visit_all(&walk, "/run/docker/netns", "", false);
	visit_all(&walk, "/proc", "/ns/net", true);
	free(walk.inodes);
	if (ret_missed)
		*ret_missed = walk.missed;
	return walk.moved && setns(own, CLONE_NEWNET) ? -errno : 0;
}

/* Reads a number of sockets that are in use. -1: the file has none. */
static int read_in_use(const char *path, const char *format)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	int n = -1;

	return file && fscanf(file, format, &n) == 1 ? n : -1;
}

bool tcptuned_netns_has_sockets(void)
{
	return read_in_use("/proc/self/net/sockstat", "sockets: used %*d TCP: inuse %d") ||
	       read_in_use("/proc/self/net/sockstat6", "TCP6: inuse %d") > 0;
}
