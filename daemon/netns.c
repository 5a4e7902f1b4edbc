// SPDX-License-Identifier: GPL-2.0-only
#include "netns.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cleanup.h"

struct seen {
	ino_t *inodes;
	size_t len, room;
	unsigned int refused;
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

static int visit_one(struct seen *seen, const char *path, void (*visit)(void *ctx), void *ctx)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0) {
		seen->refused += errno == EACCES || errno == EPERM;
		return 0;
	}
	if (fstat(fd, &st) || !is_new(seen, st.st_ino))
		return 0;
	if (setns(fd, CLONE_NEWNET)) {
		seen->refused++;
		return 0;
	}
	visit(ctx);
	return 1;
}

static int visit_all(struct seen *seen, const char *dir_path, const char *suffix, bool numbers,
		     void (*visit)(void *ctx), void *ctx)
{
	_cleanup_closedir_ DIR *dir = opendir(dir_path);
	struct dirent *entry;
	char path[512];
	int visited = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || (numbers && !isdigit(entry->d_name[0])))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", dir_path, entry->d_name, suffix);
		visited += visit_one(seen, path, visit, ctx);
	}
	return visited;
}

int tcptuned_netns_for_each(void (*visit)(void *ctx), void *ctx, unsigned int *ret_refused)
{
	_cleanup_close_ int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct seen seen = { 0 };
	int visited;

	if (own < 0)
		return -errno;
	visited = visit_one(&seen, "/proc/self/ns/net", visit, ctx);
	visited += visit_all(&seen, "/run/netns", "", false, visit, ctx);
	visited += visit_all(&seen, "/run/docker/netns", "", false, visit, ctx);
	visited += visit_all(&seen, "/proc", "/ns/net", true, visit, ctx);
	free(seen.inodes);
	if (ret_refused)
		*ret_refused = seen.refused;
	return setns(own, CLONE_NEWNET) ? -errno : visited;
}
