// SPDX-License-Identifier: GPL-2.0-only
#include "host/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int running_already(const char *what, const char *pid, struct tcptuned_error *err)
{
	return FAIL(err, EBUSY, IN_USE,
		    "another tcptuned runs (process %s, lock %s); stop that one first: "
		    "systemctl stop tcptuned",
		    pid[0] ? pid : "unknown", what);
}

int tcptuned_lock_pins(const char *bpffs, int *ret_fd, struct tcptuned_error *err)
{
	struct stat st;

	*ret_fd = open(bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0 || fstat(*ret_fd, &st) || st.st_mode & 077)
		return 0;
	if (flock(*ret_fd, LOCK_EX | LOCK_NB))
		return running_already(bpffs, "", err);
	return 0;
}

int tcptuned_host_check_directory(const char *key, const char *path, struct tcptuned_error *err)
{
	struct stat st = {0};

	if (!lstat(path, &st) && S_ISDIR(st.st_mode) && !(st.st_mode & 022) &&
	    (!st.st_uid || st.st_uid == geteuid()))
		return 0;
	if (S_ISLNK(st.st_mode))
		return FAIL(err, ELOOP, NOT_PERMITTED,
			    "%s: %s is a symbolic link; name the directory that it leads to", key,
			    path);
	return FAIL(err, EPERM, NOT_PERMITTED,
		    "%s: %s is not a directory that root alone may write to; chown root %s && "
		    "chmod go-w %s, or name another one",
		    key, path, path, path);
}

int tcptuned_lock_take(const char *directory, int *ret_fd, struct tcptuned_error *err)
{
	char path[PATH_MAX], pid[16] = "";
	int error, fd;

	if (mkdir(directory, 0755) && errno != EEXIST)
		return tcptuned_error_to_write(err, TCPTUNED_EXIT_INTERNAL,
					       "tcptuned.runtime_directory", directory, "made");
	/* A process that can replace the lock could start a second daemon. */
	error = tcptuned_host_check_directory("tcptuned.runtime_directory", directory, err);
	if (error)
		return error;
	snprintf(path, sizeof(path), "%s/lock", directory);
	/* Only root may lock it. */
	fd = *ret_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return tcptuned_error_to_write(err, TCPTUNED_EXIT_INTERNAL,
					       "tcptuned.runtime_directory", path, "opened");
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		if (pread(fd, pid, sizeof(pid) - 1, 0) < 0)
			pid[0] = '\0';
		pid[strcspn(pid, "\n")] = '\0';
		return running_already(path, pid, err);
	}
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", getpid()) < 0)
		return FAIL(err, errno, INTERNAL, "%s: %s", path, strerror(errno));
	return 0;
}
