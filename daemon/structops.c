// SPDX-License-Identifier: GPL-2.0-only
#include "structops.h"

#include <errno.h>
#include <unistd.h>
#include <bpf/bpf.h>

#define KERNEL_BPF_STRUCT_OPS 44 /* an attach type of Linux 6.4 */

/*
 * Filling the map registers the congestion control, or, in a map made for a link, makes it
 * ready for one; libbpf 1.1 fills it only, later ones make the link too.
 */
int tcptuned_structops_register(struct bpf_map *map, int *ret_link_fd)
{
	bool linked = bpf_map__map_flags(map) & TCPTUNED_STRUCTOPS_LINK;
	struct bpf_link *link = bpf_map__attach_struct_ops(map);
	int map_fd = bpf_map__fd(map), fd, error = 0;
	bool made;

	*ret_link_fd = -1;
	if (!link)
		return -errno;
	fd = bpf_link__fd(link);
	made = linked && fd >= 0 && fd != map_fd;
	if (linked) {
		fd = made ? dup(fd) : bpf_link_create(map_fd, 0, KERNEL_BPF_STRUCT_OPS, NULL);
		error = fd < 0 ? -errno : 0;
		*ret_link_fd = fd < 0 ? -1 : fd;
	}
	/*
	 * The registration is held by our descriptor or by the map, and must not end with libbpf's
	 * object; a link of libbpf's own would hold it beside ours, for as long as we live.
	 */
	if (!made)
		bpf_link__disconnect(link);
	bpf_link__destroy(link);
	return error;
}

void tcptuned_structops_unregister(int map_fd)
{
	__u32 zero = 0;

	bpf_map_delete_elem(map_fd, &zero);
}
