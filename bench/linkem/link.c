// SPDX-License-Identifier: GPL-2.0-only
#include "link.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "segment.h"

#define NS_PER_SECOND 1000000000ull

/* A wake-up costs 20 to 30 us: packets are waited for no finer than this. */
#define SLEEP_MIN_NS 50000ull
/* Work without a sleep ends here: a FIFO thread that never sleeps is stopped for 50 ms. */
#define AWAKE_MAX_NS 500000ull
/* How soon a stop is noticed on an idle link. */
#define IDLE_NS 100000000ull
/* After a sleep this long, waking early and waiting actively for the rest costs little. */
#define SLEEP_LONG_NS 1000000ull
#define RUN_NS	      100000ull
#define SPIN_RATE_MAX 100000000ull
#define READ_BATCH    64
#define WRITE_BATCH   32
/* What bursts and half-dropped super-packets take beyond the link's own bytes. */
#define STORE_SLACK    (16ull << 20)
#define RECORD_ALIGN   64ull
#define BYTES_PER_RUN  256ull
#define DELIVERIES_MIN (1u << 16)

/* A packet in the store: this, then the frame as it was read. */
struct record {
	struct packet packet;
	uint8_t frame[];
};
#define RECORD_MAX (sizeof(struct record) + SEGMENT_FRAME_MAX)

uint64_t link_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}

/* Untouched memory costs up to 9 us a page at the worst moment: fill it now. */
static void *touched(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, size, MADV_HUGEPAGE);
	memset(at, 0xff, size);
	return at;
}

int link_init(struct link *l, const struct queue_config *config, uint64_t delay_ns,
	      uint32_t mtu)
{
	uint64_t queued = config->limit_packets * (uint64_t)mtu;
	uint64_t flying;
	int err;

	memset(l, 0, sizeof(*l));
	err = queue_init(&l->queue, config);
	if (err)
		return err;
	if (!queued || (config->limit_bytes && config->limit_bytes < queued))
		queued = config->limit_bytes;
	flying = (uint64_t)((double)config->rate_bps / 8 * (double)delay_ns / NS_PER_SECOND);
	l->delay_ns = delay_ns;
	l->run_ns = RUN_NS;
	l->spin = config->rate_bps <= SPIN_RATE_MAX;
	l->store_size = (2 * (queued + flying) + STORE_SLACK) & ~(RECORD_ALIGN - 1);
	l->delivery_size = DELIVERIES_MIN;
	while (l->delivery_size < l->store_size / BYTES_PER_RUN)
		l->delivery_size *= 2;
	l->store = touched(l->store_size);
	l->deliveries = touched(l->delivery_size * sizeof(*l->deliveries));
	return l->store && l->deliveries ? 0 : -ENOMEM;
}

void link_free(struct link *l)
{
	if (l->store)
		munmap(l->store, l->store_size);
	if (l->deliveries)
		munmap(l->deliveries, l->delivery_size * sizeof(*l->deliveries));
	queue_free(&l->queue);
}

/* Where the next packet may be read to, in one piece; NULL if the store is full. */
static struct record *store_reserve(struct link *l)
{
	uint64_t offset = l->store_tail % l->store_size;

	if (l->store_size - offset < RECORD_MAX) {
		l->store_tail += l->store_size - offset;
		offset = 0;
	}
	if (l->store_tail + RECORD_MAX - l->store_head > l->store_size)
		return NULL;
	return (struct record *)(l->store + offset);
}

static void count(struct tally *t, uint32_t bytes, bool data)
{
	t->segments++;
	t->data_segments += data;
	t->bytes += bytes;
}

static void count_queue(struct direction_stats *s, const struct offer *o, uint32_t bytes)
{
	uint64_t sojourn = o->depart_ns - o->arrive_ns;

	if (o->queued_bytes > s->queue_max_bytes)
		s->queue_max_bytes = o->queued_bytes;
	if (o->queued_packets > s->queue_max_packets)
		s->queue_max_packets = o->queued_packets;
	if (sojourn > s->queue_max_delay_ns)
		s->queue_max_delay_ns = sojourn;
	s->queue_byte_ns += (double)bytes * (double)sojourn;
	s->queue_delay_ns += (double)sojourn;
	s->last_depart_ns = o->depart_ns;
}

/* A run that is growing while the segments of one packet are offered. */
struct growing {
	struct delivery *last; /* NULL: the next survivor begins a run */
	uint64_t began_ns;     /* when serialisation of the run's first segment began */
};

static bool append_segment(struct link *l, struct growing *g, unsigned int index,
			   const struct offer *o, uint32_t bytes)
{
	uint64_t took = bytes * 8ull * NS_PER_SECOND / l->queue.config.rate_bps;

	if (g->last && o->depart_ns - g->began_ns <= l->run_ns) {
		g->last->count++;
		g->last->due_ns = o->depart_ns + l->delay_ns;
		return true;
	}
	if (l->delivery_tail - l->delivery_head == l->delivery_size)
		return false;
	g->last = &l->deliveries[l->delivery_tail++ & (l->delivery_size - 1)];
	g->began_ns = o->depart_ns - took;
	*g->last = (struct delivery){
		.due_ns = o->depart_ns + l->delay_ns,
		.at = l->store_tail,
		.first = index,
		.count = 1,
	};
	return true;
}

/* Decides about every segment of the packet at the store's tail; keeps it if one survives. */
static void admit(struct link *l, struct record *r, uint64_t now_ns)
{
	const struct packet *p = &r->packet;
	struct delivery *last = NULL;
	struct growing g = {0};
	uint32_t used = 0;

	for (unsigned int i = 0; i < p->segments; i++) {
		uint32_t bytes = packet_segment_bytes(p, i);
		bool data = p->payload_len > 0;
		enum verdict verdict;
		struct offer o;

		count(&l->stats.in, bytes, data);
		verdict = queue_offer(&l->queue, now_ns, bytes, data, &o);
		if (verdict == VERDICT_PASS && !append_segment(l, &g, i, &o, bytes))
			verdict = VERDICT_NO_ROOM;
		count(&l->stats.verdicts[verdict], bytes, data);
		if (verdict != VERDICT_PASS) {
			g.last = NULL;
			continue;
		}
		last = g.last;
		count_queue(&l->stats, &o, bytes);
		used = p->gso_size ? p->header_len + (i + 1) * p->gso_size : p->ip_len;
	}
	if (!last)
		return;
	if (used > p->ip_len)
		used = p->ip_len;
	used += sizeof(*r) + SEGMENT_VNET_LEN;
	l->store_tail += (used + RECORD_ALIGN - 1) & ~(RECORD_ALIGN - 1);
	last->release = l->store_tail;
}

/* The store is full: the packet is read all the same, and the run will be invalid. */
static bool discard_one(struct link *l)
{
	static __thread uint8_t frame[SEGMENT_FRAME_MAX];
	struct packet p;
	ssize_t n = read(l->in_fd, frame, sizeof(frame));

	if (n < 0)
		return false;
	l->stats.packets_in++;
	if (packet_parse(frame, n, &p)) {
		l->stats.malformed++;
		return true;
	}
	for (unsigned int i = 0; i < p.segments; i++) {
		count(&l->stats.in, packet_segment_bytes(&p, i), p.payload_len > 0);
		count(&l->stats.verdicts[VERDICT_NO_ROOM], packet_segment_bytes(&p, i),
		      p.payload_len > 0);
	}
	return true;
}

/* One packet, if there is one. */
static bool read_one(struct link *l)
{
	struct record *r = store_reserve(l);
	uint64_t now;
	ssize_t n;

	if (!r)
		return discard_one(l);
	n = read(l->in_fd, r->frame, SEGMENT_FRAME_MAX);
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			l->stats.read_errors++;
		return false;
	}
	now = link_now_ns();
	l->stats.packets_in++;
	if (!l->stats.first_in_ns)
		l->stats.first_in_ns = now;
	if (packet_parse(r->frame, n, &r->packet)) {
		l->stats.malformed++;
		return true;
	}
	admit(l, r, now);
	return true;
}

/* Reads what is there, within a batch; returns the number of packets. */
static unsigned int read_arrivals(struct link *l)
{
	uint64_t began = link_now_ns();
	unsigned int n = 0;

	while (n < READ_BATCH && read_one(l))
		n++;
	/* those whose arrival ended the sleep have not waited */
	if (n)
		histogram_add(&l->stats.gap, l->empty_at_ns ? began - l->empty_at_ns : 0);
	l->empty_at_ns = n < READ_BATCH ? link_now_ns() : 0;
	return n;
}

static void hand_over(struct link *l, const struct delivery *d)
{
	struct record *r = (struct record *)(l->store + d->at % l->store_size);
	struct run_image image;
	struct iovec iov[2];
	uint64_t now;

	packet_build_run(&r->packet, d->first, d->count, &image);
	iov[0] = (struct iovec){image.headers, image.headers_len};
	iov[1] = (struct iovec){(void *)image.payload, image.payload_len};
	now = link_now_ns();
	histogram_add(&l->stats.late, now - d->due_ns);
	if (writev(l->out_fd, iov, 2) < 0) {
		l->stats.write_errors++;
		return;
	}
	l->stats.packets_out++;
	l->stats.last_out_ns = now;
	for (unsigned int i = d->first; i < d->first + d->count; i++)
		count(&l->stats.out, packet_segment_bytes(&r->packet, i),
		      r->packet.payload_len > 0);
}

static struct delivery *next_delivery(struct link *l)
{
	if (l->delivery_head == l->delivery_tail)
		return NULL;
	return &l->deliveries[l->delivery_head & (l->delivery_size - 1)];
}

/* Hands over what is due, within a batch. */
static void deliver_due(struct link *l)
{
	struct delivery *d;

	for (int i = 0; i < WRITE_BATCH; i++) {
		d = next_delivery(l);
		if (!d || d->due_ns > link_now_ns())
			return;
		hand_over(l, d);
		if (d->release)
			l->store_head = d->release;
		l->delivery_head++;
	}
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ns / NS_PER_SECOND, ns % NS_PER_SECOND};
}

static void sleep_until(struct link *l, uint64_t when_ns)
{
	struct timespec ts = timespec_of(when_ns);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	l->awake_since_ns = link_now_ns();
}

/* Until @when_ns or the next packet: how long that one waited is not known, and not long. */
static void sleep_or_packet(struct link *l, uint64_t now_ns, uint64_t when_ns)
{
	struct pollfd pfd = {.fd = l->in_fd, .events = POLLIN};
	struct timespec ts = timespec_of(when_ns - now_ns);

	l->empty_at_ns = 0;
	if (ppoll(&pfd, 1, &ts, NULL) > 0 && pfd.revents & (POLLERR | POLLHUP | POLLNVAL)) {
		l->stats.read_errors++; /* the device is gone: do not turn in circles */
		sleep_until(l, now_ns + IDLE_NS);
	}
	l->awake_since_ns = link_now_ns();
	if (l->awake_since_ns >= when_ns)
		l->empty_at_ns = when_ns;
}

static void spin_until(uint64_t when_ns)
{
	while (link_now_ns() < when_ns)
		__builtin_ia32_pause();
}

/* Rests until there is something to do; @got: the last round read packets. */
static void rest(struct link *l, unsigned int got)
{
	const struct delivery *d = next_delivery(l);
	uint64_t now = link_now_ns();
	uint64_t due = d ? d->due_ns : now + IDLE_NS;

	if (due > now + IDLE_NS)
		due = now + IDLE_NS;
	if (due <= now || got == READ_BATCH) {
		if (now - l->awake_since_ns > AWAKE_MAX_NS)
			sleep_until(l, now + SLEEP_MIN_NS);
		return;
	}
	if (d && due - now <= SLEEP_MIN_NS && (l->spin || l->woke_early)) {
		spin_until(due);
		return;
	}
	l->woke_early = d && (l->spin || due - now > SLEEP_LONG_NS);
	if (l->woke_early)
		due -= SLEEP_MIN_NS;
	/* after packets more will come at once: collect them, rather than wake for each */
	if (got || due - now <= SLEEP_MIN_NS)
		sleep_until(l, now + SLEEP_MIN_NS);
	else
		sleep_or_packet(l, now, due);
}

static void *run(void *arg)
{
	struct sched_param param = {.sched_priority = 10};
	struct link *l = arg;

	prctl(PR_SET_TIMERSLACK, 1ul);
	l->realtime = !pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	__atomic_store_n(&l->tid, gettid(), __ATOMIC_RELAXED);
	l->awake_since_ns = link_now_ns();
	while (!__atomic_load_n(&l->stop, __ATOMIC_RELAXED)) {
		unsigned int got = read_arrivals(l);

		deliver_due(l);
		rest(l, got);
	}
	return NULL;
}

int link_start(struct link *l, int in_fd, int out_fd)
{
	int err;

	l->in_fd = in_fd;
	l->out_fd = out_fd;
	err = pthread_create(&l->thread, NULL, run, l);
	l->started = !err;
	return -err;
}

void link_stop(struct link *l)
{
	if (!l->started)
		return;
	__atomic_store_n(&l->stop, true, __ATOMIC_RELAXED);
	pthread_join(l->thread, NULL);
	l->started = false;
}
