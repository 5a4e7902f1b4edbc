// SPDX-License-Identifier: GPL-2.0-only
/* Which paths are those of a control group, in the tree that this host has. */
#include <errno.h>
#include <mntent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "host/cgroup.h"
#include "util/array.h"

/* The id of the root; 0: there is no tree. */
static uint64_t root_id(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	struct stat st;
	uint64_t id = 0;

	while (mounts && !id && (entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_type, "cgroup2") && !stat(entry->mnt_dir, &st))
			id = st.st_ino;
	if (mounts)
		endmntent(mounts);
	return id;
}

static void test_of_the_tree(void **state)
{
	uint64_t root = root_id();

	if (!root)
		skip();
	assert_int_equal(tcptuned_cgroup_id("/"), root);
	assert_int_equal(tcptuned_cgroup_id(""), root);
	assert_int_equal(tcptuned_cgroup_id("//."), root);
	assert_int_equal(tcptuned_cgroup_id("/no.such.slice"), 0);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(tcptuned_cgroup_id("/no.such..slice"), 0);
	assert_int_equal(tcptuned_cgroup_id("/cgroup.procs"), 0);
	assert_int_equal(errno, ENOTDIR);
}

/* Whoever may ask for the policy of a control group is not to learn what else there is. */
static void test_nothing_is_outside_the_tree(void **state)
{
	static const char *const paths[] = {
		"..", "/..", "../", "/../../../../../../..", "/../../../../../../../etc",
		"/./../../../../../..", "//..//..//..//..//..//etc//passwd", "/no.such.slice/..",
		"/cgroup.procs/..",
	};

	if (!root_id())
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		errno = 0;
		if (tcptuned_cgroup_id(paths[i]))
			fail_msg("%s has an id", paths[i]);
		assert_int_equal(errno, ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_the_tree),
		cmocka_unit_test(test_nothing_is_outside_the_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
