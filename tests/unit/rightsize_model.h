/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bottleneck with one drop-tail queue, and connections through it: packet by packet, event by
 * event, in nanoseconds. Senders are Linux's as far as windows go: slow start with HyStart, CUBIC
 * (RFC 9438), growth only where cwnd was the limit, SACK recovery, tail loss probes, RTO. Receivers
 * are the kernel's autotuning (tcp_rcvbuf_grow() of 6.18), alone or with the limit that rightsize.h
 * sets, by the numbers that the sockops program gives it. The right edge of a window never moves
 * back. Applications send all the time, or answer requests, send frames, or pause; after a pause
 * cwnd is what RFC 5681 (4.1) and RFC 2861 leave.
 */
#pragma once

#include <sys/param.h>

#include "test.h"
#include "delay.h"
#include "tcptuned/algo/reader.h"
#include "tcptuned/algo/earned.h"
#include "tcptuned/algo/path.h"
#include "tcptuned/algo/peer.h"

#define MS	       1000000ull
#define SEC	       1000000000ull
#define MBIT	       125000.0
#define MODEL_FLOWS    8
#define MODEL_RING     (1u << 18) /* packets that one connection may have in flight */
#define MODEL_LINE     (1u << 19) /* packets that queue and path may hold */
#define MODEL_ACK      80u
#define MODEL_PACKET   2896u /* bytes: two segments, for which one ACK comes */
#define INITIAL_WINDOW 65536u
#define INITIAL_CWND   5.0   /* packets */
#define KERNEL_MAX     256e6 /* bytes, of a window, if a test sets no other */
#define WINDOW_MIN     14480u
#define EPOCH_NS       (1000 * SEC) /* no run starts at zero: a zero time means "none" */
#define DUPTHRESH      2	    /* packets */
#define RTO_MIN_NS     (200 * MS)
#define ACK_TICK_US    1000u /* bpf/rightsizing.h */
#define CUBIC_C	       0.4
#define CUBIC_BETA     0.7

/* What limits the window; the ends that are tuned are bits of it. */
enum receiver {
	KERNEL,		   /* the kernel's autotuning alone */
	RIGHTSIZED,	   /* ... and rightsize.h at the receiver */
	RIGHTSIZED_SENDER, /* ... at the sender */
	RIGHTSIZED_BOTH,   /* ... at both */
};

/* What an application does. All zeroes: it always has data to send. */
struct app {
	enum {
		APP_BULK,
		APP_ANSWERS, /* a message, think_s after each request; the client waits client_s */
		APP_FRAMES,  /* a message each period_s, unless eight wait */
		APP_ON_OFF,  /* always for on_s, then not for off_s */
	} kind;
	double bytes; /* of a message */
	double think_s, client_s, period_s, on_s, off_s;
	double bulk_from_s;	  /* it is APP_BULK from then on; 0: never */
	unsigned int outstanding; /* requests at a time */
	bool keeps_cwnd;	  /* net.ipv4.tcp_slow_start_after_idle = 0 */
};

#define APP_REQUEST	(~0ull) /* a packet number: the client asks */
#define APP_OUTSTANDING 32
#define APP_WAITING	64 /* messages that may be under way */

struct model_packet {
	uint64_t order; /* of the last transmission */
	bool lost, delivered, received;
};

struct model_flow {
	enum receiver receiver;
	uint64_t start_ns;
	uint32_t index;
	bool started;
	bool back; /* its data take the way back */
	/* sender; numbers are of packets */
	double cwnd, ssthresh, w_max, w_est, cubic_k;
	uint64_t next, una, order, order_delivered, order_checked, rtx_from;
	uint64_t in_flight, max_out, recovery_end, edge_bytes;
	bool recovering, cwnd_limited;
	uint64_t cubic_epoch_ns, round_end, delivered;
	uint64_t ack_echo_ns, progress_ns, srtt_ns, rttvar_ns, rto_backoff, min_rtt_ns;
	uint64_t probed_ns, round_low_ns;
	uint32_t round_samples;
	/* receiver */
	uint64_t rcv_nxt, highest, edge;
	uint64_t rtt_us, kernel_start_ns, kernel_copied;
	double kernel_space, window; /* bytes; the window without a limit */
	double offered;		     /* what the kernel offers, in what arrives in a round trip */
	uint32_t clamp;
	struct rightsize rs, snd;
	uint64_t bytes; /* received */
	/* application */
	struct app app;
	uint64_t written; /* packets */
	uint64_t next_ns; /* when a frame, or on or off, is due; 0: never */
	uint64_t answer_ns[APP_OUTSTANDING], request_ns[APP_OUTSTANDING]; /* when due; 0: not */
	uint64_t last_sent_ns, cwnd_used, cwnd_used_ns;
	uint64_t end[APP_WAITING], begun_ns[APP_WAITING]; /* of messages */
	uint64_t messages, arrived;
	double latency_s; /* the sum of that of those that arrived */
};

/* Of the first connection, s; the first ones since the number was set to 0. */
static double model_latencies[1 << 16];
static size_t model_latencies_len;

struct path {
	double mbit, base_ms, queue_s;
};

struct model_item {
	uint64_t at_ns, sent_ns, echo_ns, number,
		edge; /* sent_ns: of the data, also in its ACK (TSecr) */
	uint32_t flow;
	bool ack;
};

struct model_fifo {
	struct model_item *item;
	uint64_t head, tail;
};

struct model_step {
	uint64_t at_ns, base_ns;
	double rate_Bps;
};

/* One direction of the bottleneck, and what it has sent. */
struct model_link {
	double rate_Bps; /* 0: nothing queues */
	uint64_t queue_bytes, queued_bytes;
	uint64_t serving_until_ns; /* 0: idle */
	uint64_t last_arrival_ns;
	struct model_fifo queue, sent;
};

/* Written before they are read: by number, and which packet was transmitted as the nth. */
static struct model_packet model_packets[MODEL_FLOWS][MODEL_RING];
static uint64_t model_orders[MODEL_FLOWS][MODEL_RING];

static struct {
	struct model_link forth, back;
	uint64_t base_ns, clock_offset_us;
	double kernel_max;
	double former_max;	/* tuned connections have to earn what exceeds it; 0: nothing */
	struct model_step step; /* from at_ns on: another rate and delay; 0: none, or taken */
	uint64_t walk;		/* seed of a rate that varies; 0: none */
	const struct delay_line *jitter; /* of linkem, on the way of the data; NULL: none */
	uint64_t now_ns;
	struct model_flow flow[MODEL_FLOWS];
	uint32_t flows;
	double rtt_sum_ns, rtt_count;
	struct rightsize_peer peer[2]; /* of the tuned receivers, and of the tuned senders */
} model;

/*
 * Begins another run, on @p. @seed: of the phase of the common clock, and of the noise of the
 * hosts.
 */
static void model_begin(const struct path *p, uint64_t seed)
{
	static struct model_item items[4][MODEL_LINE];

	memset(&model, 0, sizeof(model));
	model.base_ns = (uint64_t)(p->base_ms * MS);
	model.forth = (struct model_link){.rate_Bps = p->mbit * MBIT,
					  .queue_bytes = (uint64_t)(p->queue_s * p->mbit * MBIT),
					  .queue.item = items[0],
					  .sent.item = items[1]};
	model.back = (struct model_link){.queue.item = items[2], .sent.item = items[3]};
	model.kernel_max = KERNEL_MAX;
	model.now_ns = EPOCH_NS;
	random_state = 0x9e3779b97f4a7c15ull * (seed + 1);
	model.clock_offset_us = random64() % (1u << 26);
}

static struct model_flow *model_add(enum receiver receiver, double start_s)
{
	struct model_flow *f = &model.flow[model.flows];

	*f = struct_of(model_flow, .index = model.flows++, .receiver = receiver,
		       .start_ns = EPOCH_NS + (uint64_t)(start_s * SEC), .cwnd = INITIAL_CWND,
		       .ssthresh = 1e18, .kernel_space = WINDOW_MIN, .offered = 2);
	return f;
}

/* From @at_s on the path is another one. */
static void model_schedule(double at_s, double rate_Bps, double base_ms)
{
	model.step = (struct model_step){.at_ns = EPOCH_NS + (uint64_t)(at_s * SEC),
					 .base_ns = (uint64_t)(base_ms * MS),
					 .rate_Bps = rate_Bps};
}

static void model_push(struct model_fifo *fifo, struct model_item item)
{
	fifo->item[fifo->tail++ & (MODEL_LINE - 1)] = item;
	if (fifo->tail - fifo->head >= MODEL_LINE)
		abort(); /* the model itself ran away */
}

static struct model_item *model_head(struct model_fifo *fifo)
{
	return fifo->head == fifo->tail ? NULL : &fifo->item[fifo->head & (MODEL_LINE - 1)];
}

static struct model_item *model_pop(struct model_fifo *fifo)
{
	return &fifo->item[fifo->head++ & (MODEL_LINE - 1)];
}

static struct model_packet *model_packet(struct model_flow *f, uint64_t number)
{
	return &model_packets[f->index][number & (MODEL_RING - 1)];
}

static uint64_t model_bytes(const struct model_item *i)
{
	return i->ack ? MODEL_ACK : MODEL_PACKET;
}

static void model_serve(struct model_link *link)
{
	if (!link->serving_until_ns && model_head(&link->queue))
		link->serving_until_ns =
			model.now_ns +
			(uint64_t)(model_bytes(model_head(&link->queue)) / link->rate_Bps * 1e9);
}

/* It arrives in order, also when the path became shorter. */
static void model_forward(struct model_link *link, struct model_item item, uint64_t noise_ns)
{
	item.at_ns = model.now_ns + model.base_ns / 2 + noise_ns;
	if (model.jitter && link == &model.forth)
		item.at_ns += delay_line_jitter_ns(model.jitter, model.now_ns - EPOCH_NS);
	item.at_ns = link->last_arrival_ns = MAX(item.at_ns, link->last_arrival_ns);
	model_push(&link->sent, item);
}

static void model_served(void *which)
{
	struct model_link *link = which;
	struct model_item item = *model_pop(&link->queue);

	link->serving_until_ns = 0;
	link->queued_bytes -= model_bytes(&item);
	model_forward(link, item, 0);
	model_serve(link);
}

/* A segment, or an ACK, which is never dropped. */
static void model_enqueue(struct model_link *link, struct model_item item)
{
	if (!link->rate_Bps) {
		model_forward(link, item, random64() % 20000);
		return;
	}
	if (!item.ack && link->queued_bytes + MODEL_PACKET > link->queue_bytes)
		return;
	link->queued_bytes += model_bytes(&item);
	model_push(&link->queue, item);
	model_serve(link);
}

static void model_transmit(struct model_flow *f, uint64_t number)
{
	struct model_packet *p = model_packet(f, number);

	p->order = ++f->order;
	f->last_sent_ns = model.now_ns;
	p->lost = false;
	model_orders[f->index][p->order & (MODEL_RING - 1)] = number;
	f->in_flight++;
	model_enqueue(f->back ? &model.back : &model.forth,
		      struct_of(model_item, .sent_ns = model.now_ns, .echo_ns = f->ack_echo_ns,
				.number = number, .flow = f->index));
}

/* The largest window by the kernel, of which a tuned connection has to earn a part. */
static double model_window_max(const struct model_flow *f, const struct rightsize *rs)
{
	if (!model.former_max)
		return model.kernel_max;
	if (!(f->receiver & (rs == &f->rs ? RIGHTSIZED : RIGHTSIZED_SENDER)))
		return model.former_max;
	return fmin(fmax(model.former_max, rightsize_earned(rs, 0)), model.kernel_max);
}

/* What SO_SNDBUF allows to be unacknowledged, packets. */
static uint64_t model_send_limit(const struct model_flow *f)
{
	if (f->snd.window)
		return f->snd.window / MODEL_PACKET;
	return MIN(MODEL_RING / 2, (uint64_t)(model_window_max(f, &f->snd) / MODEL_PACKET));
}

static bool app_has_data(const struct model_flow *f)
{
	return f->app.kind == APP_BULK || f->next < f->written;
}

static uint64_t model_rto_ns(const struct model_flow *f)
{
	uint64_t rto = f->srtt_ns + MAX(4 * f->rttvar_ns, RTO_MIN_NS);

	return rto << (f->rto_backoff < 6 ? f->rto_backoff : 6);
}

/*
 * tcp_slow_start_after_idle_check(), tcp_cwnd_restart(), and CUBIC's epoch (cubictcp_cwnd_event())
 */
static void model_restart(struct model_flow *f)
{
	uint64_t idle_ns = model.now_ns - f->last_sent_ns, rto_ns = model_rto_ns(f);

	if (f->app.kind == APP_BULK || f->in_flight || !f->last_sent_ns || !app_has_data(f))
		return;
	f->progress_ns = model.now_ns;
	if (f->cubic_epoch_ns)
		f->cubic_epoch_ns = MIN(f->cubic_epoch_ns + idle_ns, model.now_ns);
	if (f->app.keeps_cwnd || idle_ns <= rto_ns)
		return;
	f->ssthresh = fmax(f->ssthresh, 0.75 * f->cwnd);
	for (; idle_ns > rto_ns && f->cwnd > INITIAL_CWND; idle_ns -= rto_ns)
		f->cwnd = fmax(f->cwnd / 2, INITIAL_CWND);
	f->cwnd_used_ns = model.now_ns;
	f->cwnd_used = 0;
}

/* tcp_cwnd_validate(), tcp_cwnd_application_limited() */
static void model_validate_cwnd(struct model_flow *f)
{
	double used = fmax((double)f->cwnd_used, INITIAL_CWND);

	if (f->app.kind == APP_BULK)
		return;
	f->cwnd_used = MAX(f->cwnd_used, f->in_flight);
	if (!f->cwnd_limited && model.now_ns - f->cwnd_used_ns < model_rto_ns(f))
		return;
	if (!f->cwnd_limited && !f->recovering && !f->app.keeps_cwnd && used < f->cwnd) {
		f->ssthresh = fmax(f->ssthresh, 0.75 * f->cwnd);
		f->cwnd = (f->cwnd + used) / 2;
	}
	f->cwnd_used_ns = model.now_ns;
	f->cwnd_used = 0;
}

static void model_send(struct model_flow *f)
{
	f->cwnd_limited = false;
	model_restart(f);
	for (;;) {
		if ((double)f->in_flight + 1 > f->cwnd) {
			f->cwnd_limited = true;
			break;
		}
		for (f->rtx_from = MAX(f->rtx_from, f->una); f->rtx_from < f->next; f->rtx_from++)
			if (model_packet(f, f->rtx_from)->lost)
				break;
		if (f->rtx_from < f->next) {
			model_transmit(f, f->rtx_from);
			continue;
		}
		if ((f->next + 1) * MODEL_PACKET > f->edge_bytes || !app_has_data(f) ||
		    f->next - f->una >= model_send_limit(f))
			break;
		memset(model_packet(f, f->next), 0, sizeof(struct model_packet));
		model_transmit(f, f->next++);
	}
	f->max_out = MAX(f->max_out, f->in_flight);
	model_validate_cwnd(f);
}

/* RFC 9438, which counts segments, of which a packet here has two. */
static double model_cubic_target(struct model_flow *f)
{
	double t;

	if (!f->cubic_epoch_ns) {
		f->cubic_epoch_ns = model.now_ns;
		f->w_est = f->cwnd;
		f->w_max = fmax(f->w_max, f->cwnd);
		f->cubic_k = cbrt(2 * (f->w_max - f->cwnd) / CUBIC_C);
	}
	t = (double)(model.now_ns - f->cubic_epoch_ns + f->min_rtt_ns) / SEC - f->cubic_k;
	f->w_est += 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) / f->cwnd / 2;
	return f->w_max + CUBIC_C * t * t * t / 2;
}

/* One packet was acknowledged. */
static void model_grow(struct model_flow *f)
{
	double target;

	/* tcp_is_cwnd_limited(): in slow start, twice what was out is enough */
	if (f->recovering)
		return;
	if (f->cwnd < f->ssthresh) {
		if (f->cwnd < 2 * (double)f->max_out)
			f->cwnd++;
		return;
	}
	if (!f->cwnd_limited)
		return;
	target = model_cubic_target(f);
	target = fmin(fmax(target, f->w_est), 1.5 * f->cwnd);
	if (target > f->cwnd)
		f->cwnd += (target - f->cwnd) / f->cwnd;
}

/* HyStart of tcp_cubic.c: the delay of the first samples of a round. */
static void model_hystart(struct model_flow *f, uint64_t rtt_ns)
{
	uint64_t more = MIN(MAX(f->min_rtt_ns / 8, 4 * MS), 16 * MS);

	if (f->cwnd >= f->ssthresh || f->cwnd < 8)
		return;
	if (f->round_samples++ < 8) {
		if (!f->round_low_ns || rtt_ns < f->round_low_ns)
			f->round_low_ns = rtt_ns;
		return;
	}
	if (f->round_low_ns > f->min_rtt_ns + more)
		f->ssthresh = f->cwnd;
}

static void model_lose(struct model_flow *f, uint64_t number)
{
	struct model_packet *p = model_packet(f, number);

	p->lost = true;
	f->in_flight--;
	f->rtx_from = MIN(f->rtx_from, number);
	if (f->recovering)
		return;
	f->recovering = true;
	f->recovery_end = f->next;
	f->cubic_epoch_ns = 0;
	f->w_max = f->cwnd < f->w_max ? f->cwnd * (1 + CUBIC_BETA) / 2 : f->cwnd;
	f->ssthresh = fmax(f->cwnd * CUBIC_BETA, 1);
	f->cwnd = f->ssthresh;
}

/* What was sent before a delivered packet, and is not delivered itself, is lost. */
static void model_find_losses(struct model_flow *f)
{
	while (f->order_checked + DUPTHRESH < f->order_delivered) {
		uint64_t order = ++f->order_checked;
		uint64_t number = model_orders[f->index][order & (MODEL_RING - 1)];
		struct model_packet *p = model_packet(f, number);

		if (number >= f->una && p->order == order && !p->delivered && !p->lost)
			model_lose(f, number);
	}
}

static void model_sample(struct model_flow *f, uint64_t rtt_ns)
{
	if (!f->min_rtt_ns || rtt_ns < f->min_rtt_ns)
		f->min_rtt_ns = rtt_ns;
	if (!f->srtt_ns) {
		f->srtt_ns = rtt_ns;
		f->rttvar_ns = rtt_ns / 2;
		return;
	}
	f->rttvar_ns += (MAX(rtt_ns, f->srtt_ns) - MIN(rtt_ns, f->srtt_ns)) / 4 - f->rttvar_ns / 4;
	f->srtt_ns += rtt_ns / 8 - f->srtt_ns / 8;
}

/* By the timestamps of two hosts, which tick in milliseconds and began at other times. */
static uint32_t model_delay_us(uint64_t sent_ns, uint64_t arrived_ns)
{
	return (uint32_t)((arrived_ns + 300000) / MS - sent_ns / MS + 0xfffff000) * 1000 | 1;
}

/* on_sending() of the sockops program */
static void model_decide_sender(struct model_flow *f, uint64_t rtt_ns, uint32_t delay_us,
				bool round_ended)
{
	struct rightsize_ack ack = {
		.now_us = model.now_ns / 1000,
		.clock_us = model.now_ns / 1000 + model.clock_offset_us,
		.bytes = (uint32_t)(f->delivered * MODEL_PACKET),
		.sample_us = (uint32_t)(rtt_ns / 1000),
		.delay_us = delay_us,
		.rtt_us = (uint32_t)(f->srtt_ns / 1000),
		.offered = f->recovering ? RIGHTSIZE_WINDOW_MAX : 0,
		.min = WINDOW_MIN,
	};

	if (!round_ended && ((!rightsize_minds_silence(&f->snd, ack.rtt_us) && !f->snd.state) ||
			     ack.now_us - f->snd.seen_us < ACK_TICK_US))
		return;
	if (rightsize_minds_peer(&f->snd, &ack))
		rightsize_look_at_peer(&model.peer[1], &f->snd, &ack);
	if (round_ended)
		ack.rtt_us -= ack.rtt_us / 4;
	rightsize_on_ack(&f->snd, &ack);
}

/* A slot that is free, of those for as many as are outstanding. */
static uint64_t *app_slot(uint64_t *slots, const struct model_flow *f)
{
	unsigned int i = 0;

	while (slots[i] && i + 1 < f->app.outstanding)
		i++;
	return &slots[i];
}

static void model_ack(struct model_flow *f, const struct model_item *i)
{
	struct model_packet *p;
	uint64_t rtt_ns;
	bool round_ended;

	f->edge_bytes = MAX(f->edge_bytes, i->edge);
	f->ack_echo_ns = i->echo_ns;
	if (i->number == APP_REQUEST) {
		*app_slot(f->answer_ns, f) = model.now_ns + (uint64_t)(f->app.think_s * SEC) + 1;
		return;
	}
	p = model_packet(f, i->number);
	rtt_ns = model.now_ns - i->sent_ns;
	f->progress_ns = model.now_ns;
	f->rto_backoff = 0;
	if (i->number >= f->una && !p->delivered) {
		p->delivered = true;
		f->delivered++;
		if (!p->lost)
			f->in_flight--;
		p->lost = false;
		f->order_delivered = MAX(f->order_delivered, p->order);
		while (f->una < f->next && model_packet(f, f->una)->delivered)
			f->una++;
		model_sample(f, rtt_ns);
		model.rtt_sum_ns += rtt_ns;
		model.rtt_count++;
		round_ended = f->una > f->round_end;
		if (round_ended) {
			f->round_end = f->next;
			f->round_samples = 0;
			f->round_low_ns = 0;
			f->max_out = f->in_flight;
		}
		if (f->receiver & RIGHTSIZED_SENDER)
			model_decide_sender(f, rtt_ns, model_delay_us(i->sent_ns, i->echo_ns),
					    round_ended);
		model_hystart(f, rtt_ns);
		f->recovering &= f->una < f->recovery_end;
		model_grow(f);
		model_find_losses(f);
	}
	model_send(f);
}

/* When something has to be done without an ACK; 0: never. */
static uint64_t model_timer_ns(const struct model_flow *f)
{
	uint64_t probe = f->progress_ns + 2 * f->srtt_ns + 2 * MS;
	uint64_t timeout = f->progress_ns + model_rto_ns(f);

	if (!f->started || !f->in_flight)
		return 0;
	return f->probed_ns && f->probed_ns >= f->progress_ns ? timeout : MIN(probe, timeout);
}

static void model_timer(void *flow)
{
	struct model_flow *f = flow;

	if (model.now_ns < f->progress_ns + model_rto_ns(f)) { /* tail loss probe */
		uint64_t n = f->next - 1;

		while (model_packet(f, n)->delivered || model_packet(f, n)->lost)
			n--;
		f->probed_ns = model.now_ns;
		f->in_flight--;
		model_transmit(f, n);
		return;
	}
	f->rto_backoff++;
	f->progress_ns = model.now_ns;
	for (uint64_t n = f->una; n < f->next; n++) {
		struct model_packet *p = model_packet(f, n);

		if (!p->delivered && !p->lost)
			model_lose(f, n);
	}
	f->order_checked = f->order;
	f->cwnd = 1;
	f->recovering = false;
	model_send(f);
}

/* tcp_rcv_rtt_update() of Linux 6.16 and later. */
static uint32_t model_estimate(struct model_flow *f, uint64_t echo_ns)
{
	uint64_t ticks = model.now_ns / MS - echo_ns / MS; /* of timestamps */
	uint64_t sample = (ticks ? ticks : 1) * 1000;

	if (!f->rtt_us || sample < f->rtt_us)
		f->rtt_us = sample;
	else
		f->rtt_us += sample / 8 - f->rtt_us / 8;
	return (uint32_t)sample;
}

/* tcp_rcv_space_adjust(), tcp_rcvbuf_grow() */
static void model_kernel_window(struct model_flow *f)
{
	double copied = (double)(f->rcv_nxt - f->kernel_copied) * MODEL_PACKET, window;

	if (!f->rtt_us || model.now_ns - f->kernel_start_ns < f->rtt_us * 1000)
		return;
	f->kernel_start_ns = model.now_ns;
	f->kernel_copied = f->rcv_nxt;
	if (copied <= f->kernel_space)
		return;
	window = f->offered * copied + 4 * copied * (copied - f->kernel_space) / f->kernel_space;
	window += (double)(f->highest - f->rcv_nxt) * MODEL_PACKET;
	f->kernel_space = copied;
	f->window = fmax(fmin(window, model_window_max(f, &f->rs)), f->window);
}

/* on_ack_out() of the sockops program */
static void model_decide(struct model_flow *f, uint32_t sample_us, uint32_t delay_us)
{
	struct rightsize_ack ack = {
		.now_us = model.now_ns / 1000,
		.clock_us = model.now_ns / 1000 + model.clock_offset_us,
		.bytes = (uint32_t)(f->highest * MODEL_PACKET),
		.sample_us = sample_us,
		.delay_us = delay_us,
		.rtt_us = (uint32_t)(f->rtt_us < 10000 ? f->rtt_us + 1000 : f->rtt_us),
		.offered = f->highest > f->rcv_nxt
				   ? RIGHTSIZE_WINDOW_MAX
				   : (uint32_t)(f->edge - f->rcv_nxt * MODEL_PACKET),
		.min = WINDOW_MIN,
	};
	uint32_t window, gap;

	if (ack.now_us - f->rs.seen_us < ACK_TICK_US)
		return;
	if (rightsize_minds_peer(&f->rs, &ack))
		rightsize_look_at_peer(&model.peer[0], &f->rs, &ack);
	rightsize_on_ack(&f->rs, &ack);
	/* While there is a reassembly gap nothing is held below what the kernel gives. */
	window = f->highest > f->rcv_nxt && f->rs.window > 65535 ? 0 : f->rs.window;
	gap = window > f->clamp ? window - f->clamp : f->clamp - window;
	if (!window || !f->clamp || gap > f->clamp / 16)
		f->clamp = window;
}

/* Counts the messages that have arrived; each is followed by the next request. */
static void app_count_arrived(struct model_flow *f)
{
	for (; f->arrived < f->messages && f->rcv_nxt >= f->end[f->arrived % APP_WAITING];
	     f->arrived++) {
		double latency_s =
			(double)(model.now_ns - f->begun_ns[f->arrived % APP_WAITING]) / SEC;

		f->latency_s += latency_s;
		if (!f->index && model_latencies_len < ARRAY_SIZE(model_latencies))
			model_latencies[model_latencies_len++] = latency_s;
		if (f->app.kind == APP_ANSWERS)
			*app_slot(f->request_ns, f) =
				model.now_ns + (uint64_t)(f->app.client_s * SEC) + 1;
	}
}

/* @number: of the packet that arrived, or APP_REQUEST */
static void model_acknowledge(struct model_flow *f, uint64_t number, uint64_t sent_ns)
{
	double window = f->clamp ? fmin(f->clamp, f->window) : f->window;

	f->edge = MAX(f->edge, f->rcv_nxt * MODEL_PACKET + (uint64_t)window);
	model_enqueue(f->back ? &model.forth : &model.back,
		      struct_of(model_item, .sent_ns = sent_ns, .echo_ns = model.now_ns,
				.number = number, .edge = f->edge, .flow = f->index, .ack = true));
}

static void model_data(struct model_flow *f, const struct model_item *i)
{
	struct model_packet *p;
	uint32_t sample_us = 0;

	p = model_packet(f, i->number);
	if (i->number >= f->rcv_nxt && !p->received) {
		p->received = true;
		f->bytes += MODEL_PACKET;
		f->highest = MAX(f->highest, i->number + 1);
		while (f->rcv_nxt < f->highest && model_packet(f, f->rcv_nxt)->received)
			f->rcv_nxt++;
	}
	if (i->echo_ns)
		sample_us = model_estimate(f, i->echo_ns);
	model_kernel_window(f);
	if (f->receiver & RIGHTSIZED)
		model_decide(f, sample_us, model_delay_us(i->sent_ns, model.now_ns));
	app_count_arrived(f);
	model_acknowledge(f, i->number, i->sent_ns);
}

/* What a link has sent arrives. */
static void model_arrival(void *link)
{
	const struct model_item *i = model_pop(&((struct model_link *)link)->sent);

	(i->ack ? model_ack : model_data)(&model.flow[i->flow], i);
}

/* ---- the applications ----------------------------------------------------------------- */

static void app_write(struct model_flow *f)
{
	uint64_t n = f->messages % APP_WAITING;

	if (f->messages - f->arrived == APP_WAITING)
		return;
	f->written += (uint64_t)ceil(f->app.bytes / MODEL_PACKET);
	f->end[n] = f->written;
	f->begun_ns[n] = model.now_ns;
	f->messages++;
	model_send(f);
}

/*
 * A callback comes for a request, too, but there is no sample, as no data has arrived since the
 * last one.
 */
static void app_ask(struct model_flow *f)
{
	if (f->receiver & RIGHTSIZED)
		model_decide(f, 0, 0);
	model_acknowledge(f, APP_REQUEST, 0);
}

/* When @f's application does something; 0: never. */
static uint64_t app_due_ns(const struct model_flow *f)
{
	uint64_t due = f->started ? f->next_ns : 0;

	for (unsigned int i = 0; f->started && i < f->app.outstanding; i++) {
		if (f->answer_ns[i] && (!due || f->answer_ns[i] < due))
			due = f->answer_ns[i];
		if (f->request_ns[i] && (!due || f->request_ns[i] < due))
			due = f->request_ns[i];
	}
	return due;
}

static bool app_is_due(uint64_t *at_ns)
{
	if (!*at_ns || *at_ns > model.now_ns)
		return false;
	*at_ns = 0;
	return true;
}

/* What is due of an application at next_ns. */
static void app_go_on(struct model_flow *f)
{
	double t = (double)(model.now_ns - f->start_ns) / SEC, cycle = f->app.on_s + f->app.off_s;
	double within = f->app.kind == APP_ON_OFF ? fmod(t + 1e-9, cycle) : 0;

	if (f->app.bulk_from_s && t >= f->app.bulk_from_s) {
		f->app.kind = APP_BULK;
		f->app.outstanding = 0;
	} else if (f->app.kind == APP_FRAMES) {
		if (f->written - f->next < 8 * f->app.bytes / MODEL_PACKET + 8)
			app_write(f);
		f->next_ns = model.now_ns + (uint64_t)(f->app.period_s * SEC);
	} else if (f->app.kind == APP_ON_OFF && within < f->app.on_s) {
		f->written = MAX(f->written, f->next + 4096);
		f->next_ns = model.now_ns + 2 * MS;
	} else if (f->app.kind == APP_ON_OFF) {
		f->written = f->next;
		f->next_ns = model.now_ns + (uint64_t)((cycle - within) * SEC) + 1;
	}
	model_send(f);
}

static void app_act(void *flow)
{
	struct model_flow *f = flow;

	if (app_is_due(&f->next_ns))
		app_go_on(f);
	for (unsigned int i = 0; i < f->app.outstanding; i++) {
		if (app_is_due(&f->answer_ns[i]))
			app_write(f);
		if (app_is_due(&f->request_ns[i]))
			app_ask(f);
	}
}

static void app_start(struct model_flow *f)
{
	if (f->app.kind == APP_ANSWERS) {
		f->next_ns = f->app.bulk_from_s ? f->start_ns + (uint64_t)(f->app.bulk_from_s * SEC)
						: 0;
		for (unsigned int i = 0; i < f->app.outstanding; i++)
			f->request_ns[i] = model.now_ns + 1 + i * MS;
	} else if (f->app.kind != APP_BULK) {
		f->next_ns = model.now_ns + 1;
	}
}

static void model_start_flow(void *flow)
{
	struct model_flow *f = flow;

	uint64_t handshake_ns =
		model.base_ns + (uint64_t)(model.forth.queued_bytes / model.forth.rate_Bps * 1e9);

	f->started = true;
	f->window = INITIAL_WINDOW;
	f->edge = f->edge_bytes = INITIAL_WINDOW;
	rightsize_rtt_sample(&f->rs, (uint32_t)(handshake_ns / 1000));
	rightsize_rtt_sample(&f->snd, (uint32_t)(handshake_ns / 1000));
	f->ack_echo_ns = model.now_ns - model.base_ns / 2;
	f->progress_ns = f->kernel_start_ns = model.now_ns;
	model_sample(f, handshake_ns);
	app_start(f);
	model_send(f);
}

/*
 * Twice a second the rate becomes up to four times as large or as small, between 0.4 and 40 Mbit/s,
 * as that of a cellular link. It depends on @seed only, not on what the connections do.
 */
static void model_walk(uint64_t seed)
{
	uint64_t steps = (model.now_ns - EPOCH_NS) / (500 * MS);
	uint64_t hash = (seed << 32 | steps) * 0x9e3779b97f4a7c15ull;
	double factor;

	hash = (hash ^ hash >> 32) * 0xbf58476d1ce4e5b9ull;
	factor = pow(4, (double)(hash >> 32) / (1ull << 31) - 1);
	model.walk = seed;
	model_schedule(0.5 * (double)(steps + 1),
		       fmin(fmax(model.forth.rate_Bps * factor, 0.4 * MBIT), 40 * MBIT),
		       (double)model.base_ns / MS);
}

static void model_take_step(void *unused)
{
	model.forth.rate_Bps = model.step.rate_Bps;
	model.base_ns = model.step.base_ns;
	model.step.at_ns = 0;
	if (model.walk)
		model_walk(model.walk);
}

/* What happens first, before @at_ns. */
struct model_event {
	uint64_t at_ns;
	void (*happen)(void *to); /* NULL: nothing */
	void *to;
};

static void model_sooner(struct model_event *first, uint64_t at_ns, void *to,
			 void (*happen)(void *to))
{
	if (at_ns && at_ns < first->at_ns)
		*first = (struct model_event){at_ns, happen, to};
}

static void model_run(double until_s)
{
	struct model_link *links[] = {&model.forth, &model.back, NULL};

	model.rtt_sum_ns = model.rtt_count = 0;
	for (;;) {
		struct model_event first = {.at_ns = EPOCH_NS + (uint64_t)(until_s * SEC)};

		model_sooner(&first, model.step.at_ns, NULL, model_take_step);
		for (struct model_link **l = links; *l; l++) {
			model_sooner(&first, (*l)->serving_until_ns, *l, model_served);
			if (model_head(&(*l)->sent))
				model_sooner(&first, model_head(&(*l)->sent)->at_ns, *l,
					     model_arrival);
		}
		for (struct model_flow *f = model.flow; f < model.flow + model.flows; f++) {
			if (!f->started)
				model_sooner(&first, f->start_ns, f, model_start_flow);
			model_sooner(&first, model_timer_ns(f), f, model_timer);
			model_sooner(&first, app_due_ns(f), f, app_act);
		}
		model.now_ns = MAX(first.at_ns, model.now_ns);
		if (!first.happen)
			return;
		first.happen(first.to);
	}
}

/* Runs, and returns what the first connection received per second meanwhile. */
static double model_goodput(double until_s)
{
	uint64_t before = model.flow[0].bytes, since = model.now_ns;

	model_run(until_s);
	return (double)(model.flow[0].bytes - before) * 1e9 / (double)(model.now_ns - since);
}

/* Returns the goodput beside another connection, after a tenth of the link was used for 18 s. */
static inline double model_goodput_after_less(const struct path *p, enum receiver receiver,
					      uint64_t seed)
{
	struct model_flow *f;

	model_begin(p, seed);
	f = model_add(receiver, 0);
	model_add(receiver, 0.01);
	model_run(14);
	f->app =
		(struct app){.kind = APP_FRAMES, .period_s = 0.02, .bytes = 0.002 * p->mbit * MBIT};
	f->next_ns = model.now_ns;
	f->written = f->next;
	model_run(32);
	f->app = (struct app){0};
	model_run(37);
	return model_goodput(60);
}

/* Returns the goodput of 20 s on a link whose rate varies as that of a cellular one. */
static inline double model_cellular_goodput(enum receiver receiver, uint64_t seed)
{
	model_begin(&(struct path){8, 40, 1.5}, seed);
	model_add(receiver, 0);
	model_walk(seed);
	return model_goodput(20);
}

/*
 * Returns the goodput from 3 s on of a connection that begins with, or soon after, one that the
 * kernel sizes.
 */
static inline double model_goodput_beside_untuned(const struct path *p, enum receiver receiver,
						  uint64_t seed, double until_s)
{
	model_begin(p, seed);
	model_add(receiver, 0.5 + 0.013 * (double)seed);
	model_add(KERNEL, seed & 1 ? 0 : 0.5);
	model_run(3);
	return model_goodput(until_s);
}

/* The mean of all round trips of the last model_run(). */
static inline double model_mean_rtt_ms(void)
{
	return model.rtt_sum_ns / model.rtt_count / MS;
}
