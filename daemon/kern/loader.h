/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads the kernel side or takes it over from an earlier daemon, pins it, and removes it. */
#pragma once

#include <stdbool.h>

#include "kern/kernel.h"
#include "util/error.h"

/* Nothing is loaded yet. Comes before tcptuned_kernel_attach(). */
void tcptuned_kernel_init(struct tcptuned_kernel *k, const char *bpffs);

/*
 * Load or take over everything, attach to the cgroup and pin under @bpffs. A failure leaves nothing
 * new. Nothing is tuned until a policy is written. @register_cc: offer the congestion controls.
 */
int tcptuned_kernel_attach(struct tcptuned_kernel *k, const char *bpffs, int cgroup_fd,
			   bool register_cc, struct tcptuned_error *err);

/*
 * Load every program into maps of its own, as tcptuned_kernel_attach() would, and unload it again.
 * Nothing is attached, and a running daemon is not disturbed. If the kernel does not take a
 * congestion control, that is an error only where one is registered that an upgrade would end.
 */
int tcptuned_kernel_check_load(const char *bpffs, int cgroup_fd, struct tcptuned_error *err);

/*
 * Open what is pinned under @bpffs, to look at it or to detach it. -ENOENT: nothing is pinned;
 * -EPERM: others than root may write there.
 */
int tcptuned_kernel_open(struct tcptuned_kernel *k, const char *bpffs, struct tcptuned_error *err);

/* True if the opened records have the layout of this build. */
bool tcptuned_kernel_can_be_read(const struct tcptuned_kernel *k);

/* Detach from the cgroup: no connection is tuned any more. All pins stay. */
void tcptuned_kernel_stop(struct tcptuned_kernel *k);

/*
 * Remove everything from the host. Maps and links stay open until tcptuned_kernel_close(). Returns
 * 0, or a negative errno if something is still pinned.
 */
int tcptuned_kernel_detach(struct tcptuned_kernel *k);

/* Close all of it. What is pinned goes on. */
void tcptuned_kernel_close(struct tcptuned_kernel *k);
