/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Right-sizing of a program's own TCP sockets, without privileges, as tcptune-run --tune does it
 * for programs that are not changed.
 */
#ifndef TCPTUNED_SOCKET_H
#define TCPTUNED_SOCKET_H

#ifdef __cplusplus
extern "C" {
#endif

/* Tune this direction only; 0: both. */
#define TCPTUNED_SOCKET_RECEIVE 1u
#define TCPTUNED_SOCKET_SEND	2u

/* What is remembered of a connection. free() releases it; the socket is not closed. */
struct tcptuned_socket;

/*
 * Prepare the TCP socket @fd before connect() or listen(), or after accept(): a buffer that was
 * fixed by SO_RCVBUF or SO_SNDBUF, of 16 KiB or more, is sized by the kernel again. Returns an
 * allocated structure, or NULL and errno: EINVAL, a flag is unknown; EOPNOTSUPP, not a TCP socket;
 * ENOMEM.
 */
struct tcptuned_socket *tcptuned_socket(int fd, unsigned int flags);

/*
 * Tune the connection, which takes a few system calls. Returns the microseconds after which it
 * should be called again, one round trip or more; an earlier call returns at once. On failure it
 * returns a negative error number, and the connection goes on as it is. Where tcptuned runs nothing
 * is set.
 */
int tcptuned_tick(struct tcptuned_socket *socket);

#ifdef __cplusplus
}
#endif

#endif
