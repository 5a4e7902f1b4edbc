// SPDX-License-Identifier: GPL-2.0-only
#include "kern/iterators.h"

#include <errno.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include <tcptuned/abi/flow.h>

#include "host/netns.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* Smaller than the kernel's own buffer for an iterator, which would repeat the last socket. */
#define READ_BYTES 16384

struct run {
	const struct bpf_link *link; /* of the iterator */
	struct tcptuned_adoption *sums;
};

static void count(struct tcptuned_adoption *sums, char what)
{
	sums->connections += what == TCPTUNED_ADOPTED_CONNECTION;
	sums->moved += what == TCPTUNED_ADOPTED_MOVED;
	sums->detached += what == TCPTUNED_ADOPTED_DETACHED;
	sums->failed += what == TCPTUNED_ADOPTED_FAILED;
	sums->too_old += what == TCPTUNED_ADOPTED_TOO_OLD;
}

/* Run the iterator in this namespace to its end. */
static void run_here(void *ctx)
{
	const struct run *run = ctx;
	_cleanup_close_ int iterator = -1;
	char buffer[READ_BYTES];
	ssize_t len = -1;

	if (!tcptuned_netns_has_sockets()) {
		run->sums->namespaces++;
		return;
	}
	iterator = bpf_iter_create(bpf_link__fd(run->link));
	while (iterator >= 0) {
		len = read(iterator, buffer, sizeof(buffer));
		/* EAGAIN: the kernel has passed a million sockets without output. */
		if (!len || (len < 0 && errno != EAGAIN))
			break;
		for (ssize_t i = 0; i < len; i++)
			count(run->sums, buffer[i]);
	}
	if (len < 0) {
		run->sums->namespaces_failed++;
		run->sums->error = -errno;
	} else {
		run->sums->namespaces++;
	}
}

int tcptuned_iterator_run(const struct bpf_link *link, struct tcptuned_adoption *ret)
{
	struct tcptuned_netns_missed missed = {0};
	struct tcptuned_adoption sums = {0};
	struct run run = {link, &sums};
	uint64_t start_ns = tcptuned_monotonic_ns();
	int error = -ENOENT;

	if (link)
		error = tcptuned_netns_for_each(run_here, &run, &missed);
	sums.namespaces_failed += missed.refused;
	sums.error = sums.error ?: missed.error;
	sums.namespaces_vanished = missed.vanished;
	sums.ns = tcptuned_monotonic_ns() - start_ns;
	if (ret)
		*ret = sums;
	return error;
}
