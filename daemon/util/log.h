/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log. What can fail hands a struct tcptuned_error back where the caller can decide what to do
 * about it; the daemon's own decisions are logged where they are made.
 */
#ifndef TCPTUNED_UTIL_LOG_H
#define TCPTUNED_UTIL_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum tcptuned_log_level {
	TCPTUNED_LOG_ERROR = 0,
	TCPTUNED_LOG_WARNING,
	TCPTUNED_LOG_INFO,
	TCPTUNED_LOG_DEBUG,
};

/*
 * One line, without newline at its end; printf-like. It goes to stderr: with the journal's
 * "<N>" priorities when stderr is the journal (JOURNAL_STREAM, systemd.exec(5)), else with the
 * time before it. After tcptuned_log_to_syslog(), to the system log. errno is kept.
 */
void tcptuned_log(enum tcptuned_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Say nothing below @level; TCPTUNED_LOG_INFO at first. */
void tcptuned_log_set_level(enum tcptuned_log_level level);

/* For a daemon that has let go of its terminal: what is logged goes to syslog(3) from now on. */
void tcptuned_log_to_syslog(void);

/*
 * Lines about a thing that is tried again every few seconds: a line is logged when it is new, and
 * not at each try. Begins as { 0 }.
 */
struct tcptuned_told {
	char **lines; /* of this try */
	size_t lines_len;
	char **before; /* of the try before it */
	size_t before_len;
};

/* A try begins. @anew: somebody has asked for it, who is told all that is amiss. */
void tcptuned_told_begin(struct tcptuned_told *told, bool anew);

/* Log a line, printf-like, unless the try before this one has had the same. */
void tcptuned_told_log(struct tcptuned_told *told, enum tcptuned_log_level level, const char *fmt,
		       ...) __attribute__((format(printf, 3, 4)));

void tcptuned_told_free(struct tcptuned_told *told);

#endif
