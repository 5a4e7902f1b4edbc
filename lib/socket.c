// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <tcptuned/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <netinet/in.h>

#include "tuner.h"

#define IDLE_US 1000000

struct tcptuned_socket {
	int fd;
	int daemon; /* tcptuned runs, and tunes the socket */
	__u64 due_us;
	struct tuner tuner;
	struct tuner_limits limits;
};

struct tcptuned_socket *tcptuned_socket(int fd, unsigned int flags)
{
	unsigned int directions = flags ? flags : TCPTUNED_SOCKET_RECEIVE | TCPTUNED_SOCKET_SEND;
	const struct tuner_action unlock = {.unlock = 1};
	struct tcptuned_socket *s;
	socklen_t length = sizeof(int);
	int protocol, err = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length))
		return NULL;
	if (flags & ~(TCPTUNED_SOCKET_RECEIVE | TCPTUNED_SOCKET_SEND))
		err = EINVAL;
	else if (protocol != IPPROTO_TCP)
		err = EOPNOTSUPP;
	s = err ? NULL : calloc(1, sizeof(*s));
	if (!s) {
		errno = err ? err : ENOMEM;
		return NULL;
	}
	s->fd = fd;
	s->daemon = tuner_daemon_runs();
	s->tuner.no_receive = !(directions & TCPTUNED_SOCKET_RECEIVE);
	s->tuner.no_send = !(directions & TCPTUNED_SOCKET_SEND);
	tuner_read_limits(&s->limits);
	if (!s->daemon)
		tuner_act(&s->tuner, fd, &unlock);
	return s;
}

int tcptuned_tick(struct tcptuned_socket *s)
{
	return s->daemon ? IDLE_US : tuner_tick(&s->tuner, &s->limits, s->fd, &s->due_us);
}
