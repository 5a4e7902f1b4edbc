// SPDX-License-Identifier: GPL-2.0-only
#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "connections.h"
#include "notify.h"
#include "report.h"
#include "tune.h"
#include "util/clock.h"

#define SCAN_MIN_US 20000u
#define SCAN_MAX_US 30000000u
#define WATCH_US    1000000u
#define CLOSED_MAX  256u /* closed connections that remain in the list of those to look at */
#define SCANS_FAST  20u	 /* the first scans follow at once, so that short connections are found */

struct watcher {
	const struct run_options *options;
	FILE *out;
	int channel, signals;
	pid_t parent;
	pid_t command; /* 0: it has ended */
	int status;    /* with which it has, until that is reported; else -1 */
	bool reports;  /* at the end of the command */
	bool sees;     /* connections are looked at */
	bool stopped;  /* the command is */
	bool failed;   /* once they could not be read, which has been reported */
	bool alone;    /* there are no children left */
	unsigned int scans;
	uint64_t scan_us, report_us; /* when they are due */
	struct connections connections;
	struct notify notify;
	struct tune tune;
};

static void scan(struct watcher *w)
{
	uint64_t began = connections_cost_us(), took, wait;
	int err = connections_scan(&w->connections);

	took = connections_cost_us() - began;
	if (err && !w->failed)
		fprintf(stderr, "tcptune-run: the connections cannot be read: %s\n",
			strerror(-err));
	w->failed |= err != 0;
	if (w->connections.closed > CLOSED_MAX && !w->tune.memory.child) {
		memory_save(&w->tune.memory, &w->connections);
		connections_forget_closed(&w->connections, w->reports);
	}
	wait = w->scans++ < SCANS_FAST ? 0 : CONNECTIONS_COST_INVERSE * took;
	w->scan_us = tcptuned_monotonic_us() + MIN(MAX(wait, SCAN_MIN_US), SCAN_MAX_US);
}

/* Prints what is known at the end of the command; connections that are open are read once more. */
static void report(struct watcher *w)
{
	if (!w->reports || !w->sees)
		return;
	for (struct connection *c = w->connections.first; c; c = c->next)
		if (!c->closed)
			connections_update(&w->connections, c);
	connections_wait_closed(&w->connections);
	report_connections(w->out, &w->connections, w->options->json, false);
}

/* Without a filter and without tuning there is nothing to do for the command's children. */
static bool has_work(const struct watcher *w)
{
	return !w->alone && (w->command || w->notify.fd >= 0 || w->tune.on);
}

/*
 * The command has ended, and this process ends or remains in the background. It then holds nothing
 * open that it inherited, so that the reader of a pipe sees its end.
 */
static void end_command(struct watcher *w, int status)
{
	bool failed;

	report(w);
	failed = ferror(w->out);
	if (w->out != stderr && (fclose(w->out) || failed))
		fprintf(stderr, "tcptune-run: %s: the report could not be written\n",
			w->options->output);
	memory_stop_reading(&w->tune.memory);
	w->command = 0;
	w->status = status;
	w->reports = false;
	w->sees = w->tune.on;
}

/* Lets the other process end like the command, once the paths are saved, for the next one. */
static void report_end(struct watcher *w)
{
	if (!w->tune.memory.child && memory_save(&w->tune.memory, &w->connections))
		w->alone = false;
	if (w->tune.memory.child)
		return; /* this function is called again at the end of the child */
	command_send(w->channel, has_work(w) ? COMMAND_ENDED_FIRST : COMMAND_ENDED, w->status, -1);
	w->status = -1;
	command_close_inherited(STDERR_FILENO + 1);
	if (chdir("/"))
		return;
}

static void reap(struct watcher *w)
{
	int status, ended = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		bool ends = !WIFSTOPPED(status) && !WIFCONTINUED(status);

		if (ends && pid == w->tune.memory.child)
			memory_child_ended(&w->tune.memory, status);
		if (pid != w->command)
			continue;
		w->stopped = WIFSTOPPED(status);
		if (ends)
			ended = status;
		else if (getppid() == w->parent) /* it stops until the shell continues the group */
			kill(w->parent, w->stopped ? SIGSTOP : SIGCONT);
	}
	w->alone = pid < 0 && errno == ECHILD;
	if (ended >= 0)
		end_command(w, ended);
	if (w->status >= 0)
		report_end(w);
}

/* Passes on signals that the process at the other end of the channel passed on to this one. */
static void read_signals(struct watcher *w)
{
	struct signalfd_siginfo info;

	while (read(w->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(w);
		else if (w->command && info.ssi_code <= 0 && (pid_t)info.ssi_pid == w->parent)
			kill(w->command, (int)info.ssi_signo);
	}
}

/* Whether what is open is reported now and then. */
static bool is_live(const struct watcher *w)
{
	return w->options->watch && w->command && !w->stopped;
}

static int wait_ms(const struct watcher *w)
{
	uint64_t due = w->scan_us, now = tcptuned_monotonic_us();

	if (!w->sees)
		return -1;
	if (is_live(w))
		due = MIN(due, w->report_us);
	if (w->tune.on)
		due = MIN(due, w->tune.due_us);
	return due > now ? (int)((due - now + 999) / 1000) : 0;
}

static void handle_time(struct watcher *w)
{
	uint64_t now = tcptuned_monotonic_us();

	if (!w->sees)
		return;
	if (now >= w->scan_us)
		scan(w);
	if (w->tune.on && now >= w->tune.due_us)
		tune_connections(&w->tune, &w->connections);
	if (is_live(w) && now >= w->report_us) {
		report_connections(w->out, &w->connections, w->options->json, true);
		w->report_us = now + WATCH_US;
	}
}

static void loop(struct watcher *w)
{
	struct pollfd files[] = {
		{.fd = w->signals, .events = POLLIN},
		{.fd = w->notify.fd, .events = POLLIN},
		{.events = POLLIN},
	};

	reap(w);
	while (has_work(w)) {
		files[2].fd = w->sees ? w->connections.closings : -1;
		if (poll(files, 3, wait_ms(w)) < 0 && errno != EINTR)
			return;
		if (files[1].revents & POLLIN)
			notify_answer(&w->notify);
		else if (files[1].revents)
			files[1].fd = w->notify.fd = -1; /* no process has the filter any more */
		if (files[2].revents)
			connections_read_closed(&w->connections);
		if (files[0].revents)
			read_signals(w);
		handle_time(w);
	}
}

static const char *explain(int err)
{
	switch (err) {
	case EBUSY:
		return "another seccomp notifier is in force";
	case EACCES:
	case EPERM:
		return "this container or its seccomp profile forbids it";
	case ENOSYS:
	case EINVAL:
		return "this kernel lacks seccomp notifications (Linux 5.5)";
	}
	return strerror(err);
}

/* Signals of the terminal, or that the parent passed on, before there was a command. */
static void read_early_signals(const struct watcher *w, sigset_t *ret)
{
	struct signalfd_siginfo info;

	sigemptyset(ret);
	while (read(w->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD &&
		    (info.ssi_code > 0 || (pid_t)info.ssi_pid == w->parent))
			sigaddset(ret, (int)info.ssi_signo);
}

static void say_not_intercepted(int err)
{
	fprintf(stderr, "tcptune-run: buffer sizes that the command sets are not intercepted: %s\n",
		explain(err));
}

/* Starts the command with the filter or, where that is refused, without. */
static bool start(struct watcher *w, const struct command_signals *signals, bool filter)
{
	char **command = w->options->command;
	struct command_message failure;
	int listener = -1, err = 0;
	sigset_t early;

	read_early_signals(w, &early);
	w->command = command_start(command, signals, filter, &listener, &failure);
	if (w->command < 0 && failure.kind == COMMAND_NOT_FILTERED) {
		say_not_intercepted(failure.value);
		w->command = command_start(command, signals, false, &listener, &failure);
	}
	if (w->command < 0) {
		fprintf(stderr, "tcptune-run: %s: %s\n", command[0], strerror(failure.value));
		if (failure.kind == COMMAND_NOT_STARTED)
			command_send(w->channel, failure.kind, failure.value, -1);
		return false;
	}
	if (listener >= 0)
		err = notify_init(&w->notify, listener);
	if (err) {
		say_not_intercepted(-err);
		close(listener); /* intercepted calls fail, and do not wait */
		listener = -1;
	}
	/* Where this process is killed, the other one answers. */
	command_send(w->channel, COMMAND_STARTED, w->command, listener);
	command_close_inherited(STDOUT_FILENO + 1);
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&early, i) == 1)
			kill(w->command, i);
	return true;
}

void watch(const struct run_options *options, FILE *out, int channel, int signals,
	   const struct command_signals *inherited)
{
	struct watcher *w = calloc(1, sizeof(*w));
	bool tuned = !options->why && tuner_daemon_runs();
	int err;

	if (!w) {
		fprintf(stderr, "tcptune-run: %s\n", strerror(ENOMEM));
		return;
	}
	if (tuned)
		fputs("tcptune-run: tcptuned runs on this host; only watching\n", stderr);
	*w = (struct watcher){.options = options,
			      .out = out,
			      .channel = channel,
			      .signals = signals,
			      .parent = getppid(),
			      .status = -1,
			      .notify.fd = -1};
	w->reports = options->why || options->watch || options->json || options->output;
	tuner_read_limits(&w->notify.limits);
	if (!w->notify.limits.tuned_rcvbuf && !options->why && !tuned)
		fputs("tcptune-run: receive buffers are left alone: net.ipv4.tcp_moderate_rcvbuf is 0, or "
		      "net.ipv4.tcp_rmem cannot be read\n",
		      stderr);
	if (options->tune && !tuned)
		tune_init(&w->tune, options, &w->notify);
	w->sees = w->reports || w->tune.on;
	err = w->sees ? connections_open(&w->connections) : 0;
	if (err) {
		fprintf(stderr, "tcptune-run: connections cannot be read (sock_diag: %s)\n",
			strerror(-err));
		w->sees = w->tune.on = false;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	w->scan_us = tcptuned_monotonic_us() + SCAN_MIN_US;
	w->report_us = tcptuned_monotonic_us() + WATCH_US;
	if (!start(w, inherited, !options->why && !tuned))
		return;
	if (w->tune.on)
		memory_open(&w->tune.memory);
	loop(w);
	if (memory_save(&w->tune.memory, &w->connections)) /* of what the command left running */
		waitpid(w->tune.memory.child, NULL, 0);
}
