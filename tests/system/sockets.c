// SPDX-License-Identifier: GPL-2.0-only
/*
 * sockets STEP...: does to sockets what an application would, one step after the other, and
 * prints what the kernel answers. The steps, each with its words:
 *
 *   tcp4 tcp6 mptcp4
 *   udp4 unix raw4		a new socket; the steps after it are about that one
 *   set NAME VALUE [/LENGTH]	setsockopt(), with an option of LENGTH bytes (its own size)
 *   get NAME [/LENGTH]		prints "NAME VALUE", and "NAME VALUE /LENGTH" where the length
 *				that comes back is not the option's own
 *   listen ADDR PORT		bind and listen
 *   accept			the accepted connection takes the listener's place
 *   connect ADDR PORT		tries for 5 s
 *   disconnect			from its peer, to connect again
 *   send BYTES, receive BYTES
 *   record PIN			prints "record yes" or "record no": is there something about
 *				this socket in the socket storage map that is pinned there?
 *   say TEXT			prints it
 *   until FILE			waits until there is that file, 60 s at most
 *   choose NAME FILE		gives a new TCP socket the congestion control NAME, over and over,
 *				until there is FILE, 60 s at most; prints "chosen TIMES REFUSED"
 *
 * A set or get that the kernel refuses is printed, "set NAME: REASON", and the next step
 * follows; any other failure ends the program with status 1.
 */
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define KERNEL_SO_BUF_LOCK   72	 /* Linux 5.14: newer than some headers */
#define KERNEL_IPPROTO_MPTCP 262 /* Linux 5.6 */

static int fd = -1;
static char buffer[1 << 16];

static void __attribute__((noreturn)) die(const char *step)
{
	fprintf(stderr, "sockets: %s: %s\n", step, strerror(errno));
	exit(1);
}

/* ---- options --------------------------------------------------------------------------- */

static const struct option {
	const char *name;
	int level, number;
	bool text;
} options[] = {
	{"rcvbuf", SOL_SOCKET, SO_RCVBUF, false},
	{"sndbuf", SOL_SOCKET, SO_SNDBUF, false},
	{"rcvbufforce", SOL_SOCKET, SO_RCVBUFFORCE, false},
	{"sndbufforce", SOL_SOCKET, SO_SNDBUFFORCE, false},
	{"rcvlowat", SOL_SOCKET, SO_RCVLOWAT, false},
	{"locks", SOL_SOCKET, KERNEL_SO_BUF_LOCK, false}, /* 1: send, 2: receive buffer */
	{"netns", SOL_SOCKET, SO_NETNS_COOKIE, false},	  /* of 8 bytes */
	{"keepalive", SOL_SOCKET, SO_KEEPALIVE, false},
	{"pacing", SOL_SOCKET, SO_MAX_PACING_RATE, false}, /* bytes per second */
	{"clamp", IPPROTO_TCP, TCP_WINDOW_CLAMP, false},
	{"maxseg", IPPROTO_TCP, TCP_MAXSEG, false},
	{"congestion", IPPROTO_TCP, TCP_CONGESTION, true},
};

static const struct option *find_option(const char *name)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	errno = EINVAL;
	die(name);
}

/* ["/LENGTH"] at @word, or @own; says by *@used whether the word was there. */
static socklen_t length(const char *word, socklen_t own, int *used)
{
	*used = word && word[0] == '/';
	return *used ? (socklen_t)strtoul(word + 1, NULL, 10) : own;
}

/* Returns how many words beyond the first two it used. */
static int set(const char *name, const char *value, const char *more)
{
	const struct option *o = find_option(name);
	int used, number = atoi(value);
	socklen_t len;

	memset(buffer, 0, sizeof(buffer));
	if (o->text)
		strncpy(buffer, value, 32);
	else
		memcpy(buffer, &number, sizeof(number));
	len = length(more, o->text ? strlen(value) : sizeof(number), &used);
	if (setsockopt(fd, o->level, o->number, buffer, len))
		printf("set %s: %s\n", name, strerror(errno));
	return used;
}

static void get_wscale(void)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("get wscale");
	printf("wscale %u\n", info.tcpi_rcv_wscale);
}

static int get(const char *name, const char *more)
{
	const struct option *o;
	socklen_t own, len;
	int used, number;

	if (!strcmp(name, "wscale")) {
		get_wscale();
		return 0;
	}
	o = find_option(name);
	own = o->text ? 16 : sizeof(number);
	len = length(more, own, &used);
	memset(buffer, 0, sizeof(buffer));
	if (getsockopt(fd, o->level, o->number, buffer, &len)) {
		printf("get %s: %s\n", name, strerror(errno));
		return used;
	}
	memcpy(&number, buffer, sizeof(number));
	if (o->text)
		printf("%s %s", name, buffer);
	else
		printf("%s %d", name, number);
	if (len != own)
		printf(" /%u", len);
	putchar('\n');
	return used;
}

/* ---- connections ----------------------------------------------------------------------- */

static void make_socket(int family, int type, int protocol)
{
	fd = socket(family, type, protocol);
	if (fd < 0)
		die("socket");
}

static struct addrinfo *address(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *ai;

	if (getaddrinfo(host, port, &hints, &ai)) {
		errno = EINVAL;
		die(host);
	}
	return ai;
}

static void listen_at(const char *host, const char *port)
{
	struct addrinfo *ai = address(host, port);
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 8))
		die("listen");
	freeaddrinfo(ai);
}

static void connect_to(const char *host, const char *port)
{
	struct addrinfo *ai = address(host, port);
	int tries = 100;

	while (connect(fd, ai->ai_addr, ai->ai_addrlen)) {
		if (errno != ECONNREFUSED || !--tries)
			die("connect");
		usleep(50000);
	}
	freeaddrinfo(ai);
}

static void disconnect(void)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};

	if (connect(fd, &none, sizeof(none)))
		die("disconnect");
}

static void accept_one(void)
{
	int connection = accept(fd, NULL, NULL);

	if (connection < 0)
		die("accept");
	close(fd);
	fd = connection;
}

/* @transfer: send() or recv() with the same arguments. */
static void move(const char *step, const char *bytes, bool out)
{
	uint64_t left = strtoull(bytes, NULL, 10);

	while (left) {
		size_t chunk = left < sizeof(buffer) ? left : sizeof(buffer);
		ssize_t n = out ? send(fd, buffer, chunk, MSG_NOSIGNAL)
				: recv(fd, buffer, chunk, 0);

		if (n <= 0)
			die(step);
		left -= (uint64_t)n;
	}
}

/* ---- the rest -------------------------------------------------------------------------- */

/* Socket storage is looked up with a descriptor of the socket for a key. */
static void record(const char *pin)
{
	union bpf_attr attr = {.pathname = (uintptr_t)pin};
	int map = (int)syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr));

	if (map < 0)
		die(pin);
	attr = (union bpf_attr){
		.map_fd = (uint32_t)map, .key = (uintptr_t)&fd, .value = (uintptr_t)buffer};
	if (!syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)))
		puts("record yes");
	else if (errno == ENOENT)
		puts("record no");
	else
		die("record");
	close(map);
}

static void until(const char *file)
{
	for (int tries = 0; access(file, F_OK); tries++) {
		if (tries == 3000) {
			errno = ETIMEDOUT;
			die(file);
		}
		usleep(20000);
	}
}

static void choose(const char *name, const char *file)
{
	unsigned long times = 0, refused = 0;
	time_t end = time(NULL) + 60;

	while (access(file, F_OK)) {
		make_socket(AF_INET, SOCK_STREAM, 0);
		times++;
		if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)))
			refused++;
		close(fd);
		usleep(1000);
		if (time(NULL) > end) {
			errno = ETIMEDOUT;
			die(file);
		}
	}
	printf("chosen %lu %lu\n", times, refused);
}

/* Does the step at @word and returns how many words it took. */
static int step(char **word)
{
	const char *name = word[0], *one = word[1] ?: "", *two = one[0] && word[2] ? word[2] : "";

	if (!strcmp(name, "tcp4"))
		make_socket(AF_INET, SOCK_STREAM, 0);
	else if (!strcmp(name, "tcp6"))
		make_socket(AF_INET6, SOCK_STREAM, 0);
	else if (!strcmp(name, "mptcp4"))
		make_socket(AF_INET, SOCK_STREAM, KERNEL_IPPROTO_MPTCP);
	else if (!strcmp(name, "udp4"))
		make_socket(AF_INET, SOCK_DGRAM, 0);
	else if (!strcmp(name, "unix"))
		make_socket(AF_UNIX, SOCK_STREAM, 0);
	else if (!strcmp(name, "raw4"))
		make_socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	else if (!strcmp(name, "disconnect"))
		disconnect();
	else if (!strcmp(name, "accept"))
		accept_one();
	else if (!strcmp(name, "set"))
		return 3 + set(one, two, two[0] ? word[3] : NULL);
	else if (!strcmp(name, "get"))
		return 2 + get(one, word[2]);
	else if (!strcmp(name, "listen"))
		return listen_at(one, two), 3;
	else if (!strcmp(name, "connect"))
		return connect_to(one, two), 3;
	else if (!strcmp(name, "send"))
		return move(name, one, true), 2;
	else if (!strcmp(name, "receive"))
		return move(name, one, false), 2;
	else if (!strcmp(name, "record"))
		return record(one), 2;
	else if (!strcmp(name, "say"))
		return puts(one), 2;
	else if (!strcmp(name, "until"))
		return until(one), 2;
	else if (!strcmp(name, "choose"))
		return choose(one, two), 3;
	else {
		errno = EINVAL;
		die(name);
	}
	return 1;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc;)
		i += step(argv + i);
	return 0;
}
