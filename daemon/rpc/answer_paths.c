// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "paths/paths.h"
#include "rpc/answer_paths.h"
#include "rpc/flow_json.h"

struct known_path {
	struct tcptuned_path_key key;
	struct tcptuned_path path;
};

struct reading {
	const struct tcptuned_request *request;
	struct tcptuned_path_key overlaps;
	struct known_path *paths;
	size_t len, room, known;
	bool no_memory;
};

/* ---- reading ------------------------------------------------------------------------------ */

static void take_path(void *ctx, const struct tcptuned_path_key *key,
		      const struct tcptuned_path *path)
{
	struct reading *reading = ctx;
	struct known_path *paths;

	reading->known++;
	if ((reading->request->filter.address.length && !tcptuned_prefix_overlap(key, &reading->overlaps)) ||
	    (reading->request->filter.netns && reading->request->filter.netns != path->netns))
		return;
	if (reading->len == reading->room) {
		reading->room = reading->room ? 2 * reading->room : 256;
		paths = realloc(reading->paths, reading->room * sizeof(*paths));
		reading->no_memory |= !paths;
		if (!paths) {
			reading->room = reading->len;
			return;
		}
		reading->paths = paths;
	}
	reading->paths[reading->len++] = (struct known_path){ *key, *path };
}

/* ---- order -------------------------------------------------------------------------------- */

static int by_prefix(const struct known_path *a, const struct known_path *b)
{
	int order = (int)a->key.family - (int)b->key.family;

	if (!order)
		order = memcmp(a->key.prefix, b->key.prefix, sizeof(a->key.prefix));
	if (!order)
		order = (int)a->key.prefix_len - (int)b->key.prefix_len;
	if (!order)
		order = (a->key.netns_cookie > b->key.netns_cookie) -
			(a->key.netns_cookie < b->key.netns_cookie);
	return order;
}

static double loss_of(const struct tcptuned_path *path)
{
	return path->sent ? (double)path->retransmitted / (double)path->sent : 0;
}

enum order { BY_USE, BY_PREFIX, BY_CONNECTIONS, BY_RECEIVE, BY_SEND, BY_RTT, BY_MAX, BY_LOSS };

const char *const tcptuned_path_orders[] = {
	[BY_USE] = "use",	  [BY_PREFIX] = "prefix", [BY_CONNECTIONS] = "connections",
	[BY_RECEIVE] = "receive", [BY_SEND] = "send",	  [BY_RTT] = "rtt",
	[BY_MAX] = "max-window",  [BY_LOSS] = "loss",	  NULL,
};

static double number_of(const struct tcptuned_path *path, enum order order)
{
	switch (order) {
	case BY_CONNECTIONS:
		return path->connections;
	case BY_RECEIVE:
		return path->rcv_per_rtt;
	case BY_SEND:
		return path->snd_per_rtt;
	case BY_RTT:
		return path->min_rtt_us;
	case BY_MAX:
		return path->max_window;
	case BY_LOSS:
		return loss_of(path);
	default:
		return (double)path->updated_s;
	}
}

struct sorting {
	enum order order;
	bool reverse;
};

static int compare(const void *a, const void *b, void *ctx)
{
	const struct sorting *sorting = ctx;
	const struct known_path *left = a, *right = b;
	double of_left = number_of(&left->path, sorting->order);
	double of_right = number_of(&right->path, sorting->order);
	int order = 0;

	if (sorting->order != BY_PREFIX)
		order = (of_left < of_right) - (of_left > of_right);
	if (!order)
		order = by_prefix(left, right);
	return sorting->reverse ? -order : order;
}

static int find_order(const char *name, enum order *ret, struct tcptuned_error *err)
{
	*ret = BY_USE;
	if (!*name)
		return 0;
	for (unsigned int i = 0; tcptuned_path_orders[i]; i++) {
		if (strcmp(tcptuned_path_orders[i], name))
			continue;
		*ret = i;
		return 0;
	}
	return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE,
			     "path_sort: paths have no %.20s; it is use, prefix, connections, "
			     "receive, send, rtt, max-window or loss",
			     name);
}

/* ---- answering ---------------------------------------------------------------------------- */

static json_t *path_object(const struct known_path *known, __s64 now_s)
{
	const struct tcptuned_path *path = &known->path;
	char prefix[TCPTUNED_PREFIX_TEXT];

	tcptuned_prefix_format(&known->key, prefix);
	return json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:I,s:b}", "prefix", prefix,
			 "netns", (json_int_t)path->netns, "netns_cookie",
			 (json_int_t)known->key.netns_cookie, "connections",
			 (json_int_t)path->connections, "age_s",
			 (json_int_t)path_age_s(path->updated_s, now_s), "min_rtt_us",
			 (json_int_t)path->min_rtt_us, "receive_per_rtt_bytes",
			 (json_int_t)path->rcv_per_rtt, "send_per_rtt_bytes",
			 (json_int_t)path->snd_per_rtt, "max_window_bytes",
			 (json_int_t)path->max_window, "sent_segments", (json_int_t)path->sent,
			 "loss", loss_of(path), "retransmitted_segments",
			 (json_int_t)path->retransmitted, "slow", path->slow);
}

static void print(const struct reading *reading, struct tcptuned_buf *out)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	tcptuned_buf_printf(out, "{\"known\":%zu,\"matched\":%zu,\"paths\":[", reading->known,
			    reading->len);
	for (size_t i = 0; i < reading->len && i < reading->request->limit && !out->error; i++) {
		tcptuned_buf_puts(out, i ? "," : "");
		tcptuned_json_print(out, path_object(&reading->paths[i], now.tv_sec));
	}
	tcptuned_buf_puts(out, "]}\n");
}

int tcptuned_answer_paths(const struct tcptuned_kernel *kernel,
			  const struct tcptuned_request *request, struct tcptuned_buf *out,
			  struct tcptuned_error *err)
{
	struct sorting sorting = { .reverse = request->reverse };
	struct reading reading = { .request = request };
	int fd = kernel->map_fd[TCPTUNED_MAP_PATHS], error;

	error = find_order(request->path_sort, &sorting.order, err);
	if (error)
		return error;
	tcptuned_path_key_of(&request->filter.address, &reading.overlaps);
	error = fd < 0 ? -ENOENT : tcptuned_paths_each(fd, take_path, &reading);
	if (!error && reading.no_memory)
		error = -ENOMEM;
	if (error) {
		free(reading.paths);
		return tcptuned_fail(err, -error, TCPTUNED_EXIT_KERNEL,
				     "the map of paths cannot be read: %s", strerror(-error));
	}
	if (reading.len)
		qsort_r(reading.paths, reading.len, sizeof(*reading.paths), compare, &sorting);
	print(&reading, out);
	free(reading.paths);
	return 0;
}
