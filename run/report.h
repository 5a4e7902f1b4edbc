/* SPDX-License-Identifier: GPL-2.0-only */
/* What limited each connection, as text or JSON. */
#pragma once

#include <stdio.h>

#include "connections.h"

/*
 * Print a line for each connection; with @open only those that are open, and none that would wait
 * for a reader: intercepted calls wait meanwhile.
 */
void report_connections(FILE *out, const struct connections *all, bool json, bool open);
