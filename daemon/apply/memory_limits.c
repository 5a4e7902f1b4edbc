// SPDX-License-Identifier: GPL-2.0-only
#include "apply/memory_limits.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "kern/maps.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"
#include "util/log.h"

/*
 * `receive_window_max = auto`, bytes: buffers of 64 MB, enough for 1 Gbit/s at 250 ms. Any
 * connection of the host may hold that much in the kernel, so that a larger one has to be
 * configured.
 */
#define WINDOW_AUTO	(32u << 20)
#define WINDOW_AUTO_MIN (4u << 20)
#define WINDOW_MIN	(64u << 10) /* of any receive_window_max */

/* So many connections may have a record, however little memory the host has. */
#define RECORDS_MAX_MIN 65536

/*
 * The memory, in bytes, beyond which TCP is under memory pressure: the middle value of tcp_mem.
 * That is one value for the host, and visible only in the first network namespace. In another one,
 * assume what the kernel sets at boot (tcp_init_mem()), a sixteenth of the memory; then @ret_seen
 * is false.
 */
static uint64_t pressure_bytes(bool *ret_seen)
{
	uint64_t pages = tcptuned_sysctl_number("net.ipv4.tcp_mem", 1);

	*ret_seen = pages;
	if (!pages)
		pages = (uint64_t)sysconf(_SC_PHYS_PAGES) / 16;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct tcptuned_window_limits tcptuned_memory_window_limits(const struct tcptuned_daemon *d,
							    enum tcptuned_sysctl which)
{
	uint64_t maximum =
		tcptuned_sysctl_maximum_before(bpf_map__fd(d->kernel.bpf->maps.meta), which);
	struct tcptuned_window_limits limits = {.kernel_max = (uint32_t)MIN(maximum, INT_MAX)};
	bool seen;
	uint64_t quarter = pressure_bytes(&seen) / 4;

	limits.window_kernel = MAX(limits.kernel_max / 2, WINDOW_MIN);
	limits.window_auto = (uint32_t)MAX(MIN(quarter, WINDOW_AUTO), WINDOW_AUTO_MIN);
	limits.window_auto = MAX(limits.window_auto, limits.window_kernel);
	return limits;
}

uint32_t tcptuned_memory_window_max(const struct tcptuned_window_limits *limits,
				    uint32_t configured)
{
	if (configured == TCPTUNED_WINDOW_KERNEL)
		return limits->window_kernel;
	return configured ? configured : limits->window_auto;
}

/* As configured, or three quarters of the memory that TCP may use without memory pressure. */
static uint64_t budget_total(struct tcptuned_daemon *d)
{
	bool seen;
	uint64_t total = pressure_bytes(&seen) / 4 * 3;

	if (d->config->budget_bytes)
		return d->config->budget_bytes;
	if (!seen)
		log_warning_once("memory.budget: net.ipv4.tcp_mem cannot be read outside the first "
				 "network namespace: auto is %llu bytes here, in proportion to the "
				 "host's memory",
				 (unsigned long long)total);
	return total;
}

/* A connection's record takes about 1 KB of slab: all of them at most 1/64 of the memory. */
static uint64_t records_max(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return MAX(bytes / 64 / 1024, RECORDS_MAX_MIN);
}

/* BPF programs update the record at the same time, so that only the two limits are written. */
int tcptuned_memory_budget_set(struct tcptuned_daemon *d)
{
	_cleanup_budget_ struct budget *mapped = tcptuned_maps_open_budget(&d->kernel);
	__u64 total;

	if (!mapped)
		return -errno;
	total = budget_total(d);
	__atomic_store_n(&mapped->total, total, __ATOMIC_RELAXED);
	__atomic_store_n(&mapped->records_max, records_max(), __ATOMIC_RELAXED);
	return 0;
}

bool tcptuned_memory_budget_is_short(const struct tcptuned_daemon *d)
{
	int fd = bpf_map__fd(d->kernel.bpf->maps.budget);
	struct budget budget;
	__u32 zero = 0;

	/* One prefix may want more than its share while the others want nothing. */
	return !bpf_map_lookup_elem(fd, &zero, &budget) && budget.total &&
	       budget.wanted > budget_prefix_max(&budget);
}

/*
 * The memory that setsockopt() with @option, and bpf_setsockopt(), can give one socket: twice
 * net.core.rmem_max (wmem_max), which only newer kernels show outside the first network namespace.
 * It is not tried on a TCP socket, whose requests tcptuned intercepts. 0: unknown.
 */
static uint32_t buffer_max(int option)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int max = INT_MAX, bytes;
	socklen_t len = sizeof(bytes);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, option, &max, sizeof(max)) ||
	    getsockopt(fd, SOL_SOCKET, option, &bytes, &len))
		return 0;
	return (uint32_t)bytes;
}

/*
 * The memory for such windows, which initially take half of their buffer
 * (TCP_DEFAULT_SCALING_RATIO). A power of two is reduced by one, for two reasons. The kernel
 * derives the window scale from tcp_rmem, and needs one more for a power of two than for a byte
 * less (tcp_select_initial_window()); a coarse scale is harmful, because every other ACK may
 * advertise up to one unit more. And administrators set powers of two, so that such a value found
 * at the stop is theirs.
 */
static uint64_t buffer_for(uint32_t window)
{
	uint64_t bytes = MIN(2ull * window, INT_MAX);

	return bytes && !(bytes & (bytes - 1)) ? bytes - 1 : bytes;
}

/* The largest window of the policies with this mode, bytes; 0: there is none. */
static uint32_t max_window(const struct tcptuned_daemon *d, enum tcptuned_mode mode, bool receive)
{
	uint32_t max = 0;

	for (size_t i = 0; i < d->policies_len; i++) {
		const struct tcptuned_policy *p = &d->policies[i].record;

		if (p->mode == mode)
			max = MAX(max, receive ? p->rcv_window_max : p->snd_window_max);
	}
	return max;
}

/*
 * What @which has to be for the windows of the policies with this mode, bytes. tcp_rmem applies to
 * every connection, because it determines the window scale. Send buffers beyond tcp_wmem are set
 * one by one, and bpf_setsockopt() gives twice net.core.wmem_max.
 */
static uint64_t limit_for(const struct tcptuned_daemon *d, enum tcptuned_sysctl which,
			  enum tcptuned_mode mode)
{
	uint64_t bytes = buffer_for(max_window(d, mode, which == TCPTUNED_SYSCTL_TCP_RMEM));

	if (which == TCPTUNED_SYSCTL_TCP_RMEM)
		return bytes;
	if (bytes <= tcptuned_sysctl_maximum_before(bpf_map__fd(d->kernel.bpf->maps.meta),
						    TCPTUNED_SYSCTL_TCP_WMEM))
		return 0;
	return (bytes + 1) / 2;
}

/* Set the maximum of @which, or restore it if it was enough. @consequence: of a failure. */
static void set_limit(struct tcptuned_daemon *d, enum tcptuned_sysctl which,
		      const char *consequence)
{
	int meta_fd = bpf_map__fd(d->kernel.bpf->maps.meta), error;
	uint64_t before = tcptuned_sysctl_maximum_before(meta_fd, which);
	uint64_t bytes = limit_for(d, which, TCPTUNED_TUNE);
	uint64_t would = limit_for(d, which, TCPTUNED_OBSERVE);

	if (d->options->observe && would > before)
		log_info_once("observe: would set the maximum of %s to %llu",
			      tcptuned_sysctl_name(which), (unsigned long long)would);
	/* Open connections go on to set send buffers: only a stop lowers what they may set. */
	if (which == TCPTUNED_SYSCTL_WMEM_MAX &&
	    bytes <= tcptuned_sysctl_number(tcptuned_sysctl_name(which), 0))
		return;
	if (bytes <= before) {
		tcptuned_sysctl_restore(meta_fd, which);
		return;
	}
	error = tcptuned_sysctl_set_maximum(meta_fd, which, bytes);
	if (error)
		log_warning_once("the maximum of %s cannot be set to %llu: %s; %s",
				 tcptuned_sysctl_name(which), (unsigned long long)bytes,
				 strerror(-error), consequence);
}

void tcptuned_memory_buffer_limits_set(struct tcptuned_daemon *d)
{
	uint64_t before = 2 * tcptuned_sysctl_maximum_before(bpf_map__fd(d->kernel.bpf->maps.meta),
							     TCPTUNED_SYSCTL_WMEM_MAX);
	uint32_t receive = buffer_max(SO_RCVBUF), send, request;

	set_limit(d, TCPTUNED_SYSCTL_TCP_RMEM, "windows stay within half of the present one");
	set_limit(d, TCPTUNED_SYSCTL_WMEM_MAX, "send buffers are left to the kernel");
	send = buffer_max(SO_SNDBUF);
	request = before ? (uint32_t)MIN(before, send) : send; /* 0: cannot be read here */
	for (size_t i = 0; i < d->policies_len; i++) {
		d->policies[i].record.rcv_buffer_max = receive;
		d->policies[i].record.snd_buffer_max = send;
		d->policies[i].record.snd_request_max = request;
	}
}
