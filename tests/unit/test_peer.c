// SPDX-License-Identifier: GPL-2.0-only
/* Who is at the other end, asked of the kernel about connections of this process. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "array.h"
#include "peer.h"

#define SOMEBODY 54321

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct pair {
	int client, server;
};

static union address address_of(const char *text)
{
	union address ret = {0};

	if (inet_pton(AF_INET, text, &ret.in.sin_addr) == 1) {
		ret.in.sin_family = AF_INET;
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &ret.in6.sin6_addr), 1);
		ret.in6.sin6_family = AF_INET6;
	}
	return ret;
}

/* A socket of @uid. */
static int socket_of(int family, uid_t uid)
{
	int fd;

	assert_int_equal(seteuid(uid), 0);
	fd = socket(family, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(seteuid(0), 0);
	return fd;
}

/* Listens on @at, and on a port of the kernel's choice, which is then in it, if that is 0. */
static int listen_at(union address *at)
{
	int fd = socket(at->any.sa_family, SOCK_STREAM, 0), on = 1;
	socklen_t len = sizeof(*at);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(bind(fd, &at->any, sizeof(*at)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, &at->any, &len), 0);
	return fd;
}

/* A connection to @to of one who listens on @on, its client's end made by @uid. */
static struct pair connect_pair(const char *on, const char *to, uid_t uid)
{
	union address here = address_of(on), there = address_of(to);
	int listener = listen_at(&here);
	struct pair ret = {.client = socket_of(there.any.sa_family, uid)};

	there.in.sin_port = here.in.sin_port; /* at the same place in both */
	assert_int_equal(connect(ret.client, &there.any, sizeof(there)), 0);
	ret.server = accept(listener, NULL, NULL);
	assert_true(ret.server >= 0);
	close(listener);
	return ret;
}

static void end(struct pair pair)
{
	close(pair.client);
	close(pair.server);
}

static void test_the_one_who_connected(void **state)
{
	static const struct {
		const char *on, *to;
	} ways[] = {
		{"127.0.0.1", "127.0.0.1"},
		{"::1", "::1"},
		{"::", "127.0.0.1"}, /* the server sees ::ffff:127.0.0.1 */
		{"::", "::1"},
		{"0.0.0.0", "::ffff:127.0.0.1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct pair by_root = connect_pair(ways[i].on, ways[i].to, 0);
		struct pair by_somebody = connect_pair(ways[i].on, ways[i].to, SOMEBODY);
		uid_t uid = 1;

		assert_int_equal(tcptuned_peer_uid(by_root.server, &uid), 0);
		assert_int_equal(uid, 0);
		assert_int_equal(tcptuned_peer_uid(by_somebody.server, &uid), 0);
		assert_int_equal(uid, SOMEBODY);
		/* and the server is root's, whoever asks from the other side */
		assert_int_equal(tcptuned_peer_uid(by_somebody.client, &uid), 0);
		assert_int_equal(uid, 0);
		end(by_root);
		end(by_somebody);
	}
}

/* The kernel still has its socket, which says that it is user 0's. */
static void test_one_who_has_left(void **state)
{
	struct pair pair = connect_pair("127.0.0.1", "127.0.0.1", SOMEBODY);
	uid_t uid = 77;

	assert_int_equal(shutdown(pair.client, SHUT_WR), 0);
	assert_int_equal(tcptuned_peer_uid(pair.server, &uid), 0);
	assert_int_equal(uid, SOMEBODY);
	close(pair.client);
	uid = 77;
	assert_int_equal(tcptuned_peer_uid(pair.server, &uid), -ENOENT);
	assert_int_equal(uid, 77);
	close(pair.server);
}

/*
 * A client whose port root listens on afterwards, while it cannot be found itself for it is bound
 * to a device: the kernel answers with the listener.
 */
static void test_one_with_a_listeners_port(void **state)
{
	union address here = address_of("127.0.0.1"), there = here; /* any port of it */
	int listener = listen_at(&here), client = socket_of(AF_INET, SOMEBODY), on = 1, other, server;
	socklen_t len = sizeof(there);
	uid_t uid = 77;

	assert_int_equal(setsockopt(client, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(setsockopt(client, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3), 0);
	/* not of connect()'s choice, which may be another connection's port, too */
	assert_int_equal(bind(client, &there.any, sizeof(there)), 0);
	assert_int_equal(connect(client, &here.any, sizeof(here)), 0);
	server = accept(listener, NULL, NULL);
	assert_int_equal(getsockname(client, &there.any, &len), 0);
	there.in.sin_addr.s_addr = INADDR_ANY;
	other = listen_at(&there);
	assert_int_equal(tcptuned_peer_uid(server, &uid), 0);
	assert_int_equal(uid, SOMEBODY);
	close(client);
	uid = 77;
	assert_int_equal(tcptuned_peer_uid(server, &uid), -ENOENT);
	assert_int_equal(uid, 77);
	close(other);
	close(server);
	close(listener);
}

static void test_diagnostics(void **state)
{
	assert_true(tcptuned_peer_can_ask());
}

static void test_no_connection(void **state)
{
	uid_t uid = 77;
	int pair[2], fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(tcptuned_peer_uid(fd, &uid), -ENOTCONN);
	close(fd);
	assert_int_equal(tcptuned_peer_uid(fd, &uid), -EBADF);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(tcptuned_peer_uid(pair[0], &uid), -EAFNOSUPPORT);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(uid, 77);
}

int main(void)
{
	if (geteuid()) {
		puts("the sockets of other users take root");
		return 1;
	}

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_one_who_connected),
		cmocka_unit_test(test_one_who_has_left),
		cmocka_unit_test(test_one_with_a_listeners_port),
		cmocka_unit_test(test_no_connection),
		cmocka_unit_test(test_diagnostics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
