// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "metrics/http.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define CONNECTIONS_MAX	  64 /* at a time; others wait in the kernel's queue */
#define IDLE_TIMEOUT_S	  5
#define CONNECTION_MEMORY (16u << 10) /* for a request: its line and headers */
#define BODY_MAX_BYTES	  (16u << 20)
#define KEPT_MS		  1000
#define PLAIN_TEXT	  "text/plain; charset=utf-8"

struct tcptuned_http {
	struct MHD_Daemon *mhd;
	struct tcptuned_http_options options;
	unsigned int port;
	bool elsewhere; /* the address was not one of this host */
	struct MHD_Response *kept; /* of /metrics; NULL: none */
	uint64_t kept_since_ms;
};

/* --- the listening socket ---------------------------------------------------------------- */

/*
 * An address that the host does not have may be one that it does not have yet: of DHCP, or one
 * that IPv6 still looks for elsewhere. It is listened on once it is there (ip(7), IP_FREEBIND).
 */
static int bind_to(int fd, const struct addrinfo *address, bool *ret_elsewhere)
{
	bool six = address->ai_family == AF_INET6;
	int on = 1;

	*ret_elsewhere = false;
	if (!bind(fd, address->ai_addr, address->ai_addrlen))
		return 0;
	if (errno != EADDRNOTAVAIL ||
	    setsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_FREEBIND : IP_FREEBIND,
		       &on, sizeof(on)))
		return -1;
	*ret_elsewhere = true;
	return bind(fd, address->ai_addr, address->ai_addrlen);
}

static int listen_at(const struct addrinfo *address, bool *ret_elsewhere)
{
	_cleanup_close_ int fd = socket(address->ai_family,
					SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	int on = 1, off = 0;

	if (fd < 0)
		return -errno;
	/* So that a restart need not wait for old connections of ours to be forgotten. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* "::" is every address, whatever net.ipv6.bindv6only says. */
	if (address->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind_to(fd, address, ret_elsewhere) || listen(fd, SOMAXCONN))
		return -errno;
	return tcptuned_take_fd(&fd);
}

static int open_listener(const struct tcptuned_http_options *options, bool *ret_elsewhere,
			 struct tcptuned_error *error)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *address;
	char port[12];
	int fd;

	snprintf(port, sizeof(port), "%u", options->port);
	if (getaddrinfo(options->address, port, &hints, &address))
		return tcptuned_fail(error, EINVAL, TCPTUNED_EXIT_CONFIG,
				     "metrics: \"%s\" port %u is no numeric IPv4 or IPv6 address "
				     "and port; correct address= and port= in [metrics]",
				     options->address, options->port);
	fd = listen_at(address, ret_elsewhere);
	freeaddrinfo(address);
	if (fd < 0)
		return tcptuned_fail(error, -fd,
				     fd == -EADDRINUSE ? TCPTUNED_EXIT_IN_USE
						       : TCPTUNED_EXIT_CONFIG,
				     "metrics: cannot listen on port %u of %s: %s; choose another "
				     "with address= or port= in [metrics], or let systemd open it "
				     "(tcptuned.socket)",
				     options->port, options->address, strerror(-fd));
	return fd;
}

/* A socket that systemd opened: does it listen for TCP connections? */
static int adopt_listener(int fd, struct tcptuned_error *error)
{
	int listening = 0, type = 0;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) || !listening || type != SOCK_STREAM)
		return tcptuned_fail(error, EINVAL, TCPTUNED_EXIT_CONFIG,
				     "metrics: the socket that systemd passed does not listen "
				     "for TCP connections; tcptuned.socket needs "
				     "ListenStream=ADDRESS:PORT and Accept=no");
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
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

static void add_headers(struct MHD_Response *response, const char *content_type)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	/* One request per connection, so that between scrapes no client holds one of the few. */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned int status,
				 const char *content_type, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
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

/* Whoever is being sent the answer that is kept keeps a reference to it. */
void tcptuned_http_renew(struct tcptuned_http *http)
{
	if (http->kept)
		MHD_destroy_response(http->kept);
	http->kept = NULL;
}

static void print_metrics(struct tcptuned_http *http)
{
	struct tcptuned_buf body;
	size_t len;
	char *text;

	tcptuned_buf_init(&body, BODY_MAX_BYTES);
	http->options.print(http->options.ctx, &body);
	if (body.error) {
		tcptuned_buf_free(&body);
		return;
	}
	text = tcptuned_buf_steal(&body, &len);
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
				 "Too much for one answer, or out of memory; metrics.flows in "
				 "tcptuned.conf says how many connections are shown.\n");
	return MHD_queue_response(connection, MHD_HTTP_OK, http->kept);
}

/* Called by the library as soon as the headers are read; a body that follows is not read. */
static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_len, void **request_context)
{
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, PLAIN_TEXT,
				 "Only GET and HEAD.\n");
	if (!strcmp(path, "/metrics"))
		return send_metrics(cls, connection);
	if (!strcmp(path, "/"))
		return send_text(connection, MHD_HTTP_OK, "text/html; charset=utf-8",
				 "<!DOCTYPE html>\n<html lang=\"en\"><title>tcptuned</title>"
				 "<h1>tcptuned " TCPTUNED_VERSION "</h1>\n"
				 "<p><a href=\"/metrics\">/metrics</a>: for Prometheus</html>\n");
	return send_text(connection, MHD_HTTP_NOT_FOUND, PLAIN_TEXT, "There is /metrics.\n");
}

/* --- start, run, stop -------------------------------------------------------------------- */

int tcptuned_http_start(struct tcptuned_http **ret, const struct tcptuned_http_options *options,
			struct tcptuned_error *error)
{
	__attribute__((cleanup(tcptuned_http_stopp))) struct tcptuned_http *http = NULL;
	_cleanup_close_ int listen_fd = options->listen_fd;
	bool elsewhere = false;
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
		http->port = port_of(listen_fd);
		http->elsewhere = elsewhere;
		http->mhd = MHD_start_daemon(
			MHD_USE_EPOLL, 0, NULL, NULL, answer, http, MHD_OPTION_LISTEN_SOCKET,
			listen_fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
			MHD_OPTION_CONNECTION_TIMEOUT, IDLE_TIMEOUT_S,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
			MHD_OPTION_END);
	}
	if (!http || !http->mhd)
		return tcptuned_fail(error, ENOMEM, TCPTUNED_EXIT_INTERNAL,
				     "metrics: libmicrohttpd does not start");
	tcptuned_take_fd(&listen_fd);
	*ret = http;
	http = NULL;
	return 0;
}

int tcptuned_http_fd(const struct tcptuned_http *http)
{
	return MHD_get_daemon_info(http->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
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
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(http->mhd, &ms) != MHD_YES)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

void tcptuned_http_run(struct tcptuned_http *http)
{
	/* A second time: after one of the last connections ended, the library listens again then. */
	MHD_run(http->mhd);
	MHD_run(http->mhd);
}

void tcptuned_http_stop(struct tcptuned_http *http)
{
	if (!http)
		return;
	/* Closes the listening socket, but does not shut it down: systemd holds it as well. */
	if (http->mhd)
		MHD_stop_daemon(http->mhd);
	tcptuned_http_renew(http);
	free(http);
}

void tcptuned_http_stopp(struct tcptuned_http **http)
{
	tcptuned_http_stop(*http);
}
