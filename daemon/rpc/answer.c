// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <bpf/bpf.h>
#include <tcptuned/abi/meta.h>
#include <tcptuned/abi/policy.h>

#include "config/config.h"
#include "flows/names.h"
#include "flows/scan.h"
#include "host/cgroup.h"
#include "host/sysctl.h"
#include "kern/totals.h"
#include "policy/describe.h"
#include "policy/lookup.h"
#include "rpc/answer.h"
#include "rpc/answer_paths.h"
#include "rpc/flow_json.h"
#include "util/array.h"

static int read_policy(const struct tcptuned_source *source, __u32 key,
		       struct tcptuned_policy *ret)
{
	int fd = source->kernel->map_fd[TCPTUNED_MAP_POLICIES];

	if (fd < 0 || bpf_map_lookup_elem(fd, &key, ret))
		return -ENOENT;
	ret->congestion_control[TCPTUNED_CC_NAME_MAX - 1] = '\0';
	ret->name[TCPTUNED_POLICY_NAME_MAX - 1] = '\0';
	return 0;
}

/* Names stay with the records, also of policies that were replaced while they had connections. */
const char *tcptuned_source_policy(const struct tcptuned_source *source, __u32 key,
				   char ret[TCPTUNED_POLICY_NAME_MAX])
{
	struct tcptuned_policy policy;

	if (!read_policy(source, key, &policy))
		strcpy(ret, policy.name);
	else
		strcpy(ret, TCPTUNED_POLICY_GONE(key));
	return ret;
}

static void set_bool(json_t *object, const char *name, bool value)
{
	json_object_set_new(object, name, json_boolean(value));
}

static int print_line(struct tcptuned_buf *out, json_t *object)
{
	tcptuned_json_print_line(out, object);
	return 0;
}

static int kernel_failed(struct tcptuned_error *err, int error, const char *what)
{
	return tcptuned_fail(err, -error, TCPTUNED_EXIT_KERNEL, "%s cannot be read: %s", what,
			     strerror(-error));
}

/* ---- flows -------------------------------------------------------------------------------- */

struct choice {
	const struct tcptuned_source *source;
	const struct tcptuned_request *request;
};

static bool is_wanted(const void *ctx, const struct tcptuned_flow_record *record)
{
	const struct choice *choice = ctx;
	char buffer[TCPTUNED_POLICY_NAME_MAX];

	return tcptuned_filter_matches(&choice->request->filter, record,
				       tcptuned_source_policy(choice->source, record->flow.policy,
							      buffer));
}

static const char *name_of_policy(const void *ctx, __u32 key, char ret[TCPTUNED_POLICY_NAME_MAX])
{
	return tcptuned_source_policy(((const struct choice *)ctx)->source, key, ret);
}

static int order(const void *ctx, const struct tcptuned_flow_record *a,
		 const struct tcptuned_flow_record *b)
{
	const struct tcptuned_request *request = ((const struct choice *)ctx)->request;
	__u64 of_a = tcptuned_flow_size(a), of_b = tcptuned_flow_size(b);
	int order;

	if (request->sort)
		order = tcptuned_column_order(request->sort, a, b, name_of_policy, ctx);
	else
		order = (of_a < of_b) - (of_a > of_b);
	return request->reverse ? -order : order;
}

/* Nothing of what the kernel does by itself: it is much faster at it. */
static struct tcptuned_flow_choice choice_of(const struct choice *choice)
{
	const struct tcptuned_request *request = choice->request;
	const struct tcptuned_filter *filter = &request->filter;

	return (struct tcptuned_flow_choice){
		.wanted = filter->policy[0] || filter->congestion_control[0] ? is_wanted : NULL,
		.order = request->sort || request->reverse ? order : NULL,
		.ctx = choice,
	};
}

static int read_flows(const struct tcptuned_source *source, const struct choice *choice,
		      struct tcptuned_flows *flows, __u32 limit, struct tcptuned_error *err)
{
	int error;

	if (tcptuned_flows_init(flows, limit))
		return tcptuned_fail(err, ENOMEM, TCPTUNED_EXIT_INTERNAL, "no memory for %u flows",
				     limit);
	if (choice)
		flows->choice = choice_of(choice);
	error = tcptuned_readout(flows, source->kernel, choice ? &choice->request->filter : NULL);
	if (!error)
		return 0;
	tcptuned_flows_free(flows);
	return kernel_failed(err, error, "the records of connections");
}

/* ---- policies ----------------------------------------------------------------------------- */

/* The section of a policy in force; NULL: it is the default policy. */
static const struct tcptuned_named_policy *section_of(const struct tcptuned_source *source,
						      __u32 key)
{
	__u32 place = TCPTUNED_POLICY_PLACE(key);

	if (!place || place > source->config->policies_len)
		return NULL;
	return &source->config->policies[place - 1];
}

/* By what conditions a policy takes connections. */
static void set_conditions(json_t *object, const struct tcptuned_source *source, __u32 key)
{
	struct tcptuned_buf text;

	tcptuned_buf_init(&text, 4096);
	tcptuned_conditions_format(&text, section_of(source, key));
	set_text(object, "rule", text.error ? "" : text.data);
	tcptuned_buf_free(&text);
}

/* The one rule that was found for a connection with @remote. */
static void rule_text(struct tcptuned_buf *out, const struct tcptuned_source *source,
		      const struct tcptuned_rule *rule, const __u8 remote[16])
{
	const struct tcptuned_named_policy *named = section_of(source, rule->policy);

	tcptuned_rule_format(out, rule, remote, named ? named->set.cgroup : NULL);
}

static const char *congestion_control_of(const struct tcptuned_policy *policy)
{
	return policy->cc_auto ? TCPTUNED_CC_AUTO : policy->congestion_control;
}

static json_t *policy_object(const struct tcptuned_source *source, __u32 key,
			     const struct tcptuned_policy *policy)
{
	json_t *object = json_object();
	char buffer[TCPTUNED_POLICY_NAME_MAX];

	set_text(object, "policy", tcptuned_source_policy(source, key, buffer));
	set_number(object, "key", key);
	set_text(object, "mode", tcptuned_mode_name(policy->mode));
	set_bool(object, "disabled", policy->disabled);
	if (policy->cc_auto || policy->congestion_control[0])
		set_text(object, "congestion_control", congestion_control_of(policy));
	if (policy->cc_auto)
		set_number(object, "long_path_segments", policy->cc_long_path_segments);
	set_bool(object, "override_rcvbuf", policy->override_rcvbuf);
	set_bool(object, "override_sndbuf", policy->override_sndbuf);
	set_number(object, "receive_window_max_bytes", policy->rcv_window_max);
	set_number(object, "receive_buffer_max_bytes", policy->rcv_buffer_max);
	set_number(object, "send_window_max_bytes", policy->snd_window_max);
	set_number(object, "send_buffer_max_bytes", policy->snd_buffer_max);
	return object;
}

/* Open connections by the name of their policy, of this configuration or of an earlier one. */
struct policy_count {
	char name[TCPTUNED_POLICY_NAME_MAX];
	__u64 connections;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct policy_count *)a)->name,
		      ((const struct policy_count *)b)->name);
}

/* Into @ret, each name once and in order; returns how many there are. */
static __u32 count_by_name(const struct tcptuned_source *source,
			   const struct tcptuned_flows *flows, struct policy_count *ret)
{
	__u32 kept = 0;

	for (__u32 i = 0; i < flows->groups_len; i++) {
		tcptuned_source_policy(source, flows->groups[i].policy, ret[i].name);
		ret[i].connections = flows->groups[i].flows;
	}
	qsort(ret, flows->groups_len, sizeof(*ret), by_name);
	for (__u32 i = 0; i < flows->groups_len; i++) {
		if (kept && !by_name(&ret[kept - 1], &ret[i]))
			ret[kept - 1].connections += ret[i].connections;
		else
			ret[kept++] = ret[i];
	}
	return kept;
}

static __u64 connections_of(const struct policy_count *counts, __u32 len, const char *name)
{
	struct policy_count wanted = { 0 };
	const struct policy_count *found;

	snprintf(wanted.name, sizeof(wanted.name), "%s", name);
	found = bsearch(&wanted, counts, len, sizeof(*counts), by_name);
	return found ? found->connections : 0;
}

/* Those in force, in the order of the configuration. */
static json_t *policies_array(const struct tcptuned_source *source,
			      const struct policy_count *counts, __u32 len)
{
	__u32 generation = tcptuned_policies_generation(source->kernel), place, key;
	json_t *array = json_array(), *object;
	struct tcptuned_policy policy;

	for (place = 0; place < TCPTUNED_POLICIES_MAX; place++) {
		key = TCPTUNED_POLICY_ID(generation, place);
		if (read_policy(source, key, &policy))
			break;
		object = policy_object(source, key, &policy);
		set_conditions(object, source, key);
		set_number(object, "connections", connections_of(counts, len, policy.name));
		json_array_append_new(array, object);
	}
	return array;
}

static int answer_policies(const struct tcptuned_source *source, struct tcptuned_buf *out,
			   struct tcptuned_error *err)
{
	struct tcptuned_flows flows;
	struct policy_count *counts;
	json_t *object;
	int error = read_flows(source, NULL, &flows, 0, err);

	if (error)
		return error;
	counts = calloc(flows.groups_len + 1, sizeof(*counts));
	if (!counts) {
		tcptuned_flows_free(&flows);
		return kernel_failed(err, -ENOMEM, "the policies");
	}
	object = json_object();
	json_object_set_new(object, "policies",
			    policies_array(source, counts, count_by_name(source, &flows, counts)));
	set_if(object, "connections_not_told_apart", flows.sums.groups_other);
	free(counts);
	tcptuned_flows_free(&flows);
	return print_line(out, object);
}

/* The ids of a control group and of all above it: "/a/b", "/a", "/". */
static int find_cgroups(const char *path, __u64 *ids, size_t most, struct tcptuned_tuple *tuple,
			struct tcptuned_error *err)
{
	char above[TCPTUNED_CONFIG_TEXT], *slash;

	snprintf(above, sizeof(above), "%s", path);
	tuple->cgroups = ids;
	if (!above[0])
		return 0;
	if (above[0] != '/' || !tcptuned_cgroup_id(above))
		return tcptuned_fail(err, ENOENT, TCPTUNED_EXIT_USAGE,
				     "cgroup: there is no control group %.120s; write its path "
				     "below the root of the cgroup2 tree, as "
				     "/system.slice/backup.service",
				     path);
	while (tuple->cgroups_len < most) {
		ids[tuple->cgroups_len++] = tcptuned_cgroup_id(above[0] ? above : "/");
		slash = strrchr(above, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	return 0;
}

/* The policy that a connection between these ends gets if it is made now, and by which rule. */
static int answer_policy_test(const struct tcptuned_source *source,
			      const struct tcptuned_request *request, struct tcptuned_buf *out,
			      struct tcptuned_error *err)
{
	const struct tcptuned_filter *filter = &request->filter;
	struct tcptuned_tuple tuple = { .local_port = filter->local_port,
					.remote_port = filter->remote_port };
	struct tcptuned_policy policy;
	struct tcptuned_rule rule;
	struct tcptuned_buf text;
	__u64 cgroups[64];
	json_t *object;
	int error;

	error = find_cgroups(request->cgroup, cgroups, ARRAY_SIZE(cgroups), &tuple, err);
	if (error)
		return error;
	memcpy(tuple.local, filter->local.address, sizeof(tuple.local));
	memcpy(tuple.remote, filter->remote.address, sizeof(tuple.remote));
	if (tcptuned_policies_find(source->kernel, &tuple, &rule) ||
	    read_policy(source, rule.policy, &policy)) {
		object = json_object();
		json_object_set_new(object, "policy", json_null());
		set_text(object, "rule", "no policy is in force: left to the kernel");
		return print_line(out, object);
	}
	object = policy_object(source, rule.policy, &policy);
	tcptuned_buf_init(&text, 4096);
	rule_text(&text, source, &rule, tuple.remote);
	set_text(object, "rule", text.error ? "" : text.data);
	tcptuned_buf_free(&text);
	return print_line(out, object);
}

/* ---- flows, one by one -------------------------------------------------------------------- */

struct same_policy {
	const struct tcptuned_source *source;
	__u32 key;
	const char *name;
};

/* The ids of a reload are new, and the names mostly as they were. */
static bool is_same_policy(void *ctx, __u32 key)
{
	const struct same_policy *same = ctx;
	char name[TCPTUNED_POLICY_NAME_MAX];

	return key == same->key ||
	       !strcmp(same->name, tcptuned_source_policy(same->source, key, name));
}

/* Which rule gave a connection its policy; nothing where that is not in force any more. */
static void find_rule(const struct tcptuned_source *source,
		      const struct tcptuned_flow_record *record, const char *name,
		      struct tcptuned_buf *out)
{
	struct same_policy same = { source, record->flow.policy, name };
	struct tcptuned_tuple tuple = { .local_port = record->local_port,
					.remote_port = record->remote_port };
	struct tcptuned_rule rule;

	tcptuned_map_address(tuple.local, record->family, record->local);
	tcptuned_map_address(tuple.remote, record->family, record->remote);
	if (!tcptuned_policies_find_of(source->kernel, &tuple, is_same_policy, &same, &rule))
		rule_text(out, source, &rule, tuple.remote);
}

static void print_flow(const struct tcptuned_source *source, const struct tcptuned_request *request,
		       const struct tcptuned_flow_record *record, struct tcptuned_buf *out)
{
	struct tcptuned_policy policy;
	char buffer[TCPTUNED_POLICY_NAME_MAX];
	struct tcptuned_buf rule;
	bool known = !read_policy(source, record->flow.policy, &policy);
	const char *name = tcptuned_source_policy(source, record->flow.policy, buffer);

	tcptuned_buf_init(&rule, 4096);
	if (request->rules)
		find_rule(source, record, name, &rule);
	tcptuned_json_flow(out, record, name, known ? &policy : NULL,
			   rule.len && !rule.error ? rule.data : NULL);
	tcptuned_buf_free(&rule);
}

static int answer_flows(const struct tcptuned_source *source,
			const struct tcptuned_request *request, struct tcptuned_buf *out,
			struct tcptuned_error *err)
{
	struct choice choice = { source, request };
	struct tcptuned_flows flows;
	int error;

	error = read_flows(source, &choice, &flows, request->limit, err);
	if (error)
		return error;
	tcptuned_buf_printf(out, "{\"connections\":%llu,\"matched\":%llu,\"flows\":[",
			    (unsigned long long)flows.sums.live, (unsigned long long)flows.wanted);
	for (__u32 i = 0; i < flows.top_len && !out->error; i++) {
		tcptuned_buf_puts(out, i ? "," : "");
		print_flow(source, request, &flows.top[i], out);
	}
	tcptuned_buf_puts(out, "]}\n");
	tcptuned_flows_free(&flows);
	return 0;
}

/* ---- status ------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum tcptuned_counter counter;
} counters[] = {
	{ "claimed_opened_here", TCPTUNED_C_CLAIMED_ACTIVE },
	{ "claimed_accepted_here", TCPTUNED_C_CLAIMED_PASSIVE },
	{ "claimed_open", TCPTUNED_C_CLAIMED_OPEN },
	{ "adopt_failed", TCPTUNED_C_ADOPT_FAILED },
	{ "closed", TCPTUNED_C_CLOSED },
	{ "unrecorded", TCPTUNED_C_STORAGE_FAILED },
	{ "congestion_control_set", TCPTUNED_C_CC_SET },
	{ "congestion_control_kept", TCPTUNED_C_CC_KEPT },
	{ "congestion_control_failed", TCPTUNED_C_CC_FAILED },
	{ "rcvbuf_overridden", TCPTUNED_C_RCVBUF_OVERRIDDEN },
	{ "sndbuf_overridden", TCPTUNED_C_SNDBUF_OVERRIDDEN },
	{ "receive_windows_grown", TCPTUNED_C_RCV_GROWS },
	{ "receive_windows_shrunk", TCPTUNED_C_RCV_SHRINKS },
	{ "receive_windows_refused", TCPTUNED_C_RCV_FAILED },
	{ "send_windows_grown", TCPTUNED_C_SND_GROWS },
	{ "send_windows_shrunk", TCPTUNED_C_SND_SHRINKS },
	{ "send_windows_refused", TCPTUNED_C_SND_FAILED },
	{ "receive_budget_refusals", TCPTUNED_C_RCV_BUDGET },
	{ "send_budget_refusals", TCPTUNED_C_SND_BUDGET },
	{ "memory_short_refusals", TCPTUNED_C_MEMORY_SHORT },
	{ "events_lost", TCPTUNED_C_EVENTS_LOST },
};

static json_t *totals_object(const struct tcptuned_totals *totals)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		set_number(object, counters[i].name, totals->counter[counters[i].counter]);
	return object;
}

static json_t *flows_object(const struct tcptuned_flows *flows)
{
	json_t *object = json_object(), *limits = json_object();

	set_number(object, "open", flows->sums.live);
	set_number(object, "dry_run", flows->sums.observed);
	set_number(object, "receive_rightsized", flows->sums.rcv_taken);
	set_number(object, "send_rightsized", flows->sums.snd_taken);
	set_number(object, "rcvbuf_overridden", flows->sums.rcvbuf_requests);
	set_number(object, "sndbuf_overridden", flows->sums.sndbuf_requests);
	set_number(object, "receive_buffer_bytes", flows->sums.rcvbuf_bytes);
	set_number(object, "receive_buffer_used_bytes", flows->sums.rmem_bytes);
	set_number(object, "send_buffer_bytes", flows->sums.sndbuf_bytes);
	set_number(object, "send_buffer_used_bytes", flows->sums.wmem_bytes);
	for (unsigned int i = 0; i < TCPTUNED_LIMITS; i++)
		set_number(limits, tcptuned_limit_name(i), flows->sums.limited[i]);
	json_object_set_new(object, "limited_by", limits);
	return object;
}

/* NULL where it cannot be read. */
static json_t *budget_object(const struct tcptuned_kernel *kernel)
{
	int fd = kernel->map_fd[TCPTUNED_MAP_BUDGET];
	struct budget budget;
	json_t *object;
	__u32 zero = 0;

	if (fd < 0 || bpf_map_lookup_elem(fd, &zero, &budget))
		return NULL;
	object = json_object();
	set_if(object, "bytes", budget.total);
	set_number(object, "granted_bytes", budget.granted);
	set_number(object, "wanted_bytes", budget.wanted);
	return object;
}

static json_t *configuration_object(const struct tcptuned_config_trouble *trouble)
{
	json_t *object = json_object();

	set_bool(object, "in_force", tcptuned_config_in_force(trouble));
	if (trouble->rejected[0])
		set_text(object, "rejected", trouble->rejected);
	if (trouble->unapplied[0])
		set_text(object, "unapplied", trouble->unapplied);
	return object;
}

/* What somebody has changed since is that somebody's, also before the daemon has seen it. */
static json_t *sysctl_object(enum tcptuned_sysctl which, const struct tcptuned_saved_sysctl *saved)
{
	const char *name = tcptuned_sysctl_name(which);
	char now[TCPTUNED_SYSCTL_VALUE];
	json_t *object = json_object();
	bool known = !tcptuned_sysctl_read(name, now, sizeof(now));

	set_text(object, "name", name);
	if (saved->before[0])
		set_text(object, "before", saved->before);
	set_text(object, "set_to", saved->ours);
	if (known)
		set_text(object, "now", now);
	set_bool(object, "left_alone", !saved->before[0] || (known && strcmp(now, saved->ours)));
	return object;
}

/* The sysctls that were changed, what they were before, and what they are. */
static json_t *sysctls_array(const struct tcptuned_kernel *kernel)
{
	int fd = kernel->map_fd[TCPTUNED_MAP_META];
	struct tcptuned_meta meta;
	json_t *array = json_array();
	__u32 zero = 0;

	if (fd < 0 || bpf_map_lookup_elem(fd, &zero, &meta))
		return array;
	for (int i = 0; i < TCPTUNED_SYSCTLS; i++) {
		struct tcptuned_saved_sysctl *saved = &meta.sysctl[i];

		if (!saved->ours[0])
			continue;
		saved->before[TCPTUNED_SYSCTL_VALUE - 1] = '\0';
		saved->ours[TCPTUNED_SYSCTL_VALUE - 1] = '\0';
		json_array_append_new(array, sysctl_object(i, saved));
	}
	return array;
}

static int answer_status(const struct tcptuned_source *source, struct tcptuned_buf *out,
			 struct tcptuned_error *err)
{
	const struct tcptuned_kernel *kernel = source->kernel;
	struct tcptuned_policy policy = { .mode = TCPTUNED_OFF };
	struct tcptuned_totals totals;
	struct tcptuned_flows flows;
	json_t *object;
	int error;

	error = tcptuned_totals_read(kernel->map_fd[TCPTUNED_MAP_TOTALS], &totals);
	if (error)
		return kernel_failed(err, error, "the totals");
	error = read_flows(source, NULL, &flows, 0, err);
	if (error)
		return error;
	read_policy(source,
		    TCPTUNED_POLICY_ID(tcptuned_policies_generation(kernel),
				       TCPTUNED_POLICY_DEFAULT),
		    &policy);
	object = json_object();
	set_text(object, "version", TCPTUNED_VERSION);
	set_number(object, "pid", (__u64)source->daemon);
	set_number(object, "started_us", source->start_us);
	json_object_set_new(object, "configuration", configuration_object(source->trouble));
	set_text(object, "pinned_in", kernel->pin_dir);
	set_text(object, "mode", tcptuned_mode_name(policy.mode));
	set_text(object, "congestion_control", congestion_control_of(&policy));
	set_bool(object, "bitcp_registered", kernel->bitcp);
	if (!kernel->bitcp && kernel->why_no_bitcp[0])
		set_text(object, "why_no_bitcp", kernel->why_no_bitcp);
	json_object_set_new(object, "connections", flows_object(&flows));
	json_object_set_new(object, "budget", budget_object(kernel));
	json_object_set_new(object, "totals", totals_object(&totals));
	json_object_set_new(object, "sysctls", sysctls_array(kernel));
	tcptuned_flows_free(&flows);
	return print_line(out, object);
}

/* ---- any ---------------------------------------------------------------------------------- */

static int answer_to(const struct tcptuned_source *source, const struct tcptuned_request *request,
		     struct tcptuned_buf *out, struct tcptuned_error *err)
{
	switch (request->command) {
	case TCPTUNED_CMD_STATUS:
		return answer_status(source, out, err);
	case TCPTUNED_CMD_FLOWS:
		return answer_flows(source, request, out, err);
	case TCPTUNED_CMD_POLICIES:
		return answer_policies(source, out, err);
	case TCPTUNED_CMD_POLICY_TEST:
		return answer_policy_test(source, request, out, err);
	case TCPTUNED_CMD_PATHS:
		return tcptuned_answer_paths(source->kernel, request, out, err);
	default:
		return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_INTERNAL,
				     "this command has no answer");
	}
}

int tcptuned_answer(const struct tcptuned_source *source, const struct tcptuned_request *request,
		    struct tcptuned_buf *out, struct tcptuned_error *err)
{
	int error = answer_to(source, request, out, err);

	if (error)
		return error;
	if (out->error)
		return tcptuned_fail(err, -out->error, TCPTUNED_EXIT_INTERNAL,
				     "the answer is too long: %s; ask for less",
				     strerror(-out->error));
	return 0;
}

void tcptuned_answer_error(struct tcptuned_buf *out, const struct tcptuned_error *err)
{
	json_t *object = json_object();

	set_text(object, "error", err->text);
	set_number(object, "status", err->status);
	print_line(out, object);
}
