// SPDX-License-Identifier: GPL-2.0-only
#include "pin.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>

int tcptuned_pin_replace(int fd, const char *path, const char *new)
{
	int error;

	unlink(new); /* of one that was killed */
	if (bpf_obj_pin(fd, new))
		return -errno;
	if (!rename(new, path))
		return 0;
	error = -errno;
	unlink(new);
	return error;
}
