/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Path memory: what connections have measured on the way to a prefix, for later ones, in
 * $XDG_STATE_HOME/tcptuned/paths.db. The file has the daemon's format (paths/database.h), the
 * arithmetic is in <tcptuned/algo/path.h>. No failure is fatal: without a file, paths are
 * remembered until the end.
 */
#pragma once

#include <limits.h>

#include <tcptuned/algo/path.h>

#include "connections.h"

#define MEMORY_PATHS	1024  /* of more, those that were not used for longest are forgotten */
#define MEMORY_EXPIRE_S 86400 /* the daemon's default (paths.expire_s) */

struct memory_paths {
	struct tcptuned_path_key keys[MEMORY_PATHS];
	struct tcptuned_path paths[MEMORY_PATHS]; /* times are Unix time */
	unsigned int len;
};

struct memory {
	char file[PATH_MAX]; /* "": there is no place for it */
	pid_t child;	     /* that reads or writes the file; 0: none */
	struct memory_paths known;
	struct memory_paths *read; /* what the child has read, shared with it; NULL: it writes */
};

/* Begin to read the file, if there is one, in a child. A damaged one is set aside and reported. */
void memory_open(struct memory *memory);

/* A child, @memory.child, has ended with @status. */
void memory_child_ended(struct memory *memory, int status);

/* End a child that reads. */
void memory_stop_reading(struct memory *memory);

/* Returns the receive window for @c, which has just been established, bytes; 0: unknown. */
unsigned int memory_window(const struct memory *memory, const struct connections *all,
			   const struct connection *c);

/*
 * Add to the file what connections have measured, unless an earlier call has, in a child; there
 * must be none. If that fails, it is reported, and the file is not used again. Returns whether
 * there is a child.
 */
bool memory_save(struct memory *memory, struct connections *all);
