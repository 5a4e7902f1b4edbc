// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Ranges of a file, read by curl: one process, a connection of its own for each range (HTTP/1.1). A
 * run of no streams asks for the size of the file. curl reads its options from standard input,
 * since a URL, which may have a password, would be seen in the list of processes.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "streams/probe.h"

#define MARK	  "tcptuned"
#define FORWARD	  "\nto "
#define FILE_MIN  (1ull << 20)
#define TIMED_OUT 28 /* of curl: the measurement ended before the range */
#define TOO_LARGE 63 /* of curl: --max-filesize, since the server sends the whole file */

/* The options of each range that are the same for all. */
static const char common[] =
	"http1.1\nsilent\nshow-error\ngloboff\nproto = \"=http,https\"\nconnect-timeout = 5\n"
	"output = /dev/null\nwrite-out = \"\\n" MARK
	" %{http_code} %{exitcode} %{size_download} %{errormsg}\\nto %{redirect_url}\\n\"\n";
/* A server that redirects may send a page with it; one without ranges sends the whole file. */
static const char to_ask[] = "dump-header = -\nmax-filesize = 100000\nrange = 0-0\nmax-time = 6\n";

static char **make_arguments(const struct probe_run *run)
{
	static char *const arguments[] = {"curl",
					  "--disable",
					  "--parallel",
					  "--parallel-immediate",
					  "--parallel-max",
					  "200",
					  "--config",
					  "-",
					  NULL};
	char **ret = malloc(sizeof(arguments));

	return ret ? memcpy(ret, arguments, sizeof(arguments)) : NULL;
}

static void put_url(FILE *out, const char *url)
{
	fputs("url = \"", out);
	for (; *url; url++) {
		if (*url == '"' || *url == '\\' || *url == '\n')
			fputc('\\', out);
		fputc(*url == '\n' ? 'n' : *url, out);
	}
	fputs("\"\n", out);
}

static char *make_input(const struct probe_run *run)
{
	unsigned long long bytes = run->streams ? run->file_bytes / run->streams : 0;
	unsigned int i = 0;
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);

	if (!out)
		return NULL;
	do {
		fprintf(out, "%s%s", i ? "next\n" : "", common);
		if (run->streams)
			fprintf(out, "range = %llu-%llu\nmax-time = %u.5\n", bytes * i,
				bytes * (i + 1) - 1, run->omit_seconds + run->seconds);
		else
			fputs(to_ask, out);
		put_url(out, run->destination);
	} while (++i < run->streams);
	if (!fclose(out))
		return ret;
	free(ret);
	return NULL;
}

size_t probe_find_host(const char *url, const char **ret)
{
	const char *host = strstr(url, "://"), *at;

	host = host ? host + 3 : url;
	at = memrchr(host, '@', strcspn(host, "/?#"));
	host = at ? at + 1 : host;
	*ret = *host == '[' ? host + 1 : host;
	return *host == '[' ? strcspn(*ret, "]") : strcspn(host, ":/?#");
}

/*
 * Only a redirect to another path, port or scheme of the same host is followed: which other host is
 * measured, perhaps one that only this host can reach, is not for the server to choose.
 */
static int follow(const struct probe_run *run, const char *url, struct probe_report *ret,
		  char *error, size_t size)
{
	size_t len = strcspn(url, "\r\n");
	const char *from, *to;
	size_t from_len = probe_find_host(run->destination, &from);
	size_t to_len = probe_find_host(url, &to);

	if (from_len == to_len && !strncasecmp(from, to, to_len) && len < sizeof(ret->redirect)) {
		memcpy(ret->redirect, url, len);
		return 0;
	}
	snprintf(error, size,
		 "the server redirects to another host; measure that one, if it is meant: %.*s",
		 (int)len, url);
	return -EPROTO;
}

/* The size of the whole file in "Content-Range: bytes 0-0/SIZE"; 0: there is none. */
static unsigned long long read_size(const char *output)
{
	static const char name[] = "content-range:";
	unsigned long long size = 0;

	for (const char *line = output; line; line = strchr(line, '\n')) {
		const char *slash;

		line += *line == '\n';
		if (strncasecmp(line, name, strlen(name)))
			continue;
		slash = memchr(line, '/', strcspn(line, "\n"));
		size = slash ? strtoull(slash + 1, NULL, 10) : 0;
	}
	return size;
}

/* One line that curl has printed about a range. Returns 0, or -EPROTO and a reason in @error. */
static int judge_range(const struct probe_run *run, unsigned int status, unsigned int code,
		       const char *message, struct probe_report *ret, char *error, size_t size)
{
	if (status == 429 || status == 503) {
		snprintf(error, size, "the server refuses with status %u: it limits requests",
			 status);
		ret->refused = 1;
	} else if (status == 200 && (code == 0 || code == TIMED_OUT || code == TOO_LARGE)) {
		snprintf(error, size,
			 "the server does not serve ranges of this file: it sends all of it");
	} else if (status && status != 206) {
		snprintf(error, size, "the server answers with status %u", status);
	} else if (code && !(code == TIMED_OUT && status == 206 && run->streams)) {
		snprintf(error, size, "curl: %s", *message ? message : "failed");
		ret->busy = !status;
	} else {
		return 0;
	}
	return ret->refused ? 0 : -EPROTO;
}

static int read_report(const struct probe_run *run, const char *output, size_t len,
		       struct probe_report *ret, char *error, size_t error_size)
{
	unsigned int ranges = 0, status, code;
	int err = 0;

	for (const char *line = output; (line = strstr(line, "\n" MARK " "));) {
		const char *next = strchr(++line, '\n');
		unsigned long long bytes;
		char message[160];
		int at = 0;

		if (sscanf(line, MARK " %u %u %llu %n", &status, &code, &bytes, &at) < 3 || !at)
			continue;
		/* Without a message, %n has also skipped the end of the line. */
		snprintf(message, sizeof(message), "%.*s",
			 line[at - 1] == '\n' ? 0 : (int)strcspn(line + at, "\r\n"), line + at);
		ret->bytes += (double)bytes;
		ranges++;
		if (!run->streams && next && !strncmp(next, FORWARD, strlen(FORWARD)) &&
		    next[strlen(FORWARD)] != '\n')
			err = follow(run, next + strlen(FORWARD), ret, error, error_size);
		else if (!err && !ret->refused)
			err = judge_range(run, status, code, message, ret, error, error_size);
	}
	if (!ranges) {
		snprintf(error, error_size, "curl: %.*s",
			 len ? (int)strcspn(output, "\r\n") : INT_MAX,
			 len ? output : "printed nothing");
		err = -EPROTO;
	}
	probe_make_printable(error);
	if (err || ret->refused || run->streams || *ret->redirect)
		return err;
	ret->file_bytes = read_size(output);
	if (ret->file_bytes >= FILE_MIN)
		return 0;
	snprintf(error, error_size, "the file has %llu bytes: too few to measure anything",
		 ret->file_bytes);
	return -EPROTO;
}

const struct probe_kind probe_http = {make_arguments, make_input, read_report};
