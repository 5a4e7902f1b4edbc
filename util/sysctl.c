// SPDX-License-Identifier: GPL-2.0-only
#include "util/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

int tcptuned_sysctl_open(const char *name, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	for (char *dot = path; (dot = strchr(dot, '.'));)
		*dot = '/';
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int tcptuned_sysctl_read(const char *name, char *value, int size)
{
	_cleanup_close_ int fd = tcptuned_sysctl_open(name, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, value, size - 1);
	if (n < 0)
		return -errno;
	if (n == size - 1 && value[n - 1] != '\n')
		return -EOVERFLOW;
	value[n] = '\0';
	value[strcspn(value, "\n")] = '\0';
	for (char *p = value; *p; p++)
		if (*p == '\t')
			*p = ' ';
	return 0;
}

uint64_t tcptuned_sysctl_number(const char *name, int index)
{
	char line[256], *field = line;

	if (tcptuned_sysctl_read(name, line, sizeof(line)))
		return 0;
	while (index-- > 0) {
		field += strcspn(field, " ");
		field += strspn(field, " ");
	}
	return strtoull(field, NULL, 10);
}
