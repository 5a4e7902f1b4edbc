// SPDX-License-Identifier: GPL-2.0-only
#include "tune.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <netinet/in.h>

#include "util/cleanup.h"
#include "util/clock.h"

#define IDLE_US	     100000u /* until connections are looked for again */
#define COST_INVERSE 200u    /* looking at connections may take 1/200 of the time */

void tune_init(struct tune *tune, const struct run_options *options,
	       const struct tuner_limits *limits, bool on)
{
	*tune = (struct tune){.on = on, .options = options, .limits = limits};
	if (on)
		memory_open(&tune->memory);
}

/*
 * Returns a duplicate of a socket of another process, or an error of the system. The caller closes it at
 * once: the process's own close() sends no FIN as long as there is another descriptor.
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
	if (!fstat(fd, &status) && status.st_ino == owner->inode)
		return fd;
	close(fd); /* the number has been used for another file since */
	return -ESTALE;
}

/* Sets what is set once. */
static void prepare(struct tune *tune, struct connection *c, int fd)
{
	const struct run_options *options = tune->options;
	const char *cc = options->cc;

	c->prepared = true;
	if (options->rate)
		setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &options->rate,
			   sizeof(options->rate));
	if (!cc || !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, (socklen_t)strlen(cc))) {
		if (cc)
			snprintf(c->socket.congestion_control, sizeof(c->socket.congestion_control),
				 "%s", cc);
		return;
	}
	if (!tune->cc_reported)
		fprintf(stderr,
			errno == EPERM ? "tcptune-run: --cc: %s is reserved for root; see "
					 "net.ipv4.tcp_allowed_congestion_control\n"
				       : "tcptune-run: --cc: this kernel has no %s; see "
					 "net.ipv4.tcp_available_congestion_control\n",
			cc);
	tune->cc_reported = true;
}

/* Seeds a connection once the handshake has measured its RTT. */
static void look_up_path(const struct tune *tune, const struct connections *all,
			 struct connection *c)
{
	if (c->looked_up || c->socket.info.tcp.tcpi_state != DIAG_ESTABLISHED)
		return;
	c->looked_up = true;
	c->tuner.seed = memory_window(&tune->memory, all, c);
}

/* Returns 0, or an error that ends the tuning of all connections. */
static int tune_connection(struct tune *tune, struct connection *c)
{
	struct tuner_sample sample = {
		.info = c->socket.info,
		.rcvbuf = c->socket.memory[SK_MEMINFO_RCVBUF],
		.sndbuf = c->socket.memory[SK_MEMINFO_SNDBUF],
	};
	uint64_t now = tcptuned_monotonic_us();
	bool prepares = !c->prepared && (tune->options->cc || tune->options->rate);
	struct tuner_action action;
	int fd, acts;

	c->due_us = now + tuner_interval_us(&sample);
	acts = tuner_decide(&c->tuner, tune->limits, &sample, now,
			    tcptuned_clock_ns(CLOCK_TAI) / 1000, &action);
	if (!acts && !prepares)
		return 0;
	fd = duplicate(&c->owner);
	if (fd == -EPERM || fd == -ENOSYS)
		return fd;
	if (fd < 0)
		return 0; /* the next scan finds the process that has it */
	if (prepares)
		prepare(tune, c, fd);
	tuner_act(&c->tuner, fd, &action);
	close(fd);
	return 0;
}

void tune_connections(struct tune *tune, struct connections *all)
{
	uint64_t began = tcptuned_monotonic_us(), now, due = began + IDLE_US;
	int err = 0;

	for (struct connection *c = all->first; c && !err; c = c->next) {
		if (c->closed)
			continue;
		if (c->due_us <= began && !connections_update(all, c)) {
			look_up_path(tune, all, c);
			err = tune_connection(tune, c);
		}
		if (!c->closed && c->due_us < due)
			due = c->due_us;
	}
	now = tcptuned_monotonic_us();
	if (due < now + COST_INVERSE * (now - began))
		due = now + COST_INVERSE * (now - began);
	tune->due_us = due;
	if (!err)
		return;
	tune->on = false;
	fprintf(stderr, "tcptune-run: --tune: pidfd_getfd() is %s; connections are not tuned\n",
		err == -EPERM ? "forbidden by this container or by its process"
			      : "missing in this kernel (Linux 5.6)");
}
