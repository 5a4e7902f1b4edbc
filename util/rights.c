// SPDX-License-Identifier: GPL-2.0-only
#include "util/rights.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "util/cleanup.h"

union rights {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

int tcptuned_rights_send(int pair, const void *data, size_t size, int fd)
{
	union rights rights = {.header = {.cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS,
					  .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec iov = {(void *)data, size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&rights.header), &fd, sizeof(fd));
		msg.msg_control = &rights;
		msg.msg_controllen = sizeof(rights);
	}
	return sendmsg(pair, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int tcptuned_rights_receive(int pair, void *data, size_t size, int *ret_fd, int flags)
{
	union rights rights;
	struct iovec iov = {data, size};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &rights,
			     .msg_controllen = sizeof(rights)};
	const struct cmsghdr *header;
	ssize_t got = recvmsg(pair, &msg, MSG_CMSG_CLOEXEC | flags);

	*ret_fd = -1;
	if (got < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&msg);
	/* The padding has room for a second one, which may have been sent, too. */
	for (size_t at = CMSG_LEN(0);
	     header && header->cmsg_type == SCM_RIGHTS && at < header->cmsg_len;
	     at += sizeof(int)) {
		tcptuned_closep(ret_fd);
		memcpy(ret_fd, (const char *)header + at, sizeof(*ret_fd));
	}
	if (got == (ssize_t)size)
		return 0;
	tcptuned_closep(ret_fd);
	return -ECONNRESET;
}
