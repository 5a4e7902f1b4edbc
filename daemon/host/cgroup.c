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
#include <linux/magic.h>

#include "util/cleanup.h"

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
	/* A mount point is the root of its tree, or of the part that a cgroup namespace shows. */
	*ret_root = !fstatat(fd, "..", &parent, 0) && parent.st_dev != st.st_dev;
	return tcptuned_take_fd(&fd);
}
