// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <tcptuned/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

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

static __u64 clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (__u64)now.tv_sec * 1000000 + (__u64)now.tv_nsec / 1000;
}

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
	__u64 now = clock_us(CLOCK_MONOTONIC);
	__u32 memory[SK_MEMINFO_VARS] = {0};
	struct tuner_sample sample = {0};
	struct tuner_action action;
	socklen_t length = sizeof(sample.info), memory_length = sizeof(memory);
	int err = 0;

	if (s->daemon)
		return IDLE_US;
	if (now < s->due_us)
		return (int)(s->due_us - now);
	if (getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &sample.info, &length) ||
	    getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, memory, &memory_length))
		return -errno;
	sample.rcvbuf = memory[SK_MEMINFO_RCVBUF];
	sample.sndbuf = memory[SK_MEMINFO_SNDBUF];
	s->due_us = now + tuner_interval_us(&sample);
	if (tuner_decide(&s->tuner, &s->limits, &sample, now, clock_us(CLOCK_TAI), &action))
		err = tuner_act(&s->tuner, s->fd, &action);
	return err ? err : (int)(s->due_us - now);
}
