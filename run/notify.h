/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests for buffer sizes, by seccomp user notification: SO_RCVBUF and SO_SNDBUF of a TCP socket
 * are withheld from the kernel, whose autotuning they would end, and getsockopt() returns what the
 * kernel would have returned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/tuner.h"

#define NOTIFY_SOCKETS 4096 /* of which requests are remembered */

struct notify_request {
	unsigned int inode;
	unsigned int bytes[2]; /* getsockopt() of SO_RCVBUF, SO_SNDBUF; 0: the kernel's */
	bool honoured[2];      /* an earlier request was passed on, and so will be later ones */
};

struct notify {
	int fd; /* of the listener; -1: none */
	struct tuner_limits limits;
	bool own_notifier; /* the command has tried to install its own, and has been reported */
	bool refused;	   /* a process could not be looked at, which has been reported */
	void *notification, *response;
	size_t notification_size, response_size;
	struct notify_request requests[NOTIFY_SOCKETS]; /* by inode */
};

/*
 * Install the filter in this process, for it and its children; it also gives up that executables
 * can raise privileges (PR_SET_NO_NEW_PRIVS). Returns the listener, or an error of the system;
 * -EBUSY: there is another one.
 */
int notify_install(void);

/* Prepare to answer. Returns 0, or an error of the system. */
int notify_init(struct notify *notify, int fd);

/* Answer one notification. */
void notify_answer(struct notify *notify);

/* The memory of the request of a socket that is withheld, bytes; 0: none. */
unsigned int notify_withheld(struct notify *notify, unsigned int inode, bool receive);

/* True if a request for @bytes of a buffer has to be withheld. */
bool notify_withholds(const struct tuner_limits *limits, bool receive, int bytes);
