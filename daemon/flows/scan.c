// SPDX-License-Identifier: GPL-2.0-only
#include "flows/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "host/netns.h"
#include "kern/maps.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"

/* A record in the ring, with its header, a multiple of eight bytes. */
#define RECORD_BYTES ((sizeof(struct tcptuned_flow_record) + 8 + 7) / 8 * 8)
#define RING_RECORDS (READOUT_RING_BYTES / RECORD_BYTES)

/*
 * The iterator ends a read() with EAGAIN after a million sockets without output (bpf_seq_read(),
 * MAX_ITER_OBJECTS); the next read() continues from there.
 */
#define READ_AGAIN_MAX 1000

_Static_assert(RING_RECORDS / 2 > READOUT_LOOK_EVERY, "room for what comes before a read() ends");

static void compile_prefix(const struct tcptuned_prefix *from, struct readout_prefix *ret)
{
	memcpy(ret->word, from->address, sizeof(ret->word));
	memset(ret->mask, 0xff, sizeof(ret->mask));
	tcptuned_prefix_mask((__u8 *)ret->mask, from->length);
}

/* The part of @filter that the kernel applies: all but policy and congestion control. */
static void compile_filter(const struct tcptuned_filter *filter, struct readout_filter *ret)
{
	memset(ret, 0, sizeof(*ret));
	compile_prefix(&filter->address, &ret->any_address);
	compile_prefix(&filter->local, &ret->local);
	compile_prefix(&filter->remote, &ret->remote);
	ret->any_port = filter->port;
	ret->local_port = filter->local_port;
	ret->remote_port = filter->remote_port;
	ret->netns = filter->netns;
	ret->active_since = filter->active_since;
	ret->given = 1;
}

bool tcptuned_scan_matches(const struct tcptuned_filter *filter,
			   const struct tcptuned_flow_record *r, const char *policy)
{
	struct readout_filter compiled;
	__u32 local[4], remote[4];

	compile_filter(filter, &compiled);
	tcptuned_prefix_map_address(local, r->family, r->local);
	tcptuned_prefix_map_address(remote, r->family, r->remote);
	return readout_matches(&compiled, local, remote, r->local_port, r->remote_port, r->netns) &&
	       (!filter->policy[0] || !strcmp(filter->policy, policy)) &&
	       (!filter->congestion_control[0] ||
		!strcmp(filter->congestion_control, r->congestion_control));
}

struct reading {
	struct tcptuned_flows *flows;
	const struct tcptuned_bpf *bpf;
	struct ring_buffer *ring;
	struct readout *readout;
	struct budget *budget;
	bool drops; /* records in the ring are an earlier reader's */
	int error;  /* of the first record that could not be added */
};

static int take_record(void *ctx, void *data, size_t size)
{
	struct reading *reading = ctx;
	int error = -EPROTO;

	if (reading->drops)
		return 0;
	if (size >= sizeof(struct tcptuned_flow_record))
		error = tcptuned_flows_add(reading->flows, data);
	if (!reading->error)
		reading->error = error;
	return 0;
}

static int empty_ring(struct reading *reading)
{
	int got = ring_buffer__consume(reading->ring);

	return got < 0 ? got : 0;
}

/* Run an iterator to its end. For a byte that it writes, the ring may have to be emptied. */
static int run_iterator(struct reading *reading, int fd)
{
	int again = 0, error = 0;
	ssize_t got;
	char byte;

	while (!error) {
		got = read(fd, &byte, sizeof(byte));
		if (got >= 0)
			error = empty_ring(reading);
		else if (errno == EAGAIN && again++ < READ_AGAIN_MAX)
			continue;
		else if (errno != EINTR)
			return -errno;
		if (!got)
			break;
	}
	return error ?: reading->error;
}

static int create_and_run(struct reading *reading, const struct bpf_link *link)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(link));

	return fd < 0 ? -errno : run_iterator(reading, fd);
}

static void read_namespace(void *ctx)
{
	struct reading *reading = ctx;

	if (!reading->error && tcptuned_netns_has_sockets())
		reading->error = create_and_run(reading, reading->bpf->links.dump_tcp);
}

static void read_iterator(void *ctx, int iterator)
{
	struct reading *reading = ctx;

	if (!reading->error)
		reading->error = run_iterator(reading, iterator);
}

static int run_iterators(struct reading *reading, const struct tcptuned_kernel *kernel)
{
	if (reading->bpf->links.dump_flows)
		return create_and_run(reading, reading->bpf->links.dump_flows);
	if (kernel->each_namespace)
		return kernel->each_namespace(read_iterator, reading) ?: reading->error;
	return tcptuned_netns_for_each(read_namespace, reading, NULL) ?: reading->error;
}

static int read_everything(struct reading *reading, const struct tcptuned_kernel *kernel)
{
	struct tcptuned_flows *flows = reading->flows;
	int fd = bpf_map__fd(reading->bpf->maps.readout), error;
	__u32 zero = 0;
	__s64 before;

	reading->drops = true; /* of a daemon that was killed while it was reading */
	error = empty_ring(reading);
	if (error)
		return error;
	reading->drops = false;
	reading->readout->request.wanted =
		flows->choice.order || flows->choice.wanted ? READOUT_ALL : flows->top_max;
	if (bpf_map_update_elem(fd, &zero, reading->readout, BPF_ANY))
		return -errno;
	before = __atomic_load_n(&reading->budget->records, __ATOMIC_RELAXED);
	error = run_iterators(reading, kernel);
	if (error)
		return error;
	if (bpf_map_lookup_elem(fd, &zero, reading->readout))
		return -errno;
	/*
	 * by iter/tcp without the sockets that are closed, and still open files: their end makes it
	 * too small
	 */
	budget_recount(reading->budget, before, (__s64)reading->readout->sums.records);
	flows->jiffies = reading->readout->jiffies;
	tcptuned_flows_sum_up(flows, &reading->readout->sums);
	return 0;
}

/* A lock of fcntl() is the process's own, also after a fork, and goes with it. */
static int lock(const struct tcptuned_kernel *kernel, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};

	if (kernel->scan_lock < 0)
		return 0;
	return fcntl(kernel->scan_lock, kernel->scan_waits ? F_SETLKW : F_SETLK, &whole) ? -errno
											 : 0;
}

static int read_all(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel,
		    const struct tcptuned_filter *filter)
{
	_cleanup_free_ struct readout *readout = calloc(1, sizeof(*readout));
	_cleanup_budget_ struct budget *budget = tcptuned_maps_open_budget(kernel);
	const struct tcptuned_bpf *bpf = kernel->bpf;
	struct reading reading = {
		.flows = flows,
		.bpf = bpf,
		.readout = readout,
		.budget = budget,
	};
	int error;

	tcptuned_flows_begin(flows);
	if (!readout)
		return -ENOMEM;
	if (!budget || (!bpf->links.dump_flows && !bpf->links.dump_tcp))
		return -ENOENT;
	reading.ring =
		ring_buffer__new(bpf_map__fd(bpf->maps.collected), take_record, &reading, NULL);
	if (!reading.ring)
		return -errno;
	if (filter)
		compile_filter(filter, &readout->request.filter);
	error = read_everything(&reading, kernel);
	tcptuned_flows_end(flows);
	ring_buffer__free(reading.ring);
	return error;
}

int tcptuned_scan(struct tcptuned_flows *flows, const struct tcptuned_kernel *kernel,
		  const struct tcptuned_filter *filter, struct tcptuned_error *err)
{
	int error = lock(kernel, F_WRLCK);

	if (!error) {
		error = read_all(flows, kernel, filter);
		lock(kernel, F_UNLCK);
	}
	if (!error)
		return 0;
	return FAIL(err, -error, KERNEL, "the records of connections cannot be read: %s",
		    strerror(-error));
}
