// SPDX-License-Identifier: GPL-2.0-only
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/text.h"

int tcptuned_error_fill(struct tcptuned_error *err, int errnum, enum tcptuned_exit status,
			const char *fmt, ...)
{
	va_list args;

	if (err) {
		err->status = status;
		va_start(args, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, args);
		va_end(args);
		/* It may quote input, and JSON has to be UTF-8. */
		tcptuned_text_make_printable(err->text);
	}
	return -errnum;
}

static bool is_refusal(int errnum)
{
	return errnum == EACCES || errnum == EPERM;
}

const char *tcptuned_error_remedy_to_read(int errnum)
{
	if (!is_refusal(errnum))
		return "check the file system";
	if (geteuid())
		return "run tcptuned as root, or allow it to be read";
	return "root is refused as well: under systemd, tcptuned.service sees nothing of /home, "
	       "/root and /tmp, and of other places what root owns or all may read; move it, to "
	       "/etc/tcptuned for instance";
}

int tcptuned_error_to_write(struct tcptuned_error *err, enum tcptuned_exit other, const char *key,
			    const char *path, const char *done)
{
	int errnum = errno;
	const char *remedy = "check the file system";

	if (is_refusal(errnum) || errnum == EROFS) {
		other = TCPTUNED_EXIT_NOT_PERMITTED;
		remedy = "under systemd, allow it by ReadWritePaths= in a drop-in (systemctl edit "
			 "tcptuned); else name another directory";
	}
	if (is_refusal(errnum) && geteuid())
		remedy = "run tcptuned as root";
	return tcptuned_error_fill(err, errnum, other, "%s: %s cannot be %s: %s; %s", key, path,
				   done, strerror(errnum), remedy);
}

bool tcptuned_error_is_status(int status)
{
#define IS_STATUS(name, number, meaning) status == number ||
	return TCPTUNED_EXIT_TABLE(IS_STATUS) false;
#undef IS_STATUS
}
