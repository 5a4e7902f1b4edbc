/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log. Only main.c writes to it: everything else hands a struct tcptuned_error back and
 * lets the caller decide.
 */
#ifndef TCPTUNED_LOG_H
#define TCPTUNED_LOG_H

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

#endif
