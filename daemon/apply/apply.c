// SPDX-License-Identifier: GPL-2.0-only
#include "apply/apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "apply/cc_choice.h"
#include "apply/memory_limits.h"
#include "host/cgroup.h"
#include "host/sysctl.h"
#include "kern/iterators.h"
#include "policy/install.h"
#include "policy/lookup.h"
#include "policy/trial.h"
#include "tcptuned.skel.h"
#include "util/clock.h"
#include "util/log.h"

/* Take over the connections that are open at the start. */
static void adopt(struct tcptuned_daemon *d)
{
	struct tcptuned_adoption *a = &d->kernel.adoption;
	int error = tcptuned_iterator_run(d->kernel.bpf->links.adopt_flows, a);

	d->adopted = true;
	if (error)
		log_warning("connections that are open are left to the kernel: %s",
			    strerror(-error));
	log_info("adopted %llu connections in %u network namespaces, %llu ms", a->connections,
		 a->namespaces, a->ns / 1000000);
	if (a->detached)
		log_info("released %llu connections to the kernel: an earlier tcptuned had them, "
			 "in a cgroup that is not this one's",
			 a->detached);
	if (a->too_old)
		log_warning("connections that were open before (%llu of them) are left to the "
			    "kernel: to follow them needs Linux 6.12 or later",
			    a->too_old);
	if (a->failed)
		log_warning("the kernel refused to have %llu open sockets adopted, or has no "
			    "memory for their records; they are left to it",
			    a->failed);
	if (a->namespaces_failed)
		log_warning("network namespaces or processes that could not be entered: %u (%s); "
			    "connections that are open there are left to the kernel",
			    a->namespaces_failed, strerror(-a->error));
}

/* The record without what depends on other policies: maxima of buffers, congestion control. */
static struct tcptuned_policy make_record(struct tcptuned_daemon *d, const char *name,
					  const struct tcptuned_policy_config *set,
					  const struct tcptuned_window_limits *receive,
					  const struct tcptuned_window_limits *send)
{
	struct tcptuned_policy record = {
		.mode = set->mode,
		.override_rcvbuf = set->override_rcvbuf,
		.override_sndbuf = set->override_sndbuf,
		.rcv_window_max =
			tcptuned_memory_window_max(receive, set->receive_window_max_bytes),
		.snd_window_max = tcptuned_memory_window_max(send, set->send_window_max_bytes),
		.rcv_kernel_max = receive->kernel_max,
		.cc_long_path_segments = set->long_path_segments,
		.holdback = set->holdback,
	};

	if (d->options->observe && record.mode == TCPTUNED_TUNE)
		record.mode = TCPTUNED_OBSERVE;
	snprintf(record.name, sizeof(record.name), "%s", name);
	return record;
}

static void find_cgroup(struct tcptuned_daemon *d, struct tcptuned_policy_source *policy)
{
	const char *name = policy->named->name, *cgroup = policy->named->set.cgroup;

	policy->cgroup = tcptuned_cgroup_id(cgroup);
	if (policy->cgroup)
		return;
	d->shared->cgroups_missing++;
	if (errno == ENOENT)
		log_warning_once("policy %s: there is no control group %s now; the policy has no "
				 "connection until there is one",
				 name, cgroup);
	else
		log_warning_once("policy %s: control group %s cannot be accessed: %s; the policy "
				 "has no connection until it can be",
				 name, cgroup, strerror(errno));
}

static void overrule(struct tcptuned_policy *record, const struct tcptuned_policy *old)
{
	if (strcmp(record->name, old->name))
		return;
	record->disabled = old->disabled;
	record->harmful = old->harmful;
	if (record->disabled)
		record->mode = TCPTUNED_OFF;
	else if (record->harmful && record->mode == TCPTUNED_TUNE)
		record->mode = TCPTUNED_OBSERVE;
}

/*
 * A policy that a command has disabled stays disabled while its section exists, across reloads and
 * if the daemon is killed; so does one whose trial has shown harm. The records in force keep that.
 */
static void keep_overruled(struct tcptuned_daemon *d)
{
	struct tcptuned_policy old;
	__u32 key = 0;

	while (tcptuned_policy_next(&d->kernel, &key, &old)) {
		if (d->overrule.policy && !strcmp(old.name, d->overrule.policy)) {
			old.disabled = d->overrule.disabled;
			old.harmful = d->overrule.harmful;
		}
		for (size_t i = 0; i < d->policies_len; i++)
			overrule(&d->policies[i].record, &old);
	}
	for (size_t i = 0; i < d->policies_len; i++)
		if (d->policies[i].record.mode != TCPTUNED_TUNE)
			d->policies[i].record.holdback = 0;
}

static void make_records(struct tcptuned_daemon *d)
{
	struct tcptuned_window_limits receive =
		tcptuned_memory_window_limits(d, TCPTUNED_SYSCTL_TCP_RMEM);
	struct tcptuned_window_limits send =
		tcptuned_memory_window_limits(d, TCPTUNED_SYSCTL_TCP_WMEM);

	d->rcv_kernel_max = receive.kernel_max;
	d->snd_kernel_max = send.kernel_max;
	d->shared->cgroups_missing = 0;
	d->policies[0] = (struct tcptuned_policy_source){
		.record = make_record(d, "default", &d->config->policy, &receive, &send),
	};
	for (size_t i = 1; i < d->policies_len; i++) {
		const struct tcptuned_named_policy *named = &d->config->policies[i - 1];

		d->policies[i] = (struct tcptuned_policy_source){
			.named = named,
			.record = make_record(d, named->name, &named->set, &receive, &send),
		};
		if (named->set.cgroup[0])
			find_cgroup(d, &d->policies[i]);
	}
	keep_overruled(d);
}

static bool any_policy_is_on(const struct tcptuned_daemon *d)
{
	for (size_t i = 0; i < d->policies_len; i++)
		if (d->policies[i].record.mode != TCPTUNED_OFF)
			return true;
	return false;
}

static int write_failed(struct tcptuned_error *err, int error, const char *what)
{
	return FAIL(err, -error, INTERNAL, "cannot write %s: %s", what, strerror(-error));
}

static int try_to_apply(struct tcptuned_daemon *d, struct tcptuned_error *err)
{
	const struct tcptuned_config *config = d->config;
	struct tcptuned_path_settings paths = {
		.enabled = config->paths_enabled,
		.expire_s = config->paths_expire_s,
	};
	struct tcptuned_policy_source *policies;
	int error;
	uint64_t begin_ns;
	__u32 zero = 0;

	policies = realloc(d->policies, (config->policies_len + 1) * sizeof(*policies));
	if (!policies)
		return FAIL(err, ENOMEM, INTERNAL, "there is no memory for the policies");
	d->policies = policies;
	d->policies_len = config->policies_len + 1;
	/* First: a default that an administrator has changed applies to every policy. */
	tcptuned_sysctls_overruled(bpf_map__fd(d->kernel.bpf->maps.meta));
	make_records(d);
	tcptuned_memory_buffer_limits_set(d);
	tcptuned_cc_choose(d);
	tcptuned_trials_number(&d->kernel, d->policies, d->policies_len);
	if (bpf_map_update_elem(bpf_map__fd(d->kernel.bpf->maps.bitcp_params), &zero,
				&config->bitcp, BPF_ANY))
		return write_failed(err, -errno, "BI-TCP's parameters");
	error = tcptuned_memory_budget_set(d);
	if (error)
		return write_failed(err, error, "the memory budget");
	error = tcptuned_paths_configure(d->paths, &paths);
	if (error)
		return write_failed(err, error, "the settings of the path memory");
	begin_ns = tcptuned_monotonic_ns();
	error = tcptuned_policies_install(&d->kernel, d->policies, d->policies_len, err);
	if (error)
		return error;
	if (d->policies_len > 1)
		log_info("%zu policies in force, installed in %.1f ms", d->policies_len,
			 (double)(tcptuned_monotonic_ns() - begin_ns) / 1e6);
	tcptuned_trials_clean(&d->kernel, d->policies, d->policies_len);
	if (!d->adopted && any_policy_is_on(d))
		adopt(d);
	tcptuned_cc_choose_default(d);
	d->applied(d);
	return 0;
}

int tcptuned_apply(struct tcptuned_daemon *d, struct tcptuned_error *err)
{
	int error;

	tcptuned_log_attempt(true);
	d->modules_asked_len = 0;
	error = try_to_apply(d, err);
	d->unapplied = error;
	d->shared->trouble.unapplied[0] = '\0';
	return error;
}

int tcptuned_apply_overruled(struct tcptuned_daemon *d, const char *policy, bool disabled,
			     bool harmful, struct tcptuned_error *err)
{
	int error;

	d->overrule.policy = policy;
	d->overrule.disabled = disabled;
	d->overrule.harmful = harmful;
	error = tcptuned_apply(d, err);
	d->overrule.policy = NULL;
	if (error)
		tcptuned_apply_again(d);
	return error;
}

void tcptuned_apply_again(struct tcptuned_daemon *d)
{
	struct tcptuned_error err = {0};

	tcptuned_log_attempt(false);
	d->unapplied = try_to_apply(d, &err);
	if (d->unapplied && strcmp(d->shared->trouble.unapplied, err.text))
		log_error("%s", err.text);
	snprintf(d->shared->trouble.unapplied, sizeof(d->shared->trouble.unapplied), "%s",
		 err.text);
}
