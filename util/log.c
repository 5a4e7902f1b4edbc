// SPDX-License-Identifier: GPL-2.0-only
#include "util/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "util/text.h"

const char *const tcptuned_log_levels[] = {
	[TCPTUNED_LOG_ERROR] = "error",
	[TCPTUNED_LOG_WARNING] = "warning",
	[TCPTUNED_LOG_INFO] = "info",
	NULL,
};

/* Of syslog(3), and of the journal's prefix. */
static const int priorities[] = {
	[TCPTUNED_LOG_ERROR] = LOG_ERR,
	[TCPTUNED_LOG_WARNING] = LOG_WARNING,
	[TCPTUNED_LOG_INFO] = LOG_INFO,
};

static enum tcptuned_log_level log_level = TCPTUNED_LOG_INFO;
static bool to_syslog;

void tcptuned_log_set_level(enum tcptuned_log_level level)
{
	log_level = level;
}

void tcptuned_log_to_syslog(void)
{
	openlog("tcptuned", LOG_PID | LOG_NDELAY, LOG_DAEMON); /* the worker cannot connect */
	to_syslog = true;
}

/* systemd names the stream that it connected; a later redirection makes them differ. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t dev, ino;
	struct stat st;

	if (!stream || sscanf(stream, "%ju:%ju", &dev, &ino) != 2 || fstat(STDERR_FILENO, &st))
		return false;
	return dev == st.st_dev && ino == st.st_ino;
}

static void write_plain(enum tcptuned_log_level level, const char *text)
{
	struct timespec now;
	char time[32];

	clock_gettime(CLOCK_REALTIME, &now);
	strftime(time, sizeof(time), "%F %T", localtime(&now.tv_sec));
	dprintf(STDERR_FILENO, "%s.%03ld %s: %s\n", time, now.tv_nsec / 1000000,
		tcptuned_log_levels[level], text);
}

/*
 * Returns whether @line was sent to the journal, whose stream is a socket. The daemon does not wait
 * for a journald that hangs, because it has to release connections and to answer the watchdog.
 */
static bool send_to_journal(const char *line, size_t length)
{
	if (send(STDERR_FILENO, line, length, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	return errno == ENOTSOCK && write(STDERR_FILENO, line, length) >= 0;
}

static void write_journal(enum tcptuned_log_level level, const char *text)
{
	static unsigned int lost;
	char line[2200];
	int length = 0;

	if (lost)
		length = snprintf(line, sizeof(line),
				  "<%d>%u lines before this one are lost: the "
				  "journal did not take them\n",
				  LOG_WARNING, lost);
	length +=
		snprintf(line + length, sizeof(line) - length, "<%d>%s\n", priorities[level], text);
	lost = send_to_journal(line, length) ? 0 : lost + 1;
}

void tcptuned_log(enum tcptuned_log_level level, const char *fmt, ...)
{
	int saved_errno = errno;
	char text[2048];
	va_list args;

	if (level > log_level)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* A message stays one line, and what it quotes controls no terminal, in any encoding. */
	tcptuned_text_make_printable(text);
	if (to_syslog)
		syslog(priorities[level], "%s", text);
	else if (stderr_is_journal())
		write_journal(level, text);
	else
		write_plain(level, text);
	errno = saved_errno;
}

/* The lines of this attempt and of the one before, each between newlines. */
static char *lines_now, *lines_before;

void tcptuned_log_attempt(bool forget)
{
	free(lines_before);
	lines_before = lines_now;
	lines_now = NULL;
	if (!forget)
		return;
	free(lines_before);
	lines_before = NULL;
}

void tcptuned_log_once(enum tcptuned_log_level level, const char *fmt, ...)
{
	char text[1024], line[sizeof(text) + 2], *now;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	snprintf(line, sizeof(line), "\n%s\n", text);
	if (lines_now && strstr(lines_now, line))
		return;
	if (!lines_before || !strstr(lines_before, line))
		tcptuned_log(level, "%s", text);
	/* Without memory, the next attempt logs the line again. */
	if (asprintf(&now, "%s%s", lines_now ? lines_now : "", line) < 0)
		return;
	free(lines_now);
	lines_now = now;
}
