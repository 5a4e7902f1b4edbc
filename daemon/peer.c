// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include "cleanup.h"
#include "peer.h"

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

/* The other end's socket has our address as its destination. */
static int ask_about_peer(int fd, struct question *ret)
{
	struct sockaddr_storage here, there;
	socklen_t len = sizeof(here);
	struct inet_diag_req_v2 *body = &ret->body;

	*ret = (struct question){
		.head = {
			.nlmsg_len = sizeof(*ret),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.body = {
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = -1u,
			.id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE},
		},
	};
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

int tcptuned_peer_uid(int fd, uid_t *ret)
{
	_cleanup_close_ int diag = -1;
	struct question question;
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} answer;
	const struct inet_diag_msg *found = NLMSG_DATA(&answer.head);
	const struct nlmsgerr *refused = NLMSG_DATA(&answer.head);
	ssize_t len;
	int error = ask_about_peer(fd, &question);

	if (error)
		return error;
	diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	if (diag < 0 || send(diag, &question, sizeof(question), 0) < 0)
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
	if (answer.head.nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
		return -EPROTO;
	/* What no process holds any more is nobody's, though the kernel writes down user 0. */
	if (!found->idiag_inode)
		return -ENOENT;
	*ret = found->idiag_uid;
	return 0;
}
