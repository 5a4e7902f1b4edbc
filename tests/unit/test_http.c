// SPDX-License-Identifier: GPL-2.0-only
/* The HTTP server from its clients' side, the well-behaved and the others. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <microhttpd.h>

#include "http.h"

#define BIG_BYTES (24u << 20) /* more than a loopback connection holds */
#define REPLY_MAX (1u << 20)

static int calls;
static char last_path[256];

/* /big is as large as it says; everything else names its path. */
static void handler(void *ctx, const struct tcptuned_http_request *request,
		    struct tcptuned_http_reply *reply)
{
	const char *path = request->path;
	static char zeroes[65536];
	size_t i;

	assert_ptr_equal(ctx, &calls);
	calls++;
	snprintf(last_path, sizeof(last_path), "%s", path);
	if (!strcmp(path, "/big")) {
		for (i = 0; i < BIG_BYTES; i += sizeof(zeroes))
			tcptuned_buf_add(&reply->body, zeroes, sizeof(zeroes));
		return;
	}
	if (!strcmp(path, "/none"))
		reply->status = 404;
	else
		reply->content_type = "text/special";
	tcptuned_buf_printf(&reply->body, "path %s\n", path);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct tcptuned_http *start(struct tcptuned_http_options options)
{
	struct tcptuned_error error = {};
	struct tcptuned_http *http = NULL;

	options.handler = handler;
	options.ctx = &calls;
	if (tcptuned_http_start(&http, &options, &error))
		fail_msg("%s", error.text);
	return http;
}

static struct tcptuned_http *start_default(void)
{
	return start((struct tcptuned_http_options){.listen_fd = -1, .address = "127.0.0.1"});
}

/* One turn of the daemon's loop, at most @most_ms long. */
static void turn(struct tcptuned_http *http, int most_ms)
{
	struct pollfd fd = {.fd = tcptuned_http_fd(http), .events = POLLIN};
	int timeout = tcptuned_http_timeout_ms(http);

	poll(&fd, 1, timeout < 0 || timeout > most_ms ? most_ms : timeout);
	assert_int_equal(tcptuned_http_run(http), 0);
}

static int connect_to(const struct tcptuned_http *http)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(tcptuned_http_port(http)),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static char reply[REPLY_MAX];

/* Read @fd to its end while the server runs, at most @most_ms. -1: the end did not come. */
static ssize_t receive(struct tcptuned_http *http, int fd, int most_ms)
{
	long end = now_ms() + most_ms;
	size_t len = 0;
	ssize_t got;

	memset(reply, 0, sizeof(reply));
	while (now_ms() < end) {
		turn(http, 5);
		got = recv(fd, reply + len, sizeof(reply) - 1 - len, 0);
		if (!got || (got < 0 && errno == ECONNRESET))
			return (ssize_t)len;
		if (got > 0)
			len += (size_t)got;
		if (len == sizeof(reply) - 1)
			len = 0;
	}
	return -1;
}

static ssize_t request_bytes(struct tcptuned_http *http, const void *data, size_t len)
{
	int fd = connect_to(http);
	ssize_t got;

	send(fd, data, len, MSG_NOSIGNAL);
	got = receive(http, fd, 4000);
	close(fd);
	return got;
}

static ssize_t request(struct tcptuned_http *http, const char *text)
{
	return request_bytes(http, text, strlen(text));
}

static void expect_status(const char *status)
{
	assert_memory_equal(reply, "HTTP/1.1 ", 9);
	if (strncmp(reply + 9, status, 3))
		fail_msg("wanted %s, got %.40s", status, reply);
}

static void test_get_head_and_others(void **state)
{
	struct tcptuned_http *http = start_default();
	const char *body;

	assert_true(tcptuned_http_port(http) > 0);
	assert_true(request(http, "GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("200");
	assert_string_equal(last_path, "/metrics");
	assert_non_null(strcasestr(reply, "\r\nContent-Type: text/special\r\n"));
	assert_non_null(strcasestr(reply, "\r\nConnection: close\r\n"));
	assert_non_null(strcasestr(reply, "\r\nContent-Length: 14\r\n"));
	body = strstr(reply, "\r\n\r\n");
	assert_string_equal(body, "\r\n\r\npath /metrics\n");

	assert_true(request(http, "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("200");
	assert_non_null(strcasestr(reply, "\r\nContent-Length: 14\r\n"));
	assert_string_equal(strstr(reply, "\r\n\r\n"), "\r\n\r\n");

	assert_true(request(http, "GET /none HTTP/1.0\r\n\r\n") > 0);
	assert_non_null(strstr(reply, " 404 "));
	assert_non_null(strcasestr(reply, "\r\nContent-Type: text/plain; charset=utf-8\r\n"));

	calls = 0;
	assert_true(request(http, "POST /metrics HTTP/1.1\r\nHost: a\r\n"
				  "Content-Length: 5\r\n\r\nhello") > 0);
	expect_status("405");
	assert_non_null(strcasestr(reply, "\r\nAllow: GET, HEAD\r\n"));
	assert_true(request(http, "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("405");
	assert_true(request(http, "get / HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("405");
	assert_int_equal(calls, 0);

	/* Two at once: one is answered, and the connection ends. */
	assert_true(request(http, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
				  "GET /b HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	assert_int_equal(calls, 1);
	assert_string_equal(last_path, "/a");
	tcptuned_http_stop(http);
}

static void test_clear_errors(void **state)
{
	struct tcptuned_http *first = start_default(), *second = NULL;
	struct tcptuned_http_options options = {
		.listen_fd = -1, .address = "127.0.0.1", .handler = handler};
	struct tcptuned_error error = {};

	options.port = tcptuned_http_port(first);
	assert_int_equal(tcptuned_http_start(&second, &options, &error), -EADDRINUSE);
	assert_int_equal(error.status, TCPTUNED_EXIT_PORT_IN_USE);
	assert_non_null(strstr(error.text, "127.0.0.1 is in use"));
	tcptuned_http_stop(first);
	first = start(options); /* and now it is free again */
	assert_int_equal(tcptuned_http_port(first), options.port);
	tcptuned_http_stop(first);

	options.address = "localhost";
	assert_int_equal(tcptuned_http_start(&second, &options, &error), -EINVAL);
	assert_int_equal(error.status, TCPTUNED_EXIT_ADDRESS);
	assert_non_null(strstr(error.text, "\"localhost\""));
	assert_null(second);
}

static void expect_elsewhere(const char *address, bool elsewhere)
{
	struct tcptuned_http *http =
		start((struct tcptuned_http_options){.listen_fd = -1, .address = address});

	assert_int_equal(tcptuned_http_is_elsewhere(http), elsewhere);
	tcptuned_http_stop(http);
}

/* Of an address that is not there yet, as of DHCP at boot, it is told and no more. */
static void test_address_that_is_not_there(void **state)
{
	expect_elsewhere("127.0.0.1", false);
	expect_elsewhere("::", false);
	expect_elsewhere("192.0.2.1", true);
	expect_elsewhere("2001:db8::1", true);
}

static void test_ipv6(void **state)
{
	struct tcptuned_http *http =
		start((struct tcptuned_http_options){.listen_fd = -1, .address = "::"});
	struct sockaddr_in6 address = {.sin6_family = AF_INET6,
				       .sin6_port = htons(tcptuned_http_port(http)),
				       .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_true(send(fd, "GET / HTTP/1.0\r\n\r\n", 18, 0) == 18);
	assert_true(receive(http, fd, 4000) > 0);
	assert_non_null(strstr(reply, " 200 "));
	close(fd);
	assert_true(request(http, "GET / HTTP/1.0\r\n\r\n") > 0); /* over IPv4 */
	assert_non_null(strstr(reply, " 200 "));
	tcptuned_http_stop(http);
}

static int listener(unsigned int *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

/* As systemd does it: the socket is also held by another, and outlives the daemon. */
static void test_inherited_socket(void **state)
{
	unsigned int port;
	int theirs = listener(&port), ours, listening = 0, round;
	socklen_t len = sizeof(listening);
	struct tcptuned_http *http;

	for (round = 0; round < 2; round++) {
		ours = dup(theirs);
		http = start((struct tcptuned_http_options){.listen_fd = ours});
		assert_int_equal(tcptuned_http_port(http), port);
		assert_int_equal(fcntl(ours, F_GETFD), FD_CLOEXEC);
		assert_true(request(http, "GET / HTTP/1.0\r\n\r\n") > 0);
		assert_non_null(strstr(reply, " 200 "));
		tcptuned_http_stop(http);
		assert_int_equal(fcntl(ours, F_GETFD), -1);
		assert_int_equal(
			getsockopt(theirs, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len), 0);
		assert_int_equal(listening, 1);
	}
	close(theirs);
}

static void test_inherited_rubbish(void **state)
{
	struct tcptuned_http_options options = {.handler = handler};
	struct tcptuned_error error = {};
	struct tcptuned_http *http = NULL;
	int i, fds[3];

	fds[0] = open("/dev/null", O_RDWR);
	fds[1] = socket(AF_INET, SOCK_STREAM, 0); /* does not listen */
	fds[2] = socket(AF_INET, SOCK_DGRAM, 0);
	for (i = 0; i < 3; i++) {
		options.listen_fd = fds[i];
		assert_true(tcptuned_http_start(&http, &options, &error) < 0);
		assert_int_equal(error.status, TCPTUNED_EXIT_ADDRESS);
		assert_non_null(strstr(error.text, "tcptuned.socket"));
		assert_int_equal(fcntl(fds[i], F_GETFD), -1);
	}
	assert_null(http);
}

/* Nobody else waits: a silent client has its time, and then is let go. */
static void test_idle_is_ended(void **state)
{
	struct tcptuned_http *http =
		start((struct tcptuned_http_options){.listen_fd = -1,
						     .address = "127.0.0.1",
						     .connections_max = 3,
						     .idle_timeout_s = 1});
	int idle[3], i;

	for (i = 0; i < 3; i++)
		idle[i] = connect_to(http);
	assert_int_equal(receive(http, idle[0], 600), -1);
	for (i = 0; i < 3; i++) {
		assert_int_equal(receive(http, idle[i], 3000), 0);
		close(idle[i]);
	}
	/* And everything is free again. */
	for (i = 0; i < 10; i++)
		assert_true(request(http, "GET / HTTP/1.0\r\n\r\n") > 0);
	tcptuned_http_stop(http);
}

static void run_for(struct tcptuned_http *http, int ms)
{
	long end = now_ms() + ms;

	while (now_ms() < end)
		turn(http, 10);
}

/* Somebody waits for a slot: of those without a whole request it is the oldest one's. */
static void test_the_oldest_silent_one_gives_way(void **state)
{
	struct tcptuned_http *http =
		start((struct tcptuned_http_options){.listen_fd = -1,
						     .address = "127.0.0.1",
						     .connections_max = 3,
						     .idle_timeout_s = 30});
	int answered = connect_to(http), first, second, other;
	char byte;

	assert_int_equal(send(answered, "GET /big HTTP/1.0\r\n\r\n", 21, 0), 21);
	run_for(http, 50);
	first = connect_to(http);
	run_for(http, 50);
	second = connect_to(http);
	assert_int_equal(send(second, "GET / HTTP/1.0\r\n", 16, 0), 16);
	run_for(http, 300);
	assert_int_equal(recv(first, &byte, 1, 0), -1); /* nobody waits */
	other = connect_to(http);
	assert_int_equal(send(other, "GET / HTTP/1.0\r\n\r\n", 18, 0), 18);
	assert_true(receive(http, other, 2000) > 0);
	assert_non_null(strstr(reply, " 200 "));
	assert_int_equal(receive(http, first, 1000), 0);
	assert_int_equal(recv(second, &byte, 1, 0), -1);
	assert_int_equal(send(second, "\r\n", 2, 0), 2);
	assert_true(receive(http, second, 2000) > 0);
	assert_non_null(strstr(reply, " 200 "));
	assert_true(receive(http, answered, 4000) > 0); /* whole, and none of it was waited for */
	close(answered);
	close(first);
	close(second);
	close(other);
	tcptuned_http_stop(http);
}

/* Only those who are being answered: who waits has to wait. */
static void test_who_is_answered_keeps_its_place(void **state)
{
	struct tcptuned_http *http =
		start((struct tcptuned_http_options){.listen_fd = -1,
						     .address = "127.0.0.1",
						     .connections_max = 1});
	int answered = connect_to(http), other;

	assert_int_equal(send(answered, "GET /big HTTP/1.0\r\n\r\n", 21, 0), 21);
	run_for(http, 50);
	other = connect_to(http);
	assert_int_equal(send(other, "GET / HTTP/1.0\r\n\r\n", 18, 0), 18);
	assert_int_equal(receive(http, other, 400), -1);
	assert_true(receive(http, answered, 4000) > 0);
	assert_true(receive(http, other, 1000) > 0);
	assert_non_null(strstr(reply, " 200 "));
	close(answered);
	close(other);
	tcptuned_http_stop(http);
}

/* As many silent connections as @count; one that is ended is made again at once. */
static void __attribute__((noreturn)) keep_connecting(const struct tcptuned_http *http, int count)
{
	struct pollfd *fds = calloc((size_t)count, sizeof(*fds));
	int i;

	for (i = 0; i < count; i++)
		fds[i] = (struct pollfd){.fd = connect_to(http), .events = POLLIN};
	for (;;) {
		poll(fds, (nfds_t)count, -1);
		for (i = 0; i < count; i++) {
			if (!fds[i].revents)
				continue;
			close(fds[i].fd);
			fds[i].fd = connect_to(http);
		}
	}
}

/* Exits with how many of @count requests are not answered within @most_s. */
static void __attribute__((noreturn)) scrape(const struct tcptuned_http *http, int count,
					     int most_s)
{
	struct timeval patience = {.tv_sec = most_s};
	int failed = 0;

	usleep(300000); /* until the others are there */
	while (count--) {
		int fd = connect_to(http);

		fcntl(fd, F_SETFL, 0);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL);
		failed += recv(fd, reply, 16, MSG_WAITALL) != 16;
		close(fd);
	}
	_exit(failed);
}

/* The daemon's own loop, which sleeps as long as it may; with default limits. */
static void test_scrapes_among_a_hundred_that_reconnect(void **state)
{
	struct tcptuned_http *http = start_default();
	pid_t others = fork(), scraper;
	int status;

	if (!others)
		keep_connecting(http, 100);
	scraper = fork();
	if (!scraper)
		scrape(http, 10, 2);
	while (!waitpid(scraper, &status, WNOHANG))
		turn(http, 1000);
	kill(others, SIGKILL);
	waitpid(others, NULL, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	tcptuned_http_stop(http);
}

/*
 * A byte now and then keeps the library's own timeout at bay, but not ours: clients that drip a
 * request are let go when it should have been there, also where nobody waits behind them.
 */
static void test_slow_senders_are_ended(void **state)
{
	struct tcptuned_http *http =
		start((struct tcptuned_http_options){.listen_fd = -1,
						     .address = "127.0.0.1",
						     .connections_max = 2,
						     .idle_timeout_s = 1,
						     .total_timeout_s = 30});
	int slow[2] = {connect_to(http), connect_to(http)}, i;
	long begin = now_ms(), next = begin;
	ssize_t got = -1;
	char byte;

	for (i = 0; i < 2; i++)
		assert_int_equal(send(slow[i], "GET / HTTP/1.1\r\nX: ", 19, 0), 19);
	while (got < 0 && now_ms() - begin < 6000) {
		turn(http, 20);
		for (i = 0; now_ms() >= next && i < 2; i++)
			send(slow[i], "y", 1, MSG_NOSIGNAL);
		next = now_ms() >= next ? next + 200 : next;
		got = recv(slow[0], &byte, 1, 0);
		if (got < 0 && errno == ECONNRESET)
			got = 0;
	}
	assert_int_equal(got, 0);
	assert_in_range(now_ms() - begin, 900, 2500);
	assert_int_equal(receive(http, slow[1], 500), 0);
	for (i = 0; i < 2; i++)
		close(slow[i]);
	assert_true(request(http, "GET / HTTP/1.0\r\n\r\n") > 0);
	tcptuned_http_stop(http);
}

/* Who does not read the answer is let go, and its memory too. */
static void test_slow_reader_is_ended(void **state)
{
	struct tcptuned_http *http =
		start((struct tcptuned_http_options){.listen_fd = -1,
						     .address = "127.0.0.1",
						     .idle_timeout_s = 1,
						     .total_timeout_s = 2,
						     .body_max_bytes = BIG_BYTES + 65536});
	int fd = connect_to(http), other;
	long begin = now_ms();

	assert_int_equal(send(fd, "GET /big HTTP/1.0\r\n\r\n", 21, 0), 21);
	while (now_ms() - begin < 300)
		turn(http, 20);
	/* There is no room for a second one of these, but small ones go on. */
	assert_true(request(http, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("503");
	assert_true(request(http, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("200");
	while (now_ms() - begin < 3500)
		turn(http, 50);
	/* Now there is, although the first client has not closed its end yet. */
	other = connect_to(http);
	assert_int_equal(send(other, "HEAD /big HTTP/1.1\r\nHost: a\r\n\r\n", 32, 0), 32);
	assert_true(receive(http, other, 4000) > 0);
	expect_status("200");
	close(other);
	close(fd);
	tcptuned_http_stop(http);
}

static void test_answer_too_large(void **state)
{
	struct tcptuned_http *http = start((struct tcptuned_http_options){
		.listen_fd = -1, .address = "127.0.0.1", .body_max_bytes = 1000000});

	assert_true(request(http, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("500");
	tcptuned_http_stop(http);
}

/* While @holding, an answer stays in flight as if its client did not take it. */
static bool holding;
static struct MHD_Response *held[4];
static unsigned int held_len;

void MHD_destroy_response(struct MHD_Response *response)
{
	void (*destroy)(struct MHD_Response *) = NULL;

	*(void **)&destroy = dlsym(RTLD_NEXT, "MHD_destroy_response");
	if (holding && held_len < sizeof(held) / sizeof(held[0]))
		held[held_len++] = response;
	else
		destroy(response);
}

/* An answer that says what is wrong may be larger than what is left; then nothing is left. */
static void test_errors_leave_no_endless_room(void **state)
{
	struct tcptuned_http *http = start((struct tcptuned_http_options){
		.listen_fd = -1, .address = "127.0.0.1", .body_max_bytes = 30});

	holding = true;
	assert_true(request(http, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("500");
	assert_true(request(http, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("503");
	assert_true(request(http, "GET /small HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("503");
	holding = false;
	while (held_len)
		MHD_destroy_response(held[--held_len]);
	assert_true(request(http, "GET /small HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("200");
	tcptuned_http_stop(http);
}

static void test_malformed_requests(void **state)
{
	static const char *const bad[] = {
		"\r\n\r\n\r\n",
		"GET\r\n\r\n",
		"GET /\r\n\r\n",
		"/ GET HTTP/1.1\r\n\r\n",
		"GET / HTTP/9.9\r\n\r\n",
		"GET / HTTP/1.1\r\nno colon\r\n\r\n",
		"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
		"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"GET /%00%zz%ff HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	};
	struct tcptuned_http *http = start((struct tcptuned_http_options){
		.listen_fd = -1, .address = "127.0.0.1", .idle_timeout_s = 1});
	static char longest[200000];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(request(http, bad[i]) >= 0);
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "GET /", 5);
	assert_true(request_bytes(http, longest, sizeof(longest)) >= 0);
	memcpy(longest, "GET / HTTP/1.1\r\nX: ", 19);
	assert_true(request_bytes(http, longest, sizeof(longest)) >= 0);
	assert_true(request(http, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	expect_status("200");
	tcptuned_http_stop(http);
}

/* Requests with bytes changed, cut and doubled at random: whatever comes, it ends. */
static void test_mangled_requests(void **state)
{
	static const char good[] = "GET /metrics HTTP/1.1\r\nHost: localhost:9817\r\n"
				   "Accept: text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n"
				   "X-Prometheus-Scrape-Timeout-Seconds: 10\r\n\r\n";
	struct tcptuned_http *http = start_default();
	char data[2 * sizeof(good)];
	size_t len, cut;
	int i, j, fd;

	srand(4711);
	for (i = 0; i < 1000; i++) {
		memcpy(data, good, sizeof(good));
		len = sizeof(good) - 1;
		for (j = rand() % 6; j >= 0; j--)
			data[(size_t)rand() % len] = (char)rand();
		if (rand() % 4 == 0)
			len = (size_t)rand() % len;
		if (rand() % 4 == 0) {
			memcpy(data + len, data, len);
			len *= 2;
		}
		fd = connect_to(http);
		cut = len ? (size_t)rand() % len : 0;
		send(fd, data, cut, MSG_NOSIGNAL);
		turn(http, 1);
		send(fd, data + cut, len - cut, MSG_NOSIGNAL);
		shutdown(fd, SHUT_WR);
		assert_true(receive(http, fd, 2000) >= 0);
		close(fd);
	}
	assert_true(request(http, good) > 0);
	expect_status("200");
	tcptuned_http_stop(http);
}

/* A daemon that stops while it answers must not wait, nor leak (the sanitizers look). */
static void test_stop_in_the_middle(void **state)
{
	struct tcptuned_http *http = start_default();
	int fd = connect_to(http), idle = connect_to(http), i;

	assert_int_equal(send(fd, "GET /big HTTP/1.0\r\n\r\n", 21, 0), 21);
	for (i = 0; i < 10; i++)
		turn(http, 10);
	tcptuned_http_stop(http);
	close(fd);
	close(idle);
	tcptuned_http_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get_head_and_others),
		cmocka_unit_test(test_clear_errors),
		cmocka_unit_test(test_address_that_is_not_there),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_inherited_socket),
		cmocka_unit_test(test_inherited_rubbish),
		cmocka_unit_test(test_idle_is_ended),
		cmocka_unit_test(test_the_oldest_silent_one_gives_way),
		cmocka_unit_test(test_who_is_answered_keeps_its_place),
		cmocka_unit_test(test_scrapes_among_a_hundred_that_reconnect),
		cmocka_unit_test(test_slow_senders_are_ended),
		cmocka_unit_test(test_slow_reader_is_ended),
		cmocka_unit_test(test_answer_too_large),
		cmocka_unit_test(test_errors_leave_no_endless_room),
		cmocka_unit_test(test_malformed_requests),
		cmocka_unit_test(test_mangled_requests),
		cmocka_unit_test(test_stop_in_the_middle),
	};

	return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
