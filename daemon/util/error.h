/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exit statuses of tcptuned and tcptunectl, and the sentence that goes with one. Scripts and
 * monitoring test the numbers, so none is ever reused. They differ from those that systemd and
 * sysexits.h define, except 2 and 4, which mean the same there.
 */
#ifndef TCPTUNED_UTIL_ERROR_H
#define TCPTUNED_UTIL_ERROR_H

#include <stddef.h>

/* X(name, status, meaning): the man page's table too. */
#define TCPTUNED_EXIT_TABLE(X)                                                                 \
	X(OK, 0, "It did what was asked, or was told to stop and stopped.")                    \
	X(INTERNAL, 1,                                                                         \
	  "A failure that has no status of its own, and may be gone at the next start: no "    \
	  "memory, a control group that was removed and made anew, or a defect.")              \
	X(USAGE, 2, "The command line is wrong.")                                              \
	X(NOT_PERMITTED, 4,                                                                    \
	  "It may not do what it has to: it was not started as root, or has to write to a "    \
	  "read-only file system; or there is no safe BPF file system to pin programs in, or " \
	  "no cgroup2 tree to attach to.")                                                     \
	X(CONFIG, 10,                                                                          \
	  "The configuration cannot be read or is wrong, or the address for metrics may not "  \
	  "be used.")                                                                          \
	X(IN_USE, 20,                                                                          \
	  "Another tcptuned runs, or has left connections tuned that a dry run may not take "  \
	  "over; or another program uses the port for metrics, or a hook of the control group.") \
	X(KERNEL, 32, "The kernel lacks something that nothing works without.")                \
	X(DAEMON, 40,                                                                          \
	  "Of tcptunectl: no tcptuned runs, it does not answer or refuses, or it does not "    \
	  "know exactly one connection like the one that was named.")

enum tcptuned_exit {
#define TCPTUNED_EXIT_ENUM(name, status, meaning) TCPTUNED_EXIT_##name = status,
	TCPTUNED_EXIT_TABLE(TCPTUNED_EXIT_ENUM)
#undef TCPTUNED_EXIT_ENUM
};

#define TCPTUNED_ERROR_TEXT 1024

/* What failed, on what, and what to do: one sentence, no newline, no "tcptuned:" before it. */
struct tcptuned_error {
	enum tcptuned_exit status;
	char text[TCPTUNED_ERROR_TEXT];
};

/*
 * Fill @err (NULL: nothing is filled) with a status and a sentence; printf-like. Returns
 * @errnum made negative, so that `return tcptuned_fail(err, EPERM, ...)` ends a function.
 * Errors are filled where they happen, and passed on unchanged.
 */
int tcptuned_fail(struct tcptuned_error *err, int errnum, enum tcptuned_exit status,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Of a file or directory that could not be opened for reading, or not be made or written, with
 * @errnum: what to do. Root is refused too, where a unit of systemd fences it in.
 */
const char *tcptuned_remedy_to_read(int errnum);
const char *tcptuned_remedy_to_write(int errnum);

/* The status of a failure with @errnum: that of missing permission, or else @other. */
enum tcptuned_exit tcptuned_exit_of(int errnum, enum tcptuned_exit other);

/* The meaning of a status, one sentence; NULL for a number that tcptuned does not use. */
const char *tcptuned_exit_meaning(int status);

#endif
