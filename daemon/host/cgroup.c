// SPDX-License-Identifier: GPL-2.0-only
#include "host/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

/* A mount point is the root of its tree, or of the part that a cgroup namespace shows. */
static bool is_mount_point(int dir, const struct stat *st)
{
	struct stat parent;

	return !fstatat(dir, "..", &parent, 0) && parent.st_dev != st->st_dev;
}

static int find_mount(char *path, size_t size, struct tcptuned_error *err)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;

	while (mounts && (entry = getmntent(mounts))) {
		if (strcmp(entry->mnt_type, "cgroup2"))
			continue;
		snprintf(path, size, "%s", entry->mnt_dir);
		endmntent(mounts);
		return 0;
	}
	if (mounts)
		endmntent(mounts);
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

int tcptuned_cgroup_open(const char *path, bool *ret_root, char *ret_path, size_t size,
			 struct tcptuned_error *err)
{
	struct statfs fs;
	struct stat st;
	int fd, error;

	snprintf(ret_path, size, "%s", path);
	if (!path[0]) {
		error = find_mount(ret_path, size, err);
		if (error)
			return error;
	}
	fd = open(ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return FAIL(err, errno, NOT_PERMITTED,
			    "tcptuned.cgroup: %s: %s; name a directory of the cgroup2 "
			    "tree, or leave the key out for all processes",
			    ret_path, strerror(errno));
	if (fstatfs(fd, &fs) || (unsigned long)fs.f_type != CGROUP2_SUPER_MAGIC || fstat(fd, &st)) {
		close(fd);
		return FAIL(err, EINVAL, NOT_PERMITTED,
			    "tcptuned.cgroup: %s is not in a cgroup2 file system; name a directory "
			    "of one (see: findmnt -t cgroup2), or leave the key out",
			    ret_path);
	}
	*ret_root = is_mount_point(fd, &st);
	return fd;
}
