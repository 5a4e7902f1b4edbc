// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that are open: taken at the start, given back at the end. The work is done by
 * iterators (bpf/manage.bpf.c); each sees the connections of the network namespace in which it
 * is opened, so that the daemon goes through all of them.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include <tcptuned/abi/flow.h>

#include "host/netns.h"
#include "host/sysctl.h"
#include "kern/iterators.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* Less than the kernel's own buffer for an iterator: else it does the last socket again. */
#define READ_BYTES 16384

/* Run the iterator in this namespace to its end. @take (may be NULL) gets what it writes. */
static int run_here(int link_fd, void (*take)(void *ctx, char what), void *ctx)
{
	_cleanup_close_ int iterator = bpf_iter_create(link_fd);
	char buffer[READ_BYTES];
	ssize_t len, i;

	if (iterator < 0)
		return -errno;
	do {
		len = read(iterator, buffer, sizeof(buffer));
		for (i = 0; take && i < len; i++)
			take(ctx, buffer[i]);
	} while (len > 0 || (len < 0 && errno == EAGAIN)); /* that: a million of no interest */
	return len < 0 ? -errno : 0;
}

/* @ctx: the iterator's descriptor */
static void only_run_here(void *ctx)
{
	const int *link_fd = ctx;

	run_here(*link_fd, NULL, NULL);
}

/* ---- take ----------------------------------------------------------------------------- */

static void add(void *ctx, char what)
{
	struct tcptuned_adoption *a = ctx;

	a->connections += what == TCPTUNED_ADOPTED_CONNECTION;
	a->moved += what == TCPTUNED_ADOPTED_MOVED;
	a->let_go += what == TCPTUNED_ADOPTED_DETACHED;
	a->failed += what == TCPTUNED_ADOPTED_FAILED;
	a->too_old += what == TCPTUNED_ADOPTED_TOO_OLD;
}

struct taking {
	int link_fd; /* of the iterator */
	struct tcptuned_adoption *sums;
};

static void take_here(void *ctx)
{
	const struct taking *taking = ctx;
	int error = run_here(taking->link_fd, add, taking->sums);

	if (error) {
		taking->sums->namespaces_failed++;
		taking->sums->error = error;
	} else {
		taking->sums->namespaces++;
	}
}

/* In every network namespace. */
static int take_everywhere(int link_fd, struct tcptuned_adoption *ret)
{
	struct taking taking = { link_fd, ret };
	struct tcptuned_netns_missed missed = { 0 };
	uint64_t start = tcptuned_monotonic_ns();
	int visited;

	memset(ret, 0, sizeof(*ret));
	if (link_fd < 0)
		return -ENOENT;
	visited = tcptuned_netns_for_each(take_here, &taking, &missed);
	ret->namespaces_failed += missed.refused;
	ret->namespaces_vanished = missed.vanished;
	ret->ns = tcptuned_monotonic_ns() - start;
	return visited < 0 ? visited : 0;
}

int tcptuned_kernel_adopt_flows(struct tcptuned_kernel *k)
{
	return take_everywhere(k->link_fd[TCPTUNED_LINK_ADOPT], &k->adoption);
}

int tcptuned_kernel_apply_policies(const struct tcptuned_kernel *k, struct tcptuned_adoption *ret)
{
	return take_everywhere(k->link_fd[TCPTUNED_LINK_APPLY], ret);
}

/* ---- the default congestion control --------------------------------------------------- */

/* Writing the name has the kernel look for it again (tcp_set_default_congestion_control()). */
static void renew_here(void *ctx)
{
	tcptuned_sysctl_replace(TCPTUNED_SYSCTL_CONGESTION_CONTROL, "bitcp", "bitcp");
}

void tcptuned_kernel_renew_defaults(void)
{
	tcptuned_netns_for_each(renew_here, NULL, NULL);
}

/* ---- now and then ---------------------------------------------------------------------- */

static int run_everywhere(int link_fd)
{
	int visited;

	if (link_fd < 0)
		return -ENOENT;
	visited = tcptuned_netns_for_each(only_run_here, &link_fd, NULL);
	return visited < 0 ? visited : 0;
}

int tcptuned_kernel_rest_flows(struct tcptuned_kernel *k)
{
	return run_everywhere(k->link_fd[TCPTUNED_LINK_REST]);
}

int tcptuned_kernel_recall_flows(struct tcptuned_kernel *k)
{
	return run_everywhere(k->link_fd[TCPTUNED_LINK_RECALL]);
}

/* ---- give back ------------------------------------------------------------------------ */

int tcptuned_kernel_release_flows(int link_fd, unsigned int *ret_refused)
{
	struct tcptuned_netns_missed missed = { 0 };
	int visited = 0;

	if (link_fd >= 0)
		visited = tcptuned_netns_for_each(only_run_here, &link_fd, &missed);
	*ret_refused = missed.refused;
	return visited;
}

struct undoing {
	struct tcptuned_kernel *kernel;
	char name[TCPTUNED_SYSCTL_VALUE]; /* the default of the caller's namespace */
};

static void undo_here(void *ctx)
{
	struct undoing *undoing = ctx;

	tcptuned_sysctl_replace(TCPTUNED_SYSCTL_CONGESTION_CONTROL, "bitcp", undoing->name);
	run_here(undoing->kernel->link_fd[TCPTUNED_LINK_UNDO_OVERRIDES], NULL, NULL);
}

void tcptuned_kernel_undo_overrides(struct tcptuned_kernel *k)
{
	struct undoing undoing = { .kernel = k };

	if (k->link_fd[TCPTUNED_LINK_UNDO_OVERRIDES] < 0 ||
	    tcptuned_sysctl_read(tcptuned_sysctl_name(TCPTUNED_SYSCTL_CONGESTION_CONTROL),
				 undoing.name, sizeof(undoing.name)))
		return;
	tcptuned_netns_for_each(undo_here, &undoing, NULL);
}
