// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "tuner.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <netinet/in.h>

#include <tcptuned/algo/unsent.h>

#define LOCK_SNDBUF 1 /* SOCK_SNDBUF_LOCK of the kernel */
#define LOCK_RCVBUF 2

#define SEGMENTS_MIN	10u /* no sender begins with more (RFC 6928) */
#define SHORT_ROUNDS	2
#define INTERVAL_MIN_US 5000u
#define INTERVAL_MAX_US 1000000u

static int get_option(int fd, int level, int name)
{
	socklen_t length = sizeof(int);
	int value;

	return getsockopt(fd, level, name, &value, &length) ? -errno : value;
}

static int set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

/* The last number of a file in /proc/sys; 0: it cannot be read. */
static unsigned int read_maximum(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int value = 0;

	if (!file)
		return 0;
	while (fscanf(file, "%u", &value) == 1)
		;
	fclose(file);
	return value;
}

/* The largest buffer by @name, SO_RCVBUF or SO_SNDBUF: some network namespaces hide its sysctl. */
static unsigned int try_maximum(int name)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), value;

	if (fd < 0)
		return 0;
	set_option(fd, SOL_SOCKET, name, INT_MAX);
	value = get_option(fd, SOL_SOCKET, name);
	close(fd);
	return value > 0 ? (unsigned int)value : 0;
}

void tuner_read_limits(struct tuner_limits *ret)
{
	int tunes = read_maximum("/proc/sys/net/ipv4/tcp_moderate_rcvbuf") != 0;

	ret->rcvbuf = try_maximum(SO_RCVBUF);
	ret->sndbuf = try_maximum(SO_SNDBUF);
	ret->tuned_rcvbuf = tunes ? read_maximum("/proc/sys/net/ipv4/tcp_rmem") : 0;
	ret->tuned_sndbuf = read_maximum("/proc/sys/net/ipv4/tcp_wmem");
	ret->unsent = read_maximum("/proc/sys/net/ipv4/tcp_notsent_lowat") != ~0u;
}

int tuner_daemon_runs(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = TUNER_CONTROL};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0)
		return 0;
	err = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
	close(fd);
	return !err || err == EACCES || err == EPERM || err == EAGAIN;
}

unsigned int tuner_interval_us(const struct tuner_sample *sample)
{
	unsigned int us = diag_rtt_us(&sample->info.tcp);

	/*
	 * A sample that comes a little early would end no round, and the next one a round of twice
	 * its length.
	 */
	us += us / 16;
	return us < INTERVAL_MIN_US ? INTERVAL_MIN_US : us > INTERVAL_MAX_US ? INTERVAL_MAX_US : us;
}

/*
 * Counts the bytes that arrived, also beyond a reassembly gap (DRS IV). tcpi_bytes_received leaves
 * those out until the gap is filled, and then counts them at once, so they are counted by segments,
 * of the size that they had before. Returns whether segments have arrived out of order since the
 * last sample.
 */
static int count_received(struct tuner *t, const struct tcp_info *info)
{
	unsigned int segments = info->tcpi_data_segs_in - t->segments;
	int disordered = info->tcpi_rcv_ooopack != t->disordered;

	if (disordered)
		t->received += (__u64)segments * t->segment_bytes;
	else if (segments && info->tcpi_bytes_received > t->received)
		t->segment_bytes = (__u32)((info->tcpi_bytes_received - t->received) / segments);
	if (t->received < info->tcpi_bytes_received)
		t->received = info->tcpi_bytes_received;
	t->segments = info->tcpi_data_segs_in;
	t->disordered = info->tcpi_rcv_ooopack;
	return disordered;
}

/*
 * Returns the window to ask for at the end of a round, or 0. It is grown where less is advertised
 * than twice the bytes of a round trip (DRS III.B), and the kernel has not enlarged the buffer for
 * two round trips: to as much again.
 */
static unsigned int window_to_grow(struct tuner *t, const struct tuner_limits *limits,
				   const struct tuner_sample *s, unsigned int window,
				   unsigned int min)
{
	unsigned int want = rightsize_clamp_window(4ull * t->receive.per_rtt, min);
	int is_short = !t->receive.window && 2ull * t->receive.per_rtt > window &&
		       s->rcvbuf == t->rcvbuf && s->rcvbuf < limits->tuned_rcvbuf;

	t->rcvbuf = s->rcvbuf;
	t->short_rounds = is_short ? t->short_rounds + 1 : 0;
	return t->short_rounds >= SHORT_ROUNDS && want > t->grown ? want : 0;
}

/*
 * Returns the window to ask for when the first one is used up, or 0: the seed, as far as
 * tcp_set_rcvlowat() allows.
 */
static unsigned int take_seed(struct tuner *t, const struct tuner_limits *limits,
			      const struct tcp_info *info)
{
	unsigned int seed = t->seed, max = limits->tuned_rcvbuf / 2;

	t->seed = 0;
	seed = seed < max ? seed : max;
	return seed > info->tcpi_rcv_ssthresh ? seed : 0;
}

/* The window is held by the clamp, which the kernel moves when it enlarges the buffer. */
static void decide_receive(struct tuner *t, const struct tuner_limits *limits,
			   const struct tuner_sample *s, __u64 now_us, __u64 clock_us,
			   struct tuner_action *ret)
{
	const struct tcp_info *info = &s->info.tcp;
	unsigned int window = diag_receive_window(&s->info), unit = 1u << info->tcpi_rcv_wscale;
	int disordered = count_received(t, info);
	struct rightsize_ack ack = {
		.now_us = now_us,
		.clock_us = clock_us,
		.bytes = (__u32)t->received,
		.sample_us = info->tcpi_rcv_rtt,
		.rtt_us = diag_receive_rtt_us(info),
		.min = SEGMENTS_MIN * info->tcpi_rcv_mss,
	};
	unsigned int want;

	if (!window)
		window = info->tcpi_rcv_ssthresh;
	ack.offered = disordered ? RIGHTSIZE_WINDOW_MAX : window;
	if (ack.min < 2 * unit)
		ack.min = 2 * unit;
	/* A silence is that of the kernel's clock, not the time between two samples. */
	t->receive.seen_us = now_us - 1000ull * info->tcpi_last_data_recv;
	if (rightsize_on_ack(&t->receive, &ack))
		ret->grow = window_to_grow(t, limits, s, window, ack.min);
	/* A sender that repairs a loss needs more (bpf/receiver.h). */
	want = disordered && t->receive.window > INITIAL_WINDOW_BYTES ? 0 : t->receive.window;
	if (want &&
	    (rightsize_differs(t->clamp, want) || info->tcpi_rcv_ssthresh > want + want / 16))
		ret->clamp = want;
	else if (!want && t->clamp)
		ret->clamp = WINDOW_CLAMP_MAX;
}

/*
 * A send buffer that autotuning cannot enlarge any more gets what SO_SNDBUF allows, if it does not
 * hold twice the bytes of a minimum RTT (DRS III.B), for which the kernel counts twice as much
 * memory. More would only be another place to wait.
 */
static void decide_send(struct tuner *t, const struct tuner_limits *limits,
			const struct tuner_sample *s, struct tuner_action *ret)
{
	const struct tcp_info *info = &s->info.tcp;
	__u64 window = (__u64)info->tcpi_snd_cwnd * info->tcpi_snd_mss, carried;
	unsigned int unsent;

	if (!info->tcpi_rtt)
		return;
	unsent = rightsize_unsent(rightsize_muldiv(window, 1000000, info->tcpi_rtt), info->tcpi_rtt,
				  t->asked, 0);
	if (unsent >= s->sndbuf && (!t->unsent || t->unsent >= s->sndbuf))
		unsent = t->unsent; /* the buffer is the limit, by either value */
	if (!limits->unsent && !t->unsent_foreign && rightsize_differs(t->unsent, unsent))
		ret->unsent = unsent;
	carried = rightsize_muldiv(info->tcpi_delivery_rate, info->tcpi_min_rtt, 1000000);
	if (limits->tuned_sndbuf && s->sndbuf >= limits->tuned_sndbuf && 4 * carried > s->sndbuf &&
	    limits->sndbuf > s->sndbuf && limits->sndbuf > t->sndbuf)
		ret->sndbuf = limits->sndbuf;
}

int tuner_decide(struct tuner *t, const struct tuner_limits *limits, const struct tuner_sample *s,
		 __u64 now_us, __u64 clock_us, struct tuner_action *ret)
{
	const struct tcp_info *info = &s->info.tcp;

	*ret = (struct tuner_action){};
	if (info->tcpi_state != DIAG_ESTABLISHED)
		return 0;
	ret->unlock = !t->unlocked &&
		      (s->rcvbuf / 2 >= REQUEST_MIN || s->sndbuf / 2 >= REQUEST_MIN);
	if (!t->no_receive && info->tcpi_bytes_received >= CARRIED_MIN && diag_receives(info))
		decide_receive(t, limits, s, now_us, clock_us, ret);
	if (t->seed && info->tcpi_bytes_received >= INITIAL_WINDOW_BYTES && diag_receives(info))
		ret->grow = take_seed(t, limits, info);
	if (!t->no_send && info->tcpi_bytes_acked >= CARRIED_MIN &&
	    info->tcpi_bytes_acked > info->tcpi_bytes_received)
		decide_send(t, limits, s, ret);
	return ret->grow || ret->clamp || ret->unsent || ret->sndbuf || ret->unlock;
}

int tuner_prepare(int fd, __u64 rate, const char *congestion_control)
{
	__u64 present;
	socklen_t length = sizeof(present);

	if (rate &&
	    (getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &present, &length) || present > rate))
		setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
	return congestion_control &&
	       !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion_control,
			   (socklen_t)strlen(congestion_control));
}

/* A buffer below 16 KiB is deliberate: it stays locked, as does one of a direction left alone. */
static int unlock_buffers(struct tuner *t, int fd)
{
	int locks = get_option(fd, SOL_SOCKET, SO_BUF_LOCK), kept = locks, sndbuf;

	if (locks <= 0)
		return locks == -ENOPROTOOPT ? 0 : locks;
	sndbuf = get_option(fd, SOL_SOCKET, SO_SNDBUF) / 2;
	if (!t->no_receive && get_option(fd, SOL_SOCKET, SO_RCVBUF) / 2 >= (int)REQUEST_MIN)
		kept &= ~LOCK_RCVBUF;
	if (!t->no_send && sndbuf >= (int)REQUEST_MIN)
		kept &= ~LOCK_SNDBUF;
	if ((locks & ~kept) & LOCK_SNDBUF)
		t->asked = (unsigned int)sndbuf;
	return kept == locks ? 0 : set_option(fd, SOL_SOCKET, SO_BUF_LOCK, kept);
}

/*
 * SO_RCVLOWAT enlarges a buffer that is not locked, up to the maximum of tcp_rmem and beyond that
 * of SO_RCVBUF (tcp_set_rcvlowat()). The application's own value is restored at once.
 */
static int grow_receive_buffer(int fd, int window)
{
	int before = get_option(fd, SOL_SOCKET, SO_RCVLOWAT), err;

	if (before < 0)
		return before;
	err = set_option(fd, SOL_SOCKET, SO_RCVLOWAT, window);
	return set_option(fd, SOL_SOCKET, SO_RCVLOWAT, before) ?: err;
}

static int limit_unsent(struct tuner *t, int fd, unsigned int bytes)
{
	int value = get_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT);

	t->unsent_foreign = value != (int)t->unsent;
	if (t->unsent_foreign)
		return value < 0 ? value : 0;
	t->unsent = bytes;
	return set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)bytes);
}

int tuner_act(struct tuner *t, int fd, const struct tuner_action *action)
{
	int err = 0;

	if (action->unlock) {
		t->unlocked = 1;
		err = unlock_buffers(t, fd);
	}
	if (action->grow) {
		t->grown = action->grow;
		err = grow_receive_buffer(fd, (int)action->grow) ?: err;
	}
	if (action->clamp) {
		t->clamp = action->clamp == WINDOW_CLAMP_MAX ? 0 : action->clamp;
		err = set_option(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, (int)action->clamp) ?: err;
	}
	if (action->unsent)
		err = limit_unsent(t, fd, action->unsent) ?: err;
	if (action->sndbuf) {
		t->sndbuf = action->sndbuf;
		/* The kernel doubles it: sk_setsockopt(). */
		err = set_option(fd, SOL_SOCKET, SO_SNDBUF, (int)(action->sndbuf / 2)) ?: err;
	}
	return err;
}

static __u64 clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (__u64)now.tv_sec * 1000000 + (__u64)now.tv_nsec / 1000;
}

int tuner_tick(struct tuner *t, const struct tuner_limits *limits, int fd, __u64 *due_us)
{
	__u64 now = clock_us(CLOCK_MONOTONIC);
	__u32 memory[SK_MEMINFO_VARS] = {0};
	struct tuner_sample sample = {0};
	struct tuner_action action;
	socklen_t length = sizeof(sample.info), memory_length = sizeof(memory);
	int err = 0;

	if (now < *due_us)
		return (int)(*due_us - now);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &sample.info, &length) ||
	    getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &memory_length))
		return -errno;
	sample.rcvbuf = memory[SK_MEMINFO_RCVBUF];
	sample.sndbuf = memory[SK_MEMINFO_SNDBUF];
	*due_us = now + tuner_interval_us(&sample);
	if (tuner_decide(t, limits, &sample, now, clock_us(CLOCK_REALTIME), &action))
		err = tuner_act(t, fd, &action);
	return err ? err : (int)(*due_us - now);
}
