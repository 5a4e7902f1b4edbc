// SPDX-License-Identifier: GPL-2.0-only
/*
 * pingpong SECONDS [CPU]: a byte back and forth between two processes over a TCP connection of this
 * network namespace's loopback, a thousand times a second. Prints quantiles of the time that
 * one takes, in microseconds. With CPU, both processes stay on that one.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define PER_SECOND 1000

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "pingpong: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void echo(int fd)
{
	char byte;

	while (read(fd, &byte, 1) == 1)
		if (write(fd, &byte, 1) != 1)
			return;
}

/* Both ends of a connection. */
static void connect_both(int *ret_here, int *ret_there)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	socklen_t len = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len))
		die("listen");
	*ret_here = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(*ret_here, (struct sockaddr *)&address, len))
		die("connect");
	*ret_there = accept(listener, NULL, NULL);
	setsockopt(*ret_here, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(*ret_there, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

int main(int argc, char **argv)
{
	int rounds = PER_SECOND * (argc > 1 ? atoi(argv[1]) : 1), here, there;
	double *us = calloc(rounds > 0 ? rounds : 1, sizeof(*us)), start;
	char byte = 'x';

	if (rounds < 1 || !us)
		return 2;
	if (argc > 2)
		stay_on(atoi(argv[2]));
	connect_both(&here, &there);
	if (!fork()) {
		close(here);
		echo(there);
		_exit(0);
	}
	close(there);
	for (int i = 0; i < rounds; i++) {
		start = now_us();
		if (write(here, &byte, 1) != 1 || read(here, &byte, 1) != 1)
			die("a byte");
		us[i] = now_us() - start;
		usleep(1000000 / PER_SECOND);
	}
	qsort(us, rounds, sizeof(*us), by_value);
	printf("{\"n\":%d,\"p50_us\":%.0f,\"p99_us\":%.0f,\"p999_us\":%.0f,\"max_us\":%.0f}\n",
	       rounds, us[rounds / 2], us[(int)(rounds * 0.99)], us[(int)(rounds * 0.999)],
	       us[rounds - 1]);
	return 0;
}
