/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events, seen from user space: listening to the ring buffer, and what an event is called. One
 * table in events.c has a line for each kind.
 */
#ifndef TCPTUNED_RPC_EVENTS_H
#define TCPTUNED_RPC_EVENTS_H

#include <tcptuned/abi/event.h>

#include "flows/filter.h"
#include "kern/kernel.h"
#include "util/strbuf.h"

struct tcptuned_events;

typedef void (*tcptuned_event_handler)(void *ctx, const struct tcptuned_event *event);

/*
 * Begin to listen: what was in the ring before is forgotten, and from now on events are made.
 * There may be one listener at a time on a host; that is the daemon, or, while none runs, who
 * holds a lock on the pins. Returns 0, -ENOENT when the kernel side has no events (an older
 * build's), or another negative errno.
 */
int tcptuned_events_open(struct tcptuned_events **ret, const struct tcptuned_kernel *kernel,
			 tcptuned_event_handler handler, void *ctx);

/* The descriptor to poll for POLLIN. */
int tcptuned_events_fd(const struct tcptuned_events *events);

/* Hand what is there to the handler, up to some thousand at a time. */
void tcptuned_events_read(struct tcptuned_events *events);

/* Go on listening; to be called at least every TCPTUNED_EVENTS_RENEW_S seconds. */
#define TCPTUNED_EVENTS_RENEW_S 5
void tcptuned_events_renew(struct tcptuned_events *events);

/* How many were lost since this was last asked, because the ring was full. */
__u64 tcptuned_events_lost(struct tcptuned_events *events);

/* Events are made no more. NULL is fine. */
void tcptuned_events_close(struct tcptuned_events *events);

/* "receive_window_grown"; "unknown" for a kind that this build does not know. */
const char *tcptuned_event_name(unsigned int kind);

/* Is @event about a connection that @filter means? By address, port and namespace. */
bool tcptuned_event_matches(const struct tcptuned_event *event,
			    const struct tcptuned_filter *filter);

/*
 * One line: a JSON object and a newline. @policy: the name of its policy. @realtime_ns: what
 * CLOCK_REALTIME is ahead of CLOCK_MONOTONIC.
 */
void tcptuned_event_format(struct tcptuned_buf *out, const struct tcptuned_event *event,
			   const char *policy, __s64 realtime_ns);

/* The line that says that @lost events are missing. */
void tcptuned_event_format_lost(struct tcptuned_buf *out, __u64 lost);

/* What CLOCK_REALTIME is ahead of CLOCK_MONOTONIC now. */
__s64 tcptuned_realtime_ns(void);

#endif
