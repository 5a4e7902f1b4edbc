/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How tcptuned ends: one exit status for each kind of failure, and the sentence that goes
 * with it. The numbers are an interface (scripts and monitoring test them): never reuse one.
 * They stay clear of those that systemd and sysexits.h give a meaning of their own, but for
 * 2 and 4, which mean here what they mean there.
 */
#ifndef TCPTUNED_UTIL_ERROR_H
#define TCPTUNED_UTIL_ERROR_H

#include <stddef.h>

/* X(name, status, meaning): the man page's table too. */
#define TCPTUNED_EXIT_TABLE(X)                                                                 \
	X(OK, 0, "It did what was asked, or was told to stop and stopped.")                    \
	X(INTERNAL, 1, "A failure that has no status of its own: a defect, or no memory.")     \
	X(USAGE, 2, "The command line is wrong.")                                              \
	X(NOT_PERMITTED, 4,                                                                    \
	  "Permission is missing: it was not started as root, or has to write where it may "   \
	  "not, as on a read-only file system.")                                               \
	X(CONFIG_MISSING, 10, "A configuration file that was named does not exist.")           \
	X(CONFIG_UNREADABLE, 11,                                                               \
	  "A configuration file or its drop-in directory cannot be read, or is no file.")      \
	X(CONFIG_SYNTAX, 12, "A line of the configuration is neither section, key nor comment.") \
	X(CONFIG_UNKNOWN, 13, "The configuration names a section or key that does not exist.") \
	X(CONFIG_DUPLICATE, 14, "A key is given twice in one file.")                           \
	X(CONFIG_TYPE, 15, "A value is not of the key's type.")                                \
	X(CONFIG_RANGE, 16, "A value is of the right type, but out of range.")                 \
	X(CONFIG_INCONSISTENT, 17, "Values are valid each, but contradict each other.")        \
	X(RUNNING, 20,                                                                         \
	  "Another tcptuned runs; or, of a dry run, one that was killed has left connections " \
	  "tuned.")                                                                            \
	X(PORT_IN_USE, 21, "The port for metrics is in use by another program.")               \
	X(ADDRESS, 22,                                                                         \
	  "The address for metrics is none, or may not be used; or systemd passed more than "  \
	  "one socket, or one that does not listen.")                                          \
	X(NO_BPFFS, 30, "There is no BPF file system to pin programs in.")                     \
	X(NO_CGROUP2, 31, "There is no cgroup2 tree to attach to.")                            \
	X(KERNEL, 32, "The kernel lacks something that nothing works without.")                \
	X(HOOK_TAKEN, 33,                                                                      \
	  "Other programs hold a hook of the control group, alone or as many as there may be.")  \
	X(CGROUP_REPLACED, 34,                                                                 \
	  "The control group was removed while it ran, and made anew: the next start attaches.")

/* Of tcptunectl, which uses the others too. */
#define TCPTUNED_CTL_EXIT_TABLE(X)                                                             \
	X(NOT_RUNNING, 40, "No tcptuned runs, and none has left anything to be looked at.")    \
	X(NO_FLOW, 41, "No connection is the one that was named, or more than one is.")        \
	X(DAEMON, 42,                                                                          \
	  "The daemon did not answer, or not as it should; or it refused: too many clients, "  \
	  "or a stop where tcptuned.socket would start it again.")

enum tcptuned_exit {
#define TCPTUNED_EXIT_ENUM(name, status, meaning) TCPTUNED_EXIT_##name = status,
	TCPTUNED_EXIT_TABLE(TCPTUNED_EXIT_ENUM)
	TCPTUNED_CTL_EXIT_TABLE(TCPTUNED_EXIT_ENUM)
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
