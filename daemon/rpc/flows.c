// SPDX-License-Identifier: GPL-2.0-only
#include "rpc/flows.h"

#include <errno.h>
#include <string.h>

#include "flows/words.h"
#include "flows/scan.h"
#include "host/cgroup.h"
#include "policy/lookup.h"
#include "rpc/json.h"
#include "rpc/policies.h"
#include "util/array.h"
#include "util/cleanup.h"

#define MEMBER(name, member) .json = name, FIELD_OF(tcptuned_flow_record, member)
#define NUMBER(name, member)                                \
	{                                                   \
		MEMBER(name, member), .unit = COLUMN_NUMBER \
	}

#define DIRECTION(name, dir)                                                     \
	{MEMBER(name ".state", flow.dir.state), .words = WORDS_RIGHTSIZE_STATE}, \
		NUMBER(name ".per_rtt_bytes", flow.dir.per_rtt),                 \
		NUMBER(name ".rate_bytes_per_s", flow.dir.rate),                 \
		NUMBER(name ".rate_best_bytes_per_s", flow.dir.rate_best),       \
		NUMBER(name ".tests", flow.dir.tests),                           \
		NUMBER(name ".failed_tests", flow.dir.failures),                 \
		NUMBER(name ".window_max_bytes", flow.dir##_window_max),         \
		NUMBER(name ".buffer_max_bytes", flow.dir##_buffer_max),         \
		NUMBER(name ".kernel_max_bytes", flow.dir##_base),               \
		NUMBER(name ".grows", flow.dir##_grows),                         \
		NUMBER(name ".shrinks", flow.dir##_shrinks),                     \
		NUMBER(name ".budget_wanted_bytes", flow.dir##_share.wanted),    \
		NUMBER(name ".budget_granted_bytes", flow.dir##_share.granted)

/* Members of a connection in addition to tcptuned_columns. */
static const struct tcptuned_column more_members[] = {
	NUMBER("policy_key", flow.policy),
	NUMBER("flight_bytes", flight),
	NUMBER("window_clamp_bytes", window_clamp),
	NUMBER("reordering_segments", reordering),
	DIRECTION("receive", rcv),
	DIRECTION("send", snd),
	NUMBER("receive.used_per_rtt_bytes", rcv_used),
	NUMBER("receive.path_queue_bytes", rcv_queue),
	NUMBER("send.path_queue_bytes", snd_queue),
	NUMBER("receive.out_of_order_segments", out_of_order),
	NUMBER("send.unsent_bytes", unsent),
	NUMBER("send.unsent_max_bytes", flow.snd_unsent),
};

static const struct {
	const char *name;
	__u32 flag;
} flag_names[] = {
	{"observe", TCPTUNED_F_OBSERVE},
	{"passive", TCPTUNED_F_PASSIVE},
	{"adopted", TCPTUNED_F_ADOPTED},
	{"slow_path_remembered", TCPTUNED_F_SLOW_SEED},
	{"receive_rightsized", TCPTUNED_F_RCV_TUNED},
	{"send_rightsized", TCPTUNED_F_SND_TUNED},
	{"congestion_control_set", TCPTUNED_F_CC_OURS},
	{"receive_memory_short", TCPTUNED_F_RCV_MEMORY_SHORT},
	{"send_memory_short", TCPTUNED_F_SND_MEMORY_SHORT},
};

static json_t *flags_array(const struct tcptuned_flow *flow)
{
	json_t *array = json_array();
	__u32 flags = flow->flags;

	if (flow->policy & TCPTUNED_POLICY_HELD_BACK)
		json_array_append_new(array, json_string("held_back"));
	for (size_t i = 0; i < ARRAY_SIZE(flag_names); i++)
		if (flags & flag_names[i].flag)
			json_array_append_new(array, json_string(flag_names[i].name));
	return array;
}

/* Set the member that @column names, "mss_bytes" or, in the object "receive", "receive.grows". */
static void set_column(json_t *object, const struct tcptuned_column *column,
		       const struct tcptuned_flow_record *record)
{
	const char *name = strchr(column->json, '.');
	size_t parent = name ? (size_t)(name - column->json) : 0;

	if (parent)
		object = json_object_getn(object, column->json, parent);
	name = parent ? name + 1 : column->json;
	if (column->unit == COLUMN_TEXT)
		set_text(object, name, tcptuned_column_text(column, record));
	else
		set_number(object, name, tcptuned_column_number(column, record));
}

static void set_request(json_t *direction, enum request request, __u32 bytes)
{
	static const char *const words[REQUESTS] = {
		[REQUEST_NONE] = "none",	 [REQUEST_WITHHELD] = "withheld",
		[REQUEST_LIFTED] = "lifted",	 [REQUEST_PASSED_ON] = "passed_on",
		[REQUEST_LISTENER] = "listener", [REQUEST_APPLICATION] = "application",
	};

	set_text(direction, "request", request < REQUESTS ? words[request] : "unknown");
	if (request_is_overridden(request))
		set_number(direction, "requested_bytes", bytes);
}

/* Members that only some connections have, or that are computed. */
static void set_others(json_t *object, const struct tcptuned_flow_record *record)
{
	json_t *receive = json_object_get(object, "receive");
	json_t *send = json_object_get(object, "send");
	json_t *bitcp, *pacing;

	if (record->ssthresh != TCPTUNED_SSTHRESH_NONE)
		set_number(object, "ssthresh_segments", record->ssthresh);
	set_number(receive, "min_rtt_us", rightsize_min_rtt_us(&record->flow.rcv));
	set_number(send, "min_rtt_us", rightsize_min_rtt_us(&record->flow.snd));
	if (!record->flow.rcv.window)
		json_object_del(receive, "window_bytes");
	if (!record->flow.snd.window)
		json_object_del(send, "window_bytes");
	set_request(receive, tcptuned_request(&record->flow, true), record->flow.req_rcvbuf);
	set_request(send, tcptuned_request(&record->flow, false), record->flow.req_sndbuf);
	if (record->unsent_max != record->flow.snd_unsent)
		set_if(send, "unsent_max_of_others_bytes", record->unsent_max);
	if (record->pacing_rate_Bps || record->pacing_max_Bps) {
		pacing = json_object();
		set_if(pacing, "rate_bytes_per_s", record->pacing_rate_Bps);
		set_if(pacing, "rate_max_bytes_per_s", record->pacing_max_Bps);
		json_object_set_new(object, "pacing", pacing);
	}
	if (record->ca_max_win) {
		bitcp = json_object();
		set_text(bitcp, "mode", tcptuned_word(WORDS_BITCP_MODE, record->ca_mode));
		if (record->ca_max_win < BITCP_MAX_CWND)
			set_number(bitcp, "max_segments", record->ca_max_win);
		json_object_set_new(object, "bitcp", bitcp);
	}
}

/* NULL: no congestion control was tried. */
static json_t *random_loss_object(const struct random_loss *l)
{
	json_t *object;

	if (l->state == RANDOM_LOSS_WATCHED || !l->window)
		return NULL;
	object = json_object();
	set_text(object, "state", tcptuned_word(WORDS_RANDOM_LOSS, l->state));
	set_number(object, "best_segments", l->best);
	set_number(object, "window_segments", l->window);
	set_number(object, "before_rtt_us", l->before_rtt_us);
	set_if(object, "after_segments", l->after);
	set_if(object, "after_rtt_us", l->after_rtt_us);
	return object;
}

json_t *tcptuned_flow_json(const struct tcptuned_flow_record *record, const char *policy,
			   const char *rule)
{
	struct tcptuned_ends ends = tcptuned_flow_ends(record);
	json_t *object;

	object = json_pack("{s:s,s:s,s:o,s:{},s:{}}", "local", ends.local, "remote", ends.remote,
			   "flags", flags_array(&record->flow), "receive", "send");
	set_text(object, "policy", policy);
	if (rule)
		set_text(object, "rule", rule);
	for (size_t i = 0; i < tcptuned_columns_count; i++)
		if (tcptuned_columns[i].size)
			set_column(object, &tcptuned_columns[i], record);
	for (size_t i = 0; i < ARRAY_SIZE(more_members); i++)
		set_column(object, &more_members[i], record);
	set_others(object, record);
	json_object_set_new(object, "random_loss", random_loss_object(&record->random_loss));
	set_if(object, "rounds_without_queue", record->random_loss.room);
	return object;
}

struct choice {
	const struct tcptuned_source *source;
	const struct tcptuned_request *request;
};

static bool is_wanted(const void *ctx, const struct tcptuned_flow_record *record)
{
	const struct choice *choice = ctx;
	char name[TCPTUNED_POLICY_NAME_MAX];

	tcptuned_policy_name(choice->source->kernel, record->flow.policy, name);
	return tcptuned_scan_matches(&choice->request->filter, record, name) &&
	       (!choice->request->cgroup[0] ||
		tcptuned_cgroup_is_below(record->cgroup, choice->request->cgroup));
}

static int compare(const void *ctx, const struct tcptuned_flow_record *a,
		   const struct tcptuned_flow_record *b)
{
	const struct choice *choice = ctx;
	const struct tcptuned_column *column = choice->request->sort;
	int order = column ? tcptuned_column_order(column, a, b, tcptuned_policy_name,
						   choice->source->kernel)
			   : tcptuned_flow_order(a, b);

	return choice->request->reverse ? -order : order;
}

/* Read all connections, and keep those that @request asks for. The caller frees @ret. */
static int read_flows(const struct tcptuned_source *source, const struct tcptuned_request *request,
		      struct tcptuned_flows *ret, struct tcptuned_error *err)
{
	const struct tcptuned_filter *filter = &request->filter;
	struct choice choice = {source, request};
	int error;

	if (request->cgroup[0] && request->cgroup[0] != '/')
		return USAGE(err,
			     "cgroup: %.120s: write its path below the root, as in /system.slice",
			     request->cgroup);
	if (tcptuned_flows_init(ret, request->limit))
		return FAIL(err, ENOMEM, INTERNAL, "no memory for %u flows", request->limit);
	/* The kernel is much faster at what it can filter and order itself. */
	ret->choice.ctx = &choice;
	if (filter->policy[0] || filter->congestion_control[0] || request->cgroup[0])
		ret->choice.wanted = is_wanted;
	if (request->sort || request->reverse)
		ret->choice.order = compare;
	error = tcptuned_scan(ret, source->kernel, filter, err);
	ret->choice.ctx = NULL;
	if (error)
		tcptuned_flows_free(ret);
	return error;
}

static void print_flow(const struct tcptuned_source *source, const struct tcptuned_request *request,
		       const struct tcptuned_flow_record *record, FILE *out)
{
	char name[TCPTUNED_POLICY_NAME_MAX];
	const char *cgroup = tcptuned_cgroup_name(record->cgroup);
	_cleanup_free_ char *rule = NULL;
	json_t *object;

	tcptuned_policy_name(source->kernel, record->flow.policy, name);
	if (request->rules)
		rule = tcptuned_policy_rule(source, record, name);
	object = tcptuned_flow_json(record, name, rule);
	if (cgroup)
		set_text(object, "cgroup", cgroup);
	tcptuned_json_print(out, object);
}

/* Only one of possibly thousands of connections at a time is a JSON tree in memory. */
int tcptuned_flows_handle(const struct tcptuned_source *source,
			  const struct tcptuned_request *request, FILE *out,
			  struct tcptuned_error *err)
{
	struct tcptuned_flows flows;
	int error = read_flows(source, request, &flows, err);

	if (error)
		return error;
	fprintf(out, "{\"connections\":%llu,\"matched\":%llu,\"flows\":[",
		(unsigned long long)flows.sums.live, (unsigned long long)flows.wanted);
	for (__u32 i = 0; i < flows.top_len && !ferror(out); i++) {
		fputs(i ? "," : "", out);
		print_flow(source, request, &flows.top[i], out);
	}
	fputs("]}\n", out);
	tcptuned_flows_free(&flows);
	return 0;
}
