// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/scrape.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "flows/scan.h"
#include "host/sysctl.h"
#include "kern/maps.h"
#include "metrics/exposition.h"
#include "policy/lookup.h"
#include "policy/trial.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/version.h"

struct tcptuned_scrape {
	struct tcptuned_scrape_options options;
	struct utsname host;
	struct tcptuned_filter own_netns; /* selects connections of the own namespace */
	struct tcptuned_snapshot snap;
};

static void read_program(struct tcptuned_program_stats *ret, const struct tcptuned_program *program)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(program->fd, &info, &len))
		return;
	memcpy(ret->name, program->name, sizeof(ret->name));
	ret->verified_insns = info.verified_insns;
	ret->runs = info.run_cnt;
	ret->run_time_ns = info.run_time_ns;
}

static void read_cost_of_programs(struct tcptuned_bpfstats *stats,
				  const struct tcptuned_kernel *kernel)
{
	memset(stats, 0, sizeof(*stats));
	stats->enabled = tcptuned_sysctl_number("kernel.bpf_stats_enabled", 0);
	stats->programs_len = kernel->programs_len;
	for (unsigned int i = 0; i < kernel->programs_len; i++)
		read_program(&stats->programs[i], &kernel->programs[i]);
}

/* CPU time of this process, and of its children that have ended. */
static __u64 cpu_ns(void)
{
	struct rusage children;
	__u64 us = 0;

	if (!getrusage(RUSAGE_CHILDREN, &children))
		us = (__u64)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000 +
		     (__u64)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
	return tcptuned_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + us * 1000;
}

void tcptuned_scrape_read_process(struct tcptuned_process_stats *ret)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/statm", "re");
	_cleanup_closedir_ DIR *fds = opendir("/proc/self/fd");
	struct tcptuned_process_stats stats = {.cpu_ns = cpu_ns()};
	unsigned long long resident_pages;
	struct dirent *entry;
	struct rlimit limit;

	if (file && fscanf(file, "%*s %llu", &resident_pages) == 1)
		stats.resident_bytes = resident_pages * (__u64)sysconf(_SC_PAGESIZE);
	while (fds && (entry = readdir(fds)))
		stats.open_fds += entry->d_name[0] != '.';
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		stats.max_fds = limit.rlim_cur;
	*ret = stats;
}

/* A connection that ends between two reads may be in both sums, or in none: no sum decreases. */
static void raise_to(__u64 *sum, __u64 jiffies)
{
	*sum = MAX(*sum, jiffies * (tcptuned_jiffy_ns() / 1000));
}

static void read_limited(struct tcptuned_scrape *scrape)
{
	struct tcptuned_snapshot *snap = &scrape->snap;

	snap->limited_ok = snap->totals_ok && snap->flows_ok;
	for (int observed = 0; observed < 2 && snap->limited_ok; observed++) {
		const struct tcptuned_waits *open = &snap->flows.sums.waits[observed];
		const __u64 *closed =
			&snap->totals
				 .counter[observed ? TCPTUNED_C_WAITS_OBSERVED : TCPTUNED_C_WAITS];
		struct tcptuned_limited *l = &scrape->options.shared->limited[observed];
		__u64 busy = open->busy + closed[0], rwnd = open->rwnd + closed[1];
		__u64 sndbuf = open->sndbuf + closed[2];

		raise_to(&l->receiver_window, rwnd);
		raise_to(&l->send_buffer, sndbuf);
		raise_to(&l->neither, busy - MIN(busy, rwnd + sndbuf));
		snap->limited[observed] = *l;
	}
}

static struct tcptuned_policy_traffic read_traffic(const struct tcptuned_snapshot *snap,
						   const char *policy)
{
	struct tcptuned_policy_traffic traffic = {0};

	bpf_map_lookup_elem(bpf_map__fd(snap->kernel->bpf->maps.traffic), policy, &traffic);
	return traffic;
}

/* Before the scan. */
static void read_policy(struct tcptuned_snapshot *snap, unsigned int place)
{
	const struct tcptuned_policy *policy = &snap->policies[place];
	struct tcptuned_policy_traffic traffic = read_traffic(snap, policy->name);
	struct tcptuned_trial trial;

	memcpy(snap->traffic[place], traffic.ended, sizeof(traffic.ended));
	if (!policy->holdback && !policy->harmful)
		return;
	tcptuned_trial_read(snap->kernel, policy->trial, &trial);
	for (int held_back = 0; held_back < 2; held_back++)
		tcptuned_trial_sum(&trial, held_back, &snap->trials[place][held_back]);
}

static void add_open(struct tcptuned_snapshot *snap, const struct readout_group *group)
{
	struct tcptuned_policy p;
	unsigned int place = 0;

	if (!group->flows || tcptuned_policy_read(snap->kernel, group->policy, &p))
		return;
	while (place < snap->policies_len && strcmp(snap->policies[place].name, p.name))
		place++;
	for (int i = 0; i < TCPTUNED_CARRIED && place < snap->policies_len; i++)
		snap->traffic[place][p.mode == TCPTUNED_OBSERVE].carried[i] +=
			group->traffic.carried[i];
}

/*
 * After the scan. A connection that ends meanwhile may be in no sum: none decreases but after a
 * reload that moves its policy to another place.
 */
static void finish_traffic(struct tcptuned_snapshot *snap, struct tcptuned_shown_traffic *shown)
{
	for (size_t i = 0; i < READOUT_GROUPS; i++)
		add_open(snap, &snap->flows.sums.group[i]);
	for (unsigned int n = 0; n < 2 * snap->policies_len; n++, shown++) {
		const char *policy = snap->policies[n / 2].name;
		struct tcptuned_policy_traffic traffic = read_traffic(snap, policy);
		__u64 *before = traffic.before[n % 2].carried;
		__u64 *now = snap->traffic[n / 2][n % 2].carried;

		if (strcmp(shown->policy, policy))
			memset(shown, 0, sizeof(*shown));
		strcpy(shown->policy, policy);
		for (int i = 0; i < TCPTUNED_CARRIED; i++) {
			__s64 more = (__s64)(now[i] - before[i] - shown->traffic.carried[i]);

			now[i] = shown->traffic.carried[i] += (__u64)MAX(more, 0);
		}
	}
}

static void read_everything(struct tcptuned_scrape *scrape)
{
	const struct tcptuned_kernel *kernel = scrape->options.kernel;
	struct tcptuned_shared *shared = scrape->options.shared;
	struct tcptuned_snapshot *snap = &scrape->snap;
	__u32 zero = 0, key = 0;

	snap->bitcp = tcptuned_is_registered(kernel, TCPTUNED_CC_BITCP);
	snap->adoption = kernel->adoption;
	snap->cgroups_missing = shared->cgroups_missing;
	snap->whole_host = scrape->options.whole_host;
	for (enum tcptuned_sysctl i = 0; i < TCPTUNED_SYSCTLS; i++)
		snap->left_alone[i] =
			tcptuned_sysctl_left_alone(bpf_map__fd(kernel->bpf->maps.meta), i);
	snap->config_in_force = tcptuned_config_in_force(&shared->trouble);
	snap->start_time_us = shared->start_us;
	memcpy(snap->reloads, shared->reloads, sizeof(snap->reloads));
	snap->taken_over = kernel->origin == TCPTUNED_TAKEN_OVER ||
			   kernel->origin == TCPTUNED_UPGRADED;
	if (scrape->options.paths)
		snap->database_errors = tcptuned_paths_database_errors(scrape->options.paths);
	snap->groups = shared->groups;
	snap->totals_ok =
		!tcptuned_maps_read_totals(bpf_map__fd(kernel->bpf->maps.totals), &snap->totals);
	snap->budget_ok =
		!bpf_map_lookup_elem(bpf_map__fd(kernel->bpf->maps.budget), &zero, &snap->budget);
	snap->policies_len = 0;
	while (snap->policies_len < TCPTUNED_POLICIES_MAX &&
	       tcptuned_policy_next(kernel, &key, &snap->policies[snap->policies_len]))
		read_policy(snap, snap->policies_len++);
	snap->flows_ok = !tcptuned_scan(&snap->flows, kernel, &scrape->own_netns, NULL);
	read_limited(scrape);
	if (snap->flows_ok)
		finish_traffic(snap, shared->shown);
	read_cost_of_programs(&snap->bpf, kernel);
	tcptuned_scrape_read_process(&snap->process);
	snap->process.resident_bytes += shared->keeper.resident_bytes;
	/* What a worker has used that has ended is the keeper's only after a while. */
	shared->cpu_ns = MAX(shared->cpu_ns, snap->process.cpu_ns + shared->keeper.cpu_ns);
	snap->process.cpu_ns = shared->cpu_ns;
}

void tcptuned_scrape_print(void *ctx, FILE *out)
{
	struct tcptuned_scrape *scrape = ctx;
	struct tcptuned_shared *shared = scrape->options.shared;
	__u64 start = tcptuned_monotonic_ns();

	read_everything(scrape);
	scrape->snap.scrapes = shared->scrapes;
	scrape->snap.scrapes_ns = shared->scrapes_ns;
	tcptuned_metrics_format(out, &scrape->snap);
	shared->scrapes_ns += tcptuned_monotonic_ns() - start;
	shared->scrapes++;
}

struct tcptuned_shared *tcptuned_scrape_new_shared(void)
{
	void *memory = mmap(NULL, sizeof(struct tcptuned_shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int tcptuned_scrape_new(struct tcptuned_scrape **ret, const struct tcptuned_scrape_options *options)
{
	struct tcptuned_scrape *scrape;
	struct stat netns;

	if (stat("/proc/self/ns/net", &netns))
		return -errno;
	scrape = calloc(1, sizeof(*scrape));
	if (!scrape || tcptuned_flows_init(&scrape->snap.flows, options->flows_max)) {
		free(scrape);
		return -ENOMEM;
	}
	scrape->options = *options;
	scrape->own_netns.netns = (__u32)netns.st_ino;
	uname(&scrape->host);
	scrape->snap.version = TCPTUNED_VERSION;
	scrape->snap.revision = tcptuned_version_revision;
	scrape->snap.kernel_release = scrape->host.release;
	scrape->snap.policy_name = tcptuned_policy_name;
	scrape->snap.kernel = options->kernel;
	*ret = scrape;
	return 0;
}

void tcptuned_scrape_free(struct tcptuned_scrape *scrape)
{
	if (!scrape)
		return;
	tcptuned_flows_free(&scrape->snap.flows);
	free(scrape);
}
