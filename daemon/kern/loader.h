/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads the kernel side, or takes it over from a daemon before this one; pins it, and takes it back.
 */
#ifndef TCPTUNED_KERN_LOADER_H
#define TCPTUNED_KERN_LOADER_H

#include <stdbool.h>

#include "kern/kernel.h"
#include "util/error.h"

/* The program's name, in its object and among the pins; NULL: one of bitcp's. */
const char *tcptuned_prog_name(enum tcptuned_prog which);

/* The map's name, in the programs and after "map_" among the pins. */
const char *tcptuned_map_name(enum tcptuned_map which);

/* All descriptors -1: a kernel side that is not there yet. */
void tcptuned_kernel_init(struct tcptuned_kernel *k, const char *bpffs);

/*
 * Load or take over everything, attach to the cgroup @cgroup_fd and pin under @bpffs; on
 * failure nothing is left behind that was not there before. The programs claim nothing until
 * a policy is written. @register_bitcp: offer the congestion control to the host.
 * Returns 0 or a negative errno with @err filled.
 */
int tcptuned_kernel_attach(struct tcptuned_kernel *k, const char *bpffs, int cgroup_fd,
			   bool register_bitcp, struct tcptuned_error *err);

/*
 * Load every program into maps of its own, as tcptuned_kernel_attach() would, and unload it again.
 * Nothing is attached, and a daemon that runs is not disturbed. That BI-TCP is not taken is an
 * error where one is registered that an upgrade would end.
 * Returns 0 or a negative errno with @err filled.
 */
int tcptuned_kernel_check_load(const char *bpffs, int cgroup_fd, struct tcptuned_error *err);

/*
 * Open what is pinned under @bpffs, to look at it or to detach it. -ENOENT when nothing is, -EPERM
 * when others than root may write there.
 * Whatever of it can be opened is, but for maps of another layout that nothing else keeps from
 * being read: @k->other_layout.
 */
int tcptuned_kernel_open(struct tcptuned_kernel *k, const char *bpffs,
			 struct tcptuned_error *err);

/* Have the records of what was opened the layout of this build? */
bool tcptuned_kernel_can_be_read(const struct tcptuned_kernel *k);

/* No connection is claimed and none is tuned any more afterwards; all pins stay. */
void tcptuned_kernel_stop(struct tcptuned_kernel *k);

/* Take everything off the host. Descriptors stay until tcptuned_kernel_close(). */
void tcptuned_kernel_detach(struct tcptuned_kernel *k);

/* Let go of all descriptors. What is pinned goes on. */
void tcptuned_kernel_close(struct tcptuned_kernel *k);

#endif
