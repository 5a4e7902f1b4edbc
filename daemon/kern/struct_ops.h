/* SPDX-License-Identifier: GPL-2.0-only */
/* Congestion controls as BPF struct_ops, on kernels with links for them and without. */
#ifndef TCPTUNED_KERN_STRUCT_OPS_H
#define TCPTUNED_KERN_STRUCT_OPS_H

#include <bpf/libbpf.h>

/* Flag of a struct_ops map that is registered through a link; newer than Debian 12's headers:
 * Linux 6.4. */
#define TCPTUNED_STRUCTOPS_LINK (1u << 13)

/*
 * Register the congestion control in @map, of a loaded object. Where @map was made for a link
 * the registration lasts as long as @ret_link_fd, or its pin, else @ret_link_fd is -1 and it
 * lasts until tcptuned_structops_unregister(). Returns 0 or a negative errno.
 */
int tcptuned_structops_register(struct bpf_map *map, int *ret_link_fd);

/*
 * Have the congestion control in @map, of a loaded object, take the place of the one that the
 * link @link_fd registers, under the same name, in one step: at no time is there none (kernel:
 * tcp_update_congestion_control()). The link and its pin are the new one's then. What points to
 * the old one goes on with it: sockets, and defaults of network namespaces. Returns 0, or a
 * negative errno with the old one as it was: -EOPNOTSUPP where one of the two has no link.
 */
int tcptuned_structops_replace(struct bpf_map *map, int link_fd);

/* The end of a registration without a link; @map_fd is the map. */
void tcptuned_structops_unregister(int map_fd);

#endif
