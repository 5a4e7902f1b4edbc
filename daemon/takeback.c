// SPDX-License-Identifier: GPL-2.0-only
#include "takeback.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "cleanup.h"
#include "lock.h"
#include "log.h"
#include "paths.h"
#include "policy.h"
#include "sysctls.h"

void tcptuned_log_restored(const char *name, const char *value, int error)
{
	if (error)
		tcptuned_log(TCPTUNED_LOG_ERROR, "%s could not be put back to %s: %s", name, value,
			     strerror(-error));
	else
		tcptuned_log(TCPTUNED_LOG_INFO, "%s put back to %s", name, value);
}

/*
 * The default congestion control comes before the connections, for they go back to it; the
 * other sysctls after them: what those may still be given depends on them.
 */
void tcptuned_take_back(struct tcptuned_kernel *kernel)
{
	unsigned int refused;
	int namespaces;

	tcptuned_kernel_stop(kernel);
	if (kernel->map_fd[TCPTUNED_MAP_META] >= 0)
		tcptuned_sysctl_restore(kernel->map_fd[TCPTUNED_MAP_META],
					TCPTUNED_SYSCTL_CONGESTION_CONTROL, tcptuned_log_restored);
	tcptuned_kernel_undo_overrides(kernel);
	namespaces = tcptuned_kernel_release_flows(kernel->link_fd[TCPTUNED_LINK_RELEASE],
						   &refused);
	if (namespaces < 0)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "open connections keep the buffers they have: %s",
			     strerror(-namespaces));
	if (refused)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "processes or network namespaces that may not be looked into: %u; "
			     "connections there keep the buffers they have (CAP_SYS_ADMIN and "
			     "CAP_SYS_PTRACE are needed)",
			     refused);
	if (kernel->map_fd[TCPTUNED_MAP_META] >= 0)
		tcptuned_sysctls_restore(kernel->map_fd[TCPTUNED_MAP_META], tcptuned_log_restored);
	tcptuned_kernel_detach(kernel);
	tcptuned_log(TCPTUNED_LOG_INFO, "detached; nothing is left pinned in %s",
		     kernel->pin_dir);
}

/* Of the policies in force in maps of this build's layout. */
static bool any_tunes(const struct tcptuned_kernel *k)
{
	__u32 generation = tcptuned_policies_generation(k), place, key;
	struct tcptuned_policy policy;

	for (place = 0; generation && place < TCPTUNED_POLICIES_MAX; place++) {
		key = TCPTUNED_POLICY_ID(generation, place);
		if (bpf_map_lookup_elem(k->map_fd[TCPTUNED_MAP_POLICIES], &key, &policy))
			break;
		if (policy.mode == TCPTUNED_TUNE)
			return true;
	}
	return false;
}

/*
 * What a daemon that was killed left goes on tuning the connections that it had, whatever the
 * policies are now; and bitcp, registered by none but such a daemon, would have to go.
 */
int tcptuned_check_dry_run(const struct tcptuned_config *config, struct tcptuned_error *err)
{
	struct tcptuned_kernel before;
	bool tunes;

	if (tcptuned_kernel_open(&before, config->bpffs, NULL))
		return 0; /* tcptuned_kernel_attach() tells why, if anything is wrong */
	tunes = before.bitcp || (tcptuned_kernel_can_be_read(&before) && any_tunes(&before));
	tcptuned_kernel_close(&before);
	if (!tunes)
		return 0;
	return tcptuned_fail(err, EBUSY, TCPTUNED_EXIT_IN_USE,
			     "a tcptuned that was killed has left connections that are tuned, or "
			     "bitcp (%s), which a dry run, changing nothing, would not take back; "
			     "do that first: tcptuned --detach",
			     before.pin_dir);
}

int tcptuned_daemon_detach(const struct tcptuned_config *config, struct tcptuned_error *err)
{
	_cleanup_close_ int lock_fd = tcptuned_lock_take(config->runtime_directory, err);
	_cleanup_close_ int pins_lock_fd = -1;
	struct tcptuned_kernel kernel;
	int error;

	if (lock_fd < 0)
		return lock_fd;
	error = tcptuned_lock_pins(config->bpffs, &pins_lock_fd, err);
	if (error)
		return error;
	error = tcptuned_kernel_open(&kernel, config->bpffs, err);
	if (error == -ENOENT) {
		tcptuned_log(TCPTUNED_LOG_INFO, "%s: there is nothing to detach", err->text);
		return 0;
	}
	if (error)
		return error;
	/* what the programs learned since the daemon was killed: their maps are about to go */
	tcptuned_paths_save_left(&kernel, config->state_directory);
	tcptuned_take_back(&kernel);
	tcptuned_kernel_close(&kernel);
	return 0;
}

int tcptuned_daemon_forget_paths(const struct tcptuned_config *config, const char *prefix,
				 struct tcptuned_error *err)
{
	struct tcptuned_kernel kernel;
	unsigned int count;
	int error;

	if (geteuid())
		return tcptuned_fail(err, EPERM, TCPTUNED_EXIT_NOT_PERMITTED,
				     "--forget-paths: only root may have paths forgotten; run it "
				     "with sudo");
	error = tcptuned_kernel_open(&kernel, config->bpffs, err);
	if (error && error != -ENOENT)
		return error;
	error = tcptuned_paths_forget(&kernel, config->state_directory, prefix, &count, err);
	tcptuned_kernel_close(&kernel);
	if (!error)
		tcptuned_log(TCPTUNED_LOG_INFO, "forgotten: %u prefixes", count);
	return error;
}
