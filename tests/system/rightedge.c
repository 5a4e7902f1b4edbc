// SPDX-License-Identifier: GPL-2.0-only
/*
 * rightedge DEVICE: watches what this network namespace sends out of DEVICE, a TUN device,
 * until SIGTERM, and then prints as JSON how TCP's receive windows moved (SIGUSR1: counts from
 * now on, of the connections known):
 *
 *   connections	directions of which the SYN was seen, for it tells the window scale
 *   acks		segments of those with an acknowledgement, after the SYN
 *   retracted		how many of them pulled the right edge of the window back: their
 *			acknowledgement plus window lies before an earlier one's, or before
 *			that of a SYN with an acknowledgement
 *   retracted_bytes	the most by which one of them did
 *   window_max_bytes	the largest window seen
 *   shrunk		how often a window was smaller than the one before
 *   reordered		how many came after one that acknowledges more: old news, not looked at
 *   resets		connections that were reset before this end had said goodbye
 *   dropped		segments that this program missed, being slow
 *
 * RFC 793 (section 3.7) and RFC 1122 (4.2.2.16) ask receivers not to pull it back.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define DIRECTIONS_MAX 4096 /* a power of two */
#define RING_BYTES     (64 << 20)

/* What one end of a connection advertises to the other. */
static struct direction {
	uint8_t addresses[32]; /* local and remote, as in the header */
	uint16_t ports[2];
	uint32_t wscale;
	uint32_t ack, edge; /* the furthest acknowledgement and right edge, modulo 2^32 */
	uint32_t window;
	bool used;
	bool known; /* they are set */
	bool goodbye;
} directions[DIRECTIONS_MAX];
static unsigned int directions_len;

static struct {
	uint64_t acks, retracted, reordered, shrunk, resets;
	uint32_t retracted_bytes, window_max_bytes;
} seen;

static volatile sig_atomic_t ended, again;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "rightedge: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void end(int sig)
{
	if (sig == SIGUSR1)
		again = 1;
	else
		ended = 1;
}

/* ---- one segment ----------------------------------------------------------------------- */

/* The window scale option (kind 3, RFC 7323 section 2.2) of a SYN; 0: it has none. */
static uint32_t window_scale(const uint8_t *option, const uint8_t *options_end)
{
	while (option < options_end && option[0] != TCPOPT_EOL) {
		if (option[0] == TCPOPT_NOP) {
			option++;
			continue;
		}
		if (option + 1 >= options_end || option[1] < 2 || option + option[1] > options_end)
			break;
		if (option[0] == TCPOPT_WINDOW && option[1] == TCPOLEN_WINDOW)
			return option[2];
		option += option[1];
	}
	return 0;
}

/* Its place in the table, or the free one that it would have. */
static struct direction *find(const uint8_t addresses[32], const struct tcphdr *tcp)
{
	uint32_t hash = ((uint32_t)ntohs(tcp->source) << 16 | ntohs(tcp->dest)) * 2654435761u >> 20;
	struct direction *d = &directions[hash % DIRECTIONS_MAX];

	while (d->used &&
	       (memcmp(d->addresses, addresses, 32) || memcmp(d->ports, tcp, sizeof(d->ports))))
		d = d == directions + DIRECTIONS_MAX - 1 ? directions : d + 1;
	return d;
}

/* Its own window is not scaled; it is no promise yet where the other end's numbers are unknown. */
static void on_syn(const uint8_t addresses[32], const struct tcphdr *tcp)
{
	const uint8_t *header = (const uint8_t *)tcp;
	struct direction *d = find(addresses, tcp);

	if (!d->used && ++directions_len == DIRECTIONS_MAX) {
		errno = ENOSPC;
		die("connections");
	}
	memset(d, 0, sizeof(*d));
	d->used = true;
	memcpy(d->addresses, addresses, 32);
	memcpy(d->ports, tcp, sizeof(d->ports));
	d->wscale = window_scale(header + sizeof(*tcp), header + tcp->doff * 4);
	if (tcp->ack) {
		d->ack = ntohl(tcp->ack_seq);
		d->edge = d->ack + ntohs(tcp->window);
		d->known = true;
	}
}

static void on_ack(struct direction *d, const struct tcphdr *tcp)
{
	uint32_t window = (uint32_t)ntohs(tcp->window) << d->wscale;
	uint32_t ack = ntohl(tcp->ack_seq), edge = ack + window;
	int32_t back = (int32_t)(d->edge - edge);

	seen.acks++;
	if (d->known && (int32_t)(d->ack - ack) > 0) {
		seen.reordered++;
		return;
	}
	d->ack = ack;
	if (window > seen.window_max_bytes)
		seen.window_max_bytes = window;
	if (d->known && window < d->window)
		seen.shrunk++;
	d->window = window;
	if (d->known && back > 0) {
		seen.retracted++;
		if ((uint32_t)back > seen.retracted_bytes)
			seen.retracted_bytes = (uint32_t)back;
		return;
	}
	d->edge = edge;
	d->known = true;
}

/* @packet is an IP packet of which the first @len bytes are here. */
static void on_packet(const uint8_t *packet, size_t len)
{
	const struct ip6_hdr *ip6 = (const struct ip6_hdr *)packet;
	const struct ip *ip = (const struct ip *)packet;
	const struct tcphdr *tcp;
	uint8_t addresses[32] = {0};
	struct direction *d;
	size_t header;

	if (len >= sizeof(*ip) && ip->ip_v == 4 && ip->ip_p == IPPROTO_TCP) {
		header = ip->ip_hl * 4u;
		memcpy(addresses, &ip->ip_src, 8);
	} else if (len >= sizeof(*ip6) && ip->ip_v == 6 && ip6->ip6_nxt == IPPROTO_TCP) {
		header = sizeof(*ip6);
		memcpy(addresses, &ip6->ip6_src, 32);
	} else {
		return;
	}
	tcp = (const struct tcphdr *)(packet + header);
	if (len < header + sizeof(*tcp) || len < header + tcp->doff * 4u)
		return;
	if (tcp->syn) {
		on_syn(addresses, tcp);
		return;
	}
	d = find(addresses, tcp);
	if (!d->used)
		return;
	if (tcp->rst) /* to what arrives after its end every host answers so */
		seen.resets += !d->goodbye;
	else if (tcp->ack)
		on_ack(d, tcp);
	d->goodbye |= tcp->fin || tcp->rst;
}

/* ---- capture --------------------------------------------------------------------------- */

static int open_capture(const char *device)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	int fd = socket(AF_PACKET, SOCK_DGRAM, 0), bytes = RING_BYTES;

	at.sll_ifindex = (int)if_nametoindex(device);
	if (fd < 0 || !at.sll_ifindex || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die(device);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		die("SO_RCVBUFFORCE");
	return fd;
}

static void print(int fd)
{
	struct tpacket_stats stats = {0};
	socklen_t len = sizeof(stats);

	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		die("PACKET_STATISTICS");
	printf("{\"connections\": %u, \"acks\": %llu, \"retracted\": %llu, "
	       "\"retracted_bytes\": %u, \"reordered\": %llu, \"window_max_bytes\": %u, "
	       "\"shrunk\": %llu, \"resets\": %llu, \"dropped\": %u}\n",
	       directions_len, (unsigned long long)seen.acks, (unsigned long long)seen.retracted,
	       seen.retracted_bytes, (unsigned long long)seen.reordered, seen.window_max_bytes,
	       (unsigned long long)seen.shrunk, (unsigned long long)seen.resets, stats.tp_drops);
}

static void begin_again(void)
{
	again = 0;
	memset(&seen, 0, sizeof(seen));
	for (unsigned int i = 0; i < DIRECTIONS_MAX; i++)
		directions[i].known = false;
}

/* One packet, of those that left; false: there is none, and @flags say not to wait for it. */
static bool capture(int fd, int flags)
{
	uint8_t packet[128]; /* IPv6 and TCP with all their options */
	struct sockaddr_ll from;
	socklen_t from_len = sizeof(from);
	ssize_t n =
		recvfrom(fd, packet, sizeof(packet), flags, (struct sockaddr *)&from, &from_len);

	if (n < 0 && errno != EINTR && errno != EAGAIN)
		die("recvfrom");
	if (n > 0 && from.sll_pkttype == PACKET_OUTGOING)
		on_packet(packet, (size_t)n);
	return n > 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = end}; /* no SA_RESTART: it ends recvfrom() */
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: rightedge DEVICE\n");
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	fd = open_capture(argv[1]);
	fprintf(stderr, "watching\n");
	while (!ended) {
		if (again)
			begin_again();
		capture(fd, 0);
	}
	while (capture(fd, MSG_DONTWAIT)) /* what was sent before the signal */
		;
	print(fd);
	return 0;
}
