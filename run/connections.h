/* SPDX-License-Identifier: GPL-2.0-only */
/* The connections of the command and its children, and what limits them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/tuner.h"
#include "tree.h"

/* What limits a connection. Of a sender the kernel measures all of it (chrono in TCP_INFO). */
enum limit {
	LIMIT_APPLICATION,    /* a sender's application has nothing to send */
	LIMIT_RECEIVE_WINDOW, /* of the other end, if this one sends */
	LIMIT_SEND_BUFFER,
	LIMIT_CWND,	  /* congestion window: the path */
	LIMIT_READER,	  /* the receiving application reads slowly */
	LIMIT_OTHER_SIDE, /* of a receiver: the sender, or the path */
	LIMITS,
};

/* Scans may take 1/800 of a processor, and tuning as much again. */
#define CONNECTIONS_COST_INVERSE 800u

struct connection {
	struct connection *next, *same_bucket;
	uint64_t cookie;   /* identifies a socket as long as the host runs */
	uint64_t first_us; /* the last scan that did not see it */
	uint64_t seen_us, last_us;
	struct diag_socket socket; /* as it was last seen */
	struct tree_socket owner;
	bool closed, final; /* gone; what it had then is known */
	/* The round that has not ended, and those before. */
	uint64_t round_us, round_bytes, round_busy_us, limited_us[LIMITS];
	enum limit limit; /* of the last round; 0: none has ended */
	uint64_t due_us;  /* when it should be looked at again */
	struct tuner tuner;
	bool prepared;	/* congestion control and rate are set */
	bool looked_up; /* in the path memory */
	bool saved;	/* ... and added to it */
};

struct connections {
	struct connection *first, *buckets[1024]; /* by cookie */
	unsigned int closed;			  /* of them */
	struct connection *ended;		  /* are only reported */
	struct tree tree;
	int requests, closings; /* sockets of sock_diag */
	uint64_t scanned_us;	/* when the last scan began */
};

/* The processor time of this process, whose share has that bound. */
uint64_t connections_cost_us(void);

int connections_open(struct connections *all);

/* Find new connections, and update those that are open. Returns 0, or an error of the system. */
int connections_scan(struct connections *all);

/* Update one. -ENOENT: it was destroyed. */
int connections_update(struct connections *all, struct connection *c);

/* Read the final state of those that were destroyed. */
void connections_read_closed(struct connections *all);

/*
 * Do so when the command has ended. The kernel reports ends later: those of connections that are
 * known to be gone are waited for, a second at most.
 */
void connections_wait_closed(struct connections *all);

/* Forget those that were destroyed, but for the report if @reports. */
void connections_forget_closed(struct connections *all, bool reports);

/* What most of the bytes did. */
bool connection_receives(const struct connection *c);

/* Seconds that each limit applied, since the first sight. */
void connection_limits(const struct connection *c, double ret[LIMITS]);

/* Seconds to the last data, from the scan before the first sight: a little too long. */
double connection_seconds(const struct connection *c);
