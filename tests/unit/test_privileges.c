// SPDX-License-Identifier: GPL-2.0-only
/* What the process that serves may still do: a process of the test drops its privileges here. */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <linux/capability.h>
#include <sys/syscall.h>

#include "test.h"
#include "host/privileges.h"

static char writable[64], outside[64], secret[64];

FIXTURE(make_directory, remove_directory)

/* Each is an errno, 0: it was done. */
struct outcome {
	int dropped, write_state, write_outside, truncate, read_secret, read_proc, permissions,
		attributes, inet, signal, owner, group, limit, own_limit, fork;
	__u32 capabilities;
};

static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

static int write_in(const char *where)
{
	char path[128], other[128];
	int fd;

	snprintf(path, sizeof(path), "%s/file", where);
	snprintf(other, sizeof(other), "%s/other", where);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "x", 1) != 1 || ftruncate(fd, 0) || close(fd) ||
	    rename(path, other) || unlink(other))
		return errno;
	return 0;
}

static void try_all(struct outcome *ret)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	struct tcptuned_error err;
	struct rlimit limit;
	pid_t child, parent = getppid();
	int pair[2];

	ret->dropped = tcptuned_privileges_drop_all("/sys/fs/cgroup", writable, &err);
	ret->write_state = write_in(writable);
	ret->write_outside = write_in(outside);
	ret->truncate = error_of(truncate(secret, 0));
	ret->read_secret = error_of(open(secret, O_RDONLY | O_CLOEXEC));
	ret->read_proc = error_of(open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
	ret->permissions = error_of(chmod(secret, 0666));
	ret->attributes = error_of(removexattr(secret, "user.none"));
	ret->inet = error_of(socket(AF_INET, SOCK_STREAM, 0));
	ret->signal = error_of(kill(getpid(), 0));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return;
	ret->owner = error_of(fcntl(pair[0], F_SETOWN, parent));
	ret->group = error_of(ioctl(pair[0], FIOSETOWN, &parent));
	ret->limit = error_of(prlimit(parent, RLIMIT_CPU, NULL, &limit));
	ret->own_limit = error_of(prlimit(0, RLIMIT_CPU, NULL, &limit));
	child = fork();
	if (!child)
		_exit(0);
	ret->fork = error_of(child);
	syscall(SYS_capget, &header, data);
	ret->capabilities = data[0].permitted | data[1].permitted | data[0].effective;
}

TEST(all_are_dropped)
{
	struct outcome *outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int confined = tcptuned_privileges_confine_files() ? EACCES : 0, status;
	pid_t child;

	assert_ptr_not_equal(outcome, MAP_FAILED);
	snprintf(writable, sizeof(writable), "%s/state", test_directory);
	snprintf(outside, sizeof(outside), "%s/outside", test_directory);
	snprintf(secret, sizeof(secret), "%s/secret", test_directory);
	assert_int_equal(mkdir(writable, 0700) | mkdir(outside, 0700), 0);
	close(open(secret, O_CREAT | O_CLOEXEC, 0600));
	child = fork();
	if (!child) {
		try_all(outcome);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(outcome->dropped, 0);
	assert_int_equal(outcome->capabilities, 0);
	assert_int_equal(outcome->write_state, 0);
	assert_int_equal(outcome->read_proc, 0);
	assert_int_equal(outcome->write_outside, confined);
	assert_int_equal(outcome->truncate, EPERM);
	assert_int_equal(outcome->read_secret, confined);
	assert_int_equal(outcome->permissions, EPERM);
	assert_int_equal(outcome->attributes, EPERM);
	assert_int_equal(outcome->inet, EPERM);
	assert_int_equal(outcome->signal, EPERM);
	assert_int_equal(outcome->owner, EPERM);
	assert_int_equal(outcome->group, EPERM);
	assert_int_equal(outcome->limit, EPERM);
	assert_int_equal(outcome->own_limit, 0);
	assert_int_equal(outcome->fork, EPERM);
	munmap(outcome, sizeof(*outcome));
}
