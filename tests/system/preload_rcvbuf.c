// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded: each connection has the SO_RCVBUF of $RCVBUF, or, with $RCVBUF_FORCE, SO_RCVBUFFORCE.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>

int connect(int fd, const struct sockaddr *to, socklen_t length)
{
	int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
	const char *plain = getenv("RCVBUF"), *force = getenv("RCVBUF_FORCE");
	int bytes = force ? atoi(force) : plain ? atoi(plain) : 0;

	if (bytes && (to->sa_family == AF_INET || to->sa_family == AF_INET6))
		setsockopt(fd, SOL_SOCKET, force ? SO_RCVBUFFORCE : SO_RCVBUF, &bytes,
			   sizeof(bytes));
	return next(fd, to, length);
}
