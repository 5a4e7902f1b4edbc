// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <systemd/sd-daemon.h>

#include "apply/apply.h"
#include "daemon/detach.h"
#include "daemon/housekeeping.h"
#include "daemon/reload.h"
#include "daemon/worker.h"
#include "apply/state.h"
#include "flows/scan.h"
#include "host/cgroup.h"
#include "host/lock.h"
#include "host/activation.h"
#include "host/privileges.h"
#include "host/sysctl.h"
#include "kern/loader.h"
#include "kern/maps.h"
#include "policy/lookup.h"
#include "tcptuned.skel.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"

#define HOUSEKEEPING_US 5000000 /* an administrator's change of a sysctl is noticed that soon */

/* ---- the event loop --------------------------------------------------------------------- */

/*
 * A restart by systemd sends SIGUSR1 and then SIGTERM (tcptuned.service). Of two pending signals
 * the kernel delivers the one with the lower number first.
 */
static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *ctx)
{
	struct tcptuned_daemon *d = ctx;

	if (info->ssi_signo == SIGHUP) {
		tcptuned_reload(d);
		return 0;
	}
	d->stopping = true;
	d->hands_over = info->ssi_signo == SIGUSR1;
	log_info("%s requested by process %u", d->hands_over ? "hand-over" : "stop", info->ssi_pid);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t now_us, void *ctx)
{
	struct tcptuned_daemon *d = ctx;

	d->error = tcptuned_housekeeping(d, d->err);
	sd_event_source_set_time_relative(source, HOUSEKEEPING_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static void on_applied(struct tcptuned_daemon *d)
{
	tcptuned_housekeeping_watch(d);
	tcptuned_worker_renew(d);
}

static int on_groups_timer(sd_event_source *source, uint64_t now_us, void *ctx)
{
	struct tcptuned_daemon *d = ctx;

	sd_event_source_set_time_relative(source, tcptuned_housekeeping_streams(d));
	d->shared->groups = *tcptuned_passive_stats(d->passive);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int fail_to_wait(struct tcptuned_error *err, int error)
{
	return FAIL(err, -error, INTERNAL, "cannot wait for events: %s", strerror(-error));
}

/* Before a request that came later: systemctl reload may not wait, and policy apply follows it. */
static int add_signal(struct tcptuned_daemon *d, int number)
{
	sd_event_source *source;
	int error = sd_event_add_signal(d->event, &source, number, on_signal, d);

	if (error < 0)
		return error;
	error = sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT - 1);
	sd_event_source_set_floating(source, true);
	sd_event_source_unref(source);
	return error;
}

/* Block signals, so that one that arrives during the start waits for the loop. */
static int make_event_loop(struct tcptuned_daemon *d, struct tcptuned_error *err)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
	int error = sd_event_new(&d->event);
	sigset_t mask;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(signals) && error >= 0; i++) {
		sigaddset(&mask, signals[i]);
		sigprocmask(SIG_BLOCK, &mask, NULL);
		error = add_signal(d, signals[i]);
	}
	if (error >= 0)
		error = sd_event_add_time_relative(d->event, NULL, CLOCK_MONOTONIC, HOUSEKEEPING_US,
						   1, on_timer, d);
	if (error >= 0)
		error = sd_event_add_time_relative(d->event, NULL, CLOCK_MONOTONIC,
						   TCPTUNED_PASSIVE_WINDOW_NS / 1000, 1,
						   on_groups_timer, d);
	if (error >= 0)
		error = sd_event_set_watchdog(d->event, true);
	return error < 0 ? fail_to_wait(err, error) : 0;
}

/* Returns 0 once it is time to stop, or a negative errno with d->err filled. */
static int loop(struct tcptuned_daemon *d)
{
	while (!d->stopping && !d->error) {
		int got = sd_event_run(d->event, UINT64_MAX);

		if (got < 0)
			return fail_to_wait(d->err, got);
	}
	return d->error;
}

/* ---- start ----------------------------------------------------------------------------- */

static int listen_for_scrapes(struct tcptuned_daemon *d, struct tcptuned_error *err)
{
	_cleanup_close_ int passed = -1;
	int sockets = tcptuned_activation_sort(&passed);

	/* Clients of the others would be accepted by the kernel, and never answered. */
	if (sockets > 1)
		return FAIL(err, EINVAL, CONFIG,
			    "metrics: systemd passed %d sockets, and tcptuned serves one; leave "
			    "one ListenStream= in tcptuned.socket ([::]:PORT is IPv4 and IPv6)",
			    sockets);
	d->activated = passed >= 0;
	if (d->activated && !d->config->metrics_enabled)
		log_warning("metrics.enabled is no, but systemd holds a socket for them, where "
			    "scrapes wait for an answer: systemctl disable --now tcptuned.socket");
	if (!d->config->metrics_enabled)
		return 0;
	return tcptuned_http_listen(&d->metrics, tcptuned_take_fd(&passed),
				    d->config->metrics_address, d->config->metrics_port, err);
}

static void log_start(struct tcptuned_daemon *d)
{
	static const char *const origins[] = {
		[TCPTUNED_LOADED] = "programs loaded",
		[TCPTUNED_TAKEN_OVER] = "programs of an earlier daemon taken over as they run",
		[TCPTUNED_UPGRADED] = "programs of an earlier build replaced, records kept",
		[TCPTUNED_REPLACED] = "programs and records of another version replaced; open "
				      "connections are adopted again",
	};

	log_info("tcptuned %s: %s, attached to %s%s, pinned in %s", TCPTUNED_VERSION,
		 origins[d->kernel.origin], d->cgroup_path, d->whole_host ? " (all processes)" : "",
		 d->kernel.pin_dir);
	if (!d->whole_host && !d->config->cgroup[0])
		log_warning("%s is the root of a cgroup namespace, as in a container: only its own "
			    "processes are tuned; give it the host's (--cgroupns=host)",
			    d->cgroup_path);
	if (!d->kernel.bpf->links.dump_flows)
		log_info(
			"this kernel refuses iterators over socket storage: records are read by network "
			"namespace, which takes longer");
	if (tcptuned_is_registered(&d->kernel, TCPTUNED_CC_BITCP))
		log_info("bitcp registered %s",
			 d->kernel.cc[TCPTUNED_CC_BITCP].link_fd >= 0
				 ? "as a struct_ops link"
				 : "without a link: this kernel has none for struct_ops");
	if (d->kernel.cc[TCPTUNED_CC_RESUME].why_not[0])
		log_info(
			"%s; after a pause a connection begins with slow start, as the kernel has it",
			d->kernel.cc[TCPTUNED_CC_RESUME].why_not);
	if (d->metrics.fd >= 0)
		log_info("metrics on port %u", d->metrics.port);
	if (d->metrics.fd >= 0 && d->metrics.elsewhere)
		log_warning("metrics.address: %s is not an address of this host now; metrics are "
			    "served there once it is",
			    d->config->metrics_address);
	if (!tcptuned_privileges_confine_files())
		log_info("this kernel has no Landlock: the process that serves has no capability, "
			 "but reads and writes what root may");
	if (d->options->observe)
		log_info("observe: everything is decided and reported, nothing is changed");
	if (d->config->policy.mode == TCPTUNED_OFF && !d->config->policies_len)
		log_info("policy.mode is off: no connection is touched");
}

/* True if a policy in force tunes; the maps have this build's layout. */
static bool any_policy_tunes(const struct tcptuned_kernel *k)
{
	struct tcptuned_policy policy;
	__u32 key = 0;

	while (tcptuned_policy_next(k, &key, &policy))
		if (policy.mode == TCPTUNED_TUNE)
			return true;
	return false;
}

/*
 * What a killed daemon has attached keeps tuning its connections, whatever the policies are now,
 * and --observe may not end that. Nor may it end a registration of bitcp, which only such a daemon
 * leaves.
 */
static int check_observe(const struct tcptuned_config *config, struct tcptuned_error *err)
{
	struct tcptuned_kernel before;
	bool tunes;

	if (tcptuned_kernel_open(&before, config->bpffs, NULL))
		return 0; /* tcptuned_kernel_attach() reports errors */
	tunes = tcptuned_is_registered(&before, TCPTUNED_CC_BITCP) ||
		tcptuned_is_registered(&before, TCPTUNED_CC_RESUME) ||
		(tcptuned_kernel_can_be_read(&before) && any_policy_tunes(&before));
	tcptuned_kernel_close(&before);
	if (!tunes)
		return 0;
	return FAIL(err, EBUSY, IN_USE,
		    "a tcptuned that was killed has left connections that are tuned, or "
		    "bitcp (%s), and --observe, which changes nothing, would not undo that; "
		    "do so first: tcptuned --detach",
		    before.pin_dir);
}

/* Sockets may have been destroyed while two builds' programs, or none, were attached for that. */
static void recount_records(const struct tcptuned_daemon *d)
{
	struct tcptuned_flows none_kept = {0};

	tcptuned_scan(&none_kept, &d->kernel, NULL, NULL);
}

/* What can fail for a reason that an administrator can remove comes before any change. */
static int start(struct tcptuned_daemon *d, struct tcptuned_error *err)
{
	bool bitcp = !d->options->observe; /* also if it is off: a reload may switch it on */
	struct tcptuned_totals totals;
	int error;

	error = tcptuned_policies_check(d->config, err) ?:
		tcptuned_lock_take(d->config->runtime_directory, &d->lock_fd, err) ?:
		tcptuned_lock_pins(d->config->bpffs, &d->pins_lock_fd, err);
	if (!error && d->options->observe)
		error = check_observe(d->config, err);
	if (error)
		return error;
	d->cgroup_fd = tcptuned_cgroup_open(d->config->cgroup, &d->whole_host, d->cgroup_path,
					    sizeof(d->cgroup_path), err);
	if (d->cgroup_fd < 0)
		return d->cgroup_fd;
	d->passive = tcptuned_passive_new();
	d->shared = tcptuned_scrape_new_shared();
	if (!d->passive || !d->shared ||
	    tcptuned_paths_new(&d->paths, &d->kernel,
			       d->options->observe ? NULL : d->config->state_directory))
		return FAIL(err, ENOMEM, INTERNAL, "no memory");
	d->shared->start_us = tcptuned_clock_ns(CLOCK_REALTIME) / 1000;
	error = make_event_loop(d, err) ?:
		listen_for_scrapes(d, err) ?:
		tcptuned_control_listen(&d->control, d->config->runtime_directory,
					d->config->control_group, err) ?:
		tcptuned_privileges_drop(err) ?: /* control.group needed CAP_CHOWN */
		tcptuned_kernel_attach(&d->kernel, d->config->bpffs, d->cgroup_fd, bitcp, err);
	if (error)
		return error;
	if (!tcptuned_maps_read_totals(bpf_map__fd(d->kernel.bpf->maps.totals), &totals))
		d->shared->events_lost =
			totals.counter[TCPTUNED_C_EVENTS_LOST]; /* of daemons before */
	d->kernel.scan_lock = memfd_create("tcptuned-scan", MFD_CLOEXEC);
	if (d->kernel.scan_lock < 0)
		return FAIL(err, errno, INTERNAL, "memfd_create: %s", strerror(errno));
	log_start(d);
	error = tcptuned_apply(d, err);
	if (error)
		return error;
	/*
	 * Writing a name makes the kernel look it up again (tcp_set_default_congestion_control()):
	 * a namespace whose default is bitcp keeps the one that was registered when it was written.
	 * This comes after adoption, because a connection that has the default has made no choice.
	 */
	if (!d->options->observe)
		tcptuned_sysctl_replace(TCPTUNED_SYSCTL_CONGESTION_CONTROL, "bitcp", "bitcp");
	for (size_t i = 0; i < d->policies_len; i++)
		if (d->policies[i].record.disabled)
			log_info("policy %s stays disabled", d->policies[i].record.name);
		else if (d->policies[i].record.harmful)
			log_warning("policy %s still tunes nothing: its trial has shown harm; see "
				    "tcptunectl trial and policy enable",
				    d->policies[i].record.name);
	recount_records(d);
	return 0;
}

/* ---- run ------------------------------------------------------------------------------- */

static void close_daemon(struct tcptuned_daemon *d)
{
	tcptuned_worker_stop(d);
	tcptuned_control_unlisten(&d->control);
	tcptuned_closep(&d->metrics.fd);
	free(d->policies);
	tcptuned_paths_free(d->paths);
	tcptuned_passive_free(d->passive);
	tcptuned_kernel_close(&d->kernel);
	for (size_t i = 0; i < ARRAY_SIZE(d->cgroup_watches); i++)
		sd_event_source_unref(d->cgroup_watches[i]);
	sd_event_unref(d->event);
	tcptuned_closep(&d->cgroup_fd);
	tcptuned_closep(&d->pins_lock_fd);
	tcptuned_closep(&d->lock_fd);
}

/* True if this daemon has loaded what runs, so that it detaches that if its start fails. */
static bool is_new(const struct tcptuned_kernel *k)
{
	return k->bpf && k->origin != TCPTUNED_TAKEN_OVER && k->origin != TCPTUNED_UPGRADED;
}

/* At a hand-over, or after an error, everything stays pinned, and the next start takes it over. */
static int run(struct tcptuned_daemon *d, void (*ready)(void *ctx), void *ctx)
{
	int error;

	ready(ctx);
	if (!d->options->observe)
		tcptuned_activation_keep_build();
	tcptuned_worker_start(d);
	sd_notify(0, "READY=1");
	error = loop(d);
	sd_notify(0, "STOPPING=1");
	if (error || d->hands_over) {
		tcptuned_log(error ? TCPTUNED_LOG_WARNING : TCPTUNED_LOG_INFO,
			     "this daemon ends, and its connections go on being tuned: the next "
			     "start takes them over, or tcptuned --detach releases them");
	} else {
		error = tcptuned_detach(&d->kernel, d->err);
		if (error)
			tcptuned_worker_stop_failed(d, d->err);
	}
	tcptuned_worker_save(d); /* last, since a disk may hang */
	return error;
}

int tcptuned_daemon_run(const struct tcptuned_options *options, struct tcptuned_config *config,
			void (*ready)(void *ctx), void *ctx, struct tcptuned_error *err)
{
	struct tcptuned_daemon d = {
		.options = options,
		.config = config,
		.err = err,
		.lock_fd = -1,
		.pins_lock_fd = -1,
		.cgroup_fd = -1,
		.metrics.fd = -1,
		.control.fd = -1,
		.applied = on_applied,
	};
	struct tcptuned_error other;
	int error;

	tcptuned_kernel_init(&d.kernel, config->bpffs);
	error = start(&d, err);
	if (!error)
		error = run(&d, ready, ctx);
	else if (is_new(&d.kernel) && tcptuned_detach(&d.kernel, &other))
		log_warning("%s", other.text);
	close_daemon(&d);
	return error;
}
