/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the cgroup2 tree is, and the cgroup in it that tcptuned attaches to. */
#ifndef TCPTUNED_HOST_CGROUP_H
#define TCPTUNED_HOST_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "util/error.h"

/*
 * Open the cgroup to attach to. @path: "" for the root of the tree, which is looked for in
 * /proc/self/mounts, at /sys/fs/cgroup or, on hybrid layouts, elsewhere.
 *
 * Returns a descriptor and in @ret_root whether it is the root, so that all processes of the
 * host are below it; or a negative errno with @err filled. @ret_path (of @size) names it.
 */
int tcptuned_cgroup_open(const char *path, bool *ret_root, char *ret_path, size_t size,
			 struct tcptuned_error *err);

/*
 * The id of the cgroup at @below_root, a path from the root of the cgroup2 tree, as the kernel
 * has it. 0: there is none (errno is ENOENT), or it cannot be looked at (errno says why). Nothing
 * is outside the tree: a path with ".." in it is that of no cgroup.
 */
uint64_t tcptuned_cgroup_id(const char *below_root);

#endif
