// SPDX-License-Identifier: GPL-2.0-only
#include "segment.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>

#define ECN_MASK 0x03 /* of the IPv4 TOS; all of it is CE */

#define TCP_FLAG_FIN  0x01
#define TCP_FLAG_PSH  0x08
#define TCP_FLAG_CWR  0x80
#define TCP_FLAGS_OFF 13 /* byte of the TCP header that holds CWR .. FIN */

_Static_assert(sizeof(struct virtio_net_hdr) == SEGMENT_VNET_LEN, "vnet header");

uint32_t checksum_add(const void *data, size_t len, uint32_t sum)
{
	const uint8_t *at = data;

	for (; len > 1; at += 2, len -= 2)
		sum += (uint32_t)at[0] << 8 | at[1];
	if (len)
		sum += (uint32_t)at[0] << 8;
	return sum;
}

uint16_t checksum_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = (uint8_t)value;
}

static uint16_t flow_of(const uint8_t *transport)
{
	return get16(transport) ^ get16(transport + 2);
}

/* The IP header's own idea of the packet's length, 0 if it is neither IPv4 nor IPv6. */
static uint32_t ip_total_len(const uint8_t *ip, uint32_t len)
{
	if (len >= sizeof(struct iphdr) && ip[0] >> 4 == 4)
		return get16(ip + offsetof(struct iphdr, tot_len));
	if (len >= sizeof(struct ip6_hdr) && ip[0] >> 4 == 6)
		return sizeof(struct ip6_hdr) + get16(ip + 4);
	return 0;
}

/* Flow and payload of a packet that is no GSO segment; extension headers count as payload. */
static void parse_plain(const uint8_t *ip, uint32_t len, struct packet *p)
{
	uint32_t off = ip[0] >> 4 == 4 ? (ip[0] & 0xf) * 4u : sizeof(struct ip6_hdr);
	uint8_t protocol = ip[ip[0] >> 4 == 4 ? offsetof(struct iphdr, protocol) : 6];

	if (protocol == IPPROTO_UDP && off + sizeof(struct udphdr) <= len) {
		p->flow = flow_of(ip + off);
		off += sizeof(struct udphdr);
	} else if (protocol == IPPROTO_TCP && off + sizeof(struct tcphdr) <= len) {
		p->flow = flow_of(ip + off);
		off += (ip[off + 12] >> 4) * 4u;
	}
	p->payload_len = off < len ? len - off : 0;
}

static int parse_gso(const struct virtio_net_hdr *vnet, struct packet *p)
{
	const uint8_t *ip = p->frame + SEGMENT_VNET_LEN;
	uint8_t type = vnet->gso_type & ~VIRTIO_NET_HDR_GSO_ECN;
	uint32_t off = vnet->csum_start;

	if (type != VIRTIO_NET_HDR_GSO_TCPV4 && type != VIRTIO_NET_HDR_GSO_TCPV6)
		return -EINVAL;
	if (!(vnet->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || !vnet->gso_size ||
	    off + sizeof(struct tcphdr) > p->ip_len)
		return -EINVAL;
	p->transport_off = off;
	p->flow = flow_of(ip + off);
	p->header_len = off + (ip[off + 12] >> 4) * 4u;
	if (p->header_len > SEGMENT_HEADER_MAX || p->header_len >= p->ip_len)
		return -EINVAL;
	p->gso_size = vnet->gso_size;
	p->payload_len = p->ip_len - p->header_len;
	p->segments = (p->payload_len + p->gso_size - 1) / p->gso_size;
	return 0;
}

int packet_parse(const uint8_t *frame, size_t len, struct packet *ret)
{
	struct virtio_net_hdr vnet;
	uint32_t total;

	if (len <= SEGMENT_VNET_LEN || len > SEGMENT_FRAME_MAX)
		return -EINVAL;
	memcpy(&vnet, frame, sizeof(vnet));
	*ret = (struct packet){
		.frame = frame,
		.ip_len = len - SEGMENT_VNET_LEN,
		.segments = 1,
	};
	total = ip_total_len(frame + SEGMENT_VNET_LEN, ret->ip_len);
	if (total != ret->ip_len)
		return -EINVAL;
	if (vnet.gso_type != VIRTIO_NET_HDR_GSO_NONE)
		return parse_gso(&vnet, ret);
	parse_plain(frame + SEGMENT_VNET_LEN, ret->ip_len, ret);
	return 0;
}

/* Payload bytes of @count segments from @first on. */
static uint32_t run_payload_len(const struct packet *p, unsigned int first, unsigned int count)
{
	uint32_t begin = first * p->gso_size;
	uint32_t end = (first + count) * p->gso_size;

	return (end < p->payload_len ? end : p->payload_len) - begin;
}

uint32_t packet_segment_bytes(const struct packet *p, unsigned int index)
{
	if (!p->gso_size)
		return p->ip_len;
	return p->header_len + run_payload_len(p, index, 1);
}

static void fix_ipv4_checksum(uint8_t *ip)
{
	uint8_t *check = ip + offsetof(struct iphdr, check);

	put16(check, 0);
	put16(check, ~checksum_fold(checksum_add(ip, (ip[0] & 0xf) * 4u, 0)));
}

static void fix_ip(uint8_t *ip, uint32_t total_len, unsigned int first)
{
	if (ip[0] >> 4 == 6) {
		put16(ip + 4, total_len - sizeof(struct ip6_hdr));
		return;
	}
	put16(ip + offsetof(struct iphdr, tot_len), total_len);
	put16(ip + offsetof(struct iphdr, id), get16(ip + offsetof(struct iphdr, id)) + first);
	fix_ipv4_checksum(ip);
}

/*
 * A partial checksum is the folded pseudo-header sum, which holds the segment's length: only
 * that changes, so the addresses (and IPv6 routing headers) need not be looked at.
 */
static void fix_tcp(uint8_t *tcp, const struct packet *p, unsigned int first, unsigned int count,
		    uint32_t total_len)
{
	uint16_t old_len = p->ip_len - p->transport_off;
	uint16_t new_len = total_len - p->transport_off;
	uint16_t sum = get16(tcp + offsetof(struct tcphdr, check));
	uint32_t seq;

	memcpy(&seq, tcp + offsetof(struct tcphdr, seq), sizeof(seq));
	seq = htonl(ntohl(seq) + first * p->gso_size);
	memcpy(tcp + offsetof(struct tcphdr, seq), &seq, sizeof(seq));
	put16(tcp + offsetof(struct tcphdr, check),
	      checksum_fold((uint32_t)sum + (uint16_t)~old_len + new_len));
	if (first + count < p->segments)
		tcp[TCP_FLAGS_OFF] &= ~(TCP_FLAG_FIN | TCP_FLAG_PSH);
	if (first)
		tcp[TCP_FLAGS_OFF] &= ~TCP_FLAG_CWR;
}

void packet_build_run(const struct packet *p, unsigned int first, unsigned int count,
		      struct run_image *ret)
{
	uint8_t *ip = ret->headers + SEGMENT_VNET_LEN;
	struct virtio_net_hdr vnet;
	uint32_t total_len;

	if (count == p->segments) { /* the packet as it came */
		ret->headers_len = SEGMENT_VNET_LEN;
		memcpy(ret->headers, p->frame, SEGMENT_VNET_LEN);
		ret->payload = p->frame + SEGMENT_VNET_LEN;
		ret->payload_len = p->ip_len;
		return;
	}
	ret->headers_len = SEGMENT_VNET_LEN + p->header_len;
	ret->payload = p->frame + ret->headers_len + (size_t)first * p->gso_size;
	ret->payload_len = run_payload_len(p, first, count);
	memcpy(ret->headers, p->frame, ret->headers_len);
	total_len = p->header_len + ret->payload_len;
	fix_ip(ip, total_len, first);
	fix_tcp(ip + p->transport_off, p, first, count, total_len);

	memcpy(&vnet, p->frame, sizeof(vnet));
	vnet.hdr_len = p->header_len;
	if (first)
		vnet.gso_type &= ~VIRTIO_NET_HDR_GSO_ECN;
	if (count == 1) {
		vnet.gso_type = VIRTIO_NET_HDR_GSO_NONE;
		vnet.gso_size = 0;
	}
	memcpy(ret->headers, &vnet, sizeof(vnet));
}

/* Traffic class of IPv6: the four bits behind the version, and the four after them. */
bool packet_is_ect(const struct packet *p)
{
	const uint8_t *ip = p->frame + SEGMENT_VNET_LEN;

	return ip[0] >> 4 == 4 ? ip[1] & ECN_MASK : ip[1] >> 4 & ECN_MASK;
}

void run_mark_ce(struct run_image *image)
{
	uint8_t *ip = image->headers + SEGMENT_VNET_LEN;

	/* a packet as it came: its IP header is to be copied before it is changed */
	if (image->headers_len == SEGMENT_VNET_LEN) {
		size_t len = image->payload[0] >> 4 == 4 ? (image->payload[0] & 0xf) * 4u
							 : sizeof(struct ip6_hdr);

		if (len > image->payload_len)
			return;
		memcpy(ip, image->payload, len);
		image->headers_len += len;
		image->payload += len;
		image->payload_len -= len;
	}
	if (ip[0] >> 4 == 6) {
		ip[1] |= ECN_MASK << 4;
		return;
	}
	ip[1] |= ECN_MASK;
	fix_ipv4_checksum(ip);
}
