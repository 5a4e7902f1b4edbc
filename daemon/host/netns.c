// SPDX-License-Identifier: GPL-2.0-only
#include "host/netns.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "util/cleanup.h"

struct seen {
	ino_t *inodes;
	size_t len, room;
	struct tcptuned_netns_missed missed;
};

/* Remember @inode; false when it was known, or there is no memory to remember it. */
static bool is_new(struct seen *seen, ino_t inode)
{
	for (size_t i = 0; i < seen->len; i++)
		if (seen->inodes[i] == inode)
			return false;
	if (seen->len == seen->room) {
		size_t room = seen->room ? 2 * seen->room : 64;
		ino_t *more = reallocarray(seen->inodes, room, sizeof(*more));

		if (!more)
			return false;
		seen->inodes = more;
		seen->room = room;
	}
	seen->inodes[seen->len++] = inode;
	return true;
}

/*
 * A name that leads nowhere, or to a file that is no namespace, as ip-netns(8) leaves it for a
 * moment on deletion (EINVAL, of setns()), has none any more.
 */
static void miss_name(struct seen *seen, int error)
{
	if (error == ENOENT || error == EINVAL)
		seen->missed.vanished++;
	else
		seen->missed.refused++;
}

/* A process that has ended, or is about to, has no namespace, and says nothing about any. */
static void miss_process(struct seen *seen, const char *path, int error)
{
	struct stat st;

	if (error != ENOENT && error != ESRCH && !lstat(path, &st))
		seen->missed.refused++;
}

/*
 * In @ret_error what was in the way, if anything was. Returns how many were visited. Whatever stands
 * under the name is opened without waiting: a FIFO has no writer.
 */
static int visit_one(struct seen *seen, const char *path, void (*visit)(void *ctx), void *ctx,
		     int *ret_error)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	*ret_error = 0;
	if (fd < 0 || fstat(fd, &st)) {
		*ret_error = errno;
		return 0;
	}
	if (!is_new(seen, st.st_ino))
		return 0;
	if (setns(fd, CLONE_NEWNET)) {
		*ret_error = errno;
		return 0;
	}
	visit(ctx);
	return 1;
}

static int visit_all(struct seen *seen, const char *dir_path, const char *suffix, bool processes,
		     void (*visit)(void *ctx), void *ctx)
{
	_cleanup_closedir_ DIR *dir = opendir(dir_path);
	struct dirent *entry;
	int visited = 0, error;
	char path[512];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || (processes && !isdigit(entry->d_name[0])))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", dir_path, entry->d_name, suffix);
		visited += visit_one(seen, path, visit, ctx, &error);
		if (error && processes)
			miss_process(seen, path, error);
		else if (error)
			miss_name(seen, error);
	}
	return visited;
}

int tcptuned_netns_for_each(void (*visit)(void *ctx), void *ctx,
			    struct tcptuned_netns_missed *ret_missed)
{
	_cleanup_close_ int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct seen seen = { 0 };
	int visited, error;

	if (own < 0)
		return -errno;
	visited = visit_one(&seen, "/proc/self/ns/net", visit, ctx, &error);
	seen.missed.refused += error != 0;
	visited += visit_all(&seen, "/run/netns", "", false, visit, ctx);
	visited += visit_all(&seen, "/run/docker/netns", "", false, visit, ctx);
	visited += visit_all(&seen, "/proc", "/ns/net", true, visit, ctx);
	free(seen.inodes);
	if (ret_missed)
		*ret_missed = seen.missed;
	return setns(own, CLONE_NEWNET) ? -errno : visited;
}
