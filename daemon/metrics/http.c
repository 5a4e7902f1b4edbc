// SPDX-License-Identifier: GPL-2.0-only
#include "metrics/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>
#include <systemd/sd-daemon.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/prefix.h"

#define CONNECTIONS_MAX	  64	      /* at a time; others wait in the kernel's queue */
#define REQUEST_MS	  5000	      /* for a request to arrive */
#define ANSWER_MS	  10000	      /* for its answer to be sent */
#define CONNECTION_MEMORY (16u << 10) /* for the line and headers of a request */
#define KEPT_MS		  1000
#define PLAIN_TEXT	  "text/plain; charset=utf-8"

/* A connection. The library's own limit is on inactivity: a byte now and then would extend it. */
struct deadline {
	uint64_t ms; /* 0: none */
	int fd;
};

struct tcptuned_http {
	struct MHD_Daemon *mhd;
	struct tcptuned_http_options options;
	struct deadline deadlines[CONNECTIONS_MAX];
	bool unsettled;		   /* the last tcptuned_http_run() has to be followed by another */
	struct MHD_Response *kept; /* of /metrics; NULL: none */
	uint64_t kept_since_ms;
};

static int listen_on(const struct addrinfo *address, bool *ret_elsewhere)
{
	_cleanup_close_ int fd =
		socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	int on = 1, off = 0;

	if (fd < 0)
		return -errno;
	/* A restart does not wait for connections in TIME-WAIT. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* "::" includes IPv4, whatever net.ipv6.bindv6only says. */
	if (address->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, address->ai_addr, address->ai_addrlen)) {
		/*
		 * DHCP may assign the address later, or IPv6 may still check that it is unique.
		 * With this option, it is served as soon as it exists (ip(7)).
		 */
		if (errno != EADDRNOTAVAIL ||
		    setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)) ||
		    bind(fd, address->ai_addr, address->ai_addrlen))
			return -errno;
		*ret_elsewhere = true;
	}
	if (listen(fd, SOMAXCONN))
		return -errno;
	return tcptuned_take_fd(&fd);
}

static int open_listener(const char *text, unsigned int number, bool *ret_elsewhere,
			 struct tcptuned_error *error)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *address;
	char port[12];
	int fd;

	snprintf(port, sizeof(port), "%u", number);
	if (getaddrinfo(text, port, &hints, &address))
		return FAIL(error, EINVAL, CONFIG,
			    "metrics: \"%s\" port %u is not a numeric IPv4 or IPv6 address "
			    "and port; correct address= and port= in [metrics]",
			    text, number);
	fd = listen_on(address, ret_elsewhere);
	freeaddrinfo(address);
	if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS)
		return FAIL(error, -fd, INTERNAL, "metrics: cannot listen: %s", strerror(-fd));
	if (fd < 0)
		return tcptuned_error_fill(
			error, -fd, fd == -EADDRINUSE ? TCPTUNED_EXIT_IN_USE : TCPTUNED_EXIT_CONFIG,
			"metrics: cannot listen on port %u of %s: %s; choose another with address= "
			"or port= in [metrics], or let systemd open it (tcptuned.socket)",
			number, text, strerror(-fd));
	return fd;
}

/* Check that a socket from systemd listens for TCP connections. */
static int adopt_listener(int fd, struct tcptuned_error *error)
{
	if (sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, 1, 0) <= 0)
		return FAIL(error, EINVAL, CONFIG,
			    "metrics: the socket that systemd passed does not listen "
			    "for TCP connections; tcptuned.socket needs "
			    "ListenStream=ADDRESS:PORT and Accept=no");
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return FAIL(error, errno, INTERNAL, "metrics: %s", strerror(errno));
	return fd;
}

int tcptuned_http_listen(struct tcptuned_http_listener *ret, int passed, const char *address,
			 unsigned int port, struct tcptuned_error *error)
{
	_cleanup_close_ int fd = passed;
	struct sockaddr_in6 bound = {0}; /* its port is where that of IPv4 is */
	socklen_t len = sizeof(bound);
	int got;

	ret->elsewhere = false;
	got = passed < 0 ? open_listener(address, port, &ret->elsewhere, error)
			 : adopt_listener(passed, error);
	if (got < 0)
		return got;
	fd = got;
	if (getsockname(fd, (struct sockaddr *)&bound, &len))
		return FAIL(error, errno, INTERNAL, "metrics: %s", strerror(errno));
	ret->port = ntohs(bound.sin6_port);
	ret->fd = tcptuned_take_fd(&fd);
	return 0;
}

static void add_headers(struct MHD_Response *response, const char *content_type)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	/* A client between two scrapes must not occupy one of the few connections. */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned int status,
				 const char *content_type, const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	add_headers(response, content_type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

/* Connections to which the answer is still being sent hold their own references. */
void tcptuned_http_renew(struct tcptuned_http *http)
{
	if (http->kept)
		MHD_destroy_response(http->kept);
	http->kept = NULL;
}

static void print_metrics(struct tcptuned_http *http)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool failed;

	if (!out)
		return;
	http->options.print(http->options.ctx, out);
	failed = ferror(out);
	if (!fclose(out) && !failed)
		http->kept = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	http->kept_since_ms = tcptuned_monotonic_ms();
	if (http->kept)
		add_headers(http->kept, "text/plain; version=0.0.4; charset=utf-8");
	else
		free(text);
}

static enum MHD_Result send_metrics(struct tcptuned_http *http, struct MHD_Connection *connection)
{
	if (tcptuned_monotonic_ms() - http->kept_since_ms >= KEPT_MS)
		tcptuned_http_renew(http);
	if (!http->kept)
		print_metrics(http);
	if (!http->kept)
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, PLAIN_TEXT,
				 "Memory is short; metrics.flows in tcptuned.conf limits the "
				 "number of connections.\n");
	return MHD_queue_response(connection, MHD_HTTP_OK, http->kept);
}

/* ---- connections ----------------------------------------------------------------------- */

/* The library calls this for each connection when it is accepted, and before it is closed. */
static void note_connection(void *ctx, struct MHD_Connection *connection, void **ret_deadline,
			    enum MHD_ConnectionNotificationCode code)
{
	struct tcptuned_http *http = ctx;
	struct deadline *deadline = *ret_deadline;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		*deadline = (struct deadline){.fd = -1};
		return;
	}
	for (deadline = http->deadlines; deadline->fd >= 0;)
		deadline++;
	deadline->ms = tcptuned_monotonic_ms() + REQUEST_MS;
	deadline->fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	*ret_deadline = deadline;
}

/* Shut down what is late; the library closes it. */
static void end_late_connections(struct tcptuned_http *http)
{
	uint64_t now_ms = tcptuned_monotonic_ms();

	for (struct deadline *d = http->deadlines; d < http->deadlines + CONNECTIONS_MAX; d++) {
		if (!d->ms || d->ms > now_ms)
			continue;
		shutdown(d->fd, SHUT_RDWR);
		d->ms = 0;
	}
}

unsigned int tcptuned_http_connections(const struct tcptuned_http *http)
{
	return MHD_get_daemon_info(http->mhd, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

/* ---- requests -------------------------------------------------------------------------- */

static bool is_loopback(const struct sockaddr *client)
{
	const struct sockaddr_in6 *in6 = (const void *)client;
	const struct sockaddr_in *in = (const void *)client;
	struct in6_addr a;

	tcptuned_prefix_map_address(&a, client->sa_family,
				    client->sa_family == AF_INET ? (const void *)&in->sin_addr
								 : &in6->sin6_addr);
	return IN6_IS_ADDR_LOOPBACK(&a) || (IN6_IS_ADDR_V4MAPPED(&a) && a.s6_addr[12] == 127);
}

static bool is_name_of_host(const char *name)
{
	char own[HOST_NAME_MAX + 1] = "";

	gethostname(own, sizeof(own) - 1);
	return !strcasecmp(name, "localhost") || !strcasecmp(name, own);
}

/*
 * A web page can have its own name resolved to 127.0.0.1, and have the browser of this host read
 * the answer for it. The browser then sends that name.
 */
static bool is_misdirected(struct MHD_Connection *connection)
{
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	char name[HOST_NAME_MAX + 1];
	struct in_addr address;

	if (!host || host[0] == '[' || !is_loopback(info->client_addr))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(host, ":"), host);
	return !inet_aton(name, &address) && !is_name_of_host(name);
}

/* The library calls this after it has read the headers. A body is not read. */
static enum MHD_Result answer(void *http, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_len, void **request_context)
{
	struct deadline *deadline =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;

	deadline->ms = tcptuned_monotonic_ms() + ANSWER_MS;
	if (is_misdirected(connection))
		return send_text(connection, MHD_HTTP_MISDIRECTED_REQUEST, PLAIN_TEXT,
				 "Ask for an address, localhost or the name of this host.\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, PLAIN_TEXT,
				 "Only GET and HEAD.\n");
	if (!strcmp(path, "/metrics"))
		return send_metrics(http, connection);
	if (!strcmp(path, "/"))
		return send_text(connection, MHD_HTTP_OK, "text/html; charset=utf-8",
				 "<!DOCTYPE html>\n<html lang=\"en\"><title>tcptuned</title>"
				 "<h1>tcptuned " TCPTUNED_VERSION "</h1>\n"
				 "<p><a href=\"/metrics\">/metrics</a>: for Prometheus</html>\n");
	return send_text(connection, MHD_HTTP_NOT_FOUND, PLAIN_TEXT, "There is /metrics.\n");
}

int tcptuned_http_start(struct tcptuned_http **ret, const struct tcptuned_http_options *options,
			struct tcptuned_error *error)
{
	_cleanup_close_ int listen_fd = options->listen_fd;
	_cleanup_free_ struct tcptuned_http *http = calloc(1, sizeof(*http));

	if (http) {
		http->options = *options;
		for (int i = 0; i < CONNECTIONS_MAX; i++)
			http->deadlines[i].fd = -1;
		http->mhd = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, http,
					     MHD_OPTION_LISTEN_SOCKET, listen_fd,
					     MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
					     MHD_OPTION_NOTIFY_CONNECTION, note_connection, http,
					     MHD_OPTION_CONNECTION_MEMORY_LIMIT,
					     (size_t)CONNECTION_MEMORY, MHD_OPTION_END);
	}
	if (!http || !http->mhd)
		return FAIL(error, ENOMEM, INTERNAL, "metrics: libmicrohttpd does not start");
	tcptuned_take_fd(&listen_fd);
	*ret = http;
	http = NULL;
	return 0;
}

int tcptuned_http_fd(const struct tcptuned_http *http)
{
	return MHD_get_daemon_info(http->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void tcptuned_http_retire(struct tcptuned_http *http)
{
	int fd = MHD_quiesce_daemon(http->mhd);

	if (fd >= 0)
		close(fd);
}

int tcptuned_http_timeout_ms(const struct tcptuned_http *http)
{
	uint64_t now_ms = tcptuned_monotonic_ms(), end_ms = UINT64_MAX;
	MHD_UNSIGNED_LONG_LONG ms;

	if (http->unsettled)
		return 0;
	if (MHD_get_timeout(http->mhd, &ms) == MHD_YES)
		end_ms = now_ms + ms;
	for (int i = 0; i < CONNECTIONS_MAX; i++)
		if (http->deadlines[i].ms)
			end_ms = MIN(end_ms, http->deadlines[i].ms);
	if (end_ms == UINT64_MAX)
		return -1;
	return end_ms < now_ms ? 0 : (int)MIN(end_ms - now_ms, INT_MAX);
}

/* After one of the last possible connections has ended, only the next MHD_run() listens again. */
void tcptuned_http_run(struct tcptuned_http *http)
{
	unsigned int before = tcptuned_http_connections(http);

	end_late_connections(http);
	MHD_run(http->mhd);
	http->unsettled = tcptuned_http_connections(http) != before;
}

void tcptuned_http_stop(struct tcptuned_http *http)
{
	if (!http)
		return;
	/* The listening socket is closed but not shut down, because systemd holds it, too. */
	MHD_stop_daemon(http->mhd);
	tcptuned_http_renew(http);
	free(http);
}
