// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "streams/process.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "lib/diag.h"

#define SOCKETS_MAX 1024

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

static int add_inode(unsigned int inode, int fd, void *context)
{
	struct connections *all = context;

	all->entries[all->len++] = (struct connection){.inode = inode};
	return all->len == SOCKETS_MAX;
}

/* Collects the inodes of the sockets of @pid, of any kind. */
static int find_inodes(pid_t pid, struct connections *ret)
{
	int err = diag_descriptors(pid, add_inode, ret);

	qsort(ret->entries, ret->len, sizeof(*ret->entries), compare);
	return err < 0 ? err : 0;
}

static void take_connection(const struct diag_socket *socket, void *context)
{
	struct connections *all = context;
	struct connection key = {.inode = socket->message.idiag_inode}, *c;

	c = bsearch(&key, all->entries, all->len, sizeof(*all->entries), compare);
	if (!c)
		return;
	c->port = ntohs(socket->message.id.idiag_dport);
	c->info = socket->info.tcp;
	c->found |= socket->has_info;
	memcpy(c->congestion_control, socket->congestion_control, sizeof(c->congestion_control));
}

static int open_netlink(struct process_reader *reader)
{
	int fd = reader->fd ? reader->fd : diag_open(0);

	reader->fd = fd < 0 ? 0 : fd;
	return fd < 0 ? fd : 0;
}

static void add(struct process_sums *sums, const struct connection *c)
{
	const struct tcp_info *i = &c->info;
	int receives = diag_receives(i);
	double bytes = (double)(receives ? i->tcpi_bytes_received : i->tcpi_bytes_acked);
	double min_rtt_s = i->tcpi_min_rtt != UINT32_MAX ? i->tcpi_min_rtt / 1e6 : 0;

	sums->count++;
	sums->receives = receives;
	sums->bytes += bytes;
	if (bytes > sums->bytes_max)
		sums->bytes_max = bytes;
	sums->sent += receives ? i->tcpi_data_segs_in : i->tcpi_data_segs_out;
	sums->resent += receives ? i->tcpi_rcv_ooopack : i->tcpi_total_retrans;
	sums->busy_s += (double)i->tcpi_busy_time / 1e6;
	sums->rwnd_s += (double)i->tcpi_rwnd_limited / 1e6;
	sums->sndbuf_s += (double)i->tcpi_sndbuf_limited / 1e6;
	sums->rtt_s += (receives ? i->tcpi_rcv_rtt : i->tcpi_rtt) / 1e6;
	sums->window_max_bytes += i->tcpi_rcv_ssthresh;
	if (min_rtt_s > 0 && (!sums->rtt_min_s || min_rtt_s < sums->rtt_min_s))
		sums->rtt_min_s = min_rtt_s;
	if (!sums->congestion_control[0])
		memcpy(sums->congestion_control, c->congestion_control,
		       sizeof(sums->congestion_control));
	else if (strcmp(sums->congestion_control, c->congestion_control))
		strcpy(sums->congestion_control, "mixed");
}

static void add_up(struct process_reader *reader, const struct connections *all,
		   struct process_sums *ret)
{
	unsigned int port = 0, several = 0;
	__u64 most = 0;

	for (size_t i = 0; i < all->len; i++) {
		const struct connection *c = &all->entries[i];

		if (!c->found)
			continue;
		several |= port && c->port != port;
		port = c->port;
		if (diag_bytes(&c->info) > most)
			most = diag_bytes(&c->info);
	}
	reader->port = several ? 0 : port;
	for (size_t i = 0; i < all->len; i++)
		if (all->entries[i].found && diag_bytes(&all->entries[i].info) > most / 100)
			add(ret, &all->entries[i]);
	if (ret->count)
		ret->rtt_s /= ret->count;
}

int process_read(struct process_reader *reader, pid_t pid, struct process_sums *ret)
{
	struct connections *all = calloc(1, sizeof(*all));
	int err = all ? find_inodes(pid, all) : -ENOMEM;

	memset(ret, 0, sizeof(*ret));
	err = err ?: open_netlink(reader) ?:
	      diag_dump(reader->fd, DIAG_STATE(DIAG_ESTABLISHED), reader->port,
				  take_connection, all);
	/* An answer that is late is not read as that to another request. */
	if (err)
		process_close(reader);
	else
		add_up(reader, all, ret);
	free(all);
	return err;
}

void process_close(struct process_reader *reader)
{
	if (reader->fd)
		close(reader->fd);
	reader->fd = 0;
}
