/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bottleneck with one FIFO queue, and flows whose receivers size their windows: per packet,
 * event by event, in nanoseconds. What stands between the arithmetic of rightsize.h and a
 * kernel is modelled after tcp_input.c: the receiver's RTT estimate from timestamps, and
 * right edges that are never retracted. What the queue drops the sender sends again, after those
 * before it; the receiver sees a hole for a round-trip time.
 */
#ifndef TCPTUNED_TEST_RIGHTSIZE_MODEL_H
#define TCPTUNED_TEST_RIGHTSIZE_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "delay.h"
#include "tcptuned/rightsize.h"

#define MS	       1000000ull
#define SEC	       1000000000ull
#define MODEL_FLOWS    16
#define MODEL_RING     (1u << 18)
#define INITIAL_WINDOW 65536u
#define INITIAL_CWND   14480.0
#define READ_EVERY_NS  (10 * MS)
#define EPOCH_NS       (1000 * SEC) /* no run starts at zero: a zero time means "none" */

enum receiver {
	RIGHTSIZED,	     /* rightsize.h */
	RIGHTSIZED_NO_DRAIN, /* the same, but the old minimum is simply forgotten */
	RIGHTSIZED_PATIENT,  /* the same, but it does not mind how slowly it is read */
	KERNEL,		     /* tcp_rcv_space_adjust() and tcp_rcvbuf_grow() of Linux 6.18 */
	FIXED,
};

enum sender {
	WINDOW_LIMITED, /* sends whatever the receiver allows */
	SLOW_START,	/* cwnd grows by what is acknowledged */
	RENO,		/* slow start, then a segment per RTT, halved by a drop */
};

/* The receiver's estimate, tcp_rcv_rtt_update(): how a larger or smaller sample is taken. */
enum estimator {
	MINIMUM_AT_ONCE, /* Linux 6.16 and later */
	SMOOTHED,	 /* before: one eighth of each sample */
};

struct model_flow {
	enum receiver receiver;
	enum sender sender;
	uint64_t start_ns, stop_ns; /* stop_ns 0: never */
	/* sender */
	bool started;
	double cwnd, ssthresh;
	double pace; /* cwnds per base RTT at which it sends; 0: as acknowledgements come */
	uint64_t pace_ns; /* not before this */
	uint64_t sent, acked, edge_known, ack_echo_ns, cut_ns;
	uint64_t held_by_window; /* how often the window, and not cwnd, stopped the sender */
	/* receiver */
	uint64_t received, read, edge, stall_until_ns;
	double read_Bps; /* of a slow application, in portions of 10 ms; 0: as data comes */
	uint64_t read_ns;
	uint64_t hole_until_ns;
	uint64_t received_round, read_round; /* both, when the last round ended */
	uint32_t counted;		     /* the smaller of the two, round by round */
	uint32_t rtt_us, window, initial_window;
	struct rightsize rs;
	struct rightsize_reader reader;
	struct rightsize_limits limits;
	uint64_t kernel_start_ns, kernel_copied;
	double kernel_space;
	/* what was seen */
	uint32_t drops, window_max;
};

struct model_item {
	uint64_t at_ns, echo_ns, edge, acked;
	uint32_t flow, bytes; /* no bytes: what should have come was dropped */
};

struct model_fifo {
	struct model_item *item;
	uint32_t head, tail;
};

struct model {
	double rate_Bps;
	uint64_t base_ns, queue_bytes;
	const struct delay_line *jitter; /* of linkem, on the way of the data; NULL: none */
	uint32_t segment; /* bytes per packet, each acknowledged */
	uint32_t tick_us; /* resolution of the timestamps; 1: exact */
	enum estimator estimator;
	uint64_t now_ns;
	double free_ns; /* when the bottleneck will have sent all that it holds */
	uint64_t last_arrival_ns;
	struct model_fifo data, acks;
	struct model_flow flow[MODEL_FLOWS];
	uint32_t flows;
	uint64_t rtt_max_ns; /* reset by whoever reads it */
	double rtt_sum_ns, rtt_count;
};

static inline struct model *model_new(double rate_Bps, double base_ms, uint64_t queue_bytes)
{
	struct model *m = calloc(1, sizeof(*m));

	m->rate_Bps = rate_Bps;
	m->base_ns = (uint64_t)(base_ms * MS);
	m->queue_bytes = queue_bytes;
	m->segment = 2896;
	m->tick_us = 1;
	m->now_ns = EPOCH_NS;
	m->data.item = calloc(MODEL_RING, sizeof(struct model_item));
	m->acks.item = calloc(MODEL_RING, sizeof(struct model_item));
	return m;
}

static inline void model_free(struct model *m)
{
	free(m->data.item);
	free(m->acks.item);
	free(m);
}

static inline struct model_flow *model_add(struct model *m, enum receiver receiver,
					   enum sender sender, double start_s)
{
	struct model_flow *f = &m->flow[m->flows++];

	f->receiver = receiver;
	f->sender = sender;
	f->start_ns = EPOCH_NS + (uint64_t)(start_s * SEC);
	f->cwnd = INITIAL_CWND;
	f->ssthresh = 1e18;
	f->initial_window = INITIAL_WINDOW;
	f->limits = (struct rightsize_limits){
		.floor = INITIAL_WINDOW, .cap = 1u << 30, .least = 14480};
	return f;
}

static inline void model_push(struct model_fifo *fifo, struct model_item item)
{
	fifo->item[fifo->tail++ & (MODEL_RING - 1)] = item;
	if (fifo->tail - fifo->head >= MODEL_RING)
		abort(); /* a window of half a million kilobytes: the model itself ran away */
}

static inline double model_queue_ns(const struct model *m)
{
	return m->free_ns > m->now_ns ? m->free_ns - m->now_ns : 0;
}

/* ---- sender -------------------------------------------------------------------------- */

/* When what is sent now arrives: in order, also when the path has become shorter. */
static inline uint64_t model_arrives_ns(struct model *m, double sent_ns)
{
	uint64_t at = (uint64_t)sent_ns + m->base_ns / 2;

	if (m->jitter)
		at += delay_line_jitter_ns(m->jitter, (uint64_t)sent_ns - EPOCH_NS);
	if (at < m->last_arrival_ns)
		at = m->last_arrival_ns;
	m->last_arrival_ns = at;
	return at;
}

static inline void model_drop(struct model *m, struct model_flow *f)
{
	f->drops++;
	model_push(&m->data, (struct model_item){
				     .at_ns = model_arrives_ns(m, m->now_ns + model_queue_ns(m)),
				     .flow = (uint32_t)(f - m->flow)});
}

static inline bool model_transmit(struct model *m, struct model_flow *f)
{
	double queue_ns = model_queue_ns(m), rtt_ns;
	uint64_t at;

	if (m->queue_bytes && queue_ns * 1e-9 * m->rate_Bps + m->segment > m->queue_bytes)
		return false;
	m->free_ns = m->now_ns + queue_ns + m->segment / m->rate_Bps * 1e9;
	at = model_arrives_ns(m, m->free_ns);
	rtt_ns = m->base_ns + queue_ns;
	m->rtt_sum_ns += rtt_ns;
	m->rtt_count++;
	if (rtt_ns > m->rtt_max_ns)
		m->rtt_max_ns = (uint64_t)rtt_ns;
	model_push(&m->data, (struct model_item){.at_ns = at,
						 .echo_ns = f->ack_echo_ns,
						 .flow = (uint32_t)(f - m->flow),
						 .bytes = m->segment});
	f->sent += m->segment;
	if (f->pace)
		f->pace_ns =
			m->now_ns + (uint64_t)(m->segment / (f->pace * f->cwnd) * m->base_ns);
	return true;
}

static inline void model_send(struct model *m, struct model_flow *f)
{
	if (f->stop_ns && m->now_ns >= f->stop_ns)
		return;
	for (;;) {
		bool cwnd_allows = f->sender == WINDOW_LIMITED ||
				   f->sent - f->acked + m->segment <= f->cwnd;

		if (!cwnd_allows)
			return;
		if (f->sent + m->segment > f->edge_known) {
			f->held_by_window++;
			return;
		}
		if (f->pace && m->now_ns < f->pace_ns)
			return;
		if (!model_transmit(m, f)) {
			/* The sender hears of it at once, and sends the same again later. */
			model_drop(m, f);
			if (m->now_ns - f->cut_ns > m->base_ns + model_queue_ns(m)) {
				f->cut_ns = m->now_ns;
				f->cwnd /= 2;
				f->ssthresh = f->cwnd;
			}
			return;
		}
	}
}

static inline void model_ack(struct model *m, const struct model_item *i)
{
	struct model_flow *f = &m->flow[i->flow];
	double got = i->acked - f->acked;

	f->acked = i->acked;
	f->edge_known = i->edge;
	f->ack_echo_ns = i->echo_ns;
	if (f->cwnd < f->ssthresh)
		f->cwnd += got;
	else
		f->cwnd += got * m->segment / 2 / f->cwnd;
	model_send(m, f);
}

/* ---- receiver ------------------------------------------------------------------------ */

static inline void model_estimate(const struct model *m, struct model_flow *f, uint64_t echo_ns)
{
	uint64_t tick_ns = m->tick_us * 1000ull;
	uint64_t ticks = m->now_ns / tick_ns - echo_ns / tick_ns;
	uint32_t sample = (uint32_t)(ticks ? ticks : 1) * m->tick_us;

	if (!f->rtt_us || (m->estimator == MINIMUM_AT_ONCE && sample < f->rtt_us))
		f->rtt_us = sample;
	else if (f->read + m->segment >= f->received)
		f->rtt_us = f->rtt_us - f->rtt_us / 8 + sample / 8;
}

static inline void model_forget(struct rightsize *rs, uint64_t now_us)
{
	if (now_us / RIGHTSIZE_MIN_RTT_HALF_US == rs->half_start_us / RIGHTSIZE_MIN_RTT_HALF_US)
		return;
	rs->rtt_old_us = rs->rtt_now_us;
	rs->rtt_now_us = 0;
	rs->half_start_us = now_us;
}

static inline void model_kernel_window(struct model *m, struct model_flow *f)
{
	double copied = f->read - f->kernel_copied, window;

	if (m->now_ns - f->kernel_start_ns < f->rtt_us * 1000ull)
		return;
	f->kernel_start_ns = m->now_ns;
	f->kernel_copied = f->read;
	if (!f->kernel_space)
		f->kernel_space = INITIAL_CWND;
	if (copied <= f->kernel_space)
		return;
	window = 2 * copied + 4 * copied * (copied - f->kernel_space) / f->kernel_space;
	f->kernel_space = copied;
	if (window > f->limits.cap)
		window = f->limits.cap;
	if (window > f->window)
		f->window = (uint32_t)window;
}

static inline void model_decide(struct model *m, struct model_flow *f)
{
	bool hole = m->now_ns < f->hole_until_ns;
	uint64_t now_us = m->now_ns / 1000, arrived, read;
	uint32_t window;

	if (f->receiver == KERNEL)
		model_kernel_window(m, f);
	if (f->receiver == KERNEL || f->receiver == FIXED)
		return;
	if (!rightsize_tick_over(&f->rs, now_us, f->rtt_us))
		return;
	rightsize_tick(&f->rs, now_us, (uint32_t)f->received, hole);
	if (!rightsize_round_over(&f->rs, now_us, f->rtt_us))
		return;
	arrived = f->received - f->received_round;
	read = f->read - f->read_round;
	f->counted += (uint32_t)(arrived < read ? arrived : read);
	f->received_round = f->received;
	f->read_round = f->read;
	if (f->receiver == RIGHTSIZED_NO_DRAIN && f->rs.half_start_us)
		model_forget(&f->rs, now_us);
	if (f->receiver != RIGHTSIZED_PATIENT)
		rightsize_weigh_reader(&f->reader, &f->rs, now_us, (uint32_t)f->read,
				       (uint32_t)(f->received - f->read));
	rightsize_weigh_hole(&f->rs, hole,
			     f->edge - f->received <= f->window + f->window / 4);
	window = rightsize_round(&f->rs, now_us, f->counted, f->rtt_us, &f->limits);
	if (window)
		f->window = window;
}

static inline void model_acknowledge(struct model *m, struct model_flow *f)
{
	if (f->window > f->window_max)
		f->window_max = f->window;
	if (f->read + f->window > f->edge)
		f->edge = f->read + f->window;
	model_push(&m->acks, (struct model_item){.at_ns = m->now_ns + m->base_ns / 2,
						 .echo_ns = m->now_ns,
						 .edge = f->edge,
						 .acked = f->received,
						 .flow = (uint32_t)(f - m->flow)});
}

static inline void model_arrival(struct model *m, const struct model_item *i)
{
	struct model_flow *f = &m->flow[i->flow];

	if (!i->bytes)
		f->hole_until_ns = m->now_ns + f->rtt_us * 1000ull;
	f->received += i->bytes;
	if (i->echo_ns)
		model_estimate(m, f, i->echo_ns);
	if (m->now_ns >= f->stall_until_ns && !f->read_Bps)
		f->read = f->received;
	model_decide(m, f);
	model_acknowledge(m, f);
}

/* ---- time ---------------------------------------------------------------------------- */

static inline void model_start_flow(struct model *m, struct model_flow *f)
{
	uint32_t handshake_us = (uint32_t)((m->base_ns + model_queue_ns(m)) / 1000);

	f->started = true;
	f->window = f->edge = f->edge_known = f->initial_window;
	rightsize_rtt_sample(&f->rs, handshake_us);
	f->rtt_us = 0;
	f->ack_echo_ns = m->now_ns - m->base_ns / 2;
	model_send(m, f);
}

/* The application wakes from a stall and takes all that has come, in reads of 128 KB. */
static inline void model_wake(struct model *m, struct model_flow *f)
{
	f->stall_until_ns = 0;
	while (f->read < f->received) {
		f->read += f->received - f->read > 131072 ? 131072 : f->received - f->read;
		model_decide(m, f);
	}
	model_acknowledge(m, f);
}

/* A slow application takes its portion; what it cannot have now it does not catch up on. */
static inline void model_read(struct model *m, struct model_flow *f)
{
	uint64_t portion = (uint64_t)(f->read_Bps * READ_EVERY_NS / SEC);
	uint64_t left = f->received - f->read;

	f->read += left < portion ? left : portion;
	f->read_ns = f->read_Bps ? m->now_ns + READ_EVERY_NS : 0;
	model_decide(m, f);
	model_acknowledge(m, f);
}

/* From now on the application reads so slowly; 0: fast again, with all that has come. */
static inline void model_reader(struct model *m, struct model_flow *f, double Bps)
{
	f->read_Bps = Bps;
	if (Bps)
		f->read_ns = m->now_ns + 1;
	else
		f->stall_until_ns = m->now_ns + 1;
}

static inline void model_run(struct model *m, double until_s)
{
	uint64_t end = EPOCH_NS + (uint64_t)(until_s * SEC);

	for (;;) {
		struct model_fifo *data = &m->data, *acks = &m->acks, *next = NULL;
		struct model_flow *starts = NULL, *wakes = NULL, *paced = NULL;
		struct model_flow *reads = NULL;
		struct model_item item;
		uint64_t at = end;

		if (data->head != data->tail) {
			next = data;
			at = data->item[data->head & (MODEL_RING - 1)].at_ns;
		}
		if (acks->head != acks->tail &&
		    (!next || acks->item[acks->head & (MODEL_RING - 1)].at_ns < at)) {
			next = acks;
			at = acks->item[acks->head & (MODEL_RING - 1)].at_ns;
		}
		for (uint32_t i = 0; i < m->flows; i++) {
			struct model_flow *f = &m->flow[i];

			if (!f->started && f->start_ns <= at) {
				starts = f;
				wakes = paced = reads = NULL;
				at = f->start_ns;
			}
			if (f->pace_ns > m->now_ns && f->pace_ns <= at) {
				paced = f;
				starts = wakes = reads = NULL;
				at = f->pace_ns;
			}
			if (f->stall_until_ns && f->stall_until_ns <= at) {
				wakes = f;
				starts = paced = reads = NULL;
				at = f->stall_until_ns;
			}
			if (f->read_ns && f->read_ns <= at) {
				reads = f;
				starts = paced = wakes = NULL;
				at = f->read_ns;
			}
		}
		if (at >= end) {
			m->now_ns = end;
			return;
		}
		m->now_ns = at;
		if (reads) {
			model_read(m, reads);
		} else if (starts) {
			model_start_flow(m, starts);
		} else if (wakes) {
			model_wake(m, wakes);
		} else if (paced) {
			model_send(m, paced);
		} else {
			item = next->item[next->head++ & (MODEL_RING - 1)];
			if (next == data)
				model_arrival(m, &item);
			else
				model_ack(m, &item);
		}
	}
}

/* Run, and return what flow 0 received per second meanwhile. */
static inline double model_goodput(struct model *m, double until_s)
{
	uint64_t before = m->flow[0].received, since = m->now_ns;

	model_run(m, until_s);
	return (m->flow[0].received - before) * 1e9 / (m->now_ns - since);
}

static inline double model_rtt_max_ms(struct model *m)
{
	double rtt = m->rtt_max_ns / 1e6;

	m->rtt_max_ns = 0;
	return rtt;
}

#endif
