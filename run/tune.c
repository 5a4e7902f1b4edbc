// SPDX-License-Identifier: GPL-2.0-only
#include "tune.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netinet/in.h>

#include "preload.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define IDLE_US 100000u /* until connections are looked for again */

/* Returns 0, or the error with which the system refuses to duplicate a descriptor of a child. */
static int try_to_duplicate(void)
{
	pid_t child = fork();
	_cleanup_close_ int pidfd = -1, fd = -1;
	int err = 0;

	if (!child)
		for (;;)
			pause();
	pidfd = child < 0 ? -1 : (int)syscall(SYS_pidfd_open, child, 0);
	fd = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, STDERR_FILENO, 0);
	if (fd < 0)
		err = -errno;
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return err;
}

/* Finds a file next to this executable, or where it is installed. */
static bool find_library(char *path, size_t size)
{
	static const char *const directories[] = {"", "../lib/tcptuned/"};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return false;
	self[n] = '\0';
	*(strrchr(self, '/') + 1) = '\0';
	if (strpbrk(self, " :")) /* they separate the libraries of LD_PRELOAD */
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		snprintf(path, size, "%s%stcptune-preload.so", self, directories[i]);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

/* Lets the command, but not this process, load the library. */
static bool preload(const struct tune *tune)
{
	const struct tuner_limits *limits = &tune->notify->limits;
	const char *others = getenv("LD_PRELOAD");
	char path[PATH_MAX + 64], settings[128];
	_cleanup_free_ char *value = NULL;

	if (!find_library(path, sizeof(path)) ||
	    asprintf(&value, "%s%s%s", others ? others : "", others ? ":" : "", path) < 0)
		return false;
	snprintf(settings, sizeof(settings), PRELOAD_FORMAT, limits->rcvbuf, limits->sndbuf,
		 limits->tuned_rcvbuf, limits->tuned_sndbuf, limits->unsent,
		 (unsigned long long)tune->options->rate, tune->cc ? tune->cc : "-");
	return !setenv("LD_PRELOAD", value, 1) && !setenv(PRELOAD_VARIABLE, settings, 1);
}

/* Older kernels cannot size a buffer that a program has fixed. */
static void check_buffer_locks(int fd)
{
	socklen_t length = sizeof(int);
	int locks;

	if (getsockopt(fd, SOL_SOCKET, SO_BUF_LOCK, &locks, &length) && errno == ENOPROTOOPT)
		fputs("tcptune-run: --tune: buffers that were fixed remain so: this kernel lacks SO_BUF_LOCK "
		      "(Linux 5.14)\n",
		      stderr);
}

/* Returns the congestion control of the options if a socket may have it, or NULL. */
static const char *check_congestion_control(int fd, const char *name)
{
	if (!name || !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)))
		return name;
	fprintf(stderr,
		errno == EPERM ? "tcptune-run: --cc: %s is reserved for root; see "
				 "net.ipv4.tcp_allowed_congestion_control\n"
			       : "tcptune-run: --cc: this kernel has no %s; see "
				 "net.ipv4.tcp_available_congestion_control\n",
		name);
	return NULL;
}

static void report_no_duplicates(struct tune *tune, int err)
{
	const char *why = strerror(-err);
	const char *then = "connections are not tuned, since tcptune-preload.so is missing, or its "
			   "path has a space or a colon";

	if (err == -EPERM)
		why = "forbidden by this container or host";
	if (err == -ENOSYS)
		why = "missing (Linux 5.6), or forbidden by this container";
	if (preload(tune))
		then = "only programs that are linked dynamically are tuned";
	fprintf(stderr, "tcptune-run: --tune: pidfd_getfd(): %s; %s\n", why, then);
}

void tune_init(struct tune *tune, const struct run_options *options, struct notify *notify)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err = try_to_duplicate();

	*tune = (struct tune){.on = !err, .options = options, .notify = notify};
	check_buffer_locks(fd);
	tune->cc = check_congestion_control(fd, options->cc);
	if (err)
		report_no_duplicates(tune, err);
}

/* Whether close() of it waits, if it is the last one: that must be the process's own. */
static bool lingers(int fd)
{
	struct linger linger = {0};
	socklen_t length = sizeof(linger);

	getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &length);
	return linger.l_onoff && linger.l_linger;
}

/*
 * Returns a duplicate of a socket of another process, or an error of the system. The caller closes
 * it at once: the process's own close() sends no FIN as long as there is another descriptor.
 */
static int duplicate(const struct tree_socket *owner)
{
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, owner->pid, 0);
	struct stat status;
	int fd;

	if (pidfd < 0)
		return -errno;
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, owner->fd, 0);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &status) && status.st_ino == owner->inode && !lingers(fd))
		return fd;
	close(fd); /* perhaps the number has been used for another file since */
	return -ESTALE;
}

/* Sets what is set once. */
static void prepare(const struct tune *tune, struct connection *c, int fd)
{
	c->prepared = true;
	if (tuner_prepare(fd, tune->options->rate, tune->cc))
		snprintf(c->socket.congestion_control, sizeof(c->socket.congestion_control), "%s",
			 tune->cc);
}

/* Seeds a connection once the handshake has measured its RTT, and the memory has been read. */
static void look_up_path(const struct tune *tune, const struct connections *all,
			 struct connection *c)
{
	if (c->looked_up || tune->memory.read || c->socket.info.tcp.tcpi_state != DIAG_ESTABLISHED)
		return;
	c->looked_up = true;
	c->tuner.seed = memory_window(&tune->memory, all, c);
}

static void tune_connection(struct tune *tune, struct connection *c)
{
	struct tuner_sample sample = {
		.info = c->socket.info,
		.rcvbuf = c->socket.memory[SK_MEMINFO_RCVBUF],
		.sndbuf = c->socket.memory[SK_MEMINFO_SNDBUF],
	};
	uint64_t now = tcptuned_monotonic_us();
	bool prepares = !c->prepared && (tune->cc || tune->options->rate);
	struct tuner_action action;
	int fd, acts;

	c->tuner.asked = notify_withheld(tune->notify, c->owner.inode, false) / 2 ?: c->tuner.asked;
	c->due_us = now + tuner_interval_us(&sample);
	acts = tuner_decide(&c->tuner, &tune->notify->limits, &sample, now,
			    tcptuned_clock_ns(CLOCK_REALTIME) / 1000, &action);
	if (!acts && !prepares)
		return;
	fd = duplicate(&c->owner);
	if (fd < 0)
		return; /* the next scan finds who has it; one that is not dumpable is left alone */
	if (prepares)
		prepare(tune, c, fd);
	tuner_act(&c->tuner, fd, &action);
	close(fd);
}

void tune_connections(struct tune *tune, struct connections *all)
{
	uint64_t began = tcptuned_monotonic_us(), cost = connections_cost_us();
	uint64_t due = began + IDLE_US, rest;

	for (struct connection *c = all->first; c; c = c->next) {
		if (c->closed)
			continue;
		if (c->due_us <= began && !connections_update(all, c)) {
			look_up_path(tune, all, c);
			tune_connection(tune, c);
		}
		if (!c->closed && c->due_us < due)
			due = c->due_us;
	}
	rest = tcptuned_monotonic_us() + CONNECTIONS_COST_INVERSE * (connections_cost_us() - cost);
	tune->due_us = due > rest ? due : rest;
}
