// SPDX-License-Identifier: GPL-2.0-only
#include "kern/struct_ops.h"

#include <errno.h>
#include <unistd.h>
#include <bpf/bpf.h>

#define KERNEL_BPF_STRUCT_OPS 44 /* BPF_STRUCT_OPS, an attach type of Linux 6.4 */

/*
 * Fill the map, which registers the congestion control; a map that was made for a link becomes
 * ready for one. libbpf 1.1 stops there, later versions make the link, too. Returns 0 or a negative
 * errno, and in @ret_link_fd a link that was made, else -1.
 */
static int fill(struct bpf_map *map, int *ret_link_fd)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(map);
	int fd = link ? bpf_link__fd(link) : -1;

	*ret_link_fd = -1;
	if (!link)
		return -errno;
	/*
	 * Our descriptor or the map holds the registration. It must not end with libbpf's object,
	 * and a link of libbpf's own would hold it for as long as the daemon lives.
	 */
	if (fd >= 0 && fd != bpf_map__fd(map))
		*ret_link_fd = dup(fd);
	else
		bpf_link__disconnect(link);
	bpf_link__destroy(link);
	return 0;
}

static bool is_for_link(const struct bpf_map *map)
{
	return bpf_map__map_flags(map) & TCPTUNED_STRUCTOPS_LINK;
}

int tcptuned_structops_register(struct bpf_map *map, int *ret_link_fd)
{
	int error = fill(map, ret_link_fd);

	if (error == -EBUSY && is_for_link(map)) /* tcptuned_structops_replace() has filled it */
		error = 0;
	if (error || !is_for_link(map) || *ret_link_fd >= 0)
		return error;
	*ret_link_fd = bpf_link_create(bpf_map__fd(map), 0, KERNEL_BPF_STRUCT_OPS, NULL);
	return *ret_link_fd < 0 ? -errno : 0;
}

int tcptuned_structops_replace(struct bpf_map *map, int link_fd)
{
	int made, error;

	if (!is_for_link(map) || link_fd < 0)
		return -EOPNOTSUPP;
	error = fill(map, &made);
	if (made >= 0) { /* the link was made, so no congestion control had the name */
		close(made);
		return -ENOLINK;
	}
	/*
	 * A libbpf that makes the link, too, fails after it has filled the map: the name is taken.
	 */
	if (error && error != -EEXIST)
		return error;
	return bpf_link_update(link_fd, bpf_map__fd(map), NULL) ? -errno : 0;
}
