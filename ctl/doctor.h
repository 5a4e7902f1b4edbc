/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <jansson.h>

/* Examine this host and the daemon at @socket. Returns an array of "level", "check" and "text". */
json_t *ctl_doctor_examine(const char *socket);
