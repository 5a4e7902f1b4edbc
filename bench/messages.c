// SPDX-License-Identifier: GPL-2.0-only
/*
 * messages: the transfer of "Dynamic Right-Sizing in TCP" (N messages of S bytes from one host
 * to another), timed from the first byte sent to the last byte read by the receiving
 * application. Both ends must share a CLOCK_MONOTONIC: two namespaces of one machine do.
 *
 * Per connection: the sender's struct hello and struct start, the payload; then, when all
 * connections of the transfer are done, the receiver's struct result, and behind the first
 * connection's the progress curve.
 *
 * SIGUSR1 ends a sender's payload as if its --duration were over.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#define NS_PER_SECOND	1000000000ull
#define MAGIC		0x6d736773u
#define CHUNK		(256u << 10)
#define STREAMS_MAX	1000
#define SAMPLE_MS	20
#define CONGESTION_NAME 16
/* A prime, so that no misplaced power of two of bytes looks right. */
#define PATTERN_LEN 1048583u
/* What a transfer may take in addition to its --duration, where no --timeout says it. */
#define TIMEOUT_S 300

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_CORRUPT = 3,
	EXIT_TIMEOUT = 4,
};

/* ---- options ------------------------------------------------------------------------------
 */

struct options {
	const char *listen, *connect, *from, *congestion;
	uint64_t port, count, bytes, streams, rcvbuf, sndbuf;
	uint64_t read_rate_bps, read_fast, read_pause_ms, series_ms;
	uint64_t notsent;
	uint64_t interval_ms, pings;
	double duration_s, timeout_s, stall_s;
	bool once, zerocopy, discard, verify, rtt_samples;
};

static struct options opt = {
	.port = 5301,
	.count = 128,
	.bytes = 1 << 20,
	.streams = 1,
	.stall_s = 30,
};

enum kind { FLAG, TEXT, NUMBER, SIZE, SECONDS };

static const struct option_row {
	const char *name;
	enum kind kind;
	size_t offset;
	double min, max;
	const char *arg, *help;
} rows[] = {
#define AT(field) offsetof(struct options, field)
	{"listen", TEXT, AT(listen), 0, 0, "ADDR", "be the receiver, on this address"},
	{"connect", TEXT, AT(connect), 0, 0, "ADDR", "be the sender, to this address"},
	{"from", TEXT, AT(from), 0, 0, "ADDR", "sender: from this one of its addresses"},
	{"port", NUMBER, AT(port), 1, 65535, "N", "(5301)"},
	{"once", FLAG, AT(once), 0, 0, NULL, "receiver: end after one transfer"},
	{"count", NUMBER, AT(count), 0, 1e12, "N", "messages, over all connections (128)"},
	{"bytes", SIZE, AT(bytes), 1, 1e12, "SIZE", "of a message: 1MB, 1MiB, ... (1MiB)"},
	{"duration", SECONDS, AT(duration_s), 0.01, 1e5, "SECONDS",
	 "send for so long, instead of --count messages"},
	{"interval", NUMBER, AT(interval_ms), 0, 1e6, "MS",
	 "pause of a connection between two messages (0)"},
	{"streams", NUMBER, AT(streams), 1, STREAMS_MAX, "N", "parallel connections (1)"},
	{"rcvbuf", SIZE, AT(rcvbuf), 1, 2e9, "SIZE", "receiver's SO_RCVBUF, before listen()"},
	{"sndbuf", SIZE, AT(sndbuf), 1, 2e9, "SIZE", "sender's SO_SNDBUF, before connect()"},
	{"notsent", SIZE, AT(notsent), 1, 2e9, "SIZE", "sender's TCP_NOTSENT_LOWAT"},
	{"congestion", TEXT, AT(congestion), 0, 0, "NAME", "sender's congestion control"},
	{"zerocopy", FLAG, AT(zerocopy), 0, 0, NULL,
	 "send with sendfile() from memory: MSG_ZEROCOPY would be copied by a TUN device"},
	{"discard", FLAG, AT(discard), 0, 0, NULL, "receiver: read without copying"},
	{"read-rate", NUMBER, AT(read_rate_bps), 0, 1e12, "BITS/S",
	 "receiver: a slow application, per connection (0: as fast as it can)"},
	{"read-fast", SIZE, AT(read_fast), 1, 1e12, "SIZE",
	 "receiver: slow to --read-rate, or with pauses, only after so much (0)"},
	{"read-pause", NUMBER, AT(read_pause_ms), 0, 1000, "MS",
	 "receiver: read nothing for so long in each second (0)"},
	{"verify", FLAG, AT(verify), 0, 0, NULL, "receiver: check every byte"},
	{"series", NUMBER, AT(series_ms), 1, 1e5, "MS",
	 "receiver: report bytes read over time; give it to both sides"},
	{"rtt-samples", FLAG, AT(rtt_samples), 0, 0, NULL,
	 "sampled every 20 ms: RTT, unsent bytes and send memory under load; with --series also the time from being written to being read, and\n\t"
	 "of the first connection s, RTT in ms and window in bytes of each sample (load_series)"},
	{"ping", NUMBER, AT(pings), 0, 1e5, "N",
	 "first the RTT of the idle path, from N handshakes"},
	{"stall", SECONDS, AT(stall_s), 0.1, 1e5, "SECONDS",
	 "give up when nothing moves for so long (30)"},
	{"timeout", SECONDS, AT(timeout_s), 0.1, 1e6, "SECONDS",
	 "give up after so long in all; a receiver without --once never does (300, and\n\t"
	 "--duration)"},
#undef AT
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void print_help(void)
{
	printf("messages: times N messages from one application to another over TCP\n\n"
	       "usage: messages --listen ADDR [--once] [OPTION]...\n"
	       "       messages --connect ADDR [OPTION]...\n\n"
	       "Options of the other side are accepted and ignored.\n\n");
	for (size_t i = 0; i < ROWS; i++)
		printf("  --%s %s\n\t%s\n", rows[i].name, rows[i].arg ?: "", rows[i].help);
	printf("\nThe sender prints the result as one JSON object; SIGUSR1 ends it early.\n"
	       "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 payload damaged; 4 out of "
	       "time.\n");
}

static void __attribute__((noreturn, format(printf, 2, 3)))
die(enum exit_code code, const char *format, ...)
{
	va_list args;
	char text[512];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "messages: %s\n", text);
	if (opt.connect)
		printf("{\"ok\": false, \"error\": \"%s\"}\n", text);
	fflush(stdout);
	_exit(code);
}

static bool parse_size_suffix(const char *end, double *ret_factor)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {
		{"", 1},       {"b", 1},	{"kb", 1e3},	 {"mb", 1e6},
		{"gb", 1e9},   {"kib", 0x1p10}, {"mib", 0x1p20}, {"gib", 0x1p30},
		{"k", 0x1p10}, {"m", 0x1p20},	{"g", 0x1p30},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		*ret_factor = units[i].factor;
		if (!strcasecmp(end, units[i].name))
			return true;
	}
	return false;
}

static void set_option(const struct option_row *row, const char *text)
{
	void *to = (char *)&opt + row->offset;
	double value, factor = 1;
	char *end;

	if (row->kind == TEXT) {
		*(const char **)to = text;
		return;
	}
	value = strtod(text, &end);
	if (end == text || !(row->kind == SIZE ? parse_size_suffix(end, &factor) : !*end) ||
	    !(value * factor >= row->min && value * factor <= row->max))
		die(EXIT_USAGE, "--%s %s is wrong, %s expected: %s", row->name, text, row->arg,
		    row->help);
	if (row->kind == SECONDS)
		*(double *)to = value;
	else
		*(uint64_t *)to = (uint64_t)llround(value * factor);
}

static void parse_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct option_row *row = rows;

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			print_help();
			exit(EXIT_OK);
		}
		while (row < rows + ROWS &&
		       (strncmp(argv[i], "--", 2) || strcmp(argv[i] + 2, row->name)))
			row++;
		if (row == rows + ROWS)
			die(EXIT_USAGE, "what is `%s`? see --help", argv[i]);
		if (row->kind == FLAG) {
			*(bool *)((char *)&opt + row->offset) = true;
			continue;
		}
		if (++i == argc)
			die(EXIT_USAGE, "--%s needs a value: %s", row->name, row->arg);
		set_option(row, argv[i]);
	}
	if (opt.timeout_s <= 0)
		opt.timeout_s = TIMEOUT_S + opt.duration_s;
	if (!opt.listen == !opt.connect)
		die(EXIT_USAGE, "one of --listen and --connect is needed; see --help");
}

/* ---- what both sides share ----------------------------------------------------------------
 */

struct hello {
	uint32_t magic;
	uint32_t stream, streams, zero;
	uint64_t transfer; /* distinguishes the connections of one transfer */
};

/* Once all connections are there. The clock starts when this leaves. */
struct start {
	uint64_t start_ns; /* the same in all connections */
};

struct result {
	uint64_t bytes, damaged;
	uint64_t last_ns; /* when the last byte was read */
	uint32_t rcvbuf, rcv_wscale;
	uint32_t rcv_space, rcv_ssthresh;
	uint64_t points; /* of the progress curve, first connection only */
};

struct point {
	uint64_t at_ns, bytes;
};

struct stream {
	int fd;
	unsigned int index;
	pthread_t thread;
	uint64_t start_ns;
	uint64_t bytes; /* so far; atomic, since it is sampled */
	uint64_t messages;
	struct result result;
	struct tcp_info info;
	uint32_t sndbuf, notsent_lowat;
	char congestion[CONGESTION_NAME];
	const char *error; /* NULL, or what failed with error_code */
	int error_code;
};

static struct stream streams[STREAMS_MAX];
static uint8_t *pattern; /* twice PATTERN_LEN, so that a chunk never wraps */
static int pattern_fd = -1;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = {ns / NS_PER_SECOND, ns % NS_PER_SECOND};

	nanosleep(&ts, NULL);
}

/* The payload of every connection walks through this, from a place of its own. */
static void make_pattern(void)
{
	uint64_t x = 3;

	pattern_fd = memfd_create("messages", MFD_CLOEXEC);
	if (pattern_fd < 0 || ftruncate(pattern_fd, 2 * PATTERN_LEN) < 0)
		die(EXIT_FAILED, "no memory for the payload: %s", strerror(errno));
	pattern = mmap(NULL, 2 * PATTERN_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, pattern_fd, 0);
	if (pattern == MAP_FAILED)
		die(EXIT_FAILED, "no memory for the payload: %s", strerror(errno));
	for (uint32_t i = 0; i < PATTERN_LEN; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		pattern[i] = pattern[i + PATTERN_LEN] = x >> 56;
	}
}

static uint32_t pattern_at(const struct stream *s, uint64_t offset)
{
	return (offset + s->index * 104729ull) % PATTERN_LEN;
}

static bool send_all(int fd, const void *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data = (const char *)data + n;
		len -= n;
	}
	return true;
}

static bool receive_all(int fd, void *data, size_t len)
{
	while (len) {
		ssize_t n = recv(fd, data, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (!n)
			errno = ECONNRESET;
		if (n <= 0)
			return false;
		data = (char *)data + n;
		len -= n;
	}
	return true;
}

static void stream_failed(struct stream *s, const char *what)
{
	s->error_code = errno;
	s->error = what;
}

static void check_streams(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct stream *s = &streams[i];

		if (!s->error)
			continue;
		if (s->error_code == EAGAIN)
			die(EXIT_TIMEOUT, "connection %u: nothing moved for %g s: %s", i,
			    opt.stall_s, s->error);
		die(EXIT_FAILED, "connection %u: %s: %s", i, s->error, strerror(s->error_code));
	}
}

static void set_stall_timeout(int fd)
{
	struct timeval tv = {(time_t)opt.stall_s, (suseconds_t)(fmod(opt.stall_s, 1) * 1e6)};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

static struct sockaddr_storage resolve(const char *text, socklen_t *ret_len)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
	struct sockaddr_storage sa = {0};
	struct addrinfo *found;
	char port[16];
	int err;

	snprintf(port, sizeof(port), "%u", (unsigned int)opt.port);
	err = getaddrinfo(text, port, &hints, &found);
	if (err)
		die(EXIT_USAGE, "%s is not an address: %s", text, gai_strerror(err));
	memcpy(&sa, found->ai_addr, found->ai_addrlen);
	*ret_len = found->ai_addrlen;
	freeaddrinfo(found);
	return sa;
}

static int open_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1;

	if (fd < 0)
		die(EXIT_FAILED, "no socket: %s", strerror(errno));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	set_stall_timeout(fd);
	return fd;
}

static void set_buffer(int fd, int name, uint64_t size)
{
	int value = (int)size;

	if (size && setsockopt(fd, SOL_SOCKET, name, &value, sizeof(value)) < 0)
		die(EXIT_FAILED, "cannot set the socket buffer to %d: %s", value, strerror(errno));
}

struct samples {
	double *values;
	size_t count, room;
};

static void samples_add(struct samples *s, double value)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->values = realloc(s->values, s->room * sizeof(*s->values));
		if (!s->values)
			die(EXIT_FAILED, "no memory for samples");
	}
	s->values[s->count++] = value;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double samples_quantile(struct samples *s, double q)
{
	size_t at = (size_t)(q * (double)s->count);

	if (!s->count)
		return 0;
	qsort(s->values, s->count, sizeof(*s->values), compare_double);
	return s->values[at < s->count ? at : s->count - 1];
}

/* ---- receiver -----------------------------------------------------------------------------
 */

static void check_payload(struct stream *s, const uint8_t *data, size_t len)
{
	const uint8_t *want = pattern + pattern_at(s, s->bytes);

	if (!memcmp(data, want, len))
		return;
	for (size_t i = 0; i < len; i++)
		s->result.damaged += data[i] != want[i];
}

/* A slow application sleeps until what it has read, since it is slow, fits its rate. */
static void hold_read_rate(const struct stream *s, uint64_t began_ns, uint64_t before)
{
	uint64_t due = began_ns +
		       (uint64_t)((double)(s->bytes - before) * 8e9 / (double)opt.read_rate_bps);
	uint64_t now = now_ns();

	if (due > now)
		sleep_ns(due - now);
}

/* One that pauses, as for its garbage, does so at the start of each second of the clock. */
static void hold_pause(void)
{
	uint64_t in_second = now_ns() % 1000000000, pause = opt.read_pause_ms * 1000000;

	if (in_second < pause)
		sleep_ns(pause - in_second);
}

static void fill_result(struct stream *s)
{
	uint32_t mem[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(mem);
	struct tcp_info info = {0};

	getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, mem, &len);
	len = sizeof(info);
	getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	s->result.bytes = s->bytes;
	s->result.rcvbuf = mem[SK_MEMINFO_RCVBUF];
	s->result.rcv_wscale = info.tcpi_rcv_wscale;
	s->result.rcv_space = info.tcpi_rcv_space;
	s->result.rcv_ssthresh = info.tcpi_rcv_ssthresh;
}

static void *receive_stream(void *arg)
{
	struct stream *s = arg;
	size_t chunk = CHUNK;
	uint64_t slow_ns = now_ns(), slow_bytes = 0;
	uint8_t *buffer = malloc(CHUNK);
	ssize_t n;

	/* about 10 ms of a slow application's reading at a time */
	if (opt.read_rate_bps && opt.read_rate_bps / 800 < chunk)
		chunk = opt.read_rate_bps / 800 + 1;
	for (;;) {
		n = recv(s->fd, buffer, chunk, opt.discard ? MSG_TRUNC : 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		s->result.last_ns = now_ns();
		if (opt.verify)
			check_payload(s, buffer, n);
		__atomic_store_n(&s->bytes, s->bytes + n, __ATOMIC_RELAXED);
		if (s->bytes < opt.read_fast) {
			slow_ns = now_ns();
			slow_bytes = s->bytes;
			continue;
		}
		if (opt.read_rate_bps)
			hold_read_rate(s, slow_ns, slow_bytes);
		hold_pause();
	}
	if (n < 0)
		stream_failed(s, "receiving");
	fill_result(s);
	free(buffer);
	return NULL;
}

static uint64_t total_bytes(unsigned int count)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += __atomic_load_n(&streams[i].bytes, __ATOMIC_RELAXED);
	return sum;
}

struct curve {
	struct point *points;
	size_t count, room;
};

static void curve_add(struct curve *c, struct point p)
{
	if (c->count == c->room) {
		c->room = c->room ? 2 * c->room : 1024;
		c->points = realloc(c->points, c->room * sizeof(*c->points));
		if (!c->points)
			die(EXIT_FAILED, "no memory for the progress curve");
	}
	c->points[c->count++] = p;
}

/* Joins the threads; while they run, samples the progress if asked to. */
static void watch_streams(unsigned int count, uint64_t start_ns, struct curve *curve)
{
	uint64_t step = opt.series_ms * 1000000, next = now_ns();

	for (unsigned int i = 0; i < count;) {
		struct timespec until;

		if (!opt.series_ms) {
			pthread_join(streams[i++].thread, NULL);
			continue;
		}
		next += step;
		do {
			clock_gettime(CLOCK_REALTIME, &until);
			uint64_t now = now_ns();
			uint64_t wait = next > now ? next - now : 0;
			uint64_t ns = until.tv_nsec + wait;

			until.tv_sec += ns / NS_PER_SECOND;
			until.tv_nsec = ns % NS_PER_SECOND;
		} while (!pthread_timedjoin_np(streams[i].thread, NULL, &until) && ++i < count);
		curve_add(curve, (struct point){now_ns() - start_ns, total_bytes(count)});
	}
}

static void send_results(unsigned int count, const struct curve *curve)
{
	for (unsigned int i = 0; i < count; i++) {
		struct stream *s = &streams[i];

		s->result.points = i ? 0 : curve->count;
		if (!send_all(s->fd, &s->result, sizeof(s->result)) ||
		    (!i && !send_all(s->fd, curve->points, curve->count * sizeof(*curve->points))))
			fprintf(stderr, "messages: cannot report to the sender: %s\n",
				strerror(errno));
	}
}

/* Accepts connections until one transfer is complete; strangers are turned away. */
static unsigned int accept_streams(int listener)
{
	unsigned int got = 0, want = 1;
	uint64_t transfer = 0;

	while (got < want) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		struct hello hello;

		if (fd < 0 && (errno == EINTR || (errno == EAGAIN && !got && !opt.once)))
			continue;
		if (fd < 0)
			die(errno == EAGAIN ? EXIT_TIMEOUT : EXIT_FAILED, "%u connections came: %s",
			    got, errno == EAGAIN ? "no more within --stall" : strerror(errno));
		set_stall_timeout(fd);
		if (!receive_all(fd, &hello, sizeof(hello)) || hello.magic != MAGIC ||
		    hello.streams > STREAMS_MAX || hello.stream >= hello.streams ||
		    (got && hello.transfer != transfer)) {
			close(fd);
			continue;
		}
		transfer = hello.transfer;
		want = hello.streams;
		streams[got] = (struct stream){.fd = fd, .index = hello.stream};
		got++;
	}
	return got;
}

static void receive_transfer(int listener)
{
	struct curve curve = {0};
	unsigned int count = accept_streams(listener);
	uint64_t start_ns;

	for (unsigned int i = 0; i < count; i++) {
		struct start start;

		if (!receive_all(streams[i].fd, &start, sizeof(start)))
			die(EXIT_FAILED, "the sender does not begin: %s", strerror(errno));
		start_ns = start.start_ns;
		pthread_create(&streams[i].thread, NULL, receive_stream, &streams[i]);
	}
	watch_streams(count, start_ns, &curve);
	if (opt.once)
		check_streams(count);
	send_results(count, &curve);
	for (unsigned int i = 0; i < count; i++)
		close(streams[i].fd);
	free(curve.points);
}

static void receiver(void)
{
	struct sockaddr_storage sa;
	socklen_t len;
	int fd;

	sa = resolve(opt.listen, &len);
	fd = open_socket(sa.ss_family);
	set_buffer(fd, SO_RCVBUF, opt.rcvbuf);
	if (bind(fd, (struct sockaddr *)&sa, len) < 0 || listen(fd, STREAMS_MAX) < 0)
		die(EXIT_FAILED, "cannot listen on %s port %u: %s", opt.listen,
		    (unsigned int)opt.port, strerror(errno));
	printf("listening\n");
	fflush(stdout);
	do
		receive_transfer(fd);
	while (!opt.once);
}

/* ---- sender -------------------------------------------------------------------------------
 */

static uint64_t messages_of(unsigned int index)
{
	return opt.count / opt.streams + (index < opt.count % opt.streams);
}

static ssize_t send_chunk(struct stream *s, uint64_t len)
{
	uint32_t at = pattern_at(s, s->bytes);
	off_t offset = at;

	if (len > CHUNK)
		len = CHUNK;
	if (opt.zerocopy)
		return sendfile(s->fd, pattern_fd, &offset, len);
	return send(s->fd, pattern + at, len, MSG_NOSIGNAL);
}

static volatile sig_atomic_t told_to_end;

static void end_payload(int sig)
{
	told_to_end = 1;
}

static bool time_is_over(const struct stream *s)
{
	return told_to_end ||
	       (opt.duration_s > 0 && now_ns() - s->start_ns >= opt.duration_s * 1e9);
}

static bool send_message(struct stream *s)
{
	uint64_t left = opt.bytes;

	while (left) {
		ssize_t n = send_chunk(s, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		__atomic_store_n(&s->bytes, s->bytes + n, __ATOMIC_RELAXED);
		left -= n;
		/* a message may be longer than the time left */
		if (time_is_over(s))
			break;
	}
	s->messages++;
	return true;
}

static bool more_messages(const struct stream *s)
{
	if (time_is_over(s))
		return false;
	return opt.duration_s > 0 || s->messages < messages_of(s->index);
}

/* The receiver answers when every connection is through, hence only when all is read. */
static bool await_result(struct stream *s)
{
	struct pollfd pfd = {.fd = s->fd, .events = POLLIN};
	uint64_t acked = 0, moved_ns = now_ns();

	/* while the receiver still reads (slowly, perhaps), that is no stall */
	while (poll(&pfd, 1, 100) == 0) {
		struct tcp_info info = {0};
		socklen_t len = sizeof(info);

		getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &info, &len);
		if (info.tcpi_bytes_acked != acked)
			moved_ns = now_ns();
		acked = info.tcpi_bytes_acked;
		if (!opt.read_rate_bps && now_ns() - moved_ns > opt.stall_s * 1e9) {
			errno = EAGAIN;
			return false;
		}
	}
	return receive_all(s->fd, &s->result, sizeof(s->result));
}

static void read_sender_state(struct stream *s)
{
	uint32_t mem[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(s->info);

	getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &s->info, &len);
	len = sizeof(s->congestion);
	getsockopt(s->fd, IPPROTO_TCP, TCP_CONGESTION, s->congestion, &len);
	len = sizeof(mem);
	getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, mem, &len);
	s->sndbuf = mem[SK_MEMINFO_SNDBUF];
	len = sizeof(s->notsent_lowat);
	getsockopt(s->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &s->notsent_lowat, &len);
}

static void *send_stream(void *arg)
{
	struct stream *s = arg;
	struct start start = {s->start_ns};

	if (!send_all(s->fd, &start, sizeof(start))) {
		stream_failed(s, "sending");
		return NULL;
	}
	while (more_messages(s)) {
		if (!send_message(s)) {
			stream_failed(s, "sending");
			return NULL;
		}
		if (opt.interval_ms && more_messages(s))
			sleep_ns(opt.interval_ms * 1000000);
	}
	if (shutdown(s->fd, SHUT_WR) < 0 || !await_result(s))
		stream_failed(s, "waiting for the receiver to finish");
	read_sender_state(s);
	return NULL;
}

static void print_samples(const char *name, struct samples *s)
{
	printf(", \"%s\": {\"min\": %.3f, \"median\": %.3f, \"p95\": %.3f, \"max\": %.3f}", name,
	       samples_quantile(s, 0), samples_quantile(s, 0.5), samples_quantile(s, 0.95),
	       samples_quantile(s, 1));
}

struct load_samples {
	struct samples rtt_ms, unsent, wmem;
	struct samples latency_ms;
	struct curve written;
	struct curve rtt_us, window; /* of the first connection; values in @bytes */
};

/* What the sender may have in flight: the smaller one of its own window and its peer's. */
static uint64_t window_bytes(const struct tcp_info *info)
{
	uint64_t own = (uint64_t)info->tcpi_snd_cwnd * info->tcpi_snd_mss;

	return info->tcpi_snd_wnd && info->tcpi_snd_wnd < own ? info->tcpi_snd_wnd : own;
}

static void add_to_curves(struct load_samples *load, uint64_t at_ns, const struct tcp_info *info)
{
	curve_add(&load->rtt_us, (struct point){at_ns, info->tcpi_rtt});
	curve_add(&load->window, (struct point){at_ns, window_bytes(info)});
}

static void sample_load(const struct stream *s, struct load_samples *load)
{
	uint32_t mem[SK_MEMINFO_VARS] = {0};
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);
	int unsent = 0;

	/* a connection that has nothing in flight is not under load */
	if (getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &info, &len) || !info.tcpi_unacked)
		return;
	samples_add(&load->rtt_ms, info.tcpi_rtt / 1e3);
	if (s == streams && opt.series_ms)
		add_to_curves(load, now_ns() - s->start_ns, &info);
	len = sizeof(mem);
	getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, mem, &len);
	samples_add(&load->wmem, mem[SK_MEMINFO_WMEM_QUEUED]);
	ioctl(s->fd, SIOCOUTQNSD, &unsent);
	samples_add(&load->unsent, unsent);
}

/* Joins the sending threads; while they run, samples what TCP sees if asked to. */
static void watch_senders(struct load_samples *load)
{
	for (unsigned int i = 0; i < opt.streams;) {
		struct timespec until;

		if (!opt.rtt_samples) {
			pthread_join(streams[i++].thread, NULL);
			continue;
		}
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += SAMPLE_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (!pthread_timedjoin_np(streams[i].thread, NULL, &until)) {
			i++;
			continue;
		}
		for (unsigned int j = i; j < opt.streams; j++)
			sample_load(&streams[j], load);
		curve_add(&load->written, (struct point){now_ns() - streams[0].start_ns,
							 total_bytes((unsigned int)opt.streams)});
	}
}

static void bind_from(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len;

	if (!opt.from)
		return;
	sa = resolve(opt.from, &len);
	((struct sockaddr_in *)&sa)->sin_port = 0; /* sin6_port is in the same place */
	if (bind(fd, (struct sockaddr *)&sa, len) < 0)
		die(EXIT_FAILED, "cannot send from %s: %s", opt.from, strerror(errno));
}

static int connect_stream(const struct sockaddr_storage *sa, socklen_t len)
{
	int fd = open_socket(sa->ss_family);

	int notsent = (int)opt.notsent;

	set_buffer(fd, SO_SNDBUF, opt.sndbuf);
	if (notsent)
		setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &notsent, sizeof(notsent));
	if (opt.congestion &&
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, opt.congestion, strlen(opt.congestion)) < 0)
		die(EXIT_FAILED, "congestion control %s: %s", opt.congestion, strerror(errno));
	bind_from(fd);
	if (connect(fd, (const struct sockaddr *)sa, len) < 0)
		die(errno == EINPROGRESS ? EXIT_TIMEOUT : EXIT_FAILED,
		    "cannot connect to %s port %u: %s", opt.connect, (unsigned int)opt.port,
		    errno == EINPROGRESS ? "no answer within --stall" : strerror(errno));
	return fd;
}

/*
 * The RTT of the idle path as TCP itself measures it, of the handshakes of connections that say
 * nothing: no application has to be woken at either end.
 */
static void ping(const struct sockaddr_storage *sa, socklen_t sa_len, struct samples *ret_ms)
{
	for (uint64_t i = 0; i < opt.pings; i++) {
		int fd = connect_stream(sa, sa_len);
		struct tcp_info info = {0};
		socklen_t len = sizeof(info);

		getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
		close(fd);
		samples_add(ret_ms, info.tcpi_rtt / 1e3);
	}
}

static void connect_streams(struct samples *pings_ms)
{
	uint64_t transfer = now_ns() ^ (uint64_t)getpid() << 48;
	struct sockaddr_storage sa;
	socklen_t len;

	sa = resolve(opt.connect, &len);
	ping(&sa, len, pings_ms);
	for (unsigned int i = 0; i < opt.streams; i++) {
		struct hello hello = {
			.magic = MAGIC,
			.stream = i,
			.streams = opt.streams,
			.transfer = transfer,
		};

		streams[i] = (struct stream){.fd = connect_stream(&sa, len), .index = i};
		if (!send_all(streams[i].fd, &hello, sizeof(hello)))
			die(EXIT_FAILED, "sending: %s", strerror(errno));
	}
}

/*
 * How long what had been written took to be read, between two points of the receiver's curve:
 * the waiting in the send buffer, the path, and the waiting to be read.
 */
static void add_latencies(struct load_samples *load, struct point from, struct point to,
			  size_t *next)
{
	while (*next < load->written.count && load->written.points[*next].bytes <= to.bytes) {
		struct point w = load->written.points[(*next)++];
		double part =
			to.bytes > from.bytes && w.bytes > from.bytes
				? (double)(w.bytes - from.bytes) / (double)(to.bytes - from.bytes)
				: 0;
		double read_ns = (double)from.at_ns + part * (double)(to.at_ns - from.at_ns);

		/* the writer waits: this is as old as the sample before */
		if (*next > 1 && load->written.points[*next - 2].bytes == w.bytes)
			continue;
		samples_add(&load->latency_ms, (read_ns - (double)w.at_ns) / 1e6);
	}
}

static void print_curve(const struct stream *s, struct load_samples *load)
{
	struct point p, before = {0};
	size_t next = 0;

	printf(",\n \"series\": [");
	for (uint64_t i = 0; i < s->result.points; i++) {
		if (!receive_all(s->fd, &p, sizeof(p)))
			die(EXIT_FAILED, "the progress curve breaks off: %s", strerror(errno));
		add_latencies(load, before, p, &next);
		before = p;
		printf("%s[%.6f, %llu]", i ? ", " : "", p.at_ns / 1e9, (unsigned long long)p.bytes);
	}
	printf("]");
	if (opt.rtt_samples)
		print_samples("latency_ms", &load->latency_ms);
}

static void print_load_curve(const struct load_samples *load)
{
	printf(",\n \"load_series\": [");
	for (size_t i = 0; i < load->rtt_us.count; i++)
		printf("%s[%.3f, %.3f, %llu]", i ? ", " : "", load->rtt_us.points[i].at_ns / 1e9,
		       load->rtt_us.points[i].bytes / 1e3,
		       (unsigned long long)load->window.points[i].bytes);
	printf("]");
}

/* "cubic" if all connections ended with it; "cubic + bitcp" if some ended with another one. */
static void print_congestion(void)
{
	printf(", \"congestion\": \"%s", streams[0].congestion);
	for (unsigned int i = 1; i < opt.streams; i++) {
		unsigned int same = 0;

		while (strcmp(streams[same].congestion, streams[i].congestion) != 0)
			same++;
		if (same == i)
			printf(" + %s", streams[i].congestion);
	}
	printf("\"");
}

static void print_states(const struct stream *sum)
{
	const struct stream *s = &streams[0];

	printf(",\n \"retransmits\": %u", sum->info.tcpi_total_retrans);
	print_congestion();
	printf(", \"min_rtt_ms\": %.3f", s->info.tcpi_min_rtt / 1e3);
	printf(",\n \"sender\": {\"cwnd\": %u, \"ssthresh\": %u, \"mss\": %u, \"wscale\": %u, "
	       "\"sndbuf\": %u, \"busy_s\": %.6f, \"rwnd_limited_s\": %.6f, "
	       "\"sndbuf_limited_s\": %.6f, \"notsent_lowat\": %u}",
	       s->info.tcpi_snd_cwnd, s->info.tcpi_snd_ssthresh, s->info.tcpi_snd_mss,
	       s->info.tcpi_snd_wscale, s->sndbuf, s->info.tcpi_busy_time / 1e6,
	       s->info.tcpi_rwnd_limited / 1e6, s->info.tcpi_sndbuf_limited / 1e6,
	       s->notsent_lowat);
	printf(",\n \"receiver\": {\"rcvbuf\": %u, \"wscale\": %u, \"rcv_space\": %u, "
	       "\"rcv_ssthresh\": %u}",
	       s->result.rcvbuf, s->result.rcv_wscale, s->result.rcv_space, s->result.rcv_ssthresh);
}

/* Bytes and retransmits of all connections, and the last of the last bytes. */
static struct stream sum_streams(void)
{
	struct stream sum = {0};

	for (unsigned int i = 0; i < opt.streams; i++) {
		const struct stream *s = &streams[i];

		sum.bytes += s->bytes;
		sum.result.bytes += s->result.bytes;
		sum.result.damaged += s->result.damaged;
		if (s->result.last_ns > sum.result.last_ns)
			sum.result.last_ns = s->result.last_ns;
		sum.info.tcpi_total_retrans += s->info.tcpi_total_retrans;
	}
	return sum;
}

static enum exit_code sender(void)
{
	struct load_samples load = {0};
	struct samples pings_ms = {0};
	struct stream sum;
	uint64_t start_ns;
	double elapsed;
	bool ok;

	connect_streams(&pings_ms);
	start_ns = now_ns();
	for (unsigned int i = 0; i < opt.streams; i++) {
		streams[i].start_ns = start_ns;
		if (pthread_create(&streams[i].thread, NULL, send_stream, &streams[i]))
			die(EXIT_FAILED, "no thread for connection %u", i);
	}
	watch_senders(&load);
	check_streams(opt.streams);
	sum = sum_streams();
	elapsed = sum.result.last_ns > start_ns ? (sum.result.last_ns - start_ns) / 1e9 : 0;
	ok = sum.result.bytes == sum.bytes && !sum.result.damaged;
	printf("{\"ok\": %s, \"started_s\": %.6f, \"elapsed_s\": %.6f, \"bytes\": %llu, "
	       "\"goodput_bps\": %.0f, \"verified\": %s, \"bytes_damaged\": %llu",
	       ok ? "true" : "false", start_ns / 1e9, elapsed, (unsigned long long)sum.result.bytes,
	       elapsed > 0 ? (double)sum.result.bytes * 8 / elapsed : 0,
	       opt.verify ? "true" : "false", (unsigned long long)sum.result.damaged);
	print_states(&sum);
	if (opt.rtt_samples) {
		print_samples("rtt_ms", &load.rtt_ms);
		print_samples("unsent_bytes", &load.unsent);
		print_samples("send_memory_bytes", &load.wmem);
	}
	if (opt.pings)
		print_samples("ping_ms", &pings_ms);
	if (opt.series_ms)
		print_curve(&streams[0], &load);
	if (opt.series_ms && opt.rtt_samples)
		print_load_curve(&load);
	printf("}\n");
	return ok ? EXIT_OK : EXIT_CORRUPT;
}

/* ---- main ---------------------------------------------------------------------------------
 */

static void out_of_time(int sig)
{
	static const char text[] = "messages: not done within --timeout\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1))
		_exit(EXIT_TIMEOUT);
	_exit(EXIT_TIMEOUT);
}

int main(int argc, char **argv)
{
	parse_options(argc, argv);
	make_pattern();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, out_of_time);
	if (opt.connect || opt.once)
		alarm((unsigned int)ceil(opt.timeout_s));
	if (opt.connect) {
		signal(SIGUSR1, end_payload);
		return sender();
	}
	receiver();
	return EXIT_OK;
}
