// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an application that sizes its own buffers needs to know of the path to a host, from the path
 * memory: the call of Enable (Weigle and Feng, section 2, technique 5). tcptuned_advise() of lib/
 * asks for it.
 */
#include "rpc/request.h"

#include <bpf/bpf.h>
#include <string.h>
#include <sys/param.h>

#include "host/cc.h"
#include "paths/paths.h"
#include "streams/memory.h"
#include "policy/lookup.h"
#include "rpc/json.h"
#include "rpc/paths.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* What a new connection would get, where @name is the default of its network namespace. */
static void set_congestion_control(json_t *object, const struct tcptuned_source *source,
				   const struct tcptuned_path *path, const char *name, __s64 now_s)
{
	struct tcptuned_policy policy = {0};
	__u32 key = 0;
	bool tunes;

	tcptuned_policy_next(source->kernel, &key, &policy); /* the default one */
	tunes = policy.cc_auto && policy.mode == TCPTUNED_TUNE;
	if (tcptuned_policy_sets_at_once(&policy))
		set_text(object, "congestion_control", policy.congestion_control);
	else if (tunes && !tcptuned_cc_is_chosen(name) && policy.cc_random_loss[0] &&
		 path_tried(path, now_s, source->config->paths_expire_s) == RANDOM_LOSS_KEPT)
		set_text(object, "congestion_control", policy.cc_random_loss);
	else if (name[0])
		set_text(object, "congestion_control", name);
}

/* @direction: "send" or "receive"; @per_rtt: bytes, 0: unknown. A buffer holds two (DRS III.B). */
static void set_direction(json_t *object, const char *direction, __u64 per_rtt, __u32 min_rtt_us)
{
	json_t *numbers;

	if (!per_rtt)
		return;
	numbers = json_object();
	set_number(numbers, "bits_per_second", per_rtt * 8 * 1000000 / min_rtt_us);
	set_number(numbers, "buffer_bytes", 2 * per_rtt);
	json_object_set_new(object, direction, numbers);
}

static void set_path(json_t *object, const struct tcptuned_source *source,
		     const struct tcptuned_path_key *key, const struct tcptuned_path *path,
		     const char *congestion_control, __s64 now_s)
{
	char prefix[TCPTUNED_PREFIX_TEXT];

	tcptuned_path_key_format(key, prefix);
	set_text(object, "prefix", prefix);
	set_number(object, "connections", path->connections);
	set_number(object, "age_s", path_age_s(path->updated_s, now_s));
	set_number(object, "min_rtt_us", path->min_rtt_us);
	json_object_set_new(object, "loss", json_real(tcptuned_path_loss(path)));
	set_congestion_control(object, source, path, congestion_control, now_s);
	set_direction(object, "send", path->snd_per_rtt, path->min_rtt_us);
	set_direction(object, "receive", path->rcv_per_rtt, path->min_rtt_us);
}

/*
 * Add how many parallel connections carry most, if @rows, which belong together, say that, and were
 * seen after @seen_s, which is the last one of the other congestion controls.
 */
static void set_streams(json_t *object, const struct tcptuned_streams_row *rows, size_t len,
			__s64 *seen_s)
{
	struct tcptuned_streams_result result = {.size = sizeof(result)};
	__s64 last_s = INT64_MIN; /* negative: before the boot */

	for (size_t i = 0; i < len; i++)
		last_s = MAX(last_s, rows[i].level.updated_s);
	if (last_s < *seen_s || !tcptuned_streams_memory_conclude(rows, len, &result))
		return;
	*seen_s = last_s;
	json_object_set_new(object, rows[0].key.receives ? "receive_streams" : "send_streams",
			    json_pack("{s:i,s:f}", "streams", (int)result.within, "bits_per_second",
				      result.within_rate));
}

/* Of several congestion controls, the one that was seen last counts. */
static int add_streams(json_t *object, const struct tcptuned_source *source,
		       const struct tcptuned_request *request, struct tcptuned_error *err)
{
	_cleanup_free_ struct tcptuned_streams_row *rows = NULL;
	struct tcptuned_path_key host;
	__s64 seen_s[2] = {INT64_MIN, INT64_MIN}; /* of connections that send, and that receive */
	size_t len, together;
	int error = tcptuned_streams_memory_read(bpf_map__fd(source->kernel->bpf->maps.streams),
						 &rows, &len, err);

	tcptuned_prefix_path_key(&request->filter.address, &host);
	host.netns_cookie = request->netns_cookie;
	for (size_t i = 0; !error && i < len; i += together) {
		together = tcptuned_streams_memory_together(&rows[i], len - i);
		if (!memcmp(&rows[i].key.host, &host, sizeof(host)))
			set_streams(object, &rows[i], together, &seen_s[!!rows[i].key.receives]);
	}
	return error;
}

int tcptuned_advise_handle(const struct tcptuned_source *source,
			   const struct tcptuned_request *request, FILE *out,
			   struct tcptuned_error *err)
{
	__s64 now_s = tcptuned_clock_s(CLOCK_BOOTTIME);
	struct tcptuned_prefix prefix = request->filter.address;
	char address[TCPTUNED_PREFIX_TEXT];
	json_auto_t *object = json_object();
	struct tcptuned_path_key key;
	struct tcptuned_path path;
	int error;

	tcptuned_prefix_print(&prefix, address);
	*strchr(address, '/') = '\0';
	set_text(object, "address", address);
	tcptuned_prefix_of_path(&prefix);
	tcptuned_prefix_path_key(&prefix, &key);
	key.netns_cookie = request->netns_cookie;
	if (!bpf_map_lookup_elem(bpf_map__fd(source->kernel->bpf->maps.paths), &key, &path) &&
	    path.min_rtt_us && !path_expired(&path, now_s, source->config->paths_expire_s))
		set_path(object, source, &key, &path, request->filter.congestion_control, now_s);
	error = add_streams(object, source, request, err);
	if (!error)
		tcptuned_json_print_line(out, json_incref(object));
	return error;
}
