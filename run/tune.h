/* SPDX-License-Identifier: GPL-2.0-only */
/* --tune, --cc and --rate: sets options of other processes' sockets. */
#pragma once

#include "connections.h"
#include "memory.h"
#include "notify.h"
#include "options.h"

struct tune {
	bool on;
	const struct run_options *options;
	struct notify *notify; /* the limits, and the requests that are withheld */
	const char *cc;	       /* congestion control; NULL: the host's */
	uint64_t due_us;       /* when the first connection has to be looked at */
	struct memory memory;
};

/*
 * Prepare to tune. Where the system does not let this process do that, the command will load a
 * library, and tune its own sockets.
 */
void tune_init(struct tune *tune, const struct run_options *options, struct notify *notify);

/* Look at the connections for which it is time. */
void tune_connections(struct tune *tune, struct connections *all);
