// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcptune-preload.so: what tcptune-run --tune preloads where it may not duplicate the sockets of
 * other processes, as in a Docker container. Programs that are linked dynamically then tune their
 * own, when they receive or send.
 *
 * No descriptor is handed over: as long as another process has a duplicate, close() sends no FIN.
 * There is no thread and no signal either, which a program can notice.
 */
#undef _FORTIFY_SOURCE /* its inline functions have the names of these */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <netinet/in.h>

#include "lib/tuner.h"
#include "preload.h"
#include "util/clock.h"

#define DESCRIPTORS 1024 /* sockets of a higher number are not tuned */

/* By descriptor. Only one thread at a time uses an entry, another one does without. */
static struct entry {
	bool busy;
	uint64_t cookie; /* of the socket that is tuned; 0: none */
	__u64 due_us;
	struct tuner tuner;
} entries[DESCRIPTORS];

static struct tuner_limits limits;
static unsigned long long rate;
static char congestion_control[16];
static bool on;

static uint64_t cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t length = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) ? 0 : cookie;
}

static bool is_tcp(int fd)
{
	int protocol;
	socklen_t length = sizeof(protocol);

	return !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) &&
	       protocol == IPPROTO_TCP;
}

static void start(struct entry *e, int fd)
{
	memset(&e->tuner, 0, sizeof(e->tuner));
	e->due_us = 0;
	tuner_prepare(fd, rate, strcmp(congestion_control, "-") ? congestion_control : NULL);
	e->cookie = cookie_of(fd);
}

/*
 * Returns the entry of a descriptor, of which the caller is the only user until leave(); or NULL.
 */
static struct entry *enter(int fd)
{
	struct entry *e = &entries[fd];

	return __atomic_exchange_n(&e->busy, true, __ATOMIC_ACQUIRE) ? NULL : e;
}

static void leave(struct entry *e)
{
	__atomic_store_n(&e->busy, false, __ATOMIC_RELEASE);
}

static bool may_be_tuned(int fd)
{
	return on && fd >= 0 && fd < DESCRIPTORS;
}

/* A socket before connect(), or after accept(). */
static void manage(int fd)
{
	int error = errno;
	struct entry *e;

	if (!may_be_tuned(fd))
		return;
	e = is_tcp(fd) ? enter(fd) : NULL;
	if (e) {
		start(e, fd);
		leave(e);
	}
	errno = error;
}

/* Tunes a connection if it is time. The descriptor may be another file's by now. */
static void tick(int fd)
{
	int error = errno;
	struct entry *e;

	if (!may_be_tuned(fd) || !entries[fd].cookie ||
	    tcptuned_monotonic_us() < entries[fd].due_us)
		return;
	e = enter(fd);
	if (!e)
		return;
	if (cookie_of(fd) == e->cookie)
		tuner_tick(&e->tuner, &limits, fd, &e->due_us);
	else
		e->cookie = 0;
	leave(e);
	errno = error;
}

/* --- the functions of the C library that are wrapped ------------------------------------ */
ssize_t __read_chk(int fd, void *data, size_t size, size_t max);
ssize_t __recv_chk(int fd, void *data, size_t size, size_t max, int flags);
ssize_t __recvfrom_chk(int fd, void *data, size_t size, size_t max, int flags,
		       struct sockaddr *from, socklen_t *length);

/* Those that receive or send data by @fd. */
#define TRANSFERS(F)                                                                              \
	F(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))                     \
	F(ssize_t, __read_chk, (int fd, void *data, size_t size, size_t max),                     \
	  (fd, data, size, max))                                                                  \
	F(ssize_t, readv, (int fd, const struct iovec *data, int count), (fd, data, count))       \
	F(ssize_t, recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))   \
	F(ssize_t, __recv_chk, (int fd, void *data, size_t size, size_t max, int flags),          \
	  (fd, data, size, max, flags))                                                           \
	F(ssize_t, recvfrom,                                                                      \
	  (int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length), \
	  (fd, data, size, flags, from, length))                                                  \
	F(ssize_t, __recvfrom_chk,                                                                \
	  (int fd, void *data, size_t size, size_t max, int flags, struct sockaddr *from,         \
	   socklen_t *length),                                                                    \
	  (fd, data, size, max, flags, from, length))                                             \
	F(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))    \
	F(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))              \
	F(ssize_t, writev, (int fd, const struct iovec *data, int count), (fd, data, count))      \
	F(ssize_t, send, (int fd, const void *data, size_t size, int flags),                      \
	  (fd, data, size, flags))                                                                \
	F(ssize_t, sendto,                                                                        \
	  (int fd, const void *data, size_t size, int flags, const struct sockaddr *to,           \
	   socklen_t length),                                                                     \
	  (fd, data, size, flags, to, length))                                                    \
	F(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),                    \
	  (fd, message, flags))                                                                   \
	F(ssize_t, sendfile, (int fd, int from, off_t *offset, size_t size),                      \
	  (fd, from, offset, size))                                                               \
	F(ssize_t, sendfile64, (int fd, int from, off64_t *offset, size_t size),                  \
	  (fd, from, offset, size))

#define OTHERS(F)                                                                        \
	F(int, connect, (int fd, const struct sockaddr *to, socklen_t length), )         \
	F(int, accept, (int fd, struct sockaddr *from, socklen_t *length), )             \
	F(int, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags), ) \
	F(int, prctl, (int option, ...), )                                               \
	F(long, syscall, (long number, ...), )

#define DECLARE(type, name, parameters, arguments) static type(*next_##name) parameters;
#define RESOLVE(type, name, parameters, arguments) \
	next_##name = (type(*) parameters)dlsym(RTLD_NEXT, #name);

TRANSFERS(DECLARE)
OTHERS(DECLARE)

static void __attribute__((constructor)) prepare(void)
{
	const char *settings = getenv(PRELOAD_VARIABLE);

	TRANSFERS(RESOLVE)
	OTHERS(RESOLVE)
	on = settings &&
	     sscanf(settings, PRELOAD_FORMAT, &limits.rcvbuf, &limits.sndbuf, &limits.tuned_rcvbuf,
		    &limits.tuned_sndbuf, &limits.unsent, &rate, congestion_control) == 7;
}

/* The constructor of another library may come first. */
#define NEXT(name) (next_##name ? next_##name : (prepare(), next_##name))

#define DEFINE(type, name, parameters, arguments)   \
	type name parameters                        \
	{                                           \
		type result = NEXT(name) arguments; \
                                                    \
		if (result > 0)                     \
			tick(fd);                   \
		return result;                      \
	}

TRANSFERS(DEFINE)

int connect(int fd, const struct sockaddr *to, socklen_t length)
{
	manage(fd);
	return NEXT(connect)(fd, to, length);
}

int accept(int fd, struct sockaddr *from, socklen_t *length)
{
	int accepted = NEXT(accept)(fd, from, length);

	manage(accepted);
	return accepted;
}

int accept4(int fd, struct sockaddr *from, socklen_t *length, int flags)
{
	int accepted = NEXT(accept4)(fd, from, length, flags);

	manage(accepted);
	return accepted;
}

/* A program that filters its own system calls may be killed by one that it would not have made. */
int prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	on &= option != PR_SET_SECCOMP;
	return NEXT(prctl)(option, a[0], a[1], a[2], a[3]);
}

long syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	on &= number != SYS_seccomp && (number != SYS_prctl || a[0] != PR_SET_SECCOMP);
	return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
