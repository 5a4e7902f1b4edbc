// SPDX-License-Identifier: GPL-2.0-only
#include "util/version.h"

#include <stdio.h>

const char tcptuned_version_revision[] = REVISION;

void tcptuned_version_print(const char *program)
{
	const char *revision = tcptuned_version_revision;

	printf("%s " TCPTUNED_VERSION "%s%s%s\n", program, *revision ? " (" : "", revision,
	       *revision ? ")" : "");
}
