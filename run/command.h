/* SPDX-License-Identifier: GPL-2.0-only */
/* The command: its start, and how this process ends like it. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* What the command inherits as without tcptune-run. */
struct command_signals {
	sigset_t mask;
	struct sigaction child; /* of SIGCHLD: if it is ignored, no child can be waited for */
};

/*
 * A message from the watcher to the process that was started, or from the child to the watcher. If
 * the command has ended first, the watcher remains for its children.
 */
struct command_message {
	enum {
		COMMAND_NOT_FORKED,
		COMMAND_FILTERED,
		COMMAND_NOT_FILTERED,
		COMMAND_NOT_STARTED,
		COMMAND_STARTED,
		COMMAND_ENDED,
		COMMAND_ENDED_FIRST
	} kind;
	int value; /* an errno, a process ID, or a status of waitpid() */
};

/* Send a message, and with it a descriptor, unless that is negative. */
void command_send(int channel, int kind, int value, int fd);

/*
 * Wait for a message; its descriptor, if any, replaces @fd. Returns false if the other end is
 * closed.
 */
bool command_receive(int channel, struct command_message *ret, int *fd);

/*
 * Start @command, under a seccomp filter if @filter. Returns its process ID, and in @listener the
 * filter's listener or -1. Otherwise: -1, and in @failure what failed.
 */
pid_t command_start(char **command, const struct command_signals *signals, bool filter,
		    int *listener, struct command_message *failure);

/*
 * Close what this process has inherited, so that a reader or writer at the other end sees when the
 * command closes it; of the standard files only those below @standard, which become /dev/null.
 */
void command_close_inherited(int standard);

/* End this process as the one whose status of waitpid() is @status. */
_Noreturn void command_end_like(int status);
