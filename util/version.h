/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <stdbool.h>

/* The first twelve digits of this build's commit; "": built without git's history. */
extern const char tcptuned_version_revision[];

/* Print the answer to --version. */
void tcptuned_version_print(const char *program);

/* True if this kernel is Linux @major.@minor or later. */
bool tcptuned_version_is_linux(unsigned int major, unsigned int minor);
