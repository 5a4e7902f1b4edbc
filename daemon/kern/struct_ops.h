/* SPDX-License-Identifier: GPL-2.0-only */
/* Congestion controls as BPF struct_ops, on kernels with links for them and without. */
#pragma once

#include <bpf/libbpf.h>

/* BPF_F_LINK of Linux 6.4, which Debian 12's headers lack: the map is registered by a link. */
#define TCPTUNED_STRUCTOPS_LINK (1u << 13)

/*
 * Register the congestion control in @map, of a loaded object. If @map was made for a link, the
 * registration lasts as long as @ret_link_fd or its pin. Otherwise @ret_link_fd is -1, and it lasts
 * until the element of the map is deleted. Returns 0 or a negative errno.
 */
int tcptuned_structops_register(struct bpf_map *map, int *ret_link_fd);

/*
 * Replace the congestion control that the link @link_fd registers by the one in @map, of a loaded
 * object, under the same name and in one step (tcp_update_congestion_control()). Link and pin are
 * then the new one's; sockets and defaults of network namespaces keep the old one. Returns 0, or a
 * negative errno with the old one as it was: -EOPNOTSUPP if one of the two has no link.
 */
int tcptuned_structops_replace(struct bpf_map *map, int link_fd);
