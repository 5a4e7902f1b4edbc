// SPDX-License-Identifier: GPL-2.0-only
#include "memlimits.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include <tcptuned/budget.h>

#include "cleanup.h"
#include "flows.h"
#include "log.h"
#include "readout.h"
#include "sysctls.h"

/*
 * `receive_window_max = auto`: one BDP of 10 Gbit/s at 200 ms, or the two that right-sizing aims at
 * at 100 ms; and at most a quarter of ...
 */
#define WINDOW_MAX_AUTO	      (256u << 20)
#define WINDOW_MAX_AUTO_LEAST (4u << 20)

/* So many connections may have a record, however little memory there is. */
#define RECORDS_MAX_LEAST 65536

/*
 * The memory, in bytes, at which the kernel begins to press TCP: the middle value of tcp_mem. That
 * is one for the host, and to be seen in the first network namespace only; in another one it is
 * taken to be what the kernel makes it at boot (tcp_init_mem()), a sixteenth of what there is.
 */
static uint64_t pressure_bytes(bool *ret_seen)
{
	uint64_t pages = tcptuned_sysctl_number("net.ipv4.tcp_mem", 1);

	*ret_seen = pages;
	if (!pages)
		pages = (uint64_t)sysconf(_SC_PHYS_PAGES) / 16;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ... that memory. */
uint32_t tcptuned_window_max(uint32_t configured)
{
	bool seen;
	uint64_t quarter = pressure_bytes(&seen) / 4;

	if (configured)
		return configured;
	if (quarter > WINDOW_MAX_AUTO)
		return WINDOW_MAX_AUTO;
	return quarter < WINDOW_MAX_AUTO_LEAST ? WINDOW_MAX_AUTO_LEAST : (uint32_t)quarter;
}

/* The budget: as configured, or three quarters of what the kernel lets TCP have unpressed. */
static uint64_t budget_total(struct tcptuned_daemon *d)
{
	bool seen;
	uint64_t total = pressure_bytes(&seen) / 4 * 3;

	if (d->config->budget_bytes)
		return d->config->budget_bytes;
	if (!seen)
		tcptuned_told_log(&d->told, TCPTUNED_LOG_WARNING,
				  "memory.budget: net.ipv4.tcp_mem cannot be read, which is the "
				  "first network namespace's: auto is %llu bytes here, by the "
				  "memory that there is",
				  (unsigned long long)total);
	return total;
}

/* A connection's record takes about 1 KB of slab: all of them at most 1/64 of the memory. */
static uint64_t records_max(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return bytes / 64 / 1024 > RECORDS_MAX_LEAST ? bytes / 64 / 1024 : RECORDS_MAX_LEAST;
}

/* Programs add to the record while it is read and written: only the limits are the daemon's. */
int tcptuned_budget_set(struct tcptuned_daemon *d)
{
	int fd = d->kernel.map_fd[TCPTUNED_MAP_BUDGET];
	__u64 total = budget_total(d);
	struct budget *mapped;

	mapped = mmap(NULL, sizeof(struct budget), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	__atomic_store_n(&mapped->total, total, __ATOMIC_RELAXED);
	__atomic_store_n(&mapped->records_max, records_max(), __ATOMIC_RELAXED);
	munmap(mapped, sizeof(struct budget));
	return 0;
}

bool tcptuned_budget_is_short(const struct tcptuned_daemon *d)
{
	int fd = d->kernel.map_fd[TCPTUNED_MAP_BUDGET];
	struct budget budget;
	__u32 zero = 0;

	return !bpf_map_lookup_elem(fd, &zero, &budget) && budget_is_scarce(&budget);
}

/* ---- the buffers of one socket --------------------------------------------------------- */

static int by_receive_buffer(const void *ctx, const struct tcptuned_flow_record *a,
			     const struct tcptuned_flow_record *b)
{
	return (a->rcvbuf < b->rcvbuf) - (a->rcvbuf > b->rcvbuf);
}

static int by_send_buffer(const void *ctx, const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b)
{
	return (a->sndbuf < b->sndbuf) - (a->sndbuf > b->sndbuf);
}

static bool is_receive_sized(const void *ctx, const struct tcptuned_flow_record *record)
{
	return record->flow.flags & TCPTUNED_F_RCV_LOCKED;
}

static bool is_send_sized(const void *ctx, const struct tcptuned_flow_record *record)
{
	return record->flow.flags & TCPTUNED_F_SND_SIZED;
}

/* The largest buffer in bytes of those whose size tcptuned set; UINT32_MAX where it is not known. */
static uint32_t largest_buffer(const struct tcptuned_kernel *kernel, bool receive)
{
	struct tcptuned_flows flows;
	uint32_t largest = 0;

	if (tcptuned_flows_init(&flows, 1))
		return UINT32_MAX;
	flows.choice.wanted = receive ? is_receive_sized : is_send_sized;
	flows.choice.order = receive ? by_receive_buffer : by_send_buffer;
	if (tcptuned_readout(&flows, kernel, NULL))
		largest = UINT32_MAX;
	else if (flows.top_len)
		largest = receive ? flows.top[0].rcvbuf : flows.top[0].sndbuf;
	tcptuned_flows_free(&flows);
	return largest;
}

/*
 * Lower @which, net.core.rmem_max or wmem_max, where tcptuned raised it further than to @window
 * bytes: to that, or to what it was before, whichever is more. Not below what an open connection
 * has: a buffer that bpf_setsockopt() changes is cut to the limit (sk_setsockopt(), SO_RCVBUF),
 * whatever the connection was promised. What was done, or why not, is logged.
 */
static void lower_limit(struct tcptuned_daemon *d, enum tcptuned_sysctl which, uint32_t window)
{
	int meta_fd = d->kernel.map_fd[TCPTUNED_MAP_META];
	uint64_t least = tcptuned_sysctl_least(meta_fd, which, window);
	char value[TCPTUNED_SYSCTL_VALUE], wanted[TCPTUNED_SYSCTL_VALUE];
	uint32_t largest;
	int changed;

	if (!least)
		return;
	largest = largest_buffer(&d->kernel, which == TCPTUNED_SYSCTL_RMEM_MAX);
	if (largest / 2 > least) {
		tcptuned_told_log(&d->told, TCPTUNED_LOG_INFO,
				  "%s stays larger than %llu, for open connections have larger "
				  "buffers; lowered at the next reload or start when none has any "
				  "more",
				  tcptuned_sysctl_name(which), (unsigned long long)least);
		return;
	}
	snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long)least);
	changed = tcptuned_sysctl_set(meta_fd, which, wanted, value);
	if (changed > 0)
		tcptuned_log(TCPTUNED_LOG_INFO, "%s lowered to %s", tcptuned_sysctl_name(which),
			     value);
	if (changed < 0)
		tcptuned_told_log(&d->told, TCPTUNED_LOG_WARNING, "%s cannot be lowered to %s: %s",
				  tcptuned_sysctl_name(which), wanted, strerror(-changed));
}

/*
 * What setsockopt() can give one socket, as a socket says it: not one of TCP, whose requests
 * tcptuned sees to itself. 0: it cannot be told.
 */
static uint32_t buffer_max_of_socket(enum tcptuned_sysctl which)
{
	int option = which == TCPTUNED_SYSCTL_RMEM_MAX ? SO_RCVBUF : SO_SNDBUF;
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int most = INT_MAX, bytes;
	socklen_t len = sizeof(bytes);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, option, &most, sizeof(most)) ||
	    getsockopt(fd, SOL_SOCKET, option, &bytes, &len))
		return 0;
	return (uint32_t)bytes;
}

/*
 * The memory that bpf_setsockopt() can give one socket: twice what the sysctl says. In a network
 * namespace the sysctl may not be there to write, and older kernels do not even show it; then what
 * it is has to do.
 */
static uint32_t buffer_max(struct tcptuned_daemon *d, enum tcptuned_sysctl which, uint32_t window,
			   bool may)
{
	const char *name = tcptuned_sysctl_name(which);
	char value[TCPTUNED_SYSCTL_VALUE] = "";
	uint64_t bytes;
	int changed = 0;

	if (may) {
		lower_limit(d, which, window);
		changed = tcptuned_sysctl_raise(d->kernel.map_fd[TCPTUNED_MAP_META], which,
						window, value);
	} else {
		tcptuned_sysctl_read(name, value, sizeof(value));
	}
	if (changed > 0)
		tcptuned_log(TCPTUNED_LOG_INFO, "%s set to %s", name, value);
	if (changed < 0)
		tcptuned_told_log(&d->told, TCPTUNED_LOG_WARNING,
				  "%s cannot be raised to %u (%s): buffers stay below twice its %s",
				  name, window, strerror(-changed), value[0] ? value : "value");
	if (!may && d->options->dry_run && strtoull(value, NULL, 10) < window)
		tcptuned_told_log(&d->told, TCPTUNED_LOG_INFO, "dry run: would set %s to %u", name,
				  window);
	if (!value[0])
		return buffer_max_of_socket(which);
	bytes = 2 * strtoull(value, NULL, 10);
	return bytes > INT_MAX ? INT_MAX : (uint32_t)bytes;
}

/*
 * net.core.rmem_max for such windows. The kernel takes the window scale from it, too, and for a
 * power of two it takes one more than the window needs (tcp_select_initial_window()): twice as
 * coarse. Coarse scales are harmful, for a window can be made smaller only by an ACK for more
 * bytes than its unit: each other ACK promises up to that much memory anew.
 */
static uint32_t receive_limit(uint32_t window)
{
	return window & (window - 1) ? window : window - 1;
}

/* The most that any policy of this or a higher mode wants of a direction's buffers. */
static uint32_t most_wanted(const struct tcptuned_daemon *d, enum tcptuned_mode mode, bool receive)
{
	uint32_t most = 0;

	for (size_t i = 0; i < d->policies_len; i++) {
		const struct tcptuned_policy *p = &d->policies[i].record;
		uint32_t window = receive ? p->rcv_window_max : p->snd_window_max;
		uint32_t fixed = receive ? p->rcv_buffer : p->snd_buffer;

		if (p->mode < mode)
			continue;
		window = fixed > window ? fixed : window;
		most = window > most ? window : most;
	}
	return most;
}

/* The sysctl is the host's, so that it has to do for every policy. */
void tcptuned_buffer_limits_set(struct tcptuned_daemon *d)
{
	bool may = most_wanted(d, TCPTUNED_TUNE, true);
	enum tcptuned_mode mode = may ? TCPTUNED_TUNE : TCPTUNED_OBSERVE;
	uint32_t receive = most_wanted(d, mode, true), send = most_wanted(d, mode, false);

	if (!receive) /* all are off */
		return;
	receive = buffer_max(d, TCPTUNED_SYSCTL_RMEM_MAX, receive_limit(receive), may);
	send = buffer_max(d, TCPTUNED_SYSCTL_WMEM_MAX, send, may);
	for (size_t i = 0; i < d->policies_len; i++) {
		d->policies[i].record.rcv_buffer_max = receive;
		d->policies[i].record.snd_buffer_max = send;
	}
}
