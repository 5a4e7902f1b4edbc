// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/types.h>
#include <microhttpd.h>

#include "cleanup.h"
#include "clock.h"
#include "http.h"

#define CONNECTIONS_MAX	  64
#define IDLE_TIMEOUT_S	  5
#define TOTAL_TIMEOUT_S	  30
#define BODY_MAX_BYTES	  (160u << 20)
#define CONNECTION_MEMORY (16u << 10) /* for a request: its line and headers */
#define BACKLOG		  4096
#define GRACE_MS	  100 /* for a request, where others wait; on a path of that RTT */
#define FULL_CHECK_MS	  20  /* the library does not look for others while all slots are taken */
#define PLAIN_TEXT	  "text/plain; charset=utf-8"

/* A connection that was accepted. */
struct client {
	int fd; /* -1: none */
	bool answered; /* its request is there */
	bool ended;    /* told so, and not closed yet */
	__u64 since_ms, deadline_ms;
};

struct tcptuned_http {
	struct MHD_Daemon *mhd;
	int epoll_fd, listen_fd; /* both the library's */
	unsigned int port;
	bool elsewhere; /* the address was not one of this host */
	struct tcptuned_http_options options;
	size_t body_bytes; /* of all answers in flight */
	struct client *clients;
};

/* --- the listening socket ---------------------------------------------------------------- */

static int fail_listen(struct tcptuned_error *error, int errnum,
		       const struct tcptuned_http_options *options)
{
	const char *address = options->address;
	unsigned int port = options->port;

	switch (errnum) {
	case EADDRINUSE:
		return tcptuned_fail(error, errnum, TCPTUNED_EXIT_PORT_IN_USE,
				     "metrics: port %u of %s is in use by another program; "
				     "choose another one with port= in [metrics]",
				     port, address);
	case EADDRNOTAVAIL:
		return tcptuned_fail(error, errnum, TCPTUNED_EXIT_ADDRESS,
				     "metrics: %s is no address to listen on; correct address= "
				     "in [metrics]",
				     address);
	case EAFNOSUPPORT:
		return tcptuned_fail(error, errnum, TCPTUNED_EXIT_ADDRESS,
				     "metrics: this host does not speak the protocol of the "
				     "address %s; correct address= in [metrics]",
				     address);
	case EACCES:
	case EPERM:
		return tcptuned_fail(
			error, errnum, TCPTUNED_EXIT_ADDRESS,
			"metrics: not permitted to listen on port %u of %s; choose "
			"one above 1023 with port= in [metrics], or let systemd "
			"open it (tcptuned.socket)",
			port, address);
	}
	return tcptuned_fail(error, errnum, TCPTUNED_EXIT_INTERNAL,
			     "metrics: cannot listen on port %u of %s: %s", port, address,
			     strerror(errnum));
}

/* Returns the length of @ret, or 0 when @text is no numeric address. */
static socklen_t parse_address(const char *text, unsigned int port,
			       struct sockaddr_storage *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons((uint16_t)port);
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons((uint16_t)port);
		return sizeof(*in6);
	}
	return 0;
}

/*
 * An address that the host does not have may be one that it does not have yet: of DHCP, or one
 * that IPv6 still looks for elsewhere. It is listened on once it is there (ip(7), IP_FREEBIND).
 */
static int bind_to(int fd, const struct sockaddr_storage *address, socklen_t len,
		   bool *ret_elsewhere)
{
	bool six = address->ss_family == AF_INET6;
	int on = 1;

	*ret_elsewhere = false;
	if (!bind(fd, (const struct sockaddr *)address, len))
		return 0;
	if (errno != EADDRNOTAVAIL ||
	    setsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_FREEBIND : IP_FREEBIND,
		       &on, sizeof(on)))
		return -errno;
	*ret_elsewhere = true;
	return bind(fd, (const struct sockaddr *)address, len) ? -errno : 0;
}

static int open_listener(const struct tcptuned_http_options *options, bool *ret_elsewhere,
			 struct tcptuned_error *error)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_storage address;
	socklen_t len = parse_address(options->address, options->port, &address);
	int on = 1, off = 0, err;

	if (!len || options->port > UINT16_MAX)
		return tcptuned_fail(
			error, EINVAL, TCPTUNED_EXIT_ADDRESS,
			"metrics: \"%s\" port %u is no numeric IPv4 or IPv6 address "
			"and port; correct address= and port= in [metrics]",
			options->address, options->port);
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	if (fd < 0)
		return fail_listen(error, errno, options);
	/* So that a restart need not wait for old connections of ours to be forgotten. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* "::" is every address, whatever net.ipv6.bindv6only says. */
	if (address.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	err = bind_to(fd, &address, len, ret_elsewhere);
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (err)
		return fail_listen(error, -err, options);
	return tcptuned_take_fd(&fd);
}

/* A socket that somebody else opened: does it listen for TCP connections? */
static int adopt_listener(int fd, struct tcptuned_error *error)
{
	int listening = 0, type = 0, domain = 0;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) ||
	    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len))
		return tcptuned_fail(error, errno, TCPTUNED_EXIT_ADDRESS,
				     "metrics: descriptor %d, passed by systemd, is no socket: "
				     "%s; correct tcptuned.socket",
				     fd, strerror(errno));
	if (!listening || type != SOCK_STREAM || (domain != AF_INET && domain != AF_INET6))
		return tcptuned_fail(error, EINVAL, TCPTUNED_EXIT_ADDRESS,
				     "metrics: the socket that systemd passed does not listen "
				     "for TCP connections; tcptuned.socket needs "
				     "ListenStream=ADDRESS:PORT and Accept=no");
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC))
		return tcptuned_fail(error, errno, TCPTUNED_EXIT_INTERNAL, "metrics: %s",
				     strerror(errno));
	return 0;
}

static unsigned int port_of(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len))
		return 0;
	/* The port is at the same place in both. */
	return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

/* --- answers ----------------------------------------------------------------------------- */

/* The body of one answer, as long as the library needs it. */
struct body {
	struct tcptuned_http *http;
	char *data;
	size_t len;
};

static void free_body(void *cls)
{
	struct body *body = cls;

	body->http->body_bytes -= body->len;
	free(body->data);
	free(body);
}

/* A response that owns what was in @buf. */
static struct MHD_Response *make_response(struct tcptuned_http *http, struct tcptuned_buf *buf)
{
	struct body *body = calloc(1, sizeof(*body));
	struct MHD_Response *response;

	if (!body)
		return NULL;
	body->http = http;
	body->data = tcptuned_buf_steal(buf, &body->len);
	http->body_bytes += body->len;
	response = MHD_create_response_from_buffer_with_free_callback_cls(body->len, body->data,
									  free_body, body);
	if (!response)
		free_body(body);
	return response;
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct tcptuned_http *http,
				  struct tcptuned_http_reply *reply)
{
	struct MHD_Response *response = make_response(http, &reply->body);
	enum MHD_Result result;

	tcptuned_buf_free(&reply->body);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	/* One request per connection: then a connection's whole life can have a limit. */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return result;
}

static void reply_error(struct tcptuned_http_reply *reply, unsigned int status,
			const char *text)
{
	tcptuned_buf_free(&reply->body);
	tcptuned_buf_init(&reply->body, 1024);
	reply->status = status;
	reply->content_type = PLAIN_TEXT;
	tcptuned_buf_puts(&reply->body, text);
}

static struct client *client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int connection_fd(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* Answers that are errors are made whether there is room or not: it may be less than none. */
static size_t body_room(const struct tcptuned_http *http)
{
	size_t most = http->options.body_max_bytes;

	return http->body_bytes < most ? most - http->body_bytes : 0;
}

/* Called by the library as soon as the headers are read; a body that follows is not read. */
static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_len, void **request_context)
{
	struct tcptuned_http *http = cls;
	struct tcptuned_http_reply reply = {.status = MHD_HTTP_OK, .content_type = PLAIN_TEXT};
	struct client *client = client_of(connection);
	struct tcptuned_http_request request = {path, connection_fd(connection)};

	if (client) {
		client->answered = true;
		client->deadline_ms =
			tcptuned_monotonic_ms() + http->options.total_timeout_s * 1000ull;
	}
	tcptuned_buf_init(&reply.body, body_room(http));
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		reply_error(&reply, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
	else
		http->options.handler(http->options.ctx, &request, &reply);
	if (reply.body.error == -EFBIG && http->body_bytes)
		reply_error(&reply, MHD_HTTP_SERVICE_UNAVAILABLE,
			    "Others are being answered; try again.\n");
	else if (reply.body.error)
		reply_error(&reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			    reply.body.error == -EFBIG
				    ? "Too much for one answer; show fewer flows.\n"
				    : "Out of memory.\n");
	return send_reply(connection, http, &reply);
}

/* --- connections ------------------------------------------------------------------------- */

/*
 * The library's own timeout starts anew with every byte; a whole request needs one of its own, or
 * a few clients that send byte by byte would keep all others out, and so does a whole answer.
 */
static void connection_changed(void *cls, struct MHD_Connection *connection, void **ctx,
			       enum MHD_ConnectionNotificationCode what)
{
	struct tcptuned_http *http = cls;
	struct client *client = *ctx;
	unsigned int i;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (client)
			client->fd = -1;
		return;
	}
	for (i = 0; i < http->options.connections_max; i++) {
		client = &http->clients[i];
		if (client->fd >= 0)
			continue;
		client->fd = connection_fd(connection);
		client->answered = client->ended = false;
		client->since_ms = tcptuned_monotonic_ms();
		client->deadline_ms = client->since_ms + http->options.idle_timeout_s * 1000ull;
		*ctx = client;
		return;
	}
}

/* The library sees the end of the connection, and closes it. Once is enough. */
static void end_client(struct client *client)
{
	shutdown(client->fd, SHUT_RDWR);
	client->ended = true;
	client->deadline_ms = UINT64_MAX;
}

static void end_overdue(struct tcptuned_http *http)
{
	__u64 now = tcptuned_monotonic_ms();
	unsigned int i;

	for (i = 0; i < http->options.connections_max; i++)
		if (http->clients[i].fd >= 0 && http->clients[i].deadline_ms <= now)
			end_client(&http->clients[i]);
}

static bool is_full(const struct tcptuned_http *http)
{
	unsigned int i;

	for (i = 0; i < http->options.connections_max; i++)
		if (http->clients[i].fd < 0)
			return false;
	return true;
}

/* Connections that are made and wait to be accepted: what TCP_INFO of a listener says so. */
static unsigned int waiting(const struct tcptuned_http *http)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	return getsockopt(http->listen_fd, IPPROTO_TCP, TCP_INFO, &info, &len) ? 0
									       : info.tcpi_unacked;
}

/* The one that had most time for its request and has not sent it; NULL: each may still. */
static struct client *slowest(const struct tcptuned_http *http, __u64 now)
{
	struct client *found = NULL;
	unsigned int i;

	for (i = 0; i < http->options.connections_max; i++) {
		struct client *client = &http->clients[i];

		if (client->fd < 0 || client->answered || client->ended ||
		    client->since_ms + GRACE_MS > now)
			continue;
		if (!found || client->since_ms < found->since_ms)
			found = client;
	}
	return found;
}

/* Who only keeps a slot gives it to who waits for one. Who is being answered keeps it. */
static void make_room(struct tcptuned_http *http)
{
	unsigned int wanted = is_full(http) ? waiting(http) : 0, i;
	__u64 now = tcptuned_monotonic_ms();

	for (i = 0; i < http->options.connections_max; i++)
		wanted -= wanted && http->clients[i].ended; /* room that is being made */
	for (; wanted; wanted--) {
		struct client *client = slowest(http, now);

		if (!client)
			return;
		end_client(client);
	}
}

/*
 * A client that sent half a request and closed: when data and end come together, the library
 * (0.9.75) takes the data, and never looks for the end.
 */
static void end_hopeless(struct tcptuned_http *http)
{
	unsigned int i;
	char byte;

	for (i = 0; i < http->options.connections_max; i++) {
		const struct client *client = &http->clients[i];

		if (client->fd >= 0 && !client->answered &&
		    !recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT))
			shutdown(client->fd, SHUT_RDWR);
	}
}

/* --- start, run, stop -------------------------------------------------------------------- */

static void set_defaults(struct tcptuned_http_options *options)
{
	if (!options->connections_max)
		options->connections_max = CONNECTIONS_MAX;
	if (!options->idle_timeout_s)
		options->idle_timeout_s = IDLE_TIMEOUT_S;
	if (!options->total_timeout_s)
		options->total_timeout_s = TOTAL_TIMEOUT_S;
	if (!options->body_max_bytes)
		options->body_max_bytes = BODY_MAX_BYTES;
}

static int start_library(struct tcptuned_http *http, int listen_fd)
{
	const struct tcptuned_http_options *options = &http->options;
	const union MHD_DaemonInfo *info;

	http->mhd = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, answer, http, MHD_OPTION_LISTEN_SOCKET, listen_fd,
		MHD_OPTION_CONNECTION_LIMIT, options->connections_max,
		MHD_OPTION_CONNECTION_TIMEOUT, options->idle_timeout_s,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http, MHD_OPTION_END);
	if (!http->mhd)
		return -ENOMEM;
	http->listen_fd = listen_fd;
	info = MHD_get_daemon_info(http->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	http->epoll_fd = info ? info->epoll_fd : -1;
	return 0;
}

int tcptuned_http_start(struct tcptuned_http **ret, const struct tcptuned_http_options *options,
			struct tcptuned_error *error)
{
	__attribute__((cleanup(tcptuned_http_stopp))) struct tcptuned_http *http = NULL;
	_cleanup_close_ int listen_fd = options->listen_fd;
	bool elsewhere = false;
	unsigned int i;
	int err;

	if (listen_fd < 0)
		err = listen_fd = open_listener(options, &elsewhere, error);
	else
		err = adopt_listener(listen_fd, error);
	if (err < 0)
		return err;

	http = calloc(1, sizeof(*http));
	if (http) {
		http->options = *options;
		set_defaults(&http->options);
		http->port = port_of(listen_fd);
		http->elsewhere = elsewhere;
		http->clients = calloc(http->options.connections_max, sizeof(*http->clients));
	}
	if (!http || !http->clients)
		return tcptuned_fail(error, ENOMEM, TCPTUNED_EXIT_INTERNAL,
				     "metrics: out of memory");
	for (i = 0; i < http->options.connections_max; i++)
		http->clients[i].fd = -1;
	err = start_library(http, listen_fd);
	if (err)
		return tcptuned_fail(error, -err, TCPTUNED_EXIT_INTERNAL,
				     "metrics: libmicrohttpd does not start");
	tcptuned_take_fd(&listen_fd);
	*ret = http;
	http = NULL;
	return 0;
}

int tcptuned_http_fd(const struct tcptuned_http *http)
{
	return http->epoll_fd;
}

unsigned int tcptuned_http_port(const struct tcptuned_http *http)
{
	return http->port;
}

bool tcptuned_http_is_elsewhere(const struct tcptuned_http *http)
{
	return http->elsewhere;
}

int tcptuned_http_timeout_ms(const struct tcptuned_http *http)
{
	__u64 now = tcptuned_monotonic_ms(), soonest = INT32_MAX;
	MHD_UNSIGNED_LONG_LONG library;
	unsigned int i;

	if (MHD_get_timeout(http->mhd, &library) == MHD_YES && library < soonest)
		soonest = library;
	if (soonest > FULL_CHECK_MS && is_full(http))
		soonest = FULL_CHECK_MS;
	for (i = 0; i < http->options.connections_max; i++) {
		__u64 deadline = http->clients[i].deadline_ms;

		if (http->clients[i].fd < 0)
			continue;
		if (deadline <= now)
			return 0;
		if (deadline - now < soonest)
			soonest = deadline - now;
	}
	return soonest == INT32_MAX ? -1 : (int)soonest;
}

int tcptuned_http_run(struct tcptuned_http *http)
{
	bool was_full;

	end_overdue(http);
	make_room(http);
	do {
		was_full = is_full(http);
		if (MHD_run(http->mhd) != MHD_YES)
			return -EIO;
		/* Once there is room, the library begins to listen again when it runs next. */
	} while (was_full && !is_full(http));
	end_hopeless(http);
	return 0;
}

void tcptuned_http_stop(struct tcptuned_http *http)
{
	if (!http)
		return;
	/* Closes the listening socket, but does not shut it down: systemd holds it as well. */
	if (http->mhd)
		MHD_stop_daemon(http->mhd);
	free(http->clients);
	free(http);
}

void tcptuned_http_stopp(struct tcptuned_http **http)
{
	tcptuned_http_stop(*http);
}
