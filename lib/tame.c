// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "tame.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "iperf3.h"

#define OMIT_SECONDS  1	 /* of slow start */
#define GRACE_SECONDS 10 /* of a probe, beyond what it measures: to connect, and to report */
#define OUTPUT_MAX    (8u << 20)
#define STREAMS_MAX   128u

struct tcptuned_tame {
	char *host;
	struct tcptuned_tame_options options;
	struct tcptuned_search search;
	struct tcptuned_tame_result result;
	double began_s;
	int epoll, timer, output;
	pid_t child;
	char *text; /* that the child has printed */
	size_t len;
	int status; /* what tcptuned_tame_step() returns */
	char error[256];
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int are_valid(const struct tcptuned_tame_options *o)
{
	return o->port <= 65535 && o->streams_max <= STREAMS_MAX && o->probe_seconds <= 3600 &&
	       o->seconds_max <= 86400 && o->bytes_max >= 0 && o->bits_per_second >= 0 &&
	       o->impact_max >= 0 && o->impact_max <= 1 && o->gain_min >= 0 && o->gain_min <= 1;
}

static void set_defaults(struct tcptuned_tame_options *o)
{
	o->port = o->port ? o->port : 5201;
	o->streams_max = o->streams_max ? o->streams_max : 16;
	o->probe_seconds = o->probe_seconds ? o->probe_seconds : 5;
	o->seconds_max = o->seconds_max ? o->seconds_max : 120;
	o->impact_max = o->impact_max > 0 ? o->impact_max : 0.1;
	o->gain_min = o->gain_min > 0 ? o->gain_min : 0.05;
}

static int watch(const struct tcptuned_tame *t, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void end_probe(struct tcptuned_tame *t)
{
	if (t->child > 0) {
		kill(-t->child, SIGKILL);
		waitpid(t->child, NULL, 0);
	}
	if (t->output >= 0)
		close(t->output);
	t->child = 0;
	t->output = -1;
	t->len = 0;
}

static int begin_probe(struct tcptuned_tame *t)
{
	const struct iperf3_run run = {
		.host = t->host,
		.port = t->options.port,
		.streams = tcptuned_search_next(&t->search),
		.seconds = t->options.probe_seconds,
		.omit_seconds = OMIT_SECONDS,
		.reverse = t->options.receive,
	};
	double left = t->began_s + t->options.seconds_max - now_s();
	double most = run.seconds + run.omit_seconds + GRACE_SECONDS;
	struct itimerspec when = {};
	int err;

	if (left < most)
		most = left > 0.001 ? left : 0.001;
	when.it_value.tv_sec = (time_t)most;
	when.it_value.tv_nsec = (long)((most - (double)when.it_value.tv_sec) * 1e9) + 1;
	if (timerfd_settime(t->timer, 0, &when, NULL))
		return -errno;
	err = iperf3_start(&run, &t->child, &t->output);
	return err ? err : watch(t, t->output);
}

int tcptuned_tame_start(const char *host, const struct tcptuned_tame_options *options,
			struct tcptuned_tame **ret)
{
	struct tcptuned_tame *t;
	int err;

	if (!*host || *host == '-' || !are_valid(options))
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->options = *options;
	set_defaults(&t->options);
	t->search = (struct tcptuned_search){
		.gain = t->options.gain_min,
		.impact = 1, /* the fastest number is searched for, whatever its impact */
		.wanted = t->options.bits_per_second,
		.most = t->options.streams_max,
	};
	t->began_s = now_s();
	t->output = -1;
	t->status = 1;
	t->host = strdup(host);
	t->text = malloc(OUTPUT_MAX);
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	err = !t->host || !t->text ? -ENOMEM : t->epoll < 0 || t->timer < 0 ? -errno : 0;
	if (!err)
		err = watch(t, t->timer);
	if (!err)
		err = begin_probe(t);
	if (err)
		tcptuned_tame_free(t);
	else
		*ret = t;
	return err;
}

/* Interpolates where it was not measured. */
static double rate_at(const struct tcptuned_tame *t, unsigned int streams)
{
	const struct tcptuned_tame_result *r = &t->result;

	for (unsigned int i = 0; i < r->levels_len; i++)
		if (r->levels[i].streams == streams)
			return r->levels[i].rate;
	return tcptuned_parallel_rate(&r->fit, streams);
}

static void find_fastest(struct tcptuned_tame *t)
{
	struct tcptuned_tame_result *r = &t->result;

	r->fastest = r->levels[0].streams;
	for (unsigned int i = 1; i < r->levels_len; i++)
		if (r->levels[i].rate >= (1 + t->options.gain_min) * rate_at(t, r->fastest))
			r->fastest = r->levels[i].streams;
	r->fastest_rate = rate_at(t, r->fastest);
}

static void conclude(struct tcptuned_tame *t)
{
	struct tcptuned_tame_result *r = &t->result;

	find_fastest(t);
	r->within = 1;
	if (!tcptuned_parallel_fit(TCPTUNED_PARALLEL_PARTIAL, r->levels, r->levels_len, &r->fit)) {
		r->within = tcptuned_parallel_within(&r->fit, t->options.impact_max, r->fastest);
		r->impact = tcptuned_parallel_impact(&r->fit, 1, r->within);
		r->impact_of_fastest = tcptuned_parallel_impact(&r->fit, 1, r->fastest);
		r->confidence = tcptuned_parallel_confidence(&r->fit, r->congestion_control, 0);
	}
	r->within_rate = rate_at(t, r->within);
}

static int end_with(struct tcptuned_tame *t, int status, const char *text)
{
	snprintf(t->error, sizeof(t->error), "%s", text);
	end_probe(t);
	return t->status = status;
}

/* A probe has ended: takes its result, and begins the next one, if the search goes on. */
static int take_result(struct tcptuned_tame *t)
{
	struct tcptuned_tame_result *r = &t->result;
	struct iperf3_result measured;
	char why[sizeof(t->error)];
	int err = iperf3_read(t->text, t->len, &measured, why, sizeof(why));

	end_probe(t);
	if (err)
		return end_with(t, err, why);
	/* Its RTTs are smoothed, with the queue of the connections in them: they say nothing of the path. */
	r->end = tcptuned_search_add(&t->search, measured.bits_per_second, 0);
	memcpy(r->levels, t->search.levels, sizeof(r->levels));
	r->levels_len = t->search.len;
	r->bytes += measured.bytes;
	r->seconds = now_s() - t->began_s;
	if (!r->rtt_min_s || measured.rtt_min_s < r->rtt_min_s)
		r->rtt_min_s = measured.rtt_min_s;
	memcpy(r->congestion_control, measured.congestion_control, sizeof(r->congestion_control));
	if (r->end == TCPTUNED_SEARCH_GOES_ON && t->options.bytes_max > 0 &&
	    r->bytes + measured.bytes > t->options.bytes_max)
		r->end = TCPTUNED_SEARCH_MOST;
	if (r->end == TCPTUNED_SEARCH_GOES_ON) {
		err = begin_probe(t);
		return err ? end_with(t, err, strerror(-err)) : 1;
	}
	conclude(t);
	return t->status = 0;
}

int tcptuned_tame_step(struct tcptuned_tame *t)
{
	__attribute__((unused)) unsigned long long ticks;
	ssize_t n;

	if (t->status != 1)
		return t->status;
	do {
		n = read(t->output, t->text + t->len, OUTPUT_MAX - t->len);
		if (n > 0)
			t->len += (size_t)n;
	} while (n > 0 && t->len < OUTPUT_MAX);
	if (n == 0 || t->len == OUTPUT_MAX)
		return take_result(t);
	if (errno != EAGAIN && errno != EINTR)
		return end_with(t, -errno, strerror(errno));
	if (read(t->timer, &ticks, sizeof(ticks)) == sizeof(ticks))
		return end_with(t, -ETIMEDOUT,
				"the probe took too long: the server is silent, or the "
				"time for the search is used up");
	return 1;
}

int tcptuned_tame_fd(const struct tcptuned_tame *t)
{
	return t->epoll;
}

const struct tcptuned_tame_result *tcptuned_tame_result(const struct tcptuned_tame *t)
{
	return &t->result;
}

unsigned int tcptuned_tame_probing(const struct tcptuned_tame *t)
{
	return t->status == 1 ? tcptuned_search_next(&t->search) : 0;
}

const char *tcptuned_tame_error(const struct tcptuned_tame *t)
{
	return t->error;
}

void tcptuned_tame_free(struct tcptuned_tame *t)
{
	if (!t)
		return;
	end_probe(t);
	if (t->epoll >= 0)
		close(t->epoll);
	if (t->timer >= 0)
		close(t->timer);
	free(t->text);
	free(t->host);
	free(t);
}

struct ParallelTCPChar *TameParallelTCP(const char *dest, double maximpact)
{
	const struct tcptuned_tame_options options = {.impact_max = maximpact};
	struct ParallelTCPChar *ret = NULL;
	struct tcptuned_tame *tame;
	int err = tcptuned_tame_start(dest, &options, &tame);

	if (err) {
		errno = -err;
		return NULL;
	}
	while ((err = tcptuned_tame_step(tame)) == 1) {
		struct pollfd pfd = {.fd = tcptuned_tame_fd(tame), .events = POLLIN};

		poll(&pfd, 1, -1);
	}
	if (!err)
		ret = malloc(sizeof(*ret));
	if (ret)
		*ret = (struct ParallelTCPChar){
			.num_flows = (int)tame->result.within,
			.max_nondisruptive_thru = tame->result.within_rate,
			.cross_traffic_impact = tame->result.impact,
		};
	tcptuned_tame_free(tame);
	if (!ret)
		errno = err ? -err : ENOMEM;
	return ret;
}
