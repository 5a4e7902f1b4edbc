// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <jansson.h>

#include "flows/names.h"
#include "kern/totals.h"
#include "rpc/events.h"
#include "rpc/flow_json.h"
#include "util/clock.h"
#include "util/text.h"

/* The gate stays open so long after it was last renewed. */
#define LEASE_NS (3ull * TCPTUNED_EVENTS_RENEW_S * 1000000000)

/* At a time; a flood must not keep the daemon from its other work. */
#define READ_MAX 4096

struct tcptuned_events {
	struct ring_buffer *ring;
	tcptuned_event_handler handler;
	void *ctx;
	int gate_fd, totals_fd;
	unsigned int left; /* of READ_MAX */
	__u64 lost;	   /* as of when it was last asked */
};

/* ---- what they are called ---------------------------------------------------------------- */

/* @text: printf's, with the two numbers as unsigned long long. Both NULL: a name is in them. */
static const struct kind {
	const char *name;
	const char *a, *b; /* their names in JSON, or NULL */
	const char *text;
} kinds[] = {
	[TCPTUNED_EV_CLAIMED] = { "claimed", "accepted", NULL, NULL },
	[TCPTUNED_EV_CLOSED] = { "closed", "bytes_received", "bytes_acked",
				 "closed after %llu bytes received, %llu sent" },
	[TCPTUNED_EV_RCVBUF_OVERRIDDEN] = { "rcvbuf_overridden", "requested_bytes", "pid",
					    "SO_RCVBUF of %llu bytes overridden, asked for by "
					    "process %llu" },
	[TCPTUNED_EV_SNDBUF_OVERRIDDEN] = { "sndbuf_overridden", "requested_bytes", "pid",
					    "SO_SNDBUF of %llu bytes overridden, asked for by "
					    "process %llu" },
	[TCPTUNED_EV_CC_SET] = { "congestion_control_set", NULL, NULL,
				 "congestion control set to %s" },
	[TCPTUNED_EV_CC_KEPT] = { "congestion_control_kept", NULL, NULL,
				  "congestion control kept: %s, which the application or a route "
				  "chose" },
	[TCPTUNED_EV_CC_FAILED] = { "congestion_control_failed", NULL, NULL,
				    "congestion control could not be set to %s" },
#define DIRECTION(prefix, name, word)                                                          \
	[TCPTUNED_EV_##prefix##_GROWN] = { name "_window_grown", "from_bytes", "to_bytes",     \
					   word " window's limit raised from %llu to %llu "   \
						"bytes (0: none)" },                           \
	[TCPTUNED_EV_##prefix##_SHRUNK] = { name "_window_shrunk", "from_bytes", "to_bytes",   \
					    word " window's limit lowered from %llu to %llu " \
						 "bytes (0: none)" },                          \
	[TCPTUNED_EV_##prefix##_CAPPED] = { name "_window_capped", "from_bytes", "cap_bytes",  \
					    word " window, before %llu bytes, capped at %llu, "\
						 "the most that is allowed" },                 \
	[TCPTUNED_EV_##prefix##_TEST] = { name "_window_test", "from_bytes", "to_bytes",       \
					  word " window tested with less, from %llu to "       \
					       "%llu bytes: is the queue its own?" },          \
	[TCPTUNED_EV_##prefix##_BUDGET] = { name "_window_budget", "wanted_bytes",             \
					    "granted_bytes",                                   \
					    word " side: %llu bytes wanted, and the memory "   \
						 "budget has room for %llu" },                 \
	[TCPTUNED_EV_##prefix##_FAILED] = { name "_window_failed", "wanted_bytes", NULL,       \
					    word " window of %llu bytes refused by the "       \
						 "kernel" }
	DIRECTION(RCV, "receive", "receive"),
	DIRECTION(SND, "send", "send"),
};

static const struct kind *kind_of(unsigned int kind)
{
	if (kind >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[kind].name)
		return NULL;
	return &kinds[kind];
}

const char *tcptuned_event_name(unsigned int kind)
{
	const struct kind *known = kind_of(kind);

	return known ? known->name : "unknown";
}

/* ---- as JSON ------------------------------------------------------------------------------ */

/* A name of up to 16 characters, printable, out of the two numbers. */
static void name_in(const struct tcptuned_event *event, char name[2 * sizeof(__u64) + 1])
{
	memcpy(name, &event->a, sizeof(event->a));
	memcpy(name + sizeof(event->a), &event->b, sizeof(event->b));
	name[2 * sizeof(__u64)] = '\0';
	tcptuned_make_printable(name);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void set_numbers(json_t *object, const struct kind *kind,
			const struct tcptuned_event *event)
{
	unsigned long long a = event->a, b = event->b;
	char text[160], name[2 * sizeof(__u64) + 1];

	if (!kind->a && !kind->b) {
		name_in(event, name);
		set_text(object, "congestion_control", name);
		snprintf(text, sizeof(text), kind->text, name);
	} else if (kind->text) {
		set_number(object, kind->a, a);
		set_number(object, kind->b, b);
		snprintf(text, sizeof(text), kind->text, a, b);
	} else {
		json_object_set_new(object, kind->a, json_boolean(a));
		snprintf(text, sizeof(text), "claimed, %s here", a ? "accepted" : "opened");
	}
	set_text(object, "text", text);
}

#pragma GCC diagnostic pop

/* As much of a record as an event has, for the same words and filters as everywhere. */
static struct tcptuned_flow_record record_of(const struct tcptuned_event *event)
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
	struct tcptuned_flow_record record = record_of(event);

	return tcptuned_filter_matches(filter, &record, "");
}

static void set_addresses(json_t *object, const struct tcptuned_event *event)
{
	struct tcptuned_flow_record record = record_of(event);
	char address[TCPTUNED_ADDRESS_MAX];

	tcptuned_flow_address(&record, 0, address);
	set_text(object, "local", address);
	tcptuned_flow_address(&record, 1, address);
	set_text(object, "remote", address);
}

void tcptuned_event_format(struct tcptuned_buf *out, const struct tcptuned_event *event,
			   const char *policy, __s64 realtime_ns)
{
	const struct kind *kind = kind_of(event->kind);
	json_t *object = json_object();

	set_text(object, "event", tcptuned_event_name(event->kind));
	set_number(object, "time_us", (event->time_ns + (__u64)realtime_ns) / 1000);
	set_addresses(object, event);
	set_number(object, "netns", event->netns);
	set_text(object, "policy", policy);
	if (event->flags & TCPTUNED_EV_DRY_RUN)
		json_object_set_new(object, "dry_run", json_true());
	if (kind)
		set_numbers(object, kind, event);
	tcptuned_json_print_line(out, object);
}

void tcptuned_event_format_lost(struct tcptuned_buf *out, __u64 lost)
{
	tcptuned_json_print_line(out, json_pack("{s:s,s:I}", "event", "lost", "events",
						(json_int_t)lost));
}

__s64 tcptuned_realtime_ns(void)
{
	struct timespec real, monotonic;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return (real.tv_sec - monotonic.tv_sec) * 1000000000ll + real.tv_nsec - monotonic.tv_nsec;
}

/* ---- listening ---------------------------------------------------------------------------- */

static int set_gate(struct tcptuned_events *events, __u64 until_ns)
{
	struct tcptuned_event_gate gate = { .until_ns = until_ns };
	__u32 zero = 0;

	return bpf_map_update_elem(events->gate_fd, &zero, &gate, BPF_ANY) ? -errno : 0;
}

static __u64 lost_so_far(const struct tcptuned_events *events)
{
	struct tcptuned_totals totals;

	if (tcptuned_totals_read(events->totals_fd, &totals))
		return events->lost;
	return totals.counter[TCPTUNED_C_EVENTS_LOST];
}

/* ring_buffer__consume() ends when this is negative, and takes the event for read. */
static int take_event(void *ctx, void *data, size_t size)
{
	struct tcptuned_events *events = ctx;

	/* An event of another size is another build's. */
	if (size >= sizeof(struct tcptuned_event) && events->handler)
		events->handler(events->ctx, data);
	return --events->left ? 0 : -EAGAIN;
}

int tcptuned_events_open(struct tcptuned_events **ret, const struct tcptuned_kernel *kernel,
			 tcptuned_event_handler handler, void *ctx)
{
	struct tcptuned_events *events;
	int error;

	if (kernel->map_fd[TCPTUNED_MAP_EVENTS] < 0 || kernel->map_fd[TCPTUNED_MAP_EVENT_GATE] < 0)
		return -ENOENT;
	events = calloc(1, sizeof(*events));
	if (!events)
		return -ENOMEM;
	events->gate_fd = kernel->map_fd[TCPTUNED_MAP_EVENT_GATE];
	events->totals_fd = kernel->map_fd[TCPTUNED_MAP_TOTALS];
	events->ring = ring_buffer__new(kernel->map_fd[TCPTUNED_MAP_EVENTS], take_event, events,
					NULL);
	if (!events->ring) {
		error = -errno;
		free(events);
		return error;
	}
	/* Without a handler yet: what an earlier listener left. */
	events->left = TCPTUNED_EVENTS_BYTES;
	ring_buffer__consume(events->ring);
	events->handler = handler;
	events->ctx = ctx;
	events->lost = lost_so_far(events);
	error = set_gate(events, tcptuned_monotonic_ns() + LEASE_NS);
	if (error) {
		tcptuned_events_close(events);
		return error;
	}
	*ret = events;
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

void tcptuned_events_renew(struct tcptuned_events *events)
{
	set_gate(events, tcptuned_monotonic_ns() + LEASE_NS);
}

__u64 tcptuned_events_lost(struct tcptuned_events *events)
{
	__u64 now = lost_so_far(events), lost = now - events->lost;

	events->lost = now;
	return lost;
}

void tcptuned_events_close(struct tcptuned_events *events)
{
	if (!events)
		return;
	set_gate(events, 0);
	ring_buffer__free(events->ring);
	free(events);
}
