// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sockets.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#define SOCKETS_MAX 1024
#define DATA_MIN    16384 /* bytes; a connection that carried fewer may be about to be replaced */
#define ESTABLISHED 1	  /* TCP_ESTABLISHED of the kernel, whose header netinet/tcp.h excludes */

struct connection {
	unsigned int inode, port;
	int found;
	struct tcp_info info;
	char congestion_control[16];
};

struct connections {
	size_t len;
	struct connection entries[SOCKETS_MAX];
};

static int compare(const void *a, const void *b)
{
	unsigned int x = ((const struct connection *)a)->inode;
	unsigned int y = ((const struct connection *)b)->inode;

	return (x > y) - (x < y);
}

/* Collects the inodes of the sockets of @pid, of any kind. */
static int find_inodes(pid_t pid, struct connections *ret)
{
	char path[64], name[300], target[64];
	struct dirent *entry;
	ssize_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (ret->len < SOCKETS_MAX && (entry = readdir(dir))) {
		struct connection *c = &ret->entries[ret->len];

		snprintf(name, sizeof(name), "%s/%.20s", path, entry->d_name);
		n = readlink(name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		memset(c, 0, sizeof(*c));
		ret->len += sscanf(target, "socket:[%u]", &c->inode) == 1;
	}
	closedir(dir);
	qsort(ret->entries, ret->len, sizeof(*ret->entries), compare);
	return 0;
}

/* Asks for all established connections of @family, or for those to a port. */
static int send_request(int fd, int family, unsigned int port)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
		struct nlattr attribute;
		struct inet_diag_bc_op op;
		struct inet_diag_hostcond condition;
	} m = {
		.header = {.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.request = {.sdiag_family = (__u8)family,
			    .sdiag_protocol = IPPROTO_TCP,
			    .idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1),
			    .idiag_states = 1 << ESTABLISHED},
		.attribute = {.nla_type = INET_DIAG_REQ_BYTECODE,
			      .nla_len = sizeof(m.attribute) + sizeof(m.op) + sizeof(m.condition)},
		.op = {.code = INET_DIAG_BC_D_COND,
		       .yes = sizeof(m.op) + sizeof(m.condition),
		       .no = sizeof(m.op) + sizeof(m.condition) + 4},
		.condition = {.family = AF_UNSPEC, .port = (int)port},
	};

	m.header.nlmsg_len = port ? sizeof(m) : sizeof(m.header) + sizeof(m.request);
	return send(fd, &m, m.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

static void take_connection(struct connections *all, const struct nlmsghdr *header)
{
	const struct inet_diag_msg *message = NLMSG_DATA(header);
	struct connection key = {.inode = message->idiag_inode}, *c;
	struct rtattr *attribute = (struct rtattr *)(message + 1);
	int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof(*message)));

	c = bsearch(&key, all->entries, all->len, sizeof(*all->entries), compare);
	if (!c)
		return;
	c->port = ntohs(message->id.idiag_dport);
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		size_t size = RTA_PAYLOAD(attribute);

		if (attribute->rta_type == INET_DIAG_INFO) {
			/* Members that this kernel lacks remain zero. */
			memcpy(&c->info, RTA_DATA(attribute),
			       size < sizeof(c->info) ? size : sizeof(c->info));
			c->found = 1;
		} else if (attribute->rta_type == INET_DIAG_CONG) {
			snprintf(c->congestion_control, sizeof(c->congestion_control), "%.*s",
				 (int)size, (const char *)RTA_DATA(attribute));
		}
	}
}

/* Receives the answers to one request. */
static int receive_answers(int fd, struct connections *all)
{
	static const int done = NLMSG_DONE, error = NLMSG_ERROR;
	_Alignas(struct nlmsghdr) char buffer[32 << 10];

	for (;;) {
		ssize_t n = recv(fd, buffer, sizeof(buffer), 0);
		unsigned int left = (unsigned int)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		for (struct nlmsghdr *h = (void *)buffer; NLMSG_OK(h, left);
		     h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == done)
				return 0;
			if (h->nlmsg_type == error)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY)
				take_connection(all, h);
		}
	}
}

static int open_netlink(struct socket_reader *reader)
{
	const struct timeval timeout = {.tv_sec = 2};

	if (reader->fd)
		return 0;
	reader->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (reader->fd < 0) {
		reader->fd = 0;
		return -errno;
	}
	setsockopt(reader->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return 0;
}

static double carried(const struct tcp_info *info)
{
	return (double)info->tcpi_bytes_acked + (double)info->tcpi_bytes_received;
}

static void add(struct socket_sums *sums, const struct connection *c)
{
	const struct tcp_info *i = &c->info;
	int receives = i->tcpi_bytes_received > i->tcpi_bytes_acked;
	double min_rtt_s = i->tcpi_min_rtt != UINT32_MAX ? i->tcpi_min_rtt / 1e6 : 0;

	sums->count++;
	sums->receives = receives;
	sums->bytes += (double)(receives ? i->tcpi_bytes_received : i->tcpi_bytes_acked);
	sums->sent += receives ? i->tcpi_data_segs_in : i->tcpi_data_segs_out;
	sums->resent += receives ? i->tcpi_rcv_ooopack : i->tcpi_total_retrans;
	sums->busy_s += (double)i->tcpi_busy_time / 1e6;
	sums->rwnd_s += (double)i->tcpi_rwnd_limited / 1e6;
	sums->sndbuf_s += (double)i->tcpi_sndbuf_limited / 1e6;
	sums->rtt_s += (receives ? i->tcpi_rcv_rtt : i->tcpi_rtt) / 1e6;
	sums->window_bytes += i->tcpi_rcv_space;
	sums->window_max_bytes += i->tcpi_rcv_ssthresh;
	if (min_rtt_s > 0 && (!sums->rtt_min_s || min_rtt_s < sums->rtt_min_s))
		sums->rtt_min_s = min_rtt_s;
	if (!sums->congestion_control[0])
		memcpy(sums->congestion_control, c->congestion_control,
		       sizeof(sums->congestion_control));
	else if (strcmp(sums->congestion_control, c->congestion_control))
		strcpy(sums->congestion_control, "mixed");
}

static void add_up(struct socket_reader *reader, const struct connections *all,
		   struct socket_sums *ret)
{
	unsigned int port = 0, several = 0;
	double most = 0;

	for (size_t i = 0; i < all->len; i++) {
		const struct connection *c = &all->entries[i];

		if (!c->found)
			continue;
		several |= port && c->port != port;
		port = c->port;
		if (carried(&c->info) > most)
			most = carried(&c->info);
	}
	/* A connection that was only redirected must not hide the one that follows it. */
	reader->port = several || most < DATA_MIN ? 0 : port;
	for (size_t i = 0; i < all->len; i++)
		if (all->entries[i].found && carried(&all->entries[i].info) > most / 100)
			add(ret, &all->entries[i]);
	if (ret->count)
		ret->rtt_s /= ret->count;
}

int sockets_read(struct socket_reader *reader, pid_t pid, struct socket_sums *ret)
{
	static const int families[] = {AF_INET, AF_INET6};
	struct connections *all = calloc(1, sizeof(*all));
	int err = all ? find_inodes(pid, all) : -ENOMEM;

	memset(ret, 0, sizeof(*ret));
	if (!err)
		err = open_netlink(reader);
	for (int i = 0; i < 2 && !err; i++) {
		err = send_request(reader->fd, families[i], reader->port);
		if (!err)
			err = receive_answers(reader->fd, all);
	}
	if (!err)
		add_up(reader, all, ret);
	else
		sockets_close(
			reader); /* an answer that is late is not read as that to another request */
	free(all);
	return err;
}

void sockets_close(struct socket_reader *reader)
{
	if (reader->fd)
		close(reader->fd);
	reader->fd = 0;
}
