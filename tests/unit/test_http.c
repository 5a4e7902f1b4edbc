// SPDX-License-Identifier: GPL-2.0-only
/* The exporter as its clients see it. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "test.h"
#include "metrics/http.h"

#define CONNECTIONS 64 /* that the exporter has at a time */

#define GET "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct tcptuned_http *http;
static struct tcptuned_http_listener listener;
static int prints;
static bool print_fails;
static int print_padding; /* bytes that are printed in addition */
static char reply[65536];
static time_t clock_s = 1000; /* of all clocks, which stand still otherwise */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){.tv_sec = clock_s};
	return 0;
}

static void print(void *ctx, FILE *out)
{
	assert_ptr_equal(ctx, &prints);
	fprintf(out, "metrics %d\n%*s", ++prints, print_padding, "");
	if (print_fails)
		out->_flags |= _IO_ERR_SEEN;
}

static void start(int listen_fd, const char *address)
{
	struct tcptuned_http_options options = {.print = print, .ctx = &prints};
	struct tcptuned_error error = {};

	tcptuned_http_stop(http);
	http = NULL;
	prints = 0;
	if (tcptuned_http_listen(&listener, listen_fd, address, 0, &error))
		fail_msg("%s", error.text);
	options.listen_fd = listener.fd;
	if (tcptuned_http_start(&http, &options, &error))
		fail_msg("%s", error.text);
}

static int stop(void **state)
{
	tcptuned_http_stop(http);
	http = NULL;
	return 0;
}

FIXTURE(NULL, stop)

static int connect_to(int family)
{
	in_port_t port = htons(listener.port);
	struct sockaddr_in in = {AF_INET, port, {htonl(INADDR_LOOPBACK)}, {}};
	struct sockaddr_in6 in6 = {AF_INET6, port, 0, IN6ADDR_LOOPBACK_INIT, 0};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(family == AF_INET ? connect(fd, (struct sockaddr *)&in, sizeof(in))
					   : connect(fd, (struct sockaddr *)&in6, sizeof(in6)),
			 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

/* Runs the daemon's loop once: the exporter is called when it asks for it, and no more often. */
static void turn(void)
{
	struct pollfd poll_fd = {.fd = tcptuned_http_fd(http), .events = POLLIN};
	int timeout = tcptuned_http_timeout_ms(http);

	if (poll(&poll_fd, 1, timeout ? 1 : 0) > 0 || !timeout)
		tcptuned_http_run(http);
}

/*
 * Runs the loop until @fd is read to its end. Returns how much was read; the test ends after 60 s.
 */
static size_t receive(int fd)
{
	time_t end = time(NULL) + 60;
	size_t len = 0;
	ssize_t got;

	memset(reply, 0, sizeof(reply));
	for (;;) {
		got = recv(fd, reply + MIN(len, sizeof(reply) / 2), sizeof(reply) / 2 - 1, 0);
		if (!got || (got < 0 && errno == ECONNRESET))
			return len;
		len += got > 0 ? (size_t)got : 0;
		if (got > 0)
			continue;
		assert_true(time(NULL) < end);
		turn();
	}
}

static void assert_reply(const char *part)
{
	if (!strcasestr(reply, part))
		assert_contains(reply, part); /* names both */
}

/* Sends @request; @part is in the reply. */
static void ask(int family, const char *request, const char *part)
{
	int fd = connect_to(family);

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	receive(fd);
	close(fd);
	assert_reply(part);
}

TEST(paths_and_methods)
{
	static const char *const refused[] = {"POST /metrics HTTP/1.1\r\nHost: localhost\r\n"
					      "Content-Length: 5\r\n\r\nhello",
					      "DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
					      "get / HTTP/1.1\r\nHost: localhost\r\n\r\n"};

	start(-1, "127.0.0.1");
	ask(AF_INET, "GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 ");
	assert_reply("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
	assert_reply("\r\nConnection: close\r\n");
	assert_reply("\r\n\r\nmetrics 1\n");
	ask(AF_INET, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
	    "\r\nContent-Length: 10\r\n");
	assert_string_equal(strstr(reply, "\r\n\r\n"), "\r\n\r\n");
	ask(AF_INET, "GET / HTTP/1.0\r\n\r\n", "<h1>tcptuned " TCPTUNED_VERSION);
	ask(AF_INET, "GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 ");
	for_each_row (request, refused) {
		ask(AF_INET, *request, "HTTP/1.1 405 ");
		assert_reply("\r\nAllow: GET, HEAD\r\n");
	}
	ask(AF_INET, "\x16\x03\x01\x02\r\n\r\n", "");
	assert_int_equal(prints, 1);
	tcptuned_http_stop(NULL);
}

TEST(an_answer_is_kept_for_a_second)
{
	start(-1, "127.0.0.1");
	for (int i = 0; i < 20; i++)
		ask(AF_INET, GET, "\nmetrics 1\n");
	clock_s++;
	ask(AF_INET, GET, "\nmetrics 2\n");
	tcptuned_http_renew(http);
	ask(AF_INET, GET, "\nmetrics 3\n");
	tcptuned_http_renew(http);
	print_fails = true;
	ask(AF_INET, GET, "HTTP/1.1 500 ");
	print_fails = false;
	ask(AF_INET, GET, "\nmetrics 5\n");
}

/* More clients than may be connected at a time. */
static int many[CONNECTIONS + 8];

static void pass_seconds(time_t seconds)
{
	clock_s += seconds;
	for (int i = 0; i < 200; i++)
		turn();
}

static void connect_many(void)
{
	for_each_row (fd, many)
		*fd = connect_to(AF_INET);
	pass_seconds(0);
}

/* Returns how many the exporter has closed. */
static int count_closed(void)
{
	char byte;
	int n = 0;

	for_each_row (fd, many) {
		ssize_t got = recv(*fd, &byte, 1, MSG_DONTWAIT);

		n += !got || (got < 0 && errno != EAGAIN);
	}
	return n;
}

static void close_many(void)
{
	for_each_row (fd, many)
		close(*fd);
}

/* All connections end at the same time, and after them no time-out is pending. */
TEST(silent_clients_are_ended)
{
	start(-1, "127.0.0.1");
	for (int times = 0; times < 10; times++) {
		connect_many();
		pass_seconds(4);
		assert_int_equal(count_closed(), 0);
		pass_seconds(1);
		assert_int_equal(count_closed(), CONNECTIONS);
		pass_seconds(5);
		assert_int_equal(count_closed(), CONNECTIONS + 8);
		close_many();
		ask(AF_INET, GET, "HTTP/1.1 200 ");
	}
}

/* A byte now and then does not extend the time for a request. */
TEST(slow_clients_are_ended)
{
	start(-1, "127.0.0.1");
	connect_many();
	for (int second = 0; second < 6; second += 3) {
		for_each_row (fd, many)
			assert_int_equal(send(*fd, &GET[second], 1, MSG_NOSIGNAL), 1);
		pass_seconds(3);
	}
	assert_int_equal(count_closed(), CONNECTIONS);
	ask(AF_INET, GET, "HTTP/1.1 200 ");
	close_many();
}

/* Nor may a client take any time to read the answer. */
TEST(slow_readers_are_ended)
{
	int fd, queued = 0;

	start(-1, "127.0.0.1");
	print_padding = 64 << 20;
	fd = connect_to(AF_INET);
	assert_int_equal(send(fd, GET, strlen(GET), 0), strlen(GET));
	pass_seconds(0);
	pass_seconds(9);
	assert_int_equal(ioctl(fd, FIONREAD, &queued), 0);
	assert_true(queued > 0);
	pass_seconds(1);
	print_padding = 0;
	assert_true(receive(fd) < 64 << 20);
	close(fd);
}

/* A page of another site must not have the browser of this host read metrics for it. */
TEST(names_of_other_hosts_are_refused)
{
	static const struct {
		const char *host, *part;
	} rows[] = {
		{"localhost:9817", " 200 "},
		{"LOCALHOST", " 200 "},
		{"127.0.0.1", " 200 "},
		{"[::1]:9817", " 200 "},
		{"192.0.2.1:9817", " 200 "},
		{"evil.example", " 421 "},
		{"localhost.evil.example", " 421 "},
		{"127.0.0.1.evil.example:9817", " 421 "},
		{"", " 421 "},
	};
	char request[400], own[256] = "";

	start(-1, "::");
	assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
	snprintf(request, sizeof(request), "GET / HTTP/1.1\r\nHost: %s:1\r\n\r\n", own);
	ask(AF_INET, request, " 200 ");
	for_each_row (r, rows) {
		snprintf(request, sizeof(request), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", r->host);
		ask(AF_INET, request, r->part);
		ask(AF_INET6, request, r->part);
	}
}

/* Returns the error of an exporter that cannot listen. */
static int refused(int passed, const char *address, unsigned int port, int status, const char *part)
{
	struct tcptuned_http_listener none = {.fd = -1};
	struct tcptuned_error error = {};
	int err = tcptuned_http_listen(&none, passed, address, port, &error);

	assert_int_equal(none.fd, -1);
	assert_int_equal(error.status, status);
	assert_contains(error.text, part);
	return err;
}

TEST(clear_errors)
{
	start(-1, "127.0.0.1");
	assert_int_equal(refused(-1, "127.0.0.1", listener.port, TCPTUNED_EXIT_IN_USE,
				 "of 127.0.0.1: Address already in use; choose another"),
			 -EADDRINUSE);
	assert_int_equal(refused(-1, "localhost", 0, TCPTUNED_EXIT_CONFIG, "\"localhost\""),
			 -EINVAL);
}

/* Another start may succeed, with the same configuration. */
TEST(no_descriptors)
{
	struct rlimit limit, none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(refused(-1, "127.0.0.1", 0, TCPTUNED_EXIT_INTERNAL, "Too many open files"),
			 -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* An address that does not exist yet, as before DHCP at boot, is reported, but is no error. */
TEST(addresses)
{
	static const struct {
		const char *address;
		bool elsewhere;
	} some[] = {
		{"127.0.0.1", false}, {"192.0.2.1", true}, {"2001:db8::1", true}, {"::", false}};

	for_each_row (r, some) {
		start(-1, r->address);
		assert_int_equal(listener.elsewhere, r->elsewhere);
	}
	ask(AF_INET6, GET, "HTTP/1.1 200 ");
	ask(AF_INET, GET, "HTTP/1.1 200 ");
}

/* The socket is inherited, as from systemd, which keeps it open after the daemon has ended. */
TEST(inherited_socket)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int theirs = socket(AF_INET, SOCK_STREAM, 0), listening = 0, round;
	socklen_t len = sizeof(listening);

	assert_int_equal(bind(theirs, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(theirs, 5), 0);
	for (round = 0; round < 2; round++) {
		start(dup(theirs), NULL);
		ask(AF_INET, GET, "HTTP/1.1 200 ");
		stop(NULL);
		assert_int_equal(getsockopt(theirs, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len),
				 0);
		assert_int_equal(listening, 1);
	}
	close(theirs);
}

TEST(inherited_rubbish)
{
	int fds[] = {open("/dev/null", O_RDWR), socket(AF_INET, SOCK_STREAM, 0),
		     socket(AF_INET, SOCK_DGRAM, 0)};

	for_each_row (fd, fds) {
		assert_true(refused(*fd, NULL, 0, TCPTUNED_EXIT_CONFIG, "tcptuned.socket") < 0);
		assert_int_equal(fcntl(*fd, F_GETFD), -1);
	}
}
