/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * GSO segments of several packets as TUN devices hand them over (struct virtio_net_hdr in front),
 * seen as the MSS-sized segments that a real link would carry. Pure: no system call, no allocation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/virtio_net.h>

/* The 10-byte header that IFF_VNET_HDR puts in front of every packet. */
#define SEGMENT_VNET_LEN 10
/* Longest IP + TCP header that a GSO segment may have and still be split. */
#define SEGMENT_HEADER_MAX 256
/* Room that one read from a TUN device may need: vnet header, IPv6 header, 64 KiB. */
#define SEGMENT_FRAME_MAX 67584

/* A packet as read from a TUN device; @frame stays the caller's. */
struct packet {
	const uint8_t *frame; /* struct virtio_net_hdr, then the IP packet */
	uint32_t ip_len;      /* bytes from the IP header to the end */
	uint32_t payload_len; /* bytes behind the transport header, 0 where there is none */
	uint16_t flow; /* TCP, UDP: XOR of the ports, different while one port stays the same */
	uint16_t header_len;	/* GSO: IP + TCP header; otherwise 0 */
	uint16_t gso_size;	/* GSO: payload bytes of a full segment; otherwise 0 */
	uint16_t segments;	/* at least 1 */
	uint16_t transport_off; /* GSO: where the TCP header begins, from the IP header */
};

/*
 * Reads the headers of @len bytes of @frame into @ret. 0, or -EINVAL for what no TUN device
 * should deliver: too short, a length that contradicts the IP header, or a GSO segment that
 * is not TCP with a partial checksum.
 */
int packet_parse(const uint8_t *frame, size_t len, struct packet *ret);

/* Bytes that segment @index (from 0) occupies on the link: IP header to last payload byte. */
uint32_t packet_segment_bytes(const struct packet *p, unsigned int index);

/* A run of adjacent segments of one packet, ready for writev(): headers, then payload. */
struct run_image {
	uint8_t headers[SEGMENT_VNET_LEN + SEGMENT_HEADER_MAX];
	size_t headers_len;
	const uint8_t *payload; /* points into the packet's frame */
	size_t payload_len;
};

/*
 * Builds @count segments from @first on as a packet of their own: total length, IPv4 id and
 * checksum, TCP sequence number, FIN and PSH only if the last segment is in, CWR only if the
 * first is, partial checksum for the new length; a GSO segment if @count > 1, as the kernel's
 * own tcp_gso_segment() would have cut it.
 */
void packet_build_run(const struct packet *p, unsigned int first, unsigned int count,
		      struct run_image *ret);

/* Whether the packet is ECN-capable (RFC 3168: ECT(0), ECT(1), or CE already). */
bool packet_is_ect(const struct packet *p);
/* Sets CE in a run that was built from such a packet, and mends the IPv4 header's checksum. */
void run_mark_ce(struct run_image *image);

/* RFC 1071 sum of @len bytes onto @sum, not folded: for the IPv4 header and for tests. */
uint32_t checksum_add(const void *data, size_t len, uint32_t sum);
/* Folds carries into 16 bits; the checksum field is the complement of it. */
uint16_t checksum_fold(uint32_t sum);
