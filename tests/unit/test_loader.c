// SPDX-License-Identifier: GPL-2.0-only
/*
 * If a descriptor cannot be kept, the daemon does not start. Here dup() fails on request, after the kernel has
 * accepted the programs. Without the right to load programs the tests are skipped.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "test.h"
#include "host/cgroup.h"
#include "kern/loader.h"
#include "util/cleanup.h"

static int dups_left; /* that succeed; negative: all */

int dup(int fd)
{
	if (dups_left >= 0 && !dups_left--) {
		errno = EMFILE;
		return -1;
	}
	return fcntl(fd, F_DUPFD, 0);
}

static int setup(void **state)
{
	dups_left = -1;
	return make_directory(state);
}

static int teardown(void **state)
{
	umount(test_directory);
	return remove_directory(state);
}

/* Asserts that attaching fails with @errnum before any program is attached, and leaves nothing. */
static void expect_failure(int errnum)
{
	struct tcptuned_error err = {0};
	struct tcptuned_kernel kernel;
	char path[PATH_MAX];
	int error;
	bool root;
	_cleanup_close_ int cgroup_fd = tcptuned_cgroup_open("", &root, path, sizeof(path), &err);

	if (cgroup_fd < 0 || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("bpf", test_directory, "bpf", 0, "mode=0700"))
		skip();
	error = tcptuned_kernel_attach(&kernel, test_directory, cgroup_fd, false, &err);
	if (!error) /* the test leaves no programs behind */
		tcptuned_kernel_detach(&kernel);
	tcptuned_kernel_close(&kernel);
	if (err.status == TCPTUNED_EXIT_KERNEL || err.status == TCPTUNED_EXIT_NOT_PERMITTED)
		skip();
	assert_int_equal(error, -errnum);
	assert_int_equal(err.status, TCPTUNED_EXIT_INTERNAL);
	assert_contains(err.text, "programs and their maps");
	snprintf(path, sizeof(path), "%s/tcptuned", test_directory);
	assert_int_equal(access(path, F_OK), -1);
}

FIXTURE(setup, teardown)

TEST(a_map_that_cannot_be_kept)
{
	dups_left = 3;
	expect_failure(EMFILE);
}

TEST(a_program_that_cannot_be_kept)
{
	dups_left = TCPTUNED_MAPS - 1 + 4; /* all maps but that of bitcp's parameters */
	expect_failure(EMFILE);
}
