// SPDX-License-Identifier: GPL-2.0-only
/* Control groups by their paths, and congestion controls by their names, on this host. */
#include <sys/stat.h>

#include "test.h"
#include "host/cc.h"
#include "host/cgroup.h"

/* Returns the id of the root; 0: there is no tree. */
static uint64_t root_id(void)
{
	struct tcptuned_error err;
	char path[PATH_MAX];
	struct stat st;
	bool root;
	int fd = tcptuned_cgroup_open("", &root, path, sizeof(path), &err);

	if (fd < 0 || fstat(fd, &st))
		return 0;
	close(fd);
	return st.st_ino;
}

TEST(of_the_tree)
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

/* A client that may ask for the policy of a control group must not learn what else exists. */
TEST(nothing_is_outside_the_tree)
{
	static const char *const paths[] = {
		"..",
		"/..",
		"../",
		"/../../../../../../..",
		"/../../../../../../../etc",
		"/./../../../../../..",
		"//..//..//..//..//..//etc//passwd",
		"/no.such.slice/..",
		"/cgroup.procs/..",
	};

	if (!root_id())
		skip();
	for_each_row (path, paths) {
		errno = 0;
		if (tcptuned_cgroup_id(*path))
			fail_msg("%s has an id", *path);
		assert_int_equal(errno, ENOENT);
	}
}

/* The list is the kernel's for this network namespace, in which reno always is. */
TEST(what_the_kernel_offers)
{
	char names[TCPTUNED_CONGESTION_NAMES], line[TCPTUNED_CONGESTION_NAMES - 2] = "";
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "r");

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	tcptuned_cc_offered(names);
	assert_int_equal(strlen(names), strlen(line) + 2);
	assert_memory_equal(names + 1, line, strlen(line));
	assert_true(tcptuned_cc_is_offered(names, "reno"));
}

TEST(names_are_whole_words)
{
	static const char offered[] = " reno tt_reno bbr ";

	assert_true(tcptuned_cc_is_offered(offered, "reno"));
	assert_true(tcptuned_cc_is_offered(offered, "tt_reno"));
	assert_true(tcptuned_cc_is_offered(offered, "bbr"));
	assert_false(tcptuned_cc_is_offered(offered, "ren"));
	assert_false(tcptuned_cc_is_offered(offered, "bb"));
	assert_false(tcptuned_cc_is_offered(offered, "bbr2"));
	assert_false(tcptuned_cc_is_offered(offered, "cubic"));
	assert_false(tcptuned_cc_is_offered("", "reno"));
}

TEST(load)
{
	assert_int_equal(tcptuned_cc_load("reno"), 0);
	assert_int_equal(tcptuned_cc_load("nonesuch"), -ENOENT);
}
