// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apply/apply.h"
#include "kern/iterators.h"
#include "policy/trial.h"
#include "rpc/json.h"
#include "tcptuned.skel.h"
#include "util/log.h"
#include "util/text.h"

static int fail_policy(const struct tcptuned_daemon *d, const char *name,
		       struct tcptuned_error *err)
{
	const char *names[TCPTUNED_POLICIES_MAX + 1] = {NULL};
	char suggestion[TCPTUNED_SUGGESTION];

	for (size_t i = 0; i < d->policies_len; i++)
		names[i] = d->policies[i].record.name;
	return FAIL(err, ENOENT, USAGE, "policy: there is no %.31s; %s", name,
		    tcptuned_text_suggest(name, names, "see tcptunectl policy list", suggestion));
}

static int enable(struct tcptuned_daemon *d, const char *name, bool enabled, FILE *out,
		  struct tcptuned_error *err)
{
	struct tcptuned_error reason = {0};
	const struct tcptuned_policy *now = NULL;
	bool changed, harmful;
	int error;

	for (size_t i = 0; i < d->policies_len; i++)
		if (!strcmp(d->policies[i].record.name, name))
			now = &d->policies[i].record;
	if (!now)
		return fail_policy(d, name, err);
	harmful = now->harmful;
	changed = enabled ? now->disabled || harmful : !now->disabled;
	error = changed ? tcptuned_apply_overruled(d, name, !enabled, false, &reason) : 0;
	if (error)
		return tcptuned_error_fill(err, EIO, reason.status, "nothing is changed: %s",
					   reason.text);
	if (changed && harmful) /* the next trial begins */
		tcptuned_trial_forget(&d->kernel, name);
	if (changed)
		log_info("policy %s: %s through the control socket", name,
			 enabled ? "enabled" : "disabled");
	tcptuned_json_print_line(out, json_pack("{s:s,s:b,s:b}", "policy", name, "disabled",
						!enabled, "changed", changed));
	return 0;
}

static int apply_to_open(struct tcptuned_daemon *d, FILE *out, struct tcptuned_error *err)
{
	struct tcptuned_adoption a;
	int error = tcptuned_iterator_run(d->kernel.bpf->links.apply_policies, &a);

	if (error)
		return FAIL(err, -error, INTERNAL,
			    "the policies cannot be applied to open connections: %s",
			    strerror(-error));
	log_info("policies applied to open connections: %llu moved to another policy, "
		 "%llu attached, %llu released, %llu failed, %llu ms",
		 a.moved, a.connections, a.detached, a.failed + a.too_old, a.ns / 1000000);
	tcptuned_json_print_line(out,
				 json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "moved", a.moved,
					   "attached", a.connections, "detached", a.detached,
					   "failed", a.failed, "kernel_too_old", a.too_old,
					   "namespaces_failed", (json_int_t)a.namespaces_failed));
	return 0;
}

static int forget_paths(struct tcptuned_daemon *d, const char *prefix, FILE *out,
			struct tcptuned_error *err)
{
	unsigned int count;
	int error =
		tcptuned_paths_forget(&d->kernel, d->config->state_directory, prefix, &count, err);

	if (error)
		return error;
	log_info("paths to %.60s forgotten through the control socket: %u prefixes", prefix, count);
	tcptuned_json_print_line(out, json_pack("{s:i}", "forgotten", (int)count));
	return 0;
}

static int stop(struct tcptuned_daemon *d, FILE *out, struct tcptuned_error *err)
{
	if (d->activated)
		return FAIL(
			err, EBUSY, DAEMON,
			"the daemon does not stop: systemd listens for metrics in its place, and "
			"the next scrape would start it again; stop both: systemctl stop "
			"tcptuned.socket tcptuned");
	d->stopping = true;
	tcptuned_json_print_line(out, json_pack("{s:b}", "stopping", 1));
	return 0;
}

int tcptuned_change(void *ctx, const struct tcptuned_request *request, FILE *out,
		    struct tcptuned_error *err)
{
	struct tcptuned_daemon *d = ctx;

	if (request->command == TCPTUNED_CMD_STOP)
		return stop(d, out, err);
	if (request->command == TCPTUNED_CMD_POLICY_APPLY)
		return apply_to_open(d, out, err);
	if (request->command == TCPTUNED_CMD_PATHS_FORGET)
		return forget_paths(d, request->prefix, out, err);
	return enable(d, request->filter.policy, request->command == TCPTUNED_CMD_POLICY_ENABLE,
		      out, err);
}
