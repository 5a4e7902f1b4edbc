// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "flows/scan.h"
#include "util/cleanup.h"

/* A record in the ring, with its header, a multiple of eight bytes. */
#define RECORD_BYTES ((sizeof(struct tcptuned_flow_record) + 8 + 7) / 8 * 8)
#define RING_RECORDS (READOUT_RING_BYTES / RECORD_BYTES)

#define LOCK_TRIES    100
#define LOCK_PAUSE_NS 10000000

/*
 * The iterator gives up a read() with EAGAIN after a million sockets of which it had nothing
 * to say (bpf_seq_read(), MAX_ITER_OBJECTS); the next read() goes on from there.
 */
#define READ_AGAIN_MAX 1000

_Static_assert(RING_RECORDS > 1000 + READOUT_SPARE, "room for what metrics.flows may be");
_Static_assert(RING_RECORDS / 2 > READOUT_LOOK_EVERY, "room for what comes before a read() ends");

struct reading {
	struct tcptuned_flows *flows;
	int map_fd, ring_fd, link_fd;
	struct ring_buffer *ring;
	struct readout *readout;
	bool add; /* or throw away what is in the ring */
	int error; /* of the first record that could not be added */
};

/* ---- one at a time ------------------------------------------------------------------------ */

/*
 * The map of requests and sums is one. A daemon reads, or tcptunectl while there is none, but
 * there may be several of the latter, and the one may start while the other reads.
 */
static int lock(const struct tcptuned_kernel *kernel)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	int fd = open(kernel->pin_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		nanosleep(&pause, NULL);
	}
	close(fd);
	return -EBUSY;
}

/* ---- one pass ----------------------------------------------------------------------------- */

static int take_record(void *ctx, void *data, size_t size)
{
	struct reading *reading = ctx;
	int error;

	if (!reading->add)
		return 0;
	error = size < sizeof(struct tcptuned_flow_record)
			? -EPROTO
			: tcptuned_flows_add(reading->flows, data);
	if (!reading->error)
		reading->error = error;
	return 0;
}

static int empty_ring(struct reading *reading, bool add)
{
	int got;

	reading->add = add;
	got = ring_buffer__consume(reading->ring);
	return got < 0 ? got : 0;
}

/*
 * Have the iterator go over all sockets. What it writes says that there is more to do, and
 * perhaps that the ring is to be emptied.
 */
static int run_iterator(struct reading *reading)
{
	bool collects = reading->readout->request.pass == READOUT_COLLECT;
	_cleanup_close_ int fd = bpf_iter_create(reading->link_fd);
	int again = 0, error = 0;
	ssize_t got;
	char byte;

	if (fd < 0)
		return -errno;
	while (!error) {
		got = read(fd, &byte, sizeof(byte));
		if (!got)
			return 0;
		if (got > 0)
			error = collects ? empty_ring(reading, true) : 0;
		else if (errno == EAGAIN && again++ < READ_AGAIN_MAX)
			continue;
		else if (errno != EINTR)
			return -errno;
	}
	return error;
}

static int run_pass(struct reading *reading)
{
	__u32 zero = 0;
	int error;

	reading->readout->until_ns = 0;
	reading->readout->seen = 0;
	if (bpf_map_update_elem(reading->map_fd, &zero, reading->readout, BPF_ANY))
		return -errno;
	error = run_iterator(reading);
	if (error)
		return error;
	return bpf_map_lookup_elem(reading->map_fd, &zero, reading->readout) ? -errno : 0;
}

/* ---- both passes --------------------------------------------------------------------------- */

/* Returns -ENOSPC when there were more than the ring holds. */
static int collect(struct reading *reading, __u32 least_class, __u32 of_least)
{
	struct readout_request *request = &reading->readout->request;
	int error;

	request->pass = READOUT_COLLECT;
	request->least_class = least_class;
	request->of_least = of_least;
	reading->readout->lost = 0;
	error = run_pass(reading);
	if (!error)
		error = empty_ring(reading, true);
	if (!error)
		error = reading->error;
	if (!error && reading->readout->lost)
		error = -ENOSPC;
	return error;
}

/* They are in the ring already, unless there came too many on the way. */
static int collect_largest(struct reading *reading)
{
	__u64 wanted = reading->flows->top_max, above;
	__u32 class;
	int error;

	if (!reading->readout->lost) {
		error = empty_ring(reading, true);
		return error ? error : reading->error;
	}
	error = empty_ring(reading, false);
	if (error)
		return error;
	class = tcptuned_flows_least_class(&reading->readout->sums, wanted, &above);
	error = collect(reading, class, (__u32)(wanted + READOUT_SPARE - above));
	return error == -ENOSPC ? 0 : error;
}

static int read_everything(struct reading *reading)
{
	const struct tcptuned_flow_choice *choice = &reading->flows->choice;
	bool by_size = !choice->order && !choice->wanted &&
		       reading->flows->top_max + READOUT_SPARE <= RING_RECORDS;
	int error;

	error = empty_ring(reading, false); /* of one who was killed while reading */
	reading->readout->request.pass = READOUT_ADD_UP;
	reading->readout->request.wanted = by_size ? reading->flows->top_max : 0;
	if (!error)
		error = run_pass(reading);
	if (error)
		return error;
	tcptuned_flows_begin(reading->flows, &reading->readout->sums);
	if (!by_size)
		return collect(reading, 0, UINT32_MAX);
	if (reading->flows->top_max)
		error = collect_largest(reading);
	reading->flows->wanted = reading->readout->sums.matched;
	return error;
}

int tcptuned_readout(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel,
		     const struct tcptuned_filter *filter)
{
	_cleanup_free_ struct readout *readout = calloc(1, sizeof(*readout));
	struct reading reading = {
		.flows = flows,
		.map_fd = kernel->map_fd[TCPTUNED_MAP_READOUT],
		.ring_fd = kernel->map_fd[TCPTUNED_MAP_COLLECTED],
		.link_fd = kernel->link_fd[TCPTUNED_LINK_DUMP],
		.readout = readout,
	};
	_cleanup_close_ int lock_fd = -1;
	int error;

	tcptuned_flows_begin(flows, NULL);
	if (!readout)
		return -ENOMEM;
	if (reading.map_fd < 0 || reading.ring_fd < 0 || reading.link_fd < 0)
		return -ENOENT;
	lock_fd = lock(kernel);
	if (lock_fd < 0)
		return lock_fd;
	reading.ring = ring_buffer__new(reading.ring_fd, take_record, &reading, NULL);
	if (!reading.ring)
		return -errno;
	if (filter)
		tcptuned_readout_filter(filter, &readout->request.filter);
	error = read_everything(&reading);
	tcptuned_flows_end(flows);
	ring_buffer__free(reading.ring);
	return error;
}

/* ---- what the kernel understands of a filter ---------------------------------------------- */

static void set_bits(__u8 *bytes, unsigned int bits)
{
	for (unsigned int i = 0; i < bits; i++)
		bytes[i / 8] |= 0x80 >> i % 8;
}

static void readout_prefix(const struct tcptuned_filter_prefix *from, struct readout_prefix *ret)
{
	__u8 word[16] = { 0 }, mask[16] = { 0 };
	unsigned int mapped = from->family == AF_INET ? 12 : 0;

	memset(ret, 0, sizeof(*ret));
	if (!from->family || (!from->bits && !mapped))
		return;
	if (mapped)
		word[10] = word[11] = 0xff;
	memcpy(word + mapped, from->bytes, 16 - mapped);
	set_bits(mask, 8 * mapped + from->bits);
	memcpy(ret->word, word, sizeof(word));
	memcpy(ret->mask, mask, sizeof(mask));
}

void tcptuned_readout_filter(const struct tcptuned_filter *filter, struct readout_filter *ret)
{
	memset(ret, 0, sizeof(*ret));
	readout_prefix(&filter->address, &ret->any_address);
	readout_prefix(&filter->local, &ret->local);
	readout_prefix(&filter->remote, &ret->remote);
	ret->any_port = filter->port;
	ret->local_port = filter->local_port;
	ret->remote_port = filter->remote_port;
	ret->netns = filter->netns;
	ret->given = 1;
}
