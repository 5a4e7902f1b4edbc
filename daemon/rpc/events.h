/* SPDX-License-Identifier: GPL-2.0-only */
/* Events: read from the ring buffer, filtered, and written as JSON. */
#pragma once

#include <jansson.h>

#include <tcptuned/abi/event.h>

#include "flows/scan.h"
#include "kern/kernel.h"

struct tcptuned_events;

typedef void (*tcptuned_event_handler)(void *ctx, const struct tcptuned_event *event);

/*
 * Let the programs emit events from now on. What is in the ring buffer is discarded if they did
 * not. A host has one listener at a time, the daemon; @lost outlives its processes: which of the
 * events that found no room have been reported. Returns 0 or a negative errno.
 */
int tcptuned_events_open(struct tcptuned_events **ret, const struct tcptuned_kernel *kernel,
			 __u64 *lost, tcptuned_event_handler handler, void *ctx);

/* The descriptor to poll for POLLIN. */
int tcptuned_events_fd(const struct tcptuned_events *events);

/* Pass the events that are there to the handler, at most some thousand at a time. */
void tcptuned_events_read(struct tcptuned_events *events);

/*
 * Let the programs continue to emit events; call this at least every TCPTUNED_EVENTS_RENEW_S
 * seconds. Returns how many were lost since the last call because the ring buffer was full.
 */
#define TCPTUNED_EVENTS_RENEW_S 5
__u64 tcptuned_events_renew(struct tcptuned_events *events);

/*
 * Stop emission of events, unless another listener has opened it again, or @goes_on: one will
 * within seconds. NULL is fine.
 */
void tcptuned_events_close(struct tcptuned_events *events, bool goes_on);

/* True if the event's addresses, ports and network namespace are as @filter demands. */
bool tcptuned_event_matches(const struct tcptuned_event *event,
			    const struct tcptuned_filter *filter);

/*
 * An event of a kind that this build does not know is "unknown". @policy: the name of its policy;
 * @realtime_ns: CLOCK_REALTIME minus CLOCK_MONOTONIC.
 */
json_t *tcptuned_event_json(const struct tcptuned_event *event, const char *policy,
			    __s64 realtime_ns);
