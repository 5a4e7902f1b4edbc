// SPDX-License-Identifier: GPL-2.0-only
#include "burstiness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "burstiness.skel.h"
#include "cleanup.h"
#include "clock.h"
#include "text.h"

/* So often the rings are read where short intervals go by meanwhile. */
#define TRIES 3

#define OTHER "other"

struct tcptuned_burstiness {
	struct burstiness_bpf *bpf;
	size_t cpus;
	uint64_t start_ns;
	uint64_t interval_ns;
};

/* ---- on and off ------------------------------------------------------------------------- */

/* The ring that takes what finds no place of its own. */
static int add_ring_of_others(const struct tcptuned_burstiness *b)
{
	_cleanup_free_ struct burstiness_ring *rings = calloc(b->cpus, sizeof(*rings));
	char none[TCPTUNED_CC_NAME_MAX] = "";

	if (!rings)
		return -ENOMEM;
	return bpf_map_update_elem(tcptuned_burstiness_map_fd(b), none, rings, BPF_ANY) ? -errno
											 : 0;
}

static int load_and_attach(struct tcptuned_burstiness *b, int cgroup_fd)
{
	int cpus = libbpf_num_possible_cpus(), error;
	struct burstiness_bpf *bpf;

	if (cpus < 1)
		return -EINVAL;
	b->cpus = (size_t)cpus;
	bpf = b->bpf = burstiness_bpf__open();
	if (!bpf)
		return -errno;
	bpf->rodata->interval_ns = b->interval_ns;
	error = burstiness_bpf__load(bpf);
	if (!error)
		error = add_ring_of_others(b);
	if (error)
		return error;
	bpf->links.tcptuned_burstiness =
		bpf_program__attach_cgroup(bpf->progs.tcptuned_burstiness, cgroup_fd);
	return bpf->links.tcptuned_burstiness ? 0 : -errno;
}

int tcptuned_burstiness_start(struct tcptuned_burstiness **ret, int cgroup_fd,
			      uint32_t interval_us)
{
	struct tcptuned_burstiness *b = calloc(1, sizeof(*b));
	int error;

	if (!b)
		return -ENOMEM;
	b->interval_ns = (uint64_t)interval_us * 1000;
	error = load_and_attach(b, cgroup_fd);
	if (error) {
		tcptuned_burstiness_stop(b);
		return error;
	}
	b->start_ns = tcptuned_monotonic_ns();
	*ret = b;
	return 0;
}

void tcptuned_burstiness_stop(struct tcptuned_burstiness *b)
{
	if (!b)
		return;
	burstiness_bpf__destroy(b->bpf);
	free(b);
}

int tcptuned_burstiness_prog_fd(const struct tcptuned_burstiness *b)
{
	return bpf_program__fd(b->bpf->progs.tcptuned_burstiness);
}

int tcptuned_burstiness_map_fd(const struct tcptuned_burstiness *b)
{
	return bpf_map__fd(b->bpf->maps.rings);
}

uint32_t tcptuned_burstiness_interval_us(const struct tcptuned_burstiness *b)
{
	return (uint32_t)(b->interval_ns / 1000);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* The intervals that are judged, and what all congestion controls together sent in each. */
struct window {
	__u64 first;
	__u32 len;
	__u64 segments[BURSTINESS_WINDOW];
};

/* One congestion control: each interval's sum over CPUs. */
static void read_rings(const struct tcptuned_burstiness *b, const struct burstiness_ring *rings,
		       struct window *window, struct burstiness *ret)
{
	for (__u32 i = 0; i < window->len; i++) {
		__u64 segments = 0;

		for (size_t cpu = 0; cpu < b->cpus; cpu++)
			segments += burstiness_segments(&rings[cpu], window->first + i);
		burstiness_add(ret, segments);
		window->segments[i] += segments;
	}
}

static void begin_rows(struct tcptuned_burstiness_stats *ret)
{
	strcpy(ret->rows[0].congestion_control, "all"); /* comes first, and is known last */
	ret->rows_len = 1;
}

static struct tcptuned_burstiness_row *add_row(struct tcptuned_burstiness_stats *ret,
					       const struct burstiness *sent)
{
	struct tcptuned_burstiness_row *row = &ret->rows[ret->rows_len++];

	row->sent = *sent;
	return row;
}

static bool is_taken(const struct tcptuned_burstiness_stats *stats, const char *name)
{
	for (unsigned int i = 0; i < stats->rows_len; i++)
		if (!strcmp(stats->rows[i].congestion_control, name))
			return true;
	return !strcmp(name, OTHER);
}

void tcptuned_burstiness_add_row(struct tcptuned_burstiness_stats *stats, const char *name,
				 const struct burstiness *sent)
{
	char own[TCPTUNED_CC_NAME_MAX], text[TCPTUNED_CC_NAME_MAX];

	snprintf(own, sizeof(own), "%.15s", name);
	tcptuned_make_printable(own);
	strcpy(text, own);
	for (unsigned int n = 2; is_taken(stats, text); n++)
		snprintf(text, sizeof(text), "%.12s~%u", own, n);
	strcpy(add_row(stats, sent)->congestion_control, text);
}

/* @rings: room for those of all CPUs. -EAGAIN: it took longer than what was read lasts. */
static int read_rows(const struct tcptuned_burstiness *b, struct burstiness_ring *rings,
		     struct tcptuned_burstiness_stats *ret)
{
	char name[TCPTUNED_CC_NAME_MAX], *before = NULL;
	int map_fd = tcptuned_burstiness_map_fd(b);
	struct window window = { 0 };

	window.len = burstiness_window(b->start_ns, tcptuned_monotonic_ns(), b->interval_ns,
				       &window.first);
	begin_rows(ret);
	while (ret->rows_len <= BURSTINESS_NAMES && !bpf_map_get_next_key(map_fd, before, name)) {
		struct burstiness sent = { 0 };

		if (bpf_map_lookup_elem(map_fd, name, rings))
			return -errno;
		read_rings(b, rings, &window, &sent);
		if (name[0])
			tcptuned_burstiness_add_row(ret, name, &sent);
		else if (sent.segments)
			strcpy(add_row(ret, &sent)->congestion_control, OTHER);
		before = name;
	}
	for (__u32 i = 0; i < window.len; i++)
		burstiness_add(&ret->rows[0].sent, window.segments[i]);
	ret->intervals = window.len;
	return burstiness_in_time(window.first, tcptuned_monotonic_ns(), b->interval_ns) ? 0
											  : -EAGAIN;
}

void tcptuned_burstiness_read(const struct tcptuned_burstiness *b, uint32_t interval_us,
			      struct tcptuned_burstiness_stats *ret)
{
	_cleanup_free_ struct burstiness_ring *rings = NULL;
	int error = -EAGAIN;

	memset(ret, 0, sizeof(*ret));
	ret->on = interval_us;
	ret->interval_us = interval_us;
	if (!b)
		return;
	rings = calloc(b->cpus, sizeof(*rings));
	for (int i = 0; rings && error == -EAGAIN && i < TRIES; i++) {
		memset(ret->rows, 0, sizeof(ret->rows));
		error = read_rows(b, rings, ret);
	}
	ret->ok = !error;
}
