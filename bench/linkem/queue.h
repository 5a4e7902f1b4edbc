/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One direction of the emulated link, as arithmetic: every segment's fate and the moment at
 * which its last bit leaves are known when it arrives. Pure: the time is an argument.
 *
 *	arrival (spaced at the access rate) -> loss -> policer -> RED -> drop-tail queue, CE marks
 *	-> serialisation
 *
 * Schedules and traces begin with the first segment. The propagation delay comes after all that
 * and is left to the caller.
 * Times are nanoseconds, rates bits per second, sizes bytes of the IP packet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bursts.h"
#include "clock.h"
#include "red.h"
#include "schedule.h"
#include "trace.h"

#define LINK_MTU 1500u /* bytes of a full packet, which is a TUN device's default */

struct queue_config {
	uint64_t rate_bps;
	uint64_t access_bps;	/* of the sender's own interface; 0: bursts arrive at once */
	uint64_t limit_bytes;	/* 0: no limit in bytes */
	uint32_t limit_packets; /* 0: no limit in packets */
	double loss;		/* probability that a segment vanishes before the queue */
	uint64_t *lose;		/* ascending: data segments to lose, counted from 1 */
	unsigned int lose_count;
	struct bursts bursts; /* and bursts of loss before the queue */
	uint64_t seed;
	struct schedule schedule;  /* of rate and limits; if it has steps, the first is as above */
	const struct trace *trace; /* NULL: none; sets the rate, rate_bps is its mean then */
	uint64_t police_bps;	   /* token bucket before the queue; 0: none */
	uint64_t police_bytes;	   /* that it holds */
	bool police_flows;	   /* one bucket for each flow */
	uint64_t mark_bytes;	   /* a longer queue marks what is ECN-capable; 0: none does */
	uint32_t mark_packets;	   /* likewise, in packets */
	struct red_config red;
	uint32_t packet_bytes; /* of a full packet: what RED takes an idle link's for */
};

enum verdict {
	VERDICT_PASS,
	VERDICT_LOST,	 /* by chance */
	VERDICT_BURST,	 /* in a burst of loss */
	VERDICT_CHOSEN,	 /* named in the list of segments to lose */
	VERDICT_POLICED, /* the policer's bucket is empty */
	VERDICT_FULL,	 /* drop-tail */
	VERDICT_EARLY,	 /* by RED, by chance */
	VERDICT_FORCED,	 /* by RED, the average queue being too long */
	VERDICT_NO_ROOM, /* the emulator's own memory: such a run is worth nothing */
	VERDICT_COUNT,
};

struct waiting {
	uint64_t depart_ns;
	uint32_t bytes;
};

/*
 * The queue counts what has not left completely: the segment on the wire is in it until its
 * last bit is out, so that a limit of N packets is N serialisation times of delay.
 */
struct queue {
	struct queue_config config;
	struct rate_clock access, link; /* the times of a schedule's count from start_ns */
	struct rate_clock *policers;	/* how empty the buckets are, as time to fill them */
	struct trace_clock trace;
	struct bursts bursts;
	uint64_t start_ns; /* of the first segment; 0: none yet */
	struct waiting *ring;
	uint32_t ring_size; /* a power of two */
	uint32_t head, tail;
	uint64_t bytes;
	uint64_t idle_from_ns; /* when the last segment is out */
	uint64_t random;
	uint64_t data_segments;
	unsigned int lost_by_choice;
	struct red red;
};

/* What became of a segment. Times are valid for VERDICT_PASS only. */
struct offer {
	uint64_t arrive_ns; /* at the queue, later than offered by the access link's time */
	uint64_t depart_ns; /* last bit out of the queue */
	uint32_t queued_packets;
	uint64_t queued_bytes; /* with this one */
	bool mark;	       /* the queue asks for a CE mark */
};

/* The highest rate of the schedule; of a trace the mean. */
uint64_t queue_fastest_bps(const struct queue_config *config);

/* 0 or -ENOMEM, -EINVAL. Memory is touched here, so that no page fault comes later. */
int queue_init(struct queue *q, const struct queue_config *config);
void queue_free(struct queue *q);

/* Segments that are to be offered in the order in which they arrive; @data: has payload. */
enum verdict queue_offer(struct queue *q, uint64_t now_ns, uint32_t bytes, bool data, uint16_t flow,
			 struct offer *ret);
