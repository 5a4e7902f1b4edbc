// SPDX-License-Identifier: GPL-2.0-only
/*
 * connections COUNT [PORT [EACH]]: opens COUNT TCP connections over this network namespace's loopback, both
 * ends of each in this process, says "open COUNT" and keeps them until SIGTERM. A byte goes
 * each way through every one, so that none is in its handshake any more. To some addresses from
 * 127.0.0.1 on, EACH to each of them, for one takes as many as there are ports for the other end.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define OTHER_FILES 64

static uint16_t port = 7200;
static unsigned int per_address = 5000;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "connections: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void allow_files(rlim_t files)
{
	struct rlimit limit = {files, files};

	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("RLIMIT_NOFILE");
}

static int listen_everywhere(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) || listen(fd, 16))
		die("listen");
	return fd;
}

static void say(int from, int to)
{
	char byte = 'x';

	if (send(from, &byte, 1, MSG_NOSIGNAL) != 1 || recv(to, &byte, 1, 0) != 1)
		die("a byte");
}

static void open_one(int listener, unsigned int number)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), peer;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK + number / per_address);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die("connect");
	peer = accept(listener, NULL, NULL);
	if (peer < 0)
		die("accept");
	say(fd, peer);
	say(peer, fd);
}

int main(int argc, char **argv)
{
	unsigned int count = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0, i;
	sigset_t end;
	int sig, listener;

	if (!count) {
		fprintf(stderr, "usage: connections COUNT [PORT [EACH]]\n");
		return 2;
	}
	if (argc > 2)
		port = (uint16_t)atoi(argv[2]);
	if (argc > 3 && atoi(argv[3]) > 0)
		per_address = (unsigned int)atoi(argv[3]);
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	allow_files(2 * (rlim_t)count + OTHER_FILES);
	listener = listen_everywhere();
	for (i = 0; i < count; i++)
		open_one(listener, i);
	printf("open %u\n", count);
	fflush(stdout);
	sigwait(&end, &sig);
	return 0;
}
