// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that are open: taken at the start, given back at the end. The work is done by
 * iterators (bpf/flows.bpf.c); each sees the connections of the network namespace in which it
 * is opened, so that the daemon goes through all of them.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include <tcptuned/flow.h>

#include "cleanup.h"
#include "family.h"
#include "loader.h"
#include "netns.h"
#include "sysctls.h"

/* Less than the kernel's own buffer for an iterator: else it does the last socket again. */
#define READ_BYTES 16384

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

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

/* ---- take ----------------------------------------------------------------------------- */

static void add(void *ctx, char what)
{
	struct tcptuned_adoption *a = ctx;

	a->connections += what == TCPTUNED_ADOPTED_CONNECTION;
	a->moved += what == TCPTUNED_ADOPTED_MOVED;
	a->let_go += what == TCPTUNED_ADOPTED_LET_GO;
	a->listeners += what == TCPTUNED_ADOPTED_LISTENER;
	a->failed += what == TCPTUNED_ADOPTED_FAILED;
	a->too_old += what == TCPTUNED_ADOPTED_TOO_OLD;
}

static void run_and_add(struct tcptuned_kernel *k, enum tcptuned_link which)
{
	int error = run_here(k->link_fd[which], add, &k->adoption);

	if (error) {
		k->adoption.namespaces_failed++;
		k->adoption.error = error;
	} else {
		k->adoption.namespaces++;
	}
}

static void adopt_here(void *ctx)
{
	run_and_add(ctx, TCPTUNED_LINK_ADOPT);
}

static void apply_here(void *ctx)
{
	run_and_add(ctx, TCPTUNED_LINK_APPLY);
}

/* In every network namespace, with the sums in k->adoption. */
static int run_everywhere(struct tcptuned_kernel *k, enum tcptuned_link which,
			  void (*here)(void *ctx))
{
	uint64_t start = now_ns();
	unsigned int refused = 0;
	int visited;

	memset(&k->adoption, 0, sizeof(k->adoption));
	if (k->link_fd[which] < 0)
		return -ENOENT;
	visited = tcptuned_netns_for_each(here, k, &refused);
	k->adoption.namespaces_failed += refused;
	k->adoption.ns = now_ns() - start;
	return visited < 0 ? visited : 0;
}

int tcptuned_kernel_adopt_flows(struct tcptuned_kernel *k)
{
	return run_everywhere(k, TCPTUNED_LINK_ADOPT, adopt_here);
}

int tcptuned_kernel_apply_policies(struct tcptuned_kernel *k)
{
	return run_everywhere(k, TCPTUNED_LINK_APPLY, apply_here);
}

/* ---- the default congestion control --------------------------------------------------- */

/* Writing the name has the kernel look for it again (tcp_set_default_congestion_control()). */
static void renew_here(void *ctx)
{
	tcptuned_sysctl_replace(TCPTUNED_SYSCTL_CONGESTION_CONTROL, "bitcp", "bitcp");
	for (const char *const *name = tcptuned_family_names; *name; name++)
		tcptuned_sysctl_replace(TCPTUNED_SYSCTL_CONGESTION_CONTROL, *name, *name);
}

void tcptuned_kernel_renew_defaults(void)
{
	tcptuned_netns_for_each(renew_here, NULL, NULL);
}

/* ---- those at rest --------------------------------------------------------------------- */

static void rest_here(void *ctx)
{
	struct tcptuned_kernel *k = ctx;

	run_here(k->link_fd[TCPTUNED_LINK_REST], NULL, NULL);
}

int tcptuned_kernel_rest_flows(struct tcptuned_kernel *k)
{
	int visited;

	if (k->link_fd[TCPTUNED_LINK_REST] < 0)
		return -ENOENT;
	visited = tcptuned_netns_for_each(rest_here, k, NULL);
	return visited < 0 ? visited : 0;
}

/* ---- give back ------------------------------------------------------------------------ */

static void release_here(void *ctx)
{
	const int *link_fd = ctx;

	run_here(*link_fd, NULL, NULL);
}

int tcptuned_kernel_release_flows(int link_fd, unsigned int *ret_refused)
{
	*ret_refused = 0;
	if (link_fd < 0)
		return 0;
	return tcptuned_netns_for_each(release_here, &link_fd, ret_refused);
}

struct undoing {
	struct tcptuned_kernel *kernel;
	char name[TCPTUNED_SYSCTL_VALUE]; /* the default of the caller's namespace */
};

static void undo_here(void *ctx)
{
	struct undoing *undoing = ctx;

	tcptuned_sysctl_replace(TCPTUNED_SYSCTL_CONGESTION_CONTROL, "bitcp", undoing->name);
	for (const char *const *name = tcptuned_family_names; *name; name++)
		tcptuned_sysctl_replace(TCPTUNED_SYSCTL_CONGESTION_CONTROL, *name,
					undoing->name);
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
