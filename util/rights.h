/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of a fixed size, each with a descriptor or none, over a pair of sockets (unix(7)). */
#pragma once

#include <stddef.h>

/* Send @data, with a descriptor (-1: none). Returns 0, or a negative errno. */
int tcptuned_rights_send(int pair, const void *data, size_t size, int fd);

/* Receive as much, with its descriptor (-1: none). Returns 0, or a negative errno. */
int tcptuned_rights_receive(int pair, void *data, size_t size, int *ret_fd, int flags);
