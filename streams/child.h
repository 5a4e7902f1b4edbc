/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A child process whose output is read through a pipe. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct child {
	pid_t pid;  /* 0: none; it leads a process group of its own */
	int output; /* its standard output and error, not blocking; -1: none */
	char *text; /* that was read of it, and a NUL */
	size_t len;
};

/*
 * Start @argv[0], found in PATH, with @input as its standard input. Returns 0; -ENOENT: it is not
 * installed; other errors of the system.
 */
int child_start(struct child *child, char *const argv[], const char *input);

/*
 * Read what is there. Returns 1: more may come; 0: that was the end; -EFBIG, or an error of the
 * system.
 */
int child_read(struct child *child);

/* End it, and release everything. Returns the seconds of a processor that it has used. */
double child_end(struct child *child);
