// SPDX-License-Identifier: GPL-2.0-only
#include "host/other_bpf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>

#include "util/cleanup.h"

#define OUR_NAME "tcptuned_sockops" /* of which the kernel keeps fifteen characters */

static void examine(struct tcptuned_other_sockops *other, __u32 id)
{
	_cleanup_close_ int fd = bpf_prog_get_fd_by_id(id);
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len) ||
	    info.type != BPF_PROG_TYPE_SOCK_OPS ||
	    !strncmp(info.name, OUR_NAME, sizeof(info.name) - 1))
		return;
	other->found = true;
	snprintf(other->name, sizeof(other->name), "%s", info.name);
}

bool tcptuned_other_sockops_find(struct tcptuned_other_sockops *other)
{
	while (!other->found && !bpf_prog_get_next_id(other->last_id, &other->last_id))
		examine(other, other->last_id);
	if (!other->found && errno == EPERM)
		other->found = true;
	return other->found;
}
