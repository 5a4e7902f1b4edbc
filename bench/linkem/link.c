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

/* A wake-up costs 20 to 30 us: packets are waited for no finer than this. */
#define SLEEP_MIN_NS 50000ull
/* With this instead, 100 Mbit/s take an eighth of a processor rather than half of one. */
#define SLEEP_SAVING_NS 500000ull
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
/* What bursts and half-dropped GSO segments take beyond the link's own bytes. */
#define STORE_SLACK    (16ull << 20)
#define STORE_PER_HOST (256ull << 10) /* what waits in its line */
#define RECORD_ALIGN   64ull
#define BYTES_PER_RUN  256ull
#define DELIVERIES_MIN (1u << 16)

/* A packet in the store: this, then the frame as it was read. */
struct record {
	struct packet packet;
	struct host_pair hosts;
	uint32_t size;	  /* in the store */
	uint32_t pending; /* runs that are to be delivered, and one while it is in line */
	uint64_t read_ns;
	struct record *next; /* in line */
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

static int init_stations(struct link *l, uint64_t access_bps)
{
	l->stations = calloc(l->host_count + 1, sizeof(*l->stations));
	if (!l->stations)
		return -ENOMEM;
	for (unsigned int i = 0; i <= l->host_count; i++) {
		struct station *s = &l->stations[i];

		s->line_end = &s->line;
		s->up.rate_bps = access_bps;
		if (i == l->host_count)
			break;
		s->delay_ns = l->hosts[i].delay_ns;
		if (!l->hosts[i].rate_bps)
			continue;
		s->up.rate_bps = l->hosts[i].rate_bps;
		s->down.rate_bps = l->hosts[i].rate_bps;
	}
	return 0;
}

/* Without hosts and reordering there is no heap. */
static int init_deliveries(struct link *l)
{
	bool heap = l->host_count || l->delay.config.reorder > 0;
	struct deliveries *d = &l->deliveries;
	size_t bytes;

	d->size = DELIVERIES_MIN;
	while (d->size < l->store_size / BYTES_PER_RUN)
		d->size *= 2;
	bytes = d->size * sizeof(*d->ring);
	d->ring = touched(bytes);
	if (heap)
		d->heap = touched(bytes);
	return d->ring && (d->heap || !heap) ? 0 : -ENOMEM;
}

/* The longest that a segment may be under way after it has left the queue. */
static uint64_t longest_delay_ns(const struct link *l)
{
	uint64_t longest = 0;

	for (unsigned int i = 0; i < l->host_count; i++)
		if (l->hosts[i].delay_ns > longest)
			longest = l->hosts[i].delay_ns;
	return l->delay.max_ns + 2 * longest;
}

static uint64_t limit_in_bytes(uint64_t limit_bytes, uint32_t limit_packets)
{
	uint64_t queued = limit_packets * (uint64_t)LINK_MTU;

	return !queued || (limit_bytes && limit_bytes < queued) ? limit_bytes : queued;
}

/* The most that the queue may hold at any time of the schedule. */
static uint64_t most_queued(const struct queue_config *config)
{
	uint64_t most = limit_in_bytes(config->limit_bytes, config->limit_packets);

	for (unsigned int i = 0; i < config->schedule.count; i++) {
		const struct step *step = &config->schedule.steps[i];
		uint64_t own = limit_in_bytes(step->limit_bytes, step->limit_packets);

		most = own > most ? own : most;
	}
	return most;
}

static uint64_t store_size_for(const struct link *l)
{
	const struct queue_config *config = &l->queue.config;
	uint64_t queued = most_queued(config), longest_ns = longest_delay_ns(l);
	double flying = (double)l->fastest_bps / 8 * (double)longest_ns / NS_PER_SECOND;

	if (config->trace)
		flying = (double)trace_max_bytes(config->trace, longest_ns);
	return (2 * (queued + (uint64_t)flying) + STORE_SLACK + l->host_count * STORE_PER_HOST) &
	       ~(RECORD_ALIGN - 1);
}

int link_init(struct link *l, const struct queue_config *config, const struct delay_config *delay,
	      const struct host *hosts, unsigned int host_count, enum link_idle idle)
{
	struct queue_config own = *config;
	int err;

	memset(l, 0, sizeof(*l));
	l->hosts = hosts;
	l->host_count = host_count;
	if (host_count)
		own.access_bps = 0; /* the stations have it */
	err = queue_init(&l->queue, &own);
	if (!err)
		err = init_stations(l, config->access_bps);
	if (err)
		return err;
	delay_line_init(&l->delay, delay);
	l->fastest_bps = queue_fastest_bps(config);
	l->run_ns = RUN_NS;
	l->spin = idle == LINK_POLLS && l->fastest_bps <= SPIN_RATE_MAX;
	l->sleep_min_ns = idle == LINK_SAVES ? SLEEP_SAVING_NS : SLEEP_MIN_NS;
	l->sleep_long_ns = idle == LINK_SAVES ? UINT64_MAX : SLEEP_LONG_NS;
	l->store_size = store_size_for(l);
	l->store = touched(l->store_size);
	return l->store ? init_deliveries(l) : -ENOMEM;
}

void link_free(struct link *l)
{
	if (l->store)
		munmap(l->store, l->store_size);
	if (l->deliveries.ring)
		munmap(l->deliveries.ring, l->deliveries.size * sizeof(*l->deliveries.ring));
	if (l->deliveries.heap)
		munmap(l->deliveries.heap, l->deliveries.size * sizeof(*l->deliveries.heap));
	free(l->stations);
	queue_free(&l->queue);
}

static struct record *record_at(const struct link *l, uint64_t at)
{
	return (struct record *)(l->store + at % l->store_size);
}

/* No packet begins where there would not be room for the longest one in one piece. */
static uint64_t record_position(const struct link *l, uint64_t at)
{
	uint64_t left = l->store_size - at % l->store_size;

	return left < RECORD_MAX ? at + left : at;
}

/* Where the next packet may be read to; NULL if the store is full. */
static struct record *store_reserve(struct link *l)
{
	l->store_tail = record_position(l, l->store_tail);
	if (l->store_tail + RECORD_MAX - l->store_head > l->store_size)
		return NULL;
	return record_at(l, l->store_tail);
}

/* Keeps the packet at the tail, with so many bytes of its frame. */
static void store_keep(struct link *l, struct record *r, uint32_t frame_len)
{
	r->size = (sizeof(*r) + frame_len + RECORD_ALIGN - 1) & ~(RECORD_ALIGN - 1);
	l->store_tail += r->size;
}

/* One thing less is to be done with the packet; the store is freed in the order of arrival. */
static void release(struct link *l, struct record *r)
{
	if (--r->pending)
		return;
	while (l->store_head != l->store_tail) {
		uint64_t at = record_position(l, l->store_head);

		/* a place that was passed over, and nothing behind it yet */
		if (at >= l->store_tail || record_at(l, at)->pending)
			return;
		l->store_head = at + record_at(l, at)->size;
	}
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

/* The station's run is as long as it gets. */
static void close_run(struct link *l, struct station *from)
{
	if (!from->run.count)
		return;
	deliveries_add(&l->deliveries, &from->run);
	from->run.count = 0;
}

/* When it has crossed the access link of the host that it is for. */
static uint64_t to_host(struct station *to, uint64_t ready_ns, uint32_t bytes)
{
	return rate_clock_send(&to->down, ready_ns, bytes) + to->delay_ns;
}

/*
 * A segment that left the queue joins its packet's run, or begins one. Jitter and traces let many
 * be due at once, which are handed over in as few pieces as there are packets. False: no memory.
 */
static bool append_segment(struct link *l, struct station *from, struct record *r,
			   unsigned int index, const struct offer *o, uint32_t bytes)
{
	uint64_t start = l->queue.start_ns, later = delay_line_reorder_ns(&l->delay);
	uint64_t due = start + delay_line_send(&l->delay, o->depart_ns - start);
	bool mark = o->mark && packet_is_ect(&r->packet);

	if (l->host_count)
		due = to_host(&l->stations[r->hosts.to], due, bytes);
	if (!later && from->run.count && from->run.mark == mark &&
	    (due == from->run.due_ns || due - from->run_began_ns <= l->run_ns)) {
		from->run.count++;
		from->run.due_ns = due;
		return true;
	}
	close_run(l, from);
	if (l->runs == l->deliveries.size)
		return false;
	l->runs++;
	r->pending++;
	from->run_began_ns = due - bytes * 8ull * NS_PER_SECOND / l->fastest_bps;
	from->run = (struct delivery){
		.due_ns = due + later,
		.at = (uint64_t)((uint8_t *)r - l->store),
		.first = index,
		.count = 1,
		.mark = mark,
	};
	if (later) {
		count(&l->stats.reordered, bytes, r->packet.payload_len > 0);
		close_run(l, from);
	}
	return true;
}

static void count_verdict(struct link *l, const struct record *r, enum verdict verdict,
			  uint32_t bytes)
{
	bool data = r->packet.payload_len > 0;

	count(&l->stats.in, bytes, data);
	count(&l->stats.verdicts[verdict], bytes, data);
	if (!l->host_count)
		return;
	count(&l->stations[r->hosts.from].stats.from[verdict], bytes, data);
	count(&l->stations[r->hosts.to].stats.to[verdict], bytes, data);
}

/* Decides about one segment that is at the bottleneck; returns whether it survives. */
static bool offer_segment(struct link *l, struct station *from, struct record *r,
			  unsigned int index, uint64_t now_ns)
{
	uint32_t bytes = packet_segment_bytes(&r->packet, index);
	enum verdict verdict;
	struct offer o;

	verdict = queue_offer(&l->queue, now_ns, bytes, r->packet.payload_len > 0, r->packet.flow,
			      &o);
	if (verdict == VERDICT_PASS && !append_segment(l, from, r, index, &o, bytes))
		verdict = VERDICT_NO_ROOM;
	count_verdict(l, r, verdict, bytes);
	if (verdict != VERDICT_PASS) {
		close_run(l, from);
		return false;
	}
	count_queue(&l->stats, &o, bytes);
	if (o.mark && packet_is_ect(&r->packet))
		count(&l->stats.marked, bytes, r->packet.payload_len > 0);
	return true;
}

/* Without hosts: decides about the packet at the store's tail; keeps it if a segment survives. */
static void admit(struct link *l, struct record *r)
{
	const struct packet *p = &r->packet;
	struct station *from = &l->stations[0];
	uint32_t used = 0;

	for (unsigned int i = 0; i < p->segments; i++)
		if (offer_segment(l, from, r, i, r->read_ns))
			used = p->gso_size ? p->header_len + (i + 1) * p->gso_size : p->ip_len;
	close_run(l, from);
	if (used)
		store_keep(l, r, SEGMENT_VNET_LEN + (used < p->ip_len ? used : p->ip_len));
}

/* --- with hosts: their lines before the bottleneck ---------------------------------------- */

/* When the next segment of the packet that is first in line will be at the bottleneck. */
static void schedule_arrival(struct station *s)
{
	const struct record *r = s->line;

	s->arrive_ns = rate_clock_send(&s->up, r->read_ns,
				       packet_segment_bytes(&r->packet, s->next_segment)) +
		       s->delay_ns;
}

static void line_up(struct link *l, struct record *r)
{
	struct station *from = &l->stations[r->hosts.from];

	r->pending = 1;
	r->next = NULL;
	store_keep(l, r, SEGMENT_VNET_LEN + r->packet.ip_len);
	*from->line_end = r;
	from->line_end = &r->next;
	if (from->line == r)
		schedule_arrival(from);
}

/* The segment that will be at the bottleneck before all others; NULL if none is in line. */
static struct station *next_arrival(const struct link *l)
{
	struct station *next = NULL;

	if (!l->host_count)
		return NULL;
	for (unsigned int i = 0; i <= l->host_count; i++) {
		struct station *s = &l->stations[i];

		if (s->line && (!next || s->arrive_ns < next->arrive_ns))
			next = s;
	}
	return next;
}

/* The first packet in line has been offered whole. */
static void advance_line(struct link *l, struct station *s)
{
	struct record *r = s->line;

	s->next_segment = 0;
	s->line = r->next;
	if (s->line)
		schedule_arrival(s);
	else
		s->line_end = &s->line;
	close_run(l, s);
	release(l, r);
}

static void offer_next(struct link *l, struct station *s)
{
	const struct station *to = &l->stations[s->line->hosts.to];

	offer_segment(l, s, s->line, s->next_segment, s->arrive_ns);
	if (++s->next_segment == s->line->packet.segments) {
		advance_line(l, s);
		return;
	}
	schedule_arrival(s);
	/* it will be too late to join the run: that need not wait for it */
	if (s->run.count &&
	    s->arrive_ns + l->delay.min_ns + to->delay_ns > s->run_began_ns + l->run_ns)
		close_run(l, s);
}

/* Offers what is at the bottleneck by @now_ns, in order: what is still unread comes later. */
static void merge_arrivals(struct link *l, uint64_t now_ns)
{
	for (;;) {
		struct station *s = next_arrival(l);

		if (!s || s->arrive_ns > now_ns)
			return;
		offer_next(l, s);
	}
}

/* --- reading ------------------------------------------------------------------------------- */

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
	ssize_t n;

	if (!r)
		return discard_one(l);
	n = read(l->in_fd, r->frame, SEGMENT_FRAME_MAX);
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			l->stats.read_errors++;
		return false;
	}
	r->read_ns = link_now_ns();
	r->pending = 0;
	r->hosts = (struct host_pair){0};
	l->stats.packets_in++;
	if (!l->stats.first_in_ns)
		l->stats.first_in_ns = r->read_ns;
	if (packet_parse(r->frame, n, &r->packet)) {
		l->stats.malformed++;
		return true;
	}
	if (l->host_count) {
		r->hosts = hosts_of(l->hosts, l->host_count, r->frame + SEGMENT_VNET_LEN);
		line_up(l, r);
	} else {
		admit(l, r);
	}
	return true;
}

/* @late_ns: of what ended @now_ns; into @judged, unless it was before that counts. */
static void was_late(struct link *l, struct histogram *judged, uint64_t now_ns, uint64_t late_ns)
{
	histogram_add(now_ns < l->judged_from_ns ? &l->stats.late_before : judged, late_ns);
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
		was_late(l, &l->stats.gap, began, l->empty_at_ns ? began - l->empty_at_ns : 0);
	l->empty_at_ns = n < READ_BATCH ? link_now_ns() : 0;
	return n;
}

static void hand_over(struct link *l, const struct delivery *d, const struct record *r)
{
	struct run_image image;
	struct iovec iov[2];
	uint64_t now;

	packet_build_run(&r->packet, d->first, d->count, &image);
	if (d->mark)
		run_mark_ce(&image);
	iov[0] = (struct iovec){image.headers, image.headers_len};
	iov[1] = (struct iovec){(void *)image.payload, image.payload_len};
	now = link_now_ns();
	was_late(l, &l->stats.late, now, now - d->due_ns);
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

/* Hands over what is due, within a batch. */
static void deliver_due(struct link *l)
{
	for (int i = 0; i < WRITE_BATCH; i++) {
		const struct delivery *d = deliveries_first(&l->deliveries);
		struct record *r;

		if (!d || d->due_ns > link_now_ns())
			return;
		r = (struct record *)(l->store + d->at);
		hand_over(l, d, r);
		deliveries_drop_first(&l->deliveries);
		l->runs--;
		release(l, r);
	}
}

/*
 * When there is something to be done, UINT64_MAX: not known. *@ret_exact: it is a delivery. What
 * is in a host's line may be offered late, if only before it can be due: after the delay.
 */
static uint64_t next_due_ns(const struct link *l, bool *ret_exact)
{
	const struct delivery *d = deliveries_first(&l->deliveries);
	const struct station *s = next_arrival(l);
	uint64_t due = d ? d->due_ns : UINT64_MAX;
	uint64_t offer = s ? s->arrive_ns + l->delay.min_ns : UINT64_MAX;

	*ret_exact = d && due <= offer;
	return due < offer ? due : offer;
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
	while (link_now_ns() < when_ns) {
#ifdef __x86_64__
		__builtin_ia32_pause();
#endif
	}
}

/* Rests until there is something to do; @got: the last round read packets. */
static void rest(struct link *l, unsigned int got)
{
	bool exact, tired;
	uint64_t due = next_due_ns(l, &exact), now = link_now_ns();

	tired = now - l->awake_since_ns > AWAKE_MAX_NS;
	if (due > now + IDLE_NS)
		due = now + IDLE_NS;
	if (due <= now || got == READ_BATCH) {
		if (tired)
			sleep_until(l, now + l->sleep_min_ns);
		return;
	}
	if (exact && !tired && due - now <= l->sleep_min_ns && (l->spin || l->woke_early)) {
		spin_until(due);
		return;
	}
	l->woke_early = exact && due - now > (l->spin ? l->sleep_min_ns : l->sleep_long_ns);
	if (l->woke_early)
		due -= l->sleep_min_ns;
	/* after packets more will come at once: collect them, rather than wake for each */
	if (got || due - now <= l->sleep_min_ns)
		sleep_until(l, now + l->sleep_min_ns);
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

		merge_arrivals(l, link_now_ns());
		deliver_due(l);
		rest(l, got);
	}
	return NULL;
}

int link_start(struct link *l, int in_fd, int out_fd, uint64_t judged_from_ns)
{
	int err;

	l->judged_from_ns = judged_from_ns;
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
