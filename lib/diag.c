// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "diag.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <netinet/in.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#define GROUP(number) (1u << ((number)-1))

int diag_descriptors(pid_t pid, diag_descriptor_handler *handler, void *context)
{
	char path[64], target[64];
	struct dirent *entry;
	unsigned int inode;
	int ret = 0;
	ssize_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!ret && (entry = readdir(dir))) {
		n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		if (sscanf(target, "socket:[%u]", &inode) == 1)
			ret = handler(inode, atoi(entry->d_name), context);
	}
	closedir(dir);
	return ret;
}

/* Calls @handler with what @header says about a socket. */
static void handle_socket(const struct nlmsghdr *header, diag_handler *handler, void *context)
{
	const struct inet_diag_msg *message = NLMSG_DATA(header);
	struct rtattr *attribute = (struct rtattr *)(message + 1);
	int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof(*message)));
	struct diag_socket s = {.message = *message};

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		const void *data = RTA_DATA(attribute);
		size_t size = RTA_PAYLOAD(attribute);

		if (attribute->rta_type == INET_DIAG_INFO) {
			memcpy(&s.info, data, size < sizeof(s.info) ? size : sizeof(s.info));
			s.has_info = 1;
		} else if (attribute->rta_type == INET_DIAG_SKMEMINFO) {
			memcpy(s.memory, data, size < sizeof(s.memory) ? size : sizeof(s.memory));
		} else if (attribute->rta_type == INET_DIAG_CONG) {
			snprintf(s.congestion_control, sizeof(s.congestion_control), "%.*s",
				 (int)size, (const char *)data);
		}
	}
	handler(&s, context);
}

/*
 * Reads one datagram. Returns 1 if more belong to the answer, 0 at its end, or a negative error:
 * the kernel's answer or that of recv().
 */
static int read_datagram(int fd, int flags, diag_handler *handler, void *context)
{
	static const int done = NLMSG_DONE, error = NLMSG_ERROR;
	_Alignas(struct nlmsghdr) char buffer[32 << 10];
	ssize_t n = recv(fd, buffer, sizeof(buffer), flags);
	unsigned int left = (unsigned int)n;
	int more = 0;

	if (n < 0 && errno == EINTR)
		return 1;
	if (n <= 0)
		return n ? -errno : -EIO;
	for (struct nlmsghdr *h = (void *)buffer; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
		if (h->nlmsg_type == done)
			return 0;
		if (h->nlmsg_type == error)
			return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
		if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY || h->nlmsg_type == TCPDIAG_GETSOCK)
			handle_socket(h, handler, context);
		more |= h->nlmsg_flags & NLM_F_MULTI;
	}
	return more != 0;
}

int diag_open(int closed)
{
	const struct timeval timeout = {.tv_sec = 2};
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = GROUP(SKNLGRP_INET_TCP_DESTROY) | GROUP(SKNLGRP_INET6_TCP_DESTROY),
	};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (closed && bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int ask(int fd, const struct nlmsghdr *request, diag_handler *handler, void *context)
{
	int err;

	if (send(fd, request, request->nlmsg_len, 0) < 0)
		return -errno;
	do {
		err = read_datagram(fd, 0, handler, context);
	} while (err > 0);
	return err;
}

int diag_dump(int fd, unsigned int states, unsigned int port, diag_handler *handler, void *context)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req request; /* its family is ignored: inet_diag_dump_compat() */
		struct nlattr attribute;
		struct inet_diag_bc_op op;
		struct inet_diag_hostcond condition;
	} m = {
		.header = {.nlmsg_type = TCPDIAG_GETSOCK,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
			   .nlmsg_len = port ? sizeof(m) : NLMSG_LENGTH(sizeof(m.request))},
		.request = {.idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) |
					 1 << (INET_DIAG_SKMEMINFO - 1),
			    .idiag_states = states},
		.attribute = {.nla_type = INET_DIAG_REQ_BYTECODE,
			      .nla_len = sizeof(m.attribute) + sizeof(m.op) + sizeof(m.condition)},
		.op = {.code = INET_DIAG_BC_D_COND,
		       .yes = sizeof(m.op) + sizeof(m.condition),
		       .no = sizeof(m.op) + sizeof(m.condition) + 4},
		.condition = {.family = AF_UNSPEC, .port = (int)port},
	};

	return ask(fd, &m.header, handler, context);
}

int diag_get(int fd, int family, const struct inet_diag_sockid *id, diag_handler *handler,
	     void *context)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} m = {
		.header = {.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST,
			   .nlmsg_len = sizeof(m)},
		.request = {.sdiag_family = (__u8)family,
			    .sdiag_protocol = IPPROTO_TCP,
			    .idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_SKMEMINFO - 1),
			    .idiag_states = ~0u,
			    .id = *id},
	};

	return ask(fd, &m.header, handler, context);
}

int diag_read_closed(int fd, diag_handler *handler, void *context)
{
	int err;

	/* A message about a destroyed socket is not part of an answer, so each read returns 0. */
	do {
		err = read_datagram(fd, MSG_DONTWAIT, handler, context);
	} while (err >= 0 || err == -ENOBUFS); /* some were lost, and others follow */
	return err == -EAGAIN ? 0 : err;
}
