/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The burstiness of what the host sends (tcptuned/burstiness.h), by congestion control. The
 * program is attached for as long as the object here is there, and nothing is pinned: nobody
 * but a scrape reads what it counts.
 */
#ifndef TCPTUNED_DAEMON_BURSTINESS_H
#define TCPTUNED_DAEMON_BURSTINESS_H

#include <stdbool.h>
#include <stdint.h>

#include <tcptuned/burstiness.h>
#include <tcptuned/policy.h>

struct tcptuned_burstiness;

struct tcptuned_burstiness_row {
	/* "all": together; "other": those that were too many to be told apart; each name once */
	char congestion_control[TCPTUNED_CC_NAME_MAX];
	struct burstiness sent;
};

struct tcptuned_burstiness_stats {
	bool on; /* it is asked for */
	bool ok; /* it is counted, and could be read */
	uint32_t interval_us;
	uint32_t intervals; /* the last ones, the same for all rows */
	unsigned int rows_len;
	struct tcptuned_burstiness_row rows[1 + BURSTINESS_NAMES]; /* the first is "all" */
};

/*
 * Count what the processes of the cgroup send, in intervals of @interval_us. Returns 0 or a
 * negative errno: of the kernel that does not take the program, or does not attach it.
 */
int tcptuned_burstiness_start(struct tcptuned_burstiness **ret, int cgroup_fd,
			      uint32_t interval_us);

/* NULL: there is nothing to stop. */
void tcptuned_burstiness_stop(struct tcptuned_burstiness *b);

/* @interval_us: what was asked for; 0: it is off. @b: what counts it; NULL: nothing. */
void tcptuned_burstiness_read(const struct tcptuned_burstiness *b, uint32_t interval_us,
			      struct tcptuned_burstiness_stats *ret);

/*
 * Add the row of one congestion control, while there is room, to @stats with "all" in it. Whoever
 * registers one chooses its name: here it is printable, and none that another row has or is to
 * have, with a number at its end if need be. Prometheus would refuse the whole scrape else.
 */
void tcptuned_burstiness_add_row(struct tcptuned_burstiness_stats *stats, const char *name,
				 const struct burstiness *sent);

/* Descriptors, which stay @b's. */
int tcptuned_burstiness_prog_fd(const struct tcptuned_burstiness *b);
int tcptuned_burstiness_map_fd(const struct tcptuned_burstiness *b);

uint32_t tcptuned_burstiness_interval_us(const struct tcptuned_burstiness *b);

#endif
