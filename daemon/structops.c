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
	int map_fd = bpf_map__fd(map);

	*ret_link_fd = -1;
	if (!link)
		return -errno;
	if (linked) {
		int fd = bpf_link__fd(link);

		fd = fd != map_fd && fd >= 0 ? dup(fd) : -1;
		if (fd < 0)
			fd = bpf_link_create(map_fd, 0, KERNEL_BPF_STRUCT_OPS, NULL);
		if (fd < 0)
			return -errno;
		*ret_link_fd = fd;
	}
	/* The registration is held by our descriptor or by the map: libbpf must not end it. */
	bpf_link__disconnect(link);
	return 0;
}

void tcptuned_structops_unregister(int map_fd)
{
	__u32 zero = 0;

	bpf_map_delete_elem(map_fd, &zero);
}
