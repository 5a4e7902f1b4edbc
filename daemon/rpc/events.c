// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "flows/words.h"
#include "kern/maps.h"
#include "rpc/events.h"
#include "rpc/json.h"
#include "tcptuned.skel.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

/* How long the gate stays open without being renewed. */
#define LEASE_NS (3ull * TCPTUNED_EVENTS_RENEW_S * 1000000000)

/* Events that are read at a time, so that a flood does not stall the daemon. */
#define READ_MAX 4096

struct tcptuned_events {
	struct ring_buffer *ring;
	tcptuned_event_handler handler;
	void *ctx;
	int gate_fd, totals_fd;
	unsigned int left; /* events that may still be read now */
	__u64 *lost;	   /* the counter of lost events at the last renewal */
	__u64 until_ns;	   /* what it has set the gate to */
};

#define EVENT(kind, ...) [TCPTUNED_EV_##kind] = {__VA_ARGS__}
#define DIRECTION(prefix, name)                                                                    \
	EVENT(prefix##_GROWN, name "_window_grown", "from_bytes", "to_bytes",                      \
	      name " window's limit raised from %llu to %llu bytes (0: none)"),                    \
		EVENT(prefix##_SHRUNK, name "_window_shrunk", "from_bytes", "to_bytes",            \
		      name " window's limit lowered from %llu to %llu bytes (0: none)"),           \
		EVENT(prefix##_CAPPED, name "_window_capped", "from_bytes", "cap_bytes",           \
		      name " window of %llu bytes capped at %llu, the maximum allowed"),           \
		EVENT(prefix##_TEST, name "_window_test", "from_bytes", "to_bytes",                \
		      name                                                                         \
		      " window tested with less, from %llu to %llu bytes: is the queue its own?"), \
		EVENT(prefix##_BUDGET, name "_window_budget", "wanted_bytes", "granted_bytes",     \
		      name " side: %llu bytes wanted, and the memory budget has room for %llu"),   \
		EVENT(prefix##_FAILED, name "_window_failed", "wanted_bytes", NULL,                \
		      name " window of %llu bytes refused by the kernel")

static const struct kind {
	const char *name;
	const char *a, *b; /* JSON members of the two numbers; both NULL: they hold a name */
	const char *text;  /* printf format of the two as unsigned long long, or of the name */
} kinds[] = {
	EVENT(MANAGED, "managed", "accepted", NULL, NULL),
	EVENT(CLOSED, "closed", "bytes_received", "bytes_acked",
	      "closed after %llu bytes received, %llu sent"),
	EVENT(RCVBUF_OVERRIDDEN, "rcvbuf_overridden", "requested_bytes", "pid",
	      "SO_RCVBUF of %llu bytes overridden, requested by process %llu"),
	EVENT(SNDBUF_OVERRIDDEN, "sndbuf_overridden", "requested_bytes", "pid",
	      "SO_SNDBUF of %llu bytes overridden, requested by process %llu"),
	EVENT(CC_SET, "congestion_control_set", NULL, NULL, "congestion control set to %s"),
	EVENT(CC_KEPT, "congestion_control_kept", NULL, NULL,
	      "congestion control kept: %s, which the application or a route chose"),
	EVENT(CC_FAILED, "congestion_control_failed", NULL, NULL,
	      "congestion control could not be set to %s"),
	DIRECTION(RCV, "receive"),
	DIRECTION(SND, "send"),
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void set_numbers(json_t *object, const struct kind *kind, const struct tcptuned_event *event)
{
	unsigned long long a = event->a, b = event->b;
	char text[160], name[sizeof(a) + sizeof(b) + 1] = "";

	if (!kind->a && !kind->b) {
		memcpy(name, &a, sizeof(a));
		memcpy(name + sizeof(a), &b, sizeof(b));
		tcptuned_text_make_printable(name);
		set_text(object, "congestion_control", name);
		snprintf(text, sizeof(text), kind->text, name);
	} else if (kind->text) {
		set_number(object, kind->a, a);
		set_number(object, kind->b, b);
		snprintf(text, sizeof(text), kind->text, a, b);
	} else {
		json_object_set_new(object, kind->a, json_boolean(a));
		snprintf(text, sizeof(text), "managed, %s here", a ? "accepted" : "opened");
	}
	set_text(object, "text", text);
}

#pragma GCC diagnostic pop

/* A record of what the event knows of its connection, for filters and addresses. */
static struct tcptuned_flow_record make_record(const struct tcptuned_event *event)
{
	struct tcptuned_flow_record record = {
		.netns = event->netns,
		.family = event->family,
		.local_port = event->local_port,
		.remote_port = event->remote_port,
	};

	memcpy(record.local, event->local, sizeof(record.local));
	memcpy(record.remote, event->remote, sizeof(record.remote));
	return record;
}

bool tcptuned_event_matches(const struct tcptuned_event *event,
			    const struct tcptuned_filter *filter)
{
	struct tcptuned_flow_record record = make_record(event);

	return tcptuned_scan_matches(filter, &record, "");
}

json_t *tcptuned_event_json(const struct tcptuned_event *event, const char *policy,
			    __s64 realtime_ns)
{
	bool known = event->kind < ARRAY_SIZE(kinds) && kinds[event->kind].name;
	struct tcptuned_flow_record record = make_record(event);
	struct tcptuned_ends ends = tcptuned_flow_ends(&record);
	json_t *object = json_object();

	set_text(object, "event", known ? kinds[event->kind].name : "unknown");
	set_number(object, "time_us", (event->time_ns + (__u64)realtime_ns) / 1000);
	set_text(object, "local", ends.local);
	set_text(object, "remote", ends.remote);
	set_number(object, "netns", event->netns);
	set_text(object, "policy", policy);
	if (event->flags & TCPTUNED_EV_OBSERVE)
		json_object_set_new(object, "observe", json_true());
	if (known)
		set_numbers(object, &kinds[event->kind], event);
	return object;
}

static int set_gate(struct tcptuned_events *events, __u64 until_ns)
{
	struct tcptuned_event_gate gate = {.until_ns = until_ns};
	__u32 zero = 0;

	events->until_ns = until_ns;
	return bpf_map_update_elem(events->gate_fd, &zero, &gate, BPF_ANY) ? -errno : 0;
}

/* Until when programs emit events; 0: they do not. */
static __u64 read_gate(const struct tcptuned_events *events)
{
	struct tcptuned_event_gate gate = {0};
	__u32 zero = 0;

	bpf_map_lookup_elem(events->gate_fd, &zero, &gate);
	return gate.until_ns;
}

static __u64 count_lost(const struct tcptuned_events *events)
{
	struct tcptuned_totals totals;

	if (tcptuned_maps_read_totals(events->totals_fd, &totals))
		return *events->lost;
	return totals.counter[TCPTUNED_C_EVENTS_LOST];
}

/* A negative result ends ring_buffer__consume(), which counts the event as read. */
static int handle_event(void *ctx, void *data, size_t size)
{
	struct tcptuned_events *events = ctx;

	/* A smaller event is of another build. */
	if (size >= sizeof(struct tcptuned_event) && events->handler)
		events->handler(events->ctx, data);
	return --events->left ? 0 : -EAGAIN;
}

int tcptuned_events_open(struct tcptuned_events **ret, const struct tcptuned_kernel *kernel,
			 __u64 *lost, tcptuned_event_handler handler, void *ctx)
{
	_cleanup_free_ struct tcptuned_events *events = calloc(1, sizeof(*events));
	int error;

	if (!events)
		return -ENOMEM;
	events->gate_fd = bpf_map__fd(kernel->bpf->maps.event_gate);
	events->totals_fd = bpf_map__fd(kernel->bpf->maps.totals);
	events->ring =
		ring_buffer__new(bpf_map__fd(kernel->bpf->maps.events), handle_event, events, NULL);
	if (!events->ring)
		return -errno;
	events->lost = lost;
	/* There is no handler yet: discard what an earlier listener left, unless to this one. */
	events->left = TCPTUNED_EVENTS_BYTES;
	if (read_gate(events) <= tcptuned_monotonic_ns()) {
		ring_buffer__consume(events->ring);
		*lost = count_lost(events);
	}
	events->handler = handler;
	events->ctx = ctx;
	error = set_gate(events, tcptuned_monotonic_ns() + LEASE_NS);
	if (error) {
		ring_buffer__free(events->ring);
		return error;
	}
	*ret = events;
	events = NULL;
	return 0;
}

int tcptuned_events_fd(const struct tcptuned_events *events)
{
	return ring_buffer__epoll_fd(events->ring);
}

void tcptuned_events_read(struct tcptuned_events *events)
{
	events->left = READ_MAX;
	ring_buffer__consume(events->ring);
}

__u64 tcptuned_events_renew(struct tcptuned_events *events)
{
	__u64 before = *events->lost;

	set_gate(events, tcptuned_monotonic_ns() + LEASE_NS);
	*events->lost = count_lost(events);
	return *events->lost - before;
}

void tcptuned_events_close(struct tcptuned_events *events, bool goes_on)
{
	if (!events)
		return;
	if (!goes_on && read_gate(events) == events->until_ns)
		set_gate(events, 0);
	ring_buffer__free(events->ring);
	free(events);
}
