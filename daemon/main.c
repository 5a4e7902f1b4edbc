// SPDX-License-Identifier: GPL-2.0-only
/* tcptuned: options, the process, exit status. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/config.h"
#include "config/load.h"
#include "config/options.h"
#include "config/print.h"
#include "daemon/daemon.h"
#include "daemon/detach.h"
#include "host/cc.h"
#include "host/cgroup.h"
#include "host/sysctl.h"
#include "host/activation.h"
#include "host/privileges.h"
#include "kern/loader.h"
#include "kern/pins.h"
#include "paths/paths.h"
#include "policy/ruleset.h"
#include "rpc/control.h"
#include "util/error.h"
#include "util/log.h"
#include "util/stdio.h"
#include "util/version.h"

/* Returns the exit status, after logging what @error, if not 0, has put into @err. */
static int finish(int error, const struct tcptuned_error *err)
{
	if (!error)
		return TCPTUNED_EXIT_OK;
	log_error("%s", err->text);
	return err->status;
}

/* The parent waits at the other end of the pipe to report how the start went. */
static void notify_parent(void *ctx)
{
	int pipe_fd = *(int *)ctx, null;

	if (pipe_fd < 0)
		return;
	tcptuned_log_to_syslog();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
	}
	if (write(pipe_fd, "", 1) == 1)
		close(pipe_fd);
}

static int run(const struct tcptuned_options *options, struct tcptuned_config *config, int pipe_fd)
{
	struct tcptuned_error err = {0};

	return finish(tcptuned_daemon_run(options, config, notify_parent, &pipe_fd, &err), &err);
}

/* Start in the background: the parent ends once the child is ready, with its exit status. */
static int run_in_background(const struct tcptuned_options *options, struct tcptuned_config *config)
{
	int fds[2], status;
	char byte;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC)) {
		perror("tcptuned: pipe");
		return TCPTUNED_EXIT_INTERNAL;
	}
	pid = fork();
	if (pid < 0) {
		perror("tcptuned: fork");
		return TCPTUNED_EXIT_INTERNAL;
	}
	if (!pid) {
		close(fds[0]);
		setsid();
		if (chdir("/"))
			return TCPTUNED_EXIT_INTERNAL;
		return run(options, config, fds[1]);
	}
	close(fds[1]);
	if (read(fds[0], &byte, 1) == 1)
		return TCPTUNED_EXIT_OK;
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return TCPTUNED_EXIT_INTERNAL;
	return WEXITSTATUS(status);
}

/*
 * Also check what the configuration names on this host, which is used at a start only: before an
 * upgrade, an administrator wants to know of it while the old daemon still runs. @load: load the
 * programs, too.
 */
static int check(const struct tcptuned_config *config, bool load, struct tcptuned_error *err)
{
	int fd, error;
	char path[PATH_MAX];
	bool root;
	gid_t gid;

	error = tcptuned_policies_check(config, err)
			?: tcptuned_control_group(config->control_group, &gid, err);
	if (error || (!load && !config->cgroup[0]))
		return error;
	fd = tcptuned_cgroup_open(config->cgroup, &root, path, sizeof(path), err);
	if (fd < 0)
		return fd;
	if (load)
		error = tcptuned_kernel_check_load(config->bpffs, fd, err);
	close(fd);
	return error;
}

/* Standard error says what the host itself limits, as tcptunectl status does. */
static void print_host_limits(void)
{
	struct tcptuned_sysctl_limit limits[TCPTUNED_SYSCTL_LIMITS_MAX];
	size_t len = tcptuned_sysctls_limiting(limits);

	for (size_t i = 0; i < len; i++)
		log_warning("%s = 0: %s", limits[i].name, limits[i].effect);
}

static void warn_of_policy(const char *name, const struct tcptuned_policy_config *set,
			   const char *offered)
{
	const char *cc = set->congestion_control;

	if (set->cgroup[0] && !tcptuned_cgroup_id(set->cgroup))
		log_warning("%scgroup: there is no control group %s now, so that the policy has no "
			    "connection",
			    name, set->cgroup);
	if (cc[0] && strcmp(cc, TCPTUNED_CC_AUTO) && !tcptuned_cc_is_offered(offered, cc) &&
	    tcptuned_pins_find_cc(cc) == TCPTUNED_CCS && !tcptuned_cc_is_module(cc))
		log_warning("%scongestion_control: this kernel has no %s now; it offers%s", name,
			    cc, offered);
}

/* What the configuration names, and does not exist now. It may exist later. */
static void print_absent(const struct tcptuned_config *config)
{
	char name[TCPTUNED_POLICY_NAME_MAX + 16], offered[TCPTUNED_CONGESTION_NAMES];

	tcptuned_cc_offered(offered);
	warn_of_policy("policy.", &config->policy, offered);
	for (size_t i = 0; i < config->policies_len; i++) {
		snprintf(name, sizeof(name), "policy %s.", config->policies[i].name);
		warn_of_policy(name, &config->policies[i].set, offered);
	}
}

int main(int argc, char **argv)
{
	struct tcptuned_error err = {0};
	struct tcptuned_options options;
	struct tcptuned_config config;
	int status, error;

	tcptuned_stdio_occupy();
	error = tcptuned_options_parse(argc, argv, &options, &err);
	if (error)
		return finish(error, &err);
	switch (options.action) {
	case TCPTUNED_SHOW_HELP:
		tcptuned_options_print_help(stdout);
		return finish(tcptuned_stdio_flush(&err), &err);
	case TCPTUNED_SHOW_VERSION:
		tcptuned_version_print("tcptuned");
		return finish(tcptuned_stdio_flush(&err), &err);
	case TCPTUNED_HELP_CONFIG:
		tcptuned_config_print_example(stdout);
		return finish(tcptuned_stdio_flush(&err), &err);
	default:
		break;
	}
	error = tcptuned_config_load(options.config_path, options.set, &config, &err);
	if (error && options.action == TCPTUNED_DETACH) {
		log_warning("%s; detaching what is in the default directories", err.text);
		error = tcptuned_config_load("/dev/null", options.set, &config, &err);
	}
	if (error)
		return finish(error, &err);
	tcptuned_log_set_level(config.log_level);
	if (options.action == TCPTUNED_CHECK_CONFIG) {
		error = check(&config, false, &err);
		if (!error) {
			tcptuned_config_print(&config, stdout);
			print_absent(&config);
			print_host_limits();
			error = tcptuned_stdio_flush(&err);
		}
		return finish(error, &err);
	}
	if (options.action != TCPTUNED_RUN) /* tcptuned_daemon_run() does so later */
		error = tcptuned_privileges_drop(&err);
	if (error)
		return finish(error, &err);
	if (options.action == TCPTUNED_CHECK_LOAD)
		return finish(check(&config, true, &err), &err);
	if (options.action == TCPTUNED_DETACH)
		return finish(tcptuned_daemon_detach(&config, &err), &err);
	if (options.action == TCPTUNED_FORGET_PATHS)
		return finish(tcptuned_paths_forget_as_daemon(&config, options.forget, &err), &err);
	if (!options.foreground)
		return run_in_background(&options, &config);
	status = run(&options, &config, -1);
	if (status == TCPTUNED_EXIT_KERNEL)
		tcptuned_activation_run_previous(argv);
	return status;
}
