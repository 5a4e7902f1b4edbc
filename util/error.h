/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exit statuses of both programs, and error messages. Scripts test the numbers, so that none is
 * ever reused. They differ from those of systemd and sysexits.h, except 2 and 4, which agree.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>

/* X(name, status, meaning). The man page is generated from it, too. */
#define TCPTUNED_EXIT_TABLE(X)                                                                   \
	X(OK, 0, "Success; of the daemon: it has stopped on request.")                           \
	X(INTERNAL, 1,                                                                           \
	  "A failure that has no status of its own, and may be gone at the next start: not "     \
	  "enough memory, a control group that was removed and created again, or a bug; of "     \
	  "tcptunectl streams: the destination cannot be measured.")                             \
	X(USAGE, 2, "The command line is wrong.")                                                \
	X(NOT_PERMITTED, 4,                                                                      \
	  "It lacks a permission: it was not started as root, or has to write to a read-only "   \
	  "file system; or there is no safe BPF file system to pin programs in, or no cgroup2 "  \
	  "tree to attach to.")                                                                  \
	X(CONFIG, 10,                                                                            \
	  "The configuration cannot be read or is wrong, or the address for metrics may not "    \
	  "be used.")                                                                            \
	X(IN_USE, 20,                                                                            \
	  "Another tcptuned runs, or has left connections tuned that --observe may not take "    \
	  "over; or another program uses the port for metrics, or a hook of the control group.") \
	X(KERNEL, 32, "The kernel lacks something that nothing works without.")                  \
	X(DAEMON, 40,                                                                            \
	  "Of tcptunectl: no tcptuned runs, it does not answer or refuses, it does not know "    \
	  "exactly one connection like the one that was named, or a check of doctor has failed.")

enum tcptuned_exit {
#define TCPTUNED_EXIT_ENUM(name, status, meaning) TCPTUNED_EXIT_##name = status,
	TCPTUNED_EXIT_TABLE(TCPTUNED_EXIT_ENUM)
#undef TCPTUNED_EXIT_ENUM
};

#define TCPTUNED_ERROR_TEXT 1024

/* One sentence says what failed, on what, and what to do. No newline, no "tcptuned:" before it. */
struct tcptuned_error {
	enum tcptuned_exit status;
	char text[TCPTUNED_ERROR_TEXT];
};

/*
 * Fill @err, unless it is NULL, with a status and a sentence, printf-like. Returns -@errnum, to end
 * a function by `return tcptuned_error_fill(err, EPERM, ...)`. An error is filled where it happens,
 * and passed on unchanged: a function with @err that returns a negative errno has filled it.
 */
int tcptuned_error_fill(struct tcptuned_error *err, int errnum, enum tcptuned_exit status,
			const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The same with the name of a constant status: FAIL(err, EPERM, NOT_PERMITTED, ...). */
#define FAIL(err, errnum, status, ...) \
	tcptuned_error_fill(err, errnum, TCPTUNED_EXIT_##status, __VA_ARGS__)

/* Fail because of the command line, or of a request. */
#define USAGE(err, ...) FAIL(err, EINVAL, USAGE, __VA_ARGS__)

/*
 * What to do about a file or directory that could not be read because of @errnum. Root is refused,
 * too, in the sandbox of a systemd unit.
 */
const char *tcptuned_error_remedy_to_read(int errnum);

/*
 * Fail because @path, which the configuration names as @key, could not be @done ("made", "opened"),
 * for the reason in errno: with TCPTUNED_EXIT_NOT_PERMITTED if a permission is lacking, or @other.
 */
int tcptuned_error_to_write(struct tcptuned_error *err, enum tcptuned_exit other, const char *key,
			    const char *path, const char *done);

/* True if @status is in the table. */
bool tcptuned_error_is_status(int status);
