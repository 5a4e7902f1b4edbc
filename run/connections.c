// SPDX-License-Identifier: GPL-2.0-only
#include "connections.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"
#include "util/clock.h"

#define ROUND_MIN_US	10000u
#define CLOSINGS_MS	10
#define CLOSINGS_MAX_US 1000000u

/*
 * All states of a connection. The others are listeners, and TIME_WAIT, which is no socket any more.
 */
#define STATES (~(DIAG_STATE(DIAG_LISTEN) | DIAG_STATE(6) | DIAG_STATE(12)))

static uint64_t cookie_of(const struct diag_socket *s)
{
	return s->message.id.idiag_cookie[0] | (uint64_t)s->message.id.idiag_cookie[1] << 32;
}

static struct connection **bucket_of(struct connections *all, uint64_t cookie)
{
	return &all->buckets[cookie % ARRAY_SIZE(all->buckets)];
}

static struct connection *find(struct connections *all, uint64_t cookie)
{
	struct connection *c = *bucket_of(all, cookie);

	while (c && c->cookie != cookie)
		c = c->same_bucket;
	return c;
}

static void add(struct connections *all, struct connection *c)
{
	struct connection **bucket = bucket_of(all, c->cookie);

	c->next = all->first;
	all->first = c;
	c->same_bucket = *bucket;
	*bucket = c;
}

void connections_forget_closed(struct connections *all, bool reports)
{
	struct connection *c = all->first, *next;

	all->first = NULL;
	all->closed = 0;
	memset(all->buckets, 0, sizeof(all->buckets));
	for (; c; c = next) {
		next = c->next;
		if (!c->closed) {
			add(all, c);
		} else if (reports) {
			c->next = all->ended;
			all->ended = c;
		} else {
			free(c);
		}
	}
}

bool connection_receives(const struct connection *c)
{
	return diag_receives(&c->socket.info.tcp);
}

/* What limited a receiver in a round of @us microseconds. */
static enum limit receive_limit(const struct connection *c, uint64_t us, uint64_t rtt_us)
{
	const struct tcp_info *info = &c->socket.info.tcp;
	uint64_t window = diag_receive_window(&c->socket.info), flight;

	if (!window)
		window = info->tcpi_rcv_ssthresh;
	flight = (info->tcpi_bytes_received - c->round_bytes) * rtt_us / us;
	if (c->socket.message.idiag_rqueue > window)
		return LIMIT_READER;
	return 8 * flight >= 5 * window ? LIMIT_RECEIVE_WINDOW : LIMIT_OTHER_SIDE;
}

/*
 * What limits a sender now, where the kernel has measured neither window to be the limit: in slow
 * start it takes a full send buffer for a full congestion window (tcp_is_cwnd_limited()).
 */
static enum limit send_limit(const struct connection *c)
{
	const struct tcp_info *info = &c->socket.info.tcp;

	/* At any moment a little may be unsent: it has just been written. */
	if (2ull * info->tcpi_notsent_bytes < (uint64_t)info->tcpi_unacked * info->tcpi_snd_mss &&
	    4 * info->tcpi_unacked < 3 * info->tcpi_snd_cwnd &&
	    c->socket.memory[SK_MEMINFO_WMEM_QUEUED] > c->socket.memory[SK_MEMINFO_SNDBUF] / 2)
		return LIMIT_SEND_BUFFER;
	return LIMIT_CWND;
}

/* Ends a round, of a round trip or more, and adds its time to that of what limited it. */
static void end_round(struct connection *c)
{
	const struct tcp_info *info = &c->socket.info.tcp;
	bool receives = connection_receives(c);
	uint64_t us = c->last_us - c->round_us, busy_us;
	uint64_t rtt_us = diag_rtt_us(info);

	if (us < ROUND_MIN_US || us < rtt_us)
		return;
	busy_us = info->tcpi_busy_time - info->tcpi_rwnd_limited - info->tcpi_sndbuf_limited;
	/* A closed socket holds nothing any more, and its last round was like the one before. */
	if (c->socket.message.idiag_state != DIAG_CLOSE || !c->limit)
		c->limit = receives ? receive_limit(c, us, rtt_us) : send_limit(c);
	c->limited_us[c->limit] += receives ? us : busy_us - c->round_busy_us;
	c->round_us = c->last_us;
	c->round_busy_us = busy_us;
	c->round_bytes = info->tcpi_bytes_received;
}

static void update(const struct diag_socket *s, void *context)
{
	struct connection *c = context;
	char cc[sizeof(c->socket.congestion_control)];

	if (!s->has_info)
		return;
	if (s->message.idiag_state == DIAG_CLOSE &&
	    diag_bytes(&s->info.tcp) < diag_bytes(&c->socket.info.tcp))
		return; /* tcp_disconnect() has reset them */
	memcpy(cc, c->socket.congestion_control, sizeof(cc));
	c->last_us = tcptuned_monotonic_us();
	c->socket = *s;
	if (!s->congestion_control[0])
		memcpy(c->socket.congestion_control, cc, sizeof(cc));
	end_round(c);
}

static void on_dumped(const struct diag_socket *s, void *context)
{
	struct connections *all = context;
	const struct tree_socket *owner = tree_find(&all->tree, s->message.idiag_inode);
	struct connection *c;

	if (!owner || !s->message.idiag_inode)
		return;
	c = find(all, cookie_of(s));
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return;
		c->cookie = cookie_of(s);
		c->first_us = all->scanned_us;
		c->seen_us = c->round_us = tcptuned_monotonic_us();
		c->round_bytes = s->info.tcp.tcpi_bytes_received;
		add(all, c);
	}
	c->owner = *owner;
	update(s, c);
}

static void close_connection(struct connections *all, struct connection *c)
{
	c->closed = true;
	all->closed++;
}

static void on_closed(const struct diag_socket *s, void *context)
{
	struct connections *all = context;
	struct connection *c = find(all, cookie_of(s));

	if (!c)
		return;
	update(s, c);
	c->final = true;
	if (!c->closed)
		close_connection(all, c);
}

uint64_t connections_cost_us(void)
{
	return tcptuned_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000;
}

int connections_open(struct connections *all)
{
	all->requests = diag_open(0);
	all->closings = diag_open(1);
	all->scanned_us = tcptuned_monotonic_us();
	return all->requests < 0 ? all->requests : 0;
}

static int reopen(struct connections *all, int err)
{
	if (err && err != -ENOENT) {
		if (all->requests >= 0)
			close(all->requests);
		all->requests = diag_open(0);
	}
	return err;
}

int connections_scan(struct connections *all)
{
	uint64_t began = tcptuned_monotonic_us();
	int err = tree_scan(&all->tree);

	err = reopen(all, diag_dump(all->requests, STATES, 0, on_dumped, all)) ?: err;
	all->scanned_us = began;
	return err;
}

int connections_update(struct connections *all, struct connection *c)
{
	int err = diag_get(all->requests, c->socket.message.idiag_family, &c->socket.message.id,
			   update, c);

	if (err == -ENOENT)
		close_connection(all, c);
	return reopen(all, err);
}

void connections_read_closed(struct connections *all)
{
	if (all->closings >= 0)
		diag_read_closed(all->closings, on_closed, all);
}

void connections_wait_closed(struct connections *all)
{
	uint64_t until_us = tcptuned_monotonic_us() + CLOSINGS_MAX_US;
	const struct connection *late;

	do {
		poll(&(struct pollfd){.fd = all->closings, .events = POLLIN}, 1, CLOSINGS_MS);
		connections_read_closed(all);
		late = all->first;
		while (late && (!late->closed || late->final))
			late = late->next;
	} while (late && all->closings >= 0 && tcptuned_monotonic_us() < until_us);
}

double connection_seconds(const struct connection *c)
{
	const struct tcp_info *info = &c->socket.info.tcp;
	uint64_t idle_ms = info->tcpi_last_data_recv, us = c->last_us - c->first_us;

	if (!connection_receives(c))
		idle_ms = info->tcpi_last_ack_recv;
	return us > 1000 * idle_ms ? (double)(us - 1000 * idle_ms) / 1e6 : (double)us / 1e6;
}

void connection_limits(const struct connection *c, double ret[LIMITS])
{
	const struct tcp_info *info = &c->socket.info.tcp;
	double seconds = (double)(c->last_us - c->seen_us) / 1e6;
	double busy = (double)info->tcpi_busy_time / 1e6;

	memset(ret, 0, LIMITS * sizeof(*ret));
	if (connection_receives(c)) {
		for (int i = 0; i < LIMITS; i++)
			if (i != LIMIT_SEND_BUFFER && i != LIMIT_CWND)
				ret[i] = (double)c->limited_us[i] / 1e6;
		return;
	}
	ret[LIMIT_RECEIVE_WINDOW] = (double)info->tcpi_rwnd_limited / 1e6;
	ret[LIMIT_SEND_BUFFER] =
		(double)(info->tcpi_sndbuf_limited + c->limited_us[LIMIT_SEND_BUFFER]) / 1e6;
	ret[LIMIT_CWND] = fmax(0, busy - ret[LIMIT_RECEIVE_WINDOW] - ret[LIMIT_SEND_BUFFER]);
	ret[LIMIT_APPLICATION] = fmax(0, seconds - busy);
}
