/* SPDX-License-Identifier: GPL-2.0-only */
/* Standard input, output and error. */
#pragma once

#include "util/error.h"

/* Open those that are closed (/dev/null), so that no other file is in their place. */
void tcptuned_stdio_occupy(void);

/* Write what is left of standard output. Returns 0 or a negative errno. */
int tcptuned_stdio_flush(struct tcptuned_error *err);
