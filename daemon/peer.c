// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include "cleanup.h"
#include "peer.h"

#define LOOPBACK_IFINDEX 1 /* include/net/flow.h */

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

/* One end of a connection as the diagnostics want it; IPv4 within IPv6 is IPv4. */
static void take_end(const struct sockaddr_storage *end, __u8 *family, __be32 *address,
		     __be16 *port)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)end;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)end;

	*port = in->sin_port; /* at the same place in both */
	if (end->ss_family == AF_INET) {
		*family = AF_INET;
		memcpy(address, &in->sin_addr, 4);
	} else if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		*family = AF_INET;
		memcpy(address, &in6->sin6_addr.s6_addr[12], 4);
	} else {
		*family = AF_INET6;
		memcpy(address, &in6->sin6_addr, 16);
	}
}

static struct question question_about(__u8 family)
{
	return (struct question){
		.head = {
			.nlmsg_len = sizeof(struct question),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.body = {
			.sdiag_family = family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = -1u,
			.id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE},
		},
	};
}

/* The other end's socket has our address as its destination. */
static int ask_about_peer(int fd, struct question *ret)
{
	struct sockaddr_storage here, there;
	socklen_t len = sizeof(here);
	struct inet_diag_req_v2 *body = &ret->body;

	*ret = question_about(AF_UNSPEC);
	if (getsockname(fd, (struct sockaddr *)&here, &len))
		return -errno;
	len = sizeof(there);
	if (getpeername(fd, (struct sockaddr *)&there, &len))
		return -errno;
	if (here.ss_family != AF_INET && here.ss_family != AF_INET6)
		return -EAFNOSUPPORT;
	take_end(&here, &body->sdiag_family, body->id.idiag_dst, &body->id.idiag_dport);
	take_end(&there, &body->sdiag_family, body->id.idiag_src, &body->id.idiag_sport);
	if (here.ss_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)&there)->sin6_addr))
		body->id.idiag_if = ((struct sockaddr_in6 *)&there)->sin6_scope_id;
	return 0;
}

/* The answer about one socket, or why there is none. */
static int ask(int diag, const struct question *question, struct inet_diag_msg *ret)
{
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} answer;
	const struct nlmsgerr *refused = NLMSG_DATA(&answer.head);
	ssize_t len;

	if (send(diag, question, sizeof(*question), 0) < 0)
		return -errno;
	/* The answer is there when send() returns. */
	len = recv(diag, &answer, sizeof(answer), 0);
	if (len < 0)
		return -errno;
	if (!NLMSG_OK(&answer.head, (size_t)len))
		return -EPROTO;
	if (answer.head.nlmsg_type == NLMSG_ERROR)
		return answer.head.nlmsg_len < NLMSG_LENGTH(sizeof(*refused)) ? -EPROTO
									       : refused->error;
	if (answer.head.nlmsg_len < NLMSG_LENGTH(sizeof(*ret)))
		return -EPROTO;
	memcpy(ret, NLMSG_DATA(&answer.head), sizeof(*ret));
	return 0;
}

static int open_diagnostics(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);

	return fd < 0 ? -errno : fd;
}

/*
 * Where no connection has those ends the kernel answers with who listens on that port; and of a
 * connection that no process holds any more it says that it is user 0's.
 */
static bool is_held_connection(const struct inet_diag_msg *found, const struct question *asked)
{
	return found->idiag_state != TCP_LISTEN && found->idiag_inode &&
	       found->id.idiag_sport == asked->body.id.idiag_sport &&
	       found->id.idiag_dport == asked->body.id.idiag_dport;
}

int tcptuned_peer_uid(int fd, uid_t *ret)
{
	_cleanup_close_ int diag = -1;
	struct question question;
	struct inet_diag_msg found;
	int error = ask_about_peer(fd, &question);

	if (error)
		return error;
	diag = open_diagnostics();
	if (diag < 0)
		return diag;
	error = ask(diag, &question, &found);
	if (error == -ENOENT || (!error && !is_held_connection(&found, &question))) {
		/* Perhaps it is bound to the device by which a host talks to itself. */
		question.body.id.idiag_if = LOOPBACK_IFINDEX;
		error = ask(diag, &question, &found);
	}
	if (error)
		return error;
	if (!is_held_connection(&found, &question))
		return -ENOENT;
	*ret = found.idiag_uid;
	return 0;
}

bool tcptuned_peer_can_ask(void)
{
	_cleanup_close_ int diag = open_diagnostics(), listener = -1;
	struct sockaddr_in here = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(here);
	struct question question = question_about(AF_INET);
	struct inet_diag_msg found;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (diag < 0 || listener < 0 || bind(listener, (struct sockaddr *)&here, sizeof(here)) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&here, &len))
		return false;
	question.body.id.idiag_sport = here.sin_port;
	question.body.id.idiag_src[0] = here.sin_addr.s_addr;
	return !ask(diag, &question, &found);
}
