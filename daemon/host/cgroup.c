// SPDX-License-Identifier: GPL-2.0-only
#include "host/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "util/cleanup.h"
#include "util/clock.h"

/* Of the host's tree (kernfs); the root that a cgroup namespace shows has another one. */
#define ROOT_INODE 1

static int find_mount(char *path, size_t size, struct tcptuned_error *err)
{
	_cleanup_fclose_ FILE *mounts = fopen("/proc/self/mounts", "re");
	struct mntent *entry;

	while (mounts && (entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_type, "cgroup2")) {
			snprintf(path, size, "%s", entry->mnt_dir);
			return 0;
		}
	return FAIL(err, ENODEV, NOT_PERMITTED,
		    "no cgroup2 file system is mounted, and tcptuned attaches to its "
		    "root; mount one: mkdir -p /sys/fs/cgroup/unified && "
		    "mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified");
}

/* The root of the tree, looked up once: a host has one such tree. -1: there is none yet. */
static int root_fd(void)
{
	static int fd = -1;
	char root[PATH_MAX];

	if (fd < 0 && !find_mount(root, sizeof(root), NULL))
		fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

uint64_t tcptuned_cgroup_id(const char *below_root)
{
	char path[PATH_MAX];
	struct stat st, root;
	int fd = root_fd();

	errno = ENOENT;
	if (fd < 0 || snprintf(path, sizeof(path), "./%s/", below_root) >= (int)sizeof(path) ||
	    strstr(path, "/../") || fstat(fd, &root) || fstatat(fd, path, &st, 0))
		return 0;
	errno = ENOENT;
	/* Another file system may be mounted in the tree. */
	return st.st_dev == root.st_dev ? st.st_ino : 0;
}

int tcptuned_cgroup_open_above(const char *below_root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "./%s", below_root);
	return root_fd() < 0 ? -1
			     : openat(root_fd(), dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int tcptuned_cgroup_open(const char *path, bool *ret_root, char *ret_path, size_t size,
			 struct tcptuned_error *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st, parent;
	struct statfs fs;

	snprintf(ret_path, size, "%s", path);
	if (!path[0] && find_mount(ret_path, size, err))
		return -ENODEV;
	fd = open(ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return FAIL(err, errno, NOT_PERMITTED,
			    "tcptuned.cgroup: %s: %s; name a directory of the cgroup2 "
			    "tree, or leave the key out for all processes",
			    ret_path, strerror(errno));
	if (fstatfs(fd, &fs) || (unsigned long)fs.f_type != CGROUP2_SUPER_MAGIC || fstat(fd, &st))
		return FAIL(err, EINVAL, NOT_PERMITTED,
			    "tcptuned.cgroup: %s is not in a cgroup2 file system; name a directory "
			    "of one (see: findmnt -t cgroup2), or leave the key out",
			    ret_path);
	/* A mount point that is named counts as the root; one that was looked up has to be it. */
	*ret_root = path[0] ? !fstatat(fd, "..", &parent, 0) && parent.st_dev != st.st_dev
			    : st.st_ino == ROOT_INODE;
	return tcptuned_take_fd(&fd);
}

/* ---- names --------------------------------------------------------------------------------- */

struct name {
	uint64_t id;
	char *path;
};

/* Of all cgroups, by id. */
static struct {
	struct name *list;
	size_t len;
	uint64_t read_ns; /* when; 0: never */
} names;

static int compare_ids(const void *left, const void *right)
{
	const struct name *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

/* Of a larger or deeper tree not all have a name: the daemon does nothing else meanwhile. */
#define NAMES_MAX 16384
#define DEPTH_MAX 32

static void add_name(uint64_t id, const char *path)
{
	struct name *list = names.list;
	char *copy;

	if (!(names.len & (names.len - 1))) { /* it is full */
		list = reallocarray(list, names.len ? 2 * names.len : 1, sizeof(*list));
		if (!list)
			return;
		names.list = list;
	}
	copy = strdup(path);
	if (copy)
		names.list[names.len++] = (struct name){id, copy};
}

/* Add what is below the directory @fd, which is closed; @path has room for PATH_MAX. */
static void add_names_below(int fd, char *path, int depth)
{
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t length = strlen(path);
	struct dirent *entry;

	if (fd >= 0 && !dir)
		close(fd);
	while (dir && names.len < NAMES_MAX && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (entry->d_type != DT_DIR || !strcmp(name, ".") || !strcmp(name, "..") ||
		    depth == DEPTH_MAX || length + strlen(name) + 2 > PATH_MAX)
			continue;
		sprintf(path + length, "/%s", name);
		add_name(entry->d_ino, path);
		add_names_below(openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path,
				depth + 1);
		path[length] = '\0';
	}
}

static void read_names(void)
{
	char path[PATH_MAX] = "";
	struct stat st;

	for (size_t i = 0; i < names.len; i++)
		free(names.list[i].path);
	free(names.list);
	names.list = NULL;
	names.len = 0;
	if (root_fd() < 0 || fstat(root_fd(), &st))
		return;
	add_name(st.st_ino, "/");
	add_names_below(openat(root_fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, 0);
	qsort(names.list, names.len, sizeof(*names.list), compare_ids);
}

const char *tcptuned_cgroup_name(uint64_t id)
{
	const struct name key = {.id = id};
	const struct name *found = NULL;

	if (names.len)
		found = bsearch(&key, names.list, names.len, sizeof(key), compare_ids);
	if (!found && id && tcptuned_monotonic_ns() - names.read_ns > 5000000000) {
		names.read_ns = tcptuned_monotonic_ns();
		read_names();
		return tcptuned_cgroup_name(id);
	}
	return found ? found->path : NULL;
}

bool tcptuned_cgroup_is_below(uint64_t id, const char *path)
{
	const char *name = tcptuned_cgroup_name(id);
	size_t length = strlen(path);

	while (length && path[length - 1] == '/')
		length--;
	return name && !strncmp(name, path, length) &&
	       (!length || !name[length] || name[length] == '/');
}
