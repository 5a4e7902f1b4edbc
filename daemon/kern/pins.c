// SPDX-License-Identifier: GPL-2.0-only
#include "kern/pins.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/magic.h>

#include "util/cleanup.h"

int tcptuned_pin_replace(int fd, const char *path, const char *new)
{
	int error;

	unlink(new); /* of a daemon that was killed */
	if (bpf_obj_pin(fd, new))
		return -errno;
	if (!rename(new, path))
		return 0;
	error = -errno;
	unlink(new);
	return error;
}

static int check_mounted(const char *bpffs, struct tcptuned_error *err)
{
	struct statfs fs;

	if (statfs(bpffs, &fs))
		return FAIL(err, errno, NOT_PERMITTED,
			    "%s: %s; mount the BPF file system there: "
			    "mount -t bpf -o mode=0700 bpf %s",
			    bpffs, strerror(errno), bpffs);
	if ((unsigned long)fs.f_type != BPF_FS_MAGIC)
		return FAIL(err, ENODEV, NOT_PERMITTED,
			    "%s is not a BPF file system, so nothing can be pinned "
			    "there; mount it: mount -t bpf -o mode=0700 bpf %s",
			    bpffs, bpffs);
	return 0;
}

/* A path that this process cannot examine it cannot open either. */
static int check_writers(const char *path, int flags, struct tcptuned_error *err)
{
	struct stat st;

	if (fstatat(AT_FDCWD, path, &st, flags))
		return 0;
	if (!S_ISDIR(st.st_mode))
		return FAIL(err, EPERM, NOT_PERMITTED, "%s is not a directory; remove it", path);
	if (st.st_uid || st.st_mode & 022)
		return FAIL(err, EPERM, NOT_PERMITTED,
			    "%s may be written by others than root (owner %u, mode %04o), who "
			    "could replace what is pinned there; chown root %s && chmod 0700 "
			    "%s, or mount a BPF file system of its own with -o mode=0700 and "
			    "name it as tcptuned.bpffs",
			    path, st.st_uid, st.st_mode & 07777, path, path);
	return 0;
}

static int check_links(const char *pin_dir, struct tcptuned_error *err)
{
	_cleanup_closedir_ DIR *dir = opendir(pin_dir);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (!fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISLNK(st.st_mode))
			return FAIL(err, EPERM, NOT_PERMITTED,
				    "%s/%s is a symbolic link, which tcptuned does not make; "
				    "remove it",
				    pin_dir, entry->d_name);
	return 0;
}

int tcptuned_pins_check(const char *bpffs, const char *pin_dir, struct tcptuned_error *err)
{
	return check_mounted(bpffs, err) ?:
	       check_writers(bpffs, 0, err) ?:
	       check_writers(pin_dir, AT_SYMLINK_NOFOLLOW, err) ?:
	       check_links(pin_dir, err);
}
