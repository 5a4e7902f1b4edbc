// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "daemon/change.h"
#include "host/netns.h"
#include "host/privileges.h"
#include "rpc/json.h"
#include "tcptuned.skel.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/rights.h"

#define TICK_US	      5000000
#define HUNG_TICKS    6	      /* of the keeper, without one of the worker */
#define SEND_LIMIT_S  5	      /* so that one that hangs does not stop the keeper */
#define AGAIN_US      1000000 /* before the next start, if one has just ended */
#define FIRST_WAIT_MS 10000
#define SAVE_WAIT_MS  5000
#define CALLS_PER_S   256

/* From the worker. */
struct call {
	enum {
		CALL_READY,
		CALL_SAVED,
		CALL_POLICY,
		CALL_APPLY,
		CALL_STOP,
		CALL_NAMESPACES,
		CALL_LISTENER,
		CALLS
	} what;
	bool enabled;
	char policy[TCPTUNED_POLICY_NAME_MAX];
	struct tcptuned_filter filter; /* of the client that comes along */
};

/* From the keeper. */
struct message {
	enum {
		MESSAGE_ANSWER,
		MESSAGE_ITERATOR,
		MESSAGE_RETIRE,
		MESSAGE_SAVE,
		MESSAGE_STOP_FAILED,
		MESSAGE_LISTENER,
	} what;
	struct tcptuned_filter filter;
	bool changed;
	int error;
	struct tcptuned_error err;
	struct tcptuned_adoption adoption;
};

/* ---- the worker --------------------------------------------------------------------------- */

struct worker {
	struct tcptuned_daemon *d;
	sd_event *event;
	int fd; /* the pair */
	bool retired;
	struct tcptuned_http *http;
	struct tcptuned_scrape *scrape;
	struct tcptuned_control *control;
};

static struct worker the_worker = {.fd = -1}; /* in its process */

static void say(int what)
{
	struct call call = {.what = what};

	tcptuned_rights_send(the_worker.fd, &call, sizeof(call), -1);
}

static void pass_listener(int fd, const struct tcptuned_filter *filter)
{
	struct call call = {.what = CALL_LISTENER, .filter = *filter};

	tcptuned_rights_send(the_worker.fd, &call, sizeof(call), fd);
}

/* Another worker serves from now on. */
static void retire(void)
{
	the_worker.retired = true;
	tcptuned_control_retire(the_worker.control, pass_listener);
	if (the_worker.http)
		tcptuned_http_retire(the_worker.http);
}

/* What the keeper asks for by itself. @fd: what came along. */
static void obey(const struct message *m, int *fd)
{
	if (m->what == MESSAGE_LISTENER && *fd >= 0)
		tcptuned_control_take_over(the_worker.control, tcptuned_take_fd(fd), &m->filter);
	if (m->what == MESSAGE_RETIRE)
		retire();
	if (m->what == MESSAGE_STOP_FAILED)
		tcptuned_control_stop_failed(the_worker.control, &m->err);
	if (m->what != MESSAGE_SAVE)
		return;
	tcptuned_paths_save(the_worker.d->paths);
	say(CALL_SAVED);
}

/* Have the keeper do something. @visit: what to do with each iterator that comes along. */
static int ask(const struct call *call, struct message *ret, void (*visit)(void *ctx, int iterator),
	       void *ctx)
{
	int error = tcptuned_rights_send(the_worker.fd, call, sizeof(*call), -1);

	do {
		_cleanup_close_ int fd = -1;

		error = error ?: tcptuned_rights_receive(the_worker.fd, ret, sizeof(*ret), &fd, 0);
		if (error)
			return FAIL(&ret->err, -error, DAEMON, "the daemon ends: %s",
				    strerror(-error));
		if (ret->what == MESSAGE_ITERATOR && fd >= 0 && visit)
			visit(ctx, fd);
		obey(ret, &fd);
	} while (ret->what != MESSAGE_ANSWER);
	return ret->error;
}

static int each_namespace(void (*visit)(void *ctx, int iterator), void *ctx)
{
	struct call call = {.what = CALL_NAMESPACES};
	struct message answer;

	return ask(&call, &answer, visit, ctx);
}

static int forget_paths(const struct tcptuned_request *request, FILE *out,
			struct tcptuned_error *err)
{
	const struct tcptuned_daemon *d = the_worker.d;
	unsigned int count;
	int error = tcptuned_paths_forget(&d->kernel, d->config->state_directory, request->prefix,
					  &count, err);

	if (error)
		return error;
	log_info("paths to %.60s forgotten through the control socket: %u prefixes",
		 request->prefix, count);
	tcptuned_json_print_line(out, json_pack("{s:i}", "forgotten", (int)count));
	return 0;
}

static int change(const struct tcptuned_request *request, FILE *out, struct tcptuned_error *err)
{
	struct call call = {.what = CALL_POLICY,
			    .enabled = request->command == TCPTUNED_CMD_POLICY_ENABLE};
	struct message m = {0};
	int error;

	if (request->command == TCPTUNED_CMD_PATHS_FORGET)
		return forget_paths(request, out, err);
	if (request->command == TCPTUNED_CMD_STOP)
		call.what = CALL_STOP;
	if (request->command == TCPTUNED_CMD_POLICY_APPLY)
		call.what = CALL_APPLY;
	memcpy(call.policy, request->filter.policy, sizeof(call.policy));
	error = ask(&call, &m, NULL, NULL);
	if (error) {
		*err = m.err;
		return error;
	}
	if (call.what == CALL_STOP)
		tcptuned_json_print_line(out, json_pack("{s:b}", "stopping", 1));
	else if (call.what == CALL_POLICY)
		tcptuned_json_print_line(out, json_pack("{s:s,s:b,s:b}", "policy", call.policy,
							"disabled", !call.enabled, "changed",
							m.changed));
	else
		tcptuned_json_print_line(
			out, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "moved", m.adoption.moved,
				       "attached", m.adoption.connections, "detached",
				       m.adoption.detached, "failed", m.adoption.failed,
				       "kernel_too_old", m.adoption.too_old, "namespaces_failed",
				       (json_int_t)m.adoption.namespaces_failed));
	return 0;
}

/* A request may have changed what a scrape shows. */
static void renew_metrics(void)
{
	if (the_worker.http)
		tcptuned_http_renew(the_worker.http);
}

static int on_message(sd_event_source *source, int pair, uint32_t events, void *ctx)
{
	_cleanup_close_ int fd = -1;
	struct message m;

	if (tcptuned_rights_receive(pair, &m, sizeof(m), &fd, 0))
		return sd_event_exit(the_worker.event, EXIT_SUCCESS); /* the keeper has ended */
	obey(&m, &fd);
	return 0;
}

static int on_tick(sd_event_source *source, uint64_t now_us, void *ctx)
{
	if (the_worker.retired)
		return 0;
	the_worker.d->shared->ticks++;
	tcptuned_paths_tick(the_worker.d->paths);
	sd_event_source_set_time_relative(source, TICK_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_scraper(sd_event_source *source, int fd, uint32_t events, void *http)
{
	tcptuned_http_run(http);
	return 0;
}

static int serve_metrics(struct tcptuned_error *err)
{
	struct tcptuned_daemon *d = the_worker.d;
	struct tcptuned_scrape_options scrape = {
		.kernel = &d->kernel,
		.paths = d->paths,
		.flows_max = d->config->metrics_flows,
		.whole_host = d->whole_host,
		.shared = d->shared,
	};
	struct tcptuned_http_options http = {
		.listen_fd = d->metrics.fd,
		.print = tcptuned_scrape_print,
	};
	int error;

	if (d->metrics.fd < 0)
		return 0;
	error = tcptuned_scrape_new(&the_worker.scrape, &scrape);
	if (error)
		return FAIL(err, -error, INTERNAL, "metrics: %s", strerror(-error));
	http.ctx = the_worker.scrape;
	error = tcptuned_http_start(&the_worker.http, &http, err);
	if (error)
		return error;
	return sd_event_add_io(the_worker.event, NULL, tcptuned_http_fd(the_worker.http), EPOLLIN,
			       on_scraper, the_worker.http);
}

static int serve_control(pid_t keeper, struct tcptuned_error *err)
{
	struct tcptuned_daemon *d = the_worker.d;
	struct tcptuned_control_options options = {
		.listener = &d->control,
		.loop = the_worker.event,
		.source = {.kernel = &d->kernel,
			   .config = d->config,
			   .trouble = &d->shared->trouble,
			   .daemon = keeper,
			   .start_us = d->shared->start_us},
		.change = change,
		.answering = renew_metrics,
		.events_lost = &d->shared->events_lost,
	};

	return tcptuned_control_start(&the_worker.control, &options, err);
}

static bool is_busy(void)
{
	return tcptuned_control_has_clients(the_worker.control) ||
	       (the_worker.http && tcptuned_http_connections(the_worker.http));
}

static int loop(void)
{
	struct tcptuned_http *http = the_worker.http;

	while (!the_worker.retired || is_busy()) {
		/* -1, which means no timeout, becomes the largest number. */
		unsigned int ms = http ? tcptuned_http_timeout_ms(http) : -1;
		int got =
			sd_event_run(the_worker.event, ms == UINT_MAX ? UINT64_MAX : ms * 1000ull);

		if (http && (!got || !tcptuned_http_timeout_ms(http)))
			tcptuned_http_run(http);
		if (got < 0 || sd_event_get_state(the_worker.event) == SD_EVENT_FINISHED)
			return got;
	}
	return 0;
}

static int start(pid_t keeper, struct tcptuned_error *err)
{
	const struct tcptuned_daemon *d = the_worker.d;
	sd_event_source *keeper_source;
	int error = tcptuned_privileges_drop_all(
		d->cgroup_path, d->options->observe ? "" : d->config->state_directory, err);

	/* A keeper that has ended before is not seen by it. */
	if (!error && (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != keeper))
		error = FAIL(err, ESRCH, INTERNAL, "the daemon has ended");
	if (error)
		return error;
	error = sd_event_new(&the_worker.event);
	if (error >= 0)
		error = sd_event_add_io(the_worker.event, &keeper_source, the_worker.fd, EPOLLIN,
					on_message, NULL);
	if (error >= 0) /* it may retire before it accepts another client */
		error = sd_event_source_set_priority(keeper_source, SD_EVENT_PRIORITY_IMPORTANT);
	if (error >= 0)
		error = sd_event_add_time_relative(the_worker.event, NULL, CLOCK_MONOTONIC, TICK_US,
						   1, on_tick, NULL);
	if (error < 0)
		return FAIL(err, -error, INTERNAL, "cannot wait for events: %s", strerror(-error));
	return serve_control(keeper, err) ?: serve_metrics(err);
}

/*
 * Close what the event loop of the keeper waits with. It would call what it finds in its epoll
 * instance, where another process could add to it, and does not say the number of that here.
 */
static int close_loop_of_keeper(void)
{
	static const char *const kinds[] = {"[eventpoll]", "[timerfd]", "[signalfd]", "inotify",
					    "pidfd"};
	_cleanup_closedir_ DIR *fds = opendir("/proc/self/fd");
	const struct dirent *entry;
	char link[64];
	ssize_t len;

	while (fds && (entry = readdir(fds))) {
		len = readlinkat(dirfd(fds), entry->d_name, link, sizeof(link) - 1);
		link[len < 0 ? 0 : len] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			if (strstr(link, kinds[i]))
				close(atoi(entry->d_name));
	}
	return fds ? 0 : -errno;
}

/* Only the keeper writes what a stop restores. */
static int make_meta_read_only(const struct tcptuned_kernel *k)
{
	LIBBPF_OPTS(bpf_obj_get_opts, opts);
	char path[sizeof(k->pin_dir) + 16];
	_cleanup_close_ int fd = -1;

	opts.file_flags = BPF_F_RDONLY;
	snprintf(path, sizeof(path), "%s/map_meta", k->pin_dir);
	fd = bpf_obj_get_opts(path, &opts);
	if (fd < 0 && errno == ENOENT) /* it has been restored */
		return 0;
	return fd < 0 || dup3(fd, bpf_map__fd(k->bpf->maps.meta), O_CLOEXEC) < 0 ? -errno : 0;
}

static int run(struct tcptuned_daemon *d, int fd, pid_t keeper)
{
	int error = close_loop_of_keeper() ?: make_meta_read_only(&d->kernel);
	struct tcptuned_error err = {0};

	the_worker.d = d;
	the_worker.fd = fd;
	d->kernel.each_namespace = each_namespace;
	d->kernel.scan_waits = true;
	prctl(PR_SET_NAME, "tcptuned-worker", 0, 0, 0);
	unsetenv("NOTIFY_SOCKET");
	/* Locks are of open files, which a fork shares. */
	tcptuned_closep(&d->lock_fd);
	tcptuned_closep(&d->pins_lock_fd);
	tcptuned_closep(&d->cgroup_fd);
	for (size_t i = 0; i < ARRAY_SIZE(d->workers); i++)
		if (d->workers[i].fd > 0)
			close(d->workers[i].fd);
	tcptuned_log_set_level(d->config->log_level);
	if (error)
		FAIL(&err, -error, INTERNAL, "what is the daemon's alone cannot be closed: %s",
		     strerror(-error));
	if (error || start(keeper, &err) < 0) {
		log_error("%s", err.text);
		return EXIT_FAILURE;
	}
	if (!d->shared->paths_loaded) {
		d->shared->paths_loaded = true; /* not once more, if that ends this process */
		tcptuned_paths_load(d->paths);
	}
	say(CALL_READY);
	return loop() ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- the keeper --------------------------------------------------------------------------- */

#define for_each_worker(d, w)                                  \
	for (struct tcptuned_worker *w = (d)->workers;         \
	     w < (d)->workers + ARRAY_SIZE((d)->workers); w++) \
		if (w->pid)

struct walk {
	const struct bpf_link *link;
	int pair, error;
};

/* In a network namespace. */
static void send_iterator(void *ctx)
{
	const struct message m = {.what = MESSAGE_ITERATOR};
	_cleanup_close_ int fd = -1;
	struct walk *walk = ctx;

	if (walk->error || !walk->link || !tcptuned_netns_has_sockets())
		return;
	fd = bpf_iter_create(bpf_link__fd(walk->link));
	walk->error = fd < 0 ? -errno : tcptuned_rights_send(walk->pair, &m, sizeof(m), fd);
}

static struct tcptuned_worker *find_worker(struct tcptuned_daemon *d, pid_t pid, int fd)
{
	for_each_worker (d, w)
		if (w->pid == pid || w->fd == fd)
			return w;
	return NULL;
}

static void answer(struct tcptuned_daemon *d, struct call *call, const struct tcptuned_worker *w)
{
	struct walk walk = {d->kernel.bpf->links.dump_tcp, w->fd, 0};
	pid_t pid = w->pid;
	struct message m = {.what = MESSAGE_ANSWER};

	call->policy[sizeof(call->policy) - 1] = '\0';
	switch (call->what) {
	case CALL_POLICY:
		tcptuned_worker_pause(d);
		m.error =
			tcptuned_change_policy(d, call->policy, call->enabled, &m.changed, &m.err);
		tcptuned_worker_resume(d);
		break;
	case CALL_APPLY:
		m.error = tcptuned_change_open(d, &m.adoption, &m.err);
		break;
	case CALL_STOP:
		m.error = tcptuned_change_stop(d, &m.err);
		break;
	case CALL_NAMESPACES:
		m.error = tcptuned_netns_for_each(send_iterator, &walk, NULL) ?: walk.error;
		break;
	default:
		return;
	}
	w = find_worker(d, pid, -1); /* it may have had to make place */
	if (w)
		tcptuned_rights_send(w->fd, &m, sizeof(m), -1);
}

/* A client that gets events goes from one that retires to the next one. */
static void hand_over(const struct tcptuned_daemon *d, const struct call *call, int client)
{
	const struct message m = {.what = MESSAGE_LISTENER, .filter = call->filter};

	if (d->worker && client >= 0)
		tcptuned_rights_send(d->worker->fd, &m, sizeof(m), client);
}

static int on_call(sd_event_source *source, int pair, uint32_t events, void *ctx)
{
	_cleanup_close_ int client = -1;
	struct tcptuned_daemon *d = ctx;
	const struct tcptuned_worker *w = find_worker(d, 0, pair);
	struct call call;
	int error = tcptuned_rights_receive(pair, &call, sizeof(call), &client, MSG_DONTWAIT);

	if (error == -EAGAIN)
		return 0;
	if (error || (unsigned int)call.what >= CALLS) { /* its end, or it is broken */
		kill(w->pid, SIGKILL);
		return sd_event_source_set_enabled(source, SD_EVENT_OFF);
	}
	if (call.what == CALL_LISTENER)
		hand_over(d, &call, client);
	else
		answer(d, &call, w);
	return 0;
}

static void start_one(struct tcptuned_daemon *d);

static int on_again(sd_event_source *source, uint64_t now_us, void *daemon)
{
	start_one(daemon);
	return 0;
}

static void start_later(struct tcptuned_daemon *d)
{
	d->again = sd_event_source_disable_unref(d->again);
	sd_event_add_time_relative(d->event, &d->again, CLOCK_MONOTONIC, AGAIN_US, 1, on_again, d);
}

/* After its process has ended. */
static void forget(struct tcptuned_daemon *d, struct tcptuned_worker *w)
{
	sd_event_source_disable_unref(w->calls);
	sd_event_source_disable_unref(w->end);
	tcptuned_closep(&w->fd);
	if (d->worker == w)
		d->worker = NULL;
	memset(w, 0, sizeof(*w));
}

static void end_worker(struct tcptuned_daemon *d, struct tcptuned_worker *w)
{
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
	forget(d, w);
}

static int on_end(sd_event_source *source, const siginfo_t *info, void *ctx)
{
	struct tcptuned_daemon *d = ctx;
	struct tcptuned_worker *w = find_worker(d, info->si_pid, -1);
	bool current = w == d->worker, young = tcptuned_monotonic_us() - w->since_us < AGAIN_US;

	if (info->si_code == CLD_STOPPED) {
		kill(w->pid, SIGKILL);
		return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	}
	forget(d, w);
	if (!current)
		return 0;
	log_error(
		"the process that serves metrics and tcptunectl has ended (%s %d); another one is started",
		info->si_code == CLD_EXITED ? "status" : "signal", info->si_status);
	if (young)
		start_later(d);
	else
		start_one(d);
	return 0;
}

/* A place for another one. Of too many, one that has retired is ended. */
static struct tcptuned_worker *find_place(struct tcptuned_daemon *d)
{
	struct tcptuned_worker *oldest = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(d->workers); i++) {
		struct tcptuned_worker *w = &d->workers[i];

		if (!w->pid)
			return w;
		if (w != d->worker && (!oldest || w->since_us < oldest->since_us))
			oldest = w;
	}
	end_worker(d, oldest);
	return oldest;
}

static int fork_one(struct tcptuned_daemon *d, struct tcptuned_worker *w)
{
	const struct timeval send_limit = {.tv_sec = SEND_LIMIT_S};
	pid_t keeper = getpid();
	int fds[2], error;

	w->fd = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &send_limit, sizeof(send_limit));
	w->fd = fds[0];
	w->since_us = tcptuned_monotonic_us();
	tcptuned_scrape_read_process(&d->shared->keeper);
	w->pid = fork();
	if (!w->pid)
		_exit(run(d, fds[1], keeper));
	close(fds[1]);
	if (w->pid < 0) {
		w->pid = 0;
		return -errno;
	}
	error = sd_event_add_io(d->event, &w->calls, w->fd, EPOLLIN, on_call, d);
	if (error >= 0) /* its clients, which it has passed on, before its end */
		error = sd_event_source_set_priority(w->calls, SD_EVENT_PRIORITY_IMPORTANT);
	if (error >= 0) /* so that one that does not stop calling delays nothing else */
		error = sd_event_source_set_ratelimit(w->calls, 1000000, CALLS_PER_S);
	if (error < 0)
		return error;
	return sd_event_add_child(d->event, &w->end, w->pid, WEXITED | WSTOPPED, on_end, d);
}

void tcptuned_worker_pause(struct tcptuned_daemon *d)
{
	const struct message retire_now = {.what = MESSAGE_RETIRE};

	if (d->worker)
		tcptuned_rights_send(d->worker->fd, &retire_now, sizeof(retire_now), -1);
	d->worker = NULL;
}

/* If that fails, it is tried again. */
static void start_one(struct tcptuned_daemon *d)
{
	struct tcptuned_worker *w = find_place(d);
	int error = fork_one(d, w);

	if (error < 0) {
		log_warning_once(
			"another process that serves cannot be started: %s; it is tried again",
			strerror(-error));
		if (w->pid)
			end_worker(d, w);
		else
			forget(d, w);
		start_later(d);
		return;
	}
	tcptuned_worker_pause(d);
	d->worker = w;
	d->worker_idle_ticks = 0;
}

/* Wait until the worker says @what. Returns whether it did. */
static bool wait_for(struct tcptuned_daemon *d, unsigned int what, int timeout_ms)
{
	uint64_t end_ms = tcptuned_monotonic_ms() + (uint64_t)timeout_ms;
	struct message no = {.what = MESSAGE_ANSWER, .error = -EBUSY};
	struct call call = {.what = CALLS};

	FAIL(&no.err, EBUSY, DAEMON, "the daemon starts or stops; try again");
	while (d->worker && (unsigned int)call.what != what) {
		struct pollfd poll_fd = {.fd = d->worker->fd, .events = POLLIN};
		int64_t left_ms = (int64_t)(end_ms - tcptuned_monotonic_ms());

		if (left_ms <= 0 || poll(&poll_fd, 1, (int)left_ms) <= 0 ||
		    recv(d->worker->fd, &call, sizeof(call), MSG_DONTWAIT) != sizeof(call))
			return false;
		if (call.what > CALL_SAVED)
			tcptuned_rights_send(d->worker->fd, &no, sizeof(no), -1);
	}
	return (unsigned int)call.what == what;
}

void tcptuned_worker_start(struct tcptuned_daemon *d)
{
	d->serves = true;
	start_one(d);
	wait_for(d, CALL_READY, FIRST_WAIT_MS);
}

void tcptuned_worker_renew(struct tcptuned_daemon *d)
{
	if (d->serves)
		start_one(d);
}

void tcptuned_worker_resume(struct tcptuned_daemon *d)
{
	if (d->serves && !d->worker)
		start_one(d);
}

void tcptuned_worker_check(struct tcptuned_daemon *d)
{
	if (d->shared->ticks != d->worker_ticks)
		d->worker_idle_ticks = 0;
	else if (d->worker && ++d->worker_idle_ticks == HUNG_TICKS)
		kill(d->worker->pid, SIGKILL);
	d->worker_ticks = d->shared->ticks;
}

/* The keeper itself does not read a file that another process writes: a second worker tries. */
void tcptuned_worker_save(struct tcptuned_daemon *d)
{
	const struct message m = {.what = MESSAGE_SAVE};

	for (int i = 0; i < 2; i++) {
		if (!d->worker)
			start_one(d);
		if (d->worker && !tcptuned_rights_send(d->worker->fd, &m, sizeof(m), -1) &&
		    wait_for(d, CALL_SAVED, SAVE_WAIT_MS)) {
			if (tcptuned_paths_are_saved(d->paths))
				return;
			d->worker = NULL; /* another one may have what this one lacks */
		}
		if (d->worker)
			end_worker(d, d->worker);
	}
	log_warning("what was learned about paths since the last time could not be saved");
}

void tcptuned_worker_stop_failed(struct tcptuned_daemon *d, const struct tcptuned_error *err)
{
	const struct message m = {.what = MESSAGE_STOP_FAILED, .err = *err};

	for_each_worker (d, w) /* one that has retired may have the client */
		tcptuned_rights_send(w->fd, &m, sizeof(m), -1);
}

void tcptuned_worker_stop(struct tcptuned_daemon *d)
{
	d->again = sd_event_source_disable_unref(d->again);
	for_each_worker (d, w)
		end_worker(d, w);
}
