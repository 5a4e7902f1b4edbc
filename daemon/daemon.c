// SPDX-License-Identifier: GPL-2.0-only
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
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

#include "buflimit.h"
#include "burstiness.h"
#include "cgroup.h"
#include "cleanup.h"
#include "congestion.h"
#include "control.h"
#include "family.h"
#include "http.h"
#include "loader.h"
#include "log.h"
#include "neighbours.h"
#include "paths.h"
#include "policy.h"
#include "scrape.h"
#include "sysctls.h"

#define TICK_S 5 /* how soon an administrator's change of a sysctl is noticed */

/* Lines that a reload logs about what differs: enough for each key but those of named policies. */
#define DIFFERENCES_TOLD 200

/* Policies that the log names of those with the same thing amiss; the others are counted. */
#define POLICIES_TOLD 20

/* `receive_window_max = auto`: enough for 10 Gbit/s at 100 ms, and at most a quarter of ... */
#define WINDOW_MAX_AUTO	      (256u << 20)
#define WINDOW_MAX_AUTO_LEAST (4u << 20)

struct daemon {
	const struct tcptuned_options *options;
	struct tcptuned_config *config;
	struct tcptuned_kernel kernel;
	struct tcptuned_scrape *scrape;
	struct tcptuned_burstiness *burstiness; /* NULL: not counted */
	struct tcptuned_paths *paths;
	struct tcptuned_http *http;
	struct tcptuned_control *control;
	char cgroup_path[TCPTUNED_CONFIG_TEXT];
	bool adopted;	 /* what was open before the start */
	bool unapplied;	 /* apply() failed last: the timer tries again */
	struct tcptuned_config_trouble trouble; /* told, and not at every try of the timer */
	bool whole_host; /* attached to the root of the cgroup tree */
	bool activated;	 /* systemd holds the socket for metrics, and starts tcptuned for it */
	int lock_fd, pins_lock_fd, cgroup_fd, signal_fd, timer_fd;
	struct tcptuned_policy_source *policies; /* in force; the default policy first */
	size_t policies_len;
	unsigned int cgroups_missing; /* of these: not there, or not to be seen */
	time_t flows_due_s; /* CLOCK_MONOTONIC */
	struct tcptuned_neighbours neighbours;
	char (*disabled)[TCPTUNED_POLICY_NAME_MAX]; /* at run time, through the control socket */
	size_t disabled_len;
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

/* Would connections have more than there is? */
static bool budget_is_short(const struct daemon *d)
{
	int fd = d->kernel.map_fd[TCPTUNED_MAP_BUDGET];
	struct budget budget;
	__u32 zero = 0;

	return !bpf_map_lookup_elem(fd, &zero, &budget) && budget_is_scarce(&budget);
}

/*
 * Another sockops program may end the calls to ours (bpf/callbacks.h); where there is none, nobody
 * has to look for connections to which that happened.
 */
static bool has_neighbours(struct daemon *d)
{
	bool had = d->neighbours.any;

	if (!tcptuned_neighbours_look(&d->neighbours) || had)
		return had;
	tcptuned_log(TCPTUNED_LOG_INFO,
		     "there is another sockops program%s%s: callbacks that it takes from "
		     "connections are asked for again",
		     d->neighbours.name[0] ? ", " : "", d->neighbours.name);
	return true;
}

/*
 * Where the budget is short, those at rest give back what they do not hold. To look for them, and
 * for those whose callbacks are gone, may take a thousandth of the time.
 */
static void look_after_flows(struct daemon *d)
{
	bool neighbours = has_neighbours(d), short_of = budget_is_short(d);
	struct timespec start, end;
	double took_s;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (start.tv_sec < d->flows_due_s || (!neighbours && !short_of))
		return;
	if (neighbours)
		tcptuned_kernel_recall_flows(&d->kernel);
	if (short_of)
		tcptuned_kernel_rest_flows(&d->kernel);
	clock_gettime(CLOCK_MONOTONIC, &end);
	took_s = (double)(end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9;
	d->flows_due_s = end.tv_sec + (time_t)(took_s * 1000);
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

	if (may) {
		tcptuned_limit_lower(&d->kernel, which, window);
		changed = tcptuned_sysctl_raise(d->kernel.map_fd[TCPTUNED_MAP_META], which,
						window, value);
	} else {
		tcptuned_sysctl_read(name, value, sizeof(value));
	}
	if (changed > 0)
		tcptuned_log(TCPTUNED_LOG_INFO, "%s set to %s", name, value);
	if (changed < 0)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%s cannot be raised to %u (%s): buffers stay below twice its %s", name,
			     window, strerror(-changed), value[0] ? value : "value");
	if (!may && d->options->dry_run && strtoull(value, NULL, 10) < window)
		tcptuned_log(TCPTUNED_LOG_INFO, "dry run: would set %s to %u", name, window);
	bytes = 2 * strtoull(value, NULL, 10);
	return bytes > INT_MAX ? INT_MAX : (uint32_t)bytes;
}

/*
 * net.core.rmem_max for such windows. The kernel takes the window scale from it, too, and for a
 * power of two it takes one more than the window needs (tcp_select_initial_window()): twice as
 * coarse. Coarse scales are harmful, for a window can be made smaller only by an ACK for more
 * bytes than its unit: each other ACK promises up to that much memory anew.
 */
static uint32_t receive_limit(uint32_t window)
{
	return window & (window - 1) ? window : window - 1;
}

/* What is configured, and what policies name. A dry run registers nothing. */
static uint32_t family_wanted(const struct daemon *d)
{
	const struct tcptuned_config *config = d->config;
	uint32_t wanted = config->family | tcptuned_family_find(config->policy.congestion_control);

	for (size_t i = 0; i < config->policies_len; i++)
		wanted |= tcptuned_family_find(config->policies[i].set.congestion_control);
	return d->options->dry_run ? 0 : wanted;
}

/* Before a policy may name them; @anew: also those that an earlier build registered. */
static void register_family(struct daemon *d, bool anew)
{
	uint32_t there = anew ? 0 : tcptuned_family_registered(d->kernel.pin_dir);
	uint32_t missing = family_wanted(d) & ~there;

	for (unsigned int i = 0; i < TCPTUNED_FAMILY_MEMBERS; i++) {
		const char *name = tcptuned_family_names[i];
		int error;

		if (!(missing >> i & 1))
			continue;
		error = tcptuned_family_register(d->kernel.pin_dir, i);
		if (!error)
			tcptuned_log(TCPTUNED_LOG_INFO, "%s registered", name);
		else
			tcptuned_log(TCPTUNED_LOG_WARNING,
				     "%s could not be registered (%s)%s", name, strerror(-error),
				     error == -EEXIST ? ": a congestion control of that name is "
							"there already, see bpftool struct_ops show"
						      : "");
	}
}

/* Once no policy names them any more. */
static void unregister_family(struct daemon *d)
{
	uint32_t rest = tcptuned_family_registered(d->kernel.pin_dir) & ~family_wanted(d);

	for (unsigned int i = 0; i < TCPTUNED_FAMILY_MEMBERS; i++) {
		if (!(rest >> i & 1))
			continue;
		tcptuned_family_unregister(d->kernel.pin_dir, i);
		tcptuned_log(TCPTUNED_LOG_INFO, "%s no longer registered",
			     tcptuned_family_names[i]);
	}
}

/* A dry run does not register it. */
static bool would_be_offered(const char *name, enum tcptuned_mode mode)
{
	return mode == TCPTUNED_OBSERVE && (!strcmp(name, "bitcp") || tcptuned_family_find(name));
}

/* What the kernel has, and which modules it was asked for meanwhile. */
struct offers {
	char names[TCPTUNED_CONGESTION_NAMES];
	char asked[POLICIES_TOLD][TCPTUNED_CC_NAME_MAX];
	size_t asked_len;
};

/*
 * Each is asked for once, and no more of them than there are lines about it: the kernel starts a
 * process for each.
 */
static void load_module(struct offers *offers, const char *name)
{
	int error;

	for (size_t i = 0; i < offers->asked_len; i++)
		if (!strcmp(offers->asked[i], name))
			return;
	if (offers->asked_len == POLICIES_TOLD)
		return;
	snprintf(offers->asked[offers->asked_len++], sizeof(*offers->asked), "%s", name);
	error = tcptuned_congestion_load(name);
	if (error) {
		if (error != -ENOENT)
			tcptuned_log(TCPTUNED_LOG_WARNING, "tcp_%s cannot be loaded: %s", name,
				     strerror(-error));
		return;
	}
	tcptuned_log(TCPTUNED_LOG_INFO, "%s: the kernel has loaded its module tcp_%s", name, name);
	tcptuned_congestion_offered(offers->names);
}

/* What is ours is registered, not loaded; and what only observes changes nothing. */
static bool is_offered(struct offers *offers, const char *name, enum tcptuned_mode mode)
{
	if (tcptuned_congestion_is_offered(offers->names, name) || would_be_offered(name, mode))
		return true;
	if (mode != TCPTUNED_TUNE || !strcmp(name, "bitcp") || tcptuned_family_find(name))
		return false;
	load_module(offers, name);
	return tcptuned_congestion_is_offered(offers->names, name);
}

static void log_not_offered(const struct daemon *d, const struct tcptuned_policy_source *source,
			    const char *name)
{
	if (!strcmp(name, "bitcp"))
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%s; connections keep the kernel's congestion control, and "
			     "their buffers are right-sized all the same",
			     d->kernel.why_no_bitcp);
	else
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "policy%s%s.congestion_control: this kernel offers no %s (see "
			     "net.ipv4.tcp_available_congestion_control)%s; connections keep "
			     "the kernel's own",
			     source->named ? " " : "", source->named ? source->named->name : "",
			     name,
			     source->record.mode == TCPTUNED_TUNE
				     ? ", and has no module of that name"
				     : ", unless as a module, which a dry run does not load");
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
	if (a->let_go)
		tcptuned_log(TCPTUNED_LOG_INFO,
			     "gave %llu connections and listeners back to the kernel: a tcptuned "
			     "before this one had them, in a cgroup that is not this one's",
			     (unsigned long long)a->let_go);
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

/* ---- policies -------------------------------------------------------------------------- */

static const struct tcptuned_policy_config *settings_of(const struct daemon *d,
							const struct tcptuned_policy_source *source)
{
	return source->named ? &source->named->set : &d->config->policy;
}

/* ---- policies disabled at run time ----------------------------------------------------- */

/* Its place in the list; as much as the list's length: it is not in it. */
static size_t find_disabled(const struct daemon *d, const char *name)
{
	size_t i = 0;

	while (i < d->disabled_len && strcmp(d->disabled[i], name))
		i++;
	return i;
}

static bool is_disabled(const struct daemon *d, const char *name)
{
	return find_disabled(d, name) < d->disabled_len;
}

/* Returns 0 or -ENOMEM. */
static int set_disabled(struct daemon *d, const char *name, bool disabled)
{
	size_t i = find_disabled(d, name);
	void *list;

	if (disabled == (i < d->disabled_len))
		return 0;
	if (!disabled) {
		memmove(d->disabled[i], d->disabled[--d->disabled_len], sizeof(*d->disabled));
		return 0;
	}
	list = realloc(d->disabled, (d->disabled_len + 1) * sizeof(*d->disabled));
	if (!list)
		return -ENOMEM;
	d->disabled = list;
	snprintf(d->disabled[d->disabled_len++], sizeof(*d->disabled), "%s", name);
	return 0;
}

/* A daemon that was killed left word of them in its records; a clean stop leaves nothing. */
static void remember_disabled(struct daemon *d)
{
	__u32 generation = tcptuned_policies_generation(&d->kernel), place, key;
	struct tcptuned_policy policy;

	for (place = 0; generation && place < TCPTUNED_POLICIES_MAX; place++) {
		key = TCPTUNED_POLICY_ID(generation, place);
		if (bpf_map_lookup_elem(d->kernel.map_fd[TCPTUNED_MAP_POLICIES], &key, &policy))
			return;
		policy.name[TCPTUNED_POLICY_NAME_MAX - 1] = '\0';
		if (policy.disabled && !set_disabled(d, policy.name, true))
			tcptuned_log(TCPTUNED_LOG_INFO, "policy %s stays disabled", policy.name);
	}
}

/* What a reload has taken away is not disabled any more, should it come back. */
static void forget_disabled(struct daemon *d)
{
	for (size_t i = d->disabled_len; i-- > 0;) {
		size_t p = 0;

		while (p < d->policies_len && strcmp(d->policies[p].record.name, d->disabled[i]))
			p++;
		if (p == d->policies_len)
			set_disabled(d, d->disabled[i], false);
	}
}

/* ---- the records of policies ----------------------------------------------------------- */

/* All but what depends on the others: how far buffers may go, and the congestion control. */
static struct tcptuned_policy make_record(struct daemon *d, const char *name,
					  const struct tcptuned_policy_config *set)
{
	struct tcptuned_policy record = {
		.mode = set->mode,
		.override_rcvbuf = set->override_rcvbuf,
		.override_sndbuf = set->override_sndbuf,
		.rcv_window_max = window_max(set->receive_window_max_bytes),
		.snd_window_max = window_max(set->send_window_max_bytes),
		.snd_unsent_max = set->send_unsent_max_bytes,
		.rcv_window_min = set->receive_window_min_bytes,
		.snd_window_min = set->send_window_min_bytes,
		.rcv_buffer = set->receive_buffer_bytes,
		.snd_buffer = set->send_buffer_bytes,
		.first_window = set->first_window_bytes,
		.pacing_rate_max = (__u32)(set->pacing_rate_max_bps / 8),
		.bitcp = set->bitcp,
	};

	if (d->options->dry_run && record.mode == TCPTUNED_TUNE)
		record.mode = TCPTUNED_OBSERVE;
	record.disabled = is_disabled(d, name);
	if (record.disabled)
		record.mode = TCPTUNED_OFF;
	snprintf(record.name, sizeof(record.name), "%s", name);
	return record;
}

static void find_cgroup(struct daemon *d, struct tcptuned_policy_source *policy)
{
	const char *name = policy->named->name, *cgroup = policy->named->set.cgroup;

	policy->cgroup = tcptuned_cgroup_id(cgroup);
	if (policy->cgroup)
		return;
	if (d->cgroups_missing++ >= POLICIES_TOLD)
		return;
	if (errno == ENOENT)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "policy %s: there is no control group %s now; the policy has no "
			     "connection until there is",
			     name, cgroup);
	else
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "policy %s: control group %s cannot be looked at: %s; the policy has "
			     "no connection until it can",
			     name, cgroup, strerror(errno));
}

static void make_records(struct daemon *d)
{
	d->cgroups_missing = 0;
	d->policies[0] = (struct tcptuned_policy_source){
		.record = make_record(d, "default", &d->config->policy),
	};
	for (size_t i = 1; i < d->policies_len; i++) {
		const struct tcptuned_named_policy *named = &d->config->policies[i - 1];

		d->policies[i] = (struct tcptuned_policy_source){
			.named = named,
			.record = make_record(d, named->name, &named->set),
		};
		if (named->set.cgroup[0])
			find_cgroup(d, &d->policies[i]);
	}
	if (d->cgroups_missing > POLICIES_TOLD)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%u more policies whose control group is not there or cannot be "
			     "looked at",
			     d->cgroups_missing - POLICIES_TOLD);
}

/* The most that any policy of this or a higher mode wants of a direction's buffers. */
static uint32_t most_wanted(const struct daemon *d, enum tcptuned_mode mode, bool receive)
{
	uint32_t most = 0;

	for (size_t i = 0; i < d->policies_len; i++) {
		const struct tcptuned_policy *p = &d->policies[i].record;
		uint32_t window = receive ? p->rcv_window_max : p->snd_window_max;
		uint32_t fixed = receive ? p->rcv_buffer : p->snd_buffer;

		if (p->mode < mode)
			continue;
		window = fixed > window ? fixed : window;
		most = window > most ? window : most;
	}
	return most;
}

/* The sysctl is the host's, so that it has to do for every policy. */
static void set_buffer_limits(struct daemon *d)
{
	bool may = most_wanted(d, TCPTUNED_TUNE, true);
	enum tcptuned_mode mode = may ? TCPTUNED_TUNE : TCPTUNED_OBSERVE;
	uint32_t receive = most_wanted(d, mode, true), send = most_wanted(d, mode, false);

	if (!receive) /* all are off */
		return;
	receive = buffer_max(d, TCPTUNED_SYSCTL_RMEM_MAX, receive_limit(receive), may);
	send = buffer_max(d, TCPTUNED_SYSCTL_WMEM_MAX, send, may);
	for (size_t i = 0; i < d->policies_len; i++) {
		d->policies[i].record.rcv_buffer_max = receive;
		d->policies[i].record.snd_buffer_max = send;
	}
}

/*
 * As configured, or none when it is not there. An administrator who chose a default congestion
 * control has chosen for every policy that chooses none of its own.
 */
static void set_congestion_controls(struct daemon *d)
{
	bool left_alone = default_is_the_administrators(d), told = false;
	struct offers offers = { .asked_len = 0 };
	unsigned int not_offered = 0;

	tcptuned_congestion_offered(offers.names);
	for (size_t i = 0; i < d->policies_len; i++) {
		struct tcptuned_policy *record = &d->policies[i].record;
		const char *wanted = settings_of(d, &d->policies[i])->congestion_control;
		bool own = i && strcmp(wanted, d->config->policy.congestion_control);

		if (record->mode == TCPTUNED_OFF || (left_alone && !own))
			continue;
		if (!wanted[0] || is_offered(&offers, wanted, record->mode)) {
			snprintf(record->congestion_control, sizeof(record->congestion_control),
				 "%s", wanted);
			continue;
		}
		if (!own && told) /* what all inherit is told once */
			continue;
		told |= !own;
		if (not_offered++ < POLICIES_TOLD)
			log_not_offered(d, &d->policies[i], wanted);
	}
	if (not_offered > POLICIES_TOLD)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%u more policies with a congestion_control that this kernel does not "
			     "offer",
			     not_offered - POLICIES_TOLD);
}

/* The host's default is what connections have that a policy leaves as they are. */
static bool default_may_be_set(const struct daemon *d)
{
	if (!d->whole_host)
		return false;
	for (size_t i = 0; i < d->policies_len; i++) {
		const struct tcptuned_policy *record = &d->policies[i].record;

		if (i && record->disabled) /* it has no connection */
			continue;
		if (record->mode != TCPTUNED_TUNE || !record->congestion_control[0])
			return false;
	}
	return true;
}

static bool any_claims(const struct daemon *d)
{
	for (size_t i = 0; i < d->policies_len; i++)
		if (d->policies[i].record.mode != TCPTUNED_OFF)
			return true;
	return false;
}

static int try_to_apply(struct daemon *d, struct tcptuned_error *err)
{
	const struct tcptuned_config *config = d->config;
	struct tcptuned_policy_source *policies;
	struct timespec begin, end;
	__u32 zero = 0;
	int error;

	policies = realloc(d->policies, (config->policies_len + 1) * sizeof(*policies));
	if (!policies)
		return tcptuned_fail(err, ENOMEM, TCPTUNED_EXIT_INTERNAL,
				     "there is no memory for the policies");
	d->policies = policies;
	d->policies_len = config->policies_len + 1;
	make_records(d);
	set_buffer_limits(d);
	set_congestion_controls(d);
	if (d->kernel.map_fd[TCPTUNED_MAP_BITCP_PARAMS] >= 0 &&
	    bpf_map_update_elem(d->kernel.map_fd[TCPTUNED_MAP_BITCP_PARAMS], &zero,
				&config->policy.bitcp, BPF_ANY))
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
	clock_gettime(CLOCK_MONOTONIC, &begin);
	error = tcptuned_policies_install(&d->kernel, d->policies, d->policies_len, err);
	if (error)
		return error;
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (d->policies_len > 1)
		tcptuned_log(TCPTUNED_LOG_INFO, "%zu policies in force, laid down in %.1f ms",
			     d->policies_len,
			     (double)(end.tv_sec - begin.tv_sec) * 1e3 +
				     (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
	if (!d->adopted && any_claims(d))
		adopt(d);
	if (default_may_be_set(d))
		set_default_congestion_control(d, d->policies[0].record.congestion_control);
	else
		tcptuned_sysctl_restore(d->kernel.map_fd[TCPTUNED_MAP_META],
					TCPTUNED_SYSCTL_CONGESTION_CONTROL, log_restored);
	return 0;
}

/*
 * Write what is configured for connections to come; live ones keep what they have. Somebody has
 * asked for it: what fails is told, whatever was told before.
 */
static int apply(struct daemon *d, struct tcptuned_error *err)
{
	int error = try_to_apply(d, err);

	d->unapplied = error;
	d->trouble.unapplied[0] = '\0';
	return error;
}

/* Nobody has; or it has failed, and what was in force before is to be so again. */
static void apply_again(struct daemon *d)
{
	struct tcptuned_error err = { 0 };

	d->unapplied = try_to_apply(d, &err);
	if (d->unapplied && strcmp(d->trouble.unapplied, err.text))
		tcptuned_log(TCPTUNED_LOG_ERROR, "%s", err.text);
	snprintf(d->trouble.unapplied, sizeof(d->trouble.unapplied), "%s", err.text);
}

/* An administrator who changes what tcptuned set has the last word. Has one? */
static bool sysctls_overruled(struct daemon *d)
{
	int meta_fd = d->kernel.map_fd[TCPTUNED_MAP_META];
	char ours[TCPTUNED_SYSCTL_VALUE], now[TCPTUNED_SYSCTL_VALUE];
	bool overruled = false;

	for (int i = 0; i < TCPTUNED_SYSCTLS; i++) {
		if (!tcptuned_sysctl_overruled(meta_fd, i, ours, now))
			continue;
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%s was changed from tcptuned's %s to %s by somebody else: left "
			     "alone from now on, also at the end",
			     tcptuned_sysctl_name(i), ours, now);
		overruled = true;
	}
	return overruled;
}

/* A control group comes and goes with its service, each time under another id. Has one? */
static bool cgroups_changed(struct daemon *d)
{
	for (size_t i = 1; i < d->policies_len; i++) {
		const char *cgroup = settings_of(d, &d->policies[i])->cgroup;

		if (!cgroup[0] || d->policies[i].cgroup == tcptuned_cgroup_id(cgroup))
			continue;
		tcptuned_log(TCPTUNED_LOG_INFO, "policy %s: control group %s is another one now",
			     d->policies[i].record.name, cgroup);
		return true;
	}
	return false;
}

/* What is seen is seen once: where it cannot be followed now, it is when the timer runs next. */
static void watch_host(struct daemon *d)
{
	bool due = d->unapplied;

	due |= sysctls_overruled(d);
	if (due || cgroups_changed(d))
		apply_again(d);
}

/*
 * Also of policies that were replaced while they had connections: their records stay while
 * there is room. The same name may come back for several keys.
 */
static const struct tcptuned_policy *policy_record(void *ctx, __u32 key)
{
	static struct tcptuned_policy policy;
	struct daemon *d = ctx;

	if (bpf_map_lookup_elem(d->kernel.map_fd[TCPTUNED_MAP_POLICIES], &key, &policy))
		return NULL;
	policy.congestion_control[TCPTUNED_CC_NAME_MAX - 1] = '\0';
	policy.name[TCPTUNED_POLICY_NAME_MAX - 1] = '\0';
	return &policy;
}

static const char *policy_name(void *ctx, __u32 key)
{
	const struct tcptuned_policy *policy = policy_record(ctx, key);

	return policy ? policy->name : NULL;
}

/* ---- what may be asked through the control socket -------------------------------------- */

static int fail_policy(const struct daemon *d, const char *name, struct tcptuned_error *err)
{
	const char **names = calloc(d->policies_len + 1, sizeof(*names)), *nearest = NULL;

	for (size_t i = 0; names && i < d->policies_len; i++)
		names[i] = d->policies[i].record.name;
	if (names)
		nearest = tcptuned_nearest(name, names);
	tcptuned_fail(err, ENOENT, TCPTUNED_EXIT_USAGE, "policy: there is no %.31s%s%s%s", name,
		      nearest ? "; did you mean " : "; see tcptunectl policy list",
		      nearest ? nearest : "", nearest ? "?" : "");
	free(names);
	return -ENOENT;
}

static int enable(struct daemon *d, const char *name, bool enabled, struct tcptuned_buf *out,
		  struct tcptuned_error *err)
{
	struct tcptuned_error told = { 0 };
	size_t p = 0;
	bool change;

	while (p < d->policies_len && strcmp(d->policies[p].record.name, name))
		p++;
	if (p == d->policies_len)
		return fail_policy(d, name, err);
	change = is_disabled(d, name) == enabled;
	if (set_disabled(d, name, !enabled))
		return tcptuned_fail(err, ENOMEM, TCPTUNED_EXIT_INTERNAL,
				     "there is no memory to take note of it");
	if (change && apply(d, &told)) {
		set_disabled(d, name, enabled);
		apply_again(d);
		return tcptuned_fail(err, EIO, told.status, "nothing is changed: %s", told.text);
	}
	if (change)
		tcptuned_log(TCPTUNED_LOG_INFO, "policy %s: %s through the control socket", name,
			     enabled ? "enabled" : "disabled");
	tcptuned_buf_printf(out, "{\"policy\":\"%s\",\"disabled\":%s,\"changed\":%s}\n", name,
			    enabled ? "false" : "true", change ? "true" : "false");
	return 0;
}

static int apply_to_open(struct daemon *d, struct tcptuned_buf *out, struct tcptuned_error *err)
{
	struct tcptuned_adoption a;
	int error = tcptuned_kernel_apply_policies(&d->kernel, &a);

	if (error)
		return tcptuned_fail(err, -error, TCPTUNED_EXIT_INTERNAL,
				     "open connections cannot be gone through: %s",
				     strerror(-error));
	tcptuned_log(TCPTUNED_LOG_INFO,
		     "policies applied to open connections: %llu moved, %llu taken, %llu let go, "
		     "%llu could not be taken, %llu ms",
		     (unsigned long long)a.moved, (unsigned long long)a.connections,
		     (unsigned long long)a.let_go, (unsigned long long)(a.failed + a.too_old),
		     (unsigned long long)a.ns / 1000000);
	tcptuned_buf_printf(out,
			    "{\"moved\":%llu,\"taken\":%llu,\"let_go\":%llu,\"failed\":%llu,"
			    "\"kernel_too_old\":%llu,\"namespaces_failed\":%u}\n",
			    (unsigned long long)a.moved, (unsigned long long)a.connections,
			    (unsigned long long)a.let_go, (unsigned long long)a.failed,
			    (unsigned long long)a.too_old, a.namespaces_failed);
	return 0;
}

static int change(void *ctx, const struct tcptuned_request *request, struct tcptuned_buf *out,
		  struct tcptuned_error *err)
{
	if (request->command == TCPTUNED_CMD_POLICY_APPLY)
		return apply_to_open(ctx, out, err);
	return enable(ctx, request->filter.policy, request->command == TCPTUNED_CMD_POLICY_ENABLE,
		      out, err);
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

/* The listening socket that systemd passed, or -1. */
static int take_socket(int *ret_fd, struct tcptuned_error *err)
{
	int passed = sd_listen_fds(1);

	/* Somebody would be accepted on each of the others, and never answered. */
	if (passed > 1)
		return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_ADDRESS,
				     "metrics: systemd passed %d sockets, and tcptuned serves one; "
				     "leave one ListenStream= in tcptuned.socket ([::]:PORT is IPv4 "
				     "and IPv6)",
				     passed);
	*ret_fd = passed > 0 ? SD_LISTEN_FDS_START : -1;
	return 0;
}

static int start_metrics(struct daemon *d, struct tcptuned_error *err)
{
	struct tcptuned_scrape_options scrape = {
		.kernel = &d->kernel,
		.paths = d->paths,
		.flows_max = d->config->metrics_flows,
		.reader = d->config->metrics_reader,
		.program_statistics = d->config->program_statistics,
		.version = TCPTUNED_VERSION,
		.policy_name = policy_name,
		.policy = policy_record,
		.policy_ctx = d,
		.cgroups_missing = &d->cgroups_missing,
		.trouble = &d->trouble,
	};
	struct tcptuned_http_options http = {
		.address = d->config->metrics_address,
		.port = d->config->metrics_port,
		.handler = tcptuned_scrape_handle,
	};
	int error = take_socket(&http.listen_fd, err);

	if (error)
		return error;
	d->activated = http.listen_fd >= 0;
	if (!d->config->metrics_enabled)
		return 0;
	error = tcptuned_scrape_new(&d->scrape, &scrape);
	if (error)
		return tcptuned_fail(err, -error, TCPTUNED_EXIT_INTERNAL, "metrics: %s",
				     strerror(-error));
	http.ctx = d->scrape;
	return tcptuned_http_start(&d->http, &http, err);
}

/* As configured; nobody could read it where there are no metrics. Not fatal. */
static void set_burstiness(struct daemon *d)
{
	uint32_t wanted = d->scrape ? d->config->metrics_burstiness_us : 0;
	int error = 0;

	if (!wanted && d->config->metrics_burstiness_us)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "metrics.burstiness: segments are not counted: metrics.enabled is no, "
			     "and nobody could read it");
	if (d->burstiness && tcptuned_burstiness_interval_us(d->burstiness) == wanted)
		return;
	tcptuned_burstiness_stop(d->burstiness);
	d->burstiness = NULL;
	if (wanted)
		error = tcptuned_burstiness_start(&d->burstiness, d->cgroup_fd, wanted);
	if (error)
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "metrics.burstiness: segments are not counted: the kernel does not "
			     "take the program (%s)",
			     strerror(-error));
	if (d->scrape)
		tcptuned_scrape_set_burstiness(d->scrape, d->burstiness, wanted);
}

static int start_control(struct daemon *d, struct tcptuned_error *err)
{
	struct tcptuned_control_options options = {
		.directory = d->config->runtime_directory,
		.group = d->config->control_group,
		.source = {
			.kernel = &d->kernel,
			.config = d->config,
			.trouble = &d->trouble,
			.daemon = getpid(),
		},
		.change = change,
		.change_ctx = d,
		.no_stop = d->activated ? "systemd listens for metrics in its place, and the next "
					  "scrape would start it again; stop both: systemctl stop "
					  "tcptuned.socket tcptuned"
					: NULL,
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
static int check_dry_run(const struct tcptuned_config *config, struct tcptuned_error *err)
{
	struct tcptuned_kernel before;
	bool tunes;

	if (tcptuned_kernel_open(&before, config->bpffs, NULL))
		return 0; /* tcptuned_kernel_attach() tells why, if anything is wrong */
	tunes = before.bitcp || (tcptuned_kernel_can_be_read(&before) && any_tunes(&before));
	tcptuned_kernel_close(&before);
	if (!tunes)
		return 0;
	return tcptuned_fail(err, EBUSY, TCPTUNED_EXIT_RUNNING,
			     "a tcptuned that was killed has left connections that are tuned, or "
			     "bitcp (%s), which a dry run, changing nothing, would not take back; "
			     "do that first: tcptuned --detach",
			     before.pin_dir);
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
	if (d->http && tcptuned_http_is_elsewhere(d->http))
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "metrics.address: %s is not an address of this host now; metrics are "
			     "served there once it is",
			     d->config->metrics_address);
	if (d->options->dry_run)
		tcptuned_log(TCPTUNED_LOG_INFO, "dry run: everything is decided and reported, "
						"nothing is changed");
	if (d->config->policy.mode == TCPTUNED_OFF && !d->config->policies_len)
		tcptuned_log(TCPTUNED_LOG_INFO, "policy.mode is off: no connection is touched");
}

/* Whatever can fail for a reason that a person can mend comes before anything is changed. */
static int start(struct daemon *d, struct tcptuned_error *err)
{
	bool bitcp = !d->options->dry_run; /* also when off: a reload may switch it on */
	int error = tcptuned_policies_check(d->config, err);

	if (error)
		return error;
	d->lock_fd = take_lock(d->config->runtime_directory, err);
	if (d->lock_fd < 0)
		return d->lock_fd;
	error = lock_pins(d->config->bpffs, &d->pins_lock_fd, err);
	if (!error && d->options->dry_run)
		error = check_dry_run(d->config, err);
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
	register_family(d, d->kernel.origin != TCPTUNED_TAKEN_OVER);
	remember_disabled(d);
	error = apply(d, err);
	if (error)
		return error;
	/* After adoption: whose congestion control is its namespace's default has not chosen. */
	if (!d->options->dry_run)
		tcptuned_kernel_renew_defaults();
	unregister_family(d);
	forget_disabled(d);
	tcptuned_paths_load(d->paths);
	set_burstiness(d);
	return 0;
}

/* ---- reload, stop ---------------------------------------------------------------------- */

static void log_difference(void *ctx, const char *key, const char *was, const char *now,
			   bool live)
{
	unsigned int *told = ctx;

	if ((*told)++ < DIFFERENCES_TOLD)
		tcptuned_log(live ? TCPTUNED_LOG_INFO : TCPTUNED_LOG_WARNING,
			     "%s: %s -> %s%s", key, was[0] ? was : "none", now[0] ? now : "none",
			     live ? "" : " (takes effect at the next start)");
}

static void log_differences(const struct tcptuned_config *was, const struct tcptuned_config *now)
{
	unsigned int told = 0;

	if (!tcptuned_config_diff(was, now, log_difference, &told))
		tcptuned_log(TCPTUNED_LOG_INFO, "reloaded: nothing differs");
	if (told > DIFFERENCES_TOLD)
		tcptuned_log(TCPTUNED_LOG_INFO, "%u more settings of policies differ",
			     told - DIFFERENCES_TOLD);
}

static void reject(struct daemon *d, const struct tcptuned_error *why)
{
	tcptuned_log(TCPTUNED_LOG_ERROR, "%s", why->text);
	tcptuned_log(TCPTUNED_LOG_ERROR, "the configuration before it stays in force");
	snprintf(d->trouble.rejected, sizeof(d->trouble.rejected), "%s", why->text);
}

/*
 * @new takes the place of the one in force, or nothing changes. What differs is said when it is
 * in force: who reads it in the log can rely on it.
 */
static bool take_configuration(struct daemon *d, struct tcptuned_config *new)
{
	struct tcptuned_config before = *d->config;
	struct tcptuned_config written = *new; /* with the keys that only a start can change */
	struct tcptuned_error err = { 0 };

	tcptuned_config_keep_fixed(new, &before);
	*d->config = *new;
	register_family(d, false);
	if (!apply(d, &err)) {
		forget_disabled(d);
		if (d->scrape)
			tcptuned_scrape_configure(d->scrape, new->metrics_flows,
						  new->program_statistics);
		set_burstiness(d);
		unregister_family(d);
		log_differences(&before, &written);
		tcptuned_config_free(&before);
		tcptuned_log_set_level(new->log_level);
		d->trouble.rejected[0] = '\0';
		return true;
	}
	reject(d, &err);
	tcptuned_config_free(new);
	*d->config = before;
	apply_again(d);
	unregister_family(d);
	return false;
}

/* Whatever can be found wrong with it is found before anything is changed. */
static int read_configuration(const struct daemon *d, struct tcptuned_config *ret,
			      struct tcptuned_error *err)
{
	int error = tcptuned_config_load(d->options->config_path, d->options->set, ret, err);

	if (error)
		return error;
	error = tcptuned_policies_check(ret, err);
	if (error)
		tcptuned_config_free(ret);
	return error;
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
	if (read_configuration(d, &new, &err))
		reject(d, &err);
	else
		taken = take_configuration(d, &new);
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
			watch_host(d);
			look_after_flows(d);
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
	free(d->policies);
	free(d->disabled);
	tcptuned_http_stop(d->http);
	tcptuned_scrape_free(d->scrape);
	tcptuned_burstiness_stop(d->burstiness);
	tcptuned_paths_free(d->paths);
	tcptuned_kernel_close(&d->kernel);
	tcptuned_closep(&d->timer_fd);
	tcptuned_closep(&d->signal_fd);
	tcptuned_closep(&d->cgroup_fd);
	tcptuned_closep(&d->pins_lock_fd);
	tcptuned_closep(&d->lock_fd);
}

/*
 * What this daemon has put there itself goes with it. What an earlier one has left goes on where
 * a start fails: its connections are tuned by it.
 */
static bool is_new(const struct tcptuned_kernel *k)
{
	return k->map_fd[TCPTUNED_MAP_META] >= 0 && k->origin != TCPTUNED_TAKEN_OVER &&
	       k->origin != TCPTUNED_UPGRADED;
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
	int error;

	tcptuned_kernel_init(&d.kernel, config->bpffs);
	error = start(&d, err);
	if (!error) {
		ready(ctx);
		sd_notify(0, "READY=1");
		loop(&d);
		sd_notify(0, "STOPPING=1");
		tcptuned_paths_save(d.paths);
	}
	if (!error || is_new(&d.kernel))
		take_back(&d.kernel);
	close_daemon(&d);
	return error;
}

/* What the programs learned since the daemon was killed: their maps are about to go. */
static void save_paths(const struct tcptuned_config *config, const struct tcptuned_kernel *kernel)
{
	uint32_t needed = 1u << TCPTUNED_MAP_PATHS | 1u << TCPTUNED_MAP_PATH_SETTINGS;
	struct tcptuned_paths *paths;

	if (kernel->other_layout & needed) {
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "the paths in %s are another build's, and cannot be saved: what was "
			     "learned since that build saved them is lost",
			     kernel->pin_dir);
		return;
	}
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
