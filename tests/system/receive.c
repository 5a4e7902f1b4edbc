// SPDX-License-Identifier: GPL-2.0-only
/*
 * receive ADDRESS PORT BYTES [by_hand|tick]: reads what a server sends until its end, with
 * SO_RCVBUF set to BYTES before connect(). by_hand: beyond net.core.rmem_max, as root; tick:
 * right-sized by libtcptuned. Prints how many bytes there were. It is linked statically, so that no
 * preloaded library reaches it.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tcptuned/socket.h>

int main(int argc, char **argv)
{
	int by_hand = argc > 4 && !strcmp(argv[4], "by_hand"), ticks = argc > 4 && !by_hand;
	int fd = socket(AF_INET, SOCK_STREAM, 0), bytes = argc > 3 ? atoi(argv[3]) : 0;
	struct sockaddr_in to = {.sin_family = AF_INET};
	struct tcptuned_socket *tuned = NULL;
	static char buffer[256 << 10];
	long sum = 0;
	ssize_t n;

	if (argc < 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons((unsigned short)atoi(argv[2]));
	if (setsockopt(fd, SOL_SOCKET, by_hand ? SO_RCVBUFFORCE : SO_RCVBUF, &bytes,
		       sizeof(bytes)) ||
	    (ticks && !(tuned = tcptuned_socket(fd, 0))) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		perror("receive");
		return 1;
	}
	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		sum += n;
		if (tuned && tcptuned_tick(tuned) < 0)
			fputs("receive: tcptuned_tick() failed\n", stderr);
	}
	printf("%ld\n", sum);
	free(tuned);
	return n < 0;
}
