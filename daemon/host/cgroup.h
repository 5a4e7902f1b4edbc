/* SPDX-License-Identifier: GPL-2.0-only */
/* The cgroup2 tree, and the cgroup in it that tcptuned attaches to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "util/error.h"

/*
 * Open the cgroup to attach to. @path: "" for the root of the tree, which is looked up in
 * /proc/self/mounts, because hybrid layouts do not have it at /sys/fs/cgroup. Returns a descriptor,
 * its name in @ret_path of @size, and in @ret_root whether all processes of the host are below it
 * (of a @path that is a mount point that is taken to be so).
 */
int tcptuned_cgroup_open(const char *path, bool *ret_root, char *ret_path, size_t size,
			 struct tcptuned_error *err);

/*
 * The id of the cgroup at @below_root, a path from the root of the cgroup2 tree, as the kernel has
 * it. 0: there is none (errno is ENOENT), or it cannot be looked up (errno says why). A path with
 * ".." in it names no cgroup, because it may lead out of the tree.
 */
uint64_t tcptuned_cgroup_id(const char *below_root);

/* Open the directory that the cgroup at @below_root comes and goes in. Negative: there is none. */
int tcptuned_cgroup_open_above(const char *below_root);

/*
 * The path from the root of the tree of the cgroup with this id, until the next call; NULL: it is
 * not there. For an id that is new the tree is read again, but not within five seconds.
 */
const char *tcptuned_cgroup_name(uint64_t id);

/* True if the cgroup with this id is the one at @path, from the root, or below it. */
bool tcptuned_cgroup_is_below(uint64_t id, const char *path);
