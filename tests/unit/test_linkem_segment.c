// SPDX-License-Identifier: GPL-2.0-only
/* GSO packets, cut at random: each run is a correct packet, and together they are the original. */
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>

#include "test.h"
#include "segment.h"

#define FIN    0x01
#define PSH    0x08
#define CWR    0x80
#define ROUNDS 1000

/* A packet under test: exactly as long as its bytes, so that ASan sees one byte too far. */
struct frame {
	uint8_t *bytes;
	size_t len;
	unsigned int version;
	uint32_t ip_header, tcp_header, payload;
};

static uint16_t get16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static uint32_t pseudo_sum(const uint8_t *ip, uint32_t tcp_len)
{
	bool v4 = ip[0] >> 4 == 4;

	return checksum_add(ip + (v4 ? 12 : 8), v4 ? 8 : 32, IPPROTO_TCP + tcp_len);
}

static void fill_ip(struct frame *f, uint8_t *ip)
{
	uint32_t len = f->len - SEGMENT_VNET_LEN;

	if (f->version == 6) {
		ip[0] = 0x60;
		put16(ip + 4, len - 40);
		ip[6] = f->ip_header > 40 ? 0 : IPPROTO_TCP; /* 0: hop-by-hop options */
		if (f->ip_header > 40) {
			ip[40] = IPPROTO_TCP;
			ip[41] = (f->ip_header - 40) / 8 - 1;
		}
		return;
	}
	ip[0] = 0x40 | f->ip_header / 4;
	put16(ip + 2, len);
	ip[9] = IPPROTO_TCP;
	put16(ip + 10, 0);
	put16(ip + 10, ~checksum_fold(checksum_add(ip, f->ip_header, 0)));
}

static struct frame random_frame(uint32_t gso_size, uint32_t payload)
{
	struct frame f = {.version = random() & 1 ? 4 : 6, .payload = payload};
	struct virtio_net_hdr vnet = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM};
	bool ecn = random() & 1;
	uint8_t *ip, *tcp;

	f.ip_header = f.version == 4 ? random_between(5, 15) * 4 : random_between(5, 6) * 8;
	f.tcp_header = random_between(5, 15) * 4;
	f.len = SEGMENT_VNET_LEN + f.ip_header + f.tcp_header + payload;
	f.bytes = malloc(f.len);
	for (size_t i = 0; i < f.len; i++)
		f.bytes[i] = random();
	ip = f.bytes + SEGMENT_VNET_LEN;
	tcp = ip + f.ip_header;
	fill_ip(&f, ip);
	tcp[12] = f.tcp_header / 4 << 4;
	tcp[13] = ecn ? tcp[13] | CWR : tcp[13] & ~CWR;
	put16(tcp + 16, checksum_fold(pseudo_sum(ip, f.tcp_header + payload)));

	vnet.csum_start = f.ip_header;
	vnet.csum_offset = 16;
	vnet.hdr_len = f.ip_header + f.tcp_header;
	if (payload > gso_size) {
		vnet.gso_size = gso_size;
		vnet.gso_type = f.version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4
					       : VIRTIO_NET_HDR_GSO_TCPV6;
		if (ecn)
			vnet.gso_type |= VIRTIO_NET_HDR_GSO_ECN;
	}
	memcpy(f.bytes, &vnet, sizeof(vnet));
	return f;
}

/* Returns a run, with or without a mark, in memory of exactly its length. */
static uint8_t *build_run(const struct packet *p, unsigned int first, unsigned int count, bool mark,
			  size_t *ret_len)
{
	struct run_image image;
	uint8_t *bytes;

	packet_build_run(p, first, count, &image);
	if (mark)
		run_mark_ce(&image);
	*ret_len = image.headers_len + image.payload_len;
	bytes = malloc(*ret_len);
	memcpy(bytes, image.headers, image.headers_len);
	memcpy(bytes + image.headers_len, image.payload, image.payload_len);
	return bytes;
}

static void assert_run(const struct frame *f, const struct packet *p, unsigned int first,
		       unsigned int count)
{
	const uint8_t *ip0 = f->bytes + SEGMENT_VNET_LEN, *tcp0 = ip0 + f->ip_header;
	uint32_t begin = first * p->gso_size, tcp_len, payload;
	bool last = first + count == p->segments;
	struct virtio_net_hdr vnet;
	uint8_t *bytes, *ip, *tcp;
	struct packet again;
	size_t total;

	bytes = build_run(p, first, count, false, &total);
	memcpy(&vnet, bytes, sizeof(vnet));
	ip = bytes + SEGMENT_VNET_LEN;
	tcp = ip + f->ip_header;
	tcp_len = total - SEGMENT_VNET_LEN - f->ip_header;
	payload = tcp_len - f->tcp_header;

	/* it is itself a packet of @count segments, of the sizes announced */
	assert_int_equal(packet_parse(bytes, total, &again), 0);
	assert_int_equal(again.segments, count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(packet_segment_bytes(&again, i),
				 packet_segment_bytes(p, first + i));
	assert_int_equal(payload, last ? f->payload - begin : count * p->gso_size);
	assert_memory_equal(tcp + f->tcp_header, tcp0 + f->tcp_header + begin, payload);

	assert_int_equal(get32(tcp + 4), get32(tcp0 + 4) + begin);
	assert_int_equal(tcp[13], tcp0[13] & ~(last ? 0 : FIN | PSH) & ~(first ? CWR : 0));
	if (f->version == 4) {
		assert_int_equal(get16(ip + 4), (uint16_t)(get16(ip0 + 4) + first));
		assert_int_equal(checksum_fold(checksum_add(ip, f->ip_header, 0)), 0xffff);
	}
	assert_int_equal(vnet.gso_size, count > 1 ? p->gso_size : 0);
	assert_int_equal(!!(vnet.gso_type & VIRTIO_NET_HDR_GSO_ECN), count > 1 && tcp[13] & CWR);
	assert_int_equal(vnet.hdr_len, f->ip_header + f->tcp_header);
	if (count == p->segments)
		assert_memory_equal(bytes, f->bytes, f->len);
	/* its checksum is right once the sender's device has completed it */
	put16(tcp + 16, ~checksum_fold(checksum_add(tcp, tcp_len, 0)));
	assert_int_equal(checksum_fold(checksum_add(tcp, tcp_len, pseudo_sum(ip, tcp_len))),
			 0xffff);
	free(bytes);
}

/* A packet of one segment passes unchanged. */
TEST(runs_are_correct_packets)
{
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t gso_size = random_between(500, 9000);
		uint32_t payload = random_between(0, random() % 4 ? 65300 : gso_size);
		struct frame f = random_frame(gso_size, payload);
		unsigned int next = 0;
		struct packet p;

		assert_int_equal(packet_parse(f.bytes, f.len, &p), 0);
		assert_int_equal(p.segments, payload ? (payload + gso_size - 1) / gso_size : 1);
		if (p.segments > 1 || f.version == 4 || f.ip_header == 40) {
			const uint8_t *tcp = f.bytes + SEGMENT_VNET_LEN + f.ip_header;

			assert_int_equal(p.payload_len, payload);
			assert_int_equal(p.flow, get16(tcp) ^ get16(tcp + 2));
		}
		while (next < p.segments) {
			unsigned int count = random_between(1, p.segments - next);

			assert_run(&f, &p, next, count);
			next += count + (random() % 3 == 0); /* sometimes a hole */
		}
		free(f.bytes);
	}
}

/* A mark changes the ECN bits and the checksum of IPv4. TCP's does not cover them. */
static void assert_marked(const struct frame *f, const struct packet *p, unsigned int first,
			  unsigned int count)
{
	size_t len, marked_len;
	uint8_t *want = build_run(p, first, count, false, &len);
	uint8_t *got = build_run(p, first, count, true, &marked_len);
	uint8_t *ip = got + SEGMENT_VNET_LEN;

	want[SEGMENT_VNET_LEN + 1] |= f->version == 4 ? 0x03 : 0x30;
	if (f->version == 4) {
		assert_int_equal(checksum_fold(checksum_add(ip, f->ip_header, 0)), 0xffff);
		memcpy(ip + 10, want + SEGMENT_VNET_LEN + 10, 2);
	}
	assert_int_equal(marked_len, len);
	assert_memory_equal(got, want, len);
	free(want);
	free(got);
}

TEST(marks_leave_correct_packets)
{
	unsigned int capable = 0;

	for (int round = 0; round < ROUNDS; round++) {
		uint32_t gso_size = random_between(500, 9000);
		struct frame f = random_frame(gso_size, random_between(0, 65300));
		const uint8_t *ip = f.bytes + SEGMENT_VNET_LEN;
		unsigned int ecn = (f.version == 4 ? ip[1] : ip[1] >> 4) & 3, first;
		struct packet p;

		assert_int_equal(packet_parse(f.bytes, f.len, &p), 0);
		assert_int_equal(packet_is_ect(&p), ecn != 0);
		capable += ecn != 0;
		first = random_between(0, p.segments - 1);
		assert_marked(&f, &p, 0, p.segments);
		assert_marked(&f, &p, first, random_between(1, p.segments - first));
		free(f.bytes);
	}
	assert_in_range(capable, ROUNDS * 0.7, ROUNDS * 0.8);
}

/* Damaged packets are refused, or are read within their bounds, which the sanitizer checks. */
TEST(damaged_packets)
{
	unsigned int refused = 0;

	for (int round = 0; round < 5000; round++) {
		struct frame f = random_frame(random_between(1, 1000), random_between(0, 4000));
		size_t len = random() & 1 ? f.len : random_between(0, f.len);
		uint8_t *bytes = malloc(len ? len : 1);
		struct run_image image;
		struct packet p;

		memcpy(bytes, f.bytes, len);
		for (int i = 0; i < 3 && len; i++)
			bytes[random_between(0, len > 80 ? 80 : len - 1)] = random();
		if (packet_parse(bytes, len, &p)) {
			refused++;
		} else {
			for (unsigned int i = 0; i < p.segments; i++)
				packet_build_run(&p, i, 1, &image);
			run_mark_ce(&image);
			if (p.segments > 2)
				packet_build_run(&p, 1, p.segments - 1, &image);
		}
		free(bytes);
		free(f.bytes);
	}
	assert_in_range(refused, 2500, 5000);
}

TEST(refuses)
{
	struct frame f = random_frame(1000, 5000);
	struct virtio_net_hdr *vnet = (void *)f.bytes;
	struct packet p;

	assert_int_equal(packet_parse(f.bytes, SEGMENT_VNET_LEN, &p), -EINVAL);
	assert_int_equal(packet_parse(f.bytes, f.len - 1, &p), -EINVAL);
	vnet->gso_type = VIRTIO_NET_HDR_GSO_UDP;
	assert_int_equal(packet_parse(f.bytes, f.len, &p), -EINVAL);
	vnet->gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
	vnet->flags = 0; /* a complete checksum cannot be adapted */
	assert_int_equal(packet_parse(f.bytes, f.len, &p), -EINVAL);
	free(f.bytes);
}
