/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is at the other end of a TCP connection that stays within this network namespace. */
#ifndef TCPTUNED_PEER_H
#define TCPTUNED_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The user who made the socket that @fd, a connected TCP socket, is connected to; asked of the
 * kernel's socket diagnostics (sock_diag(7)). Returns 0 with @ret filled; -ENOENT when no process
 * of this network namespace has such a socket, or not any more, or it is bound to a device other
 * than lo; or another negative errno.
 */
int tcptuned_peer_uid(int fd, uid_t *ret);

/* Whether this kernel has socket diagnostics for TCP (tcp_diag, which may be a module). */
bool tcptuned_peer_can_ask(void);

#endif
