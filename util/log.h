/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log. A function that can fail fills a struct tcptuned_error, and the caller decides what to
 * do about it; the daemon's own decisions are logged where they are made.
 */
#pragma once

#include <stdbool.h>

enum tcptuned_log_level {
	TCPTUNED_LOG_ERROR = 0,
	TCPTUNED_LOG_WARNING,
	TCPTUNED_LOG_INFO,
};

/* Their names, ended by NULL. */
extern const char *const tcptuned_log_levels[];

/*
 * Log one line, printf-like, without a newline. It goes to stderr, with the journal's "<N>"
 * priorities if stderr is the journal (JOURNAL_STREAM, systemd.exec(5)), else with the time; or to
 * the system log after tcptuned_log_to_syslog(). errno is kept.
 */
void tcptuned_log(enum tcptuned_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(...)	 tcptuned_log(TCPTUNED_LOG_ERROR, __VA_ARGS__)
#define log_warning(...) tcptuned_log(TCPTUNED_LOG_WARNING, __VA_ARGS__)
#define log_info(...)	 tcptuned_log(TCPTUNED_LOG_INFO, __VA_ARGS__)

/* Log nothing below @level; TCPTUNED_LOG_INFO at first. */
void tcptuned_log_set_level(enum tcptuned_log_level level);

/* Log to syslog(3) from now on, for a daemon that has left its terminal. */
void tcptuned_log_to_syslog(void);

/*
 * Begin an attempt at what is tried every few seconds. @forget: an administrator has requested it,
 * so log everything.
 */
void tcptuned_log_attempt(bool forget);

/* Log a line, printf-like, unless the previous attempt has logged the same. */
void tcptuned_log_once(enum tcptuned_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_warning_once(...) tcptuned_log_once(TCPTUNED_LOG_WARNING, __VA_ARGS__)
#define log_info_once(...)    tcptuned_log_once(TCPTUNED_LOG_INFO, __VA_ARGS__)
