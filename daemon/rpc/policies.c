// SPDX-License-Identifier: GPL-2.0-only
#include "rpc/policies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tcptuned/algo/trial_draw.h>

#include "config/load.h"
#include "flows/scan.h"
#include "flows/words.h"
#include "host/cgroup.h"
#include "host/sysctl.h"
#include "policy/describe.h"
#include "policy/lookup.h"
#include "rpc/json.h"
#include "tcptuned.skel.h"
#include "util/array.h"

const struct tcptuned_named_policy *tcptuned_policy_section(const struct tcptuned_source *source,
							    __u32 key)
{
	__u32 place = TCPTUNED_POLICY_PLACE(key);

	if (!place || place > source->config->policies_len)
		return NULL;
	return &source->config->policies[place - 1];
}

static json_t *policy_object(__u32 key, const struct tcptuned_policy *policy)
{
	json_t *object = json_pack("{s:b,s:b,s:b,s:b}", "disabled", policy->disabled, "harmful",
				   policy->harmful, "override_rcvbuf", policy->override_rcvbuf,
				   "override_sndbuf", policy->override_sndbuf);

	set_text(object, "policy", policy->name);
	set_number(object, "key", key);
	set_text(object, "mode", tcptuned_word(WORDS_MODE, policy->mode));
	if (policy->cc_auto || policy->congestion_control[0])
		set_text(object, "congestion_control", tcptuned_policy_congestion_control(policy));
	if (policy->cc_auto)
		set_number(object, "long_path_segments", policy->cc_long_path_segments);
	if (policy->cc_random_loss[0])
		set_text(object, "random_loss_congestion_control", policy->cc_random_loss);
	set_number(object, "receive_window_max_bytes", policy->rcv_window_max);
	set_number(object, "receive_buffer_max_bytes", policy->rcv_buffer_max);
	set_number(object, "send_window_max_bytes", policy->snd_window_max);
	set_number(object, "send_buffer_max_bytes", policy->snd_buffer_max);
	return object;
}

/* Set "rule" to @text (NULL: no memory), and free that. */
static void set_rule(json_t *object, char *text)
{
	set_text(object, "rule", text ? text : "");
	free(text);
}

/* Open connections by the name of their policy, of this configuration or an earlier one. */
static json_t *count_connections(const struct tcptuned_source *source,
				 const struct tcptuned_flows *flows)
{
	json_t *counts = json_object();
	char name[TCPTUNED_POLICY_NAME_MAX];
	json_int_t count;

	for (__u32 i = 0; i < READOUT_GROUPS; i++) {
		if (!flows->sums.group[i].flows)
			continue;
		tcptuned_policy_name(source->kernel, flows->sums.group[i].policy, name);
		count = json_integer_value(json_object_get(counts, name));
		set_number(counts, name, (__u64)count + flows->sums.group[i].flows);
	}
	return counts;
}

/* The congestion control that the policy is to set and this kernel does not offer; NULL: none. */
static const char *missing_congestion_control(const struct tcptuned_source *source,
					      const struct tcptuned_named_policy *section,
					      const struct tcptuned_policy *policy)
{
	const struct tcptuned_policy_config *set = section ? &section->set
							   : &source->config->policy;
	bool own = section && tcptuned_config_policy_says(section, "congestion_control");

	if (policy->mode == TCPTUNED_OFF || policy->cc_auto || policy->congestion_control[0] ||
	    !set->congestion_control[0])
		return NULL;
	if (!own && tcptuned_sysctl_left_alone(bpf_map__fd(source->kernel->bpf->maps.meta),
					       TCPTUNED_SYSCTL_CONGESTION_CONTROL))
		return NULL;
	return strcmp(set->congestion_control, TCPTUNED_CC_AUTO) ? set->congestion_control
								 : "bitcp";
}

/* The policies in force, in the order of the configuration. */
int tcptuned_policies_handle(const struct tcptuned_source *source,
			     const struct tcptuned_request *request, FILE *out,
			     struct tcptuned_error *err)
{
	const struct tcptuned_named_policy *section;
	json_t *array, *counts, *count, *object;
	struct tcptuned_policy policy;
	struct tcptuned_flows flows = {0};
	const char *missing;
	__u32 key = 0;
	int error;

	error = tcptuned_scan(&flows, source->kernel, NULL, err);
	if (error)
		return error;
	array = json_array();
	counts = count_connections(source, &flows);
	while (tcptuned_policy_next(source->kernel, &key, &policy)) {
		object = policy_object(key, &policy);
		section = tcptuned_policy_section(source, key);
		set_rule(object, tcptuned_describe_conditions(section));
		if (section && section->set.cgroup[0] && !tcptuned_cgroup_id(section->set.cgroup))
			json_object_set_new(object, "cgroup_missing", json_true());
		missing = missing_congestion_control(source, section, &policy);
		if (missing)
			set_text(object, "congestion_control_missing", missing);
		count = json_object_get(counts, policy.name);
		set_number(object, "connections", (__u64)json_integer_value(count));
		json_array_append_new(array, object);
	}
	object = json_pack("{s:o}", "policies", array);
	set_if(object, "connections_uncounted", flows.sums.groups_other);
	json_decref(counts);
	tcptuned_json_print_line(out, object);
	return 0;
}

/* Fill @tuple with the ids of a control group and of all above it: "/a/b", "/a", "/". */
static int find_cgroups(const char *path, __u64 *ids, size_t max, struct tcptuned_tuple *tuple,
			struct tcptuned_error *err)
{
	char ancestor[TCPTUNED_CONFIG_TEXT], *slash;

	snprintf(ancestor, sizeof(ancestor), "%s", path);
	tuple->cgroups = ids;
	if (!ancestor[0])
		return 0;
	if (ancestor[0] != '/' || !tcptuned_cgroup_id(ancestor))
		return FAIL(err, ENOENT, USAGE,
			    "cgroup: there is no control group %.120s; write its path below the "
			    "root of the cgroup2 tree, as in /system.slice/backup.service",
			    path);
	while (tuple->cgroups_len < max) {
		ids[tuple->cgroups_len++] = tcptuned_cgroup_id(ancestor[0] ? ancestor : "/");
		slash = strrchr(ancestor, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	return 0;
}

/* Describe the rule that was found for a connection with @remote. */
static char *format_rule(const struct tcptuned_source *source, const struct tcptuned_rule *rule,
			 const __u8 remote[16])
{
	const struct tcptuned_named_policy *section = tcptuned_policy_section(source, rule->policy);

	return tcptuned_describe_rule(rule, remote, section ? section->set.cgroup : NULL);
}

static bool is_held_back(const struct tcptuned_policy *policy, const struct tcptuned_tuple *tuple)
{
	__u32 local[4], remote[4];

	memcpy(local, tuple->local, sizeof(local));
	memcpy(remote, tuple->remote, sizeof(remote));
	return trial_draw(policy->trial, policy->holdback, local, remote, tuple->local_port,
			  tuple->remote_port);
}

/* The policy that a connection between these ends gets if it is made now, and by which rule. */
int tcptuned_policies_handle_test(const struct tcptuned_source *source,
				  const struct tcptuned_request *request, FILE *out,
				  struct tcptuned_error *err)
{
	const struct tcptuned_filter *filter = &request->filter;
	struct tcptuned_tuple tuple = {.local_port = filter->local_port,
				       .remote_port = filter->remote_port};
	struct tcptuned_policy policy;
	struct tcptuned_rule rule;
	__u64 cgroups[64];
	json_t *object;
	int error;

	error = find_cgroups(request->cgroup, cgroups, ARRAY_SIZE(cgroups), &tuple, err);
	if (error)
		return error;
	memcpy(tuple.local, filter->local.address, sizeof(tuple.local));
	memcpy(tuple.remote, filter->remote.address, sizeof(tuple.remote));
	if (tcptuned_policies_find(source->kernel, &tuple, &rule) ||
	    tcptuned_policy_read(source->kernel, rule.policy, &policy)) {
		object = json_pack("{s:n,s:s}", "policy", "rule",
				   "no policy is in force: left to the kernel");
	} else {
		object = policy_object(rule.policy, &policy);
		set_rule(object, format_rule(source, &rule, tuple.remote));
		if (tuple.local_port && tuple.remote_port && is_held_back(&policy, &tuple))
			json_object_set_new(object, "held_back", json_true());
	}
	tcptuned_json_print_line(out, object);
	return 0;
}

char *tcptuned_policy_rule(const struct tcptuned_source *source,
			   const struct tcptuned_flow_record *record, const char *name)
{
	struct tcptuned_tuple tuple = {.local_port = record->local_port,
				       .remote_port = record->remote_port,
				       .policy = name};
	struct tcptuned_rule rule;

	tcptuned_prefix_map_address(tuple.local, record->family, record->local);
	tcptuned_prefix_map_address(tuple.remote, record->family, record->remote);
	if (tcptuned_policies_find(source->kernel, &tuple, &rule))
		return NULL;
	return format_rule(source, &rule, tuple.remote);
}
