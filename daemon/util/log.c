// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "util/log.h"

static const struct {
	const char *name;
	int priority; /* of syslog(3), and of the journal's prefix */
} levels[] = {
	[TCPTUNED_LOG_ERROR] = {"error", LOG_ERR},
	[TCPTUNED_LOG_WARNING] = {"warning", LOG_WARNING},
	[TCPTUNED_LOG_INFO] = {"info", LOG_INFO},
	[TCPTUNED_LOG_DEBUG] = {"debug", LOG_DEBUG},
};

static enum tcptuned_log_level log_level = TCPTUNED_LOG_INFO;
static bool to_syslog;

void tcptuned_log_set_level(enum tcptuned_log_level level)
{
	log_level = level;
}

void tcptuned_log_to_syslog(void)
{
	openlog("tcptuned", LOG_PID, LOG_DAEMON);
	to_syslog = true;
}

/* systemd names the stream that it connected; a redirection since then makes them differ. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t dev, ino;
	struct stat st;

	if (!stream || sscanf(stream, "%ju:%ju", &dev, &ino) != 2 || fstat(STDERR_FILENO, &st))
		return false;
	return dev == st.st_dev && ino == st.st_ino;
}

/* A line stays one line, and a terminal is not at the mercy of what a message quotes. */
static void blank_controls(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
}

static void write_plain(enum tcptuned_log_level level, const char *text)
{
	struct timespec now;
	char time[32] = "";
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	if (localtime_r(&now.tv_sec, &tm))
		strftime(time, sizeof(time), "%F %T", &tm);
	dprintf(STDERR_FILENO, "%s.%03ld %s: %s\n", time, now.tv_nsec / 1000000,
		levels[level].name, text);
}

/*
 * Whether all of @line went to the journal, whose stream is a socket. A journald that hangs would have
 * the daemon wait, which has connections to give back and the watchdog to answer.
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
		length = snprintf(line, sizeof(line), "<%d>%u lines before this one are lost: the "
				  "journal did not take them\n", LOG_WARNING, lost);
	length += snprintf(line + length, sizeof(line) - length, "<%d>%s\n",
			   levels[level].priority, text);
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
	blank_controls(text);
	if (to_syslog)
		syslog(levels[level].priority, "%s", text);
	else if (stderr_is_journal())
		write_journal(level, text);
	else
		write_plain(level, text);
	errno = saved_errno;
}

/* ---- once -------------------------------------------------------------------------------- */

static void free_lines(char ***lines, size_t *len)
{
	for (size_t i = 0; i < *len; i++)
		free((*lines)[i]);
	free(*lines);
	*lines = NULL;
	*len = 0;
}

void tcptuned_told_begin(struct tcptuned_told *told, bool anew)
{
	free_lines(&told->before, &told->before_len);
	if (anew)
		free_lines(&told->lines, &told->lines_len);
	told->before = told->lines;
	told->before_len = told->lines_len;
	told->lines = NULL;
	told->lines_len = 0;
}

static bool was_told(const struct tcptuned_told *told, const char *line)
{
	for (size_t i = 0; i < told->before_len; i++)
		if (!strcmp(told->before[i], line))
			return true;
	return false;
}

/* What there is no memory for is told once more. */
static void remember(struct tcptuned_told *told, const char *line)
{
	char **lines = realloc(told->lines, (told->lines_len + 1) * sizeof(*lines));

	if (!lines)
		return;
	told->lines = lines;
	lines[told->lines_len] = strdup(line);
	if (lines[told->lines_len])
		told->lines_len++;
}

void tcptuned_told_log(struct tcptuned_told *told, enum tcptuned_log_level level, const char *fmt,
		       ...)
{
	char line[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (!was_told(told, line))
		tcptuned_log(level, "%s", line);
	remember(told, line);
}

void tcptuned_told_free(struct tcptuned_told *told)
{
	free_lines(&told->lines, &told->lines_len);
	free_lines(&told->before, &told->before_len);
}
