// SPDX-License-Identifier: GPL-2.0-only
#include "rpc/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "flows/words.h"
#include "paths/paths.h"
#include "streams/memory.h"
#include "rpc/json.h"
#include "tcptuned.skel.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"

struct known_path {
	struct tcptuned_path_key key;
	struct tcptuned_path path;
};

enum order { USE, PREFIX, CONNECTIONS, RECEIVE, SEND, RTT, MAX_WINDOW, LOSS };

static const char *const orders[] = {"use",  "prefix", "connections", "receive",
				     "send", "rtt",    "max-window",  "loss"};

struct reading {
	const struct tcptuned_request *request;
	enum order order;
	struct tcptuned_path_key prefix; /* of the request */
	struct known_path *paths;	 /* at most TCPTUNED_PATHS_MAX */
	size_t len, known;
};

static bool is_wanted(const struct reading *reading, const struct tcptuned_path_key *key,
		      __u32 netns)
{
	const struct tcptuned_filter *filter = &reading->request->filter;

	return (!filter->address.length || tcptuned_path_key_overlap(key, &reading->prefix)) &&
	       (!filter->netns || filter->netns == netns);
}

static void add_path(void *ctx, const struct tcptuned_path_key *key,
		     const struct tcptuned_path *path)
{
	struct reading *reading = ctx;

	reading->known++;
	if (is_wanted(reading, key, path->netns) && reading->len < TCPTUNED_PATHS_MAX)
		reading->paths[reading->len++] = (struct known_path){*key, *path};
}

double tcptuned_path_loss(const struct tcptuned_path *path)
{
	return path->sent ? (double)path->retransmitted / (double)path->sent : 0;
}

/* What the paths are ordered by, from the largest down. */
static double sort_value(const struct tcptuned_path *path, enum order order)
{
	const double values[] = {
		[USE] = (double)path->updated_s,   [PREFIX] = 0,
		[CONNECTIONS] = path->connections, [RECEIVE] = path->rcv_per_rtt,
		[SEND] = path->snd_per_rtt,	   [RTT] = path->min_rtt_us,
		[MAX_WINDOW] = path->max_window,   [LOSS] = tcptuned_path_loss(path),
	};

	return values[order];
}

static int compare_prefix(const struct tcptuned_path_key *a, const struct tcptuned_path_key *b)
{
	return a->family - b->family ?:
	       memcmp(a->prefix, b->prefix, sizeof(a->prefix)) ?:
	       a->prefix_len - b->prefix_len ?:
	       (a->netns_cookie > b->netns_cookie) - (a->netns_cookie < b->netns_cookie);
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct reading *reading = ctx;
	const struct known_path *left = a, *right = b;
	double left_value = sort_value(&left->path, reading->order);
	double right_value = sort_value(&right->path, reading->order);
	int order = (left_value < right_value) - (left_value > right_value)
			    ?: compare_prefix(&left->key, &right->key);

	return reading->request->reverse ? -order : order;
}

static int find_order(const char *name, enum order *ret, struct tcptuned_error *err)
{
	for (*ret = USE; *ret < ARRAY_SIZE(orders); ++*ret)
		if (!strcmp(*name ? name : orders[USE], orders[*ret]))
			return 0;
	return USAGE(err,
		     "path_sort: paths have no %.20s; it is use, prefix, connections, "
		     "receive, send, rtt, max-window or loss",
		     name);
}

/* What another congestion control brought. */
static json_t *random_loss_object(const struct path_trial *tried)
{
	json_t *object = json_object();

	set_text(object, "state", tcptuned_word(WORDS_RANDOM_LOSS, tried->state));
	set_number(object, "before_bytes", tried->before);
	set_number(object, "before_rtt_us", tried->before_rtt_us);
	set_number(object, "after_bytes", tried->after);
	set_number(object, "after_rtt_us", tried->after_rtt_us);
	return object;
}

static json_t *path_object(const struct known_path *known, __s64 now_s)
{
	const struct tcptuned_path *path = &known->path;
	char prefix[TCPTUNED_PREFIX_TEXT];
	json_t *object;

	tcptuned_path_key_format(&known->key, prefix);
	object = json_pack("{s:s,s:f,s:b}", "prefix", prefix, "loss", tcptuned_path_loss(path),
			   "slow", path->slow != 0);
	set_number(object, "netns", path->netns);
	set_number(object, "netns_cookie", known->key.netns_cookie);
	set_number(object, "connections", path->connections);
	set_number(object, "age_s", path_age_s(path->updated_s, now_s));
	set_number(object, "min_rtt_us", path->min_rtt_us);
	set_number(object, "receive_per_rtt_bytes", path->rcv_per_rtt);
	set_number(object, "send_per_rtt_bytes", path->snd_per_rtt);
	set_number(object, "max_window_bytes", path->max_window);
	set_number(object, "sent_segments", path->sent);
	set_number(object, "retransmitted_segments", path->retransmitted);
	if (path->tried.state)
		json_object_set_new(object, "random_loss", random_loss_object(&path->tried));
	return object;
}

/* ---- parallel connections -------------------------------------------------------------- */

/* @fit: NULL if it is refused. */
static json_t *level_object(const struct tcptuned_streams_row *row,
			    const struct tcptuned_streams_fit *fit)
{
	const struct tcptuned_streams_record *l = &row->level;
	json_t *fitted = fit ? json_real(tcptuned_streams_rate(fit, row->key.streams)) : NULL;

	return json_pack("{s:i,s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:o*}", "streams",
			 (int)row->key.streams, "windows", (json_int_t)l->windows,
			 "bits_per_second", l->rate, "peak_bits_per_second", l->rate_peak, "loss",
			 l->loss, "rtt_seconds", l->rtt_s, "rtt_min_seconds", l->rtt_min_s,
			 "receiver_window_share", l->receiver_window, "send_buffer_share",
			 l->send_buffer, "fitted_bits_per_second", fitted);
}

/* @rows belong together. */
static json_t *streams_object(const struct tcptuned_streams_row *rows, size_t len, __s64 now_s)
{
	const struct tcptuned_streams_key *key = &rows[0].key;
	json_t *object, *levels = json_array();
	char why[TCPTUNED_STREAMS_REFUSAL], host[TCPTUNED_PREFIX_TEXT];
	struct tcptuned_streams_fit fit;
	bool fits = tcptuned_streams_memory_fit(rows, len, &fit, why);
	__u64 windows = 0, age_s = UINT64_MAX;

	for (size_t i = 0; i < len; i++) {
		windows += rows[i].level.windows;
		age_s = MIN(age_s, path_age_s(rows[i].level.updated_s, now_s));
		json_array_append_new(levels, level_object(&rows[i], fits ? &fit : NULL));
	}
	tcptuned_path_key_format(&key->host, host);
	*strchr(host, '/') = '\0';
	object = json_pack("{s:s,s:s,s:s,s:o}", "host", host, "direction",
			   key->receives ? "receive" : "send", "congestion_control",
			   key->congestion_control, "levels", levels);
	set_number(object, "netns", rows[0].level.netns);
	set_number(object, "windows", windows);
	set_number(object, "age_s", age_s);
	if (fits)
		json_object_set_new(object, "residual", json_real(fit.residual));
	else
		set_text(object, "refused", why);
	return object;
}

/* Prints those that match, up to the limit. Returns how many match. */
static __u32 print_streams(FILE *out, const struct reading *reading,
			   const struct tcptuned_streams_row *rows, size_t len, __s64 now_s)
{
	__u32 matched = 0;
	size_t together;

	for (size_t i = 0; i < len; i += together) {
		together = tcptuned_streams_memory_together(&rows[i], len - i);
		if (!is_wanted(reading, &rows[i].key.host, rows[i].level.netns) ||
		    matched++ >= reading->request->limit)
			continue;
		fputs(matched > 1 ? "," : "", out);
		tcptuned_json_print(out, streams_object(&rows[i], together, now_s));
	}
	return matched;
}

int tcptuned_paths_handle(const struct tcptuned_source *source,
			  const struct tcptuned_request *request, FILE *out,
			  struct tcptuned_error *err)
{
	_cleanup_free_ struct tcptuned_streams_row *rows = NULL;
	_cleanup_free_ struct known_path *paths = calloc(TCPTUNED_PATHS_MAX, sizeof(*paths));
	struct reading reading = {.request = request, .paths = paths};
	const struct tcptuned_bpf *bpf = source->kernel->bpf;
	__u32 matched;
	__s64 now_s;
	size_t len;
	int error;

	if (!paths)
		return FAIL(err, ENOMEM, INTERNAL, "no memory for the paths");
	tcptuned_prefix_path_key(&request->filter.address, &reading.prefix);
	error = find_order(request->path_sort, &reading.order, err) ?:
		tcptuned_paths_each(bpf_map__fd(bpf->maps.paths), add_path, &reading, err) ?:
		tcptuned_streams_memory_read(bpf_map__fd(bpf->maps.streams), &rows, &len, err);
	if (error)
		return error;
	qsort_r(paths, reading.len, sizeof(*paths), compare, &reading);
	now_s = tcptuned_clock_s(CLOCK_BOOTTIME);
	fprintf(out, "{\"known\":%zu,\"matched\":%zu,\"paths\":[", reading.known, reading.len);
	for (size_t i = 0; i < reading.len && i < request->limit && !ferror(out); i++) {
		fputs(i ? "," : "", out);
		tcptuned_json_print(out, path_object(&paths[i], now_s));
	}
	fputs("],\"streams\":[", out);
	matched = print_streams(out, &reading, rows, len, now_s);
	fprintf(out, "],\"streams_matched\":%u}\n", matched);
	return 0;
}
