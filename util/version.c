// SPDX-License-Identifier: GPL-2.0-only
#include "util/version.h"

#include <stdio.h>
#include <sys/utsname.h>

const char tcptuned_version_revision[] = REVISION;

void tcptuned_version_print(const char *program)
{
	const char *revision = tcptuned_version_revision;

	printf("%s " TCPTUNED_VERSION "%s%s%s\n", program, *revision ? " (" : "", revision,
	       *revision ? ")" : "");
}

bool tcptuned_version_is_linux(unsigned int major, unsigned int minor)
{
	unsigned int has_major, has_minor;
	struct utsname host;

	return !uname(&host) && sscanf(host.release, "%u.%u", &has_major, &has_minor) == 2 &&
	       (has_major > major || (has_major == major && has_minor >= minor));
}
