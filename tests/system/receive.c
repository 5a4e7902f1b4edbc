// SPDX-License-Identifier: GPL-2.0-only
/*
 * receive ADDRESS PORT BYTES [BY_HAND]: reads what a server sends until its end, with SO_RCVBUF set to
 * BYTES before connect(), or, as root and with a fourth argument, beyond net.core.rmem_max. Prints bytes
 * and seconds. It is linked statically, so that no preloaded library reaches it.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0), bytes = argc > 3 ? atoi(argv[3]) : 0;
	static char buffer[256 << 10];
	double began = now();
	long sum = 0;
	ssize_t n;

	if (argc < 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons((unsigned short)atoi(argv[2]));
	if (setsockopt(fd, SOL_SOCKET, argc > 4 ? SO_RCVBUFFORCE : SO_RCVBUF, &bytes,
		       sizeof(bytes)) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		perror("receive");
		return 1;
	}
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		sum += n;
	printf("%ld %.6f\n", sum, now() - began);
	return n < 0;
}
