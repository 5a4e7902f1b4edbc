// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/detach.h"

#include <errno.h>
#include <string.h>

#include "host/lock.h"
#include "host/sysctl.h"
#include "kern/iterators.h"
#include "kern/loader.h"
#include "paths/paths.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"
#include "util/log.h"

/*
 * Move connections whose congestion control tcptuned set to the default of their network namespace
 * (if that is bitcp, it becomes this one's first), and restore the buffers that listeners have
 * requested.
 */
static void undo_overrides(const struct tcptuned_kernel *kernel)
{
	const char *sysctl = tcptuned_sysctl_name(TCPTUNED_SYSCTL_CONGESTION_CONTROL);
	const struct bpf_link *link = kernel->bpf->links.undo_overrides;
	char name[TCPTUNED_SYSCTL_VALUE];

	if (!link || tcptuned_sysctl_read(sysctl, name, sizeof(name)))
		return;
	tcptuned_sysctl_replace(TCPTUNED_SYSCTL_CONGESTION_CONTROL, "bitcp", name);
	tcptuned_iterator_run(link, NULL);
}

/*
 * The default congestion control is restored before connections, which go back to it, and the other
 * sysctls after them, because they limit what connections can be given.
 */
int tcptuned_detach(struct tcptuned_kernel *kernel, struct tcptuned_error *err)
{
	int meta_fd = bpf_map__fd(kernel->bpf->maps.meta);
	const struct bpf_link *link = kernel->bpf->links.release_flows;
	struct tcptuned_adoption sums = {0};
	int error = 0, unrestored;

	tcptuned_kernel_stop(kernel);
	tcptuned_sysctl_restore(meta_fd, TCPTUNED_SYSCTL_CONGESTION_CONTROL);
	undo_overrides(kernel);
	if (link)
		error = tcptuned_iterator_run(link, &sums);
	if (error)
		log_warning("open connections keep the buffers they have: %s", strerror(-error));
	if (sums.namespaces_failed)
		log_warning("network namespaces or processes that could not be entered: %u (%s); "
			    "connections there keep the buffers they have",
			    sums.namespaces_failed, strerror(-sums.error));
	unrestored = tcptuned_sysctls_restore(meta_fd);
	error = tcptuned_kernel_detach(kernel);
	if (error) {
		errno = -error;
		return tcptuned_error_to_write(err, TCPTUNED_EXIT_INTERNAL, "tcptuned.bpffs",
					       kernel->pin_dir, "removed");
	}
	log_info("detached; nothing is left pinned in %s", kernel->pin_dir);
	if (unrestored)
		return FAIL(err, -unrestored, NOT_PERMITTED,
			    "sysctls could not be restored: set them to the values in the log");
	return 0;
}

int tcptuned_daemon_detach(const struct tcptuned_config *config, struct tcptuned_error *err)
{
	_cleanup_close_ int lock_fd = -1, pins_lock_fd = -1;
	struct tcptuned_kernel kernel;
	int error = tcptuned_lock_take(config->runtime_directory, &lock_fd, err);

	if (error)
		return error;
	error = tcptuned_lock_pins(config->bpffs, &pins_lock_fd, err)
			?: tcptuned_kernel_open(&kernel, config->bpffs, err);
	if (error == -ENOENT) {
		log_info("%s: there is nothing to detach", err->text);
		return 0;
	}
	if (error)
		return error;
	error = tcptuned_detach(&kernel, err);
	/* What the programs have learned since the daemon was killed is in maps that are open. */
	tcptuned_paths_save_left(&kernel, config->state_directory);
	tcptuned_kernel_close(&kernel);
	return error;
}
