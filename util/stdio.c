// SPDX-License-Identifier: GPL-2.0-only
#include "util/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void tcptuned_stdio_occupy(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

int tcptuned_stdio_flush(struct tcptuned_error *err)
{
	if (!fflush(stdout))
		return 0;
	return FAIL(err, errno, INTERNAL, "standard output: %s", strerror(errno));
}
