// SPDX-License-Identifier: GPL-2.0-only
/*
 * receive_uring ADDRESS PORT BYTES: reads what a server sends until its end, with SO_RCVBUF set to
 * BYTES before the connection. The socket is made, connected and read by io_uring. Prints how many
 * bytes there were.
 */
#include <arpa/inet.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct io_uring ring;

/*
 * Waits for the request that was prepared; returns its result, or ends the program with its error.
 */
static int result(const char *request)
{
	struct io_uring_cqe *cqe;
	int ret = io_uring_submit_and_wait(&ring, 1);

	if (ret >= 0)
		ret = io_uring_wait_cqe(&ring, &cqe);
	if (!ret) {
		ret = cqe->res;
		io_uring_cqe_seen(&ring, cqe);
	}
	if (ret >= 0)
		return ret;
	fprintf(stderr, "receive_uring: %s: %s\n", request, strerror(-ret));
	exit(1);
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	static char buffer[256 << 10];
	long sum = 0;
	int fd, n, bytes = argc == 4 ? atoi(argv[3]) : 0, ret;

	if (argc != 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons((unsigned short)atoi(argv[2]));
	ret = io_uring_queue_init(1, &ring, 0);
	if (ret < 0) {
		fprintf(stderr, "receive_uring: io_uring_setup(): %s\n", strerror(-ret));
		return 3;
	}
	io_uring_prep_socket(io_uring_get_sqe(&ring), AF_INET, SOCK_STREAM, 0, 0);
	fd = result("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes))) {
		perror("receive_uring: SO_RCVBUF");
		return 1;
	}
	io_uring_prep_connect(io_uring_get_sqe(&ring), fd, (struct sockaddr *)&to, sizeof(to));
	result("connect");
	do {
		io_uring_prep_recv(io_uring_get_sqe(&ring), fd, buffer, sizeof(buffer), 0);
		n = result("recv");
		sum += n;
	} while (n > 0);
	printf("%ld\n", sum);
	return 0;
}
