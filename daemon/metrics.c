// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prometheus text format, version 0.0.4. Names follow the practice of Prometheus: base units,
 * "_total" for counters. The tables, here and in the parts, say what there is; functions only
 * walk them.
 */
#include <stddef.h>

#include "array.h"
#include "metrics_parts.h"

const char *tcptuned_metrics_policy_name(const struct tcptuned_snapshot *snap, __u32 key)
{
	const char *name =
		snap->policy_name ? snap->policy_name(snap->policy_ctx, key) : NULL;

	return name ? name : TCPTUNED_POLICY_GONE(key);
}

void tcptuned_metrics_label_policy(struct tcptuned_buf *labels,
				   const struct tcptuned_snapshot *snap, __u32 key)
{
	tcptuned_label(labels, "policy", tcptuned_metrics_policy_name(snap, key));
}

/* --- what is configured ------------------------------------------------------------------ */

#define POLICY_FIELD(field) offsetof(struct tcptuned_policy, field)

static const struct {
	const char *name;
	const char *more;
	size_t offset;
	const char *help;
} policy_fields[] = {
	{"tcptuned_policy_window_max_bytes", "direction=\"receive\"",
	 POLICY_FIELD(rcv_window_max), "Largest window that right-sizing may decide on."},
	{"tcptuned_policy_window_max_bytes", "direction=\"send\"", POLICY_FIELD(snd_window_max),
	 NULL},
};

static void print_policy_fields(struct tcptuned_buf *out, struct tcptuned_buf *labels,
				const struct tcptuned_snapshot *snap)
{
	struct family family = {};
	unsigned int p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(policy_fields); i++) {
		if (policy_fields[i].help)
			family = (struct family){policy_fields[i].name, GAUGE,
						 policy_fields[i].help, false};
		for (p = 0; p < snap->policies_len; p++) {
			const char *policy = (const char *)&snap->policies[p].policy;

			tcptuned_label_begin(labels);
			tcptuned_metrics_label_policy(labels, snap, snap->policies[p].key);
			tcptuned_sample_more(out, &family, labels->data, policy_fields[i].more,
					     *(const __u32 *)(policy + policy_fields[i].offset),
					     PLAIN);
		}
	}
}

static void print_policies(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			   const struct tcptuned_snapshot *snap)
{
	struct family info = {"tcptuned_policy_info", GAUGE,
			      "The congestion control that a policy gives; empty: none.",
			      false};
	struct family mode = {"tcptuned_policy_mode", GAUGE,
			      "What a policy does: 1 for the one that holds.", false};
	unsigned int p;

	for (p = 0; p < snap->policies_len; p++) {
		tcptuned_label_begin(labels);
		tcptuned_metrics_label_policy(labels, snap, snap->policies[p].key);
		tcptuned_label(labels, "congestion_control",
			       snap->policies[p].policy.congestion_control);
		tcptuned_sample(out, &info, labels->data, 1, PLAIN);
	}
	for (p = 0; p < snap->policies_len; p++) {
		tcptuned_label_begin(labels);
		tcptuned_metrics_label_policy(labels, snap, snap->policies[p].key);
		tcptuned_print_states(out, &mode, labels->data, "", "mode",
				      snap->policies[p].policy.mode, TCPTUNED_TUNE + 1,
				      tcptuned_mode_name);
	}
	print_policy_fields(out, labels, snap);
}

/* --- everything -------------------------------------------------------------------------- */

static void print_state(struct tcptuned_buf *out, struct tcptuned_buf *labels,
			const struct tcptuned_snapshot *snap)
{
	struct family build = {"tcptuned_build_info", GAUGE,
			       "Version of tcptuned, and the kernel that it runs on.", false};
	struct family reloads = {"tcptuned_config_reloads_total", COUNTER,
				 "Reloads of the configuration: taken, or rejected, the one before "
				 "staying in force.",
				 false};
	struct family namespaces = {"tcptuned_adoption_namespaces", GAUGE,
				    "Network namespaces searched for open connections at the "
				    "start, those that could not be searched to the end, and names "
				    "whose namespace had gone before its turn came.",
				    false};
	struct family success = {"tcptuned_collection_success", GAUGE,
				 "Whether this could be read from the kernel.", false};

	tcptuned_label_begin(labels);
	tcptuned_label(labels, "version", snap->version);
	tcptuned_label(labels, "kernel", snap->kernel_release);
	tcptuned_sample(out, &build, labels->data, 1, PLAIN);
	tcptuned_single(out, "tcptuned_start_time_seconds", GAUGE, snap->start_time_us,
			MICROSECONDS,
			"When the daemon started, since the epoch.");
	tcptuned_single(out, "tcptuned_bitcp_registered", GAUGE, snap->bitcp, PLAIN,
			"Whether the congestion control bitcp can be chosen on this host.");
	tcptuned_sample(out, &reloads, "result=\"ok\"", snap->reloads[true], PLAIN);
	tcptuned_sample(out, &reloads, "result=\"rejected\"", snap->reloads[false], PLAIN);
	tcptuned_single(out, "tcptuned_config_last_reload_successful", GAUGE, snap->config_in_force,
			PLAIN,
			"Whether the last reload was taken, or there was none, and what the "
			"configuration says is in force.");
	tcptuned_single(out, "tcptuned_taken_over", GAUGE, snap->taken_over, PLAIN,
			"Whether the programs were pinned by a daemon before this one.");
	tcptuned_single(out, "tcptuned_policy_cgroups_missing", GAUGE, snap->cgroups_missing, PLAIN,
			"Policies without connections: their control group is not there, or not to "
			"be seen.");
	tcptuned_sample(out, &namespaces, "result=\"visited\"", snap->adoption.namespaces, PLAIN);
	tcptuned_sample(out, &namespaces, "result=\"failed\"", snap->adoption.namespaces_failed,
			PLAIN);
	tcptuned_sample(out, &namespaces, "result=\"vanished\"", snap->adoption.namespaces_vanished,
			PLAIN);
	tcptuned_single(out, "tcptuned_adoption_duration_seconds", GAUGE, snap->adoption.ns,
			NANOSECONDS,
			"How long it took to adopt the connections that were open before the "
			"start.");
	tcptuned_sample(out, &success, "collector=\"totals\"", snap->totals_ok, PLAIN);
	tcptuned_sample(out, &success, "collector=\"flows\"", snap->flows_ok, PLAIN);
	tcptuned_sample(out, &success, "collector=\"budget\"", snap->budget_ok, PLAIN);
}

void tcptuned_metrics_format(struct tcptuned_buf *out, const struct tcptuned_snapshot *snap)
{
	struct tcptuned_buf labels;

	tcptuned_buf_init(&labels, out->limit);
	print_state(out, &labels, snap);
	if (snap->totals_ok)
		tcptuned_metrics_totals(out, &snap->totals);
	if (snap->budget_ok)
		tcptuned_metrics_budget(out, &snap->budget);
	tcptuned_metrics_paths(out, &snap->paths);
	if (snap->flows_ok) {
		tcptuned_metrics_aggregates(out, &labels, snap);
		tcptuned_metrics_flows(out, &labels, snap);
	}
	print_policies(out, &labels, snap);
	tcptuned_metrics_cost(out, &labels, snap);
	if (labels.error)
		out->error = labels.error;
	tcptuned_buf_free(&labels);
}
