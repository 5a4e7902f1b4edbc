// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <tcptuned/streams.h>

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "streams/verdict.h"
#include "streams/child.h"
#include "streams/probe.h"
#include "streams/process.h"

#define OPTIONS_MAX    4096
#define SAMPLE_S       0.25
#define PEAK_SAMPLES   4       /* a second */
#define DATA_MIN       16384.0 /* bytes; fewer may be those of a request */
#define SILENCE_S      8.0     /* until there are so many: to resolve, to connect, and to ask */
#define CONNECT_RTTS   1.5     /* to connect each further connection of iperf3 */
#define REPEAT_S       0.5     /* until a probe that found the server busy is repeated */
#define REPEATS_MAX    3       /* of one probe */
#define REDIRECTS_MAX  5
#define GRACE_S	       6.0 /* to report, beyond what a probe measures */
#define MEASURED_MIN_S 0.5
#define CHANGE	       1.3 /* of the rate of one connection */
#define CHANGE_MAX     2.0 /* of the same, where losses make it vary */
#define SEGMENT_BITS   (8 * 1448.0)
#define WINDOW_IS_FULL 0.8

/* What is known of the sockets of the probe that runs. */
struct samples {
	struct process_reader reader;
	struct process_sums first, last;
	double first_s, last_s; /* when these were read; 0: not yet */
	double data_s;		/* when the first bytes were seen; 0: not yet */
	double rate, rate_peak; /* bits per second, of now and of the best second */
	struct {
		double at_s, bytes;
	} recent[PEAK_SAMPLES]; /* the samples of the last second, since first */
	double rtt_sum, rtt_min;
	unsigned int rtts;
	int ended; /* a connection has: fewer than are measured remain */
	int err;
};

struct tcptuned_streams {
	struct tcptuned_streams_options options;
	const struct probe_kind *kind;
	struct tcptuned_streams_doubling doubling;
	struct tcptuned_streams_result result;
	struct probe_run run; /* that is being measured; its strings are allocated */
	struct child child;
	struct samples samples;
	double began_s, probe_began_s;
	double repeat_s;      /* when the probe is to be repeated; 0: it runs */
	unsigned int repeats; /* of the same probe */
	unsigned int redirects;
	double bytes; /* of the probe that runs */
	int epoll, timer;
	unsigned int checks; /* measurements of one connection after the search */
	int varies;	     /* they differ by more than CHANGE */
	int status;	     /* what tcptuned_streams_step() returns */
	char error[256];
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int are_valid(const struct tcptuned_streams_options *o)
{
	return (unsigned int)o->probe <= TCPTUNED_STREAMS_HTTP && o->port <= 65535 &&
	       o->streams_max <= TCPTUNED_STREAMS_SEARCH_MAX && o->probe_seconds <= 3600 &&
	       o->seconds_max <= 86400 && o->bytes_max >= 0 && o->bits_per_second >= 0 &&
	       o->impact_max >= 0 && o->impact_max <= 1 && o->gain_min >= 0 && o->gain_min <= 1;
}

static void set_defaults(struct tcptuned_streams_options *o)
{
	o->port = o->port ? o->port : 5201;
	o->streams_max = o->streams_max ? o->streams_max : 16;
	o->probe_seconds = o->probe_seconds ? o->probe_seconds : 5;
	o->seconds_max = o->seconds_max ? o->seconds_max : 60;
	o->impact_max = o->impact_max > 0 ? o->impact_max : 0.1;
	o->gain_min = o->gain_min > 0 ? o->gain_min : 0.05;
}

static int watch(const struct tcptuned_streams *t, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Copies the options of a caller that may know fewer or more of them, and sets defaults. */
static int read_options(const struct tcptuned_streams_options *from,
			struct tcptuned_streams_options *to)
{
	size_t size = from->size;

	if (size < sizeof(size))
		return -EINVAL;
	if (size > OPTIONS_MAX)
		return -E2BIG;
	for (size_t i = sizeof(*to); i < size; i++)
		if (((const char *)from)[i])
			return -E2BIG;
	memset(to, 0, sizeof(*to));
	memcpy(to, from, size < sizeof(*to) ? size : sizeof(*to));
	if (!are_valid(to))
		return -EINVAL;
	set_defaults(to);
	return 0;
}

int tcptuned_streams_conclude(const struct tcptuned_streams_options *options,
			      struct tcptuned_streams_result *result)
{
	struct tcptuned_streams_result r = {.size = sizeof(r)};
	struct tcptuned_streams_options o;
	int err = read_options(options, &o);

	verdict_copy(&r, result);
	if (err || !r.levels_len || r.levels_len > TCPTUNED_STREAMS_LEVELS_MAX)
		return err ? err : -EINVAL;
	verdict_conclude(&o, &r);
	r.end = r.fastest < r.levels[r.levels_len - 1].streams ? TCPTUNED_STREAMS_END_NO_GAIN
							       : TCPTUNED_STREAMS_END_MAX;
	verdict_copy(result, &r);
	return 0;
}

/* ---- one probe ------------------------------------------------------------------------------ */

/* Returns the share of a core that the child has used. */
static double end_probe(struct tcptuned_streams *t)
{
	double elapsed_s = now_s() - t->probe_began_s, cpu_s = child_end(&t->child);

	process_close(&t->samples.reader);
	t->result.bytes += t->bytes;
	t->bytes = 0;
	return elapsed_s > 0 ? cpu_s / elapsed_s : 0;
}

static int begin_probe(struct tcptuned_streams *t, unsigned int streams)
{
	char **arguments, *input;
	int err = -ENOMEM;

	t->run.streams = streams;
	t->samples = (struct samples){};
	t->probe_began_s = now_s();
	arguments = t->kind->arguments(&t->run);
	input = t->kind->input(&t->run);
	if (arguments && input)
		err = child_start(&t->child, arguments, input);
	free(arguments);
	free(input);
	return err ? err : watch(t, t->child.output);
}

/* How long a probe takes that is begun now. */
static double probe_seconds(const struct tcptuned_streams *t)
{
	return t->run.omit_seconds + t->run.seconds + 1;
}

static int has_time(const struct tcptuned_streams *t)
{
	return now_s() + probe_seconds(t) <= t->began_s + t->options.seconds_max;
}

static int has_bytes(const struct tcptuned_streams *t)
{
	return !(t->options.bytes_max > 0) || t->result.bytes + t->bytes < t->options.bytes_max;
}

/* Whether a connection has brought its range of the file, or, as the sum falls, was closed. */
static int has_ended(const struct tcptuned_streams *t, const struct process_sums *sums)
{
	const struct samples *s = &t->samples;
	unsigned long long range = t->run.streams ? t->run.file_bytes / t->run.streams : 0;

	return s->data_s &&
	       (sums->bytes < s->last.bytes || (range && sums->bytes_max >= (double)range));
}

/* Reads the sockets of the child. */
static void sample(struct tcptuned_streams *t)
{
	struct samples *s = &t->samples;
	struct process_sums sums;
	__typeof__(&s->recent[0]) recent = &s->recent[s->rtts % PEAK_SAMPLES];
	double at_s;

	s->err = process_read(&s->reader, t->child.pid, &sums);
	at_s = now_s(); /* finding the sockets takes longer than reading them */
	if (s->err)
		return;
	s->ended |= has_ended(t, &sums);
	t->bytes = fmax(t->bytes, sums.bytes);
	if (s->ended || sums.bytes < s->last.bytes || !(sums.bytes > 0))
		return;
	if (!s->data_s && sums.bytes >= DATA_MIN)
		s->data_s = at_s;
	s->rate = s->last_s ? 8 * (sums.bytes - s->last.bytes) / (at_s - s->last_s) : 0;
	s->last = sums;
	s->last_s = at_s;
	if (!s->data_s || at_s < s->data_s + t->run.omit_seconds)
		return;
	if (sums.rtt_min_s > 0 && (!s->rtt_min || sums.rtt_min_s < s->rtt_min))
		s->rtt_min = sums.rtt_min_s;
	if (!s->first_s || sums.count > s->first.count) {
		s->first = sums;
		s->first_s = at_s;
		s->rtts = 0;
		s->rtt_sum = s->rate_peak = 0;
		return;
	}
	if (s->rtts >= PEAK_SAMPLES)
		s->rate_peak = fmax(s->rate_peak,
				    8 * (sums.bytes - recent->bytes) / (at_s - recent->at_s));
	recent->at_s = at_s;
	recent->bytes = sums.bytes;
	s->rtt_sum += sums.rtt_s;
	s->rtts++;
}

/* What the samples say of the connections, as shares of their time, and their rate if it is 0. */
static void describe(const struct samples *s, struct tcptuned_streams_level *level)
{
	double seconds = s->last_s - s->first_s, all = seconds * s->last.count;
	double sent = s->last.sent - s->first.sent, bytes_per_s;

	level->rtt_min_s = s->rtt_min;
	if (!s->first_s || seconds < MEASURED_MIN_S)
		return;
	bytes_per_s = (s->last.bytes - s->first.bytes) / seconds;
	if (!(level->rate > 0))
		level->rate = 8 * bytes_per_s;
	level->rate_peak = s->rate_peak;
	level->rtt_s = s->rtts ? s->rtt_sum / s->rtts : 0;
	if (sent > 0)
		level->loss = (s->last.resent - s->first.resent) / sent;
	level->segments = sent;
	level->receives = s->last.receives;
	if (level->receives) {
		/* The window that the receiver may advertise, against what an RTT brings. */
		level->receiver_window = bytes_per_s * level->rtt_s >
					 WINDOW_IS_FULL * s->last.window_max_bytes;
		return;
	}
	level->receiver_window = (s->last.rwnd_s - s->first.rwnd_s) / all;
	level->send_buffer = (s->last.sndbuf_s - s->first.sndbuf_s) / all;
	level->application = fmax(0, 1 - (s->last.busy_s - s->first.busy_s) / all);
}

/* ---- the search ----------------------------------------------------------------------------- */

int tcptuned_streams_start(const char *destination, const struct tcptuned_streams_options *options,
			   struct tcptuned_streams **ret)
{
	static const struct itimerspec every = {
		.it_interval.tv_nsec = (long)(SAMPLE_S * 1e9),
		.it_value.tv_nsec = (long)(SAMPLE_S * 1e9),
	};
	struct tcptuned_streams_options known;
	struct tcptuned_streams *t;
	int err = read_options(options, &known);

	if (err || !*destination || *destination == '-')
		return err ? err : -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->options = known;
	t->result.size = sizeof(t->result);
	t->kind = t->options.probe == TCPTUNED_STREAMS_HTTP ? &probe_http : &probe_iperf3;
	t->doubling = (struct tcptuned_streams_doubling){
		.gain = t->options.gain_min,
		.impact = 1, /* what the search cannot judge: see is_beyond_impact() */
		.wanted = t->options.bits_per_second,
		.streams_max = t->options.streams_max,
	};
	t->began_s = now_s();
	t->child.output = t->epoll = t->timer = -1;
	t->status = 1;
	t->run = (struct probe_run){
		.destination = strdup(destination),
		.port = t->options.port,
		.seconds = t->options.probe_seconds,
		.omit_seconds = t->options.probe_seconds > 2 ? 2 : 1, /* slow start */
		.receive = t->options.receive,
	};
	if (known.congestion_control)
		t->run.congestion_control = strdup(known.congestion_control);
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!t->run.destination || (known.congestion_control && !t->run.congestion_control))
		err = -ENOMEM;
	else if (t->epoll < 0 || t->timer < 0 || timerfd_settime(t->timer, 0, &every, NULL))
		err = -errno;
	err = err ?: watch(t, t->timer);
	err = err ?: begin_probe(t, t->options.probe != TCPTUNED_STREAMS_HTTP);
	if (err)
		tcptuned_streams_free(t);
	else
		*ret = t;
	return err;
}

static __attribute__((format(printf, 3, 4))) int end_with(struct tcptuned_streams *t, int status,
							  const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(t->error, sizeof(t->error), format, list);
	va_end(list);
	end_probe(t);
	timerfd_settime(t->timer, 0, &(struct itimerspec){}, NULL); /* nothing is left to do */
	t->result.seconds = now_s() - t->began_s;
	return t->status = status;
}

static int end_with_result(struct tcptuned_streams *t)
{
	struct tcptuned_streams_result *r = &t->result;

	verdict_conclude(&t->options, r);
	/* Without the last measurement nothing shows that the path was the same all the time. */
	if (!t->checks && r->confidence == TCPTUNED_STREAMS_CONFIDENCE_HIGH)
		r->confidence = TCPTUNED_STREAMS_CONFIDENCE_MEDIUM;
	if (t->varies)
		r->confidence = TCPTUNED_STREAMS_CONFIDENCE_LOW;
	return end_with(t, 0, "%s", "");
}

/* Ends the search for @end, unless it had ended and only a check of its result is missing. */
static int end_early(struct tcptuned_streams *t, enum tcptuned_streams_end end)
{
	if (t->checks)
		t->checks--; /* it did not complete */
	if (t->result.end == TCPTUNED_STREAMS_END_GOES_ON)
		t->result.end = end;
	return end_with_result(t);
}

/*
 * Begins a probe of @streams, or ends the search if time or bytes do not suffice, but for the first
 * number.
 */
static int go_on(struct tcptuned_streams *t, unsigned int streams)
{
	int err;

	if (t->result.levels_len && (!has_time(t) || !has_bytes(t)))
		return end_early(t, TCPTUNED_STREAMS_END_BUDGET);
	err = begin_probe(t, streams);
	return err ? end_with(t, err, "%s", strerror(-err)) : 1;
}

/*
 * Whether more connections would only be measured to the harm of others. Two levels next to each
 * other are too few to say that (section IV.B).
 */
static int is_beyond_impact(const struct tcptuned_streams *t)
{
	struct tcptuned_streams_result r = t->result;

	if (t->run.streams < 4)
		return 0;
	verdict_conclude(&t->options, &r);
	return r.impact == TCPTUNED_STREAMS_IMPACT_MODEL &&
	       r.fastest_impact > t->options.impact_max;
}

/*
 * By how much the rate of one connection may differ between two measurements. Few losses fall
 * sometimes early and sometimes late, so that the rate varies although the path is the same: by two
 * standard deviations of their number.
 */
static double tolerance(const struct tcptuned_streams *t,
			const struct tcptuned_streams_level *level)
{
	double losses = level->loss * level->rate * t->run.seconds / SEGMENT_BITS;

	/* All segments of a round trip arrive out of order behind one that is lost. */
	if (level->receives)
		losses /= fmax(1, level->rate * level->rtt_s / SEGMENT_BITS);
	return losses > 0 ? fmin(CHANGE_MAX, fmax(CHANGE, 1 + 2 / sqrt(losses))) : CHANGE;
}

static int end_with_change_of_rtt(struct tcptuned_streams *t, double before_s, double after_s)
{
	t->result.end = TCPTUNED_STREAMS_END_CHANGED;
	return end_with(
		t, -ESTALE,
		"the path changed: its smallest RTT was %.4g ms, and then %.4g ms; measure again",
		before_s * 1e3, after_s * 1e3);
}

/* The same bounds as of tcptuned_streams_doubling_add(). An RTT of 0 is unknown. */
static int is_other_path(double before_s, double after_s)
{
	double min_s = fmin(before_s, after_s), max_s = fmax(before_s, after_s);

	return min_s > 0 && max_s > CHANGE * min_s && max_s > min_s + 1e-3;
}

/* A receiver samples it in the handshake and with its requests, too seldom to compare: unknown. */
static double comparable_rtt_s(const struct tcptuned_streams_level *level)
{
	return level->receives ? 0 : level->rtt_min_s;
}

/*
 * One connection was measured again after the search. A rate that differs from the first may be
 * chance, so that it is measured a second time.
 */
static int judge_check(struct tcptuned_streams *t)
{
	struct tcptuned_streams_result *r = &t->result;
	const struct tcptuned_streams_level *first = &r->levels[0];
	const struct tcptuned_streams_level *again = &r->levels[r->levels_len - 1];
	double change = fmax(first->rate / again->rate, again->rate / first->rate);

	if (is_other_path(comparable_rtt_s(first), comparable_rtt_s(again)))
		return end_with_change_of_rtt(t, first->rtt_min_s, again->rtt_min_s);
	t->varies |= change > CHANGE;
	if (change <= fmax(tolerance(t, first), tolerance(t, again)))
		return end_with_result(t);
	if (t->checks == 1 && has_time(t) && has_bytes(t)) {
		t->checks++;
		return go_on(t, 1);
	}
	r->end = TCPTUNED_STREAMS_END_CHANGED;
	return end_with(
		t, -ESTALE,
		"the path, or its traffic, changed: one connection carried %.4g Mbit/s first, "
		"and %.4g Mbit/s at the end; measure again, or longer",
		first->rate / 1e6, again->rate / 1e6);
}

static int judge_level(struct tcptuned_streams *t, const struct tcptuned_streams_level *level)
{
	struct tcptuned_streams_result *r = &t->result;

	if (t->checks)
		return judge_check(t);
	r->end = tcptuned_streams_doubling_add(&t->doubling, level->rate, comparable_rtt_s(level),
					       verdict_is_uncertain(level));
	if (r->end == TCPTUNED_STREAMS_END_CHANGED)
		return end_with_change_of_rtt(t,
					      level->rtt_min_s < t->doubling.rtt_max
						      ? t->doubling.rtt_max
						      : t->doubling.rtt_min,
					      level->rtt_min_s);
	if (r->end == TCPTUNED_STREAMS_END_GOES_ON && is_beyond_impact(t))
		r->end = TCPTUNED_STREAMS_END_IMPACT;
	if (r->end == TCPTUNED_STREAMS_END_GOES_ON)
		return go_on(t, tcptuned_streams_doubling_next(&t->doubling));
	if (r->levels_len == 1)
		return end_with_result(t);
	t->checks = 1;
	return go_on(t, 1);
}

static int add_level(struct tcptuned_streams *t, const struct probe_report *report, double cpu)
{
	struct tcptuned_streams_result *r = &t->result;
	struct tcptuned_streams_level *level = &r->levels[r->levels_len];
	const char *name = report->congestion_control;
	/* Its version is not known: more than one core shows that each connection has a thread. */
	double other = report->cpu > 1 ? report->cpu / t->run.streams : report->cpu;

	*level = (struct tcptuned_streams_level){
		.streams = t->run.streams,
		.rate = report->rate,
		.loss = -1,
		.processor = fmax(cpu / report->threads, other),
	};
	describe(&t->samples, level);
	if (report->retransmitted >= 0 && report->bytes > 0 &&
	    (level->loss < 0 || t->samples.last.receives))
		level->loss = report->retransmitted * 1448 / report->bytes;
	if (!*name && !t->samples.last.receives)
		name = t->samples.last.congestion_control;
	if (*name)
		memcpy(r->congestion_control, name, sizeof(r->congestion_control));
	if (!(level->rate > 0) && t->samples.err)
		return end_with(t, t->samples.err,
				"its connections cannot be read by sock_diag: %s",
				strerror(-t->samples.err));
	if (!(level->rate > 0) && r->levels_len)
		return end_early(t, TCPTUNED_STREAMS_END_BUDGET);
	if (!(level->rate > 0))
		return end_with(t, -ENODATA, "%s",
				report->bytes >= (double)t->run.file_bytes
					? "the file is too small: it ended before there was "
					  "anything to measure"
					: "the server sent too little to measure anything; let "
					  "each probe take longer");
	r->levels_len++;
	t->repeats = 0;
	verdict_find_limits(r);
	return judge_level(t, level);
}

/* Asks again, where the server has said that the file is. */
static int follow(struct tcptuned_streams *t, const char *url)
{
	char *destination = strdup(url);

	if (!destination)
		return end_with(t, -ENOMEM, "%s", strerror(ENOMEM));
	free(t->run.destination);
	t->run.destination = destination;
	if (++t->redirects > REDIRECTS_MAX)
		return end_with(t, -EPROTO, "the server redirects more than %d times",
				REDIRECTS_MAX);
	return go_on(t, 0);
}

/* Refused, by a reset or by silence, if one connection succeeds again. */
static int end_if_one_succeeds(struct tcptuned_streams *t)
{
	t->result.end = TCPTUNED_STREAMS_END_REFUSED;
	t->checks = 1;
	t->repeats = 0;
	return go_on(t, 1);
}

/* The child has ended: takes its result, and goes on. */
static int take_report(struct tcptuned_streams *t)
{
	struct tcptuned_streams_result *r = &t->result;
	struct probe_report report = {.retransmitted = -1, .threads = 1};
	char why[sizeof(t->error)] = "";
	int err = t->kind->read(&t->run, t->child.text, t->child.len, &report, why, sizeof(why));
	double cpu;

	t->bytes = fmax(t->bytes, report.bytes);
	cpu = end_probe(t);
	if (report.redirect[0])
		return follow(t, report.redirect);
	if (!err && !report.refused && !t->run.streams) {
		r->file_bytes = (double)report.file_bytes;
		t->run.file_bytes = report.file_bytes;
		return go_on(t, 1);
	}
	if (report.refused && r->levels_len)
		return end_early(t, TCPTUNED_STREAMS_END_REFUSED);
	if (report.busy && r->levels_len && !t->samples.data_s && t->repeats < REPEATS_MAX) {
		t->repeats++;
		t->repeat_s = now_s() + REPEAT_S;
		return 1;
	}
	if (err == -EPROTO && t->run.streams > 1)
		return end_if_one_succeeds(t);
	if (err || report.refused)
		return end_with(t, err ? err : -EPROTO, "%s", why);
	return add_level(t, &report, cpu);
}

/* How long a probe may be silent. iperf3 opens its connections one after another. */
static double max_silence_s(const struct tcptuned_streams *t)
{
	const struct tcptuned_streams_level *first =
		&t->result.levels[0]; /* zero: not yet measured */

	return SILENCE_S + CONNECT_RTTS * t->run.streams * fmax(first->rtt_s, first->rtt_min_s);
}

/* Ends a probe that takes too long, or carries too much. */
static int check_bounds(struct tcptuned_streams *t)
{
	double elapsed_s = now_s() - t->probe_began_s, silence_s = max_silence_s(t);
	int silent = !t->samples.data_s && elapsed_s > silence_s && !t->samples.err;

	if (silent && t->run.streams > 1) {
		end_probe(t);
		return end_if_one_succeeds(t);
	}
	/* The first question, for the file's size, has a limit of its own. */
	if (silent && t->run.streams)
		return end_with(t, -ETIMEDOUT, "the server is silent: no data within %.0f seconds",
				silence_s);
	if (elapsed_s > probe_seconds(t) + silence_s + GRACE_S)
		return end_with(t, -ETIMEDOUT, "the server stopped: the probe did not end in time");
	if (has_bytes(t))
		return 1;
	if (t->result.levels_len)
		return end_early(t, TCPTUNED_STREAMS_END_BUDGET);
	return end_with(t, -ENODATA,
			"%.4g MB were not enough to measure one connection; allow more bytes",
			t->options.bytes_max / 1e6);
}

/* Whether it has expired since the last call. */
static int read_timer(const struct tcptuned_streams *t)
{
	unsigned long long ticks;

	return read(t->timer, &ticks, sizeof(ticks)) == sizeof(ticks);
}

/* Waits until the time to repeat a probe has come, and begins it. */
static int repeat_probe(struct tcptuned_streams *t)
{
	read_timer(t);
	if (now_s() < t->repeat_s)
		return 1;
	t->repeat_s = 0;
	return go_on(t, t->run.streams);
}

int tcptuned_streams_step(struct tcptuned_streams *t)
{
	int more;

	if (t->status != 1)
		return t->status;
	if (t->repeat_s)
		return repeat_probe(t);
	more = child_read(&t->child);
	if (more < 0)
		return end_with(t, more, "the output of the probe: %s", strerror(-more));
	if (!more)
		return take_report(t);
	if (!read_timer(t))
		return 1;
	sample(t);
	return check_bounds(t);
}

int tcptuned_streams_fd(const struct tcptuned_streams *t)
{
	return t->epoll;
}

void tcptuned_streams_result(const struct tcptuned_streams *t, struct tcptuned_streams_result *ret)
{
	verdict_copy(ret, &t->result);
}

unsigned int tcptuned_streams_probing(const struct tcptuned_streams *t, double *ret_rate)
{
	*ret_rate = t->samples.rate;
	return t->status == 1 ? t->run.streams : 0;
}

const char *tcptuned_streams_error(const struct tcptuned_streams *t)
{
	return t->error;
}

void tcptuned_streams_free(struct tcptuned_streams *t)
{
	if (!t)
		return;
	end_probe(t);
	if (t->epoll >= 0)
		close(t->epoll);
	if (t->timer >= 0)
		close(t->timer);
	free(t->run.congestion_control);
	free(t->run.destination);
	free(t);
}

struct ParallelTCPChar *tcptuned_streams_advise(const char *dest, double maximpact)
{
	/* 0 would be the default. */
	const struct tcptuned_streams_options options = {
		.size = sizeof(options),
		.impact_max = maximpact == 0 ? TCPTUNED_STREAMS_NO_IMPACT : maximpact};
	struct ParallelTCPChar *ret = NULL;
	struct tcptuned_streams *search;
	int err = tcptuned_streams_start(dest, &options, &search);

	if (err) {
		errno = -err;
		return NULL;
	}
	while ((err = tcptuned_streams_step(search)) == 1) {
		struct pollfd pfd = {.fd = tcptuned_streams_fd(search), .events = POLLIN};

		poll(&pfd, 1, -1);
	}
	if (!err)
		ret = malloc(sizeof(*ret));
	if (ret)
		*ret = (struct ParallelTCPChar){
			.num_flows = (int)search->result.within,
			.max_nondisruptive_thru = search->result.within_rate,
			.cross_traffic_impact = search->result.within_impact,
		};
	tcptuned_streams_free(search);
	if (!ret)
		errno = err ? -err : ENOMEM;
	return ret;
}
