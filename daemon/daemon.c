// SPDX-License-Identifier: GPL-2.0-only
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <systemd/sd-daemon.h>

#include <tcptuned/budget.h>
#include <tcptuned/flow.h>

#include "cgroup.h"
#include "cleanup.h"
#include "control.h"
#include "http.h"
#include "loader.h"
#include "log.h"
#include "paths.h"
#include "scrape.h"
#include "sysctls.h"

#define TICK_S 5 /* how soon an administrator's change of a sysctl is noticed */

/* `receive_window_max = auto`: enough for 10 Gbit/s at 100 ms, and at most a quarter of ... */
#define WINDOW_MAX_AUTO	      (256u << 20)
#define WINDOW_MAX_AUTO_LEAST (4u << 20)

struct daemon {
	const struct tcptuned_options *options;
	struct tcptuned_config *config;
	struct tcptuned_kernel kernel;
	struct tcptuned_scrape *scrape;
	struct tcptuned_paths *paths;
	struct tcptuned_http *http;
	struct tcptuned_control *control;
	char cgroup_path[TCPTUNED_CONFIG_TEXT];
	bool adopted;	 /* what was open before the start */
	bool whole_host; /* attached to the root of the cgroup tree */
	int lock_fd, pins_lock_fd, cgroup_fd, signal_fd, timer_fd;
};

/* ---- what the kernel side is told ------------------------------------------------------ */

/* ... the memory at which the kernel begins to press TCP (the middle value of tcp_mem). */
static uint32_t window_max(uint32_t configured)
{
	uint64_t quarter = tcptuned_sysctl_number("net.ipv4.tcp_mem", 1) *
			   (uint64_t)sysconf(_SC_PAGESIZE) / 4;

	if (configured)
		return configured;
	if (quarter > WINDOW_MAX_AUTO)
		return WINDOW_MAX_AUTO;
	return quarter < WINDOW_MAX_AUTO_LEAST ? WINDOW_MAX_AUTO_LEAST : (uint32_t)quarter;
}

/* The budget: as configured, or three quarters of what the kernel lets TCP have unpressed. */
static uint64_t budget_total(uint64_t configured)
{
	uint64_t pressure = tcptuned_sysctl_number("net.ipv4.tcp_mem", 1) *
			    (uint64_t)sysconf(_SC_PAGESIZE);

	return configured ? configured : pressure / 4 * 3;
}

/* Programs add to the record while it is read and written: only the total is the daemon's. */
static int set_budget(struct daemon *d)
{
	int fd = d->kernel.map_fd[TCPTUNED_MAP_BUDGET];
	__u64 total = budget_total(d->config->budget_bytes), *mapped;

	mapped = mmap(NULL, sizeof(struct budget), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	__atomic_store_n(mapped + offsetof(struct budget, total) / sizeof(*mapped), total,
			 __ATOMIC_RELAXED);
	munmap(mapped, sizeof(struct budget));
	return 0;
}

/*
 * The memory that bpf_setsockopt() can give one socket: twice what the sysctl says. In a
 * network namespace the sysctl may not be there to write; then what it is has to do.
 */
static uint32_t buffer_max(struct daemon *d, enum tcptuned_sysctl which, uint32_t window, bool may)
{
	const char *name = tcptuned_sysctl_name(which);
	char value[TCPTUNED_SYSCTL_VALUE] = "";
	uint64_t bytes;
	int changed = 0;

	if (may)
		changed = tcptuned_sysctl_raise(d->kernel.map_fd[TCPTUNED_MAP_META], which,
						window, value);
	else
		tcptuned_sysctl_read(name, value, sizeof(value));
	if (changed > 0)
		tcptuned_log(TCPTUNED_LOG_INFO, "%s set to %s", name, value);
	if (changed < 0)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%s cannot be raised to %u (%s): buffers stay below twice its %s", name,
			     window, strerror(-changed), value[0] ? value : "value");
	if (!may && d->config->mode == TCPTUNED_TUNE && strtoull(value, NULL, 10) < window)
		tcptuned_log(TCPTUNED_LOG_INFO, "dry run: would set %s to %u", name, window);
	bytes = 2 * strtoull(value, NULL, 10);
	return bytes > INT_MAX ? INT_MAX : (uint32_t)bytes;
}

static bool congestion_control_is_there(const char *name)
{
	char list[256] = "", *word, *rest;
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "re");

	if (!file || !fgets(list, sizeof(list), file))
		list[0] = '\0';
	if (file)
		fclose(file);
	for (word = strtok_r(list, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		if (!strcmp(word, name))
			return true;
	return false;
}

/* The congestion control for new connections: as configured, or none when it is not there. */
static const char *usable_congestion_control(struct daemon *d, enum tcptuned_mode mode)
{
	const char *name = d->config->congestion_control;

	if (!name[0] || congestion_control_is_there(name))
		return name;
	if (mode == TCPTUNED_OBSERVE && !strcmp(name, "bitcp"))
		return name; /* a dry run does not register it */
	if (!strcmp(name, "bitcp"))
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%s; connections keep the kernel's congestion control, and "
			     "their buffers are right-sized all the same",
			     d->kernel.why_no_bitcp);
	else
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "policy.congestion_control: this kernel offers no %s (see "
			     "net.ipv4.tcp_available_congestion_control); connections keep "
			     "the kernel's own",
			     name);
	return "";
}

static void set_default_congestion_control(struct daemon *d, const char *name)
{
	char value[TCPTUNED_SYSCTL_VALUE] = "";
	int changed;

	changed = tcptuned_sysctl_set(d->kernel.map_fd[TCPTUNED_MAP_META],
				      TCPTUNED_SYSCTL_CONGESTION_CONTROL, name, value);
	if (changed > 0)
		tcptuned_log(TCPTUNED_LOG_INFO, "net.ipv4.tcp_congestion_control set to %s",
			     name);
	if (changed < 0)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "net.ipv4.tcp_congestion_control cannot be set (%s); each "
			     "connection gets %s by itself",
			     strerror(-changed), name);
}

static bool default_is_the_administrators(struct daemon *d)
{
	return tcptuned_sysctl_left_alone(d->kernel.map_fd[TCPTUNED_MAP_META],
					  TCPTUNED_SYSCTL_CONGESTION_CONTROL);
}

static void log_restored(const char *name, const char *value, int error)
{
	if (error)
		tcptuned_log(TCPTUNED_LOG_ERROR, "%s could not be put back to %s: %s", name, value,
			     strerror(-error));
	else
		tcptuned_log(TCPTUNED_LOG_INFO, "%s put back to %s", name, value);
}

/* What was open before, once; listeners and connections that come are claimed as they come. */
static void adopt(struct daemon *d)
{
	const struct tcptuned_adoption *a = &d->kernel.adoption;
	int error = tcptuned_kernel_adopt_flows(&d->kernel);

	d->adopted = true;
	if (error)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "connections that are open are left to the kernel: %s",
			     strerror(-error));
	tcptuned_log(TCPTUNED_LOG_INFO,
		     "adopted %llu connections and %llu listeners in %u network namespaces, "
		     "%llu ms",
		     (unsigned long long)a->connections, (unsigned long long)a->listeners,
		     a->namespaces, (unsigned long long)a->ns / 1000000);
	if (a->too_old)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "connections that were open before (%llu of them, and listeners) are "
			     "left to the kernel: to follow them needs Linux 6.12 or later",
			     (unsigned long long)a->too_old);
	if (a->failed)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "the kernel refused to have %llu open sockets adopted, or has no "
			     "memory for their records; they are left to it",
			     (unsigned long long)a->failed);
	if (a->namespaces_failed)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "network namespaces or processes that could not be looked into: %u "
			     "(%s); connections that are open there are left to the kernel",
			     a->namespaces_failed,
			     a->error ? strerror(-a->error) : "they may not be entered");
}

static int set_paths(struct daemon *d)
{
	struct tcptuned_path_settings settings = {
		.enabled = d->config->paths_enabled,
		.ipv4_prefix = d->config->paths_ipv4_prefix,
		.ipv6_prefix = d->config->paths_ipv6_prefix,
		.expire_s = d->config->paths_expire_s,
	};

	return tcptuned_paths_configure(d->paths, &settings);
}

/* Write what is configured for connections to come; live ones keep what they have. */
static int apply(struct daemon *d, struct tcptuned_error *err)
{
	const struct tcptuned_config *config = d->config;
	struct tcptuned_policy policy = {
		.mode = config->mode,
		.override_rcvbuf = config->override_rcvbuf,
		.override_sndbuf = config->override_sndbuf,
		.rcv_window_max = window_max(config->receive_window_max_bytes),
		.snd_window_max = window_max(config->send_window_max_bytes),
		.snd_unsent_max = config->send_unsent_max_bytes,
	};
	__u32 key = TCPTUNED_POLICY_DEFAULT, zero = 0;
	const char *name = "";
	int error;
	bool may;

	if (d->options->dry_run && policy.mode == TCPTUNED_TUNE)
		policy.mode = TCPTUNED_OBSERVE;
	may = policy.mode == TCPTUNED_TUNE;
	if (policy.mode != TCPTUNED_OFF) {
		policy.rcv_buffer_max = buffer_max(d, TCPTUNED_SYSCTL_RMEM_MAX,
						   policy.rcv_window_max, may);
		policy.snd_buffer_max = buffer_max(d, TCPTUNED_SYSCTL_WMEM_MAX,
						   policy.snd_window_max, may);
		if (!default_is_the_administrators(d))
			name = usable_congestion_control(d, policy.mode);
		snprintf(policy.congestion_control, sizeof(policy.congestion_control), "%s", name);
	}
	if (d->kernel.map_fd[TCPTUNED_MAP_BITCP_PARAMS] >= 0 &&
	    bpf_map_update_elem(d->kernel.map_fd[TCPTUNED_MAP_BITCP_PARAMS], &zero,
				&config->bitcp, BPF_ANY))
		return tcptuned_fail(err, errno, TCPTUNED_EXIT_INTERNAL,
				     "cannot write BI-TCP's parameters: %s", strerror(errno));
	error = set_budget(d);
	if (error)
		return tcptuned_fail(err, -error, TCPTUNED_EXIT_INTERNAL,
				     "cannot write the memory budget: %s", strerror(-error));
	error = set_paths(d);
	if (error)
		return tcptuned_fail(err, -error, TCPTUNED_EXIT_INTERNAL,
				     "cannot write how paths are remembered: %s",
				     strerror(-error));
	if (bpf_map_update_elem(d->kernel.map_fd[TCPTUNED_MAP_POLICIES], &key, &policy, BPF_ANY))
		return tcptuned_fail(err, errno, TCPTUNED_EXIT_INTERNAL,
				     "cannot write the policy: %s", strerror(errno));
	if (!d->adopted && policy.mode != TCPTUNED_OFF)
		adopt(d);
	if (may && d->whole_host && name[0])
		set_default_congestion_control(d, name);
	else
		tcptuned_sysctl_restore(d->kernel.map_fd[TCPTUNED_MAP_META],
					TCPTUNED_SYSCTL_CONGESTION_CONTROL, log_restored);
	return 0;
}

/* An administrator who changes what tcptuned set has the last word. */
static void watch_sysctls(struct daemon *d)
{
	int meta_fd = d->kernel.map_fd[TCPTUNED_MAP_META], policies_fd;
	char ours[TCPTUNED_SYSCTL_VALUE], now[TCPTUNED_SYSCTL_VALUE];
	__u32 key = TCPTUNED_POLICY_DEFAULT;
	struct tcptuned_policy policy;

	policies_fd = d->kernel.map_fd[TCPTUNED_MAP_POLICIES];
	for (int i = 0; i < TCPTUNED_SYSCTLS; i++) {
		if (!tcptuned_sysctl_overruled(meta_fd, i, ours, now))
			continue;
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%s was changed from tcptuned's %s to %s by somebody else: left "
			     "alone from now on, also at the end",
			     tcptuned_sysctl_name(i), ours, now);
		if (bpf_map_lookup_elem(policies_fd, &key, &policy))
			continue;
		if (i == TCPTUNED_SYSCTL_CONGESTION_CONTROL)
			policy.congestion_control[0] = '\0';
		else if (i == TCPTUNED_SYSCTL_RMEM_MAX)
			policy.rcv_buffer_max = 2 * strtoul(now, NULL, 10);
		else
			policy.snd_buffer_max = 2 * strtoul(now, NULL, 10);
		bpf_map_update_elem(policies_fd, &key, &policy, BPF_ANY);
	}
}

/* ---- start ----------------------------------------------------------------------------- */

static int running_already(const char *what, const char *pid, struct tcptuned_error *err)
{
	return tcptuned_fail(err, EBUSY, TCPTUNED_EXIT_RUNNING,
			     "another tcptuned runs (process %s, lock %s); stop that one first: "
			     "systemctl stop tcptuned",
			     pid[0] ? pid : "unknown", what);
}

/*
 * One daemon per set of pins, whatever its runtime directory. On the file system's root: the
 * directory of the pins comes and goes. A missing one is tcptuned_kernel_attach()'s to tell.
 */
static int lock_pins(const char *bpffs, int *ret_fd, struct tcptuned_error *err)
{
	*ret_fd = open(bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd >= 0 && flock(*ret_fd, LOCK_EX | LOCK_NB))
		return running_already(bpffs, "", err);
	return 0;
}

/* One daemon per runtime directory: the kernel frees the lock however the holder ends. */
static int take_lock(const char *directory, struct tcptuned_error *err)
{
	char path[TCPTUNED_CONFIG_TEXT + 32];
	_cleanup_close_ int fd = -1;

	if (mkdir(directory, 0755) && errno != EEXIST)
		return tcptuned_fail(err, errno,
				     errno == EACCES || errno == EPERM || errno == EROFS
					     ? TCPTUNED_EXIT_NOT_PERMITTED
					     : TCPTUNED_EXIT_INTERNAL,
				     "%s cannot be made: %s; run tcptuned as root", directory,
				     strerror(errno));
	snprintf(path, sizeof(path), "%s/lock", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600); /* nobody else may lock it */
	if (fd < 0)
		return tcptuned_fail(err, errno,
				     errno == EACCES || errno == EPERM
					     ? TCPTUNED_EXIT_NOT_PERMITTED
					     : TCPTUNED_EXIT_INTERNAL,
				     "%s cannot be opened: %s; run tcptuned as root", path,
				     strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		char pid[16] = "";

		if (pread(fd, pid, sizeof(pid) - 1, 0) < 0)
			pid[0] = '\0';
		pid[strcspn(pid, "\n")] = '\0';
		return running_already(path, pid, err);
	}
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", getpid()) < 0)
		return tcptuned_fail(err, errno, TCPTUNED_EXIT_INTERNAL, "%s: %s", path,
				     strerror(errno));
	return tcptuned_take_fd(&fd);
}

static const char *policy_name(void *ctx, __u32 key)
{
	return key == TCPTUNED_POLICY_DEFAULT ? "default" : NULL;
}

static int start_metrics(struct daemon *d, struct tcptuned_error *err)
{
	struct tcptuned_scrape_options scrape = {
		.kernel = &d->kernel,
		.paths = d->paths,
		.flows_max = d->config->metrics_flows,
		.program_statistics = d->config->program_statistics,
		.version = TCPTUNED_VERSION,
		.policy_name = policy_name,
	};
	struct tcptuned_http_options http = {
		.listen_fd = sd_listen_fds(1) > 0 ? SD_LISTEN_FDS_START : -1,
		.address = d->config->metrics_address,
		.port = d->config->metrics_port,
		.handler = tcptuned_scrape_handle,
	};
	int error;

	if (!d->config->metrics_enabled)
		return 0;
	error = tcptuned_scrape_new(&d->scrape, &scrape);
	if (error)
		return tcptuned_fail(err, -error, TCPTUNED_EXIT_INTERNAL, "metrics: %s",
				     strerror(-error));
	http.ctx = d->scrape;
	return tcptuned_http_start(&d->http, &http, err);
}

static int start_control(struct daemon *d, struct tcptuned_error *err)
{
	struct tcptuned_control_options options = {
		.directory = d->config->runtime_directory,
		.group = d->config->control_group,
		.source = {
			.kernel = &d->kernel,
			.daemon = getpid(),
			.policy_name = policy_name,
		},
	};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	options.source.start_us = (__u64)now.tv_sec * 1000000 + (__u64)now.tv_nsec / 1000;
	return tcptuned_control_start(&d->control, &options, err);
}

static int start_events(struct daemon *d, struct tcptuned_error *err)
{
	struct itimerspec tick = { .it_interval.tv_sec = TICK_S, .it_value.tv_sec = TICK_S };
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	d->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	d->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (d->signal_fd < 0 || d->timer_fd < 0 || timerfd_settime(d->timer_fd, 0, &tick, NULL))
		return tcptuned_fail(err, errno, TCPTUNED_EXIT_INTERNAL,
				     "cannot wait for signals: %s", strerror(errno));
	return 0;
}

static void log_start(struct daemon *d)
{
	static const char *const origins[] = {
		[TCPTUNED_LOADED] = "programs loaded",
		[TCPTUNED_TAKEN_OVER] = "programs of an earlier daemon taken over as they run",
		[TCPTUNED_UPGRADED] = "programs of an earlier build replaced, records kept",
		[TCPTUNED_REPLACED] = "programs and records of another version replaced; open "
				      "connections are adopted anew",
	};

	tcptuned_log(TCPTUNED_LOG_INFO, "tcptuned %s: %s, attached to %s%s, pinned in %s",
		     TCPTUNED_VERSION, origins[d->kernel.origin], d->cgroup_path,
		     d->whole_host ? " (all processes)" : "", d->kernel.pin_dir);
	if (d->kernel.bitcp)
		tcptuned_log(TCPTUNED_LOG_INFO, "bitcp registered %s",
			     d->kernel.link_fd[TCPTUNED_LINK_BITCP] >= 0
				     ? "as a struct_ops link"
				     : "without a link: this kernel has none for struct_ops");
	if (d->http)
		tcptuned_log(TCPTUNED_LOG_INFO, "metrics on port %u", tcptuned_http_port(d->http));
	if (d->options->dry_run)
		tcptuned_log(TCPTUNED_LOG_INFO, "dry run: everything is decided and reported, "
						"nothing is changed");
	if (d->config->mode == TCPTUNED_OFF)
		tcptuned_log(TCPTUNED_LOG_INFO, "policy.mode is off: no connection is touched");
}

/* Whatever can fail for a reason that a person can mend comes before anything is changed. */
static int start(struct daemon *d, struct tcptuned_error *err)
{
	bool bitcp = !d->options->dry_run; /* also when off: a reload may switch it on */
	int error;

	d->lock_fd = take_lock(d->config->runtime_directory, err);
	if (d->lock_fd < 0)
		return d->lock_fd;
	error = lock_pins(d->config->bpffs, &d->pins_lock_fd, err);
	if (error)
		return error;
	d->cgroup_fd = tcptuned_cgroup_open(d->config->cgroup, &d->whole_host, d->cgroup_path,
					    sizeof(d->cgroup_path), err);
	if (d->cgroup_fd < 0)
		return d->cgroup_fd;
	if (tcptuned_paths_new(&d->paths, &d->kernel, d->config->state_directory,
			       d->config->paths_entries_max))
		return tcptuned_fail(err, ENOMEM, TCPTUNED_EXIT_INTERNAL, "no memory");
	error = start_events(d, err);
	if (!error)
		error = start_metrics(d, err);
	if (!error)
		error = start_control(d, err);
	if (!error)
		error = tcptuned_kernel_attach(&d->kernel, d->config->bpffs, d->cgroup_fd, bitcp,
					       d->config->paths_entries_max, err);
	if (error)
		return error;
	log_start(d);
	error = apply(d, err);
	if (!error)
		tcptuned_paths_load(d->paths);
	return error;
}

/* ---- reload, stop ---------------------------------------------------------------------- */

static void log_difference(void *ctx, const char *key, const char *was, const char *now,
			   bool live)
{
	tcptuned_log(live ? TCPTUNED_LOG_INFO : TCPTUNED_LOG_WARNING, "%s: %s -> %s%s", key, was,
		     now, live ? "" : " (takes effect at the next start)");
}

static void reload(struct daemon *d)
{
	struct tcptuned_error err = { 0 };
	struct tcptuned_config new;
	struct timespec now;
	bool taken = false;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld",
		   now.tv_sec * 1000000ll + now.tv_nsec / 1000);
	if (tcptuned_config_load(d->options->config_path, d->options->set, &new, &err)) {
		tcptuned_log(TCPTUNED_LOG_ERROR, "%s", err.text);
		tcptuned_log(TCPTUNED_LOG_ERROR, "the configuration before it stays in force");
	} else {
		if (!tcptuned_config_diff(d->config, &new, log_difference, NULL))
			tcptuned_log(TCPTUNED_LOG_INFO, "reloaded: nothing differs");
		tcptuned_config_keep_fixed(&new, d->config);
		*d->config = new;
		tcptuned_log_set_level(new.log_level);
		if (d->scrape)
			tcptuned_scrape_configure(d->scrape, new.metrics_flows,
						  new.program_statistics);
		taken = !apply(d, &err);
		if (!taken)
			tcptuned_log(TCPTUNED_LOG_ERROR, "%s", err.text);
	}
	if (d->scrape)
		tcptuned_scrape_count_reload(d->scrape, taken);
	sd_notify(0, "READY=1");
}

/*
 * The default congestion control comes before the connections, for they go back to it; the
 * other sysctls after them: what those may still be given depends on them.
 */
static void take_back(struct tcptuned_kernel *kernel)
{
	unsigned int refused;
	int namespaces;

	tcptuned_kernel_stop(kernel);
	if (kernel->map_fd[TCPTUNED_MAP_META] >= 0)
		tcptuned_sysctl_restore(kernel->map_fd[TCPTUNED_MAP_META],
					TCPTUNED_SYSCTL_CONGESTION_CONTROL, log_restored);
	tcptuned_kernel_restore_congestion_control(kernel);
	namespaces = tcptuned_kernel_release_flows(kernel, &refused);
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
		tcptuned_sysctls_restore(kernel->map_fd[TCPTUNED_MAP_META], log_restored);
	tcptuned_kernel_detach(kernel);
	tcptuned_log(TCPTUNED_LOG_INFO, "detached; nothing is left pinned in %s",
		     kernel->pin_dir);
}

/* ---- run ------------------------------------------------------------------------------- */

/* Returns false when it is time to stop. */
static bool handle_signal(struct daemon *d)
{
	struct signalfd_siginfo info;

	if (read(d->signal_fd, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo == SIGHUP) {
		reload(d);
		return true;
	}
	tcptuned_log(TCPTUNED_LOG_INFO, "told to stop by process %u", info.ssi_pid);
	return false;
}

/* Milliseconds that the loop may wait; -1: for ever. */
static int loop_timeout_ms(const struct daemon *d)
{
	int http = d->http ? tcptuned_http_timeout_ms(d->http) : -1;
	int control = tcptuned_control_timeout_ms(d->control);

	if (http < 0 || control < 0)
		return http < 0 ? control : http;
	return http < control ? http : control;
}

/* Returns false when somebody asked the daemon to stop. */
static bool run_control(struct daemon *d)
{
	pid_t pid;
	uid_t uid;

	tcptuned_control_run(d->control);
	if (!tcptuned_control_stop_asked(d->control, &pid, &uid))
		return true;
	tcptuned_log(TCPTUNED_LOG_INFO, "told to stop through the control socket by process %d of "
					"user %u",
		     pid, uid);
	return false;
}

static void loop(struct daemon *d)
{
	struct pollfd fds[] = {
		{ .fd = d->signal_fd, .events = POLLIN },
		{ .fd = d->timer_fd, .events = POLLIN },
		{ .fd = d->http ? tcptuned_http_fd(d->http) : -1, .events = POLLIN },
		{ .fd = tcptuned_control_fd(d->control), .events = POLLIN },
	};
	uint64_t ticks;

	for (;;) {
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), loop_timeout_ms(d)) < 0 &&
		    errno != EINTR)
			return;
		if ((fds[0].revents & POLLIN) && !handle_signal(d))
			return;
		if ((fds[1].revents & POLLIN) && read(d->timer_fd, &ticks, sizeof(ticks)) > 0) {
			watch_sysctls(d);
			tcptuned_paths_tick(d->paths);
			sd_notify(0, "WATCHDOG=1");
		}
		if (d->http)
			tcptuned_http_run(d->http);
		if (!run_control(d))
			return;
	}
}

static void close_daemon(struct daemon *d)
{
	tcptuned_control_stop(d->control);
	tcptuned_http_stop(d->http);
	tcptuned_scrape_free(d->scrape);
	tcptuned_paths_free(d->paths);
	tcptuned_kernel_close(&d->kernel);
	tcptuned_closep(&d->timer_fd);
	tcptuned_closep(&d->signal_fd);
	tcptuned_closep(&d->cgroup_fd);
	tcptuned_closep(&d->pins_lock_fd);
	tcptuned_closep(&d->lock_fd);
}

int tcptuned_daemon_run(const struct tcptuned_options *options, struct tcptuned_config *config,
			void (*ready)(void *ctx), void *ctx, struct tcptuned_error *err)
{
	struct daemon d = {
		.options = options,
		.config = config,
		.lock_fd = -1,
		.pins_lock_fd = -1,
		.cgroup_fd = -1,
		.signal_fd = -1,
		.timer_fd = -1,
	};
	bool attached;
	int error;

	tcptuned_kernel_init(&d.kernel, config->bpffs);
	error = start(&d, err);
	attached = d.kernel.map_fd[TCPTUNED_MAP_META] >= 0;
	if (!error) {
		ready(ctx);
		sd_notify(0, "READY=1");
		loop(&d);
		sd_notify(0, "STOPPING=1");
		tcptuned_paths_save(d.paths);
	}
	if (attached)
		take_back(&d.kernel);
	close_daemon(&d);
	return error;
}

/* What the programs learned since the daemon was killed: their maps are about to go. */
static void save_paths(const struct tcptuned_config *config, const struct tcptuned_kernel *kernel)
{
	struct tcptuned_paths *paths;

	if (tcptuned_paths_new(&paths, kernel, config->state_directory, config->paths_entries_max))
		return;
	tcptuned_paths_adopt_settings(paths);
	tcptuned_paths_save(paths);
	tcptuned_paths_free(paths);
}

int tcptuned_daemon_detach(const struct tcptuned_config *config, struct tcptuned_error *err)
{
	_cleanup_close_ int lock_fd = take_lock(config->runtime_directory, err);
	_cleanup_close_ int pins_lock_fd = -1;
	struct tcptuned_kernel kernel;
	int error;

	if (lock_fd < 0)
		return lock_fd;
	error = lock_pins(config->bpffs, &pins_lock_fd, err);
	if (error)
		return error;
	error = tcptuned_kernel_open(&kernel, config->bpffs, err);
	if (error == -ENOENT) {
		tcptuned_log(TCPTUNED_LOG_INFO, "%s: there is nothing to detach", err->text);
		return 0;
	}
	if (error)
		return error;
	save_paths(config, &kernel);
	take_back(&kernel);
	tcptuned_kernel_close(&kernel);
	return 0;
}

int tcptuned_daemon_forget_paths(const struct tcptuned_config *config, const char *prefix,
				 struct tcptuned_error *err)
{
	struct tcptuned_kernel kernel;
	unsigned int count;
	int error;

	error = tcptuned_kernel_open(&kernel, config->bpffs, err);
	if (error && error != -ENOENT)
		return error;
	error = tcptuned_paths_forget(kernel.map_fd[TCPTUNED_MAP_PATHS], config->state_directory,
				      prefix, &count, err);
	tcptuned_kernel_close(&kernel);
	if (!error)
		tcptuned_log(TCPTUNED_LOG_INFO, "forgotten: %u prefixes", count);
	return error;
}
