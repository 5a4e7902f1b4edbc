// SPDX-License-Identifier: GPL-2.0-only
/*
 * linkem: a link of a given rate, delay, queue and loss between two network namespaces, for
 * machines whose kernel has no netem, and exact where netem is not: it drops and times single
 * segments where netem sees GSO segments.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/stat.h>

#include "awake.h"
#include "link.h"
#include "options.h"
#include "stats.h"
#include "tun.h"

enum exit_code {
	EXIT_VALID = 0,
	EXIT_SETUP = 1,
	EXIT_USAGE = 2,
	EXIT_INVALID = 3,
};

struct host_cpu {
	double total, idle, steal;
};

/* The scheduler's own account: time on the run queue, and how often it was left. */
struct cpu_wait {
	unsigned long long ns, times;
};

/* Both ends and both directions of the link; link[0] runs from end 0 to end 1. */
struct emulator {
	struct options options;
	struct link link[2];
	struct tun tun[2];
	uint64_t up_since_ns, judged_from_ns;
	struct cpu_wait wait_before[2]; /* of the time that is not judged */
	struct host_cpu cpu_at_start;
};

static struct host_cpu read_host_cpu(void)
{
	double user, nice, system, idle, iowait, irq, softirq, steal;
	struct host_cpu cpu = {0};
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return cpu;
	if (fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &iowait,
		   &irq, &softirq, &steal) == 8) {
		/* what keeps processors awake is user time, and idle time it stands for */
		cpu.idle = idle + iowait + awake_cpu_s() * sysconf(_SC_CLK_TCK);
		cpu.steal = steal;
		cpu.total = user + nice + system + idle + iowait + irq + softirq + steal;
	}
	fclose(f);
	return cpu;
}

static double thread_cpu_s(const struct link *l)
{
	struct timespec ts;
	clockid_t clock;

	if (!l->started || pthread_getcpuclockid(l->thread, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Zeroes where the kernel does not report it. */
static struct cpu_wait thread_cpu_wait(const struct link *l)
{
	unsigned long long ran_ns;
	struct cpu_wait wait = {0};
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat",
		 __atomic_load_n(&l->tid, __ATOMIC_RELAXED));
	f = fopen(path, "re");
	if (!f)
		return wait;
	if (fscanf(f, "%llu %llu %llu", &ran_ns, &wait.ns, &wait.times) != 3)
		wait = (struct cpu_wait){0};
	fclose(f);
	return wait;
}

/* Of the time that is judged; < 0: there is none yet, or it is not known. */
static double mean_cpu_wait_us(const struct emulator *e, int direction, uint64_t now_ns)
{
	const struct cpu_wait *before = &e->wait_before[direction];
	struct cpu_wait wait = thread_cpu_wait(&e->link[direction]);

	if (now_ns < e->judged_from_ns || wait.times <= before->times)
		return -1;
	return (double)(wait.ns - before->ns) / 1e3 / (double)(wait.times - before->times);
}

/* The last one stands for the addresses that no --host names. */
static void fill_hosts(const struct emulator *e, struct report *ret)
{
	static const struct host other = {.name = "other"};
	const struct options *o = &e->options;

	if (!o->host_count)
		return;
	ret->host_count = o->host_count + 1;
	for (unsigned int i = 0; i <= o->host_count; i++)
		ret->hosts[i] = (struct host_report){
			.host = i < o->host_count ? &o->hosts[i] : &other,
			.stats = {&e->link[0].stations[i].stats, &e->link[1].stations[i].stats},
		};
}

static void fill_report(struct emulator *e, struct report *ret)
{
	const struct options *o = &e->options;
	struct host_cpu cpu = read_host_cpu();
	double total = cpu.total - e->cpu_at_start.total;

	*ret = (struct report){
		.now_ns = link_now_ns(),
		.up_since_ns = e->up_since_ns,
		.rtt_ns = e->link[0].delay.min_ns + e->link[1].delay.min_ns,
		.judge_after_s = o->judge_after_s,
		.tolerance = o->tolerance,
		.seed = o->seed,
		.host_cpu_share = -1,
		.host_steal_share = -1,
	};
	if (total > 0) {
		ret->host_cpu_share = 1 - (cpu.idle - e->cpu_at_start.idle) / total;
		ret->host_steal_share = (cpu.steal - e->cpu_at_start.steal) / total;
	}
	fill_hosts(e, ret);
	for (int i = 0; i < 2; i++) {
		struct direction_report *d = &ret->direction[i];
		struct link *l = &e->link[i];

		d->name = i ? "ba" : "ab";
		d->stats = &l->stats;
		d->config = &o->direction[i].queue;
		d->red = d->config->red.on ? &l->queue.red : NULL;
		d->delay_ns = o->direction[i].delay.delay_ns;
		d->realtime = l->realtime;
		d->cpu_wait_us = mean_cpu_wait_us(e, i, ret->now_ns);
		d->cpu_share = thread_cpu_s(l) / ((ret->now_ns - e->up_since_ns) / 1e9);
		d->counters_known = !tun_counters(&e->tun[i], &d->sender) &&
				    !tun_counters(&e->tun[!i], &d->receiver);
	}
}

/* A file is written beside and renamed: no reader ever sees half of it. A device stays one. */
static int write_stats(const char *path, const struct report *report, bool *ret_valid)
{
	char temporary[4096];
	FILE *out;
	struct stat st;
	bool file = stat(path, &st) || S_ISREG(st.st_mode);
	int err = 0;

	snprintf(temporary, sizeof(temporary), "%s%s", path, file ? ".new" : "");
	out = fopen(temporary, "we");
	if (!out)
		return -errno;
	*ret_valid = report_write(out, report);
	if (ferror(out))
		err = -EIO;
	if (fclose(out) || (!err && file && rename(temporary, path)))
		err = -errno;
	return err;
}

static bool report_now(struct emulator *e)
{
	const char *path = e->options.stats_path;
	static struct report report;
	bool valid = false;
	int err;

	fill_report(e, &report);
	err = write_stats(path, &report, &valid);
	if (err)
		fprintf(stderr, "linkem: cannot write %s: %s\n", path, strerror(-err));
	return valid && !err;
}

static void begin_to_judge(struct emulator *e)
{
	for (int i = 0; i < 2; i++)
		e->wait_before[i] = thread_cpu_wait(&e->link[i]);
}

/* Waits for the end, with a snapshot for every SIGUSR1. */
static void serve(struct emulator *e, const sigset_t *signals)
{
	double left_s = e->options.duration_s > 0 ? e->options.duration_s : 1e9;
	uint64_t end_ns = link_now_ns() + (uint64_t)(left_s * 1e9);
	bool judged = !(e->options.judge_after_s > 0);

	for (;;) {
		uint64_t until = judged || end_ns < e->judged_from_ns ? end_ns : e->judged_from_ns;
		uint64_t now = link_now_ns();
		uint64_t left = now < until ? until - now : 0;
		struct timespec ts = {left / 1000000000, left % 1000000000};
		int sig = sigtimedwait(signals, NULL, &ts);

		if (!judged && link_now_ns() >= e->judged_from_ns) {
			judged = true;
			begin_to_judge(e);
			if (sig < 0 && link_now_ns() < end_ns)
				continue;
		}
		if (sig == SIGUSR1)
			report_now(e);
		else if (sig > 0 || !left || errno != EINTR)
			return;
	}
}

static int init_links(struct emulator *e)
{
	const struct options *o = &e->options;

	for (int i = 0; i < 2; i++) {
		const struct direction *d = &o->direction[i];
		int err = link_init(&e->link[i], &d->queue, &d->delay, o->hosts, o->host_count,
				    o->idle);

		if (!err)
			continue;
		fprintf(stderr, "linkem: no memory for the queue: %s\n", strerror(-err));
		return err;
	}
	return 0;
}

static int open_tuns(struct emulator *e)
{
	const struct options *o = &e->options;

	for (int i = 0; i < 2; i++) {
		struct tun_config config = {
			.netns = o->netns[i],
			.device = o->device[i],
			.addr4 = o->addr4[i],
			.addr6 = o->addr6[i],
		};
		const char *what;
		int err = tun_open(&config, &e->tun[i], &what);

		if (!err)
			continue;
		fprintf(stderr, "linkem: cannot %s %s in namespace %s: %s\n", what, config.device,
			config.netns ? config.netns : "(this one)", strerror(-err));
		return err;
	}
	return 0;
}

static int start_links(struct emulator *e)
{
	if (e->options.idle == LINK_POLLS) {
		int err = awake_start();

		if (err) {
			fprintf(stderr, "linkem: cannot keep the processors awake: %s\n",
				strerror(-err));
			return err;
		}
	}
	e->cpu_at_start = read_host_cpu();
	e->up_since_ns = link_now_ns();
	e->judged_from_ns = e->up_since_ns + (uint64_t)(e->options.judge_after_s * 1e9);
	for (int i = 0; i < 2; i++) {
		int err = link_start(&e->link[i], e->tun[i].fd, e->tun[!i].fd, e->judged_from_ns);

		if (!err)
			continue;
		fprintf(stderr, "linkem: cannot start a thread: %s\n", strerror(-err));
		return err;
	}
	return puts("ready") < 0 || fflush(stdout) ? -errno : 0;
}

/* Statistics come before the threads end, and with them their CPU clocks. */
static bool finish(struct emulator *e, bool up)
{
	bool valid = up && report_now(e);

	for (int i = 0; i < 2; i++)
		link_stop(&e->link[i]);
	awake_stop();
	for (int i = 0; i < 2; i++) {
		tun_close(&e->tun[i]);
		link_free(&e->link[i]);
	}
	options_free(&e->options);
	return valid;
}

int main(int argc, char **argv)
{
	static struct emulator e = {.tun = {TUN_INIT, TUN_INIT}};
	sigset_t signals;
	bool up, valid;
	int err;

	err = options_parse(&e.options, argc, argv);
	if (err)
		return err < 0 ? EXIT_USAGE : EXIT_VALID;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);

	up = !init_links(&e) && !open_tuns(&e) && !start_links(&e);
	if (up)
		serve(&e, &signals);
	valid = finish(&e, up);
	if (!up)
		return EXIT_SETUP;
	return valid ? EXIT_VALID : EXIT_INVALID;
}
