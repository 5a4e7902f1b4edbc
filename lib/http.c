// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Ranges of a file, read by curl: one process, a connection of its own for each range (HTTP/1.1). A run of
 * no streams asks for the size of the file.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe.h"

#define MARK	    "tcptuned"
#define FORMAT	    "\n" MARK " %{http_code} %{exitcode} %{size_download} %{errormsg}\n"
#define FILE_MIN    (1ull << 20)
#define ASK_SECONDS "6"
#define TIMED_OUT   28 /* of curl: the measurement ended before the range */
#define TOO_LARGE   63 /* of curl: --max-filesize, since the server sends the whole file */

/* The arguments of each range, behind those that are the same for all. */
static char *const common[] = {
	"--http1.1",  "--silent", "--show-error", "--globoff",
	"--location", "--proto",  "=http,https",  "--connect-timeout",
	"5",	      "--output", "/dev/null",	  "--write-out",
	FORMAT,
};
static char *const of_all[] = {"curl",		 "--disable", "--parallel", "--parallel-immediate",
			       "--parallel-max", "200"};
/* A server that redirects may send a page with it; one without ranges sends the whole file. */
static char *const to_ask[] = {"--dump-header", "-",   "--max-filesize", "100000",
			       "--range",	"0-0", "--max-time",	 ASK_SECONDS};

#define LEN(array)	    (sizeof(array) / sizeof(*(array)))
#define ARGUMENTS_PER_RANGE (LEN(common) + LEN(to_ask) + 4)
#define TEXT		    48

static char **put(char **to, char *const *arguments, size_t len)
{
	memcpy(to, arguments, len * sizeof(*arguments));
	return to + len;
}

static char **make_arguments(const struct probe_run *run)
{
	size_t pointers = LEN(of_all) + (run->streams + 1) * ARGUMENTS_PER_RANGE;
	char **argv = calloc(1, pointers * sizeof(*argv) + (run->streams + 1) * TEXT), **to = argv;
	char *text = (char *)(argv + pointers), *seconds = text;

	if (!argv)
		return NULL;
	snprintf(seconds, TEXT, "%u.5", run->omit_seconds + run->seconds);
	to = put(to, of_all, LEN(of_all));
	for (unsigned int i = 0; i < (run->streams ? run->streams : 1); i++) {
		char *range[] = {"--range", text += TEXT, "--max-time", seconds};

		if (i)
			*to++ = "--next";
		to = put(to, common, LEN(common));
		if (run->streams) {
			snprintf(text, TEXT, "%llu-%llu", run->file_bytes / run->streams * i,
				 run->file_bytes / run->streams * (i + 1) - 1);
			to = put(to, range, LEN(range));
		} else {
			text -= TEXT;
			to = put(to, to_ask, LEN(to_ask));
		}
		*to++ = (char *)run->destination;
	}
	return argv;
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
		unsigned long long bytes;
		char message[160];
		int at = 0;

		line++;
		if (sscanf(line, MARK " %u %u %llu %n", &status, &code, &bytes, &at) < 3 || !at)
			continue;
		/* Without a message, %n has also skipped the end of the line. */
		snprintf(message, sizeof(message), "%.*s",
			 line[at - 1] == '\n' ? 0 : (int)strcspn(line + at, "\r\n"), line + at);
		ret->bytes += (double)bytes;
		ranges++;
		if (!err && !ret->refused)
			err = judge_range(run, status, code, message, ret, error, error_size);
	}
	if (!ranges) {
		snprintf(error, error_size, "curl: %.*s",
			 len ? (int)strcspn(output, "\r\n") : INT_MAX,
			 len ? output : "printed nothing");
		err = -EPROTO;
	}
	probe_make_printable(error);
	if (err || ret->refused || run->streams)
		return err;
	ret->file_bytes = read_size(output);
	if (ret->file_bytes >= FILE_MIN)
		return 0;
	snprintf(error, error_size, "the file has %llu bytes: too few to measure anything",
		 ret->file_bytes);
	return -EPROTO;
}

const struct probe_kind probe_http = {make_arguments, read_report};
